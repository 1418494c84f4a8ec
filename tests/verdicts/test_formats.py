"""The answer in every form, and what machines make of it."""

import json
from xml.etree import ElementTree as ET

import pytest

import sfumato as sf
from sfumato.errors import UnknownNameError
from sfumato.reports.verdicts import FORMATS, format_assessment
from sfumato.tasks.assessment import Assessment
from sfumato.verifier import Check, Verdict
from tests.verdicts.tables import ROLES, leaky, odd_assessment, policy, safe


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_says_the_answer_and_what_speaks_against_it(form):
    text = format_assessment(sf.verify(leaky(), policy()), form, subject="people.csv")
    assert "people.csv" in text
    assert "homogeneity" in text
    assert text.endswith("\n")


@pytest.mark.parametrize("form", FORMATS)
def test_odd_texts_do_not_break_a_form(form):
    assert format_assessment(odd_assessment(), form, subject="a b\n#<c>?.csv")


def test_a_form_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(UnknownNameError, match=r"no format 'xml'.*'junit'"):
        format_assessment(odd_assessment(), "xml")


def test_json_is_what_the_assessment_says():
    found = sf.verify(safe(), policy())
    plain = json.loads(format_assessment(found, "json", subject="people.csv"))
    assert plain == {"subject": "people.csv", **found.to_dict()}


def test_junit_has_a_test_for_every_promise_and_attack():
    found = odd_assessment()
    root = ET.fromstring(format_assessment(found, "junit", subject="r"))
    promises, attacks = root.findall("testsuite")
    assert len(promises.findall("testcase")) == len(found.checks)
    assert len(attacks.findall("testcase")) == len(found.attacks)
    assert (root.get("tests"), root.get("failures")) == ("7", "2")
    assert (root.get("errors"), root.get("skipped")) == ("1", "1")
    for suite in root:
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert suite.get(name) == str(len(suite.findall(f"testcase/{tag}")))


def test_junit_of_a_release_that_may_be_published_has_no_failure():
    root = ET.fromstring(format_assessment(sf.verify(safe(), policy()), "junit"))
    assert (root.get("failures"), root.get("errors")) == ("0", "0")


def test_sarif_names_a_rule_for_every_result_and_a_place():
    log = json.loads(format_assessment(odd_assessment(), "sarif", subject="a b\\c.csv"))
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    levels = {result["ruleId"]: result["level"] for result in run["results"]}
    assert levels == {
        "promise/k-anonymity": "error",
        "promise/k-map": "error",
        "attack/homogeneity": "error",
        "attack/linking": "warning",
    }
    for result in run["results"]:
        assert result["ruleId"] in rules
        assert result["message"]["text"]
        [place] = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/c.csv"


def test_markdown_keeps_its_tables_whatever_values_hold():
    text = format_assessment(odd_assessment(), "markdown", subject="r`x`")
    assert text.startswith("# May `r'x'` be published? No\n")
    tables = [line for line in text.splitlines() if line.startswith("|")]
    bars = [line.replace("\\|", "").count("|") for line in tables]
    assert set(bars) == {5, 8}
    assert "<script>" not in text.replace("\\<script\\>", "")


def test_a_table_that_promises_nothing_is_judged_by_the_attacks_alone():
    assert sf.verify(safe(), **ROLES).holds
    assert not sf.verify(leaky(), **ROLES).holds


def test_nothing_looked_at_is_no_yes():
    assert not Assessment(Verdict(())).holds


def test_an_unchecked_promise_is_a_no_with_its_reason():
    found = Assessment(Verdict((Check("k-map", "unchecked", {"k": 2}, None, "no population"),)))
    assert found.answer == "no"
    assert found.why == ("the promise k-map is unchecked: no population",)
