"""The similarity attack: a class whose values differ, but not in what matters."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sfumato.attacks.alike import (
    ALIKE_IN_NOTHING,
    Likeness,
    by_category,
    by_distance,
    by_label,
    fullest,
    saying,
)
from sfumato.attacks.base import ClassAttack, Finding
from sfumato.attacks.target import Target
from sfumato.checks import require_int, require_number, require_text
from sfumato.classes import EquivalenceClasses, SensitiveColumn
from sfumato.errors import ParameterError
from sfumato.models.categories import checked
from sfumato.text import number_of
from sfumato.typing import Value


@dataclass(frozen=True)
class Similarity(ClassAttack):
    """Look for classes whose known sensitive values are all alike.

    {gastric ulcer, stomach cancer, gastritis} are three diseases and one stomach; salaries
    of 3000, 4000 and 5000 are all low. What counts as alike is said in exactly one way: one
    of `categories`, `within` and `level`.

    Finds: every class with a known value all of whose known values are in one category,
    within one range, or under one label of the column's hierarchy. Missing values hide
    nobody, as with `Homogeneity`: a class is judged by its known values, one is enough, and
    without any it is not vulnerable.
    Does not find: a class in which most values are alike and some are not ({HIV, cancer,
    HIV, flu} is three quarters "most secret"): it is not vulnerable, and the three quarters
    stand among its figures.

    Where nobody says what is alike, the categories of a promised model are tried, every level of
    a sensitive column's hierarchy between the values and the top, and for a column of numbers a
    tenth of its range.

    Reference: Li et al., "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", 2007,
    doi:10.1109/ICDE.2007.367856; with categories of secrecy: "Extended k-anonymity models
    against sensitive attribute disclosure", 2011, doi:10.1016/j.comcom.2010.03.020

    Args:
        column: The sensitive column.
        categories: Every value of the column in one of two or more lists, most secret first.
        within: How far apart the largest and the smallest number of a class may be at most
            to count as alike; 0 or more. Decimals are compared as they are written.
        level: The level of the column's hierarchy at which alike values have one label; 0
            is the values themselves. The top says nothing and is refused.

    Example:
        >>> rows = [("A", "hiv"), ("A", "cancer"), ("B", "hiv"), ("B", "flu")]
        >>> attack = Similarity("disease", categories=[["hiv", "cancer"], ["flu"]])
        >>> attack.run(classes_of(rows, column="disease")).vulnerable
        array([ True, False])

        >>> rows = [("A", 3000), ("A", 4500), ("B", 3000), ("B", 9000)]
        >>> print(Similarity("salary", within=2000).run(classes_of(rows, column="salary")))
        similarity(salary, within=2000) exposes 2 of 4 rows, in 1 of 2 classes
    """

    name: ClassVar[str] = "similarity"
    how: ClassVar[str] = (
        "Finds the person's class, whose values differ but are all of a kind, and learns the kind."
    )

    column: str
    categories: tuple[tuple[Value, ...], ...] | None = None
    within: float | None = None
    level: int | None = None

    def __post_init__(self) -> None:
        require_text("column", self.column)
        given = [
            name for name in ("categories", "within", "level") if getattr(self, name) is not None
        ]
        if len(given) != 1:
            raise ParameterError(
                "similarity", given, "told by exactly one of categories, within and level"
            )
        if self.categories is not None:
            object.__setattr__(self, "categories", checked(self.categories))
        elif self.within is not None:
            require_number("within", self.within, at_least=0)
            object.__setattr__(self, "within", _built_in(self.within))
        else:
            require_int("level", self.level, at_least=0)

    def run(self, classes: EquivalenceClasses) -> Finding:
        counts = classes.counts_of(self.column)
        likeness = self._likeness(counts.column)
        found = fullest(counts, likeness)
        totals = counts.known.totals
        return Finding(
            self,
            (found.rows == totals) & (totals > 0),
            classes.rows,
            found.prior,
            found.rows / np.maximum(totals, 1),
            saying(counts, found, likeness),
        )

    def _likeness(self, column: SensitiveColumn) -> Likeness:
        if not column.values:
            return ALIKE_IN_NOTHING
        if self.categories is not None:
            return by_category(column, self.categories)
        if self.within is not None:
            within = self.within
            return column.derived(("within", within), lambda c: by_distance(c, within))
        return by_label(column, self.level or 0)

    @classmethod
    def against(cls, target: Target, threshold: float) -> list[Self]:  # noqa: ARG003 - all alike
        tried = [cls(name, categories=alike) for name, alike in target.categories]
        for name, counts in target.classes.sensitive.items():
            tried += [cls(name, level=level) for level in _levels(counts.column)]
            within = counts.column.derived("a tenth", _a_tenth)
            tried += [] if within is None else [cls(name, within=within)]
        return tried

    @classmethod
    def why_not(cls, target: Target) -> str:
        if not target.sensitive:
            return super().why_not(target)
        return (
            "no sensitive column has categories, a hierarchy or numbers that would say which "
            "values are alike"
        )

    @classmethod
    def example(cls) -> Self:
        return cls("disease", categories=(("cancer", "hiv"), ("gout", "flu")))


def _built_in(number: float) -> float:
    """Make an int or a float of any number, NumPy's too, so that it is written as people do."""
    return int(number) if number == int(number) else float(number)


def _levels(column: SensitiveColumn) -> list[int]:
    """Give the levels of its hierarchy at which something new is alike, and not everything."""
    ladder = column.ladder
    if ladder is None:
        return []
    widths = [len(labels) for labels in ladder.labels]
    return [i for i in range(1, ladder.height) if widths[-1] < widths[i] < widths[i - 1]]


def _a_tenth(column: SensitiveColumn) -> float | None:
    """Give a tenth of a column's range, if it is of numbers and some are closer than that."""
    numbers = [number_of(value) for value in column.values]
    line = np.sort([number for number in numbers if number is not None])
    if len(line) < max(len(numbers), 2):
        return None
    # Each end by itself: their difference may be more than a float can hold.
    within = float(line[-1] / 10 - line[0] / 10)
    close = np.diff(line) <= within
    return within if within > 0 and close.any() else None
