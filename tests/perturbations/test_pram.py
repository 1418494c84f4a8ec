"""PRAM: what is drawn follows the matrix, and the invariant one leaves expected counts."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError, ParameterError
from sfumato.perturbations import Pram
from sfumato.perturbations.perturbing import perturb_cells
from sfumato.perturbations.pram import draw_lines
from tests.perturbations.tables import cells_of, change, likelihood, seen, values_of

MATRIX = {
    "a": {"a": 0.5, "b": 0.3, "c": 0.2},
    "b": {"b": 0.75, "c": 0.25},
    "c": {"a": 0.1, "c": 0.9},
}


def stated(member, values) -> list[list[Fraction]]:
    """The matrix in exact numbers, as the settings state it."""
    n = len(values)
    if member.keep is not None:
        keep = Fraction(str(member.keep)) if n > 1 else Fraction(1)
        other = (1 - keep) / (n - 1) if n > 1 else Fraction(0)
        return [[keep if i == j else other for j in range(n)] for i in range(n)]
    lines = {value: member.matrix.get(value, {value: 1}) for value in values}
    return [[Fraction(str(lines[a].get(b, 0))) for b in values] for a in values]


def invariant(matrix, counts) -> list[list[Fraction]]:
    """The matrix and then its way back by Bayes' rule, in exact numbers."""
    n = len(matrix)
    share = [Fraction(count, sum(counts)) for count in counts]
    reached = [sum(share[k] * matrix[k][j] for k in range(n)) for j in range(n)]
    back = [
        [share[k] * matrix[k][j] / reached[j] if reached[j] else Fraction(int(j == k))
         for k in range(n)]
        for j in range(n)
    ]  # fmt: skip
    return [[sum(matrix[i][j] * back[j][k] for j in range(n)) for k in range(n)] for i in range(n)]


COUNTS = st.lists(st.integers(0, 20), min_size=1, max_size=5).filter(any)
KEPT = st.sampled_from([0.05, 0.5, 0.8, 0.99])


@given(counts=COUNTS, keep=KEPT)
def test_transitions_are_those_of_exact_numbers_and_leave_expected_counts(counts, keep):
    values = [f"v{i}" for i in range(len(counts))]
    for member in (Pram(keep=keep), Pram(keep=keep, invariant=True)):
        truth = stated(member, values)
        if member.invariant:
            truth = invariant(truth, counts)
            # t R = t, exactly.
            for k, count in enumerate(counts):
                assert sum(c * line[k] for c, line in zip(counts, truth, strict=True)) == count
        found = member.transitions(tuple(values), np.array(counts))
        assert found == pytest.approx(np.array(truth, dtype=float), abs=1e-12)
        assert found.sum(axis=1) == pytest.approx(np.ones(len(counts)))


@given(counts=st.tuples(*[st.integers(0, 9)] * 3).filter(any))
def test_a_stated_matrix_has_its_way_back_too(counts):
    member = Pram(matrix=MATRIX, invariant=True)
    found = member.transitions(("a", "b", "c"), np.array(counts))
    assert found == pytest.approx(
        np.array(invariant(stated(member, "abc"), counts), dtype=float), abs=1e-12
    )
    assert np.array(counts) @ found == pytest.approx(np.array(counts, dtype=float))


@pytest.mark.parametrize(
    "member",
    [
        Pram(keep=0.7),
        Pram(keep=0.2, invariant=True),
        Pram(matrix=MATRIX),
        Pram(matrix=MATRIX, invariant=True),
        Pram(matrix={"b": {"a": 1}}),
    ],
    ids=str,
)
def test_what_is_drawn_follows_the_matrix(member):
    truth = ["a"] * 30_000 + ["b"] * 8_000 + ["c"] * 2_000
    matrix = stated(member, "abc")
    matrix = invariant(matrix, [30_000, 8_000, 2_000]) if member.invariant else matrix
    drawn = Counter(zip(truth, change(member, truth, seed=3), strict=True))
    for i, before in enumerate("abc"):
        n = truth.count(before)
        for j, after in enumerate("abc"):
            p = float(matrix[i][j])
            # Five standard errors; what cannot happen does not.
            assert abs(drawn[before, after] / n - p) <= 5 * math.sqrt(p * (1 - p) / n)


@pytest.mark.usefixtures("patience")
def test_expected_counts_stay_with_the_invariant_matrix():
    truth = ["a"] * 700 + ["b"] * 200 + ["c"] * 100
    for invariant_one in (True, False):
        member = Pram(keep=0.6, invariant=invariant_one)
        found = Counter()
        for seed in range(300):
            found.update(change(member, truth, seed))
        mean = np.array([found[each] / 300 for each in "abc"])
        kept = np.abs(mean - [700, 200, 100]).max() < 5 * math.sqrt(1000 / 4 / 300)
        assert kept == invariant_one


@given(values=st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=20), keep=KEPT)
def test_likelihoods_are_those_of_the_matrix(values, keep):
    shown = seen(values)
    known = [value for value in shown.values if value is not None]
    members = [Pram(keep=keep), Pram(keep=keep, invariant=True)]
    members += [Pram(matrix=MATRIX), Pram(matrix=MATRIX, invariant=True)]
    for member in members:
        found = likelihood(member, shown)
        if member.keep is None and {*known} != {*"abc"}:
            continue
        matrix = stated(member, known)
        counts = [values.count(value) for value in known]
        matrix = invariant(matrix, counts) if member.invariant and known else matrix
        n = len(known)
        assert found[:n, :n].ravel() == pytest.approx(np.array(matrix, dtype=float).ravel())


def test_a_person_has_one_answer_in_all_rows():
    person = np.repeat(np.arange(3000), 4)
    cells = {"smokes": cells_of(["yes" if who % 3 else "no" for who in person], "smokes")}
    rules = {"smokes": (Pram(keep=0.7),)}
    found = values_of(perturb_cells(cells, rules, np.random.default_rng(1), person)["smokes"])
    answers = [set(found[4 * who : 4 * who + 4]) for who in range(3000)]
    assert {len(each) for each in answers} == {1}
    kept = sum(
        cells["smokes"].column.values[cells["smokes"].codes[4 * who]] in each
        for who, each in enumerate(answers)
    )
    assert abs(kept / 3000 - 0.7) < 5 * math.sqrt(0.21 / 3000)


def test_values_that_only_the_matrix_names_stand_in_order():
    member = Pram(matrix={"9": {"9": 0.5, "10": 0.5}, "20": {"7": 1}})
    [found] = member.change([cells_of(["9", "20", None])], None, np.random.default_rng(0))
    assert found.column.values == ("7", "9", "10", "20", None)
    numbers = Pram(matrix={1: {1: 0.5, 2: 0.5}})
    assert numbers.matrix == {"1": {"1": 0.5, "2": 0.5}}
    assert {*change(numbers, [1] * 50)} == {1, 2}
    flags = Pram(matrix={True: {True: 0.5, False: 0.5}})
    assert {*change(flags, [True] * 50)} == {True, False}


def test_lines_are_drawn_up_to_their_last_chance():
    # Sums of a line that rounding leaves below 1 never reach into the next line.
    matrix = np.array([[0.1] * 10 + [0.0], [0.0] * 10 + [1.0]] + [[1 / 11] * 11] * 9)
    highest = np.full(3, np.nextafter(1, 0))
    assert draw_lines(matrix, np.array([0, 1, 2]), highest).tolist() == [9, 10, 10]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "one of the two"),
        ({"keep": 0.5, "matrix": MATRIX}, "one of the two"),
        ({"keep": 1}, "keep"),
        ({"matrix": {}}, "a line for some values"),
        ({"matrix": {"a": {"a": 0.5, "b": 0.4}}}, "add up to 1"),
        ({"matrix": {"a": {"a": 1.5, "b": -0.5}}}, "add up to 1"),
        ({"matrix": {"a": {"a": "x"}}}, "add up to 1"),
        ({"matrix": {"a": {1: 0.5, "1": 0.5}}}, "add up to 1"),
        ({"matrix": {"a": 0.5}}, "add up to 1"),
        ({"matrix": [0.5, 0.5]}, "a line for some values"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, says):
    with pytest.raises(ParameterError, match=says):
        Pram(**settings)


def test_a_matrix_for_another_column_is_refused():
    with pytest.raises(InputError, match="and the column has none of them: it has 'x'"):
        change(Pram(matrix=MATRIX), ["x", "y"])
    with pytest.raises(InputError, match="values of another kind"):
        change(Pram(matrix={"1": {"1": 0.5, "x": 0.5}}), [1, 2])


def test_a_column_of_as_many_values_as_rows_is_no_category():
    with pytest.raises(InputError, match="record-swapping or rank-swapping"):
        change(Pram(keep=0.9), list(range(2001)))
