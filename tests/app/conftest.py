"""The app as people have it: the real server, and a real browser that misses nothing."""

import pytest

from tests.app.browsing import watched
from tests.app.serving import serving
from tests.reports.devtools import find_browser

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


@pytest.fixture
def served(tmp_path):
    """The app in an empty folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    with serving(folder, tmp_path / "said.txt") as found:
        yield found


@pytest.fixture(scope="session")
def browser():
    """Chromium, which the full lane has."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=find_browser(), args=list(_FLAGS))
        yield found
        found.close()


@pytest.fixture
def page(browser, served):
    """A page at the door of the app; the test fails if it complains or asks another host."""
    with watched(browser, served.origin) as found:
        found.goto(served.door)
        yield found
