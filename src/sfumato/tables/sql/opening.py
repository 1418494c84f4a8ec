"""Find out which database a source is in, importing only what it needs."""

from typing import TYPE_CHECKING, Any

from sfumato.errors import InputError, MissingExtraError
from sfumato.tables.sql.database import Address, name_of

if TYPE_CHECKING:
    from sfumato.tables.sql.database import Database

_EXTRAS = {
    "duckdb": ("DuckDB's engine", "duckdb"),
    "postgres": ("PostgreSQL's engine", "postgres"),
    "spark": ("Spark's engine", "spark"),
}


def open_database(source: Any) -> "Database":  # noqa: ANN401 - any database's own type
    """Open an address, a (connection, table name) pair, or a table as its library holds it."""
    if isinstance(source, str):
        address = Address.parse(source)
        return _opened(address.scheme, address)
    if isinstance(source, tuple):
        connection, name = source
        return _opened(_scheme(connection), (connection, name_of(name)))
    scheme = _scheme(source)
    return _of_ibis(source) if scheme == "ibis" else _opened(scheme, source)


def _scheme(source: object) -> str:
    library = type(source).__module__.partition(".")[0].removeprefix("_")
    return {"psycopg": "postgres", "pyspark": "spark"}.get(library, library)


def _opened(scheme: str, source: Any) -> "Database":  # noqa: ANN401
    try:
        if scheme == "duckdb":
            from sfumato.tables.sql.duckdb import open_duckdb

            return open_duckdb(source)
        if scheme == "postgres":
            from sfumato.tables.sql.postgres import open_postgres

            return open_postgres(source)
        from sfumato.tables.sql.spark import open_spark

        return open_spark(source)
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in _LIBRARIES:
            raise MissingExtraError(*_EXTRAS[scheme]) from None
        raise


_LIBRARIES = ("ibis", "duckdb", "psycopg", "pyspark", "py4j", "sqlglot")


def _of_ibis(expression: Any) -> "Database":  # noqa: ANN401
    """Open an Ibis expression on the connection it is bound to."""
    import ibis

    try:
        backend = expression.get_backend()
    except ibis.common.exceptions.IbisError as error:
        raise InputError(
            f"the Ibis table is not bound to a database: {error}. Take it from a connection."
        ) from None
    select = str(backend.compile(expression))
    if backend.name == "duckdb":
        return _opened("duckdb", backend.con.sql(select))
    if backend.name == "postgres":
        return _opened("postgres", (backend.con, select, "the Ibis table"))
    if backend.name == "pyspark":
        return _opened("spark", backend._session.sql(select))  # noqa: SLF001 - it has no other
    raise InputError(
        f"the Ibis table is in {backend.name}. Tables of DuckDB, PostgreSQL and Spark can be "
        "opened; save this one as a Parquet file and open that."
    )
