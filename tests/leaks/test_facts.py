"""Facts against an adversary who goes through the rows one by one, and on planted leaks."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import Column, FrequencySet
from sfumato.errors import UnknownColumnError
from sfumato.harm import HarmRule, Level, Secrecy
from sfumato.leaks import facts
from sfumato.leaks.facts import (
    AdversaryColumns,
    ValueGroups,
    find_facts,
    find_facts_without_each,
)

NAMES = ("zip", "work", "marital", "pay")
SENSITIVE = NAMES[1:]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", None]),
        st.sampled_from(["state", "own", None]),
        st.sampled_from(["single", "married", "widowed", None]),
        st.sampled_from(["low", "high"]),
    ),
    min_size=1,
    max_size=24,
)


def level_of(prior, posterior):
    """The rule for harm, by hand."""
    if posterior <= prior:
        return 0
    quartered = 4 * (1 - posterior) <= 1 - prior and prior < Fraction(3, 4)
    known = posterior >= 2 * prior or (quartered and prior <= Fraction(1, 2))
    if posterior >= Fraction(3, 4) and known:
        return 3
    if posterior >= Fraction(1, 2) and posterior >= 4 * prior:
        return 2
    rare = posterior >= Fraction(1, 5) and posterior >= 10 * prior
    return int(rare or (posterior >= Fraction(3, 4) and quartered))


def knowledge(told):
    """The columns an adversary may know: one or two sensitive ones, with the class or without."""
    others = [name for name in SENSITIVE if name != told]
    for n in (1, 2):
        for known in combinations(others, n):
            yield known
            yield ("zip", *known)


def cells_of(rows, known):
    """The people with the same known values; whose value is missing is not known."""
    cells = defaultdict(list)
    for i, row in enumerate(rows):
        values = tuple((name, row[NAMES.index(name)]) for name in known)
        if all(value is not None for name, value in values if name != "zip"):
            cells[values].append(i)
    return cells


def share_of(rows, told, value):
    """The share of a value among the rows in which any is known."""
    known = [row[NAMES.index(told)] for row in rows if row[NAMES.index(told)] is not None]
    return Fraction(known.count(value), len(known))


def by_hand(rows, told):
    """Per row the worst that an adversary learns of a column, and the facts that harm."""
    worst, harmful = [0] * len(rows), set()
    for known in knowledge(told):
        for key, people in cells_of(rows, known).items():
            here = [rows[i] for i in people]
            for value in {row[NAMES.index(told)] for row in here} - {None}:
                posterior = share_of(here, told, value)
                alike = [row for row in rows if key[0] == ("zip", row[0])]
                if alike and len(people) > 1 and posterior <= share_of(alike, told, value):
                    continue  # The class tells it by itself.
                level = level_of(share_of(rows, told, value), posterior)
                for i in people:
                    worst[i] = max(worst[i], level)
                if level:
                    harmful.add((key, value))
    return worst, harmful


@given(rows=ROWS)
def test_facts_are_what_going_through_the_rows_finds(rows):
    counts = FrequencySet.from_rows(NAMES, rows)
    found = find_facts(counts, NAMES[:1], SENSITIVE)
    for told in SENSITIVE:
        worst, harmful = by_hand(rows, told)
        expected = Counter(level for level in worst if level)
        levels = found.told[told].levels
        assert {level: int(counts.rows[levels == level].sum()) for level in expected} == expected
        assert bool(harmful) == bool(found.told[told].worst)
        for fact in found.told[told].worst:
            assert (fact.known, fact.told[1]) in harmful or len({r[0] for r in rows}) == 1


@given(rows=ROWS)
def test_every_fact_is_true_of_the_rows(rows):
    found = find_facts(FrequencySet.from_rows(NAMES, rows), NAMES[:1], SENSITIVE)
    for fact in found.worst(most=100):
        fitting = [r for r in rows if all(r[NAMES.index(n)] == v for n, v in fact.known)]
        at, value = NAMES.index(fact.told[0]), fact.told[1]
        assert fact.support == sum(row[at] is not None for row in fitting)
        assert fact.people == sum(row[at] == value for row in fitting)
        for row in fitting:
            if row[at] == value:
                assert all(row[NAMES.index(name)] == other for name, other in fact.also)


def table(columns):
    """Counts of columns of whole numbers, a combination per row."""
    codes = np.array(list(columns.values()), dtype=np.int32)
    dictionaries = tuple(Column(n, tuple(range(int(c.max()) + 1))) for n, c in columns.items())
    return FrequencySet(dictionaries, codes, np.ones(codes.shape[1], dtype=np.int64))


def worst_level(columns, **more):
    sensitive = [name for name in columns if name != "zip"]
    found = find_facts(table(columns), ["zip"], sensitive, **more)
    return Level(max(int(told.levels.max(initial=0)) for told in found.told.values()))


@given(rows=ROWS, budget=st.sampled_from([1, 50_000, 10**9]))
def test_what_is_asked_of_each_column_together_is_what_it_tells_by_itself(rows, budget):
    counts = FrequencySet.from_rows(NAMES, rows)
    asked = {
        name: [
            AdversaryColumns((name,), with_class=True),
            *(AdversaryColumns((name, o), with_class=True) for o in SENSITIVE if o != name),
        ]
        for name in SENSITIVE
    }
    known = {name: len(counts.column(name).known) for name in SENSITIVE}
    secrecy = {"pay": np.full(known["pay"], Secrecy.SECRET), "work": None, "marital": None}
    groups = {
        name: [ValueGroups(np.arange(n) % 2, ("even", "odd"), certain=True)]
        for name, n in known.items()
    }
    together = find_facts_without_each(
        counts, ["zip"], SENSITIVE, asked, secrecy=secrecy, groups=groups, budget=budget
    )
    for name, found in together:
        told = [other for other in SENSITIVE if other != name]
        alone = find_facts(
            counts,
            ["zip"],
            told,
            beside=[name],
            secrecy={other: secrecy[other] for other in told},
            groups={other: groups[other] for other in told},
            known=asked[name],
            budget=budget,
        )
        assert found.levels_of(told).tolist() == alone.levels_of(told).tolist()
        assert (found.tried, found.note) == (alone.tried, alone.note)
        assert not found.worst()


def test_what_is_a_function_of_class_and_value_is_found():
    rng = np.random.default_rng(0)
    zips, work = np.repeat(np.arange(40), 100), np.tile(np.arange(4), 1000)
    for ill in ((work + zips) % 4, np.array([rng.permutation(4) for _ in range(40)])[zips, work]):
        columns = {"zip": zips, "work": work, "ill": ill}
        found = find_facts(table(columns), ["zip"], ["work", "ill"])
        assert (found.told["ill"].levels == Level.VERY_HIGH).all()
        assert len(found.told["ill"].worst[0].known) == 2


def test_what_chance_shows_is_a_fact_of_those_people_all_the_same():
    rng = np.random.default_rng(1)
    zips, work = np.repeat(np.arange(100), 6), np.tile(np.repeat(np.arange(3), 2), 100)
    dealt = np.concatenate([rng.permutation(np.repeat(np.arange(3), 2)) for _ in range(100)])
    found = find_facts(table({"zip": zips, "work": work, "ill": dealt}), ["zip"], ["work", "ill"])
    pairs = {(z, w): set(dealt[(zips == z) & (work == w)]) for z in range(100) for w in range(3)}
    agreeing = np.array([len(pairs[z, w]) == 1 for z, w in zip(zips, work, strict=True)])
    assert 0 < agreeing.sum() < len(agreeing)
    assert ((found.told["ill"].levels == Level.VERY_HIGH) == agreeing).all()


def test_whom_a_value_singles_out_is_told_for_certain():
    rng = np.random.default_rng(2)
    zips, work = np.repeat(np.arange(100), 6), np.tile(np.arange(6), 100)
    ill = np.concatenate([rng.permutation(6) for _ in range(100)])
    found = find_facts(table({"zip": zips, "work": work, "ill": ill}), ["zip"], ["work", "ill"])
    assert (found.told["ill"].levels == Level.VERY_HIGH).all()
    assert found.told["ill"].worst[0].support == 1


def test_ten_judges_with_one_illness_are_found_wherever_they_live():
    rng = np.random.default_rng(3)
    n = 2000
    work, ill = rng.integers(0, 20, n), rng.choice(4, n, p=[0.25, 0.01, 0.24, 0.5])
    judges = rng.choice(n, 10, replace=False)
    work[judges], ill[judges] = 20, 1
    columns = {"zip": rng.integers(0, 50, n), "work": work, "ill": ill}
    found = find_facts(table(columns), ["zip"], ["work", "ill"]).told["ill"]
    assert (found.levels[judges] == Level.VERY_HIGH).all()
    assert found.worst[0].known == (("work", 20),)


def test_two_values_that_tell_a_third_are_found():
    rng = np.random.default_rng(4)
    a, b, zips = rng.integers(0, 2, 2000), rng.integers(0, 2, 2000), rng.integers(0, 50, 2000)
    columns = {"zip": zips, "a": a, "b": b, "c": a ^ b}
    found = find_facts(table(columns), ["zip"], ["a", "b", "c"])
    assert max(told.levels.max() for told in found.told.values()) == Level.VERY_HIGH
    assert {name for name, _ in found.worst()[0].known} < {"a", "b", "c"}


def test_what_is_kept_of_each_person_for_each_column_takes_a_byte():
    counts = FrequencySet.from_rows(NAMES, [("1", "state", "single", "low")] * 3)
    for told in find_facts(counts, ["zip"], SENSITIVE).told.values():
        assert {each.itemsize for each in (told.levels, *told.by_known.values())} == {1}


def test_a_missing_value_is_neither_known_nor_told():
    rows = [("1", None, "single", "low")] * 5 + [("1", "own", None, "low")] * 3
    found = find_facts(FrequencySet.from_rows(NAMES, rows), NAMES[:1], SENSITIVE)
    assert found.worst() == []
    hiv = [("1", "own", "hiv", "low")] * 2 + [("1", "own", None, "low")] * 2
    hiv += [("2", "state", "flu", "low")] * 4
    found = find_facts(FrequencySet.from_rows(NAMES, hiv), NAMES[:1], SENSITIVE)
    assert found.told["marital"].worst[0].posterior == 1.0
    # They are told about as well: nothing says that they are different.
    assert found.told["marital"].levels.tolist().count(Level.VERY_HIGH) == 2


def test_harmless_values_are_no_fact_and_secret_ones_weigh_more():
    rows = [("1", "own", "ill", "low")] * 3 + [("1", "state", "well", "low")] * 3
    counts = FrequencySet.from_rows(NAMES, rows)
    values = counts.column("marital").values
    harmless = np.array([Secrecy.HARMLESS if v == "well" else Secrecy.ORDINARY for v in values])
    found = find_facts(counts, ["zip"], SENSITIVE, secrecy={"marital": harmless}).told["marital"]
    assert {fact.told[1] for fact in found.worst} == {"ill"}
    rows = [("1", "own", "ill", "low")] * 3 + [("1", "state", "well", "low")] * 2
    counts = FrequencySet.from_rows(NAMES, rows)
    plain = find_facts(counts, ["zip"], SENSITIVE).told["marital"]
    secret = np.array([Secrecy.SECRET if v == "ill" else Secrecy.ORDINARY for v in values])
    raised = find_facts(counts, ["zip"], SENSITIVE, secrecy={"marital": secret}).told["marital"]
    ill = [fact.level for fact in plain.worst if fact.told[1] == "ill"]
    assert (ill[0], raised.worst[0].level) == (Level.MODERATE, Level.VERY_HIGH)


def test_what_the_budget_does_not_reach_is_said():
    rng = np.random.default_rng(6)
    columns = {f"s{i}": rng.integers(0, 3, 500) for i in range(12)}
    columns["s11"] = columns["s10"]
    counts = table({"zip": rng.integers(0, 20, 500)} | columns)
    found = find_facts(counts, ["zip"], list(columns), budget=60_000_000)
    assert 0 < found.tried < found.tried + len(found.left) == 2 * (12 + 66)
    assert f"{found.tried} of 156 sets of known columns were tried" in found.note
    # The most telling columns come first.
    assert found.told["s11"].worst[0].known[-1][0] == "s10"
    assert find_facts(counts, ["zip"], list(columns)[:3]).note == ""


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("told", [100, 3])
def test_every_column_by_itself_is_reached_in_a_wide_table(told):
    """Sets of few values take less time than those that nearly single people out."""
    rng = np.random.default_rng(6)
    names = [f"s{i}" for i in range(100)]
    counts = table({"zip": rng.integers(0, 5, 3000)} | {n: rng.integers(0, 3, 3000) for n in names})
    known = [AdversaryColumns(each, True) for n in (1, 2) for each in combinations(names, n)]
    budget = facts.work_for(counts)
    found = find_facts(
        counts, ["zip"], names[:told], beside=names[told:], known=known, budget=budget
    )
    assert found.left
    assert {len(one.columns) for one in found.left} == {2}


@pytest.mark.usefixtures("patience")
def test_counting_in_blocks_finds_the_same(monkeypatch):
    """Large tables are added up over a few columns at a time before sets of them are counted."""
    rng = np.random.default_rng(7)
    columns = {"zip": rng.integers(0, 30, 900)}
    columns |= {f"s{i}": rng.integers(0, 2 + i, 900) for i in range(6)}
    columns["s5"] = (columns["s0"] + 2 * columns["s1"]) % 7
    counts = table(columns).project(list(columns))
    sensitive = list(columns)[1:]
    plain = find_facts(counts, ["zip"], sensitive)
    monkeypatch.setattr(facts, "_MANY", 0)
    monkeypatch.setattr(facts, "_MOST_COMBINATIONS", 300)
    monkeypatch.setattr(facts, "_PER_BLOCK", 0)
    monkeypatch.setattr(facts, "_PER_ADDED", 0)
    blocks = []
    project = facts._Table.project
    counted = lambda self, *given: blocks.append(0) or project(self, *given)  # noqa: E731
    monkeypatch.setattr(facts._Table, "project", counted)
    found = find_facts(counts, ["zip"], sensitive)
    assert len(blocks) > 3
    for name in sensitive:
        one, other = plain.told[name], found.told[name]
        assert one.levels.tolist() == other.levels.tolist()
        assert {n: each.tolist() for n, each in one.by_known.items()} == {
            n: each.tolist() for n, each in other.by_known.items()
        }
        assert str(one.worst[0]) == str(other.worst[0])


def test_what_is_known_can_be_said():
    rows = [("1", "own", "ill", "low")] * 3 + [("2", "state", "well", "low")] * 3
    counts = FrequencySet.from_rows(NAMES, rows)
    found = find_facts(counts, ["zip"], SENSITIVE, known=[AdversaryColumns(("work",), False)])
    assert found.worst()[0].known == (("work", "own"),)
    with pytest.raises(UnknownColumnError, match="Did you mean 'work'"):
        find_facts(counts, ["zip"], SENSITIVE, known=[AdversaryColumns(("wrok",), False)])


@pytest.mark.parametrize("rows", [[], [("1", "own", "ill", "low")], [(None,) * 4] * 3])
def test_a_table_without_people_or_values_tells_nothing(rows):
    found = find_facts(FrequencySet.from_rows(NAMES, rows), NAMES[:1], SENSITIVE)
    assert found.worst() == []


def test_certainty_is_counted_as_an_adversary_who_imagines_every_table_would():
    """Whoever knows class and value deals the rows of the class out in every way that fits."""
    group = [("own", "ill"), ("own", "ill"), ("state", "well"), ("state", "ill")]
    rows = [("1", work, ill, "low") for work, ill in group] + [("2", "farm", "well", "low")] * 4
    found = find_facts(FrequencySet.from_rows(NAMES, rows), NAMES[:1], SENSITIVE)
    fitting = [world[0] for world in permutations(group) if world[0][0] == "own"]
    believed = Fraction(sum(ill == "ill" for _, ill in fitting), len(fitting))
    [fact] = [f for f in found.told["marital"].worst if f.known == (("work", "own"),)]
    assert fact.posterior == believed == 1


def test_the_rule_by_hand_is_the_rule():
    rule = HarmRule()
    for a in range(21):
        for b in range(21):
            prior, posterior = Fraction(a, 20), Fraction(b, 20)
            [level] = rule.levels(np.array([float(prior)]), np.array([float(posterior)])).tolist()
            assert level == level_of(prior, posterior), (prior, posterior)


def test_verify_finds_the_headline_leak_of_the_sources(tmp_path):
    census = sf.samples.table("census")
    roles = {
        "quasi_identifiers": ["age", "gender", "zipcode"],
        "sensitive": ["government", "marital_status", "salary"],
    }
    found = sf.verify(census, **roles)
    assert found.answer == "no"
    outcome = found.attack("knowledge-breach", "marital_status")
    [case] = [each for each in outcome.worst if each.who.get("government") == "State-gov"]
    assert (case.people, case.posterior) == (2, 1.0)
    assert case.believed == "marital_status = Never-Married, salary = <=50K"
    assert found.at_risk == len(census)
