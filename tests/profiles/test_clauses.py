"""Profiles: every clause is found broken where it is broken, and none where none is."""

import json
from datetime import date

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ParameterError, PolicyError
from sfumato.profiles import CHECKS, PROFILES, ClauseStanding, profile_of
from sfumato.profiles.written import EXAMPLE
from sfumato.tasks.signing import answer_to_sign
from tests.profiles.columns import identifying

ILLS = ["flu", "gout", "asthma", "ulcer", "mumps", "angina"]
ROLES = {"quasi_identifiers": ["group"], "sensitive": ["ill"]}


def table(size=12, groups=5, **columns):
    """Groups of people who look alike, in which every illness is as frequent."""
    rows = [f"g{i}" for i in range(groups) for _ in range(size)]
    ills = [ILLS[i % 6] for i in range(size)] * groups
    return pa.table({"group": rows, "ill": ills, **columns})


def judged(data, profile, **settings):
    return sf.verify(data, profile=profile, **{**ROLES, **settings})


def broken(data, profile, **settings):
    return [each.clause.id for each in judged(data, profile, **settings).rule.broken]


# HIPAA: one wrong column at a time, and all of them.


def test_nothing_is_wrong_by_safe_harbor_where_nothing_is():
    found = judged(table(), "hipaa-safe-harbor").rule
    assert not found.broken
    assert len(found.of(ClauseStanding.HOLDS)) == 18
    assert [each.clause.id for each in found.of(ClauseStanding.PERSON)] == ["ii", "c"]


@pytest.mark.parametrize("clause", "ABCDEFGHIJKLMNOPQR")
def test_safe_harbor_finds_the_one_clause_that_is_broken(clause):
    name, values = identifying(clause, 1)
    found = judged(table(**{name: values}), "hipaa-safe-harbor")
    assert [each.clause.id for each in found.rule.broken] == [clause]
    assert found.rule[clause].found.columns == (name,)
    assert found.rule[clause].clause.source == f"45 CFR 164.514(b)(2)(i)({clause})"
    assert found.answer == "no"
    assert any(clause in reason and name in reason for reason in found.why)


def test_safe_harbor_finds_all_clauses_at_once():
    wrong = dict(identifying(clause, 2) for clause in "ABCDEFGHIJKLMNOPQR")
    assert broken(table(**wrong), "hipaa-safe-harbor") == [*"ABCDEFGHIJKLMNOPQR"]


def test_a_newer_list_of_areas_may_be_given(tmp_path):
    areas = tmp_path / "areas.txt"
    areas.write_text("# of a newer census\n941, 606\n")
    data = table(zip=["941", "100", "036"] * 20)
    assert broken(data, "hipaa-safe-harbor") == ["B"]
    newer = {"profile": "hipaa-safe-harbor", "areas_file": str(areas)}
    assert judged(data, newer).rule["B"].found.detail.startswith("'zip': the ZIP area 941")
    areas.write_text("94110")
    with pytest.raises(sf.SfumatoError, match="'94110' is not the beginning of a ZIP code"):
        judged(data, newer)


# The other three.


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (table(12), []),
        (table(11), ["threshold"]),
        (
            table(12, code=[f"AX{i:06d}" for i in range(60)]),
            # Who knows the code of a person learns the illness, too.
            ["direct identifiers", "adversaries"],
        ),
        (pa.table({"group": ["a"] * 24, "ill": ["flu"] * 12 + ILLS * 2}), []),
        (
            pa.table({"group": ["a"] * 12 + ["b"] * 12, "ill": ["hiv"] * 12 + ILLS * 2}),
            ["adversaries"],
        ),
    ],
)
def test_ema_0070_finds_what_is_broken(data, wrong):
    assert broken(data, "ema-0070") == wrong


def test_groups_of_eleven_have_a_risk_above_the_threshold_as_it_is_written():
    found = judged(table(11), "ema-0070").rule["threshold"].found
    assert found.figure == "0.0909"
    assert "60" not in found.figure
    assert broken(table(11), {"profile": "ema-0070", "threshold": 0.091}) == []


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (table(10), []),
        (table(9), ["minimum count"]),
        (table(10, phone=[f"({200 + i}) 555-0{100 + i}" for i in range(50)]),
         ["identifiers", "differencing"]),
        (pa.table({"group": ["a"] * 20, "ill": ["flu"] * 18 + ["gout"] * 2}), ["group disclosure"]),
        (pa.table({"group": ["a"] * 20, "ill": ["flu"] * 17 + ["gout"] * 3}), []),
        (table(10, visits=[1] * 49 + [77]), ["differencing"]),
    ],
)  # fmt: skip
def test_a_statistics_office_finds_what_is_broken(data, wrong):
    assert broken(data, "statistics-office") == wrong


def test_an_office_says_its_own_minimum():
    assert broken(table(6), {"profile": "statistics-office", "minimum": 3}) == []


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (table(6), []),
        (table(1), ["singling out", "linkability", "inference"]),
        (table(6, visits=[1] * 29 + [77]), ["singling out", "inference"]),
        (pa.table({"group": ["a"] * 6 + ["b"] * 6, "ill": ["hiv"] * 6 + ILLS}), ["inference"]),
        (
            table(6, pseudonym=[f"AX{i:06d}" for i in range(30)]),
            ["singling out", "linkability", "inference"],
        ),
    ],
)
def test_wp216_finds_what_is_broken(data, wrong):
    assert broken(data, "wp216") == wrong


def test_linkability_is_shown_only_with_another_table_of_the_same_people():
    alone = judged(table(), "wp216")
    assert alone.rule["linkability"].standing is ClauseStanding.OPEN
    assert alone.answer == "with care"
    people = pa.table({"group": ["g0"] * 30, "name": [f"Person {i}" for i in range(30)]})
    listed = judged(table(), "wp216", outside=people)
    assert listed.rule["linkability"].standing is ClauseStanding.HOLDS


# What holds for all.


@pytest.mark.parametrize("name", [*PROFILES])
def test_every_clause_says_where_it_stands_and_what_is_for_a_person(name):
    profile = PROFILES[name].example()
    clauses = profile.clauses()
    assert len({each.id for each in clauses}) == len(clauses)
    assert all(each.text and each.source for each in clauses)
    assert any(each.check.name == "person" for each in clauses)
    found = sf.verify(table(), profile=profile, **ROLES)
    json.dumps(found.to_dict())
    assert "not legal advice" in str(found)
    assert all(each.found.detail for each in found.rule.clauses if each.standing != "holds")


RANK = ["no", "with care", "yes"]


@pytest.mark.parametrize("name", [*PROFILES])
@pytest.mark.parametrize("data", [table(12), table(2), table(1), table(12, visits=[1] * 59 + [77])])
def test_a_profile_never_improves_the_answer(name, data):
    plain = sf.verify(data, **ROLES)
    held = sf.verify(data, profile=PROFILES[name].example(), **ROLES)
    assert RANK.index(held.answer) <= RANK.index(plain.answer)
    assert held.at_risk == plain.at_risk
    assert held.holds <= plain.holds
    assert {*plain.why} <= {*held.why} or held.answer != plain.answer


def test_a_policy_names_its_rule_and_an_argument_goes_before_it():
    columns = {"group": "quasi-identifier", "ill": "sensitive"}
    models = [{"model": "k-anonymity", "k": 10}]
    policy = sf.Policy(columns=columns, models=models, profile="statistics-office")
    assert sf.Policy.from_yaml(policy.to_yaml()) == policy
    assert sf.verify(table(10), policy).rule.profile == "statistics-office"
    assert sf.verify(table(10), policy, profile="wp216").rule.profile == "wp216"


def test_the_report_and_the_signed_answer_have_the_clauses(tmp_path, patience):
    columns = {"group": "quasi-identifier", "ill": "sensitive"}
    policy = sf.Policy(
        columns=columns, models=[{"model": "k-anonymity", "k": 5}], profile="ema-0070"
    )
    release = sf.anonymize(table(6), policy, output=tmp_path / "release")
    report = sf.report(release.folder, policy=policy)
    assert "The rule you answer to" in report.to_markdown()
    assert "0.1667" in report.to_markdown()
    with pytest.raises(sf.SfumatoError, match="threshold"):
        answer_to_sign(release.folder, policy)
    signed = answer_to_sign(release.folder, policy, even_so=True)
    assert signed["rule"]["clauses"][1]["standing"] == "does not hold"


# One's own, and mistakes.


def test_a_rule_of_ones_own_is_written_in_yaml(tmp_path):
    found = judged(table(4), EXAMPLE)
    assert found.rule.profile == "our-rule"
    assert [each.clause.id for each in found.rule.broken] == ["2"]
    assert found.rule["4"].found.detail == "Keep the signed agreement with this report."
    path = tmp_path / "ours.yaml"
    path.write_text(EXAMPLE.read_text())
    (tmp_path / "policy.yaml").write_text(
        "columns: {group: quasi-identifier, ill: sensitive}\n"
        "models: [{model: k-anonymity, k: 2}]\nprofile: ours.yaml\n"
    )
    assert sf.verify(table(4), tmp_path / "policy.yaml").rule.title == (
        "Our rule on publishing data"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\nsource: y\nclauses: []", "there is no clause"),
        ("name: x\nclauses: [{clause: a, text: b, check: person}]", "source is missing"),
        ("name: x\nsource: y\nclauses: [{clause: a, text: b, check: persom}]", "no check 'persom'"),
        ("name: x\nsource: y\nclauses: [{clause: a, text: b}]", "check is missing"),
        ("name: x\nsource: y\ntitel: z\nclauses: [{clause: a, text: b, check: person}]", "'titel'"),
        (
            "name: x\nsource: y\nclauses:\n- {clause: a, text: b, check: largest-risk, at_most: 2}",
            "line 4, clauses",
        ),
    ],
)
def test_a_mistake_in_a_rule_of_ones_own_is_told_with_its_line(tmp_path, text, message):
    path = tmp_path / "ours.yaml"
    path.write_text(text)
    with pytest.raises(PolicyError, match=message):
        profile_of(path)


def test_wrong_profiles_are_refused():
    with pytest.raises(PolicyError, match="Did you mean 'ema-0070'"):
        sf.verify(table(), profile="ema-070", **ROLES)
    with pytest.raises(ParameterError, match="attacks"):
        sf.verify(table(), profile="wp216", attacks=False, **ROLES)
    with pytest.raises(ParameterError, match="profile"):
        profile_of(5)
    assert {*CHECKS} >= {"person", "smallest-group"}


def test_a_draft_for_safe_harbor_keeps_its_clauses(patience):
    n = 400
    data = pa.table(
        {
            "mrn": [f"MR{100_000 + 7 * i}" for i in range(n)],
            "age": [20 + (37 * i) % 78 for i in range(n)],
            "zip": [["94110", "10001", "03601", "60614"][i % 4] for i in range(n)],
            "admitted": [date(2019 + i % 3, 1 + i % 12, 1 + i % 28) for i in range(n)],
            "city": [["Salem", "Dover", "Milton"][i % 3] for i in range(n)],
            "diagnosis": [ILLS[(5 * i) % 6] for i in range(n)],
        }
    )
    drafted = sf.draft(data, profile="hipaa-safe-harbor")
    assert drafted.policy.profile.name == "hipaa-safe-harbor"
    assert drafted.roles["city"] == "dropped"
    release = sf.anonymize(data, drafted.policy)
    found = sf.verify(release)
    assert found.rule.broken == ()
    assert {*release.table["zip"].to_pylist()} <= {"941", "100", "606", "000", "*"}


def test_a_draft_for_ema_0070_promises_groups_of_twelve():
    data = pa.table({"age": [20 + i % 60 for i in range(300)], "ill": ILLS * 50})
    drafted = sf.draft(data, profile="ema-0070")
    assert max(model.smallest_class or 1 for model in drafted.policy.models) == 12
