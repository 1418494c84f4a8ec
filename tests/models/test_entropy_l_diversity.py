"""Entropy l-diversity: the definition in whole numbers is the judge.

-Σ c/n log(c/n) >= log l is the same as n^n >= l^n · Π c^c, which Python computes exactly.
"""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.models import DistinctLDiversity, EntropyLDiversity
from tests.builders import classes_of
from tests.models.tables import COUNTED, counts_by_class, known

BOUNDS = st.fractions(min_value=Fraction(11, 10), max_value=4, max_denominator=10)


def textbook(counts, l):
    n = sum(counts)
    return n > 0 and n**n >= l**n * math.prod(c**c for c in counts)


@given(rows=COUNTED, l=BOUNDS)
def test_agrees_with_the_textbook(rows, l):
    verdicts = EntropyLDiversity("disease", l=float(l)).passes(classes_of(rows, column="disease"))
    assert verdicts.tolist() == [textbook(known(counts), l) for counts in counts_by_class(rows)]


@pytest.mark.parametrize("l", [2, 3, 5, 7, 10, 49, 97, 1000])
@pytest.mark.parametrize("each", [1, 3, 7])
def test_l_equally_frequent_values_are_worth_exactly_l(l, each):
    classes = classes_of([("A", str(i)) for i in range(l)] * each, column="disease")
    assert EntropyLDiversity("disease", l=l).passes(classes).all()
    assert not EntropyLDiversity("disease", l=l + 1e-6).passes(classes).any()
    assert EntropyLDiversity("disease", l=2).measure(classes) == {"l": pytest.approx(l)}


def test_missing_values_are_left_out_and_a_class_of_nothing_else_fails():
    rows = [("A", None), ("B", "flu"), ("B", "gout"), ("B", None), ("B", None)]
    classes = classes_of(rows, column="disease")
    model = EntropyLDiversity("disease", l=2)
    assert model.passes(classes).tolist() == [False, True]
    assert model.measure(classes) == {"l": 0.0}


def test_a_class_of_one_value_is_worth_one():
    classes = classes_of([("A", "flu")] * 7, column="disease")
    assert EntropyLDiversity("disease", l=2).measure(classes) == {"l": pytest.approx(1)}
    assert not EntropyLDiversity("disease", l=1.0001).passes(classes).any()


def test_its_absorbing_part_asks_for_as_many_values():
    assert EntropyLDiversity("disease", l=2.5).absorbing_part == DistinctLDiversity("disease", l=3)


@pytest.mark.parametrize("l", [1, 0.5, float("nan"), "2", True])
def test_refuses_an_l_that_protects_nobody(l):
    with pytest.raises(ParameterError, match="l must be a number above 1, got "):
        EntropyLDiversity("disease", l=l)
