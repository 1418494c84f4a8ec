"""`sfumato detect`: what a user sees of the findings."""

import json
import re
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


@pytest.mark.usefixtures("patience")
def test_rules_facts_and_advice_are_shown(census, run):
    result = run("detect", "census.csv", *ROLES, "--support", "2")
    assert result.exit_code == 0, result.output
    assert "Government, Marital-Status → Salary" in result.stdout
    assert "very high" in result.stdout
    assert "Decouple Government, Marital-Status, Salary" in result.stdout
    assert "restate how they were generalised" in result.stdout


@pytest.mark.usefixtures("patience")
def test_what_somebody_knows(census, run):
    result = run(
        "detect", "census.csv", *ROLES, "--support", "1",
        "--known", "Government=State-gov", "--known", "Age=[30-50]",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "2 rows match what is known" in result.stdout
    assert "Never-Married" in result.stdout


@pytest.mark.usefixtures("patience")
def test_json_holds_everything(census, run):
    result = run(
        "detect", "census.csv", *ROLES, "--support", "1", "--json", "--known",
        "Government=State-gov",
    )  # fmt: skip
    plain = json.loads(result.stdout)
    assert set(plain["networks"]) == {"quasi-identifiers", "sensitive", "all"}
    assert plain["rules"][0]["reveals"]
    assert plain["advice"]["decouple"] == ["Government", "Marital-Status", "Salary"]
    assert {one["column"] for one in plain["inferred"]} == set(COLUMNS) - {"Government"}
    assert plain["facts"]


@pytest.mark.usefixtures("patience")
def test_pictures_and_exports(census, run):
    result = run(
        "detect", "census.csv", *ROLES, "--support", "1", "--draw", "drawings", "--export",
        "net.bif",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    drawn = sorted(path.name for path in (census / "drawings").iterdir())
    assert drawn == [
        "network-all.svg",
        "network-quasi-identifiers.svg",
        "network-sensitive.svg",
        "table-Gender-given-Zipcode.svg",
        "table-Government-given-Zipcode-Marital-Status-Salary.svg",
        "table-Marital-Status-given-Government.svg",
        "table-Salary-given-Government-Marital-Status.svg",
        "table-Salary-given-Marital-Status.svg",
        "table-Zipcode-given-Age.svg",
    ]
    table = (census / "drawings" / drawn[4]).read_text(encoding="utf-8")
    assert ">Married<" in table
    assert ">Never-Married<" in table
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


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--known", "Goverment=x"], ["no column 'Goverment'", "Did you mean 'Government'"]),
        (
            ["--known", "Government=Stategov"],
            ["no value 'Stategov' in 'Government'", "Did you mean 'State-gov'"],
        ),
        (["--known", "Government"], ["column=value"]),
        (["--known", "Salary=>50K", "--known", "Salary=≤50K"], ["two values"]),
        (
            ["--known", "Age=[30-50]", "--known", "Zipcode=[24000-58000]"],
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
    assert result.stderr.splitlines()[-1].startswith("sfumato: error: ")
    for word in words:
        assert word in result.stderr


def test_without_roles_it_says_what_to_give(census, run):
    result = run("detect", "census.csv")
    assert result.exit_code == 2
    assert "--qi age,zip" in result.stderr


@pytest.mark.usefixtures("patience")
def test_the_printed_networks_come_out(census, run):
    result = run(
        "detect", "census.csv", *ROLES, "--support", "1", "--learner", "weka-ics",
        "--most-given", "0", "--order", "Age,Zipcode,Gender", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["learner"] == {"learner": "weka-ics", "most_given": 0}
    edges = {name: {tuple(e) for e in each["edges"]} for name, each in found["networks"].items()}
    others = set(COLUMNS) - {"Government"}
    assert edges["quasi-identifiers"] == {
        ("Age", "Zipcode"), ("Age", "Gender"), ("Zipcode", "Gender"),
    }  # fmt: skip
    assert edges["sensitive"] == {
        ("Government", "Marital-Status"), ("Government", "Salary"), ("Marital-Status", "Salary"),
    }  # fmt: skip
    assert {a for a, b in edges["all"] if b == "Government"} == others
    holds = {(*rule["known"], rule["told"]): rule["holds"] for rule in found["rules"]}
    assert holds["Age", "Zipcode"]
    assert holds["Age", "Zipcode", "Gender"]
    assert not holds["Age", "Gender"]
    assert not holds["Zipcode", "Gender"]


@pytest.mark.usefixtures("patience")
def test_tables_are_shown_and_given(census, run):
    options = (
        "detect", "census.csv", *ROLES, "--support", "1", "--learner", "weka-ics",
        "--most-given", "0", "--order", "Age,Zipcode,Gender", "--tables",
    )  # fmt: skip
    shown = " ".join(run(*options).stdout.split())
    assert "6 tables of conditional probabilities" in shown
    assert "Salary, given Government, Marital-Status (sensitive)" in shown
    assert "Private Married 100 % 0 % 2" in shown
    tables = json.loads(run(*options, "--json").stdout)["tables"]
    by_name = {(each["child"], *each["parents"]): each for each in tables}
    gender = by_name["Gender", "Age", "Zipcode"]
    assert gender["networks"] == ["quasi-identifiers", "all"]
    first = next(row for row in gender["rows"] if row["given"] == ["[30-50]", "[13000-23000]"])
    assert first["entries"] == [{"value": "F", "count": 5, "probability": 1.0}]
    assert gender["unseen"] == 2
    assert len(by_name) == len(tables) == 6


@pytest.mark.usefixtures("patience")
def test_the_verdicts_are_shown(census, run):
    result = run(
        "detect", "census.csv", *ROLES, "--support", "1", "--learner", "weka-ics",
        "--most-given", "0", "--order", "Age,Zipcode,Gender", "--prior", "1",
    )  # fmt: skip
    text = " ".join(result.stdout.split())
    assert "Of these hold: Age → Zipcode; Age, Zipcode → Gender." in text
    assert "Do not hold: Age → Gender; Zipcode → Gender." in text
    line = next(o for o in result.stdout.splitlines() if "Government → Marital-Status" in o)
    assert " no " in line


@pytest.mark.usefixtures("patience")
def test_a_network_can_be_given_as_arrows_or_as_the_file_that_was_written(census, run):
    drawn = ("--network", "Age -> Zipcode -> Gender, Government → Salary")
    first = run("detect", "census.csv", *ROLES, "--json", *drawn, "--export", "net.bif")
    assert first.exit_code == 0, first.output
    again = run("detect", "census.csv", *ROLES, "--json", "--network", "net.bif")
    assert again.exit_code == 0, again.output
    one, other = json.loads(first.stdout), json.loads(again.stdout)
    assert one == other
    assert one["learner"] is None
    assert "Marital-Status is in none" in one["notes"][0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--network", "Age -> Zip"), "Did you mean 'Zipcode'"),
        (("--network", "Age -> Zipcode -> Age"), "without a circle"),
        (("--network", "none.bif"), "cannot read 'none.bif'"),
        (("--network", "census.csv"), "must be a file that ends in .bif"),
        (("--network", "Age -> Zipcode", "--learner", "ic"), "left out beside a network"),
        (("--learner", "wekaics"), "Did you mean 'weka-ics'"),
        (("--learner", "pyagrum-pc", "--most-given", "1"), "no parameter 'most_given'"),
        (("--most-given", "-1"), "at least 0"),
        (("--order", "Age,Zip"), "Did you mean 'Zipcode'"),
        (("--prior", "-1"), "at least 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(census, run, options, says):
    result = run("detect", "census.csv", *ROLES, *options)
    assert result.exit_code == 2
    assert says in result.output
    assert "Traceback" not in result.output


@pytest.mark.usefixtures("patience")
def test_few_rows_are_told_apart_from_nothing_found(census, run):
    result = run("detect", "census.csv", *ROLES, "--tables")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert "0 rules reveal" in text
    assert "starts from at least 5 rows: 6 rules have fewer behind them" in text
    # Five employers and four marital statuses, of which some nobody has.
    table = result.stdout.partition("Salary, given Government, Marital-Status")[2]
    rows = [line for line in table.partition("\n\n")[2].splitlines()[2:22] if "%" in line]
    assert len(rows) == 20
    assert sum(line.split()[-1] == "0" for line in rows) == 13
    facts = [line for line in result.stdout.splitlines() if "100 %" in line and "=" in line]
    said = []
    for line in facts:
        known, told = re.split(r"\s{2,}", line)[:2]
        said.append((frozenset(known.split(", ")), frozenset(told.split(", "))))
    assert said
    assert len(set(said)) == len(said)
