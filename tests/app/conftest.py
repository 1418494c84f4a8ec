"""The app as people have it: the real server, and a real browser that misses nothing.

Most of a step is tried without either, at a desk with a table and a policy on it.
"""

import pytest

from sfumato.app.desk import Desk, TableSource
from tests.app.asking import Client
from tests.app.browsing import watched
from tests.app.serving import serving


@pytest.fixture
def make_desk(tmp_path):
    """Make the desk of a test: with a table, as text, and a policy for it."""
    made = []

    def make(table, policy):
        folder = tmp_path / "work"
        folder.mkdir()
        path = folder / "people.csv"
        path.write_text(table, encoding="utf-8")
        desk = Desk(folder)
        made.append(desk)
        desk.open_source(TableSource(str(path), path.name))
        desk.change(policy, "data", "given")
        return desk

    yield make
    for desk in made:
        desk.end()


@pytest.fixture
def desk(tmp_path):
    """A desk in an empty folder; the tests of a step have their own, with a table."""
    found = Desk(tmp_path)
    yield found
    found.end()


@pytest.fixture
def client(desk):
    """What a browser would send to the server of the desk."""
    return Client(desk)


@pytest.fixture
def served(tmp_path):
    """The app in an empty folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    with serving(folder, tmp_path / "said.txt") as found:
        yield found


@pytest.fixture
def page(browser, served):
    """A page at the door of the app; the test fails if it complains or asks another host."""
    with watched(browser, served.origin) as found:
        found.goto(served.door)
        yield found
