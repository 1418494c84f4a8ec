"""`sfumato protect`: the whole loop as a command."""

import json

import pyarrow.csv as pa_csv
import pytest

import sfumato as sf
from tests.tasks.test_detect import leaky, policy


@pytest.mark.usefixtures("patience")
def test_on_the_command_line(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa_csv.write_csv(leaky(), "table.csv")
    (tmp_path / "policy.yaml").write_text(policy().to_yaml())
    result = run("protect", "table.csv", "-p", "policy.yaml", "-o", "out", "--alpha", "0.6")
    assert result.exit_code == 0, result.output
    assert "refine" in result.stdout
    assert "The release is in out" in result.stderr
    plain = run(
        "protect", "table.csv", "-p", "policy.yaml", "-o", "out", "--alpha", "0.6", "--force",
        "--json",
    )  # fmt: skip
    assert [step["action"] for step in json.loads(plain.stdout)["steps"]] == ["anonymize", "refine"]


CENSUS = """version: 1
columns:
  name: identifier
  age: quasi-identifier
  gender: quasi-identifier
  zipcode: quasi-identifier
  government: sensitive
  marital_status: sensitive
  salary: sensitive
models: [{model: k-anonymity, k: 5}]
"""


@pytest.mark.usefixtures("patience")
def test_what_is_left_very_high_ends_with_1(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa_csv.write_csv(sf.samples.table("census-raw"), "census.csv")
    (tmp_path / "policy.yaml").write_text(CENSUS)
    given = ("protect", "census.csv", "-p", "policy.yaml", "-o")
    done = run(*given, "out")
    assert done.exit_code == 0, done.output
    assert "decouple" in done.stdout
    left = run(*given, "together", "--keep-together")
    assert left.exit_code == 1
    assert "facts such as" in left.stderr
    assert "very high" in left.stderr


def test_what_protect_starts_from_is_refused_with_nothing_but_roles(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa_csv.write_csv(sf.samples.table("census"), "census.csv")
    roles = ("--qi", "age,gender,zipcode", "--sensitive", "government,marital_status,salary")
    found = run("verify", "census.csv", *roles)
    assert found.exit_code == 1
    said = " ".join(found.stdout.split())
    assert "May it be published? No." in said
    assert "10 of 10 people are at risk" in said
