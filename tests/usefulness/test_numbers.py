"""Means, variances, quantiles, correlations and regressions, beside textbook versions over rows."""

import json
import math
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import LinkedTables
from sfumato.hierarchy.labels import Labels
from sfumato.populations.weights import add_weights
from sfumato.usefulness import AnalystCells, NumberExam
from sfumato.usefulness.numbers import DECILES, NUMBER_LOSSES, overlap_of, regress, regress_each

NAMES = ["age", "pay", "size"]
AGES = [20, 23, 25, 29, 31, 38]
RANGES = {"20 to 24": [20, 23], "25 to 29": [25, 29], "30 to 39": [31, 38]}
PAY = [100, 150, 200, 400]
SIZES = [1.5, 1.7, 2.0]

ROWS = st.lists(
    st.tuples(
        st.sampled_from([*AGES, None]), st.sampled_from([*PAY, None]), st.sampled_from(SIZES)
    ),
    min_size=2,
    max_size=25,
)


def range_of(age):
    return next(label for label, ages in RANGES.items() if age in ages)


@st.composite
def releases(draw):
    """Rows, and the same rows published: as ranges, stars, other numbers, or left out."""
    rows = draw(ROWS)
    published = []
    for age, pay, size in rows:
        if draw(st.integers(0, 9)) == 0:
            continue
        shown = age
        if age is not None:
            shown = draw(st.sampled_from([age, range_of(age), "*", age + 0.5]))
        noisy = pay if pay is None else pay + draw(st.sampled_from([0, 0, 7, -13]))
        published.append((shown, noisy, draw(st.sampled_from([size, size, "*"]))))
    return rows, published


# The textbook: every cell is a list of numbers that are equally likely, or nothing.


def numbers_behind(label, present):
    if label is None or label == "*":
        return []
    if isinstance(label, str):
        return [age for age in RANGES[label] if age in present]
    return [float(label)]


def cells_of(rows, raw):
    present = [{row[c] for row in raw} for c in range(len(NAMES))]
    return [[numbers_behind(cell, present[c]) for c, cell in enumerate(row)] for row in rows]


def mean_of(numbers, weights):
    return sum(x * w for x, w in zip(numbers, weights, strict=True)) / sum(weights)


def spread_out(cells, column, weights):
    """Every number that a cell may be, with its share of the row."""
    return [
        (x, w / len(row[column]))
        for row, w in zip(cells, weights, strict=True)
        for x in row[column]
    ]


def textbook_column(cells, column, weights):
    pairs = spread_out(cells, column, weights)
    total = sum(w for _, w in pairs)
    if not total:
        return None
    mean = sum(x * w for x, w in pairs) / total
    variance = sum(w * (x - mean) ** 2 for x, w in pairs) / total
    quantiles = []
    for share in DECILES:
        up_to = 0.0
        for x in sorted({x for x, _ in pairs}):
            up_to += sum(w for y, w in pairs if y == x)
            if up_to >= share * total * (1 - 1e-9):
                quantiles.append(x)
                break
    return mean, variance, quantiles


def textbook_correlation(cells, one, other, weights):
    """Pearson's, of rows that have both; a cell counts as the mean of its numbers."""
    both = [
        (sum(row[one]) / len(row[one]), sum(row[other]) / len(row[other]), w)
        for row, w in zip(cells, weights, strict=True)
        if row[one] and row[other]
    ]
    if not both:
        return None
    xs, ys, ws = zip(*both, strict=True)
    mx, my = mean_of(xs, ws), mean_of(ys, ws)
    cov = mean_of([(x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)], ws)
    vx, vy = mean_of([(x - mx) ** 2 for x in xs], ws), mean_of([(y - my) ** 2 for y in ys], ws)
    if min(vx, vy) < 1e-9:
        return None
    return cov / math.sqrt(vx * vy)


def textbook_regression(cells, names, outcome, weights):
    """Least squares over rows that have all columns, with the textbook's standard errors."""
    whole = [
        ([sum(row[c]) / len(row[c]) for c in names], w)
        for row, w in zip(cells, weights, strict=True)
        if all(row[c] for c in names)
    ]
    if not whole:
        return None
    table = np.array([row for row, _ in whole])
    w = np.array([w for _, w in whole])
    w = w * len(w) / w.sum()
    at = names.index(outcome)
    design = np.column_stack([np.ones(len(table)), np.delete(table, at, axis=1)])
    if len(table) <= design.shape[1] or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    inverse = np.linalg.inv(design.T @ (design * w[:, None]))
    found = inverse @ design.T @ (w * table[:, at])
    left = table[:, at] - design @ found
    variance = (w * left**2).sum() / (len(table) - design.shape[1])
    return found[1:], np.sqrt(variance * np.diag(inverse))[1:]


def examine(rows, published):
    counts = FrequencySet.from_rows(NAMES, rows)
    exam = NumberExam(counts, NAMES)
    table = FrequencySet.from_rows(NAMES, published)
    return exam, exam.of(AnalystCells(LinkedTables((table,)), counts.columns, exam.names, Labels()))


def has_numbers(rows):
    return all(any(row[c] is not None for row in rows) for c in range(len(NAMES)))


@pytest.mark.usefixtures("patience")
@given(releases())
@settings(max_examples=200, deadline=None)
def test_columns_and_pairs_are_those_of_the_textbook(case):
    rows, published = case
    if not has_numbers(rows):
        return
    _, found = examine(rows, published)
    before, after = cells_of(rows, rows), cells_of(published, rows)
    for c, column in enumerate(found.columns):
        was = textbook_column(before, c, [1] * len(before))
        now = textbook_column(after, c, [1] * len(after))
        deviation = math.sqrt(was[1]) or 1.0
        assert column.mean[0] == pytest.approx(was[0])
        assert column.deviation[0] == pytest.approx(math.sqrt(was[1]), abs=1e-9)
        assert column.quantiles[0] == pytest.approx(was[2])
        if now is None:
            assert column.mean[1] is column.deviation[1] is column.quantiles[1] is None
            assert set(column.errors.values()) == {1.0}
            assert column.name in found.hidden
            continue
        assert column.mean[1] == pytest.approx(now[0])
        assert column.deviation[1] == pytest.approx(math.sqrt(now[1]), abs=1e-6)
        assert column.quantiles[1] == pytest.approx(now[2])
        error = min(abs(now[0] - was[0]) / deviation, 1)
        assert column.errors["mean-error"] == pytest.approx(error, abs=1e-8)
        error = min(abs(now[1] - was[1]) / deviation**2, 1)
        assert column.errors["variance-error"] == pytest.approx(error, abs=1e-8)
        errors = [min(abs(a - b) / deviation, 1) for a, b in zip(now[2], was[2], strict=True)]
        assert column.errors["quantile-error"] == pytest.approx(np.mean(errors), abs=1e-8)
    for pair in found.pairs:
        one, other = NAMES.index(pair.one), NAMES.index(pair.other)
        was = textbook_correlation(before, one, other, [1] * len(before))
        now = textbook_correlation(after, one, other, [1] * len(after))
        assert pair.before == pytest.approx(was, abs=1e-9)
        assert pair.after == (None if now is None else pytest.approx(now, abs=1e-7))
        assert pair.error == (1 if now is None else pytest.approx(min(abs(now - was), 1), abs=1e-7))


@pytest.mark.usefixtures("patience")
@given(releases())
@settings(max_examples=200, deadline=None)
def test_regressions_are_those_of_the_textbook(case):
    rows, published = case
    if not has_numbers(rows):
        return
    _, found = examine(rows, published)
    before, after = cells_of(rows, rows), cells_of(published, rows)
    used = list(dict.fromkeys(name for each in found.coefficients for name in each[:2]))
    names = sorted(NAMES.index(name) for name in used)
    for outcome in {each.outcome for each in found.coefficients}:
        at = NAMES.index(outcome)
        was = textbook_regression(before, names, at, [1] * len(before))
        now = textbook_regression(after, names, at, [1] * len(after))
        others = [c for c in names if c != at]
        steps = {c: math.sqrt(textbook_column(before, c, [1] * len(before))[1]) for c in names}
        mine = {NAMES.index(e.on): e for e in found.coefficients if e.outcome == outcome}
        for i, c in enumerate(others):
            scale = steps[c] / steps[at]
            assert mine[c].before == pytest.approx(was[0][i] * scale, rel=1e-5, abs=1e-7)
            if now is None:
                assert mine[c].after is None
                assert (mine[c].error, mine[c].overlap) == (1, 0)
                continue
            if mine[c].after is None:
                continue  # it is nearly singular, and the fast version is the stricter one
            assert mine[c].after == pytest.approx(now[0][i] * scale, rel=1e-4, abs=1e-6)
            intervals = [
                (each[0][i] - 1.959964 * each[1][i], each[0][i] + 1.959964 * each[1][i])
                for each in (was, now)
            ]
            widths = [high - low for low, high in intervals]
            if min(widths) < 1e-6:
                continue
            shared = min(intervals[0][1], intervals[1][1]) - max(intervals[0][0], intervals[1][0])
            expected = max(sum(shared / width for width in widths) / 2, 0)
            assert mine[c].overlap == pytest.approx(expected, abs=1e-3)


@given(ROWS)
@settings(max_examples=100, deadline=None)
def test_what_is_published_as_it_is_costs_nothing(rows):
    if not has_numbers(rows):
        return
    # In another order, and as text: the same table all the same.
    published = [tuple(c if c is None else str(c) for c in row) for row in reversed(rows)]
    _, found = examine(rows, published)
    assert set(found.losses.values()) == {0.0}
    assert all(each.overlap == 1 for each in found.coefficients)
    assert {*found.losses, *found.unmeasured} >= {*NUMBER_LOSSES}
    assert not found.hidden
    assert all(column.left == 1 for column in found.columns)


def test_what_is_hidden_altogether_is_said_and_costs_everything():
    rows = [(20, 100, 1.5), (23, 150, 1.7), (29, 200, 2.0), (31, 400, 1.5), (38, 150, 1.7)]
    _, found = examine(rows, [("*", "*", "*")] * 5)
    assert found.losses == dict.fromkeys(NUMBER_LOSSES, 1.0)
    assert found.hidden == tuple(NAMES)
    assert "every value of age, pay and size is hidden" in " ".join(found.sentences)
    _, found = examine(rows, [("*", pay, size) for _, pay, size in rows])
    assert found.hidden == ("age",)
    assert found.losses["regression-error"] == 1
    assert found.losses["mean-error"] == pytest.approx(1 / 3)


def test_a_release_without_rows_costs_everything():
    rows = [(20, 100, 1.5), (23, 150, 1.7), (29, 200, 2.0), (31, 400, 1.5), (38, 150, 1.7)]
    _, found = examine(rows, [])
    assert found.losses == dict.fromkeys(NUMBER_LOSSES, 1.0)


def test_what_cannot_be_measured_is_absent_with_its_reason():
    counts = FrequencySet.from_rows(["sex"], [("f",), ("m",)])
    exam = NumberExam(counts, [])
    found = exam.of(AnalystCells(LinkedTables((counts,)), counts.columns, exam.names, Labels()))
    assert found.losses == {}
    assert set(found.unmeasured) == set(NUMBER_LOSSES)
    assert "no column that is published holds numbers" in " ".join(found.sentences)
    counts = FrequencySet.from_rows(["age"], [(20,), (30,)])
    exam = NumberExam(counts, ["age"])
    found = exam.of(AnalystCells(LinkedTables((counts,)), counts.columns, exam.names, Labels()))
    assert set(found.unmeasured) == {"pearson-error", "regression-error"}


def test_columns_that_follow_from_others_are_not_regressed():
    rows = [(x, y, x + y) for x, y in product([1, 2, 5], [3, 4, 9])]
    counts = FrequencySet.from_rows(["a", "b", "sum"], rows)
    exam = NumberExam(counts, ["a", "b", "sum"])
    found = exam.of(AnalystCells(LinkedTables((counts,)), counts.columns, exam.names, Labels()))
    assert {each.outcome for each in found.coefficients} == {"a", "b"}


# Tables that are published apart.


@st.composite
def parted(draw):
    """Rows in groups, and which columns stand in which table."""
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["g", "h"]),
                st.sampled_from([*AGES, None]),
                st.sampled_from([*PAY, None]),
                st.sampled_from(SIZES),
            ),
            min_size=3,
            max_size=16,
        )
    )
    return rows, draw(st.sampled_from([("a", "b", "c"), ("a", "a", "b"), ("a", "b", "a")]))


@pytest.mark.usefixtures("patience")
@given(parted())
@settings(max_examples=150, deadline=None)
def test_tables_apart_are_independent_within_groups(case):
    rows, place = case
    raw = [row[1:] for row in rows]
    if not has_numbers(raw):
        return
    counts = FrequencySet.from_rows(NAMES, raw)
    exam = NumberExam(counts, NAMES)
    tables = []
    for name in sorted(set(place)):
        columns = [c for c in range(3) if place[c] == name]
        tables.append(
            FrequencySet.from_rows(
                ["group", *(NAMES[c] for c in columns)],
                [(row[0], *(row[1 + c] for c in columns)) for row in rows],
            )
        )
    linked = LinkedTables(tuple(tables), "group")
    found = exam.of(AnalystCells(linked, counts.columns, exam.names, Labels()))
    # The textbook: all ways to put the cells of a group side by side, each as likely.
    whole, weights = [], []
    slices = sorted(set(place))
    for label in sorted({row[0] for row in rows}):
        members = [row[1:] for row in rows if row[0] == label]
        for way in product(members, repeat=len(slices)):
            whole.append(tuple(way[slices.index(place[c])][c] for c in range(3)))
            weights.append(len(members) / len(members) ** len(slices))
    before, after = cells_of(raw, raw), cells_of(whole, raw)
    for c, column in enumerate(found.columns):
        now = textbook_column(after, c, weights)
        assert column.mean[1] == pytest.approx(now[0])
        assert column.mean[1] == pytest.approx(column.mean[0])
        assert column.errors["quantile-error"] == 0
    for pair in found.pairs:
        now = textbook_correlation(after, NAMES.index(pair.one), NAMES.index(pair.other), weights)
        assert pair.after == (None if now is None else pytest.approx(now, abs=1e-7))
    for each in found.coefficients:
        names = sorted({NAMES.index(n) for e in found.coefficients for n in e[:2]})
        at, on = NAMES.index(each.outcome), NAMES.index(each.on)
        now = textbook_regression(after, names, at, weights)
        if now is None or each.after is None:
            continue
        scale = [math.sqrt(textbook_column(before, c, [1] * len(before))[1]) for c in (on, at)]
        expected = now[0][[c for c in names if c != at].index(on)] * scale[0] / scale[1]
        assert each.after == pytest.approx(expected, rel=1e-4, abs=1e-6)


# Weights.


@given(releases(), st.data())
@settings(max_examples=100, deadline=None)
def test_weights_count_people(case, data):
    rows, published = case
    if not has_numbers(rows) or not published:
        return
    sizes = st.integers(1, 9)
    many = data.draw(st.lists(sizes, min_size=len(rows), max_size=len(rows)))
    kept = data.draw(st.lists(sizes, min_size=len(published), max_size=len(published)))
    sets = []
    for some, weights in ((rows, many), (published, kept)):
        table = FrequencySet.from_rows(
            [*NAMES, "w"], [(*row, w) for row, w in zip(some, weights, strict=True)]
        )
        sets.append(add_weights(table, "w"))
    (counts, people), (table, left) = sets
    exam = NumberExam(counts, NAMES, ("w", people))
    found = exam.of(
        AnalystCells(LinkedTables((table,)), counts.columns, exam.names, Labels(), left)
    )
    before, after = cells_of(rows, rows), cells_of(published, rows)
    assert found.weight == "w"
    for c, column in enumerate(found.columns):
        was, now = textbook_column(before, c, many), textbook_column(after, c, kept)
        assert column.mean[0] == pytest.approx(was[0])
        if now is not None:
            assert column.mean[1] == pytest.approx(now[0])
            assert column.quantiles[1] == pytest.approx(now[2])
    for each in found.coefficients:
        names = sorted({NAMES.index(n) for e in found.coefficients for n in e[:2]})
        at, on = NAMES.index(each.outcome), NAMES.index(each.on)
        was = textbook_regression(before, names, at, many)
        steps = [math.sqrt(textbook_column(before, c, many)[1]) for c in (on, at)]
        expected = was[0][[c for c in names if c != at].index(on)] * steps[0] / steps[1]
        assert each.before == pytest.approx(expected, rel=1e-4, abs=1e-6)


# Outside figures.


def test_a_regression_from_a_textbook():
    # Weisberg, Applied Linear Regression: Forbes' data, pressure (100 log10) on boiling point.
    boiling = [194.5, 194.3, 197.9, 198.4, 199.4, 199.9, 200.9, 201.1, 201.4, 201.3, 203.6, 204.6,
               209.5, 208.6, 210.7, 211.9, 212.2]  # fmt: skip
    pressure = [131.79, 131.79, 135.02, 135.55, 136.46, 136.83, 137.82, 138.0, 138.06, 138.04,
                140.04, 142.44, 145.47, 144.34, 146.3, 147.54, 147.8]  # fmt: skip
    covariance = np.cov(np.array([boiling, pressure]), bias=True)
    fit = regress(covariance, len(boiling), outcome=1)
    assert fit.coefficients[0] == pytest.approx(0.895, abs=5e-4)
    assert fit.errors[0] == pytest.approx(0.0164, abs=1e-4)


@pytest.mark.parametrize("rows", [3, 5, 40])
def test_one_inverse_fits_all_columns(rows):
    rng = np.random.default_rng(rows)
    table = rng.normal(size=(4, 40)) + rng.normal(size=40)
    for each in (table, np.vstack([table[:3], table[0] + table[1]])):
        covariance = np.cov(each, bias=True)
        for at, fit in enumerate(regress_each(covariance, rows)):
            alone = regress(covariance, rows, at)
            assert (fit is None) is (alone is None)
            if fit is not None and alone is not None:
                assert fit.coefficients == pytest.approx(alone.coefficients)
                assert fit.errors == pytest.approx(alone.errors)


def test_overlaps():
    assert overlap_of((0.0, 1.0), (0.0, 2.0)) == pytest.approx(0.75)
    assert overlap_of((0.0, 1.0), (1.959963984540054, 1.0)) == pytest.approx(0.5)
    assert overlap_of((0.0, 0.0), (0.5, 0.0)) == 0


# The task.


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    age = rng.integers(18, 90, 3000)
    pay = np.round(1000 + 30 * age + rng.normal(0, 300, 3000))
    ill = rng.choice(["flu", "gout", "hiv"], 3000)
    hours = rng.integers(0, 60, 3000)
    return pa.table({"age": age, "ill": ill, "pay": pay, "hours": hours})


def policy_for(**age):
    return sf.Policy(
        columns={
            "age": {
                "role": "quasi-identifier",
                "hierarchy": {"kind": "intervals", "widths": [5, 10, 30]},
                **age,
            },
            "ill": "sensitive",
            "pay": "sensitive",
            "hours": "plain",
        },
        models=[sf.models.KAnonymity(50)],
    )


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("how", ["text", "mean", "median", "bounds", "midpoint"])
def test_every_form_of_numbers_is_read(people, how, tmp_path):
    policy = policy_for(**({} if how == "text" else {"as": how}))
    release = sf.anonymize(people, policy, method="mondrian", output=tmp_path / "release", seed=1)
    found = sf.utility(people, release, policy=policy, queries=10).numbers
    columns = {column.name: column for column in found.columns}
    assert set(columns) == {"age", "pay", "hours"}
    assert columns["pay"].errors == columns["hours"].errors
    assert set(columns["pay"].errors.values()) == {0.0}
    assert columns["age"].errors["mean-error"] < 0.05
    if how == "mean":
        # It is published with as many decimals as ages have, and no more.
        assert columns["age"].errors["mean-error"] < 0.001
    assert 0 < found.losses["regression-error"] < 0.3


def test_perturbed_numbers_are_what_they_say(people):
    rng = np.random.default_rng(5)
    noisy = people.set_column(
        2, "pay", pa.array(people["pay"].to_numpy() + rng.normal(0, 900, 3000))
    )
    found = sf.utility(people, noisy, quasi_identifiers=["age"], sensitive=["ill"], queries=10)
    pay = next(column for column in found.numbers.columns if column.name == "pay")
    assert pay.mean[1] == pytest.approx(np.mean(noisy["pay"].to_numpy()))
    assert pay.deviation[1] == pytest.approx(np.std(noisy["pay"].to_numpy()))
    assert pay.errors["variance-error"] > 0.5
    assert found.propensity.loss > 0.05


@pytest.mark.usefixtures("patience")
def test_sensitive_numbers_that_were_perturbed_can_be_asked_about(people):
    rng = np.random.default_rng(5)
    noisy = people.set_column(
        2, "pay", pa.array(people["pay"].to_numpy() + rng.normal(0, 90, 3000))
    )
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill", "pay"]}
    found = sf.utility(people, noisy, queries=50, **roles)
    assert 0 < found.queries.mean < 1
    assert 0 < found.numbers.losses["regression-error"] < 1


@pytest.mark.usefixtures("patience")
def test_decoupled_releases_lose_what_ties_their_tables(people):
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    anatomy = sf.decouple(
        people.select(["age", "ill"]), method={"method": "anatomy", "l": 2}, seed=1, **roles
    )
    found = sf.utility(people.select(["age", "ill"]), anatomy, queries=10).numbers
    assert found.losses["mean-error"] == 0
    slices = sf.decouple(
        people.select(["age", "ill", "pay"]),
        method={"method": "slicing", "l": 2, "columns": ["age", "pay", "ill"]},
        quasi_identifiers=["age", "pay"],
        sensitive=["ill"],
        seed=1,
    )
    found = sf.utility(people.select(["age", "ill", "pay"]), slices, queries=10).numbers
    assert found.losses["mean-error"] == found.losses["variance-error"] == 0
    assert found.losses["pearson-error"] > 0
    assert found.apart == (("age", "pay"),)
    assert "published apart" in " ".join(found.notes)


def test_codes_are_no_numbers():
    table = pa.table({"zip": ["02139", "13053", "13068"] * 5, "age": [20, 30, 40] * 5})
    found = sf.utility(table, table, quasi_identifiers=["zip", "age"], queries=5)
    assert [column.name for column in found.numbers.columns] == ["age"]
    assert "zip" in found.numbers.left_out
    assert "zip is not measured as a number" in str(found)


def test_labels_that_cannot_be_read_are_said():
    table = pa.table({"sex": ["f", "m"] * 5, "pay": [10, 20] * 5})
    shown = table.set_column(1, "pay", pa.array(["low", "20"] * 5))
    found = sf.utility(table, shown, quasi_identifiers=["sex"], queries=5).numbers
    assert found.unread == {"pay": ("low",)}
    assert found.columns[0].left == 0.5


@pytest.mark.usefixtures("patience")
def test_several_releases_stand_in_one_table(people):
    coarse = people.set_column(0, "age", pa.array(["*"] * 3000))
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    found = sf.utility(people, {"raw": people, "coarse": coarse}, queries=10, **roles)
    assert set(found["raw"].number_losses.values()) == {0.0}
    assert found["coarse"].number_losses["regression-error"] == 1
    assert found["coarse"].number_losses["distinguishability"] > 0.99
    assert "every value of age is hidden" in str(found)
    assert "told apart" in str(found)


def test_a_release_without_the_weight_is_compared_by_rows():
    rng = np.random.default_rng(1)
    ages = rng.integers(20, 80, 200)
    table = pa.table(
        {"age": ages, "ill": ["flu", "gout"] * 100, "w": np.where(ages > 50, 9.0, 1.0)}
    )
    models = [sf.models.KAnonymity(2)]
    rule = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [30]}}
    known = {"age": rule, "ill": "sensitive"}
    heavy = sf.Policy(columns={**known, "w": "weight"}, models=models)
    light = sf.Policy(columns={**known, "w": "dropped"}, models=models)
    releases = {
        "heavy": sf.anonymize(table, heavy),
        "light": sf.anonymize(table, light),
    }
    found = sf.utility(table, releases, policy=heavy, queries=5)
    weights = [found[name].numbers.weight for name in releases]
    assert weights == ["w", None]
    before = [found[name].numbers.columns[0].mean[0] for name in releases]
    assert before[0] == pytest.approx(np.average(ages, weights=np.where(ages > 50, 9.0, 1.0)))
    assert before[1] == pytest.approx(ages.mean())


def test_numbers_without_a_square_are_not_computed_with():
    table = pa.table({"x": [1e300, -1e300, 1.0, 2.0] * 5, "y": [1, 2, 3, 4] * 5})
    found = sf.utility(table, table, quasi_identifiers=["y"], queries=5)
    assert found.numbers.left_out == {"x": "its numbers are too large to be squared"}
    assert found.propensity.loss == 0
    shown = table.set_column(1, "y", pa.array([1, 2, 3, 1e300] * 5))
    found = sf.utility(table.select(["y"]), shown, quasi_identifiers=["y"], queries=5).numbers
    assert found.losses["mean-error"] == found.losses["variance-error"] == 1


def test_utility_can_be_written_as_json(people):
    shown = people.set_column(0, "age", pa.array(["*"] * 3000))
    found = sf.utility(people, shown, quasi_identifiers=["age"], sensitive=["ill"], queries=5)
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert again["numbers"]["losses"]["regression-error"] == 1
    assert again["numbers"]["columns"][0]["mean"][1] is None
    assert again["propensity"]["loss"] > 0.99
