"""Commands to study a table with: what they show and write, and what they refuse."""

import json
import random

import pyarrow as pa
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


@pytest.mark.usefixtures("patience")
def test_increments_as_printed_are_written_and_what_they_leak_is_said(folder, run):
    """Tables 11 to 13 of the article on increments."""
    (folder / "ten.csv").write_bytes(sf.samples.path("census").read_bytes())
    new = ["[30-50],F,[13000-23000],State-gov,Never-Married," + pay for pay in ("<=50K", ">50K")]
    head = "age,gender,zipcode,government,marital_status,salary"
    (folder / "new.csv").write_text("\n".join([head, *new * 5]) + "\n", encoding="utf-8")
    roles = "--qi", "age,gender,zipcode", "--sensitive", "government,marital_status,salary"
    assert run("decouple", "ten.csv", "-o", "apart", *roles).exit_code == 0
    asked = "ledger", "as-printed", "apart", "new.csv", "--alpha", "0.75", "--known", "government"
    result = run(*asked, "-o", "printed")
    assert result.exit_code == 0, result.stderr
    assert "not for publication" in result.stderr
    assert "government=State-gov 10 10 100 %" in " ".join(result.stdout.split())
    names = "government", "marital_status", "salary"
    found = {}
    for name in names:
        rows = (folder / "printed" / f"sensitive_{name}.csv").read_text().splitlines()[1:]
        found[name] = sorted(tuple(row.split(",")[1:]) for row in rows)
    assert found == {
        "government": sorted(
            [
                ("State-gov", "12"),
                ("Federal-gov", "1"),
                ("Private", "1"),
                ("Local-gov", "1"),
                ("Private", "3"),
                ("Self-emp", "1"),
                ("Federal-gov", "1"),
            ]
        ),
        "marital_status": sorted(
            [
                ("Married", "1"),
                ("Never-Married", "12"),
                ("Divorced", "1"),
                ("Separated", "1"),
                ("Married", "3"),
                ("Never-Married", "1"),
                ("Divorced", "1"),
            ]
        ),
        "salary": sorted([("<=50K", "9"), (">50K", "6"), ("<=50K", "3"), (">50K", "2")]),
    }
    assert len((folder / "printed" / "qi.csv").read_text().splitlines()) == 21
    assert "not for publication" in (folder / "printed" / "README.md").read_text()
    assert not (folder / "printed" / "manifest.json").exists()
    again = run(*asked, "-o", "printed")
    assert (again.exit_code, "exists" in again.stderr) == (2, True)
    inside = run(*asked, "-o", "apart/printed")
    assert inside.exit_code == 2
    assert json.loads(run(*asked, "--json").stdout)["admitted"] == 10


@pytest.mark.usefixtures("patience")
def test_the_cost_of_hiding_is_shown_at_each_threshold(folder, run):
    (folder / "ten.csv").write_bytes(sf.samples.path("census").read_bytes())
    roles = "--qi", "age,gender,zipcode", "--sensitive", "government,salary"
    result = run("hiding", "ten.csv", *roles, "--confidence", "0.5,0.7,0.9")
    assert result.exit_code == 0, result.stderr
    # Above one half of a group: <=50K in both, Private in the second, each told by three columns.
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert any(line.startswith("0.5 9 100 %") for line in lines)
    assert any(line.startswith("0.7 3 50 %") for line in lines)
    assert "0.9 0 0 % 0 % 0 %" in lines
    whole = json.loads(run("hiding", "ten.csv", *roles, "--json").stdout)
    assert [each["confidence"] for each in whole["thresholds"]][4] == 0.5
    for wrong in ("x", "1.5"):
        assert run("hiding", "ten.csv", *roles, "--confidence", wrong).exit_code == 2


ATTACKED = """
columns:
  age: {role: quasi-identifier, hierarchy: {kind: intervals, widths: [10, 20]}}
  zip: {role: quasi-identifier, hierarchy: {kind: masking, length: 3}}
  ill: {role: sensitive, hierarchy: {kind: taxonomy, tree: {bad: [hiv, cancer], mild: [flu, cold]}}}
models:
- {model: k-anonymity, k: 2}
- {model: distinct-l-diversity, column: ill, l: 2}
"""


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("seed", range(3))
def test_the_share_of_minimal_tables_that_suffer_an_attack_is_counted_by_hand_too(folder, seed):
    rng = random.Random(seed)
    rows = [
        (rng.randrange(20, 60), rng.choice(["111", "112", "121"]), rng.choice(list(KINDS)))
        for _ in range(24)
    ]
    (folder / "policy.yaml").write_text(ATTACKED, encoding="utf-8")
    table = pa.table({name: [r[i] for r in rows] for i, name in enumerate(("age", "zip", "ill"))})
    found = sf.tools.lattice(table, "policy.yaml", attack="similarity")
    suffering = set()
    for node in found.minimal:
        classes = {}
        for age, area, ill in rows:
            wide = [age, age // 10, age // 20, 0][node[0]]
            classes.setdefault((wide, area[: 3 - node[1]]), []).append(KINDS[ill])
        if any(len(set(kinds)) == 1 for kinds in classes.values()):
            suffering.add(node)
    assert found.minimal
    assert {*found.suffering("similarity(ill, level=1)")} == suffering


KINDS = {"hiv": "bad", "cancer": "bad", "flu": "mild", "cold": "mild"}


def test_an_attack_that_is_not_on_classes_is_refused(incognito, run):
    result = run("lattice", "people.csv", "-p", "policy.yaml", "--attack", "linking")
    assert result.exit_code == 2
    assert "no attack on a sensitive column by class 'linking'" in result.stderr
