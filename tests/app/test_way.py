"""The way from a file to a release, in a real browser: for eyes, for keys, and for readers."""

from itertools import pairwise

import pyarrow.csv
import pytest
from playwright.sync_api import expect

import sfumato as sf
from sfumato.app.desk import Desk
from sfumato.app.opening import _page_to
from sfumato.app.steps import ALL
from tests.app.browsing import axe, watched

# Drafting takes a while where many tests run at once.
expect.set_options(timeout=60_000)


@pytest.fixture
def patients(tmp_path):
    """A table of invented patients that lies elsewhere, as on a steward's desktop."""
    path = tmp_path / "patients.csv"
    table = sf.samples.synthetic(300, seed=5)
    pyarrow.csv.write_csv(table.select(["name", "age", "sex", "postcode", "diagnosis"]), path)
    return path


@pytest.fixture
def opened(page, patients):
    """The app with the patients in it."""
    page.set_input_files("#file", patients)
    expect(page.locator("#preview table")).to_be_visible()
    return page


def go(page, step):
    """Open a step by its link, and wait until it has nothing more to fetch."""
    page.locator(f"nav.steps a[href$='/{step}']").click()
    expect(page.locator(f"#page[data-step={step}]")).to_be_visible()
    settle(page)


def settle(page):
    """Wait until all work of the page is done: what it waits for, and what it asks again for."""
    expect(page.locator(".job")).to_have_count(0)
    expect(page.locator(".htmx-request, [aria-busy=true]")).to_have_count(0)


def test_the_page_that_opens_the_browser_leads_in(browser, served, tmp_path):
    """The browser is started with a file, and not with the token; it comes from another site."""
    page_file = _page_to(served.door, Desk(tmp_path / "work"))
    assert served.token not in page_file
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(page_file)
        expect(page.locator("h1")).to_have_text("Data")
        assert served.token not in page.url
    finally:
        context.close()


def test_who_has_no_token_sees_no_page(browser, served):
    context = browser.new_context()
    try:
        page = context.new_page()
        assert page.goto(f"{served.origin}{served.base}/data").status == 403
        assert "token" in page.inner_text("body")
    finally:
        context.close()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_all_can_use_the_first_page(browser, served, colours):
    with watched(browser, served.origin, color_scheme=colours) as page:
        page.goto(served.door)
        assert axe(page) == []


def test_all_can_use_every_page(opened):
    """By eye, by reader, in the dark, and at 200 %: 1280 points are 640 then."""
    found = []
    for step in ALL:
        go(opened, step)
        levels = [int(each.evaluate("e => e.tagName[1]")) for each in visible_headings(opened)]
        if levels.count(1) != 1 or any(b > a + 1 for a, b in pairwise(levels)):
            found.append(f"{step}: headings {levels}")
        found += [f"{step}: {each}" for each in axe(opened)]
        opened.emulate_media(color_scheme="dark")
        found += [f"{step}, dark: {each}" for each in axe(opened)]
        opened.emulate_media(color_scheme="light")
        opened.set_viewport_size({"width": 640, "height": 480})
        wide = opened.evaluate("() => document.documentElement.scrollWidth")
        if wide > 640:
            found.append(f"{step}: {wide} wide at 200 %")
        opened.set_viewport_size({"width": 1280, "height": 800})
    assert not found, "\n".join(found)


def visible_headings(page):
    return [each for each in page.locator("h1, h2, h3, h4").all() if each.is_visible()]


def test_a_page_that_is_opened_again_is_whole(opened):
    for _ in range(2):
        go(opened, "data")
        expect(opened.locator("#preview table")).to_be_visible()
    go(opened, "roles")
    expect(opened.locator("#facts-1")).not_to_be_empty()
    go(opened, "roles")
    expect(opened.locator("#facts-1")).not_to_be_empty()


def test_a_role_is_changed_and_taken_back(opened, served):
    go(opened, "roles")
    first = opened.locator(".column").first
    was = first.locator("input[type=radio]:checked").get_attribute("value")
    first.get_by_text("dropped", exact=True).click()
    expect(first.locator("input[value=dropped]")).to_be_checked()
    expect(opened.locator("#undo")).to_be_enabled()
    opened.locator("#undo").click()
    expect(first.locator(f"input[value={was}]")).to_be_checked()
    opened.reload()
    expect(first.locator(f"input[value={was}]")).to_be_checked()
    assert (served.folder / "policy.yaml").is_file()


def test_with_keys_alone_to_a_role(page, served, patients):
    """No pointer: from the door by Tab, Enter, arrows and letters to another role, and back."""
    (served.folder / "patients.csv").write_bytes(patients.read_bytes())
    page.reload()
    tab_to(page, "patients.csv")
    page.keyboard.press("Enter")
    expect(page.locator("#preview table")).to_be_visible()
    tab_to(page, "Next")
    page.keyboard.press("Enter")
    expect(page.locator("#page[data-step=roles]")).to_be_visible()
    settle(page)
    first = page.locator(".column").first
    was = first.locator("input[type=radio]:checked").get_attribute("value")
    for _ in range(80):
        if page.evaluate("() => document.activeElement.type") == "radio":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("d")
    expect(first.locator("input[value=dropped]")).to_be_checked()
    expect(page.locator("#undo")).to_be_enabled()
    assert page.evaluate("() => document.activeElement.value") == "dropped", "the focus is lost"
    page.keyboard.press("Control+z")
    expect(first.locator(f"input[value={was}]")).to_be_checked()


def tab_to(page, text):
    """Press Tab until something with a text has the focus, which must be seen."""
    seen = []
    for _ in range(80):
        page.keyboard.press("Tab")
        now = page.evaluate(
            "() => { const e = document.activeElement, s = getComputedStyle(e); return "
            "[e.innerText || e.value || '', s.outlineStyle !== 'none' || s.boxShadow !== 'none']; }"
        )
        seen.append(now[0])
        if text in now[0]:
            assert now[1], f"it is not seen that {text!r} has the focus"
            return
    raise AssertionError(f"{text!r} is not reached by Tab: {seen}")


def test_the_language_is_chosen_and_stays(opened):
    opened.locator("#language").select_option("de")
    expect(opened.locator("html")).to_have_attribute("lang", "de")
    go(opened, "roles")
    expect(opened.locator("html")).to_have_attribute("lang", "de")
    expect(opened.locator("h1")).to_have_text("Rollen")


def test_a_script_in_the_data_runs_nowhere(page, tmp_path):
    nasty = "<img src=x onerror=document.title='run'>"
    path = tmp_path / f"{nasty.replace('/', '')}.csv"
    path.write_text(
        f"age,{nasty}\n" + "".join(f"{20 + n % 9},{nasty}{n % 4}\n" for n in range(60)),
        encoding="utf-8",
    )
    page.set_input_files("#file", path)
    expect(page.locator("#preview table")).to_be_visible()
    for step in ALL:
        go(page, step)
        assert page.title() != "run"
        expect(page.locator("img[src=x]")).to_have_count(0)


def test_quit_ends_the_app_and_clears_up(opened, served):
    opened.locator("#quit").click()
    expect(opened.locator("body")).to_contain_text("ended")
    assert served.process.wait(timeout=20) == 0
    assert {path.name for path in served.folder.iterdir()} <= {"policy.yaml"}
