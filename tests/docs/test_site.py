"""The site has every page, works from disk, asks nobody, and leads nowhere that is not there."""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from docs import cases, site
from tests.app.browsing import axe, watched
from tests.docs.pages import ROOT, name_of, pages


def test_every_page_is_in_the_navigation_once():
    assert sorted(site.navigation()) == sorted([*site.pages(), *site.notebook_pages()])
    below_docs = {name_of(page) for page in pages() if page.is_relative_to(ROOT / "docs")}
    assert below_docs <= set(site.pages())


HERE = {"docs/a.md", "docs/b/c.md", "README.md", "examples/run.py.md"}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("[c](b/c.md#one) and [up](../README.md)", "[c](b/c.md#one) and [up](../README.md)"),
        (
            "[one](#one), [print](https://doi.org/10/x)",
            "[one](#one), [print](https://doi.org/10/x)",
        ),
        ("held by [`test_a.py`](../tests/test_a.py)", "held by `test_a.py`"),
        ("[run](../examples/run.py)", "[run](../examples/run.py.md)"),
        ("![a tree](tree.svg)", "![a tree](tree.svg)"),
        ("```yaml policy.yaml\na: [b](c)\n```", '```yaml title="policy.yaml"\na: [b](c)\n```'),
        ("```\n$ make\n```\n[x](y.py)", "```text\n$ make\n```\nx"),
        ("````text\n```python\n[b](c)\n````", "````text\n```python\n[b](c)\n````"),
        (
            "```python\nx\n```\n\n```text\n1\n```\n\n```text\n2\n```",
            "```python\nx\n```\n\n```{.text .shown}\n1\n```\n\n```text\n2\n```",
        ),
        ("```python\nx\n```\nThen:\n```text\n1\n```", "```python\nx\n```\nThen:\n```text\n1\n```"),
    ],
)
def test_a_copy_reads_as_the_page_does(text, read):
    assert site.adapt(text, Path("docs"), HERE) == read + "\n"


def test_a_notebook_becomes_a_page_with_what_it_shows():
    cells = [
        {"cell_type": "markdown", "source": ["# Ages\n", "\n", "See."]},
        {
            "cell_type": "code",
            "source": ["# Most are young.\n", "draw()"],
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["1\n", "2\n"]},
                {"output_type": "display_data", "data": {"image/svg+xml": ["<svg/>"]}},
                {"output_type": "execute_result", "data": {"text/html": ["<p>a\n", "b</p>"]}},
            ],
        },
    ]
    text, drawings = site.notebook_page({"cells": cells}, "ages")
    assert drawings == {"ages-1.svg": "<svg/>"}
    assert text.split("\n\n") == [
        "# Ages",
        "See.",
        "```python\n# Most are young.\ndraw()\n```",
        "```text\n1\n2\n```",
        "![Most are young.](ages-1.svg)",
        '<div class="shown"><p>a b</p></div>\n',
    ]


def test_versions_stand_beside_each_other_the_newest_first(tmp_path, monkeypatch):
    for name in ("0.9.0", "0.10.1", "drafts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text("a site")
    built = []
    monkeypatch.setattr(site, "build", built.append)
    assert site.main(["--among", str(tmp_path)]) == 0
    assert built == [tmp_path / site.__version__]
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'href="(.*?)/index.html"', page) == ["0.10.1", "0.9.0"]


@pytest.fixture(scope="module")
def built_site(tmp_path_factory):
    """The site, built as `make site` does."""
    folder = tmp_path_factory.mktemp("site") / "site"
    site.main(["--output", str(folder)])
    return folder


@pytest.fixture
def on_disk(browser, built_site):
    """A page of a browser that opens files; any complaint and any request elsewhere fails."""
    with watched(browser, "file://", viewport={"width": 1280, "height": 900}) as page:
        yield page


def test_search_works_from_disk(on_disk, built_site):
    on_disk.goto((built_site / "index.html").as_uri())
    on_disk.get_by_role("button", name="Search").click()
    on_disk.locator("input[aria-label=Search]").fill("perturbation")
    on_disk.locator("a[role=option][href*='/how-to/perturb.html']").first.click()
    on_disk.wait_for_url(re.compile(r"/docs/how-to/perturb\.html"))
    assert on_disk.locator("h1").inner_text().startswith("Perturb")


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["index", "docs/how-to/look-at-a-lattice", "examples/cases/hospital.ipynb"]
)
def test_all_can_read_a_page_in_both_colours(browser, built_site, name, colours):
    size = {"width": 1280, "height": 900}
    with watched(browser, "file://", viewport=size, color_scheme=colours) as page:
        page.goto((built_site / f"{name}.html").as_uri())
        scheme = page.locator("body").get_attribute("data-md-color-scheme")
        assert scheme == {"light": "default", "dark": "slate"}[colours]
        assert axe(page) == []


def test_colours_are_switched_and_stay_so(on_disk, built_site):
    on_disk.goto((built_site / "index.html").as_uri())
    on_disk.get_by_title("Switch to dark mode").click()
    on_disk.wait_for_selector("body[data-md-color-scheme=slate]")
    on_disk.goto((built_site / "docs" / "get-started" / "install.html").as_uri())
    on_disk.wait_for_selector("body[data-md-color-scheme=slate]")


def test_commands_are_copied_without_what_they_show(on_disk, built_site):
    on_disk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    on_disk.goto((built_site / "docs" / "get-started" / "on-the-command-line.html").as_uri())
    block = on_disk.locator(".highlight", has_text="$ sfumato init")
    block.get_by_role("button", name="Copy").click()
    on_disk.wait_for_selector("text=Copied to clipboard")
    copied = on_disk.evaluate("() => navigator.clipboard.readText()")
    assert copied == "sfumato init patients.csv"


class Page(HTMLParser):
    """The places of a page, and what it leads to or loads."""

    def __init__(self, text):
        super().__init__()
        self.places, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.places |= {given[key] for key in ("id", "name") if given.get(key)}
        where = given.get("href") or given.get("src")
        if where is not None:
            (self.links if tag == "a" else self.loaded).append(where)


def test_every_link_leads_to_a_page_and_a_place_on_it(built_site):
    read = {path: Page(path.read_text(encoding="utf-8")) for path in built_site.rglob("*.html")}
    assert len(read) > len(site.pages())
    dead = []
    for path, page in read.items():
        dead += [f"{path}: loads {each}" for each in page.loaded if re.match("[a-z]+:|//", each)]
        for link in (each for each in [*page.links, *page.loaded] if not re.match("[a-z]+:", each)):
            name, _, place = unquote(link).partition("#")
            target = (path.parent / name.partition("?")[0]).resolve() if name else path
            known = read.get(target)
            if not target.is_file() or (place and known and place not in known.places):
                dead.append(f"{path}: {link}")
    assert dead == []


def test_the_version_is_shown_and_nothing_but_pages_is_there(built_site):
    from sfumato import __version__

    assert f"Sfumato {__version__}" in (built_site / "index.html").read_text(encoding="utf-8")
    # A notebook can be downloaded, with the script that makes its data.
    files = {f for each in cases.FOLDER.iterdir() if (f := each.name).endswith((".ipynb", ".py"))}
    others = {path for path in built_site.rglob("*") if path.is_file() and path.name not in files}
    kinds = {path.suffix for path in others}
    assert kinds <= {".html", ".css", ".js", ".json", ".svg", ".png", ".map", ".xml", ""}
    assert not list((built_site / "docs").rglob("*.json"))


class Parts(HTMLParser):
    """How many headings, entries, cells, blocks and pictures a text has."""

    def __init__(self, html):
        super().__init__()
        self.found, self.blocks = Counter(), 0
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag == "pre" or (not self.blocks and tag in COUNTED):
            self.found[tag] += 1
        self.blocks += tag == "pre"

    def handle_endtag(self, tag):
        self.blocks -= tag == "pre"


COUNTED = {"h1", "h2", "h3", "h4", "li", "tr", "td", "th", "img", "strong", "em", "code"}


def test_pages_have_the_parts_that_forges_show(built_site):
    """The generator reads another Markdown than forges do, which shows in lists first."""
    reader = MarkdownIt("commonmark").enable("table")
    texts = {name: site.text_of(name) for name in site.pages()}
    for name, path in site.notebook_pages().items():
        texts[name] = site.notebook_page(cases.read(path), path.stem)[0]
    for name, text in texts.items():
        page = (ROOT / name).with_suffix(".html")
        page = page.with_name("index.html") if page.stem == "README" else page
        html = (built_site / page.relative_to(ROOT)).read_text(encoding="utf-8")
        shown = html.partition("<article")[2].partition("</article>")[0]
        assert Parts(shown).found == Parts(reader.render(text)).found, name
