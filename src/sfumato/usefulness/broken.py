"""Broken tables: sensitive columns are independent of each other within a group."""

from collections.abc import Sequence

import numpy as np

from sfumato.broken import Broken, SensitiveTable
from sfumato.counts import Column
from sfumato.errors import UnknownColumnError
from sfumato.usefulness.covering import Covering
from sfumato.usefulness.facet import Facet
from sfumato.usefulness.labels import Labels
from sfumato.usefulness.product import Product


class BrokenTable(Product):
    """Answers from the tables of a broken release, as joining them would: Σ |G ∩ q| · Π shares.

    A group's labels are read as those of a generalised table are. Its sensitive columns are
    published apart, so each answers with its own share of the group's rows.

    Args:
        broken: The groups.
        columns: The columns of the original table.
        labels: The hierarchies and levels of the quasi-identifiers, as far as they are known.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> from sfumato.usefulness.query import Query, among
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "high")]
        >>> table = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> release = BrokenTable(Broken.of(table, ["age"], ["ill", "pay"]), table.columns)
        >>> ill, pay = table.columns[1:]
        >>> release.count(Query((among(ill, ["flu"]), among(pay, ["high"]))))
        0.5
    """

    def __init__(
        self, broken: Broken, columns: Sequence[Column], labels: Labels | None = None
    ) -> None:
        read = labels or Labels()
        shown = {column.name: at for at, column in enumerate(broken.quasi_identifiers)}
        facets = []
        for raw in columns:
            if raw.name in shown:
                at = shown[raw.name]
                facets.append(read.facet(raw, broken.quasi_identifiers[at], broken.labels[at]))
            elif raw.name in broken.names:
                facets.append(_sensitive(raw, broken.table(raw.name), len(broken)))
            else:
                known = (*shown, *broken.names)
                raise UnknownColumnError(raw.name, known, where="the broken tables")
        super().__init__(broken.sizes, facets)


def _sensitive(raw: Column, table: SensitiveTable, n: int) -> Facet:
    """Every group is a kind of its own."""
    covered = Covering(raw).all(table.column.values)
    return Facet.counted(raw, np.arange(n), table.group, table.value, table.rows, covered)
