"""Texts that lie beside the tables of a decoupled release: a description, and SQL."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from sfumato.decouplings.base import Part, Parts
from sfumato.dialect import Dialect
from sfumato.text import visible
from sfumato.typing import Value

_README = """\
# {title}

{people} people in {number} {groups}. {about}

| file | what is in it | rows |
|---|---|---|
{files}

- The column {link} links the tables. Its numbers are drawn at random and mean nothing.
- The column {count} says how many people of the {group} have the values. In each table these
  numbers add up to the size of the {group}.
{remarks}

`schema.sql` defines the tables and joins them. `manifest.json` says what is promised; whoever
has Sfumato checks it with `sfumato verify` and this folder.
"""
_TABLES = "-- The tables of this release. Load each file into the table of its name."


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
        if "columns" in file:
            return ", ".join(map(code, file["columns"]))
        counts = f"how many people of each {groups[0]} have which {code(str(file.get('column')))}"
        return contents.get(file["table"], counts)

    return _README.format(
        title=title,
        people=manifest["rows"]["published"],
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
        remarks="\n".join(remarks),
    )


_BLANK = " \t\n\r"


def code(name: str) -> str:
    r"""Show a name as it is, whatever it holds, in a cell of a table.

    >>> print(code("a|b"), code("pay `net`"))
    `a\|b` ``` pay `net` ```
    """
    text = " ".join(visible(name, keep=_BLANK).split()).replace("|", "\\|")
    fence, space = _fence(text.split("`")), " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _fence(parts: Sequence[str]) -> str:
    """Return a fence longer than any run of ticks."""
    return "`" * (1 if len(parts) == 1 else len(parts))


def write_schema(parts: Parts, comment: str, view: str) -> str:
    """Write the definitions of the tables, and the join an analyst would make, as a view."""
    tables = [_definition(part, parts) for part in parts.tables]
    return "\n\n".join([_TABLES, *tables, comment, view]) + "\n"


quote = Dialect(text="TEXT", collation="").quote
"""Quotes a name as standard SQL does, whatever is in it."""


def _definition(part: Part, parts: Parts) -> str:
    numbers = (parts.group, parts.count)
    lines = [
        f"    {quote(column.name)} "
        + ("BIGINT NOT NULL" if column.name in numbers else sql_type(column.values or ()))
        for column in part.content.columns
    ]
    return f"CREATE TABLE {quote(part.name)} (\n" + ",\n".join(lines) + "\n);"


def sql_type(values: Iterable[Value]) -> str:
    """Return what a column of such values is in SQL.

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
