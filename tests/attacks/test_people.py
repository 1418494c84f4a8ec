"""People with several rows: every attack against loops over rows and sets of people."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.attacks import (
    ATTACKS,
    BackgroundKnowledge,
    Corruption,
    EarlierRelease,
    Homogeneity,
    KnowledgeBreach,
    Linking,
    Membership,
    Outside,
    ProbabilisticInference,
    ReleaseMaker,
    Similarity,
    Skewness,
    Target,
)
from sfumato.attacks.base import ONE_ROW_EACH
from sfumato.counts import FrequencySet
from sfumato.counts.people import ClassPeople
from sfumato.errors import InputError
from sfumato.harm import HarmRule, Level
from tests.attacks.reading import matched
from tests.builders import hold_all

NAMES = ["who", "age", "zip", "disease", "pay"]
QUASI, SENSITIVE = ("age", "zip"), ("disease", "pay")
ROWS = st.lists(
    st.tuples(
        st.integers(0, 6),
        st.sampled_from(["2*", "3*"]),
        st.sampled_from(["13***", None]),
        st.sampled_from(["flu", "hiv", "gout", None]),
        st.sampled_from([1000, 1500, 9000, None]),
    ),
    min_size=1,
    max_size=20,
)
RULE = HarmRule()


def of_people(rows):
    return Target.of_table(FrequencySet.from_rows(NAMES, rows), QUASI, SENSITIVE, person="who")


def of_rows(rows):
    counts = FrequencySet.from_rows(NAMES[1:], [row[1:] for row in rows])
    return Target.of_table(counts, QUASI, SENSITIVE)


def informed(target, rows):
    """The same with a list of people, and with those who are in the data."""
    raw = FrequencySet.from_rows(NAMES, rows)
    people = raw.project(("who", *QUASI))
    once = FrequencySet(people.columns, people.codes, np.ones_like(people.rows)).project(QUASI)
    members = None
    if target.person is not None:
        item = people.group_by(QUASI)
        members = ClassPeople.count(people.codes_of("who"), item.of_item, {}, item.n)
    drivers = FrequencySet.from_rows(["name", "age"], [("Ann", 21), ("Bob", 24), ("Cai", 35)])
    target = replace(target, people=once, members=members, matcher=matched(once, [once]))
    return replace(target, outside=Outside.of(drivers, target))


def outcomes(kind, target):
    return [attack.on(target, RULE) for attack in kind.against(target, RULE)]


def told(outcome):
    """What an outcome says, as numbers and texts."""
    plain = outcome.to_dict()
    return {name: plain[name] for name in ("people", "by_level", "of", "prior", "posterior")} | {
        "worst": [(case["people"], case["prior"], case["posterior"]) for case in plain["worst"]]
    }


def flat(value):
    if isinstance(value, dict):
        return [each for one in value.values() for each in flat(one)]
    if isinstance(value, list | tuple):
        return [each for one in value for each in flat(one)]
    return [value]


# What all of them keep


@pytest.mark.usefixtures("patience")
@settings(max_examples=30)
@given(ROWS)
@hold_all(ATTACKS.values())
def test_people_with_one_row_each_are_rows(kind, rows):
    single = [(number, *row[1:]) for number, row in enumerate(rows)]
    one = outcomes(kind, informed(of_people(single), single))
    other = outcomes(kind, informed(of_rows(single), single))
    if other and not one:
        # What could find something is said not to be tried, and then the answer is no yes.
        why = kind.why_not(informed(of_people(single), single))
        assert why == ONE_ROW_EACH or not any(each.people for each in other)
        return
    for mine, theirs in zip(one, other, strict=True):
        assert flat(told(mine)) == pytest.approx(flat(told(theirs)), abs=1e-12)
        assert [case.believed for case in mine.worst] == [case.believed for case in theirs.worst]


@pytest.mark.usefixtures("patience")
@settings(max_examples=30)
@given(ROWS)
@hold_all(ATTACKS.values())
def test_what_a_person_has_twice_counts_once(kind, rows):
    one = outcomes(kind, informed(of_people(rows), rows))
    again = outcomes(kind, informed(of_people(rows + rows[::2]), rows))
    assert [each.to_dict() for each in one] == [each.to_dict() for each in again]


@pytest.mark.usefixtures("patience")
@settings(max_examples=30)
@given(ROWS)
@hold_all(ATTACKS.values())
def test_no_more_people_are_at_risk_than_there_are(kind, rows):
    people = len({row[0] for row in rows})
    for outcome in outcomes(kind, informed(of_people(rows), rows)):
        assert outcome.of == people
        assert 0 <= outcome.people + outcome.high + outcome.moderate <= people
        assert all(0 < case.people <= people for case in outcome.worst)
        assert all(0 <= case.prior <= 1 and 0 <= case.posterior <= 1 for case in outcome.worst)


# By the book


def classes(rows):
    """Of each class, the rows of each person."""
    found = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row[1:3]][row[0]].append(row)
    return found


def with_values(rows, at):
    """Of each class, the known values that each person has; those without any are left out."""
    found = {
        label: {who: {row[at] for row in mine} - {None} for who, mine in people.items()}
        for label, people in classes(rows).items()
    }
    return {
        label: {who: values for who, values in people.items() if values}
        for label, people in found.items()
    }


def belief(people, told, given=lambda values: True):  # noqa: ARG005 - any will do
    """The share of people of whom something is true, among those it may be true of."""
    asked = [values for values in people if given(values)]
    return sum(map(told, asked)) / len(asked) if asked else 0.0


def at_risk(rows, levels):
    """The people of each level, everyone at the worst of their classes."""
    found = defaultdict(int)
    for label, people in classes(rows).items():
        for who in people:
            found[who] = max(found[who], levels.get(label, 0))
    return [sum(level == each for each in found.values()) for level in range(4)]


def judge(rows, statements, given=lambda values: True):  # noqa: ARG005 - any will do
    """The level of each class by the statement that harms most, and the strongest belief.

    Args:
        rows: The rows.
        statements: For the people of a class, what may be believed of them.
        given: What is known of the person besides.
    """
    values = with_values(rows, 3)
    everyone = [each for people in values.values() for each in people.values()]
    levels = {}
    for label, people in values.items():
        for told in statements(list(people.values())):
            after = belief(people.values(), told, given)
            before = belief(everyone, told, given)
            level = int(RULE.levels(np.array([before]), np.array([after]))[0])
            levels[label] = max(levels.get(label, 0), level)
    return levels


def assert_at_risk(outcome, rows, levels):
    expected = at_risk(rows, levels)
    assert [outcome.moderate, outcome.high, outcome.people] == expected[1:]


def each_value(people):
    return [lambda held, value=value: value in held for value in set().union(*people)]


@given(ROWS)
def test_skewness(rows):
    outcome = Skewness("disease").on(of_people(rows), RULE)
    assert_at_risk(outcome, rows, judge(rows, each_value))


@given(ROWS)
def test_homogeneity(rows):
    if len({row[3] for row in rows} - {None}) < 2:
        return
    found = Homogeneity("disease").find(of_people(rows))
    labels = {
        label
        for label, people in with_values(rows, 3).items()
        if people and set.intersection(*people.values())
    }
    target = of_people(rows)
    mine = [target.who(i) for i in np.flatnonzero(found.vulnerable).tolist()]
    assert {(who["age"], who["zip"]) for who in mine} == labels
    expected = {row[0] for row in rows if row[1:3] in labels}
    assert (found.rows, found.of_rows) == (len(expected), len({row[0] for row in rows}))


@given(ROWS)
def test_probabilistic_inference(rows):
    target = of_people(rows)
    found = ProbabilisticInference("disease").find(target)
    values = with_values(rows, 3)
    for at, posterior in enumerate(found.posterior.tolist()):
        people = list(values[tuple(target.who(at).values())].values())
        best = max((belief(people, told) for told in each_value(people)), default=0.0)
        assert posterior == pytest.approx(best)


@given(ROWS)
def test_similarity_by_category(rows):
    known = {row[3] for row in rows}
    if not {"flu", "hiv", "gout"} <= known:
        return
    kinds = [{"flu", "hiv"}, {"gout"}]
    outcome = Similarity("disease", categories=kinds).on(of_people(rows), RULE)
    levels = judge(rows, lambda _: [lambda held, kind=kind: bool(held & kind) for kind in kinds])
    assert_at_risk(outcome, rows, levels)


@given(ROWS)
def test_similarity_within_a_range(rows):
    moved = [(*row[:3], row[4]) for row in rows]
    if all(row[3] is None for row in moved):
        return
    outcome = Similarity("pay", within=500).on(of_people(rows), RULE)

    def windows(people):
        starts = set().union(*people)
        return [
            lambda held, low=low: any(low <= pay <= low + 500 for pay in held) for low in starts
        ]

    assert_at_risk(outcome, moved, judge(moved, windows))


@given(ROWS)
def test_values_that_are_ruled_out_remove_all_who_have_them(rows):
    if "flu" not in {row[3] for row in rows}:
        return
    target = of_people(rows)
    found = BackgroundKnowledge("disease", known_not=["flu"]).find(target)
    values = with_values(rows, 3)
    for at, posterior in enumerate(found.posterior.tolist()):
        people = list(values[tuple(target.who(at).values())].values())
        best = max(
            (belief(people, told, lambda held: "flu" not in held) for told in each_value(people)),
            default=0.0,
        )
        assert posterior == pytest.approx(best)


@given(ROWS)
def test_any_value_that_is_ruled_out_leaves_no_surer_belief_than_is_told(rows):
    target = of_people(rows)
    found = BackgroundKnowledge("disease", rules_out=1).find(target)
    values = with_values(rows, 3)
    for at, posterior in enumerate(found.posterior.tolist()):
        people = list(values[tuple(target.who(at).values())].values())
        held_by = set().union(*people)
        best = max(
            (
                belief(people, told, lambda held, out=out: out not in held)
                for told in each_value(people)
                for out in [*held_by, None]
            ),
            default=0.0,
        )
        assert best <= posterior + 1e-9
        if all(len(held) == 1 for held in people):
            assert posterior == pytest.approx(best)


@given(ROWS, st.integers(1, 3))
def test_corruption(rows, others):
    target = of_people(rows)
    found = Corruption("disease", others=others).beliefs(target, RULE)
    values = with_values(rows, 3)
    for at, posterior in enumerate(found.posterior.tolist()):
        people = list(values[tuple(target.who(at).values())].values())
        shares = [
            sum(map(told, people)) / max(len(people) - others, sum(map(told, people)))
            for told in each_value(people)
        ]
        # The value that harms most is told; others may be likelier, but were before, too.
        assert not people or any(posterior == pytest.approx(share) for share in shares)


@given(ROWS)
def test_linking(rows):
    outcome = Linking().on(of_people(rows), RULE)
    sizes = {label: len(people) for label, people in classes(rows).items()}
    everyone = len({row[0] for row in rows})
    assert outcome.of == everyone
    assert outcome.posterior == pytest.approx(1 / min(sizes.values()))
    alone = {row[0] for row in rows if sizes[row[1:3]] == 1}
    assert outcome.people == (len(alone) if everyone > 1 else outcome.people)


@given(ROWS)
def test_membership(rows):
    target = informed(of_people(rows), rows)
    outcome = Membership().on(target, RULE)
    assert (outcome.of, outcome.worst[0].people) == (len({row[0] for row in rows}),) * 2


@given(ROWS)
def test_a_knowledge_breach_counts_people_with_such_a_row(rows):
    target = of_people(rows)
    attack = KnowledgeBreach(column="disease")
    facts = attack.facts(target, RULE)
    for fact in facts.worst(most=50):
        known = {NAMES.index(name): value for name, value in fact.known}
        at, value = NAMES.index(fact.told[0]), fact.told[1]
        fitting = [row for row in rows if all(row[i] == v for i, v in known.items())]
        support = {row[0] for row in fitting if row[at] is not None}
        assert fact.support == len(support)
        assert fact.people == len({row[0] for row in fitting if row[at] == value})


@given(ROWS)
def test_a_dependency_counts_people_with_such_a_row(rows):
    target = of_people(rows * 2)
    kind = ATTACKS["dependency"]
    for attack in kind.against(target, RULE):
        for rule in replace(attack, support=1).rules(target):
            at = NAMES.index(rule.told.name)
            for i in range(len(rule.entries)):
                codes = rule.entries.known[:, i].tolist()
                known = {
                    NAMES.index(c.name): c.values[v] for c, v in zip(rule.known, codes, strict=True)
                }
                fitting = [row for row in rows if all(row[j] == v for j, v in known.items())]
                support = {row[0] for row in fitting if row[at] is not None}
                value = rule.told.values[rule.entries.value[i]]
                assert rule.entries.support[i] == len(support)
                assert rule.entries.rows[i] == len({r[0] for r in fitting if r[at] == value})


# What is not defined for people


def test_what_is_not_defined_for_people_says_so():
    rows = [(1, "2*", None, "flu", 1000), (1, "3*", None, "hiv", 1500), (2, "3*", None, "flu", 9)]
    target = of_people(rows)
    table = FrequencySet.from_rows(NAMES, rows).project((*QUASI, "disease"))
    maker = ReleaseMaker(table, QUASI, lambda candidate, _: candidate)
    target = replace(target, maker=maker, earlier=(EarlierRelease.of(target, of_rows(rows)),))
    undefined = [kind for kind in ATTACKS.values() if not kind.counts_people]
    elsewhere = {"distance-linkage", "known-items", "undone-generalisation"}
    assert {kind.name for kind in undefined} == {"composition", "minimality", *elsewhere}
    for kind in undefined:
        assert kind.against(target, RULE) == []
        if kind.name in elsewhere:
            continue
        assert kind.why_not(target) == ONE_ROW_EACH
        with pytest.raises(InputError, match="one row per person"):
            replace(kind.example(), column="disease").on(target, RULE)


def test_a_person_in_three_classes_is_one_person_at_risk():
    rows = [(0, age, None, "hiv", 1000) for age in ("2*", "3*", "*")]
    rows += [(n, age, "1", ill, 1000) for n, ill in enumerate("abcdef", 1) for age in ("2*", "3*")]
    outcome = Linking().on(of_people(rows), RULE)
    assert (outcome.people, outcome.of) == (1, 7)
    assert outcome.level is Level.VERY_HIGH
