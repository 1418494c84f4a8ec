"""Tables in PostgreSQL."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn
from weakref import finalize

import ibis
import psycopg
import pyarrow as pa
import pyarrow.csv as pa_csv
from psycopg.pq import TransactionStatus
from pyarrow import types as t

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, OutputError
from sfumato.files.dialect import Dialect
from sfumato.tables.sql.database import (
    Address,
    Answer,
    Database,
    Field,
    Name,
    first_line,
    format_name,
    single_column,
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
class FetchedColumn:
    """One fetched column: its SQL expression, the type of the CSV, and the conversion back."""

    name: str
    sql: str
    sent: pa.DataType
    restore: Callable[[pa.ChunkedArray], pa.ChunkedArray]


def fetched_column(name: str, kind: pa.DataType | None) -> FetchedColumn:
    """Return how a column is fetched; None stands for numbers of any length.

    >>> fetched_column("k0", pa.date32()).sql
    "k0 - DATE '1970-01-01'"
    """
    if kind is None:
        return FetchedColumn(name, name, pa.string(), _numbers)
    if t.is_date(kind):
        days = f"{name} - DATE '1970-01-01'"
        return FetchedColumn(name, days, pa.int32(), lambda column: column.cast(kind))
    if t.is_timestamp(kind) or t.is_time(kind):
        moments = f"CAST(EXTRACT(EPOCH FROM {name}) * 1000000 AS bigint)"
        return FetchedColumn(name, moments, pa.int64(), lambda column: column.cast(kind))
    if t.is_binary(kind):
        return FetchedColumn(name, f"encode({name}, 'hex')", pa.string(), _bytes)
    return FetchedColumn(name, name, kind, lambda column: column)


def read_rows(rows: Iterable[bytes | memoryview], columns: Sequence[FetchedColumn]) -> pa.Table:
    r"""Read rows of CSV, each of which comes whole.

    >>> columns = [fetched_column("k0", pa.string()), fetched_column("k1", pa.date32())]
    >>> read_rows([b"Rome,1\n", b',\n', b'"",0\n'], columns).to_pydict()["k0"]
    ['Rome', None, '']
    """
    schema = pa.schema([(column.name, column.sent) for column in columns])
    parts = [_parse(part, schema) for part in _join(rows)]
    table = pa.concat_tables([schema.empty_table(), *parts])
    values = [column.restore(table[column.name]) for column in columns]
    return pa.table(values, names=schema.names)


def _join(rows: Iterable[bytes | memoryview]) -> Iterator[pa.Buffer]:
    """Join rows, in memory of Arrow's: its threads may drop that when the interpreter has ended."""
    part = pa.BufferOutputStream()
    for row in rows:
        part.write(row)
        if part.tell() >= _AT_ONCE:
            yield part.getvalue()
            part = pa.BufferOutputStream()
    if part.tell():
        yield part.getvalue()


def _parse(text: pa.Buffer, schema: pa.Schema) -> pa.Table:
    return pa_csv.read_csv(
        pa.BufferReader(text),
        # In one block, because a row must not be longer than a block.
        pa_csv.ReadOptions(column_names=schema.names, block_size=text.size + 1),
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
    """Convert each different text once."""
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


class PostgreSQL(Database):
    """A table, view or query of a connection.

    Args:
        connection: The connection.
        from_clause: The rows, as SQL that can stand after FROM.
        where: The table's name in messages.
        table: The name of the table the rows are, if they are one.
    """

    kind: ClassVar[str] = "postgres"
    title: ClassVar[str] = "PostgreSQL"
    ibis_name: ClassVar[str] = "postgres"
    example: ClassVar[str] = "postgres://user@host/database?table=schema.people"
    errors = (psycopg.Error,)
    default_port: ClassVar[int] = 5432
    case_sensitive: ClassVar[bool] = True
    longest_name: ClassVar[int] = 63
    # The randomness of the operating system, whatever seed a session has set.
    drawn: ClassVar[str] = "gen_random_uuid()"
    dialect: ClassVar[Dialect] = Dialect(
        text="TEXT",
        collation='"C"',
        sha256="encode(sha256(convert_to({}, 'UTF8')), 'hex')",
        joined_lines="string_agg(line, ' ' ORDER BY line COLLATE \"C\")",
        cells={
            "float": "encode(float8send({}), 'hex')",
            "binary": "encode({}, 'hex')",
            "date": "encode(date_send({}), 'hex')",
            "time": "encode(time_send({}), 'hex')",
            "timestamp": "encode(timestamp_send({}), 'hex')",
            "moment": "encode(timestamptz_send({}), 'hex')",
        },
    )

    def __init__(
        self,
        connection: Any,  # noqa: ANN401 - of one of many row types
        from_clause: str,
        where: str,
        *,
        table: Name | None = None,
    ) -> None:
        self._connection = connection
        self._from_clause = from_clause
        self.name = table
        self.where = where
        with self.reading(where), connection.transaction():
            self.fields = _fields(connection, from_clause)

    @classmethod
    def open(cls, source: Any) -> "PostgreSQL":  # noqa: ANN401
        if isinstance(source, Address):
            connection = _connect(source)
            try:
                opened = cls.open((connection, source.table))
            except BaseException:
                connection.close()
                raise
            finalize(opened, connection.close)
            return opened
        connection, table = source
        where = f"table {format_name(table)} of PostgreSQL"
        return cls(connection, cls.dialect.quote(*table), where, table=table)

    @classmethod
    def files_of(cls, address: Address) -> tuple[str, ...] | None:
        return () if {key for key, _ in address.options} <= _OF_CONNECTION else None

    @classmethod
    def open_ibis(cls, backend: Any, select: str) -> "PostgreSQL":  # noqa: ANN401
        return cls(backend.con, f"({select}) AS source", "the Ibis table")

    def open_table(self, name: Name) -> "PostgreSQL":
        return self.open((self._connection, name))

    @property
    def from_clause(self) -> str:
        return self._from_clause

    def draw(self) -> Any:  # noqa: ANN401
        return ibis.uuid()

    @property
    def relation_name(self) -> Name:
        return self.name or ("sfumato_source",)

    def run(self, statement: str) -> list[tuple[object, ...]]:
        # In a transaction that does not outlive the statement, and leaves an outer one usable.
        with self._connection.transaction():
            cursor = self._connection.execute(statement)
            return [] if cursor.description is None else list(cursor.fetchall())

    def query(self, statement: str) -> Answer:
        if self.name is None:
            statement = f"WITH sfumato_source AS (SELECT * FROM {self._from_clause}) {statement}"  # noqa: S608
        return super().query(statement)

    def fetch(self, query: "Query") -> pa.Table:
        columns = [fetched_column(name, self._fetched_type(name)) for name in query.columns]
        cells = ", ".join(column.sql for column in columns)
        select = f"SELECT {cells} FROM ({self.select(query)}) AS fetched"  # noqa: S608 - quoted
        copying = f"COPY ({select}) TO STDOUT (FORMAT csv, ENCODING 'UTF8')"
        connection = self._connection
        with (
            self.reading(self.where),
            connection.transaction(),
            connection.cursor() as cursor,
            cursor.copy(copying) as copy,
        ):
            return read_rows(copy, columns)

    def _fetched_type(self, name: str) -> pa.DataType | None:
        """Return the type a key is fetched as; None for numbers of any length."""
        if not name.startswith("k"):
            return pa.float64() if name.startswith("float_") else pa.int64()
        # The key of a column, or one of its values by the name of what it is: k3, k3_least.
        field = self.fields[int(name[1:].partition("_")[0])]
        return None if field.key_type == _ANY_LENGTH else field.key_type

    def load(self, name: str, table: pa.Table) -> None:
        columns = ", ".join(f"{field.name} {_declare(field.type)}" for field in table.schema)
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute(f"CREATE TEMP TABLE {name} ({columns}) ON COMMIT DROP")
            with cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv, ENCODING 'UTF8')") as copy:
                for piece in write_rows(table):
                    copy.write(piece)
            # Without its size the planner would not choose to hash it.
            cursor.execute(f"ANALYZE {name}")

    @contextmanager
    def scope(self) -> Iterator[None]:
        outermost = self._connection.info.transaction_status == TransactionStatus.IDLE
        done = False
        try:
            with self._connection.transaction():
                if outermost:
                    self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                yield
                done = True
        except psycopg.Error as error:
            # When the answer to COMMIT is lost, whether it was done is not known.
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
        found = self.query(
            f"SELECT tablename FROM pg_tables WHERE schemaname = {literal} "  # noqa: S608 - quoted
            f"AND starts_with(CAST(tablename AS text), '{beginning}')"
        )
        return [str(name) for name in single_column(found)]

    @property
    def in_transaction(self) -> bool:
        return bool(self._connection.info.transaction_status == TransactionStatus.INTRANS)

    def same_table(self, one: Name, other: Name) -> bool:
        return self._number(one) == self._number(other) is not None

    def _number(self, name: Name) -> int | None:
        """Return the number of the table that a name means now."""
        with self.reading(self.where), self._connection.transaction():
            name_in_sql = self.dialect.quote(*name)
            found = self._connection.execute("SELECT to_regclass(%s)::oid", [name_in_sql])
            number: int | None = found.fetchone()[0]
        return number

    def exists(self, name: Name) -> bool:
        return self._number(name) is not None

    def is_view(self, name: Name) -> bool:
        number = self._number(name)
        found = self.query(
            f"SELECT CAST(relkind AS text) FROM pg_class WHERE oid = {number or 0}"  # noqa: S608
        )
        # Neither a table nor a partitioned one: a view, materialized or not, or a foreign table.
        return any(kind not in ("r", "p") for kind in single_column(found))

    def require_writable(self, form: str, types: Sequence[pa.DataType]) -> NoReturn:
        raise OutputError(
            "PostgreSQL writes files only on its own machine. Publish into a table of the same "
            "database, and fetch that with psql's \\copy or pg_dump."
        )


_OF_CONNECTION = {
    "application_name", "channel_binding", "client_encoding", "connect_timeout", "gssencmode",
    "hostaddr", "keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval",
    "load_balance_hosts", "options", "require_auth", "ssl_max_protocol_version",
    "ssl_min_protocol_version", "sslmode", "sslnegotiation", "sslsni", "target_session_attrs",
    "tcp_user_timeout",
}  # fmt: skip
"""Options of a connection that name no file; those of keys, certificates and passwords do."""


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

_ANY_LENGTH = pa.decimal128(38, 9)
"""Stands for numbers of any length, for want of a type that holds all of them."""


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
    name = PostgreSQL.dialect.quote(column.name)
    if kind in _TYPES:
        return Field(column.name, _TYPES[kind], kind, name, _TYPES[kind])
    if kind == "numeric":
        exact = column.precision is not None and column.precision <= 38
        arrow = pa.decimal128(column.precision, column.scale) if exact else _ANY_LENGTH
        return Field(column.name, arrow, kind, f"NULLIF({name}, 'NaN')", arrow)
    if category in _TEXTUAL or kind in _WRITTEN_AS_TEXT:
        # Whatever collation a column has, different texts are different values; the blanks
        # that fill up a char(n) are none of its text.
        return Field(
            column.name, pa.string(), kind, f'CAST({name} AS text) COLLATE "C"', pa.string()
        )
    return Field(column.name, pa.string(), kind, None, pa.string())


def _declare(kind: pa.DataType) -> str:
    """Return PostgreSQL's name of a type of an uploaded table."""
    if t.is_decimal(kind):
        return "numeric"
    if t.is_string(kind) or t.is_large_string(kind) or t.is_null(kind):
        return 'text COLLATE "C"'
    return next(name for name, arrow in _TYPES.items() if arrow == kind)
