"""Two- and three-way tables, and what a classifier loses, against the definitions."""

from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import Column, FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import MissingExtraError, ParameterError, UnknownNameError
from sfumato.usefulness import Estimator, Query, among
from sfumato.usefulness.combinations import lines_of, table_error
from sfumato.usefulness.measure import classifier_error
from tests.usefulness.tables import NAMES, QI, ROWS, SENSITIVE, counts_of


def rows_of(counts):
    for row, n in zip(counts.codes.T.tolist(), counts.rows.tolist(), strict=True):
        yield from [tuple(c.values[at] for c, at in zip(counts.columns, row, strict=True))] * n


@given(ROWS, st.integers(0, 99), st.permutations(NAMES), st.integers(1, 4))
def test_cells_are_counted_as_queries_are(rows, seed, names, size):
    counts = counts_of(rows)
    asked = names[:size]
    columns = [counts.column(name) for name in asked]
    for release in _releases(counts, seed):
        table = release.cross(asked)
        for at in product(*(range(len(column.values)) for column in columns)):
            conditions = [among(c, [c.values[code]]) for c, code in zip(columns, at, strict=True)]
            assert table[at] == pytest.approx(release.count(Query(tuple(conditions))))


def _releases(counts, seed):
    rng = np.random.default_rng(seed)
    labels = {21: "20 to 29", 24: "20 to 29", 29: "20 to 29", 30: "30 to 39", 37: "*"}
    rows = [
        (labels.get(age, age), "*" if rng.random() < 0.3 else sex, ill, pay)
        for age, sex, ill, pay in rows_of(counts)
    ]
    coarse = counts_of(rows)
    return [
        Estimator.of_original(counts),
        Estimator.of_table(coarse, counts.columns),
        Estimator.of_groups(GroupedTables.of(coarse, QI, SENSITIVE), counts.columns),
        Estimator.of_groups(
            GroupedTables.of(counts, ["sex"], ["ill", "pay", "age"]), counts.columns
        ),
    ]


@given(ROWS, st.integers(0, 99))
def test_the_error_of_tables_is_their_mean_total_variation(rows, seed):
    counts = counts_of(rows)
    truth = Estimator.of_original(counts)
    for release in _releases(counts, seed):
        errors = []
        for size in (2, 3):
            for names in combinations(counts.names, size):
                before, after = truth.cross(names), release.cross(names)
                if after.sum() == 0:
                    errors.append(1.0)
                    continue
                off = before / before.sum() - after / after.sum()
                errors.append(np.abs(off).sum() / 2)
        found = table_error(truth, release, np.random.default_rng(1))
        assert found == pytest.approx(np.mean(errors))
    assert table_error(truth, truth, np.random.default_rng(1)) == 0


@given(st.lists(st.integers(0, 60), min_size=1, max_size=80))
def test_numbers_are_cut_into_ranges_of_about_as_many_rows(ages):
    counts = FrequencySet.from_rows(["age"], [(age,) for age in ages])
    [column] = counts.columns
    rows = counts.value_counts("age").astype(float)
    lines = lines_of(column, rows)
    assert lines.max() < max(10, 1)
    assert (np.diff(lines) >= 0).all()
    assert {*lines.tolist()} == set(range(lines.max() + 1))
    if len(column.values) > 10:
        largest = rows.max()
        for line in range(lines.max() + 1):
            assert rows[lines == line].sum() <= len(ages) / 10 + largest


def test_the_rest_of_many_categories_is_one_line():
    column = Column("zip", tuple(f"z{i:02}" for i in range(30)))
    lines = lines_of(column, np.arange(30.0))
    assert lines[29] == 0
    assert lines[:10].tolist() == [20] * 10


def test_a_tree_that_learns_nothing_more_loses_all():
    rows = [(age, "gout" if age > 39 else "flu") for age in range(20, 60)] * 5
    counts = FrequencySet.from_rows(["age", "ill"], rows)
    truth = Estimator.of_original(counts)
    coarse = FrequencySet.from_rows(["age", "ill"], [("*", ill) for _, ill in rows])
    gone = Estimator.of_table(coarse, counts.columns)
    assert classifier_error(truth, truth, counts, ["ill"], 0) == 0
    assert classifier_error(truth, gone, counts, ["ill"], 0) == 1
    alike = FrequencySet.from_rows(["age", "ill"], [(a, i) for a in (1, 2) for i in "ab"] * 9)
    whole = Estimator.of_original(alike)
    assert classifier_error(whole, whole, alike, ["ill"], 0) is None


_RNG = np.random.default_rng(1)
AGES = _RNG.integers(20, 60, 600)
ILL = np.where(_RNG.random(600) < (AGES - 15) / 60, "gout", "flu")
PAY = np.where((ILL == "flu") ^ (_RNG.random(600) < 0.1), "low", "high")
PEOPLE = pa.table({"age": AGES, "ill": ILL.tolist(), "pay": PAY.tolist()})
POLICY = {
    "columns": {
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 20]}},
        "ill": "sensitive",
        "pay": "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 5}],
    "person": {"rows": "each row is a person"},
}


@pytest.mark.usefixtures("patience")
def test_several_losses_are_measured_together_and_the_first_is_weighed():
    losses = ["table-error", "query-error", "classifier-error", "regression-error"]
    found = sf.compare(PEOPLE, POLICY, vary={"k": [5, 250]}, loss=losses)
    fine, coarse = found.points
    assert found.loss == "table-error"
    assert {"table-error", "query-error", "classifier-error"} <= fine.losses.keys()
    assert 0 <= fine.losses["table-error"] < coarse.losses["table-error"] <= 1
    assert 0 <= fine.losses["classifier-error"] <= coarse.losses["classifier-error"] <= 1
    assert found.by(loss="query-error").loss == "query-error"
    alone = sf.compare(PEOPLE, POLICY, vary={"k": [5, 250]}, loss="query-error")
    assert alone["k=5"].losses["query-error"] == fine.losses["query-error"]


@pytest.mark.usefixtures("patience")
def test_what_stands_apart_is_not_in_tables_any_more():
    parted = {**POLICY, "decouple": "break-merge"}
    [whole] = sf.compare(PEOPLE, POLICY, loss="table-error")
    [apart] = sf.compare(PEOPLE, parted, loss="table-error")
    assert whole.losses["table-error"] < apart.losses["table-error"]


def test_losses_that_are_none_are_refused():
    with pytest.raises(ParameterError, match="the name of a loss"):
        sf.compare(PEOPLE, POLICY, loss=[])
    with pytest.raises(UnknownNameError, match="table-error"):
        sf.compare(PEOPLE, POLICY, loss=["query-error", "tabel-error"])


def test_a_classifier_without_its_extra_is_refused_at_once(monkeypatch):
    monkeypatch.setattr("sfumato.usefulness.measure.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="pip install"):
        sf.compare(PEOPLE, POLICY, loss="classifier-error")
