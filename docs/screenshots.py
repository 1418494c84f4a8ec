"""Pictures of the workbench and of a report for the docs, taken in a real browser.

    python -m docs.screenshots            # all of them
    python -m docs.screenshots report     # the report alone

Goes the whole way with the bundled patients. Needs the extra `dev`, Pillow (it comes with
Matplotlib) and Chromium.
"""

import io
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

import sfumato as sf
from sfumato.app.steps import ALL
from tests.app.serving import serving
from tests.reports.devtools import find_browser

HERE = Path(__file__).parent / "how-to" / "pictures"
_SIZE = {"width": 1280, "height": 1000}
_COLOURS = 128
"""Colours of a picture: few make it small, and these suffice for pages."""

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def main(which: str = "") -> None:
    """Write one picture of a report, and one per step of the workbench."""
    HERE.mkdir(exist_ok=True)
    expect.set_options(timeout=180_000)
    _take_report()
    if which != "report":
        _take_steps()


def _take_report() -> None:
    people = sf.samples.synthetic(1000, seed=1)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as played:
        folder, file = Path(place) / "patients", Path(place) / "report.html"
        sf.anonymize(people, sf.draft(people).policy, output=folder, format="csv")
        sf.report(folder).save(file)
        browser = played.chromium.launch(executable_path=find_browser(), args=_FLAGS)
        page = browser.new_page(viewport=_SIZE, locale="en-GB")
        page.goto(file.as_uri())
        _write(page.screenshot(), HERE / "report.png")
        browser.close()


def _take_steps() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "clinic"
        folder.mkdir()
        # Pages name places from home on.
        os.environ["HOME"] = str(Path(place).resolve())
        with serving(folder, Path(place) / "log") as served, sync_playwright() as played:
            browser = played.chromium.launch(executable_path=find_browser(), args=_FLAGS)
            page = browser.new_page(viewport=_SIZE, locale="en-GB")
            page.set_default_timeout(180_000)
            page.goto(served.door)
            page.click("#sample")
            expect(page.locator("#preview table")).to_be_visible()
            expect(page.locator("#next")).to_be_visible()
            page.get_by_role("button", name="End the tour").click()
            for step in ALL:
                _go(page, step)
                if step in _DONE:
                    _DONE[step](page)
                    _settle(page)
                page.mouse.move(0, 0)
                _write(page.screenshot(), HERE / f"app-{step}.png")
            browser.close()


def _write(picture: bytes, path: Path) -> None:
    """Write a picture with a palette, a third of its size."""
    full = Image.open(io.BytesIO(picture)).convert("RGB")
    full.quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


# What is done on a step before its picture is taken.


def _roles(page: Page) -> None:
    page.click("#meanings > summary")
    page.mouse.wheel(0, 900)
    _settle(page)
    _show(page, "ul.columns")


def _hierarchies(page: Page) -> None:
    page.click("nav.hier-columns a:has-text('age')")
    _settle(page)
    _show(page, "nav.hier-columns")


def _promises(page: Page) -> None:
    page.locator("#promise-0 input[type=text]").fill("8")
    page.locator("#promise-0 input[type=text]").press("Enter")
    page.locator("h1").click()


def _explore(page: Page) -> None:
    page.click("#try")
    _settle(page)
    _show(page, "#plane-title")


def _verdict(page: Page) -> None:
    page.click("#judge")


def _decouple(page: Page) -> None:
    page.get_by_role("radio", name="break merge").check()
    _settle(page)
    page.click("#look")
    _settle(page)
    _show(page, "#tables-title")


def _publish(page: Page) -> None:
    _go(page, "decouple")
    page.get_by_role("radio", name="in one piece").check()
    _settle(page)
    _go(page, "publish")
    page.click("#new-key > summary")
    page.click("#make-key")
    _settle(page)
    page.click("#publish")
    _settle(page)
    expect(page.locator("#evidence h3 .badge")).to_be_visible()
    page.evaluate("window.scrollTo(0, 0)")


_DONE: Mapping[str, Callable[[Page], None]] = {
    "roles": _roles,
    "hierarchies": _hierarchies,
    "promises": _promises,
    "explore": _explore,
    "verdict": _verdict,
    "decouple": _decouple,
    "publish": _publish,
}


def _go(page: Page, step: str) -> None:
    page.locator(f"nav.steps a[href$='/{step}']").click()
    expect(page.locator(f"#page[data-step={step}]")).to_be_visible()
    _settle(page)


def _show(page: Page, found: str) -> None:
    page.locator(found).evaluate("element => element.scrollIntoView({block: 'start'})")


def _settle(page: Page) -> None:
    page.wait_for_timeout(500)
    expect(page.locator(".job")).to_have_count(0)
    expect(page.locator(".htmx-request, [aria-busy=true], .cost.old")).to_have_count(0)
    page.wait_for_timeout(500)


if __name__ == "__main__":
    main(*sys.argv[1:])
