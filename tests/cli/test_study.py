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
