"""What a release says about one column."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from sfumato.counts import Column
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray


def added(of_item: IntArray | CodeArray, weight: FloatArray, n: int) -> FloatArray:
    """Add up the weights of the items of each group.

    >>> added(np.array([0, 1, 0]), np.array([0.5, 1.0, 2.0]), 2).tolist()
    [2.5, 1.0]
    """
    return np.bincount(of_item, weights=weight, minlength=n).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class Facet:
    """How likely each raw value of a column is, in each item of a release.

    Items are whatever a release is made of: combinations of labels, or groups. Many items
    share a kind (the same label), so chances are kept per kind, as weights.

    Example:
        >>> age = Column("age", (31, 32, 39))
        >>> facet = Facet.of(age, np.array([0, 1, 0]), [np.array([0, 1]), np.array([2])])
        >>> facet.share(np.array([True, False, True])).tolist()
        [0.5, 1.0, 0.5]
        >>> facet.spread(np.array([1.0, 5.0, 3.0])).tolist()
        [2.0, 2.0, 5.0]
    """

    column: Column
    """The column of the original table."""

    kinds: IntArray | CodeArray
    """The kind of each item."""

    kind: IntArray
    """One entry per kind and value that is possible in it: the kind, ..."""

    value: IntArray
    """... the code of the value, ..."""

    weight: FloatArray
    """... and how likely it is beside the other values of the kind."""

    n: int
    """How many kinds there are."""

    @classmethod
    def of(cls, column: Column, kinds: IntArray | CodeArray, covered: Sequence[IntArray]) -> Self:
        """Make every value that a kind covers equally likely."""
        kind = np.repeat(np.arange(len(covered)), [len(codes) for codes in covered])
        value = np.concatenate([np.empty(0, dtype=np.int64), *covered])
        return cls(column, kinds, kind, value, np.ones(len(kind)), len(covered))

    @classmethod
    def counted(
        cls,
        column: Column,
        kinds: IntArray | CodeArray,
        kind: IntArray | CodeArray,
        label: CodeArray,
        rows: IntArray | FloatArray,
        covered: Sequence[IntArray],
    ) -> Self:
        """Make a value as likely as it is frequent in a kind: so many rows of it have a label.

        >>> ill, flu, gout = Column("ill", ("flu", "gout")), np.array([0]), np.array([1])
        >>> one, both = np.array([0, 0, 0, 0]), np.array([0, 1])
        >>> facet = Facet.counted(ill, one, one[:2], both, np.array([3, 1]), [flu, gout])
        >>> facet.share(np.array([True, False])).tolist()
        [0.75, 0.75, 0.75, 0.75]
        """
        codes = np.concatenate([np.empty(0, dtype=np.int64), *covered])
        widths = np.array([len(each) for each in covered], dtype=np.int64)
        width = widths[label]
        # Where the codes of an entry's label begin, and how far into them each code is.
        begin = np.repeat((np.cumsum(widths) - widths)[label], width)
        into = np.arange(width.sum()) - np.repeat(np.cumsum(width) - width, width)
        weight = np.repeat(rows / np.maximum(width, 1), width)
        n = int(max(kinds.max(initial=-1), kind.max(initial=-1))) + 1
        of_kind: IntArray = np.repeat(kind.astype(np.int64), width)
        return cls(column, kinds, of_kind, codes[begin + into], weight, n)

    @cached_property
    def _total(self) -> FloatArray:
        return added(self.kind, self.weight, self.n)

    def share(self, allowed: BoolArray | FloatArray) -> FloatArray:
        """Say for each item how likely one of these values is, or that share of each."""
        likely = added(self.kind, self.weight * allowed[self.value], self.n)
        # Divided last: if all values are allowed, the share is exactly 1.
        found: FloatArray = (likely / np.maximum(self._total, 1e-300))[self.kinds]
        return found

    def draw(self, items: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw a raw value for each of some rows, given the item each belongs to.

        >>> ill, both = Column("ill", ("flu", "gout")), [np.array([0, 1]), np.array([1])]
        >>> facet = Facet.of(ill, np.array([1, 0]), both)
        >>> facet.draw(np.array([0, 0, 0]), np.random.default_rng()).tolist()
        [1, 1, 1]
        """
        order = np.argsort(self.kind, kind="stable")
        up_to = np.cumsum(self.weight[order])
        # One line with a stretch for each kind; a row's place is drawn in the stretch of its kind.
        entries = np.bincount(self.kind, minlength=self.n)
        last = np.cumsum(entries) - 1
        first = last - entries + 1
        kind = self.kinds[items]
        place = up_to[last[kind]] - self._total[kind] * rng.random(len(items))
        # Rounding must not carry a row over into the stretch beside it.
        at = np.clip(np.searchsorted(up_to, place, side="left"), first[kind], last[kind])
        found: IntArray = self.value[order[at]]
        return found

    def spread(self, mass: FloatArray) -> FloatArray:
        """Spread what each item weighs over the raw values, and add up per value."""
        of_kind = added(self.kinds, mass, self.n)
        per_weight = of_kind / np.maximum(self._total, 1e-300)
        weight = self.weight * per_weight[self.kind]
        return added(self.value, weight, len(self.column.values))
