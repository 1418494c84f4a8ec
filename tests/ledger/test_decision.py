"""Joining, leaving and correcting, against the rule applied to every combination."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.ledger.admission import Correction, Offers, Rules, Wishes, decide
from sfumato.likelihood import exact
from tests.ledger.literal import breaches, may_follow, tally_of
from tests.ledger.test_limit import ALPHAS

WIDTHS = (3, 2)
ROW = st.tuples(*(st.integers(0, width - 1) for width in WIDTHS))
SEEDS = st.integers(0, 2**32 - 1)


def offers(rows) -> Offers:
    counted = Counter(rows)
    values = np.array(list(counted), dtype=np.int64).reshape(len(counted), len(WIDTHS)).T
    return Offers(values, np.array(list(counted.values()), dtype=np.int64))


def rows_in(offered, taken):
    return [
        tuple(values)
        for values, n in zip(offered.values.T.tolist(), taken.tolist(), strict=True)
        for _ in range(n)
    ]


@st.composite
def problems(draw):
    """Two groups, rows that join and leave each, and rows that move between them."""
    starts = [draw(st.lists(ROW, min_size=2, max_size=8)) for _ in range(2)]
    joining = [draw(st.lists(ROW, max_size=6)) for _ in range(2)]
    leaving, moving = [], []
    for g, start in enumerate(starts):
        shuffled = draw(st.permutations(start))
        out, change = draw(st.integers(0, 3)), draw(st.integers(0, 2))
        leaving.append(shuffled[:out])
        moving += [
            Correction((g, row), (draw(st.integers(0, 1)), draw(ROW)))
            for row in shuffled[out : out + change]
        ]
    return starts, joining, leaving, moving


@given(problems(), ALPHAS, st.integers(1, 4), st.booleans(), SEEDS)
def test_what_is_published_is_safe_and_adds_up(problem, alpha, k, hold, seed):
    starts, joining, leaving, moving = problem
    wishes = [
        Wishes(tally_of(start, WIDTHS), offers(new), offers(old))
        for start, new, old in zip(starts, joining, leaving, strict=True)
    ]
    rules = Rules(exact(alpha), k, hold)
    outcome = decide(wishes, moving, rules, np.random.default_rng(seed))
    done = [c for c, good in zip(moving, outcome.corrected, strict=True) if good]
    for g, settled in enumerate(outcome.groups):
        came = rows_in(settled.wishes.joining, settled.joined)
        went = rows_in(settled.wishes.leaving, settled.left)
        came += [c.new[1] for c in done if c.new[0] == g]
        went += [c.old[1] for c in done if c.old[0] == g]
        after = list((Counter(starts[g]) + Counter(came) - Counter(went)).elements())
        now = settled.now
        assert now.size == len(after)
        assert [c.tolist() for c in now.counts] == [
            c.tolist() for c in tally_of(after, WIDTHS).counts
        ]
        assert settled.changed == bool(came or went)
        if not (came or went):
            continue
        assert not after or len(after) >= k
        assert not after or may_follow(starts[g], after, WIDTHS, exact(alpha))
        if hold and after:
            for batch in (came, went):
                assert not batch or len(batch) >= k
                assert all(p <= exact(alpha) for p in breaches(batch, WIDTHS).values())


@given(problems(), ALPHAS, st.booleans(), SEEDS)
def test_a_refused_row_does_not_fit_into_what_is_published(problem, alpha, hold, seed):
    starts, joining, leaving, _ = problem
    wishes = [
        Wishes(tally_of(start, WIDTHS), offers(new), offers(old))
        for start, new, old in zip(starts, joining, leaving, strict=True)
    ]
    outcome = decide(wishes, [], Rules(exact(alpha), 2, hold), np.random.default_rng(seed))
    for g, settled in enumerate(outcome.groups):
        refused = settled.count_refused(exact(alpha))
        left = settled.wishes.joining.rows - settled.joined
        assert (refused <= left).all()
        came = rows_in(settled.wishes.joining, settled.joined)
        went = rows_in(settled.wishes.leaving, settled.left)
        end = list((Counter(starts[g]) + Counter(came) - Counter(went)).elements())
        for row, n, rest in zip(
            settled.wishes.joining.values.T.tolist(), refused, left, strict=True
        ):
            if rest and end:
                fits = may_follow(end, [*end, tuple(row)], WIDTHS, exact(alpha))
                assert fits == (n == 0)


@given(problems(), SEEDS)
def test_without_a_limit_everything_happens(problem, seed):
    starts, joining, leaving, moving = problem
    wishes = [
        Wishes(tally_of(start, WIDTHS), offers(new), offers(old))
        for start, new, old in zip(starts, joining, leaving, strict=True)
    ]
    outcome = decide(wishes, moving, Rules(exact(1), 1, hold=False), np.random.default_rng(seed))
    assert all(outcome.corrected)
    for settled in outcome.groups:
        assert (settled.joined == settled.wishes.joining.rows).all()
        assert (settled.left == settled.wishes.leaving.rows).all()
