"""Two releases compared, against the rows of those who joined and left."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks import Composition, EarlierRelease, Target
from sfumato.errors import ParameterError
from sfumato.harm import HarmRule
from tests.ledger.literal import breaches
from tests.ledger.releases import START, grouped_of

ILLS, PAYS = ["flu", "gout", "hiv"], ["low", "high"]
ROW = st.tuples(st.sampled_from(["20s", "30s"]), st.sampled_from(ILLS), st.sampled_from(PAYS))


def after(later, *earlier):
    """A release by break-merge, and those before it."""
    target = Target.of_grouped("break-merge", later)
    before = [Target.of_grouped("break-merge", each) for each in earlier]
    found = (EarlierRelease.of(target, each, name=f"{i}") for i, each in enumerate(before))
    return replace(target, earlier=tuple(found))


def coded(rows, label):
    return [(ILLS.index(ill), PAYS.index(pay)) for age, ill, pay in rows if age == label]


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
        rows = coded(new, each.labels[0])
        worst = max(breaches(rows, [3, 2]).values())
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
    assert str(found) == "composition exposes nobody in 0 groups that changed"


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
    assert (outcome.people + outcome.high, outcome.posterior) == (1, 1.0)
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
    assert (outcome.people + outcome.high, outcome.posterior) == (1, 1.0)
    assert outcome.prior == pytest.approx(1 / 3)


def test_missing_values_of_one_column_hide_nobody_whatever_another_column_shows():
    """Four join: two with hiv, two without a value, and all have a known pay."""
    ills = ("hiv", "hiv", None, None)
    new = [("20s", ill, pay) for ill, pay in zip(ills, ("low", "low", "high", "high"), strict=True)]
    target = after(grouped_of(START + new), grouped_of(START))
    [case] = Composition(0.75).on(target, HarmRule()).worst
    assert (case.people, case.posterior) == (4, 1.0)
