"""Tables in DuckDB."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import duckdb
import pyarrow as pa
from pyarrow import types as t

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, OutputError
from sfumato.files import refuse_special
from sfumato.files.confinement import current
from sfumato.files.dialect import Dialect
from sfumato.tables.sql.database import (
    Address,
    Database,
    Field,
    Name,
    draw_with_md5,
    first_line,
    format_name,
    fresh_name,
)

if TYPE_CHECKING:
    from ibis.expr.types import Table as Query

_NESTED = {"list", "array", "struct", "map", "union", "variant", "geometry"}
_AS_TEXT = {"uuid", "enum", "interval", "bit", "time with time zone", "bignum", "uhugeint"}


class DuckDB(Database):
    """A relation of DuckDB.

    Everything is done through the relation, because it does not tell its connection. Only the
    connection can roll a failed transaction back, so without it there is none.

    Args:
        relation: The rows.
        where: The table's name in messages.
        table: The name of the table the rows are, if they are one.
        connection: The connection of the relation, if it is known.
        reopen: Returns both, of a file that this class opened, with the right to create tables or
            to write other files.
    """

    kind: ClassVar[str] = "duckdb"
    title: ClassVar[str] = "DuckDB"
    ibis_name: ClassVar[str] = "duckdb"
    example: ClassVar[str] = "duckdb:///file.db?table=people"
    errors = (duckdb.Error,)
    in_file: ClassVar[bool] = True
    formats: ClassVar[tuple[str, ...]] = ("parquet", "csv")
    # Its generator has a seed of a few bytes, which a session may have set.
    drawn: ClassVar[str] = "md5_number(concat('{secret}', (random() * 9007199254740992)::BIGINT))"
    dialect: ClassVar[Dialect] = Dialect(
        text="VARCHAR",
        collation='"binary"',
        sha256="sha256({})",
        joined_lines="string_agg(line, ' ' ORDER BY line)",
        cells={
            "binary": "hex({})",
            "moment": "CAST(epoch_us({}) AS VARCHAR)",
            "nested": "CAST(to_json({}) AS VARCHAR)",
        },
    )

    def __init__(
        self,
        relation: Any,  # noqa: ANN401 - duckdb is not typed
        where: str,
        *,
        table: Name | None = None,
        connection: Any = None,  # noqa: ANN401
        reopen: "Callable[[_Rights], tuple[Any, Any]] | None" = None,
    ) -> None:
        self._relation = relation
        self._connection = connection
        self._transactional = False
        self.name = table
        self._reopen = reopen
        self._rights = _Rights()
        self._shared = False
        self._source = fresh_name("source")
        self._temporary: list[str] = []
        self.where = where
        with self.reading(where):
            arrow = relation.limit(0).to_arrow_table().schema
            self.fields = tuple(
                _field(name, kind, field.type)
                for name, kind, field in zip(relation.columns, relation.types, arrow, strict=True)
            )

    @classmethod
    def open(cls, source: Any) -> "DuckDB":  # noqa: ANN401
        if isinstance(source, Address):
            return _open_file(source)
        if not isinstance(source, tuple):
            return cls(source, "the relation")
        connection, name = source
        where = f"table {format_name(name)}"
        with cls.reading(where):
            relation = connection.table(cls.dialect.quote(*name))
            return cls(relation, where, table=name, connection=connection)

    @classmethod
    def open_ibis(cls, backend: Any, select: str) -> "DuckDB":  # noqa: ANN401
        return cls(backend.con.sql(select), "the relation")

    def open_table(self, name: Name) -> "DuckDB":
        where = f"table {format_name(name)}"
        with self.reading(where):
            relation = self._run(f"SELECT * FROM {self.dialect.quote(*name)}")  # noqa: S608 - quoted
            return DuckDB(relation, where, table=name)

    @property
    def relation_name(self) -> Name:
        return (self._source,)

    def draw(self) -> Any:  # noqa: ANN401
        return draw_with_md5()

    def _run(self, statement: str) -> Any:  # noqa: ANN401
        with _original_errors():
            return self._relation.query(self._source, statement)

    def run(self, statement: str) -> pa.Table:
        found = self._run(statement)
        return pa.table({}) if found is None else found.to_arrow_table()

    @classmethod
    @contextmanager
    def reading(cls, where: str) -> Iterator[None]:
        with super().reading(where), _original_errors():
            yield

    def load(self, name: str, table: pa.Table) -> None:
        self._temporary.append(name)
        if self._connection is None:
            _store(self._relation, self._source, name, table)
            return
        # A connection that reads nothing but its file finds no variables.
        uploaded = fresh_name("uploaded")
        self._connection.register(uploaded, table)
        try:
            self._run(f"CREATE TEMP TABLE {name} AS FROM {uploaded}")
        finally:
            with suppress(duckdb.Error):
                self._connection.unregister(uploaded)

    @contextmanager
    def scope(self) -> Iterator[None]:
        # A transaction that the caller began is the caller's to end.
        ours = self._connection is not None and not self.transactional and not self.in_transaction
        try:
            if ours:
                self._begin()
            yield
            if ours:
                with self.publishing(self.where):
                    self._run("COMMIT")
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
        with self.reading(self.where):
            self._run("BEGIN TRANSACTION")

    @property
    def transactional(self) -> bool:
        return self._transactional

    @property
    def in_transaction(self) -> bool:
        # A relation does not tell; outside a transaction every statement is one of its own.
        with self.reading(self.where):
            first, second = (self._run("SELECT txid_current()").fetchall() for _ in range(2))
        return bool(first == second)

    def require_free(self, name: Name, *, force: bool) -> None:
        with self.reading(self.where):
            self._require(replace(self._rights, tables=True))
        super().require_free(name, force=force)

    def _require(self, rights: "_Rights", *, anew: bool = False) -> None:
        """Open the file again with more rights, if it was opened here and lacks them."""
        if self._reopen is None or (rights == self._rights and not anew):
            return
        self._relation, self._connection = self._reopen(rights)
        self._rights = rights
        if self.transactional:
            self._begin()

    def exists(self, name: Name) -> bool:
        try:
            self._run(f"SELECT 1 FROM {self.dialect.quote(*name)} LIMIT 0")  # noqa: S608 - quoted
        except duckdb.CatalogException:
            return False
        except duckdb.PermissionException:
            # A view that reads what it may not.
            return True
        except duckdb.Error as error:
            raise OutputError(
                f"cannot publish into {format_name(name)}: {first_line(error)}"
            ) from error
        return True

    def is_view(self, name: Name) -> bool:
        with self.reading(self.where):
            views = self._run(
                "SELECT database_name, schema_name, view_name, "
                "database_name = current_database() AND schema_name = current_schema() "
                "FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
        return any(
            self.same_table(name, tuple(there)) and (len(name) > 1 or here)
            for *there, here in views
        )

    def tables_like(self, schema: Name, beginning: str) -> list[str]:
        statement = (
            "SELECT database_name, schema_name, table_name, current_database(), current_schema() "  # noqa: S608
            f"FROM duckdb_tables() WHERE starts_with(table_name, '{beginning}')"
        )
        with self.reading(self.where):
            rows = self._run(statement).fetchall()
        # One part before the name of a table can be a schema or a database.
        return [
            name for *there, name, database, current in rows
            if (self.same_table(schema, tuple(there)) if schema else there == [database, current])
            or (len(schema) == 1 and schema[0].lower() == there[0].lower())
        ]  # fmt: skip

    def prepare_files(self) -> None:
        if current() is not None:
            self._shared = True
            return
        with self.reading(self.where):
            try:
                self._require(replace(self._rights, files=True))
            except duckdb.ConnectionException:
                # Another connection of this process reads the file too, and none of them may write.
                self._shared = True
                self._require(self._rights, anew=True)

    def write(self, query: "Query", columns: Sequence[str], target: Path, form: str) -> int:
        options = "FORMAT parquet" if form == "parquet" else _CSV
        name = "'" + str(target).replace("'", "''") + "'"
        read = f"read_csv({name}, header = true, all_varchar = true)"
        read = f"read_parquet({name})" if form == "parquet" else read
        select = self.select_shuffled(query, columns)
        try:
            if self._shared:
                rows = self._run(select).to_arrow_reader()
                return _write_apart(
                    rows, f"COPY (FROM rows) TO {name} ({options})", read, target.parent
                )
            self._run(f"COPY ({select}) TO {name} ({options})")
            return self.count_rows(read)
        except BaseException as error:
            with suppress(OSError):
                target.unlink()
            if isinstance(error, duckdb.Error):
                raise OutputError(
                    f"cannot write {target}: {first_line(error)}. Nothing was left there."
                ) from error
            raise


_CSV = "FORMAT csv, HEADER, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR ''"


def _open_file(address: Address) -> DuckDB:
    """Open a table of a file, for reading until something is to be stored in it."""
    path = Path(address.path)
    where = f"table {format_name(address.table)} of {path}"
    if address.host or address.user or address.options:
        raise InputError(
            "a duckdb address has a path and a table only: duckdb:///file.db?table=people"
        )
    refuse_special(path)
    if not path.is_file():
        rooted = Path("/", address.path).is_file() and not path.is_absolute()
        hint = f" With four slashes, duckdb:///{Path('/', path)}, it is found." if rooted else ""
        raise InputError(f"there is no file {path}.{hint}")
    held: list[Any] = []

    def relation(rights: _Rights) -> tuple[Any, Any]:
        for connection in held:
            connection.close()
        held[:] = [duckdb.connect(str(path), **rights.settings)]
        try:
            return held[0].table(DuckDB.dialect.quote(*address.table)), held[0]
        except duckdb.Error:
            # The error must not keep the file open.
            held[0].close()
            raise

    with DuckDB.reading(where):
        try:
            opened, connection = relation(_Rights())
        except duckdb.PermissionException as error:
            raise InputError(
                f"{where} cannot be read: {first_line(error)}. A view of a file that is opened by "
                "its address must not read anything outside it. If you trust it, open the file "
                "yourself and give the connection and the name of the view."
            ) from None
        except duckdb.ConnectionException:
            # This very process has it open already, with rights of its own.
            held.clear()
            opened, connection = _open_shared(relation)
            return DuckDB(opened, where, table=address.table, connection=connection)
        return DuckDB(opened, where, table=address.table, connection=connection, reopen=relation)


@dataclass(frozen=True)
class _Rights:
    """What a connection to a file may do besides reading its tables.

    Views and macros of a file can read other files and addresses: the file's maker would decide
    what is read here. A view that needs no more than its own file is the same with more rights.
    """

    tables: bool = False
    """Create tables in it."""

    files: bool = False
    """Write other files."""

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of a connection."""
        # With other settings than usual, no other connection of the process could write to it.
        # Where work is confined to a folder, nothing is read beside the file, whatever is written.
        alone = not (self.tables or self.files) or current() is not None
        config = {"enable_external_access": "false"} if alone else {}
        return {"read_only": not self.tables, "config": config}


def _open_shared(relation: Callable[[_Rights], tuple[Any, Any]]) -> tuple[Any, Any]:
    """Open a file with the rights that other connections of this process have."""
    with suppress(duckdb.ConnectionException):
        return relation(_Rights(files=True))
    return relation(_Rights(tables=True))


def _write_apart(rows: pa.RecordBatchReader, copy: str, read: str, beside: Path) -> int:
    """Write rows by a database of its own, in memory, which may; return how many there are.

    What it has no room for in memory goes beside what it writes, and not into the present folder.
    """
    with duckdb.connect(config={"temp_directory": str(beside)}) as writer:
        writer.register("rows", rows)
        writer.execute(copy)
        return int(writer.execute(f"SELECT count(*) FROM {read}").fetchall()[0][0])  # noqa: S608


@contextmanager
def _original_errors() -> Iterator[None]:
    """Raise Ctrl-C as an interruption, and the first error of a failed transaction."""
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


def _store(relation: Any, source: str, name: str, uploading: pa.Table) -> None:  # noqa: ANN401, ARG001
    # DuckDB finds the argument by its name, as a relation of the connection.
    relation.query(source, f"CREATE TEMP TABLE {name} AS FROM uploading")


def _field(name: str, kind: Any, arrow: pa.DataType) -> Field:  # noqa: ANN401
    column, described = DuckDB.dialect.quote(name), str(kind)
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
