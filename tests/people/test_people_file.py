"""The people file: who has which published rows, and promises recounted from it alone."""

import datetime as dt
import json
import os
import re
import stat
from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.errors import (
    InfeasibleError,
    InputError,
    OutputError,
    ParameterError,
    VerificationError,
)
from sfumato.releases.manifest import Promise
from sfumato.releases.opening import PublishedTable, open_release
from sfumato.reports.verdicts import format_assessment
from sfumato.verifier import Promises, verify_file, verify_folder
from tests.people.test_counting import MODELS, NAMES, ROWS, checks_of, policy_of
from tests.people.textbook import classes_of, people_in, settle

pytestmark = pytest.mark.usefixtures("warm")

PANEL = [
    (who, letter, digit, ill)
    for who, letter, ills in [
        (0, "a", ["flu", "flu", "gout"]),
        (1, "a", ["gout"]),
        (2, "b", ["hiv", "flu"]),
        (3, "b", ["gout", "gout"]),
        (4, "c", ["flu", "hiv"]),
        (5, "c", ["gout", "flu", "hiv"]),
    ]
    for digit, ill in zip("010", ills, strict=False)
]
"""Six people in thirteen rows."""

KEPT = [sf.models.KAnonymity(2), sf.models.DistinctLDiversity("ill", l=2)]


def table_of(rows):
    return pa.table(dict(zip(NAMES, zip(*rows, strict=True), strict=True)))


@pytest.fixture(params=["people.parquet", "people.csv"])
def written(tmp_path, request):
    """Return a release of the panel, and its people file."""
    people = tmp_path / "private" / request.param
    release = sf.anonymize(
        table_of(PANEL),
        policy_of(KEPT, limit=0),
        output=tmp_path / "release",
        people_file=people,
        format="csv" if request.param.endswith("csv") else "parquet",
    )
    return release, people


def read(path):
    return pq.read_table(path) if path.suffix == ".parquet" else pa_csv.read_csv(path)


def write(table, path):
    path.unlink()
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        pa_csv.write_csv(table, path)


def unbind(release):
    """Take the hash of the people file out of the manifest of a folder, with all that vouches."""
    (release.folder / "evidence.json").unlink()
    path = release.folder / "manifest.json"
    text = path.read_text()
    start = text.index('"sha256"', text.index('"person"'))
    end = text.index("}", start)
    path.write_text(text[:start].rstrip().rstrip(",") + text[end:])


def verify(release, people=None):
    return sf.verify(release.folder, attacks=False, people_file=people)


def test_it_has_the_published_rows_of_each_person_by_a_drawn_number(written):
    release, people = written
    table = read(people)
    assert table.column_names == ["letter", "digit", "ill", "person", "rows"]
    node = (release.levels["letter"], release.levels["digit"])
    found = sorted(
        tuple(sorted((str(a), str(b), str(c), n) for a, b, c, p, n in lines if p == person))
        for lines in [list(zip(*(column.to_pylist() for column in table.columns), strict=True))]
        for person in {line[3] for line in lines}
    )
    expected = []
    for who in {row[0] for row in PANEL}:
        mine = [row for row in PANEL if row[0] == who]
        cells = [(*label, row[3]) for label, rows in classes_of(mine, node).items() for row in rows]
        expected.append(tuple(sorted((*cell, cells.count(cell)) for cell in set(cells))))
    assert found == sorted(expected)
    # A number says nothing of the order of people.
    assert min(table["person"].to_pylist()) > 10**6


@pytest.mark.skipif(os.name != "posix", reason="files have no owners")
def test_only_its_owner_may_read_it(written):
    _, people = written
    assert stat.S_IMODE(people.stat().st_mode) == 0o600
    assert list(people.parent.iterdir()) == [people]


def test_a_release_holds_with_it_and_is_not_recounted_without(written):
    release, people = written
    with_file = verify(release, people)
    assert with_file.verdict.holds
    assert with_file["people"].status == "holds"
    assert with_file["k-anonymity"].found == release.manifest.models[0].measured
    without = verify(release)
    assert not without.verdict.holds
    assert without.answer == "with care"
    assert {check.status for check in without.checks} == {"holds", "not recounted"}
    assert without.verdict.headline.startswith("Not recounted: 3 of ")
    [why] = [each for each in without.why if "people file" in each]
    assert "k-anonymity and distinct-l-diversity" in why


def test_what_only_the_publisher_can_recount_fails_no_pipeline(written):
    release, _ = written
    without = verify(release)
    assert "<skipped" in format_assessment(without, "junit")
    assert "<error" not in format_assessment(without, "junit")
    assert '"level": "error"' not in format_assessment(without, "sarif")
    public = sf.report(release, public=True).to_markdown()
    assert "With care." in public


def test_readers_are_told_what_is_counted(written):
    release, _ = written
    text = (release.folder / "README.md").read_text()
    assert "Every class has at least `k` people." in text
    assert "How many people have" not in text
    assert "How many rows have" in text


def test_nothing_of_it_is_in_the_release(written):
    release, people = written
    numbers = {str(number) for number in read(people)["person"].to_pylist()}
    for path in release.folder.iterdir():
        content = path.read_bytes().decode("utf-8", errors="replace")
        assert not any(number in content for number in numbers)
        assert not re.search(r"\bwho\b", content) or path.name == "manifest.json"
    assert "who" not in release.manifest.to_json()


def test_a_release_that_was_just_made_knows_its_people(written):
    release, people = written
    assert sf.verify(release, attacks=False).verdict.holds
    assert release.people.num_rows == read(people).num_rows
    memory = sf.anonymize(table_of(PANEL), policy_of(KEPT, limit=0))
    assert sf.verify(memory, attacks=False).verdict.holds
    assert "sha256" not in memory.manifest.person


def test_a_changed_file_is_refused_by_its_hash(written):
    release, people = written
    table = read(people)
    write(table.slice(0, table.num_rows - 1), people)
    with pytest.raises(InputError, match="hash is another"):
        verify(release, people)


def lines_of(people):
    table = read(people)
    return table, [list(line) for line in zip(*table.to_pydict().values(), strict=True)]


def forge(people, table, lines):
    write(pa.table(dict(zip(table.column_names, zip(*lines, strict=True), strict=True))), people)


def test_a_line_less_is_refused(written):
    release, people = written
    unbind(release)
    table, lines = lines_of(people)
    forge(people, table, lines[1:])
    with pytest.raises(InputError, match="rows are not those that are public"):
        verify(release, people)


def test_rows_more_or_fewer_are_refused(written):
    release, people = written
    unbind(release)
    table, lines = lines_of(people)
    lines[0][-1] += 1
    forge(people, table, lines)
    with pytest.raises(InputError, match="rows are not those that are public"):
        verify(release, people)


@pytest.mark.parametrize("rows", [0, -1, None, 1.5])
def test_a_number_of_rows_that_is_none_is_refused(written, rows):
    release, people = written
    unbind(release)
    table, lines = lines_of(people)
    lines[0][-1] = rows
    forge(people, table, lines)
    with pytest.raises(InputError, match="whole number"):
        verify(release, people)


def test_a_person_more_is_refused(written):
    release, people = written
    unbind(release)
    table, lines = lines_of(people)
    forge(people, table, [*lines, [*lines[0][:-2], 5, 1]])
    with pytest.raises(InputError, match="rows are not those that are public"):
        verify(release, people)


def test_values_that_no_row_has_are_refused(written):
    release, people = written
    unbind(release)
    table, lines = lines_of(people)
    lines[0][2] = "plague"
    forge(people, table, lines)
    with pytest.raises(InputError, match="'plague' in 'ill', which is not published"):
        verify(release, people)


def test_swapped_values_are_refused(written):
    release, people = written
    unbind(release)
    table, lines = lines_of(people)
    one = next(line for line in lines if line[2] == "flu")
    other = next(line for line in lines if line[2] == "gout")
    one[2] = "gout"
    if one[:2] == other[:2]:
        other[2] = "hiv"
    forge(people, table, lines)
    with pytest.raises(InputError, match="rows are not those that are public"):
        verify(release, people)


def test_one_person_for_two_breaks_the_promise(written):
    """Rows that add up, of fewer people: the file is the release's word, and it breaks it."""
    release, people = written
    unbind(release)
    table, lines = lines_of(people)
    for line in lines:
        line[3] = 7
    forge(people, table, lines)
    found = verify(release, people)
    assert found["people"].status == "holds"
    assert found["k-anonymity"].status == "broken"
    assert found["k-anonymity"].found == {"k": 1}
    assert found["distinct-l-diversity"].found == {"l": 1}


def test_the_file_of_another_release_is_refused(written, tmp_path):
    release, people = written
    other = tmp_path / f"other{people.suffix}"
    sf.anonymize(
        table_of(PANEL), policy_of(KEPT, limit=0), output=tmp_path / "o", people_file=other
    )
    with pytest.raises(InputError, match="not the people file that this release was made with"):
        verify(release, other)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"a,b\n1,2\n", b"\0\1\2"])
def test_what_is_no_people_file_is_refused(written, content):
    release, people = written
    unbind(release)
    people.write_bytes(content)
    with pytest.raises(InputError, match="people file cannot be used"):
        verify(release, people)


def test_columns_that_were_renamed_are_refused(written):
    release, people = written
    unbind(release)
    write(read(people).rename_columns(["letter", "digit", "sick", "person", "rows"]), people)
    with pytest.raises(InputError, match="it lacks 'ill' and it also has 'sick'"):
        verify(release, people)


def test_a_changed_release_is_broken_and_not_its_people_file(written):
    release, people = written
    data = release.folder / release.manifest.files[0].name
    table = read(data).slice(1)
    write(table, data)
    found = verify(release, people)
    assert found["sha256"].status == "broken"
    assert found["people"].status == "broken"
    assert not found.holds


def test_too_few_rows_are_broken_without_the_file(written):
    release, _ = written
    path = release.folder / "manifest.json"
    path.write_text(path.read_text().replace('"k": 2', '"k": 200', 1))
    found = verify(release)
    assert found["k-anonymity"].status == "broken"


def test_a_release_of_rows_takes_no_people_file(tmp_path):
    release = sf.anonymize(
        table_of(PANEL),
        policy_of(KEPT, limit=0).replace(person={"rows": "a test"}),
        output=tmp_path / "r",
    )
    assert release.people is None
    with pytest.raises(ParameterError, match="people_file must be left out"):
        verify(release, tmp_path / "people.csv")


def test_a_damaged_manifest_is_broken_whatever_the_people_file(written):
    release, people = written
    (release.folder / "manifest.json").write_text('{"format": 1}')
    verdict = open_release(release.folder, people_file=people).recompute()
    assert [check.name for check in verdict.checks if check.status == "broken"] == ["manifest"]


@pytest.mark.parametrize("person", [[], {"counted": "cats"}, {"counted": 3}, "people"])
def test_a_manifest_that_counts_otherwise_is_damaged(written, person):
    release, people = written
    path = release.folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "person": person}))
    verdict = verify_folder(release.folder, people=people)
    assert verdict["manifest"].status == "broken"


def test_a_manifest_that_hides_that_people_are_counted_is_held_to_rows(written):
    """Who takes the word out claims figures that no row shows."""
    release, people = written
    path = release.folder / "manifest.json"
    plain = json.loads(path.read_text())
    del plain["person"]
    path.write_text(json.dumps(plain))
    verdict = verify_folder(release.folder)
    assert verdict["figures"].status == "unchecked"
    assert not verdict.holds
    with pytest.raises(ParameterError, match="people_file must be left out"):
        verify(release, people)


def test_it_is_refused_where_rows_are_counted(tmp_path):
    policy = policy_of(KEPT, limit=0).replace(person={"rows": "a test"})
    with pytest.raises(ParameterError, match="says what a person is"):
        sf.anonymize(table_of(PANEL), policy, people_file=tmp_path / "people.csv")


def test_there_is_none_where_every_person_has_one_row(tmp_path):
    rows = [(who, "a", "0", ["flu", "hiv"][who % 2]) for who in range(6)]
    path = tmp_path / "people.csv"
    release = sf.anonymize(table_of(rows), policy_of(KEPT, limit=0), people_file=path)
    assert release.people is None
    assert not path.exists()
    assert any("rows are people" in each for each in release.warnings)


def test_it_may_not_lie_in_a_release(written, tmp_path):
    release, _ = written
    for folder in (release.folder, tmp_path / "new"):
        with pytest.raises(OutputError, match="is private"):
            sf.anonymize(
                table_of(PANEL),
                policy_of(KEPT, limit=0),
                output=tmp_path / "new",
                people_file=folder / "people.csv",
            )
    assert not (tmp_path / "new").exists()


def test_another_file_is_never_replaced(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("who,rows\n1,2\n")
    for force in (False, True):
        with pytest.raises(OutputError, match="exists"):
            sf.anonymize(table_of(PANEL), policy_of(KEPT, limit=0), people_file=path, force=force)
    assert path.read_text() == "who,rows\n1,2\n"


def test_an_old_people_file_is_replaced_if_asked(tmp_path):
    path = tmp_path / "people.csv"
    for _ in range(2):
        release = sf.anonymize(
            table_of(PANEL),
            policy_of(KEPT, limit=0),
            output=tmp_path / "r",
            people_file=path,
            force=True,
        )
    assert verify(release, path).verdict.holds


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"parquet or \.csv"):
        sf.anonymize(
            table_of(PANEL), policy_of(KEPT, limit=0), people_file=tmp_path / "people.xlsx"
        )


def test_a_release_that_fails_leaves_no_people_file(tmp_path):
    path = tmp_path / "people.csv"
    with pytest.raises(InfeasibleError):
        sf.anonymize(
            table_of(PANEL), policy_of([sf.models.KAnonymity(99)], limit=0), people_file=path
        )
    assert not any(tmp_path.iterdir())


def test_columns_that_are_called_like_its_own(tmp_path):
    names = dict(zip(NAMES, ["id", "person", "rows", "ill"], strict=True))
    table = table_of(PANEL).rename_columns(list(names.values()))
    policy = sf.Policy(
        columns={
            "id": "identifier",
            "person": "quasi-identifier",
            "rows": "quasi-identifier",
            "ill": "sensitive",
        },
        models=KEPT,
        person="id",
    )
    path = tmp_path / "people.csv"
    release = sf.anonymize(table, policy, output=tmp_path / "r", people_file=path)
    assert read(path).column_names == ["person", "rows", "ill", "person_", "rows_"]
    assert verify(release, path).verdict.holds
    assert open_release(release).person == "person_"


def test_attacks_get_the_people_of_each_class(written):
    release, people = written
    opened = open_release(release.folder, people_file=people)
    assert isinstance(opened, PublishedTable)
    assert opened.people.names == ("letter", "digit", "ill", opened.person)
    assert opened.people.total == release.manifest.rows.published
    assert len(opened.people.column(opened.person).values) == people_in(PANEL)
    [public] = opened.counts(opened.columns).tables
    projected = opened.people.project(opened.columns)
    assert projected.rows.tolist() == public.rows.tolist()
    assert open_release(release.folder).people is None


@pytest.mark.usefixtures("patience")
@given(
    rows=ROWS,
    models=st.sampled_from(MODELS),
    unit=st.sampled_from(["rows", "people"]),
    stars=st.booleans(),
)
def test_what_the_verifier_counts_is_what_loops_count(rows, models, unit, stars):
    policy = policy_of(models, limit="60%", unit=unit)
    if stars and unit == "rows":
        policy = policy.replace(
            suppression={"limit": "60%", "unit": unit, "rows": "star"},
        )
    try:
        release = sf.anonymize(table_of(rows), policy)
    except VerificationError:
        raise
    except sf.SfumatoError:
        return
    if release.people is None:
        return
    node = (release.levels["letter"], release.levels["digit"])
    left = settle(rows, node, checks_of(models), whole=unit == "people")
    classes = list(classes_of(left, node).values())
    found = sf.verify(release, attacks=False)
    assert found.verdict.holds
    assert release.manifest.classes.fewest_people == min(map(people_in, classes), default=None)
    for check, model in zip(
        [c for c in found.checks if c.name == "k-anonymity"], models, strict=False
    ):
        if model.name == "k-anonymity" and classes:
            assert check.found == {"k": min(map(people_in, classes))}


def test_a_release_of_which_nothing_is_left(tmp_path):
    path = tmp_path / "people.csv"
    release = sf.anonymize(
        table_of(PANEL),
        policy_of([sf.models.KAnonymity(99)], limit="100%"),
        output=tmp_path / "r",
        people_file=path,
    )
    assert release.manifest.rows.published == 0
    assert verify(release, path).verdict.holds


VALUES = {
    "whole": [3, 10, 2],
    "numbers": [0.5, 2.0, 1e20],
    "truth": [True, False, None],
    "days": [dt.date(2020, 1, 31), dt.date(2021, 2, 1), None],
    "times": [dt.datetime(2020, 1, 31), dt.datetime(2020, 1, 31, 12, 30, 0, 500), None],
    "exact numbers": [Decimal("1.50"), Decimal("2.00"), Decimal("0.00")],
    "bytes": [b"A", b"a", None],
    "texts": ['a "quoted", text', "two\nlines", " flu "],
    "spellings": ["HIV", "hiv ", "1.0"],
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("name", "form"),
    [
        (name, form)
        for name in VALUES
        for form in ("csv", "parquet", "feather")
        # A cell of CSV holds no bytes.
        if (name, form) != ("bytes", "csv")
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_values_of_any_type_are_recognised(tmp_path, name, form, ending):
    values = VALUES[name]
    rows = [(who, letter, "0", at) for who, letter in enumerate("aabbaabb") for at in (who % 3, 0)]
    table = table_of(rows)
    ill = pa.array(values).take(table["ill"].combine_chunks())
    table = table.set_column(3, "ill", ill)
    policy = policy_of([sf.models.KAnonymity(2)], limit=0)
    path = tmp_path / f"people.{ending}"
    release = sf.anonymize(table, policy, output=tmp_path / "r", people_file=path, format=form)
    assert verify(release, path).verdict.holds
    opened = open_release(release.folder, people_file=path)
    [public] = opened.counts(opened.columns).tables
    assert opened.people.project(opened.columns).rows.tolist() == public.rows.tolist()


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("place", ["folder", "table:out"])
def test_people_of_a_table_in_duckdb(tmp_path, place):
    duckdb = pytest.importorskip("duckdb")
    address = f"duckdb:///{tmp_path}/clinic.db?table=panel"
    panel = table_of(PANEL)
    with duckdb.connect(str(tmp_path / "clinic.db")) as connection:
        connection.register("given", panel)
        connection.execute("CREATE TABLE panel AS SELECT * FROM given")
    path = tmp_path / "people.parquet"
    output = tmp_path / "r" if place == "folder" else place
    release = sf.anonymize(address, policy_of(KEPT, limit=0), output=output, people_file=path)
    what = release.folder or f"duckdb:///{tmp_path}/clinic.db?table=out"
    found = sf.verify(what, attacks=False, people_file=path)
    assert found.verdict.holds
    assert found["distinct-l-diversity"].status == "holds"
    assert sf.verify(what, attacks=False)["people"].status == "not recounted"
    lines = [list(line) for line in zip(*read(path).to_pydict().values(), strict=True)]
    here = sf.anonymize(panel, policy_of(KEPT, limit=0))
    assert sorted(Counter(line[3] for line in lines).values()) == sorted(
        Counter(here.people["person"].to_pylist()).values()
    )


PEOPLE = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.sampled_from("ab"),
        st.just("0"),
        st.sampled_from(["flu", "Flu ", "gout", "hiv", None]),
    ),
    min_size=1,
    max_size=14,
)


@given(rows=PEOPLE, models=st.sampled_from(MODELS))
def test_the_verifier_judges_as_the_textbook_does(rows, models):
    """Models with their own figures, of rows that no one made safe, spelt in several ways."""
    named = [(m, dict(zip(NAMES, m, strict=True))) for m in rows]
    lines = Counter(rows)
    people = pa.table(
        {
            **{
                name: pa.array([row[at] for row in lines], pa.string())
                for at, name in enumerate(NAMES)
                if name != "who"
            },
            "person": [row[0] for row in lines],
            "rows": list(lines.values()),
        }
    )
    public = pa.table({n: pa.array([row[n] for _, row in named], pa.string()) for n in NAMES[1:]})
    promises = Promises(
        ["letter", "digit"],
        ["ill"],
        [Promise.of(model).to_dict() for model in models],
        counts_people=True,
        people=people,
    )
    found = {check.name: check.status for check in verify_file(public, promises).checks}
    folded = [(a, b, c, "flu" if d == "Flu " else d) for a, b, c, d in rows]
    classes = list(classes_of(folded, (0, 0)).values())
    assert found["people"] == "holds"
    for name, check in checks_of(models):
        holds = all(check(each, classes) for each in classes)
        assert found[name] == ("holds" if holds else "broken")


@pytest.mark.parametrize("other", [(0, "flu"), (7, "hiv"), (7, None)])
def test_whose_a_suppressed_row_is_shows_nowhere(other):
    """What is public depends on published rows and on who has them, and on no others."""
    shown = [(who, "ab"[who % 2], "0", ill) for who in range(6) for ill in ("flu", "gout")]
    releases = [
        sf.anonymize(
            table_of([*shown, (who, "c", "0", ill)]),
            policy_of([sf.models.KAnonymity(2)], limit=1),
            seed=3,
        )
        for who, ill in [(9, "flu"), other]
    ]
    assert [release.suppressed for release in releases] == [1, 1]
    one, two = (release.manifest.to_dict() for release in releases)
    assert one == two
    assert releases[0].verdict.to_dict() == releases[1].verdict.to_dict()


def test_a_release_that_counts_people_is_not_decoupled(written):
    release, _ = written
    with pytest.raises(InputError, match="takes each row for a person"):
        sf.decouple(release.folder)


@pytest.mark.usefixtures("patience")
def test_a_report_recounts_with_it_and_a_public_one_never(written):
    release, people = written
    told = sf.report(release.folder, people_file=people)
    assert "people file" in told.document.scope
    assert "not recounted" not in told.to_markdown()
    assert "not recounted" in sf.report(release.folder).to_markdown()
    for what in (release, release.folder, sf.anonymize(table_of(PANEL), policy_of(KEPT, limit=0))):
        assert "not recounted" in sf.report(what, public=True).to_markdown()
    with pytest.raises(ParameterError, match="left out with public"):
        sf.report(release.folder, people_file=people, public=True)


def test_a_release_is_signed_with_it_only(written):
    release, people = written
    key = sf.evidence.SigningKey.generate()
    with pytest.raises(VerificationError, match="people_file"):
        sf.sign(release.folder, key)
    assert sf.sign(release.folder, key, people_file=people).holds
    # What the same key vouched for need not be recounted.
    assert sf.sign(release.folder, key).holds


@pytest.mark.usefixtures("patience")
def test_the_command_line_writes_it_and_asks_for_it(tmp_path):
    pa_csv.write_csv(table_of(PANEL), tmp_path / "panel.csv")
    (tmp_path / "policy.yaml").write_text(policy_of(KEPT, limit=0).to_yaml())
    here = ["-p", str(tmp_path / "policy.yaml"), "-o", str(tmp_path / "r")]
    panel, people = str(tmp_path / "panel.csv"), str(tmp_path / "people.csv")
    run = CliRunner().invoke
    made = run(app, ["anonymize", panel, *here, "--people-file", people])
    assert made.exit_code == 0, made.output
    verify = ["verify", str(tmp_path / "r"), "--only-promises"]
    assert run(app, [*verify, "--people-file", people]).exit_code == 0
    without = run(app, verify)
    assert without.exit_code == 0
    assert "With care" in without.output
    assert "not recounted" in without.output.lower()
    (tmp_path / "people.csv").write_text("person,rows\n1,1\n")
    assert run(app, [*verify, "--people-file", people]).exit_code == 2


def test_a_release_that_is_not_there_is_told_before_its_people_file(tmp_path):
    people = tmp_path / "people.parquet"
    people.write_bytes(b"")
    with pytest.raises(InputError, match="there is no file"):
        sf.verify(tmp_path / "nowhere", people_file=people)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", ["csv", "parquet", "feather", "sav", "dta", "xlsx"])
@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive"])
def test_truth_values_are_recounted_in_every_format(form, role, tmp_path):
    """SPSS and Stata have numbers for them, and the people file has not."""
    rows = {"smokes": [True] * 4 + [False] * 4, "age": [30] * 8, "who": [1, 2, 2, 3, 4, 5, 5, 6]}
    policy = sf.Policy(
        columns={"smokes": role, "age": "quasi-identifier", "who": "identifier"},
        models=[sf.models.KAnonymity(3)],
        person="who",
    )
    people = tmp_path / "people.csv"
    folder = tmp_path / "release"
    sf.anonymize(pa.table(rows), policy, output=folder, format=form, people_file=people)
    checks = {check.name: check for check in verify_folder(folder, people=people).checks}
    assert checks["k-anonymity"].status == "holds"
    found = open_release(folder, people_file=people)
    assert {*found._people.counts.column("smokes").values} == {
        *found.counts(["smokes"]).tables[0].column("smokes").values
    }
