"""Tell which rows belong to suppressed classes."""

from collections.abc import Sequence

import numpy as np

from sfumato.typing import BoolArray, IntArray

_WIDEST_KEY = 2**62
_TABLE = 2**22
"""With at most this many possible keys a table of them is faster than searching."""


class SuppressedClasses:
    """A set of label code tuples that rows are looked up in, however wide they are.

    Example:
        >>> classes = SuppressedClasses(np.array([[1, 0]]), sizes=[2, 3])
        >>> classes.contain([np.array([0, 1, 1]), np.array([0, 0, 2])]).tolist()
        [False, True, False]
    """

    def __init__(self, classes: IntArray, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._stages: list[tuple[list[int], IntArray]] = []
        """Columns to add to the key, and the keys that suppressed classes have then."""

        self._table: BoolArray | None = None
        key: IntArray = np.zeros(len(classes), dtype=np.int64)
        width, columns = 1, list[int]()
        for column, size in enumerate(sizes):
            if width * size >= _WIDEST_KEY:
                # Go on with the number of the key among those of the suppressed classes.
                distinct, key = np.unique(key, return_inverse=True)
                self._stages.append((columns, distinct))
                width, columns = len(distinct), []
            key = key * size + classes[:, column]
            width *= size
            columns.append(column)
        self._stages.append((columns, np.unique(key)))
        if len(self._stages) == 1 and width <= _TABLE:
            self._table = np.zeros(width, dtype=bool)
            self._table[key] = True

    def __bool__(self) -> bool:
        return len(self._stages[-1][1]) > 0

    def contain(self, codes: Sequence[np.ndarray]) -> BoolArray:
        """Give one verdict per row, from one array of label codes per column."""
        key: IntArray = np.zeros(len(codes[0]), dtype=np.int64)
        inside: BoolArray = np.ones(len(key), dtype=bool)
        for columns, keys in self._stages:
            for column in columns:
                key *= self._sizes[column]
                key += codes[column]
            if self._table is not None:
                return self._table[key]
            place = np.searchsorted(keys, key)
            place[place == len(keys)] = 0
            inside &= keys[place] == key
            key = place
        return inside
