"""Two whole releases of the same people, against all ways to say whose rows are whose."""

import json
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import permutations, product

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import Composition, EarlierRelease, Target
from sfumato.attacks.composition import compare_people
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError, UnknownNameError
from sfumato.harm import HarmRule
from tests.attacks.test_joint import worlds

RULE = HarmRule()
ILLS = ["cold", "flu", "gout", "hiv"]
RAW = st.tuples(st.integers(20, 39), st.sampled_from(["130", "134", "240"]), st.sampled_from(ILLS))
PEOPLE = st.lists(RAW, min_size=2, max_size=6)
AGES = {
    "decades": lambda a: f"{a // 10 * 10}-{a // 10 * 10 + 9}",
    "halves": lambda a: f"{a // 5 * 5}-{a // 5 * 5 + 4}",
    "shifted": lambda a: f"{(a - 5) // 10 * 10 + 5}-{(a - 5) // 10 * 10 + 14}",
    "none": lambda _: "*",
}
ZIPS = {"raw": lambda z: z, "two": lambda z: z[:2] + "*", "none": lambda _: "*"}
WAYS = st.tuples(st.sampled_from(sorted(AGES)), st.sampled_from(sorted(ZIPS)))


def recoded(people, way):
    age, zipcode = AGES[way[0]], ZIPS[way[1]]
    return [(age(a), zipcode(z), ill) for a, z, ill in people]


def target_of(rows):
    counts = FrequencySet.from_rows(["age", "zip", "ill"], rows)
    return Target.of_table(counts, ("age", "zip"), ("ill",))


def after(later, *earlier):
    found = (EarlierRelease.of(later, each, name=f"{i}") for i, each in enumerate(earlier))
    return replace(later, earlier=tuple(found))


def covers(label, values):
    """The raw values that a label stands for, read by hand."""
    if label == "*":
        return {*values}
    if "-" in label:
        low, high = map(int, label.split("-"))
        return {v for v in values if low <= v <= high}
    return {v for v in values if str(v).startswith(label.rstrip("*"))}


def fitting(one, other):
    """Pairs of classes that share a combination of raw values."""
    ages, zips = range(10, 50), ("130", "134", "240")
    return {
        (a, b)
        for a in {row[:2] for row in one}
        for b in {row[:2] for row in other}
        if covers(a[0], ages) & covers(b[0], ages) and covers(a[1], zips) & covers(b[1], zips)
    }


def textbook(one, other):
    """What is believed of a person of two classes: the share of worlds, over all who may be it."""
    tables = [[(row[:2], row[2]) for row in rows] for rows in (one, other)]
    counts = defaultdict(lambda: defaultdict(int))
    every = worlds(*tables, fitting(one, other))
    for world in every:
        for (_, a, value), (_, b, _) in world:
            counts[a, b][value] += 1
    return {
        pair: (
            {value: n / sum(values.values()) for value, n in values.items()},
            sum(values.values()) / len(every),
        )
        for pair, values in counts.items()
    }


@pytest.mark.usefixtures("patience")
@settings(max_examples=150, deadline=None)
@given(PEOPLE, WAYS, WAYS)
@example([(25, "130", "cold"), (35, "130", "cold")], ("decades", "none"), ("shifted", "none"))
def test_the_belief_is_the_share_of_worlds(people, one_way, other_way):
    one, other = recoded(people, one_way), recoded(people, other_way)
    target = after(target_of(one), target_of(other))
    [earlier] = target.earlier
    expected = textbook(one, other)
    found = compare_people(target, earlier, earlier.pairs, "ill", RULE)
    classes = [target.who, earlier.target.who]
    shown = {
        tuple(tuple(classes[side](int(each)).values()) for side, each in enumerate(pair))
        for pair in zip(earlier.pairs.one, earlier.pairs.other, strict=True)
    }
    assert shown == fitting(one, other)
    near = 1e-9 if found.exact else 0.06
    believed = {}
    for at in range(len(found.beliefs.prior)):
        who, words = found.beliefs.who(at), found.beliefs.believed(at)
        if words.startswith("who "):
            continue
        value = words.split()[2]
        matching = [
            pair
            for pair in expected
            if pair[0] == (who["age"], who["zip"])
            and who.get("earlier age", pair[1][0]) == pair[1][0]
            and who.get("earlier zip", pair[1][1]) == pair[1][1]
        ]
        believed[at] = value
        if not matching and not found.exact:
            # Labels fit and no world has it: the numbers of largest entropy leave next to none.
            assert found.beliefs.rows[at] < near
            continue
        beliefs = [expected[pair][0].get(value, 0.0) for pair in matching]
        assert any(found.beliefs.posterior[at] == pytest.approx(b, abs=near) for b in beliefs)
    # Nobody joined and nobody left.
    assert len(believed) == len(found.beliefs.prior)
    assert found.people == pytest.approx(len(people), abs=1e-6 if found.exact else 0.1)


@settings(max_examples=60, deadline=None)
@given(PEOPLE, WAYS)
def test_the_same_release_again_adds_nothing(people, way):
    rows = recoded(people, way)
    outcome = Composition(column="ill").on(after(target_of(rows), target_of(rows)), RULE)
    assert (outcome.people, outcome.high, outcome.moderate) == (0, 0, 0)
    coarse = recoded(people, ("none", "none"))
    for pair in ((rows, coarse), (coarse, rows)):
        outcome = Composition(column="ill").on(after(*map(target_of, pair)), RULE)
        # What a coarser release of the same people tells, the finer one tells already.
        assert (outcome.people, outcome.high, outcome.moderate) == (0, 0, 0)


def table(rows, names=("age", "zip", "ill")):
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


ROLES = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"]}
ZIP_ROWS = [("*", z, ill) for z, ills in (("130**", "abc"), ("240**", "def")) for ill in ills]
AGE_ROWS = [(a, "*", ill) for a, ills in (("2*", "cde"), ("3*", "abf")) for ill in ills]


def test_verify_finds_the_one_value_that_fits_both():
    alone = sf.verify(table(AGE_ROWS), **ROLES)
    assert all(not each.people for each in alone.attacks if each.judged)
    found = sf.verify(table(AGE_ROWS), earlier=table(ZIP_ROWS), **ROLES)
    outcome = found.attack("composition")
    assert (found.answer, outcome.people, outcome.posterior) == ("no", 2, 1.0)
    assert outcome.prior == pytest.approx(1 / 6)
    believed = {case.believed.split(" (")[0]: dict(case.who) for case in outcome.worst}
    assert believed["ill = c"] == {"age": "2*", "zip": "*", "earlier zip": "130**"}
    assert "33 % by this release alone, 33 % by the earlier" in outcome.worst[0].believed
    assert json.loads(json.dumps(outcome.to_dict())) == outcome.to_dict()


def test_each_of_several_earlier_releases_is_compared():
    found = sf.verify(table(AGE_ROWS), earlier=[table(AGE_ROWS), table(ZIP_ROWS)], **ROLES)
    outcomes = [each for each in found.attacks if each.attack == "composition"]
    assert [each.people for each in outcomes] == [0, 2]
    assert [each.about for each in outcomes] == ["ill, earlier=release 1", "ill, earlier=release 2"]


def test_who_joined_or_left_is_looked_up_among_the_few():
    first = [("2*", "*", ill) for ill in "abcd"] + [("3*", "*", ill) for ill in "efgh"]
    later = [*first, ("2*", "*", "e")]
    joined = sf.verify(table(later), earlier=table(first), **ROLES).attack("composition")
    assert (joined.people, joined.worst[0].people) == (1, 1)
    assert joined.worst[0].believed == "who joined has ill = e (20 % by one release alone)"
    left = sf.verify(table(first), earlier=table(later), **ROLES).attack("composition")
    assert left.worst[0].believed == "who left has ill = e (20 % by one release alone)"


@pytest.mark.usefixtures("patience")
def test_releases_of_any_kind_can_be_compared():
    names = ("age", "zip", "ill")
    people = [(20 + i, f"13{i % 7}{i % 10}", "abcdef"[i * 5 % 6]) for i in range(60)]
    raw = table([(str(a), z, ill) for a, z, ill in people], names)
    columns = {
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 10]}},
        "zip": {"role": "quasi-identifier", "hierarchy": "masking"},
        "ill": "sensitive",
    }
    policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(5)])
    whole = sf.anonymize(raw, policy)
    releases = {
        "whole": whole,
        "mondrian": sf.anonymize(raw, policy, method="mondrian"),
        "break-merge": sf.decouple(whole, "break-merge"),
        "anatomy": sf.decouple(raw, {"method": "anatomy", "l": 3}, **ROLES),
        "slicing": sf.decouple(raw, {"method": "slicing", "l": 2}, **ROLES),
    }
    for name, later in releases.items():
        for earlier in releases.values():
            found = sf.verify(later, earlier=earlier, attacks=["composition"])
            # Groups with the same numbers are compared by these, and all columns at once.
            same = name == "break-merge" and earlier is later
            outcomes = [each for each in found.attacks if same or each.column == "ill"]
            assert outcomes, name
            assert all(each.tried for each in outcomes), (name, [each.note for each in outcomes])
            assert all(0 <= each.posterior <= 1 for each in outcomes)
            if earlier is later:
                assert sum(each.people for each in outcomes) == 0


def test_what_cannot_be_compared_is_said():
    target = after(target_of(AGE_ROWS), target_of(ZIP_ROWS))
    with pytest.raises(UnknownNameError, match="earlier releases"):
        Composition(column="ill", earlier="spring").on(target, RULE)
    with pytest.raises(ParameterError, match="groups to subtract"):
        Composition().on(target, RULE)
    other = pa.table({"age": ["2*"], "pay": ["low"]})
    with pytest.raises(ParameterError, match="sensitive column of this one"):
        sf.verify(table(AGE_ROWS), earlier=other, **ROLES)
    assert "give it (--earlier)" in Composition.why_not(target_of(AGE_ROWS))


def test_words_that_nothing_explains_are_not_compared():
    tree = {"Europe": ["France", "Spain"], "Asia": ["China", "Nepal"]}
    rule = {"role": "quasi-identifier", "hierarchy": {"kind": "taxonomy", "tree": tree}}
    policy = sf.Policy(columns={"from": rule, "ill": "sensitive"}, models=[sf.models.KAnonymity(2)])
    fine = table(
        [(c, i) for c in ("France", "Spain", "China", "Nepal") for i in "ab"], ("from", "ill")
    )
    coarse = table([(c, i) for c in ("Europe", "Asia") for i in "aabb"], ("from", "ill"))
    roles = {"quasi_identifiers": ["from"], "sensitive": ["ill"]}
    outcome = sf.verify(fine, earlier=coarse, **roles).attack("composition")
    assert not outcome.tried
    assert "labels of 'from'" in outcome.note
    assert sf.verify(fine, earlier=coarse, **roles).answer != "yes"
    # The policy has the tree, and the original has the values.
    assert sf.verify(fine, policy, earlier=coarse).attack("composition").people == 0
    found = sf.verify(fine, earlier=fine, data=fine, **roles).attack("composition")
    assert (found.tried, found.people) == (True, 0)


def test_missing_labels_that_match_any_are_the_same_peoples_in_both():
    rows = table([("30", "a"), ("30", "b"), ("31", "c"), (None, "a"), (None, "c")], ("age", "ill"))
    columns = {"age": "quasi-identifier", "ill": "sensitive"}
    policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(2)], missing="matches-any")
    outcome = sf.verify(rows, policy, earlier=rows).attack("composition")
    assert (outcome.tried, outcome.people, outcome.high) == (True, 0, 0)


def test_others_people_are_not_compared():
    other = table([("2*", "*", "z")] * 6)
    outcome = sf.verify(table(AGE_ROWS), earlier=other, **ROLES).attack("composition")
    assert not outcome.tried
    assert "are they of the same people?" in outcome.note


def test_too_many_pairs_are_no_yes(monkeypatch):
    monkeypatch.setattr("sfumato.attacks.overlap.MOST_PAIRS", 1)
    found = sf.verify(table(AGE_ROWS), earlier=table(ZIP_ROWS), **ROLES)
    outcome = found.attack("composition")
    assert not outcome.tried
    assert "pairs of classes fit" in outcome.note
    assert found.answer != "yes"
    assert "composition" in found.untried


def test_a_table_that_is_anonymised_again_with_more_rows_pins_who_is_in_both():
    """The worked case of the page about increments, against every world that fits both tables."""
    first = {20: "flu", 22: "gout", 26: "hiv", 31: "ulcer", 33: "asthma", 35: "angina"}
    later = first | {21: "cold", 23: "burn", 24: "rash"}
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "ill": "sensitive"},
        models=[sf.models.KAnonymity(3), sf.models.ProbabilisticLDiversity("ill", 3)],
        method="mondrian",
    )
    releases = [
        sf.anonymize(pa.table({"age": list(rows), "ill": list(rows.values())}), policy)
        for rows in (first, later)
    ]
    classes = [[(20, 22, 26), (31, 33, 35)], [(20, 21, 22, 23), (24, 26, 31, 33, 35)]]
    for release, rows, groups in zip(releases, (first, later), classes, strict=True):
        published = Counter(frozenset(rows[age] for age in group) for group in groups)
        found: dict[str, set[str]] = {}
        for row in release.table.to_pylist():
            found.setdefault(row["age"], set()).add(row["ill"])
        assert Counter(map(frozenset, found.values())) == published

    def dealings(groups, rows):
        """Every way in which the people of each class can have its values."""
        dealt = [permutations([rows[age] for age in group]) for group in groups]
        for values in product(*dealt):
            yield {
                age: ill
                for group, ills in zip(groups, values, strict=True)
                for age, ill in zip(group, ills, strict=True)
            }

    before = {tuple(world[age] for age in first) for world in dealings(classes[0], first)}
    both = [
        world
        for world in dealings(classes[1], later)
        if tuple(world[age] for age in first) in before
    ]
    assert both
    assert {world[26] for world in both} == {"hiv"}
    outcome = sf.verify(releases[1], earlier=releases[0], attacks=["composition"])
    worst = outcome.attack("composition").worst[0]
    assert (worst.people, worst.posterior) == (1, 1.0)
    assert worst.believed.startswith("ill = hiv")
