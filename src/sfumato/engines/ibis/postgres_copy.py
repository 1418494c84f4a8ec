"""Columns as the CSV that PostgreSQL's COPY writes and reads: no value becomes a Python object.

Moments go as whole numbers and bytes as hexadecimal digits, so that no setting of a connection
changes how they are written.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pyarrow.csv as pa_csv
from pyarrow import types as t

_AT_ONCE = 2**24
"""Bytes that are read or written together, and the last row."""


@dataclass(frozen=True)
class Fetched:
    """How a column is fetched: what is asked for, what comes, and what it is made of that."""

    name: str
    sql: str
    sent: pa.DataType
    restored: Callable[[pa.ChunkedArray], pa.ChunkedArray]


def fetched(name: str, kind: pa.DataType | None) -> Fetched:
    """Say how a column is fetched; None stands for numbers of any length.

    >>> fetched("k0", pa.date32()).sql
    "k0 - DATE '1970-01-01'"
    """
    if kind is None:
        return Fetched(name, name, pa.string(), _numbers)
    if t.is_date(kind):
        days = f"{name} - DATE '1970-01-01'"
        return Fetched(name, days, pa.int32(), lambda column: column.cast(kind))
    if t.is_timestamp(kind) or t.is_time(kind):
        moments = f"CAST(EXTRACT(EPOCH FROM {name}) * 1000000 AS bigint)"
        return Fetched(name, moments, pa.int64(), lambda column: column.cast(kind))
    if t.is_binary(kind):
        return Fetched(name, f"encode({name}, 'hex')", pa.string(), _bytes)
    return Fetched(name, name, kind, lambda column: column)


def read_rows(rows: Iterable[bytes | memoryview], columns: Sequence[Fetched]) -> pa.Table:
    r"""Read rows of CSV, each of which comes whole.

    >>> columns = [fetched("k0", pa.string()), fetched("k1", pa.date32())]
    >>> read_rows([b"Rome,1\n", b',\n', b'"",0\n'], columns).to_pydict()["k0"]
    ['Rome', None, '']
    """
    schema = pa.schema([(column.name, column.sent) for column in columns])
    parts = [_parsed(part, schema) for part in _together(rows)]
    table = pa.concat_tables([schema.empty_table(), *parts])
    restored = [column.restored(table[column.name]) for column in columns]
    return pa.table(restored, names=schema.names)


def _together(rows: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    part, size = list[bytes | memoryview](), 0
    for row in rows:
        part.append(row)
        size += len(row)
        if size >= _AT_ONCE:
            yield b"".join(part)
            part, size = [], 0
    if part:
        yield b"".join(part)


def _parsed(text: bytes, schema: pa.Schema) -> pa.Table:
    return pa_csv.read_csv(
        pa.BufferReader(text),
        # In one block, because a row must not be longer than a block.
        pa_csv.ReadOptions(column_names=schema.names, block_size=len(text) + 1),
        pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        pa_csv.ConvertOptions(
            column_types=schema,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["t"],
            false_values=["f"],
        ),
    )


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return _by_value(column, lambda texts: pa.array([Decimal(text) for text in texts]))


def _bytes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return _by_value(
        column, lambda texts: pa.array([bytes.fromhex(text) for text in texts], pa.binary())
    )


def _by_value(column: pa.ChunkedArray, made: Callable[[list[str]], pa.Array]) -> pa.ChunkedArray:
    """Make each different text something else, once."""
    coded = column.combine_chunks().dictionary_encode()
    return pa.chunked_array([made(coded.dictionary.to_pylist()).take(coded.indices)])


def write_rows(table: pa.Table) -> Iterator[pa.Buffer]:
    r"""Write a table as CSV without a header, in pieces.

    >>> [bytes(piece) for piece in write_rows(pa.table({"a": [1], "b": ["x"]}))]
    [b'1,"x"\n']
    """
    plain = pa.table([_plain(column) for column in table.columns], names=table.column_names)
    rows = max(1, _AT_ONCE // max(1, plain.nbytes // max(1, plain.num_rows)))
    options = pa_csv.WriteOptions(include_header=False)
    for batch in plain.to_batches(rows):
        piece = pa.BufferOutputStream()
        pa_csv.write_csv(batch, piece, options)
        yield piece.getvalue()


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if t.is_binary(column.type):
        values = column.to_pylist()
        return pa.chunked_array([[None if v is None else f"\\x{v.hex()}" for v in values]])
    return column.cast(pa.string()) if t.is_null(column.type) else column
