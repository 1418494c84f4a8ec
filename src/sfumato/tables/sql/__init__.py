"""The Ibis engine: tables that stay in DuckDB, PostgreSQL or Spark.

Statements are put together with Ibis, once for all of them, and run by each database's own
driver. What comes back are counts. Nothing heavy is imported before a table is opened.
"""

from typing import ClassVar

from sfumato.tables.base import Engine, Table

SCHEMES = ("duckdb", "postgres", "postgresql", "spark")
"""What the address of a table can start with."""


class IbisEngine(Engine):
    """Tables of DuckDB, PostgreSQL and Spark, as objects or addresses.

    >>> engine = IbisEngine()
    >>> engine.owns("duckdb:///people.db?table=patients"), engine.owns("people.csv")
    (True, False)
    """

    name: ClassVar[str] = "ibis"

    def owns(self, source: object) -> bool:
        if isinstance(source, str):
            return source.partition("://")[0].lower() in SCHEMES and "://" in source
        if isinstance(source, tuple):
            return len(source) == 2 and _library(source[0]) in ("duckdb", "psycopg", "pyspark")
        return (_library(source), type(source).__name__) in _TABLES

    def open(self, source: object) -> Table:
        from sfumato.tables.sql.opening import open_database

        # First what says how to install whatever is missing.
        database = open_database(source)
        from sfumato.tables.sql.table import IbisTable

        return IbisTable(database, source)


_TABLES = {
    ("ibis", "Table"),
    ("ibis", "CachedTable"),
    ("duckdb", "DuckDBPyRelation"),
    ("_duckdb", "DuckDBPyRelation"),
    ("pyspark", "DataFrame"),
}


def _library(source: object) -> str:
    return type(source).__module__.partition(".")[0].removeprefix("_")
