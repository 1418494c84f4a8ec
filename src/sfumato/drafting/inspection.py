"""The risk of a table as it is: class sizes, columns that single people out, sensitive columns."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, field
from itertools import combinations, islice
from math import comb
from typing import Any, Literal

import numpy as np

from sfumato.classes import EquivalenceClasses, classes_with
from sfumato.counts import (
    FrequencySet,
    PackedKeys,
    add_up,
    changes,
    group,
    number_keys,
    sums,
)
from sfumato.counts.people import ClassPeople
from sfumato.dataclasses import dataclass
from sfumato.drafting.special_uniques import SpecialUniques
from sfumato.models import (
    AverageRisk,
    DeltaPresence,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    KMap,
    MaximumRisk,
    ProbabilisticLDiversity,
    RecursiveCLDiversity,
    SampleUniqueness,
    TCloseness,
)
from sfumato.populations import SampleRisk
from sfumato.releases.line_breaks import count_line_breaks, warn_of_line_breaks
from sfumato.releases.spellings import warn_of_spellings
from sfumato.schema import Role
from sfumato.showing.content import (
    Cell,
    Content,
    ContentTable,
    Heading,
    Part,
    Sentence,
    Share,
    Showable,
)
from sfumato.text import format_integer, number_of, percent
from sfumato.typing import FloatArray, IntArray

# Which columns single people out: the uniqueness of small sets of columns.


_SMALL = (3, 5, 10)
_TAILS = (2, 3)

_WORK = 200_000_000
"""Combinations grouped in all, give or take: a few seconds."""

_OVERHEAD = 8_000
"""What looking at one set costs besides, in combinations: sets of a wide table of few rows are
many, and each costs more than its rows."""

_KEPT = 20

Subset = tuple[int, ...]


@dataclass(frozen=True)
class SubsetRisk:
    """How many rows a few columns single out."""

    columns: tuple[str, ...]
    unique_rows: int
    share: float
    """`unique_rows` of all rows."""


@dataclass(frozen=True)
class SubsetSearch:
    """The sets of columns that single out most people, and how thoroughly they were looked for.

    A set is listed only if it singles out more rows than each of its own parts does.
    """

    largest: int
    """How many columns a set has at most."""

    possible: int
    looked_at: int
    found: tuple[SubsetRisk, ...]
    """At most 20, the most telling first; of equals the smaller, then the earlier columns."""

    @property
    def complete(self) -> bool:
        """Whether every set was looked at."""
        return self.looked_at == self.possible


def telling_subsets(
    counts: FrequencySet,
    largest: int,
    *,
    work: int = _WORK,
    report: Callable[[int, int], None] | None = None,
    person: str | None = None,
) -> SubsetSearch:
    """Rank all sets of up to `largest` columns by the share of rows that are alone in them.

    Where there are too many sets to look at all, the larger ones are built from the most
    telling smaller ones, as many as `work` allows. Adding a column never makes a row less
    unique, so such sets are good candidates; but a better one may be overlooked. With a column
    that tells people apart, the last, people are counted who are alone in some combination.

    >>> rows = [("f", 30, 1), ("f", 40, 1), ("m", 30, 1), ("m", 40, 2)]
    >>> table = FrequencySet.from_rows(["sex", "age", "ward"], rows)
    >>> for risk in telling_subsets(table, 2).found: print(risk.columns, risk.unique_rows)
    ('sex', 'age') 4
    ('sex', 'ward') 2
    ('age', 'ward') 2
    ('ward',) 1
    """
    n = len(counts.columns) - (person is not None)
    everyone = counts.total if person is None else len(np.unique(counts.codes_of(person)))
    largest = min(largest, n)
    possible = sum(comb(n, size) for size in range(1, largest + 1))
    looks = max(work // (len(counts) + _OVERHEAD), n)
    alone: dict[Subset, int] = {}
    before: list[Subset] = [()]
    for size in range(1, largest + 1):
        fair = max(n, (looks - len(alone)) // (largest - size + 1))
        now: list[Subset] = []
        for subset in islice(_candidates(before, n, size, fair), fair):
            alone[subset] = (
                _rows_alone(counts, subset)
                if person is None
                else len(people_alone(counts, subset, person))
            )
            now.append(subset)
            if report is not None:
                report(len(alone), min(possible, looks))
        before = sorted(now, key=lambda subset: -alone[subset])
    telling = [subset for subset in alone if alone[subset] > _most_below(subset, alone)]
    telling.sort(key=lambda subset: (-alone[subset], len(subset), subset))
    found = [
        SubsetRisk(
            tuple(counts.columns[i].name for i in subset),
            alone[subset],
            alone[subset] / max(everyone, 1),
        )
        for subset in telling[:_KEPT]
    ]
    return SubsetSearch(largest, possible, len(alone), tuple(found))


def _candidates(before: Sequence[Subset], n: int, size: int, fair: int) -> Iterator[Subset]:
    """Yield all sets of a size if they are few enough, else those around the most telling ones."""
    if comb(n, size) <= fair:
        yield from combinations(range(n), size)
        return
    seen: set[Subset] = set()
    for smaller in before:
        for column in range(n):
            subset = tuple(sorted({*smaller, column}))
            if len(subset) == size and subset not in seen:
                seen.add(subset)
                yield subset


def _most_below(subset: Subset, alone: dict[Subset, int]) -> int:
    """Find the most rows that a part of the set singles out by itself."""
    return max(
        (alone.get(part, 0) for part in combinations(subset, len(subset) - 1) if part), default=0
    )


def _rows_alone(counts: FrequencySet, subset: Subset) -> int:
    """Count the rows that no other row shares these columns with."""
    codes = [counts.codes[i] for i in subset]
    key, width = PackedKeys.of(codes, [len(counts.columns[i].values) for i in subset])
    if width <= 4 * len(counts):
        rows = np.bincount(key, weights=counts.rows)
        return int(np.count_nonzero(rows == 1))
    # A combination of several rows singles out none of them: seen twice, it cannot count as single.
    keys = np.sort(np.concatenate([key, key[counts.rows > 1]]))
    new = np.concatenate([[True], keys[1:] != keys[:-1], [True]])
    return int(np.count_nonzero(new[1:] & new[:-1]))


def people_alone(counts: FrequencySet, subset: Subset, person: str) -> IntArray:
    """Return the people whom some combination of these columns belongs to alone."""
    codes = [counts.codes[i] for i in subset]
    packed = PackedKeys.of(codes, [len(counts.columns[i].values) for i in subset])
    keys = number_keys(*packed)
    size = len(counts.column(person).values)
    pairs = number_keys(keys.of_item * size + counts.codes_of(person), keys.n * size).keys
    of_key = pairs // size
    new = changes(of_key)
    single = new & np.append(new[1:], True)
    return np.unique(pairs[single] - of_key[single] * size)


@dataclass(frozen=True)
class SizeBin:
    """Classes of similar size: how many there are and how many rows they hold."""

    smallest: int
    largest: int
    classes: int
    rows: int

    @property
    def label(self) -> str:
        """The sizes in words.

        >>> SizeBin(3, 4, 1, 3).label
        '3-4'
        """
        one = self.smallest == self.largest
        return f"{self.smallest}" if one else f"{self.smallest}-{self.largest}"


@dataclass(frozen=True)
class ClassSpread:
    """How the rows spread over the classes, the groups that agree in every quasi-identifier."""

    count: int
    smallest: int
    """The k that the table has as it is."""

    largest: int
    average: float
    unique_rows: int
    """Rows that are alone in their class."""

    below: Mapping[int, int]
    """Rows in classes of fewer than 3, 5 and 10."""

    histogram: tuple[SizeBin, ...]


@dataclass(frozen=True)
class Risk:
    """How likely a reader who knows the quasi-identifiers picks the right row."""

    maximum: float
    average: float
    unique: float
    """The share of rows that are alone in their class: found for certain."""


@dataclass(frozen=True)
class PopulationRisk:
    """The same against a population: how many people each class could be."""

    people: int
    smallest: int
    """Fewest people a class of the table stands for; 0 if some class has none."""

    presence: tuple[float, float]
    """The smallest and the largest share of a class's people who are in the table."""

    unseen: int
    """People whose class the table does not show: plainly not in it."""


@dataclass(frozen=True)
class EstimatedRisk:
    """The same against a population that only the weights of a survey tell of.

    The weights of a class add up to an estimate of its people, and one over that is the risk that
    a person of the class is found. An estimate, no promise: a class of weights that add up to 12
    may be 5 people, or 40.
    """

    weight: str
    """The column of weights."""

    people: float
    """The number of people that all rows stand for."""

    smallest: float
    """The fewest people that a class is estimated to have; never fewer than its rows."""

    maximum: float
    """The largest risk of a person: one over the fewest people."""

    average: float
    """The risk of a row, on average over all rows."""

    @classmethod
    def of(cls, weight: str, sizes: IntArray, people: FloatArray) -> "EstimatedRisk | None":
        """Estimate from the rows and the weights of each class; None where weights tell nothing.

        Weights that are scaled to a mean of 1 add up to the rows, and say nothing of how many
        people there are.

        >>> found = EstimatedRisk.of("w", np.array([1, 2]), np.array([20.0, 400.0]))
        >>> found.people, found.smallest, found.maximum, round(found.average, 4)
        (420.0, 20.0, 0.05, 0.0183)
        >>> EstimatedRisk.of("w", np.array([1, 2]), np.array([1.2, 1.8]))
        """
        rows, total = int(sizes.sum()), float(people.sum())
        if total <= rows * 1.001:
            return None
        each = np.maximum(people, sizes)
        average = float((sizes / each).sum() / rows)
        return cls(weight, total, float(each.min()), float(1 / each.min()), average)


@dataclass(frozen=True)
class HouseholdRisk:
    """How far households are given away by their members."""

    households: int
    largest: int
    """The most people of one household."""

    exposed: int
    """Households with a member who is alone in a class."""

    alone_together: int
    """Households that no other is like in all their members: an adversary who knows them finds
    the household if its rows are linked."""


@dataclass(frozen=True)
class ColumnRisk:
    """One column by itself."""

    name: str
    role: Role
    distinct: int
    """Different values, without the missing one."""

    missing: float
    """The share of rows without a value."""

    unique: float
    """The share of rows that no other shares this column's value with."""


@dataclass(frozen=True)
class SensitiveRisk:
    """What a class gives away about one sensitive column, in the worst class."""

    name: str
    distinct_l: float
    entropy_l: float
    recursive_c: Mapping[int, float]
    """By l, the bound that c must exceed; infinite where no c would do."""

    largest_share: float
    """The largest share of one value in a class: what is believed after looking."""

    share_in_table: float
    """The largest share of one value in the whole table: what is believed before."""

    t_equal: float
    t_ordered: float | None
    """None if the values are not numbers."""


_SEVERAL_ROWS = (
    "Not estimated: how many people are unique in the population and how many are found. People "
    "have several rows here, and the estimators know classes that share no one"
)

_FEW = 5
"""The number of sets of columns shown where space is short."""


@dataclass(frozen=True)
class Inspection(Showable):
    """The risk of a table as it is; nothing was changed.

    Missing values count as values of their own. `print` shows it as tables, `to_dict`
    gives plain values.
    """

    rows: int
    quasi_identifiers: tuple[str, ...]
    roles_from: Literal["given", "policy", "guessed"]
    """Who said which columns are what."""

    classes: ClassSpread
    """How the rows spread over classes: count, smallest, largest, average, unique_rows, below."""

    risk: Risk
    """How likely the right row is picked: maximum, average, and the share found for certain."""

    columns: tuple[ColumnRisk, ...]
    """Each column by itself."""

    subsets: SubsetSearch
    """The sets of columns that single out most people."""

    sensitive: tuple[SensitiveRisk, ...]
    """What the worst class gives away about each sensitive column."""

    population: PopulationRisk | None = None
    """How many people of the population each class could be; None without one."""

    estimated: EstimatedRisk | None = None
    """The same as the weights of a survey estimate it; None without weights."""

    sample: SampleRisk | None = None
    """How likely people are found in the population, estimated from a sampling fraction or weights;
    None without either, and where `not_estimated` says why."""

    special: SpecialUniques | None = None
    """Rows that few columns single out, and the columns that do it; None if it was not looked for,
    which it is not where people have several rows."""

    not_estimated: str = ""
    """Why nothing is estimated although there is a sampling fraction, or weights."""

    line_breaks: Mapping[str, int] = field(default_factory=dict)
    """By column, how many cells have line breaks in them: whole rows may hide there."""

    people: int | None = None
    """The number of people, if they may have several rows: then classes, risks, columns and sets
    count them in place of rows, and who is alone in one class is alone."""

    households: HouseholdRisk | None = None
    """The same by household, if a column says who lives together."""

    spellings: tuple[str, ...] = ()
    """What there is to say of sensitive values in several spellings, a sentence per column."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold; infinity is the text "inf"."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    def __repr__(self) -> str:
        return f"<Inspection {self.headline}>"

    @property
    def headline(self) -> str:
        """One line about how many rows look alike."""
        if self.people is not None:
            return (
                f"{self.rows} rows of {self.people} people in {self.classes.count} classes, "
                f"fewest people {self.classes.smallest}, {percent(self.risk.unique)} of people "
                "alone in one"
            )
        return (
            f"{self.rows} rows in {self.classes.count} classes, smallest {self.classes.smallest}, "
            f"{percent(self.risk.unique)} of rows unique"
        )

    @property
    def _unit(self) -> str:
        return "rows" if self.people is None else "people"

    def content(self) -> Content:
        """Return the risk of all rows, of each column and of a few columns together."""
        parts: list[Part] = [
            *self._facts(),
            self.sizes(),
            Sentence(f"{self._unit.capitalize()} in classes {self._below()}"),
        ]
        parts.append(
            ContentTable.of(
                "",
                ["column", "role", "distinct", "missing", "unique alone"],
                [
                    [_name(c.name), c.role.value, c.distinct, Share(c.missing), Share(c.unique)]
                    for c in self.columns
                ],
                most=None,
            )
        )
        if self.subsets.looked_at:
            search = self.subsets
            how = "all" if search.complete else f"{search.looked_at} of"
            rest = "" if search.complete else ", the most telling first"
            few = f"up to {search.largest} columns" if search.largest > 1 else "one column"
            text = f"Looked at {how} {search.possible} sets of {few}{rest}"
            # A table without rows would only ask what is missing.
            parts += [self._telling_sets()] if search.found else []
            parts.append(Sentence(text if search.found else f"{text}: none singles a person out"))
        if self.special is not None:
            parts.append(self.special.sentence())
            parts += [self.special.table()] if self.special.rows else []
        if self.sample is not None:
            parts.append(self.sample.table())
        if self.sensitive:
            parts.append(self._sensitive())
        return Content(self.headline, tuple(parts))

    def short_content(self) -> Content:
        """Return how many people are exposed, and by which columns."""
        return Content(self.headline, (*self._facts(), self._telling_sets(_FEW)))

    def _facts(self) -> list[Sentence]:
        """Return the quasi-identifiers and the risk in sentences."""
        guessed = " (guessed from names and values)" if self.roles_from == "guessed" else ""
        worst, average = percent(self.risk.maximum), percent(self.risk.average)
        texts = [
            f"Quasi-identifiers{guessed}: {', '.join(map(_name, self.quasi_identifiers))}",
            f"Re-identification risk: at most {worst}, on average {average}",
        ]
        if (found := self.population) is not None:
            low, high = map(percent, found.presence)
            texts.append(
                f"Population: {found.people} people; every class stands for {found.smallest} of "
                f"them or more, of whom {low} to {high} are in the table"
            )
        if (guess := self.estimated) is not None:
            texts.append(
                f"Population, estimated by {_name(guess.weight)}: "
                f"{format_integer(round(guess.people))} people; "
                f"the smallest class stands for about {format_integer(round(guess.smallest))} of "
                "them. Risk by "
                f"that estimate, which is no promise: at most {percent(guess.maximum)}, on average "
                f"{percent(guess.average)}"
            )
        if self.sample is not None:
            texts.append(self.sample.sentence().text)
        if self.not_estimated:
            texts.append(self.not_estimated)
        if (homes := self.households) is not None:
            texts.append(
                f"Households: {homes.households}, of up to {homes.largest} people; {homes.exposed} "
                f"have a member who is alone in a class, and {homes.alone_together} are like no "
                "other in all their members, which anybody sees who links their rows"
            )
        texts += [*warn_of_line_breaks(self.line_breaks), *self.spellings]
        return [*map(Sentence, texts)]

    @property
    def counted(self) -> int:
        """The rows of all classes; of people, each once per class."""
        return sum(b.rows for b in self.classes.histogram)

    def sizes(self, after: "Inspection | None" = None) -> ContentTable:
        """Return the rows by class size; with another inspection, the shares in both."""
        bins = self.classes.histogram
        if after is None:
            return ContentTable.of(
                "",
                ("class size", "classes", self._unit, Heading("share", bar=30)),
                [[b.label, b.classes, b.rows, Share(b.rows / self.counted)] for b in bins],
            )
        shares = [
            {b.label: Share(b.rows / each.counted) for b in each.classes.histogram}
            for each in (self, after)
        ]
        labels = {b.label: b.smallest for b in (*bins, *after.classes.histogram)}
        heads = ("class size", Heading("before", bar=20), Heading("after", bar=20))
        rows: list[list[Cell]] = [
            [label, *(each.get(label, Share(0)) for each in shares)]
            for label in sorted(labels, key=labels.__getitem__)
        ]
        return ContentTable.of("", heads, rows)

    def _below(self) -> str:
        return ", ".join(
            f"below {size}: {rows} ({percent(rows / max(self.people or self.rows, 1))})"
            for size, rows in self.classes.below.items()
        )

    def _telling_sets(self, most: int | None = None) -> ContentTable:
        """Return the sets of columns that single out most people."""
        rows = [
            (", ".join(map(_name, risk.columns)), risk.unique_rows, Share(risk.share))
            for risk in self.subsets.found[:most]
        ]
        alone = "unique rows" if self.people is None else "people alone"
        return ContentTable.of("", ["columns that single people out", alone, "share"], rows)

    def _sensitive(self) -> ContentTable:
        tails = list(self.sensitive[0].recursive_c)
        heads = ("sensitive", "l", "entropy l", *(f"recursive c, l={l}" for l in tails),
                 "largest share", "in the table", "t equal", "t ordered")  # fmt: skip
        rows = [
            (
                _name(s.name), s.distinct_l, s.entropy_l, *s.recursive_c.values(),
                Share(s.largest_share), Share(s.share_in_table), s.t_equal,
                "" if s.t_ordered is None else s.t_ordered,
            )
            for s in self.sensitive
        ]  # fmt: skip
        return ContentTable.of("", heads, rows)


def inspect_counts(  # noqa: PLR0913 - what is known of a table
    counts: FrequencySet,
    quasi_identifiers: tuple[str, ...],
    sensitive: tuple[str, ...],
    people: FrequencySet | None,
    *,
    weight: tuple[str, FloatArray] | None = None,
    fraction: float | None = None,
    roles_from: Literal["given", "policy", "guessed"],
    subsets: int,
    report: Callable[[int, int], None],
    person: str | None = None,
    household: str | None = None,
) -> Inspection:
    """Measure the risk of a counted table.

    Args:
        counts: The table, over quasi-identifiers and sensitive columns.
        quasi_identifiers: The columns others may know.
        sensitive: The columns to protect.
        people: The population it was drawn from, if it is known.
        weight: A weight, and how many people each combination of `counts` stands for by it.
        fraction: The share of the population that is in the table.
        roles_from: Who said which columns are what.
        subsets: How many columns a set may have that is looked at; 0 skips that.
        report: Told how many sets are done.
        person: The column of the counts that tells people apart, if they are to be counted.
        household: The one that says who lives together.
    """
    classes = classes_with(counts, quasi_identifiers, sensitive, people, person=person)
    private = () if person is None else (person,)
    roles = {Role.QUASI_IDENTIFIER: quasi_identifiers, Role.SENSITIVE: sensitive}
    sizes = _class_sizes(classes)
    unique = SampleUniqueness.example().measure(classes)["share"]
    if person is not None:
        unique = sizes.unique_rows / max(classes.n_people, 1)
    estimated = sample = None
    if weight is not None:
        name, people_of = weight
        rows, stands_for = _add_classes(counts, quasi_identifiers, people_of)
        estimated = EstimatedRisk.of(name, rows, stands_for)
        if estimated is not None and person is None:
            sample = SampleRisk.of(rows, people=stands_for, weight=name)
    if fraction is not None and person is None:
        sample = SampleRisk.of(classes.sizes, fraction=fraction)
    special = None
    if subsets and person is None:
        match = None if sample is None else sample.unique_match
        special = SpecialUniques.of(counts.project(quasi_identifiers), subsets, unique_match=match)
    return Inspection(
        rows=counts.total,
        quasi_identifiers=quasi_identifiers,
        roles_from=roles_from,
        classes=sizes,
        risk=Risk(
            MaximumRisk.example().measure(classes)["risk"],
            AverageRisk.example().measure(classes)["risk"],
            unique,
        ),
        columns=tuple(
            _column_risk(counts, name, role, person)
            for role, names in roles.items()
            for name in names
        ),
        subsets=telling_subsets(
            counts.project((*quasi_identifiers, *private)), subsets, report=report, person=person
        ),
        sensitive=tuple(_sensitive_risk(classes, name) for name in sensitive),
        population=None if people is None else _population_risk(classes, people),
        estimated=estimated,
        sample=sample,
        special=special,
        not_estimated=_SEVERAL_ROWS if person is not None and (weight or fraction) else "",
        line_breaks=count_line_breaks(counts.project((*quasi_identifiers, *sensitive))),
        people=None if person is None else classes.n_people,
        households=None
        if household is None
        else _household_risk(counts, quasi_identifiers, household, person, classes),
        spellings=tuple(warn_of_spellings(counts.column(name) for name in sensitive)),
    )


def _class_sizes(classes: EquivalenceClasses) -> ClassSpread:
    sizes = classes.sizes
    return ClassSpread(
        count=len(classes),
        smallest=int(KAnonymity.example().measure(classes)["k"]),
        largest=int(sizes.max()),
        average=int(sizes.sum()) / len(classes),
        unique_rows=int(classes.at_worst((sizes == 1).astype(np.int64), 2)[1]),
        below={
            limit: int(classes.at_worst((sizes < limit).astype(np.int64), 2)[1]) for limit in _SMALL
        },
        histogram=tuple(_histogram(classes)),
    )


def _histogram(classes: EquivalenceClasses) -> list[SizeBin]:
    """Count classes of the sizes 1, 2, 3-4, 5-9, 10-19, 20-49, 50-99, … that occur."""
    sizes = classes.sizes
    digits = len(str(sizes.max()))
    starts = [1, 2, 3, 5, *(step * 10**up for up in range(1, digits + 1) for step in (1, 2, 5))]
    place = np.searchsorted(starts, sizes, side="right") - 1
    count = np.bincount(place, minlength=len(starts)).tolist()
    rows = np.bincount(place, weights=sizes, minlength=len(starts)).astype(np.int64).tolist()
    return [
        SizeBin(start, starts[i + 1] - 1, count[i], rows[i])
        for i, start in enumerate(starts)
        if count[i]
    ]


def _household_risk(
    counts: FrequencySet,
    quasi_identifiers: tuple[str, ...],
    household: str,
    person: str | None,
    classes: EquivalenceClasses,
) -> HouseholdRisk:
    """Count households; people without one live alone, and are none."""
    class_id = counts.group_by(quasi_identifiers).of_item
    known = counts.codes_of(household) != counts.column(household).missing
    home = np.unique(counts.codes_of(household)[known], return_inverse=True)[1].ravel()
    at, rows = class_id[known], counts.rows[known]
    n = int(home.max(initial=-1)) + 1
    if person is not None:
        # A person of several rows in a class is one member there.
        size = len(counts.column(person).values)
        who = counts.codes_of(person)[known].astype(np.int64)
        members = group([home, at, who], [n, len(classes), size], n=len(home)).first
        home, at, rows = home[members], at[members], np.ones(len(members), dtype=np.int64)
        people = np.unique(home * size + who[members])
        largest = np.bincount(people // size, minlength=n)
    else:
        largest = sums(home, rows, n)
    places = group([home, at], [n, len(classes)], n=len(home))
    alike = sums(places.of_item, rows, places.n)
    home, at = home[places.first], at[places.first]
    alone = (classes.sizes == 1).astype(np.int64)
    exposed = ClassPeople.count(home, at, {}, len(classes)).at_worst(alone, 2)[1]
    # What a household is like: how many of its members are in which class.
    width = int(alike.max(initial=0)) + 1
    kinds = number_keys(at * width + alike, len(classes) * width)
    together = ClassPeople.count(home, kinds.of_item, {}, kinds.n).multiplicity
    return HouseholdRisk(
        n, int(largest.max(initial=0)), int(exposed), int(np.count_nonzero(together == 1))
    )


def _column_risk(
    counts: FrequencySet, name: str, role: Role, person: str | None = None
) -> ColumnRisk:
    column = counts.column(name)
    rows = counts.value_counts(name)
    missing = int(rows[column.missing]) if column.missing >= 0 else 0
    return ColumnRisk(
        name,
        role,
        distinct=len(column.known),
        missing=missing / counts.total,
        unique=int(np.count_nonzero(rows == 1)) / counts.total
        if person is None
        else len(people_alone(counts, (counts.index(name),), person))
        / max(len(np.unique(counts.codes_of(person))), 1),
    )


def _sensitive_risk(classes: EquivalenceClasses, name: str) -> SensitiveRisk:
    counts = classes.counts_of(name)
    likeliest = ProbabilisticLDiversity(name, 2).measure(classes)["l"]
    known = counts.reference[:-1]
    values = counts.column.values
    numbers = bool(values) and all(number_of(value) is not None for value in values)
    ordered = TCloseness(name, 0.5, "ordered")
    return SensitiveRisk(
        name,
        distinct_l=DistinctLDiversity(name, 2).measure(classes)["l"],
        entropy_l=EntropyLDiversity(name, 2).measure(classes)["l"],
        recursive_c={l: RecursiveCLDiversity(name, 1, l).measure(classes)["c"] for l in _TAILS},
        largest_share=1 / likeliest if likeliest else 1.0,
        share_in_table=int(known.max(initial=0)) / max(counts.known_total, 1),
        t_equal=TCloseness(name, 0.5).measure(classes)["t"],
        t_ordered=ordered.measure(classes)["t"] if numbers else None,
    )


def _population_risk(classes: EquivalenceClasses, people: FrequencySet) -> PopulationRisk:
    presence = DeltaPresence.example().measure(classes)
    return PopulationRisk(
        people=people.total,
        smallest=int(KMap.example().measure(classes)["k"]),
        presence=(presence["minimum"], presence["maximum"]),
        unseen=classes.unseen,
    )


def _add_classes(
    counts: FrequencySet, quasi_identifiers: Sequence[str], people: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return the rows of each class and the people that they stand for."""
    columns = [counts.column(name) for name in quasi_identifiers]
    codes = [counts.codes_of(name) for name in quasi_identifiers]
    groups = group(codes, [len(column.values) for column in columns])
    sizes = add_up(groups.of_item, counts.rows, groups.n).astype(np.int64)
    return sizes, add_up(groups.of_item, people, groups.n)


def _name(name: str) -> str:
    """Return a name on one line, whole: the names of a questionnaire often begin and end alike."""
    return name if name.isprintable() else repr(name)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any part of an inspection
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    return value
