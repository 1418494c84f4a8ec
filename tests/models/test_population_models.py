"""δ-presence and k-map: the definitions in exact fractions are the judge."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.classes import EquivalenceClasses
from sfumato.errors import ParameterError
from sfumato.models import DeltaPresence, KMap

PAIRS = st.lists(st.tuples(st.integers(1, 20), st.integers(0, 60)), min_size=1, max_size=9)
SHARES = st.fractions(min_value=0, max_value=1, max_denominator=20)


def classes_of_pairs(pairs):
    sizes, population = zip(*pairs, strict=True)
    return EquivalenceClasses(np.array(sizes), population=np.array(population))


@given(pairs=PAIRS, bounds=st.tuples(SHARES, SHARES).filter(lambda b: set(b) != {0, 1}))
def test_delta_presence_agrees_with_the_textbook(pairs, bounds):
    low, high = min(bounds), max(bounds)
    expected = [people > 0 and low <= Fraction(n, people) <= high for n, people in pairs]
    model = DeltaPresence(float(low), float(high))
    assert model.passes(classes_of_pairs(pairs)).tolist() == expected


@given(pairs=PAIRS, k=st.integers(2, 60))
def test_k_map_agrees_with_the_textbook(pairs, k):
    assert KMap(k).passes(classes_of_pairs(pairs)).tolist() == [people >= k for _, people in pairs]


def test_what_is_measured_is_the_range_of_the_shares():
    classes = classes_of_pairs([(1, 4), (3, 6)])
    assert DeltaPresence(0, 0.1).measure(classes) == {"minimum": 0.25, "maximum": 0.5}
    assert KMap(2).measure(classes) == {"k": 4}


def test_a_class_the_population_does_not_have_is_certain_to_be_present():
    classes = classes_of_pairs([(2, 0), (3, 1)])
    assert not DeltaPresence(0.1, 1).passes(classes).any()


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ((-0.1, 0.5), "minimum must be a number of at least 0 and at most 1"),
        ((0.1, 1.5), "maximum must be a number of at least 0 and at most 1"),
        ((0.5, 0.1), "minimum must be at most the maximum, which is 0.1, got 0.5"),
        ((0, 1), "maximum must be below 1 if minimum is 0"),
    ],
)
def test_refuses_a_range_that_makes_no_sense(bounds, message):
    with pytest.raises(ParameterError, match=message):
        DeltaPresence(*bounds)


@pytest.mark.parametrize("k", [1, 0, 2.5, True])
def test_refuses_a_k_that_hides_nobody(k):
    with pytest.raises(ParameterError, match="k must be an integer of at least 2"):
        KMap(k)
