"""Attributes in columns: clusters of what belongs together, and what is refused."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.decouplings.slices import (
    MEASURES,
    Columns,
    EntropyForm,
    Probabilistic,
    Recursive,
    SubTuples,
    correlated_columns,
    crowds,
    medoids,
    require_diverse,
)
from sfumato.errors import InfeasibleError, ParameterError, UnknownColumnError
from tests.decouplings.slices.tables import FORMS, NAMES, ROWS

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
    found = correlated_columns(people(), QI, ["ill"], Probabilistic(2), most=3)
    assert {frozenset(column) for column in found.columns} == {
        frozenset({"age", "born"}),
        frozenset({"zip", "town", "ill"}),
    }
    require_diverse(people(), found, Probabilistic(2))


def test_what_gives_the_sensitive_value_away_does_not_stay_beside_it():
    rows = [(str(i), "uvw"[i % 3], "uvw"[i % 3]) for i in range(9)]
    counts = FrequencySet.from_rows(["age", "drug", "ill"], rows)
    found = correlated_columns(counts, ["age", "drug"], ["ill"], Probabilistic(3), most=2)
    assert found.holding("ill") == ("ill",)


SETTINGS = st.one_of(
    st.fixed_dictionaries({"most": st.integers(1, 4)}),
    st.fixed_dictionaries({"slices": st.integers(2, 4)}),
)


@given(
    rows=ROWS,
    asked=FORMS,
    settings=SETTINGS,
    overlap=st.one_of(st.none(), st.floats(0, 1)),
    measure=st.sampled_from(list(MEASURES)),
)
def test_columns_hold_everything_and_the_table_is_diverse_in_them(
    rows, asked, settings, overlap, measure
):
    counts = FrequencySet.from_rows(NAMES, rows)
    whole = np.zeros(len(counts), dtype=np.int64)

    def fails(columns):
        return asked.form.fail(crowds(SubTuples.of(counts, columns)[0], whole).tally).any()

    if fails(Columns((("ill",),), ("ill",))):
        return
    found = correlated_columns(
        counts, NAMES[:3], ["ill"], asked.form, overlap=overlap, measure=measure, **settings
    )
    assert {name for column in found.columns for name in column} == set(NAMES)
    assert sum("ill" in column for column in found.columns) == 1
    assert not fails(found)
    if "slices" in settings:
        assert len(found.columns) == settings["slices"]
    if overlap is None:
        assert sum(map(len, found.columns)) == len(NAMES)
        assert max(map(len, found.columns)) <= settings.get("most", len(NAMES))


def test_so_many_columns_as_are_wanted_keep_what_belongs_together():
    for slices, wanted in (
        (2, {("age", "born"), ("zip", "town", "ill")}),
        (3, {("age", "born"), ("zip", "town"), ("ill",)}),
        (5, {("age",), ("born",), ("zip",), ("town",), ("ill",)}),
    ):
        found = correlated_columns(people(), QI, ["ill"], Probabilistic(2), slices=slices)
        assert {frozenset(column) for column in found.columns} == set(map(frozenset, wanted))


@pytest.mark.parametrize("slices", [1, 6])
def test_no_more_columns_than_attributes_can_be_wanted(slices):
    with pytest.raises(ParameterError, match=r"from 2 to 5, got .: there are 5 attributes"):
        correlated_columns(people(), QI, ["ill"], Probabilistic(2), slices=slices)


def test_what_gives_a_value_away_goes_where_it_belongs_if_the_columns_are_numbered():
    rows = [(str(i % 3), "uvw"[i % 3], "pq"[i % 2], "uvw"[i % 3]) for i in range(18)]
    counts = FrequencySet.from_rows(["age", "drug", "luck", "ill"], rows)
    found = correlated_columns(counts, ["age", "drug", "luck"], ["ill"], Probabilistic(3), slices=2)
    assert found.columns == (("luck", "age", "drug"), ("ill",))


@pytest.mark.parametrize(
    ("overlap", "together"),
    [
        (0.1, {"phi-square", "cramers-v", "mutual-information"}),
        (0.2, {"cramers-v", "mutual-information"}),
        (0.3, {"cramers-v"}),
        (0.4, set()),
    ],
)
def test_a_measure_decides_how_much_belongs_together(overlap, together):
    """Of one in ten even: φ² is 1/9, its root 1/3, and of 0.469 bits 0.108 are told."""
    rows = [(i == 0, i % 2, "uv"[j]) for i in range(10) for j in range(2)]
    counts = FrequencySet.from_rows(["rare", "odd", "ill"], rows)
    for measure in MEASURES:
        found = correlated_columns(
            counts,
            ["rare", "odd"],
            ["ill"],
            Probabilistic(2),
            most=1,
            overlap=overlap,
            measure=measure,
        )
        assert (len(found.columns) == 2) == (measure in together)


def test_an_overlap_publishes_what_is_strongly_correlated():
    counts = people()
    apart = correlated_columns(counts, QI, ["ill"], Probabilistic(2), most=1)
    assert all(len(column) == 1 for column in apart.columns)
    found = correlated_columns(counts, QI, ["ill"], Probabilistic(2), most=1, overlap=0.9)
    together = {frozenset(p) for column in found.columns for p in combinations(column, 2)}
    assert {frozenset({"age", "born"}), frozenset({"zip", "town"})} <= together
    assert found.holding("ill") == ("ill",)
    assert (
        correlated_columns(counts, QI, ["ill"], Probabilistic(2), most=1, overlap=1.0).columns
        != apart.columns
    )


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
        Columns.of(columns, ["age", "zip"], ["ill"])


def test_a_misspelt_attribute_is_answered_with_the_right_one():
    with pytest.raises(UnknownColumnError, match="Did you mean 'age'"):
        Columns.of([["aeg", "zip"], ["ill"]], ["age", "zip"], ["ill"])


TOWN = [("30", "x", "flu"), ("30", "x", "flu"), ("40", "y", "gout"), ("40", "y", "flu")]


@pytest.mark.parametrize(
    ("form", "beside", "said"),
    [
        (
            Probabilistic(2),
            (),
            (
                "no slicing can be 2-diverse: 3 of 4 people with a known 'ill' have the same, more "
                "than 1 in 2. What to try: take form='recursive' with l=2."
            ),
        ),
        (
            Probabilistic(3),
            (),
            (
                "no slicing can be 3-diverse: 'ill' has only 2 different values, fewer than 3. "
                "What to try: take form='recursive' with l=2."
            ),
        ),
        (
            Probabilistic(2),
            ("zip",),
            (
                "no slicing can be 2-diverse: 2 of 2 people with a known 'ill' among those with "
                "{'zip': 'x'} have the same, more than 1 in 2. "
                "What to try: put less beside the sensitive column."
            ),
        ),
        (
            EntropyForm(1.9),
            (),
            # Three quarters and one: 4 / 3^(3/4) = 1.7547...
            (
                "no slicing can be entropy 1.9-diverse: the values of 4 people with a known 'ill' "
                "are as hard to guess as 1.754 equally likely ones, fewer than 1.9. "
                "What to try: take an l of at most 1.754."
            ),
        ),
        (
            Recursive(2, 3),
            (),
            (
                "no slicing can be recursive (3, 2)-diverse: 3 of 4 people with a known 'ill' have "
                "the same, not fewer than 3 times the 1 who have none of the 1 most frequent. "
                "What to try: take a c above 3."
            ),
        ),
        (
            Recursive(3, 3),
            (),
            (
                "no slicing can be recursive (3, 3)-diverse: 'ill' has only 2 different values, "
                "fewer than 3. What to try: take an l of at most 2."
            ),
        ),
    ],
)
def test_a_table_that_cannot_be_diverse_is_refused_with_who_is_worst_off(form, beside, said):
    counts = FrequencySet.from_rows(["age", "zip", "ill"], TOWN)
    others = tuple(name for name in ("age", "zip") if name not in beside)
    with pytest.raises(InfeasibleError) as refused:
        require_diverse(counts, Columns((others, (*beside, "ill")), ("ill",)), form)
    assert str(refused.value) == said


@pytest.mark.parametrize("form", [Probabilistic(2), EntropyForm(2), Recursive(2, 4)])
def test_a_table_of_which_nothing_is_known_is_refused(form):
    counts = FrequencySet.from_rows(["zip", "ill"], [("x", None), ("y", None)])
    with pytest.raises(InfeasibleError, match="no person has a known 'ill', and a missing value"):
        require_diverse(counts, Columns((("zip",), ("ill",)), ("ill",)), form)
    rows = [("x", None), ("y", "flu"), ("y", "gout")]
    counts = FrequencySet.from_rows(["zip", "ill"], rows)
    with pytest.raises(
        InfeasibleError, match=r"no person among those with \{'zip': 'x'\} has a known"
    ):
        require_diverse(counts, Columns((("zip", "ill"),), ("ill",)), form)


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
