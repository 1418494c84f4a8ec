"""Each database in turn: DuckDB is in every lane, servers and clusters in the full one."""

import pytest

POSTGRES = pytest.param("postgres", marks=pytest.mark.postgres)
SPARK = pytest.param("spark", marks=pytest.mark.spark)


@pytest.fixture(params=["duck", POSTGRES, SPARK])
def database(request):
    """Each database, empty."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["duck", POSTGRES])
def quick_database(request):
    """Each database that answers within milliseconds, empty."""
    return request.getfixturevalue(request.param)
