"""Texts that lie beside the tables of a decoupled release: a description, and SQL."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from sfumato.decouplings.base import DecoupledPart, Parts
from sfumato.showing.plain import code, quote
from sfumato.typing import Value

_README = """\
# {title}

{rows} {what} in {number} {groups}. {about}

| file | what is in it | rows |
|---|---|---|
{files}

- The column {link} links the tables. Its numbers are drawn at random and mean nothing.
- The column {count} says how many people of the {group} have the values. In each table these
  numbers add up to the size of the {group}.
{remarks}

`schema.sql` defines the tables and joins them. `manifest.json` says what is promised; readers
who have Sfumato check it with `sfumato verify` and this folder.
"""
_TABLES = "-- The tables of this release. Load each file into the table of its name:"


def write_readme(
    manifest: Mapping[str, Any],
    groups: tuple[str, str],
    title: str,
    about: str,
    contents: Mapping[str, str],
    remarks: Sequence[str],
) -> str:
    """Describe the files of a decoupled release.

    Args:
        manifest: Its manifest.
        groups: The word for a group, and for several.
        title: The headline.
        about: What stands in the tables, and what is not said.
        contents: What each sort of table holds, where its columns do not say it.
        remarks: Further points of the list.
    """

    def describe(file: Mapping[str, Any]) -> str:
        if file["table"] == "slice":
            return ", ".join(map(code, file["columns"]))
        counts = f"how many people of each {groups[0]} have which {_name_columns(file)}"
        return contents.get(file["table"], counts)

    return _README.format(
        title=title,
        rows=manifest["rows"]["published"],
        what="rows" if "rows" in (manifest.get("person") or {}) else "people",
        number=manifest["classes"]["count"],
        group=groups[0],
        groups=groups[1],
        about=about,
        files="\n".join(
            f"| `{file['name']}` | {describe(file)} | {file['rows']} |"
            for file in manifest["files"]
        ),
        link=code(manifest["group"]),
        count=code(manifest["count"]),
        remarks="\n".join([*remarks, *_beside(manifest)]),
    )


def _beside(manifest: Mapping[str, Any]) -> list[str]:
    """Return the texts on plain columns, and on those that stay together."""
    together = manifest.get("together") or []
    found = [
        f"- {' and '.join(map(code, names))} stay together: a row of their table is a combination "
        "of them,\n  which people have as a whole."
        for names in together
    ]
    held = {name for names in together for name in names}
    plain = [
        code(column["name"])
        for column in manifest["columns"]
        if column["role"] in ("plain", "weight") and column["name"] not in held
    ]
    if plain:
        found.append(f"- As they are, and protected by nothing: {', '.join(plain)}.")
    return found


def sensitive_in(manifest: Mapping[str, Any]) -> str:
    """Return the columns of the only sensitive table, as a text names them."""
    return next(_name_columns(file) for file in manifest["files"] if file["table"] == "sensitive")


def _name_columns(file: Mapping[str, Any]) -> str:
    """Return the columns of a sensitive table, as a text names them."""
    return " and ".join(map(code, file.get("columns") or [str(file.get("column"))]))


def write_schema(parts: Parts, files: Sequence[Mapping[str, Any]], comment: str, view: str) -> str:
    """Write the definitions of the tables, and the join an analyst would make, as a view.

    What is written runs in DuckDB, PostgreSQL and SQLite as it stands. Names of columns may hold
    anything, so they are always quoted, and stand in no comment.

    Args:
        parts: The tables.
        files: What the manifest says of their files, in the same order.
        comment: What the view is, as lines of comment.
        view: Its definition.
    """
    loading = [_load(part.name, file) for part, file in zip(parts.tables, files, strict=True)]
    head = "\n".join([_TABLES, *filter(None, loading)])
    text = all(file.get("format") == "csv" for file in files)
    tables = [_definition(part, parts, written=text) for part in parts.tables]
    return "\n\n".join([head, *tables, comment, view]) + "\n"


def _load(name: str, file: Mapping[str, Any]) -> str:
    """Return how DuckDB and PostgreSQL load a file, as a comment; its name is safe everywhere."""
    if file.get("format") == "parquet":
        # A comment, which is never run by us.
        told = f"INSERT INTO {quote(name)} SELECT * FROM"
        return f"--   {told} '{file['name']}';  -- DuckDB"
    if file.get("format") != "csv":
        return ""
    given = file.get("delimiter") or ","
    mark = "E'\\t'" if given == "\t" else f"'{given}'"
    told = f"(FORMAT csv, HEADER, DELIMITER {mark});"
    return f"--   COPY {quote(name)} FROM '{file['name']}' {told}  -- psql: \\copy"


_KEY_COLUMNS, _KEY_LENGTH = 8, 200
"""A key that is longer does not fit the index of every database."""


def _definition(part: DecoupledPart, parts: Parts, *, written: bool) -> str:
    """Define a table, each column of its type.

    Args:
        part: The table.
        parts: All of them.
        written: Whether all values are texts because they stand in a text file.
    """
    told = {parts.group: _LINK, parts.count: _COUNT}
    lines = []
    for column in part.content.columns:
        kind = "BIGINT NOT NULL"
        if column.name not in told:
            values = column.values or ()
            kind = sql_type(map(read_text, values) if written else values)
        lines.append((f"    {quote(column.name)} {kind}", told.get(column.name, "")))
    if key := _key(part, parts):
        lines.append((f"    UNIQUE ({', '.join(map(quote, key))})", ""))
    ends = [","] * (len(lines) - 1) + [""]
    body = [
        f"{line}{end}  -- {said}" if said else f"{line}{end}"
        for (line, said), end in zip(lines, ends, strict=True)
    ]
    index = f"CREATE INDEX {quote(part.name + '_by_' + _WORD)} ON {quote(part.name)}"
    return (
        f"CREATE TABLE {quote(part.name)} (\n"
        + "\n".join(body)
        + f"\n);\n{index} ({quote(parts.group)});"
    )


_WORD = "group"
_LINK = "links the tables; drawn at random"
_COUNT = "how many people of the group have these values"


def _key(part: DecoupledPart, parts: Parts) -> list[str]:
    """Return the columns that tell the rows of a table apart; none if a row is a person."""
    columns = [each for each in part.content.columns if each.name != parts.count]
    if len(columns) == len(part.content.columns) or len(columns) > _KEY_COLUMNS:
        return []
    texts = [[value for value in each.values or () if isinstance(value, str)] for each in columns]
    if sum(max(map(len, each), default=0) for each in texts) > _KEY_LENGTH:
        return []
    return [column.name for column in columns]


_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_text(value: Value) -> Value:
    """Return what a cell of a text file is, if it is written as that and in no other way.

    What would come back written otherwise, such as `007` or `1e5`, stays text.

    >>> [read_text(text) for text in ("7", "-1.50", "2020-02-29", "2020-02-30", "007", None)]
    [7, -1.5, datetime.date(2020, 2, 29), '2020-02-30', '007', None]
    """
    if not isinstance(value, str):
        return value
    if _WHOLE.fullmatch(value):
        return int(value) if value != "-0" else value
    if _NUMBER.fullmatch(value):
        return float(value)
    if _DAY.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            return value
    return value


_SMALL = 2**31


def sql_type(values: Iterable[Value]) -> str:
    """Return what a column of such values is in SQL.

    >>> sql_type([1, None]), sql_type([1, 2.5]), sql_type(["1"]), sql_type([True])
    ('INTEGER', 'DOUBLE PRECISION', 'VARCHAR', 'BOOLEAN')
    >>> sql_type([2**40]), sql_type([2**63])
    ('BIGINT', 'NUMERIC')
    """
    given = [value for value in values if value is not None]
    kinds = {type(value) for value in given}
    if kinds == {int}:
        largest = max(abs(value) for value in given if isinstance(value, int))
        return "INTEGER" if largest < _SMALL else "BIGINT" if largest < _SMALL**2 * 2 else "NUMERIC"
    for allowed, name in (
        ({bool}, "BOOLEAN"),
        ({int, float}, "DOUBLE PRECISION"),
        ({date}, "DATE"),
        ({datetime}, "TIMESTAMP"),
    ):
        if kinds and kinds <= allowed:
            return name
    return "VARCHAR"
