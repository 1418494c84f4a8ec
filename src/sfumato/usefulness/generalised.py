"""Generalised tables: a label stands for the raw values under it."""

from collections.abc import Sequence

from sfumato.counts import Column, FrequencySet
from sfumato.usefulness.labels import Labels
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
        labels: The hierarchies and levels its labels come from, as far as they are known.

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
        self, counts: FrequencySet, columns: Sequence[Column], labels: Labels | None = None
    ) -> None:
        read = labels or Labels()
        facets = [
            read.facet(raw, counts.column(raw.name), counts.codes_of(raw.name)) for raw in columns
        ]
        super().__init__(counts.rows, facets)
