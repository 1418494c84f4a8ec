"""The first page: the same facts in every form, true, and enough for a reader of nothing else."""

import csv
import datetime as dt
import re
import shutil
from functools import cache

import pytest

import sfumato as sf
from sfumato.releases.manifest import Manifest
from sfumato.showing.content import (
    Badge,
    Beside,
    ContentTable,
    Figures,
    Listing,
    Names,
    Sentence,
    escape_markdown,
    format_cell,
)
from sfumato.text import percent
from tests.reports.conftest import POLICY, read_html

KINDS = ("release", "broken", "anatomy", "buckets", "hidden", "slices")
ABOUT = "About this release; a group is people who look alike in what others may know"
STATED = "owner: Registry of Lower Saxony\npurpose: A study of waiting times\n"


def first_page(report):
    return report.document.sections[0]


def part(report, caption):
    [found] = [p for p in first_page(report).parts if getattr(p, "caption", "") == caption]
    return found


def listing(report, start):
    [found] = [
        p
        for p in first_page(report).parts
        if isinstance(p, Listing) and p.caption.startswith(start)
    ]
    return found.items


def facts_of(report):
    """Everything that the first page says, in its order, as texts."""
    document, section = report.document, first_page(report)
    yield from (document.title, f"{document.answer.capitalize()}.", document.scope)
    yield section.how_to_read
    for each in section.parts:
        if isinstance(each, Sentence):
            yield each.text
        elif isinstance(each, Listing):
            yield from (each.caption, *each.items)
        else:
            assert isinstance(each, ContentTable)
            yield each.caption
            yield from (heading.name for heading in each.headings)
            yield from (format_cell(cell) for row in each.rows for cell in row)


def assert_in_order(facts, text):
    at = 0
    for fact in facts:
        found = text.find(fact, at)
        assert found >= 0, fact
        at = found + len(fact)


def squeezed(text):
    return re.sub(r"\s+", "", text)


@pytest.fixture(scope="module")
def named(house, tmp_path_factory):
    """A release that states owner and purpose, changes a column by chance, and names people."""
    folder = tmp_path_factory.mktemp("named")
    text = POLICY.replace("name: identifier", "name: plain").replace(": dropped", ": plain")
    noisy = "salary: {role: sensitive, perturb: {kind: noise, sd: 0.2}}"
    text = STATED + text.replace("salary: sensitive", noisy)
    (folder / "policy.yaml").write_text(text, encoding="utf-8")
    sf.anonymize(house.people, folder / "policy.yaml", output=folder / "release")
    return folder


@pytest.fixture(scope="module")
def report_on(bare_report, named):
    """A report on a kind of release, made once."""
    of_named = cache(lambda: sf.report(named / "release", date=dt.date(2026, 11, 17)))
    return lambda kind: of_named() if kind == "named" else bare_report(kind)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", [*KINDS, "named"])
def test_html_and_markdown_say_the_same_in_the_same_order(report_on, kind):
    report = report_on(kind)
    facts = [fact for fact in facts_of(report) if fact]
    assert any("2026-11-17" in fact for fact in facts)
    html = report.to_html()
    page = squeezed("".join(read_html(html[: html.index("<nav")]).texts))
    assert_in_order(map(squeezed, facts), page)
    markdown = report.to_markdown()
    [second] = [s.title for s in report.document.sections if s.id == "checks"]
    start = squeezed(markdown[: markdown.index(f"## {second}")])
    assert_in_order((squeezed(escape_markdown(fact)) for fact in facts), start)
    # Nothing but the first page is before the second section.
    ids = [a["id"] for tag, a in read_html(html[: html.index("<nav")]).tags if tag == "h2"]
    assert ids == ["verdict"]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", [*KINDS, "named"])
def test_every_column_has_its_role_and_what_nothing_protects_is_marked(report_on, kind):
    report = report_on(kind)
    found = part(report, "The columns, and what protects them")
    manifest = Manifest.read_folder(report.folder)
    protected = {model.column for model in manifest.models}
    protected |= {each.column for each in manifest.hiding or ()}
    for column in manifest.columns:
        [row] = [r for r in found.rows if column.name in re.split(", | and ", r[1])]
        assert f"({column.role})" in row[0]
        plain = column.role == "plain"
        bare = column.role == "sensitive" and column.name not in protected and not column.perturbed
        if plain or bare:
            assert row[2] in ("not protected", "at risk")


def test_a_no_says_which_reason_applies_and_what_to_do(report_on):
    report = report_on("named")
    assert report.answer == "no"
    loud = first_page(report).parts[0]
    assert "a published column names people" in loud.text
    assert any("'name' names people" in why for why in listing(report, "Why"))
    assert any("role identifier" in step for step in listing(report, "What to do next"))


@pytest.mark.usefixtures("patience")
def test_an_attack_is_told_as_what_is_believed_of_whom(house, report_on):
    found = sf.verify(house.broken)
    outcome = next(reason.outcome for reason in found.reasons if reason.outcome is not None)
    why = listing(report_on("broken"), "Why")[0]
    worst = outcome.worst[0]
    assert f"for {outcome.concerned} of {outcome.of} people" in why
    assert all(f"{name} {value}" in why for name, value in worst.who.items())
    assert worst.believed in why
    # Advice has a place of its own.
    assert "models:" not in why


@pytest.mark.usefixtures("patience")
def test_a_release_that_was_changed_protects_nothing(house, tmp_path):
    folder = shutil.copytree(house.release, tmp_path / "changed")
    with (folder / "data.csv").open("a", encoding="utf-8") as file:
        file.write("1,f,1,flu,x,1\n")
    report = sf.report(folder)
    assert "broken" in first_page(report).parts[0].text
    badges = {row[2] for row in part(report, "The columns, and what protects them").rows}
    assert "protected" not in badges


@pytest.mark.usefixtures("patience")
def test_sample_rows_are_published_rows(house):
    found = part(sf.report(house.release, public=True), "A few rows, as they are published")
    names = [heading.name for heading in found.headings]
    with (house.release / "data.csv").open(encoding="utf-8", newline="") as file:
        rows = [[row[name] or "(missing)" for name in names] for row in csv.DictReader(file)]
    assert len(found.rows) == 3
    assert all(list(row) in rows for row in found.rows)


def test_names_of_people_are_not_spread_by_the_report(report_on):
    page = first_page(report_on("named"))
    tables = [p for p in page.parts if isinstance(p, ContentTable) and "rows" in p.caption]
    assert not any(heading.name == "name" for table in tables for heading in table.headings)


@pytest.mark.usefixtures("patience")
def test_owner_and_purpose_go_from_the_policy_to_every_release(house, tmp_path):
    (tmp_path / "policy.yaml").write_text(STATED + POLICY, encoding="utf-8")
    sf.anonymize(house.people, tmp_path / "policy.yaml", output=tmp_path / "release")
    sf.decouple(tmp_path / "release", output=tmp_path / "parts")
    for folder in (tmp_path / "release", tmp_path / "parts"):
        rows = dict(row for row in part(sf.report(folder, public=True), ABOUT).rows)
        assert rows["owner"] == "Registry of Lower Saxony"
        assert rows["purpose"] == "A study of waiting times"
        assert "whenever" in rows["date"]


def test_what_is_not_stated_is_said(report_on):
    rows = dict(row for row in part(report_on("release"), ABOUT).rows)
    assert rows["owner and purpose"] == "not stated in the policy"


def test_a_public_report_has_no_date(house):
    with pytest.raises(sf.SfumatoError, match="date must be left out"):
        sf.report(house.release, public=True, date=dt.date(2026, 11, 17))


@pytest.mark.usefixtures("patience")
def test_many_columns_are_counted_and_those_that_matter_named(tmp_path):
    import pyarrow as pa

    n = 60
    table = {"age": ["30", "40"] * n, "sex": ["f", "f", "m", "m"] * (n // 2)}
    table |= {f"answer_{i}": ["yes", "no"] * n for i in range(58)}
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "sex": "quasi-identifier"},
        other="plain",
        models=[sf.models.KAnonymity(2)],
    )
    report = sf.report(sf.anonymize(pa.table(table), policy))
    [known, plain] = part(report, "The columns, and what protects them").rows
    assert known[1] == "age and sex"
    assert isinstance(plain[1], Names)
    shown = re.match(r"(.*) and (\d+) more$", plain[1])
    assert len(re.split(", | and ", shown[1])) + int(shown[2]) == 58


@pytest.mark.usefixtures("patience")
def test_the_answer_is_that_of_verify_with_earlier_releases_and_lists(house, tmp_path):
    sf.anonymize(house.people, house.policy, method="mondrian", output=tmp_path / "first")
    given = {"earlier": [str(tmp_path / "first")], "outside": house.people}
    report = sf.report(house.release, policy=house.policy, **given)
    found = sf.verify(house.release, house.policy, **given)
    assert report.answer == found.answer
    assert found.attack("composition").tried
    [table] = [
        p
        for s in report.document.sections
        if s.id == "attacks"
        for p in s.parts
        if getattr(p, "caption", "") == "Attacks"
    ]
    assert "composition" in {row[0] for row in table.rows}
    assert not any("earlier releases" in text for text in listing(report, "For whom"))


# What stands behind the first page, and must not contradict it.


def drawing_of(report, section):
    [found] = [s for s in report.document.sections if s.id == section]
    [first, *_] = [p for p in found.parts if isinstance(p, Beside)]
    return first.drawings[0].svg


@pytest.mark.usefixtures("patience")
def test_the_release_has_the_same_colour_with_and_without_the_original(full_report, report_on):
    """Of the bars of a legend, the one before a name is what the name looks like."""

    def looks(svg):
        found = re.findall(
            r"<rect[^>]*fill=\"(#\w+)\"[^>]*/>(?:(?!<rect).)*?<text[^>]*>(.*?)<", svg
        )
        return {
            name: fill for fill, name in found if name in ("original", "release", "worst class")
        }

    bare = looks(drawing_of(report_on("release"), "shift"))
    both = looks(drawing_of(full_report("release"), "shift"))
    assert {*bare} == {"release", "worst class"}
    assert bare.items() <= both.items()
    assert len({*both.values()}) == 3


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", KINDS)
def test_levels_of_probability_are_words_and_only_the_answer_has_colours(report_on, kind):
    for section in report_on(kind).document.sections:
        if section.id in ("verdict", "attacks"):
            continue
        cells = [
            c for p in section.parts if isinstance(p, ContentTable) for row in p.rows for c in row
        ]
        badges = {str(cell) for cell in cells if isinstance(cell, Badge)}
        assert not badges & {"low", "moderate", "high", "very high"}


@pytest.mark.usefixtures("patience")
def test_a_local_release_says_in_how_many_rows_a_column_is_hidden(house):
    release = sf.anonymize(house.people, house.policy, method="bottom-up")
    report = sf.report(release)
    [levels] = [s for s in report.document.sections if s.id == "levels"]
    told = {row[0]: row[1] for row in levels.parts[0].rows}
    record = next(c for c in release.manifest.columns if c.name == "postcode")
    if record.levels and record.levels[-1]:
        assert f"hidden in {percent(record.levels[-1] / sum(record.levels))}" in told["postcode"]
    assert all("level" not in text for text in told.values())


@pytest.mark.usefixtures("patience")
def test_how_far_a_search_may_be_from_the_best_is_said_to_the_publisher_only(house):
    text = POLICY + "search: {search: best-first, checks: 2}\n"
    release = sf.anonymize(house.people, sf.Policy.from_yaml(text))
    assert not release.optimal
    told = {
        public: [
            item
            for s in sf.report(release, public=public).document.sections
            if s.id == "levels"
            for p in s.parts
            if isinstance(p, Figures)
            for item in p.items
        ]
        for public in (False, True)
    }
    private = {name: value for name, value, _ in told[False]}
    assert private["loss"] == release.loss
    assert private["bound"] == release.bound
    assert "bound" not in {name for name, *_ in told[True]}


def test_advice_on_the_first_page_is_words_and_no_policy():
    from sfumato.attacks import ATTACKS
    from sfumato.reports.sections.verdict import _SETTINGS

    for kind in ATTACKS.values():
        advice = getattr(kind, "advice", "").replace("{{", "{").replace("}}", "}")
        left = _SETTINGS.sub("", advice)
        assert "{model:" not in left
        assert "models:" not in left
        assert ":." not in left
