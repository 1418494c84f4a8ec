"""What every attack must keep, on releases of every kind."""

import json
from contextlib import suppress
from dataclasses import FrozenInstanceError, fields, replace
from inspect import getdoc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import (
    ATTACKS,
    EarlierRelease,
    ItemRows,
    Outside,
    PerturbedRows,
    ReleaseMaker,
    Target,
)
from sfumato.counts import FrequencySet
from sfumato.counts.baskets import Baskets
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import SfumatoError, UnknownNameError
from sfumato.harm import HarmRule, Level
from sfumato.hierarchy.base import Hierarchy
from sfumato.perturbations import PlainNoise, Pram
from tests.attacks.reading import matched
from tests.builders import hold_all

EXAMPLES = [kind.example() for kind in ATTACKS.values()]
every_example = pytest.mark.parametrize("attack", EXAMPLES, ids=str)
every_kind = pytest.mark.parametrize("kind", ATTACKS.values(), ids=list(ATTACKS))

NAMES = ["age", "zip", "disease", "pay"]
QUASI, SENSITIVE = ("age", "zip"), ("disease", "pay")
ILL = ["flu", "hiv", "gout"]
TREE = Hierarchy.from_paths(ILL, [["viral", "*"], ["viral", "*"], ["gout", "*"]])
PEOPLE = st.dictionaries(
    st.tuples(
        st.sampled_from(["2*", "3*", "*"]),
        st.sampled_from(["13***", None]),
        st.sampled_from([*ILL, None]),
        st.sampled_from([1000, 1500, 9000, None]),
    ),
    st.integers(1, 6),
    min_size=1,
    max_size=8,
).map(lambda table: [row for row, n in table.items() for _ in range(n)])
"""Rows of two quasi-identifiers and two sensitive columns."""

TWICE = PEOPLE.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows)))
"""Rows, and the same in another order."""


def in_one_piece(rows):
    counts = FrequencySet.from_rows(NAMES, rows)
    known = counts.column("disease").known
    ladders = {"disease": TREE.bind("disease", known)} if known else {}
    return Target.of_table(counts, QUASI, SENSITIVE, ladders)


def in_buckets(rows):
    return replace(in_one_piece(rows), kind="anatomy", counts=None)


def grouped(rows):
    counts = FrequencySet.from_rows(NAMES, rows)
    return Target.of_grouped("break-merge", GroupedTables.of(counts, QUASI, SENSITIVE))


def grouped_often(rows):
    """The same people in eight areas."""
    many = [(f"{area}", *row[1:]) for area in range(8) for row in rows]
    counts = FrequencySet.from_rows(NAMES, many)
    return Target.of_grouped("break-merge", GroupedTables.of(counts, ("age",), SENSITIVE))


def grouped_again(rows):
    """A broken release after another with the first half of its people."""
    counts = FrequencySet.from_rows(NAMES, rows)
    first = FrequencySet.from_rows(NAMES, sorted(rows, key=repr)[: len(rows) // 2 + 1])
    target = Target.of_grouped("break-merge", GroupedTables.of(counts, QUASI, SENSITIVE))
    before = Target.of_grouped("break-merge", GroupedTables.of(first, QUASI, SENSITIVE))
    return replace(target, earlier=(EarlierRelease.of(target, before),))


def whole_again(rows):
    """A table after another with most of its people, by other quasi-identifiers."""
    target = in_one_piece(rows)
    some = sorted(rows, key=repr)[: len(rows) * 3 // 4 + 1]
    first = FrequencySet.from_rows(NAMES, some).project(("zip", *SENSITIVE))
    before = Target.of_table(first, ("zip",), SENSITIVE)
    return replace(target, earlier=(EarlierRelease.of(target, before),))


def silent(rows):
    """A table without a sensitive column."""
    counts = FrequencySet.from_rows(NAMES, rows).project(QUASI)
    return Target.of_table(counts, QUASI, ())


def beside_the_original(rows):
    """A table, and who is in it."""
    people = FrequencySet.from_rows(NAMES, rows).project(QUASI)
    return replace(in_one_piece(rows), people=people, matcher=matched(people, [people]))


def beside_a_list(rows):
    """A table, and people of whom some may be in it."""
    target = in_one_piece(rows)
    people = FrequencySet.from_rows(["name", "age"], [("Ann", 21), ("Bob", 24), ("Cai", 35)])
    return replace(target, outside=Outside.of(people, target))


def beside_the_tool(rows):
    """A table, and a tool that publishes every table as it is."""
    names = (*QUASI, "disease")
    table = FrequencySet.from_rows(NAMES, rows).project(names)
    maker = ReleaseMaker(table, QUASI, lambda candidate, _: candidate)
    return replace(in_one_piece(rows), maker=maker)


def beside_items(rows):
    """A table whose rows have items: what they have in two columns, as a set."""
    names = sorted({str(row[at]) for row in rows for at in (0, 2)})
    cells = [(at, names.index(str(row[i]))) for at, row in enumerate(rows) for i in (0, 2)]
    row, item = np.array(cells, dtype=np.int64).reshape(-1, 2).T
    counts = FrequencySet.from_rows(["zip", "disease"], [row[1:3] for row in rows])
    columns = [counts.column(name) for name in counts.names]
    codes = [
        np.array([column.values.index(r[at]) for r in rows], dtype=np.int32)
        for at, column in enumerate(columns, start=1)
    ]
    sensitive = {"disease": (columns[1], codes[1])}
    baskets = Baskets.of_cells(row, item, len(rows), names)
    labels = np.array(codes[:1]).reshape(1, len(rows))
    items = ItemRows((columns[0],), labels, baskets, ("items",) * len(names), sensitive)
    return replace(in_one_piece(rows), items=items)


def changed_by_chance(rows):
    """A table in which chance has changed the sensitive columns, and one that is plain."""
    counts = FrequencySet.from_rows(NAMES, rows)
    target = Target.of_table(counts, QUASI, ())
    members = {"disease": Pram(keep=0.8), "pay": PlainNoise(sd=500)}
    plain = PerturbedRows(counts, target.class_of(counts), members, ("disease",))
    return replace(target, perturbed=plain)


def with_households(rows):
    """A table of which it is known who lives together: three each, in their order."""
    homes = [(*row, f"{at // 3}") for at, row in enumerate(sorted(rows, key=repr))]
    counts = FrequencySet.from_rows([*NAMES, "home"], homes)
    return Target.of_table(counts, QUASI, SENSITIVE, household="home")


MAKERS = [
    in_one_piece,
    beside_items,
    in_buckets,
    grouped,
    grouped_again,
    whole_again,
    beside_the_original,
    beside_a_list,
    beside_the_tool,
    with_households,
    changed_by_chance,
    silent,
]
RELEASES = st.sampled_from(MAKERS)


# The thing itself


@every_kind
def test_the_docstring_says_what_is_found_and_what_is_not(kind):
    assert "Finds:" in kind.__doc__
    assert "Does not find:" in kind.__doc__
    assert ">>> " in kind.__doc__
    for field in fields(kind):
        assert f"    {field.name}: " in getdoc(kind)


@every_kind
def test_it_says_what_the_adversary_does(kind):
    assert kind.how.endswith(".")
    assert kind.how[0].isupper()


@every_example
def test_it_cannot_be_changed(attack):
    for field in fields(attack):
        with pytest.raises(FrozenInstanceError):
            setattr(attack, field.name, None)


@every_example
def test_equal_settings_make_equal_attacks(attack):
    again = type(attack)(**attack.params())
    assert again == attack
    assert hash(again) == hash(attack)


@every_kind
def test_the_registry_finds_it_by_its_name(kind):
    assert ATTACKS[kind.name] is kind
    assert str(kind.example()).startswith(f"{kind.name}(")


def test_a_misspelt_attack_is_answered_with_the_right_one():
    with pytest.raises(UnknownNameError, match=r"no attack 'similarty'\. Did you mean 'simil"):
        ATTACKS["similarty"]


def test_the_room_is_a_public_name():
    assert sf.attacks.ATTACKS is ATTACKS


# On a release


def outcomes(kind, target, threshold=0.75):
    rule = HarmRule(very_high=threshold)
    return [attack.on(target, rule) for attack in kind.against(target, rule)]


@every_kind
def test_it_applies_to_some_kind_of_release(kind):
    rows = [("2*", "13***", "flu", 1000), ("3*", None, "hiv", 1500), ("3*", None, "gout", 9000)]
    assert any(kind.against(made(rows), HarmRule()) for made in [*MAKERS, grouped_often])


@pytest.mark.usefixtures("patience")
@given(made=RELEASES, rows=PEOPLE)
@hold_all(ATTACKS.values())
def test_it_is_tried_or_says_why_it_cannot_be(kind, made, rows):
    target = made(rows)
    tried = kind.against(target, HarmRule())
    for attack in tried:
        assert type(attack)(**attack.params()) == attack
    if not tried:
        why = kind.why_not(target)
        assert why[0].islower()
        assert not why.endswith(".")


# The worst is told of one person alone, after others of whom less is told.
@pytest.mark.usefixtures("patience")
@example(
    made=in_one_piece,
    rows=[("2*", "13***", ill, 1500) for ill in ("flu", "flu", "hiv")]
    + [("2*", zipped, "flu", 1000) for zipped in ("13***", None)],
    threshold=0.75,
)
@given(made=RELEASES, rows=PEOPLE, threshold=st.sampled_from([0.2, 0.5, 0.75, 1.0]))
@hold_all(ATTACKS.values())
def test_the_figures_fit_together(kind, made, rows, threshold):
    target = made(rows)
    for outcome in outcomes(kind, target, threshold):
        assert (outcome.attack, outcome.threshold, outcome.how) == (kind.name, threshold, kind.how)
        assert 0 <= outcome.people <= outcome.of <= len(rows)
        assert 0 <= outcome.prior <= 1
        assert 0 <= outcome.posterior <= 1
        assert outcome.holds == (not outcome.judged or outcome.people == 0)
        for case in outcome.worst:
            assert 0 <= case.prior <= 1
            assert 0 <= case.posterior <= 1
            assert 0 < case.people <= len(rows)
            assert case.believed
        if outcome.worst:
            first = outcome.worst[0]
            assert (outcome.prior, outcome.posterior) == (first.prior, first.posterior)
        if outcome.people:
            first = outcome.worst[0]
            assert first.level is Level.VERY_HIGH
            rule = HarmRule(very_high=threshold)
            assert rule.levels(np.array([first.prior]), np.array([first.posterior])) == first.level


@pytest.mark.usefixtures("patience")
@given(made=RELEASES, rows=PEOPLE)
@hold_all(ATTACKS.values())
def test_the_worst_come_first(kind, made, rows):
    for outcome in outcomes(kind, made(rows)):
        order = [(-case.level, -case.posterior) for case in outcome.worst]
        assert all(
            a[0] < b[0] or (a[0] == b[0] and a[1] <= b[1] + 1e-12) for a, b in pairwise(order)
        )


@pytest.mark.usefixtures("patience")
@given(made=RELEASES, rows=PEOPLE)
@hold_all(ATTACKS.values())
def test_it_can_be_written_as_json_and_read_by_people(kind, made, rows):
    for outcome in outcomes(kind, made(rows)):
        plain = outcome.to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
        assert str(outcome).startswith(kind.name)
        assert "people at risk" in str(outcome)
        assert all(str(case) for case in outcome.worst)


@pytest.mark.usefixtures("patience")
@given(made=RELEASES, rows=TWICE)
@hold_all(ATTACKS.values())
def test_the_order_of_rows_does_not_matter(kind, made, rows):
    one, other = (outcomes(kind, made(each)) for each in rows)
    assert [outcome.to_dict() for outcome in one] == [outcome.to_dict() for outcome in other]


@pytest.mark.usefixtures("patience")
@given(made=RELEASES, rows=PEOPLE)
@hold_all(ATTACKS.values())
def test_a_lower_threshold_puts_no_fewer_at_risk(kind, made, rows):
    target = made(rows)
    people = [
        [outcome.people for outcome in outcomes(kind, target, threshold)]
        for threshold in (1.0, 0.75, 0.5)
    ]
    for strict, lax in pairwise(people):
        assert all(a <= b for a, b in zip(strict, lax, strict=True))


@every_kind
def test_nobody_is_at_risk_where_nobody_is(kind):
    for outcome in [one for made in MAKERS for one in outcomes(kind, made([]))]:
        assert (outcome.people, outcome.of, outcome.worst) == (0, 0, ())


@pytest.mark.usefixtures("patience")
@given(made=RELEASES, rows=PEOPLE)
@hold_all(EXAMPLES)
def test_what_does_not_apply_is_refused_and_does_not_fail(attack, made, rows):
    with suppress(SfumatoError):
        attack.on(made(rows), HarmRule())
