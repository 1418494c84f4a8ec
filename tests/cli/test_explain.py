"""`sfumato explain`: one person, in words, in JSON and as a drawing."""

import json

import pytest

HOSPITAL = """\
zip,age,condition,work
240**,3*,Viral Infection,law
240**,3*,Viral Infection,sales
2596*,>=40,Heart Disease,law
2596*,>=40,Cancer,sales
"""
ROLES = ("--qi", "zip,age", "--sensitive", "condition,work")


@pytest.fixture
def published(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    (folder / "published.csv").write_text(HOSPITAL, encoding="utf-8")
    return "published.csv"


def test_a_person_in_words(run, published):
    result = run("explain", published, "age=41", "zip=25961", "--not", "Heart Disease", *ROLES)
    assert result.exit_code == 0, result.output
    assert "age=41, zip=25961 fits 1 of 2 classes, with 2 of 4 people." in result.stdout
    assert "Known of the person besides: not condition=Heart Disease." in result.stdout
    assert "It is certain that condition is Cancer" in result.stdout
    assert "█" in result.stdout
    # Whoever has no heart disease is the one in sales.
    assert "It is certain that work is sales" in result.stdout


def test_a_person_as_json(run, published):
    known = ("--known", "work=law", "--prior", "condition=Cancer=0.5", "--column", "condition")
    result = run("explain", published, "age=41", *known, *ROLES, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["knows"] == "work=law; condition=Cancer with probability 0.5"
    [belief] = found["beliefs"]
    assert belief["certain"] == "Heart Disease"
    assert found["places"][0]["people"] == 2


def test_several_places_are_listed(run, published):
    result = run("explain", published, *ROLES)
    assert "may be in" in result.stdout
    assert "zip=2596*, age=>=40" in result.stdout


@pytest.mark.usefixtures("patience")
def test_a_drawing_is_written_and_not_over_another(run, published, folder):
    asked = ("explain", published, "age=41", *ROLES, "--draw", "person.svg")
    result = run(*asked)
    assert result.exit_code == 0, result.output
    assert (folder / "person.svg").read_text(encoding="utf-8").startswith("<svg")
    assert run(*asked).exit_code == 2
    assert run(*asked, "--force").exit_code == 0


def test_somebody_who_is_not_there_is_no_mistake(run, published, folder):
    result = run("explain", published, "zip=99999", *ROLES, "--draw", "person.svg")
    assert result.exit_code == 0
    assert "zip=99999: no person in the release fits." in result.stdout
    assert "Nothing was drawn" in result.stderr
    assert not (folder / "person.svg").exists()


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("aeg=41",), "Did you mean 'age'"),
        (("age",), "Write it as column=value"),
        (("age=41", "age=42"), "two values are given"),
        (("age=41", "--not", "Cancr"), "Did you mean 'Cancer'"),
        (("age=41", "--known", "work=lw"), "Did you mean 'law'"),
        (("age=41", "--prior", "Cancer"), "Write it as 'flu=0.01'"),
        (("age=41", "--prior", "Cancer=often"), "is not a share"),
        (("age=41", "--prior", "Cancer=2"), "at most 1"),
        (("age=41", "--column", "conditon"), "Did you mean 'condition'"),
    ],
)
def test_mistakes_are_answered_with_what_was_meant(run, published, asked, message):
    result = run("explain", published, *asked, *ROLES)
    assert result.exit_code == 2
    assert message in result.stderr
