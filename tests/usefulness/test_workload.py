"""Queries that are drawn, and queries that are made by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import Column, FrequencySet
from sfumato.errors import ParameterError, UnknownNameError
from sfumato.usefulness import Condition, Estimator, Query, QueryErrors, Workload, among, between
from tests.usefulness.tables import QI, ROWS, SENSITIVE, counts_of


def drawn(counts, seed, workload, sensitive=SENSITIVE):
    return workload.draw(counts, QI, sensitive, rng=np.random.default_rng(seed))


def varied(counts, names):
    return [name for name in names if (counts.value_counts(name) > 0).sum() > 1]


@given(ROWS, st.integers(0, 99), st.integers(1, 3), st.integers(1, 3), st.floats(0.01, 0.9))
def test_every_query_asks_something(rows, seed, attributes, sensitive, selectivity):
    counts = counts_of(rows)
    if not varied(counts, QI + SENSITIVE):
        return
    workload = Workload(20, attributes, sensitive, selectivity)
    for query in drawn(counts, seed, workload):
        names = [condition.column.name for condition in query.conditions]
        assert names == sorted(set(names), key=counts.index)
        for role, most in ((QI, attributes), (SENSITIVE, sensitive)):
            least = min(len(varied(counts, role)), 1)
            assert least <= sum(name in role for name in names) <= most
        for condition in query.conditions:
            assert condition.allowed.any()
            assert not condition.allowed.all()
            if condition.column.name == "age":
                at = np.flatnonzero(condition.allowed)
                assert at[-1] - at[0] == len(at) - 1
                assert condition.column.missing not in at


@pytest.mark.usefixtures("patience")
def test_queries_count_about_as_many_rows_as_they_should():
    rng = np.random.default_rng(1)
    n = 5000
    columns = [rng.integers(0, 1000, n), rng.integers(0, 300, n), rng.integers(0, 200, n)]
    codes = [columns[0], [f"m{c}" for c in columns[1]], [f"i{c}" for c in columns[2]]]
    counts = FrequencySet.from_rows([*QI, "ill"], zip(*codes, strict=True))
    for selectivity in (0.05, 0.3):
        queries = drawn(counts, 2, Workload(300, selectivity=selectivity), ["ill"])
        share = Estimator.of_original(counts).counts(queries) / n
        assert float(np.mean(share)) == pytest.approx(selectivity, rel=0.1)


def test_a_seed_says_what_is_asked():
    counts = counts_of([(age, s, i, "low") for age in range(30) for s in "fm" for i in "xyz"])
    texts = [[str(q) for q in drawn(counts, seed, Workload(50))] for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_a_table_without_differences_cannot_be_asked():
    with pytest.raises(ParameterError, match="there is nothing to ask about"):
        drawn(counts_of([(21, "f", "flu", "low")] * 3), 1, Workload())


@pytest.mark.parametrize(
    "settings",
    [
        {"queries": 0},
        {"queries": 2.5},
        {"attributes": 0},
        {"sensitive": 0},
        {"selectivity": 0},
        {"selectivity": 1},
        {"selectivity": "half"},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        Workload(**settings)


def test_conditions_by_hand():
    ages = Column("age", ("9", "10", "30", None))
    assert str(Query((between(ages, 9, 10),))) == "age from 9 to 10"
    assert str(among(ages, [None, 30.0])) == "age in {30, missing}"
    days = Column("day", ("2020-01-01", "2020-03-01"))
    assert between(days, "2020-02-01", "2021-01-01").allowed.tolist() == [False, True]
    assert str(Query(())) == "every row"


def test_conditions_that_make_no_sense_are_refused():
    ages, sexes = Column("age", (9, 10)), Column("sex", ("f", "m"))
    with pytest.raises(ParameterError, match=r"numbers or dates.*among"):
        between(sexes, "f", "m")
    with pytest.raises(ParameterError, match="values like those of 'age'"):
        between(ages, 3, "old")
    with pytest.raises(UnknownNameError, match="Known: 'f', 'm'"):
        among(sexes, ["x"])
    with pytest.raises(ParameterError, match="on different columns"):
        Query((among(ages, [9]), among(ages, [10])))
    with pytest.raises(ParameterError, match="one entry for each of the 2 values"):
        Condition(ages, np.array([True]))


def test_errors_are_relative_to_the_truth_or_the_bound():
    errors = QueryErrors(np.array([10.0, 0.0, 2.0]), np.array([12.0, 3.0, 2.0]), 4.0)
    assert errors.relative.tolist() == [0.2, 0.75, 0.0]
    found = errors.to_dict()
    assert (found["median"], found["worst"], found["queries"]) == (0.2, 0.75, 3)
    assert found["quantiles"]["0.5"] == 0.2
    with pytest.raises(ParameterError, match="bound must be a number above 0"):
        QueryErrors(np.ones(1), np.ones(1), 0)
