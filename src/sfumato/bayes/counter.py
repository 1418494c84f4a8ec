"""Counting a frequency set over many small sets of columns."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sfumato.checks import require_int
from sfumato.counts import FrequencySet
from sfumato.errors import UnknownColumnError
from sfumato.typing import FloatArray, IntArray

_WIDEST_KEY = 2**62
_ALWAYS_DENSE = 2**16
_DENSE_PER_ITEM = 4
"""Up to so many cells per combination of the table, clearing an array beats sorting."""

_SUMMARISED = 256
_KEPT = 2**23
"""How many numbers are kept as summaries; beyond that they are forgotten and counted again."""


class Cells(NamedTuple):
    """The counts of the cells that occur: a count, and how many cells have it.

    Sums over cells need no more than this. A table of n rows has at most √(2n) different
    counts, however many cells it has.
    """

    counts: IntArray
    times: IntArray


class _Key(NamedTuple):
    columns: tuple[int, ...]
    codes: IntArray
    width: int


class Counter:
    """How often values occur together, for sets of columns given by their positions.

    The cost of a count grows with the distinct combinations of the frequency set, not with its
    rows. Missing is a value like any other. Nothing is counted twice: what was counted is
    kept, and what is part of the table counted last is summed from that.

    Args:
        counts: The table.
        declared: How many values a column is said to have, if more than those that occur.

    Example:
        >>> rows = [("f", 1), ("f", 1), ("f", 2), ("m", 2)]
        >>> counter = Counter(FrequencySet.from_rows(["sex", "ward"], rows))
        >>> cells = counter.cells([0, 1])
        >>> cells.counts.tolist(), cells.times.tolist()
        ([2, 1, 1], [1, 1, 1])
    """

    def __init__(self, counts: FrequencySet, declared: Mapping[str, int] | None = None) -> None:
        self.names = counts.names
        self._sizes = [max(1, len(column.values)) for column in counts.columns]
        self.values = _declared(counts, declared or {})
        # Narrow codes pass through memory faster than wide ones.
        self._codes = [
            codes.astype(np.min_scalar_type(size))
            for codes, size in zip(counts.codes, self._sizes, strict=True)
        ]
        self._items = len(counts)
        self._rows: FloatArray | None = None
        if (counts.rows != 1).any():
            self._rows = counts.rows.astype(np.float64)
        self._widest_dense = max(_ALWAYS_DENSE, _DENSE_PER_ITEM * self._items)
        self._kept: dict[int, Cells] = {}
        self._room = _KEPT
        self._keys: list[_Key] = []
        self._last: tuple[tuple[int, ...], IntArray] = ((), np.zeros(0, dtype=np.int64))

    def cells(self, columns: Sequence[int]) -> Cells:
        """Count the combinations of some columns, in whatever order they are named."""
        mask = sum(1 << column for column in columns)
        found = self._kept.get(mask)
        if found is None:
            found = _summary(self._count(tuple(columns), mask))
            if len(found.counts) > self._room:
                self._kept.clear()
                self._room = _KEPT
            self._room -= len(found.counts)
            self._kept[mask] = found
        return found

    def spread(self, strata: Sequence[int], column: int) -> IntArray:
        """Count the different values a column has within each stratum that occurs.

        >>> rows = [("f", 1), ("f", 1), ("f", 2), ("m", 2)]
        >>> Counter(FrequencySet.from_rows(["sex", "ward"], rows)).spread([0], 1).tolist()
        [2, 1]
        """
        key = self._key((*strata, column))
        if key.width <= self._widest_dense:
            distinct = np.flatnonzero(np.bincount(key.codes, minlength=1))
        else:
            distinct = np.unique(key.codes)
        stratum = distinct // self._sizes[column]
        return _run_lengths(stratum)

    def _count(self, columns: tuple[int, ...], mask: int) -> IntArray:
        known, table = self._last
        if known and not mask & ~sum(1 << column for column in known):
            margin: IntArray = table.sum(
                axis=tuple(i for i, c in enumerate(known) if c not in columns)
            )
            return margin[margin > 0]
        key = self._key(columns)
        if key.width > self._widest_dense:
            return self._sorted(key.codes)
        table = np.bincount(key.codes, weights=self._rows, minlength=key.width)
        table = table.astype(np.int64, copy=False)
        self._last = columns, table.reshape([self._sizes[c] for c in columns])
        return table[table > 0]

    def _sorted(self, codes: IntArray) -> IntArray:
        if self._rows is None:
            return _run_lengths(np.sort(codes))
        order = np.argsort(codes)
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        added: IntArray = np.add.reduceat(self._rows[order], starts).astype(np.int64)
        return added

    def _key(self, columns: tuple[int, ...]) -> _Key:
        """Pack columns into one number, going on from the columns packed last where they agree."""
        agreeing = 0
        for kept in self._keys:
            if kept.columns != columns[: len(kept.columns)]:
                break
            agreeing += 1
        del self._keys[agreeing:]
        key = self._keys[-1] if self._keys else _Key((), np.zeros(self._items, np.int64), 1)
        for column in columns[len(key.columns) :]:
            key = self._extended(key, column)
            self._keys.append(key)
        return key

    def _extended(self, key: _Key, column: int) -> _Key:
        codes, width = key.codes, key.width
        size = self._sizes[column]
        if width * size >= _WIDEST_KEY:
            distinct, codes = np.unique(codes, return_inverse=True)
            width = len(distinct)
        packed = codes * size
        packed += self._codes[column]
        return _Key((*key.columns, column), packed, width * size)


def _declared(counts: FrequencySet, declared: Mapping[str, int]) -> tuple[int, ...]:
    """Give the number of values of each column, as declared or as found."""
    for name, number in declared.items():
        if name not in counts.names:
            raise UnknownColumnError(name, counts.names)
        found = len(counts.column(name).values)
        require_int(f"declared[{name!r}]", number, at_least=max(1, found))
    return tuple(declared.get(c.name, max(1, len(c.values))) for c in counts.columns)


def _run_lengths(ordered: IntArray) -> IntArray:
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return np.diff(starts, append=len(ordered))


def _summary(counts: IntArray) -> Cells:
    if len(counts) <= _SUMMARISED:
        return Cells(counts, np.ones(len(counts), dtype=np.int64))
    distinct, times = np.unique(counts, return_counts=True)
    return Cells(distinct, times)
