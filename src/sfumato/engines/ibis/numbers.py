"""Whole numbers for combinations of codes: what a database joins by, instead of many columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.typing import IntArray

_WIDEST = 2**62


class Numbers:
    """Gives every combination of codes a number of its own, or a few where one is too narrow.

    A number is a sum of one part per column, so a database can add it up from lookups.

    Args:
        sizes: How many codes each column can have.

    Example:
        >>> numbers = Numbers([3, 2])
        >>> [numbers.part(0, np.array([2])).tolist(), numbers.part(1, np.array([1])).tolist()]
        [[2], [3]]
        >>> [each.tolist() for each in numbers.of([np.array([2, 0]), np.array([1, 1])])]
        [[5, 3]]
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._weights: list[int] = []
        self.groups: list[list[int]] = []
        """Which columns are added up to the first number, to the second and so on."""

        width = _WIDEST
        for column, size in enumerate(sizes):
            if width * max(size, 1) >= _WIDEST:
                width = 1
                self.groups.append([])
            self.groups[-1].append(column)
            self._weights.append(width)
            width *= max(size, 1)

    def part(self, column: int, codes: np.ndarray) -> IntArray:
        """Give what the codes of a column add to the number they are part of."""
        part: IntArray = codes.astype(np.int64) * self._weights[column]
        return part

    def of(self, codes: Sequence[np.ndarray]) -> list[IntArray]:
        """Give the numbers of combinations."""
        return self.sums([self.part(column, each) for column, each in enumerate(codes)])

    def sums(self, parts: Sequence[Any]) -> list[Any]:
        """Add up the parts of each number, be they arrays or expressions."""
        found = []
        for group in self.groups:
            number = parts[group[0]]
            for column in group[1:]:
                number = number + parts[column]
            found.append(number)
        return found
