"""Knowledge breach: which columns are told, and what is refused."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks import KnowledgeBreach, Target
from sfumato.attacks.lacking import columns_lacked
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import InputError, UnknownColumnError
from sfumato.harm import HarmRule

ROWS = [
    ("3*", "state", "single", "low"),
    ("3*", "state", "married", None),
    ("4*", "own", None, None),
]
NAMES = ["age", "work", "marital", "pay"]


def targets(sensitive):
    counts = FrequencySet.from_rows(NAMES, ROWS)
    grouped = GroupedTables.of(counts, ("age",), sensitive)
    return [
        Target.of_table(counts, ("age",), sensitive),
        Target.of_grouped("break-merge", grouped),
    ]


@pytest.mark.parametrize("at", [0, 1])
def test_all_columns_but_the_known_one_are_told(at):
    target = targets(("work", "marital", "pay"))[at]
    assert KnowledgeBreach("marital").on(target, HarmRule()).column == "work, pay"
    assert KnowledgeBreach().on(target, HarmRule()).column == "work, marital, pay"


def test_a_group_in_which_nothing_is_known_of_a_column_tells_no_combination():
    _, after = targets(("work", "marital", "pay"))
    beliefs = KnowledgeBreach("work").beliefs(after)
    assert beliefs.posterior.tolist() == [0.5, 0.0]
    # Of two equally likely values that are equally rare, the later one.
    assert beliefs.believed(0) == "marital=single, pay=low"
    assert beliefs.believed(1) == "nothing"


def test_with_one_sensitive_column_there_is_nothing_left():
    for target in targets(("work",)):
        assert KnowledgeBreach.against(target, HarmRule()) == []
        assert "sensitive" in (KnowledgeBreach.why_not(target) or "")
        assert "column" in KnowledgeBreach.why_not(target)
        with pytest.raises(InputError, match="a sensitive column that is not known"):
            KnowledgeBreach("work").on(target, HarmRule())


def test_a_misspelt_column_is_answered_with_the_right_one():
    for target in targets(("work", "pay")):
        with pytest.raises(UnknownColumnError, match=r"no column 'wrok'.*Did you mean 'work'"):
            KnowledgeBreach("wrok").on(target, HarmRule())


def test_groups_that_chance_makes_alike_are_told_as_they_are():
    rng = np.random.default_rng(4)
    rows = [(g, a, b) for g in range(500) for a, b in rng.integers(0, 6, (6, 2)).tolist()]
    counts = FrequencySet.from_rows(["group", "drug", "ill"], rows)
    grouped = GroupedTables.of(counts, ("group",), ("drug", "ill"))
    outcome = KnowledgeBreach("drug").on(Target.of_grouped("break-merge", grouped), HarmRule())
    assert outcome.posterior == pytest.approx(5 / 6)
    alike = [max(Counter(a for g, _, a in rows if g == at).values()) for at in range(500)]
    assert outcome.people == 6 * sum(n >= 5 for n in alike) > 0


def with_gaps(share, *, depends=False):
    """A table of two classes where the illness of those with one job is the same, if depends."""
    rows = []
    for at in range(400):
        gap = at % 100 < share * 100
        ill = "hiv" if gap and depends else ("flu", "gout", "ache", "cold")[at // 2 % 4]
        died = None if gap else f"day {at % 7}"
        rows.append((f"zip {at % 2}", died, ill))
    names = ["zip", "died", "ill"]
    return pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)})


@pytest.mark.parametrize("depends", [True, False])
def test_others_know_that_a_person_lacks_a_value_where_that_means_something(depends):
    told = sf.verify(
        with_gaps(0.05, depends=depends),
        quasi_identifiers=["zip"],
        sensitive=["ill"],
        attacks=["knowledge-breach"],
    ).attack("knowledge-breach")
    lacking = [case for case in told.worst if case.who.get("died", "") is None]
    assert bool(lacking) is depends
    assert told.people >= 20 if depends else not told.people


def test_what_most_people_lack_is_known_and_gaps_of_one_value_are():
    often = with_gaps(0.3)
    names = ["zip", "died", "ill"]
    counts = FrequencySet.from_rows(names, [tuple(row.values()) for row in often.to_pylist()])
    assert columns_lacked(counts, names) == ("died",)
    one = FrequencySet.from_rows(["ill", "died"], [("flu", "yes")] * 9 + [("flu", None)])
    assert columns_lacked(one, ["ill", "died"]) == ("died",)


def test_no_one_knows_of_gaps_where_the_policy_says_so():
    table = with_gaps(0.3, depends=True)
    policy = sf.Policy(
        columns={"zip": "quasi-identifier", "died": "sensitive", "ill": "sensitive"},
        models=[{"model": "k-anonymity", "k": 2}],
        missing="matches-any",
    )
    gap = pa.table({"zip": [None], "died": ["day 1"], "ill": ["flu"]})
    table = pa.concat_tables([table, gap.cast(table.schema), gap.cast(table.schema)])
    told = sf.verify(table, policy, attacks=["knowledge-breach"]).attack("knowledge-breach")
    assert not any(None in {case.who.get("died", "")} for case in told.worst)


def test_others_know_the_weight_of_a_person_in_a_plain_table():
    ills = ["flu", "gout", "hiv", "ache"] * 10
    table = pa.table({"age": ["30s"] * 40, "ill": ills, "weight": [1.5 + at for at in range(40)]})
    columns = {"age": "quasi-identifier", "ill": "sensitive", "weight": "weight"}
    policy = sf.Policy(columns=columns, models=[{"model": "k-anonymity", "k": 5}])
    found = sf.verify(table, policy)
    assert [line.people for line in found.adversaries] == [0, 40, 40]
    # That it is known of a person harms no one; a release has one per class.
    assert not [each for each in found.assumptions if each.kind == "plain"]
    released = sf.verify(sf.anonymize(table, policy))
    assert released.at_risk == 0
    assert len(released.adversaries) == 1
