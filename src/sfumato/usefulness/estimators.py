"""Answers of a careful reader who has only the release, whatever its kind."""

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from sfumato.counts import Column, FrequencySet, add_up, group
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import GroupedTables, LinkedTables
from sfumato.errors import ParameterError, UnknownColumnError
from sfumato.hierarchy.labels import Labels, RawLabels
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray
from sfumato.usefulness.queries import Condition, Query


@dataclass(frozen=True, eq=False)
class Facet:
    """How likely each raw value of a column is, in each item of a release.

    Items are whatever a release is made of: combinations of labels, or groups. Many items
    share a kind (the same label), so chances are kept per kind, as weights.

    Example:
        >>> age = Column("age", (31, 32, 39))
        >>> facet = Facet.of(age, np.array([0, 1, 0]), [np.array([0, 1]), np.array([2])])
        >>> facet.share(np.array([True, False, True])).tolist()
        [0.5, 1.0, 0.5]
        >>> facet.spread(np.array([1.0, 5.0, 3.0])).tolist()
        [2.0, 2.0, 5.0]
    """

    column: Column
    """The column of the original table."""

    kinds: IntArray | CodeArray
    """The kind of each item."""

    kind: IntArray
    """One entry per kind and value that is possible in it: the kind, ..."""

    value: IntArray
    """... the code of the value, ..."""

    weight: FloatArray
    """... and how likely it is beside the other values of the kind."""

    n: int
    """The number of kinds."""

    @classmethod
    def of(cls, column: Column, kinds: IntArray | CodeArray, covered: Sequence[IntArray]) -> Self:
        """Make every value that a kind covers equally likely."""
        kind = np.repeat(np.arange(len(covered)), [len(codes) for codes in covered])
        value = np.concatenate([np.empty(0, dtype=np.int64), *covered])
        return cls(column, kinds, kind, value, np.ones(len(kind)), len(covered))

    @cached_property
    def _total(self) -> FloatArray:
        return add_up(self.kind, self.weight, self.n)

    def share(self, allowed: BoolArray | FloatArray) -> FloatArray:
        """Return for each item how likely one of these values is, or that share of each."""
        likely = add_up(self.kind, self.weight * allowed[self.value], self.n)
        # Divided last: if all values are allowed, the share is exactly 1.
        found: FloatArray = (likely / np.maximum(self._total, 1e-300))[self.kinds]
        return found

    def shares(self) -> FloatArray:
        """Return for each kind how likely each value is: a row per kind.

        >>> age = Column("age", (31, 32, 39))
        >>> Facet.of(age, np.array([0]), [np.array([0, 1]), np.array([2])]).shares().tolist()
        [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
        """
        found = np.zeros((self.n, len(self.column.values)))
        np.add.at(found, (self.kind, self.value), self.weight)
        shares: FloatArray = found / np.maximum(self._total, 1e-300)[:, None]
        return shares

    def draw(self, items: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw a raw value for each of some rows, given the item each belongs to.

        >>> ill, both = Column("ill", ("flu", "gout")), [np.array([0, 1]), np.array([1])]
        >>> facet = Facet.of(ill, np.array([1, 0]), both)
        >>> facet.draw(np.array([0, 0, 0]), np.random.default_rng()).tolist()
        [1, 1, 1]
        """
        order = np.argsort(self.kind, kind="stable")
        up_to = np.cumsum(self.weight[order])
        # One line with a stretch for each kind; a row's place is drawn in the stretch of its kind.
        entries = np.bincount(self.kind, minlength=self.n)
        last = np.cumsum(entries) - 1
        first = last - entries + 1
        kind = self.kinds[items]
        place = up_to[last[kind]] - self._total[kind] * rng.random(len(items))
        # Rounding must not carry a row over into the stretch beside it.
        at = np.clip(np.searchsorted(up_to, place, side="left"), first[kind], last[kind])
        found: IntArray = self.value[order[at]]
        return found

    def spread(self, mass: FloatArray) -> FloatArray:
        """Spread what each item weighs over the raw values, and add up per value."""
        of_kind = add_up(self.kinds, mass, self.n)
        per_weight = of_kind / np.maximum(self._total, 1e-300)
        weight = self.weight * per_weight[self.kind]
        return add_up(self.value, weight, len(self.column.values))


class EstimatedTable(NamedTuple):
    """One published table: how many people each entry stands for, and what it says of them."""

    group: IntArray
    people: FloatArray
    facets: Mapping[str, Facet]


def draw_rows(pieces: Sequence[EstimatedTable], rng: np.random.Generator) -> dict[str, IntArray]:
    """Draw a raw table that could be behind some tables: the code of each row, per column.

    The entries of each table are put into random order within their group, side by side.
    """
    drawn: dict[str, IntArray] = {}
    for each in pieces:
        entry = np.repeat(np.arange(len(each.people)), each.people.astype(np.int64))
        if len(pieces) > 1:
            entry = entry[np.lexsort((rng.random(len(entry)), each.group[entry]))]
        for name, facet in each.facets.items():
            drawn.setdefault(name, facet.draw(entry, rng))
    return drawn


class Estimator:
    """Answers counting queries from the tables of a release: Σ |group| · Π shares of the tables.

    What stands in one table is known together; between tables only the group is, so within a
    group they are taken to be independent. The rows behind a label are taken to be spread evenly
    over the raw values it covers, and independently of the row's other cells: no other assumption
    could be defended with the release alone. If a column stands in several tables, a condition on
    it is put to the table that answers most of the query, and to no other. Rows that were left
    out are not made up for.

    Queries are asked about the raw values of the original table. Nothing else of it is known.

    Args:
        tables: The published tables.
        columns: The columns of the original table.
        labels: The hierarchies and levels that labels come from, as far as they are known.

    References:
        LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006,
        doi:10.1109/ICDE.2006.101 (labels); Xiao and Tao, "Anatomy: simple and effective privacy
        preservation", VLDB 2006 (buckets); Li, Li, Zhang and Molloy, "Slicing: a new approach for
        privacy preserving data publishing", 2012, doi:10.1109/TKDE.2010.236 (slices)

    Example:
        >>> from sfumato.usefulness.queries import Query, among
        >>> ages = [(7, 30, "f", 1), (7, 40, "m", 1)]
        >>> ages = FrequencySet.from_rows(["bucket", "age", "sex", "count"], ages)
        >>> ills = [(7, "flu", 1), (7, "gout", 1)]
        >>> ills = FrequencySet.from_rows(["bucket", "ill", "count"], ills)
        >>> age, sex = Column("age", (30, 40)), Column("sex", ("f", "m"))
        >>> ill = Column("ill", ("flu", "gout"))
        >>> slices = LinkedTables((ages, ills), "bucket", "count")
        >>> release = Estimator(slices, (age, sex, ill))
        >>> release.count(Query((among(age, [30]), among(sex, ["f"]), among(ill, ["flu"]))))
        0.5
    """

    def __init__(
        self, tables: LinkedTables, columns: Sequence[Column], labels: Labels | None = None
    ) -> None:
        self.columns: tuple[Column, ...] = tuple(columns)
        """The columns of the original table it can be asked about."""

        self._sizes = tables.sizes
        self.total: float = float(self._sizes.sum())
        """The number of rows the release has."""

        for raw in columns:
            tables.column(raw.name)
        pieces = zip(tables.tables, tables.groups, tables.people, strict=True)
        self._pieces = [
            EstimatedTable(group, people, _facets(table, columns, labels or Labels()))
            for table, group, people in pieces
        ]

    @classmethod
    def of_table(
        cls, counts: FrequencySet, columns: Sequence[Column], labels: Labels | None = None
    ) -> Self:
        """Read a table in one piece, recoded as a whole or row by row.

        >>> from sfumato.usefulness.queries import Query, among
        >>> table = FrequencySet.from_rows(["age"], [(31,), (32,), (38,), (39,)])
        >>> release = FrequencySet.from_rows(["age"], [("30 to 39",)] * 4)
        >>> release = Estimator.of_table(release, table.columns)
        >>> release.count(Query((among(table.columns[0], [39]),)))
        1.0
        """
        return cls(LinkedTables((counts,)), columns, labels)

    @classmethod
    def of_original(cls, counts: FrequencySet) -> Self:
        """Read the original itself: every answer is exact, whatever its values look like.

        >>> from sfumato.usefulness.queries import Query, between
        >>> counts = FrequencySet.from_rows(["age"], [(31,), (32,), (38,)])
        >>> query = Query((between(counts.columns[0], 31, 35),))
        >>> Estimator.of_original(counts).count(query)
        2.0
        """
        return cls(LinkedTables((counts,)), counts.columns, RawLabels())

    @classmethod
    def of_weighted(
        cls,
        counts: FrequencySet,
        weights: FloatArray,
        columns: Sequence[Column],
        labels: Labels | None = None,
    ) -> Self:
        """Read a table in one piece whose rows stand for people: it counts those.

        Args:
            counts: The table without its weight.
            weights: How many people each combination stands for; see
                `sfumato.populations.weights.add_weights`.
            columns: As for the class.
            labels: As for the class.

        >>> from sfumato.usefulness.queries import Query, among
        >>> from sfumato.populations.weights import add_weights
        >>> rows = FrequencySet.from_rows(["sex", "w"], [("f", 20), ("m", 5), ("f", 10)])
        >>> sexes, people = add_weights(rows, "w")
        >>> survey = Estimator.of_weighted(sexes, people, sexes.columns)
        >>> survey.count(Query((among(sexes.columns[0], ["f"]),))), survey.total
        (30.0, 35.0)
        """
        found = cls(LinkedTables((counts,)), columns, labels)
        found._sizes, found.total = weights, float(weights.sum())
        found._pieces = [found._pieces[0]._replace(people=weights)]
        return found

    @classmethod
    def of_groups(
        cls, grouped: GroupedTables, columns: Sequence[Column], labels: Labels | None = None
    ) -> Self:
        """Read groups with one table per sensitive column, as joining them would."""
        names = [column.name for column in columns]
        return cls(LinkedTables.of(grouped, names), columns, labels)

    def scale_groups(self, shares: FloatArray) -> Self:
        """Return what counts a share of each group only, whoever they are.

        >>> from sfumato.usefulness.queries import Query, among
        >>> ills = FrequencySet.from_rows(["g", "ill"], [(1, "flu"), (1, "gout"), (2, "flu")])
        >>> release = Estimator(LinkedTables((ills,), "g"), ills.columns[1:])
        >>> query = Query((among(ills.columns[1], ["flu"]),))
        >>> release.count(query), release.scale_groups(np.array([0.5, 1.0])).count(query)
        (2.0, 1.5)
        """
        # A group of which nobody is left has no share of anything.
        shares = np.maximum(shares, 1e-12)
        pieces = [each._replace(people=each.people * shares[each.group]) for each in self._pieces]
        sizes = self._sizes * shares
        found = copy(self)
        vars(found).update(_sizes=sizes, _pieces=pieces, total=float(sizes.sum()))
        return found

    def count(self, query: Query) -> float:
        """Estimate how many rows keep all conditions of a query."""
        left = {self._check(each).column.name: each for each in query.conditions}
        people = self._sizes
        while left:
            best = max(self._pieces, key=lambda each: len(each.facets.keys() & left.keys()))
            matching = best.people
            for name in [name for name in best.facets if name in left]:
                matching = matching * best.facets[name].share(left.pop(name).allowed)
            if len(self._pieces) == 1:
                return float(matching.sum())
            people = people * self._share(best, matching)
        return float(people.sum())

    def counts(self, queries: Iterable[Query]) -> FloatArray:
        """Answer many queries."""
        return np.array([self.count(query) for query in queries], dtype=np.float64)

    def distribution(self, name: str) -> FloatArray:
        """Estimate how many rows, or people, have each value of a column."""
        piece = self._holding(name)
        return piece.facets[name].spread(piece.people)

    def joint(self, one: str, other: str) -> FloatArray:
        """Estimate how many rows have each pair of values of two columns."""
        n = len(self.column(one).values)
        if n > len(self.column(other).values):
            return self.joint(other, one).T
        table = np.empty((n, len(self.column(other).values)))
        together = [each for each in self._pieces if {one, other} <= each.facets.keys()]
        if together:
            first, second, people = _pairs(together[0], one, other)
            for code in range(n):
                table[code] = second.spread(people * first.share(np.arange(n) == code))
            return table
        here, there = self._holding(one), self._holding(other)
        for code in range(n):
            having = here.people * here.facets[one].share(np.arange(n) == code)
            share = self._share(here, having)
            table[code] = there.facets[other].spread(there.people * share[there.group])
        return table

    def in_lines(self, lines: Mapping[str, IntArray]) -> Self:
        """Return what counts lines of tables in place of values: ranges, or several categories.

        Args:
            lines: For each column the line that each of its values stands in.

        >>> ages = FrequencySet.from_rows(["age"], [(31,), (32,), (40,)])
        >>> release = Estimator.of_original(ages).in_lines({"age": np.array([0, 0, 1])})
        >>> release.distribution("age").tolist()
        [2.0, 1.0]
        """
        columns = {n: Column(n, tuple(range(int(each.max()) + 1))) for n, each in lines.items()}

        def cut(facet: Facet) -> Facet:
            name = facet.column.name
            return replace(facet, column=columns[name], value=lines[name][facet.value])

        pieces = [
            each._replace(facets={name: cut(facet) for name, facet in each.facets.items()})
            for each in self._pieces
        ]
        found = copy(self)
        found.columns = tuple(columns[column.name] for column in self.columns)
        vars(found).update(_pieces=pieces)
        return found

    def cross(self, names: Sequence[str]) -> FloatArray:
        """Estimate how many rows have each combination of values of some columns.

        >>> rows = FrequencySet.from_rows(["sex", "ill"], [("*", "flu"), ("m", "gout")])
        >>> columns = Column("sex", ("f", "m")), Column("ill", ("flu", "gout"))
        >>> Estimator.of_table(rows, columns).cross(["ill", "sex"]).tolist()
        [[0.5, 0.5], [0.0, 1.0]]
        """
        parts, left = list[tuple[EstimatedTable, list[str]]](), [*names]
        while left:
            best = max(self._pieces, key=lambda each: len(each.facets.keys() & {*left}))
            parts.append((best, [name for name in left if name in best.facets]))
            left = [name for name in left if name not in best.facets]
        order = [name for _, own in parts for name in own]
        shape = [len(self.column(name).values) for name in order]
        if len(parts) == 1:
            found = _count_cells(*parts[0])
        else:
            found = np.zeros((math.prod(shape[: -len(parts[-1][1])]), 1))
            step = max(1, _MOST_AT_ONCE // len(found))
            for low in range(0, len(self._sizes), step):
                sizes = self._sizes[low : low + step, None]
                first, *others = (_cells_by_group(*each, low, len(sizes)) for each in parts)
                for each in others[:-1]:
                    first = (first[:, :, None] * (each / sizes)[:, None, :]).reshape(len(sizes), -1)
                found = found + first.T @ (others[-1] / sizes)
        return found.reshape(shape).transpose([order.index(name) for name in names])

    def possible(self, rng: np.random.Generator) -> IntArray:
        """Draw a raw table that could be behind the release: a row of codes per column.

        The entries of each table are put into random order within their group, side by side.
        """
        drawn = draw_rows(self._pieces, rng)
        return np.array([drawn[column.name] for column in self.columns])

    def column(self, name: str) -> Column:
        """Find a column by name."""
        for column in self.columns:
            if column.name == name:
                return column
        known = [column.name for column in self.columns]
        raise UnknownColumnError(name, known, where="the columns of the estimate")

    def _check(self, condition: Condition) -> Condition:
        """Return a condition, or refuse one on other values than those of the original."""
        known = self.column(condition.column.name)
        if known.values != condition.column.values:
            raise ParameterError(
                "query",
                str(condition),
                f"about the values that the original table has in {known.name!r}",
                why="make the query from the columns that the estimator was made with",
            )
        return condition

    def _share(self, each: EstimatedTable, people: FloatArray) -> FloatArray:
        """Return for each group what share of it some people of a table's entries are."""
        found: FloatArray = add_up(each.group, people, len(self._sizes)) / self._sizes
        return found

    def _holding(self, name: str) -> EstimatedTable:
        return next(each for each in self._pieces if name in each.facets)


_MOST_AT_ONCE = 4_000_000
"""Cells of combinations that are computed at a time, so that memory stays small."""


def _count_cells(piece: EstimatedTable, names: Sequence[str]) -> FloatArray:
    """Return how many rows have each combination of values of some columns of one table."""
    facets = [piece.facets[name] for name in names]
    alike = group([facet.kinds for facet in facets], [facet.n for facet in facets])
    people = add_up(alike.of_item, piece.people, len(alike.first))
    *others, last = ((facet.shares(), facet.kinds[alike.first]) for facet in facets)
    width = math.prod(share.shape[1] for share, _ in others)
    found = np.zeros((width, last[0].shape[1]))
    step = max(1, _MOST_AT_ONCE // width)
    for start in range(0, len(people), step):
        part = slice(start, start + step)
        cells = people[part, None]
        for share, kinds in others:
            cells = (cells[:, :, None] * share[kinds[part]][:, None, :]).reshape(len(cells), -1)
        found += cells.T @ last[0][last[1][part]]
    return found


def _cells_by_group(
    piece: EstimatedTable, names: Sequence[str], low: int, groups: int
) -> FloatArray:
    """Return the same for each of some groups: a row per group, from one of them on."""
    entries = np.flatnonzero((piece.group >= low) & (piece.group < low + groups))
    cells = piece.people[entries, None]
    for name in names:
        likely = piece.facets[name].shares()[piece.facets[name].kinds[entries]]
        cells = (cells[:, :, None] * likely[:, None, :]).reshape(len(entries), -1)
    found = np.zeros((groups, cells.shape[1]))
    np.add.at(found, piece.group[entries] - low, cells)
    return found


def _facets(table: FrequencySet, columns: Sequence[Column], labels: Labels) -> dict[str, Facet]:
    return {
        raw.name: Facet.of(raw, table.codes_of(raw.name), labels.read(raw, table.column(raw.name)))
        for raw in columns
        if raw.name in table.names
    }


def _pairs(piece: EstimatedTable, one: str, other: str) -> tuple[Facet, Facet, FloatArray]:
    """Add up the people of entries that are of one kind in both columns."""
    first, second = piece.facets[one], piece.facets[other]
    groups = group([first.kinds, second.kinds], [first.n, second.n])
    people = add_up(groups.of_item, piece.people, groups.n)
    found = [replace(facet, kinds=facet.kinds[groups.first]) for facet in (first, second)]
    return found[0], found[1], people
