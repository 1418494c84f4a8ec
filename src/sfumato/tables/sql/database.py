"""One table of a database and the connection to it: addresses, names, statements, appearance."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import field
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import ibis
import numpy as np
import pyarrow as pa

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, OutputError, ParameterError, SfumatoError
from sfumato.files.confinement import Confinement
from sfumato.files.dialect import Dialect
from sfumato.tables.arrow.sources import from_numpy, is_spelt_alike
from sfumato.tables.sql.registry import DATABASES

if TYPE_CHECKING:
    from ibis.expr.types import Table as Query

Name: TypeAlias = tuple[str, ...]
"""A table's name in parts: schema and table, or only the table."""


@dataclass(frozen=True)
class Address:
    """Where a table is. Its text form never shows a password.

    >>> address = Address.parse("postgres://ann:secret@db.example:5433/clinic?table=ward.people")
    >>> address.table, address.host, address.port, str(address)
    (('ward', 'people'), 'db.example', 5433, 'postgres://db.example:5433/clinic, table ward.people')
    """

    scheme: str
    host: str | None
    port: int | None
    path: str
    """The text after the host and its slash."""

    table: Name
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read an address; messages name the wrong part without repeating it."""
        scheme = text.partition("://")[0].lower()
        how = f"Write {DATABASES[scheme].example}."
        try:
            parts = urlsplit(text)
            port = parts.port
            options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True)
        except ValueError:
            raise InputError(
                f"the {scheme} address cannot be read. {how} Write special characters of "
                "names and passwords as %40 and the like."
            ) from None
        tables = [value for key, value in options if key == "table"]
        if len(tables) != 1 or not tables[0]:
            raise InputError(f"the {scheme} address does not name one table. {how}")
        return cls(
            scheme=DATABASES[scheme].kind,
            host=parts.hostname,
            port=port,
            path=unquote(parts.path[1:]),
            table=name_of(tables[0]),
            user=None if parts.username is None else unquote(parts.username),
            password=None if parts.password is None else unquote(parts.password),
            options=tuple((key, value) for key, value in options if key != "table"),
        )

    @property
    def is_file(self) -> bool:
        """Whether the database is a file."""
        return DATABASES[self.scheme].in_file

    @property
    def database(self) -> tuple[str, str, int | None, str]:
        """The part that is equal for all tables of one database.

        >>> one = Address.parse("postgres://ann@db/clinic?table=people")
        >>> one.database == Address.parse("postgres://bob@db:5432/clinic?table=released").database
        True
        """
        path = str(Path(self.path).resolve()) if self.is_file else self.path
        port = self.port or DATABASES[self.scheme].default_port
        return self.scheme, self.host or "", port, path

    def __str__(self) -> str:
        port = "" if self.port is None else f":{self.port}"
        return (
            f"{self.scheme}://{self.host or ''}{port}/{self.path}, table {format_name(self.table)}"
        )


def address_in_file(kind: str, path: Path, table: str) -> str:
    """Return the address of a table of a database that is a file.

    >>> address_in_file("duckdb", Path("/data/50% & more.db"), "people?")
    'duckdb:////data/50%25%20%26%20more.db?table=people%3F'
    """
    return f"{kind}:///{quote(path.as_posix())}?{urlencode({'table': table}, quote_via=quote)}"


def confine(text: str, limits: Confinement) -> str:
    """Return an address whose files lie in a folder, by their whole paths; raise if they do not.

    Args:
        text: The address; a path in it is relative to the folder.
        limits: The folder.
    """
    if text in limits.named:
        return text
    address = Address.parse(text)
    scheme = text.partition("://")[0].lower()
    kind = DATABASES[scheme]
    files = kind.files_of(address)
    if not kind.in_file and not limits.servers:
        raise InputError(
            f"{kind.title} is reached over the network, in the name of who started the app, which "
            "was not allowed to. Start it with --databases, or save the table as a file in the "
            "folder."
        )
    if files is None:
        raise InputError(
            f"this {scheme} address may lead to any file of this machine, and the app "
            f"opens those in its folder only. Write {kind.example}, or save the table as a file "
            "in the folder."
        )
    found = [limits.path(each) for each in files]
    if not kind.in_file:
        return text
    return address_in_file(scheme, found[0], format_name(address.table))


def sibling(address: str, table: str) -> str:
    """Return the address of another table in the same database.

    >>> sibling("postgres://ann:secret@db/clinic?table=people", "released")
    'postgres://ann:secret@db/clinic?table=released'
    """
    parts = urlsplit(address)
    options = [(k, v) for k, v in parse_qsl(parts.query, keep_blank_values=True) if k != "table"]
    query = urlencode([*options, ("table", table)], quote_via=quote)
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{query}"


def public(address: str) -> str:
    """Return an address without user, password and options.

    >>> public("postgres://ann:secret@db/clinic?sslmode=require&table=people")
    'postgres://db/clinic?table=people'
    """
    scheme, _, rest = address.partition("://")
    place, _, options = rest.partition("?")
    tables = [option for option in options.split("&") if option.startswith("table=")]
    return f"{scheme}://{place.rpartition('@')[2]}" + "".join(f"?{table}" for table in tables[:1])


def name_of(text: str | Name) -> Name:
    """Read a table's name; a part with a dot in it stands in double quotes.

    >>> name_of("ward.people"), name_of('"my.ward"."say ""hi"" twice"')
    (('ward', 'people'), ('my.ward', 'say "hi" twice'))
    """
    parts = text if isinstance(text, tuple) else _parts(text)
    if not 1 <= len(parts) <= 3 or any(not part or "\0" in part for part in parts):
        raise ParameterError("table", text, "a name such as people or schema.people", why=_QUOTES)
    return tuple(parts)


_QUOTES = 'write names that have dots in them in double quotes, as in "my.schema".people'


def _parts(text: str) -> list[str]:
    parts: list[str] = [""]
    inside = False
    i = 0
    while i < len(text):
        letter = text[i]
        if inside and text[i : i + 2] == '""':
            parts[-1] += '"'
            i += 1
        elif letter == '"' and (inside or not parts[-1]):
            inside = not inside
        elif letter == "." and not inside:
            parts.append("")
        else:
            parts[-1] += letter
        i += 1
    return [] if inside else parts


def format_name(name: Name) -> str:
    """Write a name for people, so that `name_of` reads it again.

    >>> format_name(("my.ward", "people"))
    '"my.ward".people'
    """
    return ".".join(
        '"' + part.replace('"', '""') + '"' if "." in part or '"' in part else part for part in name
    )


Check: TypeAlias = Callable[[int], None]
Answer: TypeAlias = pa.Table | list[tuple[object, ...]]
ROWS = "sfumato_rows"
"""The name statements use for the source: column i is `ci`, the key of its values `ki`."""


@dataclass(frozen=True)
class Field:
    """A column of a database."""

    name: str
    type: pa.DataType
    """The Arrow type of its values."""

    native_type: str
    """The type in the database's words."""

    key: str | None
    """SQL that is equal for equal values only; None if rows have no single value there."""

    key_type: pa.DataType


class Database(ABC):
    """One table, view or query of a database, and the connection to it.

    This is the class that another database needs: one subclass in its own file describes the
    database (class attributes), opens tables (`open`) and runs statements (the abstract methods).
    An outside package registers it under the scheme of its addresses, and under the library of its
    connections, as entry points of the group `sfumato.databases`; `examples/engine-sqlite` does so
    for SQLite. Counting, publishing, releases, verification and evidence are then the same for it
    as for the databases here.

    Statements come as Ibis expressions over `rows` and over uploaded tables. Nothing that a user
    wrote, be it a name or a value, becomes part of a statement other than quoted. An instance has

    - `where`: what messages call the table, without a password;
    - `fields`: its columns;
    - `name`: the table's name, None if it is a query.
    """

    kind: ClassVar[str]
    """The scheme of its addresses, such as postgres."""

    title: ClassVar[str]
    """The name of the database in messages, such as PostgreSQL."""

    ibis_name: ClassVar[str]
    """The name of Ibis's backend, whose SQL the database speaks."""

    dialect: ClassVar[Dialect]
    """The SQL that verifier and evidence use."""

    errors: ClassVar[tuple[type[BaseException], ...]]
    """The errors of the driver."""

    example: ClassVar[str]
    """An address, for messages."""

    in_file: ClassVar[bool] = False
    """Whether a database is a file, the path of its address: then one connection must do for all
    its tables."""

    default_port: ClassVar[int | None] = None
    case_sensitive: ClassVar[bool] = False
    """Whether two names that differ only in their letters' case are two tables."""

    longest_name: ClassVar[int | None] = None
    """The most bytes a table's name has; longer ones are cut off, and two become one."""

    formats: ClassVar[tuple[str, ...]] = ()
    """The file formats the database writes itself."""

    has_workers: ClassVar[bool] = False
    """Whether it can run Python on fragments of a table (`solving` of the table)."""

    has_nan: ClassVar[bool] = True
    """Whether numbers can be NaN, which is missing."""

    drawn: ClassVar[str] = "random()"
    """SQL that draws for each row, to order rows by; it may contain a `{secret}`.

    Who knows the seed of the generator, or can find it by trying, must not be able to repeat the
    order: it leads back to the rows of the source.
    """

    can_unnest: ClassVar[bool] = True
    """Whether Ibis can write UNNEST for it."""

    where: str
    fields: tuple[Field, ...]
    name: Name | None
    stored: tuple[Field, ...] | None = None
    """The columns that the source has, if `fields` has others too, which are derived."""

    derive: "Callable[[Any], Any] | None" = None
    """Returns rows with what is derived, of the rows of the source; None if nothing is."""

    unowned: float = 0.0
    """The share of the rows of the source that are left out because they have no owner."""

    restrict: "Callable[[Any], Any] | None" = None
    """Returns the rows that every statement is about, of all; None if it is about all."""

    # Opening.

    @classmethod
    @abstractmethod
    def open(cls, source: Any) -> Self:  # noqa: ANN401 - the driver's own types
        """Open an `Address`, a pair of connection and `Name`, or a table of the driver."""

    @classmethod
    def files_of(cls, address: Address) -> "Sequence[str] | None":
        """Return the files of this machine that opening an address reads; None if any may be.

        Where work is confined to a folder, as in the app, they must lie in it, and an address of
        which that cannot be told is refused. A server reads none; its class says so with `()`.
        """
        plain = cls.in_file and not (address.host or address.user or address.options)
        return (address.path,) if plain else None

    @classmethod
    def open_ibis(cls, backend: Any, select: str) -> Self:  # noqa: ANN401, ARG003
        """Open the result of a statement on the connection of an Ibis backend."""
        raise InputError(
            f"Ibis tables of {cls.title} cannot be opened. Give a connection and a table name."
        )

    @abstractmethod
    def open_table(self, name: Name) -> "Database":
        """Open another table on the same connection."""

    # Running statements.

    @property
    @abstractmethod
    def relation_name(self) -> Name:
        """The name of the table in statements that are passed to `query`."""

    @abstractmethod
    def run(self, statement: str) -> Answer:
        """Run a statement and return its result, if it has one; raise the driver's `errors`."""

    def query(self, statement: str) -> Answer:
        """Run a statement, which may ask about `relation_name`; its result must be small."""
        with self.reading(self.where):
            return self.run(statement)

    def fetch(self, query: "Query") -> pa.Table:
        """Run a query whose result is small, and return the result."""
        answer = self.query(self.select(query))
        if isinstance(answer, pa.Table):
            return answer
        schema = query.schema().to_pyarrow()
        columns = zip(*answer, strict=True) if answer else [()] * len(schema)
        arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
        return pa.table(arrays, schema=schema)

    def upload(self, table: pa.Table) -> "Query":
        """Store a small table beside the source until the current `scope` ends."""
        name = fresh_name("lookup")
        with self.reading(self.where):
            self.load(name, table)
        return ibis.table({f.name: ibis_type(f.type) for f in table.schema}, name=name)

    @abstractmethod
    def load(self, name: str, table: pa.Table) -> None:
        """Store a small table under a temporary name, which needs no quotes."""

    @abstractmethod
    def scope(self) -> AbstractContextManager[None]:
        """Return a block of work on one state of the rows: a transaction where there are any.

        What was uploaded in it is gone when it ends.
        """

    @property
    @abstractmethod
    def transactional(self) -> bool:
        """Whether all work in the current `scope` is undone if it fails."""

    @property
    def in_transaction(self) -> bool:
        """Whether the caller already has an open transaction."""
        return False

    @classmethod
    @contextmanager
    def reading(cls, where: str) -> Iterator[None]:
        """Turn errors of the driver into `InputError`."""
        try:
            yield
        except cls.errors as error:
            raise InputError(f"{where} cannot be read: {cls.reason(error)}.") from error

    @classmethod
    @contextmanager
    def publishing(cls, where: str) -> Iterator[None]:
        """Turn errors of the driver into `OutputError`."""
        try:
            yield
        except cls.errors as error:
            raise OutputError(
                f"{where} cannot be published: {cls.reason(error)}. Nothing was left in the "
                "database."
            ) from error

    @classmethod
    def reason(cls, error: BaseException) -> str:
        """Return the gist of a driver's message."""
        return first_line(error)

    # SQL that databases share.

    @property
    def rows(self) -> "Query":
        """The rows of the source, to build statements on."""
        schema = {}
        for i, each in enumerate(self.stored or self.fields):
            # Values that have no key are handed through and never looked at.
            schema[f"c{i}"] = ibis_type(each.type) if each.key else ibis.dtype("string")
            if each.key:
                schema[f"k{i}"] = ibis_type(each.key_type)
        rows = ibis.table(schema, name=ROWS)
        if self.derive is not None:
            rows = self.derive(rows)
        return rows if self.restrict is None else self.restrict(rows)

    def statement(self, query: "Query") -> str:
        """Write an expression in the database's SQL."""
        return str(ibis.to_sql(query, dialect=self.ibis_name))

    @property
    def from_clause(self) -> str:
        """The source as it stands after FROM."""
        return self.dialect.quote(*self.relation_name)

    def select(self, query: "Query") -> str:
        """Write a query with a definition of `ROWS` before it."""
        columns = ", ".join(
            f"{self.dialect.quote(each.name)} AS c{i}"
            + (f", {each.key} AS k{i}" if each.key else "")
            for i, each in enumerate(self.stored or self.fields)
        )
        rows = f"SELECT {columns} FROM {self.from_clause}"  # noqa: S608 - names are quoted
        statement = self.statement(query)
        more = statement.startswith("WITH ")
        return f"WITH {ROWS} AS ({rows})" + (", " + statement[5:] if more else " " + statement)

    def select_shuffled(self, query: "Query", columns: Sequence[str]) -> str:
        """Write a query whose columns `o0`, `o1` … get names, with rows in random order."""
        cells = ", ".join(f"o{i} AS {self.dialect.quote(name)}" for i, name in enumerate(columns))
        recoded = f"({self.select(query)}) AS recoded"
        order = self.drawn.format(secret=token_hex(16))
        return f"SELECT {cells} FROM {recoded} ORDER BY {order}"  # noqa: S608 - names are quoted

    def draw(self) -> Any:  # noqa: ANN401 - an expression of Ibis
        """Return an expression that draws for each row, as `drawn` does."""
        return ibis.random()

    def repeat_rows(self, query: Any, times: str, most: int) -> Any:  # noqa: ANN401
        """Return each row as often as its column `times` says, numbered from 0 in `turn`.

        Args:
            query: The rows.
            times: A column of it.
            most: The largest number in that column.
        """
        if self.can_unnest:
            return query.mutate(turn=ibis.range(0, query[times]).unnest())
        numbers: Any = self.upload(pa.table({"turn": from_numpy(np.arange(most))}))
        return query.inner_join(numbers, [numbers.turn < query[times]])

    # Tables that are created.

    @abstractmethod
    def exists(self, name: Name) -> bool:
        """Return whether there is a table of this name."""

    def is_view(self, name: Name) -> bool:
        """Return whether a name means a query, whose rows are made whenever they are read."""
        return False

    @abstractmethod
    def tables_like(self, schema: Name, beginning: str) -> list[str]:
        """Return the tables of a schema that begin like this: small letters, digits and _."""

    def same_table(self, one: Name, other: Name) -> bool:
        """Return whether two names may mean one table."""
        alike = str if self.case_sensitive else str.lower
        pairs = zip(reversed(one), reversed(other), strict=False)
        return all(alike(a) == alike(b) for a, b in pairs)

    def require_free(self, name: Name, *, force: bool) -> None:
        """Raise if a name is that of the source or, unless `force`, of any other table."""
        if self.name is not None and self.same_table(self.name, name):
            raise OutputError(f"{format_name(name)} is the table that is to be published.")
        if not force and self.exists(name):
            raise OutputError(
                f"there is a table {format_name(name)} already. Choose another name, or replace it "
                "with force."
            )

    def store(
        self, query: "Query", columns: Sequence[str], name: Name, check: Check, *, force: bool
    ) -> None:
        """Store the result of a query in a table, in random order, whole or not at all.

        Args:
            query: Its columns are `o0`, `o1` and so on.
            columns: Their names in the table.
            name: The table.
            check: Called with its number of rows before others can see it; may raise.
            force: Replace a table that is there.
        """
        with raising_output_errors(format_name(name)):
            if is_temporary(name):
                with dropping_on_failure(self, [name]):
                    check(self.create_table(query, columns, name))
                return
            sweep(self, name)
            old = [name] if force and self.exists(name) else []
            with appearing(self, old, [name]) as [unfinished]:
                check(self.create_table(query, columns, unfinished))

    def create_table(self, query: "Query", columns: Sequence[str], name: Name) -> int:
        """Store the result of a query in a new table, in random order; return its number of rows.

        If it fails, a part of the table may be there.
        """
        table = self.dialect.quote(*name)
        with self.publishing(self.where):
            self.run(f"CREATE TABLE {table} AS {self.select_shuffled(query, columns)}")
            return self.count_rows(table)

    def count_rows(self, source: str) -> int:
        """Return the number of rows of something that can stand after FROM."""
        return int(str(single_column(self.run(f"SELECT count(*) FROM {source}"))[0]))  # noqa: S608

    def rename(self, name: Name, to: Name) -> None:
        """Rename a table within its schema."""
        self.query(
            f"ALTER TABLE {self.dialect.quote(*name)} RENAME TO {self.dialect.quote(to[-1])}"
        )

    def drop(self, name: Name) -> None:
        """Drop a table, if it is there."""
        self.query(f"DROP TABLE IF EXISTS {self.dialect.quote(*name)}")

    # Files.

    def require_writable(self, form: str, types: Sequence[pa.DataType]) -> None:
        """Raise if the database cannot write such a file as the arrow engine would."""
        if not self.formats:
            raise OutputError(
                f"{self.title} writes no files. Publish into a table of the same database."
            )
        if form not in self.formats:
            others = " or ".join(self.formats)
            raise OutputError(
                f"{self.title} writes no {form.capitalize()} files. Publish as {others}."
            )
        strange = [kind for kind in types if not is_spelt_alike(kind)]
        if form == "csv" and strange:
            raise OutputError(
                f"{self.title} writes {strange[0]} in a spelling of its own to CSV files. Publish "
                "as parquet, or leave such columns out."
            )

    def prepare_files(self) -> None:  # noqa: B027 - most need nothing
        """Prepare the connection for `write`, outside a `scope`."""

    def write(self, query: "Query", columns: Sequence[str], target: Path, form: str) -> int:
        """Write the result of a query to a new file, in random order; return its number of rows."""
        self.require_writable(form, [])
        raise NotImplementedError


@ibis.udf.scalar.builtin(name="md5")  # type: ignore[untyped-decorator]
def _md5(text: str) -> str: ...  # type: ignore[empty-body]


def draw_with_md5() -> Any:  # noqa: ANN401 - an expression of Ibis
    """Return an expression that draws for each row, where the database has MD5.

    A fresh secret makes up for a generator whose seed can be guessed.
    """
    return _md5(ibis.literal(token_hex(16)).concat(ibis.random().cast("string")))


def ibis_type(kind: pa.DataType) -> "ibis.expr.datatypes.DataType":
    """Return Ibis's name of a type."""
    return ibis.expr.datatypes.DataType.from_pyarrow(kind)


def single_column(answer: Answer) -> list[object]:
    """Return the cells of a result of one column."""
    if isinstance(answer, pa.Table):
        cells: list[object] = answer.column(0).to_pylist()
        return cells
    return [cell for (cell,) in answer]


def fresh_name(purpose: str) -> str:
    """Return a name that no other table has.

    >>> fresh_name("lookup") != fresh_name("lookup")
    True
    """
    return f"sfumato_{purpose}_{token_hex(8)}"


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__).rstrip(".!")


# Tables that appear in a database together and whole, or not at all. They are made under temporary
# names and renamed at the end. Where there are no transactions, a journal (a table) holds the
# renames: the next run for the same table undoes or finishes those of a run that was killed.


Renames: TypeAlias = list[tuple[Name, Name]]

_UNFINISHED = "unfinished"
_REPLACED = "replaced"
_JOURNAL = "journal"


def temporary(purpose: str, name: Name) -> Name:
    """Return a name that no other table has; it begins with a hash of the final name.

    A run that is killed leaves tables behind where there are no transactions. The next run for
    the same table finds them by their names, and never those of other tables.

    >>> temporary("unfinished", ("ward", "people"))[-1].startswith("sfumato_unfinished_c90226")
    True
    """
    return (*name[:-1], f"{_beginning(purpose, name)}{token_hex(8)}")


def _beginning(purpose: str, name: Name) -> str:
    # Letters' case means nothing to the databases that need this.
    return f"sfumato_{purpose}_{sha256(name[-1].lower().encode()).hexdigest()[:12]}_"


def unfinished_names(final: Sequence[Name]) -> list[Name]:
    """Return temporary names for tables; they are found by the first of the final names."""
    return [(*name[:-1], temporary(_UNFINISHED, final[0])[-1]) for name in final]


def is_temporary(name: Name) -> bool:
    """Return whether a name is temporary, so that no reader looks at the table yet.

    >>> is_temporary(unfinished_names([("people",)])[0]), is_temporary(("people",))
    (True, False)
    """
    return re.fullmatch(r"sfumato_\w+_[0-9a-f]{16}(_\w+)?", name[-1]) is not None


@contextmanager
def appearing(
    database: Database, old: Sequence[Name], final: Sequence[Name]
) -> Iterator[list[Name]]:
    """Yield temporary names for tables; rename the tables when the block ends.

    Args:
        database: Where they are made.
        old: Tables that are dropped at that moment, and stay if anything fails.
        final: Their final names.
    """
    unfinished = unfinished_names(final)
    try:
        yield unfinished
        appear(database, old, unfinished, final)
    except BaseException:
        if not database.transactional:
            # What cannot be undone now is undone by the next run.
            with suppress(SfumatoError):
                sweep(database, final[0])
        raise


@contextmanager
def dropping_on_failure(database: Database, names: Sequence[Name]) -> Iterator[None]:
    """Drop tables if the block fails, unless a transaction sees to that."""
    try:
        yield
    except BaseException:
        if not database.transactional:
            for name in names:
                with suppress(SfumatoError):
                    database.drop(name)
        raise


def appear(
    database: Database, old: Sequence[Name], unfinished: Sequence[Name], final: Sequence[Name]
) -> None:
    """Rename tables to their final names, and drop those that had them before.

    The first name is given first: where tables cannot be renamed together, no reader shall meet a
    release without its manifest. A failure is undone, by the next run for the same table if
    this one cannot.
    """
    aside = [(*name[:-1], temporary(_REPLACED, final[0])[-1]) for name in old]
    renames = [*zip(old, aside, strict=True), *zip(unfinished, final, strict=True)]
    if database.transactional:
        _rename(database, renames)
        for name in aside:
            database.drop(name)
        return
    journal = temporary(_JOURNAL, final[0])
    try:
        _write_journal(database, journal, renames)
        _rename(database, renames)
    except BaseException:
        with suppress(SfumatoError):
            _settle(database, journal, renames)
        raise
    # The release is there; what cannot be dropped now is dropped next time.
    with suppress(SfumatoError):
        _settle(database, journal, renames)


def sweep(database: Database, name: Name) -> None:
    """Undo what killed runs for a table left behind, or finish what they had all but finished."""
    for found in database.tables_like(name[:-1], _beginning(_JOURNAL, name)):
        journal = (*name[:-1], found)
        _settle(database, journal, _read_journal(database, journal))
    for found in database.tables_like(name[:-1], _beginning(_UNFINISHED, name)):
        database.drop((*name[:-1], found))


def _rename(database: Database, renames: Renames) -> None:
    for before, after in renames:
        database.rename(before, after)


def _write_journal(database: Database, journal: Name, renames: Renames) -> None:
    text = pa.table({"o0": pa.array([json.dumps(renames)], pa.string())})
    with database.scope():
        database.create_table(database.upload(text), ["renames"], journal)


def _read_journal(database: Database, journal: Name) -> Renames:
    table = database.dialect.quote(*journal)
    texts = single_column(database.query(f"SELECT renames FROM {table}"))  # noqa: S608 - quoted
    # A run that was killed before it had written anything down had renamed nothing.
    return [(tuple(a), tuple(b)) for text in texts for a, b in json.loads(str(text))]


def _settle(database: Database, journal: Name, renames: Renames) -> None:
    """Undo renames that are incomplete, and drop what is no longer needed."""
    if renames and not _is_complete(database, renames):
        _undo(database, renames)
    # In the order in which they were put aside: `_is_complete` counts on it.
    for name in _aside(renames).values():
        database.drop(name)
    database.drop(journal)


def _aside(renames: Renames) -> dict[Name, Name]:
    """Return the temporary names of the tables that are replaced."""
    return {a: b for a, b in renames if b[-1].startswith(f"sfumato_{_REPLACED}_")}


def _is_complete(database: Database, renames: Renames) -> bool:
    aside = [*_aside(renames).values()]
    if aside and database.exists(aside[0]) and not database.exists(aside[-1]):
        return False
    before, after = renames[-1]
    return database.exists(after) and not database.exists(before)


def _undo(database: Database, renames: Renames) -> None:
    aside = _aside(renames)
    for before, after in reversed(renames):
        # As long as the table that is replaced is not aside, it is the one that has the name.
        given = after not in aside or database.exists(aside[after])
        if given and database.exists(after) and not database.exists(before):
            database.rename(after, before)


@contextmanager
def raising_output_errors(where: str) -> Iterator[None]:
    """Add to an error of a database that nothing was published."""
    try:
        yield
    except InputError as error:
        raise OutputError(
            f"cannot publish into {where}: {error} Nothing was left there."
        ) from error
