"""(k,e)-anonymity: every class shows k different numbers, and they are spread over e or more."""

from collections.abc import Mapping
from decimal import Decimal
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import require_int, require_number, require_text
from sfumato.hierarchy.intervals import plus
from sfumato.models.base import ABSORBING, Merging, PrivacyModel
from sfumato.models.number_line import NumberLine, require_line
from sfumato.models.rounding import SLACK
from sfumato.text import text_of
from sfumato.typing import BoolArray, IntArray


@dataclass(frozen=True)
class KEAnonymity(PrivacyModel):
    """Every class shows `k` different numbers or more, and the largest is `e` above the smallest.

    Salaries of 3000, 4000 and 5000 are three values, and all low: they keep (3, 2000) and not
    (3, 5000). For days, such as dates of birth, `e` is a number of days.

    Promises: an adversary who learns a person's class still faces `k` or more numbers, and
    cannot narrow them down to a range below `e`.
    Does not promise: that the numbers lie evenly in that range. A class of 99 salaries
    around 3000 and one of 90000 has a wide range; see `CategoryShare` with a hierarchy of
    intervals. Missing values do not count, because "unknown" hides no one.

    Reference: Zhang et al., "Aggregate Query Answering on Anonymized Tables", 2007,
    doi:10.1109/ICDE.2007.367857: a group has k different sensitive values at least, and the
    difference of its largest and its smallest is e at least

    Args:
        column: The sensitive column, of numbers or days.
        k: Fewest different values a class may show; 2 or more.
        e: Least difference of the largest and the smallest value of a class; above 0.

    Example:
        >>> rows = [("A", 3000), ("A", 4000), ("A", 5000), ("B", 6000), ("B", 11000), ("B", 8000)]
        >>> classes = classes_of(rows, column="salary")
        >>> KEAnonymity("salary", k=3, e=4000).passes(classes)
        array([False,  True])
        >>> KEAnonymity("salary", k=3, e=4000).measure(classes)
        {'k': 3, 'e': 2000.0}
    """

    name: ClassVar[str] = "k-e-anonymity"
    in_words: ClassVar[str] = (
        "Every group has at least {k} different numbers of {column}, spread over {e} or more."
    )
    stricter: ClassVar[Mapping[str, int]] = {"k": 1, "e": 1}
    merging: ClassVar[Merging] = ABSORBING
    counts_people: ClassVar[bool] = False
    needs_numbers: ClassVar[bool] = True

    column: str
    k: int
    e: float

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_int("k", self.k, at_least=2, why="with k=1 every class passes")
        require_number("e", self.e, above=0, why="two different numbers are always apart")

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        distinct, lowest, highest, line = self._spread(classes)
        # Found once per column: the nearest place that is far enough from each place.
        enough = classes.counts_of(self.column).column.memoize(
            ("far enough", self.e), lambda _: _far_enough(line, self.e)
        )
        known = distinct > 0
        verdicts: BoolArray = distinct >= self.k
        verdicts[known] &= highest[known] >= enough[lowest[known]]
        return verdicts

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        distinct, lowest, highest, line = self._spread(classes)
        if not len(classes):
            return {"k": self.k, "e": self.e}
        if not distinct.all():
            return {"k": 0, "e": 0.0}
        ends = {*zip(lowest.tolist(), highest.tolist(), strict=True)}
        points = line.points
        narrowest = min(plus(points[high], points[low].copy_negate()) for low, high in ends)
        return {"k": int(distinct.min()), "e": float(narrowest)}

    def _spread(
        self, classes: EquivalenceClasses
    ) -> tuple[IntArray, IntArray, IntArray, NumberLine]:
        """Return how many different numbers each class shows, and the places of its ends."""
        counts = classes.counts_of(self.column)
        line = require_line(counts.column, self.name)
        known, n = counts.known, len(classes)
        place = line.place[known.value]
        order = np.lexsort((place, known.class_id))
        place, class_id = place[order], known.class_id[order]
        lowest, highest = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        # Assignments go in order: the last of a class stays.
        lowest[class_id[::-1]], highest[class_id] = place[::-1], place
        # Two spellings of a number are one number.
        new = (np.diff(class_id, prepend=-1) != 0) | (np.diff(place, prepend=-1) != 0)
        distinct = np.bincount(class_id[new], minlength=n)
        return distinct, lowest, highest, line

    @property
    def fewest_values(self) -> int:
        return self.k

    @classmethod
    def example(cls) -> Self:
        return cls("disease", k=2, e=3)


def _far_enough(line: NumberLine, width: float) -> IntArray:
    """Return for each place the first one that is a width away, rounding forgiven."""
    # Relative to the width alone: numbers may be as small as they like.
    step = Decimal(text_of(float(width))) * (1 - Decimal(SLACK))
    found = np.full(len(line.points), len(line.points), dtype=np.int64)
    place = 0
    for first, low in enumerate(line.points):
        end = plus(low, step)
        while place < len(line.points) and line.points[place] < end:
            place += 1
        found[first] = place
    return found
