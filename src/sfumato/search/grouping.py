"""Groups of a table's distinct tuples at any node of the lattice.

The attributes are merged into a few groups. Each distinct tuple holds one code per
group, and for every combination of levels a small table says what that code becomes.
A node's classes are then a few gathers and one bincount, and a coarser node can start
from the classes of a finer one instead of from the tuples.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from functools import partial

import numpy as np

from sfumato.classes import (
    EquivalenceClasses,
    LazyCounts,
    SensitiveColumn,
    ValueCounts,
    classes_of_people,
    sensitive_codes,
)
from sfumato.counts import (
    WIDEST_KEY,
    FrequencySet,
    add_up,
    group,
    group_keys,
    number_keys,
    sums,
)
from sfumato.counts.people import ClassPeople
from sfumato.dataclasses import dataclass
from sfumato.hierarchy.base import Ladder
from sfumato.recoding import is_below
from sfumato.search.kernel import Items, add_up_chosen, group_entries, group_items, narrow_groups
from sfumato.search.lessons import Lessons
from sfumato.search.node_classes import ItemEntries, NodeClasses
from sfumato.search.starts import Starts
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray, Node

_WIDEST_GROUP = 4096
"""A group of attributes is closed before it has more codes than this: tables stay in cache."""

_SAMPLE = 2048
"""Tuples by which the number of classes of a node is guessed."""

_WAYS = 8
"""Partitions of which it is remembered where each tuple is."""

_WIDEST_ROWS = 2**31
"""Rows of a table are counted with 32 bits if it has fewer than this."""


@dataclass(eq=False)
class _Group:
    """A few attributes taken together."""

    attributes: tuple[int, ...]
    code: np.ndarray
    """The group's code of each distinct tuple, in as few bits as codes need."""

    members: tuple[IntArray, ...]
    """For each attribute, its raw code in each code of the group."""

    tables: dict[Node, tuple[IntArray, int]] = field(default_factory=dict)


class Grouping:
    """The distinct tuples of a table's quasi-identifiers, ready to be grouped.

    Args:
        counts: The table, over its quasi-identifiers and sensitive columns.
        ladders: One per quasi-identifier.
        sensitive: The sensitive columns whose values are to be counted.
        population: A second table over the same quasi-identifiers, coded alike.
        person: The column whose value is the same in all rows of a person, if people are counted.
    """

    def __init__(
        self,
        counts: FrequencySet,
        ladders: Sequence[Ladder],
        sensitive: Mapping[str, SensitiveColumn],
        population: FrequencySet | None = None,
        *,
        person: str | None = None,
    ) -> None:
        self.ladders: tuple[Ladder, ...] = tuple(ladders)
        self.total: int = counts.total
        self.sensitive: dict[str, SensitiveColumn] = dict(sensitive)
        names = [ladder.column for ladder in ladders]
        positions = [counts.index(name) for name in names]
        sizes = [len(ladder.values) for ladder in ladders]
        columns = [counts.codes[p] for p in positions]
        rows = counts.rows
        people = None
        if population is not None:
            other = [population.codes_of(name) for name in names]
            columns = [np.concatenate(pair) for pair in zip(columns, other, strict=True)]
            none = np.zeros(len(population), dtype=np.int64)
            people = np.concatenate([np.zeros(len(rows), dtype=np.int64), population.rows])
            rows = np.concatenate([rows, none])
        groups = group(columns, sizes, n=len(rows))
        if groups.n == len(rows) and (np.diff(groups.of_item) > 0).all():
            # Every combination is a tuple of its own, in order: nothing to be copied, often.
            whole = population is None and positions == [*range(len(names))]
            codes = counts.codes[: len(names)] if whole else np.array(columns)
        else:
            codes = np.array([column[groups.first] for column in columns])
        self.codes = codes.astype(np.int32, copy=False).reshape(len(names), groups.n)
        """Raw codes, one row per attribute, one column per distinct tuple."""

        whole_numbers = np.int32 if counts.total < _WIDEST_ROWS else np.int64
        self.rows = sums(groups.of_item, rows, groups.n).astype(whole_numbers)
        """How many rows each distinct tuple has."""

        self.references: dict[str, IntArray] = {}
        of_item = groups.of_item[: len(counts)]
        for name, column in self.sensitive.items() if person is None else ():
            value = sensitive_codes(counts, name, folded=column.folded) + 1
            plus = np.bincount(value, weights=counts.rows, minlength=len(column.values) + 1)
            self.references[name] = np.roll(plus.astype(np.int64), -1)
        counted = None
        if person is not None:
            values = {
                name: (
                    sensitive_codes(counts, name, folded=column.folded) + 1,
                    len(column.values) + 1,
                )
                for name, column in self.sensitive.items()
            }
            counted = ClassPeople.count(
                counts.codes_of(person).astype(np.int64), of_item, values, groups.n, counts.rows
            )
        self.person = person
        self.people = None if counted is None else counted.total
        """How many people there are, if they are counted."""

        self._counts = counts
        self._of_item = of_item.astype(np.int32) if groups.n < _WIDEST_ROWS else of_item
        self._groups = _merge_attributes(self.codes, sizes)
        self.base = NodeClasses(
            tuple(0 for _ in names),
            self.rows,
            None if people is None else sums(groups.of_item, people, groups.n),
            (
                np.arange(groups.n, dtype=self._of_item.dtype),
                tuple(part.code for part in self._groups),
            ),
            people=counted,
        )
        self.entropies = [
            _entropies(l, c, self.rows) for l, c in zip(ladders, self.codes, strict=True)
        ]
        self._start_over(set())

    @property
    def weights(self) -> FloatArray:
        """The rows of each distinct tuple as the numbers that NumPy adds up."""
        return self.rows.astype(np.float64)

    def with_ladders(self, ladders: Sequence[Ladder]) -> "Grouping":
        """Return the same tuples with other ladders of the same values, one per attribute."""
        changed = {
            a
            for a, (mine, other) in enumerate(zip(self.ladders, ladders, strict=True))
            if mine is not other
        }
        found = copy(self)
        found.ladders = tuple(ladders)
        found._start_over(changed)  # noqa: SLF001 - one of its own kind
        return found

    def _start_over(self, changed: set[int]) -> None:
        """Forget what depends on the ladders of some attributes."""
        self._groups = [
            replace(part, tables={}) if changed & {*part.attributes} else part
            for part in self._groups
        ]
        self.lessons = Lessons()
        """What searches have found out about its nodes."""

        self._starts = Starts(self.base)
        self._ways: dict[Node, tuple[NodeClasses, np.ndarray]] = {}
        self._guesses: dict[Node, float] = {}

    def partition(self, node: Node) -> NodeClasses:
        """Group by a node, starting from the smallest cached node below it."""
        start = self._starts.nearest(node)
        if start.node == node and start is not self.base:
            return start
        hub = self._starts.hub(node, start, self._guess)
        if hub is not None and hub != node:
            part = self._roll_up(start, hub)
            start = self._keep(part, start)
            if start.node == hub:
                self._remember_way(start, self._way(part))
        part = self._roll_up(start, node)
        self._keep(part, start)
        return part

    def _keep(self, part: NodeClasses, start: NodeClasses) -> NodeClasses:
        """Return what is kept of a partition for later, if it is much smaller than its start.

        Else the start, from which the next are made as well.
        """
        if 2 * len(part.rows) > len(start.rows):
            return start
        # Where each tuple is would be most of it, and can be found again.
        kept = part.alone()
        if part.finer is self.base and part.of_finer is not None:
            self._remember_way(kept, part.of_finer)
        self._starts.keep(kept)
        return kept

    def _roll_up(self, start: NodeClasses, node: Node) -> NodeClasses:
        """Group the classes of a node below into those of a node above."""
        of_item, chosen, rows = self._group(start, node)
        population = None
        if start.population is not None:
            population = sums(of_item, start.population, len(chosen))
        return NodeClasses(
            node,
            rows,
            population,
            finer=start,
            of_finer=of_item,
            chosen=chosen,
            people=None if start.people is None else start.people.roll_up(of_item, len(chosen)),
        )

    def _guess(self, node: Node) -> float:
        """Return about how many classes a node has, by those of a sample (Chao's estimate).

        What is met once stands for others that are not, the more so the less is met twice.
        """
        known = self._guesses.get(node)
        if known is None:
            step = max(len(self.rows) // _SAMPLE, 1)
            # Neighbours are alike, so tuples at equal distances stand for all.
            codes = tuple(code[::step] for code in self.base.codes)
            sample = replace(self.base, tuples=(self.base.first, codes), rows=self.rows[::step])
            times = np.unique(self.keys(node, sample)[0], return_counts=True)[1]
            once, twice = int((times == 1).sum()), int((times == 2).sum())
            known = min(len(times) + once * (once - 1) / (2 * twice + 2), float(len(self.rows)))
            self._guesses[node] = known
        return known

    def spread(self, part: NodeClasses, per_class: np.ndarray) -> np.ndarray:
        """Return for each distinct tuple of the table what is given per class."""
        return per_class if part is self.base else per_class[self._way(part)]

    def _way(self, part: NodeClasses) -> np.ndarray:
        """Return the class of each distinct tuple."""
        if part.finer is not None and part.of_finer is not None:
            if part.finer is self.base:
                return part.of_finer
            way: np.ndarray = part.of_finer[self._way(part.finer)]
            return way
        known = self._ways.get(part.node)
        way = self._find_way(part.node) if known is None else known[1]
        self._remember_way(part, way)
        return way

    def _find_way(self, node: Node) -> np.ndarray:
        """Find where each tuple is at a node, by the smallest partition for which it is known.

        Classes are in the same order whatever they are made of: that of the keys of their node.
        """
        below = [each for each in self._ways.values() if is_below(each[0].node, node)]
        if not below:
            return self._group(self.base, node)[0]
        start, way = min(below, key=lambda each: len(each[0].rows))
        found: np.ndarray = self._group(start, node)[0][way]
        return found

    def _remember_way(self, part: NodeClasses, way: np.ndarray) -> None:
        latest = [each for each in self._ways.items() if each[0] != part.node][1 - _WAYS :]
        self._ways = {**dict(latest), part.node: (part, way)}

    def entries(self, part: NodeClasses, name: str) -> ItemEntries:
        """Return the value counts of a sensitive column in each class."""
        known = part.entries.get(name)
        if known is not None:
            return known
        n_values = len(self.sensitive[name].values) + 1
        if part is self.base:
            value = sensitive_codes(self._counts, name, folded=self.sensitive[name].folded) + 1
            given = self._of_item, value, self._counts.rows
            known = _add_up(*given, len(self.rows), n_values, self.rows.dtype)
        else:
            source, way = part.finer, part.of_finer
            if source is None or 2 * len(source.rows) > len(self.rows):
                # What is hardly smaller than all tuples is not worth its own.
                source, way = self.base, self._way(part)
            old = self.entries(source, name)
            assert way is not None  # noqa: S101 - who knows what it is made of knows how
            parts = old.item, old.value, old.rows
            known = ItemEntries(*group_entries(way, len(part.rows), parts, n_values))
            if part.finer is None:
                self._starts.grow(known.nbytes)
        part.entries[name] = known
        return known

    def classes(self, part: NodeClasses, people: ClassPeople | None = None) -> EquivalenceClasses:
        """Return the classes as models see them, without those that only the population has.

        Args:
            part: The classes.
            people: Those who are left of the people of each class, if some are not.
        """
        people = people or part.people
        if people is not None:
            return self._classes_of_people(part, people)
        sizes, population, keep, unseen = part.rows, part.population, None, 0
        if population is not None:
            keep = sizes > 0
            if keep.all():
                keep = None
            else:
                unseen = int(population[~keep].sum())
                sizes, population = sizes[keep], population[keep]
        sensitive = LazyCounts(self.sensitive, partial(self._value_counts, part, keep))
        # Models multiply sizes: they see wide numbers.
        return EquivalenceClasses(sizes.astype(np.int64), sensitive, population, unseen=unseen)

    def _value_counts(self, part: NodeClasses, keep: BoolArray | None, name: str) -> ValueCounts:
        """Return the values of a sensitive column in those classes that the table has."""
        entries = self.entries(part, name)
        item = entries.item.astype(np.int64)
        return ValueCounts(
            self.sensitive[name],
            item if keep is None else (np.cumsum(keep) - 1)[item],
            entries.value.astype(np.int64) - 1,
            entries.rows.astype(np.int64),
            self.references[name],
        )

    def _classes_of_people(self, part: NodeClasses, people: ClassPeople) -> EquivalenceClasses:
        """Return the classes with the different people in each, and of each value in each."""
        every = classes_of_people(people, part.rows.astype(np.int64), self.sensitive)
        if part.population is None:
            return every
        keep = part.rows > 0
        unseen = int(part.population[~keep].sum())
        return replace(
            every.keep(keep), population=part.population[keep], unseen=unseen, suppressed=0
        )

    def histograms_of(self, part: NodeClasses, chosen: BoolArray) -> list[FloatArray]:
        """Count the rows of some classes by raw value, for each attribute."""
        # Choosing parts of them in place of finding the class of each tuple, where it is not known.
        while part.finer is not None and part.of_finer is not None and part.finer is not self.base:
            part, chosen = part.finer, chosen[part.of_finer]
        way = part.first if part is self.base else self._way(part)
        return self._histograms(
            [
                add_up_chosen(way, chosen, self.rows, each.code, len(each.members[0]))
                for each in self._groups
            ]
        )

    def histograms(self, weights: FloatArray) -> list[FloatArray]:
        """Add up weights of the distinct tuples by raw value, for each attribute."""
        return self._histograms(
            [add_up(each.code, weights, len(each.members[0])) for each in self._groups]
        )

    def _histograms(self, of_codes: Sequence[FloatArray]) -> list[FloatArray]:
        """Add up by raw value what is given per code of each group.

        Every tuple is met once per group of attributes, not once per attribute.
        """
        found: dict[int, FloatArray] = {}
        for part, of_code in zip(self._groups, of_codes, strict=True):
            for attribute, member in zip(part.attributes, part.members, strict=True):
                found[attribute] = add_up(member, of_code, len(self.ladders[attribute].values))
        return [found[attribute] for attribute in range(len(self.ladders))]

    def _group(self, start: NodeClasses, node: Node) -> Items:
        """Group the classes of a node below, and add up their rows."""
        codes, tables, width = [], [], 1
        for part, code in zip(self._groups, start.codes, strict=True):
            table, size = self._table(part, node)
            if size <= 1:
                continue
            if width * size >= WIDEST_KEY:
                key, width = self.keys(node, start)
                return narrow_groups(group_keys(key, width), start.rows)
            # Multiplying the small table in place of the long key: one gather and one addition.
            codes.append(code)
            tables.append(table * width)
            width *= size
        return group_items(codes, tables, width, start.rows)

    def keys(self, node: Node, start: NodeClasses) -> tuple[IntArray, int]:
        """Return the key of each class of `start` at a node above, and a bound on keys."""
        key = np.zeros(len(start.rows), dtype=np.int64)
        width = 1
        for part, code in zip(self._groups, start.codes, strict=True):
            table, size = self._table(part, node)
            if size == 1:
                continue
            if width * size >= WIDEST_KEY:
                shorter = number_keys(key, width)
                key, width = shorter.of_item, shorter.n
            # Multiplying the small table in place of the long key: one gather and one addition.
            key += (table * width)[code]
            width *= size
        return key, width

    def _table(self, part: _Group, node: Node) -> tuple[IntArray, int]:
        levels = tuple(node[a] for a in part.attributes)
        known = part.tables.get(levels)
        if known is None:
            columns, sizes = [], []
            for attribute, member, level in zip(part.attributes, part.members, levels, strict=True):
                ladder = self.ladders[attribute]
                columns.append(ladder.codes[level][member])
                sizes.append(len(ladder.labels[level]))
            groups = group(columns, sizes, n=len(part.members[0]))
            known = part.tables[levels] = (groups.of_item.astype(np.int64), groups.n)
        return known


def _merge_attributes(codes: np.ndarray, sizes: Sequence[int]) -> list[_Group]:
    """Merge neighbouring attributes while their combinations stay few."""
    groups: list[_Group] = []
    current: list[int] = []
    width = 1
    for attribute, size in [*enumerate(sizes), (-1, _WIDEST_GROUP + 1)]:
        if current and (attribute < 0 or width * max(size, 1) > _WIDEST_GROUP):
            merged = group([codes[a] for a in current], [sizes[a] for a in current])
            members = tuple(codes[a][merged.first] for a in current)
            code = merged.of_item.astype(np.uint16 if merged.n <= 2**16 else np.int32)
            groups.append(_Group(tuple(current), code, members))
            current, width = [], 1
        if attribute >= 0:
            current.append(attribute)
            width *= max(size, 1)
    return groups


def _entropies(ladder: Ladder, codes: CodeArray, rows: np.ndarray) -> FloatArray:
    """Return the entropy of a column in bits, at each level."""
    frequency = np.bincount(codes, weights=rows, minlength=len(ladder.values))
    entropies = np.empty(ladder.height + 1)
    for level in range(ladder.height + 1):
        counts = np.bincount(ladder.codes[level], weights=frequency)
        shares = counts[counts > 0] / max(frequency.sum(), 1.0)
        entropies[level] = -(shares @ np.log2(shares))
    return entropies


def _add_up(
    item: np.ndarray,
    value: IntArray,
    rows: IntArray,
    n_items: int,
    n_values: int,
    numbers: np.dtype,
) -> ItemEntries:
    """Add up the rows that share item and value, in order of item, then value."""
    key = item.astype(np.int64) * n_values + value
    groups = group_keys(key, max(n_items * n_values, 1))
    return ItemEntries(
        item[groups.first],
        value[groups.first].astype(np.int32),
        sums(groups.of_item, rows, groups.n).astype(numbers),
    )
