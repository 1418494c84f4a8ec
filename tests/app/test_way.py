"""The way from a file to a release, in a real browser: for eyes, for keys, and for readers."""

from itertools import pairwise

import pyarrow.csv
import pytest
from playwright.sync_api import expect

import sfumato as sf
from sfumato.app.desk import Desk
from sfumato.app.opening import _page_to
from sfumato.app.steps import ALL
from tests.app.browsing import WORK, axe, do_work, focus_of, go, open_people, settle, watched
from tests.app.test_publish import POLICY, people

# Drafting takes a while where many tests run at once.
expect.set_options(timeout=300_000)


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
    expect(page.locator("#next")).to_be_visible()
    return page


def test_the_page_that_opens_the_browser_leads_in(browser, served, tmp_path):
    """The browser is started with a file, and not with the token; it comes from another site."""
    page_file = _page_to(served.door, Desk(tmp_path / "work"))
    assert served.token not in page_file
    context = browser.new_context()
    context.set_default_timeout(300_000)
    try:
        page = context.new_page()
        page.goto(page_file)
        expect(page.locator("h1")).to_have_text("Data")
        assert served.token not in page.url
    finally:
        context.close()


def test_who_has_no_token_sees_no_page(browser, served):
    context = browser.new_context()
    context.set_default_timeout(300_000)
    try:
        page = context.new_page()
        assert page.goto(f"{served.origin}{served.base}/data").status == 403
        assert "token" in page.inner_text("body")
    finally:
        context.close()


NARROW = {"width": 640, "height": 480}
"""What is left of 1280 points at 200 %."""

_CUT_OFF = """() => {
  const scrolls = (each) => each && (["auto", "scroll"].includes(getComputedStyle(each).overflowX)
    || scrolls(each.parentElement));
  const found = [];
  for (const each of document.querySelectorAll("#page *:not(svg *)")) {
    if (!each.checkVisibility() || each.closest(".hidden, .skip")) continue;
    const box = each.getBoundingClientRect(), style = getComputedStyle(each);
    const wide = box.right > innerWidth + 1 && !scrolls(each.parentElement);
    const hides = style.overflowX === "hidden" || style.overflowX === "clip";
    const cut = hides && each.scrollWidth > each.clientWidth + 1 && !each.closest(".preview");
    if (wide || cut) found.push(`${wide ? "wide" : "cut off"}: ${each.outerHTML.slice(0, 120)}`);
  }
  const page = document.documentElement.scrollWidth;
  return page > innerWidth ? [`the page is ${page} wide`, ...found] : found;
}"""
"""What cannot be read without moving the whole page; columns of a preview end in dots by design."""


def faults_of(page, where):
    """Give what keeps people from using a page as it is, all of it unfolded, and at 200 %."""
    settle(page)
    unfold = "() => document.querySelectorAll('main details, .menu').forEach((e) => e.open = true)"
    page.evaluate(unfold)
    settle(page)
    headings = [each for each in page.locator("h1, h2, h3, h4").all() if each.is_visible()]
    levels = [int(each.evaluate("e => e.tagName[1]")) for each in headings]
    found = axe(page)
    if levels.count(1) != 1 or any(b > a + 1 for a, b in pairwise(levels)):
        found.append(f"headings {levels}")
    size = page.viewport_size
    page.set_viewport_size(NARROW)
    found += [f"at 200 %: {each}" for each in page.evaluate(_CUT_OFF)]
    page.set_viewport_size(size)
    return [f"{where}: {each}" for each in found]


@pytest.mark.parametrize(("colours", "language"), [("light", "en-GB"), ("dark", "de-DE")])
def test_all_can_use_the_first_page(browser, served, colours, language):
    with watched(browser, served.origin, color_scheme=colours, locale=language) as page:
        page.goto(served.door)
        assert faults_of(page, "start") == []


def test_all_can_use_every_page_as_it_is_first_seen(opened):
    found = []
    for step in ALL:
        go(opened, step)
        found += faults_of(opened, step)
    assert not found, "\n".join(found)


def test_all_can_use_every_page_when_its_work_is_done(browser, served):
    """In the dark and in German: what is drawn, found, judged and published."""
    with watched(browser, served.origin, color_scheme="dark", locale="de-DE") as page:
        open_people(page, served, people(0, 48), POLICY)
        (served.folder / "new.csv").write_text(people(100, 148))
        found = faults_of(page, "data")
        assert page.locator("html").get_attribute("lang") == "de"
        for step in WORK:
            go(page, step)
            do_work(page, step)
            found += faults_of(page, step)
        assert not found, "\n".join(found)


TELEPHONE = {"width": 390, "height": 844}


@pytest.mark.parametrize("language", ["en-GB", "de-DE"])
def test_a_telephone_shows_the_page_and_a_line_that_unfolds_the_way(browser, served, language):
    with watched(browser, served.origin, viewport=TELEPHONE, locale=language) as page:
        open_people(page, served, people(0, 48), POLICY)
        settle(page)
        for step in list(ALL)[1:4]:
            page.focus("main")
            page.keyboard.press("Shift+Tab")
            while focus_of(page).id != "menu":
                page.keyboard.press("Shift+Tab")
            page.keyboard.press("Enter")
            expect(page.locator("#language")).to_be_visible()
            link = page.locator(f"nav.steps a[href$='/{step}']")
            while not link.evaluate("e => e === document.activeElement"):
                page.keyboard.press("Tab")
                focus_of(page)
            page.keyboard.press("Enter")
            page.wait_for_selector(f"#page[data-step='{step}']")
            settle(page)
            expect(page.locator("nav.steps ol")).to_be_hidden()
            top = page.evaluate("() => document.querySelector('h1').getBoundingClientRect().top")
            assert top < TELEPHONE["height"] / 3, f"{step} begins at {top}"
            assert page.evaluate(_CUT_OFF) == []


def test_all_can_use_a_page_that_says_what_is_wrong(opened):
    found = []
    go(opened, "promises")
    opened.fill("#m0-k", "1")
    opened.press("#m0-k", "Enter")
    expect(opened.locator("#messages .error")).to_contain_text("k must be")
    found += faults_of(opened, "refused")
    opened.fill("#m0-k", "5000")
    opened.press("#m0-k", "Enter")
    expect(opened.locator("#status.failed")).to_be_visible()
    found += faults_of(opened, "impossible")
    for step, press in (("look", None), ("verdict", "#judge"), ("publish", "#publish")):
        go(opened, step)
        if press is not None:
            opened.click(press)
        expect(opened.locator("main .message.error").first).to_be_visible()
        found += faults_of(opened, f"{step}, impossible")
    assert not found, "\n".join(found)


def test_the_newest_wish_is_shown_whatever_comes_later(opened):
    held = []

    def hold(route):
        held.append(route)

    opened.route("**/hierarchies", hold)
    opened.locator("nav.steps a[href$='/hierarchies']").click()
    go(opened, "promises")
    held[0].continue_()
    opened.wait_for_timeout(700)
    expect(opened.locator("#page[data-step=promises]")).to_be_visible()
    assert opened.url.endswith("/promises")


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
    expect(page.locator("#next")).to_be_visible()
    for step in ALL:
        go(page, step)
        assert page.title() != "run"
        expect(page.locator("img[src=x]")).to_have_count(0)


def test_quit_ends_the_app_and_clears_up(opened, served):
    opened.locator("#quit").click()
    expect(opened.locator("body")).to_contain_text("ended")
    assert served.process.wait(timeout=240) == 0
    assert {path.name for path in served.folder.iterdir()} <= {"policy.yaml"}
