"""Knowing others, against an adversary who deals out every class in every way."""

import json
from fractions import Fraction
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import Corruption, Target
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import ParameterError, PolicyError
from sfumato.harm import HarmRule, Level
from tests.attacks.tables import values_by_class

VALUES = ["cancer", "flu", "gout"]
CLASS = st.lists(st.sampled_from([*VALUES, None]), min_size=1, max_size=5)
TABLES = st.lists(CLASS, min_size=1, max_size=3).map(
    lambda classes: [(f"{i}", value) for i, values in enumerate(classes) for value in values]
)
RULE = HarmRule()


def knowing(values, others):
    """What is believed of the first of a class, in the worst case over whom else is known.

    For each value: the largest share, over all ways to choose the others and over what they turn
    out to have, of the worlds with these in which the first has it.
    """
    known = [value for value in values if value is not None]
    worlds = set(permutations(known))
    found = {}
    if not known:
        return found
    for chosen in combinations(range(1, len(known)), min(others, len(known) - 1)):
        seen = {}
        for world in worlds:
            seen.setdefault(tuple(world[i] for i in chosen), []).append(world[0])
        for firsts in seen.values():
            for value in set(firsts):
                share = Fraction(firsts.count(value), len(firsts))
                found[value] = max(found.get(value, 0), share)
    return found


def in_one_piece(rows):
    counts = FrequencySet.from_rows(["label", "ill"], rows)
    return Target.of_table(counts, ("label",), ("ill",))


def grouped(rows):
    counts = FrequencySet.from_rows(["label", "ill"], rows)
    return Target.of_grouped("break-merge", GroupedTables.of(counts, ("label",), ("ill",)))


@pytest.mark.parametrize("made", [in_one_piece, grouped])
@given(rows=TABLES, others=st.integers(1, 3))
def test_what_is_left_is_what_the_worlds_say(made, rows, others):
    beliefs = Corruption("ill", others).beliefs(made(rows), RULE)
    table = [value for _, value in rows if value is not None]
    for i, values in enumerate(values_by_class(rows)):
        worlds = knowing(values, others)
        if not worlds:
            assert beliefs.believed(i) == "nothing"
            continue
        value = beliefs.believed(i).removeprefix("ill = ")
        assert beliefs.posterior[i] == pytest.approx(float(worlds[value]))
        # The rest of the table is what is believed before by who knows the same people.
        gone = min(others, sum(v is not None and v != value for v in values))
        assert beliefs.prior[i] == pytest.approx(table.count(value) / (len(table) - gone))
        assert beliefs.rows[i] == sum(v is not None for v in values) - gone


@given(rows=TABLES, others=st.integers(1, 3))
def test_no_other_value_harms_more(rows, others):
    beliefs = Corruption("ill", others).beliefs(in_one_piece(rows), RULE)
    table = [value for _, value in rows if value is not None]
    levels = RULE.judge(beliefs.prior, beliefs.posterior, 9, applies=beliefs.applies).levels
    for i, values in enumerate(values_by_class(rows)):
        for value, share in knowing(values, others).items():
            gone = min(others, sum(v is not None and v != value for v in values))
            prior = table.count(value) / (len(table) - gone)
            level = RULE.levels([prior], [float(share)])[0] if gone else Level.LOW
            assert level <= levels[i]


ROWS = [("A", ill) for ill in ("flu", "gout", "hiv")] + [("B", "flu")] * 9


def test_one_other_is_told_and_a_number_that_is_named_is_judged():
    target = in_one_piece(ROWS)
    [attack] = Corruption.against(target, RULE)
    told = attack.on(target, RULE)
    assert (told.judged, told.people) == (False, 0)
    assert "2 known others are enough" in told.note
    judged = Corruption("ill", others=2).on(target, RULE)
    assert judged.judged
    # Of the three one is left, and it is not known which.
    assert (judged.people, judged.posterior, judged.worst[0].who) == (1, 1.0, {"label": "A"})
    assert json.loads(json.dumps(judged.to_dict())) == judged.to_dict()


def test_who_is_homogeneous_anyway_is_not_counted_again():
    outcome = Corruption("ill", others=1).on(in_one_piece([("C", "hiv")] * 4 + ROWS), RULE)
    assert {"label": "C"} not in [case.who for case in outcome.worst if case.level]
    alike = Corruption("ill", 1).on(in_one_piece([("A", "hiv")] * 3 + [("B", "flu")] * 90), RULE)
    assert alike.people == 0
    assert "enough" not in alike.note


def test_verify_tells_it_and_judges_what_is_asked_for():
    import pyarrow as pa

    ills = ["flu", "gout", "hiv", "cold", "mumps"] * 40
    table = pa.table({"age": [f"{10 * (i // 5)}s" for i in range(200)], "ill": ills})
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    told = sf.verify(table, **roles).attack("corruption")
    assert (told.judged, told.people) == (False, 0)
    asked = sf.verify(table, attacks=[Corruption("ill", others=4)], **roles)
    assert asked.attack("corruption").people == 40
    assert asked.answer == "no"


def test_a_policy_says_how_many_others_are_known():
    import pyarrow as pa

    table = pa.table({"age": [row[0] for row in ROWS], "ill": [row[1] for row in ROWS]})
    columns = {"age": "quasi-identifier", "ill": "sensitive"}
    models = [sf.models.KAnonymity(2)]
    policy = sf.Policy(columns=columns, models=models, verdict={"others": 2})
    assert "others: 2" in policy.to_yaml()
    outcome = sf.verify(table, policy, attacks=["corruption"]).attack("corruption")
    assert (outcome.judged, outcome.people) == (True, 1)
    with pytest.raises(PolicyError, match="others"):
        sf.Policy(columns=columns, models=models, verdict={"others": 0})


def test_others_are_a_number():
    for others in (0, -1, 1.5):
        with pytest.raises(ParameterError):
            Corruption("ill", others)
