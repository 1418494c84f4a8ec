"""Bucketization: exact quasi-identifiers, in buckets that keep the models of the policy."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.counts import Column, FrequencySet, group, sums
from sfumato.dataclasses import dataclass
from sfumato.decouplings.anatomy import GIVES_AWAY, NOT_BY_LOT, publish_buckets
from sfumato.decouplings.base import (
    Decoupling,
    GroupedTables,
    Parts,
    SensitiveTable,
    only_sensitive,
    random_labels,
    read_together,
)
from sfumato.decouplings.guide import write_companions
from sfumato.errors import InputError, ParameterError, UnknownNameError, require_int
from sfumato.models import DistinctLDiversity, PrivacyModel
from sfumato.models.base import promise_text
from sfumato.partition import PARTITIONERS
from sfumato.policy import FULL_DOMAIN
from sfumato.tables.derived import Cells
from sfumato.typing import IntArray


def _without_figures(model: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in model.items() if key != "measured"}


@dataclass(frozen=True)
class Bucketization(Decoupling):
    """Part people into buckets that keep the policy's models, and publish exact values apart.

    The table of quasi-identifiers has one row per person with exact values and a bucket; the
    sensitive table says how many people of a bucket have which value. The buckets are given, as a
    column of the table, or any method of local recoding makes them: its classes, without their
    labels. Models judge a bucket as they judge a class. No row is left out.

    Promises: every bucket keeps each model of the policy that looks at the sensitive column; if
    there is none, it has at least l of its values. Labels of buckets and the order of rows are
    random; the values of a column of buckets are not published.
    Assumes: that every way of joining the two tables of a bucket is equally likely to the
    adversary, and that buckets of your own were not chosen by what is to stay secret.
    Does not promise: to hide who is in the data, for who knows a person's quasi-identifiers finds
    the row. Models of class sizes alone (k-anonymity) are kept as numbers of people in a bucket,
    and not promised, for exact values tell these people apart. Nor anything against those who know
    how the buckets were cut, or learn from all buckets together which values go with which
    quasi-identifiers: `attacks.DeFinetti` tries that.
    Several sensitive columns are refused, as by anatomy.

    Reference: Martin, Kifer, Machanavajjhala, Gehrke and Halpern, "Worst-case background knowledge
    for privacy-preserving data publishing", 2007, doi:10.1109/ICDE.2007.367858

    Args:
        column: The column of the table that holds the bucket of each row. None lets a method make
            them.
        partition: The method that makes the buckets: full-domain or a local one, such as
            mondrian. None takes that of the policy where it is a local one, and mondrian
            otherwise.
        l: Fewest different values of a bucket where no model looks at the sensitive column; 2 or
            more.
        together: Columns that stay together, as lists of names or as texts with + between them:
            sensitive ones, or a plain one beside a sensitive one. They are published side by side,
            and their combination counts as one sensitive value.

    Example:
        >>> rows = [("a", "47677", "flu"), ("a", "47602", "gout"), ("b", "47905", "flu"),
        ...     ("b", "47909", "hiv")]
        >>> counts = FrequencySet.from_rows(["ward", "zip", "ill"], rows)
        >>> buckets = Bucketization(column="ward")
        >>> parts = buckets.run(counts, ["zip"], ["ill"], rng=np.random.default_rng())
        >>> parts.grouped.sizes.tolist(), parts.grouped.table("ill").rows.tolist()
        ([2, 2], [1, 1, 1, 1])
    """

    name: ClassVar[str] = "bucketization"
    why_no_ledger: ClassVar[str | None] = NOT_BY_LOT
    groups: ClassVar[tuple[str, str]] = ("bucket", "buckets")
    keeps_classes: ClassVar[bool] = False
    notes: ClassVar[tuple[str, ...]] = (GIVES_AWAY,)

    column: str | None = None
    partition: str | None = None
    l: int = 2
    together: tuple[str | tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "together", read_together(self.together))
        require_int("l", self.l, at_least=2, why="with l=1 a bucket hides no person")
        if self.column is not None and self.partition is not None:
            why = "the column says already which bucket a row is in. Leave out one of the two"
            raise ParameterError("partition", self.partition, "left out", why=why)
        if self.column is not None and not isinstance(self.column, str):
            raise ParameterError("column", self.column, "the name of a column")
        if self.partition is not None and self.partition not in (FULL_DOMAIN, *PARTITIONERS):
            known = [FULL_DOMAIN, *PARTITIONERS]
            raise UnknownNameError(PARTITIONERS.what, str(self.partition), known)

    @property
    def needs(self) -> tuple[str, ...]:
        return () if self.column is None else (self.column,)

    def models_of(
        self, models: Sequence[PrivacyModel], sensitive: Sequence[str]
    ) -> tuple[PrivacyModel, ...]:
        """Return what every bucket must keep.

        Args:
            models: What is asked of the table.
            sensitive: The sensitive columns.
        """
        looked_at = {column for model in models for column in model.columns}
        more = [DistinctLDiversity(name, self.l) for name in sensitive if name not in looked_at]
        return (*models, *more)

    def bucket_column(
        self, counts: FrequencySet, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
    ) -> str:
        """Return the column of the counts that says which bucket a row is in."""
        if self.column in sensitive:
            why = "the buckets would reveal the value"
            raise ParameterError("column", self.column, "no sensitive column", why=why)
        if self.column is not None:
            self._require_known(counts.column(self.column), counts.value_counts(self.column))
            return self.column
        # The last column, which a method made.
        return counts.names[-1]

    def _require_known(self, column: Column, rows: IntArray) -> None:
        if column.missing >= 0 and rows[column.missing]:
            raise InputError(
                f"{int(rows[column.missing])} rows have no bucket: {column.name!r} is empty there. "
                "Give each row a bucket, or leave the column out and let a method make them."
            )

    def run(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        *,
        rng: np.random.Generator,
        plain: Sequence[str] = (),
    ) -> Parts:
        name = only_sensitive(sensitive)
        bucket = counts.group_by([self.bucket_column(counts, quasi_identifiers, sensitive)])
        grouped = _group_tables(counts, name, bucket.of_item, bucket.n, rng)
        columns = [counts.column(each) for each in (*quasi_identifiers, *plain)]
        codes = [counts.codes_of(each.name) for each in columns]
        alike = group([bucket.of_item, *codes], [bucket.n, *(len(c.values) for c in columns)])
        first = alike.first
        kinds: Cells = (grouped.labelled[bucket.of_item[first]], *(each[first] for each in codes))
        people = sums(alike.of_item, counts.rows, alike.n)
        return publish_buckets(grouped, columns, kinds, people, rng)

    def companions(self, parts: Parts, manifest: Mapping[str, Any]) -> dict[str, str]:
        promises = [promise_text(_without_figures(model)) for model in manifest["models"]]
        return write_companions("bucketization", parts, manifest, self.groups, promises=promises)

    @classmethod
    def example(cls) -> Self:
        return cls(partition="mondrian")


def _group_tables(
    counts: FrequencySet, sensitive: str, bucket: IntArray, n: int, rng: np.random.Generator
) -> GroupedTables:
    """Count the values of each bucket. Buckets have no quasi-identifiers in common."""
    column, value = counts.column(sensitive), counts.codes_of(sensitive)
    cells = group([bucket, value], [n, len(column.values)])
    rows = sums(cells.of_item, counts.rows, cells.n)
    table = SensitiveTable(column, bucket[cells.first], value[cells.first], rows)
    sizes, nothing = sums(bucket, counts.rows, n), np.empty((0, n), dtype=np.int32)
    return GroupedTables((), nothing, sizes, (table,), random_labels(n, rng))
