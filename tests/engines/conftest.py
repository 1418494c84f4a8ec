"""One database of each kind for the whole run, started by the first test that needs it."""

import pytest

from tests.engines import databases


@pytest.fixture(scope="session")
def duck():
    database = databases.DuckDB()
    yield database
    database.connection.close()


@pytest.fixture(scope="session")
def postgres():
    database = databases.Postgres()
    yield database
    database.stop()


@pytest.fixture(scope="session")
def spark():
    database = databases.Spark()
    yield database
    database.stop()


@pytest.fixture(params=["duck", "postgres", "spark"])
def database(request):
    """Each database, empty."""
    found = request.getfixturevalue(request.param)
    yield found
    found.clear()


@pytest.fixture(params=["duck", "postgres"])
def quick_database(request):
    """Each database that answers within milliseconds, empty."""
    found = request.getfixturevalue(request.param)
    yield found
    found.clear()
