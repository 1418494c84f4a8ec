"""Range share: in every class, no range of close numbers has too large a share."""

from collections.abc import Mapping
from decimal import Decimal
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import require_number, require_text
from sfumato.models.base import CLOSED, Merging, PrivacyModel
from sfumato.models.number_line import NumberLine, require_line
from sfumato.models.rounding import at_most, ratio, rows_above
from sfumato.text import text_of
from sfumato.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class RangeShare(PrivacyModel):
    """In every class, at most `share` of the numbers are within `within` of each other.

    Salaries of 3000, 3100, 3200 and 90000 are spread over a wide range, and three quarters of
    them are about the same. For days, such as dates of death, `within` is a number of days.

    Promises: an adversary who learns a person's class guesses with probability `share` at most
    that the number lies in a given range of that width, if the class is all they know.
    Does not promise: anything about wider ranges; or that a person's row is hard to find (see
    `KAnonymity`). Shares are of the rows with a known number, and a class without any fails: a
    missing value hides no one.

    Reference: Li, Tao and Xiao, "Preservation of Proximity Privacy in Publishing Numerical
    Sensitive Data", 2008, doi:10.1145/1376616.1376666, whose ranges are centred at each number

    Args:
        column: The sensitive column, of numbers or days.
        within: How far apart numbers are at most that count as close; 0 or more.
        share: Largest share that close numbers may have in a class; above 0 and below 1.

    Example:
        >>> rows = [("A", 3000), ("A", 3100), ("A", 9000), ("B", 3000), ("B", 6000), ("B", 9000)]
        >>> classes = classes_of(rows, column="salary")
        >>> RangeShare("salary", within=500, share=0.5).passes(classes)
        array([False,  True])
        >>> RangeShare("salary", within=500, share=0.5).measure(classes)
        {'share': 0.6666666666666666}
    """

    name: ClassVar[str] = "range-share"
    in_words: ClassVar[str] = (
        "In every group, at most {share_percent} of the numbers of {column} are within {within} of "
        "each other."
    )
    stricter: ClassVar[Mapping[str, int]] = {"share": -1, "within": 1}
    merging: ClassVar[Merging] = CLOSED
    counts_people: ClassVar[bool] = False
    needs_numbers: ClassVar[bool] = True

    column: str
    within: float
    share: float

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_number("within", self.within, at_least=0)
        require_number("share", self.share, above=0, below=1, why="with share=1 every class passes")

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        return at_most(self._shares(classes), self.share)

    def count_lost(self, classes: EquivalenceClasses, gone: int) -> IntArray:
        known = classes.counts_of(self.column).known
        return rows_above(self._shares(classes), self.share, known.totals)

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        shares = self._shares(classes)
        return {"share": float(shares.max()) if len(shares) else self.share}

    def _shares(self, classes: EquivalenceClasses) -> FloatArray:
        """Each class's largest share of close numbers; infinite if none is known."""
        counts = classes.counts_of(self.column)
        line = require_line(counts.column, self.name)
        reach = counts.column.memoize((self.name, self.within), lambda _: _reach(line, self.within))
        known, n = counts.known, len(classes)
        width = max(len(line.points), 1)
        place = known.class_id * width + line.place[known.value]
        order = np.argsort(place, kind="stable")
        place = place[order]
        up_to = np.concatenate([[0], np.cumsum(known.rows[order])])
        first = place % width
        # A range that begins elsewhere than at a number of the class holds no more of them.
        last = np.searchsorted(place, place - first + reach[first], side="right")
        begin = np.searchsorted(place, place, side="left")
        largest = np.zeros(n)
        np.maximum.at(largest, place // width, up_to[last] - up_to[begin])
        return ratio(largest, known.totals)

    def implies(self, other: PrivacyModel) -> bool:
        return (
            isinstance(other, RangeShare)
            and self.column == other.column
            and self.share <= other.share
            and self.within >= other.within
        )

    @classmethod
    def example(cls) -> Self:
        return cls("disease", within=1, share=0.75)


def _reach(line: NumberLine, within: float) -> IntArray:
    return line.reach(Decimal(text_of(float(within))))
