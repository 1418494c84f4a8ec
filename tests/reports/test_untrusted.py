"""Whatever stands in the data or in the manifest, a report only shows it."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import sfumato as sf
from sfumato.reports.report import Report
from sfumato.showing.charts import bars_svg
from sfumato.showing.content import (
    Badge,
    Content,
    ContentTable,
    Document,
    Drawing,
    Figures,
    Heading,
    Listing,
    Section,
    Sentence,
    to_notebook,
)
from sfumato.text import brief, visible
from tests.reports.conftest import read_html

NASTY = (
    "<script>alert(1)</script>",
    "</td></tr></table><img src=x onerror=alert(1)>",
    "]]><svg onload=alert(1)>",
    "--><iframe src=//example.org>",
    "{{ 7 * 7 }}{% raw %}",
    "' onmouseover='alert(1)",
    '" style="position:fixed',
    "javascript:alert(1)",
    "\u202etxet desrever\u2066",
    "nul\x00 bell\x07 escape\x1b[2J",
    "new\nline\ttab\r",
    "| pipe | `code` | [link](http://example.org) ![i](x)",
    "x" * 5000,
    "\ud800 half a pair",
    "𝒰nicode 年齢 العمر",
)
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "a", "header", "h1", "h2", "h3"),
    *("div", "b"),
    *("p", "strong", "nav", "ol", "li", "ul", "main", "section", "table", "caption", "thead"),
    *("tbody", "tr", "th", "td", "span", "bdi", "dl", "dt", "dd", "figure", "footer"),
    *("svg", "g", "rect", "text", "path", "desc", "tspan", "line", "circle", "polygon"),
}


def everywhere(text: str) -> Report:
    """Put a text wherever a report can hold one."""
    drawing = Drawing.of(bars_svg([text[:200]], [0.5], [0.9], title=text[:200]))
    parts = (
        Sentence(text, loud=True),
        Listing((text,), more=2),
        Figures(text, ((text, text, text),)),
        ContentTable(
            text, (Heading(text, text), Heading("n")), ((text, 5), (Badge(text), text)), more=1
        ),
        drawing,
    )
    section = Section("verdict", text, text, parts)
    return Report(Document(text, "no", text, True, (section,), ((text, text),), text))


def assert_harmless(html: str) -> None:
    read = read_html(html)
    assert {tag for tag, _ in read.tags} <= ALLOWED
    assert not read.comments
    for tag, attributes in read.tags:
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
        assert not attributes.keys() & {"src", "srcset", "action", "formaction", "xlink:href"}
        assert str(attributes.get("href", "#")).startswith("#")
        if tag != "div" or "class" in attributes:
            assert "style" not in attributes
    assert "url(" not in html
    assert "@import" not in html
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069\u200e\u200f]", html)


@pytest.mark.parametrize("text", NASTY)
def test_nasty_texts_are_shown_and_do_nothing(text):
    report = everywhere(text)
    assert_harmless(report.to_html())
    assert len(report.to_html()) < 60_000
    markdown = report.to_markdown()
    assert "<" not in markdown
    json.loads(report.to_json().encode())
    read = read_html(report._repr_html_())
    assert {tag for tag, _ in read.tags} <= ALLOWED


@settings(max_examples=40)
@given(st.text(max_size=60))
@example("</style></svg></title><script>")
def test_any_text_is_read_back_as_it_is_shown(text):
    html = everywhere(text).to_html()
    assert_harmless(html)
    cells = read_html(html).texts
    # A browser drops what it takes for white space around; the rest is there to the letter.
    assert brief(text, most=200).strip() in "".join(cells)


@given(st.text(max_size=60))
def test_a_cell_of_markdown_stays_one_cell(text):
    report = Report(
        Document(
            "t", "yes", "s", True, (_with(ContentTable.of("c", ["a", "b"], [[text, 1]])),), (), "1"
        )
    )
    lines = report.to_markdown().splitlines()
    [row] = [line for line in lines if line.endswith("| 1 |")]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3


@given(st.text(max_size=60))
@example("[link](http://example.org) ![i](x) <b> **bold** `code` http://example.org")
@example("    indented code")
@example("- item\n# heading")
def test_a_reader_of_markdown_finds_text_and_nothing_else(text):
    """Judged by a parser that is not ours."""
    parts = Sentence(text), Listing((text,)), ContentTable.of("c", ["a", "b"], [[text, 1]])
    sections = tuple(_with(part) for part in parts)
    markdown = Report(Document("t", "yes", "s", True, sections, (), "1")).to_markdown()
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    kinds = {token.type for token in tokens}
    kinds |= {child.type for token in tokens for child in token.children or ()}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "code_inline", "fence"}
    assert not kinds & {"code_block", "blockquote_open", "hr", "ordered_list_open"}
    headings = [token.tag for token in tokens if token.type == "heading_open"]
    assert headings == ["h1", "h2", "h2", "h2"]


def _with(part) -> Section:
    return Section("verdict", "t", "h", (part,))


@pytest.mark.usefixtures("patience")
@given(st.text())
def test_what_is_made_visible_prints(text):
    shown = visible(text)
    assert visible(shown) == shown
    assert not re.search("[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)


def test_scripts_that_need_joiners_keep_them():
    assert visible("می‌خواهم") == "می‌خواهم"


def test_only_our_own_drawings_are_taken():
    with pytest.raises(TypeError, match=r"only what sfumato.showing made"):
        Drawing.of("<svg onload=alert(1)></svg>")


def test_a_long_fragment_is_cut_and_says_so():
    html = to_notebook(Content("h", (ContentTable.of("", ["n"], [[i] for i in range(40)]),)))
    assert html.count("<tr") == 13
    assert "and 28 more" in html


@pytest.fixture(scope="module")
def nasty_release(tmp_path_factory):
    """A release whose column names and values are all nasty."""
    texts = [text for text in NASTY if "\ud800" not in text and "\x00" not in text]
    names = [f"{text[:300]} {i}" for i, text in enumerate(texts[:5])]
    n = 60
    columns = {
        name: [texts[(i // (j + 1) + j) % 6] for i in range(n)] for j, name in enumerate(names)
    }
    folder = tmp_path_factory.mktemp("nasty") / "release"
    policy = sf.Policy(
        columns=dict(zip(names, ["quasi-identifier"] * 2 + ["sensitive"] * 3, strict=True)),
        models=[sf.models.KAnonymity(2)],
    )
    sf.anonymize(pa.table(columns), policy, output=folder, format="parquet")
    sf.decouple(folder, output=folder.parent / "broken")
    return folder


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", ["release", "broken"])
def test_a_release_of_nasty_values_has_a_harmless_report(nasty_release, name):
    report = sf.report(nasty_release.parent / name)
    assert len(report.document.sections) > 5
    assert_harmless(report.to_html())
    assert "<" not in report.to_markdown()
    for result in (sf.verify(nasty_release), sf.detect(nasty_release), report):
        read = read_html(result._repr_html_())
        assert {tag for tag, _ in read.tags} <= ALLOWED


@pytest.mark.usefixtures("patience")
def test_a_wide_table_of_long_values_stays_below_three_megabytes(tmp_path):
    rng = np.random.default_rng(5)
    columns = {
        f"column {j} " + "of a very long name " * 20: [
            f"{'a long value ' * 40}{code}" for code in rng.integers(0, 3 if j < 4 else 9, 150)
        ]
        for j in range(60)
    }
    names = list(columns)
    policy = sf.Policy(
        columns=dict.fromkeys(names[:4], "quasi-identifier")
        | dict.fromkeys(names[4:], "sensitive"),
        models=[sf.models.KAnonymity(2)],
        suppression=0.5,
    )
    release = sf.anonymize(pa.table(columns), policy)
    report = sf.report(release)
    assert "more" in report.to_markdown()
    assert len(report.to_html().encode()) < 3_000_000
    assert len(report.to_markdown().encode()) < 1_000_000
