"""What differs between databases, and what the engine asks of each of them."""

import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, ClassVar, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import ibis
import pyarrow as pa

from sfumato.errors import InputError, OutputError, ParameterError, SfumatoError, some

if TYPE_CHECKING:
    from ibis.expr.types import Table as Query

# Addresses of tables: `duckdb:///people.db?table=patients` and the like.


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
    """What stands after the host and its slash."""

    table: Name
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Take an address apart, or say which part is wrong without repeating it."""
        try:
            parts = urlsplit(text)
            port = parts.port
            options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True)
        except ValueError:
            scheme = text.partition("://")[0]
            raise InputError(
                f"the {scheme} address cannot be read. {_HOW} Write special characters of "
                "names and passwords as %40 and the like."
            ) from None
        tables = [value for key, value in options if key == "table"]
        if len(tables) != 1 or not tables[0]:
            raise InputError(f"the {parts.scheme} address does not name one table. {_HOW}")
        return cls(
            scheme="postgres" if parts.scheme == "postgresql" else parts.scheme,
            host=parts.hostname,
            port=port,
            path=unquote(parts.path[1:]),
            table=name_of(tables[0]),
            user=None if parts.username is None else unquote(parts.username),
            password=None if parts.password is None else unquote(parts.password),
            options=tuple((key, value) for key, value in options if key != "table"),
        )

    @property
    def database(self) -> tuple[str, str, int | None, str]:
        """What two tables of one database have in common.

        >>> one = Address.parse("postgres://ann@db/clinic?table=people")
        >>> one.database == Address.parse("postgres://bob@db:5432/clinic?table=released").database
        True
        """
        path = str(Path(self.path).resolve()) if self.scheme == "duckdb" else self.path
        port = self.port or {"postgres": 5432, "spark": 7077}.get(self.scheme)
        return self.scheme, self.host or "", port, path

    def __str__(self) -> str:
        port = "" if self.port is None else f":{self.port}"
        return f"{self.scheme}://{self.host or ''}{port}/{self.path}, table {written(self.table)}"


_HOW = (
    "Write duckdb:///file.db?table=people, postgres://user@host/database?table=schema.people "
    "or spark:///?table=people."
)


def sibling(address: str, table: str) -> str:
    """Give the address of another table in the same database.

    >>> sibling("postgres://ann:secret@db/clinic?table=people", "released")
    'postgres://ann:secret@db/clinic?table=released'
    """
    parts = urlsplit(address)
    options = [(k, v) for k, v in parse_qsl(parts.query, keep_blank_values=True) if k != "table"]
    query = urlencode([*options, ("table", table)], quote_via=quote)
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{query}"


def public(address: str) -> str:
    """Leave out of an address who connects, and how.

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
    quoted = False
    i = 0
    while i < len(text):
        letter = text[i]
        if quoted and text[i : i + 2] == '""':
            parts[-1] += '"'
            i += 1
        elif letter == '"' and (quoted or not parts[-1]):
            quoted = not quoted
        elif letter == "." and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
        i += 1
    return [] if quoted else parts


def written(name: Name) -> str:
    """Write a name for people, so that `name_of` reads it again.

    >>> written(("my.ward", "people"))
    '"my.ward".people'
    """
    return ".".join(
        '"' + part.replace('"', '""') + '"' if "." in part or '"' in part else part for part in name
    )


def quoted(name: Name, mark: str = '"') -> str:
    """Write a name into a statement: whatever is in it, it stays one name.

    >>> quoted(("ward", 'x"; DROP TABLE people; --'))
    '"ward"."x""; DROP TABLE people; --"'
    """
    return ".".join(mark + part.replace(mark, mark * 2) + mark for part in name)


# Tables that appear in a database together and whole, or not at all.


Renames: TypeAlias = list[tuple[Name, Name]]

_UNFINISHED = "unfinished"
_REPLACED = "replaced"
_JOURNAL = "journal"


def temporary(purpose: str, name: Name) -> Name:
    """Make up a name that no other table has, and that tells for which table it is.

    A run that is killed leaves tables behind where there are no transactions. The next run for
    the same table finds them by their names, and meets nobody else's.

    >>> temporary("unfinished", ("ward", "people"))[-1].startswith("sfumato_unfinished_c90226")
    True
    """
    return (*name[:-1], f"{_beginning(purpose, name)}{token_hex(8)}")


def _beginning(purpose: str, name: Name) -> str:
    # Letters' case means nothing to the databases that need this.
    return f"sfumato_{purpose}_{sha256(name[-1].lower().encode()).hexdigest()[:12]}_"


def unfinished_names(final: Sequence[Name]) -> list[Name]:
    """Name tables until they are finished; they are found by the first of their final names."""
    return [(*name[:-1], temporary(_UNFINISHED, final[0])[-1]) for name in final]


def is_temporary(name: Name) -> bool:
    """Tell whether a table has a name that was made up, so that nobody looks at it yet.

    >>> is_temporary(unfinished_names([("people",)])[0]), is_temporary(("people",))
    (True, False)
    """
    return re.fullmatch(r"sfumato_\w+_[0-9a-f]{16}(_\w+)?", name[-1]) is not None


@contextmanager
def appearing(
    database: "Database", old: Sequence[Name], final: Sequence[Name]
) -> Iterator[list[Name]]:
    """Let tables that are made under the names given get their final ones when the block ends.

    Args:
        database: Where they are made.
        old: Tables that go at that moment, and stay if anything fails.
        final: What they will be called.
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
def leaving_nothing(database: "Database", names: Sequence[Name]) -> Iterator[None]:
    """Drop tables if the block fails, unless a transaction sees to that."""
    try:
        yield
    except BaseException:
        if not database.transactional:
            for name in names:
                with suppress(SfumatoError):
                    _drop(database, name)
        raise


def appear(
    database: "Database", old: Sequence[Name], unfinished: Sequence[Name], final: Sequence[Name]
) -> None:
    """Give tables their final names, and drop those that had them before.

    The first name is given first: where tables cannot be renamed together, nobody shall meet a
    release without its manifest. A failure is undone, by the next run for the same table if
    this one cannot.
    """
    aside = [(*name[:-1], temporary(_REPLACED, final[0])[-1]) for name in old]
    renames = [*zip(old, aside, strict=True), *zip(unfinished, final, strict=True)]
    if database.transactional:
        _rename(database, renames)
        for name in aside:
            _drop(database, name)
        return
    journal = temporary(_JOURNAL, final[0])
    try:
        _note(database, journal, renames)
        _rename(database, renames)
    except BaseException:
        with suppress(SfumatoError):
            _settle(database, journal, renames)
        raise
    # The release is there; what cannot be dropped now is dropped next time.
    with suppress(SfumatoError):
        _settle(database, journal, renames)


def sweep(database: "Database", name: Name) -> None:
    """Undo what killed runs for a table left behind, or finish what they had all but finished."""
    for found in database.tables_like(name[:-1], _beginning(_JOURNAL, name)):
        journal = (*name[:-1], found)
        _settle(database, journal, _noted(database, journal))
    for found in database.tables_like(name[:-1], _beginning(_UNFINISHED, name)):
        _drop(database, (*name[:-1], found))


def _rename(database: "Database", renames: Renames) -> None:
    for before, after in renames:
        database.rename(before, after)


def _drop(database: "Database", name: Name) -> None:
    database.ask(f"DROP TABLE IF EXISTS {database.quoted(name)}")


def _note(database: "Database", journal: Name, renames: Renames) -> None:
    """Write down what is going to be renamed, for whoever finds it half done."""
    text = pa.table({"o0": pa.array([json.dumps(renames)], pa.string())})
    with database.work():
        database.fill(database.upload(text), ["renames"], journal)


def _noted(database: "Database", journal: Name) -> Renames:
    answer = database.ask(f"SELECT renames FROM {database.quoted(journal)}")  # noqa: S608 - quoted
    texts = answer.column(0).to_pylist() if isinstance(answer, pa.Table) else [t for (t,) in answer]
    # A run that was killed before it had written anything down had renamed nothing.
    return [(tuple(a), tuple(b)) for text in texts for a, b in json.loads(str(text))]


def _settle(database: "Database", journal: Name, renames: Renames) -> None:
    """Leave the tables as they were before any was renamed, or as they are when all were."""
    if renames and not _complete(database, renames):
        _undo(database, renames)
    # In the order in which they were put aside: `_complete` counts on it.
    for name in _aside(renames).values():
        _drop(database, name)
    _drop(database, journal)


def _aside(renames: Renames) -> dict[Name, Name]:
    """Say what the tables that are replaced are called meanwhile."""
    return {a: b for a, b in renames if b[-1].startswith(f"sfumato_{_REPLACED}_")}


def _complete(database: "Database", renames: Renames) -> bool:
    aside = [*_aside(renames).values()]
    if aside and database.exists(aside[0]) and not database.exists(aside[-1]):
        return False
    before, after = renames[-1]
    return database.exists(after) and not database.exists(before)


def _undo(database: "Database", renames: Renames) -> None:
    aside = _aside(renames)
    for before, after in reversed(renames):
        # As long as the table that is replaced is not aside, it is the one that has the name.
        given = after not in aside or database.exists(aside[after])
        if given and database.exists(after) and not database.exists(before):
            database.rename(after, before)


@contextmanager
def unpublished(where: str) -> Iterator[None]:
    """Say of what a database refuses that nothing was published."""
    try:
        yield
    except InputError as error:
        raise OutputError(
            f"cannot publish into {where}: {error} Nothing was left there."
        ) from error


Check: TypeAlias = Callable[[int], None]
Answer: TypeAlias = pa.Table | list[tuple[object, ...]]
ROWS = "sfumato_rows"
"""What statements call the source: column i is `ci`, what tells its values apart `ki`."""


@dataclass(frozen=True)
class Field:
    """A column of a database."""

    name: str
    type: pa.DataType
    """As what its values are stored, in Arrow's terms."""

    described: str
    """The type in the database's words."""

    key: str | None
    """SQL that gives what tells the values apart; None if they have no single value."""

    key_type: pa.DataType


class Database(ABC):
    """An opened table and the connection to it.

    Statements come as Ibis expressions over `rows` and over what was uploaded; nothing that a
    user wrote, be it a name or a value, becomes part of a statement other than quoted.
    """

    kind: ClassVar[str]
    dialect: ClassVar[str]
    """What Ibis calls it."""

    where: str
    """What to call the table in a message; no password is in it."""

    fields: tuple[Field, ...]
    name: Name | None
    """What the table is called, if it is one and not a query."""

    mark: ClassVar[str] = '"'
    """What stands around a name in a statement."""

    def quoted(self, name: Name) -> str:
        """Write a name into a statement: whatever is in it, it stays one name."""
        return quoted(name, self.mark)

    def check_fields(self) -> None:
        """Refuse tables whose columns cannot be told apart by name."""
        names = [field.name for field in self.fields]
        if not names:
            raise InputError(f"{self.where} has no columns")
        if "" in names:
            raise InputError(
                f"{self.where}: column {names.index('') + 1} of {len(names)} has no name. "
                "Give it one, or take it out."
            )
        repeated = [name for name, times in Counter(names).items() if times > 1]
        if repeated:
            raise InputError(
                f"{self.where}: {some(repeated)} is the name of more than one column. "
                "Give every column its own name."
            )

    @property
    def rows(self) -> "Query":
        """The rows of the source, to build statements on."""
        schema = {}
        for i, each in enumerate(self.fields):
            # Values that have no key are handed through and never looked at.
            schema[f"c{i}"] = ibis_type(each.type) if each.key else ibis.dtype("string")
            if each.key:
                schema[f"k{i}"] = ibis_type(each.key_type)
        return ibis.table(schema, name=ROWS)

    def statement(self, query: "Query") -> str:
        """Write an expression in the database's SQL."""
        if self.dialect == "pyspark":
            _ = ibis.pyspark  # Its options exist only once it was touched.
        return str(ibis.to_sql(query, dialect=self.dialect))

    @abstractmethod
    def fetch(self, query: "Query") -> pa.Table:
        """Run a query whose result is small, and get the result."""

    @abstractmethod
    def upload(self, table: pa.Table) -> "Query":
        """Put a small table beside the source until the current `work` ends."""

    @abstractmethod
    def work(self) -> AbstractContextManager[None]:
        """Do several things on one state of the rows, leaving nothing temporary behind."""

    @property
    def in_transaction(self) -> bool:
        """Whether somebody else decides whether what is done now will last."""
        return False

    @abstractmethod
    def require_free(self, name: Name, *, force: bool) -> None:
        """Refuse to publish over a table that is there, unless `force`, and over the source."""

    def create(
        self, query: "Query", columns: Sequence[str], name: Name, check: Check, *, force: bool
    ) -> None:
        """Store the result of a query in a table, in random order.

        The table is there whole or not at all.

        Args:
            query: Its columns are `o0`, `o1` and so on.
            columns: What they are called in the table.
            name: The table.
            check: Told how many rows it has, before anybody else can see it; may raise.
            force: Replace a table that is there.
        """
        with unpublished(written(name)):
            if is_temporary(name):
                with leaving_nothing(self, [name]):
                    check(self.fill(query, columns, name))
                return
            sweep(self, name)
            old = [name] if force and self.exists(name) else []
            with appearing(self, old, [name]) as [unfinished]:
                check(self.fill(query, columns, unfinished))

    @abstractmethod
    def fill(self, query: "Query", columns: Sequence[str], name: Name) -> int:
        """Store the result of a query in a new table, in random order; count its rows.

        If it fails, something of the table may be there.
        """

    @property
    @abstractmethod
    def source(self) -> Name:
        """What statements that are asked call the table."""

    @abstractmethod
    def ask(self, statement: str) -> Answer:
        """Run a statement of somebody else's and get the result, which must be small."""

    @abstractmethod
    def other(self, name: Name) -> "Database":
        """Open another table of the same database."""

    @abstractmethod
    def exists(self, name: Name) -> bool:
        """Tell whether there is a table of this name."""

    def rename(self, name: Name, to: Name) -> None:
        """Call a table by another name in the same schema."""
        self.ask(f"ALTER TABLE {self.quoted(name)} RENAME TO {self.quoted(to[-1:])}")

    @property
    @abstractmethod
    def transactional(self) -> bool:
        """Whether all that is done in the current `work` is undone if it fails."""

    @abstractmethod
    def tables_like(self, schema: Name, beginning: str) -> list[str]:
        """Name the tables of a schema that begin like this: small letters, digits and _."""

    @abstractmethod
    def require_writable(self, form: str, types: Sequence[pa.DataType]) -> None:
        """Refuse to write a file of a format, or with columns, that would not be as promised."""

    @abstractmethod
    def write(self, query: "Query", columns: Sequence[str], target: Path, form: str) -> int:
        """Let the database write the result to a new file, in random order; count its rows."""


def ibis_type(kind: pa.DataType) -> "ibis.expr.datatypes.DataType":
    """Say what Ibis calls a type."""
    return ibis.expr.datatypes.DataType.from_pyarrow(kind)


def uploaded(name: str, table: pa.Table) -> "Query":
    """Let statements speak of a table that was uploaded."""
    return ibis.table({field.name: ibis_type(field.type) for field in table.schema}, name=name)


def with_rows(rows: str, statement: str) -> str:
    """Tell a statement what `ROWS` is.

    >>> with_rows("SELECT 1 AS c0", "SELECT * FROM sfumato_rows")
    'WITH sfumato_rows AS (SELECT 1 AS c0) SELECT * FROM sfumato_rows'
    """
    more = statement.startswith("WITH ")
    return f"WITH {ROWS} AS ({rows})" + (", " + statement[5:] if more else " " + statement)


def fresh_name(purpose: str) -> str:
    """Make up a name that no other table has.

    >>> fresh_name("lookup") != fresh_name("lookup")
    True
    """
    return f"sfumato_{purpose}_{token_hex(8)}"


def first_line(error: BaseException) -> str:
    """Give the gist of a driver's message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__).rstrip(".!")
