"""What a reader of a release would answer."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from sfumato.counts import Column, FrequencySet, aligned, group
from sfumato.decouplings.base import GroupedTables, SensitiveTable
from sfumato.errors import InputError, ParameterError, UnknownColumnError
from sfumato.hierarchy import Ladder
from sfumato.hierarchy.labels import Covering
from sfumato.text import number_of, text_of
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray
from sfumato.usefulness.queries import Condition, Query


class Estimator(ABC):
    """Answers counting queries from one kind of release; one file per kind.

    Queries are asked about the raw values of the original table, whose columns an estimator
    is given. It knows nothing else of the original.
    """

    columns: tuple[Column, ...]
    """The columns of the original table it can be asked about."""

    total: float
    """How many rows the release has."""

    @abstractmethod
    def count(self, query: Query) -> float:
        """Estimate how many rows keep all conditions of a query."""

    @abstractmethod
    def joint(self, one: str, other: str) -> FloatArray:
        """Estimate how many rows have each pair of values of two columns."""

    @abstractmethod
    def possible(self, rng: np.random.Generator) -> IntArray:
        """Draw a raw table that could be behind the release: a row of codes per column."""

    def counts(self, queries: Iterable[Query]) -> FloatArray:
        """Answer many queries."""
        return np.array([self.count(query) for query in queries], dtype=np.float64)

    def column(self, name: str) -> Column:
        """Find a column by name."""
        for column in self.columns:
            if column.name == name:
                return column
        known = [column.name for column in self.columns]
        raise UnknownColumnError(name, known, where="the columns of the estimate")

    def checked(self, condition: Condition) -> Condition:
        """Refuse a condition on other values than those of the original."""
        known = self.column(condition.column.name)
        if known.values != condition.column.values:
            raise ParameterError(
                "query",
                str(condition),
                f"about the values that the original table has in {known.name!r}",
                why="make the query from the columns that the estimator was made with",
            )
        return condition


# What a release says about one column.


def added(of_item: IntArray | CodeArray, weight: FloatArray, n: int) -> FloatArray:
    """Add up the weights of the items of each group.

    >>> added(np.array([0, 1, 0]), np.array([0.5, 1.0, 2.0]), 2).tolist()
    [2.5, 1.0]
    """
    return np.bincount(of_item, weights=weight, minlength=n).astype(np.float64, copy=False)


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
    """How many kinds there are."""

    @classmethod
    def of(cls, column: Column, kinds: IntArray | CodeArray, covered: Sequence[IntArray]) -> Self:
        """Make every value that a kind covers equally likely."""
        kind = np.repeat(np.arange(len(covered)), [len(codes) for codes in covered])
        value = np.concatenate([np.empty(0, dtype=np.int64), *covered])
        return cls(column, kinds, kind, value, np.ones(len(kind)), len(covered))

    @classmethod
    def counted(
        cls,
        column: Column,
        kinds: IntArray | CodeArray,
        kind: IntArray | CodeArray,
        label: CodeArray,
        rows: IntArray | FloatArray,
        covered: Sequence[IntArray],
    ) -> Self:
        """Make a value as likely as it is frequent in a kind: so many rows of it have a label.

        >>> ill, flu, gout = Column("ill", ("flu", "gout")), np.array([0]), np.array([1])
        >>> one, both = np.array([0, 0, 0, 0]), np.array([0, 1])
        >>> facet = Facet.counted(ill, one, one[:2], both, np.array([3, 1]), [flu, gout])
        >>> facet.share(np.array([True, False])).tolist()
        [0.75, 0.75, 0.75, 0.75]
        """
        codes = np.concatenate([np.empty(0, dtype=np.int64), *covered])
        widths = np.array([len(each) for each in covered], dtype=np.int64)
        width = widths[label]
        # Where the codes of an entry's label begin, and how far into them each code is.
        begin = np.repeat((np.cumsum(widths) - widths)[label], width)
        into = np.arange(width.sum()) - np.repeat(np.cumsum(width) - width, width)
        weight = np.repeat(rows / np.maximum(width, 1), width)
        n = int(max(kinds.max(initial=-1), kind.max(initial=-1))) + 1
        of_kind: IntArray = np.repeat(kind.astype(np.int64), width)
        return cls(column, kinds, of_kind, codes[begin + into], weight, n)

    @cached_property
    def _total(self) -> FloatArray:
        return added(self.kind, self.weight, self.n)

    def share(self, allowed: BoolArray | FloatArray) -> FloatArray:
        """Say for each item how likely one of these values is, or that share of each."""
        likely = added(self.kind, self.weight * allowed[self.value], self.n)
        # Divided last: if all values are allowed, the share is exactly 1.
        found: FloatArray = (likely / np.maximum(self._total, 1e-300))[self.kinds]
        return found

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
        of_kind = added(self.kinds, mass, self.n)
        per_weight = of_kind / np.maximum(self._total, 1e-300)
        weight = self.weight * per_weight[self.kind]
        return added(self.value, weight, len(self.column.values))


# Releases whose columns are independent of each other within every item.


class Product(Estimator):
    """Estimates Σ rows · Π shares: over the items, and over the columns of a query.

    Args:
        rows: How many rows each item has.
        facets: What is said about each column.

    Example:
        >>> from sfumato.counts import Column
        >>> from sfumato.usefulness.queries import among
        >>> sex, ill = Column("sex", ("f", "m")), Column("ill", ("flu", "gout"))
        >>> both, one = np.array([0, 1]), np.array([0])
        >>> facets = [Facet.of(column, one, [both]) for column in (sex, ill)]
        >>> release = Product(np.array([8]), facets)
        >>> release.count(Query((among(sex, ["f"]), among(ill, ["flu"]))))
        2.0
    """

    def __init__(self, rows: IntArray | FloatArray, facets: Sequence[Facet]) -> None:
        self._rows = rows.astype(np.float64)
        self._facets = {facet.column.name: facet for facet in facets}
        self.columns = tuple(facet.column for facet in facets)
        self.total = float(self._rows.sum())

    def count(self, query: Query) -> float:
        rows = self._rows
        for condition in query.conditions:
            facet = self._facets[self.checked(condition).column.name]
            rows = rows * facet.share(condition.allowed)
        return float(rows.sum())

    def joint(self, one: str, other: str) -> FloatArray:
        if len(self.column(one).values) > len(self.column(other).values):
            return self.joint(other, one).T
        first, second, rows = self._pairs(self._facets[one], self._facets[other])
        n = len(first.column.values)
        table = np.empty((n, len(second.column.values)))
        for code in range(n):
            table[code] = second.spread(rows * first.share(np.arange(n) == code))
        return table

    def possible(self, rng: np.random.Generator) -> IntArray:
        items = np.repeat(np.arange(len(self._rows)), self._rows.astype(np.int64))
        return np.array([self._facets[column.name].draw(items, rng) for column in self.columns])

    def _pairs(self, one: Facet, other: Facet) -> tuple[Facet, Facet, FloatArray]:
        """Put items together that are of one kind in both columns."""
        groups = group([one.kinds, other.kinds], [one.n, other.n])
        rows = added(groups.of_item, self._rows, groups.n)
        return _at(one, groups.first), _at(other, groups.first), rows


def _at(facet: Facet, items: IntArray) -> Facet:
    return Facet(facet.column, facet.kinds[items], facet.kind, facet.value, facet.weight, facet.n)


# The original table: every answer is exact.


class Original(Product):
    """Answers from the table itself.

    Args:
        counts: The table.

    Example:
        >>> from sfumato.usefulness.queries import Query, between
        >>> counts = FrequencySet.from_rows(["age"], [(31,), (32,), (39,)])
        >>> Original(counts).count(Query((between(counts.columns[0], 31, 35),)))
        2.0
    """

    def __init__(self, counts: FrequencySet) -> None:
        facets = [
            Facet.of(column, counts.codes_of(column.name), _themselves(len(column.values)))
            for column in counts.columns
        ]
        super().__init__(counts.rows, facets)


def _themselves(n: int) -> list[np.ndarray]:
    return list(np.arange(n).reshape(n, 1))


# What the labels of a column say, with the hierarchies and levels a reader knows.


@dataclass(frozen=True, eq=False)
class Labels:
    """What a reader of labels knows besides them.

    Example:
        >>> import numpy as np
        >>> raw, shown = Column("age", (31, 32, 45)), Column("age", ("30-39", 45))
        >>> facet = Labels().facet(raw, shown, np.array([0, 0, 1]))
        >>> facet.share(np.array([True, False, True])).tolist()
        [0.5, 0.5, 1.0]
    """

    ladders: Mapping[str, Ladder] = field(default_factory=dict)
    """The hierarchies of the columns that have one."""

    levels: Mapping[str, int] = field(default_factory=dict)
    """The level of each column that was published at one level."""

    def facet(self, raw: Column, shown: Column, codes: CodeArray) -> Facet:
        """Spread rows evenly over the raw values that their label covers.

        Args:
            raw: The column of the original table.
            shown: The same column as it was published.
            codes: The label of each item.
        """
        covering = Covering(raw, self.ladders.get(raw.name), self.levels.get(raw.name))
        return Facet.of(raw, codes, covering.all(shown.values))


# Generalised tables: a label stands for the raw values under it.


class Generalised(Product):
    """Answers from a table with one label per cell, recoded as a whole or row by row.

    Assumes that the rows behind a label are spread evenly over the raw values it covers, and
    independently of the row's other cells: no other assumption could be defended by
    somebody who has only the release. The raw values are those that the original has.
    Rows that were left out are not made up for.

    Args:
        counts: The published table.
        columns: The columns of the original table.
        labels: The hierarchies and levels its labels come from, as far as they are known.

    Reference: LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006,
    doi:10.1109/ICDE.2006.101

    Example:
        >>> from sfumato.usefulness.queries import Query, among
        >>> table = FrequencySet.from_rows(["age"], [(31,), (32,), (38,), (39,)])
        >>> release = FrequencySet.from_rows(["age"], [("30-39",)] * 4)
        >>> Generalised(release, table.columns).count(Query((among(table.columns[0], [39]),)))
        1.0
    """

    def __init__(
        self, counts: FrequencySet, columns: Sequence[Column], labels: Labels | None = None
    ) -> None:
        read = labels or Labels()
        facets = [
            read.facet(raw, counts.column(raw.name), counts.codes_of(raw.name)) for raw in columns
        ]
        super().__init__(counts.rows, facets)


# Grouped tables: sensitive columns are independent of each other within a group.


class GroupedEstimator(Product):
    """Answers from the tables of a decoupled release, as joining them would: Σ |G ∩ q| · Π shares.

    A group's labels are read as those of a generalised table are. Its sensitive columns are
    published apart, so each answers with its own share of the group's rows.

    Args:
        grouped: The groups.
        columns: The columns of the original table.
        labels: The hierarchies and levels of the quasi-identifiers, as far as they are known.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> from sfumato.usefulness.queries import Query, among
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "high")]
        >>> table = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> grouped = GroupedTables.of(table, ["age"], ["ill", "pay"])
        >>> release = GroupedEstimator(grouped, table.columns)
        >>> ill, pay = table.columns[1:]
        >>> release.count(Query((among(ill, ["flu"]), among(pay, ["high"]))))
        0.5
    """

    def __init__(
        self, grouped: GroupedTables, columns: Sequence[Column], labels: Labels | None = None
    ) -> None:
        read = labels or Labels()
        shown = {column.name: at for at, column in enumerate(grouped.quasi_identifiers)}
        facets = []
        for raw in columns:
            if raw.name in shown:
                at = shown[raw.name]
                facets.append(read.facet(raw, grouped.quasi_identifiers[at], grouped.labels[at]))
            elif raw.name in grouped.names:
                facets.append(_sensitive(raw, grouped.table(raw.name), len(grouped)))
            else:
                known = (*shown, *grouped.names)
                raise UnknownColumnError(raw.name, known, where="the decoupled tables")
        super().__init__(grouped.sizes, facets)


def _sensitive(raw: Column, table: SensitiveTable, n: int) -> Facet:
    """Every group is a kind of its own."""
    covered = Covering(raw).all(table.column.values)
    return Facet.counted(raw, np.arange(n), table.group, table.value, table.rows, covered)


# Published tables whose rows say how many people they stand for.


def people_of(table: FrequencySet, count: str) -> FloatArray:
    """Read how many people each entry stands for, which a CSV file holds as text.

    >>> people_of(FrequencySet.from_rows(["ill", "count"], [("flu", "2"), ("gout", 1)]), "count")
    array([2., 1.])
    """
    numbers = np.array([number_of(number) or 0.0 for number in table.column(count).values])
    found: FloatArray = table.rows * numbers[table.codes_of(count)]
    return found


def apart() -> InputError:
    """Say that buckets differ from table to table."""
    return InputError(
        "the tables do not belong together: a bucket has not as many people in one as in another. "
        "See what is wrong with them: sfumato verify."
    )


# Anatomised tables: exact quasi-identifiers, and buckets of sensitive values apart from them.


class Anatomised(Product):
    """Answers from a table of people and a table of values, linked by buckets.

    Who in a bucket has which value nobody can tell, so everybody is taken to have each of its
    values as often as it is in the bucket. Queries about quasi-identifiers alone are exact.

    Args:
        people: The bucket and the quasi-identifiers of everybody.
        values: Bucket, value and how many people of the bucket have it.
        columns: The columns of the original table.
        labels: The hierarchies and levels of the quasi-identifiers, if they were generalised.
        bucket: What the column of buckets is called in both.
        count: What the column of numbers is called.

    Reference: Xiao and Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006.

    Example:
        >>> from sfumato.usefulness.queries import Query, among
        >>> people = FrequencySet.from_rows(["bucket", "zip"], [(7, "47677"), (7, "47602")])
        >>> ills = [(7, "flu", 1), (7, "gout", 1)]
        >>> values = FrequencySet.from_rows(["bucket", "ill", "count"], ills)
        >>> columns = Column("zip", ("47602", "47677")), Column("ill", ("flu", "gout"))
        >>> release = Anatomised(people, values, columns, bucket="bucket", count="count")
        >>> release.count(Query((among(columns[0], ["47602"]), among(columns[1], ["flu"]))))
        0.5
    """

    def __init__(
        self,
        people: FrequencySet,
        values: FrequencySet,
        columns: Sequence[Column],
        labels: Labels | None = None,
        *,
        bucket: str,
        count: str,
    ) -> None:
        read = labels or Labels()
        people, values = aligned(people, values, [bucket])
        rows = people_of(values, count)
        buckets = people.codes_of(bucket), values.codes_of(bucket)
        _require_equal(buckets, people.rows, rows)
        facets = []
        for raw in columns:
            table = values if raw.name in values.names else people
            shown, codes = table.column(raw.name), table.codes_of(raw.name)
            if table is people:
                facets.append(read.facet(raw, shown, codes))
            else:
                covered = Covering(raw).all(shown.values)
                facets.append(Facet.counted(raw, *buckets, codes, rows, covered))
        super().__init__(people.rows, facets)


def _require_equal(
    buckets: tuple[CodeArray, CodeArray], people: IntArray, values: FloatArray
) -> None:
    n = int(max(codes.max(initial=-1) for codes in buckets)) + 1
    sizes = added(buckets[0], people.astype(np.float64), n)
    if not np.array_equal(sizes, added(buckets[1], values, n)):
        raise apart()


# Sliced tables: attributes in slices that are independent of each other within a bucket.


class _Slice(NamedTuple):
    """Some attributes, and how many people of each bucket have which values of them."""

    bucket: IntArray
    """The bucket of each entry."""

    people: FloatArray
    facets: Mapping[str, Facet]


class Sliced(Estimator):
    """Answers from slices that are linked by buckets alone: Σ |B| · Π shares of the slices.

    What stands in one slice is known together; between slices only the bucket is. If an
    attribute stands in several slices, a condition on it is put to the slice that answers most
    of the query, and to no other.

    Args:
        slices: The published tables: the bucket, some attributes, and how many people have them.
        columns: The columns of the original table.
        labels: The hierarchies and levels of the columns, if they were generalised.
        bucket: What the column of buckets is called in all of them.
        count: What the column of numbers is called.

    Reference: Li, Li, Zhang and Molloy, "Slicing: a new approach for privacy preserving data
    publishing", 2012, doi:10.1109/TKDE.2010.236

    Example:
        >>> from sfumato.usefulness.queries import among
        >>> ages = [(7, 30, "f", 1), (7, 40, "m", 1)]
        >>> ills = [(7, "flu", 1), (7, "gout", 1)]
        >>> slices = [
        ...     FrequencySet.from_rows(["bucket", "age", "sex", "count"], ages),
        ...     FrequencySet.from_rows(["bucket", "ill", "count"], ills),
        ... ]
        >>> age, sex = Column("age", (30, 40)), Column("sex", ("f", "m"))
        >>> ill = Column("ill", ("flu", "gout"))
        >>> release = Sliced(slices, (age, sex, ill), bucket="bucket", count="count")
        >>> release.count(Query((among(age, [30]), among(sex, ["f"]), among(ill, ["flu"]))))
        0.5
    """

    def __init__(
        self,
        slices: Sequence[FrequencySet],
        columns: Sequence[Column],
        labels: Labels | None = None,
        *,
        bucket: str,
        count: str,
    ) -> None:
        self.columns = tuple(columns)
        number = _numbered([table.column(bucket) for table in slices])
        self._slices = [
            _Slice(
                _buckets(table, bucket, number),
                people_of(table, count),
                _facets(table, columns, labels or Labels()),
            )
            for table in slices
        ]
        for raw in columns:
            self._holding(raw.name)
        sizes = [added(each.bucket, each.people, len(number)) for each in self._slices]
        if not all(np.array_equal(each, sizes[0]) for each in sizes):
            raise apart()
        self._sizes = sizes[0]
        self.total = float(self._sizes.sum())

    def count(self, query: Query) -> float:
        left = {self.checked(each).column.name: each for each in query.conditions}
        people = self._sizes
        while left:
            best = max(self._slices, key=lambda each: len(each.facets.keys() & left.keys()))
            matching = best.people
            for name in [name for name in best.facets if name in left]:
                matching = matching * best.facets[name].share(left.pop(name).allowed)
            people = people * self._share(best, matching)
        return float(people.sum())

    def joint(self, one: str, other: str) -> FloatArray:
        for each in self._slices:
            if {one, other} <= each.facets.keys():
                pair = [each.facets[one], each.facets[other]]
                return Product(each.people, pair).joint(one, other)
        first, second = self._holding(one), self._holding(other)
        n = len(self.column(one).values)
        table = np.empty((n, len(self.column(other).values)))
        for code in range(n):
            having = first.people * first.facets[one].share(np.arange(n) == code)
            share = self._share(first, having)
            table[code] = second.facets[other].spread(second.people * share[second.bucket])
        return table

    def possible(self, rng: np.random.Generator) -> IntArray:
        """Put the entries of each slice into random order within their bucket, side by side."""
        drawn: dict[str, IntArray] = {}
        for each in self._slices:
            entry = np.repeat(np.arange(len(each.people)), each.people.astype(np.int64))
            entry = entry[np.lexsort((rng.random(len(entry)), each.bucket[entry]))]
            for name, facet in each.facets.items():
                drawn.setdefault(name, facet.draw(entry, rng))
        return np.array([drawn[column.name] for column in self.columns])

    def _share(self, each: _Slice, people: FloatArray) -> FloatArray:
        """Say for each bucket what share of it some people of a slice's entries are."""
        found: FloatArray = added(each.bucket, people, len(self._sizes)) / self._sizes
        return found

    def _holding(self, name: str) -> _Slice:
        for each in self._slices:
            if name in each.facets:
                return each
        known = dict.fromkeys(held for each in self._slices for held in each.facets)
        raise UnknownColumnError(name, known, where="the slices")


def _numbered(columns: Sequence[Column]) -> dict[str, int]:
    """Number the buckets by how they are written, which may differ in type from file to file."""
    texts = dict.fromkeys(text_of(value) for column in columns for value in column.values)
    return {text: number for number, text in enumerate(texts)}


def _buckets(table: FrequencySet, bucket: str, number: Mapping[str, int]) -> IntArray:
    numbers = [number[text_of(value)] for value in table.column(bucket).values]
    found: IntArray = np.array(numbers, dtype=np.int64)[table.codes_of(bucket)]
    return found


def _facets(table: FrequencySet, columns: Sequence[Column], labels: Labels) -> dict[str, Facet]:
    return {
        raw.name: labels.facet(raw, table.column(raw.name), table.codes_of(raw.name))
        for raw in columns
        if raw.name in table.names
    }
