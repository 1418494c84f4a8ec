"""The distinct combinations of one batch, with Arrow's own dictionaries and nothing else.

Arrow's GROUP BY would do it in one call, but loading it takes longer than verifying a
census: it brings in data sets, and pandas where that is installed. For the same reason
numbers are handed to Arrow in buffers here, not as Python objects.
"""

import struct
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.verifier.cells import python_values


def distinct(columns: Sequence[pa.Array]) -> Iterator[tuple[tuple[object, ...], int]]:
    """Count the distinct combinations of columns; a missing cell is a value of its own.

    >>> list(distinct([pa.array(["f", None, "f"]), pa.array([1, 1, 1])]))
    [(('f', 1), 2), ((None, 1), 1)]
    """
    dictionaries: list[list[object]] = []
    members: list[pa.Array] = []
    codes: pa.Array | None = None
    for column in columns:
        encoded = column.dictionary_encode(null_encoding="encode")
        dictionaries.append(python_values(encoded.dictionary))
        code = encoded.indices.cast(pa.int64())
        if codes is None:
            numbered = code.dictionary_encode()
            members = [numbered.dictionary]
        elif len(members[0]) == len(code):
            # Every row is alone by now, and numbered in its order: nothing is left to tell apart.
            members = [*members, code]
            continue
        else:
            # Distinct combinations so far times values of this column: no 64-bit overflow.
            width = _number(len(dictionaries[-1]))
            numbered = pc.add(pc.multiply(codes, width), code).dictionary_encode()
            before = pc.divide(numbered.dictionary, width)
            here = pc.subtract(numbered.dictionary, pc.multiply(before, width))
            members = [*(member.take(before) for member in members), here]
        codes = numbered.indices.cast(pa.int64())
    # Codes are numbered as they first occur, and counts come in that order too.
    rows: list[int] = pc.value_counts(codes).field(1).to_pylist()
    values = [
        [dictionary[code] for code in member.to_pylist()]
        for dictionary, member in zip(dictionaries, members, strict=True)
    ]
    return zip(zip(*values, strict=True), rows, strict=True)


def _number(value: int) -> pa.Scalar:
    buffer = pa.py_buffer(struct.pack("=q", value))
    return pa.Array.from_buffers(pa.int64(), 1, [None, buffer])[0]
