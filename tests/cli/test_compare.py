"""`sfumato compare`: weigh policies, and write the one that is chosen."""

import csv
import json

import pytest

import sfumato as sf
from tests.cli.conftest import POLICY, everything_in

GIVEN = ("compare", "patients.csv", "policy.yaml")


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    """Room for the whole table, whatever the terminal of whoever runs the tests."""
    monkeypatch.setenv("COLUMNS", "160")


def words(text):
    return " ".join(text.split())


@pytest.mark.usefixtures("patience")
def test_all_policies_are_shown_with_the_front_marked(patients, run):
    result = run(*GIVEN, "--vary", "k=2,3,9", "--vary", "method=full-domain,mondrian")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert "6 policies on 4 rows." in result.stdout
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["k=2,", "full-domain", "1*"] in [line[:3] for line in lines]
    assert ["k=3,", "full-domain", "3"] in [line[:3] for line in lines]
    assert "k=9, mondrian is not possible: no release can keep" in words(result.stdout)
    assert "\x1b" not in result.stdout


def test_the_result_can_be_had_as_json(patients, run):
    result = run(*GIVEN, "--vary", "k=2,3", "--json", "--risk", "mean", "--threshold", "0.5")
    plain = json.loads(result.stdout)
    expected = sf.compare(
        "patients.csv", "policy.yaml", vary={"k": [2, 3]}, risk="mean", threshold=0.5
    ).to_dict()
    for each in (*plain["points"], *expected["points"]):
        each.pop("seconds")
    assert plain == json.loads(json.dumps(expected))
    assert result.stderr == ""


@pytest.mark.usefixtures("patience")
def test_queries_can_be_asked_instead(patients, run):
    result = run(*GIVEN, "--vary", "k=2,3", "--loss", "query-error")
    assert result.exit_code == 0, result.stderr
    assert "query error" in result.stdout


@pytest.mark.usefixtures("patience")
def test_files_are_written_and_not_replaced(patients, run):
    given = (*GIVEN, "--vary", "k=2,3", "--html", "compare.html", "--csv", "compare.csv")
    result = run(*given)
    assert result.exit_code == 0, result.stderr
    assert "Written: compare.html" in result.stderr
    assert (patients / "compare.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with (patients / "compare.csv").open(encoding="utf-8") as file:
        assert [row["name"] for row in csv.DictReader(file)] == ["k=2", "k=3"]
    again = run(*given)
    assert (again.exit_code, again.stdout) == (2, "")
    assert "exists" in again.stderr
    quiet = run(*given, "--force", "-q")
    assert (quiet.exit_code, quiet.stdout, quiet.stderr) == (0, "", "")


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("choose", ["k=3, mondrian", "4"])
def test_the_chosen_policy_is_written_and_can_be_used(patients, run, choose):
    vary = ("--vary", "k=2,3", "--vary", "method=full-domain,mondrian")
    result = run(*GIVEN, *vary, "--choose", choose, "-o", "chosen.yaml")
    assert result.exit_code == 0, result.stderr
    chosen = sf.Policy.load("chosen.yaml")
    assert (chosen.models[0].k, chosen.method.name) == (3, "mondrian")
    assert run("anonymize", "patients.csv", "-p", "chosen.yaml", "-o", "out").exit_code == 0


@pytest.mark.usefixtures("patience")
def test_a_chosen_policy_finds_its_files_from_where_it_is_written(patients, run):
    (patients / "rules").mkdir()
    (patients / "chosen").mkdir()
    (patients / "rules" / "zip.csv").write_text(
        "".join(f"{zip_code};{zip_code[:2]};*\n" for zip_code in ("4711", "4712", "4811", "4812")),
        encoding="utf-8",
    )
    text = POLICY.replace("{kind: masking}", "{kind: csv, file: zip.csv}")
    (patients / "rules" / "policy.yaml").write_text(text, encoding="utf-8")
    given = ("compare", "patients.csv", "rules/policy.yaml", "--vary", "k=2,4", "-q")
    result = run(*given, "--choose", "k=2", "-o", "chosen/policy.yaml")
    assert result.exit_code == 0, result.stderr
    release = sf.anonymize("patients.csv", "chosen/policy.yaml")
    assert release.loss == sf.anonymize("patients.csv", "rules/policy.yaml").loss


@pytest.mark.usefixtures("patience")
def test_several_policies_are_called_after_their_files(patients, run):
    (patients / "other.yaml").write_text(POLICY.replace("k: 2", "k: 3"), encoding="utf-8")
    result = run(*GIVEN, "other.yaml", "--json", "--jobs", "2")
    assert [point["name"] for point in json.loads(result.stdout)["points"]] == ["policy", "other"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "Missing argument 'POLICY...'"),
        (("policy.yaml", "--vary", "k"), "vary must be NAME=VALUES, got 'k'"),
        (("policy.yaml", "--vary", "k="), "vary must be NAME=VALUES"),
        (("policy.yaml", "--vary", "k=2", "--vary", "k=3"), "vary must be each setting once"),
        (("policy.yaml", "--vary", "kk=2"), "no setting to vary 'kk' in policy 'policy'"),
        (("policy.yaml", "--vary", "k=two"), "must be a whole number, got 'two'"),
        (("policy.yaml", "--vary", "k=2,2"), "two policies would be called so"),
        (("policy.yaml", "policy.yaml"), "both are called 'policy'"),
        (("policy.yaml", "--choose", "k=2"), "given together with --output"),
        (("policy.yaml", "-o", "chosen.yaml"), "given together with --output"),
        (("policy.yaml", "--choose", "x", "-o", "chosen.yaml"), "no policy 'x' in the comparison"),
        (
            ("policy.yaml", "--vary=k=9", "--choose", "k=9", "-o", "c.yaml", "--csv", "c.csv"),
            "k=9: no release",
        ),
        (("policy.yaml", "--risk", "riks"), "no risk 'riks'"),
        (("policy.yaml", "--loss", "los"), "no loss 'los'"),
        (("nowhere.yaml",), "the policy cannot be read"),
        (("policy.yaml", "--html", "."), "is a folder"),
    ],
)
def test_a_wrong_request_is_answered_and_leaves_nothing(patients, run, args, said):
    before = everything_in(patients)
    result = run("compare", "patients.csv", *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in words(result.stderr)
    assert everything_in(patients) == before
