"""Tables in SQLite, for Sfumato: one class, registered in the entry points of pyproject.toml."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar
from weakref import finalize

import ibis
import pyarrow as pa
from pyarrow import types as t

from sfumato.errors import InputError
from sfumato.files.dialect import Dialect
from sfumato.tables.sql.database import Address, Database, Field, Name, format_name, fresh_name


class SQLite(Database):
    """A table or view of a connection.

    Args:
        connection: The connection; it gets a few functions more.
        table: The name of the table.
    """

    kind: ClassVar[str] = "sqlite"
    title: ClassVar[str] = "SQLite"
    ibis_name: ClassVar[str] = "sqlite"
    example: ClassVar[str] = "sqlite:///file.db?table=people"
    errors = (sqlite3.Error,)
    in_file: ClassVar[bool] = True
    has_nan: ClassVar[bool] = False
    can_unnest: ClassVar[bool] = False
    dialect: ClassVar[Dialect] = Dialect(
        text="TEXT",
        collation="BINARY",
        sha256="sha256({})",
        joined_lines="joined_lines(line)",
        # By their bytes, because the length of a text ends at its first zero byte.
        cells={"text": "hex({})", "binary": "hex({})", "float": "exact_float({})"},
    )

    def __init__(self, connection: sqlite3.Connection, table: Name) -> None:
        self._connection = connection
        self.name = table
        self.where = f"table {format_name(table)} of SQLite"
        self._temporary: list[str] = []
        with self.reading(self.where):
            _add_functions(connection)
            self.fields = self._fields()

    @classmethod
    def open(cls, source: Any) -> "SQLite":  # noqa: ANN401
        if not isinstance(source, Address):
            return cls(*source)
        path = Path(source.path)
        if source.host or source.user or source.options:
            raise InputError(f"a sqlite address has a path and a table only: {cls.example}")
        if not path.is_file():
            raise InputError(f"there is no file {path}.")
        with cls.reading(str(path)):
            connection = sqlite3.connect(path)
        try:
            opened = cls(connection, source.table)
        except BaseException:
            connection.close()
            raise
        finalize(opened, connection.close)
        return opened

    @classmethod
    def open_ibis(cls, backend: Any, select: str) -> "SQLite":  # noqa: ANN401
        view = (fresh_name("view"),)
        backend.con.execute(f"CREATE TEMP VIEW {cls.dialect.quote(*view)} AS {select}")
        return cls(backend.con, view)

    def open_table(self, name: Name) -> "SQLite":
        return SQLite(self._connection, name)

    def _fields(self) -> tuple[Field, ...]:
        """Look at every cell once: a column has the type that all its cells have."""
        table = self.from_clause
        cursor = self._connection.execute(f"SELECT * FROM {table} LIMIT 0")  # noqa: S608 - quoted
        names = [column[0] for column in cursor.description]
        held = ", ".join(
            f"max(typeof({self.dialect.quote(name)}) = '{kind}')"
            for name in names
            for kind in _KINDS
        )
        [found] = self.run(f"SELECT {held} FROM {table}")  # noqa: S608 - quoted
        n = len(_KINDS)
        return tuple(_field(name, found[i * n : i * n + n]) for i, name in enumerate(names))

    @property
    def relation_name(self) -> Name:
        assert self.name is not None  # noqa: S101 - there is no other way to open it
        return self.name

    def run(self, statement: str) -> list[tuple[object, ...]]:
        return [tuple(row) for row in self._connection.execute(statement).fetchall()]

    def load(self, name: str, table: pa.Table) -> None:
        self._temporary.append(name)
        columns = ", ".join(f"{field.name} {_declared(field.type)}" for field in table.schema)
        self._connection.execute(f"CREATE TEMP TABLE {name} ({columns})")
        marks = ", ".join("?" * table.num_columns)
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        self._connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)  # noqa: S608

    @contextmanager
    def scope(self) -> Iterator[None]:
        # Unlike a transaction, a savepoint can stand inside one that the caller began.
        point = fresh_name("scope")
        with self.reading(self.where):
            self._connection.execute(f"SAVEPOINT {point}")
        try:
            yield
            for name in self._temporary:
                self._connection.execute(f"DROP TABLE IF EXISTS temp.{name}")
            self._temporary.clear()
            with self.publishing(self.where):
                self._connection.execute(f"RELEASE {point}")
        except BaseException:
            # Some errors end the transaction by themselves.
            if self._connection.in_transaction:
                self._connection.execute(f"ROLLBACK TO {point}")
                self._connection.execute(f"RELEASE {point}")
            self._temporary.clear()
            raise

    @property
    def transactional(self) -> bool:
        return self.in_transaction

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def exists(self, name: Name) -> bool:
        literal = "'" + name[-1].replace("'", "''") + "'"
        tables = self.dialect.quote(*name[:-1], "sqlite_master")
        statement = f"SELECT 1 FROM {tables} WHERE lower(name) = lower({literal})"  # noqa: S608
        return bool(self.query(statement))

    def tables_like(self, schema: Name, beginning: str) -> list[str]:
        tables = self.dialect.quote(*schema, "sqlite_master")
        statement = f"SELECT name FROM {tables} WHERE type = 'table' AND name GLOB '{beginning}*'"  # noqa: S608
        with self.reading(self.where):
            return [str(name) for (name,) in self.run(statement)]


_KINDS = ("integer", "real", "text", "blob")


def _field(name: str, held: Sequence[object]) -> Field:
    kinds = {kind for kind, there in zip(_KINDS, held, strict=True) if there}
    column = SQLite.dialect.quote(name)
    if kinds == {"integer"}:
        return Field(name, pa.int64(), "INTEGER", column, pa.int64())
    if kinds and kinds <= {"integer", "real"}:
        return Field(name, pa.float64(), "REAL", f"CAST({column} AS REAL)", pa.float64())
    if kinds == {"blob"}:
        return Field(name, pa.binary(), "BLOB", column, pa.binary())
    # Joined to nothing it is an expression, to which the collation of the column does not apply.
    return Field(name, pa.string(), "TEXT", f"({column} || '')", pa.string())


def _declared(kind: pa.DataType) -> str:
    if t.is_integer(kind):
        return "INTEGER"
    if t.is_floating(kind):
        return "REAL"
    return "BLOB" if t.is_binary(kind) else "TEXT"


class _JoinedLines:
    """An aggregate: all texts of a group in their order, with blanks between them."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def step(self, line: str) -> None:
        self._lines.append(line)

    def finalize(self) -> str:
        return " ".join(sorted(self._lines))


def _add_functions(connection: sqlite3.Connection) -> None:
    """Add what Ibis's SQL needs, and what evidence needs."""
    ibis.sqlite.from_connection(connection)
    add = connection.create_function
    add("sha256", 1, lambda text: sha256(text.encode()).hexdigest(), deterministic=True)
    add("exact_float", 1, lambda number: float(number).hex(), deterministic=True)
    add("concat", -1, lambda *parts: "".join(map(str, parts)), deterministic=True)
    connection.create_aggregate("joined_lines", 1, _JoinedLines)  # type: ignore[arg-type]
