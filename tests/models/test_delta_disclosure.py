"""δ-disclosure: the definition in exact fractions is the judge.

With δ = ln r, |ln(p/q)| < δ is the same as 1/r < p/q < r.
"""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.models import DeltaDisclosure
from tests.builders import classes_of
from tests.models.tables import COUNTED, counts_by_class

RATIOS = st.fractions(min_value=Fraction(11, 10), max_value=6, max_denominator=10)


def textbook(rows, r):
    table = [disease for _, disease in rows]
    shares = {value: Fraction(table.count(value), len(table)) for value in table}
    return [
        all(1 / r < Fraction(counts[value], counts.total()) / q < r for value, q in shares.items())
        for counts in counts_by_class(rows)
    ]


@given(rows=COUNTED, r=RATIOS)
def test_agrees_with_the_textbook(rows, r):
    model = DeltaDisclosure("disease", delta=math.log(r))
    assert model.passes(classes_of(rows, column="disease")).tolist() == textbook(rows, r)


def test_a_value_absent_from_a_class_fails_it():
    # One known tool leaves such values out of the maximum and reports ln(4/3) here.
    rows = [("A", "flu"), ("A", "hiv"), ("B", "flu"), ("B", "flu")]
    classes = classes_of(rows, column="disease")
    assert DeltaDisclosure("disease", delta=100).passes(classes).tolist() == [True, False]
    assert DeltaDisclosure("disease", delta=1).measure(classes) == {"delta": math.inf}


def test_a_class_without_the_missing_values_of_the_table_fails_too():
    classes = classes_of([("A", "flu"), ("A", None), ("B", "flu")], column="disease")
    assert DeltaDisclosure("disease", delta=100).passes(classes).tolist() == [True, False]


def test_the_inequality_is_strict():
    rows = [("A", "flu")] * 2 + [("A", "hiv")] * 2 + [("B", "flu")] * 3 + [("B", "hiv")]
    classes = classes_of(rows, column="disease")
    # hiv: 3/8 of the table, 1/4 of B, which is a ratio of 2/3; in A the ratio is 4/3.
    assert DeltaDisclosure("disease", delta=1).measure(classes)["delta"] == pytest.approx(
        math.log(1.5)
    )
    assert not DeltaDisclosure("disease", delta=math.log(1.5)).passes(classes)[1]
    assert DeltaDisclosure("disease", delta=math.log(1.5) + 1e-6).passes(classes).all()


@pytest.mark.parametrize("delta", [0, -1, "1", True])
def test_refuses_a_delta_that_makes_no_sense(delta):
    with pytest.raises(ParameterError, match="delta must be a number above 0, got "):
        DeltaDisclosure("disease", delta=delta)
