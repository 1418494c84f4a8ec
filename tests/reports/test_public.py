"""A public report says nothing that is not in the release."""

import json
import re
import shutil
import socket
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.reports.dossier import open_dossier

sign = partial(sf.sign, even_so=True)
"""Signs a release whatever the answer is: the tables here are small, and tell much."""

CANARIES = (
    "CanaryName",  # an identifier
    "CanaryDropped",  # a value of a column that is not published
    "canary_dropped_column",
    "canary_identifier_column",
    "CanaryRare",  # a sensitive value that only suppressed rows have
    "317317",  # a raw age of a published person
    "919191",  # a raw age of a suppressed person
    "4242421",  # a raw postcode
    "canary-file",
    "canary-home",
    "canary-policy",
)


def make(home: Path) -> Path:
    """Publish a table full of things that must not be published."""
    lines = ["canary_identifier_column,canary_dropped_column,age,postcode,ill"]
    for i in range(40):
        ill = ("flu", "gout", "cold", "hiv")[i % 4]
        lines.append(f"CanaryName{i},CanaryDropped{i},{317317 + i % 9},{4242421 + i % 8},{ill}")
    lines.append("CanaryName99,CanaryDropped99,919191,9999999,CanaryRare")
    (home / "canary-file.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    policy = """
columns:
  canary_identifier_column: identifier
  canary_dropped_column: dropped
  age: {role: quasi-identifier, hierarchy: {kind: intervals, widths: [100]}, levels: [1, 1]}
  postcode: {role: quasi-identifier, hierarchy: {kind: masking}, levels: [1, 2]}
  ill: sensitive
models: [{model: k-anonymity, k: 3}]
suppression: 10%
"""
    (home / "canary-policy.yaml").write_text(policy, encoding="utf-8")
    data, rules = home / "canary-file.csv", home / "canary-policy.yaml"
    release = sf.anonymize(data, rules, output=home / "release")
    assert release.suppressed == 1
    sf.decouple(home / "release", output=home / "broken")
    return home


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return make(tmp_path_factory.mktemp("canary-home"))


def forms(report):
    return report.to_html() + report.to_markdown() + report.to_json() + report._repr_html_()


@pytest.mark.parametrize("name", ["release", "broken"])
def test_nothing_that_was_not_published_is_in_it(home, name):
    text = forms(sf.report(home / name, public=True))
    assert [canary for canary in CANARIES if canary.lower() in text.lower()] == []


@pytest.mark.usefixtures("patience")
def test_the_canaries_do_sing_where_the_original_is_given(home):
    """Else the test above would hear nothing in any case."""
    report = sf.report(
        home / "release", data=home / "canary-file.csv", policy=home / "canary-policy.yaml"
    )
    text = forms(report)
    assert "the original" in text
    assert "one level more" in text
    assert "(not in the release)" in text


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", ["release", "broken"])
def test_it_is_computed_from_the_folder_alone(home, name, tmp_path):
    elsewhere = shutil.copytree(home / name, tmp_path / "quite-elsewhere")
    there = sf.report(elsewhere, public=True)
    assert forms(there) == forms(sf.report(home / name, public=True))
    assert "quite-elsewhere" not in forms(there)


@pytest.mark.usefixtures("patience")
def test_an_object_that_remembers_more_is_read_from_its_folder(home, tmp_path):
    data, policy = home / "canary-file.csv", home / "canary-policy.yaml"
    release = sf.anonymize(data, policy, output=tmp_path / "again")
    expected = sf.report(tmp_path / "again", public=True)
    assert forms(sf.report(release, public=True)) == forms(expected)


@pytest.mark.parametrize("name", ["release", "broken"])
def test_no_path_no_user_no_machine_no_time(home, name, monkeypatch):
    for variable in ("USER", "LOGNAME", "HOME", "HOSTNAME"):
        monkeypatch.setenv(variable, "/a-canary-user")
    monkeypatch.setattr(socket, "gethostname", lambda: "a-canary-machine")
    text = forms(sf.report(home / name, public=True))
    assert "a-canary" not in text
    assert str(home) not in text
    assert str(datetime.now(tz=UTC).year) not in re.sub(r"[0-9a-f]{64}", "", text)
    assert not re.search(r"\d\d:\d\d", text)


def test_a_broken_release_does_not_tell_where_it_is(home, tmp_path):
    folder = shutil.copytree(home / "release", tmp_path / "here-it-is")
    (folder / "data.csv").write_bytes(b"\xff\xfe not, text\n\x00")
    text = forms(sf.report(folder, public=True))
    assert "here-it-is" not in text
    assert str(tmp_path) not in text
    assert "broken" in text


def test_the_words_around_a_path_stay_what_they_are(home, monkeypatch):
    monkeypatch.chdir(home)
    known = open_dossier("release", public=True)
    here = home / "release"
    said = known.without_path(
        f"the release has {here}/x.csv, {here}, 'release/data.csv' and 'release'"
    )
    assert said == "the release has x.csv, the release, 'data.csv' and the release"


@pytest.mark.parametrize("name", ["data", "policy", "ledger"])
def test_what_is_not_public_is_refused(home, name):
    with pytest.raises(sf.SfumatoError) as caught:
        sf.report(home / "release", public=True, **{name: home / "canary-file.csv"})
    assert f"{name} must be left out with public=True" in str(caught.value)


def test_all_that_is_said_of_columns_is_in_the_manifest(home):
    """Names of columns come from the release, and every one of them is published."""
    manifest = json.loads((home / "release/manifest.json").read_text(encoding="utf-8"))
    names = {column["name"] for column in manifest["columns"]}
    assert names == {"age", "postcode", "ill"}
    report = sf.report(home / "release", public=True).to_dict()
    [promises] = [section for section in report["sections"] if section["id"] == "promises"]
    [columns] = [part for part in promises["parts"] if part.get("caption") == "Columns"]
    assert {row[0] for row in columns["rows"]} == names


def test_two_reports_on_one_release_are_the_same(home):
    first, second = (forms(sf.report(home / "broken", public=True)) for _ in range(2))
    assert first == second


@pytest.mark.usefixtures("patience")
def test_it_does_not_say_who_signed_for_it_may_be_signed_with_the_rest(home, tmp_path):
    release = sf.anonymize(
        home / "canary-file.csv", home / "canary-policy.yaml", output=tmp_path / "r"
    )
    before = sf.report(release, public=True).to_html()
    sign(release, sf.evidence.SigningKey.generate())
    assert sf.report(release, public=True).to_html() == before
