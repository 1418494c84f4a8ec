"""Counts of the values in cells, packed: one text of bytes per cell and release.

A cell has a handful of values in each column. Kept as one row of a database each, ten million
people in 200 000 groups were five million rows, twice, and starting a ledger took 75 CPU seconds.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np

from sfumato.counts import sums
from sfumato.errors import InputError
from sfumato.typing import IntArray

PAIR = 8
"""Bytes of a value and how many rows have it: four each, the smallest byte first."""

_MOST = 2**32 - 1


class CellCounts(NamedTuple):
    """How many rows of cells have each value; sorted by cell, then by value.

    Example:
        >>> counted = CellCounts(np.array([0, 0, 2]), np.array([3, 4, 4]), np.array([7, 1, 2]))
        >>> packed = counted.pack(3)
        >>> [len(each) for each in packed], CellCounts.unpack(packed).rows.tolist()
        ([16, 0, 8], [7, 1, 2])
    """

    cell: IntArray
    """The position of the cell."""

    value: IntArray
    """The number of the value in the ledger."""

    rows: IntArray

    def pack(self, n: int) -> list[bytes]:
        """Return the counts of each of n cells as bytes."""
        if self.rows.max(initial=0) > _MOST or self.value.max(initial=0) > _MOST:
            raise InputError(
                f"a ledger counts at most {_MOST} people with one value in a cell. Make smaller "
                "groups."
            )
        packed = np.stack([self.value, self.rows], axis=1).astype("<u4").tobytes()
        ends = (PAIR * np.cumsum(np.bincount(self.cell, minlength=n))).tolist()
        return [packed[a:b] for a, b in zip([0, *ends], ends, strict=False)]

    @classmethod
    def unpack(cls, packed: Sequence[bytes]) -> Self:
        """Read the counts of some cells."""
        value, rows = np.frombuffer(b"".join(packed), dtype="<u4").reshape(-1, 2).T
        lengths = np.array([len(each) for each in packed], dtype=np.int64) // PAIR
        cell = np.repeat(np.arange(len(packed)), lengths)
        return cls(cell, value.astype(np.int64), rows.astype(np.int64))


def find_miscounted(packed: Sequence[bytes], sizes: IntArray, columns: Mapping[int, int]) -> int:
    """Count the tables of cells that do not count every row once, or are not written as they are.

    Args:
        packed: The counts of each cell, as bytes.
        sizes: How many rows each has.
        columns: The sensitive column of each value, by its number.
    """
    counted = CellCounts.unpack(packed)
    n, ids = len(sizes), np.array(sorted(columns), dtype=np.int64)
    at = np.searchsorted(ids, counted.value)
    same = np.diff(counted.cell) == 0
    if (
        not np.isin(counted.value, ids).all()
        or (counted.rows < 1).any()
        or (np.diff(counted.value)[same] <= 0).any()
    ):
        return max(n, 1)
    column = np.array([columns[number] for number in ids.tolist()], dtype=np.int64)[at]
    width = max(columns.values(), default=-1) + 1
    found = sums(counted.cell * width + column, counted.rows, n * width).reshape(n, width)
    return int(np.count_nonzero(found != sizes[:, None]))
