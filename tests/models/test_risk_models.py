"""Maximum and average risk, sample uniqueness: leaving out classes one size at a time judges."""

from fractions import Fraction

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
