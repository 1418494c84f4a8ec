"""Pictures of the workbench for its page in the docs, taken in a real browser.

    python -m docs.screenshots

Goes the whole way with the bundled patients. Needs the extra `dev` and Chromium.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from sfumato.app.steps import ALL
from tests.app.serving import serving
from tests.reports.devtools import find_browser

HERE = Path(__file__).parent / "how-to" / "pictures"
_SIZE = {"width": 1180, "height": 820}
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def main() -> None:
    """Write one picture per step."""
    HERE.mkdir(exist_ok=True)
    expect.set_options(timeout=180_000)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "clinic"
        folder.mkdir()
        with serving(folder, Path(place) / "log") as served, sync_playwright() as played:
            browser = played.chromium.launch(executable_path=find_browser(), args=_FLAGS)
            page = browser.new_page(viewport=_SIZE, locale="en-GB")
            page.set_default_timeout(180_000)
            page.goto(served.door)
            page.click("#sample")
            expect(page.locator("#preview table")).to_be_visible()
            page.get_by_role("button", name="End the tour").click()
            for step in ALL:
                _go(page, step)
                for button in page.locator("main [data-begin]").all()[:1]:
                    button.click()
                    _settle(page)
                page.evaluate("window.scrollTo(0, 0)")
                page.screenshot(path=HERE / f"app-{step}.png")
            browser.close()


def _go(page: Page, step: str) -> None:
    page.locator(f"nav.steps a[href$='/{step}']").click()
    expect(page.locator(f"#page[data-step={step}]")).to_be_visible()
    _settle(page)


def _settle(page: Page) -> None:
    expect(page.locator(".job")).to_have_count(0)
    expect(page.locator(".htmx-request, [aria-busy=true]")).to_have_count(0)
    page.wait_for_timeout(500)


if __name__ == "__main__":
    main()
