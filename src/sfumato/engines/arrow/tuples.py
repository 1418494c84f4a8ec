"""Find tuples of codes among known ones."""

from collections.abc import Sequence

import numpy as np

from sfumato.typing import BoolArray, CodeArray, IntArray

_WIDEST_KEY = 2**62
_TABLE = 2**22
"""With at most this many possible keys a table of them is faster than searching."""

_SLOTS = 22
"""Bits of the slots that keys are thrown into, to see that most of them are not there."""


class Tuples:
    """Known code tuples that rows are looked up in, however wide they are.

    Args:
        codes: One array of codes per column; one item per known tuple.
        sizes: How many codes each column can have.
        n: How many tuples there are.

    Example:
        >>> known = Tuples([np.array([1, 0]), np.array([0, 2])], sizes=[2, 3], n=2)
        >>> known.find([np.array([0, 1, 1]), np.array([2, 0, 2])], n=3).tolist()
        [1, 0, -1]
    """

    def __init__(self, codes: Sequence[np.ndarray], sizes: Sequence[int], n: int) -> None:
        self._sizes = sizes
        self._stages: list[tuple[list[int], IntArray]] = []
        """Columns to add to the key, and the keys that known tuples have then."""

        self._table: CodeArray | None = None
        key: IntArray = np.zeros(n, dtype=np.int64)
        width, columns = 1, list[int]()
        for column, size in enumerate(sizes):
            if width * size >= _WIDEST_KEY:
                # Go on with the number of the key among those of the known tuples.
                distinct, key = np.unique(key, return_inverse=True)
                self._stages.append((columns, distinct))
                width, columns = len(distinct), []
            key = key * size + codes[column]
            width *= size
            columns.append(column)
        keys, first = np.unique(key, return_index=True)
        self._stages.append((columns, keys))
        self._numbers: CodeArray = first.astype(np.int32)
        self._taken: BoolArray | None = None
        """Slots in which there is a known key, if there is one key per tuple."""

        if len(self._stages) == 1 and width <= _TABLE:
            self._table = np.full(width, -1, dtype=np.int32)
            self._table[keys] = first
        elif len(self._stages) == 1:
            self._taken = np.zeros(1 << _SLOTS, dtype=bool)
            self._taken[_slots(keys)] = True

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, codes: Sequence[np.ndarray], n: int) -> CodeArray:
        """Give the number of each of `n` tuples among the known ones, -1 for strangers."""
        strangers: CodeArray = np.full(n, -1, dtype=np.int32)
        if not len(self):
            return strangers
        key: IntArray = np.zeros(n, dtype=np.int64)
        known = np.ones(n, dtype=bool)
        for columns, keys in self._stages:
            for column in columns:
                key *= self._sizes[column]
                key += codes[column]
            if self._table is not None:
                return self._table[key]
            if self._taken is not None:
                return self._found(key, keys)
            place = _places(keys, key)
            known &= keys[place] == key
            key = place
        return np.where(known, self._numbers[key], strangers)

    def _found(self, key: IntArray, keys: IntArray) -> CodeArray:
        """Search only for what may be there: a row is seldom in a suppressed class."""
        assert self._taken is not None  # noqa: S101 - asked for only then
        maybe = np.flatnonzero(self._taken.take(_slots(key)))
        wanted = key[maybe]
        place = _places(keys, wanted)
        found: CodeArray = np.full(len(key), -1, dtype=np.int32)
        found[maybe] = np.where(keys[place] == wanted, self._numbers[place], np.int32(-1))
        return found


def _slots(keys: IntArray) -> IntArray:
    """Throw keys into slots: equal ones into the same, others into any."""
    # Multiplying by an odd number close to the golden ratio's share mixes the upper bits.
    mixed = keys.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(64 - _SLOTS)).view(np.int64)


def _places(keys: IntArray, wanted: IntArray) -> IntArray:
    """Say where in sorted keys each wanted one would be; anywhere if it is not there.

    >>> _places(np.array([3, 5, 8]), np.array([8, 3, 9])).tolist()
    [2, 0, 0]
    """
    # One after the other in order, searches stay within the processor's cache.
    order = np.argsort(wanted)
    found = np.searchsorted(keys, wanted[order])
    found[found == len(keys)] = 0
    place = np.empty_like(found)
    place[order] = found
    return place
