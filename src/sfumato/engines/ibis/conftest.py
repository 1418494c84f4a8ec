"""Leaves the examples of databases that are not installed out of the tests."""

from importlib.util import find_spec

_NEEDS = {"duckdb_database.py": "duckdb", "postgres_database.py": "psycopg"}
_NEEDS["spark_database.py"] = "pyspark"

collect_ignore_glob = (
    [name for name, library in _NEEDS.items() if find_spec(library) is None]
    if find_spec("ibis") is not None
    else ["[a-z]*.py"]
)
