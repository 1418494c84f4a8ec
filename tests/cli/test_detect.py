"""`sfumato detect`: what a user sees of the findings."""

import json
from xml.etree import ElementTree as ET

import pytest

from tests.networks.worked import COLUMNS, ROWS


@pytest.fixture
def census(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    text = "\n".join(";".join(row) for row in [COLUMNS, *ROWS])
    (tmp_path / "census.csv").write_text(text + "\n", encoding="utf-8")
    return tmp_path


ROLES = ("--qi", "Age,Gender,Zipcode", "--sensitive", "Government,Marital-Status,Salary")


def test_rules_facts_and_advice_are_shown(census, run):
    result = run("detect", "census.csv", *ROLES, "--support", "2")
    assert result.exit_code == 0, result.output
    assert "Government, Marital-Status → Salary" in result.stdout
    assert "very high" in result.stdout
    assert "Decouple Government, Marital-Status, Salary" in result.stdout
    assert "restate how they were generalised" in result.stdout


def test_what_somebody_knows(census, run):
    result = run(
        "detect", "census.csv", *ROLES, "--support", "1",
        "--knows", "Government=State-gov", "--knows", "Age=[30-50]",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "2 rows match what is known" in result.stdout
    assert "Never-Married" in result.stdout


def test_json_holds_everything(census, run):
    result = run(
        "detect", "census.csv", *ROLES, "--support", "1", "--json", "--knows",
        "Government=State-gov",
    )  # fmt: skip
    plain = json.loads(result.stdout)
    assert set(plain["networks"]) == {"quasi-identifiers", "sensitive", "all"}
    assert plain["rules"][0]["reveals"]
    assert plain["advice"]["decouple"] == ["Government", "Marital-Status", "Salary"]
    assert {one["column"] for one in plain["inferred"]} == set(COLUMNS) - {"Government"}
    assert plain["facts"]


def test_pictures_and_exports(census, run):
    result = run(
        "detect", "census.csv", *ROLES, "--support", "1", "--draw", "drawings", "--export",
        "net.bif",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    drawn = sorted(path.name for path in (census / "drawings").iterdir())
    assert "network-all.svg" in drawn
    for name in drawn:
        ET.fromstring((census / "drawings" / name).read_text(encoding="utf-8"))
    assert "probability" in (census / "net.bif").read_text(encoding="utf-8")
    for ending in ("graphml", "dot"):
        assert run("detect", "census.csv", *ROLES, "-q", "--export", f"n.{ending}").exit_code == 0
        assert (census / f"n.{ending}").stat().st_size


def test_a_release_needs_no_roles(census, run):
    (census / "policy.yaml").write_text(
        "columns: {Age: quasi-identifier, Salary: sensitive}\nother: dropped\n"
        "models: [{model: k-anonymity, k: 2}]\n"
    )
    assert run("anonymize", "census.csv", "-p", "policy.yaml", "-o", "out").exit_code == 0
    result = run("detect", "out")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--knows", "Goverment=x"], ["no column 'Goverment'", "Did you mean 'Government'"]),
        (["--knows", "Government=Stategov"], ["no row has 'Stategov'", "State-gov"]),
        (["--knows", "Government"], ["column=value"]),
        (["--knows", "Salary=>50K", "--knows", "Salary=≤50K"], ["two values"]),
        (
            ["--knows", "Age=[30-50]", "--knows", "Zipcode=[24000-58000]"],
            ["Age", "Zipcode"],
        ),
        (["--alpha", "1.5"], ["alpha"]),
        (["--learner", "icc"], ["no learner 'icc'", "'ic'"]),
        (["--export", "net.txt"], [".bif", ".graphml", ".dot"]),
    ],
)
def test_mistakes_are_told(census, run, given, words):
    result = run("detect", "census.csv", *ROLES, "--support", "1", *given)
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("sfumato: error: ")
    for word in words:
        assert word in result.stderr


def test_without_roles_it_says_what_to_give(census, run):
    result = run("detect", "census.csv")
    assert result.exit_code == 2
    assert "quasi_identifiers" in result.stderr
