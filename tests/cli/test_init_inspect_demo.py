"""Draft a policy, inspect a table, see the whole chain: when all goes well."""

import json
import re

import pytest

import sfumato as sf
from tests.cli.conftest import everything_in


@pytest.mark.usefixtures("patience")
def test_init_writes_a_policy_that_can_be_used_at_once(patients, run):
    (patients / "drafts").mkdir()
    result = run("init", "patients.csv", "-o", "drafts/new.yaml")
    assert result.exit_code == 0
    text = (patients / "drafts" / "new.yaml").read_text(encoding="utf-8")
    assert text == sf.draft("patients.csv").text
    assert sf.Policy.from_yaml(text).quasi_identifiers == ("age", "zip")
    assert everything_in(patients / "drafts") == {"new.yaml"}
    assert run("anonymize", "patients.csv", "-p", "drafts/new.yaml", "-o", "r").exit_code == 0


@pytest.mark.usefixtures("patience")
def test_init_shows_what_it_guessed_and_who_is_singled_out(patients, run):
    result = run("init", "patients.csv", "-o", "new.yaml", "--all")
    lines = result.stdout.splitlines()
    assert any("name" in line and "identifier" in line for line in lines)
    # Every age occurs once, so age alone singles everybody out.
    assert any(line.split()[:4] == ["age", "quasi-identifier", "4", "100"] for line in lines)
    assert "columns that single people out" in result.stdout
    assert "Wrote new.yaml" in result.stderr
    assert "sfumato anonymize patients.csv -p new.yaml -o release" in result.stderr


@pytest.mark.usefixtures("patience")
def test_init_fits_one_screen_and_shows_columns_in_doubt_first(folder, run, monkeypatch):
    # In a narrower terminal, long reasons take a second line.
    monkeypatch.setenv("COLUMNS", "120")
    sizes = {15: 30, 60: 50}
    for columns, most in sizes.items():
        names = ["age", "sex", *(f"v{i}" for i in range(columns - 2))]
        rows = [
            ",".join(
                [str(20 + n % 50), "fm"[n % 2], *(f"a{(n * i) % 7}" for i in range(columns - 2))]
            )
            for n in range(300)
        ]
        (folder / "wide.csv").write_text("\n".join([",".join(names), *rows]), encoding="utf-8")
        result = run("init", "wide.csv", "--force")
        assert result.exit_code == 0, result.stderr
        assert len((result.stdout + result.stderr).splitlines()) <= most
        assert len((folder / "policy.yaml").read_text("utf-8").splitlines()) <= 2 * columns
        table = result.stdout.splitlines()[2:]
        doubtful = [i for i, line in enumerate(table) if " ? " in line]
        assert columns < 60 or doubtful == list(range(len(doubtful)))
        assert columns < 60 or " more columns: " in result.stdout


@pytest.mark.usefixtures("patience")
def test_init_to_stdout_gives_yaml_and_nothing_else(patients, run):
    result = run("init", "patients.csv", "-o", "-")
    assert result.exit_code == 0
    assert result.stdout == sf.draft("patients.csv").text
    assert "what happens" in result.stderr
    assert everything_in(patients) == {"patients.csv", "policy.yaml"}


@pytest.mark.usefixtures("patience")
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


@pytest.mark.parametrize("size", [0, 1, 2])
def test_inspect_looks_at_sets_of_the_size_asked_for(patients, run, size):
    options = ("--qi", "age,zip", "--fraction", "0.5", "--subsets", str(size))
    result = run("inspect", "patients.csv", *options, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    known = ["age", "zip"]
    expected = sf.inspect("patients.csv", quasi_identifiers=known, fraction=0.5, subsets=size)
    assert json.loads(result.stdout) == json.loads(json.dumps(expected.to_dict()))
    said = run("inspect", "patients.csv", *options).stdout
    few = ["Special uniques", "sets of one column", "sets of up to 2 columns"][size]
    assert (few in said) == (size > 0)


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


@pytest.mark.usefixtures("patience")
def test_demo_runs_the_whole_chain_and_ends_with_data_to_work_with(folder, run):
    # One run for everything it says: it costs seconds.
    result = run("demo", "--rows", "1000", "-o", "out/show", "--keep")
    assert result.exit_code == 0
    out = result.stdout
    for title in (
        "1. 1000 invented patients",
        "2. What the data gives away",
        "3. Anonymised",
        "4. What the release still reveals",
        "5. Decoupled",
        "6. Verified",
        "7. Another hospital, and 500 more patients of it, on a ledger",
    ):
        assert title in out
    assert re.search(r"May it be published\? (Yes|With care)\. None of", out)
    assert re.search(r"rules? reveals? a sensitive value", out)
    assert "The release is in out/show" in result.stderr
    # No row is alone, no column is lost, and what is sensitive is there.
    lines = [line.split() for line in out.splitlines()]
    assert next(words for words in lines if words[:3] == ["1", "100", "%"])[-2:] == ["0", "%"]
    known = [words for words in lines if words[1:2] == ["quasi-identifier"] and words[-1] == "%"]
    assert [words[0] for words in known] == list(QUASI_IDENTIFIERS)
    assert all(int(words[-2]) < 80 for words in known)
    for words in (words for words in lines if words[1:2] == ["sensitive"]):
        assert words[2:] == ["100", "%", "0", "%", "0", "%"]
    # The ledger lets people join.
    admitted = re.search(r"release 2: (\d+) rows admitted", out)
    assert admitted is not None
    assert int(admitted[1]) > 100
    assert "composition exposes no person" in out
    # Lines are broken where the terminal ends.
    assert str(sf.breach(folder / "out" / "show").views[0]) in " ".join(out.split())
    assert everything_in(folder / "out") == {
        "show",
        *(f"show/{name}" for name in TABLES),
        "show-input",
        *(f"show-input/{name}" for name in PRIVATE),
    }
    # What is kept is what was published from.
    kept = folder / "out" / "show-input"
    assert sf.Policy.load(kept / "policy.yaml").quasi_identifiers == QUASI_IDENTIFIERS
    assert sf.Ledger(kept / "demo.ledger").headroom().alpha == 0.5
    assert (kept / "demo.ledger").stat().st_mode & 0o077 == 0


QUASI_IDENTIFIERS = ("age", "sex", "postcode", "nationality", "marital_status", "admitted")
PRIVATE = ("demo.ledger", "later.csv", "others.csv", "people.csv", "policy.yaml")


@pytest.mark.usefixtures("patience")
def test_demo_replaces_a_release_and_leaves_nothing_private(patients, run):
    sf.anonymize("patients.csv", "policy.yaml", output="demo-release")
    assert run("demo", "--rows", "200").exit_code == 0
    assert everything_in(patients) == {
        "patients.csv",
        "policy.yaml",
        "demo-release",
        *(f"demo-release/{name}" for name in TABLES),
    }


def test_demo_writes_a_table_and_nothing_else(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo", "--rows", "30", "--table", "patients.csv")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Next: sfumato init patients.csv" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["patients.csv"]
    assert sf.inspect("patients.csv", quasi_identifiers=["age"]).rows == 30
    again = run("demo", "--table", "patients.csv")
    assert again.exit_code == 2
    assert "'patients.csv' exists. Choose another name." in again.stderr
    assert run("demo", "--table", "no/such/folder.csv").exit_code == 2
