"""Knowledge breach: which columns are told, and what is refused."""

from collections import Counter

import numpy as np
import pytest

from sfumato.attacks import KnowledgeBreach, Target
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
        assert "there " in KnowledgeBreach.why_not(target)
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
