"""The report in a real browser: it shows everything, fetches nothing, and can be read by all."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

import sfumato as sf
from tests.reports.conftest import POLICY
from tests.reports.devtools import browsing, find_browser
from tests.reports.test_untrusted import NASTY, everywhere

_COMPLAINTS = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with browsing(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture(scope="module")
def report(house, tmp_path_factory):
    """A report with everything in it: networks, heat maps, histograms, breaches, headroom."""
    found = sf.report(house.broken, data=house.people, policy=house.policy, ledger=house.ledger)
    return found.save(tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def page(browser, report):
    return browser.open(report)


def fetched(page):
    return [each["request"]["url"] for each in page.happened("Network.requestWillBeSent")]


def test_it_fetches_nothing_and_complains_about_nothing(browser, report):
    page = browser.open(report)
    assert fetched(page) == [page.url]
    assert page.happened(*_COMPLAINTS) == []
    assert page.run("document.scripts.length") == 0


def test_the_answer_the_sections_and_the_drawings_are_there(page, report):
    assert page.run("document.querySelectorAll('h1').length") == 1
    assert page.run("document.querySelector('header').innerText").count("May it be published?") == 1
    ids = page.run("[...document.querySelectorAll('h2')].map(h => h.id)")
    assert {"verdict", "dependencies", "correlations", "breaches", "headroom", "utility"} <= {*ids}
    sizes = page.run(
        "[...document.querySelectorAll('svg')].map(s => "
        "[s.getBoundingClientRect().width, s.getBoundingClientRect().height, "
        "s.querySelectorAll('rect, path').length, s.getAttribute('role'), "
        "s.querySelector('title').textContent.length, s.querySelector('desc').textContent.length])"
    )
    assert len(sizes) >= 8
    for width, height, shapes, role, title, description in sizes:
        assert min(width, height) > 50
        assert shapes > 1
        assert role == "img"
        assert min(title, description) > 3


def test_nothing_sticks_out_of_the_page_on_a_telephone(browser, report):
    page = browser.open(report)
    page.size(390, 800)
    assert page.run("document.documentElement.scrollWidth") <= 390


def test_nothing_is_cut_off_on_paper(browser, report):
    page = browser.open(report)
    browser.call("Emulation.setEmulatedMedia", page.session, media="print")
    # A4 without its margins.
    page.size(688, 1000)
    assert page.run("document.documentElement.scrollWidth") <= 688
    assert page.run("getComputedStyle(document.querySelector('nav')).display") == "none"


A4 = 210, 297
"""Millimetres."""

MARGIN = 14, 13
"""Beside and above what is printed, as the style sheet has it."""

PIXELS = 96 / 25.4


def sheet_of(page):
    """Return how high the first page is and may be, printed on A4."""
    page.browser.call("Emulation.setEmulatedMedia", page.session, media="print")
    width, height = ((side - 2 * edge) * PIXELS for side, edge in zip(A4, MARGIN, strict=True))
    page.size(int(width), int(height))
    bottom = page.run("document.querySelector('section.first').getBoundingClientRect().bottom")
    return bottom, height


def wide_release(folder):
    """Publish sixty columns, most of them as they are."""
    people = sf.samples.synthetic(600, seed=7).to_pandas()
    for i in range(60 - len(people.columns)):
        people[f"answer_to_question_{i}"] = [("never", "sometimes", "often")[i % 3]] * len(people)
    policy = sf.Policy.from_yaml(POLICY.replace("other: dropped", "other: plain"))
    return sf.anonymize(people, policy, output=folder)


@pytest.mark.parametrize("kind", ["release", "broken", "slices", "wide"])
def test_the_first_page_is_one_sheet_of_paper(browser, house, tmp_path, kind):
    release = wide_release(tmp_path / "wide") if kind == "wide" else house.folder / kind
    page = browser.open(sf.report(release).save(tmp_path / "report.html"))
    bottom, height = sheet_of(page)
    assert height / 3 < bottom <= height


def test_the_labels_of_drawings_are_read_on_paper(page):
    """The smallest letters of a drawing, in points as they are printed."""
    page.browser.call("Emulation.setEmulatedMedia", page.session, media="print")
    page.size(*(int((side - 2 * edge) * PIXELS) for side, edge in zip(A4, MARGIN, strict=True)))
    points = page.run(
        "Math.min(...[...document.querySelectorAll('figure svg')].filter(e => e.clientWidth < 640)"
        ".map(e => 11 * e.getBoundingClientRect().width / e.getAttribute('width'))) * 72 / 96"
    )
    page.browser.call("Emulation.setEmulatedMedia", page.session, media="")
    assert points > 5


def test_the_second_section_begins_a_page(page):
    found = "getComputedStyle(document.querySelector('section.first')).breakAfter"
    page.browser.call("Emulation.setEmulatedMedia", page.session, media="print")
    assert page.run(found) == "page"
    page.browser.call("Emulation.setEmulatedMedia", page.session, media="")


def test_links_lead_somewhere_and_the_first_one_skips_to_the_content(page):
    broken = page.run(
        "[...document.links].filter(a => !document.querySelector(a.getAttribute('href'))).length"
    )
    assert broken == 0
    assert page.run("document.links[0].getAttribute('href')") == "#content"


def test_a_screenshot_can_be_taken_and_the_page_be_printed(page, tmp_path):
    shot = page.screenshot(tmp_path / "report.png")
    assert shot.read_bytes().startswith(b"\x89PNG")
    assert shot.stat().st_size > 50_000
    printed = page.printed()
    assert printed.startswith(b"%PDF")
    assert printed.count(b"/Type /Page") > 3
    page.size(1200, 900)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_that_keeps_anybody_from_reading(browser, report, scheme):
    page = browser.open(report, **{"prefers-color-scheme": scheme})
    axe = (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    page.run(f"{axe}; 0")
    found = page.run(
        "axe.run(document).then(r => ({passes: r.passes.length, violations: r.violations.map("
        "v => [v.id, v.impact, v.nodes.slice(0, 3).map(n => n.html.slice(0, 200))])}))"
    )
    assert found["passes"] > 20
    assert not found["violations"], json.dumps(found["violations"], indent=1)


def test_it_can_be_read_without_colour(page):
    """Every badge and every bar says in words or figures what its colour says."""
    texts = page.run("[...document.querySelectorAll('.badge')].map(b => b.innerText.trim())")
    assert texts
    assert all(texts)
    bars = page.run(
        "[...document.querySelectorAll('g.bar, g.bars')].map("
        "g => g.querySelectorAll('text').length)"
    )
    assert bars
    assert all(number >= 2 for number in bars)


def test_nasty_texts_run_nothing(browser, tmp_path: Path):
    for i, text in enumerate(NASTY):
        file = tmp_path / f"{i}.html"
        file.write_text(everywhere(text).to_html(), encoding="utf-8")
        page = browser.open(file)
        assert fetched(page) == [page.url]
        assert page.happened(*_COMPLAINTS) == []
        assert page.run("document.scripts.length + document.images.length + frames.length") == 0
        assert page.run("document.querySelectorAll('h1, h2').length") == 3


def test_without_a_browser_it_is_said_how_to_get_one(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        find_browser()
