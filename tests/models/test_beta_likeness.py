"""β-likeness, basic and enhanced: the definitions in exact fractions are the judge."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.classes import EquivalenceClasses, SensitiveColumn, ValueCounts
from sfumato.errors import ParameterError
from sfumato.models import BasicBetaLikeness, EnhancedBetaLikeness
from tests.builders import classes_of
from tests.models.tables import COUNTED, counts_by_class

BETAS = st.fractions(min_value=Fraction(1, 10), max_value=4, max_denominator=10)


def gains(rows):
    """For each class, the pairs ((p-q)/q, q) of all values of the table, missing included."""
    table = [disease for _, disease in rows]
    shares = {value: Fraction(table.count(value), len(table)) for value in table}
    return [
        [(Fraction(counts[value], counts.total()) / q - 1, q) for value, q in shares.items()]
        for counts in counts_by_class(rows)
    ]


@given(rows=COUNTED, beta=BETAS)
def test_the_basic_model_agrees_with_the_textbook(rows, beta):
    model = BasicBetaLikeness("disease", beta=float(beta))
    expected = [all(gain <= beta for gain, _ in pairs) for pairs in gains(rows)]
    assert model.passes(classes_of(rows, column="disease")).tolist() == expected


@given(rows=COUNTED, beta=BETAS)
def test_the_enhanced_model_agrees_with_the_textbook(rows, beta):
    model = EnhancedBetaLikeness("disease", beta=float(beta))
    expected = [
        all(gain <= beta and gain <= -math.log(q) for gain, q in pairs) for pairs in gains(rows)
    ]
    assert model.passes(classes_of(rows, column="disease")).tolist() == expected


@given(rows=COUNTED)
def test_the_measured_beta_is_the_largest_gain(rows):
    largest = max(gain for pairs in gains(rows) for gain, _ in pairs)
    classes = classes_of(rows, column="disease")
    measured = BasicBetaLikeness("disease", beta=1).measure(classes)["beta"]
    assert measured == pytest.approx(float(largest))


def test_a_common_value_may_become_certain_in_the_basic_model_only():
    classes = classes_of([("A", "flu")] * 5 + [("B", "gout")] * 5, column="disease")
    assert BasicBetaLikeness("disease", beta=1).passes(classes).all()
    assert not EnhancedBetaLikeness("disease", beta=1).passes(classes).any()
    assert EnhancedBetaLikeness("disease", beta=1).measure(classes) == {"beta": math.inf}


def test_a_value_the_reference_lacks_has_gained_without_bound():
    counts = ValueCounts(
        SensitiveColumn("disease", ("flu", "gout")),
        *(np.array([0, 0]), np.array([0, 1]), np.array([1, 1])),
        reference=np.array([2, 0, 0]),
    )
    classes = EquivalenceClasses(np.array([2]), {"disease": counts})
    assert not BasicBetaLikeness("disease", beta=1e9).passes(classes).any()
    assert not EnhancedBetaLikeness("disease", beta=1e9).passes(classes).any()


@pytest.mark.parametrize("kind", [BasicBetaLikeness, EnhancedBetaLikeness])
@pytest.mark.parametrize("beta", [0, -1, "1", True, float("inf")])
def test_refuses_a_beta_that_makes_no_sense(kind, beta):
    with pytest.raises(ParameterError, match="beta must be a number above 0, got "):
        kind("disease", beta=beta)
