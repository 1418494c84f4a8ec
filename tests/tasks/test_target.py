"""A release as an adversary sees it: which rows are looked into, and what is promised of them."""

import pyarrow as pa
import pyarrow.csv as pc
import pytest

import sfumato as sf
from sfumato.policy import Suppression
from sfumato.tasks.target import target_of

ROLES = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
STARRED = {
    "age": ["30", "30", "40", "40", "*", "*"],
    "ill": ["flu", "gout", "flu", "hiv", "hiv", "hiv"],
}


def policy_of(*models, hierarchy="star", **settings):
    columns = {"age": {"role": "quasi-identifier", "hierarchy": hierarchy}, "ill": "sensitive"}
    return sf.Policy(columns=columns, models=models or [sf.models.KAnonymity(2)], **settings)


def test_what_everybody_believes_counts_the_rows_that_are_nobodys():
    target = target_of(pa.table(STARRED), None, ["age"], ["ill"])
    counts = target.classes.counts_of("ill")
    assert (target.classes.total, target.counts.total) == (4, 4)
    assert [target.who(at) for at in range(2)] == [{"age": "30"}, {"age": "40"}]
    # flu, gout, hiv, missing: of all six rows.
    assert counts.reference.tolist() == [2, 1, 3, 0]
    found = sf.verify(pa.table(STARRED), **ROLES).attack("probabilistic-inference")
    assert (found.of, found.prior, found.posterior) == (4, pytest.approx(1 / 6), 0.5)


def test_dependencies_go_by_the_same_beliefs():
    rows = {
        "age": ["30"] * 20 + ["*"] * 20,
        "work": ["state", "private"] * 20,
        "wed": ["single", "married"] * 10 + ["single"] * 20,
    }
    roles = {"quasi_identifiers": ["age"], "sensitive": ["work", "wed"]}
    found = sf.verify(pa.table(rows), **roles).attack("dependency", "wed")
    worst = {case.believed: case.prior for case in found.worst}
    assert worst["wed = married"] == 0.25
    assert worst["wed = single"] == 0.75


def test_if_nobody_is_shown_everybody_is_looked_at():
    table = pa.table({**STARRED, "age": ["*"] * 6})
    assert target_of(table, None, ["age"], ["ill"]).classes.total == 6


@pytest.mark.parametrize("kind", ["remove", "star"])
def test_a_class_of_stars_in_a_release_of_ours_is_a_class(kind):
    table = pa.table({"age": ["30", "30", "41", "52", "63"], "ill": list("ababb")})
    policy = policy_of(suppression=Suppression(limit=0, rows=kind), method="top-down")
    release = sf.anonymize(table, policy)
    assert sorted(release.table["age"].to_pylist()) == ["*", "*", "*", "30", "30"]
    target = target_of(release)
    assert sorted(target.classes.sizes.tolist()) == [2, 3]


def test_suppressed_stars_of_a_release_are_left_out():
    table = pa.table({"age": ["30", "30", "41"], "ill": ["a", "b", "b"]})
    policy = policy_of(suppression=Suppression(limit=1, rows="star"))
    release = sf.anonymize(table, policy)
    assert release.table["age"].to_pylist().count("*") == 1
    target = target_of(release)
    assert (target.classes.sizes.tolist(), target.counts.total) == ([2], 2)


def people(n):
    return pa.table({"age": ["30"] * n + ["40"] * n})


def test_a_release_for_people_nobody_knows_of_is_told_and_not_judged_by_the_prosecutor(tmp_path):
    pc.write_csv(people(3), tmp_path / "people.csv")
    policy = policy_of(sf.models.KMap(3), population=str(tmp_path / "people.csv"))
    release = sf.anonymize(pa.table({"age": ["30", "40"], "ill": ["flu", "flu"]}), policy)
    assert sorted(release.table["age"].to_pylist()) == ["30", "40"]
    found = sf.verify(release, policy)
    prosecutor, journalist = (each for each in found.attacks if each.attack == "linking")
    assert (prosecutor.people, prosecutor.judged) == (2, False)
    assert prosecutor.note.startswith("told and not judged: k-map protects people of whom nobody")
    # The population is a list: three fit each row.
    assert (journalist.people, journalist.judged) == (0, True)
    assert journalist.posterior == pytest.approx(1 / 3)
    assert found.holds


def test_a_list_wins_over_the_population():
    policy = policy_of(sf.models.KMap(2), population="everybody.csv")
    table = pa.table({"age": ["30", "40"], "ill": ["flu", "flu"]})
    found = sf.verify(table, policy, population=people(2), outside=people(1))
    assert [each.posterior for each in found.attacks if each.attack == "linking"] == [1.0, 1.0]
    assert not found.holds
    assert sf.verify(table, policy, population=people(2)).holds


def test_categories_of_promises_say_what_is_alike():
    rows = {"age": ["30"] * 3 + ["40"] * 3, "ill": ["hiv", "cancer", "hiv", "flu", "gout", "hiv"]}
    model = sf.models.PAlphaSensitiveKAnonymity(
        "ill", p=2, alpha=0, k=3, categories=[["hiv", "cancer"], ["flu", "gout"]]
    )
    policy = policy_of(model)
    for what in (pa.table(rows), sf.anonymize(pa.table(rows), policy)):
        [found] = [e for e in sf.verify(what, policy).attacks if e.attack == "similarity"]
        assert (found.people, found.posterior, found.prior) == (3, 1.0, pytest.approx(4 / 6))
        assert "is one of 'hiv', 'cancer'" in found.worst[0].believed
    held = sf.verify(sf.anonymize(pa.table(rows), policy)).attack("similarity")
    assert held.people == 3
