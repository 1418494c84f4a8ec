"""Break-Merge: the quasi-identifiers in one table, each sensitive column in another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.counts import FrequencySet
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
from sfumato.decouplings.guide import write_guide
from sfumato.decouplings.texts import quote, write_readme, write_schema
from sfumato.tables.derived import DerivedColumn, DerivedTable

_ABOUT = """\
People of one group look alike in everything that others may
know of them. What is sensitive stands in tables of its own, which say how many people of a group
have a value; not who, nor which values of two tables belong together."""


def readme(manifest: Mapping[str, Any]) -> str:
    """Describe the files of a decoupled release."""
    rows = (manifest.get("person") or {}).get("rows")
    whose = "row of the data" if rows else "person"
    return write_readme(
        manifest,
        BreakMerge.groups,
        "A release in several tables",
        _ABOUT,
        {"qi": f"one row per {whose}: what others may know, generalised"},
        [
            *([f"- Rows are counted, not people: {rows}."] if rows else []),
            "- The order of the rows is random.",
            "- Sensitive values are exact. An empty cell is a missing value.",
        ],
    )


_MERGED = """\
-- What the tables say together: every combination of values a group has, and how many of its
-- people have it if the columns have nothing to do with each other. It grows with the
-- product of the values: leave out the columns you do not need."""


def schema_sql(parts: Parts, manifest: Mapping[str, Any]) -> str:
    """Write the definitions of the tables, and the join an analyst would make, as a view."""
    return write_schema(parts, manifest["files"], _MERGED, _merge_view(parts))


def _merge_view(parts: Parts) -> str:
    people, *tables = parts.tables
    names = [column.name for column in people.content.columns]
    sensitive = {f"s{i}": part for i, part in enumerate(tables, start=1)}
    group, count = quote(parts.group), quote(parts.count)
    size = quote(free_name("size", names))
    expected = quote(free_name("expected", [*names, *(n for part in tables for n in part.names)]))
    alike = quote(free_name("alike", names))
    shares = " * ".join(f"({s}.{count} * 1.0 / b.{size})" for s in sensitive)
    chosen = [
        *(_select_as("g", name) for name in names),
        *(_select_as(s, name) for s, part in sensitive.items() for name in part.names),
        f"g.{alike} * {shares} AS {expected}",
    ]
    by = ", ".join(f"q.{quote(name)}" for name in names)
    grouped = ", ".join(_select_as("q", name) for name in names)
    lines = [
        'CREATE VIEW "merged" AS',
        "SELECT\n    " + ",\n    ".join(chosen),
        # Every name is quoted, and nothing here is ever run by us.
        f"FROM (SELECT {grouped}, COUNT(*) AS {alike}",
        f"    FROM {quote(people.name)} AS q GROUP BY {by}) AS g",
        f"JOIN (SELECT {group}, COUNT(*) AS {size}",
        f"    FROM {quote(people.name)} GROUP BY {group}) AS b ON b.{group} = g.{group}",
        *(f"JOIN {quote(p.name)} AS {s} ON {s}.{group} = g.{group}" for s, p in sensitive.items()),
    ]
    return "\n".join(lines) + ";"


def _select_as(table: str, column: str) -> str:
    """Choose a column under its own name; databases may invent one for it otherwise."""
    return f"{table}.{quote(column)} AS {quote(column)}"


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

    Example:
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "low"), ("40s", "flu", "high")]
        >>> counts = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> rng = np.random.default_rng()
        >>> parts = BreakMerge().run(counts, ["age"], ["ill", "pay"], rng=rng)
        >>> [(part.name, part.content.rows) for part in parts.tables]
        [('qi', 3), ('sensitive_ill', 3), ('sensitive_pay', 2)]
    """

    name: ClassVar[str] = "break-merge"

    together: tuple[str | tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "together", read_together(self.together))

    def run(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        *,
        rng: np.random.Generator,
        plain: Sequence[str] = (),
    ) -> Parts:
        grouped = GroupedTables.of(counts, quasi_identifiers, sensitive)
        people = counts.project([*quasi_identifiers, *plain]) if plain else None
        return publish(replace(grouped, ids=random_labels(len(grouped), rng)), rng, people)

    def companions(self, parts: Parts, manifest: Mapping[str, Any]) -> dict[str, str]:
        text = readme(manifest) + write_guide(parts, manifest, self.groups)
        return {"schema.sql": schema_sql(parts, manifest), "README.md": text}

    @classmethod
    def example(cls) -> Self:
        return cls()


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
