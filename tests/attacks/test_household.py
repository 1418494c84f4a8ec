"""The household attack against an adversary who imagines every table that fits."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks import HouseholdKnowledge, Target
from sfumato.counts import FrequencySet
from sfumato.errors import InputError
from sfumato.harm import HarmRule, Level

RULE = HarmRule()
NAMES = ["age", "ill", "home"]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["2*", "3*"]),
        st.sampled_from(["flu", "hiv", "gout", None]),
        st.sampled_from([1, 2, None]),
    ),
    min_size=1,
    max_size=7,
)


def target_of(rows):
    counts = FrequencySet.from_rows(NAMES, rows)
    return Target.of_table(counts, ("age",), ("ill",), household="home")


def imagined(rows, victim, people):
    """How likely a person has each value, to whoever knows those of the household.

    Every way to deal the known values of some people out among those of them whose value is known
    is equally likely; those in which the others of the household have other values are ruled out.
    The one who is asked about is taken to be one of those with a known value.
    """
    others = {
        at
        for at in people
        if at != victim and rows[at][2] is not None and rows[at][2] == rows[victim][2]
    }
    known = [at for at in people if rows[at][1] is not None]
    # Who has no value is looked for among the rest all the same, as one of them.
    asked = victim if victim in known else next((at for at in known if at not in others), None)
    if asked is None:
        return {}
    hits, fitting = Counter(), 0
    for world in permutations([rows[at][1] for at in known]):
        dealt = dict(zip(known, world, strict=True))
        if all(dealt[at] == rows[at][1] for at in others if at in dealt):
            fitting += 1
            hits[dealt[asked]] += 1
    return {value: Fraction(n, fitting) for value, n in hits.items()}


def expected(rows):
    """The level of each person, by every world there is."""
    levels = []
    for victim, row in enumerate(rows):
        mine = [at for at, each in enumerate(rows) if each[0] == row[0]]
        alone = [r if at == victim else (*r[:2], None) for at, r in enumerate(rows)]
        usual = imagined(alone, victim, mine)
        after = imagined(rows, victim, mine)
        before = imagined(rows, victim, range(len(rows)))
        level = 0
        for value, posterior in after.items():
            if posterior > usual.get(value, 0):
                found = RULE.levels(np.array([float(before[value])]), np.array([float(posterior)]))
                level = max(level, int(found[0]))
        levels.append(level)
    return levels


@given(ROWS)
def test_it_believes_what_all_imagined_tables_say(rows):
    levels = expected(rows)
    outcome = HouseholdKnowledge("ill").on(target_of(rows), RULE)
    found = [outcome.moderate, outcome.high, outcome.people]
    assert found == [levels.count(level) for level in (1, 2, 3)]
    homes = {row[2] for row, level in zip(rows, levels, strict=True) if level == Level.VERY_HIGH}
    assert outcome.settings["households"] == len(homes)
    assert outcome.settings["of_households"] == len({row[2] for row in rows} - {None})


@given(ROWS)
def test_the_strongest_belief_is_one_of_an_imagined_table(rows):
    outcome = HouseholdKnowledge("ill").on(target_of(rows), RULE)
    for case in outcome.worst:
        value = case.believed.removeprefix("ill = ")
        told = [
            (imagined(rows, at, range(len(rows)))[value], imagined(rows, at, mine)[value])
            for at, row in enumerate(rows)
            if row[0] == case.who["age"]
            for mine in [[i for i, each in enumerate(rows) if each[0] == row[0]]]
            if value in imagined(rows, at, mine)
        ]
        assert any(
            case.prior == pytest.approx(float(before))
            and case.posterior == pytest.approx(float(after))
            for before, after in told
        )


PANEL = st.lists(
    st.tuples(
        st.sampled_from(["2*", "3*"]),
        st.sampled_from(["flu", "hiv", "gout", None]),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=10,
)
HOMES = [1, 1, 2, 2, None]
"""The household of each of five people."""


@given(PANEL)
def test_people_with_several_rows_by_loops(rows):
    table = [(age, ill, HOMES[who], who) for age, ill, who in rows]
    counts = FrequencySet.from_rows([*NAMES, "who"], table)
    target = Target.of_table(counts, ("age",), ("ill",), person="who", household="home")
    outcome = HouseholdKnowledge("ill").on(target, RULE)
    held = defaultdict(lambda: defaultdict(set))
    for age, ill, who in rows:
        held[age][who] |= {ill} - {None}
    worst = defaultdict(int)
    for age, people in held.items():
        for victim in people:
            others = {
                who for who in range(5) if who != victim and HOMES[who] == HOMES[victim] is not None
            }
            rest = [v for who, v in people.items() if who not in others and v]
            table_rest = [
                v for each in held.values() for who, v in each.items() if who not in others and v
            ]
            everyone = [v for v in people.values() if v]
            for value in ("flu", "hiv", "gout"):
                if not rest or not sum(value in v for v in rest):
                    continue
                after = sum(value in v for v in rest) / len(rest)
                if after <= sum(value in v for v in everyone) / len(everyone) + 1e-12:
                    continue
                before = sum(value in v for v in table_rest) / len(table_rest)
                level = int(RULE.levels(np.array([before]), np.array([after]))[0])
                worst[victim] = max(worst[victim], level)
        del age
    found = [outcome.moderate, outcome.high, outcome.people]
    assert found == [list(worst.values()).count(level) for level in (1, 2, 3)]
    assert outcome.of == len({row[2] for row in rows})


def test_people_who_live_alone_are_told_nothing_of():
    rows = [("2*", "flu", 1), ("2*", "hiv", 2), ("2*", "hiv", None), ("2*", "gout", None)]
    outcome = HouseholdKnowledge("ill").on(target_of(rows), RULE)
    assert (outcome.people, outcome.worst, outcome.of) == (0, (), 4)
    assert outcome.settings == {"households": 0, "of_households": 2}


def test_without_households_it_says_what_it_needs():
    counts = FrequencySet.from_rows(["age", "ill"], [("2*", "flu")])
    target = Target.of_table(counts, ("age",), ("ill",))
    assert HouseholdKnowledge.against(target, RULE) == []
    assert "household in the policy" in HouseholdKnowledge.why_not(target)
    with pytest.raises(InputError, match="nothing says who lives together"):
        HouseholdKnowledge("ill").on(target, RULE)
