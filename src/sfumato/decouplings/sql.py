"""The tables of a decoupled release in SQL: what they hold, and how they are joined."""

from collections.abc import Iterable
from datetime import date, datetime

from sfumato.decouplings.base import Part, Parts, unused
from sfumato.typing import Value

_TABLES = "-- The tables of this release. Load each file into the table of its name."
_MERGED = """\
-- What the tables say together: every combination of values a group has, and how many of its
-- people have it if the columns have nothing to do with each other. It grows with the
-- product of the values: leave out the columns you do not need."""


def schema_sql(parts: Parts) -> str:
    """Write the definitions of the tables, and the join an analyst would make, as a view.

    The names of columns may hold anything, so they are always quoted, and stand in no comment.
    """
    return "\n\n".join([definitions(parts), _MERGED, _merged(parts)]) + "\n"


def definitions(parts: Parts) -> str:
    """Write the definitions of the tables."""
    return "\n\n".join([_TABLES, *(_definition(part, parts) for part in parts.tables)])


def quoted(name: str) -> str:
    """Quote a name for SQL.

    >>> print(quoted('the "net" pay'))
    "the ""net"" pay"
    """
    return '"' + name.replace('"', '""') + '"'


def _definition(part: Part, parts: Parts) -> str:
    numbers = (parts.group, parts.count)
    lines = [
        f"    {quoted(column.name)} "
        + ("BIGINT NOT NULL" if column.name in numbers else sql_type(column.values or ()))
        for column in part.content.columns
    ]
    return f"CREATE TABLE {quoted(part.name)} (\n" + ",\n".join(lines) + "\n);"


def sql_type(values: Iterable[Value]) -> str:
    """Say what a column of such values is in SQL.

    >>> sql_type([1, None]), sql_type([1, 2.5]), sql_type(["1"]), sql_type([True])
    ('BIGINT', 'DOUBLE PRECISION', 'TEXT', 'BOOLEAN')
    """
    kinds = {type(value) for value in values if value is not None}
    for allowed, name in (
        ({bool}, "BOOLEAN"),
        ({int}, "BIGINT"),
        ({int, float}, "DOUBLE PRECISION"),
        ({date}, "DATE"),
        ({datetime}, "TIMESTAMP"),
    ):
        if kinds and kinds <= allowed:
            return name
    return "TEXT"


def _merged(parts: Parts) -> str:
    people, *tables = parts.tables
    names = [column.name for column in people.content.columns]
    sensitive = {f"s{i}": part for i, part in enumerate(tables, start=1)}
    group, count = quoted(parts.group), quoted(parts.count)
    size = quoted(unused("size", names))
    expected = quoted(unused("expected", [*names, *(str(part.column) for part in tables)]))
    shares = " * ".join(f"({s}.{count} * 1.0 / g.{size})" for s in sensitive)
    chosen = [
        *(_named("g", name) for name in names),
        *(_named(s, str(part.column)) for s, part in sensitive.items()),
        f"g.{size} * {shares} AS {expected}",
    ]
    by = ", ".join(f"q.{quoted(name)}" for name in names)
    grouped = ", ".join(_named("q", name) for name in names)
    lines = [
        'CREATE VIEW "merged" AS',
        "SELECT\n    " + ",\n    ".join(chosen),
        # Every name is quoted, and nothing here is ever run by us.
        f"FROM (SELECT {grouped}, COUNT(*) AS {size}",
        f"    FROM {quoted(people.name)} AS q GROUP BY {by}) AS g",
        *(f"JOIN {quoted(p.name)} AS {s} ON {s}.{group} = g.{group}" for s, p in sensitive.items()),
    ]
    return "\n".join(lines) + ";"


def _named(table: str, column: str) -> str:
    """Choose a column under its own name; databases may invent one for it otherwise."""
    return f"{table}.{quoted(column)} AS {quoted(column)}"
