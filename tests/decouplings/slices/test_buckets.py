"""Buckets: as small as they can be, and never less diverse than promised."""

import numpy as np
import pytest
from hypothesis import given

from sfumato.decouplings.slices import (
    EntropyForm,
    Probabilistic,
    Recursive,
    crowds,
    cut_into_buckets,
    find_exposed,
)
from tests.decouplings.slices import literal
from tests.decouplings.slices.tables import COLUMNS, FORMS, NAMES, WITH_MISSING, buckets_of, laid_of


def codes_of(counts):
    return [counts.codes_of(name) for name in NAMES[:3]]


def any_fails(laid, bucket, form):
    return bool(form.fail(crowds(laid, bucket).tally).any())


@given(rows=WITH_MISSING, columns=COLUMNS, asked=FORMS)
def test_nobody_is_exposed_by_a_cut(rows, columns, asked):
    counts, laid = laid_of(rows, columns)
    if any_fails(laid, np.zeros(len(counts), dtype=np.int64), asked.form):
        return
    bucket = cut_into_buckets([laid], codes_of(counts), asked.form)
    buckets = buckets_of(counts, bucket)
    assert sum(map(len, buckets)) == len(rows)
    assert len(buckets) == bucket.max() + 1
    assert not any(
        literal.is_exposed(r, buckets, NAMES, columns, "ill", asked.diverse) for r in rows
    )


@given(rows=WITH_MISSING, columns=COLUMNS, asked=FORMS)
def test_where_no_bucket_is_cut_no_cut_would_do(rows, columns, asked):
    """A bucket in the end has no attribute whose middle cut leaves both halves diverse."""
    counts, laid = laid_of(rows, columns)
    if any_fails(laid, np.zeros(len(counts), dtype=np.int64), asked.form):
        return
    bucket = cut_into_buckets([laid], codes_of(counts), asked.form)
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
                assert any_fails(laid, trial, asked.form)
                parted = buckets_of(counts, trial)
                assert any(
                    literal.is_exposed(r, parted, NAMES, columns, "ill", asked.diverse)
                    for r in rows
                )


@given(rows=WITH_MISSING, columns=COLUMNS, asked=FORMS, other=FORMS)
def test_who_is_in_the_table_matches_one_bucket_and_a_failing_one_exposes(
    rows, columns, asked, other
):
    """So no cut is refused that the definition over the whole table would allow."""
    counts, laid = laid_of(rows, columns)
    if any_fails(laid, np.zeros(len(counts), dtype=np.int64), asked.form):
        return
    bucket = cut_into_buckets([laid], codes_of(counts), asked.form)
    buckets = buckets_of(counts, bucket)
    for row in rows:
        assert sum(literal.f(row, each, NAMES, columns, "ill") > 0 for each in buckets) == 1
    for form in (asked.form, other.form):
        assert any_fails(laid, bucket, form) == bool(len(find_exposed(laid, bucket, form)))


@given(rows=WITH_MISSING, columns=COLUMNS, asked=FORMS)
def test_a_table_that_fails_as_one_bucket_has_no_cut_that_helps(rows, columns, asked):
    counts, laid = laid_of(rows, columns)
    if any_fails(laid, np.zeros(len(counts), dtype=np.int64), asked.form):
        for codes in codes_of(counts):
            for last in range(int(codes.max())):
                assert any_fails(laid, (codes > last).astype(np.int64), asked.form)


@pytest.mark.parametrize(
    ("form", "least"),
    [
        (Probabilistic(2), 150),
        (Probabilistic(3), 150),
        (EntropyForm(2.5), 150),
        (Recursive(2, 4), 300),
        (Recursive(3, 2), 150),
    ],
)
def test_a_larger_table_ends_in_many_buckets(form, least):
    rng = np.random.default_rng(5)
    rows = [tuple(map(str, row)) for row in rng.integers(0, 12, (2000, 4))]
    counts, laid = laid_of(rows, (("age", "sex"), ("zip",), ("ill",)))
    bucket = cut_into_buckets([laid], codes_of(counts), form)
    assert bucket.max() > least
    assert not len(find_exposed(laid, bucket, form))
    assert not any_fails(laid, bucket, form)
