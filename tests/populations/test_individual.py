"""Individual risk and unique matches against their definitions and against drawn samples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.populations import Sample, individual_risk, unique_match
from tests.populations import textbook


@given(rows=st.integers(1, 90), drawn=st.floats(0.02, 1))
def test_individual_risk_is_the_mean_of_one_over_the_people(rows, drawn):
    found = individual_risk(np.array([rows]), np.array([rows / drawn]))[0]
    assert found == pytest.approx(textbook.individual_risk(rows, drawn), rel=1e-8)


@given(drawn=st.floats(1e-6, 0.999))
def test_the_risk_of_few_rows_is_as_printed(drawn):
    """The closed forms that the paper gives for classes of one, two and three rows."""
    p, q, log = drawn, 1 - drawn, math.log(drawn)
    printed = [
        -p / q * log,
        p / q**2 * (p * log + q),
        p / (2 * q**3) * (q * (3 * q - 2) - 2 * p**2 * log),
    ]
    rows = np.array([1, 2, 3])
    found = individual_risk(rows, rows / drawn)
    # The forms of the paper lose digits where most people are drawn.
    assert found.tolist() == pytest.approx(printed, rel=1e-6 / q**3)


@given(rows=st.integers(1, 60), drawn=st.floats(1e-7, 1))
def test_the_risk_agrees_with_the_hypergeometric_function(rows, drawn):
    special = pytest.importorskip("scipy.special")
    found = individual_risk(np.array([rows]), np.array([rows / drawn]))[0]
    # Euler's transformation of p^f / f 2F1(f, f; f + 1; 1 - p), whose terms do not grow.
    exact = drawn / rows * special.hyp2f1(1, 1, rows + 1, 1 - drawn)
    assert found == pytest.approx(exact, rel=1e-9)


def test_weights_that_stand_for_fewer_people_than_rows_are_no_less_than_the_rows():
    assert individual_risk(np.array([4]), np.array([1.0])).tolist() == [0.25]


def test_a_class_without_rows_is_refused():
    with pytest.raises(ParameterError):
        individual_risk(np.array([0]), np.array([1.0]))


def test_expected_reidentifications_are_about_as_many_as_there_are():
    """Classes of all sizes as likely beforehand, as is assumed: then the sum is right."""
    rng = np.random.default_rng(3)
    # As many classes of each size up to a large one, weighted as the model has it: 1 / F.
    sizes = np.repeat(np.arange(1, 4001), np.maximum(4000 // np.arange(1, 4001), 1))
    fraction = 0.05
    drawn = rng.binomial(sizes, fraction)
    rows, people = drawn[drawn > 0], sizes[drawn > 0]
    truth = float((rows / people).sum())
    found = float((rows * individual_risk(rows, rows / fraction)).sum())
    assert found == pytest.approx(truth, rel=0.1)


@pytest.mark.parametrize("fraction", [0.02, 0.2, 0.6])
def test_unique_matches_are_right_as_often_as_is_said(fraction):
    rng = np.random.default_rng(11)
    people = 1 + rng.geometric(0.2, size=300_000) // 2
    drawn = rng.binomial(people, fraction)
    alone = drawn == 1
    # Someone of the population at random matches a row that is alone; is it theirs?
    truth = np.count_nonzero(alone) / people[alone].sum()
    found = unique_match(Sample.of(drawn[drawn > 0], fraction))
    assert found == pytest.approx(truth, rel=0.05)


def test_without_pairs_every_match_is_right_and_without_uniques_none():
    assert unique_match(Sample.of(np.array([1, 3]), 0.1)) == 1
    assert unique_match(Sample.of(np.array([2, 3]), 0.1)) == 0
