"""Scores and tests of independence against SciPy and against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError, UnknownColumnError
from sfumato.networks.independence import (
    Counter,
    FamilyScores,
    G2Test,
    ScoreTest,
    family_score,
    g2,
    log_gamma_of_halves,
    log_tail,
)
from tests.networks.literal_structure import score

NAMES = "abcd"
tables = st.lists(
    st.tuples(*[st.sampled_from([*range(size), None]) for size in (2, 3, 4, 2)]), max_size=60
)


def test_log_gamma_is_scipys_from_a_half_to_billions():
    doubled = np.concatenate([np.arange(1, 200_000), np.geomspace(2e5, 4e9, 5000).astype(np.int64)])
    ours, theirs = log_gamma_of_halves(doubled), special.gammaln(doubled / 2)
    np.testing.assert_allclose(ours, theirs, rtol=4e-15, atol=4e-15)


@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 30, 200, 5000])
def test_the_tail_of_chi_square_is_scipys(freedom):
    for share in (0.0, 0.01, 0.3, 0.9, 1.0, 1.1, 2.0, 5.0, 40.0):
        x = freedom * share
        theirs = stats.chi2.logsf(x, freedom)
        if np.isfinite(theirs):  # SciPy's underflows where ours does not.
            assert log_tail(x, freedom) == pytest.approx(theirs, rel=1e-9, abs=1e-12)


def test_the_tail_does_not_underflow():
    assert log_tail(1e6, 4) == pytest.approx(-0.5e6 + np.log(0.5e6), rel=1e-6)


@given(tables, st.permutations(range(4)), st.integers(0, 3))
def test_the_score_is_its_definition(rows, order, parents):
    child, *rest = order
    counts = FrequencySet.from_rows(NAMES, rows)
    sizes = [len(column.values) for column in counts.columns]
    expected = score(rows, child, rest[:parents], sizes[child])
    named = [NAMES[p] for p in rest[:parents]]
    assert family_score(counts, NAMES[child], named) == pytest.approx(expected, abs=1e-9)


@given(tables, st.lists(st.permutations(range(4)), min_size=1, max_size=6))
def test_what_was_counted_before_changes_nothing(rows, orders):
    counts = FrequencySet.from_rows(NAMES, rows)
    used = FamilyScores(Counter(counts))
    for a, *rest in orders:
        fresh = FamilyScores(Counter(counts)).of(a, rest)
        assert used.of(a, rest) == pytest.approx(fresh, abs=1e-9)
        assert used.of(a, rest[:1]) == pytest.approx(
            FamilyScores(Counter(counts)).of(a, rest[:1]), abs=1e-9
        )


@given(tables, st.permutations(range(4)))
def test_sorting_counts_what_a_dense_array_counts(rows, order):
    counts = FrequencySet.from_rows(NAMES, rows)
    dense, by_sorting = Counter(counts), Counter(counts)
    by_sorting._widest_dense = 0
    for size in range(1, 5):
        one, other = dense.cells(order[:size]), by_sorting.cells(order[:size])
        assert sorted(np.repeat(*one)) == sorted(np.repeat(*other))
        strata, column = order[: size - 1], order[size - 1]
        spread = dense.spread(strata, column).tolist()
        assert spread == by_sorting.spread(strata, column).tolist()


def test_many_cells_are_summarised_and_many_columns_do_not_overflow():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 1000, (8, 3000))
    codes[1:] = codes[:1]
    names = [f"c{i}" for i in range(8)]
    values = [list(range(1000))] * 8
    rows = rng.integers(1, 4, 3000)
    counts = FrequencySet.from_codes(names, values, codes, rows)
    cells = Counter(counts).cells(range(8))
    # Copies of one column have its cells, however many there are: 1000^8 does not fit a key.
    alone = np.bincount(codes[0], weights=rows)
    assert sorted(np.repeat(*cells)) == sorted(alone[alone > 0])
    assert len(cells.counts) < 100


def test_forgetting_what_was_kept_changes_nothing(monkeypatch):
    monkeypatch.setattr("sfumato.networks.independence._KEPT", 5)
    counts = FrequencySet.from_rows(NAMES, [(i % 2, i % 3, i % 4, 0) for i in range(24)])
    counter = Counter(counts)
    first = [counter.cells(c).counts.tolist() for c in ([0], [0, 1], [1, 2], [0], [0, 1])]
    assert first[0] == first[3] == [12, 12]
    assert first[1] == first[4]


def test_declared_values_that_never_occur_count():
    rows = [("f", 1), ("f", 2), ("m", 2)]
    counts = FrequencySet.from_rows("ab", rows)
    scores = FamilyScores(Counter(counts, {"b": 5}))
    assert scores.of(1, [0]) == pytest.approx(score(rows, 1, [0], 5))
    with pytest.raises(ParameterError, match=r"declared\['b'\] must be an integer of at least 2"):
        Counter(counts, {"b": 1})
    with pytest.raises(UnknownColumnError):
        Counter(counts, {"z": 3})


@given(tables.filter(len), st.permutations(range(4)), st.integers(0, 2))
def test_g2_is_scipys_within_each_stratum(rows, order, given_columns):
    a, b, *rest = order
    given = rest[:given_columns]
    counts = FrequencySet.from_rows(NAMES, rows)
    statistic = freedom = 0.0
    for stratum in {tuple(row[c] for c in given) for row in rows}:
        here = [row for row in rows if tuple(row[c] for c in given) == stratum]
        crossed = stats.contingency.crosstab(*([str(r[c]) for r in here] for c in (a, b)))
        if min(crossed.count.shape) > 1:
            found = stats.chi2_contingency(
                crossed.count, correction=False, lambda_="log-likelihood"
            )
            statistic, freedom = statistic + found.statistic, freedom + found.dof
    ours, degrees = g2(Counter(counts), a, b, given)
    assert ours == pytest.approx(statistic, abs=1e-8)
    assert degrees == freedom
    dependent = G2Test(0.05).on(Counter(counts)).evidence(a, b, given) > 0
    assert dependent == bool(freedom and stats.chi2.sf(statistic, freedom) < 0.05)


def test_a_tie_is_independence():
    # Copies: knowing b, nothing is gained from a, exactly, whatever rounding says.
    rows = [(i % 3, i % 3, i % 2) for i in range(30)]
    judge = ScoreTest().on(Counter(FrequencySet.from_rows("abc", rows * 1000)))
    assert judge.evidence(0, 1, [2]) > 0
    assert judge.evidence(2, 0, [1]) <= 0


def test_a_significance_is_a_share():
    with pytest.raises(ParameterError, match="above 0 and below 1"):
        G2Test(1.0)
