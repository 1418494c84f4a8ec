"""Anonymise and verify on the command line, when all goes well."""

import json
import re

import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.partition import PARTITIONERS
from sfumato.profiles import PROFILES
from tests.cli.conftest import BESIDE, everything_in


@pytest.fixture
def release(patients, run):
    assert run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "release").exit_code == 0
    return patients / "release"


@pytest.mark.usefixtures("patience")
def test_anonymize_writes_a_release_and_shows_it(patients, run):
    result = run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "release/")
    assert result.exit_code == 0
    # Decades and four digits: both classes have two rows, and nothing finer has.
    assert "age                1 of 2" in result.stdout
    assert "zip                1 of 4" in result.stdout
    assert "k-anonymity with k=2   k=2" in result.stdout
    assert "The release is in release; all 8 checks hold." in result.stderr
    assert everything_in(patients / "release") == {"data.csv", *BESIDE}


def test_anonymize_gives_what_python_gives(patients, run):
    run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "one", "--seed", "7")
    sf.anonymize("patients.csv", "policy.yaml", output="two", seed=7)
    one, two = (patients / name / "data.csv" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_a_seed_makes_a_release_that_is_not_for_publication(patients, run):
    result = run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "r", "--seed", "7")
    assert "not for publication" in result.stderr
    assert json.loads((patients / "r" / "manifest.json").read_text())["reproducible"] is True


def test_json_is_one_document_and_nothing_else(patients, run):
    result = run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "r", "--json")
    assert result.exit_code == 0
    assert result.stderr == ""
    plain = json.loads(result.stdout)
    assert plain["folder"] == "r"
    assert plain["verdict"]["holds"] is True
    assert plain["manifest"] == json.loads((patients / "r" / "manifest.json").read_text())


def test_quiet_says_nothing(patients, run):
    result = run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "r", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert (patients / "r" / "manifest.json").is_file()


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_the_release_has_the_format_that_was_asked_for(patients, run, form):
    args = ("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "r", "--format", form)
    assert run(*args).exit_code == 0
    path = patients / "r" / f"data.{form}"
    if form == "parquet":
        assert pq.read_table(path).num_rows == 4
    elif form == "feather":
        assert pyarrow.feather.read_table(path).num_rows == 4
    else:
        assert len(path.read_text().splitlines()) == 5
    assert run("verify", "r").exit_code == 0


def test_verify_shows_every_check_and_ends_with_0(release, run):
    result = run("verify", release, "--all")
    assert result.exit_code == 0
    assert "Holds: all 9 checks." in result.stdout
    assert "k-anonymity   holds    k=2" in result.stdout
    assert result.stderr == ""


def test_verify_is_short_and_strict_if_it_is_asked_to_be(release, run):
    short = run("verify", release)
    assert short.exit_code == 0
    assert short.stdout.startswith("May it be published? With care. None of 4 people is at risk.")
    assert "Who knows age and zip" in short.stdout
    assert len(short.stdout.split()) < 120
    assert run("verify", release, "--strict").exit_code == 1


def test_verify_of_a_changed_release_ends_with_1(release, run):
    data = release / "data.csv"
    data.write_text("\n".join(data.read_text().splitlines()[:-1]) + "\n")
    result = run("verify", release, "--all")
    assert result.exit_code == 1
    assert re.search(r"sha256 +broken", result.stdout)
    assert "Broken: 5 of 9 checks do not hold." in result.stdout


@pytest.mark.usefixtures("patience")
def test_verify_gives_json_whatever_it_finds(release, run):
    assert json.loads(run("verify", release, "--json").stdout)["holds"] is True
    (release / "extra.txt").write_text("?")
    result = run("verify", release, "--json")
    assert result.exit_code == 1
    broken = [c["name"] for c in json.loads(result.stdout)["checks"] if c["status"] != "holds"]
    assert broken == ["files", "evidence"]


def test_verify_holds_a_plain_file_to_a_policy(patients, run):
    result = run("verify", "patients.csv", "-p", "policy.yaml", "--all")
    assert result.exit_code == 1
    assert "the table has columns that name people: 'name'" in result.stdout
    assert "fails in 4 of 4 classes" in result.stdout


@pytest.mark.usefixtures("patience")
def test_verify_holds_earlier_releases_against_this_one(folder, run):
    zips = [("*", z, ill) for z, ills in (("130**", "abc"), ("240**", "def")) for ill in ills]
    ages = [(a, "*", ill) for a, ills in (("2*", "cde"), ("3*", "abf")) for ill in ills]
    for name, rows in (("zips", zips), ("ages", ages)):
        lines = ["age,zip,ill", *(",".join(row) for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked = ("verify", "ages.csv", "--qi", "age,zip", "--sensitive", "ill")
    result = run(*asked, "--earlier", "zips.csv", "--earlier", "ages.csv", "--json")
    assert result.exit_code == 1
    found = [
        each for each in json.loads(result.stdout)["attacks"] if each["attack"] == "composition"
    ]
    assert [(each["settings"]["earlier"], each["people"]) for each in found] == [
        ("zips.csv", 2),
        ("ages.csv", 0),
    ]
    shown = run(*asked, "--earlier", "zips.csv").stdout
    assert "composition" in shown
    assert "May it be published? No." in shown


@pytest.mark.usefixtures("patience")
def test_verify_runs_the_tool_on_candidates(patients, run):
    asked = ("verify", "release", "-p", "policy.yaml", "--attack", "minimality", "--json")
    assert run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "release").exit_code == 0
    [outcome] = json.loads(run(*asked).stdout)["attacks"]
    assert not outcome["tried"]
    [outcome] = json.loads(run(*asked, "--data", "patients.csv").stdout)["attacks"]
    assert outcome["tried"]


@pytest.mark.usefixtures("patience")
def test_verify_of_an_unchecked_promise_ends_with_1(patients, run):
    (patients / "people.csv").write_text("age,zip\n" + "21,4711\n24,4712\n35,4811\n38,4812\n" * 2)
    policy = (patients / "policy.yaml").read_text().replace("k-anonymity", "k-map")
    (patients / "policy.yaml").write_text(policy + "population: people.csv\n")
    result = run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "r")
    assert result.exit_code == 0
    result = run("verify", "r")
    assert result.exit_code == 1
    assert "unchecked" in result.stdout
    assert run("verify", "r", "-p", "policy.yaml", "--only-promises").exit_code == 0
    (patients / "people.csv").write_text("age,zip\n" + "21,4711\n24,4712\n35,4811\n38,4812\n")
    asked = ("verify", "r", "-p", "policy.yaml", "--population", "people.csv")
    half = run(*asked)
    assert (half.exit_code, "The promise k-map is broken" in half.stdout) == (1, True)
    # What was measured stands with everything else that was found.
    half = run(*asked, "--all")
    assert (half.exit_code, "k=1" in half.stdout) == (1, True)


@pytest.mark.usefixtures("patience")
def test_the_schema_is_that_of_python(folder, run):
    expected = sf.Policy.json_schema(
        searches=sf.search.SEARCHES,
        methods=PARTITIONERS,
        decouplings=sf.decouplings.DECOUPLINGS,
        profiles=PROFILES,
    )
    assert json.loads(run("schema").stdout) == expected
    result = run("schema", "-o", "policy.schema.json")
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads((folder / "policy.schema.json").read_text(encoding="utf-8")) == expected


def test_the_schema_does_not_replace_a_file_unasked(folder, run):
    (folder / "mine").write_text("mine")
    result = run("schema", "-o", "mine")
    assert (result.exit_code, "'mine' exists" in result.stderr) == (2, True)
    assert (folder / "mine").read_text() == "mine"
    assert run("schema", "-o", "mine", "--force").exit_code == 0
    assert everything_in(folder) == {"mine"}


@pytest.mark.parametrize("named", [[], ["--qi", ""], ["--qi", " , "], ["--qi="]], ids=str)
def test_a_plain_file_without_quasi_identifiers_is_a_wrong_request(patients, run, named):
    result = run("verify", "patients.csv", *named, "--sensitive", "ill")
    assert result.exit_code == 2
    assert "--qi must be the columns that others may know" in result.stderr


def test_columns_that_were_not_judged_are_named_and_names_are_a_no(folder, run):
    days = [f"19{30 + i % 70}-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(300)]
    rows = [
        f"Person{i},{days[i]},{10000 + 37 * (i // 2)},{'mf'[i % 2]},{['flu', 'gout'][i % 2]}"
        for i in range(300)
    ]
    text = "\n".join(["name,birthdate,zip,sex,diag", *rows])
    (folder / "raw.csv").write_text(text, encoding="utf-8")
    result = run("verify", "raw.csv", "--qi", "sex", "--sensitive", "diag", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    kinds = {(each["kind"], *each["columns"]) for each in found["columns"]}
    assert {("identifier", "name"), ("identifier", "birthdate")} <= kinds
    assert ("singles out", "zip") in kinds
    assert ("no role", "name", "birthdate", "zip") in kinds
