"""Releases whose columns are independent of each other within every item."""

from collections.abc import Sequence

import numpy as np

from sfumato.counts import group
from sfumato.typing import FloatArray, IntArray
from sfumato.usefulness.estimator import Estimator
from sfumato.usefulness.facet import Facet, added
from sfumato.usefulness.query import Query


class Product(Estimator):
    """Estimates Σ rows · Π shares: over the items, and over the columns of a query.

    Args:
        rows: How many rows each item has.
        facets: What is said about each column.

    Example:
        >>> from sfumato.counts import Column
        >>> from sfumato.usefulness.query import among
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
