"""`sfumato breach`: the published figures through the command line, on tables and on parts."""

import csv
import json
from fractions import Fraction

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ParameterError
from tests.networks.worked import COLUMNS, ROWS

ROLES = ("--qi", "Age,Gender,Zipcode", "--sensitive", "Government,Marital-Status,Salary")
GROUP_1 = ("--group", "Age=[30-50]")


def write(path, columns, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


@pytest.fixture
def published(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    write(folder / "published.csv", COLUMNS, ROWS)
    return "published.csv"


@pytest.fixture
def parts(folder, published):
    """The same ten rows in several tables."""
    qi, sensitive = COLUMNS[:3], COLUMNS[3:]
    sf.decouple(published, quasi_identifiers=qi, sensitive=sensitive, output="broken")
    return folder / "broken"


def test_a_person_whose_work_is_known(run, published):
    result = run("breach", published, *ROLES, *GROUP_1, "--known", "Government=State-gov", "--json")
    assert result.exit_code == 0, result.output
    person = json.loads(result.stdout)["person"]
    assert person["size"] == 5
    assert person["known_share"] == {"probability": 0.4, "exact": "2/5"}
    found = {tuple(c["values"].values()): c for c in person["combinations"]}
    assert found["Never-Married", "≤50K"]["exact"] == "8/25"
    assert found["Never-Married", "≤50K"]["before"]["exact"] == "1"
    assert found["Never-Married", ">50K"]["probability"] == 0.08
    assert found["Divorced", "≤50K"]["probability"] == 0.16
    assert len(found) == person["possible"] == 8
    marital = {c["values"]["Marital-Status"]: c for c in person["columns"]["Marital-Status"]}
    assert (marital["Never-Married"]["exact"], marital["Never-Married"]["before"]["exact"]) == (
        "2/5",
        "1",
    )


def test_a_person_in_words(run, published):
    result = run(
        "breach", published, *ROLES, *GROUP_1, "--known", "Government=State-gov", "--alpha", "0.6"
    )
    assert result.exit_code == 0, result.output
    assert "5 people, known besides: Government=State-gov" in result.stdout
    [line] = [one for one in result.stdout.splitlines() if "Never-Married, Salary=≤50K" in one]
    assert line.split()[2:4] == ["32", "%"]
    assert line.split()[-3:] == ["100", "%", "4"]
    assert run("breach", published, *ROLES, *GROUP_1, "--quiet").stdout == ""


def test_few_guesses_are_shown_and_the_others_counted(run, published):
    result = run("breach", published, *ROLES, *GROUP_1, "--most", "3")
    assert "… and 29 less likely combinations" in result.stdout


def test_the_whole_table(run, published):
    result = run("breach", published, *ROLES, "--alpha", "0.3", "--json")
    assert result.exit_code == 0, result.output
    plain = json.loads(result.stdout)
    assert (plain["people"], plain["groups"], plain["alpha"]) == (10, 2, 0.3)
    views = {view["known"]: view for view in plain["views"]}
    assert views["Government"]["worst"][0]["exact"] == "9/25"
    assert views[None]["worst"][0]["exact"] == "27/125"
    assert plain["columns"]["Salary"]["exact"] == "4/5"
    assert plain["columns"]["Salary"]["level"] == "very high"
    changes = {change["known"]: change for change in plain["comparison"]["changes"]}
    assert changes["Government"]["before"]["worst"]["exact"] == "1"
    assert changes["Government"]["after"]["worst"]["exact"] == "9/25"


def test_the_whole_table_in_words(run, published):
    result = run("breach", published, *ROLES, "--alpha", "0.3")
    assert result.exit_code == 0, result.output
    assert "10 people in 2 groups" in result.stdout
    assert "group, Government" in result.stdout
    assert "before breaking, and after" in result.stdout
    assert "above 0.3" in result.stdout


@pytest.mark.usefixtures("patience")
def test_parts_on_disk_say_the_same_as_the_table_they_were_made_of(run, published, parts):
    whole = json.loads(run("breach", published, *ROLES, "--json").stdout)
    alone = json.loads(run("breach", parts, "--json").stdout)
    assert alone["comparison"] is None
    assert {**alone, "comparison": 0} == {**whole, "comparison": 0}
    beside = json.loads(run("breach", parts, "--data", published, "--json").stdout)
    assert beside == whole
    person = (*GROUP_1, "--known", "Government=State-gov")
    assert "32 %" in run("breach", parts, *person).stdout
    assert "before breaking" not in run("breach", parts, *person).stdout
    assert "before breaking" in run("breach", parts, *person, "--data", published).stdout


def test_some_of_the_parts_can_be_chosen(parts):
    exposure = sf.breach(parts, sensitive=["Salary", "Marital-Status"])
    assert exposure.grouped.names == ("Salary", "Marital-Status")
    with pytest.raises(ParameterError, match="groups of its own"):
        sf.breach(parts, quasi_identifiers=["Age"])


def test_a_broken_release_in_memory_is_taken_as_it_is(published):
    qi, sensitive = COLUMNS[:3], COLUMNS[3:]
    table = pa.table({name: [row[i] for row in ROWS] for i, name in enumerate(COLUMNS)})
    release = sf.decouple(table, quasi_identifiers=qi, sensitive=sensitive)
    exposure = sf.breach(release, original=table)
    assert exposure.grouped is release.grouped
    guess = exposure.person({"Age": "[30-50]"}, {"Government": "State-gov"}).likeliest(1)[0]
    assert guess.probability == Fraction(8, 25)
    assert exposure.comparison is not None


def test_one_value_says_where_somebody_may_be(run, published):
    result = run("breach", published, *ROLES, "--known", "Government=Private", "--json")
    shares = [h["share"]["exact"] for h in json.loads(result.stdout)["holders"]]
    assert shares == ["3/5", "1/5"]
    text = run("breach", published, *ROLES, "--known", "Government=Private").stdout
    assert "Government=Private occurs in 2 groups" in text
    assert "75 %" in text


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--group", "Agee=[30-50]"), "Did you mean 'Age'"),
        (("--group", "Age=[30-5]"), "Did you mean '[30-50]'"),
        (("--group", "Age=[30-50]", "--group", "Gender=M"), "The nearest group"),
        (("--group", "Age=[30-50]", "--known", "Government=Stat-gov"), "Did you mean 'State-gov'"),
        (("--group", "Age=[30-50]", "--known", "Government=Self-emp"), "no person with value"),
        (("--known", "Salary=>50K", "--known", "Government=Private"), "Give one, or the group"),
        (("--alpha", "1.5"), "alpha must be a number above 0 and at most 1"),
        (("--data", "published.csv"), "is whole itself"),
    ],
)
def test_mistakes_are_answered_with_exit_code_2(run, published, args, words):
    result = run("breach", published, *ROLES, *args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_without_sensitive_columns_there_is_nothing_to_guess(run, published):
    result = run("breach", published, "--qi", "Age")
    assert result.exit_code == 2
    assert "sensitive must be the columns that are guessed" in result.stderr


def test_a_release_knows_its_own_roles(run, patients):
    assert run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "release").exit_code == 0
    result = run("breach", "release", "--json")
    assert result.exit_code == 0, result.output
    plain = json.loads(result.stdout)
    assert plain["sensitive"] == ["ill"]
    assert plain["views"][0]["worst"][0]["exact"] == "1/2"
