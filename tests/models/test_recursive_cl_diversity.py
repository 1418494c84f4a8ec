"""Recursive (c,l)-diversity: the definition in exact fractions is the judge."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.models import DistinctLDiversity, RecursiveCLDiversity
from tests.builders import classes_of
from tests.models.tables import COUNTED, counts_by_class, known

BOUNDS = st.fractions(min_value=Fraction(1, 10), max_value=9, max_denominator=10)


def textbook(counts, c, l):
    return len(counts) >= l and counts[0] < c * sum(counts[l - 1 :])


@given(rows=COUNTED, c=BOUNDS, l=st.integers(2, 4))
def test_agrees_with_the_textbook(rows, c, l):
    model = RecursiveCLDiversity("disease", c=float(c), l=l)
    expected = [textbook(known(counts), c, l) for counts in counts_by_class(rows)]
    assert model.passes(classes_of(rows, column="disease")).tolist() == expected


def test_counts_are_sorted_downwards_and_the_inequality_is_strict():
    # Sorted upwards, as one known tool does, c = 1 would do; the truth is that c must exceed 8/1.
    classes = classes_of([("A", "flu")] * 8 + [("A", "gout"), ("A", "hiv")], column="disease")
    assert RecursiveCLDiversity("disease", c=1, l=3).measure(classes) == {"c": 8.0}
    assert not RecursiveCLDiversity("disease", c=1, l=3).passes(classes).any()
    assert not RecursiveCLDiversity("disease", c=8, l=3).passes(classes).any()
    assert RecursiveCLDiversity("disease", c=8.000001, l=3).passes(classes).all()


def test_fewer_than_l_values_fail_whatever_c_is():
    classes = classes_of([("A", "flu"), ("A", "gout"), ("A", None)], column="disease")
    model = RecursiveCLDiversity("disease", c=1e9, l=3)
    assert model.passes(classes).tolist() == [False]
    assert model.measure(classes) == {"c": float("inf")}


def test_its_absorbing_part_asks_for_l_values():
    part = RecursiveCLDiversity("disease", c=2, l=3).absorbing_part
    assert part == DistinctLDiversity("disease", l=3)


@pytest.mark.parametrize("bad", [{"c": 0}, {"c": -1}, {"c": "2"}, {"l": 1}, {"l": 2.0}])
def test_refuses_parameters_that_make_no_sense(bad):
    name = next(iter(bad))
    with pytest.raises(ParameterError, match=f"{name} must be "):
        RecursiveCLDiversity("disease", **{"c": 2, "l": 2, **bad})
