"""Anatomised tables: exact quasi-identifiers, and buckets of sensitive values apart from them."""

from collections.abc import Sequence

import numpy as np

from sfumato.counts import Column, FrequencySet, aligned
from sfumato.typing import CodeArray, FloatArray, IntArray
from sfumato.usefulness.covering import Covering
from sfumato.usefulness.entries import apart, people_of
from sfumato.usefulness.facet import Facet, added
from sfumato.usefulness.labels import Labels
from sfumato.usefulness.product import Product


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
        >>> from sfumato.usefulness.query import Query, among
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
