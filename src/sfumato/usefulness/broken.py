"""Broken tables: sensitive columns are independent of each other within a group."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.broken import Broken, SensitiveTable
from sfumato.counts import Column
from sfumato.errors import UnknownColumnError
from sfumato.hierarchy import Ladder
from sfumato.usefulness.covering import Covering
from sfumato.usefulness.facet import Facet
from sfumato.usefulness.product import Product


class BrokenTable(Product):
    """Answers from the tables of a broken release, as joining them would: Σ |G ∩ q| · Π shares.

    A group's labels are read as those of a generalised table are. Its sensitive columns are
    published apart, so each answers with its own share of the group's rows.

    Args:
        broken: The groups.
        columns: The columns of the original table.
        ladders: The hierarchies of the quasi-identifiers that have one.
        levels: The level of each column that was published at one level.

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
        self,
        broken: Broken,
        columns: Sequence[Column],
        *,
        ladders: Mapping[str, Ladder] | None = None,
        levels: Mapping[str, int] | None = None,
    ) -> None:
        labels = {column.name: at for at, column in enumerate(broken.quasi_identifiers)}
        facets = []
        for raw in columns:
            if raw.name in labels:
                at = labels[raw.name]
                covering = Covering(
                    raw, (ladders or {}).get(raw.name), (levels or {}).get(raw.name)
                )
                covered = covering.all(broken.quasi_identifiers[at].values)
                facets.append(Facet.of(raw, broken.labels[at], covered))
            elif raw.name in broken.names:
                facets.append(_sensitive(broken.table(raw.name), raw, len(broken)))
            else:
                known = (*labels, *broken.names)
                raise UnknownColumnError(raw.name, known, where="the broken tables")
        super().__init__(broken.sizes, facets)


def _sensitive(table: SensitiveTable, raw: Column, n: int) -> Facet:
    """A group is a kind of its own, with as many chances for a value as rows that have it."""
    covered = Covering(raw).all(table.column.values)
    codes = np.concatenate([np.empty(0, dtype=np.int64), *covered])
    widths = np.array([len(each) for each in covered], dtype=np.int64)
    width = widths[table.value]
    # Where the codes of an entry's value begin, and how far into them each code is.
    begin = np.repeat((np.cumsum(widths) - widths)[table.value], width)
    into = np.arange(width.sum()) - np.repeat(np.cumsum(width) - width, width)
    weight = np.repeat(table.rows / np.maximum(width, 1), width)
    return Facet(raw, np.arange(n), np.repeat(table.group, width), codes[begin + into], weight, n)
