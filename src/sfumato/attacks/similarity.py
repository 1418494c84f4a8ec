"""The similarity attack: a class whose values differ, but not in what matters."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.base import ClassAttack, Finding
from sfumato.attacks.target import Target
from sfumato.classes import EquivalenceClasses, SensitiveColumn, ValueCounts
from sfumato.errors import (
    ParameterError,
    PolicyError,
    require_int,
    require_number,
    require_text,
    some,
)
from sfumato.harm import HarmRule
from sfumato.hierarchy.intervals import number_point, plus
from sfumato.models.categories import read_categories
from sfumato.models.category_share import listed_codes
from sfumato.text import number_of, text_of
from sfumato.typing import FloatArray, IntArray, Value

# Values that differ and are alike: in a category, close together, or under one label.


class Likeness(NamedTuple):
    """Where each value stands on a line, and how far likeness reaches from each place.

    Values are all alike when the highest place is within reach of the lowest.
    """

    place: IntArray
    reach: IntArray
    said: Callable[[int, int], str]
    """Says what values are that stand from one place to another."""


ALIKE_IN_NOTHING = Likeness(
    np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), "{} {}".format
)
"""For a column without known values."""


class Fullest(NamedTuple):
    """For each class, the alike values that most of its rows have."""

    rows: IntArray
    lowest: IntArray
    """The place of the first of them; -1 where nothing is alike."""

    highest: IntArray
    prior: FloatArray
    """The share of rows from the first to the last in the whole table."""


def fullest(counts: ValueCounts, likeness: Likeness) -> Fullest:
    """Find where most rows of each class are alike; of equals what is rarest in the table.

    >>> rows = [("A", 30), ("A", 40), ("A", 90), ("B", 90)]
    >>> counts = classes_of(rows, column="pay").counts_of("pay")
    >>> found = fullest(counts, by_distance(counts.column, 10))
    >>> found.rows.tolist(), found.prior.tolist()
    ([2, 1], [0.5, 0.5])
    """
    known, n = counts.known, len(counts.starts)
    nothing = np.zeros(n, dtype=np.int64)
    if not len(known.rows):
        return Fullest(nothing, nothing - 1, nothing - 1, np.zeros(n))
    width = int(likeness.place.max()) + 2
    key = known.class_id * width + likeness.place[known.value]
    order = np.argsort(key, kind="stable")
    key, class_id = key[order], known.class_id[order]
    before = np.concatenate([[0], np.cumsum(known.rows[order])])
    place = key - class_id * width
    # From each entry up to the last of its class within reach; a reach of -1 ends before it.
    first = np.searchsorted(key, key)
    end = np.searchsorted(key, class_id * width + likeness.reach[place], side="right")
    rows = np.where(end > first, before[end] - before[first], 0)
    last = place[np.maximum(end, 1) - 1]
    prior = _share(counts, likeness.place, place, last)
    best = np.lexsort((-prior, rows, class_id))
    best = best[rows[best] > 0]
    found = Fullest(nothing, nothing - 1, nothing - 1, np.zeros(n))
    at = class_id[best]
    # Assignments go in order, so that the last of a class stays.
    found.rows[at], found.lowest[at] = rows[best], place[best]
    found.highest[at], found.prior[at] = last[best], prior[best]
    return found


def _share(counts: ValueCounts, place: IntArray, low: IntArray, high: IntArray) -> FloatArray:
    """Return the share of the table's known rows that stand from one place to another."""
    rows = np.bincount(place, weights=counts.reference[:-1])
    below = np.concatenate([[0], np.cumsum(rows)])
    share: FloatArray = (below[high + 1] - below[low]) / max(below[-1], 1.0)
    return share


def saying(counts: ValueCounts, found: Fullest, likeness: Likeness) -> Callable[[int], str]:
    """Return for a class what is believed of its people."""

    def belief(at: int) -> str:
        if found.rows[at] == 0:
            return "nothing"
        low, high = int(found.lowest[at]), int(found.highest[at])
        return f"{counts.column.name} {likeness.said(low, high)}"

    return belief


def by_category(column: SensitiveColumn, categories: tuple[tuple[Value, ...], ...]) -> Likeness:
    """Treat values as alike that are in one category."""
    # By text, as the model that shares the codes does: True and 1 are one key but two values.
    texts = tuple(tuple(map(text_of, category)) for category in categories)
    codes = column.memoize(("listed", texts), lambda c: listed_codes(c, texts, "similarity"))
    # Values in no category stand at a last place, from which likeness does not reach anywhere.
    reach = np.append(np.arange(len(texts)), -1)
    place = np.where(codes < 0, len(texts), codes)
    return Likeness(place, reach, lambda low, _: f"is one of {some(texts[low])}")


def by_distance(column: SensitiveColumn, within: float) -> Likeness:
    """Treat numbers as alike that are no further apart than `within`."""
    points = [number_point(value) for value in column.values]
    numbers = [point for point in points if point is not None]
    if len(numbers) < len(points):
        others = [v for v, p in zip(column.values, points, strict=True) if p is None]
        raise PolicyError(
            f"{len(others)} of the {len(points)} values of column {column.name!r} are not "
            f"numbers: {some(others)}. Similarity within a range needs numbers; for other "
            "values say what is alike with categories or level."
        )
    # Not the column's own order: floats cannot tell two long decimals apart, nor are two
    # spellings of a number two numbers.
    line = sorted(set(numbers))
    at = {number: i for i, number in enumerate(line)}
    place = np.array([at[number] for number in numbers], dtype=np.int64)
    step = Decimal(text_of(within))
    reach = np.array([bisect_right(line, plus(low, step)) - 1 for low in line])
    return Likeness(place, reach, lambda low, high: _between(line[low], line[high]))


def _between(low: Decimal, high: Decimal) -> str:
    return f"= {text_of(low)}" if low == high else f"from {text_of(low)} to {text_of(high)}"


def by_label(column: SensitiveColumn, level: int) -> Likeness:
    """Treat values as alike that have one label at a level of the column's hierarchy."""
    ladder = column.ladder
    if ladder is None:
        raise PolicyError(
            f"similarity at a level needs a hierarchy of {column.name!r} and it has none. "
            "Give it one, or say what is alike with categories or within."
        )
    if level >= ladder.height:
        raise PolicyError(
            f"similarity at level {level}: the hierarchy of {column.name!r} ends at level "
            f"{ladder.height}, where all values are alike. Give a lower level."
        )
    position = {value: i for i, value in enumerate(ladder.values)}
    place = ladder.codes[level, [position[value] for value in column.values]].astype(np.int64)
    # A branch may reach the top early; its label says nothing there either.
    says_nothing = np.array([label in ladder.labels[-1] for label in ladder.labels[level]])
    labels = ladder.labels[level]
    return Likeness(
        place,
        np.where(says_nothing, -1, np.arange(len(says_nothing))),
        lambda low, _: f"is {text_of(labels[low])}",
    )


@dataclass(frozen=True)
class Similarity(ClassAttack):
    """Look for classes whose known sensitive values are all alike.

    {gastric ulcer, stomach cancer, gastritis} are three diseases and one stomach; salaries
    of 3000, 4000 and 5000 are all low. What counts as alike is said in exactly one way: one
    of `categories`, `within` and `level`.

    Finds: every class with a known value all of whose known values are in one category,
    within one range, or under one label of the column's hierarchy. Missing values hide
    no person, as with `Homogeneity`: a class is judged by its known values, one is enough, and
    without any it is not vulnerable.
    Does not find: a class in which most values are alike and some are not ({HIV, cancer,
    HIV, flu} is three quarters "most secret"): it is not vulnerable, and the three quarters
    stand among its figures.

    Where it is not said what is alike, the categories of a promised model are tried, every level of
    a sensitive column's hierarchy between the values and the top, and for a column of numbers a
    tenth of its range.

    Reference: Li et al., "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", 2007,
    doi:10.1109/ICDE.2007.367856; with categories of secrecy: "Extended k-anonymity models
    against sensitive attribute disclosure", 2011, doi:10.1016/j.comcom.2010.03.020

    Args:
        column: The sensitive column.
        categories: One or more lists of values that are alike; a value in none is like no other.
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
    advice: ClassVar[str] = (
        "Promise closeness: models: [{{model: t-closeness, column: {column}, t: 0.3}}]."
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
            object.__setattr__(self, "categories", read_categories(self.categories, fewest=1))
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
            return column.memoize(("within", within), lambda c: by_distance(c, within))
        return by_label(column, self.level or 0)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        tried = [cls(name, categories=alike) for name, alike in _occurring(target)]
        for name, counts in target.classes.sensitive.items():
            tried += [cls(name, level=level) for level in _levels(counts.column)]
            within = counts.column.memoize("a tenth", _a_tenth)
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


def _occurring(target: Target) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    """Return the categories of promised models, with the values that are in the table only."""
    for name, categories in target.categories:
        texts = {text_of(value) for value in target.classes.counts_of(name).column.values}
        lists = (tuple(t for t in map(text_of, each) if t in texts) for each in categories)
        alike = tuple(each for each in lists if each)
        if alike:
            yield name, alike


def _built_in(number: float) -> float:
    """Make an int or a float of any number, NumPy's too, so that it is written as people do."""
    return int(number) if number == int(number) else float(number)


def _levels(column: SensitiveColumn) -> list[int]:
    """Return the levels of its hierarchy at which something new is alike, and not everything."""
    ladder = column.ladder
    if ladder is None:
        return []
    widths = [len(labels) for labels in ladder.labels]
    return [i for i in range(1, ladder.height) if widths[-1] < widths[i] < widths[i - 1]]


def _a_tenth(column: SensitiveColumn) -> float | None:
    """Return a tenth of a column's range, if it is of numbers and some are closer than that."""
    numbers = [number_of(value) for value in column.values]
    line = np.sort([number for number in numbers if number is not None])
    if len(line) < max(len(numbers), 2):
        return None
    # Each end by itself: their difference may be more than a float can hold.
    within = float(line[-1] / 10 - line[0] / 10)
    close = np.diff(line) <= within
    return within if within > 0 and close.any() else None
