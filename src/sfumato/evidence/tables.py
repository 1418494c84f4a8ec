"""The hash of a table in a database: the same whatever order its rows are in.

The database hashes its rows and gathers the hashes, so that at most 4096 hashes leave it and no
row does. A row is the text of its cells, each with its length before it, so that no two different
rows are one text. Equal rows are counted, hashes are put in order, and 4096 parts of them,
by their first digits, are hashed once more: to change a cell, add a row or take one away without
changing the result means to break SHA-256. (Adding hashes up would not need an order, but is broken
in no time: Wagner, A Generalized Birthday Problem, 2002, doi:10.1007/3-540-45708-9_19.)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, NamedTuple, TypeAlias

import pyarrow as pa

from sfumato.evidence.canonical import canonical
from sfumato.verifier import Relation

Form: TypeAlias = Literal[
    "text", "float", "binary", "date", "time", "timestamp", "moment", "nested"
]
"""How the cells of a column are written down; `text` is how the database writes them."""


@dataclass(frozen=True)
class TableHash:
    """A table as evidence describes it."""

    name: str
    rows: int
    sha256: str

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain values that JSON can hold."""
        return {"name": self.name, "rows": self.rows, "sha256": self.sha256}


class StoredTable(NamedTuple):
    """A table of a database that can be hashed."""

    relation: Relation
    types: Mapping[str, str]
    """What the database calls the type of each column."""

    forms: Mapping[str, Form]


class _Dialect(NamedTuple):
    hashed: str
    """SHA-256 of a text, as small hexadecimal digits."""

    joined: str
    """All lines of a group in their order, as one text."""

    cells: Mapping[str, str]
    """Cells as text that no setting of a session changes, and no two values share."""

    text: str


_DIALECTS = {
    "duckdb": _Dialect(
        "sha256({})",
        "string_agg(line, ' ' ORDER BY line)",
        {
            "binary": "hex({})",
            "moment": "CAST(epoch_us({}) AS VARCHAR)",
            "nested": "CAST(to_json({}) AS VARCHAR)",
        },
        "VARCHAR",
    ),
    "postgres": _Dialect(
        "encode(sha256(convert_to({}, 'UTF8')), 'hex')",
        "string_agg(line, ' ' ORDER BY line COLLATE \"C\")",
        {
            "float": "encode(float8send({}), 'hex')",
            "binary": "encode({}, 'hex')",
            "date": "encode(date_send({}), 'hex')",
            "time": "encode(time_send({}), 'hex')",
            "timestamp": "encode(timestamp_send({}), 'hex')",
            "moment": "encode(timestamptz_send({}), 'hex')",
        },
        "TEXT",
    ),
    "spark": _Dialect(
        "sha2({}, 256)",
        "array_join(sort_array(collect_list(line)), ' ')",
        {
            "float": "format_string('%a', CAST({} AS DOUBLE))",
            "binary": "hex({})",
            "moment": "CAST(unix_micros({}) AS STRING)",
            "nested": "to_json(struct({}), map('ignoreNullFields', 'false'))",
        },
        "STRING",
    ),
}


def hash_table(name: str, table: StoredTable) -> TableHash:
    """Let a database hash one of its tables.

    >>> people = Relation(("people",), {"age": "text"}, "duckdb", lambda sql: [("0a3", 2, "ff")])
    >>> hash_table("people", StoredTable(people, {"age": "VARCHAR"}, {"age": "text"})).rows
    2
    """
    answer = table.relation.ask(statement(table))
    if isinstance(answer, pa.Table):
        answer = list(zip(*(column.to_pylist() for column in answer.columns), strict=True))
    parts = sorted((str(part), int(str(rows)), str(digest)) for part, rows, digest in answer)
    columns = [[column, table.types[column]] for column in table.relation.columns]
    digest = sha256(canonical({"columns": columns, "parts": parts})).hexdigest()
    return TableHash(name, sum(rows for _, rows, _ in parts), digest)


def statement(table: StoredTable) -> str:
    """Write what a database is asked: for each first three digits, how many rows, and their hash.

    >>> people = Relation(("people",), {"age": "text"}, "duckdb", lambda sql: [])
    >>> print(statement(StoredTable(people, {"age": "VARCHAR"}, {"age": "text"})))
    SELECT substr(line, 1, 3) AS part, CAST(sum(times) AS BIGINT) AS people,
    sha256(string_agg(line, ' ' ORDER BY line)) AS digest FROM
    (SELECT concat(hash, ':', CAST(count(*) AS VARCHAR)) AS line, count(*) AS times FROM
    (SELECT sha256(CASE WHEN "age" IS NULL THEN '-' ELSE
    concat(length(CAST("age" AS VARCHAR)), ':', CAST("age" AS VARCHAR)) END) AS hash
    FROM "people") AS hashed GROUP BY hash) AS counted GROUP BY substr(line, 1, 3)
    """
    relation = table.relation
    dialect = _DIALECTS[relation.dialect]
    cells = [_cell(relation.quoted(name), form, dialect) for name, form in table.forms.items()]
    # A function has at most a hundred arguments in PostgreSQL.
    row = dialect.hashed.format(" || ".join(cells))
    source = relation.quoted(*relation.name)
    hashes = f"SELECT {row} AS hash FROM {source}"  # noqa: S608 - names are quoted
    line = f"concat(hash, ':', CAST(count(*) AS {dialect.text}))"
    counted = f"SELECT {line} AS line, count(*) AS times FROM ({hashes}) AS hashed GROUP BY hash"  # noqa: S608
    part, digest = "substr(line, 1, 3)", dialect.hashed.format(dialect.joined)
    return (
        f"SELECT {part} AS part, CAST(sum(times) AS BIGINT) AS people, {digest} AS digest "  # noqa: S608
        f"FROM ({counted}) AS counted GROUP BY {part}"
    )


def _cell(name: str, form: Form, dialect: _Dialect) -> str:
    """Write a cell with its length before it; a missing one is no text of any length."""
    text = dialect.cells.get(form, f"CAST({{}} AS {dialect.text})").format(name)
    return f"CASE WHEN {name} IS NULL THEN '-' ELSE concat(length({text}), ':', {text}) END"
