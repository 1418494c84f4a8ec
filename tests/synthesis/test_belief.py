"""What a promise means as belief, held against adversaries who enumerate worlds."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.harm import HarmRule, Level
from sfumato.releases.synthetic import bound_contributions
from sfumato.synthesis.belief import bounds_of, loose_bounds, most_believed
from sfumato.verifier.synthetic import epsilon_at


@given(
    st.floats(0.01, 3),
    st.integers(2, 5),
    st.randoms(use_true_random=False),
)
def test_no_adversary_believes_more_than_the_bound(epsilon, worlds, random):
    """Noisy counts of a table, with and without a person, for every value of the person."""
    # The person has one of several values, or is not in the table: geometric noise on each cell.
    ratio = math.exp(-epsilon)
    noise = {k: (1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(-60, 61)}
    prior = [random.random() + 0.01 for _ in range(worlds)]
    prior = [each / sum(prior) for each in prior]
    counts = [random.randint(0, 5) for _ in range(worlds)]
    seen = [each + random.randint(-3, 3) for each in counts]

    def likelihood(value):
        """Return how likely the noisy counts are if the person has a value; None: is not there."""
        of_cells = [noise[seen[cell] - counts[cell] - (cell == value)] for cell in range(worlds)]
        return math.prod(of_cells)

    absent = likelihood(None)
    joint = [p * likelihood(value) for value, p in enumerate(prior)]
    there, [membership, of_value] = sum(joint), bounds_of(epsilon, "row")
    for belief in (0.01, 0.3, 0.9):
        after = belief * there / (belief * there + (1 - belief) * absent)
        assert after <= most_believed(belief, membership.epsilon) + 1e-9
    for value, p in enumerate(prior):
        assert joint[value] / there <= most_believed(p, of_value.epsilon) + 1e-9


@pytest.mark.parametrize("rho", [0.001, 0.015, 0.3])
def test_more_is_believed_as_seldom_as_is_said_and_more_often_than_delta(rho):
    """Of one Gaussian count the odds are known: their logarithm is N(rho d², 2 rho d²) at d."""
    delta = 1e-9
    epsilon = epsilon_at(rho, delta)
    for distance, bound in zip((1, 2), bounds_of(epsilon, "row", rho), strict=True):
        mean, deviation = rho * distance**2, math.sqrt(2 * rho) * distance
        exact = NormalDist(mean, deviation).cdf(2 * mean - bound.epsilon)
        assert exact <= bound.but < 1e-4
        assert distance > 1 or exact > delta
    assert [each.but for each in bounds_of(epsilon, "row")] == [0, 0]


def test_the_bound_for_values_is_reached():
    """One value gives way to another: both cells change, each by all that is promised."""
    epsilon, prior = 0.7, 0.2
    ratio = math.exp(-epsilon)
    with_value = ratio**-1 * 1  # cell of the value is seen one above the rest
    other = 1 * ratio  # and that of the other value one below
    after = prior * with_value / (prior * with_value + (1 - prior) * other)
    assert after == pytest.approx(most_believed(prior, 2 * epsilon))


def test_small_budgets_exclude_harm_and_large_ones_nothing():
    rule = HarmRule()
    assert loose_bounds(bounds_of(0.5, "row"), rule) == ()
    [told] = loose_bounds(bounds_of(1.0, "person"), rule)
    assert "very high" in told
    assert bounds_of(1.0, "row")[0].worst(rule) < Level.HIGH
    assert not any(each.excludes_nothing(rule) for each in bounds_of(1.0, "row"))
    assert any(each.excludes_nothing(rule) for each in bounds_of(6.0, "row"))


@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 2)), min_size=1, max_size=60),
    st.integers(1, 4),
    st.integers(0, 99),
)
def test_a_person_changes_no_more_rows_than_are_said(rows, most, seed):
    counts = FrequencySet.from_rows(["who", "n"], rows)
    bounded = bound_contributions(counts, "who", most, np.random.default_rng(seed))
    of_person = {who: sum(each[0] == who for each in rows) for who, _ in rows}
    assert bounded.total == sum(min(n, most) for n in of_person.values())
    whole = counts.project(["n"])
    left = dict(zip(bounded.columns[0].values, bounded.value_counts("n"), strict=True))
    there = dict(zip(whole.columns[0].values, whole.value_counts("n"), strict=True))
    assert all(n <= there[value] for value, n in left.items())
