"""The similarity attack: a class whose values differ, but not in what matters."""

from bisect import bisect_right
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.base import Attack, Finding
from sfumato.checks import require_int, require_number, require_text
from sfumato.classes import EquivalenceClasses, KnownCounts, SensitiveColumn
from sfumato.errors import ParameterError, PolicyError, some
from sfumato.hierarchy.scales import number_point, plus
from sfumato.models.categories import category_codes, checked
from sfumato.text import text_of
from sfumato.typing import BoolArray, IntArray, Value


@dataclass(frozen=True)
class Similarity(Attack):
    """Look for classes whose known sensitive values are all alike.

    {gastric ulcer, stomach cancer, gastritis} are three diseases and one stomach; salaries
    of 3000, 4000 and 5000 are all low. What counts as alike is said in exactly one way: one
    of `categories`, `within` and `level`.

    Finds: every class with a known value all of whose known values are in one category,
    within one range, or under one label of the column's hierarchy. Missing values hide
    nobody, as with `Homogeneity`: a class is judged by its known values, one is enough, and
    without any it is not vulnerable.
    Does not find: a class in which most values are alike and some are not ({HIV, cancer,
    HIV, flu} is three quarters "most secret"), nor whether the likeness was known before,
    because it holds for everybody in the table.

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
        return Finding(self, _alike(counts.known, self._likeness(counts.column)), classes.rows)

    def _likeness(self, column: SensitiveColumn) -> "_Likeness":
        if not column.values:
            nothing = np.zeros(0, dtype=np.int64)
            return _Likeness(nothing, nothing)
        if self.categories is not None:
            return _by_category(column, self.categories)
        if self.within is not None:
            within = self.within
            return column.derived(("within", within), lambda c: _by_distance(c, within))
        return _by_label(column, self.level or 0)

    @classmethod
    def example(cls) -> Self:
        return cls("disease", categories=(("cancer", "hiv"), ("gout", "flu")))


def _built_in(number: float) -> float:
    """Make an int or a float of any number, NumPy's too, so that it is written as people do."""
    return int(number) if number == int(number) else float(number)


class _Likeness(NamedTuple):
    """Where each value stands on a line, and how far likeness reaches from each place.

    Values are all alike when the highest place is within reach of the lowest.
    """

    place: IntArray
    reach: IntArray


def _alike(known: KnownCounts, likeness: _Likeness) -> BoolArray:
    """Tell for each class whether it has known values and all of them are alike."""
    alike = np.zeros(len(known.totals), dtype=bool)
    starts = np.flatnonzero(np.diff(known.class_id, prepend=-1))
    if len(starts):
        place = likeness.place[known.value]
        lowest, highest = np.minimum.reduceat(place, starts), np.maximum.reduceat(place, starts)
        alike[known.class_id[starts]] = highest <= likeness.reach[lowest]
    return alike


def _by_category(column: SensitiveColumn, categories: tuple[tuple[Value, ...], ...]) -> _Likeness:
    texts = tuple(tuple(map(text_of, category)) for category in categories)
    # By text, as the models that share the codes do: True and 1 are one key but two values.
    codes = column.derived(("categories", texts), lambda c: category_codes(c, texts))
    return _Likeness(codes, np.arange(len(texts)))


def _by_distance(column: SensitiveColumn, within: float) -> _Likeness:
    points = [number_point(value) for value in column.values]
    numbers = [point for point in points if point is not None]
    if len(numbers) < len(points):
        others = [v for v, p in zip(column.values, points, strict=True) if p is None]
        raise PolicyError(
            f"{len(others)} of the {len(points)} values of column {column.name!r} are not "
            f"numbers: {some(others)}. Similarity within a range needs numbers; for other "
            "values say what is alike with categories or level."
        )
    # Not the column's own order: floats cannot tell two long decimals apart.
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    line = [numbers[i] for i in order]
    step = Decimal(text_of(within))
    return _Likeness(place, np.array([bisect_right(line, plus(at, step)) - 1 for at in line]))


def _by_label(column: SensitiveColumn, level: int) -> _Likeness:
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
    return _Likeness(place, np.where(says_nothing, -1, np.arange(len(says_nothing))))
