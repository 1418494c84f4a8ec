"""What differs between databases, and what the engine asks of each of them."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import ibis
import pyarrow as pa

from sfumato.engines.ibis.address import Name, quoted, written
from sfumato.engines.ibis.appearing import (
    appearing,
    is_temporary,
    leaving_nothing,
    sweep,
    unpublished,
)
from sfumato.errors import InputError, some

if TYPE_CHECKING:
    from ibis.expr.types import Table as Query

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
        for i, field in enumerate(self.fields):
            # Values that have no key are handed through and never looked at.
            schema[f"c{i}"] = ibis_type(field.type) if field.key else ibis.dtype("string")
            if field.key:
                schema[f"k{i}"] = ibis_type(field.key_type)
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
