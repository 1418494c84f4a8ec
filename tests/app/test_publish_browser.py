"""Decouple and Publish in a real browser: by mouse, by keyboard, and for everybody."""

import pytest

from tests.app.browsing import axe, watched
from tests.app.serving import serving
from tests.app.test_publish import POLICY, people

PATIENCE = 90_000
"""Milliseconds: on a busy machine a release with two reports takes its time."""


@pytest.fixture
def work(tmp_path):
    """The app with a table and a policy that fits it, and rows that come later."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "people.csv").write_text(people(0, 48))
    (folder / "new.csv").write_text(people(100, 148))
    (folder / "policy.yaml").write_text(POLICY)
    with serving(folder, tmp_path / "said.txt") as found:
        yield found


@pytest.fixture
def page(browser, work):
    with watched(browser, work.origin) as found:
        found.set_default_timeout(PATIENCE)
        found.goto(work.door)
        found.click("button:has-text('people.csv')")
        found.wait_for_selector("#next")
        yield found


def open_step(page, name):
    page.click(f"nav.steps a[href$='/{name}']")
    page.wait_for_selector(f"#page[data-step='{name}']")
    # Figures of the policy before are shown faintly until there are new ones.
    page.wait_for_selector("#status.ready")


def test_a_column_is_dragged_to_another_table(page):
    open_step(page, "decouple")
    page.check("input[value='break-merge']")
    page.wait_for_selector("[data-board='ill']")
    page.drag_and_drop("[data-chip-name='pay']", "[data-board='ill']")
    page.wait_for_selector("[data-board='ill'] [data-chip-name='pay']")
    page.click("#look")
    page.wait_for_selector(".guesses")
    assert "sensitive_ill_pay" in page.inner_text(".previews")
    assert axe(page) == []


def test_a_column_is_moved_by_keyboard_and_keeps_the_focus(page):
    open_step(page, "decouple")
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


def test_the_way_to_a_signed_release_its_report_and_the_next_increment(page, work):
    open_step(page, "decouple")
    page.check("input[value='break-merge']")
    page.wait_for_selector("[data-board='ill']")
    open_step(page, "publish")
    assert axe(page) == []
    page.click("#new-key summary")
    page.click("#make-key")
    page.wait_for_selector("#release-key option[value='publisher.key'][selected]", state="attached")
    page.click("#publish")
    page.wait_for_selector(".message.done b:has-text('Published: release.')")
    page.wait_for_selector("#evidence .badge.holds")
    assert "publisher.pub" in page.inner_text("#evidence")
    with page.expect_download() as saved:
        page.click("a:has-text('qi.csv')")
    assert saved.value.path().read_bytes() == (work.folder / "release" / "qi.csv").read_bytes()
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
    assert (work.folder / "increment" / "manifest.json").is_file()


def test_at_double_size_and_in_the_dark_nothing_is_cut_off(browser, work):
    size = {"width": 640, "height": 450}
    with watched(browser, work.origin, viewport=size, color_scheme="dark") as page:
        page.set_default_timeout(PATIENCE)
        page.goto(work.door)
        page.click("button:has-text('people.csv')")
        page.wait_for_selector("#next")
        for name in ("decouple", "publish"):
            open_step(page, name)
            wide = "() => document.documentElement.scrollWidth - innerWidth"
            assert page.evaluate(wide) <= 0
            assert axe(page) == []
