"""What a report says is true: every figure is found again in another way."""

import csv
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.releases.manifest import ColumnRecord
from sfumato.reports.dossier import open_dossier
from sfumato.reports.sections import CHAPTERS
from sfumato.reports.sections.breaches import before_breaking
from sfumato.reports.sections.levels import steps_from
from sfumato.reports.sections.people import bins
from sfumato.reports.sections.shift import Ranges, worst_class
from sfumato.showing.content import Section
from tests.builders import classes_of
from tests.reports.conftest import figure, part_of

pytestmark = pytest.mark.usefixtures("patience")

QI = ("age", "sex", "postcode")


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def classes_in(rows):
    return Counter(tuple(row[name] for name in QI) for row in rows)


@pytest.fixture(scope="module")
def full(full_report):
    return full_report("release")


@pytest.fixture(scope="module")
def published(house):
    return rows_of(house.release / "data.csv")


def test_the_verdict_comes_first_and_is_that_of_verify(house, full):
    assert full.document.sections[0].id == "verdict"
    assert full.answer == sf.verify(house.release, house.policy, data=house.people).answer


@pytest.mark.parametrize(
    ("name", "there", "absent"),
    [
        ("release", {"dependencies", "correlations", "levels"}, {"breaches", "headroom"}),
        ("broken", {"dependencies", "breaches", "levels"}, {"correlations", "headroom"}),
        ("anatomy", {"shift"}, {"dependencies", "breaches", "levels"}),
        ("buckets", {"shift"}, {"dependencies", "breaches", "levels"}),
        ("hidden", {"dependencies", "correlations", "levels"}, {"breaches", "headroom"}),
        ("slices", {"shift"}, {"dependencies", "breaches", "levels"}),
    ],
)
def test_every_kind_of_release_has_its_sections_and_says_what_is_left_out(
    bare_report, name, there, absent
):
    report = bare_report(name)
    ids = [section.id for section in report.document.sections]
    assert {"verdict", "people", "attacks", "promises"} | there <= set(ids)
    assert not set(ids) & (absent | {"utility"})
    titles = {chapter.title for chapter in CHAPTERS if chapter.id not in ids}
    assert {title for title, _ in report.document.left_out} == titles
    assert all(why and "\n" not in why for _, why in report.document.left_out)


@pytest.mark.parametrize("name", ["release", "broken", "anatomy", "buckets", "hidden", "slices"])
def test_with_the_original_every_kind_says_what_it_is_good_for(full_report, name):
    report = full_report(name)
    ids = [section.id for section in report.document.sections]
    assert {"utility", "correlations", "shift"} <= set(ids)
    assert "Not for publication" in report.document.scope


def test_releases_in_memory_have_reports_too(house):
    release = sf.anonymize(house.people, house.policy, seed=1)
    decoupled = sf.decouple(release)
    for each in (release, decoupled):
        assert "people" in [section.id for section in sf.report(each).document.sections]


def test_class_sizes_are_those_of_the_rows(full, published):
    sizes = sorted(classes_in(published).values())
    assert figure(full, "people", "People and classes", "people") == len(published)
    assert figure(full, "people", "People and classes", "classes") == len(sizes)
    assert figure(full, "people", "People and classes", "smallest class (k)") == sizes[0]
    assert figure(full, "people", "People and classes", "median class") == np.median(sizes)
    assert figure(full, "people", "People and classes", "mean class") == np.mean(sizes)
    of_person = sorted(size for size in sizes for _ in range(size))
    middle = of_person[(len(of_person) - 1) // 2]
    assert figure(full, "people", "People and classes", "class of the median person") == middle


def test_people_are_at_the_level_of_one_in_their_class(full, published):
    expected = Counter()
    for size in classes_in(published).values():
        risk = 1 / size
        name = "low" if risk < 0.2 else "moderate" if risk < 0.5 else "high"
        expected["very high" if risk >= 0.75 else name] += size
    table = part_of(full, "people", "How surely the right row is picked")
    assert {row[0]: row[2] for row in table.rows if row[2]} == dict(expected)


@given(st.lists(st.integers(1, 300_000), min_size=1, max_size=30))
def test_everybody_is_in_one_bin_of_the_histogram(sizes):
    labels, people = bins(np.array(sizes), np.array(sizes))
    assert sum(people) == sum(sizes)
    for label, number in zip(labels, people, strict=True):
        low, _, high = label.replace(" or more", "-1000000").partition("-")
        inside = [size for size in sizes if int(low) <= size <= int(high or low)]
        assert number == sum(inside)


ROWS = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("xyz")), min_size=1, max_size=30)


@given(ROWS)
def test_the_worst_class_differs_most_from_all(rows):
    counts = classes_of(rows, column="ill").counts_of("ill")
    whole = Counter(value for _, value in rows)
    order = sorted(whole)
    shares = np.array([whole[value] / len(rows) for value in order])
    names = sorted({name for name, _ in rows})

    def distance(name):
        mine = Counter(value for who, value in rows if who == name)
        n = sum(mine.values())
        return sum(abs(mine[v] / n - whole[v] / len(rows)) for v in order) / 2

    found = worst_class(counts, counts.value, shares)
    assert distance(names[found]) == pytest.approx(max(map(distance, names)))


@given(st.sets(st.integers(-1000, 1000), min_size=1, max_size=60))
def test_every_number_is_in_the_range_that_its_label_says(numbers):
    values = tuple(sorted(numbers))
    ranges = Ranges.of(values, np.ones(len(values), dtype=np.int64))
    assert len(ranges.labels) <= 12
    for code, value in enumerate(values):
        place = ranges.place(str(value))
        assert place == ranges.of_code[code]
        low, _, high = ranges.labels[place].partition(" to ")
        assert int(low) <= value <= int(high or low)


def test_texts_and_few_numbers_stay_what_they_are():
    ranges = Ranges.of(("flu", "gout"), np.array([3, 1]))
    assert ranges.labels == ("flu", "gout")
    assert [ranges.place(value) for value in ("gout", None, "hiv")] == [1, 2, 3]
    many = Ranges.of(tuple("abcdefghijklmnop"), np.ones(16, dtype=np.int64))
    assert len(many.labels) == 16


def test_the_shift_of_a_column_is_that_of_its_rows(house, full, published):
    table = part_of(full, "shift", "How far the shares of sensitive values are from each other")
    [row] = [row for row in table.rows if row[0] == "insurance"]
    before = Counter(row["insurance"] for row in rows_of(house.people))
    after = Counter(row["insurance"] for row in published)
    shift = sum(abs(before[v] / before.total() - after[v] / after.total()) for v in before | after)
    assert float(row[2]) == pytest.approx(shift / 2)
    by_class = defaultdict(Counter)
    for each in published:
        by_class[tuple(each[name] for name in QI)][each["insurance"]] += 1

    def apart(mine):
        return sum(abs(mine[v] / mine.total() - after[v] / after.total()) for v in after) / 2

    assert float(row[3]) == pytest.approx(max(map(apart, by_class.values())))


def test_a_step_down_costs_the_rows_of_the_classes_that_become_too_small(house):
    """The rows are recoded and counted by hand at every neighbour."""
    policy = sf.Policy.load(house.policy)
    release = sf.anonymize(house.people, policy)
    steps = steps_from(house.people, policy, release.manifest.columns)
    assert {step.column for step in steps} >= {"age", "postcode"}
    people = rows_of(house.people)
    ladders = {
        name: (policy.columns[name].hierarchy or sf.hierarchy.Suppress()).ladder(
            name, tuple(sorted({row[name] for row in people})), None
        )
        if name != "age"
        else policy.columns[name].hierarchy.ladder(
            name, tuple(sorted({row[name] for row in people}, key=int)), None
        )
        for name in QI
    }

    def label(name, level, value):
        ladder = ladders[name]
        return ladder.labels[level][ladder.codes[level][ladder.values.index(value)]]

    for step in steps:
        node = {**release.levels, step.column: step.level}
        groups = defaultdict(list)
        for row in people:
            key = tuple(label(name, node[name], row[name]) for name in QI)
            groups[key].append(row["diagnosis"])
        gone = sum(
            len(ills) for ills in groups.values() if len(ills) < 4 or len(set(ills) - {""}) < 2
        )
        assert step.then.suppressed == gone
        assert step.rows == gone - release.suppressed
        assert step.less == (step.level < release.levels[step.column])


def test_a_step_is_said_as_people_say_it(full):
    [section] = [s for s in full.document.sections if s.id == "levels"]
    told = [item for part in section.parts for item in getattr(part, "items", ()) if part]
    assert any(str(item).startswith("One level less on ") for item in told)


def test_minimal_nodes_are_for_the_publisher_whose_search_finds_them(house, full, tmp_path):
    def minimal(report):
        [section] = [s for s in report.document.sections if s.id == "levels"]
        return [p for p in section.parts if getattr(p, "caption", "") == "Minimal nodes"]

    assert not minimal(full)
    policy = sf.Policy.load(house.policy).replace(search="incognito")
    release = sf.anonymize(house.people, policy, output=tmp_path / "release")
    [table] = minimal(sf.report(release, data=house.people, policy=policy))
    listed = [row[0] for row in table.rows if "minimal" in row[-1]]
    order = [tuple(node[name] for name in policy.quasi_identifiers) for node in release.minimal]
    assert sorted(listed) == sorted(", ".join(map(str, node)) for node in order)
    assert not minimal(sf.report(release, public=True))
    assert "Minimal nodes" not in sf.report(release, public=True).to_json()
    assert not minimal(sf.report(release))


def test_levels_of_another_hierarchy_are_not_compared(house):
    policy = sf.Policy.load(house.policy)
    other = [ColumnRecord(name, "quasi-identifier", level=1, height=9) for name in QI]
    assert steps_from(house.people, policy, other) is None


def test_the_table_before_breaking_is_that_of_the_release(house):
    """Recoding the original by the policy gives the rows the broken tables were made of."""
    what = open_dossier(house.broken, data=house.people, policy=house.policy)
    found = before_breaking(what, what.target.grouped)
    exposure = sf.breach(house.broken, original=house.release)
    from sfumato.leaks.exposure import compare

    ours = compare(found, what.target.grouped, levels=what.levels)
    assert ours.to_dict() == exposure.comparison.to_dict()


def test_without_the_policy_nothing_is_said_about_before(house):
    report = sf.report(house.broken, data=house.people)
    [section] = [s for s in report.document.sections if s.id == "breaches"]
    captions = [getattr(part, "caption", "") for part in section.parts]
    assert "The own values of people, before decoupling and after" not in captions


def test_the_wrong_original_is_no_reason_to_fail(house, tmp_path):
    import pyarrow.csv

    other = tmp_path / "other.csv"
    pyarrow.csv.write_csv(sf.samples.synthetic(300, seed=99), other)
    report = sf.report(house.broken, data=other, policy=house.policy)
    assert report.document.sections[0].id == "verdict"


def test_utility_is_that_of_the_task(house, full):
    found = sf.utility(house.people, house.release, policy=house.policy)
    median = figure(full, "utility", "How far answers are off", "median error")
    assert float(median) == found.queries.median


def test_rules_are_those_of_detect(house, full):
    findings = sf.detect(house.release)
    assert figure(full, "dependencies", "Rules", "rules that reveal") == len(findings.leaks)
    assert figure(full, "dependencies", "Rules", "people told") == findings.exposed


def test_attacks_are_those_of_verify(house, full):
    found = sf.verify(house.release, house.policy, data=house.people)
    tried = [each for each in found.attacks if each.tried]
    table = part_of(full, "attacks", "Attacks")
    assert [(row[0], row[1], row[5]) for row in table.rows] == [
        (each.attack, each.column, each.people) for each in tried
    ]


def test_a_ledger_tells_how_much_room_there_is(house):
    report = sf.report(house.broken, ledger=house.ledger)
    groups = figure(report, "headroom", "The ledger", "groups")
    assert groups == sf.Ledger(house.ledger).headroom().groups
    table = part_of(report, "headroom", "The combinations closest to the limit")
    first = sf.Ledger(house.ledger).headroom().rooms[0]
    assert table.rows[0][1] == first.size
    assert table.rows[0][-3:] == (first.permitted, first.of_next, f"{float(first.ratio):+.2f}")


def test_a_release_that_was_changed_has_a_report_that_says_no(house, tmp_path):
    import shutil

    folder = shutil.copytree(house.release, tmp_path / "changed")
    with (folder / "data.csv").open("a", encoding="utf-8") as file:
        file.write("1,f,1,flu,x,1\n")
    report = sf.report(folder)
    assert report.answer == "no"
    assert "broken" in report.to_markdown()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": 99}'])
def test_a_manifest_that_cannot_be_read_gives_a_report_that_says_so(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    report = sf.report(tmp_path, public=True)
    assert report.answer == "no"
    assert [section.id for section in report.document.sections] == ["verdict", "checks"]
    assert str(tmp_path) not in report.to_html()


def test_strange_values_in_a_manifest_break_nothing(house, tmp_path):
    """A stranger's manifest may hold anything where nobody checks."""
    import json
    import shutil

    folder = shutil.copytree(house.release, tmp_path / "strange")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for key in ("search", "versions", "losses", "classes", "loss", "method", "reproducible"):
        for value in (None, 5, "x", [1], {"a": [1]}, {"nodes": "x", "python": 3}):
            changed = {**manifest, key: value}
            (folder / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")
            assert isinstance(sf.report(folder).document.sections[0], Section), (key, value)


def test_what_is_no_release_is_refused(tmp_path, house):
    with pytest.raises(sf.SfumatoError, match=r"there is no manifest.json"):
        sf.report(tmp_path)
    with pytest.raises(sf.SfumatoError, match="release must be a release"):
        sf.report(5)
