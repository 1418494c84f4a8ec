"""Sliced tables against the literal joining of their slices."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.decouplings.base import LinkedTables
from sfumato.errors import InputError, ParameterError, UnknownColumnError
from sfumato.usefulness import Estimator, Query, among
from tests.usefulness import literal
from tests.usefulness.tables import NAMES, ROWS, counts_of, keeps, queries

SLICES = [
    [["age", "sex"], ["ill", "pay"]],
    [["age"], ["sex", "pay"], ["ill"]],
    [["age", "sex", "ill", "pay"]],
]


def published(rows, buckets, held):
    """One slice: how many people of each bucket have each sub-tuple, numbers as text."""
    at = [NAMES.index(name) for name in held]
    parts = Counter((str(b), *(row[i] for i in at)) for b, row in zip(buckets, rows, strict=True))
    listed = [(*part, str(people)) for part, people in parts.items()]
    return FrequencySet.from_rows(["bucket", *held, "count"], listed)


def sliced(rows, buckets, slices, columns):
    tables = [published(rows, buckets, held) for held in slices]
    return Estimator(LinkedTables(tuple(tables), "bucket", "count"), columns)


def joined(rows, buckets, slices):
    """Every sub-tuple of a slice with every other of its bucket, and how many have all."""
    expected = Counter()
    for bucket in set(buckets):
        inside = [row for b, row in zip(buckets, rows, strict=True) if b == bucket]
        parts = [
            Counter(tuple((name, row[NAMES.index(name)]) for name in held) for row in inside)
            for held in slices
        ]
        for combination in product(*parts):
            people = Fraction(len(inside))
            for part, counted in zip(combination, parts, strict=True):
                people *= Fraction(counted[part], len(inside))
            cells = dict(cell for part in combination for cell in part)
            expected[tuple(cells[name] for name in NAMES)] += people
    return expected


@given(ROWS, st.sampled_from(SLICES), st.integers(1, 3), st.data())
def test_slices_answer_as_joining_them_does(rows, slices, n, data):
    counts = counts_of(rows)
    buckets = [data.draw(st.integers(1, n)) for _ in rows]
    release = sliced(rows, buckets, slices, counts.columns)
    expected = joined(rows, buckets, slices)
    query = data.draw(queries(counts))
    assert release.count(query) == pytest.approx(
        float(literal.count(expected, lambda raw: keeps(raw, query)))
    )
    assert release.total == len(rows)
    one, other = data.draw(st.permutations(NAMES))[:2]
    table = release.joint(one, other)
    for (a, first), (b, second) in product(
        enumerate(release.column(one).values), enumerate(release.column(other).values)
    ):
        both = [
            people
            for raw, people in expected.items()
            if (raw[NAMES.index(one)], raw[NAMES.index(other)]) == (first, second)
        ]
        assert table[a, b] == pytest.approx(float(sum(both)), abs=1e-9)


@given(ROWS, st.sampled_from(SLICES), st.integers(0, 99))
def test_what_is_drawn_has_the_sub_tuples_that_were_published(rows, slices, seed):
    counts = counts_of(rows)
    buckets = [i % 2 for i in range(len(rows))]
    cells = sliced(rows, buckets, slices, counts.columns).possible(np.random.default_rng(seed))
    drawn = [
        tuple(column.values[code] for column, code in zip(counts.columns, row, strict=True))
        for row in cells.T.tolist()
    ]
    for held in slices:
        at = [NAMES.index(name) for name in held]
        assert Counter(tuple(row[i] for i in at) for row in drawn) == Counter(
            tuple(row[i] for i in at) for row in rows
        )


@given(ROWS, st.data())
def test_an_attribute_in_two_slices_is_asked_once(rows, data):
    """Whatever one slice holds is exact, also if other slices hold it too."""
    counts = counts_of(rows)
    slices = [["age", "sex"], ["sex", "ill"], ["ill", "pay"]]
    release = sliced(rows, [1] * len(rows), slices, counts.columns)
    query = data.draw(queries(counts, data.draw(st.sampled_from(slices))))
    assert release.count(query) == pytest.approx(Estimator.of_original(counts).count(query))


def test_slices_that_do_not_belong_together_are_refused():
    rows = [(21, "f", "flu", "low"), (24, "m", "gout", "mid")]
    counts = counts_of(rows)
    ages, ills = published(rows, [1, 2], ["age", "sex"]), published(rows, [1, 1], ["ill", "pay"])
    with pytest.raises(InputError, match="do not belong together"):
        Estimator(LinkedTables((ages, ills), "bucket", "count"), counts.columns)
    with pytest.raises(UnknownColumnError, match="the published tables"):
        Estimator(LinkedTables((ages,), "bucket", "count"), counts.columns)
    whole = sliced(rows, [1, 1], [NAMES], counts.columns)
    other = counts_of([(29, "f", "flu", "low")])
    with pytest.raises(ParameterError, match="values that the original table has in 'age'"):
        whole.count(Query((among(other.column("age"), [29]),)))
