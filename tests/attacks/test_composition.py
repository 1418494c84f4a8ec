"""Two releases compared, against the rows of those who joined and left."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks import Composition, EarlierRelease, Target
from sfumato.counts import Column
from sfumato.errors import ParameterError
from sfumato.harm import HarmRule
from tests.ledger.releases import START, grouped_of

ILLS, PAYS = ["flu", "gout", "hiv"], ["low", "high"]
ROW = st.tuples(st.sampled_from(["20s", "30s"]), st.sampled_from(ILLS), st.sampled_from(PAYS))


def after(later, *earlier):
    """A release by break-merge, and those before it."""
    target = Target.of_grouped("break-merge", later)
    before = [Target.of_grouped("break-merge", each) for each in earlier]
    found = (EarlierRelease.of(target, each, name=f"{i}") for i, each in enumerate(before))
    return replace(target, earlier=tuple(found))


@given(
    st.lists(ROW, min_size=1, max_size=10),
    st.lists(ROW, min_size=1, max_size=8),
    st.sampled_from([0.3, 0.5, 0.75]),
    st.integers(1, 4),
)
def test_the_newcomers_are_seen_by_themselves(start, new, alpha, k):
    found = Composition(alpha, k).run(grouped_of(start), grouped_of(start + new))
    assert {each.labels for each in found.differences} == {(row[0],) for row in new}
    exposed = 0
    for each in found.differences:
        rows = [row for row in new if row[:1] == each.labels]
        _, *columns = zip(*rows, strict=True)
        worst = Fraction(max(max(Counter(column).values()) for column in columns), len(rows))
        assert (each.joined, each.left) == (len(rows), 0)
        assert (each.newcomers, each.leavers) == (worst, 0)
        if len(rows) < k or worst > Fraction(str(alpha)):
            assert each in found.exposed
            exposed += len(rows)
    assert found.people == exposed
    # Seen from the other end, the same people left; a group that is gone tells nothing new.
    back = Composition(alpha, k).run(grouped_of(start + new), grouped_of(start))
    left = {each.labels: each.left for each in back.differences}
    groups = {row[0] for row in start}
    for each in found.differences:
        assert left[each.labels] == (each.joined if each.labels[0] in groups else 0)


def test_releases_that_are_alike_tell_nothing():
    found = Composition(0.5).run(grouped_of(START), grouped_of(START[::-1]))
    assert not found.suffers
    assert str(found) == "composition exposes no person in 0 groups that changed"


def test_a_change_of_one_value_is_seen():
    later = [("20s", "gout", "low"), *START[1:]]
    [each] = Composition(0.9, 2).run(grouped_of(START), grouped_of(later)).exposed
    assert (each.joined, each.left) == (1, 1)


def test_a_finding_is_plain():
    found = Composition(0.5, 3).run(grouped_of(START), grouped_of([*START, ("20s", "flu", "low")]))
    plain = found.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["groups"] == [
        {
            "labels": ["20s"],
            "joined": 1,
            "left": 0,
            "newcomers": 1.0,
            "leavers": 0.0,
            "before": 0.5,
            "after": 0.6,
        }
    ]


def test_other_columns_cannot_be_compared():
    other = grouped_of([("a", "b")], ("age",), ("ill",))
    with pytest.raises(ParameterError, match="a release with the sensitive of the earlier"):
        Composition(0.5).run(grouped_of(START), other)
    for settings in ({"alpha": 0}, {"alpha": 0.5, "k": 0}):
        with pytest.raises(ParameterError):
            Composition(**settings)


def test_newcomers_are_at_risk_where_the_release_alone_hides_them():
    later = grouped_of([*START, ("20s", "hiv", "low")])
    target = after(later, grouped_of(START))
    attack, *by_column = Composition.against(target, HarmRule())
    assert [each.column for each in by_column] == ["ill", "pay"]
    outcome = attack.on(target, HarmRule())
    [difference] = attack.run(grouped_of(START), later).differences
    assert (outcome.people + outcome.moderate, outcome.posterior) == (1, 1.0)
    assert outcome.prior == float(difference.after) < 0.75
    assert outcome.worst[0].who == {"age": "20s"}
    assert json.loads(json.dumps(outcome.to_dict())) == outcome.to_dict()


@given(st.lists(ROW, min_size=1, max_size=10), st.lists(ROW, max_size=8))
def test_who_is_at_risk_is_betrayed_too(start, new):
    later = grouped_of(start + new)
    target = after(later, grouped_of(start))
    outcome = Composition(0.5).on(target, HarmRule())
    assert outcome.people <= Composition(0.5).run(grouped_of(start), later).people
    assert outcome.people <= len(new)


def test_one_release_cannot_be_compared():
    target = Target.of_grouped("break-merge", grouped_of(START))
    assert Composition.against(target, HarmRule()) == []
    assert "before this one was named" in Composition.why_not(target)
    with pytest.raises(ParameterError, match="before this one was named"):
        Composition(0.5).on(target, HarmRule())


def one_column(*ills):
    return grouped_of([("20s", ill) for ill in ills], ("age",), ("ill",))


def test_a_newcomer_without_a_value_gives_none_away():
    first, later = one_column("flu", "gout"), one_column("flu", "gout", None)
    target = after(later, first)
    outcome = Composition(0.75).on(target, HarmRule())
    assert (outcome.people, outcome.worst) == (0, ())
    # Beside a known value it hides nothing.
    later = one_column("flu", "gout", None, "hiv")
    target = after(later, first)
    outcome = Composition(0.75).on(target, HarmRule())
    assert (outcome.people + outcome.moderate, outcome.posterior) == (1, 1.0)
    assert outcome.prior == pytest.approx(1 / 3)


def test_missing_values_of_one_column_hide_nobody_whatever_another_column_shows():
    """Four join: two with hiv, two without a value, and all have a known pay."""
    ills = ("hiv", "hiv", None, None)
    new = [("20s", ill, pay) for ill, pay in zip(ills, ("low", "low", "high", "high"), strict=True)]
    target = after(grouped_of(START + new), grouped_of(START))
    [case] = Composition(0.75).on(target, HarmRule()).worst
    assert (case.people, case.posterior) == (4, 1.0)


def test_with_three_columns_a_single_value_is_judged():
    """All who join have hiv, which the product of the other two shares would hide."""
    names = ("age",), ("ill", "pay", "town")
    start = [("20s", f"ill {i}", f"pay {i}", f"town {i}") for i in range(8)]
    new = [("20s", "hiv", f"pay {i}", f"town {i}") for i in range(8)]
    found = Composition(0.5).run(grouped_of(start, *names), grouped_of(start + new, *names))
    [each] = found.exposed
    assert (each.joined, each.newcomers) == (8, 1)


def cells(*parts):
    """Return groups with the same labels, each with a number of its own: (number, rows)."""
    rows = [(f"{number}", *row[1:]) for number, part in parts for row in part]
    grouped = grouped_of(rows)
    numbers = [int(grouped.quasi_identifiers[0].values[code]) for code in grouped.labels[0]]
    return replace(
        grouped,
        quasi_identifiers=(Column("age", ("20s",)),),
        labels=np.zeros_like(grouped.labels),
        ids=np.array(numbers),
    )


FOUR = START[:4]


def test_groups_with_the_same_labels_are_one_if_numbers_say_nothing():
    both = cells((7, FOUR[:2]), (8, FOUR[2:]))
    assert not Composition(0.5).run(grouped_of(FOUR), both).differences
    assert not Composition(0.5).run(both, grouped_of(FOUR)).differences


def test_those_of_one_ledger_are_compared_by_their_numbers():
    before, new = [*FOUR, *FOUR], START[4:6]
    now = cells((7, FOUR), (9, new))
    attack = Composition(0.5)
    joined, left = attack.run(cells((7, before)), now, numbered=True).differences[::-1]
    assert (joined.joined, joined.left, joined.newcomers) == (2, 0, Fraction(1, 2))
    assert (left.joined, left.left, left.leavers) == (0, 4, Fraction(1, 2))
    # By labels, two left: those who joined hide two of them.
    [each] = attack.run(cells((7, before)), now).differences
    assert (each.joined, each.left) == (0, 2)
    # Verdicts find out by themselves that numbers are kept.
    outcome = attack.on(after(now, cells((7, before))), HarmRule())
    assert sorted(case.people for case in outcome.worst) == [2, 4]


def test_a_cell_that_is_gone_and_one_that_came_are_not_taken_for_a_change():
    found = Composition(0.5).run(cells((7, FOUR)), cells((9, START[:2])), numbered=True)
    assert [(each.joined, each.left) for each in found.differences] == [(0, 0), (2, 0)]


def test_who_is_in_a_cell_stays_the_same_if_values_are_corrected():
    later = [("20s", "gout", "low"), *FOUR[1:]]
    found = Composition(0.5).run(cells((7, FOUR)), cells((7, later)), numbered=True)
    assert [(each.joined, each.left) for each in found.differences] == [(0, 0)]
