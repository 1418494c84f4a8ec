"""Draft a policy, inspect a table, see the whole chain: when all goes well."""

import json
import re

import pytest

import sfumato as sf
from tests.cli.conftest import everything_in


def test_init_writes_a_policy_that_can_be_used_at_once(patients, run):
    (patients / "drafts").mkdir()
    result = run("init", "patients.csv", "-o", "drafts/new.yaml")
    assert result.exit_code == 0
    text = (patients / "drafts" / "new.yaml").read_text(encoding="utf-8")
    assert text == sf.draft("patients.csv").text
    assert sf.Policy.from_yaml(text).quasi_identifiers == ("age", "zip")
    assert everything_in(patients / "drafts") == {"new.yaml"}
    assert run("anonymize", "patients.csv", "-p", "drafts/new.yaml", "-o", "r").exit_code == 0


def test_init_shows_what_it_guessed_and_who_is_singled_out(patients, run):
    result = run("init", "patients.csv", "-o", "new.yaml")
    lines = result.stdout.splitlines()
    assert any("name" in line and "identifier" in line for line in lines)
    # Every age occurs once, so age alone singles everybody out.
    assert any(line.split()[:4] == ["age", "quasi-identifier", "4", "100"] for line in lines)
    assert "columns that single people out" in result.stdout
    assert "Wrote new.yaml" in result.stderr
    assert "sfumato anonymize patients.csv -p new.yaml -o release" in result.stderr


def test_init_to_stdout_gives_yaml_and_nothing_else(patients, run):
    result = run("init", "patients.csv", "-o", "-")
    assert result.exit_code == 0
    assert result.stdout == sf.draft("patients.csv").text
    assert "role guessed" in result.stderr
    assert everything_in(patients) == {"patients.csv", "policy.yaml"}


def test_init_replaces_a_policy_by_force(patients, run):
    assert run("init", "patients.csv", "--force").exit_code == 0
    assert (patients / "policy.yaml").read_text().startswith("# Drafted from")
    assert everything_in(patients) == {"patients.csv", "policy.yaml"}


@pytest.mark.parametrize(
    "options",
    [
        ("-p", "policy.yaml"),
        ("--qi", "age,zip", "--sensitive", "ill"),
        ("--qi", "age", "--qi", "zip"),
    ],
    ids=["policy", "lists", "repeated"],
)
def test_inspect_shows_the_risk_of_the_table(patients, run, options):
    result = run("inspect", "patients.csv", *options)
    assert result.exit_code == 0
    assert "4 rows in 4 classes, smallest 1, 100 % of rows unique" in result.stdout
    assert "Quasi-identifiers: age, zip" in result.stdout
    told = re.search(r"^ill +1 +1 ", result.stdout, re.MULTILINE) is not None
    assert told == ("--qi" not in options or "ill" in options)
    assert result.stderr == ""


def test_inspect_guesses_if_it_is_told_nothing(patients, run):
    result = run("inspect", "patients.csv")
    assert result.exit_code == 0
    assert "guessed" in result.stdout


def test_inspect_gives_json_and_nothing_else(patients, run):
    result = run("inspect", "patients.csv", "--qi", "age", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    expected = sf.inspect("patients.csv", quasi_identifiers=["age"]).to_dict()
    assert json.loads(result.stdout) == json.loads(json.dumps(expected))


TABLES = (
    "README.md",
    "codebook.csv",
    "codebook.md",
    "evidence.json",
    "manifest.json",
    "qi.csv",
    "schema.sql",
    *(f"sensitive_{name}.csv" for name in ("diagnosis", "insurance", "outcome", "salary")),
)


def test_demo_runs_the_whole_chain(folder, run):
    result = run("demo", "--rows", "2000")
    assert result.exit_code == 0
    for title in (
        "1. 2000 invented patients",
        "2. What the data gives away",
        "3. Anonymised",
        "4. What the release still tells",
        "5. Decoupled",
        "6. Verified",
        "7. 200 more patients, published on a ledger",
    ):
        assert title in result.stdout
    assert "Holds: all" in result.stdout
    assert "release 2: " in result.stdout
    assert "composition exposes nobody" in result.stdout
    assert "The release is in demo-release" in result.stderr
    # The whole rows and the ledger are private: only the tables are left.
    assert everything_in(folder) == {"demo-release", *(f"demo-release/{name}" for name in TABLES)}
    assert sf.verify(folder / "demo-release", sf.samples.synthetic_policy()).holds


def test_demo_finds_what_leaks_and_takes_it_apart(folder, run):
    out = run("demo", "--rows", "2000").stdout
    people = sf.samples.synthetic(2000, seed=1)
    leaks = sf.detect(sf.anonymize(people, sf.samples.synthetic_policy())).leaks
    assert leaks
    rules = "1 rule reveals" if len(leaks) == 1 else f"{len(leaks)} rules reveal"
    assert f"{rules} a sensitive value" in out
    # Lines are broken where the terminal ends.
    assert str(sf.breach(folder / "demo-release").views[0]) in " ".join(out.split())


def test_demo_shows_nobody_alone_afterwards(folder, run):
    lines = run("demo", "--rows", "2000").stdout.splitlines()
    alone = next(line.split() for line in lines if line.strip().startswith("1 "))
    assert alone[-2:] == ["0", "%"]


def test_demo_replaces_its_own_release_and_can_keep_its_data(folder, run):
    for options in ([], ["--keep"], ["--keep"]):
        assert run("demo", "--rows", "1500", "-o", "out/show", *options).exit_code == 0
    assert everything_in(folder / "out") == {
        "show",
        *(f"show/{name}" for name in TABLES),
        "show-input",
        *(f"show-input/{name}" for name in ("demo.ledger", "later.csv", "people.csv")),
        "show-input/policy.yaml",
    }
    # What is kept is what was published from.
    kept = folder / "out" / "show-input"
    assert sf.anonymize(kept / "people.csv", kept / "policy.yaml").verdict.holds
    assert sf.Ledger(kept / "demo.ledger").headroom().alpha == 0.5
    assert (kept / "demo.ledger").stat().st_mode & 0o077 == 0
