"""The propensity score, beside a slow fit and figures that can be computed by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.decouplings.base import LinkedTables
from sfumato.hierarchy.labels import Labels
from sfumato.usefulness import AnalystCells, measure_propensity
from sfumato.usefulness.propensity import _RIDGE, fit_logistic


def climb(features, successes, trials, rounds=40_000):
    """The same regression by following the gradient, row by row, in small steps."""
    design = [[1.0, *each] for each in features.T.tolist()]
    at = [0.0] * len(design[0])
    total = sum(trials)
    for _ in range(rounds):
        slope = [0.0] * len(at)
        for row, y, n in zip(design, successes, trials, strict=True):
            chance = 1 / (1 + math.exp(-sum(a * x for a, x in zip(at, row, strict=True))))
            for i, x in enumerate(row):
                slope[i] += x * (y - n * chance)
        slope = [
            s - (_RIDGE * total * a if i else 0)
            for i, (s, a) in enumerate(zip(slope, at, strict=True))
        ]
        at = [a + 1.0 * s / total for a, s in zip(at, slope, strict=True)]
        if max(map(abs, slope)) < 1e-9 * total:
            break
    return [1 / (1 + math.exp(-sum(a * x for a, x in zip(at, row, strict=True)))) for row in design]


@given(
    st.lists(
        st.tuples(st.sampled_from([-1.0, 0.0, 1.0]), st.sampled_from([-1.0, 1.0]),
                  st.integers(1, 4), st.integers(1, 4)),
        min_size=2, max_size=6,
    )
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_newton_finds_what_the_gradient_finds(kinds):
    features = np.array([[a, b] for a, b, _, _ in kinds]).T
    successes = np.array([float(y) for _, _, y, _ in kinds])
    trials = successes + np.array([float(n) for _, _, _, n in kinds])
    found = fit_logistic(features, successes, trials)
    assert found == pytest.approx(climb(features, successes, trials, 4000), abs=1e-4)


def test_a_regression_of_others():
    # The passing of an exam by hours of study (Wikipedia, "Logistic regression").
    hours = np.array([0.5, 0.75, 1, 1.25, 1.5, 1.75, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.25, 3.5, 4,
                      4.25, 4.5, 4.75, 5, 5.5])  # fmt: skip
    passed = np.array([0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1], dtype=float)
    found = fit_logistic(hours[None], passed, np.ones(20))
    told = {1: 0.07, 2: 0.26, 3: 0.61, 4: 0.87, 5: 0.97}
    for hour, chance in told.items():
        assert found[np.flatnonzero(hours == hour)[0]] == pytest.approx(chance, abs=0.006)


def test_separation_ends():
    found = fit_logistic(np.array([[-1.0, 1.0]]), np.array([0.0, 50.0]), np.array([50.0, 50.0]))
    assert found == pytest.approx([0, 1], abs=1e-3)


def cells(rows, raw=None, names=("age", "sex")):
    table = FrequencySet.from_rows(names, rows)
    columns = table.columns if raw is None else raw.tables.tables[0].columns
    return AnalystCells(LinkedTables((table,)), columns, frozenset(["age"]), Labels())


ROWS = st.lists(
    st.tuples(st.sampled_from([20, 31, 45, None]), st.sampled_from(["f", "m", None])),
    min_size=1, max_size=30,
)  # fmt: skip


@given(ROWS)
@settings(max_examples=100, deadline=None)
def test_rows_that_are_the_same_cannot_be_told_apart(rows):
    one = cells(rows)
    found = measure_propensity(one, cells(rows[::-1], one), rng=np.random.default_rng(0))
    assert (found.pmse, found.loss, found.share) == (0, 0, 0.5)


def test_rows_that_are_hidden_are_told_at_once():
    one = cells([(20, "f"), (31, "m"), (45, "f")] * 50)
    found = measure_propensity(one, cells([("*", "*")] * 150, one), rng=np.random.default_rng(0))
    assert found.loss > 0.99
    assert found.ratio > 10


def test_one_category_by_hand():
    # 60 of 100 were f and 20 of 100 are: a saturated model believes 20/80 of f and 80/120 of m.
    one = cells([("f",)] * 60 + [("m",)] * 40, names=("sex",))
    other = cells([("f",)] * 20 + [("m",)] * 80, one, names=("sex",))
    found = measure_propensity(one, other, rng=np.random.default_rng(0))
    expected = (80 * (20 / 80 - 0.5) ** 2 + 120 * (80 / 120 - 0.5) ** 2) / 200
    assert found.pmse == pytest.approx(expected, rel=1e-4)
    assert found.features == 1
    assert found.expected == pytest.approx(0.5**3 / 200)
    assert found.loss == pytest.approx(4 * expected, rel=1e-4)


@pytest.mark.usefixtures("patience")
def test_another_sample_is_as_far_as_expected():
    # What Snoke and others compute: the mean of the ratio is 1 if both are of one population.
    rng = np.random.default_rng(8)
    ratios = []
    for _ in range(60):
        sides = [
            [(int(age), sex) for age, sex in zip(rng.integers(20, 60, 300),
                                                 rng.choice(["f", "m"], 300), strict=True)]
            for _ in range(2)
        ]  # fmt: skip
        both = FrequencySet.from_rows(["age", "sex"], sides[0] + sides[1])
        one, other = (
            AnalystCells(
                LinkedTables((FrequencySet.from_rows(["age", "sex"], side),)),
                both.columns, frozenset(["age"]), Labels(),
            )
            for side in sides
        )  # fmt: skip
        ratios.append(measure_propensity(one, other, rng=rng).ratio)
    # Given the original the ratio is 1 in the mean; two samples that both vary are twice as far.
    assert 1.4 < np.mean(ratios) < 2.6


def test_what_belongs_together_is_looked_at():
    # The same ages and the same sexes, but who is how old was shuffled.
    rows = [(20 + i % 30, "f" if i % 30 < 15 else "m") for i in range(600)]
    shuffled = [(age, "fm"[i % 2]) for i, (age, _) in enumerate(rows)]
    one = cells(rows)
    assert measure_propensity(one, cells(shuffled, one), rng=np.random.default_rng(0)).loss > 0.1


def test_pairs_that_are_too_many_are_named():
    names = [f"c{i}" for i in range(5)]
    rng = np.random.default_rng(0)
    rows = [tuple(f"v{v}" for v in row) for row in rng.integers(0, 9, (300, 5))]
    counts = FrequencySet.from_rows(names, rows)
    table = AnalystCells(LinkedTables((counts,)), counts.columns, frozenset(), Labels())
    found = measure_propensity(table, table, rng=rng)
    assert found.unseen == ("pairs of categories",)
    assert "does not look at pairs of categories" in str(found)


def test_no_rows_count_as_told():
    one = cells([(20, "f")])
    found = measure_propensity(one, cells([], one), rng=np.random.default_rng(0))
    assert found.loss == 1
    assert "there are none" in str(found)


def test_a_column_that_is_not_published_is_told():
    one = cells([(20, "f"), (31, "m")] * 30)
    other = cells([("f",), ("m",)] * 30, one, names=("sex",))
    other = AnalystCells(other.tables, one.raw, one.numbers, Labels())
    assert measure_propensity(one, other, rng=np.random.default_rng(0)).loss > 0.99


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("n", [60_000])
def test_of_many_combinations_some_are_drawn(n):
    rows = [(i / 7, "f") for i in range(n)]
    one = cells(rows)
    found = measure_propensity(one, cells(rows, one), rng=np.random.default_rng(0))
    assert found.loss == 0
    assert found.rows == 100_000


def test_of_many_rows_some_groups_are_drawn(monkeypatch):
    rng = np.random.default_rng(3)
    rows = [(int(age), "f") for age in rng.integers(20, 60, 3000)]
    one = cells(rows)
    shown = cells([(f"{age // 10 * 10} to {age // 10 * 10 + 19}", "f") for age, _ in rows], one)
    whole = measure_propensity(one, shown, rng=np.random.default_rng(0))
    monkeypatch.setattr("sfumato.usefulness.propensity._MOST_ROWS", 1500)
    some = measure_propensity(one, shown, rng=np.random.default_rng(0))
    assert (whole.share, whole.rows) == (0.5, 6000)
    assert (some.share, some.rows) == (pytest.approx(0.5), 6000)


def test_groups_of_tables_apart_stay_whole(monkeypatch):
    rows = [(group, 20 + group % 7, "fm"[group % 2]) for group in range(300) for _ in range(4)]
    ages = FrequencySet.from_rows(["group", "age"], [(g, a) for g, a, _ in rows])
    sexes = FrequencySet.from_rows(["group", "sex"], [(g, s) for g, _, s in rows])
    one = cells([(a, s) for _, a, s in rows])
    apart = AnalystCells(LinkedTables((ages, sexes), "group"), one.raw, one.numbers, Labels())
    whole = measure_propensity(one, apart, rng=np.random.default_rng(0))
    # All people of a group are the same, so nothing is lost by parting the tables.
    assert whole.loss == 0
    monkeypatch.setattr("sfumato.usefulness.propensity._MOST_ROWS", 600)
    some = measure_propensity(one, apart, rng=np.random.default_rng(0))
    assert some.loss < 0.05
