"""Tables in PostgreSQL."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn
from weakref import finalize

import psycopg
import pyarrow as pa
import pyarrow.csv as pa_csv
from psycopg.pq import TransactionStatus
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

# Columns as the CSV that PostgreSQL's COPY writes and reads: no value becomes a Python object.
#
# Moments go as whole numbers and bytes as hexadecimal digits, so that no setting of a connection
# changes how they are written.


_AT_ONCE = 2**24
"""Bytes that are read or written together, and the last row."""


@dataclass(frozen=True)
class Fetched:
    """How a column is fetched: what is asked for, what comes, and what it is made of that."""

    name: str
    sql: str
    sent: pa.DataType
    restored: Callable[[pa.ChunkedArray], pa.ChunkedArray]


def fetched(name: str, kind: pa.DataType | None) -> Fetched:
    """Say how a column is fetched; None stands for numbers of any length.

    >>> fetched("k0", pa.date32()).sql
    "k0 - DATE '1970-01-01'"
    """
    if kind is None:
        return Fetched(name, name, pa.string(), _numbers)
    if t.is_date(kind):
        days = f"{name} - DATE '1970-01-01'"
        return Fetched(name, days, pa.int32(), lambda column: column.cast(kind))
    if t.is_timestamp(kind) or t.is_time(kind):
        moments = f"CAST(EXTRACT(EPOCH FROM {name}) * 1000000 AS bigint)"
        return Fetched(name, moments, pa.int64(), lambda column: column.cast(kind))
    if t.is_binary(kind):
        return Fetched(name, f"encode({name}, 'hex')", pa.string(), _bytes)
    return Fetched(name, name, kind, lambda column: column)


def read_rows(rows: Iterable[bytes | memoryview], columns: Sequence[Fetched]) -> pa.Table:
    r"""Read rows of CSV, each of which comes whole.

    >>> columns = [fetched("k0", pa.string()), fetched("k1", pa.date32())]
    >>> read_rows([b"Rome,1\n", b',\n', b'"",0\n'], columns).to_pydict()["k0"]
    ['Rome', None, '']
    """
    schema = pa.schema([(column.name, column.sent) for column in columns])
    parts = [_parsed(part, schema) for part in _together(rows)]
    table = pa.concat_tables([schema.empty_table(), *parts])
    restored = [column.restored(table[column.name]) for column in columns]
    return pa.table(restored, names=schema.names)


def _together(rows: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    part, size = list[bytes | memoryview](), 0
    for row in rows:
        part.append(row)
        size += len(row)
        if size >= _AT_ONCE:
            yield b"".join(part)
            part, size = [], 0
    if part:
        yield b"".join(part)


def _parsed(text: bytes, schema: pa.Schema) -> pa.Table:
    return pa_csv.read_csv(
        pa.BufferReader(text),
        # In one block, because a row must not be longer than a block.
        pa_csv.ReadOptions(column_names=schema.names, block_size=len(text) + 1),
        pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        pa_csv.ConvertOptions(
            column_types=schema,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["t"],
            false_values=["f"],
        ),
    )


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return _by_value(column, lambda texts: pa.array([Decimal(text) for text in texts]))


def _bytes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return _by_value(
        column, lambda texts: pa.array([bytes.fromhex(text) for text in texts], pa.binary())
    )


def _by_value(column: pa.ChunkedArray, made: Callable[[list[str]], pa.Array]) -> pa.ChunkedArray:
    """Make each different text something else, once."""
    coded = column.combine_chunks().dictionary_encode()
    return pa.chunked_array([made(coded.dictionary.to_pylist()).take(coded.indices)])


def write_rows(table: pa.Table) -> Iterator[pa.Buffer]:
    r"""Write a table as CSV without a header, in pieces.

    >>> [bytes(piece) for piece in write_rows(pa.table({"a": [1], "b": ["x"]}))]
    [b'1,"x"\n']
    """
    plain = pa.table([_plain(column) for column in table.columns], names=table.column_names)
    rows = max(1, _AT_ONCE // max(1, plain.nbytes // max(1, plain.num_rows)))
    options = pa_csv.WriteOptions(include_header=False)
    for batch in plain.to_batches(rows):
        piece = pa.BufferOutputStream()
        pa_csv.write_csv(batch, piece, options)
        yield piece.getvalue()


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if t.is_binary(column.type):
        values = column.to_pylist()
        return pa.chunked_array([[None if v is None else f"\\x{v.hex()}" for v in values]])
    return column.cast(pa.string()) if t.is_null(column.type) else column


class PostgresDatabase(Database):
    """A table, view or query of a connection.

    Args:
        connection: The connection.
        source: The rows, as SQL that can stand after FROM.
        where: What to call them in a message.
        table: The name of the table the rows are, if they are one.
    """

    kind: ClassVar[str] = "postgres"
    dialect: ClassVar[str] = "postgres"

    def __init__(
        self,
        connection: Any,  # noqa: ANN401 - of one of many row types
        source: str,
        where: str,
        *,
        table: Name | None = None,
    ) -> None:
        self._connection = connection
        self._source = source
        self.name = table
        self.where = where
        with self._refusing():
            self.fields = _fields(connection, source)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Say that the table cannot be read, in a transaction that does not outlive the block."""
        try:
            with self._connection.transaction():
                yield
        except psycopg.Error as error:
            raise InputError(f"{self.where} cannot be read: {first_line(error)}.") from error

    def _select(self, query: "Query") -> str:
        columns = ", ".join(
            f"{quoted((field.name,))} AS c{i}" + (f", {field.key} AS k{i}" if field.key else "")
            for i, field in enumerate(self.fields)
        )
        rows = f"SELECT {columns} FROM {self._source}"  # noqa: S608 - names are quoted
        return with_rows(rows, self.statement(query))

    def fetch(self, query: "Query") -> pa.Table:
        columns = [fetched(name, self._fetched_type(name)) for name in query.columns]
        cells = ", ".join(column.sql for column in columns)
        select = f"SELECT {cells} FROM ({self._select(query)}) AS fetched"  # noqa: S608 - quoted
        copying = f"COPY ({select}) TO STDOUT (FORMAT csv, ENCODING 'UTF8')"
        with self._refusing(), self._connection.cursor() as cursor, cursor.copy(copying) as copy:
            return read_rows(copy, columns)

    def _fetched_type(self, name: str) -> pa.DataType | None:
        """Say what a key is fetched as; None for numbers of any length."""
        if not name.startswith("k"):
            return pa.int64()
        field = self.fields[int(name[1:])]
        return None if field.key_type == _ANY_NUMBER else field.key_type

    def upload(self, table: pa.Table) -> "Query":
        name = fresh_name("lookup")
        columns = ", ".join(f"{field.name} {_declared(field.type)}" for field in table.schema)
        with self._refusing(), self._connection.cursor() as cursor:
            cursor.execute(f"CREATE TEMP TABLE {name} ({columns}) ON COMMIT DROP")
            with cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv, ENCODING 'UTF8')") as copy:
                for piece in write_rows(table):
                    copy.write(piece)
            # Without its size the planner would not choose to hash it.
            cursor.execute(f"ANALYZE {name}")
        return uploaded(name, table)

    @contextmanager
    def work(self) -> Iterator[None]:
        outermost = self._connection.info.transaction_status == TransactionStatus.IDLE
        done = False
        try:
            with self._connection.transaction():
                if outermost:
                    self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                yield
                done = True
        except psycopg.Error as error:
            # When the answer to the last statement is lost, nobody can tell.
            left = (
                "Whether all of it or nothing is in the database cannot be told; look there."
                if done and outermost and error.sqlstate is None
                else "Nothing was left in the database."
            )
            raise OutputError(
                f"{self.where} cannot be published: {first_line(error)}. {left}"
            ) from error

    @property
    def transactional(self) -> bool:
        return True

    def tables_like(self, schema: Name, beginning: str) -> list[str]:
        literal = "'" + schema[-1].replace("'", "''") + "'" if schema else "current_schema()"
        found = self.ask(
            f"SELECT tablename FROM pg_tables WHERE schemaname = {literal} "  # noqa: S608 - quoted
            f"AND starts_with(CAST(tablename AS text), '{beginning}')"
        )
        return [str(name) for [name] in found]

    @property
    def in_transaction(self) -> bool:
        return bool(self._connection.info.transaction_status == TransactionStatus.INTRANS)

    def require_free(self, name: Name, *, force: bool) -> None:
        if self.name is not None and self._number(self.name) == self._number(name) is not None:
            raise OutputError(f"{written(name)} is the table that is to be published.")
        if not force and self._number(name) is not None:
            raise OutputError(
                f"there is a table {written(name)} already. Choose another name, or replace it "
                "with force."
            )

    def _number(self, name: Name) -> int | None:
        """Ask which table a name means now."""
        with self._refusing():
            found = self._connection.execute("SELECT to_regclass(%s)::oid", [quoted(name)])
            number: int | None = found.fetchone()[0]
        return number

    def exists(self, name: Name) -> bool:
        return self._number(name) is not None

    @property
    def source(self) -> Name:
        return self.name or ("sfumato_source",)

    def ask(self, statement: str) -> list[tuple[object, ...]]:
        if self.name is None:
            statement = f"WITH sfumato_source AS (SELECT * FROM {self._source}) {statement}"  # noqa: S608
        with self._refusing():
            cursor = self._connection.execute(statement)
            return [] if cursor.description is None else list(cursor.fetchall())

    def other(self, name: Name) -> "PostgresDatabase":
        return open_postgres((self._connection, name))

    def fill(self, query: "Query", columns: Sequence[str], name: Name) -> int:
        cells = ", ".join(f"o{i} AS {quoted((column,))}" for i, column in enumerate(columns))
        recoded = f"({self._select(query)}) AS recoded"
        select = f"SELECT {cells} FROM {recoded} ORDER BY random()"  # noqa: S608 - names are quoted
        # Nobody sees it before the transaction ends, and nobody ever if it fails.
        self._connection.execute(f"CREATE TABLE {quoted(name)} AS {select}")
        counted = self._connection.execute(f"SELECT count(*) FROM {quoted(name)}")  # noqa: S608
        return int(counted.fetchone()[0])

    def require_writable(self, form: str, types: Sequence[pa.DataType]) -> NoReturn:
        raise OutputError(
            "PostgreSQL writes files only on its own machine. Publish into a table of the same "
            "database, and fetch that with psql's \\copy or pg_dump."
        )

    def write(self, query: "Query", columns: Sequence[str], target: Path, form: str) -> NoReturn:
        self.require_writable(form, [])


def open_postgres(source: Any) -> PostgresDatabase:  # noqa: ANN401
    """Open an address, a pair of connection and table name, or a connection with a query."""
    if isinstance(source, Address):
        where = f"table {written(source.table)} of PostgreSQL"
        connection = _connect(source)
        try:
            opened = PostgresDatabase(connection, quoted(source.table), where, table=source.table)
        except BaseException:
            connection.close()
            raise
        finalize(opened, connection.close)
        return opened
    if len(source) == 2:
        connection, table = source
        where = f"table {written(table)} of PostgreSQL"
        return PostgresDatabase(connection, quoted(table), where, table=table)
    connection, select, where = source
    return PostgresDatabase(connection, f"({select}) AS source", where)


def _connect(address: Address) -> Any:  # noqa: ANN401
    given: dict[str, Any] = {
        **dict(address.options),
        "host": address.host,
        "port": address.port,
        "dbname": address.path or None,
        "user": address.user,
        "password": address.password,
    }
    try:
        return psycopg.connect(
            **{key: value for key, value in given.items() if value is not None}, autocommit=True
        )
    except (psycopg.Error, ValueError, TypeError) as error:
        reason = first_line(error)
        if address.password:
            reason = reason.replace(address.password, "…")
        raise InputError(f"cannot reach {address}: {reason}.") from None


_TYPES = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "bytea": pa.binary(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
}
_WRITTEN_AS_TEXT = {"uuid", "oid", "money", "timetz"}
_TEXTUAL = {"S", "E", "I", "T"}
"""The categories of texts, enumerations, network addresses and spans of time."""

_ANY_NUMBER = pa.decimal128(38, 9)
"""What a number of any length is called, for want of a type that holds all of them."""


def _fields(connection: Any, source: str) -> tuple[Field, ...]:  # noqa: ANN401
    with connection.cursor() as cursor:
        # Prepared, it would remember columns that the table no longer has.
        cursor.execute(f"SELECT * FROM {source} LIMIT 0", prepare=False)  # noqa: S608 - quoted
        described = cursor.description
        cursor.execute(
            "SELECT oid, typname, typcategory FROM pg_type WHERE oid = ANY(%s)",
            [[column.type_code for column in described]],
        )
        types = {number: (name, category) for number, name, category in cursor.fetchall()}
    return tuple(_field(column, *types[column.type_code]) for column in described)


def _field(column: Any, kind: str, category: str) -> Field:  # noqa: ANN401
    name = quoted((column.name,))
    if kind in _TYPES:
        return Field(column.name, _TYPES[kind], kind, name, _TYPES[kind])
    if kind == "numeric":
        exact = column.precision is not None and column.precision <= 38
        arrow = pa.decimal128(column.precision, column.scale) if exact else _ANY_NUMBER
        return Field(column.name, arrow, kind, f"NULLIF({name}, 'NaN')", arrow)
    if category in _TEXTUAL or kind in _WRITTEN_AS_TEXT:
        # Whatever collation a column has, different texts are different values; the blanks
        # that fill up a char(n) are none of its text.
        return Field(
            column.name, pa.string(), kind, f'CAST({name} AS text) COLLATE "C"', pa.string()
        )
    return Field(column.name, pa.string(), kind, None, pa.string())


def _declared(kind: pa.DataType) -> str:
    """Say what PostgreSQL calls a type of an uploaded table."""
    if t.is_decimal(kind):
        return "numeric"
    if t.is_string(kind) or t.is_large_string(kind) or t.is_null(kind):
        return 'text COLLATE "C"'
    return next(name for name, arrow in _TYPES.items() if arrow == kind)
