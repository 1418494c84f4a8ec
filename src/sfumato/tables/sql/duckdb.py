"""Tables in DuckDB."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import duckdb
import pyarrow as pa
from pyarrow import types as t

from sfumato.errors import InputError, OutputError
from sfumato.tables.sql.database import (
    Address,
    Database,
    Field,
    Name,
    first_line,
    fresh_name,
    quoted,
    uploaded,
    with_rows,
    written,
)

if TYPE_CHECKING:
    from ibis.expr.types import Table as Query

# Which files a database can write as the arrow engine would.


def require_plain_text(form: str, types: Sequence[pa.DataType], writer: str) -> None:
    """Refuse what a database cannot write, or would write in a spelling of its own.

    >>> require_plain_text("csv", [pa.string(), pa.float64()], "DuckDB")
    Traceback (most recent call last):
    sfumato.errors.OutputError: DuckDB writes double in a spelling of its own to CSV files. Publish
    as parquet, or leave such columns out.
    """
    if form == "feather":
        raise OutputError(f"{writer} writes no Feather files. Publish as parquet or csv.")
    strange = [kind for kind in types if not _spelt_alike(kind)]
    if form == "csv" and strange:
        raise OutputError(
            f"{writer} writes {strange[0]} in a spelling of its own to CSV files. Publish as "
            "parquet, or leave such columns out."
        )


def _spelt_alike(kind: pa.DataType) -> bool:
    tests = (t.is_string, t.is_large_string, t.is_integer, t.is_boolean, t.is_date, t.is_decimal)
    return any(test(kind) for test in tests)


_NESTED = {"list", "array", "struct", "map", "union", "variant", "geometry"}
_AS_TEXT = {"uuid", "enum", "interval", "bit", "time with time zone", "bignum", "uhugeint"}


class DuckDBDatabase(Database):
    """A relation of DuckDB: a table, a view or a query.

    Everything is done through the relation, because it does not tell its connection. Only the
    connection can roll a failed transaction back, so without it there is none.

    Args:
        relation: The rows.
        where: What to call them in a message.
        table: The name of the table the rows are, if they are one.
        connection: The connection of the relation, if it is known.
        reopen: Gives both with the right to create tables, if they have not got it.
    """

    kind: ClassVar[str] = "duckdb"
    dialect: ClassVar[str] = "duckdb"

    def __init__(
        self,
        relation: Any,  # noqa: ANN401 - duckdb is not typed
        where: str,
        *,
        table: Name | None = None,
        connection: Any = None,  # noqa: ANN401
        reopen: Callable[[], tuple[Any, Any]] | None = None,
    ) -> None:
        self._relation = relation
        self._connection = connection
        self._transactional = False
        self.name = table
        self._reopen = reopen
        self._source = fresh_name("source")
        self._temporary: list[str] = []
        self.where = where
        with refusing(where):
            arrow = relation.limit(0).to_arrow_table().schema
            self.fields = tuple(
                _field(name, kind, field.type)
                for name, kind, field in zip(relation.columns, relation.types, arrow, strict=True)
            )

    def _run(self, statement: str) -> Any:  # noqa: ANN401
        with _plainly():
            return self._relation.query(self._source, statement)

    def _select(self, query: "Query") -> str:
        columns = ", ".join(
            f"{quoted((field.name,))} AS c{i}" + (f", {field.key} AS k{i}" if field.key else "")
            for i, field in enumerate(self.fields)
        )
        rows = f"SELECT {columns} FROM {self._source}"  # noqa: S608 - names are quoted
        return with_rows(rows, self.statement(query))

    def _named(self, query: "Query", columns: Sequence[str]) -> str:
        cells = ", ".join(f"o{i} AS {quoted((name,))}" for i, name in enumerate(columns))
        recoded = f"({self._select(query)}) AS recoded"
        return f"SELECT {cells} FROM {recoded} ORDER BY random()"  # noqa: S608 - names are quoted

    def fetch(self, query: "Query") -> pa.Table:
        with refusing(self.where):
            return self._run(self._select(query)).to_arrow_table()

    def upload(self, table: pa.Table) -> "Query":
        name = fresh_name("lookup")
        self._temporary.append(name)
        with refusing(self.where):
            _store(self._relation, self._source, name, table)
        return uploaded(name, table)

    @contextmanager
    def work(self) -> Iterator[None]:
        # Whoever began a transaction decides what becomes of it.
        ours = self._connection is not None and not self.transactional and not self.in_transaction
        try:
            if ours:
                self._begin()
            yield
            if ours:
                self._commit()
        except BaseException:
            if ours:
                with suppress(duckdb.Error):
                    self._connection.execute("ROLLBACK")
            raise
        finally:
            self._transactional = self._transactional and not ours
            # A connection that is lost has no temporary tables either.
            with suppress(duckdb.Error):
                while self._temporary:
                    self._run(f"DROP TABLE IF EXISTS {self._temporary[-1]}")
                    self._temporary.pop()
                self._run(f"DROP VIEW IF EXISTS {self._source}")

    def _begin(self) -> None:
        self._transactional = True
        with refusing(self.where):
            self._run("BEGIN TRANSACTION")

    def _commit(self) -> None:
        try:
            self._run("COMMIT")
        except duckdb.Error as error:
            raise OutputError(self._unpublished(error)) from error

    def _unpublished(self, error: duckdb.Error) -> str:
        reason = first_line(error)
        return f"{self.where} cannot be published: {reason}. Nothing was left in the database."

    @property
    def transactional(self) -> bool:
        return self._transactional

    @property
    def in_transaction(self) -> bool:
        # A relation does not tell; outside a transaction every statement is one of its own.
        with refusing(self.where):
            first, second = (self._run("SELECT txid_current()").fetchall() for _ in range(2))
        return bool(first == second)

    def require_free(self, name: Name, *, force: bool) -> None:
        if self._reopen is not None:
            with refusing(self.where):
                (self._relation, self._connection), self._reopen = self._reopen(), None
            if self.transactional:
                self._begin()
        if self.name is not None and _same(self.name, name):
            raise OutputError(f"{written(name)} is the table that is to be published.")
        if not force and self.exists(name):
            raise OutputError(
                f"there is a table {written(name)} already. Choose another name, or replace it "
                "with force."
            )

    def exists(self, name: Name) -> bool:
        try:
            self._run(f"SELECT 1 FROM {quoted(name)} LIMIT 0")  # noqa: S608 - quoted
        except duckdb.CatalogException:
            return False
        except duckdb.Error as error:
            raise OutputError(
                f"cannot publish into {written(name)}: {first_line(error)}"
            ) from error
        return True

    def tables_like(self, schema: Name, beginning: str) -> list[str]:
        found = self.ask(
            "SELECT database_name, schema_name, table_name, current_database(), current_schema() "  # noqa: S608
            f"FROM duckdb_tables() WHERE starts_with(table_name, '{beginning}')"
        )
        rows = zip(*found.to_pydict().values(), strict=True)
        # One part before the name of a table can be a schema or a database.
        return [
            name for *there, name, database, current in rows
            if (_same(schema, tuple(there)) if schema else there == [database, current])
            or (len(schema) == 1 and schema[0].lower() == there[0].lower())
        ]  # fmt: skip

    def fill(self, query: "Query", columns: Sequence[str], name: Name) -> int:
        try:
            self._run(f"CREATE TABLE {quoted(name)} AS {self._named(query, columns)}")
            return self._rows(quoted(name))
        except duckdb.Error as error:
            raise OutputError(self._unpublished(error)) from error

    @property
    def source(self) -> Name:
        return (self._source,)

    def ask(self, statement: str) -> pa.Table:
        with refusing(self.where):
            return self._run(statement).to_arrow_table()

    def other(self, name: Name) -> "DuckDBDatabase":
        where = f"table {written(name)}"
        with refusing(where):
            relation = self._run(f"SELECT * FROM {quoted(name)}")  # noqa: S608 - quoted
            return DuckDBDatabase(relation, where, table=name)

    def _rows(self, source: str) -> int:
        return int(self._run(f"SELECT count(*) FROM {source}").fetchall()[0][0])  # noqa: S608

    def require_writable(self, form: str, types: Sequence[pa.DataType]) -> None:
        require_plain_text(form, types, "DuckDB")

    def write(self, query: "Query", columns: Sequence[str], target: Path, form: str) -> int:
        options = "FORMAT parquet" if form == "parquet" else _CSV
        name = "'" + str(target).replace("'", "''") + "'"
        try:
            self._run(f"COPY ({self._named(query, columns)}) TO {name} ({options})")
            if form == "parquet":
                return self._rows(f"read_parquet({name})")
            return self._rows(f"read_csv({name}, header = true, all_varchar = true)")
        except BaseException as error:
            with suppress(OSError):
                target.unlink()
            if isinstance(error, duckdb.Error):
                raise OutputError(
                    f"cannot write {target}: {first_line(error)}. Nothing was left there."
                ) from error
            raise


_CSV = "FORMAT csv, HEADER, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR ''"


def open_file(address: Address) -> DuckDBDatabase:
    """Open a table of a file, for reading until something is to be stored in it."""
    path = Path(address.path)
    where = f"table {written(address.table)} of {path}"
    if address.host or address.user or address.options:
        raise InputError(
            "a duckdb address has a path and a table only: duckdb:///file.db?table=people"
        )
    if not path.is_file():
        rooted = Path("/", address.path).is_file() and not path.is_absolute()
        hint = f" With four slashes, duckdb:///{Path('/', path)}, it is found." if rooted else ""
        raise InputError(f"there is no file {path}.{hint}")
    held: list[Any] = []

    def relation(*, read_only: bool) -> tuple[Any, Any]:
        for connection in held:
            connection.close()
        held[:] = [duckdb.connect(str(path), read_only=read_only)]
        try:
            return held[0].table(quoted(address.table)), held[0]
        except duckdb.Error:
            # Whoever holds the error must not hold the file.
            held[0].close()
            raise

    with refusing(where):
        try:
            opened, connection = relation(read_only=True)
        except duckdb.ConnectionException:
            # This very process has it open for writing.
            held.clear()
            opened, connection = relation(read_only=False)
            return DuckDBDatabase(opened, where, table=address.table, connection=connection)
        return DuckDBDatabase(
            opened,
            where,
            table=address.table,
            connection=connection,
            reopen=lambda: relation(read_only=False),
        )


def open_connected(connection: Any, table: Name) -> DuckDBDatabase:  # noqa: ANN401
    """Open a table of a connection."""
    where = f"table {written(table)}"
    with refusing(where):
        relation = connection.table(quoted(table))
        return DuckDBDatabase(relation, where, table=table, connection=connection)


@contextmanager
def _plainly() -> Iterator[None]:
    """Let errors be what they are: Ctrl-C an interruption, and a failure itself."""
    try:
        yield
    except duckdb.TransactionException as error:
        # Of a statement that failed in a transaction, only what failed after it is told.
        if isinstance(error.__context__, duckdb.Error):
            raise error.__context__ from None
        raise
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise


@contextmanager
def refusing(where: str) -> Iterator[None]:
    """Say that a table cannot be read, instead of what DuckDB says."""
    try:
        with _plainly():
            yield
    except duckdb.Error as error:
        raise InputError(f"{where} cannot be read: {first_line(error)}.") from error


def _store(relation: Any, source: str, name: str, uploading: pa.Table) -> None:  # noqa: ANN401, ARG001
    # DuckDB finds the argument by its name, as a relation of the connection.
    relation.query(source, f"CREATE TEMP TABLE {name} AS SELECT * FROM uploading")  # noqa: S608


def _same(one: Name, other: Name) -> bool:
    """Tell whether two names may mean one table: letters' case means nothing to DuckDB."""
    return all(a.lower() == b.lower() for a, b in zip(reversed(one), reversed(other), strict=False))


def _field(name: str, kind: Any, arrow: pa.DataType) -> Field:  # noqa: ANN401
    column, described = quoted((name,)), str(kind)
    if kind.id in _NESTED or described == "JSON" or t.is_nested(arrow):
        return Field(name, arrow, described, None, arrow)
    if kind.id in _AS_TEXT:
        return Field(name, pa.string(), described, f"CAST({column} AS VARCHAR)", pa.string())
    if kind.id == "hugeint":
        return Field(name, arrow, described, f"CAST({column} AS DECIMAL(38, 0))", arrow)
    if kind.id == "varchar":
        # Whatever collation a column has, different texts are different values.
        return Field(name, arrow, described, f'{column} COLLATE "binary"', arrow)
    return Field(name, arrow, described, column, arrow)


def open_duckdb(source: Any) -> DuckDBDatabase:  # noqa: ANN401
    """Open an address, a pair of connection and table name, or a relation."""
    if isinstance(source, Address):
        return open_file(source)
    if isinstance(source, tuple):
        return open_connected(*source)
    return DuckDBDatabase(source, "the relation")
