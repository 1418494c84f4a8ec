"""From the result of a GROUP BY to a frequency set."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import types as t

from sfumato.counts import FrequencySet
from sfumato.engines.arrow.build import from_numpy, to_numpy
from sfumato.engines.arrow.codebook import MISSING, Codebook
from sfumato.engines.arrow.values import python_values
from sfumato.engines.ibis.database import Database
from sfumato.engines.ibis.keys import keyed
from sfumato.errors import InputError
from sfumato.typing import IntArray, Value

if TYPE_CHECKING:
    from ibis.expr.types import Table as Query

TIMES = "sfumato_times"


class Counted:
    """Distinct combinations of some columns as a database gave them, and how often each occurs.

    Args:
        database: Where the table is.
        positions: The columns, by their number in the table.
    """

    def __init__(self, database: Database, positions: Sequence[int]) -> None:
        fetched = database.fetch(_grouped(database, positions))
        self.positions = tuple(positions)
        self.names = tuple(database.fields[i].name for i in positions)
        self.rows: IntArray = to_numpy(fetched.column(TIMES).cast(pa.int64()).combine_chunks())
        if not self.rows.sum():
            raise InputError(f"{database.where} has no rows")
        arrays = [_one(fetched.column(f"k{i}"), database.fields[i].key_type) for i in positions]
        self.books = [
            Codebook(name, array.type) for name, array in zip(self.names, arrays, strict=True)
        ]
        codes = [book.encode(array) for book, array in zip(self.books, arrays, strict=True)]
        self.codes = np.array(codes, dtype=np.int32).reshape(len(codes), len(self.rows))
        """`codes[c, i]`: the value of column c in combination i, 0 if it is missing."""

    @cached_property
    def values(self) -> list[list[Value]]:
        """What the codes of each column mean."""
        return [[None, *python_values(book.values, book.column)] for book in self.books]

    def misses(self, column: int) -> bool:
        """Tell whether some row has no value in a column."""
        return bool((self.codes[column] == MISSING).any())

    def originals(self, column: int, codes: np.ndarray) -> pa.Array:
        """Give the values that have some codes, as the database gave them."""
        return self.books[column].values.take(from_numpy(codes - 1, missing=codes == MISSING))

    def frequency_set(self) -> FrequencySet:
        """Forget the database."""
        values = [
            list(known) if self.misses(i) else list(known[1:])
            for i, known in enumerate(self.values)
        ]
        codes = [column if self.misses(i) else column - 1 for i, column in enumerate(self.codes)]
        every = np.array(codes, dtype=np.int32).reshape(self.codes.shape)
        return FrequencySet.from_codes(self.names, values, every, self.rows)


def _grouped(database: Database, positions: Sequence[int]) -> "Query":
    rows = keyed(database, positions)
    times = {TIMES: rows.count()}
    if not positions:
        return rows.aggregate(**times)
    return rows.group_by([f"k{i}" for i in positions]).aggregate(**times)


def _one(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    """Join the pieces of a column; where nothing is known, not even its type was fetched."""
    column = column.cast(kind) if t.is_null(column.type) else column
    return column.combine_chunks()
