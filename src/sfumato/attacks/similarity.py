"""The similarity attack: a class whose values differ, but not in what matters."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.amounts import amounts_of
from sfumato.attacks.base import (
    Beliefs,
    Case,
    ClassAttack,
    Finding,
    Outcome,
    advise,
    priors,
    require_one_value,
    share_below,
    strongest,
)
from sfumato.attacks.common_parts import (
    answers_of,
    is_branch,
    items_of,
    meanings_of,
    parts_of,
    terms_of,
)
from sfumato.attacks.overlap import number_items
from sfumato.attacks.target import Holders, Target
from sfumato.classes import EquivalenceClasses, SensitiveColumn, ValueCounts
from sfumato.counts import changes, number_keys
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_int, require_number, require_text, some
from sfumato.harm import FEWEST, Chance, HarmRule, Level, Secrecy, draw_tail
from sfumato.hierarchy.intervals import Days, plus
from sfumato.leaks.facts import ValueGroups
from sfumato.models import CategoryShare, RangeShare
from sfumato.models.categories import read_categories
from sfumato.models.category_share import label_codes, listed_codes
from sfumato.models.number_line import NumberLine, line_of, require_line
from sfumato.policy.remedies import PromiseMore, Remedy
from sfumato.text import text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

# Values that differ and are alike: in a category, close together, or under one label.


class Likeness(NamedTuple):
    """Where each value stands on a line, and how far likeness reaches from each place.

    Values are alike that stand in one window: from a place to the last one within its reach. A
    category or a label is a window of one place.
    """

    place: IntArray
    reach: IntArray
    """The last place that is like each place; -1 where nothing is, not even itself."""

    said: Callable[[int, int], str]
    """Says what values are that stand from one place to another."""


ALIKE_IN_NOTHING = Likeness(
    np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), "{} {}".format
)
"""For a column without known values."""


class ValueWindows(NamedTuple):
    """Every window that begins at a value of a class: how many of its rows are in it.

    Entries are in the order of their classes. A window that begins elsewhere holds no more of
    the class's rows than one of these.

    Example:
        >>> rows = [("A", 30), ("A", 40), ("A", 90), ("B", 90)]
        >>> counts = classes_of(rows, column="pay").counts_of("pay")
        >>> found = windows(counts, by_distance(counts.column, 10))
        >>> found.class_id.tolist(), found.rows.tolist(), found.prior.tolist()
        ([0, 0, 0, 1], [2, 1, 1, 1], [0.5, 0.25, 0.5, 0.5])
    """

    class_id: IntArray
    first: IntArray
    """The place at which each begins."""

    rows: IntArray
    posterior: FloatArray
    """The share of the class's known rows."""

    prior: FloatArray
    """The share of the table's known rows."""


class PlaceCounts(NamedTuple):
    """How many of the table's known rows stand at each place, and in the window from there on."""

    here: IntArray
    within: IntArray
    total: int


def places(counts: ValueCounts, likeness: Likeness, holders: Holders | None = None) -> PlaceCounts:
    """Count the table's known rows at each place and within its reach.

    Args:
        counts: The values of each class.
        likeness: What is alike.
        holders: Where people are counted: who has which values together. A person counts once
            in a window, however many of the values in it they have.
    """
    n = len(likeness.reach)
    if holders is not None:
        held = _HeldPlaces.of(holders, likeness)
        every = np.zeros(len(held.unit), dtype=np.int64)
        within = held.in_windows(every, np.zeros(n, dtype=np.int64), np.arange(n))
        here = np.bincount(held.last, minlength=n)
        return PlaceCounts(here, np.where(likeness.reach >= 0, within, 0), counts.known_total)
    here = np.bincount(likeness.place, weights=counts.reference[:-1], minlength=n)
    below = np.concatenate([[0], np.cumsum(here.astype(np.int64))])
    end = np.maximum(likeness.reach + 1, np.arange(n))
    return PlaceCounts(here.astype(np.int64), below[end] - below[:-1], int(below[-1]))


class _HeldPlaces(NamedTuple):
    """The places that people have values at: of each, from which window on it is the next one.

    A person counts in a window from a place if some value of theirs is in it. So a value stands
    for the windows that reach it and begin after the person's value before it: each window that
    a person is in then has exactly one of their values, the first, to count them by.
    """

    unit: IntArray
    first: IntArray
    """The first window that a value stands for."""

    last: IntArray
    """The last: the one that begins at the value's own place."""

    class_id: IntArray

    @classmethod
    def of(cls, holders: Holders, likeness: Likeness) -> Self:
        n = len(likeness.reach)
        key = number_keys(
            holders.unit * max(n, 1) + likeness.place[holders.value],
            max(len(holders.class_id), 1) * max(n, 1),
        ).keys
        unit = key // max(n, 1)
        place = key - unit * max(n, 1)
        # Reaches rise, where there are any; the others are windows without a place.
        ends = np.maximum.accumulate(likeness.reach) if n else likeness.reach
        reaching = np.searchsorted(ends, place)
        before = np.concatenate([[-1], place[:-1]]) if len(place) else place
        first = np.maximum(reaching, np.where(changes(unit), 0, before + 1))
        return cls(unit, first, place, holders.class_id[unit])

    def in_windows(self, of_value: IntArray, of_window: IntArray, start: IntArray) -> IntArray:
        """Return how many people are in each of some windows.

        Args:
            of_value: The group that each value is in: its class, or one for all.
            of_window: The group that is counted in each window.
            start: The place at which each window begins.
        """
        width = int(max(self.last.max(initial=0), start.max(initial=0))) + 2
        opened = np.sort(of_value * width + self.first)
        closed = np.sort(of_value * width + self.last + 1)
        at = of_window * width + start
        begun = np.searchsorted(opened, at, side="right")
        ended = np.searchsorted(closed, at, side="right")
        found: IntArray = begun - ended
        return found


def windows(
    counts: ValueCounts, likeness: Likeness, holders: Holders | None = None
) -> ValueWindows:
    """Find how many rows of each class are alike, from each of its values on.

    Args:
        counts: The values of each class.
        likeness: What is alike.
        holders: Where people are counted: who has which values together; see `places`.
    """
    known, table = counts.known, places(counts, likeness, holders)
    width = len(likeness.reach) + 1
    key = known.class_id * width + likeness.place[known.value]
    rows = known.rows
    if (np.diff(key) < 0).any():
        order = np.argsort(key, kind="stable")
        key, rows = key[order], rows[order]
    before = np.concatenate([[0], np.cumsum(rows)])
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    class_id, first = np.divmod(key[begins], width)
    alike = likeness.reach[first] >= 0
    begins, class_id, first = begins[alike], class_id[alike], first[alike]
    end = np.searchsorted(key, class_id * width + likeness.reach[first], side="right")
    inside = before[end] - before[begins]
    if holders is not None:
        held = _HeldPlaces.of(holders, likeness)
        inside = held.in_windows(held.class_id, class_id, first)
    return ValueWindows(
        class_id,
        first,
        inside,
        inside / np.maximum(known.totals, 1)[class_id],
        table.within[first] / max(table.total, 1),
    )


class Fullest(NamedTuple):
    """For each class, the alike values that most of its rows have."""

    rows: IntArray
    first: IntArray
    """The place of the first of them; -1 where nothing is alike."""

    prior: FloatArray
    posterior: FloatArray

    @classmethod
    def of(cls, found: ValueWindows, chosen: IntArray, n: int) -> Self:
        """Make it of one window per class at most."""
        result = cls(
            np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64), np.zeros(n), np.zeros(n)
        )
        at = found.class_id[chosen]
        # Assignments go in order, so that the last of a class stays.
        result.rows[at], result.first[at] = found.rows[chosen], found.first[chosen]
        result.prior[at], result.posterior[at] = found.prior[chosen], found.posterior[chosen]
        return result


def fullest(counts: ValueCounts, likeness: Likeness, holders: Holders | None = None) -> Fullest:
    """Find where most rows of each class are alike; of equals what is rarest in the table.

    >>> rows = [("A", 30), ("A", 40), ("A", 90), ("B", 90)]
    >>> counts = classes_of(rows, column="pay").counts_of("pay")
    >>> found = fullest(counts, by_distance(counts.column, 10))
    >>> found.rows.tolist(), found.prior.tolist()
    ([2, 1], [0.5, 0.5])
    """
    found = windows(counts, likeness, holders)
    order = np.lexsort((-found.first, -found.prior, found.rows, found.class_id))
    return Fullest.of(found, order, len(counts.known))


def saying(counts: ValueCounts, found: Fullest, likeness: Likeness) -> Callable[[int], str]:
    """Return for a class what is believed of its people."""

    def belief(at: int) -> str:
        first = int(found.first[at])
        if first < 0:
            return "nothing"
        return f"{counts.column.name} {likeness.said(first, int(likeness.reach[first]))}"

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
    """Treat numbers, or days, as alike that are no further apart than `within`."""
    line = amounts_of(column) or require_line(column, "similarity within a range")
    # What is no amount stands at a last place, from which likeness does not reach anywhere.
    reach = np.append(line.reach(Decimal(text_of(within))), -1)

    def describe(low: int, high: int) -> str:
        if low == high:
            return f"= {line.text(low)}"
        return f"from {line.text(low)} to {line.text(high)}"

    return Likeness(line.place, reach, describe)


def by_extremes(column: SensitiveColumn, ends: tuple[Value, ...]) -> Likeness:
    """Treat numbers, or days, as alike that are at most the first of two, or at least the second.

    >>> found = by_extremes(SensitiveColumn("pay", (3, 5, 8, 9)), (3, 8))
    >>> found.place.tolist(), found.reach.tolist(), found.said(1, 1)
    ([0, 2, 1, 1], [0, 1, -1], 'is at least 8')
    """
    line = amounts_of(column) or require_line(column, "similarity outside a range")
    low, high = (None if end is None else line.scale.read(end) for end in ends)
    if [low is None, high is None] != [end is None for end in ends]:
        raise ParameterError("outside", ends, f"values like those of {column.name!r}")
    place = np.full(len(line.place), 2)
    if low is not None:
        place[line.place < bisect_right(line.points, low)] = 0
    if high is not None:
        above = line.place >= bisect_left(line.points, high)
        place[above & (line.place < len(line.points))] = 1
    words = ("at most", "at least")
    if isinstance(line.scale, Days):
        words = ("no later than", "no earlier than")
    texts = [f"is {word} {text_of(end)}" for word, end in zip(words, ends, strict=True)]
    return Likeness(place, np.array([0, 1, -1]), lambda at, _: texts[at])


def alike_within(column: SensitiveColumn, within: float) -> Likeness:
    """Return the likeness by distance, found once per column and width."""
    return column.memoize(("within", within), lambda c: by_distance(c, within))


def by_label(column: SensitiveColumn, level: int) -> Likeness:
    """Treat values as alike that have one label at a level of the column's hierarchy."""
    codes = label_codes(column, level, "similarity")
    labels = () if column.ladder is None else column.ladder.labels[level]
    # What says nothing stands at a last place, as what is in no category does.
    reach = np.append(np.arange(len(labels)), -1)
    place = np.where(codes < 0, len(labels), codes)
    return Likeness(place, reach, lambda low, _: f"is {text_of(labels[low])}")


_MOST_LISTED = 12
"""The most values that advice writes out."""


# How often independence would make classes as alike.


def chance_of_windows(
    rule: HarmRule,
    levels: IntArray,
    rows: IntArray,
    found: IntArray,
    marked: IntArray,
    table: PlaceCounts,
) -> Chance:
    """Return the chance of classes that are drawn from all rows of a table.

    Whether a window holds enough rows of a class is asked twice. No window that begins at a row
    of the class is likelier to than the sum over its rows says, and no window at all than the
    sum over windows. The smaller sum counts; places of about the same fullness are taken together.

    Args:
        rule: The rule that makes levels of beliefs.
        levels: The level of each class; only those that occur are looked at.
        rows: Per class, the rows whose value is known.
        found: Per class, its rows in the window that was found.
        marked: Per class, the table's rows in that window.
        table: The table's rows at each place, and in the window from there on.
    """
    sizes, of_size = np.unique(_round_down(rows), return_inverse=True)
    starting, inside, several = _bundle(table)
    prior = inside / max(table.total, 1)
    reach = np.zeros((3, len(rows)))
    for level in np.unique(levels[levels > 0]).tolist():
        least = rule.least_rows(prior[:, None], sizes[None, :], Level(level))
        each = np.minimum(
            (starting / table.total)[:, None] * _from_a_row(least, sizes, inside, table.total),
            several[:, None] * draw_tail(least, sizes[None, :], inside[:, None], table.total),
        )
        reach[level - 1] = np.minimum(each.sum(axis=0), 1.0)[of_size.ravel()]
    with_others = rows * draw_tail(found - 1, rows - 1, marked - 1, table.total - 1)
    anywhere = several.sum() * draw_tail(found, rows, marked, table.total)
    return Chance(reach, np.minimum(with_others, anywhere), 1)


def _from_a_row(least: FloatArray, sizes: IntArray, inside: IntArray, total: int) -> FloatArray:
    """Return how many windows that begin at a row of a class hold at least some of its rows.

    Of each row the others are drawn from the rest of the table: one row is taken off everything.
    """
    n = sizes[None, :]
    found: FloatArray = n * draw_tail(least - 1, n - 1, inside[:, None] - 1, total - 1)
    return found


def _round_down(rows: IntArray) -> IntArray:
    """Return sizes with five binary digits, so that few are different; chance falls with size."""
    digits = np.floor(np.log2(np.maximum(rows, 1))).astype(np.int64)
    shift = np.maximum(digits - 4, 0)
    return (rows >> shift) << shift


_BUNDLES = 64
"""The most places that chance is computed for."""


def _bundle(table: PlaceCounts) -> tuple[IntArray, IntArray, IntArray]:
    """Return places whose windows are about equally full as one.

    Of each, the rows that stand there, the rows in its window, and the number of places it was.
    """
    taken = np.flatnonzero((table.here > 0) & (table.within > 0))
    taken = taken[np.argsort(table.within[taken], kind="stable")]
    here, within = table.here[taken], table.within[taken]
    if len(taken) <= _BUNDLES:
        return here, within, np.ones(len(taken), dtype=np.int64)
    middle = np.cumsum(here) - here / 2
    bundle = (middle * _BUNDLES / here.sum()).astype(np.int64)
    _, bundle = np.unique(bundle, return_inverse=True)
    rows = np.bincount(bundle, weights=here)
    mean = np.bincount(bundle, weights=here * within) / rows
    return rows.astype(np.int64), np.rint(mean).astype(np.int64), np.bincount(bundle)


@dataclass(frozen=True)
class Similarity(ClassAttack):
    """Look for classes whose known sensitive values are alike.

    {gastric ulcer, stomach cancer, gastritis} are three diseases and one stomach; salaries
    of 3000, 4000 and 5000 are all low. What counts as alike is said in exactly one way: one
    of `categories`, `within`, `outside` and `level`.

    Finds: every class with a known value all of whose known values are in one category,
    within one range, at one end of all numbers, or under one label of the column's hierarchy.
    On a release, as `sf.verify` tries it, a share of the class is enough: the rule for harm
    judges every category, range, end and label by how many of the class are in it and how many of
    the table, and the one that harms most counts. {HIV, cancer, HIV, flu} is three quarters
    "most secret" where a quarter of the table is. Missing values hide no person, as with
    `Homogeneity`: a class is judged by its known values, one is enough, and without any it is not
    vulnerable. A person with several rows is in a category, range or label if one of their values
    is.
    Does not find: what is alike in a way that was not said. Without categories, a hierarchy or
    numbers every value is like itself only, and `Skewness` looks at that.

    Where it is not said what is alike, these are tried: the categories of a promised model; the
    values that a policy calls secret; every level of a sensitive column's hierarchy between
    the values and the top; all values but those that a policy calls harmless or that three quarters
    of all people have; of cells that are lists (`I10; E11`) the values that share an item; codes of
    one branch of a known classification (ICD, ATC); values that one class spells in several ways,
    or qualifies (`HIV`, `HIV (B20)`, `HIV pos.`); each number of cells of several (`120/80`);
    below and above what half of all people have, or below and above zero; and for
    a column of six different numbers or days or more the `width` that a policy gives it, or else a
    tenth and a third of the range between the tenth and the ninetieth of a hundred people in their
    order. That all of a class are within a tenth is a fact; that most are, or all within a third,
    counts where it is no chance. A number that half of all people or more have (often 0) is left
    out of that order. So no extreme value decides what is close. Beyond that range, too, values
    are alike however far apart they are: that all of a class are among the lowest or the highest
    tenth is a fact as well.

    Reference: Li et al., "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", 2007,
    doi:10.1109/ICDE.2007.367856; with categories of secrecy: "Extended k-anonymity models
    against sensitive attribute disclosure", 2011, doi:10.1016/j.comcom.2010.03.020

    Args:
        column: The sensitive column.
        categories: One or more lists of values that are alike; a value in none is like no other.
        within: How far apart the largest and the smallest number of a class may be at most
            to count as alike; 0 or more, of days a number of days. Decimals are compared as they
            are written.
        outside: Two numbers, or days, or None. Values are alike that are at most the first, and
            those that are at least the second.
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
        "Finds the person's class, whose values differ but are mostly of a kind, and learns "
        "the kind."
    )

    column: str
    categories: tuple[tuple[Value, ...], ...] | None = None
    within: float | None = None
    outside: tuple[Value, ...] | None = None
    level: int | None = None

    def __post_init__(self) -> None:
        require_text("column", self.column)
        given = [
            name
            for name in ("categories", "within", "outside", "level")
            if getattr(self, name) is not None
        ]
        if len(given) != 1:
            raise ParameterError(
                "similarity", given, "told by exactly one of categories, within, outside and level"
            )
        if self.categories is not None:
            object.__setattr__(self, "categories", read_categories(self.categories, fewest=1))
        elif self.within is not None:
            require_number("within", self.within, at_least=0)
            object.__setattr__(self, "within", _built_in(self.within))
        elif self.outside is not None:
            if isinstance(self.outside, str) or len(self.outside) != 2:
                raise ParameterError(
                    "outside", self.outside, "two numbers or days, one of which may be None"
                )
            object.__setattr__(self, "outside", tuple(self.outside))
        else:
            require_int("level", self.level, at_least=0)

    def run(self, classes: EquivalenceClasses) -> Finding:
        require_one_value(self, classes)
        return self._run(classes, None)

    def find(self, target: Target) -> Finding:
        return self._run(target.classes, target.holders(self.column))

    def _run(self, classes: EquivalenceClasses, holders: Holders | None) -> Finding:
        counts = classes.counts_of(self.column)
        likeness = self._likeness(counts.column)
        found = fullest(counts, likeness, holders)
        totals = counts.known.totals
        return Finding(
            self,
            (found.rows == totals) & (totals > 0),
            classes.inside,
            found.prior,
            found.posterior,
            saying(counts, found, likeness),
            people=classes.people,
        )

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        counts = target.classes.counts_of(self.column)
        likeness = self._likeness(counts.column)
        holders = target.holders(self.column)
        tried = windows(counts, likeness, holders)
        secrecy = _secrecy(counts.column, likeness)
        best = strongest(
            rule,
            tried.class_id,
            tried.prior,
            tried.posterior,
            None if secrecy is None else secrecy[tried.first],
            len(target.classes),
        )
        found = Fullest.of(tried, best[best >= 0], len(target.classes))
        outcome = Beliefs(
            target.classes.inside,
            found.prior,
            found.posterior,
            target.who,
            saying(counts, found, likeness),
            # -1 is the last, where nothing is believed.
            None if secrecy is None else np.append(secrecy, int(Secrecy.ORDINARY))[found.first],
            self._chance(target, places(counts, likeness, holders), found, rule),
            people=target.classes.people,
            learned=self._is_pattern(counts, found),
            find=target.find_classes,
        ).outcome(self, self.column, rule)
        worst = outcome.worst[0] if outcome.worst else None
        told = self._advice(counts, likeness, worst)
        advice = advise(told, self.column, worst, rule)
        remedies = () if worst is None else self._limit(counts, likeness, worst, rule)
        return replace(outcome, advice=advice, remedies=remedies)

    def _chance(
        self, target: Target, table: PlaceCounts, found: Fullest, rule: HarmRule
    ) -> Chance | None:
        """Return how far independence explains what was found; None if there is nothing to."""
        counts = target.classes.counts_of(self.column)
        levels = rule.levels(found.prior, found.posterior)
        if target.classes.n_people < FEWEST or not levels.any():
            return None
        marked = np.where(found.first >= 0, table.within[found.first], 0)
        totals = counts.known.totals.astype(np.int64)
        return chance_of_windows(rule, levels, totals, found.rows, marked, table)

    def _is_pattern(self, counts: ValueCounts, found: Fullest) -> bool | BoolArray:
        """Return for each class whether what is found is a pattern among many, and no fact.

        A range begins anywhere and is chosen for what is in it. That all of a class are within an
        amount is a fact about them. That most are, or that all are within a third of all numbers,
        is found in many classes by chance, and counts where it is none. It is the same at the ends.
        """
        if self.outside is not None:
            return found.posterior < 1
        if self.within is None or counts.column.width is not None:
            return False
        if self.within in widths(counts)[1:]:
            return True
        return found.posterior < 1

    def _advice(self, counts: ValueCounts, likeness: Likeness, worst: Case | None) -> str:
        """Return what to do about the worst case: limit what is alike there, or spread it."""
        column = counts.column
        if (self.outside is not None or self.within is not None) and not line_of(column):
            return (
                "Write it as numbers or days without words and units, and limit the share of each "
                "range, or leave {column} out."
            )
        if self.outside is not None or (self.within is not None and counts.people is not None):
            # A range is promised of people with one value each, and wherever it begins.
            return (
                "Give it a hierarchy of intervals and limit each: models: [{{model: "
                "category-share, column: {column}, share: {share}, level: 1}}]."
            )
        if self.within is not None:
            width = text_of(_built_in(self.within))
            return (
                "Limit it in every class: models: [{{model: range-share, column: {column}, "
                f"within: {width}, share: {{share}}}}}}]."
            )
        codes = _found_alike(column, likeness, worst)
        if self.level is None and len(codes) > _MOST_LISTED:
            return "Make a column of what these values have in common, or leave {column} out."
        alike = f"level: {self.level}"
        if len(codes) <= _MOST_LISTED:
            values = ", ".join(text_of(column.values[code]) for code in codes)
            alike = f"categories: [[{values.replace('{', '{{').replace('}', '}}')}]]"
        return (
            "Limit it in every class: models: [{{model: category-share, column: {column}, "
            f"share: {{share}}, {alike}}}}}]."
        )

    def _limit(
        self, counts: ValueCounts, likeness: Likeness, worst: Case, rule: HarmRule
    ) -> tuple[Remedy, ...]:
        """Return the advice as changes of a policy."""
        column, share = counts.column, share_below(worst, rule)
        if not 0 < share < 1:
            return ()
        if self.within is not None or self.outside is not None:
            if counts.people is not None or self.within is None or line_of(counts.column) is None:
                # It takes a hierarchy of intervals, which is made by hand.
                return ()
            return (PromiseMore((RangeShare(self.column, _built_in(self.within), share),)),)
        codes = _found_alike(column, likeness, worst)
        if len(codes) > _MOST_LISTED:
            if self.level is None:
                return ()
            return (PromiseMore((CategoryShare(self.column, share, level=self.level),)),)
        alike = (tuple(text_of(column.values[code]) for code in codes),)
        return (
            (PromiseMore((CategoryShare(self.column, share, categories=alike),)),) if codes else ()
        )

    def _likeness(self, column: SensitiveColumn) -> Likeness:
        if not column.values:
            return ALIKE_IN_NOTHING
        if self.categories is not None:
            return by_category(column, self.categories)
        if self.within is not None:
            return alike_within(column, self.within)
        if self.outside is not None:
            return by_extremes(column, self.outside)
        return by_label(column, self.level or 0)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        tried = [cls(name, categories=alike) for name, alike in _categories(target)]
        for name, counts in target.classes.sensitive.items():
            tried += [cls(name, level=level) for level in _levels(counts.column)]
            tried += [cls(name, within=within) for within in widths(counts)]
            tried += [cls(name, outside=ends) for ends in extremes(counts)]
        return tried

    @classmethod
    def why_not(cls, target: Target) -> str:
        if not target.sensitive:
            return super().why_not(target)
        return (
            "nothing says which sensitive values are alike: there are no categories, no hierarchy, "
            "and no six different numbers or dates"
        )

    @classmethod
    def example(cls) -> Self:
        return cls("disease", categories=(("cancer", "hiv"), ("gout", "flu")))


def _found_alike(column: SensitiveColumn, likeness: Likeness, worst: Case | None) -> list[int]:
    """Return the values that are alike in the worst case.

    Only what was found is limited: others may be what most people have.
    """
    said = "" if worst is None else worst.believed.removeprefix(f"{column.name} ")
    at = [i for i in range(len(likeness.reach) - 1) if likeness.said(i, i) == said]
    found: list[int] = np.flatnonzero(likeness.place == at[0]).tolist() if at else []
    return found


def _secrecy(column: SensitiveColumn, likeness: Likeness) -> IntArray | None:
    """Return the secrecy of each window: that which all its values have, else ordinary."""
    if column.secrecy is None:
        return None
    n = len(likeness.reach)
    end = np.maximum(likeness.reach + 1, np.arange(n))

    def inside(values: BoolArray) -> IntArray:
        at = np.bincount(likeness.place, weights=values, minlength=n).astype(np.int64)
        below = np.concatenate([[0], np.cumsum(at)])
        found: IntArray = below[end] - below[:-1]
        return found

    number = inside(np.ones(len(column.values), dtype=np.bool_))
    result = np.full(n, int(Secrecy.ORDINARY))
    for level in (Secrecy.HARMLESS, Secrecy.SECRET):
        result[inside(column.secrecy == level) == number] = int(level)
    return result


def _categories(
    target: Target, column: str | None = None
) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    """Return categories that promises go by, secret values, and those that are not harmless.

    Args:
        target: The release.
        column: The sensitive column to look at; None for all.
    """
    for name, categories in target.categories:
        if column not in (None, name):
            continue
        texts = {text_of(value) for value in target.classes.counts_of(name).column.values}
        # A promise may name what is not in the table.
        lists = (tuple(t for t in map(text_of, each) if t in texts) for each in categories)
        alike = tuple(each for each in lists if each)
        if alike:
            yield name, alike
    for name, counts in target.classes.sensitive.items():
        if column not in (None, name):
            continue
        every = [text_of(value) for value in counts.column.values]
        secret = np.zeros(len(every), dtype=np.bool_)
        if counts.column.secrecy is not None:
            secret = counts.column.secrecy == Secrecy.SECRET
        if secret.sum() > 1:
            yield name, (_texts_of(every, secret),)
        # Who is known to have none of the harmless values has one of the others.
        other = ~_harmless(counts)
        if 1 < other.sum() < len(every) and (other != secret).any():
            yield name, (_texts_of(every, other),)
        for which in _sharing_items(counts):
            yield name, (_texts_of(every, which),)


_LISTS = 0.1
"""The share of people whose cells are lists from which on a column is one of lists."""

_MOST_ITEMS = 20
"""The most items of a column of lists that are looked for."""


def _sharing_items(counts: ValueCounts) -> list[BoolArray]:
    """Return the values that share an item, for each of the most telling items.

    Cells that list several illnesses differ, and still all of a class may list the same one. They
    may also be of one branch of a classification, or be one value in several spellings. Items that
    most people of some class share come first, then those that most people have; spellings that no
    class shares say nothing.

    >>> rows = [("A", "hiv; flu"), ("A", "gout; hiv"), ("B", "flu; gout"), ("B", "flu")]
    >>> [each.tolist() for each in _sharing_items(classes_of(rows, column="ill").counts_of("ill"))]
    [[False, False, True, True], [True, True, False, True], [False, True, True, False]]
    """
    column, reference = counts.column, counts.reference[:-1]
    if not any(isinstance(value, str) for value in column.values):
        return []
    found = column.memoize("items", _items_of)
    has, number = found.has, len(found.names)
    sizes = np.array([len(each) for each in has])
    of_value, item = np.repeat(np.arange(len(has)), sizes), np.concatenate(has)
    shared = np.bincount(item, minlength=number)
    # Each entry of a class once for each of its items.
    known = counts.known
    entry, within = number_items(sizes[known.value])
    where = item[(np.cumsum(sizes) - sizes)[known.value[entry]] + within]
    cells = number_keys(known.class_id[entry] * number + where, len(known) * number)
    rows = np.bincount(cells.of_item, weights=known.rows[entry], minlength=cells.n)
    # What one value alone says is no item of several.
    rows[np.bincount(cells.of_item, minlength=cells.n) < 2] = 0
    share = np.zeros(number)
    np.maximum.at(share, cells.keys % number, rows / known.totals[cells.keys // number])
    prior = np.bincount(item, weights=reference[of_value], minlength=number) / reference.sum()
    least = HarmRule().very_high
    telling = (share >= least) & (prior < least)
    lists = reference[found.several].sum() >= _LISTS * reference.sum()
    named = found.branch | (found.listed & lists)
    some = np.flatnonzero((shared > 1) & (shared < len(has)) & (telling | named))
    some = some[np.lexsort((some, -prior[some], ~telling[some]))][:_MOST_ITEMS]
    alike = [np.isin(np.arange(len(has)), of_value[item == each]) for each in some.tolist()]
    return [*{each.tobytes(): each for each in alike}.values()]


class _Items(NamedTuple):
    """The items of each value of a column."""

    names: tuple[str, ...]
    has: list[IntArray]
    several: BoolArray
    """The values that are lists."""

    listed: BoolArray
    """The items that stand in lists."""

    branch: BoolArray
    """The items that are branches of a classification."""


def _items_of(column: SensitiveColumn) -> _Items:
    texts = [text_of(value) for value in column.values]
    listed = [items_of(text) for text in texts]
    parts: list[set[str]] = [set()] * len(texts)
    line = amounts_of(column)
    if line is not None:
        # The signs in `5 mg/dl` part no items.
        amounts = (line.place < len(line.points)).tolist()
        listed = [
            {text} if a else each for text, each, a in zip(texts, listed, amounts, strict=True)
        ]
    elif len(texts) <= _MOST_TEXTS:
        more = zip(terms_of(texts), answers_of(texts), meanings_of(texts), strict=True)
        parts = [parts_of(text).union(*some) for text, some in zip(texts, more, strict=True)]
    names = tuple(sorted({each for some in (*listed, *parts) for each in some}))
    at = {name: i for i, name in enumerate(names)}
    has = [
        np.array(sorted(at[each] for each in one | other), dtype=np.int64)
        for one, other in zip(listed, parts, strict=True)
    ]
    in_lists = {each for some in listed for each in some}
    return _Items(
        names,
        has,
        np.array([len(each) > 1 for each in listed]),
        np.array([name in in_lists for name in names]),
        np.array([is_branch(name) for name in names]),
    )


_MOST_TEXTS = 50_000
"""The most values of a column whose spellings are looked at."""


def _texts_of(texts: Sequence[str], which: BoolArray) -> tuple[str, ...]:
    return tuple(texts[code] for code in np.flatnonzero(which).tolist())


def _harmless(counts: ValueCounts) -> BoolArray:
    """Return the values that it harms no person to be known to have.

    The publisher calls them so, or that many people have them that it was as good as known before.
    """
    usual: BoolArray = priors(counts) >= HarmRule().very_high
    secrecy = counts.column.secrecy
    return usual if secrecy is None else usual & (secrecy < Secrecy.SECRET) | (secrecy < 0)


def groups_of_values(target: Target, counts: ValueCounts) -> list[ValueGroups]:
    """Return the groups of values of a column of which it harms to know that one is true.

    They are what the attack looks for in classes: categories, secret values, what is not harmless,
    labels of a hierarchy; and of numbers ranges, begun at each half of their width, and both ends.
    Of ranges that no one has asked for, only that all people are in one counts.
    """
    column = counts.column
    found = []
    for _, alike in _categories(target, column.name):
        likeness = by_category(column, alike)
        found.append(_groups(column, likeness, len(alike)))
    for level in _levels(column):
        likeness = by_label(column, level)
        found.append(_groups(column, likeness, len(likeness.reach) - 1))
    found += [
        _groups(column, by_extremes(column, ends), 2)._replace(certain=True)
        for ends in extremes(counts)
    ]
    for width in widths(counts)[:1]:
        found += _ranges(column, width)
    return found


def _ranges(column: SensitiveColumn, width: float) -> Iterator[ValueGroups]:
    """Yield the ranges of a width, begun at each half of it."""
    line = amounts_of(column) or require_line(column, "similarity within a range")
    numbers = np.array([float(point) for point in line.points])
    for start in (0.0, width / 2):
        part = np.floor((numbers - numbers.min() + start) / width).astype(np.int64)
        firsts = np.flatnonzero(changes(part))
        ends = np.append(firsts[1:], len(part)) - 1
        texts = tuple(
            f"{line.text(low)} to {line.text(high)}"
            for low, high in zip(firsts.tolist(), ends.tolist(), strict=True)
        )
        place = np.cumsum(changes(part)) - 1
        # A range of one value says no more than the value.
        several = ends > firsts
        of_value = np.append(np.where(several[place], place, -1), -1)[line.place]
        if several.any():
            yield ValueGroups(of_value, texts, certain=column.width is None)


def _groups(column: SensitiveColumn, likeness: Likeness, n: int) -> ValueGroups:
    """Return the places of a likeness as groups of values."""
    secrecy = _secrecy(column, likeness)
    texts = tuple(likeness.said(at, at).removeprefix("is ") for at in range(n))
    of_value = np.where(likeness.place < n, likeness.place, -1)
    return ValueGroups(of_value, texts, None if secrecy is None else secrecy[:n])


def _built_in(number: float) -> float:
    """Make an int or a float of any number, NumPy's too, so that it is written as people do."""
    whole = number == int(number) and abs(number) < 1e16
    return int(number) if whole else float(number)


def _levels(column: SensitiveColumn) -> list[int]:
    """Return the levels of its hierarchy at which something new is alike, and not everything."""
    ladder = column.ladder
    if ladder is None:
        return []
    widths = [len(labels) for labels in ladder.labels]
    return [i for i in range(1, ladder.height) if widths[-1] < widths[i] < widths[i - 1]]


FEWEST_NUMBERS = 6
"""A column of fewer different numbers holds grades or codes rather than measurements."""


def widths(counts: ValueCounts) -> tuple[float, ...]:
    """Return how close numbers must be to be alike; nothing for a column of something else.

    By default a tenth and a third of the central range, from the first to the last tenth of
    the people. Within a third are the salaries that are called low; a tenth is as much as one
    would call the same. Neither changes if a few people earn a thousand times as much.

    >>> rows = [("A", pay) for pay in (3, 4, 5, 6, 11, 8, 7, 9, 10)]
    >>> widths(classes_of(rows, column="pay").counts_of("pay"))
    (2.7,)
    """
    column = counts.column
    line = amounts_of(column)
    if line is not None and column.width:
        return (column.width,)
    shares = _shares_below(counts, line)
    if line is None or shares is None:
        return ()
    low, high = np.searchsorted(shares, [0.1, 0.9]).tolist()
    central = plus(line.points[high], line.points[low].copy_negate())
    found = []
    for parts in (10, 3):
        within = _round(central / parts, line)
        reach = alike_within(column, within).reach
        # Something must be alike that is not the same, and not everything.
        last = len(reach) - 2
        some_are = bool((reach > np.arange(len(reach))).any())
        if some_are and reach[0] < last:
            found.append(within)
    return tuple(dict.fromkeys(found))


def extremes(counts: ValueCounts) -> tuple[tuple[Value, ...], ...]:
    """Return from where on numbers are extreme, below and above: at each end those of a tenth.

    Where half of all people have one number, or some are below zero, also what is below and above.

    An end at which there are no two values is None: one is told as the value that it is. Nothing
    for a column of something else, or if both ends are.

    >>> rows = [("A", pay) for pay in range(100, 130)]
    >>> extremes(classes_of(rows, column="pay").counts_of("pay"))
    (('102', '127'),)
    """
    line = amounts_of(counts.column)
    shares = _shares_below(counts, line)
    if line is None or shares is None:
        return ()
    low, high = int((shares <= _EXTREME).sum()) - 1, int((shares < 1 - _EXTREME).sum()) + 1
    rows = counts.reference[:-1]

    def end(at: int, which: BoolArray, most: float) -> str | None:
        several = len({*line.place[which].tolist()}) > 1
        # What most people have was left out, and may stand there.
        few = rows[which].sum() <= most * rows.sum()
        return line.text(at) if several and few else None

    known = line.place < len(line.points)
    tenths = (
        end(low, line.place <= low, _EXTREME),
        end(high, (line.place >= high) & known, _EXTREME),
    )
    found = [tenths] if any(tenths) else []
    middle = _middle(counts, line)
    if middle is not None:
        below, above = line.place < middle.first, (line.place > middle.last) & known
        sides = end(middle.first - 1, below, 0.5), end(middle.last + 1, above, 0.5)
        if any(sides) and sides != tenths:
            found.append(sides)
    return tuple(found)


class _Middle(NamedTuple):
    """The points of a line that are neither below nor above what most people have."""

    first: int
    last: int


def _middle(counts: ValueCounts, line: NumberLine) -> _Middle | None:
    """Return what numbers are below or above of: what half of all people have, or else zero.

    To have some debt, where most have none, and to owe where others own, are statements.
    """
    rows = np.bincount(line.place, weights=counts.reference[:-1], minlength=len(line.points) + 1)[
        : len(line.points)
    ]
    commonest = int(rows.argmax())
    if 2 * rows[commonest] >= rows.sum():
        return _Middle(commonest, commonest)
    if isinstance(line.scale, Days) or not line.points[0] < 0 < line.points[-1]:
        return None
    zero = Decimal(0)
    return _Middle(bisect_left(line.points, zero), bisect_right(line.points, zero) - 1)


_EXTREME = 0.1 + 1e-9
"""The share of people at an end of all numbers; more than a tenth by no more than rounding."""


def _shares_below(counts: ValueCounts, line: NumberLine | None) -> FloatArray | None:
    """Return the share of people up to each point of a line; None of grades, codes and words.

    A number that half of all people or more have is left out: so is what is not to be compared,
    because the policy says that no two numbers are alike.
    """
    if line is None or not len(line.points) or counts.column.width == 0:
        return None
    every = np.bincount(line.place, weights=counts.reference[:-1], minlength=len(line.points))
    rows = every[: len(line.points)]
    commonest = int(rows.argmax())
    if 2 * rows[commonest] >= rows.sum():
        rows[commonest] = 0
    if np.count_nonzero(rows) < FEWEST_NUMBERS:
        return None
    found: FloatArray = np.cumsum(rows) / rows.sum()
    return found


def _round(width: Decimal, line: NumberLine) -> float:
    """Return a width as people would choose it: two digits, of days whole ones."""
    if isinstance(line.scale, Days):
        return max(int(width.to_integral_value()), 1)
    return _built_in(float(f"{width:.2g}"))
