"""Sliced tables: attributes in slices that are independent of each other within a bucket."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.errors import UnknownColumnError
from sfumato.text import text_of
from sfumato.typing import FloatArray, IntArray
from sfumato.usefulness.entries import apart, people_of
from sfumato.usefulness.estimator import Estimator
from sfumato.usefulness.facet import Facet, added
from sfumato.usefulness.labels import Labels
from sfumato.usefulness.product import Product
from sfumato.usefulness.query import Query


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
        >>> from sfumato.usefulness.query import among
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
