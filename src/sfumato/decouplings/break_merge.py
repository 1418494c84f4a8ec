"""Break-Merge: the quasi-identifiers in one table, each sensitive column in another."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import (
    DecoupledPart,
    Decoupling,
    GroupedTables,
    Parts,
    SensitiveTable,
    file_names,
    free_name,
    random_labels,
    read_together,
)
from sfumato.decouplings.guide import write_companions
from sfumato.decouplings.noise import GivenNoise, NoiseBudget
from sfumato.errors import InputError
from sfumato.tables.derived import DerivedColumn, DerivedTable

NO_NOISE_HERE = (
    "counts get noise (noise: …) by sf.decouple, of the table itself: nothing else draws it, and "
    "what was made of the table before was chosen by looking at it"
)
"""The reason why tables are not published without the noise that a policy asks for."""


@dataclass(frozen=True)
class BreakMerge(Decoupling):
    """Publish group by group how often each sensitive value occurs, one column at a time.

    Rows with the same quasi-identifiers are a group. The table of quasi-identifiers has one row
    per person with the label of the group; the table of each sensitive column says how many
    people of a group have which value. Sensitive values stay exact.

    Promises: within a group nothing says which values of two sensitive columns belong to the
    same person, beyond how often each of them occurs; the labels of groups and the order of
    rows say nothing at all.
    Assumes: that every way of joining the tables of a group is equally likely to the adversary.
    Does not promise: that a value which most people of a group have stays secret. That
    is for the models that the table kept before, which hold as they did. Nor anything against
    those who learn from all groups together which values go with which: `attacks.DeFinetti`
    tries that. Of columns that stay together, one tells the other as it does in rows.

    Args:
        together: Columns that stay together, as lists of names or as texts with + between them:
            sensitive ones, or a plain one beside a sensitive one. They are published side by side,
            and their combination counts as one sensitive value.
        noise: The budget of differential privacy, if counts are published with noise, as in
            {epsilon: 1, delta: 1e-9}; with contributions, the most rows of a person that count.
            Groups are the cells that the policy states: its domains and levels.

    Example:
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "low"), ("40s", "flu", "high")]
        >>> counts = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> rng = np.random.default_rng()
        >>> parts = BreakMerge().run(counts, ["age"], ["ill", "pay"], rng=rng)
        >>> [(part.name, part.content.rows) for part in parts.tables]
        [('qi', 3), ('sensitive_ill', 3), ('sensitive_pay', 2)]
    """

    name: ClassVar[str] = "break-merge"
    can_be_drawn: ClassVar[bool] = True
    why_no_ledger: ClassVar[str | None] = None

    together: tuple[str | tuple[str, ...], ...] = ()

    noise: GivenNoise | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "together", read_together(self.together))
        if self.noise is not None:
            NoiseBudget.read(self.noise)
            object.__setattr__(self, "noise", dict(self.noise))

    def run(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        *,
        rng: np.random.Generator,
        plain: Sequence[str] = (),
    ) -> Parts:
        if self.noise is not None:
            raise InputError(NO_NOISE_HERE)
        grouped = GroupedTables.of(counts, quasi_identifiers, sensitive)
        people = counts.project([*quasi_identifiers, *plain]) if plain else None
        return publish(replace(grouped, ids=random_labels(len(grouped), rng)), rng, people)

    def companions(self, parts: Parts, manifest: Mapping[str, Any]) -> dict[str, str]:
        return write_companions("break-merge", parts, manifest, self.groups)


def publish(
    grouped: GroupedTables, rng: np.random.Generator, people: FrequencySet | None = None
) -> Parts:
    """Return how groups that have their labels are published.

    Args:
        grouped: The groups.
        rng: Draws the order of rows.
        people: Their quasi-identifiers and what is published beside those; None if nothing is.
    """
    known = grouped.quasi_identifiers if people is None else people.columns
    names = [*(column.name for column in known), *grouped.names]
    group = free_name("group", names)
    count = free_name("count", [*names, group])
    files = file_names(grouped.names, "sensitive_")
    tables = [
        DecoupledPart(
            file, "sensitive", _sensitive(grouped, table, group, count, rng), table.column.name
        )
        for file, table in zip(files, grouped.sensitive, strict=True)
    ]
    first = DecoupledPart("qi", "qi", _people(grouped, people, group, rng))
    return Parts(grouped, group, count, (first, *tables))


def _people(
    grouped: GroupedTables, people: FrequencySet | None, group: str, rng: np.random.Generator
) -> DerivedTable:
    known, labels, rows = grouped.quasi_identifiers, grouped.labels, grouped.sizes
    at = np.arange(len(grouped))
    if people is not None:
        # Groups are numbered in the order of their quasi-identifiers, as they are here.
        at = people.group_by([column.name for column in known]).of_item
        known, labels, rows = people.columns, people.codes, people.rows
    columns = (DerivedColumn(group), *(DerivedColumn(each.name, each.values) for each in known))
    return DerivedTable.repeat(columns, (grouped.labelled[at], *labels), rows, rng)


def _sensitive(
    grouped: GroupedTables, table: SensitiveTable, group: str, count: str, rng: np.random.Generator
) -> DerivedTable:
    columns = (
        DerivedColumn(group),
        DerivedColumn(table.column.name, table.column.values),
        DerivedColumn(count),
    )
    kinds = grouped.labelled[table.group], table.value, table.rows
    return DerivedTable.repeat(columns, kinds, np.ones(len(table.rows), dtype=np.int64), rng)
