"""`sfumato correlations`: a heat map that can be read without colour."""

import json

import pytest

import sfumato as sf
from tests.cli.conftest import everything_in

ROLES = ("--qi", "age,zip", "--sensitive", "ill")


def test_all_pairs_are_shown_with_numbers_and_shades(folder, run):
    text = "sex,job,ill\nf,a,flu\nf,a,gout\nm,b,flu\nm,c,flu\n"
    (folder / "people.csv").write_text(text, encoding="utf-8")
    result = run("correlations", "people.csv", "--qi", "sex,job", "--sensitive", "ill")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["1", "sex", "–", "█1.00", "░0.33"] in lines
    assert ["3", "ill", "░0.33", "░0.33", "–"] in lines
    assert ["sex", "–", "job", "1.00", "█" * 20] in lines
    assert "\x1b" not in result.stdout


@pytest.mark.usefixtures("patience")
def test_roles_come_from_a_policy_and_a_drawing_is_written(patients, run):
    given = ("correlations", "patients.csv", "-p", "policy.yaml", "--measure", "cramers-v")
    result = run(*given, "--draw", "map.svg")
    assert result.exit_code == 0, result.stderr
    assert "4 rows, 3 columns, cramers-v" in result.stdout
    assert "Written: map.svg" in result.stderr
    expected = sf.tools.correlations("patients.csv", policy="policy.yaml", measure="cramers-v")
    assert (patients / "map.svg").read_text(encoding="utf-8") == expected.svg()
    again = run(*given, "--draw", "map.svg")
    assert (again.exit_code, again.stdout) == (2, "")
    assert "exists" in again.stderr
    assert run(*given, "--draw", "map.svg", "--force").exit_code == 0


def test_the_result_can_be_had_as_json(patients, run):
    result = run("correlations", "patients.csv", *ROLES, "--json")
    expected = sf.tools.correlations(
        "patients.csv", quasi_identifiers=["age", "zip"], sensitive=["ill"]
    )
    assert json.loads(result.stdout) == json.loads(json.dumps(expected.to_dict()))
    assert result.stderr == ""


@pytest.mark.usefixtures("patience")
def test_a_release_knows_its_roles_and_a_decoupled_one_is_refused(patients, run):
    assert run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "release").exit_code == 0
    assert "4 rows, 3 columns" in run("correlations", "release").stdout
    assert run("decouple", "release", "-o", "broken", "-q").exit_code == 0
    result = run("correlations", "broken")
    assert result.exit_code == 2
    assert "Give the release it was made of" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("patients.csv",), "nothing says what the columns are"),
        (("nowhere.csv", *ROLES), "no file nowhere.csv"),
        (("patients.csv", "--qi", "agee", "--sensitive", "ill"), "Did you mean 'age'"),
        (("patients.csv", *ROLES, "--measure", "v"), "no measure 'v'"),
        (("patients.csv", *ROLES, "--draw", "."), "is a folder"),
    ],
)
def test_a_wrong_request_is_answered_and_leaves_nothing(patients, run, args, words):
    before = everything_in(patients)
    result = run("correlations", *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in " ".join(result.stderr.split())
    assert everything_in(patients) == before


@pytest.mark.usefixtures("patience")
def test_numbers_are_never_broken_over_lines(folder, run, monkeypatch):
    names = [f"a_column_of_a_long_name_{i}" for i in range(9)]
    rows = [",".join(str((r * (i + 1)) % 7) for i in range(9)) for r in range(40)]
    (folder / "people.csv").write_text("\n".join([",".join(names), *rows]), encoding="utf-8")
    given = ("correlations", "people.csv", "--qi", ",".join(names[:8]), "--sensitive", names[8])
    monkeypatch.setenv("COLUMNS", "80")
    narrow = run(*given).stdout
    assert "see --draw or --json" in narrow
    assert all(len(line) <= 80 for line in narrow.splitlines())
    monkeypatch.setenv("COLUMNS", "160")
    assert "--draw" not in run(*given).stdout
