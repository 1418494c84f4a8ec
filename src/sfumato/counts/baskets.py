"""Baskets: the items that each row of a table has, and how many rows share some of them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.typing import CodeArray, IntArray

_AT_ONCE = 2**21
"""Combinations that are made at a time; they take some 32 bytes each."""

_WIDEST = 2**62
"""Combinations are packed into one number where that is smaller."""


@dataclass(frozen=True, eq=False)
class Baskets:
    """The distinct items of each row, in order.

    Example:
        >>> two = Baskets.of_cells(np.array([0, 0, 0, 1]), np.array([1, 0, 1, 1]), 3, ("a", "b"))
        >>> two.rows, two.starts.tolist(), two.items.tolist()
        (3, [0, 2, 3, 3], [0, 1, 1])
    """

    starts: IntArray
    """Where the items of each row begin, and where those of the last end."""

    items: CodeArray
    """The items of all rows one after the other, each row's rising."""

    values: tuple[str, ...]
    """What each item is called."""

    @classmethod
    def of_cells(
        cls, row: IntArray, item: IntArray | CodeArray, rows: int, values: Sequence[str]
    ) -> "Baskets":
        """Collect items by the row that has them; what a row has twice it has once."""
        width = max(len(values), 1)
        keys = np.unique(row.astype(np.int64) * width + item)
        starts = np.searchsorted(keys, np.arange(rows + 1, dtype=np.int64) * width)
        return cls(starts, (keys % width).astype(np.int32), tuple(values))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> IntArray:
        """The number of items of each row."""
        return np.diff(self.starts)

    @property
    def row_of(self) -> IntArray:
        """The row of each item."""
        return np.repeat(np.arange(self.rows), self.sizes)

    def take(self, rows: IntArray) -> "Baskets":
        """Return some rows, in the order they are named."""
        sizes = self.sizes[rows]
        places = spread(self.starts[rows], sizes)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Baskets(starts, self.items[places], self.values)

    def beside(self, other: "Baskets") -> "Baskets":
        """Return the items of two columns together; those of the other come after."""
        row = np.concatenate([self.row_of, other.row_of])
        item = np.concatenate([self.items, other.items + np.int32(len(self.values))])
        return Baskets.of_cells(row, item, self.rows, (*self.values, *other.values))


def spread(starts: IntArray, sizes: IntArray) -> IntArray:
    """Return the numbers from each start on, as many as its size says.

    >>> spread(np.array([5, 0]), np.array([3, 2])).tolist()
    [5, 6, 7, 0, 1]
    """
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    places: IntArray = np.arange(total, dtype=np.int64) + np.repeat(starts - ends + sizes, sizes)
    return places


class Combinations(NamedTuple):
    """Sets of items of one size, and the rows that have them."""

    row: IntArray
    """For each time a row has one, the row."""

    number: IntArray
    """Which one it is."""

    support: IntArray
    """For each set, the rows of a class that have it."""

    first: IntArray
    """For each set, one of the times that a row has it."""

    items: IntArray
    """`items[i, time]`: the i-th item of the set."""


def combinations_of(baskets: Baskets, class_of: IntArray, size: int) -> Combinations:
    """Return all sets of `size` items that rows have, class by class.

    >>> baskets = Baskets.of_cells(
    ...     np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 1]), 3, ("a", "b"))
    >>> combinations_of(baskets, np.zeros(3, dtype=np.int64), 2).support.tolist()
    [2]
    """
    row, items = _grow(baskets, 0, baskets.rows, size)
    number, first, support = _number(class_of[row], items, len(baskets.values))
    return Combinations(row, number, support, first, items)


def least_support(baskets: Baskets, class_of: IntArray, most: int) -> int | None:
    """Return the fewest rows of a class that share items one of them has, up to `most` of them.

    None if no row has an item. Fewer items are shared by more rows, so that only the largest sets
    of each row could be asked for; all are, some at a time.

    >>> baskets = Baskets.of_cells(
    ...     np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 1]), 3, ("a", "b"))
    >>> least_support(baskets, np.zeros(3, dtype=np.int64), 1)
    2
    """
    fewest: int | None = None
    for size in range(1, most + 1):
        support = _supports(baskets, class_of, size)
        if not len(support):
            break
        fewest = int(support.min()) if fewest is None else min(fewest, int(support.min()))
    return fewest


def shares_enough(baskets: Baskets, class_of: IntArray, least: Sequence[int]) -> bool:
    """Return whether enough rows of its class share any items that a row has.

    Args:
        baskets: The items of each row.
        class_of: The class of each row.
        least: How many rows must share one item, two items, and so on.
    """
    for size, needed in enumerate(least, start=1):
        support = _supports(baskets, class_of, size)
        if len(support) and support.min() < needed:
            return False
    return True


def _supports(baskets: Baskets, class_of: IntArray, size: int) -> IntArray:
    """Return the rows of each set of items of a size."""
    keys: list[np.ndarray] = []
    counts: list[IntArray] = []
    for start, end in _parts(baskets, size):
        row, items = _grow(baskets, start, end, size)
        packed = _pack(class_of[row], items, len(baskets.values), int(class_of.max(initial=0)) + 1)
        found, n = _count(packed)
        keys.append(found)
        counts.append(n)
    if not keys:
        return np.empty(0, dtype=np.int64)
    if len(keys) == 1:
        return counts[0]
    every = np.concatenate(keys)
    _, number = np.unique(every, axis=0 if every.ndim > 1 else None, return_inverse=True)
    return np.bincount(number.ravel(), weights=np.concatenate(counts)).astype(np.int64)


def _count(packed: np.ndarray) -> tuple[np.ndarray, IntArray]:
    """Return each number that occurs, and how often; sorting them is faster than a hash table."""
    if packed.ndim > 1:
        found, times = np.unique(packed, axis=0, return_counts=True)
        return found, times
    packed = np.sort(packed)
    starts = np.flatnonzero(np.diff(packed, prepend=-1))
    return packed[starts], np.diff(starts, append=len(packed))


def _parts(baskets: Baskets, size: int) -> Iterator[tuple[int, int]]:
    """Yield stretches of rows that have not too many sets of a size."""
    n = baskets.sizes.astype(np.float64)
    sets = np.ones(baskets.rows)
    for i in range(size):
        sets *= np.maximum(n - i, 0) / (i + 1)
    part = (np.cumsum(sets) // _AT_ONCE).astype(np.int64)
    ends = np.flatnonzero(np.diff(part, append=part[-1:] + 1)) + 1
    start = 0
    for end in ends.tolist():
        if sets[start:end].any():
            yield start, end
        start = end


def _grow(baskets: Baskets, start: int, end: int, size: int) -> tuple[IntArray, IntArray]:
    """Return each set of items of some rows: the row, and the items as `items[i, set]`."""
    begins, ends = baskets.starts[start:end], baskets.starts[start + 1 : end + 1]
    places = np.arange(begins[0] if len(begins) else 0, ends[-1] if len(ends) else 0)
    row = np.repeat(np.arange(start, end), ends - begins)
    stop = np.repeat(ends, ends - begins)
    chosen = [places]
    for _ in range(1, size):
        # A set goes on with each item of its row that comes after its last one.
        more = stop - 1 - chosen[-1]
        after = spread(chosen[-1] + 1, more)
        chosen = [np.repeat(each, more) for each in chosen] + [after]
        row, stop = np.repeat(row, more), np.repeat(stop, more)
    return row, np.array([baskets.items[each] for each in chosen], dtype=np.int64)


def _pack(class_id: IntArray, items: IntArray, width: int, classes: int) -> np.ndarray:
    """Return one number per set, or its class and items in a row where that would be too large."""
    if classes * max(width, 1) ** len(items) >= _WIDEST:
        return np.column_stack([class_id, *items])
    key = class_id.astype(np.int64)
    for each in items:
        key = key * width + each
    return key


def _number(class_id: IntArray, items: IntArray, width: int) -> tuple[IntArray, IntArray, IntArray]:
    """Number sets: the number of each, where each stands first, and its rows."""
    packed = _pack(class_id, items, width, int(class_id.max(initial=0)) + 1)
    _, first, number, support = np.unique(
        packed,
        axis=0 if packed.ndim > 1 else None,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    return number.ravel(), first, support
