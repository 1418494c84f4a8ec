"""Reports on releases that are unlike the usual one."""

import json
import shutil
from functools import partial
from importlib import import_module

import pyarrow as pa
import pyarrow.csv
import pytest

import sfumato as sf
from tests.reports.conftest import POLICY, figure, part_of, read_html

sign = partial(sf.sign, even_so=True)
"""Signs a release whatever the answer is: the tables here are small, and tell much."""


def ids(report):
    return [section.id for section in report.document.sections]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["top-down", "mondrian", "bottom-up"])
def test_local_methods_have_levels_and_no_neighbours(house, method):
    release = sf.anonymize(house.people, house.policy, method=method)
    report = sf.report(release, data=house.people, policy=house.policy)
    text = report.to_markdown()
    assert "levels" in ids(report)
    assert "One level less" not in text
    assert "Levels were not chosen for whole columns" in text


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("missing", ["own-value", "suppress", "matches-any"])
def test_every_rule_for_missing_values_is_reported_on(missing, tmp_path):
    ages = ([31, 32, 33, None] * 10)[:36] + [51] * 6
    ills = (["flu", "gout", "hiv", None, "cold"] * 9)[:42]
    pyarrow.csv.write_csv(pa.table({"age": ages, "ill": ills}), tmp_path / "people.csv")
    policy = sf.Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}},
            "ill": "sensitive",
        },
        models=[sf.models.KAnonymity(3)],
        missing=missing,
        suppression=0.5,
    )
    sf.anonymize(tmp_path / "people.csv", policy, output=tmp_path / "release")
    sf.decouple(tmp_path / "release", output=tmp_path / "broken")
    for name in ("release", "broken"):
        report = sf.report(tmp_path / name, data=tmp_path / "people.csv", policy=policy)
        people = figure(report, "people", "People and classes", "people")
        assert people == sf.verify(tmp_path / name).verdict["rows"].found
    [breaches] = [section for section in report.document.sections if section.id == "breaches"]
    captions = [getattr(part, "caption", "") for part in breaches.parts]
    assert "The own values of people, before decoupling and after" in captions


@pytest.mark.usefixtures("patience")
def test_suppressed_rows_that_are_still_shown_are_nobody(house):
    text = POLICY.replace("suppression: 5%", "suppression: {limit: 5%, rows: star}")
    policy = sf.Policy.from_yaml(text)
    release = sf.anonymize(house.people, policy)
    report = sf.report(release)
    people = figure(report, "people", "People and classes", "people")
    assert people == release.manifest.rows.published


def test_a_table_without_sensitive_columns_is_about_being_found(tmp_path):
    table = pa.table({"age": ["30s"] * 5 + ["40s"] * 5})
    policy = sf.Policy(columns={"age": "quasi-identifier"}, models=[sf.models.KAnonymity(2)])
    sf.anonymize(table, policy, output=tmp_path / "release")
    report = sf.report(tmp_path / "release")
    assert "shift" not in ids(report)
    assert "people" in ids(report)
    left_out = dict(report.document.left_out)
    assert left_out["How strongly columns are tied"] == "it takes two columns"


def test_an_empty_release_says_so():
    table = pa.table({"age": ["30", "40"], "ill": ["flu", "gout"]})
    policy = sf.Policy(
        columns={"age": {"role": "quasi-identifier", "levels": [0, 0]}, "ill": "sensitive"},
        models=[sf.models.KAnonymity(2)],
        suppression=1.0,
    )
    report = sf.report(sf.anonymize(table, policy))
    assert "no rows" in dict(report.document.left_out)["Who is in it"]
    read_html(report.to_html())


@pytest.mark.usefixtures("patience")
def test_a_population_is_counted_at_the_neighbours_too(tmp_path):
    people = pa.table({"age": [str(20 + i % 30) for i in range(300)]})
    pyarrow.csv.write_csv(people, tmp_path / "everybody.csv")
    pyarrow.csv.write_csv(people.slice(0, 90), tmp_path / "some.csv")
    policy = sf.Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5]}}
        },
        models=[sf.models.KMap(20)],
        population=str(tmp_path / "everybody.csv"),
    )
    release = sf.anonymize(tmp_path / "some.csv", policy)
    report = sf.report(release, data=tmp_path / "some.csv", policy=policy)
    steps = part_of(report, "levels", "One step to either side")
    assert {row[0] for row in steps.rows} == {"age, one level less", "age, one level more"}


@pytest.mark.usefixtures("patience")
def test_a_signed_release_names_the_key(house, tmp_path):
    import_module("cryptography")
    folder = shutil.copytree(house.release, tmp_path / "signed")
    sf.evidence.keygen(tmp_path / "publisher.key")
    sign(folder, tmp_path / "publisher.key")
    assert "and is signed" in sf.report(folder).to_markdown()
    # Of releases from before there was evidence, the manifest has the hashes.
    (folder / "evidence.json").unlink()
    assert "There is no evidence file" in sf.report(folder, public=True).to_markdown()


@pytest.mark.usefixtures("patience")
def test_risk_levels_that_make_no_sense_are_the_usual_ones(house, tmp_path):
    folder = shutil.copytree(house.release, tmp_path / "odd")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["risk_levels"] = {"moderate": 0.9, "high": 0.1}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    report = sf.report(folder)
    assert report.answer == "no"
    assert "people" in ids(report)


@pytest.mark.usefixtures("patience")
def test_a_ledger_that_is_none_is_a_reason_and_not_a_failure(house, tmp_path):
    (tmp_path / "not.ledger").write_text("no", encoding="utf-8")
    report = sf.report(house.broken, ledger=tmp_path / "not.ledger")
    why = dict(report.document.left_out)["How many more people there is room for"]
    assert why.startswith("it could not be computed: ")


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", ["link", "folder", "not JSON"])
def test_evidence_that_cannot_be_read_leaves_the_rest_of_the_report(house, tmp_path, kind):
    folder = shutil.copytree(house.release, tmp_path / "odd")
    evidence = folder / "evidence.json"
    evidence.rename(tmp_path / "elsewhere.json")
    if kind == "link":
        evidence.symlink_to(tmp_path / "elsewhere.json")
    elif kind == "folder":
        evidence.mkdir()
    else:
        evidence.write_bytes(b"\xff")
    report = sf.report(folder)
    assert report.answer == "no"
    assert {"people", "promises"} <= set(ids(report))
