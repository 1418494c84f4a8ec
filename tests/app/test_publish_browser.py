"""Decouple and Publish in a real browser: by mouse, by keyboard, and for everybody."""

import pytest

from tests.app.browsing import axe, go, open_people
from tests.app.test_publish import POLICY, people


@pytest.fixture
def page(page, served):
    """The app with a table and a policy that fits it, and rows that come later."""
    (served.folder / "new.csv").write_text(people(100, 148))
    open_people(page, served, people(0, 48), POLICY)
    return page


def test_a_column_is_dragged_to_another_table(page):
    go(page, "decouple")
    page.check("input[value='break-merge']")
    page.wait_for_selector("[data-board='ill']")
    page.drag_and_drop("[data-chip-name='pay']", "[data-board='ill']")
    page.wait_for_selector("[data-board='ill'] [data-chip-name='pay']")
    page.click("#look")
    page.wait_for_selector(".guesses")
    assert "sensitive_ill_pay" in page.inner_text(".previews")
    assert axe(page) == []


def test_a_column_is_moved_by_keyboard_and_keeps_the_focus(page):
    go(page, "decouple")
    page.focus("input[value='none']")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("[data-chip-name='pay']")
    page.focus("[data-chip-name='pay']")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-board='ill'] [data-chip-name='pay']")
    page.wait_for_function("() => document.activeElement.dataset.chipName === 'pay'")
    page.keyboard.press("Control+z")
    page.wait_for_selector("[data-board='pay']")


def test_the_way_to_a_signed_release_its_report_and_the_next_increment(page, served):
    go(page, "decouple")
    page.check("input[value='break-merge']")
    page.wait_for_selector("[data-board='ill']")
    go(page, "publish")
    assert axe(page) == []
    page.click("#new-key summary")
    page.click("#make-key")
    page.wait_for_selector("#release-key option[value='publisher.key'][selected]", state="attached")
    page.click("#publish")
    page.wait_for_selector("#published b:has-text('Published: release.')")
    page.wait_for_selector("#evidence .badge.holds")
    assert "publisher.pub" in page.inner_text("#evidence")
    with page.expect_download() as saved:
        page.click("a:has-text('qi.csv')")
    assert saved.value.path().read_bytes() == (served.folder / "release" / "qi.csv").read_bytes()
    with page.context.expect_page() as opened:
        page.click("#open-report")
    opened.value.wait_for_selector("h1")
    assert "Report" in opened.value.inner_text("h1")
    opened.value.close()
    page.fill("#ledger-alpha", "0.8")
    page.check("#ledger-above")
    page.click("#start")
    page.wait_for_selector("#ledger svg")
    page.select_option("#increment-data", "new.csv")
    page.click("#publish-increment")
    page.wait_for_selector("text=Written: increment.")
    page.wait_for_selector("#ledger svg")
    assert axe(page) == []
    assert (served.folder / "increment" / "manifest.json").is_file()
