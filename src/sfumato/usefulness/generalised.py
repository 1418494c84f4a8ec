"""Generalised tables: a label stands for the raw values under it."""

from collections.abc import Mapping, Sequence

from sfumato.counts import Column, FrequencySet
from sfumato.hierarchy import Ladder
from sfumato.usefulness.covering import Covering
from sfumato.usefulness.facet import Facet
from sfumato.usefulness.product import Product


class Generalised(Product):
    """Answers from a table with one label per cell, recoded as a whole or row by row.

    Assumes that the rows behind a label are spread evenly over the raw values it covers, and
    independently of the row's other cells: no other assumption could be defended by
    somebody who has only the release. The raw values are those that the original has.
    Rows that were left out are not made up for.

    Args:
        counts: The published table.
        columns: The columns of the original table.
        ladders: The hierarchies of the columns that have one.
        levels: The level of each column that was published at one level.

    Reference: LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006,
    doi:10.1109/ICDE.2006.101

    Example:
        >>> from sfumato.usefulness.query import Query, among
        >>> table = FrequencySet.from_rows(["age"], [(31,), (32,), (38,), (39,)])
        >>> release = FrequencySet.from_rows(["age"], [("30-39",)] * 4)
        >>> Generalised(release, table.columns).count(Query((among(table.columns[0], [39]),)))
        1.0
    """

    def __init__(
        self,
        counts: FrequencySet,
        columns: Sequence[Column],
        *,
        ladders: Mapping[str, Ladder] | None = None,
        levels: Mapping[str, int] | None = None,
    ) -> None:
        facets = []
        for raw in columns:
            covering = Covering(raw, (ladders or {}).get(raw.name), (levels or {}).get(raw.name))
            covered = covering.all(counts.column(raw.name).values)
            facets.append(Facet.of(raw, counts.codes_of(raw.name), covered))
        super().__init__(counts.rows, facets)
