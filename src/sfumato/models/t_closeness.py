"""t-closeness: every class looks like the whole table."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses, ValueCounts
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_number, require_text
from sfumato.models import distances
from sfumato.models.base import CLOSED, Merging, PrivacyModel
from sfumato.models.categories import category_codes, read_categories
from sfumato.models.rounding import at_most, rows_above
from sfumato.text import text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

DISTANCES: dict[str, Callable[[ValueCounts, IntArray], FloatArray]] = {
    "equal": distances.equal_distance,
    "ordered": distances.ordered_distance,
    "hierarchical": distances.hierarchical_distance,
}
"""The distances between values, by their names in policies."""

SHARES_ABOVE: dict[str, Callable[[ValueCounts, IntArray], tuple[FloatArray, FloatArray]]] = {
    "equal": distances.shares_above,
    "hierarchical": distances.hierarchical_shares_above,
}
"""For distances that are what a class has too much of: its share in the class and in the table."""

CATEGORY = "category"
"""The distance that needs categories."""


@dataclass(frozen=True)
class TCloseness(PrivacyModel):
    """The sensitive values of every class are distributed as in the table, up to `t`.

    How far apart two distributions are is the earth mover's distance, between 0 and 1.

    Promises: learning a person's class changes what is believed about the sensitive
    value little, compared with knowing the table alone.
    Does not promise: that the table itself says little. If 90 % have one value, every
    class may. Nor a bound for a single rare value: see `EnhancedBetaLikeness`. A
    missing value counts as one more value, because its absence can be telling too.

    Reference: "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", 2007,
    doi:10.1109/ICDE.2007.367856

    Args:
        column: The sensitive column.
        t: Largest distance allowed; at least 0 and below 1.
        distance: How far apart two values are. "equal": all the same. "ordered": by the
            steps between them in the column's order (numbers by size, text by alphabet).
            "hierarchical": by the level at which the column's hierarchy joins them. "category":
            by how many categories lie between theirs, none within a category.
        categories: For the distance "category", every value of the column in one of two or
            more lists, most secret first: those of the first and the last are 1 apart.

    Example:
        >>> rows = [("A", 1), ("A", 2), ("B", 1), ("B", 3)]
        >>> classes = classes_of(rows, column="stage")
        >>> TCloseness("stage", t=0.2).measure(classes)
        {'t': 0.25}
        >>> TCloseness("stage", t=0.2, distance="ordered").measure(classes)
        {'t': 0.125}
        >>> TCloseness("stage", t=0.2).passes(classes)
        array([False, False])
        >>> alike = TCloseness("stage", t=0, distance="category", categories=[[1], [2, 3]])
        >>> alike.measure(classes)
        {'t': 0.0}
    """

    name: ClassVar[str] = "t-closeness"
    in_words: ClassVar[str] = (
        "Every group looks like the whole table in {column}, up to {t_percent}: who finds a "
        "person's group learns little that the table does not say anyway."
    )
    stricter: ClassVar[Mapping[str, int]] = {"t": -1}
    merging: ClassVar[Merging] = CLOSED
    compares_with_table: ClassVar[bool] = True

    column: str
    t: float
    distance: str = "equal"
    categories: tuple[tuple[Value, ...], ...] | None = None

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_number("t", self.t, at_least=0, below=1, why="with t=1 every class passes")
        if self.distance not in (*DISTANCES, CATEGORY):
            known = ", ".join((*DISTANCES, CATEGORY))
            raise ParameterError("distance", self.distance, f"one of {known}")
        if self.distance == CATEGORY:
            object.__setattr__(self, "categories", read_categories(self.categories))
        elif self.categories is not None:
            raise ParameterError(
                "categories",
                self.categories,
                "left out",
                why=f"the distance is {self.distance}; distance: category goes by them",
            )

    @property
    def needs_hierarchy(self) -> bool:
        return self.distance == "hierarchical"

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        return at_most(self._distances(classes), self.t)

    def count_lost(self, classes: EquivalenceClasses, gone: int) -> IntArray:
        counts = classes.counts_of(self.column)
        moved = gone / max(int(counts.reference.sum()), 1)
        if self.distance in SHARES_ABOVE and moved < 1:
            # Some values are too much of a class, by more than t. Rows that go from the table
            # raise the share of those that stay by no more than this.
            mine, table = SHARES_ABOVE[self.distance](counts, classes.sizes)
            return rows_above(mine, np.minimum(self.t + table / (1 - moved), 1), classes.sizes)
        # The distance is convex, and at most 1: of n rows at distance d, m that go leave the rest
        # at (n·d − m)/(n − m) or more. What goes moves the table by its share of it at most.
        bound = np.full(len(classes), min(self.t + moved, 1.0))
        return rows_above(self._distances(classes), bound, classes.sizes)

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        measured = self._distances(classes)
        return {"t": float(measured.max()) if len(measured) else self.t}

    def _distances(self, classes: EquivalenceClasses) -> FloatArray:
        counts = classes.counts_of(self.column)
        # Where people are counted, values are compared as often as people have them.
        sizes = counts.held if classes.by_person else classes.sizes
        if self.categories is None:
            return DISTANCES[self.distance](counts, sizes)
        texts = tuple(tuple(map(text_of, each)) for each in self.categories)
        codes = counts.column.memoize(("categories", texts), lambda c: category_codes(c, texts))
        return distances.category_distance(counts, sizes, codes, len(texts))

    def params(self) -> dict[str, Any]:
        return {name: value for name, value in super().params().items() if value is not None}

    @classmethod
    def example(cls) -> Self:
        return cls("disease", t=0.3)
