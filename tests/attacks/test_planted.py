"""Leaks that were planted are found, all of them and nobody else; noise is not mistaken for one."""

import numpy as np
import pytest

from sfumato.attacks import (
    ATTACKS,
    BackgroundKnowledge,
    Dependency,
    Homogeneity,
    ProbabilisticInference,
    Similarity,
    Skewness,
    Target,
)
from sfumato.counts import FrequencySet
from sfumato.harm import HarmRule
from sfumato.hierarchy.base import Hierarchy

ORGANS = {"lung": ["asthma", "flu", "cough"], "stomach": ["ulcer", "gastritis", "reflux"]}
ILLS = [ill for ills in ORGANS.values() for ill in ills]
TREE = Hierarchy.from_paths(ILLS, [[organ, "*"] for organ in ORGANS for _ in ORGANS[organ]])


def noise(rng, *, classes=12, size=200):
    """Classes in which everybody's illness is drawn alike."""
    return [
        (f"{i:02}", ILLS[code]) for i in range(classes) for code in rng.integers(0, len(ILLS), size)
    ]


def target_of(rows):
    counts = FrequencySet.from_rows(["age", "ill"], rows)
    ladders = {"ill": TREE.bind("ill", counts.column("ill").known)}
    return Target.of_table(counts, ("age",), ("ill",), ladders)


EQUAL = [("equal", "flu")] * 7
EIGHTY = [("eighty", "ulcer")] * 8 + [("eighty", "flu"), ("eighty", "cough")]
STOMACH = [("stomach", ill) for ill in ORGANS["stomach"]] * 3
ORGAN = [("organ", ill) for ill in ORGANS["stomach"]] * 8
"""So many that chance does not make it: half of all illnesses are of the stomach."""


@pytest.mark.parametrize(
    ("attack", "found"),
    [
        (Homogeneity("ill"), {"equal": 7}),
        (ProbabilisticInference("ill", at_least=0.75), {"equal": 7, "eighty": 10}),
        (Skewness("ill"), {"equal": 7, "eighty": 10}),
        # Without one of the rest, 8 of 9 have an ulcer; of the stomach diseases two are left.
        (BackgroundKnowledge("ill", rules_out=1), {"equal": 7, "eighty": 10}),
        (BackgroundKnowledge("ill", rules_out=2), {"equal": 7, "eighty": 10, "stomach": 9}),
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(5))
def test_exactly_those_who_were_planted_are_at_risk(attack, found, seed):
    rows = noise(np.random.default_rng(seed)) + EQUAL + EIGHTY + STOMACH
    outcome = attack.on(target_of(rows), HarmRule())
    # Half of all illnesses are of the stomach: that all of a class are was to be guessed.
    assert outcome.people + outcome.moderate == sum(found.values())
    at_risk = outcome.worst[: len(found)]
    assert {case.who["age"]: case.people for case in at_risk} == found
    rest = outcome.worst[len(found) :]
    assert not {case.who["age"] for case in rest} & set(found)


@pytest.mark.parametrize("seed", range(5))
def test_a_class_of_one_organ_is_at_risk(seed):
    rows = noise(np.random.default_rng(seed)) + EIGHTY + ORGAN
    outcome = Similarity("ill", level=1).on(target_of(rows), HarmRule())
    # Half of all illnesses are of the stomach; of a little more one would have guessed it.
    assert outcome.people + outcome.moderate == 24
    assert outcome.worst[0].who == {"age": "organ"}


@pytest.mark.parametrize("seed", range(5))
def test_seven_people_of_one_organ_are_told_though_chance_explains_them(seed):
    rows = noise(np.random.default_rng(seed)) + EQUAL
    outcome = Similarity("ill", level=1).on(target_of(rows), HarmRule())
    assert outcome.people + outcome.moderate == 7
    assert outcome.by_chance == 7


@pytest.mark.parametrize("seed", range(5))
def test_in_noise_nobody_is_at_risk(seed):
    target = target_of(noise(np.random.default_rng(100 + seed)))
    for name in ("homogeneity", "probabilistic-inference", "skewness", "similarity"):
        for attack in ATTACKS[name].against(target, HarmRule()):
            assert attack.on(target, HarmRule()).people == 0
    for n in (1, 2):
        assert BackgroundKnowledge("ill", rules_out=n).on(target, HarmRule()).people == 0


def independent(rng, n=600):
    codes = [rng.integers(0, k, n) for k in (3, 4, 2, 3, 4)]
    counts = FrequencySet.from_rows(
        ["age", "zip", "sex", "ill", "pay"], zip(*(c.tolist() for c in codes), strict=True)
    )
    return Target.of_table(counts, ("age", "zip", "sex"), ("ill", "pay"))


@pytest.mark.usefixtures("patience")
def test_independent_columns_tell_nothing_but_by_chance():
    found = 0
    for seed in range(60):
        target = independent(np.random.default_rng(seed))
        found += any(
            one.on(target, HarmRule()).people for one in Dependency.against(target, HarmRule())
        )
    assert found <= 3


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_dependency_is_found_with_everybody_it_concerns(seed):
    rng = np.random.default_rng(seed)
    n = 600
    age, work = rng.integers(0, 3, n), rng.integers(0, 3, n)
    wed = np.where((work == 0) & (rng.random(n) < 0.9), 0, rng.integers(0, 4, n))
    rows = list(zip(age.tolist(), work.tolist(), wed.tolist(), strict=True))
    counts = FrequencySet.from_rows(["age", "work", "marital"], rows)
    target = Target.of_table(counts, ("age",), ("work", "marital"))
    outcome = Dependency("marital").on(target, HarmRule())
    state = [row for row in rows if row[1] == 0]
    assert outcome.people == len(state)
    worst = outcome.worst[0]
    assert worst.who["work"] == 0
    assert worst.believed == "marital = 0"
    assert outcome.prior == pytest.approx(np.mean(wed == 0))
    single = [row for row in state if row[2] == 0]
    whole = next(case for case in outcome.worst if set(case.who) == {"work"})
    assert whole.posterior == pytest.approx(len(single) / len(state))
    # And back: nobody is betrayed by being single, because many are.
    assert Dependency("work").on(target, HarmRule()).people == 0
