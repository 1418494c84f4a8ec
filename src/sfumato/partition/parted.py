"""The result of a partitioner: who is with whom."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from sfumato.counts import group, sums
from sfumato.typing import IntArray


@dataclass(frozen=True, eq=False)
class Parted:
    """Portions of items, each in a class. What the classes are called is decided later.

    Example:
        >>> parted = Parted.of([0, 1, 1], rows=[2, 1, 3], classes=[7, 7, 9])
        >>> parted.classes.tolist(), parted.sizes.tolist()
        ([0, 0, 1], [3, 3])
    """

    item: IntArray
    rows: IntArray
    classes: IntArray
    """The class of each portion, numbered without gaps."""

    @classmethod
    def of(cls, item: ArrayLike, rows: ArrayLike, classes: ArrayLike) -> Self:
        """Sort portions by class, add up those of one item in one class, renumber the classes."""
        items = np.asarray(item, dtype=np.int64)
        of_portion = np.asarray(classes, dtype=np.int64)
        n_items = int(items.max(initial=-1)) + 1
        groups = group([of_portion, items], [int(of_portion.max(initial=-1)) + 1, n_items])
        added = sums(groups.of_item, np.asarray(rows, dtype=np.int64), groups.n)
        number = np.cumsum(np.diff(of_portion[groups.first], prepend=-1) != 0) - 1
        return cls(items[groups.first], added, number)

    @classmethod
    def gathered(cls, parts: Iterable[tuple[IntArray, IntArray, IntArray]]) -> Self:
        """Put portions together that were found one after the other, if there are any."""
        none = np.empty(0, dtype=np.int64)
        item, rows, classes = zip((none, none, none), *parts, strict=True)
        return cls.of(np.concatenate(item), np.concatenate(rows), np.concatenate(classes))

    @property
    def n(self) -> int:
        """How many classes there are."""
        return int(self.classes[-1]) + 1 if len(self.classes) else 0

    @property
    def sizes(self) -> IntArray:
        """How many rows each class has."""
        return sums(self.classes, self.rows, self.n)

    @property
    def starts(self) -> IntArray:
        """Where the portions of each class begin."""
        return np.flatnonzero(np.diff(self.classes, prepend=-1))
