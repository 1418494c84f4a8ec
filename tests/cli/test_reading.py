"""`sfumato utility`, `membership` and `estimate`: releases side by side, and a count from one."""

import json
from importlib import import_module

import pytest

import sfumato as sf

ROLES = ("--qi", "age,zip", "--sensitive", "ill")


@pytest.fixture
def releases(patients, run):
    assert run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "release").exit_code == 0
    assert run("decouple", "release", "-o", "broken", "-q").exit_code == 0
    return patients


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("command", ["utility", "membership"])
def test_releases_stand_side_by_side(releases, run, command):
    result = run(command, "patients.csv", "release/", "broken", "-p", "policy.yaml")
    assert result.exit_code == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    named = [line[0] for line in lines if line and line[0] in {"release", "broken"}]
    # Numbers have a table of their own.
    tables = 2 if command == "utility" else 1
    assert named == ["release", "release", "broken"] * tables
    assert result.stderr == ""


@pytest.mark.usefixtures("patience")
def test_the_figures_are_those_of_python(releases, run):
    named = {"release": "release", "broken": "broken"}
    both = ("patients.csv", "release", "broken", "-p", "policy.yaml", "--seed", "7", "--json")
    found = run("utility", *both, "--queries", "50")
    expected = sf.utility("patients.csv", named, policy="policy.yaml", queries=50, seed=7)
    assert json.loads(found.stdout) == json.loads(json.dumps(expected.to_dict()))
    found = run("membership", *both, "--fakes", "5", "--confidence", "0.9")
    expected = sf.tools.membership(
        "patients.csv", named, policy="policy.yaml", fakes=5, confidence=0.9, seed=7
    )
    assert json.loads(found.stdout) == json.loads(json.dumps(expected.to_dict()))
    assert json.loads(found.stdout)["releases"]["broken"]["confidence"] == 0.9


@pytest.mark.usefixtures("patience")
def test_one_release_is_told_in_words_too(releases, run):
    result = run("utility", "patients.csv", "release", "-p", "policy.yaml")
    assert "release: 4 of 4 rows published" in result.stdout
    assert "correlations (Cramér's V)" in result.stdout


@pytest.mark.usefixtures("patience")
def test_a_decision_tree_is_asked_for_by_its_column(releases, run):
    import_module("sklearn")
    result = run("utility", "patients.csv", "release", "-p", "policy.yaml", "--classify", "ill")
    assert result.exit_code == 0, result.stderr
    assert "decision tree for ill" in result.stdout


@pytest.mark.usefixtures("patience")
def test_plain_files_with_roles(patients, run):
    for command in ("utility", "membership"):
        result = run(command, "patients.csv", "patients.csv", *ROLES)
        assert result.exit_code == 0, result.stderr
        assert "patients.csv" in result.stdout
        assert run(command, "patients.csv", "patients.csv", *ROLES, "--quiet").output == ""


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["utility", "patients.csv", "patients.csv"], "nothing says what the columns are"),
        (["membership", "patients.csv", "patients.csv"], "nothing says what the columns are"),
        (["utility", "patients.csv", "patients.csv", *ROLES, "--queries", "0"], "at least 1"),
        (["membership", "patients.csv", "patients.csv", *ROLES, "--fakes", "0"], "at least 1"),
        (["membership", "patients.csv", "patients.csv", "./patients.csv"], "different releases"),
        (["utility", "patients.csv", "nothing", *ROLES], "there is no file nothing"),
        (["estimate", "patients.csv", "--where", "age"], "column=value"),
        (
            ["estimate", "patients.csv", "--where", "age=1", "--where", "age=2"],
            "two values are given for it",
        ),
        (["estimate", "patients.csv", "--where", "agee=21"], "Did you mean 'age'"),
        (["estimate", "patients.csv", "--where", "ill=flue"], "Did you mean 'flu'"),
        (["estimate", "patients.csv", "--where", "age=.."], "at least one end"),
    ],
)
def test_what_makes_no_sense_is_refused(patients, run, args, words):
    result = run(*args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


@pytest.mark.usefixtures("patience")
def test_a_count_is_estimated_from_any_release(releases, run):
    result = run("estimate", "patients.csv", "--where", "age=21..35", "--where", "ill=flu,gout")
    assert result.stdout == "3 of 4 rows have age=21..35 and ill=flu,gout\n"
    asked = ("--where", "age=20..24", "--where", "ill=flu")
    for release in ("release", "broken"):
        found = json.loads(run("estimate", release, *asked, "--json").stdout)
        expected = sf.estimate(release, {"age": (20, 24), "ill": "flu"}).to_dict()
        assert found == expected
        assert (found["estimate"], found["rows"], found["least"], found["most"]) == (0.5, 4, 0, 1)
    known = run("estimate", "broken", *asked, "--data", "patients.csv", "-p", "policy.yaml")
    assert known.stdout == "1 of 4 rows have age=20..24 and ill=flu\n"
    assert run("estimate", "broken", *asked, "-q").output == ""
