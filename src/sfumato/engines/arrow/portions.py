"""Hand rows that are alike out to portions, at random, while they come in."""

import numpy as np

from sfumato.typing import IntArray


class UsedUpError(Exception):
    """There are more rows of a combination than its portions have."""

    def __init__(self, combination: int) -> None:
        super().__init__(combination)
        self.combination = combination


class Portions:
    """Gives every row a portion of its combination, until all portions are used up.

    Which rows are in which portion is uniformly random and has nothing to do with their
    order, as if all rows of a combination were shuffled and then dealt. Only what is
    left of each portion is remembered.

    Args:
        starts: The portions of combination i are those from `starts[i]` to `starts[i + 1]`.
        rows: How many rows each portion takes.
        rng: Where the choice comes from.

    Example:
        >>> portions = Portions(np.array([0, 1, 3]), np.array([2, 1, 1]), np.random.default_rng(0))
        >>> first, second = portions.hand_out(np.array([1, 0, 0, 1]))[[0, 3]]
        >>> sorted([int(first), int(second)]), portions.left.tolist()
        ([1, 2], [0, 0, 0])
    """

    def __init__(self, starts: IntArray, rows: IntArray, rng: np.random.Generator) -> None:
        self.left = rows.astype(np.int64)
        """How many rows each portion still takes."""

        self._starts = starts
        self._rng = rng

    def hand_out(self, combinations: np.ndarray) -> IntArray:
        """Give the portion of each row of a batch, or refuse with `UsedUpError`.

        Args:
            combinations: The combination of each row.
        """
        order = self._rng.permutation(len(combinations))
        # Now the rows of a combination are side by side, in random order.
        order = order[np.argsort(combinations[order])]
        met, asked = np.unique(combinations[order], return_counts=True)
        portions, starts = _ranges(self._starts[met], self._starts[met + 1])
        before = np.concatenate([[0], np.cumsum(self.left[portions])])
        short = np.diff(before[starts]) < asked
        if short.any():
            raise UsedUpError(int(met[np.argmax(short)]))
        taken = _drawn(before, starts, asked, self._rng)
        self.left[portions] -= taken
        given = np.empty(len(combinations), dtype=np.int64)
        given[order] = np.repeat(portions, taken)
        return given


def _ranges(begins: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Write out ranges one after the other, and say where each starts, and where the last ends.

    >>> [array.tolist() for array in _ranges(np.array([5, 0]), np.array([7, 1]))]
    [[5, 6, 0], [0, 2, 3]]
    """
    starts = np.concatenate([[0], np.cumsum(ends - begins)])
    return np.arange(starts[-1]) + np.repeat(begins - starts[:-1], ends - begins), starts


def _drawn(
    before: IntArray, starts: IntArray, asked: IntArray, rng: np.random.Generator
) -> IntArray:
    """Draw rows without replacement from portions: how many are of each.

    Every combination's portions are cut into two halves, how many rows are of the first
    half is drawn, and each half is cut again: the rounds are as many as the logarithm of
    the most portions.

    Args:
        before: How many rows there are to draw from before each portion, and in all.
        starts: The first portion of each combination, and where the last one ends.
        asked: How many rows to draw from each combination; not more than there are.
        rng: Where the numbers come from.

    >>> before = np.array([0, 3, 4, 13])
    >>> _drawn(before, np.array([0, 2, 3]), np.array([4, 5]), np.random.default_rng()).tolist()
    [3, 1, 5]
    """
    taken = np.zeros(len(before) - 1, dtype=np.int64)
    low, high, rows = starts[:-1], starts[1:], asked
    while len(low):
        single = high - low == 1
        taken[low[single]] = rows[single]
        low, high, rows = (array[~single & (rows > 0)] for array in (low, high, rows))
        middle = (low + high) // 2
        first = rng.hypergeometric(
            before[middle] - before[low], before[high] - before[middle], rows
        )
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        rows = np.concatenate([first, rows - first])
    return taken
