"""Buckets: as small as they can be, and never less diverse than promised."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.slicing import bucketed, crowds, exposed
from tests.slicing import literal
from tests.slicing.tables import COLUMNS, NAMES, ROWS, buckets_of, laid_of


def codes_of(counts):
    return [counts.codes_of(name) for name in NAMES[:3]]


@given(rows=ROWS, columns=COLUMNS, l=st.integers(2, 3))
def test_nobody_is_exposed_by_a_cut(rows, columns, l):
    counts, laid = laid_of(rows, columns)
    whole = np.zeros(len(counts), dtype=np.int64)
    if crowds(laid, whole).fail(l).any():
        return
    bucket = bucketed(laid, codes_of(counts), l)
    buckets = buckets_of(counts, bucket)
    assert sum(map(len, buckets)) == len(rows)
    assert len(buckets) == bucket.max() + 1
    assert not any(literal.is_exposed(r, buckets, NAMES, columns, "ill", l) for r in rows)


@given(rows=ROWS, columns=COLUMNS, l=st.integers(2, 3))
def test_where_no_bucket_is_cut_no_cut_would_do(rows, columns, l):
    """A bucket in the end has no attribute whose middle cut leaves both halves diverse."""
    counts, laid = laid_of(rows, columns)
    if crowds(laid, np.zeros(len(counts), dtype=np.int64)).fail(l).any():
        return
    bucket = bucketed(laid, codes_of(counts), l)
    for number in range(int(bucket.max()) + 1):
        at = np.flatnonzero(bucket == number)
        for codes in codes_of(counts):
            held = np.unique(codes[at])
            cuts = {}
            for last in held[:-1]:
                upper = at[codes[at] > last]
                cuts[last] = abs(2 * counts.rows[upper].sum() - counts.rows[at].sum()), upper
            if cuts:
                _, upper = min(cuts.values(), key=lambda each: each[0])
                trial = bucket.copy()
                trial[upper] = bucket.max() + 1
                assert crowds(laid, trial).fail(l).any()


@given(rows=ROWS, columns=COLUMNS, l=st.integers(2, 3))
def test_who_is_in_the_table_matches_one_bucket_and_a_failing_one_exposes(rows, columns, l):
    """So no cut is refused that the definition over the whole table would allow."""
    counts, laid = laid_of(rows, columns)
    if crowds(laid, np.zeros(len(counts), dtype=np.int64)).fail(l).any():
        return
    bucket = bucketed(laid, codes_of(counts), l)
    buckets = buckets_of(counts, bucket)
    for row in rows:
        assert sum(literal.f(row, each, NAMES, columns, "ill") > 0 for each in buckets) == 1
    for wanted in (2, 3, 4):
        failing = crowds(laid, bucket).fail(wanted).any()
        assert failing == bool(len(exposed(laid, bucket, wanted)))


@pytest.mark.parametrize("l", [2, 3])
def test_a_larger_table_ends_in_many_buckets(l):
    rng = np.random.default_rng(5)
    rows = [tuple(map(str, row)) for row in rng.integers(0, 12, (2000, 4))]
    counts, laid = laid_of(rows, (("age", "sex"), ("zip",), ("ill",)))
    bucket = bucketed(laid, codes_of(counts), l)
    assert bucket.max() > 150
    assert not len(exposed(laid, bucket, l))
    assert not crowds(laid, bucket).fail(l).any()
