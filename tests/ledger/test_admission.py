"""Who joins and who leaves: every part that is seen keeps k and alpha, and no row waits in vain."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.ledger.admission import (
    Offers,
    Rules,
    SeenTogether,
    choose_leavers,
    choose_newcomers,
    count_room,
)

ALPHAS = st.sampled_from([Fraction(1, 4), Fraction(2, 5), Fraction(1, 2), Fraction(3, 4)])
WIDTHS = (4, 3, 3)
"""How many codes each column has; the first is that of a missing value."""


def rows_of(columns):
    """Lists of rows as codes; 0 is missing."""
    row = st.tuples(*(st.integers(0, width - 1) for width in WIDTHS[:columns]))
    return st.lists(row, max_size=14)


ROWS = st.integers(1, 3).flatmap(rows_of)


def empty_part(columns):
    return SeenTogether(0, tuple(np.zeros(width, dtype=np.int64) for width in WIDTHS[:columns]))


def offers_of(rows, columns):
    counted = Counter(rows)
    values = np.array(list(counted), dtype=np.int64).reshape(len(counted), columns).T
    return Offers(values, np.array(list(counted.values()), dtype=np.int64))


def part_of(rows, columns):
    offers = offers_of(rows, columns)
    return empty_part(columns).plus(offers.values, offers.rows)


def worst(rows):
    """The largest share of a value among those that are known, by counting."""
    shares = [Fraction(0)]
    for column in zip(*rows, strict=True):
        known = [value for value in column if value]
        shares += [Fraction(n, len(known)) for n in Counter(known).values()]
    return max(shares)


def may_be_seen(rows, alpha, k):
    return len(rows) >= k and worst(rows) <= alpha


def taken_rows(offers, choice):
    return [
        tuple(int(code) for code in offers.values[:, c])
        for c, n in enumerate(choice.taken.tolist())
        for _ in range(n)
    ]


def rest_of(rows, gone):
    return list((Counter(rows) - Counter(gone)).elements())


@given(ROWS)
def test_what_a_part_tells_is_the_largest_share_among_known_values(rows):
    columns = len(rows[0]) if rows else 1
    part = part_of(rows, columns)
    assert (part.size, part.worst) == (len(rows), worst(rows))
    for alpha in (Fraction(1, 3), Fraction(1, 2), Fraction(1)):
        assert part.is_within(alpha) == (worst(rows) <= alpha)
        assert (part.find_excess(alpha) is None) == part.is_within(alpha)


@given(ROWS, ALPHAS, st.integers(1, 4), st.integers(0, 5))
def test_newcomers_are_seen_only_if_they_hide_each_other(rows, alpha, k, seed):
    columns = len(rows[0]) if rows else 1
    offers = offers_of(rows, columns)
    choice = choose_newcomers(
        empty_part(columns), offers, Rules(alpha, k), np.random.default_rng(seed)
    )
    chosen = taken_rows(offers, choice)
    assert (choice.taken <= offers.rows).all()
    assert choice.part.size == len(chosen)
    assert not chosen or may_be_seen(chosen, alpha, k)
    assert bool(choice.why) == (len(chosen) < len(rows) or not rows)
    if may_be_seen(rows, alpha, k):
        assert len(chosen) == len(rows)
    if chosen:
        # Whoever waits would not fit by themselves.
        waiting = set(rest_of(rows, chosen))
        assert not [row for row in waiting if worst([*chosen, row]) <= alpha]


@given(rows_of(1), ALPHAS, st.integers(1, 3))
@settings(max_examples=60)
def test_of_one_column_as_many_join_as_can(rows, alpha, k):
    offers = offers_of(rows, 1)
    choice = choose_newcomers(empty_part(1), offers, Rules(alpha, k), np.random.default_rng(1))
    most = 0
    for numbers in product(*(range(n + 1) for n in offers.rows.tolist())):
        some = [(int(v),) for v, n in zip(offers.values[0], numbers, strict=True) for _ in range(n)]
        if may_be_seen(some, alpha, k):
            most = max(most, len(some))
    assert choice.part.size == most


@given(ROWS, st.data(), ALPHAS, st.integers(1, 4), st.integers(0, 5))
def test_leavers_and_those_who_stay_hide_each_other(rows, data, alpha, k, seed):
    columns = len(rows[0]) if rows else 1
    wish = [row for row in rows if data.draw(st.booleans())]
    cell, offers = part_of(rows, columns), offers_of(wish, columns)
    choice = choose_leavers(cell, offers, Rules(alpha, k), np.random.default_rng(seed))
    gone = taken_rows(offers, choice)
    stay = rest_of(rows, gone)
    assert (choice.taken <= offers.rows).all()
    assert len(stay) + len(gone) == len(rows)
    if len(wish) == len(rows):
        # If the whole cell leaves, nothing is seen that was not before.
        assert (len(gone), choice.why) == (len(rows), "")
        return
    if gone:
        assert may_be_seen(gone, alpha, k)
        assert may_be_seen(stay, alpha, k)
    if may_be_seen(wish, alpha, k) and may_be_seen(rest_of(rows, wish), alpha, k):
        assert (len(gone), choice.why) == (len(wish), "")
    assert bool(choice.why) == (len(gone) < len(wish) or not wish)


def test_rows_that_a_cell_does_not_hold_do_not_leave_it():
    cell, offers = part_of([(1,), (2,), (1,), (2,)], 1), offers_of([(3,), (3,), (1,), (2,)], 1)
    choice = choose_leavers(cell, offers, Rules(Fraction(1, 2), 2), np.random.default_rng(1))
    assert choice.part.size == 0


def test_the_policy_is_asked_about_every_part_that_is_seen():
    offers, rng = offers_of([(1,), (2,), (3,)], 1), np.random.default_rng(1)
    cell = part_of([(1,), (2,), (3,), (1,), (2,), (3,), (1,)], 1)

    def rules(size):
        """Forbid parts of some size."""
        return Rules(Fraction(1, 2), 2, lambda part: "a promise" if part.size == size else "")

    choice = choose_newcomers(empty_part(1), offers, rules(3), rng)
    assert (choice.part.size, choice.why) == (0, "the newcomers would break a promise")
    choice = choose_leavers(cell, offers, rules(3), rng)
    assert (choice.part.size, choice.why) == (0, "those who leave would break a promise")
    choice = choose_leavers(cell, offers, rules(4), rng)
    assert (choice.part.size, choice.why) == (0, "those who stay would break a promise")
    assert choose_leavers(cell, offers, rules(7), rng).part.size == 3


def test_a_part_that_earlier_corrections_forbid_does_not_leave():
    cell = part_of([(1,), (2,), (1,), (2,)], 1)
    offers, rules = offers_of([(1,), (2,)], 1), Rules(Fraction(1, 2), 2)
    seen = []

    def fits(part):
        seen.append(part.counts[0].tolist())
        return False

    choice = choose_leavers(cell, offers, rules, np.random.default_rng(1), fits=fits)
    assert (choice.part.size, seen[0]) == (0, [0, 1, 1, 0])
    assert "a value was corrected before" in choice.why


def test_who_waits_is_drawn_at_random():
    """Of four with a value that is too frequent one waits: it may be any of them."""
    offers = offers_of([(1, 1), (1, 1), (1, 2), (1, 2), (2, 1)], 2)
    rules = Rules(Fraction(3, 4), 2)
    chosen = {
        tuple(choose_newcomers(empty_part(2), offers, rules, np.random.default_rng(i)).taken)
        for i in range(40)
    }
    assert chosen == {(1, 2, 1), (2, 1, 1)}


@given(ROWS, ALPHAS, st.data())
def test_room_is_the_number_of_rows_that_fit(rows, alpha, data):
    columns = len(rows[0]) if rows else 1
    row = data.draw(st.tuples(*(st.integers(1, width - 1) for width in WIDTHS[:columns])))
    found = count_room(part_of(rows, columns), row, alpha)

    def share(n):
        together = [*rows, *[row] * n]
        known = [sum(each[i] > 0 for each in together) for i in range(columns)]
        mine = [sum(each[i] == row[i] for each in together) for i in range(columns)]
        return max(Fraction(m, max(k, 1)) for m, k in zip(mine, known, strict=True))

    assert found == max((n for n in range(60) if share(n) <= alpha), default=0)
    assert count_room(part_of(rows, columns), row, Fraction(1)) is None


@given(rows_of(1), ALPHAS, st.integers(1, 3))
def test_harmless_values_are_known_and_not_limited(rows, alpha, k):
    """Code 1 is harmless: any number may have it, and hides those who have other values."""
    harmless = (np.array([False, True, False, False]),)
    empty = SeenTogether(0, empty_part(1).counts, harmless)
    offers = offers_of(rows, 1)
    choice = choose_newcomers(empty, offers, Rules(alpha, k), np.random.default_rng(1))
    chosen = Counter(taken_rows(offers, choice))
    known = sum(n for (code,), n in chosen.items() if code)
    assert all(n <= alpha * known for (code,), n in chosen.items() if code > 1)
    if chosen:
        assert chosen.total() >= k
        assert chosen[1,] == rows.count((1,))
    elif rows.count((1,)) >= k:
        raise AssertionError("nothing hinders those with a harmless value")
