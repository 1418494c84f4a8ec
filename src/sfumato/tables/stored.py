"""Tables of a database: rows stay where they are, and releases stand beside them."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from sfumato.counts import FrequencySet
from sfumato.files.dialect import Dialect
from sfumato.populations.weights import Averaging
from sfumato.recoding import Recoding
from sfumato.tables.base import NO_WEIGHTS, CreatedTable, Progress, Suppression, Table
from sfumato.tables.capabilities import Weights, Windows

if TYPE_CHECKING:
    from sfumato.tables.derived import DerivedTable
    from sfumato.tables.sql.database import Answer
    from sfumato.tables.sql.releases import Staging, UnfinishedRelease


class DatabaseTable(Table, Windows, Weights):
    """A table of a database. Counts come out of it; rows stay where they are.

    Beyond counting and publishing it can hold releases: tables of the same database with a
    manifest, and evidence, in tables beside them. A database that speaks SQL needs none of this by
    itself: `sfumato.tables.sql.database.Database` documents the one class it needs. An engine of
    another kind implements this interface and sets `Engine.in_database`.
    """

    given: object
    """The source that was opened, such as an address; None if it is not known."""

    name: str
    """The table's name in messages."""

    relation_name: tuple[str, ...]
    """The table's name, in parts, in statements for `query`."""

    dialect: Dialect
    """The SQL in which the verifier writes statements for `query`."""

    has_workers: bool = False
    """Whether rows can be recoded by workers, fragment by fragment."""

    @abstractmethod
    def publish_into(
        self,
        recoding: Recoding,
        columns: Sequence[str],
        name: str,
        *,
        suppression: Suppression,
        weights: Mapping[str, Averaging] = NO_WEIGHTS,
        force: bool = False,
        progress: Progress | None = None,
    ) -> CreatedTable:
        """Create a table with the recoded rows in the database the rows are in; see `publish`.

        Promises: the table is there whole or not at all, in an order the database draws. Rows
        do not leave the database.

        Args:
            recoding: As for `publish`.
            columns: As for `publish`.
            name: The table to create, such as people or schema.people.
            suppression: As for `publish`.
            weights: As for `publish`.
            force: Replace a table that has this name.
            progress: Called with the number of rows, at the end.
        """

    @abstractmethod
    def query(self, statement: str) -> "Answer":
        """Run a statement and return its rows, which must be few."""

    @abstractmethod
    def native_type(self, column: str) -> str:
        """Return the type of a column in the database's words."""

    @abstractmethod
    def is_called(self, name: str) -> bool:
        """Return whether a name means this very table."""

    @abstractmethod
    def is_view(self) -> bool:
        """Return whether it is a query, whose rows are made whenever they are read."""

    @abstractmethod
    def open_other(self, name: str) -> "DatabaseTable":
        """Open another table of the same database."""

    @abstractmethod
    def open_beside(self, name: str) -> "DatabaseTable":
        """Open another table, in the schema of this one unless its name has one."""

    @abstractmethod
    def manifest(self) -> str | None:
        """Return the manifest beside the table; None if it is no release."""

    @abstractmethod
    def evidence(self) -> str | None:
        """Return the evidence beside the table; None if there is none."""

    @abstractmethod
    def store_evidence(self, text: str) -> None:
        """Store evidence beside the table, in place of what was there."""

    @abstractmethod
    def require_writable(self, form: str, columns: Sequence[str]) -> None:
        """Raise if the database cannot write such a file as the arrow engine would."""

    @abstractmethod
    def releasing(
        self, name: str, others: Sequence[str] = (), *, force: bool, signed: bool = False
    ) -> "AbstractContextManager[UnfinishedRelease]":
        """Return a block at whose end tables and their manifest appear together, or none of them.

        Args:
            name: The final name of the table; it is `UnfinishedRelease.name` until then.
            others: The final names of further tables of the release.
            force: Replace a release of that name; any other table is never touched.
            signed: Whether its evidence appears with them.
        """

    @abstractmethod
    def staging(self, owner: str) -> "Staging":
        """Return where the tables of a ledger wait for their names, in the same database."""

    @abstractmethod
    def store(self, derived: "DerivedTable", name: str, likes: Mapping[str, Table]) -> None:
        """Create a table that follows from counts; its rows are made in the database."""

    @abstractmethod
    def simulate(self, counts: FrequencySet) -> "DatabaseTable":
        """Return a table of the same database that consists of counts and is never written."""
