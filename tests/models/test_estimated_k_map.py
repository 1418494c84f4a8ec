"""Estimated k-map against its definition in whole numbers, and against samples of known classes."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.classes import EquivalenceClasses
from sfumato.errors import ParameterError
from sfumato.models import EstimatedKMap
from sfumato.models.estimated_k_map import _most_people, _share_of_as_many


def chance(people, rows, fraction):
    """How likely so many of some people are drawn, or more, if one is: exactly."""
    q = Fraction(fraction)

    def drawn(n):
        return comb(people, n) * q**n * (1 - q) ** (people - n)

    return sum(drawn(n) for n in range(rows, people + 1)) / (1 - drawn(0))


PARTS = st.integers(1, 1000).map(lambda n: n / 1000)


@given(people=st.integers(1, 40), rows=st.integers(1, 41), fraction=PARTS)
def test_the_chance_is_that_of_the_definition(people, rows, fraction):
    found = _share_of_as_many(people, rows, fraction)
    assert found == pytest.approx(float(chance(people, rows, fraction)), abs=1e-9)


@given(
    k=st.integers(2, 30),
    fraction=PARTS,
    confidence=st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999]),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=8),
)
def test_a_class_passes_if_fewer_people_would_hardly_show_as_many_rows(
    k, fraction, confidence, sizes
):
    model = EstimatedKMap(k, fraction, confidence)
    classes = EquivalenceClasses(np.array(sizes))
    for size, passes in zip(sizes, model.passes(classes).tolist(), strict=True):
        exact = chance(k - 1, size, fraction) if size <= k - 1 else 0
        if abs(float(exact) - (1 - confidence)) > 1e-9:
            assert passes == (exact <= 1 - confidence)
    kept = model.measure(classes)["k"]
    if kept >= 2:
        assert EstimatedKMap(int(kept), fraction, confidence).passes(classes).all()
    assert not EstimatedKMap(int(kept) + 1, fraction, confidence).passes(classes).all()


def test_a_sample_of_all_people_is_k_anonymity():
    classes = EquivalenceClasses(np.array([4, 5]))
    assert EstimatedKMap(5, fraction=1).passes(classes).tolist() == [False, True]
    assert EstimatedKMap(5, fraction=1).measure(classes) == {"k": 4}


def test_large_classes_are_measured_too():
    people = _most_people(100_000, 0.01, 0.99)
    assert 9_900_000 < people < 10_000_000


@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.4])
def test_small_classes_of_a_known_population_rarely_pass(fraction):
    """Of those that a sample shows and that have fewer than k people, 1 % at most pass."""
    rng = np.random.default_rng(17)
    people = rng.geometric(0.15, size=400_000)
    drawn = rng.binomial(people, fraction)
    model = EstimatedKMap(10, fraction)
    shown = drawn > 0
    passed = model.passes(EquivalenceClasses(drawn[shown]))
    small = people[shown] < 10
    assert np.count_nonzero(passed & small) <= 0.0105 * np.count_nonzero(small)


@pytest.mark.parametrize("wrong", [{"fraction": 0}, {"fraction": 1.5}, {"confidence": 1}, {"k": 1}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError):
        EstimatedKMap(**{"k": 5, "fraction": 0.1, **wrong})
