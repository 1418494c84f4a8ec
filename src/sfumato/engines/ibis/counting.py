"""From the result of a GROUP BY to a frequency set."""

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import types as t

from sfumato.counts import Column, FrequencySet
from sfumato.engines.arrow.build import from_numpy, to_numpy
from sfumato.engines.arrow.codebook import MISSING, Codebook
from sfumato.engines.arrow.values import python_values
from sfumato.engines.ibis.database import Database
from sfumato.engines.ibis.keys import keyed
from sfumato.errors import InputError
from sfumato.text import in_order
from sfumato.typing import CodeArray, IntArray, Value

if TYPE_CHECKING:
    from ibis.expr.types import Table as Query

TIMES = "sfumato_times"
_WIDEST_KEY = 2**62


class Counted:
    """Distinct combinations of some columns as a database gave them, and how often each occurs.

    Args:
        database: Where the table is.
        positions: The columns, by their number in the table.
        most: How many combinations to fetch; None for all.
    """

    def __init__(
        self, database: Database, positions: Sequence[int], *, most: int | None = None
    ) -> None:
        fetched = database.fetch(grouped(database, positions).limit(most))
        self.positions = tuple(positions)
        self.names = tuple(database.fields[i].name for i in positions)
        self.rows: IntArray = to_numpy(fetched.column(TIMES).cast(pa.int64()).combine_chunks())
        if not self.rows.sum():
            raise InputError(f"{database.where} has no rows")
        arrays = [_one(fetched.column(f"k{i}"), database.fields[i].key_type) for i in positions]
        self.books = [
            Codebook(name, array.type) for name, array in zip(self.names, arrays, strict=True)
        ]
        self._indexed = [
            book.indexed(array) for book, array in zip(self.books, arrays, strict=True)
        ]
        self._missing = [
            array.null_count > 0 or bool((column.lookup[:-1] == MISSING).any())
            for array, column in zip(arrays, self._indexed, strict=True)
        ]

    @cached_property
    def codes(self) -> CodeArray:
        """`codes[c, i]`: the value of column c in combination i, 0 if it is missing."""
        codes = [column.codes() for column in self._indexed]
        return np.array(codes, dtype=np.int32).reshape(len(codes), len(self.rows))

    @cached_property
    def values(self) -> list[list[Value]]:
        """What the codes of each column mean."""
        return [[None, *python_values(book.values, book.column)] for book in self.books]

    def misses(self, column: int) -> bool:
        """Tell whether some row has no value in a column."""
        return self._missing[column]

    def originals(self, column: int, codes: np.ndarray) -> pa.Array:
        """Give the values that have some codes, as the database gave them."""
        return self.books[column].values.take(from_numpy(codes - 1, missing=codes == MISSING))

    def frequency_set(self) -> FrequencySet:
        """Forget the database."""
        values = [
            known if misses else known[1:]
            for known, misses in zip(self.values, self._missing, strict=True)
        ]
        columns = [
            Column(name, tuple(in_order(v))) for name, v in zip(self.names, values, strict=True)
        ]
        ranks = [_ranks(column, known) for column, known in zip(columns, self.values, strict=True)]
        order = self._order(columns, ranks)
        if order is None:
            every = np.array([rank[c] for rank, c in zip(ranks, self.codes, strict=True)])
            every = every.reshape(self.codes.shape)
            return FrequencySet.from_codes(
                self.names, [c.values for c in columns], every, self.rows
            )
        codes = np.empty((len(columns), len(self.rows)), dtype=np.int32)
        for i, (column, rank) in enumerate(zip(self._indexed, ranks, strict=True)):
            codes[i] = column.codes(rank[column.lookup])[order]
        return FrequencySet(tuple(columns), codes, self.rows[order])

    def _order(self, columns: Sequence[Column], ranks: Sequence[CodeArray]) -> IntArray | None:
        """Say in which order combinations stand; None if they are too wide for one number.

        A database gives each combination once, so unlike elsewhere none need be added up.
        """
        sizes = [len(column.values) for column in columns]
        if not sizes or prod(sizes) >= _WIDEST_KEY:
            return None
        key: IntArray = np.zeros(len(self.rows), dtype=np.int64)
        for at, (column, rank) in enumerate(zip(self._indexed, ranks, strict=True)):
            part: Any = rank.astype(np.int64)[column.lookup] * prod(sizes[at + 1 :])
            key += column.codes(part)
        order: IntArray = np.argsort(key)
        # Two values of a database that are one value to Python would be a repeat.
        return None if (np.diff(key[order]) == 0).any() else order


def _ranks(column: Column, known: Sequence[Value]) -> CodeArray:
    """Give the place of each code's value in a column's dictionary."""
    rank = {value: i for i, value in enumerate(column.values)}
    return np.array([rank.get(value, 0) for value in known], dtype=np.int32)


def grouped(database: Database, positions: Sequence[int]) -> "Query":
    """Count the distinct combinations of some columns (`ki`), as a statement."""
    rows = keyed(database, positions)
    times = {TIMES: rows.count()}
    if not positions:
        return rows.aggregate(**times)
    return rows.group_by([f"k{i}" for i in positions]).aggregate(**times)


def _one(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    """Join the pieces of a column; where nothing is known, not even its type was fetched."""
    column = column.cast(kind) if t.is_null(column.type) else column
    return column.combine_chunks()
