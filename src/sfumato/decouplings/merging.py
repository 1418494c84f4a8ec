"""The join of the tables of a decoupled release: all rows that may be, or one way to join."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sfumato.counts import Column, add_up, group
from sfumato.decouplings.base import LinkedTables, free_name
from sfumato.errors import InputError
from sfumato.schema import Columns
from sfumato.tables.derived import SLICE, Batch, DerivedColumn, DerivedTable
from sfumato.text import text_or_none
from sfumato.typing import FloatArray, IntArray

_ROUNDS = 1000
"""Rounds in which numbers of people are fitted to tables that overlap in a circle."""

_CLOSE = 1e-9
"""They fit if no table is further off than this share."""


class JoinedRows(NamedTuple):
    """Some rows of a join."""

    group: IntArray
    entries: tuple[IntArray, ...]
    """Per table, the entry that each row is made of."""

    people: FloatArray
    """The number of people each row stands for, if the tables have nothing else to do with each
    other."""


class MergedTables:
    """The join of linked tables: within a group, every combination that could be.

    Tables are joined by the group, and by the columns that stand in both. How many people of a
    group have a combination is not said; if tables had nothing to do with each other beyond that,
    it would be the number of the first entry, times the share that each further entry has among
    those it may be joined with. These numbers add up to every number that is published: whatever
    one table tells by itself is still exact.

    Where tables overlap in a circle, that is no longer so by itself: the numbers are then fitted to
    all tables, one after the other, until they agree (iterative proportional fitting).

    Args:
        linked: The tables.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> from sfumato.decouplings.base import GroupedTables
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "high"), ("40s", "flu", "high")]
        >>> counts = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> grouped = GroupedTables.of(counts, ["age"], ["ill", "pay"])
        >>> merged = MergedTables(LinkedTables.of(grouped, counts.names))
        >>> merged.total, merged.rows(0, 2).people.tolist()
        (5, [0.5, 0.5, 0.5, 0.5, 1.0])
    """

    def __init__(self, linked: LinkedTables) -> None:
        self._linked = linked
        self.n = linked.n
        names = [linked.names(table) for table in linked.tables]
        found = Columns(tuple(names)).join_order if names else ()
        self.in_circle = found is None
        """Whether tables overlap in a circle."""

        self._order = tuple(range(len(names))) if found is None else found
        self.columns = self._find_columns()
        self._shared = self._find_shared(names)
        self._sizes = linked.sizes
        # Entries by group: those of group g are from starts[g] to starts[g + 1].
        self._by_group = [np.argsort(each, kind="stable") for each in linked.groups]
        self._starts = [
            np.searchsorted(groups[order], np.arange(self.n + 1))
            for groups, order in zip(linked.groups, self._by_group, strict=True)
        ]

    def _find_columns(self) -> dict[str, Column]:
        """Return each column once, in the order of the tables."""
        found: dict[str, Column] = {}
        for table in self._linked.tables:
            for name in self._linked.names(table):
                found.setdefault(name, table.column(name))
        return found

    def _find_shared(self, names: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return per table what stands in those that are joined before it too."""
        found: list[list[str]] = [[] for _ in names]
        before: set[str] = set()
        for at in self._order:
            found[at] = [name for name in names[at] if name in before]
            before |= {*names[at]}
        return found

    @cached_property
    def _codes(self) -> list[dict[str, IntArray]]:
        """Per table and column, the code of each entry in the first table that has the column."""
        found = []
        for table in self._linked.tables:
            codes = {}
            for name in self._linked.names(table):
                first = {text_or_none(v): i for i, v in enumerate(self.columns[name].values)}
                own = table.column(name).values
                number = np.array([first.setdefault(text_or_none(v), len(first)) for v in own])
                codes[name] = number.astype(np.int64)[table.codes_of(name)]
            found.append(codes)
        return found

    @cached_property
    def bounds(self) -> np.ndarray:
        """The most rows each group can have; Python integers, which may be beyond 64 bits."""
        product = np.ones(self.n, dtype=object)
        for starts in self._starts:
            product = product * np.diff(starts)
        return product

    @cached_property
    def total(self) -> int:
        """The rows of the join."""
        bound = int(self.bounds.sum())
        if not any(self._shared) or bound > _COUNTABLE:
            return bound
        return sum(len(rows.group) for rows in self.batches())

    def rows(self, first: int, last: int) -> JoinedRows:
        """Return the rows of some groups, from the first to before the last."""
        start, *others = self._order
        entries = {start: self._entries(start, np.arange(first, last))[0]}
        groups = self._linked.groups[start][entries[start]]
        people = self._linked.people[start][entries[start]]
        for at in others:
            left, right, share = self._join(at, groups, entries)
            entries = {each: found[left] for each, found in entries.items()}
            entries[at] = right
            groups, people = groups[left], people[left] * share
        every = tuple(entries[at] for at in range(len(self._order)))
        rows = JoinedRows(groups, every, people)
        return self._fit(rows) if self.in_circle else rows

    def _entries(self, at: int, groups: IntArray) -> tuple[IntArray, IntArray]:
        """Return the entries of some groups in a table, and which of the groups each is of."""
        starts = self._starts[at]
        return _ranges(starts[groups], starts[groups + 1], self._by_group[at])

    def _join(
        self, at: int, groups: IntArray, entries: dict[int, IntArray]
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Join one more table: which row goes with which entry, and with what share of it."""
        people = self._linked.people[at]
        shared = self._shared[at]
        if not shared:
            right, left = self._entries(at, groups)
            return left, right, people[right] / self._sizes[groups[left]]
        candidates, _ = self._entries(at, np.unique(groups))
        keys = self._keys(at, groups, entries, candidates)
        mine, theirs = keys[: len(groups)], keys[len(groups) :]
        order = np.argsort(theirs, kind="stable")
        n = int(keys.max(initial=-1)) + 1
        starts = np.searchsorted(theirs[order], np.arange(n + 1))
        right, left = _ranges(starts[mine], starts[mine + 1], candidates[order])
        totals = add_up(theirs, people[candidates], n)
        return left, right, people[right] / totals[mine[left]]

    def _keys(
        self, at: int, groups: IntArray, entries: dict[int, IntArray], candidates: IntArray
    ) -> IntArray:
        """Number what rows and entries have to agree in, alike in both."""
        pairs = [np.concatenate([groups, self._linked.groups[at][candidates]])]
        for name in self._shared[at]:
            home = next(each for each in entries if name in self._codes[each])
            mine = self._codes[home][name][entries[home]]
            pairs.append(np.concatenate([mine, self._codes[at][name][candidates]]))
        return group(pairs, [int(each.max(initial=0)) + 1 for each in pairs]).of_item

    def _fit(self, rows: JoinedRows) -> JoinedRows:
        """Return rows with numbers that add up to every table."""
        people = rows.people
        for _ in range(_ROUNDS):
            worst = 0.0
            for at, entry in enumerate(rows.entries):
                wanted = self._linked.people[at]
                found = add_up(entry, people, len(wanted))[entry]
                factor = wanted[entry] / np.where(found > 0, found, 1.0)
                worst = max(worst, float(np.abs(factor - 1).max(initial=0.0)))
                people = people * factor
            if worst < _CLOSE:
                break
        return rows._replace(people=people)

    def batches(self) -> Iterator[JoinedRows]:
        """Yield all rows, some groups at a time."""
        ends = np.cumsum(np.minimum(self.bounds, SLICE).astype(np.int64))
        first = 0
        while first < self.n:
            before = int(ends[first - 1]) if first else 0
            last = max(int(np.searchsorted(ends, before + SLICE, side="right")), first + 1)
            yield self.rows(first, last)
            first = last

    def to_table(
        self, link: str, labels: Sequence[int], *, with_counts: bool = False
    ) -> DerivedTable:
        """Describe the join as a table: group, the columns, expected people.

        Args:
            link: What the column of groups is called.
            labels: The label of each group.
            with_counts: Whether the count that each table gives beside its values stands there
                too, as a natural join has it.
        """
        taken = [*self.columns, link]
        counts = []
        for table in self._linked.tables if with_counts else ():
            counts.append(free_name("count_" + "_".join(self._linked.names(table)), taken))
            taken.append(counts[-1])
        columns = (
            *self._describe_columns(link),
            *map(DerivedColumn, counts),
            DerivedColumn(free_name("expected", taken), whole=False),
        )
        published = np.asarray(labels, dtype=np.int64)
        people = [np.rint(each).astype(np.int64) for each in self._linked.people[: len(counts)]]

        def batches() -> Iterator[Batch]:
            for rows in self.batches():
                cells = self._cells(rows.entries)
                found = (each[entry] for each, entry in zip(people, rows.entries, strict=False))
                yield Batch((published[rows.group], *cells, *found, rows.people))

        return DerivedTable(columns, self.total, batches)

    def _describe_columns(self, link: str) -> tuple[DerivedColumn, ...]:
        named = (DerivedColumn(c.name, c.values) for c in self.columns.values())
        return (DerivedColumn(link), *named)

    def _cells(self, entries: Sequence[IntArray]) -> list[IntArray]:
        """Return the codes of every column, each from the first table that has it."""
        home: dict[str, int] = {}
        for at, codes in enumerate(self._codes):
            for name in codes:
                home.setdefault(name, at)
        return [self._codes[home[name]][name][entries[home[name]]] for name in self.columns]

    def draw(self, link: str, labels: Sequence[int], rng: np.random.Generator) -> DerivedTable:
        """Describe one way to join the tables, drawn from all: a row per person.

        Every table is a part of it with its exact numbers, so no row contradicts one.

        Args:
            link: What the column of groups is called.
            labels: The label of each group.
            rng: Draws who has what, and the order of the rows.
        """
        if self.in_circle:
            raise InputError(
                "the slices overlap in a circle, so that not every way to join two of them fits "
                "the others: none can be drawn. Join all that may be, each with its number of "
                "people (how='weights'), or name columns of fewer slices."
            )
        start, *others = self._order
        entries = {start: self._spread(start)}
        groups = self._linked.groups[start][entries[start]]
        for at in others:
            spread = rng.permutation(self._spread(at))
            keys = self._keys(at, groups, entries, spread)
            mine, theirs = keys[: len(groups)], keys[len(groups) :]
            if len(mine) != len(theirs) or not np.array_equal(np.sort(mine), np.sort(theirs)):
                raise InputError(
                    "the tables do not belong together. See what is wrong with them: sfumato "
                    "verify."
                )
            taken = np.empty(len(groups), dtype=np.int64)
            taken[np.argsort(mine, kind="stable")] = spread[np.argsort(theirs, kind="stable")]
            entries[at] = taken
        order = rng.permutation(len(groups))
        every = [entries[at][order] for at in range(len(self._order))]
        published = np.asarray(labels, dtype=np.int64)[groups[order]]
        cells = (published, *self._cells(every))
        return DerivedTable(self._describe_columns(link), len(order), lambda: iter([Batch(cells)]))

    def _spread(self, at: int) -> IntArray:
        """Return every entry of a table as often as it has people."""
        people = np.rint(self._linked.people[at]).astype(np.int64)
        return np.repeat(np.arange(len(people)), people)


_COUNTABLE = 50_000_000
"""A join that may have more rows is not gone through to count them."""


def _ranges(begins: IntArray, ends: IntArray, items: IntArray) -> tuple[IntArray, IntArray]:
    """Return the items of some ranges one after the other, and the range that each is of.

    >>> _ranges(np.array([0, 1]), np.array([2, 2]), np.array([7, 8]))
    (array([7, 8, 8]), array([0, 0, 1]))
    """
    widths = ends - begins
    of_range = np.repeat(np.arange(len(begins)), widths)
    before = np.cumsum(widths) - widths
    return items[np.arange(len(of_range)) - before[of_range] + begins[of_range]], of_range
