"""A counted table, from which rows can be made again without reading them again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import types as t

from sfumato.counts import FrequencySet
from sfumato.engines.arrow.build import from_numpy
from sfumato.engines.arrow.source import BATCH_ROWS
from sfumato.engines.arrow.types import counted_type, plain_type
from sfumato.engines.arrow.values import python_values
from sfumato.typing import CodeArray, IntArray

_WORTH_IT = 2
"""Rows per combination from which on making rows is cheaper than reading them again."""


class Weighted(NamedTuple):
    """Some combinations as rows of their own, and how many rows of the table each is."""

    batch: pa.RecordBatch
    """Every column is a dictionary, whose numbers are those of the counts."""

    rows: IntArray


@dataclass(frozen=True, eq=False)
class Counted:
    """What counting some columns of a table found, with their values as Arrow has them.

    Example:
        >>> counts = FrequencySet.from_rows(["sex"], [("f",), ("m",), (None,), ("f",)])
        >>> counted = Counted(counts, {"sex": pa.array(["m", "f"])})
        >>> [(batch,rows)] = counted.batches(["sex"])
        >>> batch["sex"].to_pylist(), rows.tolist()
        (['f', 'm', None], [2, 1, 1])
    """

    counts: FrequencySet
    known: Mapping[str, pa.Array]
    """The values of each column that are not missing, in any order."""

    def tells(self, schema: pa.Schema, published: Sequence[str], recoded: Sequence[str]) -> bool:
        """Say whether the rows of a release can be made of it, and fast.

        Args:
            schema: The table's columns and their types.
            published: The columns of the release.
            recoded: Those that are published as labels.
        """
        names = self.counts.names
        return (
            _WORTH_IT * len(self.counts) <= self.counts.total
            and all(name in names for name in (*published, *recoded))
            and all(_exact(schema.field(n).type, n) for n in published if n not in recoded)
        )

    def values(self, name: str) -> pa.Array:
        """Give the values of a column by their numbers in the counts."""
        known = self.known[name]
        place = {value: at for at, value in enumerate(python_values(known, name))}
        wanted = np.array([place.get(v, -1) for v in self.counts.column(name).values], dtype=int)
        return known.take(from_numpy(wanted, missing=wanted < 0))

    def batches(self, columns: Sequence[str]) -> Iterator[Weighted]:
        """Give the combinations, some at a time."""
        values = [self.values(name) for name in columns]
        codes = [self.counts.codes_of(name) for name in columns]
        for start in range(0, len(self.counts), BATCH_ROWS):
            some = slice(start, start + BATCH_ROWS)
            arrays = [_numbered(c[some], v) for c, v in zip(codes, values, strict=True)]
            batch = pa.RecordBatch.from_arrays(arrays, list(columns))
            yield Weighted(batch, self.counts.rows[some])


def _numbered(codes: CodeArray, values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(from_numpy(codes), values, safe=False)


def _exact(kind: pa.DataType, column: str) -> bool:
    """Say whether values are counted as they are; -0.0 and NaN are not."""
    plain = plain_type(kind)
    return not t.is_floating(plain) and counted_type(kind, column) == plain
