"""Incremental Break-Merge against the rule applied literally, and the worked example."""

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.ledger.admission import Offers, Tally, admit, admit_alone
from sfumato.likelihood import exact
from tests.ledger.literal import breaches, may_follow, tally_of
from tests.ledger.test_limit import ALPHAS

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def increments(draw):
    """A group, and rows that want to join it."""
    widths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    row = st.tuples(*(st.integers(0, width - 1) for width in widths))
    start = draw(st.lists(row, min_size=1, max_size=8))
    return start, draw(st.lists(row, min_size=1, max_size=12)), widths


def offers_of(rows) -> Offers:
    counted = Counter(rows)
    return Offers(np.array(list(counted)).T, np.array(list(counted.values())))


def as_rows(offers, taken):
    return [
        tuple(values)
        for values, n in zip(offers.values.T.tolist(), taken.tolist(), strict=True)
        for _ in range(n)
    ]


@given(increments(), ALPHAS, SEEDS)
def test_no_combination_rises_above_the_limit(increment, alpha, seed):
    start, new, widths = increment
    offers = offers_of(new)
    taken = admit(tally_of(start, widths), offers, exact(alpha), np.random.default_rng(seed))
    assert ((taken >= 0) & (taken <= offers.rows)).all()
    assert may_follow(start, start + as_rows(offers, taken), widths, exact(alpha))


@given(increments(), ALPHAS, SEEDS)
def test_no_refused_row_could_still_be_admitted(increment, alpha, seed):
    start, new, widths = increment
    offers = offers_of(new)
    taken = admit(tally_of(start, widths), offers, exact(alpha), np.random.default_rng(seed))
    end = start + as_rows(offers, taken)
    for row in as_rows(offers, (taken < offers.rows).astype(int)):
        assert not may_follow(end, [*end, row], widths, exact(alpha))


@given(increments(), SEEDS)
def test_all_are_admitted_where_all_may_be(increment, seed):
    start, new, widths = increment
    offers = offers_of(new)
    taken = admit(tally_of(start, widths), offers, Fraction(1), np.random.default_rng(seed))
    assert taken.sum() == len(new)


@given(increments(), ALPHAS, SEEDS)
def test_a_batch_of_its_own_is_within_the_limit_by_itself(increment, alpha, seed):
    _, new, widths = increment
    offers = offers_of(new)
    rest = as_rows(offers, admit_alone(offers, exact(alpha), np.random.default_rng(seed)))
    assert all(p <= exact(alpha) for p in breaches(rest, widths).values())


def test_which_rows_are_refused_is_drawn_and_not_the_order_they_are_given_in():
    start = Tally(6, (np.array([3, 3]), np.array([3, 3])))
    offers = Offers(np.array([[0, 0], [0, 1]]), np.array([2, 2]))
    found = {
        tuple(admit(start, offers, exact(0.58), np.random.default_rng(seed)).tolist())
        for seed in range(30)
    }
    assert found == {(1, 0), (0, 1)}


# The printed example: State-gov, Federal-gov, Private, Local-gov · Married, Never-Married,
# Divorced, Separated · at most 50K, more. Five new rows have State-gov, Never-Married and at
# most 50K, five the same and more.
GROUP = Tally(5, (np.array([2, 1, 1, 1]), np.array([1, 2, 1, 1]), np.array([4, 1])))
NEW = Offers(np.array([[0, 0], [1, 1], [0, 1]]), np.array([5, 5]))


def test_the_worked_example():
    assert admit(GROUP, NEW, exact(0.7), np.random.default_rng(1)).tolist() == [5, 5]
    after = GROUP.plus(NEW.values, NEW.rows)
    assert [count.tolist() for count in after.counts] == [[12, 1, 1, 1], [1, 12, 1, 1], [9, 6]]
    assert GROUP.worst == Fraction(8, 25)
    assert GROUP.breach((0, 1, 0)) == (Fraction(16, 125), Fraction(8, 25))
    # An adversary who knows the salary now has 12/15 · 12/15 for the other two.
    assert after.worst == Fraction(16, 25)


def test_the_worked_example_within_a_lower_limit():
    taken = admit(GROUP, NEW, exact(0.4), np.random.default_rng(1))
    after = GROUP.plus(NEW.values, taken)
    assert after.worst <= Fraction(2, 5)
    assert 0 < taken.sum() < 10


def test_the_likelihoods_of_the_printed_table():
    # 19/23 · 14/23 = 50 % and 19/23 · 9/23 = 32 %, with the employer known.
    counts = (np.array([20, 1, 1, 1]), np.array([1, 19, 1, 2]), np.array([14, 9]))
    group = Tally(23, counts)
    shares = [Fraction(int(group.counts[1][1]), 23) * Fraction(n, 23) for n in (14, 9)]
    assert [round(100 * float(share)) for share in shares] == [50, 32]


def test_many_rows_are_no_trouble():
    rng = np.random.default_rng(5)
    start = Tally(1000, (np.full(10, 100), np.full(5, 200)))
    values = np.array([[i for i in range(10) for _ in range(5)], list(range(5)) * 10])
    offers = Offers(values, rng.integers(0, 20_000, 50))
    taken = admit(start, offers, exact(0.3), rng)
    assert start.plus(values, taken).worst <= Fraction(3, 10)
    for i in np.flatnonzero(taken < offers.rows):
        assert start.plus(values, taken).plus(values[:, [i]]).worst > Fraction(3, 10)
