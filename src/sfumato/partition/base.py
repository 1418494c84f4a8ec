"""The contract of partitioners, the problem they are given, and the partition they return."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from secrets import randbits
from typing import ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sfumato.classes import (
    EquivalenceClasses,
    SensitiveColumn,
    ValueCounts,
    classes_from,
    reference_of,
    repeat_spans,
    sensitive_codes,
)
from sfumato.counts import FrequencySet, KeyNumbers, add_up, group, number_keys, sums
from sfumato.counts.people import PeopleEntries, entries_of_people, fewest_people, people_of
from sfumato.dataclasses import dataclass
from sfumato.hierarchy.base import WrittenEnds
from sfumato.losses import Attribute, NormalizedLoss
from sfumato.models import PrivacyModel
from sfumato.models.base import TableModel
from sfumato.registry import Member
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray, Node

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the rows settled so far and the rows there are."""


class Partitioner(Member, ABC):
    """A way to recode locally: the same raw value may become different labels in different rows.

    A member of the family is a frozen dataclass whose fields are its settings, with a
    `name` for policies and an `example` for the docs and the contract tests.
    """

    usual: ClassVar[bool] = False
    """Whether comparisons try it without being asked."""

    exact_bounds: bool = True
    """Whether intervals go from the smallest to the largest value of a class, if there are any."""

    @abstractmethod
    def run(
        self,
        problem: "Problem",
        progress: Progress | None = None,
        *,
        rng: np.random.Generator | None = None,
    ) -> "Partition":
        """Divide the rows into classes that keep the models, as finely as it can.

        Args:
            problem: The table and its models.
            progress: Told how far it is.
            rng: Draws among rows with the same quasi-identifiers where they must part ways; None
                for a generator with a secret seed. An order of their sensitive values, such as
                the alphabet, would tell who has which.
        """

    def intervals(self, problem: "Problem") -> tuple[bool, ...]:
        """Return which quasi-identifiers are published as intervals of values, by default none."""
        return (False,) * len(problem.attributes)


def secret_generator() -> np.random.Generator:
    """Return a generator with a seed that cannot be guessed."""
    return np.random.default_rng(randbits(128))


_SIZES = 2**16
"""Class sizes that models of sizes alone are asked about at once."""


class Judge:
    """Decides, for many groups of items at once, which of them keep every model by themselves.

    A model of the whole table (the mean risk of all rows, say) is asked of every class:
    if no class exceeds the limit, the mean does not.

    Args:
        counts: The items.
        models: What every class must keep.
        sensitive: The columns that models look at.
        whole: The table that classes are compared with, if there are more items in it.
        person: The column that tells people apart, if they are counted and not rows.
        beside: Classes of the same rows, whose values are what others are compared with where
            people are counted: a person counts once per class, so that depends on the classes.

    Example:
        >>> from sfumato.models import KAnonymity
        >>> counts = FrequencySet.from_rows(["sex"], [("f",), ("m",), ("f",)])
        >>> judge = Judge(counts, [KAnonymity(2)], {})
        >>> judge.passes(np.array([0, 1]), np.array([0, 1]), counts.rows, 2)
        array([ True, False])
    """

    def __init__(
        self,
        counts: FrequencySet,
        models: Sequence[PrivacyModel],
        sensitive: Mapping[str, SensitiveColumn],
        *,
        whole: FrequencySet | None = None,
        person: str | None = None,
        beside: EquivalenceClasses | None = None,
    ) -> None:
        self._counts = counts
        self._columns = dict(sensitive)
        self._values = {
            name: sensitive_codes(counts, name, folded=column.folded) + 1
            for name, column in sensitive.items()
        }
        table = counts if whole is None else whole
        self._models = tuple(model for model in models if model.columns)
        self.people = None if person is None else _People.of(counts, person)
        """Whose rows the items are, if people are counted."""

        self._everyone: int | None = None
        if person is None:
            self._reference = _count_reference(table, sensitive)
        else:
            found = beside or _finest_classes(table, sensitive, person)
            self._reference = {name: found.counts_of(name).reference for name in sensitive}
            self._everyone = int(found.sizes.sum())
        self.sizes_only = not self._models
        """Whether only the number of rows, or of people, matters."""

        self.least = max([1, *(_least_rows(model, counts.total) for model in models)])
        """No class with fewer rows, or people, passes; if only sizes matter, every other does."""

    @cached_property
    def kinds(self) -> IntArray:
        """The items numbered by what the models see in them, whosever they are."""
        names = list(self._columns)
        sizes = [len(self._columns[name].values) + 1 for name in names]
        return group([self._values[name] for name in names], sizes, n=len(self._counts)).of_item

    def passes(
        self, of_item: IntArray, items: IntArray, rows: IntArray, n: int, *, halves: bool = False
    ) -> BoolArray:
        """Judge `n` groups, none of them empty.

        Args:
            of_item: The group of each item.
            items: Which item it is.
            rows: How many rows of it are in the group.
            n: How many groups there are.
            halves: Whether a group of the first half passes only with that of the second half, at
                the same place, and the other way round.
        """
        verdicts = _together(self.large_enough(of_item, items, rows, n), halves=halves)
        if self.sizes_only or not verdicts.any():
            return verdicts
        # Groups that are too small fail without being counted, and what one model refuses is not
        # shown to the next: near the end of a search that is most of them. The model that refused
        # most of the last groups is asked first. With models of forty columns, most groups are so
        # counted in a few of them.
        asked = _Question(of_item, items, rows, np.arange(n)).keep(verdicts)
        counts: dict[str, ValueCounts] = {}
        classes = self._show(asked, counts)
        most, strictest = 0, None
        for model in self._models:
            for name in model.columns:
                if name in self._columns and name not in counts:
                    counts[name] = self._count_values(name, asked)
            good = model.passes(classes)
            refused = len(good) - int(np.count_nonzero(good))
            if not refused:
                continue
            if refused > most:
                most, strictest = refused, model
            verdicts[asked.groups[~good]] = False
            verdicts = _together(verdicts, halves=halves)
            if not verdicts.any():
                break
            asked, counts = asked.keep(verdicts[asked.groups]), {}
            classes = self._show(asked, counts)
        if strictest is not None and strictest is not self._models[0]:
            others = (model for model in self._models if model is not strictest)
            self._models = (strictest, *others)
        return verdicts

    def _judge(self, classes: EquivalenceClasses) -> BoolArray:
        """Return what the models that look at values say of classes."""
        good = np.ones(len(classes), dtype=bool)
        for model in self._models:
            good &= model.passes(classes)
        return good

    def large_enough(self, of_item: IntArray, items: IntArray, rows: IntArray, n: int) -> BoolArray:
        """Return which of `n` groups are as large as any class must be, whatever is in them."""
        large: BoolArray = sums(of_item, rows, n) >= self.least
        if self.people is None or self.least == 1 or not large.any():
            return large
        # Only groups that neither fail by their rows nor pass by a fast count are counted.
        unsure = large.copy()
        if self.people.n <= _MANY * len(items):
            fewest = fewest_people(of_item, self.people.of_item[items], n, self.people.n)
            # People are whole: more than one less than needed are enough.
            unsure &= fewest <= self.least - 1 + _ROUNDING
        if not unsure.any():
            return large
        chosen = unsure[of_item]
        number = np.cumsum(unsure) - 1
        of_unsure, n_unsure = number[of_item[chosen]], int(number[-1]) + 1
        found = self.sizes(of_unsure, items[chosen], rows[chosen], n_unsure)
        large[unsure] = found >= self.least
        return large

    def sizes(self, of_item: IntArray, items: IntArray, rows: IntArray, n: int) -> IntArray:
        """Count the rows of `n` groups; the different people, if those are counted."""
        if self.people is None:
            return sums(of_item, rows, n)
        return people_of(of_item, self.people.of_item[items], n, self.people.n)

    def classes(
        self, of_item: IntArray, items: IntArray, rows: IntArray, n: int
    ) -> EquivalenceClasses:
        """Show `n` groups as models see them."""
        shown = _Question(of_item, items, rows, np.arange(n))
        return self._show(shown, {name: self._count_values(name, shown) for name in self._columns})

    def _show(self, asked: "_Question", counts: Mapping[str, ValueCounts]) -> EquivalenceClasses:
        """Show groups, with these counts of their values."""
        of_item, items, rows, n = asked.of_item, asked.items, asked.rows, len(asked.groups)
        sizes = self.sizes(of_item, items, rows, n)
        if self.people is None:
            return EquivalenceClasses(sizes, counts)
        return EquivalenceClasses(sizes, counts, own=sums(of_item, rows, n), by_person=True)

    def _count_values(self, name: str, asked: "_Question") -> ValueCounts:
        """Count the rows, or the people, who have each value of a column in each group."""
        of_item, items, rows, n = asked.of_item, asked.items, asked.rows, len(asked.groups)
        if self.people is not None:
            return self._counts_of(name, self._entries(name, of_item, items, n))
        column = self._columns[name]
        width = len(column.values) + 1
        at = of_item * width + self._values[name][items]
        found = number_keys(at, n * width)
        entry_rows = sums(found.of_item, rows, found.n)
        # Where rows are taken away in thought, a value may have none left.
        there = entry_rows > 0
        class_id, value = np.divmod(found.keys[there], width)
        return ValueCounts(column, class_id, value - 1, entry_rows[there], self._reference[name])

    def _entries(self, name: str, of_item: IntArray, items: IntArray, n: int) -> PeopleEntries:
        """Count the people who have each value of a column in each group."""
        assert self.people is not None  # noqa: S101 - asked for where people are counted
        return entries_of_people(
            of_item,
            self.people.of_item[items],
            self._values[name][items],
            n,
            self.people.n,
            len(self._columns[name].values) + 1,
        )

    def _counts_of(self, name: str, entries: PeopleEntries) -> ValueCounts:
        """Return the people of each value as models see them."""
        return ValueCounts(
            self._columns[name],
            entries.item,
            entries.value - 1,
            entries.people,
            self._reference[name],
            people=entries.known,
            everyone=self._everyone,
        )

    def passes_changed(
        self,
        of_item: IntArray,
        items: IntArray,
        rows: IntArray,
        n: int,
        *,
        group: IntArray,
        item: IntArray,
        change: int,
    ) -> BoolArray:
        """Judge groups of people with a row more, or less, than they have: one for each candidate.

        Args:
            of_item: The group of each item.
            items: Which item it is.
            rows: How many rows of it are in the group.
            n: How many groups there are.
            group: The group of each candidate.
            item: Of which item it has a row more, or less.
            change: 1 or -1.
        """
        people = self.people
        assert people is not None  # noqa: S101 - rows are simply added and taken away
        person, who = people.of_item[items], people.of_item[item]
        here = _PairRows(of_item * people.n + person, rows, n * people.n)
        at = group * people.n + who
        sizes = people_of(of_item, person, n, people.n)[group] + here.differs(at, change)
        sensitive = {}
        for name, column in self._columns.items():
            width = len(column.values) + 1
            mine, theirs = self._values[name][item], self._values[name][items]
            found = self._entries(name, of_item, items, n)
            with_value = _PairRows(here.number * width + theirs, rows, here.n * width)
            known = _PairRows(here.number[theirs > 0], rows[theirs > 0], here.n)
            pair = here.find(at)
            # A person who is not there at all has no rows with a value either.
            value_differs = with_value.differs(pair * width + mine, change)
            known_differs = np.where(mine > 0, known.differs(pair, change), 0)
            length = np.bincount(found.item, minlength=n)
            source, of = repeat_spans(np.cumsum(length) - length, length, group)
            every = np.arange(len(group))
            key = np.concatenate([of * width + found.value[source], every * width + mine])
            added = np.concatenate([found.people[source], value_differs])
            entries = number_keys(key, len(group) * width)
            held = sums(entries.of_item, added, entries.n)
            of_candidate, value = np.divmod(entries.keys[held > 0], width)
            sensitive[name] = self._counts_of(
                name,
                PeopleEntries(
                    of_candidate, value, held[held > 0], found.known[group] + known_differs
                ),
            )
        verdicts: BoolArray = sizes >= self.least
        if verdicts.any():
            # A group that nothing is left of has no values to look at.
            classes = EquivalenceClasses(sizes, sensitive, own=sizes, by_person=True)
            verdicts[verdicts] = self._judge(classes.keep(verdicts))
        return verdicts


def _together(verdicts: BoolArray, *, halves: bool) -> BoolArray:
    """Return the verdicts of groups, or of two at a time if those of both halves belong together.

    >>> _together(np.array([True, True, False, True]), halves=True).tolist()
    [False, True, False, True]
    """
    if not halves:
        return verdicts
    return np.tile(np.logical_and(*np.split(verdicts, 2)), 2)


@dataclass(frozen=True, eq=False)
class _Question:
    """Groups of items that models are asked about."""

    of_item: IntArray
    items: IntArray
    rows: IntArray
    groups: IntArray
    """The number that each group has for the caller."""

    def keep(self, groups: BoolArray) -> "_Question":
        """Return some of the groups, numbered without gaps."""
        if groups.all():
            return self
        chosen = groups[self.of_item]
        number = np.cumsum(groups) - 1
        return _Question(
            number[self.of_item[chosen]], self.items[chosen], self.rows[chosen], self.groups[groups]
        )


class CombinationJudge:
    """The judge of groups of whole combinations of quasi-identifiers, where people are counted.

    There are far fewer combinations than items, which are a person's each. A person counts as one,
    divided among all items that are theirs, so most groups are seen to be large enough without
    being looked into; only the others are taken apart into items.

    Args:
        judge: The judge of the items.
        of_item: The combination of each item.
        rows: The rows of each item.
    """

    def __init__(self, judge: Judge, of_item: IntArray, rows: IntArray) -> None:
        people = judge.people
        assert people is not None  # noqa: S101 - without people there is nothing to take apart
        self._judge = judge
        self.least = judge.least
        self.sizes_only = judge.sizes_only
        self._rows = rows
        self._items = np.argsort(of_item, kind="stable")
        self._length = np.bincount(of_item)
        self._first = np.cumsum(self._length) - self._length
        self._fewest = fewest_people(of_item, people.of_item, len(self._length), people.n)

    def passes(
        self, of_item: IntArray, items: IntArray, rows: IntArray, n: int, *, halves: bool = False
    ) -> BoolArray:
        """Judge `n` groups, none of them empty, of combinations with all their rows."""
        verdicts = _together(sums(of_item, rows, n) >= self.least, halves=halves)
        asked = verdicts
        if self.sizes_only:
            fewest = add_up(of_item, self._fewest[items], n)
            asked = verdicts & (fewest <= self.least - 1 + _ROUNDING)
        if asked.any():
            chosen = asked[of_item]
            number = np.cumsum(asked) - 1
            at, of = repeat_spans(self._first, self._length, items[chosen])
            inside = self._items[at]
            verdicts[asked] = self._judge.passes(
                number[of_item[chosen]][of], inside, self._rows[inside], int(number[-1]) + 1
            )
        return _together(verdicts, halves=halves)


_MANY = 8
"""People per item from which on a list of all people takes longer than to count some."""

_ROUNDING = 1e-6
"""More than the sum of a person's parts can differ from one."""


@dataclass(frozen=True, eq=False)
class _People:
    """Whose the rows of each item are."""

    of_item: IntArray
    n: int

    @classmethod
    def of(cls, counts: FrequencySet, person: str) -> "_People":
        return cls(counts.codes_of(person).astype(np.int64), len(counts.column(person).values))


class _PairRows:
    """The rows of each key."""

    def __init__(self, key: IntArray, rows: IntArray, width: int) -> None:
        found = number_keys(key, width)
        self.number, self._keys = found.of_item, found.keys
        self._rows = sums(found.of_item, rows, found.n)

    @property
    def n(self) -> int:
        """The number of keys."""
        return max(len(self._keys), 1)

    def find(self, key: IntArray) -> IntArray:
        """Return the number of each key, -1 if it is not there."""
        if not len(self._keys):
            return np.full(len(key), -1)
        at = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where(self._keys[at] == key, at, -1)

    def differs(self, key: IntArray, change: int) -> IntArray:
        """Return what a row more or less makes of whether there is any: 1, 0 or -1."""
        at = self.find(key)
        rows = np.append(self._rows, 0)[at]
        differs: IntArray = (rows + change > 0).astype(np.int64) - (rows > 0)
        return differs


def _count_reference(
    table: FrequencySet, sensitive: Mapping[str, SensitiveColumn]
) -> dict[str, IntArray]:
    """Count the rows of each value in the whole table."""
    return {
        name: reference_of(
            sensitive_codes(table, name, folded=column.folded), table.rows, len(column.values)
        )
        for name, column in sensitive.items()
    }


def _finest_classes(
    table: FrequencySet, sensitive: Mapping[str, SensitiveColumn], person: str
) -> EquivalenceClasses:
    """Return the people of each combination of quasi-identifiers, while there are no classes."""
    quasi = tuple(name for name in table.names if name not in sensitive and name != person)
    return classes_from(table, quasi if sensitive else (), sensitive, person=person)


def _least_rows(model: PrivacyModel, total: int) -> int:
    """Return the rows, or people, a class needs at least to pass a model, as far as is known."""
    if model.columns:
        # Each different value takes a row, or a person, of its own.
        return max(model.smallest_class or 1, model.fewest_values)
    low, high = 1, total + 1
    # The verdict of such a model changes once, from too small to large enough: a bisection, with
    # many sizes judged in one call.
    while low < high:
        sizes = np.unique(np.linspace(low, high, _SIZES).astype(np.int64))
        enough = _large_enough(model, sizes)
        first = int(np.argmax(enough)) if enough.any() else len(sizes)
        low = int(sizes[first - 1]) + 1 if first else int(sizes[0])
        high = int(sizes[first]) if first < len(sizes) else high
        if first in (0, len(sizes)):
            return low if first == 0 else high
    return low


def _large_enough(model: PrivacyModel, sizes: IntArray) -> BoolArray:
    if isinstance(model, TableModel):
        enough: BoolArray = model.risks(sizes) <= model.limit
        return enough
    return model.passes(EquivalenceClasses(sizes))


@dataclass(frozen=True, eq=False)
class Problem:
    """A counted table, its hierarchies, and the models every class must keep.

    Partitioners work on its *items*: the distinct combinations of the quasi-identifiers
    and of what the models look at, each with the number of rows that have it.
    """

    counts: FrequencySet
    """The quasi-identifiers first, then the columns that models look at, then the person."""

    attributes: tuple[Attribute, ...]
    """The quasi-identifiers as losses see them."""

    lowest: Node
    highest: Node
    """Between which levels each quasi-identifier may be published."""

    models: tuple[PrivacyModel, ...]
    sensitive: Mapping[str, SensitiveColumn]
    free: tuple[bool, ...] = ()
    """Which quasi-identifiers were given no hierarchy; none if left out."""

    ends: tuple[WrittenEnds | None, ...] = ()
    """For each quasi-identifier, the only places where its intervals may begin or end; None if any
    place will do."""

    whole: FrequencySet | None = None
    """The table that classes are compared with, if these are only some of its rows."""

    limit: int = 0
    """Most rows that may be suppressed; most people, if those are."""

    person: str | None = None
    """The column that tells people apart, if they are counted: the last of the counts."""

    whole_people: bool = False
    """Whether people are suppressed with all their rows."""

    beside: EquivalenceClasses | None = None
    """Classes found before, whose values are what others are compared with; see `Judge`."""

    matches_any: bool = False
    """Whether a missing value matches every value in the release."""

    blind: bool = False
    """Whether quasi-identifiers alone choose between candidates, and models only refuse them."""

    @property
    def total(self) -> int:
        """The number of rows."""
        return self.counts.total

    @property
    def rows(self) -> IntArray:
        """The rows of each item."""
        return self.counts.rows

    @cached_property
    def raw(self) -> CodeArray:
        """The raw codes of the quasi-identifiers: `raw[a, i]`."""
        codes: CodeArray = self.counts.codes[: len(self.attributes)]
        return codes

    @cached_property
    def alike(self) -> IntArray:
        """The items numbered by their quasi-identifiers, in the order of those.

        Rows of items with one number differ in nothing but what models look at.
        """
        sizes = [len(column.values) for column in self.counts.columns[: len(self.attributes)]]
        return group(list(self.raw), sizes, n=len(self.counts)).of_item

    @cached_property
    def codes(self) -> tuple[CodeArray, ...]:
        """For each quasi-identifier the label of each raw value at each level."""
        return tuple(attribute.ladder.codes for attribute in self.attributes)

    @cached_property
    def widths(self) -> IntArray:
        """The labels each quasi-identifier has at the level where it has most."""
        return np.array(
            [max(map(len, a.ladder.labels), default=1) for a in self.attributes], dtype=np.int64
        )

    @cached_property
    def costs(self) -> tuple[FloatArray, ...]:
        """The weighted normalised loss of a cell at each level, by raw value."""
        loss = NormalizedLoss()
        return tuple(loss.costs(a) * a.weight for a in self.attributes)

    @cached_property
    def by_combination(self) -> "CombinationProblem":
        """The same problem with one item per combination of quasi-identifiers, whosever it is."""
        counts, n = self.counts, len(self.attributes)
        first = np.empty(int(self.alike.max(initial=-1)) + 1, dtype=np.int64)
        first[self.alike[::-1]] = np.arange(len(counts))[::-1]
        rows = sums(self.alike, self.rows, len(first))
        some = FrequencySet(counts.columns[:n], counts.codes[:n, first], rows)
        return CombinationProblem(
            **{each.name: getattr(self, each.name) for each in fields(self)} | {"counts": some},
            finer=self,
        )

    @cached_property
    def judge(self) -> Judge:
        """The judge of whether classes keep the models."""
        return Judge(
            self.counts,
            self.models,
            self.sensitive,
            whole=self.whole,
            person=self.person,
            beside=self.beside,
        )

    @cached_property
    def of_person(self) -> IntArray:
        """Whose the rows of each item are, where people are counted."""
        assert self.judge.people is not None  # noqa: S101 - asked for there
        return self.judge.people.of_item

    def among(self, items: IntArray, rows: IntArray) -> "Problem":
        """Return the same problem of some items only; classes are compared with the whole table."""
        counts = self.counts
        some = FrequencySet(counts.columns, counts.codes[:, items], rows)
        return replace(self, counts=some, whole=self.whole or counts)

    def labels(self, attribute: int, level: IntArray | int, items: IntArray) -> IntArray:
        """Return the label codes of some items at a level (one for all, or one for each)."""
        raw = self.raw[attribute][items]
        labels: IntArray = self.codes[attribute][level, raw].astype(np.int64)
        return labels


@dataclass(frozen=True, eq=False)
class CombinationProblem(Problem):
    """A problem of which people are the units, for methods that never part equal combinations."""

    finer: Problem | None = None
    """The problem whose items are a person's each."""

    @cached_property
    def judge(self) -> CombinationJudge:  # type: ignore[override]
        """The judge of groups of whole combinations."""
        assert self.finer is not None  # noqa: S101 - it is made of one
        return CombinationJudge(self.finer.judge, self.finer.alike, self.finer.rows)

    def take_apart(self, partition: "Partition") -> "Partition":
        """Return the same classes with the items of the finer problem."""
        assert self.finer is not None  # noqa: S101 - it is made of one
        of_combination = np.empty(len(self.counts), dtype=np.int64)
        of_combination[partition.item] = partition.classes
        found = Partition.of(
            np.arange(len(self.finer.counts)), self.finer.rows, of_combination[self.finer.alike]
        )
        return replace(found, cuts=partition.cuts)


@dataclass(frozen=True, eq=False)
class Partition:
    """Portions of items, each in a class. The labels of the classes are chosen later.

    Example:
        >>> partition = Partition.of([0, 1, 1], rows=[2, 1, 3], classes=[7, 7, 9])
        >>> partition.classes.tolist(), partition.sizes.tolist()
        ([0, 0, 1], [3, 3])
    """

    item: IntArray
    rows: IntArray
    classes: IntArray
    """The class of each portion, numbered without gaps."""

    cuts: IntArray | None = None
    """`cuts[k, a, side]`: the cut that bounds class k on attribute a, below and above.

    A cut between the values i and j is i · n + j, n being the number of values; -1 is none: the
    class reaches to the end of the attribute. None if it is not known what bounds classes.
    """

    @classmethod
    def of(cls, item: ArrayLike, rows: ArrayLike, classes: ArrayLike) -> Self:
        """Sort portions by class, add up those of one item in one class, renumber the classes."""
        items = np.asarray(item, dtype=np.int64)
        of_portion = np.asarray(classes, dtype=np.int64)
        n_items = int(items.max(initial=-1)) + 1
        groups = group([of_portion, items], [int(of_portion.max(initial=-1)) + 1, n_items])
        added = sums(groups.of_item, np.asarray(rows, dtype=np.int64), groups.n)
        number = np.cumsum(np.diff(of_portion[groups.first], prepend=-1) != 0) - 1
        return cls(items[groups.first], added, number)

    @classmethod
    def gather(cls, parts: Iterable[tuple[IntArray, IntArray, IntArray]]) -> Self:
        """Join portions that were found one after the other, if there are any."""
        none = np.empty(0, dtype=np.int64)
        item, rows, classes = zip((none, none, none), *parts, strict=True)
        return cls.of(np.concatenate(item), np.concatenate(rows), np.concatenate(classes))

    def part(self, portions: BoolArray) -> Self:
        """Return a partition of some portions only."""
        return self.of(self.item[portions], self.rows[portions], self.classes[portions])

    @property
    def n(self) -> int:
        """The number of classes."""
        return int(self.classes[-1]) + 1 if len(self.classes) else 0

    @property
    def sizes(self) -> IntArray:
        """The rows of each class."""
        return sums(self.classes, self.rows, self.n)

    @property
    def starts(self) -> IntArray:
        """The first portion of each class."""
        return np.flatnonzero(np.diff(self.classes, prepend=-1))


@dataclass(frozen=True, eq=False)
class Frontier:
    """Groups of rows that may still be specialised: portions of items, and the levels of groups."""

    item: IntArray
    rows: IntArray
    group: IntArray
    levels: IntArray
    """`levels[g, a]`: the level of attribute a in group g."""

    closed: BoolArray
    """`closed[g, a]`: whether group g was already specialised on a and is what stayed behind."""

    def __len__(self) -> int:
        return len(self.levels)

    def portions(self, groups: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return items, rows and renumbered groups of some groups."""
        number = np.cumsum(groups) - 1
        at = groups[self.group]
        return self.item[at], self.rows[at], number[self.group[at]]

    def part(self, groups: BoolArray) -> "Frontier":
        """Keep some groups only."""
        return Frontier(*self.portions(groups), self.levels[groups], self.closed[groups])

    def children(self, problem: Problem, at: IntArray, attribute: int) -> KeyNumbers:
        """Number the children that some portions have one level down on an attribute.

        A child's key is its group times the width of the attribute, plus its label.
        """
        group = self.group[at]
        label = problem.labels(attribute, self.levels[group, attribute] - 1, self.item[at])
        width = int(problem.widths[attribute])
        return number_keys(group * width + label, len(self) * width)


def starting_groups(problem: Problem) -> Frontier:
    """Group all rows by the highest levels allowed; at the top that is one group.

    A group that fails the models there is a group nevertheless: it is suppressed later, or the
    release is refused.
    """
    items = np.arange(len(problem.counts))
    of_item = np.zeros(len(items), dtype=np.int64)
    n = 1
    for attribute, level in enumerate(problem.highest):
        labels = problem.labels(attribute, level, items)
        width = len(problem.attributes[attribute].ladder.labels[level])
        found = number_keys(of_item * width + labels, n * width)
        of_item, n = found.of_item, found.n
    levels = np.tile(np.array(problem.highest, dtype=np.int64), (n, 1))
    return Frontier(items, problem.rows, of_item, levels, np.zeros(levels.shape, dtype=bool))


_LARGEST_URN = 10**9
"""The rows up to which NumPy draws without replacement."""


def draw_rows(
    of_item: IntArray, rows: IntArray, wanted: IntArray, rng: np.random.Generator
) -> IntArray:
    """Draw rows from each set of items, without replacement, every row with the same chance.

    Args:
        of_item: The set of each item; the items of a set stand together.
        rows: The rows of each item.
        wanted: How many rows are drawn from each set, at most all it has.
        rng: The generator that draws.

    >>> of_item, rows = np.array([0, 0, 1]), np.array([1, 2, 5])
    >>> draw_rows(of_item, rows, np.array([3, 2]), np.random.default_rng()).tolist()
    [1, 2, 2]
    """
    left = sums(of_item, rows, len(wanted))
    taken = np.where(wanted[of_item] == left[of_item], rows, 0)
    some = np.flatnonzero((wanted > 0)[of_item] & (wanted < left)[of_item])
    if not len(some):
        return taken
    wanted = wanted.copy()
    starts = np.flatnonzero(np.diff(of_item[some], prepend=-1))
    place = np.arange(len(some)) - np.repeat(starts, np.diff(starts, append=len(some)))
    order = np.argsort(place, kind="stable")
    ends = np.cumsum(np.bincount(place))
    # The first items of all sets at once, then the second ones: as many steps as the largest set
    # has items, which are combinations of sensitive values and few.
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        at = some[order[start:end]]
        of = of_item[at]
        left[of] -= rows[at]
        taken[at] = _draw_from_urns(rows[at], left[of], wanted[of], rng)
        wanted[of] -= taken[at]
    return taken


def _draw_from_urns(
    good: IntArray, others: IntArray, wanted: IntArray, rng: np.random.Generator
) -> IntArray:
    """Return how many of the rows drawn from each urn are good."""
    large = good + others >= _LARGEST_URN
    if not large.any():
        return rng.hypergeometric(good, others, wanted)
    found = np.zeros(len(good), dtype=np.int64)
    found[~large] = rng.hypergeometric(good[~large], others[~large], wanted[~large])
    # In an urn of that size it makes no visible difference whether rows are put back.
    share = good[large] / (good[large] + others[large])
    drawn = rng.binomial(wanted[large], share)
    found[large] = np.clip(
        drawn, np.maximum(wanted[large] - others[large], 0), np.minimum(good[large], wanted[large])
    )
    return found
