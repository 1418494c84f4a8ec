"""Maximum and average risk, sample uniqueness: leaving out classes one size at a time judges."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.classes import EquivalenceClasses
from sfumato.errors import ParameterError
from sfumato.models import AverageRisk, MaximumRisk, SampleUniqueness

SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=15)
SHARES = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)


def sized(sizes):
    return EquivalenceClasses(np.array(sizes))


def average(sizes):
    return sum(Fraction(1, size) for size in sizes for _ in range(size)) / sum(sizes)


def uniqueness(sizes):
    return Fraction(sum(size for size in sizes if size == 1), sum(sizes))


def textbook(sizes, value, limit, *, together):
    """Leave out the smallest classes until the rest is good enough."""
    kept = list(range(len(sizes)))
    while kept and value([sizes[i] for i in kept]) > limit:
        smallest = min(sizes[i] for i in kept)
        going = [i for i in kept if sizes[i] == smallest]
        kept = [i for i in kept if i not in (going if together else going[:1])]
    return [i in kept for i in range(len(sizes))]


@given(sizes=SIZES, risk=SHARES)
def test_maximum_risk_agrees_with_the_textbook(sizes, risk):
    expected = [Fraction(1, size) <= risk for size in sizes]
    assert MaximumRisk(float(risk)).passes(sized(sizes)).tolist() == expected


@given(sizes=SIZES, risk=SHARES)
def test_average_risk_agrees_with_the_textbook(sizes, risk):
    verdicts = AverageRisk(float(risk)).passes(sized(sizes))
    assert verdicts.tolist() == textbook(sizes, average, risk, together=False)


@given(sizes=SIZES, share=st.just(Fraction(0)) | SHARES)
def test_sample_uniqueness_agrees_with_the_textbook(sizes, share):
    verdicts = SampleUniqueness(float(share)).passes(sized(sizes))
    assert verdicts.tolist() == textbook(sizes, uniqueness, share, together=True)


@given(sizes=SIZES, share=st.just(Fraction(0)) | SHARES, data=st.data())
def test_drawn_uniques_stay_as_many_as_the_share_allows_in_the_order_of_the_lot(sizes, share, data):
    lot = data.draw(st.permutations(range(len(sizes))))
    classes = EquivalenceClasses(np.array(sizes), drawn=np.array(lot))
    verdicts = SampleUniqueness(float(share), drawn=True).passes(classes).tolist()
    alone = sorted((i for i, size in enumerate(sizes) if size == 1), key=lambda i: lot[i])
    others = sum(size for size in sizes if size > 1)
    most = max(n for n in range(len(alone) + 1) if n <= share * (others + n))
    stay = alone[len(alone) - most :]
    assert verdicts == [size > 1 or i in stay for i, size in enumerate(sizes)]


@given(
    sizes=st.lists(st.integers(1, 3), min_size=2, max_size=12),
    share=SHARES,
    data=st.data(),
)
def test_who_is_left_out_by_lot_is_so_in_every_finer_grouping(sizes, share, data):
    """What searches rely on: the lot is drawn once, and a row keeps its place in it."""
    rows = sum(sizes)
    lot = np.array(data.draw(st.permutations(range(rows))))
    of_row = np.repeat(np.arange(len(sizes)), sizes)
    into = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(sizes), max_size=len(sizes)))
    )
    model = SampleUniqueness(float(share), drawn=True)

    def left_out(of_row):
        _, first, of_row = np.unique(of_row, return_index=True, return_inverse=True)
        classes = EquivalenceClasses(np.bincount(of_row), drawn=lot[first])
        return set(np.flatnonzero(~model.passes(classes)[of_row]).tolist())

    assert left_out(into[of_row]) <= left_out(of_row)


def test_how_uniques_are_chosen_does_not_change_the_promise():
    drawn, none = SampleUniqueness(0.1, drawn=True), SampleUniqueness(0.1)
    assert drawn.implies(none)
    assert none.implies(drawn)
    assert not drawn.implies(SampleUniqueness(0.05))
    assert (drawn.params(), none.params()) == ({"share": 0.1, "drawn": True}, {"share": 0.1})
    with pytest.raises(ParameterError, match="drawn must be true or false, got 'yes'"):
        SampleUniqueness(0.1, drawn="yes")


@given(sizes=SIZES)
def test_what_is_measured_is_the_risk_of_the_whole_table(sizes):
    classes = sized(sizes)
    assert MaximumRisk(0.5).measure(classes) == {"risk": 1 / min(sizes)}
    assert AverageRisk(0.5).measure(classes)["risk"] == pytest.approx(float(average(sizes)))
    assert SampleUniqueness(0.5).measure(classes)["share"] == pytest.approx(
        float(uniqueness(sizes))
    )


@pytest.mark.parametrize("k", [2, 3, 5, 7, 49, 1000])
def test_a_risk_of_one_in_k_is_k_anonymity(k):
    assert MaximumRisk(1 / k).passes(sized([k - 1, k, k + 1])).tolist() == [False, True, True]


@pytest.mark.parametrize("kind", [MaximumRisk, AverageRisk, SampleUniqueness])
@pytest.mark.parametrize("risk", [1, 5, -0.1, "0.1", True])
def test_refuses_a_risk_that_is_not_a_share(kind, risk):
    with pytest.raises(ParameterError, match=r"and below 1, got .*0.05 is 5 %"):
        kind(risk)


def beliefs(orders):
    """What an adversary who goes through all worlds believes of each person who is not shown.

    Of five people with combinations of their own any may be in the table, beside a class of ten
    others. The release shows some of them and says how many rows were suppressed; the adversary
    knows the model, and how likely each order of the lot is.
    """
    model = SampleUniqueness(0.2, drawn=True)
    seen = {}
    for world in product([False, True], repeat=5):
        people = [i for i in range(5) if world[i]]
        sizes = np.array([1] * len(people) + [10])
        for order in orders:
            lot = np.array([order[i] for i in people] + [9])
            keep = model.passes(EquivalenceClasses(sizes, drawn=lot))
            shown = tuple(i for i, stays in zip(people, keep, strict=False) if stays)
            release = shown, len(people) - len(shown)
            for i in set(range(5)) - set(shown):
                there, of = seen.setdefault((release, i), (0, 0))
                seen[release, i] = there + world[i], of + 1
    return {key: Fraction(there, of) for key, (there, of) in seen.items()}


@pytest.mark.usefixtures("patience")
def test_by_lot_everyone_who_is_not_shown_is_equally_likely_in_the_table():
    for ((shown, suppressed), _), belief in beliefs(list(permutations(range(5)))).items():
        assert belief == Fraction(suppressed, 5 - len(shown))


def test_by_a_rule_those_who_are_not_shown_can_be_told_apart():
    told = beliefs([tuple(range(5))])
    assert any(
        belief != Fraction(suppressed, 5 - len(shown))
        for ((shown, suppressed), _), belief in told.items()
    )
    # The rule leaves out the first ones: if the first two are shown, none of the others is there.
    assert any(belief in (0, 1) and suppressed for ((_, suppressed), _), belief in told.items())
