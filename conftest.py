"""Shared names for doctests, and how hard hypothesis tries (HYPOTHESIS_PROFILE=long)."""

import os
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default",
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("long", parent=settings.get_profile("default"), max_examples=1500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


_IBIS = "src/sfumato/tables/sql/"
_NEEDS = {
    "duckdb": "duckdb",
    "postgres": "psycopg",
    "spark": "pyspark",
    "spark_fragments": "pyspark",
}

# The examples of databases that are not installed cannot run.
collect_ignore_glob = (
    [f"{_IBIS}{name}.py" for name, library in _NEEDS.items() if find_spec(library) is None]
    if find_spec("ibis") is not None
    else [f"{_IBIS}[a-z]*.py"]
)


_UNTRACED = (
    "tests/attacks/test_class_contract.py",
    "tests/attacks/test_contract.py",
    "tests/bayes/test_structure_weka.py",
    "tests/losses/test_local.py",
    "tests/models/test_contract.py",
    "tests/oracle/",
    "tests/partition/test_laws.py",
    "tests/search/test_contract.py",
)
"""Suites that run the same lines over and over, at twice the time if coverage watches them.

Other tests must reach these lines, too, or coverage is too low.
"""


def pytest_collection_modifyitems(items):
    """Watch no line for the thousandth time."""
    for item in items:
        if item.nodeid.startswith(_UNTRACED):
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture(autouse=True)
def _doctest_names(doctest_namespace):
    from tests.builders import classes_of

    doctest_namespace["np"] = np
    doctest_namespace["classes_of"] = classes_of
