"""Attributes in columns: clusters of what belongs together, and what is refused."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.errors import InfeasibleError, ParameterError, UnknownColumnError
from sfumato.slicing import Columns, Laid, correlated_columns, crowds, medoids, require_diverse
from tests.slicing.tables import NAMES, ROWS

QI = ["age", "born", "zip", "town"]


def people(n=400):
    """Ages that go with years of birth, places with towns; illness goes a little with the town."""
    rng = np.random.default_rng(7)
    ages, places, luck = rng.integers(0, 6, n), rng.integers(0, 4, n), rng.integers(0, 5, n)
    rows = [
        (int(a), 2000 - int(a), f"z{p}", f"t{p // 2}", "uvwxy"[e if e else p % 2])
        for a, p, e in zip(ages, places, luck, strict=True)
    ]
    return FrequencySet.from_rows([*QI, "ill"], rows)


def test_what_belongs_together_is_in_one_column():
    found = correlated_columns(people(), QI, "ill", 2, most=3)
    assert {frozenset(column) for column in found.columns} == {
        frozenset({"age", "born"}),
        frozenset({"zip", "town", "ill"}),
    }
    require_diverse(people(), found, 2)


def test_what_gives_the_sensitive_value_away_does_not_stay_beside_it():
    rows = [(str(i), "uvw"[i % 3], "uvw"[i % 3]) for i in range(9)]
    counts = FrequencySet.from_rows(["age", "drug", "ill"], rows)
    found = correlated_columns(counts, ["age", "drug"], "ill", 3, most=2)
    assert found.with_sensitive == ("ill",)


@given(ROWS, st.integers(1, 4), st.one_of(st.none(), st.floats(0, 1)))
def test_columns_hold_everything_and_the_table_is_diverse_in_them(rows, most, overlap):
    counts = FrequencySet.from_rows(NAMES, rows)
    alone = Laid.of(counts, Columns((("ill",),), "ill"))
    whole = np.zeros(len(counts), dtype=np.int64)
    if crowds(alone, whole).fail(2).any():
        return
    found = correlated_columns(counts, NAMES[:3], "ill", 2, most=most, overlap=overlap)
    assert {name for column in found.columns for name in column} == set(NAMES)
    assert sum("ill" in column for column in found.columns) == 1
    assert not crowds(Laid.of(counts, found), whole).fail(2).any()
    if overlap is None:
        assert max(map(len, found.columns)) <= most
        assert sum(map(len, found.columns)) == len(NAMES)


def test_an_overlap_publishes_what_is_strongly_correlated():
    counts = people()
    apart = correlated_columns(counts, QI, "ill", 2, most=1)
    assert all(len(column) == 1 for column in apart.columns)
    found = correlated_columns(counts, QI, "ill", 2, most=1, overlap=0.9)
    together = {frozenset(p) for column in found.columns for p in combinations(column, 2)}
    assert {frozenset({"age", "born"}), frozenset({"zip", "town"})} <= together
    assert found.with_sensitive == ("ill",)
    assert correlated_columns(counts, QI, "ill", 2, most=1, overlap=1.0).columns != apart.columns


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ([["age", "zip", "ill"]], "at least two columns"),
        ([], "at least two columns"),
        ([["age"], ["ill"]], "in no column: 'zip'"),
        ([["age", "zip"], ["age"]], "in no column: 'ill'"),
        ([["age", "ill"], ["zip", "ill"]], "only one holds 'ill'.*tie the rows of both"),
        ([["age", "zip"], [], ["ill"]], "one of them is empty"),
        ([["age", "zip", "age"], ["ill"]], "'age' stands there twice"),
        ([["age", "zip"], ["zip"], ["ill"]], "is inside another one"),
    ],
)
def test_columns_that_cannot_be_are_refused(columns, reason):
    with pytest.raises(ParameterError, match=reason):
        Columns.of(columns, ["age", "zip"], "ill")


def test_a_misspelt_attribute_is_answered_with_the_right_one():
    with pytest.raises(UnknownColumnError, match="Did you mean 'age'"):
        Columns.of([["aeg", "zip"], ["ill"]], ["age", "zip"], "ill")


def test_a_table_that_cannot_be_diverse_is_refused_with_who_is_worst_off():
    rows = [("30", "x", "flu"), ("30", "x", "flu"), ("40", "y", "gout"), ("40", "y", "flu")]
    counts = FrequencySet.from_rows(["age", "zip", "ill"], rows)
    with pytest.raises(
        InfeasibleError, match="3 of 4 people with a known 'ill' have the same, more"
    ):
        require_diverse(counts, Columns((("age", "zip"), ("ill",)), "ill"), 2)
    with pytest.raises(
        InfeasibleError, match=r"2 of 2 people .* with \{'zip': 'x'\}.* less beside"
    ):
        require_diverse(counts, Columns((("age",), ("zip", "ill")), "ill"), 2)


@given(st.data(), st.integers(1, 4))
def test_no_exchange_of_a_medoid_helps(data, k):
    n = data.draw(st.integers(k, 6))
    drawn = data.draw(st.lists(st.integers(0, 9), min_size=n * n, max_size=n * n))
    distance = np.array(drawn, dtype=float).reshape(n, n)
    distance = distance + distance.T
    np.fill_diagonal(distance, 0)
    number = medoids(distance, k)
    assert set(number.tolist()) == set(range(k))
    # The first of each number come in order.
    assert [number.tolist().index(i) for i in range(k)] == sorted(
        number.tolist().index(i) for i in range(k)
    )
    inside = sum(
        min(distance[np.flatnonzero(number == i)][:, number == i].sum(axis=0)) for i in range(k)
    )
    best = min(distance[:, list(chosen)].min(axis=1).sum() for chosen in combinations(range(n), k))
    assert inside >= best
    if k == 1:
        assert inside == best
