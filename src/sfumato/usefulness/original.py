"""The original table: every answer is exact."""

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.usefulness.facet import Facet
from sfumato.usefulness.product import Product


class Original(Product):
    """Answers from the table itself.

    Args:
        counts: The table.

    Example:
        >>> from sfumato.usefulness.query import Query, between
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
