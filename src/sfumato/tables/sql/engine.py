"""Opening tables of databases; nothing heavy is imported before one is opened."""

import os
import re
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sfumato.errors import InputError, suggest
from sfumato.files.confinement import Confinement, current, without_limits
from sfumato.tables.base import Engine
from sfumato.tables.sql.registry import DATABASES
from sfumato.tables.stored import DatabaseTable

if TYPE_CHECKING:
    from sfumato.tables.sql.database import Database

_ADDRESS = re.compile(r"\s*(?:(jdbc):|([a-z][\w+.-]+):(?:/|.*@))", re.IGNORECASE | re.DOTALL)
"""An address, or what has a login in it; a single letter is a drive."""


def refuse_address(text: str | PathLike[str]) -> None:
    """Raise if the name of a file is an address that no database here has.

    Args:
        text: What was given. It may hold a password, so only its scheme is shown.

    Example:
        >>> refuse_address("people.csv")
        >>> refuse_address("postgre://ann:secret@db/clinic?table=people")
        Traceback (most recent call last):
        sfumato.errors.InputError: no database is called 'postgre'. Did you mean 'postgres'? Known:
        'duckdb', 'postgres', 'postgresql', 'spark'. Write an address as in
        postgres://user@host/database?table=people; save what is elsewhere as a file.
    """
    found = _ADDRESS.match(os.fspath(text))
    if found is None or Path(text).exists():
        return
    # Libraries of connections are no schemes, and neither are names of classes.
    known = sorted({*DATABASES} - {"psycopg", "pyspark"})
    scheme = (found[1] or found[2]).lower()
    wrong = f"no database is called {scheme!r}. {suggest(scheme, known)}"
    if scheme in known:
        wrong = f"the {scheme} address begins with a blank, or lacks a slash."
    raise InputError(
        f"{wrong} Write an address as in postgres://user@host/database?table=people; save what is "
        "elsewhere as a file."
    )


class DatabaseEngine(Engine):
    """Opens tables of databases: an address, a (connection, table name) pair, or a native table.

    >>> engine = DatabaseEngine()
    >>> engine.owns("duckdb:///people.db?table=patients"), engine.owns("people.csv")
    (True, False)
    """

    name: ClassVar[str] = "database"
    in_database: ClassVar[bool] = True

    def owns(self, source: object) -> bool:
        if isinstance(source, str):
            scheme, mark, _ = source.partition("://")
            return bool(mark) and scheme.lower() in DATABASES
        if isinstance(source, tuple):
            return len(source) == 2 and _library(source[0]) in DATABASES
        return (_library(source), type(source).__name__) in _TABLES

    def open(self, source: Any) -> DatabaseTable:  # noqa: ANN401 - any database's own type
        # First what says how to install whatever is missing.
        database = self._connect(source)
        from sfumato.tables.sql.table import SqlTable

        return SqlTable(database, source)

    def _connect(self, source: Any) -> "Database":  # noqa: ANN401
        if isinstance(source, str):
            return _open_address(source)
        if isinstance(source, tuple):
            kind = DATABASES[_library(source[0])]
            from sfumato.tables.sql.database import name_of

            return kind.open((source[0], name_of(source[1])))
        if _library(source) == "ibis":
            return _open_ibis(source)
        return DATABASES[_library(source)].open(source)


def confine(text: str, limits: Confinement) -> str:
    """Return an address whose files lie in a folder; see `database.confine`."""
    # First what says how to install whatever is missing.
    _ = DATABASES[text.partition("://")[0].lower()]
    from sfumato.tables.sql import database

    return database.confine(text, limits)


def _open_address(text: str) -> "Database":
    kind = DATABASES[text.partition("://")[0].lower()]
    from sfumato.tables.sql.database import Address, confine

    limits = current()
    if limits is None:
        return kind.open(Address.parse(text))
    if text in limits.named:
        with without_limits():
            return kind.open(Address.parse(text))
    return kind.open(Address.parse(confine(text, limits)))


_TABLES = {
    ("ibis", "Table"),
    ("ibis", "CachedTable"),
    ("duckdb", "DuckDBPyRelation"),
    ("pyspark", "DataFrame"),
}
"""Types of objects that are tables: library and name. All stream Arrow, too."""


def _library(source: object) -> str:
    return type(source).__module__.partition(".")[0].removeprefix("_")


def _open_ibis(expression: Any) -> "Database":  # noqa: ANN401
    """Open an Ibis expression on the connection it is bound to."""
    import ibis

    try:
        backend = expression.get_backend()
    except ibis.common.exceptions.IbisError as error:
        raise InputError(
            f"the Ibis table is not bound to a database: {error}. Take it from a connection."
        ) from None
    if backend.name not in DATABASES:
        raise InputError(
            f"the Ibis table is in {backend.name}. Tables of DuckDB, PostgreSQL and Spark can be "
            "opened; save this one as a Parquet file and open that."
        )
    return DATABASES[backend.name].open_ibis(backend, str(backend.compile(expression)))
