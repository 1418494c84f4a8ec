"""Recursive (c,l)-diversity: the commonest value is not too common, the rare ones not too rare."""

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses, KnownCounts
from sfumato.dataclasses import dataclass
from sfumato.errors import require_int, require_number, require_text
from sfumato.models.base import CLOSED, Merging, PrivacyModel
from sfumato.models.distinct_l_diversity import DistinctLDiversity
from sfumato.models.rounding import below, ratio
from sfumato.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class RecursiveCLDiversity(PrivacyModel):
    """In every class the largest count is below `c` times the sum from the `l`-th largest on.

    With the counts of a class in descending order, c1 < c · (c_l + c_(l+1) + … + c_m). A
    class with fewer than `l` values has nothing on the right and fails.

    Promises: even someone who rules out `l` - 2 values still faces no value that
    outweighs the rest more than `c` to one.
    Does not promise: anything against someone who can rule out more values, or a
    distribution like the whole table's (`TCloseness`). Only rows with a known value
    count: a missing value hides no one.

    What `measure` gives is the bound that c must exceed: the inequality is strict.

    Reference: "l-Diversity: Privacy Beyond k-Anonymity", 2007,
    doi:10.1145/1217299.1217302

    Args:
        column: The sensitive column.
        c: How many times the tail the commonest value must stay below; more than 0.
        l: Where the tail begins; 2 or more.

    Example:
        >>> rows = [("A", "flu")] * 8 + [("A", "gout"), ("A", "hiv")]
        >>> classes = classes_of(rows, column="disease")
        >>> RecursiveCLDiversity("disease", c=8, l=3).passes(classes)
        array([False])
        >>> RecursiveCLDiversity("disease", c=8.1, l=3).passes(classes)
        array([ True])
        >>> RecursiveCLDiversity("disease", c=2, l=3).measure(classes)
        {'c': 8.0}
    """

    name: ClassVar[str] = "recursive-cl-diversity"
    in_words: ClassVar[str] = (
        "In every group, the commonest value of {column} has fewer than {c} times the people of "
        "all values from place {l} on."
    )
    stricter: ClassVar[Mapping[str, int]] = {"c": -1, "l": 1}
    merging: ClassVar[Merging] = CLOSED
    exceeds: ClassVar[tuple[str, ...]] = ("c",)

    column: str
    c: float
    l: int

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_number("c", self.c, above=0, why="with c=0 no class passes")
        require_int("l", self.l, at_least=2, why="the tail must leave out the commonest value")

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        return self.keeps(classes.counts_of(self.column).known)

    def keeps(self, known: KnownCounts) -> BoolArray:
        """Return which value counts keep the promise, whatever they are counts of."""
        return below(self.figures(known), self.c)

    def figures(self, known: KnownCounts) -> FloatArray:
        """Return the bound that `c` must exceed for each of them."""
        return ratio(known.largest, known.beyond(self.l - 1))

    def count_lost(self, classes: EquivalenceClasses, gone: int) -> IntArray:
        # No tail grows when rows go, so the commonest value must fall below what it is now.
        known = classes.counts_of(self.column).known
        needed = np.ceil(known.largest - self.c * known.beyond(self.l - 1) - 1e-6)
        lost: IntArray = np.where(self.keeps(known), 0, np.maximum(needed, 1)).astype(np.int64)
        return lost

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        figures = self.figures(classes.counts_of(self.column).known)
        return {"c": float(figures.max()) if len(figures) else self.c}

    @property
    def absorbing_part(self) -> DistinctLDiversity:
        return DistinctLDiversity(self.column, self.l)

    @property
    def fewest_values(self) -> int:
        return self.l

    @classmethod
    def example(cls) -> Self:
        return cls("disease", c=2, l=2)
