"""The largest breach probability, and how many rows a group takes, against all combinations."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.ledger.admission import Tally, fits
from sfumato.likelihood import exact, exact_limit
from tests.ledger.literal import breaches, may_follow, tally_of

ALPHAS = st.sampled_from([0.1, 0.25, 0.3, 0.32, 0.4, 0.5, 0.6, 0.7, 0.9, 1.0])


@st.composite
def groups(draw, least=1):
    """Some rows of a group, how many values each column has, and one row more."""
    widths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    row = st.tuples(*(st.integers(0, width - 1) for width in widths))
    return draw(st.lists(row, min_size=least, max_size=9)), widths, draw(row)


@given(groups())
def test_the_worst_is_the_largest_of_all_combinations(group):
    rows, widths, _ = group
    assert tally_of(rows, widths).worst == max(breaches(rows, widths).values())


@given(groups())
def test_a_combination_has_the_probability_of_the_definition(group):
    rows, widths, row = group
    group_only, with_a_value = tally_of(rows, widths).breach(row)
    shares = [Fraction(sum(r[i] == row[i] for r in rows), len(rows)) for i in range(len(widths))]
    assert group_only == prod(shares)
    if len(widths) > 1:
        assert with_a_value == max(breaches(rows, widths)[row, m] for m in range(len(widths)))
        # Knowing the group alone never tells more than knowing a value besides.
        assert group_only <= with_a_value


@st.composite
def changes(draw):
    """A group before and after some rows joined and some left."""
    before, widths, _ = draw(groups(least=0))
    row = st.tuples(*(st.integers(0, width - 1) for width in widths))
    stayed = [r for r in before if draw(st.booleans())]
    return before, stayed + draw(st.lists(row, max_size=6)), widths


@given(changes(), ALPHAS)
def test_a_change_is_judged_as_all_combinations_say(change, alpha):
    before, after, widths = change
    literal = may_follow(before, after, widths, exact(alpha))
    assert fits(tally_of(before, widths), tally_of(after, widths), exact(alpha)) is literal


@given(groups(), ALPHAS)
def test_one_more_row_is_judged_as_all_combinations_say(group, alpha):
    rows, widths, row = group
    before, after = tally_of(rows, widths), tally_of([*rows, row], widths)
    assert fits(before, after, exact(alpha)) is may_follow(rows, [*rows, row], widths, exact(alpha))


@given(groups(), ALPHAS)
def test_so_many_rows_are_permitted_and_not_one_more(group, alpha):
    rows, widths, row = group
    limit = exact(alpha)
    n = tally_of(rows, widths).permitted_rows(row, limit)
    for i in range(min(60, 60 if n is None else n)):
        assert may_follow(rows + [row] * i, rows + [row] * (i + 1), widths, limit)
    if n is not None and n < 200:
        assert not may_follow(rows + [row] * n, rows + [row] * (n + 1), widths, limit)


def test_a_combination_may_rise_and_fall_again():
    # Two rows of the first value among ten of the second column's: the mixed combination peaks.
    group = Tally(12, (np.array([1, 11]), np.array([10, 2])))
    assert group.permitted_rows((0, 1), exact(0.99)) is not None


@pytest.mark.parametrize("alpha", [0, -0.1, 1.01, float("nan"), "x", None])
def test_a_limit_that_is_none(alpha):
    with pytest.raises(ParameterError, match="alpha must be a number above 0 and at most 1"):
        exact_limit(alpha)


def test_nothing_is_too_much_for_a_limit_of_one():
    assert Tally(2, (np.array([2, 0]), np.array([1, 1]))).permitted_rows((0, 0), exact(1)) is None
