"""Commands to study a table with: what they show and write, and what they refuse."""

import json

import pytest

import sfumato as sf


@pytest.fixture
def incognito(folder):
    (folder / "people.csv").write_bytes(sf.samples.path("incognito").read_bytes())
    (folder / "policy.yaml").write_bytes(sf.samples.policy_path("incognito").read_bytes())
    return folder


def test_a_lattice_is_listed(incognito, run):
    result = run("lattice", "people.csv", "-p", "policy.yaml", "--subsets")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("9 of 18 nodes are valid and 2 of them minimal")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["1,", "1,", "0", "yes", "3", "0.5214", "minimal", "and", "chosen"] in lines
    assert ["0,", "2,", "1", "yes", "1", "0.6386", "minimal"] in lines
    assert ["marital_status,", "gender", "6", "4", "1,", "0", "1", "2"] in lines


@pytest.mark.usefixtures("patience")
def test_a_lattice_can_be_had_as_json_and_drawn(incognito, run):
    result = run("lattice", "people.csv", "-p", "policy.yaml", "--json", "--draw", "drawings", "-q")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["minimal"] == [[0, 2, 1], [1, 1, 0]]
    assert [path.name for path in (incognito / "drawings").iterdir()] == ["lattice.svg"]
    again = run("lattice", "people.csv", "-p", "policy.yaml", "--draw", "drawings", "--subsets")
    assert "Written: drawings/lattice_zipcode_gender.svg" in again.stderr
    assert len(list((incognito / "drawings").iterdir())) == 8


def test_a_lattice_that_is_too_large_is_refused_with_what_to_do(incognito, run):
    result = run("lattice", "people.csv", "-p", "policy.yaml", "--most", "10")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "at least 18 to judge them all, got 10" in " ".join(result.stderr.split())


def test_hierarchies_are_listed_and_drawn(incognito, run):
    result = run("hierarchies", "people.csv", "-p", "policy.yaml", "--draw", "trees")
    assert result.exit_code == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["marital_status", "0", "4", "Married,", "Divorced,", "Widow,", "Single"] in lines
    assert ["1", "2", "2203*,", "2204*"] in lines
    assert "Written: trees/hierarchy_zipcode.svg" in result.stderr
    plain = json.loads(run("hierarchies", "people.csv", "-p", "policy.yaml", "--json").stdout)
    assert plain["hierarchies"][0]["levels"][1] == ["2203*", "2204*"]


@pytest.mark.usefixtures("patience")
def test_the_steps_of_top_down_are_told_and_drawn(folder, run):
    (folder / "people.csv").write_bytes(sf.samples.path("top-down").read_bytes())
    (folder / "policy.yaml").write_text(TOP_DOWN, encoding="utf-8")
    result = run("trace", "people.csv", "-p", "policy.yaml", "--draw", "steps.svg", "--seed", "1")
    assert result.exit_code == 0, result.stderr
    text = " ".join(result.stdout.split())
    assert "73455 (1 row) fails and is sent back; 73456 (3 rows) passes, 1 taken back" in text
    assert (folder / "steps.svg").read_text(encoding="utf-8").startswith("<svg")
    again = run("trace", "people.csv", "-p", "policy.yaml", "--draw", "steps.svg")
    assert (again.exit_code, again.stdout) == (2, "")
    plain = json.loads(run("trace", "people.csv", "-p", "policy.yaml", "--json").stdout)
    assert [step["labels"] for step in plain["steps"]][-1] == ["7345*"]
    assert sorted((each["labels"], each["rows"]) for each in plain["classes"]) == [
        (["7345*"], 2), (["73456"], 2)
    ]  # fmt: skip


TOP_DOWN = """
columns:
  zipcode: {role: quasi-identifier, hierarchy: masking}
  gender: dropped
  condition: sensitive
models:
  - model: enhanced-p-alpha-sensitive-k-anonymity
    column: condition
    p: 2
    alpha: 1
    k: 2
    categories: [[Cancer, HIV], [Hepatitis, Phthisis], [Asthma, Obesity], [Indigestion, Flu]]
method: top-down
"""
