"""Groups of a table's distinct tuples at any node of the lattice.

The attributes are merged into a few groups. Each distinct tuple holds one code per
group, and for every combination of levels a small table says what that code becomes.
A node's classes are then a few gathers and one bincount, and a coarser node can start
from the classes of a finer one instead of from the tuples.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from threading import Lock

import numpy as np

from sfumato.classes import (
    EquivalenceClasses,
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
from sfumato.hierarchy.base import Ladder
from sfumato.people import ClassPeople
from sfumato.search.kernel import Items, group_entries, group_items
from sfumato.search.lessons import Lessons
from sfumato.typing import FloatArray, IntArray, Node

_WIDEST_GROUP = 4096
"""A group of attributes is closed before it has more codes than this: tables stay in cache."""

_WORTH_A_HUB = 4096
"""Fewer tuples than this are grouped faster than a better starting point is made."""

_FIRST_CACHED = 64
_CACHED_BYTES = 200 * 2**20
"""Memory for cached starting points of roll-ups; it limits nothing else."""


@dataclass(frozen=True, eq=False)
class Entries:
    """Value counts of one sensitive column by item: parallel arrays."""

    item: IntArray
    value: IntArray
    """Code plus one, so that a missing value is 0."""

    rows: IntArray


@dataclass(frozen=True, eq=False)
class NodeClasses:
    """The classes of one node: one representative tuple and the number of rows of each."""

    node: Node
    first: IntArray
    """A tuple of each class."""

    codes: tuple[IntArray, ...]
    """Its code in each group of attributes."""

    rows: IntArray
    population: IntArray | None
    entries: Mapping[str, Entries]
    finer: "NodeClasses | None" = None
    """The partition it was made of."""

    people: ClassPeople | None = None
    """The different people of each class, if they may have several rows."""

    of_finer: IntArray | None = None
    """The class that each class of that one became part of."""

    def spread(self, per_class: np.ndarray) -> np.ndarray:
        """Return for each distinct tuple of the table what is given per class."""
        part: NodeClasses = self
        while part.finer is not None:
            per_class = per_class[part.of_finer]
            part = part.finer
        return per_class

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        arrays = [self.first, self.rows, *self.codes]
        arrays += [] if self.of_finer is None else [self.of_finer]
        for entries in self.entries.values():
            arrays += [entries.item, entries.value, entries.rows]
        people = 0 if self.people is None else self.people.nbytes
        return people + sum(array.nbytes for array in arrays)


@dataclass(eq=False)
class _Group:
    """A few attributes taken together."""

    attributes: tuple[int, ...]
    code: IntArray
    """The group's code of each distinct tuple."""

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
        self.ladders = tuple(ladders)
        self.total = counts.total
        self.sensitive = dict(sensitive)
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
        self.codes = np.array([c[groups.first] for c in columns], dtype=np.int64).reshape(
            len(names), groups.n
        )
        """Raw codes, one row per attribute, one column per distinct tuple."""

        self.rows = sums(groups.of_item, rows, groups.n)
        """How many rows each distinct tuple has."""

        self.weights = self.rows.astype(np.float64)
        """The same as the numbers that NumPy adds up."""

        self.references: dict[str, IntArray] = {}
        entries, values = {}, {}
        of_item = groups.of_item[: len(counts)]
        for name, column in self.sensitive.items():
            value = sensitive_codes(counts, name, folded=column.folded) + 1
            values[name] = value, len(column.values) + 1
            if person is not None:
                continue
            entries[name] = _add_up(of_item, value, counts.rows, groups.n, len(column.values) + 1)
            plus = np.bincount(value, weights=counts.rows, minlength=len(column.values) + 1)
            self.references[name] = np.roll(plus.astype(np.int64), -1)
        counted = None
        if person is not None:
            counted = ClassPeople.count(
                counts.codes_of(person).astype(np.int64), of_item, values, groups.n, counts.rows
            )
        self.person = person
        self.people = None if counted is None else counted.total
        """How many people there are, if they are counted."""

        self._groups = _merge_attributes(self.codes, sizes)
        self.base = NodeClasses(
            tuple(0 for _ in names),
            np.arange(groups.n),
            tuple(part.code for part in self._groups),
            self.rows,
            None if people is None else sums(groups.of_item, people, groups.n),
            entries,
            people=counted,
        )
        self.entropies = [
            _entropies(l, c, self.rows) for l, c in zip(ladders, self.codes, strict=True)
        ]
        self.lessons = Lessons()
        """What searches have found out about its nodes."""

        self._lock = Lock()
        self._hubs: set[Node] = set()
        self._cache: list[NodeClasses] = []
        self._cached_nodes = np.empty((0, len(names)), dtype=np.int64)
        self._cached_sizes = np.empty(0, dtype=np.int64)
        self._cached_bytes = 0

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
        self.lessons, self._lock = Lessons(), Lock()
        self._hubs, self._cache, self._cached_bytes = set(), [], 0
        self._cached_nodes = np.empty((0, len(self.ladders)), dtype=np.int64)
        self._cached_sizes = np.empty(0, dtype=np.int64)

    def partition(self, node: Node) -> NodeClasses:
        """Group by a node, starting from the smallest cached node below it."""
        start = self._nearest(node)
        if start.node == node and start is not self.base:
            return start
        hub = self._hub(node) if start is self.base else None
        if hub is not None:
            start = self._roll_up(start, hub)
            self._remember(start)
            if hub == node:
                return start
        part = self._roll_up(start, node)
        # Worth keeping only if it really is smaller than what it came from.
        if 2 * len(part.rows) <= len(start.rows):
            self._remember(part)
        return part

    def _roll_up(self, start: NodeClasses, node: Node) -> NodeClasses:
        """Group the classes of a node below into those of a node above."""
        of_item, chosen, rows = self._group(start, node)
        entries = {}
        for name, old in start.entries.items():
            n_values = len(self.sensitive[name].values) + 1
            given = old.item, old.value, old.rows
            *found, first = group_entries(of_item, len(chosen), given, n_values)
            entries[name] = Entries(*found)
            if len(start.entries) == 1 and start.population is None:
                chosen = first
        population = None
        if start.population is not None:
            population = sums(of_item, start.population, len(chosen))
        codes = tuple(code[chosen] for code in start.codes)
        people = None if start.people is None else start.people.roll_up(of_item, len(chosen))
        return NodeClasses(
            node,
            start.first[chosen],
            codes,
            rows,
            population,
            entries,
            finer=start,
            people=people,
            of_finer=of_item,
        )

    def _hub(self, node: Node) -> Node | None:
        """Find a node below from which this one and many others are reached with less work.

        It has only one attribute raised, the one that saves the most bits, so there are
        few hubs and each is made once.
        """
        if len(self.rows) < _WORTH_A_HUB:
            return None
        saved = [e[0] - e[level] for e, level in zip(self.entropies, node, strict=True)]
        attribute = int(np.argmax(saved))
        hub = tuple(level if a == attribute else 0 for a, level in enumerate(node))
        if hub in self._hubs or saved[attribute] <= 0:
            return None
        self._hubs.add(hub)
        return hub

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
        sensitive = {}
        for name, entries in part.entries.items():
            item = entries.item if keep is None else (np.cumsum(keep) - 1)[entries.item]
            sensitive[name] = ValueCounts(
                self.sensitive[name], item, entries.value - 1, entries.rows, self.references[name]
            )
        return EquivalenceClasses(sizes, sensitive, population, unseen=unseen)

    def _classes_of_people(self, part: NodeClasses, people: ClassPeople) -> EquivalenceClasses:
        """Return the classes with the different people in each, and of each value in each."""
        every = classes_of_people(people, part.rows, self.sensitive)
        if part.population is None:
            return every
        keep = part.rows > 0
        unseen = int(part.population[~keep].sum())
        return replace(
            every.keep(keep), population=part.population[keep], unseen=unseen, suppressed=0
        )

    def histograms(self, weights: FloatArray) -> list[FloatArray]:
        """Add up weights of the distinct tuples by raw value, for each attribute.

        Every tuple is met once per group of attributes, not once per attribute.
        """
        found: dict[int, FloatArray] = {}
        for part in self._groups:
            of_code = add_up(part.code, weights, len(part.members[0]))
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
                groups = group_keys(key, width)
                return groups.of_item, groups.first, sums(groups.of_item, start.rows, groups.n)
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

    def _nearest(self, node: Node) -> NodeClasses:
        n = len(self._cache)
        below = np.flatnonzero((self._cached_nodes[:n] <= np.array(node)).all(axis=1))
        if not len(below):
            return self.base
        return self._cache[int(below[self._cached_sizes[below].argmin()])]

    def _remember(self, part: NodeClasses) -> None:
        size = part.nbytes
        with self._lock:
            if self._cached_bytes + size > _CACHED_BYTES:
                return
            n = len(self._cache)
            if n == len(self._cached_sizes):
                more = max(n, _FIRST_CACHED)
                grown = np.empty((more, self._cached_nodes.shape[1]), dtype=np.int64)
                self._cached_nodes = np.concatenate([self._cached_nodes, grown])
                self._cached_sizes = np.concatenate([self._cached_sizes, grown[:, 0]])
            self._cached_nodes[n] = part.node
            self._cached_sizes[n] = len(part.rows)
            self._cached_bytes += size
            # Last: others look only at as many as are here.
            self._cache.append(part)


def _merge_attributes(codes: np.ndarray, sizes: Sequence[int]) -> list[_Group]:
    """Merge neighbouring attributes while their combinations stay few."""
    groups: list[_Group] = []
    current: list[int] = []
    width = 1
    for attribute, size in [*enumerate(sizes), (-1, _WIDEST_GROUP + 1)]:
        if current and (attribute < 0 or width * max(size, 1) > _WIDEST_GROUP):
            merged = group([codes[a] for a in current], [sizes[a] for a in current])
            members = tuple(codes[a][merged.first] for a in current)
            groups.append(_Group(tuple(current), merged.of_item.astype(np.int64), members))
            current, width = [], 1
        if attribute >= 0:
            current.append(attribute)
            width *= max(size, 1)
    return groups


def _entropies(ladder: Ladder, codes: IntArray, rows: IntArray) -> FloatArray:
    """Return the entropy of a column in bits, at each level."""
    frequency = np.bincount(codes, weights=rows, minlength=len(ladder.values))
    entropies = np.empty(ladder.height + 1)
    for level in range(ladder.height + 1):
        counts = np.bincount(ladder.codes[level], weights=frequency)
        shares = counts[counts > 0] / max(frequency.sum(), 1.0)
        entropies[level] = -(shares @ np.log2(shares))
    return entropies


def _add_up(
    item: IntArray, value: IntArray, rows: IntArray, n_items: int, n_values: int
) -> Entries:
    """Add up the rows that share item and value, in order of item, then value."""
    key = item * n_values + value
    groups = group_keys(key, max(n_items * n_values, 1))
    return Entries(
        item[groups.first].astype(np.int64),
        value[groups.first].astype(np.int64),
        sums(groups.of_item, rows, groups.n),
    )
