"""Correlations agree with an independent library, and with counting by hand."""

import math
from collections import Counter
from datetime import date, timedelta
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.decouplings.slices import (
    MEASURES,
    correlations,
    cramers_v,
    mean_square_contingency,
    mutual_information,
    phi_square,
    shared_information,
)
from sfumato.decouplings.slices.correlation import cells_of

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=40)


def cells(pairs):
    one, other = (np.array([pair[i] for pair in pairs], dtype=np.int32) for i in (0, 1))
    return cells_of(one, other, np.ones(len(pairs), dtype=np.int64))


@given(PAIRS)
def test_phi_square_and_v_agree_with_another_library(pairs):
    contingency = import_module("scipy.stats.contingency")
    one, other = zip(*pairs, strict=True)
    table = contingency.crosstab(one, other).count
    chi_square = contingency.chi2_contingency(table, correction=False).statistic
    assert phi_square(*cells(pairs)) == pytest.approx(chi_square / len(pairs), abs=1e-12)
    if min(table.shape) > 1:
        v = contingency.association(table, method="cramer")
        assert cramers_v(*cells(pairs)) == pytest.approx(v, abs=1e-7)
        assert mean_square_contingency(*cells(pairs)) == pytest.approx(v**2, abs=1e-12)
    else:
        assert mean_square_contingency(*cells(pairs)) == 0


@given(PAIRS)
def test_mutual_information_is_what_its_definition_says(pairs):
    n = len(pairs)
    both, one, other = Counter(pairs), *(Counter(p[i] for p in pairs) for i in (0, 1))
    bits = sum(c / n * math.log2(c * n / (one[a] * other[b])) for (a, b), c in both.items())
    assert mutual_information(*cells(pairs)) == pytest.approx(bits, abs=1e-12)


@given(PAIRS)
def test_shared_information_is_mutual_information_over_the_smaller_entropy(pairs):
    n = len(pairs)
    counts = [Counter(pair[i] for pair in pairs) for i in (0, 1)]
    least = min(-sum(c / n * math.log2(c / n) for c in each.values()) for each in counts)
    found = shared_information(*cells(pairs))
    assert found == pytest.approx(mutual_information(*cells(pairs)) / least if least else 0)
    assert 0 <= found <= 1


@given(PAIRS)
def test_every_measure_is_0_for_what_is_independent_and_1_for_what_tells_all(pairs):
    grid = [(a, b) for a in range(2) for b in range(3)] * 2
    telling = [(a, a % 2) for a, _ in pairs] + [(0, 0), (1, 1)]
    for measure in MEASURES.values():
        assert measure(*cells(grid)) == pytest.approx(0, abs=1e-7)
        assert measure(*cells(telling)) == pytest.approx(1)
        assert 0 <= measure(*cells(pairs)) <= 1


@pytest.mark.parametrize("measure", MEASURES)
def test_a_measure_is_taken_for_all_pairs_and_numbers_are_binned_for_each(measure):
    rng = np.random.default_rng(1)
    rows = [(int(a), int(b), int(a) // 100) for a, b in rng.integers(0, 1000, (3000, 2))]
    counts = FrequencySet.from_rows(["a", "b", "tens"], rows)
    found = correlations(counts, ["a", "b", "tens"], measure=measure)
    assert found.between("a", "tens") > 0.7
    assert (
        found.between("a", "b")
        < 0.15
        < correlations(counts, ["a", "b", "tens"], measure=measure, bins=2000).between("a", "b")
    )
    np.testing.assert_array_equal(found.strength, found.strength.T)


def test_nothing_has_no_correlation():
    nothing = np.zeros(0, dtype=np.int64)
    assert phi_square(nothing, nothing, nothing) == 0
    assert mutual_information(nothing, nothing, nothing) == 0
    assert shared_information(nothing, nothing, nothing) == 0


def test_numbers_of_many_values_are_put_into_bins():
    rng = np.random.default_rng(1)
    ages = rng.integers(0, 1000, 4000)
    rows = [(int(age), f"person {i}", bool(age > 500)) for i, age in enumerate(ages)]
    rows += [(None, f"person {i}", i % 2 == 0) for i in range(4000, 4100)]
    counts = FrequencySet.from_rows(["age", "name", "old"], rows)
    found = correlations(counts, ["age", "name", "old"])
    assert 0.9 < found.between("age", "old") < 1
    # Without bins every name says everything, and so would every age.
    assert found.between("name", "old") == pytest.approx(1)
    np.testing.assert_array_equal(found.strength, found.strength.T)
    independent = [(int(a), int(b)) for a, b in rng.integers(0, 1000, (5000, 2))]
    pair = FrequencySet.from_rows(["a", "b"], independent)
    assert correlations(pair, ["a", "b"]).between("a", "b") < 0.02
    assert correlations(pair, ["a", "b"], bins=2000).between("a", "b") > 0.1


@pytest.mark.parametrize("as_text", [False, True])
def test_days_of_many_values_are_put_into_bins(as_text):
    rng = np.random.default_rng(5)
    days = [date(2020, 1, 1) + timedelta(int(day)) for day in rng.integers(0, 1000, 3000)]
    sexes = rng.choice(["f", "m"], 3000).tolist()
    written = [day.isoformat() for day in days] if as_text else days
    quarter = [f"{day.year}/{day.month // 4}" for day in days]
    counts = FrequencySet.from_rows(
        ["day", "sex", "part"], zip(written, sexes, quarter, strict=True)
    )
    found = correlations(counts, ["day", "sex", "part"], measure="cramers-v")
    # Chance alone would tie a thousand days to everything.
    assert found.between("day", "sex") < 0.15
    assert found.between("day", "part") > 0.8


@given(
    st.lists(
        st.tuples(st.sampled_from(["*", "a", "b", "c"]), st.sampled_from(["*", "x", "y"])),
        min_size=1,
        max_size=30,
    )
)
def test_what_is_hidden_is_no_value(rows):
    """A pair is measured on the rows in which both are told, as if there were no others."""
    names = ["one", "other"]
    told = [row for row in rows if "*" not in row]
    found = correlations(FrequencySet.from_rows(names, rows), names, hidden="*")
    kept = 0.0
    if told:
        kept = correlations(FrequencySet.from_rows(names, told), names).between(*names)
    assert found.between(*names) == pytest.approx(kept)
    assert found.told[0, 1] == pytest.approx(len(told) / len(rows))


def test_numbers_beside_stars_are_still_put_into_bins():
    numbers = [(str(i), str(i % 7)) for i in range(60)]
    names = ["age", "day"]
    plain = correlations(FrequencySet.from_rows(names, numbers), names).between(*names)
    starred = [*numbers, ("*", "3"), ("*", "*")]
    found = correlations(FrequencySet.from_rows(names, starred), names, hidden="*")
    assert found.between(*names) == pytest.approx(plain)
