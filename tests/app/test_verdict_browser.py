"""Look and Verdict in a real browser: a *no* that is mended by clicks, and for everybody."""

import pytest

from tests.app.browsing import axe, go, open_people, settle
from tests.app.test_verdict import POLICY, people


@pytest.fixture
def page(page, served):
    """The app with a table and a policy that promises too little."""
    open_people(page, served, people(), POLICY)
    return page


def test_a_no_is_mended_by_its_advice_until_it_is_none(page):
    go(page, "verdict")
    page.click("#judge")
    page.wait_for_selector(".answer.no")
    assert axe(page) == []
    for _ in range(8):
        page.wait_for_selector("#cheapest")
        assert axe(page) == []
        before = page.get_attribute(".answer", "data-of")
        announced = page.locator("#cheapest ~ .price .badge").inner_text()
        page.click("#cheapest")
        page.wait_for_selector(f".answer:not([data-of='{before}'])")
        assert page.locator(".answer strong").inner_text().lower() == announced.strip(" !✗✓")
        if page.locator(".answer.no").count() == 0:
            break
    assert page.locator(".answer.no").count() == 0
    settle(page)
    # The button says what it takes back.
    assert page.locator("#undo .what").inner_text()
    page.click("#find-leaks")
    page.wait_for_selector(".network svg")
    page.fill("#of-1", "41")
    page.press("#of-1", "Enter")
    page.wait_for_selector("#person-told svg")
    assert axe(page) == []


def test_rows_are_paged_and_searched_and_a_question_is_asked(page):
    go(page, "look")
    page.wait_for_selector("table.pairs")
    page.click("#page-on")
    page.wait_for_selector("text=page 2 of")
    page.fill("#row-text", "hiv")
    page.wait_for_selector("text=page 1 of 1")
    page.wait_for_selector("#ask")
    page.select_option("#column0", "sex")
    page.fill("#value0", "f")
    page.press("#value0", "Enter")
    page.wait_for_selector("#answer .truth")
    assert axe(page) == []
