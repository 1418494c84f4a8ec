"""Probabilistic l-diversity: c1/n <= 1/l in exact fractions is the judge."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.models import DistinctLDiversity, ProbabilisticLDiversity
from tests.builders import classes_of
from tests.models.tables import COUNTED, counts_by_class, known

BOUNDS = st.fractions(min_value=Fraction(11, 10), max_value=4, max_denominator=10)


def textbook(rows, l):
    return [
        bool(known(counts)) and Fraction(known(counts)[0], sum(known(counts))) <= 1 / l
        for counts in counts_by_class(rows)
    ]


@given(rows=COUNTED, l=BOUNDS)
def test_agrees_with_the_textbook(rows, l):
    model = ProbabilisticLDiversity("disease", l=float(l))
    assert model.passes(classes_of(rows, column="disease")).tolist() == textbook(rows, l)


@pytest.mark.parametrize(("most", "all_rows"), [(10, 11), (3, 10), (7, 9), (1, 49), (333, 1000)])
def test_equality_passes_although_the_quotient_has_no_exact_float(most, all_rows):
    others = [("A", f"other {i}") for i in range(all_rows - most)]
    classes = classes_of([("A", "flu")] * most + others, column="disease")
    l = all_rows / most
    assert ProbabilisticLDiversity("disease", l=l).passes(classes).all()
    assert not ProbabilisticLDiversity("disease", l=l + 1e-6).passes(classes).any()
    assert ProbabilisticLDiversity("disease", l=2).measure(classes) == {"l": pytest.approx(l)}


def test_a_class_without_a_known_value_fails():
    classes = classes_of([("A", None), ("B", "flu"), ("B", "gout"), ("B", None)], column="disease")
    model = ProbabilisticLDiversity("disease", l=2)
    assert model.passes(classes).tolist() == [False, True]
    assert model.measure(classes) == {"l": 0.0}


@pytest.mark.parametrize(
    ("l", "fewest"), [(1.2, 2), (2, 2), (2.5, 3), (3, 3), (3.0000000000001, 3)]
)
def test_its_absorbing_part_asks_for_as_many_values(l, fewest):
    part = ProbabilisticLDiversity("disease", l=l).absorbing_part
    assert part == DistinctLDiversity("disease", l=fewest)


def test_an_l_that_is_one_but_for_rounding_has_no_absorbing_part():
    assert ProbabilisticLDiversity("disease", l=1 + 1e-12).absorbing_part is None


@pytest.mark.parametrize("l", [1, 0, -2, float("nan"), float("inf"), "2", True])
def test_refuses_an_l_that_protects_nobody(l):
    with pytest.raises(ParameterError, match="l must be a number above 1, got "):
        ProbabilisticLDiversity("disease", l=l)
