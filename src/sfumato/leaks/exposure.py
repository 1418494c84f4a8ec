"""Exposure of a whole decoupled release: what its tables allow to be guessed, to whom.

The tables of a group say for each column i how many people c_i have a value, of n_i whose value is
known. If all ways of dealing out the values are equally likely, columns are independent in a group:

    P(v_1, v_2, …) = Π c_i / n_i

over the columns that are guessed: all of them if the group alone is known, and all others if one
value is known besides, which says nothing about the rest. Of five people two never married and four
earn at most 50K; both together are believed of one of them with 2/5 · 4/5 = 32 %.

A group has as many combinations as the product of its numbers of values, which may be too many to
make. The likeliest one takes the largest share of every column. The mean is a product of sums
(`View.mean`). People by risk level need only those combinations that reach a level, of which there
are few (`likely`). None of this is an estimate from a sample.

Reference: Nadimpalli and Vatsavayi, "Detection and Prevention of Leaks in Anonymized Datasets",
Journal of Global Research in Computer Science 5(3), 2014, for the probabilities.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from sfumato.counts import Column, FrequencySet, group, sums
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import GroupedTables, SensitiveTable
from sfumato.decouplings.likelihood import likelihood, likelihoods
from sfumato.errors import InputError, require_number
from sfumato.leaks.breach import (
    Breach,
    Combination,
    Holding,
    breach_of,
    holders,
    likeliest,
    listing,
    plain_probability,
    share_of,
    sure_cells,
)
from sfumato.policy import RiskLevels
from sfumato.showing.content import (
    Badge,
    Cell,
    Content,
    ContentTable,
    Heading,
    Part,
    Share,
    Showable,
    plain_of,
)
from sfumato.text import percent, text_or_none
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray, Value

# People of a table beside its decoupled parts: each one's group, and counts of their values.


def by_level(levels: RiskLevels, probabilities: FloatArray, people: FloatArray) -> dict[str, float]:
    """Add up the people whose probability is at each risk level.

    >>> by_level(RiskLevels(), np.array([0.1, 0.2, 1.0]), np.array([3.0, 2.0, 1.0]))
    {'low': 3.0, 'moderate': 2.0, 'high': 0.0, 'very high': 1.0}
    """
    bounds = levels.bounds()
    starts = np.array(list(bounds.values()))
    at = np.searchsorted(starts, probabilities, side="right") - 1
    added = np.bincount(at, weights=people, minlength=len(starts))
    return dict(zip(bounds, added.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class People:
    """The combinations of a table that was decoupled, and what its parts say of each.

    Example:
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "low"), ("40s", "flu", "high")]
        >>> counts = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> people = People.of(counts, GroupedTables.of(counts, ["age"], ["ill", "pay"]))
        >>> people.group.tolist(), people.cells.tolist()
        ([0, 0, 1], [[1, 1, 1], [2, 2, 1]])
    """

    grouped: GroupedTables
    codes: Mapping[str, CodeArray]
    """The sensitive values of each combination, as codes of the decoupled tables."""

    rows: IntArray
    """How many people have the combination."""

    group: IntArray
    """Which group they are in."""

    cells: IntArray
    """`cells[s, i]`: how many people of the group have combination i's value in column s; 0 if it
    is missing, which cannot be told."""

    @cached_property
    def known(self) -> IntArray:
        """`known[s, i]`: how many people of combination i's group have a known value there."""
        n = len(self.grouped)
        each = [table.totals(n)[self.group] for table in self.grouped.sensitive]
        return np.array(each, dtype=np.int64).reshape(len(each), len(self.rows))

    def is_known(self, names: Iterable[str]) -> BoolArray:
        """Return which combinations miss no value of some columns."""
        found = np.ones(len(self.rows), dtype=np.bool_)
        for name in names:
            found &= self.codes[name] != self.grouped.table(name).column.missing
        return found

    @classmethod
    def of(cls, counts: FrequencySet, grouped: GroupedTables) -> "People":
        """Find the rows of a table in its decoupled parts; they must be the same rows."""
        names = [column.name for column in grouped.quasi_identifiers]
        table = counts.project([*names, *grouped.names])
        found = _groups(table, grouped)
        codes = {one.column.name: _codes_in(table, one.column) for one in grouped.sensitive}
        cells = np.empty((len(grouped.sensitive), len(table)), dtype=np.int64)
        agree = np.array_equal(sums(found, table.rows, len(grouped)), grouped.sizes)
        for s, one in enumerate(grouped.sensitive):
            width = len(one.column.values)
            keys = one.group * width + one.value
            mine = found * width + codes[one.column.name]
            at = np.searchsorted(keys, mine)
            agree = agree and _same(keys, mine, at)
            if not agree:
                break
            agree = np.array_equal(sums(at, table.rows, len(keys)), one.rows)
            cells[s] = np.where(codes[one.column.name] == one.column.missing, 0, one.rows[at])
        if not agree:
            raise InputError(
                "the table and the decoupled parts do not count the same people. Give the table "
                "that was decoupled, whole and as it was then."
            )
        return cls(grouped, codes, table.rows, found, cells)

    def after(self, told: BoolArray) -> FloatArray:
        """Return how likely each one's own values in some columns are, if the parts are joined."""
        return likelihoods(self.cells[told], self.known[told])

    def behind(self, known: str | None, told: Sequence[str]) -> IntArray:
        """Count the people of the same group who also have the known column's value.

        Only those count whose values in the told columns are all known.
        """
        keys: list[IntArray | CodeArray] = [self.group]
        widths = [len(self.grouped)]
        if known is not None:
            keys.append(self.codes[known])
            widths.append(len(self.grouped.table(known).column.values))
        cells = group(keys, widths)
        rows = np.where(self.is_known(told), self.rows, 0)
        behind: IntArray = sums(cells.of_item, rows, cells.n)[cells.of_item]
        return behind


def _same(keys: IntArray, mine: IntArray, at: IntArray) -> bool:
    return bool((at < len(keys)).all() and (keys[at] == mine).all())


def _groups(table: FrequencySet, grouped: GroupedTables) -> IntArray:
    """Find each combination's group, or -1."""
    columns = grouped.quasi_identifiers
    theirs = [_codes_in(table, column) for column in columns]
    both = group(
        [np.append(label, code) for label, code in zip(grouped.labels, theirs, strict=True)],
        [len(column.values) + 1 for column in columns],
        n=len(grouped) + len(table),
    )
    of_label = np.full(both.n, -1, dtype=np.int64)
    of_label[both.of_item[: len(grouped)]] = np.arange(len(grouped))
    found: IntArray = of_label[both.of_item[len(grouped) :]]
    if (found < 0).any():
        raise InputError(
            "the table has people of groups that the decoupled parts do not have. Give the table "
            "that was decoupled, whole and as it was then."
        )
    return found


def _codes_in(table: FrequencySet, column: Column) -> CodeArray:
    """Return a column's codes in another dictionary, matched as text; unknown values come last."""
    places = {text_or_none(value): i for i, value in enumerate(column.values)}
    mine = table.column(column.name).values
    lookup = np.array([places.get(text_or_none(v), len(places)) for v in mine], dtype=np.int32)
    codes = table.codes_of(column.name)
    return lookup[codes] if len(lookup) else codes


# Before and after decoupling: how surely people's own values could be told.


@dataclass(frozen=True)
class Spread:
    """How likely people's own values are: the worst, the mean, and people by risk level."""

    worst: Fraction
    mean: float
    people: Mapping[str, int]
    above: int | None = None
    """How many people are above alpha, if one was given."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "worst": plain_probability(self.worst),
            "mean": self.mean,
            "people": dict(self.people),
            **({} if self.above is None else {"above": self.above}),
        }


@dataclass(frozen=True)
class ExposureChange:
    """What decoupling changes for an adversary who knows the group, and perhaps one column."""

    known: str | None
    """The sensitive column that is known; None if only the group is."""

    told: tuple[str, ...]
    before: Spread
    after: Spread
    raised: int
    """How many people's own values became likelier: decoupling spreads what others have."""

    lowered: int
    """How many people's own values became less likely."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return plain_of(self, "known told before after raised lowered")

    def __str__(self) -> str:
        known = "group" if self.known is None else f"group and {self.known}"
        return (
            f"{known} → {', '.join(self.told)}: worst {percent(float(self.before.worst))} before, "
            f"{percent(float(self.after.worst))} after; "
            f"mean {percent(self.before.mean)} before, {percent(self.after.mean)} after"
        )


@dataclass(frozen=True)
class ExposureComparison:
    """Every adversary's gain, one after the other."""

    people: int
    changes: tuple[ExposureChange, ...]
    levels: RiskLevels = field(default_factory=RiskLevels)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {"people": self.people, "changes": [change.to_dict() for change in self.changes]}

    def table(self, alpha: float | None = None) -> ContentTable:
        """Return how surely people's own values are told, before decoupling and after."""
        above = () if alpha is None else (f"above {alpha:g}, before", "after")
        heads = ("known", "worst before", "worst after", "mean before", "mean after")
        rows: list[list[Cell]] = [
            [
                _known_text(change.known),
                *map(Share, (change.before.worst, change.after.worst)),
                *map(Share, (change.before.mean, change.after.mean)),
                change.lowered,
                change.raised,
                *(() if alpha is None else (change.before.above, change.after.above)),
            ]
            for change in self.changes
        ]
        caption = "How surely people's own values were known before breaking, and after"
        return ContentTable.of(caption, (*heads, "people less sure", "people surer", *above), rows)

    def __str__(self) -> str:
        return "\n".join(map(str, self.changes))


def compare(
    counts: FrequencySet,
    grouped: GroupedTables,
    *,
    levels: RiskLevels | None = None,
    alpha: float | None = None,
) -> ExposureComparison:
    """Compare what a table and its decoupled parts tell about each person in it.

    Before decoupling, an adversary who knows a group and one sensitive value counts the
    rows that fit, and the share of them with the person's other values. After it, only the
    product of the values' shares in the group is left. Each person counts with their own values;
    missing ones hide no person, and of a person who misses one nothing whole can be told.

    Args:
        counts: The table that was decoupled.
        grouped: Its parts.
        levels: The risk levels.
        alpha: Count also how many people are above this.

    Example:
        >>> rows = [("30s", "state", "single"), ("30s", "state", "single")]
        >>> rows += [("30s", "private", "married"), ("30s", "private", "divorced")]
        >>> counts = FrequencySet.from_rows(["age", "work", "marital"], rows)
        >>> print(compare(counts, GroupedTables.of(counts, ["age"], ["work", "marital"])))
        group → work, marital: worst 50 % before, 25 % after; mean 38 % before, 19 % after
        group and work → marital: worst 100 % before, 50 % after; mean 75 % before, 38 % after
        group and marital → work: worst 100 % before, 50 % after; mean 100 % before, 50 % after
    """
    people = People.of(counts, grouped)
    levels = levels or RiskLevels()
    known = [None, *(grouped.names if len(grouped.names) > 1 else ())]
    changes = tuple(_change(people, one, levels, alpha) for one in known)
    return ExposureComparison(grouped.total, changes, levels)


def _change(
    people: People, known: str | None, levels: RiskLevels, alpha: float | None
) -> ExposureChange:
    # Before: of the people in the same group with the same known value, and with no told value
    # missing, the share that has the same told values. After: Π c_i / n_i. In the example of
    # `compare` (state, single) is 2 of 4 before, and 2/4 · 2/4 after; beside a known `state` it is
    # 2 of 2 before, and 2/4 after.
    #
    # Either is one division of whole numbers. Below 2⁵³ these are exact as floats, and equal
    # fractions become equal floats, so that rounding raises or lowers no person. The worst one is
    # looked for among floats and then told as a fraction.
    names = tuple(name for name in people.grouped.names if name != known)
    told = np.array([name != known for name in people.grouped.names], dtype=np.bool_)
    behind = people.behind(known, names)
    # What is missing is no secret that could be told, and no value that could be known.
    shown = people.is_known(people.grouped.names if known is not None else names)
    rows = np.where(shown, people.rows, 0)
    before, after = rows / np.maximum(behind, 1), np.where(shown, people.after(told), 0.0)
    sure = int(np.argmax(before)) if len(before) else None
    likely = int(np.argmax(after)) if len(after) else None
    return ExposureChange(
        known,
        names,
        _spread(
            before,
            people.rows,
            Fraction(0)
            if sure is None or not shown[sure]
            else Fraction(int(rows[sure]), int(behind[sure])),
            levels,
            alpha,
        ),
        _spread(
            after,
            people.rows,
            Fraction(0)
            if likely is None or not shown[likely]
            else likelihood(
                people.cells[told, likely].tolist(), people.known[told, likely].tolist()
            ),
            levels,
            alpha,
        ),
        raised=int(people.rows[after > before].sum()),
        lowered=int(people.rows[after < before].sum()),
    )


def _spread(
    probability: FloatArray,
    rows: IntArray,
    worst: Fraction,
    levels: RiskLevels,
    alpha: float | None,
) -> Spread:
    counted = by_level(levels, probability, rows.astype(np.float64))
    return Spread(
        worst,
        float(probability @ rows) / max(int(rows.sum()), 1),
        {name: int(people) for name, people in counted.items()},
        None if alpha is None else int(rows[probability > alpha].sum()),
    )


_MOST_SHOWN = 5


class Likely(NamedTuple):
    """All combinations of all groups that are likely enough."""

    group: IntArray
    probability: FloatArray


def likely(sizes: IntArray, tables: Sequence[SensitiveTable], least: float) -> Likely:
    """Find every combination with a probability of at least `least`, in all groups at once.

    Missing values are in none, and hide no person. Probabilities of a group's combinations add up
    to 1, so at most 1/least of them are found, and at most as many are held while columns are
    joined one by one: a product that is too small stays so.

    >>> rows = [("A", "flu", "low"), ("A", "flu", "low"), ("A", "gout", "high")]
    >>> grouped = GroupedTables.of(FrequencySet.from_rows(["zip", "ill", "pay"], rows), ["zip"],
    ...                    ["ill", "pay"])
    >>> likely(grouped.sizes, grouped.sensitive, 0.2).probability.round(2).tolist()
    [0.22, 0.44, 0.22]
    """
    # After each column a group holds beginnings of combinations with Π c_i of `rows` and Π n_i of
    # `of_all`. Further factors are at most 1, so a beginning below `least` leads to nothing, nor
    # does a value whose own share is below it. What a group holds is a part of a distribution:
    # at most 1/least beginnings, each continued by at most 1/least values. With 0.2 that is five
    # held and 25 tried per group and column, however many values there are. Whole numbers are
    # multiplied and divided once, so that exactly 1/5 is not a little below 0.2 (if Π n_i < 2⁵³).
    group = np.arange(len(sizes))
    rows, of_all = np.ones(len(sizes)), np.ones(len(sizes))
    for table in tables:
        known, totals = table.known, np.maximum(table.totals(len(sizes)), 1)
        of_all = of_all * totals
        enough = known.rows / totals[known.group] >= least
        of_group, of_value = known.group[enough], known.rows[enough]
        first = np.searchsorted(of_group, np.arange(len(sizes) + 1))
        entries = np.diff(first)[group]
        start = np.repeat(first[group] - np.cumsum(entries) + entries, entries)
        at = start + np.arange(len(start))
        group = np.repeat(group, entries)
        rows = np.repeat(rows, entries) * of_value[at]
        kept = rows / of_all[group] >= least
        group, rows = group[kept], rows[kept]
    return Likely(group, rows / of_all[group])


@dataclass(frozen=True, eq=False)
class View:
    """What one kind of adversary can guess: who knows the group, and perhaps one column.

    Which combination a person has is not in the decoupled tables. What can be said from them
    alone: the likeliest guess in each group, and how many people each combination is expected
    to concern, which is its probability times the people of the group.
    """

    grouped: GroupedTables
    known: str | None
    """The sensitive column that is known; None if only the group is."""

    levels: RiskLevels = field(default_factory=RiskLevels)
    alpha: float | None = None

    @property
    def told(self) -> tuple[str, ...]:
        """The columns that are guessed."""
        return tuple(name for name in self.grouped.names if name != self.known)

    @cached_property
    def _tables(self) -> list[SensitiveTable]:
        return [self.grouped.table(name) for name in self.told]

    @cached_property
    def largest(self) -> FloatArray:
        """The probability of each group's likeliest guess: the product of the largest shares."""
        most = [table.largest(len(self.grouped)) for table in self._tables]
        known = [table.totals(len(self.grouped)) for table in self._tables]
        return likelihoods(np.array(most), np.array(known))

    def worst(self, most: int = _MOST_SHOWN) -> list[Combination]:
        """Return the likeliest guesses of all groups, with their groups.

        Only as many groups as guesses are looked into: those whose best guess is likeliest.
        """
        # A guess in any other group is no likelier than the best one there, and that is no likelier
        # than the best guesses of these groups, which alone are as many as are wanted. In a group
        # guesses come likeliest first, so merging the streams gives all in order, and of each
        # stream no more is made than is needed.
        at = np.argsort(-self.largest, kind="stable")[:most].tolist()
        streams = [self._guesses(g) for g in at]
        merged = heapq.merge(*streams, key=lambda guess: -guess.probability)
        return list(islice(merged, most))

    def _guesses(self, at: int) -> Iterator[Combination]:
        shares = [share_of(table, at) for table in self._tables]
        return likeliest(self.grouped.group_at(at), int(self.grouped.sizes[at]), shares)

    @cached_property
    def _likely(self) -> Likely:
        wanted = [start for start in self.levels.bounds().values() if start > 0]
        least = min([*wanted, *([] if self.alpha is None else [self.alpha])], default=1.0)
        return likely(self.grouped.sizes, self._tables, least)

    @cached_property
    def expected(self) -> Mapping[str, float]:
        """The number of people expected to have a combination of each risk level."""
        # P(v) |G| people of a group G are expected to have v. Expectations add up even though the
        # values of people in a group depend on each other. Every combination that reaches the
        # lowest limit is in `_likely`; all others are below it, and only their sum is wanted.
        # People who miss a value count like the others: c_i / n_i is at least c_i / |G|, so the
        # number at higher levels is rather too large than too small.
        group, probability = self._likely
        people = probability * self.grouped.sizes[group]
        found = by_level(self.levels, probability, people)
        # What is not likely enough to be found is at the level of nearly nothing.
        lowest = self.levels.of(0.0)
        found[lowest] += max(self.grouped.total - float(people.sum()), 0.0)
        return found

    @property
    def expected_above(self) -> float | None:
        """The number of people expected to have a combination above alpha, if one was given."""
        if self.alpha is None:
            return None
        group, probability = self._likely
        above = probability > self.alpha
        return float((probability * self.grouped.sizes[group])[above].sum())

    @cached_property
    def mean(self) -> float:
        """The expected probability of people's own combinations: Σ p² of each column, multiplied.

        No combination is looked at: the sum over a product is the product of the sums.
        """
        # A person of a group has v with the probability P(v), and v is then guessed with P(v): the
        # mean is Σ P(v)². As P is a product, so is the sum: Σ P(v)² = Π_i Σ (c_i / n_i)², which
        # takes one pass over each table. Shares of 2/5 and 3/5 in one column and 1/5 and 4/5 in
        # another give 0.52 · 0.68 = 0.35.
        n = len(self.grouped)
        each = np.ones(n)
        for table in self._tables:
            known = table.known
            squares = (known.rows / table.totals(n)[known.group]) ** 2
            each *= np.bincount(known.group, weights=squares, minlength=n)
        return float(each @ self.grouped.sizes) / max(self.grouped.total, 1)

    @property
    def level(self) -> str:
        """The risk level of the likeliest guess."""
        return self.levels.of(float(self.largest.max(initial=0.0)))

    def to_dict(self, *, most: int = _MOST_SHOWN) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        above = self.expected_above
        return {
            "known": self.known,
            "told": list(self.told),
            "level": self.level,
            "worst": [guess.to_dict() for guess in self.worst(most)],
            "mean": self.mean,
            "expected": dict(self.expected),
            **({} if above is None else {"expected_above": above}),
        }

    def __str__(self) -> str:
        known = "group" if self.known is None else f"group and {self.known}"
        best = self.worst(1)
        what = "no person there"
        if best:
            what = f"up to {percent(float(best[0].probability))} ({self.level})"
        return f"{known} → {', '.join(self.told)}: {what}, {percent(self.mean)} on average"


@dataclass(frozen=True, eq=False)
class Exposure(Showable):
    """How much a decoupled table still tells: to each adversary, and beside what it told before.

    Promises: every probability is that of an adversary who believes all ways of joining the
    parts equally likely. Does not promise that adversaries know no more than a group and some
    values: one who knows how columns depend on each other in general can do better.

    Example:
        >>> rows = [("30s", "state", "single"), ("30s", "state", "single")]
        >>> rows += [("30s", "private", "married"), ("30s", "private", "divorced")]
        >>> counts = FrequencySet.from_rows(["age", "work", "marital"], rows)
        >>> exposure = Exposure(GroupedTables.of(counts, ["age"], ["work", "marital"]), counts)
        >>> print(exposure.views[0])
        group → work, marital: up to 25 % (moderate), 19 % on average
        >>> exposure.person({"age": "30s"}, {"work": "state"}).strongest
        Fraction(1, 2)
    """

    grouped: GroupedTables
    counts: FrequencySet | None = None
    """The table before it was decoupled, if it is at hand."""

    levels: RiskLevels = field(default_factory=RiskLevels)
    alpha: float | None = None
    """The largest probability wanted, if there is a limit."""

    def __post_init__(self) -> None:
        if self.alpha is not None:
            require_number("alpha", self.alpha, above=0, at_most=1)

    @cached_property
    def views(self) -> tuple[View, ...]:
        """The guesses of each adversary, who knows the group or one sensitive column besides."""
        known = [None, *(self.grouped.names if len(self.grouped.names) > 1 else ())]
        return tuple(View(self.grouped, one, self.levels, self.alpha) for one in known)

    @cached_property
    def comparison(self) -> ExposureComparison | None:
        """Each person's own values before and after decoupling; needs the table before it."""
        if self.counts is None:
            return None
        return compare(self.counts, self.grouped, levels=self.levels, alpha=self.alpha)

    @cached_property
    def columns(self) -> Mapping[str, Combination]:
        """For each sensitive column by itself the value that is likeliest in some group."""
        found = {}
        for table in self.grouped.sensitive:
            n = len(self.grouped)
            most = table.largest(n) / np.maximum(table.totals(n), 1)
            if len(table.known.rows):
                at = int(np.argmax(most))
                size = int(self.grouped.sizes[at])
                guesses = likeliest(self.grouped.group_at(at), size, [share_of(table, at)])
                found[table.column.name] = next(guesses)
        return found

    def person(
        self, group: Mapping[str, Value], knows: Mapping[str, Value] | None = None
    ) -> Breach:
        """Return how likely each guess is about a person of a group; see `breach_of`."""
        return breach_of(
            self.grouped, group=group, knows=knows, counts=self.counts, levels=self.levels
        )

    def holders(self, knows: Mapping[str, Value]) -> list[Holding]:
        """Return the groups a person may be in of whom one sensitive value is known."""
        if len(knows) != 1:
            raise InputError(
                f"without a group one sensitive value says where a person may be, got {len(knows)}:"
                f" {listing(tuple(knows.items())) or 'none'}. Give one, or the group."
            )
        [(column, value)] = knows.items()
        return holders(self.grouped, column, value)

    def to_dict(self, *, most: int = _MOST_SHOWN) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold; `most` limits the guesses shown."""
        return {
            "people": self.grouped.total,
            "groups": len(self.grouped),
            "quasi_identifiers": [column.name for column in self.grouped.quasi_identifiers],
            "sensitive": list(self.grouped.names),
            "alpha": self.alpha,
            "levels": dict(self.levels.bounds()),
            "columns": {
                name: {**one.to_dict(), "level": self.levels.of(float(one.probability))}
                for name, one in self.columns.items()
            },
            "views": [view.to_dict(most=most) for view in self.views],
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
        }

    @property
    def headline(self) -> str:
        """The number of people and of groups."""
        return f"{self.grouped.total} people in {len(self.grouped)} groups"

    def content(self, *, most: int = _MOST_SHOWN) -> Content:
        """Return what each adversary can guess, the surest guesses, and what decoupling changed."""
        parts: list[Part] = [self._views_table(), self._guesses(most)]
        if self.comparison is not None:
            parts.append(self.comparison.table(self.alpha))
        return Content(self.headline, tuple(parts))

    def _views_table(self) -> ContentTable:
        levels = [name for name in self.levels.bounds() if name != "low"]
        above = [] if self.alpha is None else [f"above {self.alpha:g}"]
        total = max(self.grouped.total, 1)
        rows: list[list[Cell]] = []
        for view in self.views:
            expected = [view.expected[name] for name in levels]
            expected += [] if view.expected_above is None else [view.expected_above]
            row = [_known_text(view.known), ", ".join(view.told)]
            largest = Share(view.largest.max(initial=0.0))
            shares = [Share(min(people / total, 1.0)) for people in expected]
            rows.append([*row, largest, Badge(view.level), Share(view.mean), *shares])
        heads = (
            Heading("known", "What the adversary knows of a person besides the release."),
            Heading("guessed", "The columns that are guessed, all of them at once."),
            Heading("up to", "How likely the likeliest guess about a person is.", bar=10),
            Heading("level", "The publisher's name for that."),
            Heading("on average", "How likely people's own values are to be guessed, expected."),
        )
        caption = "Guesses by joining the tables again, and the people expected at each risk level"
        return ContentTable.of(caption, [*heads, *levels, *above], rows, most=None)

    def _guesses(self, most: int) -> ContentTable:
        found = [("group", one) for one in self.columns.values()]
        if len(self.views) > 1:
            worst = max(self.views[1:], key=lambda view: float(view.largest.max(initial=0.0)))
            found += [(_known_text(worst.known), one) for one in worst.worst(most)]
        rows = [
            (
                known,
                listing(one.group) or "all people",
                one.size,
                listing(one.values),
                *sure_cells(one, self.levels),
            )
            for known, one in found
        ]
        heads = ("known", "in the group", "people", "guess", Heading("how surely", bar=20), "level")
        caption = "The surest guesses at one column, and at all that are not known"
        return ContentTable.of(caption, heads, rows, most=None)


def _known_text(column: str | None) -> str:
    return "group" if column is None else f"group, {column}"


# Tables that fit a decoupled release: what an adversary without further knowledge must imagine.


def random_table(grouped: GroupedTables, rng: np.random.Generator) -> FrequencySet:
    """Draw one of the tables that fit: each column's values dealt out at random in each group.

    Every such table is equally likely to a reader who sees the decoupled release only, so
    what depends on what in it, beyond the groups, is chance.

    Example:
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "high")]
        >>> counts = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> grouped = GroupedTables.of(counts, ["age"], ["ill", "pay"])
        >>> table = random_table(grouped, np.random.default_rng(1))
        >>> table.total, table.value_counts("pay").tolist()
        (2, [1, 1])
    """
    # Sorting by group, and in a group by independent random numbers, deals out a column's values in
    # each of the |G|! orders with the same probability, and columns independently of each other.
    # A row then has the combination v with Π c_i / |G|; missing values are dealt out like others.
    of_row = np.repeat(np.arange(len(grouped)), grouped.sizes)
    codes = [labels[of_row] for labels in grouped.labels]
    for table in grouped.sensitive:
        values = np.repeat(table.value, table.rows)
        order = np.lexsort((rng.random(len(values)), np.repeat(table.group, table.rows)))
        codes.append(values[order])
    columns = (*grouped.quasi_identifiers, *(table.column for table in grouped.sensitive))
    groups = group(codes, [len(column.values) for column in columns], n=grouped.total)
    ones = np.ones(grouped.total, dtype=np.int64)
    distinct = np.array([code[groups.first] for code in codes], dtype=np.int32)
    return FrequencySet(
        columns, distinct.reshape(len(columns), groups.n), sums(groups.of_item, ones, groups.n)
    )
