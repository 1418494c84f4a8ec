"""Facts: what is true of the people who share some values, counted exactly.

A rule is learned and needs rows behind it. A fact needs none: *all people of this class who work
for the state are single* is true of two people as it is of two hundred, and an adversary who knows
the class and the employer of one of them needs no statistics. So the sensitive columns are counted
among all people with the same known values: a person's class, one or two values besides, or these
values alone. Chance is no excuse: why a few people have the same value, they are known to have it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, cached_property
from itertools import combinations, pairwise
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np

from sfumato.counts import FrequencySet, PackedKeys, changes, number_keys, sums
from sfumato.dataclasses import dataclass
from sfumato.errors import UnknownColumnError
from sfumato.harm import HarmRule, Level, Secrecy
from sfumato.showing.content import plain_of
from sfumato.text import percent, text_or_none
from sfumato.typing import BoolArray, FloatArray, IntArray, LevelArray, Value

MOST_FACTS = 5
"""The most facts that are kept as examples, for each column that is told."""

BUDGET = 1_000_000_000
"""The most work that is done, and for each combination more: about nanoseconds."""

_PER_ITEM = 2500
_PER_VALUE = 2000
"""The same for each value of a combination: a wide table has many sets of known columns."""

_PER_SET = 1_000_000
_PER_CELL = 6
"""The work to look at one value of a combination."""

_PER_BIN = 50
"""The work for a share that is judged: of a value among people with the same known values."""

_MOST_JUDGED = 2.5
"""The most shares, for each value of a combination: more are known to be of no one."""

_MOST_COMBINATIONS = 2**16
"""About the most combinations of a block of columns that are counted once for all its sets."""

_PER_BLOCK = 10_000_000
"""The work for a block, beside adding up its combinations."""

_PER_ADDED = 20
"""The work to add one combination up."""

_MOST_BINS = 2**17
"""The most bins of counts for several columns at once; those of one column may be more."""

_MANY_ITEMS = 40_000
"""From this many combinations on, columns are gone through one by one."""

_MANY = 100_000
"""With more combinations than this only the worst fact of a column lists further values."""

_MOST_KNOWN = 2
"""The most values that are known besides the class."""

_MOST_ALSO = 3
"""The most further values that a fact lists."""


@dataclass(frozen=True)
class Fact:
    """Known values of a person that tell another value.

    Example:
        >>> fact = Fact((("work", "state"),), ("marital", "single"), 2, 2, 0.3, Level.VERY_HIGH,
        ...     also=(("pay", "low"),))
        >>> print(fact)
        work=state → marital=single, pay=low: 100 % of 2 people (before: 30 %)
    """

    known: tuple[tuple[str, Value], ...]
    """Columns and the values known."""

    told: tuple[str, Value]
    people: int
    """How many rows have all of it."""

    support: int
    """How many rows have the known values, and a value that could be told."""

    prior: float
    level: Level = Level.LOW
    """How much it harms the people who have the known values."""

    also: tuple[tuple[str, Value], ...] = ()
    """Values of further columns that all people of whom it is true have; the prior is of all."""

    @property
    def posterior(self) -> float:
        """The probability of the value once the others are known."""
        return self.people / self.support

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "known": {name: text_or_none(value) for name, value in self.known},
            "told": {name: text_or_none(value) for name, value in (self.told, *self.also)},
            **plain_of(self, "people support prior posterior"),
            "level": str(self.level),
        }

    def __str__(self) -> str:
        known = ", ".join(f"{name}={text_or_none(value)}" for name, value in self.known)
        told = ", ".join(f"{name}={text_or_none(value)}" for name, value in (self.told, *self.also))
        return (
            f"{known or 'nothing'} → {told}: {percent(self.posterior)} "
            f"of {self.support} people (before: {percent(self.prior)})"
        )


class AdversaryColumns(NamedTuple):
    """What an adversary knows of a person: some sensitive columns, and perhaps the class."""

    columns: tuple[str, ...]
    with_class: bool

    def __str__(self) -> str:
        return ", ".join((*(["the class"] if self.with_class else []), *self.columns))


class ValueGroups(NamedTuple):
    """Groups of values of a column: to know that a person has one of a group is a statement, too.

    They are categories, labels of a hierarchy, ranges, or all values that are not harmless.
    """

    of_value: IntArray
    """The group of each known value; -1 if it is in none."""

    texts: tuple[str, ...]
    """What each group is called."""

    secrecy: IntArray | None = None
    """How much each group is a secret; None if all are ordinary."""

    certain: bool = False
    """Whether only the certainty that a person has one counts: most of few people often do by
    chance."""


@dataclass(frozen=True, eq=False)
class TellingFacts:
    """The facts that tell one sensitive column."""

    column: str
    levels: LevelArray
    """Per combination of the table, how much the worst fact about it harms."""

    by_known: Mapping[int, LevelArray]
    """The same by the number of values that are known besides the class: none, one, two."""

    worst: tuple[Fact, ...]
    """The facts that harm most; those with fewer known values and more people first. Empty if only
    levels were asked for."""


@dataclass(frozen=True, eq=False)
class Facts:
    """The facts of a table: for each sensitive column, who is told about, and by what."""

    counts: FrequencySet
    told: Mapping[str, TellingFacts]
    tried: int
    """The number of sets of known columns that were looked at."""

    left: tuple[AdversaryColumns, ...] = ()
    """Those that were not, because the budget was spent."""

    @property
    def note(self) -> str:
        """A sentence on the sets of columns that were not reached; empty if all were."""
        if not self.left:
            return ""
        return (
            f"{self.tried} of {self.tried + len(self.left)} sets of known columns were tried, the "
            f"most telling first; {self.left[0]} was the first that was not"
        )

    def levels_of(self, columns: Sequence[str], known: int | None = None) -> IntArray:
        """Return per combination how much the worst fact about some columns harms.

        Args:
            columns: The columns that are told.
            known: How many values are known besides the class; None for any number.
        """
        levels = np.zeros(len(self.counts), dtype=np.int64)
        for name in columns:
            told = self.told[name]
            levels = np.maximum(levels, told.levels if known is None else told.by_known[known])
        return levels

    @cached_property
    def harmful(self) -> BoolArray:
        """The combinations that a fact is about which harms highly."""
        found = np.zeros(len(self.counts), dtype=np.bool_)
        for told in self.told.values():
            found |= told.levels >= Level.HIGH
        return found

    def worst(self, columns: Sequence[str] | None = None, most: int = MOST_FACTS) -> list[Fact]:
        """Return the facts that harm most, of some columns or all."""
        names = self.told if columns is None else columns
        found = [fact for name in names for fact in self.told[name].worst]
        return each_once(sorted(found, key=rank_fact))[:most]


def each_once(facts: Iterable[Fact]) -> list[Fact]:
    """Return facts without those that say nothing beyond the ones before them.

    A fact tells one column, and which values of others go with it: from the other columns it is
    found again.

    >>> one = Fact((("work", "state"),), ("marital", "single"), 2, 2, 0.3, also=(("pay", "low"),))
    >>> two = Fact((("work", "state"),), ("pay", "low"), 2, 2, 0.3, also=(("marital", "single"),))
    >>> [str(fact) for fact in each_once([one, two])]
    ['work=state → marital=single, pay=low: 100 % of 2 people (before: 30 %)']
    """
    surest: dict[tuple[frozenset[object], object], float] = {}
    found = []
    for fact in facts:
        known = frozenset(fact.known)
        told = [(known, pair) for pair in (fact.told, *fact.also)]
        if any(surest.get(each, -1.0) < fact.posterior for each in told):
            found.append(fact)
            for each in told:
                surest[each] = max(surest.get(each, 0.0), fact.posterior)
    return found


def rank_fact(fact: Fact) -> tuple[object, ...]:
    """Return a key that sorts facts: by harm and belief; then few known, many people."""
    # Shares are quotients: what is equal must not differ by how it was added up.
    weight = round(fact.support * (fact.posterior - fact.prior), 9)
    surest = -round(fact.posterior, 12), fact.support < 2
    return (-fact.level, *surest, len(fact.known), -weight, str(fact))


def find_facts(  # noqa: PLR0913 - all but three have a default and are named
    counts: FrequencySet,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    *,
    rule: HarmRule | None = None,
    beside: Sequence[str] = (),
    lacked: Sequence[str] = (),
    secrecy: Mapping[str, IntArray | None] | None = None,
    groups: Mapping[str, Sequence[ValueGroups]] | None = None,
    known: Sequence[AdversaryColumns] | None = None,
    budget: int | None = None,
    person: str | None = None,
    examples: bool = True,
) -> Facts:
    """Count what sensitive values, with a person's class or alone, tell about the others.

    Of the people with the known values, a share has each value of another column: the belief.
    Before, it is the share in the whole table. Missing values hide no person: they are not told,
    and known only where `lacked` says so. What the class alone tells as well is no fact; see the
    attacks on classes.

    Args:
        counts: The table.
        quasi_identifiers: The columns that make up classes.
        sensitive: The columns that may be known, or be told.
        rule: What harms; None takes the usual one.
        beside: Columns that may be known, and that it harms no person to be told about.
        lacked: Columns of which it may be known that a person lacks a value.
        secrecy: Per column the secrecy of each known value; None for ordinary ones.
        groups: Per sensitive column, groups of its values that may be told, too.
        known: What adversaries know; None tries each sensitive column and each two of them, with
            the class and without.
        budget: The most work that is done, in about nanoseconds; None takes a second, and a
            few more for each million combinations.
        person: The column that tells people apart, where they may have several rows. Those with
            the known values in a row are counted, and of them those who have a value in such a row.
        examples: Whether the worst facts are kept to be shown, or only how much harms whom.

    Example:
        >>> rows = [("A", "state", "single", "low")] * 2 + [("A", "own", "married", "low")]
        >>> rows += [("B", "own", "widowed", "high"), ("B", "farm", "married", "high")]
        >>> names = ["zip", "work", "marital", "pay"]
        >>> facts = find_facts(FrequencySet.from_rows(names, rows), ["zip"], names[1:])
        >>> print(facts.told["marital"].worst[0])
        work=state → marital=single, pay=low: 100 % of 2 people (before: 40 %)
    """
    for name in (*sensitive, *beside):
        counts.index(name)
    if not sensitive:
        return Facts(counts, {}, 0)
    table = _Table.of(
        counts, quasi_identifiers, sensitive, secrecy or {}, person, beside, groups or {}, lacked
    )
    sets = table.all_sets() if known is None else _require_known(known, (*sensitive, *beside))
    budget = work_for(counts) if budget is None else budget
    tasks, left = _choose_tasks(table, sets, rule or HarmRule(), budget)
    every = [one for task in tasks for one in task.sets]
    search = _Search(table, rule or HarmRule(), every, examples=examples)
    search.look_at(tasks)
    return Facts(counts, search.results(), len(every), tuple(left))


def find_facts_without_each(  # noqa: PLR0913 - all but five have a default and are named
    counts: FrequencySet,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    asked: Mapping[str, Sequence[AdversaryColumns]],
    *,
    rule: HarmRule | None = None,
    beside: Sequence[str] = (),
    lacked: Sequence[str] = (),
    secrecy: Mapping[str, IntArray | None] | None = None,
    groups: Mapping[str, Sequence[ValueGroups]] | None = None,
    budget: int,
    person: str | None = None,
) -> Iterator[tuple[str, Facts]]:
    """Count, for some columns, what is told of all sensitive ones but that; yield levels alone.

    What does not depend on the column that is left out is computed once.

    Args:
        counts: The table.
        quasi_identifiers: The columns that make up classes.
        sensitive: The columns that may be known, or be told.
        asked: Per column that is not told, what adversaries know.
        rule: As for `find_facts`, like all that follow.
        beside: See there.
        lacked: See there.
        secrecy: See there.
        groups: See there.
        budget: The most work that is done for each of them.
        person: See there.
    """
    table = _Table.of(
        counts, quasi_identifiers, sensitive, secrecy or {}, person, beside, groups or {}, lacked
    )
    judged_by = rule or HarmRule()
    known = [one for sets in asked.values() for one in _require_known(sets, table.names)]
    whole = _Search(table, judged_by, known, examples=False)

    @cache
    def sample(items: int) -> _Search:
        return _Search(table.sample(items), judged_by, known, examples=False)

    for name, sets in asked.items():
        told = table.told & (table.owner != table.names.index(name))
        tasks, left = _choose_tasks(replace(table, told=told), sets, judged_by, budget, sample)
        every = [one for task in tasks for one in task.sets]
        search = whole.again(told, every)
        search.look_at(tasks)
        yield name, Facts(counts, search.results(), len(every), tuple(left))


def work_for(counts: FrequencySet) -> int:
    """Return the most work that is done for one question about a table."""
    return BUDGET + (_PER_ITEM + _PER_VALUE * len(counts.names)) * len(counts)


def _require_known(
    known: Sequence[AdversaryColumns], columns: Sequence[str]
) -> list[AdversaryColumns]:
    for one in known:
        for name in one.columns:
            if name not in columns:
                raise UnknownColumnError(name, columns, where="the columns that may be known")
    return list(known)


class _Entries(NamedTuple):
    """Rows of each cell with each value; a cell is all people with the same known values."""

    cell: IntArray
    value: IntArray
    """Number of a column and a value of it together."""

    rows: IntArray
    of: IntArray
    """Rows of the cell whose value of that column is known."""

    def select(self, which: BoolArray | IntArray) -> "_Entries":
        return _Entries(*(each[which] for each in self))


@dataclass(frozen=True, eq=False)
class _Table:
    """A table whose values are numbered across all columns.

    Columns are those that are told, then those beside, then the groups of values of the first:
    a group is told as a value of a column of its own would be.
    """

    counts: FrequencySet
    quasi_identifiers: tuple[str, ...]
    names: tuple[str, ...]
    """The columns that may be known or told."""

    class_id: IntArray
    classes: int
    values: IntArray
    """`values[column, item]`: the number of the value; the last number if it is missing."""

    starts: IntArray
    """The number of the first value of each column, and one for what is missing."""

    column_of: IntArray
    """The column of each number."""

    secrecy: IntArray
    certain: BoolArray
    """Whether each number is told only if all people have it."""

    columns: IntArray
    """The columns in which any value is known, and that are looked at."""

    told: BoolArray
    """Whether each column is one that may be told."""

    owner: IntArray
    """The column whose values each column has, or groups of its values."""

    texts: Mapping[int, tuple[str, ...]]
    """What the groups of a column are called."""

    missing: BoolArray
    """Whether each column misses a value anywhere."""

    lacked: BoolArray
    """Whether it may be known of each column that a person lacks a value."""

    single: bool
    """Whether each combination has one row."""

    person: IntArray | None = None
    """Whose each combination is, where people may have several rows."""

    @classmethod
    def of(
        cls,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        secrecy: Mapping[str, IntArray | None],
        person: str | None,
        beside: Sequence[str],
        groups: Mapping[str, Sequence[ValueGroups]],
        lacked: Sequence[str] = (),
    ) -> "_Table":
        classes = counts.group_by(quasi_identifiers)
        names = (*sensitive, *(name for name in beside if name not in sensitive))
        columns = [counts.column(name) for name in names]
        grouped = [(at, each) for at, name in enumerate(names) for each in groups.get(name, ())]
        sizes = [len(column.known) for column in columns]
        # The last number of a group's column stands for all values that are in no group.
        sizes += [len(each.texts) + 1 for _, each in grouped]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        none = starts[-1]
        # They are most of the memory that all of this takes.
        numbers = np.int32 if none < np.iinfo(np.int32).max else np.int64
        values = np.empty((len(sizes), len(counts)), dtype=numbers)
        secret = np.zeros(int(none) + 1, dtype=np.int64)
        certain = np.zeros(int(none), dtype=np.bool_)
        for at, column in enumerate(columns):
            codes = counts.codes_of(column.name)
            values[at] = np.where(codes == column.missing, none, codes + starts[at])
            given = secrecy.get(column.name)
            if given is not None:
                secret[starts[at] : starts[at + 1]] = given[: sizes[at]]
        for at, (owner, each) in enumerate(grouped, start=len(columns)):
            rest = len(each.texts)
            of_value = np.append(np.where(each.of_value < 0, rest, each.of_value), rest)
            codes = of_value[np.minimum(counts.codes_of(names[owner]), sizes[owner])]
            values[at] = np.where(values[owner] == none, none, codes + starts[at])
            certain[starts[at] : starts[at + 1]] = each.certain
            if each.secrecy is not None:
                secret[starts[at] : starts[at] + rest] = each.secrecy
            # To be in no group says nothing.
            secret[starts[at] + rest] = Secrecy.HARMLESS
        told = np.arange(len(sizes)) < len(sensitive)
        told[len(columns) :] = True
        return cls(
            counts,
            tuple(quasi_identifiers),
            names,
            classes.of_item,
            classes.n,
            values,
            starts,
            np.repeat(np.arange(len(sizes)), sizes),
            secret,
            certain,
            np.flatnonzero(sizes),
            told,
            np.array([*range(len(columns)), *(owner for owner, _ in grouped)], dtype=np.int64),
            {at: each.texts for at, (_, each) in enumerate(grouped, start=len(columns))},
            (values == none).any(axis=1),
            np.array([name in lacked for name in names], dtype=np.bool_),
            bool((counts.rows == 1).all()),
            None if person is None else counts.codes_of(person).astype(np.int64),
        )

    def others(self, known: Sequence[int]) -> IntArray:
        """Return the columns that can be told if some are known."""
        there = self.columns
        found: IntArray = there[self.told[there] & ~np.isin(self.owner[there], known)]
        return found

    def sizes(self, cell: IntArray, n: int, items: IntArray | None) -> IntArray:
        """Return the people of each of n cells.

        Args:
            cell: The cell of each item.
            n: The number of cells.
            items: The items; None for all.
        """
        if self.person is None:
            return sums(cell, self.counts.rows if items is None else self.counts.rows[items], n)
        return np.bincount(self._each_once(cell, n, items), minlength=n)

    def _each_once(self, key: IntArray, width: int, items: IntArray | None) -> IntArray:
        """Return the keys of each person, each of them once."""
        assert self.person is not None  # noqa: S101 - the caller looked
        person = self.person if items is None else self.person[items]
        numbers = number_keys(key, width)
        n = max(numbers.n, 1)
        pairs = number_keys(person * n + numbers.of_item, (int(person.max(initial=0)) + 1) * n)
        return numbers.keys[pairs.keys % n]

    def project(self, groups: Sequence[IntArray], keys: Sequence[PackedKeys]) -> "_Projection":
        """Add up the items that agree in some groups of columns, packed into a key for each."""
        packed = PackedKeys.of([each.key for each in keys], [each.width for each in keys])
        numbers = number_keys(packed.key, packed.width)
        item = np.empty(numbers.n, dtype=np.int64)
        item[numbers.of_item] = np.arange(len(self.counts))
        rows = sums(numbers.of_item, self.counts.rows, numbers.n)
        table = replace(
            self,
            counts=FrequencySet(self.counts.columns, self.counts.codes[:, item], rows),
            class_id=self.class_id[item],
            values=self.values[:, item],
            columns=np.sort(np.concatenate(groups)),
            single=False,
        )
        return _Projection(table, numbers.of_item, item)

    def groups(self, together: int) -> list[IntArray]:
        """Return groups of columns of which some together have few combinations."""
        sizes = np.diff(self.starts) + 1
        most = _MOST_COMBINATIONS ** (1 / together)
        groups: list[list[int]] = []
        product = np.inf
        for i in self.columns[np.argsort(sizes[self.columns], kind="stable")].tolist():
            product *= float(sizes[i])
            if product > most:
                groups.append([])
                product = float(sizes[i])
            groups[-1].append(i)
        return [np.array(each) for each in groups]

    def pack(self, columns: IntArray) -> PackedKeys:
        """Pack the values of some columns, missing ones last, into one key per item."""
        codes = [
            np.minimum(self.values[i], self.starts[i + 1]) - self.starts[i]
            for i in columns.tolist()
        ]
        return PackedKeys.of(codes, (np.diff(self.starts)[columns] + 1).tolist())

    def sample(self, items: int) -> "_Table":
        """Keep about a number of combinations: those of some classes."""
        rank = np.random.default_rng(0).permutation(self.classes)
        sizes = np.bincount(rank[self.class_id], minlength=self.classes)
        kept = rank < np.searchsorted(np.cumsum(sizes), items) + 1
        mine = kept[self.class_id]
        return replace(
            self,
            counts=self.counts.without(~mine),
            class_id=self.class_id[mine],
            values=self.values[:, mine],
            person=None if self.person is None else self.person[mine],
        )

    def all_sets(self) -> list[AdversaryColumns]:
        """Return each column and each two of them, with the class where there is more than one."""
        kinds = (False, True) if self.classes > 1 else (False,)
        return [
            AdversaryColumns(names, with_class)
            for n in (1, 2)
            for with_class in kinds
            for names in combinations(self.names, n)
            if len(self.others([self.names.index(name) for name in names]))
        ]

    def count(
        self,
        cell: IntArray,
        n: int,
        items: IntArray | None,
        columns: IntArray,
        bounds: FloatArray | None = None,
    ) -> _Entries:
        """Count the values of some columns in each of n cells.

        Args:
            cell: The cell of each item.
            n: The number of cells.
            items: The items; None for all.
            columns: The columns to count.
            bounds: Per value the least share that is worth telling; None for any.
        """
        rows = self.counts.rows if items is None else self.counts.rows[items]
        if not len(columns) or not len(cell):
            return _Entries(*(np.zeros(0, dtype=np.int64) for _ in range(4)))
        found, at = [], 0
        while at < len(columns):
            last = at + 1
            # As many columns at once as have a small table of counts: it stays in the cache.
            while last < len(columns) and self._bins(n, columns[at : last + 1]) <= _MOST_BINS:
                last += 1
            some, at = columns[at:last], last
            values = self.values[some[0] : some[-1] + 1]
            if len(values) > len(some):
                values = values[some - some[0]]
            if items is not None:
                values = values[:, items]
            if self.person is not None:
                found += [
                    self._count_people(cell, each, n, column, items, bounds)
                    for column, each in zip(some.tolist(), values, strict=True)
                ]
                continue
            found.append(self._count(cell, values, rows, n, some, bounds))
        if len(found) == 1:
            return found[0]
        return _Entries(*(np.concatenate(each) for each in zip(*found, strict=True)))

    def _count_people(
        self,
        cell: IntArray,
        values: IntArray,
        n: int,
        column: int,
        items: IntArray | None,
        bounds: FloatArray | None,
    ) -> _Entries:
        """Count the people of each cell who have each value of a column, every one once."""
        low = int(self.starts[column])
        width = int(self.starts[column + 1]) - low
        known = values < self.starts[-1]
        at = np.flatnonzero(known) if items is None else items[known]
        key = cell[known] * width + (values[known] - low)
        numbers = number_keys(self._each_once(key, n * width, at), n * width)
        people = np.bincount(numbers.of_item, minlength=numbers.n)
        of_cell = numbers.keys // width
        value = numbers.keys - of_cell * width + low
        of = self.sizes(cell[known], n, at)
        entries = _Entries(of_cell, value, people, of[of_cell])
        return entries if bounds is None else entries.select(people >= bounds[value] * of[of_cell])

    def _bins(self, n: int, columns: IntArray) -> int:
        return n * int(self.starts[columns[-1] + 1] - self.starts[columns[0]] + 1)

    def _count(
        self,
        cell: IntArray,
        values: IntArray,
        rows: IntArray,
        n: int,
        columns: IntArray,
        bounds: FloatArray | None,
    ) -> _Entries:
        low, high = int(self.starts[columns[0]]), int(self.starts[columns[-1] + 1])
        width = high - low + 1
        if self.missing[columns].any():
            values = np.minimum(values, high)
        key = (values + (cell * width - low)).ravel()
        # Where no combination occurs twice, counting them is twice as fast as adding them up.
        weight = None if self.single else np.broadcast_to(rows, values.shape).ravel()
        if n * width > max(8 * len(key), 2**16):
            numbers = number_keys(key, n * width)
            added = np.bincount(numbers.of_item, weights=weight).astype(np.int64)
            return self._collect(numbers.keys, added, width, low, bounds)
        dense = np.bincount(key, weights=weight, minlength=n * width).reshape(n, width)[:, :-1]
        first = self.starts[columns] - low
        of = np.add.reduceat(dense, first, axis=1) if len(first) > 1 else dense.sum(1)[:, None]
        place = np.repeat(np.arange(len(first)), np.diff(np.append(first, width - 1)))
        # Nothing but what may be telling is looked at more closely.
        telling = dense > 0
        if bounds is not None:
            telling &= dense >= bounds[low:high] * of[:, place]
        of_cell, value = np.nonzero(telling)
        return _Entries(
            of_cell,
            value + low,
            dense[telling].astype(np.int64),
            of[of_cell, place[value]].astype(np.int64),
        )

    def _collect(
        self,
        keys: IntArray,
        rows: IntArray,
        width: int,
        low: int,
        bounds: FloatArray | None,
    ) -> _Entries:
        """Return the same from those keys alone that occur, where they are few among many."""
        of_cell, value = np.divmod(keys, width)
        known = value < width - 1
        of_cell, value, rows = of_cell[known], value[known] + low, rows[known]
        column = self.column_of[value]
        # Values are numbered column by column: what belongs together follows each other.
        new = changes(of_cell * len(self.values) + column)
        at = np.cumsum(new) - 1
        of = sums(at, rows, int(new.sum()))
        entries = _Entries(of_cell, value, rows, of[at])
        return entries if bounds is None else entries.select(rows >= bounds[value] * of[at])


class _Projection(NamedTuple):
    """A table of some columns alone, in which alone it may be looked at."""

    table: _Table
    became: IntArray
    """The item of it that each item of the whole table is in."""

    item: IntArray
    """One item of the whole table that is in each."""


class _Reference(NamedTuple):
    """How often each value occurs in each class, or in the whole table."""

    key: IntArray
    """Class and value together, in order."""

    value: IntArray
    rows: IntArray
    of: IntArray
    width: int

    @classmethod
    def of_cells(cls, entries: _Entries, width: int) -> "_Reference":
        key = entries.cell * width + entries.value
        order = np.argsort(key, kind="stable")
        return cls(key[order], entries.value[order], entries.rows[order], entries.of[order], width)

    def at(self, cell: IntArray, value: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows with a value in a class, and those where any value is known."""
        place = np.searchsorted(self.key, cell * self.width + value)
        return self.rows[place], self.of[place]


class _Candidates(NamedTuple):
    """Facts that may be shown, as columns of figures."""

    known: IntArray
    """Which set of known columns."""

    item: IntArray
    """A combination that has the known values."""

    value: IntArray
    rows: IntArray
    of: IntArray
    level: IntArray


class _Search:
    """Looks at sets of known columns, and remembers what they tell."""

    def __init__(
        self,
        table: _Table,
        rule: HarmRule,
        sets: Sequence[AdversaryColumns],
        *,
        examples: bool = True,
    ) -> None:
        self.table, self.rule, self.sets, self.examples = table, rule, sets, examples
        n, width = len(table.values), int(table.starts[-1])
        every = table.columns[table.told[table.columns]]
        nowhere = np.zeros(len(table.counts), dtype=np.int64)
        whole = table.count(nowhere, 1, None, every)
        self.prior: FloatArray = self._priors(whole)
        self.reference = {False: _Reference.of_cells(whole, width)}
        if any(one.with_class for one in sets):
            classes = table.count(table.class_id, table.classes, None, every)
            self.reference[True] = _Reference.of_cells(classes, width)
        self.state = np.zeros(table.values.shape, dtype=np.int16)
        """Per column and item the levels reached: see `_thermometer`."""

        self.lone = np.zeros((_MOST_KNOWN + 1, *table.values.shape), dtype=np.bool_)
        """By the number of known values: who is the only one of their class with them."""

        self.candidates: list[_Candidates] = []
        self.held = np.zeros((n, 4 * len(Level)), dtype=np.int64)
        """How many candidates of each column and rank there are."""

        secret = table.secrecy[:-1]
        self.bounds = self._bounds(secret)
        certain = rule.levels(self.prior, np.ones(width), secret == Secrecy.SECRET)
        raw = np.where(secret == Secrecy.HARMLESS, 0, certain)
        raised = np.minimum(raw + ((secret == Secrecy.SECRET) & (raw > 0)), int(Level.VERY_HIGH))
        self.lone_levels = np.append(raised, 0).astype(np.int8)
        """Per value how much it harms to be known of one person for certain."""

        one = np.ones(width + 1, dtype=np.int64)
        ranks = _coarse_rank(self.lone_levels.astype(np.int64), one, one)
        self.lone_ranks = np.where(self.lone_levels > 0, ranks, 0)
        """Per value how bad it is if known of one person; 0 where that harms in no way."""

        self.lone_most = np.array(
            [
                self.lone_ranks[low:high].max(initial=0)
                for low, high in pairwise(table.starts.tolist())
            ]
        )

    def _priors(self, whole: _Entries) -> FloatArray:
        """Return the share of each value in the whole table.

        Where people have several rows each counts once per class, as in the attacks on classes.
        """
        table, width = self.table, int(self.table.starts[-1])
        if table.person is None:
            total = sums(whole.value, whole.rows, width)
            known = sums(table.column_of, total, len(table.values))
            return total / np.maximum(known[table.column_of], 1)
        found = table.count(table.class_id, table.classes, None, table.columns)
        total = sums(found.value, found.rows, width)
        known = np.zeros(len(table.values), dtype=np.int64)
        for column in table.columns.tolist():
            some = np.flatnonzero(table.values[column] < table.starts[-1])
            known[column] = table.sizes(table.class_id[some], table.classes, some).sum()
        return total / np.maximum(known[table.column_of], 1)

    def _bounds(self, secrecy: IntArray) -> FloatArray:
        """Return the least belief of each level, per value; none is enough for a harmless one."""
        levels = (Level.MODERATE, Level.HIGH, Level.VERY_HIGH)
        secret = secrecy == Secrecy.SECRET
        least = np.stack([self.rule.least_belief(self.prior, each, secret) for each in levels])
        # A belief that is no gain is of no level, however likely.
        least = np.maximum(least - 1e-12, np.nextafter(self.prior + 1e-12, 2))
        least = np.where(self.table.certain, np.maximum(least, 1 - 1e-12), least)
        found: FloatArray = np.where(secrecy == Secrecy.HARMLESS, 2.0, np.minimum(least, 2.0))
        return found

    def again(self, told: BoolArray, sets: Sequence[AdversaryColumns]) -> "_Search":
        """Return a search of the same table that found nothing yet, of which less may be told."""
        found = copy(self)
        found.table, found.sets, found.candidates = replace(self.table, told=told), sets, []
        found.state = np.zeros(self.state.shape, dtype=self.state.dtype)
        found.lone = np.zeros(self.lone.shape, dtype=self.lone.dtype)
        return found

    def look_at(self, tasks: Sequence["_Task"]) -> None:
        """Look at the sets of some tasks, which are those of this search, in this order."""
        number = 0
        for task in tasks:
            numbers = range(number, number + len(task.sets))
            number = numbers.stop
            if task.size:
                self.look_in_blocks(numbers, task.size)
            else:
                self.look(numbers[0])

    def look(self, number: int, *, remember: bool = True) -> int:
        """Count what a set of known columns tells of all others, and of how many people surely.

        Args:
            number: Which set it is.
            remember: Whether what is told counts among the results.
        """
        table, known = self.table, self.sets[number]
        at = [table.names.index(name) for name in known.columns]
        others = table.others(at)
        items, cell, n = self._cells(at, with_class=known.with_class)
        if not len(others) or not len(cell):
            return 0
        size = table.sizes(cell, n, items)
        if known.with_class and (size == 1).any():
            # One person alone is told whatever the others have: there is nothing to count.
            lone = (size == 1)[cell]
            if remember:
                alone = np.flatnonzero(lone) if items is None else items[lone]
                self._mark_lone(alone, others, number, len(at))
            rest = np.flatnonzero(~lone)
            if not len(rest):
                return 0
            items = rest if items is None else items[rest]
            numbers = number_keys(cell[rest], n)
            cell, n = numbers.of_item, numbers.n
        first = np.empty(n, dtype=np.int64)
        first[cell] = np.arange(len(cell)) if items is None else items
        base = table.class_id[first] if known.with_class else np.zeros(n, dtype=np.int64)
        counted = table.count(cell, n, items, others, self.bounds[0])
        entries, levels = self._judge(counted, base, known)
        if remember:
            self._remember(entries, levels << 3 * len(at), cell, n, items)
            self._choose(entries, levels, first, number)
        return int(entries.of[(levels == 7) & (entries.of > 1)].sum())

    def look_in_blocks(self, numbers: Sequence[int], size: int) -> None:
        """Count what sets of known columns without the class tell, on a smaller table at a time.

        A few groups of columns have few combinations, however many rows there are: they are added
        up once, and all sets of these columns are counted on them.

        Args:
            numbers: The sets; together all of their kind.
            size: The number of known columns, and one that is told.
        """
        groups = self.table.groups(size)
        keys = [self.table.pack(each) for each in groups]
        for block in combinations(range(len(groups)), min(size, len(groups))):
            part = self.table.project([groups[i] for i in block], [keys[i] for i in block])
            search = copy(self)
            search.table, search.candidates = part.table, []
            search.state = np.zeros(part.table.values.shape, dtype=np.int16)
            there = {*part.table.columns.tolist()} & {*range(len(self.table.names))}
            names = {self.table.names[i] for i in there}
            for number in numbers:
                if names.issuperset(self.sets[number].columns):
                    search.look(number)
            for at in part.table.columns.tolist():
                if search.state[at].any():
                    self.state[at] |= search.state[at][part.became]
            self.candidates += [one._replace(item=part.item[one.item]) for one in search.candidates]

    def _cells(
        self, at: Sequence[int], *, with_class: bool
    ) -> tuple[IntArray | None, IntArray, int]:
        """Group the items by class and known values.

        Those that miss one are left out, unless others know that they do.
        """
        table = self.table
        # What is missing comes after the values of the column.
        codes = [np.minimum(table.values[i], table.starts[i + 1]) - table.starts[i] for i in at]
        sizes = [int(table.starts[i + 1] - table.starts[i]) + 1 for i in at]
        absent = np.zeros(len(table.counts), dtype=np.bool_)
        for i in at:
            if not table.lacked[i]:
                absent |= table.values[i] == table.starts[-1]
        if with_class:
            codes, sizes = [table.class_id, *codes], [table.classes, *sizes]
        items = np.flatnonzero(~absent) if absent.any() else None
        if items is not None:
            codes = [code[items] for code in codes]
        keys = PackedKeys.of(codes, sizes, n=len(table.counts))
        numbers = number_keys(keys.key, keys.width)
        return items, numbers.of_item, numbers.n

    def _judge(
        self, entries: _Entries, base: IntArray, known: AdversaryColumns
    ) -> tuple[_Entries, IntArray]:
        """Return what harms, and its level as a thermometer."""
        # Bounds are looked up per value: judging each entry by itself took half of the time.
        raw = (entries.rows / entries.of >= self.bounds[:, entries.value]).sum(axis=0)
        entries, raw = entries.select(raw > 0), raw[raw > 0]
        if known.with_class and known.columns:
            # What the class tells by itself is not for the known value to answer for.
            marked, population = self.reference[True].at(base[entries.cell], entries.value)
            adds = entries.rows * population > entries.of * marked
            entries, raw = entries.select(adds), raw[adds]
        secret = self.table.secrecy[entries.value] == Secrecy.SECRET
        return entries, _THERMOMETER[np.minimum(raw + secret, int(Level.VERY_HIGH))]

    def _mark_lone(self, items: IntArray, others: IntArray, number: int, known: int) -> None:
        """Remember whom their class and what is known single out, with an example each."""
        self.lone[known, others[:, None], items] = True
        if not self.examples:
            return
        one = np.ones(1, dtype=np.int64)
        shown = self._best_rank()
        # Nothing is looked up where no single person could be worse off than those shown.
        for column in others[shown[others] < self.lone_most[others]].tolist():
            value = self.table.values[column, items]
            ranks = self.lone_ranks[value]
            rank = int(ranks.max())
            if rank > shown[column]:
                # Of equals the one that is least expected, in whatever order people come.
                most = np.flatnonzero(ranks == rank)
                best = [int(most[np.lexsort((value[most], self.prior[value[most]]))[0]])]
                level = self.lone_levels[value[best]].astype(np.int64)
                where = np.array([number]), items[best], value[best]
                self._hold(_Candidates(*where, one, one, level))

    def _remember(
        self,
        entries: _Entries,
        levels: IntArray,
        cell: IntArray,
        n: int,
        items: IntArray | None,
    ) -> None:
        """Raise the levels of all people of whom something is told."""
        column = self.table.column_of[entries.value]
        numbers = number_keys(column, len(self.table.values))
        reached = np.zeros((numbers.n, n), dtype=np.int16)
        for level in np.unique(levels).tolist():
            these = levels == level
            reached[numbers.of_item[these], entries.cell[these]] |= level
        if len(cell) < _MANY_ITEMS:
            where = np.ix_(numbers.keys, np.arange(len(cell)) if items is None else items)
            self.state[where] |= reached[:, cell]
            return
        for at, told in zip(numbers.keys.tolist(), reached, strict=True):
            if items is None:
                self.state[at] |= told[cell]
            else:
                # Most people of a large table are told nothing: look for those who are.
                some = np.flatnonzero(told[cell])
                self.state[at, items[some]] |= told[cell[some]]

    def _choose(
        self,
        entries: _Entries,
        levels: IntArray,
        first: IntArray,
        number: int,
    ) -> None:
        """Keep the few facts of each column that may be among its worst."""
        if not self.examples:
            return
        column, after = self.table.column_of[entries.value], _LEVELS[levels]
        rank = _coarse_rank(after, entries.rows, entries.of)
        # Sets come with fewer columns first: later ones must harm more to be shown.
        better = np.flatnonzero((after > 0) & (rank >= self._floor()[column]))
        some = entries.select(better)
        weight = some.rows - self.prior[some.value] * some.of
        order = np.lexsort((-weight, -some.rows / some.of, -rank[better], column[better]))
        new = np.flatnonzero(changes(column[better[order]]))
        place = np.arange(len(order)) - np.repeat(new, np.diff(np.append(new, len(order))))
        kept = better[order[place < MOST_FACTS]]
        some = entries.select(kept)
        where = np.full(len(kept), number), first[some.cell]
        self._hold(_Candidates(*where, *some[1:], after[kept]))

    def _best_rank(self) -> IntArray:
        """Return per column the rank of the worst fact that is held; 0 where there is none."""
        ranks = np.arange(self.held.shape[1])
        best: IntArray = np.where(self.held > 0, ranks, 0).max(axis=1)
        return best

    def _floor(self) -> IntArray:
        """Return per column the least rank a fact must have to be among the worst."""
        above = np.cumsum(self.held[:, ::-1], axis=1)[:, ::-1]
        floor: IntArray = (above >= MOST_FACTS).sum(axis=1)
        return floor

    def _hold(self, some: _Candidates) -> None:
        self.candidates.append(some)
        column = self.table.column_of[some.value]
        rank = _coarse_rank(some.level, some.rows, some.of)
        np.add.at(self.held, (column, rank), 1)

    def results(self) -> dict[str, TellingFacts]:
        """Return what all sets together tell of each column."""
        table = self.table
        every = zip(*self.candidates, strict=True)
        shown = _Candidates(*(np.concatenate(each) for each in every)) if self.candidates else None
        found = {}
        for at, name in enumerate(table.names):
            if not table.told[at]:
                continue
            mine = np.flatnonzero(table.owner == at)
            by_known = {n: self._levels_of(mine, n) for n in range(_MOST_KNOWN + 1)}
            worst: list[tuple[Fact, _Candidates]] = []
            if shown is not None:
                here = np.flatnonzero(table.owner[table.column_of[shown.value]] == at)
                some = [_Candidates(*(each[i] for each in shown)) for i in here.tolist()]
                worst = _minimal(
                    sorted(((self._fact(one), one) for one in some), key=lambda x: rank_fact(x[0]))
                )
            # In large tables looking for further values takes a while for each fact.
            more = 1 if len(table.counts) > _MANY else MOST_FACTS
            found[name] = TellingFacts(
                name,
                np.max(list(by_known.values()), axis=0),
                by_known,
                tuple(
                    self._with_more(fact, one) if place < more else fact
                    for place, (fact, one) in enumerate(worst)
                ),
            )
        return found

    def _levels_of(self, columns: IntArray, known: int) -> LevelArray:
        """Return per item the worst level of some columns, by that many known values."""
        levels = np.zeros(len(self.table.counts), dtype=np.int8)
        for at in columns.tolist():
            # Of most columns most sets tell nothing.
            alone = np.flatnonzero(self.lone[known, at])
            if len(alone):
                reached = self.lone_levels[self.table.values[at, alone]]
                levels[alone] = np.maximum(levels[alone], reached)
            told = self.state[at] >> 3 * known & 7
            if told.any():
                levels = np.maximum(levels, _SHORT_LEVELS[told])
        return levels

    def _fact(self, one: _Candidates) -> Fact:
        table, known = self.table, self.sets[int(one.known)]
        names = (*(table.quasi_identifiers if known.with_class else ()), *known.columns)
        column = int(table.column_of[one.value])
        told = table.counts.column(table.names[int(table.owner[column])])
        of_column = table.texts.get(column, told.values)
        return Fact(
            table.counts.values_at(names, int(one.item)),
            (told.name, of_column[int(one.value - table.starts[column])]),
            int(one.rows),
            int(one.of),
            float(self.prior[one.value]),
            Level(int(one.level)),
        )

    def _with_more(self, fact: Fact, one: _Candidates) -> Fact:
        """Add what else is true of all people of whom the fact is."""
        table, known = self.table, self.sets[int(one.known)]
        at = [table.names.index(name) for name in known.columns]
        told, item = int(table.column_of[one.value]), int(one.item)
        true = table.values[told] == one.value
        for i in at:
            true &= table.values[i] == table.values[i, item]
        if known.with_class:
            true &= table.class_id == table.class_id[item]
        values = table.values[:, true]
        shared = (values == values[:, :1]).all(axis=1) & (values[:, 0] < table.starts[-1])
        shared[[told, int(table.owner[told]), *at]] = False
        shared[len(table.names) :] = False
        shared &= table.told
        also = np.flatnonzero(shared)[:_MOST_ALSO]
        if not len(also):
            return fact
        both = table.values[also] == values[also, :1]
        both &= table.values[told] == one.value
        some = (table.values[[told, *also]] < table.starts[-1]).all(axis=0)
        nowhere = np.zeros(len(table.counts), dtype=np.int64)
        true, of = (
            int(table.sizes(nowhere[at], 1, at)[0])
            for at in (np.flatnonzero(both.all(axis=0)), np.flatnonzero(some))
        )
        share = true / of
        columns = [table.counts.column(table.names[i]) for i in also]
        codes = values[also, 0] - table.starts[also]
        more = tuple((c.name, c.values[code]) for c, code in zip(columns, codes, strict=True))
        return replace(fact, also=more, prior=float(share))


_LEVELS = np.array([0, 1, 1, 2, 1, 1, 2, 3])
"""The level of a thermometer: how many of three bits are set."""

_SHORT_LEVELS = _LEVELS.astype(np.int8)
"""The same in few bits: there is one for each column and combination."""


_THERMOMETER = np.array([0, 1, 3, 7], dtype=np.int64)
"""A level sets as many bits as it is high, so that *or* is the larger of two levels.

Three bits for each number of known values: nine bits of one number are raised at once where three
arrays would have to be.
"""


def _minimal(facts: Sequence[tuple[Fact, _Candidates]]) -> list[tuple[Fact, _Candidates]]:
    """Keep the first facts, without those of which what is known, or a part, told the same."""
    kept: list[tuple[Fact, _Candidates]] = []
    for fact, one in facts:
        known = {*fact.known}
        if len(kept) < MOST_FACTS and not any(
            other.told == fact.told and known >= {*other.known} for other, _ in kept
        ):
            kept.append((fact, one))
    return kept


def _coarse_rank(level: IntArray, rows: IntArray, of: IntArray) -> IntArray:
    """Return how bad facts are: by level, certainty, and whether one person is meant."""
    rank: IntArray = 4 * level + 2 * (rows == of) + (of > 1)
    return rank


class _Task(NamedTuple):
    """Sets of known columns that are looked at together, and what that costs."""

    sets: tuple[AdversaryColumns, ...]
    cost: int
    size: int = 0
    """If they are counted in blocks, how many columns are together; else there is one set."""


def _make_tasks(table: _Table, sets: Sequence[AdversaryColumns]) -> list[_Task]:
    """Return the work there is; sets without the class in blocks where that costs less."""
    items, sizes = len(table.counts), np.diff(table.starts)
    every = table.columns[table.told[table.columns]]
    told, shares = len(every), int(sizes[every].sum())
    size_of = dict(zip(table.names, sizes.tolist(), strict=False))

    def cost(one: AdversaryColumns) -> int:
        # Every share of every value is looked at, of as many groups of people as there can be.
        groups = prod([size_of[name] + 1 for name in one.columns])
        groups = min(groups * (table.classes if one.with_class else 1), items)
        judged = min(groups * shares, _MOST_JUDGED * items * told)
        return int(_PER_CELL * items * told + _PER_BIN * judged) + _PER_SET

    tasks = []
    for size in range(_MOST_KNOWN + 1):
        alone = tuple(one for one in sets if len(one.columns) == size and not one.with_class)
        # Blocks add combinations up, and people are not: they may have several of them.
        many = items > _MANY and table.person is None
        groups = len(table.groups(size + 1)) if alone and many else 0
        blocks = comb(groups, min(size + 1, groups)) if groups else 0
        together = blocks * (_PER_ADDED * items + _PER_BLOCK)
        if blocks and together < sum(map(cost, alone)):
            tasks.append(_Task(alone, together, size + 1))
        else:
            tasks += [_Task((one,), cost(one)) for one in alone]
        for one in sets:
            if len(one.columns) == size and one.with_class:
                tasks.append(_Task((one,), cost(one)))
    return tasks


def _choose_tasks(
    table: _Table,
    sets: Sequence[AdversaryColumns],
    rule: HarmRule,
    budget: int,
    sample: Callable[[int], _Search] | None = None,
) -> tuple[list[_Task], list[AdversaryColumns]]:
    """Return what the budget allows, and the sets that it does not.

    If it does not allow all, a part of the classes shows which columns tell something: these come
    first. Of the others, single columns come before two, and those without the class first, which
    cost little; two columns go by what each tells.

    Args:
        table: The table.
        sets: The sets of known columns.
        rule: What harms.
        budget: What it may cost.
        sample: Returns a search of about so many combinations; None makes one.
    """
    tasks = _make_tasks(table, sets)
    if sum(task.cost for task in tasks) <= budget:
        return tasks, []
    single = [one for one in sets if len(one.columns) == 1]
    if not single:
        return tasks[:1], [one for task in tasks[1:] for one in task.sets]
    of_item = len(single) * int(table.told.sum()) * (_PER_CELL + _MOST_JUDGED * _PER_BIN)
    items = max(int(budget / 10 / of_item), 1)
    if sample is None:
        search = _Search(table.sample(items), rule, single, examples=False)
    else:
        search = sample(items).again(table.told, single)
    told = {
        (*one.columns, one.with_class): search.look(at, remember=False)
        for at, one in enumerate(single)
    }

    def rank(task: _Task) -> tuple[int, int]:
        n, with_class = len(task.sets[0].columns), task.sets[0].with_class
        people = max(
            sum(told.get((name, with_class), 0) for name in one.columns) for one in task.sets
        )
        return 0 if n == 1 and people else 2 * n + with_class, -people

    chosen: list[_Task] = []
    left: list[AdversaryColumns] = []
    for task in sorted(tasks, key=rank):
        # At least one set is looked at, whatever it costs; what does not fit is left.
        if not chosen or task.cost <= budget:
            chosen.append(task)
            budget -= task.cost
        else:
            left += task.sets
    return chosen, left
