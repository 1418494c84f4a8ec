"""The databases that are known, by the scheme of an address or the library of a connection."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from sfumato.errors import MissingExtraError, UnknownNameError
from sfumato.registry import find_installed

if TYPE_CHECKING:
    from sfumato.tables.sql.database import Database

_LIBRARIES = ("ibis", "duckdb", "psycopg", "pyspark", "py4j", "sqlglot")


class Databases(Mapping[str, "type[Database]"]):
    """Database classes, found by the scheme of an address or the library of a connection.

    A plug-in registers its class under the same kinds of names, as entry points of the group
    `sfumato.databases`. `Database` documents what the class must provide. A class is imported when
    a table of it is opened.
    """

    _OURS: ClassVar = {
        "duckdb": "duckdb:DuckDB",
        "postgres": "postgres:PostgreSQL",
        "postgresql": "postgres:PostgreSQL",
        "psycopg": "postgres:PostgreSQL",
        "spark": "spark:Spark",
        "pyspark": "spark:Spark",
    }

    def __init__(self) -> None:
        self._plugins: dict[str, Any] | None = None

    @property
    def plugins(self) -> dict[str, Any]:
        """The entry points of plug-ins, by name; looked up once, because it takes long."""
        if self._plugins is None:
            self._plugins = {point.name: point for point in find_installed("sfumato.databases")}
        return self._plugins

    def __contains__(self, name: object) -> bool:
        return name in self._OURS or name in self.plugins

    def __getitem__(self, name: str) -> "type[Database]":
        if name not in self._OURS:
            if name not in self.plugins:
                raise UnknownNameError("database", name, sorted(self))
            found: type[Database] = self.plugins[name].load()
            return found
        module, _, kind = self._OURS[name].partition(":")
        try:
            ours: type[Database] = getattr(import_module(f"{__package__}.{module}"), kind)
        except ModuleNotFoundError as error:
            if error.name and error.name.partition(".")[0] in _LIBRARIES:
                raise MissingExtraError(f"{kind}'s engine", module) from None
            raise
        return ours

    def __iter__(self) -> Iterator[str]:
        return iter([*self._OURS, *(name for name in self.plugins if name not in self._OURS)])

    def __len__(self) -> int:
        return len([*self])


DATABASES = Databases()
