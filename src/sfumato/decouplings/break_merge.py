"""Break-Merge: the quasi-identifiers in one table, each sensitive column in another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.broken import Broken, SensitiveTable
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import Decoupling, Part, Parts, file_names, unused
from sfumato.decouplings.readme import readme
from sfumato.decouplings.sql import schema_sql
from sfumato.derived import DerivedColumn, DerivedTable
from sfumato.typing import IntArray

_ROOM = 100
"""Labels are drawn from this many times as many numbers as there are groups, or more."""


@dataclass(frozen=True)
class BreakMerge(Decoupling):
    """Publish group by group how often each sensitive value occurs, one column at a time.

    Rows with the same quasi-identifiers are a group. The table of quasi-identifiers has one row
    per person with the label of the group; the table of each sensitive column says how many
    people of a group have which value. Sensitive values stay exact.

    Promises: within a group nothing says which values of two sensitive columns belong to the
    same person, beyond how often each of them occurs; the labels of groups and the order of
    rows say nothing at all.
    Does not promise: that a value which most people of a group have stays secret. That
    is for the models that the table kept before, which hold as they did.

    Example:
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "low"), ("40s", "flu", "high")]
        >>> counts = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> rng = np.random.default_rng()
        >>> parts = BreakMerge().run(counts, ["age"], ["ill", "pay"], rng=rng)
        >>> [(part.name, part.content.rows) for part in parts.tables]
        [('qi', 3), ('sensitive_ill', 3), ('sensitive_pay', 2)]
    """

    name: ClassVar[str] = "break-merge"

    def run(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        *,
        rng: np.random.Generator,
    ) -> Parts:
        broken = Broken.of(counts, quasi_identifiers, sensitive)
        return publish(replace(broken, ids=random_labels(len(broken), rng)), rng)

    def companions(self, parts: Parts, manifest: Mapping[str, Any]) -> dict[str, str]:
        return {"schema.sql": schema_sql(parts), "README.md": readme(manifest)}

    @classmethod
    def example(cls) -> Self:
        return cls()


def publish(broken: Broken, rng: np.random.Generator) -> Parts:
    """Say how groups that have their labels are published."""
    names = [*(column.name for column in broken.quasi_identifiers), *broken.names]
    group = unused("group", names)
    count = unused("count", [*names, group])
    files = file_names(broken.names, "sensitive_")
    tables = [
        Part(file, "sensitive", _sensitive(broken, table, group, count, rng), table.column.name)
        for file, table in zip(files, broken.sensitive, strict=True)
    ]
    return Parts(broken, group, count, (Part("qi", "qi", _people(broken, group, rng)), *tables))


def random_labels(n: int, rng: np.random.Generator) -> IntArray:
    """Draw different whole numbers of equal length, in no order at all.

    They are many more than there are groups, so that the same number in two releases is
    hardly ever there, let alone the same group.

    >>> labels = random_labels(1000, np.random.default_rng())
    >>> len(set(labels.tolist())), int(labels.min()) >= 100_000, int(labels.max()) < 1_000_000
    (1000, True, True)
    """
    digits = max(6, len(str(_ROOM * n)))
    least = 10 ** (digits - 1)
    drawn: IntArray = rng.choice(9 * least, size=n, replace=False) + least
    return drawn


def _people(broken: Broken, group: str, rng: np.random.Generator) -> DerivedTable:
    columns = (
        DerivedColumn(group),
        *(DerivedColumn(column.name, column.values) for column in broken.quasi_identifiers),
    )
    return DerivedTable.repeated(columns, (broken.labelled, *broken.labels), broken.sizes, rng)


def _sensitive(
    broken: Broken, table: SensitiveTable, group: str, count: str, rng: np.random.Generator
) -> DerivedTable:
    columns = (
        DerivedColumn(group),
        DerivedColumn(table.column.name, table.column.values),
        DerivedColumn(count),
    )
    kinds = broken.labelled[table.group], table.value, table.rows
    return DerivedTable.repeated(columns, kinds, np.ones(len(table.rows), dtype=np.int64), rng)
