"""Subsets: which columns single people out, against counting rows one by one."""

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import Column, FrequencySet
from sfumato.drafting.inspection import telling_subsets

NAMES = ("a", "b", "c", "d")
CELL = st.sampled_from(["x", "y", None]) | st.integers(0, 9)
ROWS = st.lists(st.tuples(CELL, CELL, CELL, CELL), min_size=1, max_size=25)


def alone(rows, subset) -> int:
    """Count the rows that no other row agrees with, word by word."""
    seen = Counter(tuple(row[i] for i in subset) for row in rows)
    return sum(times == 1 for times in seen.values())


def textbook(rows, largest):
    """Rank every set of columns that singles out more than each of its parts."""
    found = []
    for size in range(1, largest + 1):
        for subset in combinations(range(len(NAMES)), size):
            parts = [subset[:i] + subset[i + 1 :] for i in range(size)]
            if alone(rows, subset) > max(alone(rows, part) if part else 0 for part in parts):
                found.append((-alone(rows, subset), size, subset))
    return [(tuple(NAMES[i] for i in subset), -n) for n, _, subset in sorted(found)[:20]]


@given(rows=ROWS, largest=st.integers(0, 5))
def test_agrees_with_the_textbook(rows, largest):
    search = telling_subsets(FrequencySet.from_rows(NAMES, rows), largest)
    assert [(risk.columns, risk.unique_rows) for risk in search.found] == textbook(
        rows, min(largest, 4)
    )
    assert [risk.share for risk in search.found] == [
        risk.unique_rows / len(rows) for risk in search.found
    ]
    assert search.complete
    assert search.possible == sum(comb(4, size) for size in range(1, min(largest, 4) + 1))


@given(rows=ROWS, work=st.integers(1, 300))
def test_with_little_time_every_column_is_still_looked_at_and_nothing_is_invented(rows, work):
    search = telling_subsets(FrequencySet.from_rows(NAMES, rows), 3, work=work)
    assert 4 <= search.looked_at <= search.possible == 14
    for risk in search.found:
        subset = [NAMES.index(name) for name in risk.columns]
        assert risk.unique_rows == alone(rows, subset)


def wide_table(columns: int, rows: int) -> FrequencySet:
    rng = np.random.default_rng(1)
    sizes = rng.integers(2, 50, columns)
    codes = np.array([rng.integers(0, size, rows) for size in sizes], dtype=np.int32)
    names = [Column(f"c{i}", tuple(range(size))) for i, size in enumerate(sizes)]
    return FrequencySet(tuple(names), codes, np.ones(rows, dtype=np.int64))


def test_sixty_columns_are_searched_greedily_and_it_says_so():
    counts = wide_table(60, 2000)
    work = 2000 * 2500
    search = telling_subsets(counts, 3, work=work)
    assert search.possible == 60 + 1770 + 34_220
    assert not search.complete
    assert search.looked_at * 2000 <= work
    assert len(search.found) == 20
    # Greedy or not, it must find more than the best of the pairs alone.
    pairs = telling_subsets(counts, 2)
    assert pairs.complete
    assert search.found[0].unique_rows > pairs.found[0].unique_rows


def test_keys_too_wide_for_one_integer_are_still_told_apart():
    n = 3
    codes = np.array([[0, 2**30 - 1, 0]] * 3, dtype=np.int32)
    values = range(2**30)  # a dictionary nobody could hold, but its length is all that counts
    columns = tuple(Column(name, values) for name in "abc")
    search = telling_subsets(FrequencySet(columns, codes, np.ones(n, dtype=np.int64)), 3)
    assert [(risk.columns, risk.unique_rows) for risk in search.found] == [
        (("a",), 1), (("b",), 1), (("c",), 1),
    ]  # fmt: skip


def test_progress_is_told_and_never_runs_past_the_end():
    told = []
    telling_subsets(wide_table(6, 50), 3, report=lambda done, total: told.append((done, total)))
    assert told[-1] == (41, 41)
    assert all(done <= total for done, total in told)


def test_the_sets_of_a_wide_table_are_bounded_however_few_its_rows():
    narrow, wide = (telling_subsets(wide_table(n, 24), 3, work=10**7) for n in (50, 300))
    # There are 20 875 and 4 545 100 sets, and a set of few rows is not free.
    assert not narrow.complete
    assert wide.looked_at <= 1.1 * narrow.looked_at
