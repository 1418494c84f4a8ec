"""The whole way with keys alone: no pointer, and it is always seen where the focus is."""

import pyarrow.csv
import pytest
from playwright.sync_api import expect

import sfumato as sf
from sfumato.policy import Policy
from tests.app.browsing import focus_of, settle, tab_to

expect.set_options(timeout=300_000)


@pytest.fixture
def work(served):
    """The app in a folder with a table."""
    table = sf.samples.synthetic(300, seed=5).select(
        ["name", "age", "sex", "postcode", "diagnosis"]
    )
    pyarrow.csv.write_csv(table, served.folder / "people.csv")
    return served


def policy_of(served):
    return Policy.load(served.folder / "policy.yaml")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def open_step(page, number, step):
    """Go to a step by its number; a reader is at its top then."""
    press(page, f"Alt+{number}")
    expect(page.locator(f"#page[data-step={step}]")).to_be_visible()
    expect(page.locator("main")).to_be_focused()
    settle(page)
    focus_of(page)


def test_from_a_file_to_a_signed_release(work, page):
    open_the_file(page)
    change_a_role(page, work)
    move_a_cut_point(page, work)
    move_a_slider(page, work)
    explore_look_and_judge(page)
    publish_with_a_new_key(page)
    assert sf.check_evidence(work.folder / "release", work.folder / "publisher.pub").holds


def open_the_file(page):
    page.reload()
    press(page, "Tab")
    assert focus_of(page).text == "Skip to the content"
    press(page, "Enter", "Tab")
    assert focus_of(page).id == "file", "the first control after the top of the content"
    tab_to(page, "people.csv")
    press(page, "Enter")
    expect(page.locator("#preview table")).to_be_visible()
    expect(page.locator("#next")).to_be_visible()
    focus_of(page)


def change_a_role(page, work):
    open_step(page, 2, "roles")
    tab_to(page, "role-1-1")
    press(page, "j", "j", "d")
    expect(page.locator("#column-3 input[value=dropped]")).to_be_checked()
    expect(page.locator("#undo")).to_be_enabled()
    settle(page)
    assert focus_of(page).id == "role-3-5"
    press(page, "Control+z")
    expect(page.locator("#column-3 input[value=quasi-identifier]")).to_be_checked()
    press(page, "Control+y")
    expect(page.locator("#column-3 input[value=dropped]")).to_be_checked()
    settle(page)
    assert focus_of(page).id == "role-3-5"
    assert policy_of(work).role_of("sex").value == "dropped"


def move_a_cut_point(page, work):
    open_step(page, 3, "hierarchies")
    tab_to(page, "cut-1")
    # Ranges begin with one that is open, so the first cut can only be lower.
    was = page.locator("#cut-1").get_attribute("data-cut")
    press(page, "ArrowLeft")
    expect(page.locator("#cut-1")).not_to_have_attribute("data-cut", was)
    settle(page)
    assert focus_of(page).id == "cut-1"
    assert "bounds" in policy_of(work).columns["age"].hierarchy.params()


def move_a_slider(page, work):
    open_step(page, 4, "promises")
    k = policy_of(work).models[0].k
    tab_to(page, "m0-k-slider")
    press(page, "ArrowRight", "ArrowRight")
    expect(page.locator("#promise-0 h2")).to_contain_text(f"fewer than {k + 2} people")
    settle(page)
    assert focus_of(page).id == "m0-k-slider"
    # What is moved last is not lost by going on at once.
    press(page, "ArrowRight")
    open_step(page, 5, "explore")
    expect(page.locator(".panel .diff")).to_contain_text(f"k: {k + 3}")
    assert policy_of(work).models[0].k == k + 3


def explore_look_and_judge(page):
    tab_to(page, "judge")
    press(page, "Enter")
    expect(page.locator("#node-form")).to_be_visible()
    settle(page)
    assert page.locator("#lattice :focus").count() == 1, focus_of(page)
    open_step(page, 6, "look")
    expect(page.locator("table.pairs")).to_be_visible()
    tab_to(page, "row-text")
    page.keyboard.type("flu")
    expect(page.locator("#rows [role=status]")).not_to_have_text("300 rows")
    assert focus_of(page).id == "row-text"
    open_step(page, 7, "verdict")
    tab_to(page, "judge")
    press(page, "Enter")
    expect(page.locator(".answer")).to_be_visible()
    assert focus_of(page).id == "judge"


def publish_with_a_new_key(page):
    open_step(page, 9, "publish")
    tab_to(page, "Make a key to sign with")
    press(page, "Enter")
    tab_to(page, "make-key")
    press(page, "Enter")
    expect(page.locator("#release-key")).to_have_value("publisher.key")
    focus_of(page)
    tab_to(page, "publish")
    press(page, "Enter")
    expect(page.locator("#published b").first).to_contain_text("Published")
    expect(page.locator("#evidence .badge.holds").first).to_be_visible()
    focus_of(page)


def test_the_focus_stays_where_a_page_is_loaded_anew_or_a_control_goes(work, page):
    page.reload()
    tab_to(page, "language")
    press(page, "d")
    expect(page.locator("html[lang=de] #language")).to_be_focused()
    focus_of(page)
    press(page, "e")
    expect(page.locator("html[lang=en] #language")).to_be_focused()
    tab_to(page, "people.csv")
    press(page, "Enter")
    expect(page.locator("#preview table")).to_be_visible()
    expect(page.locator("#next")).to_be_visible()
    open_step(page, 4, "promises")
    tab_to(page, "Add a promise")
    press(page, "Enter")
    tab_to(page, "add-k-anonymity")
    press(page, "Enter")
    settle(page)
    expect(page.locator("#undo")).to_be_enabled()
    expect(page.locator("#offers")).to_have_attribute("open", "")
    focus_of(page)
    tab_to(page, "undo")
    press(page, "Enter")
    expect(page.locator("#undo")).to_be_disabled()
    assert focus_of(page).id != "undo"
