"""Which of several rows wait is drawn: an order of values or files would tell who they are."""

from fractions import Fraction

import numpy as np

from sfumato.ledger.admission import Offers, Rules, SeenTogether, choose_newcomers


def test_which_newcomers_wait_is_drawn_and_not_the_order_they_are_given_in():
    # Of four with the first value two are too many, and nothing else tells them apart.
    empty = SeenTogether(0, (np.zeros(3, dtype=np.int64), np.zeros(5, dtype=np.int64)))
    offers = Offers(np.array([[1, 1, 1, 1, 2, 2], [1, 2, 3, 4, 1, 2]]), np.ones(6, dtype=np.int64))
    rules = Rules(Fraction(1, 2), 2)
    found = set()
    for seed in range(60):
        choice = choose_newcomers(empty, offers, rules, np.random.default_rng(seed))
        assert choice.part.is_within(rules.alpha)
        found.add(tuple(np.flatnonzero(choice.taken == 0).tolist()))
    assert {who for waiting in found for who in waiting} >= {0, 1, 2, 3}
