"""HTML, Markdown and JSON say the same, and files are written as they are asked for."""

import json

import pytest

import sfumato as sf
from sfumato.showing.content import (
    Beside,
    ContentTable,
    Drawing,
    Figures,
    Heading,
    Section,
    Sentence,
    escape_markdown,
    format_cell,
)
from tests.reports.conftest import read_html

pytestmark = pytest.mark.usefixtures("patience")


@pytest.fixture(scope="module")
def report(full_report):
    return full_report("broken")


def test_every_table_and_drawing_is_in_every_form(report):
    html, markdown, plain = report.to_html(), report.to_markdown(), report.to_dict()
    texts = " ".join(read_html(html).texts)
    told = json.dumps(plain, ensure_ascii=False)
    assert len(plain["sections"]) == len(report.document.sections)
    for section in report.document.sections:
        assert f"## {section.title}" in markdown
        assert section.how_to_read in texts
        assert section.how_to_read in told
        for part in section.parts:
            if isinstance(part, ContentTable | Figures):
                assert f"**{escape_markdown(part.caption)}**" in markdown
                assert part.caption in texts
                assert part.caption in told
            drawings = part.drawings if isinstance(part, Beside) else [part]
            for drawing in drawings:
                if isinstance(drawing, Drawing):
                    assert drawing.title in texts
                    assert drawing.title in told


def test_the_numbers_are_the_same_everywhere(report):
    cells = [
        cell
        for section in report.document.sections
        for part in section.parts
        if isinstance(part, ContentTable)
        for row in part.rows
        for cell in row
        if isinstance(cell, int | float)
    ]
    html, markdown = " ".join(read_html(report.to_html()).texts), report.to_markdown()
    plain = json.loads(report.to_json())
    numbers = {
        cell
        for section in plain["sections"]
        for part in section["parts"]
        for row in part.get("rows", ())
        for cell in row
        if isinstance(cell, int | float)
    }
    assert len(cells) > 50
    for cell in cells:
        assert format_cell(cell) in html
        # Markdown writes signs of its own with care.
        assert format_cell(cell).replace("<", "&lt;").replace(">", "&gt;") in markdown
        assert float(cell) in numbers


def test_every_number_is_explained(report):
    """Of each table of figures, every column of numbers has a sentence of its own."""
    for section in report.document.sections:
        assert section.how_to_read.endswith(".")
        for part in section.parts:
            if isinstance(part, Figures):
                assert all(meaning for _, _, meaning in part.items)


@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_the_ending_says_the_form(report, tmp_path, ending):
    path = report.save(tmp_path / f"report.{ending}")
    text = path.read_text(encoding="utf-8")
    forms = {"html": report.to_html, "md": report.to_markdown, "json": report.to_json}
    assert text == forms[ending]()


def test_another_ending_or_folder_is_refused(report, tmp_path):
    with pytest.raises(sf.SfumatoError, match=r"ends in .html, .htm, .md, .json"):
        report.save(tmp_path / "report.pdf")
    with pytest.raises(sf.SfumatoError, match="Choose another file"):
        report.save(tmp_path / "nowhere/report.html")
    with pytest.raises(sf.SfumatoError, match="one of html, markdown, json"):
        report.write("pdf")


def test_html_is_one_file_that_asks_for_nothing(report):
    tags = read_html(report.to_html()).tags
    assert "link" not in {tag for tag, _ in tags}
    [policy] = [a["content"] for t, a in tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert ("html", {"lang": "en"}) in tags


def test_tables_and_headings_are_ready_for_screen_readers(report):
    tags = read_html(report.to_html()).tags
    names = [tag for tag, _ in tags]
    assert names.count("h1") == 1
    assert names.count("caption") == names.count("table")
    assert {"header", "nav", "main", "footer"} <= {*names}
    assert all(a.get("scope") in ("col", "row") for tag, a in tags if tag == "th")
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))


def test_a_table_with_too_few_cells_is_our_mistake():
    with pytest.raises(sf.SfumatoError, match="rows of 2 cells"):
        ContentTable.of("c", ["a", Heading("b")], [["x"]])


def test_notebooks_show_what_was_found(house):
    release = sf.anonymize(house.people, house.policy, seed=1)
    decoupled = sf.decouple(release)
    exposure = sf.breach(decoupled)
    group = {
        c.name: c.values[decoupled.grouped.labels[i, 0]] for i, c in enumerate(_columns(decoupled))
    }
    results = [
        release,
        decoupled,
        exposure,
        exposure.person(group),
        sf.verify(release),
        sf.detect(release),
        sf.utility(house.people, release, policy=house.policy),
        sf.utility(house.people, {"it": release}, policy=house.policy),
        sf.report(release),
    ]
    for result in results:
        html = result._repr_html_()
        assert html.startswith("<div><p><strong>")
        assert html.endswith("</div>")
        assert len(html) < 12_000


def _columns(decoupled):
    return decoupled.grouped.quasi_identifiers


def test_the_text_of_a_report_is_its_markdown(report):
    assert str(report) == report.to_markdown()
    assert repr(report).startswith(f"<Report: {report.answer}, ")
    assert isinstance(report.document.sections[0], Section)
    assert isinstance(report.document.sections[0].parts[0], Sentence)
