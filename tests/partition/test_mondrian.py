"""Mondrian against the recursion as it is described, row by row."""

from collections import Counter
from dataclasses import replace
from datetime import date
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.models import KAnonymity
from sfumato.partition import Mondrian
from sfumato.partition.labelling import labels_of
from sfumato.policy import Policy
from sfumato.recode.deciding import make_problem, prepare

NUMBERS = st.sampled_from([-7, 0, 1, 2, 5, 8, 13, 40])
TABLES = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.tuples(*[NUMBERS] * n), min_size=1, max_size=40)
)
LACKING = st.lists(
    st.tuples(NUMBERS, st.sampled_from([None, None, 0, 1, 13, 40]), NUMBERS),
    min_size=1,
    max_size=30,
) | st.lists(st.tuples(NUMBERS | st.none(), NUMBERS | st.none()), min_size=1, max_size=30)


def problem_of(rows, k: int, weights=()):
    names = [f"q{i}" for i in range(len(rows[0]))]
    policy = Policy(
        columns={
            name: {"role": "quasi-identifier", "weight": weight}
            for name, weight in zip(names, weights or [1] * len(names), strict=True)
        },
        models=[KAnonymity(k)],
    )
    return make_problem(policy, prepare(policy, FrequencySet.from_rows(names, rows)))


def found_classes(problem, partition) -> Counter:
    """Give the classes as sorted tuples of rows."""
    classes = [[] for _ in range(partition.n)]
    for item, n, of in zip(partition.item, partition.rows, partition.classes, strict=True):
        codes = problem.counts.codes[:, item]
        row = tuple(c.values[i] for c, i in zip(problem.counts.columns, codes, strict=True))
        classes[of] += [row] * int(n)
    return Counter(tuple(sorted(rows, key=order)) for rows in classes)


def order(row):
    return [(value is None, value or 0) for value in row]


class Literal:
    """Strict Mondrian over lists of rows."""

    def __init__(self, rows, k: int, weights) -> None:
        self.k = k
        self.weights = weights
        columns = [[v for v in column if v is not None] for column in zip(*rows, strict=True)]
        self.domains = [(min(c), max(c)) if c else (0, 0) for c in columns]
        self.classes = []
        self.cut(rows)

    def width(self, rows, a: int) -> float:
        values = [row[a] for row in rows]
        if len(set(values)) == 1:
            return 0
        if None in values:
            return self.weights[a]
        low, high = self.domains[a]
        return self.weights[a] * (max(values) - min(values)) / (high - low) / 2

    def cut(self, rows) -> None:
        widths = {a: self.width(rows, a) for a in range(len(rows[0]))}
        ways = [(a, True) for a in widths] + [(a, False) for a in widths]
        for a, apart in sorted(ways, key=lambda way: -round(widths[way[0]], 12)):
            lacking = sum(row[a] is None for row in rows)
            if widths[a] > 0 and (apart or lacking < self.k):
                lower, upper = self.halves(rows, a, apart=apart)
                if min(len(lower), len(upper)) >= self.k:
                    self.cut(lower)
                    self.cut(upper)
                    return
        self.classes.append(tuple(sorted(rows, key=order)))

    def halves(self, rows, a: int, *, apart: bool):
        """Cut where the halves are most alike, the lower boundary of two; missing goes first.

        Where it cannot go apart, it stays with the highest.
        """
        lacking = [r for r in rows if r[a] is None]
        if lacking and apart:
            return [r for r in rows if r[a] is not None], lacking
        values = sorted({row[a] for row in rows} - {None})
        last = min(
            values[:-1],
            key=lambda v: (
                abs(len(rows) - 2 * sum(r[a] is not None and r[a] <= v for r in rows)),
                v,
            ),
            default=values[-1],
        )
        lower = [r for r in rows if r[a] is not None and r[a] <= last]
        return lower, [r for r in rows if r not in lower]


@pytest.mark.usefixtures("patience")
@settings(max_examples=300)
@given(rows=TABLES | LACKING, k=st.integers(2, 5), weight=st.sampled_from([1, 1, 3]))
def test_strict_cuts_are_those_of_the_description(rows, k, weight):
    weights = [weight, 1, 1][: len(rows[0])]
    # A column nobody knows anything of is no line.
    assume(all(any(v is not None for v in column) for column in zip(*rows, strict=True)))
    problem = problem_of(rows, k, weights)
    partition = Mondrian().run(problem)
    assert found_classes(problem, partition) == Counter(Literal(rows, k, weights).classes)


def test_one_missing_number_hides_only_those_beside_it():
    rows = [(age,) for age in range(40)] + [(None,)]
    problem = problem_of(rows, 5)
    partition = Mondrian().run(problem)
    (labels,) = labels_of(problem, partition, Mondrian().intervals(problem), exact=False)
    assert partition.n == 8
    assert labels.names.count("*") == 1


def test_labels_are_cut_before_numbers_of_which_a_cut_leaves_half():
    rows = [(age, ward) for age in (20, 30, 40, 50) for ward in ("a", "b") for _ in range(3)]
    problem = problem_of(rows, 12)
    partition = Mondrian().run(problem)
    wards = [{ward for _, ward in members} for members in found_classes(problem, partition)]
    assert sorted(map(sorted, wards)) == [["a"], ["b"]]


def test_numbers_of_which_nothing_would_be_told_are_cut_before_labels_that_say_something():
    tree = {"kind": "taxonomy", "tree": {"many": list("abcdef"), "few": ["g", "h"]}}
    ages = {"kind": "intervals", "bounds": [30], "join": True}
    rows = [(age, ward) for age in (20, 50) for ward in "abcdef" for _ in range(2)]
    rows += [(age, ward) for age in (20, 50) for ward in "gh" for _ in range(6)]
    known = {"role": "quasi-identifier"}
    policy = {
        "columns": {"age": {**known, "hierarchy": ages}, "ward": {**known, "hierarchy": tree}},
        "models": [{"model": "k-anonymity", "k": 12}],
        "method": "mondrian",
    }
    people = pa.table({"age": [age for age, _ in rows], "ward": [ward for _, ward in rows]})
    made = sf.anonymize(people, policy).table
    assert set(made["ward"].to_pylist()) == {"many", "few"}
    assert set(made["age"].to_pylist()) == {"under 30", "30 or more"}


@given(rows=TABLES, k=st.integers(2, 5))
def test_strict_boxes_share_no_point(rows, k):
    problem = problem_of(rows, k)
    classes = list(found_classes(problem, Mondrian().run(problem)))
    boxes = [[(min(c), max(c)) for c in zip(*members, strict=True)] for members in classes]
    for one, other in combinations(boxes, 2):
        assert any(one[a][1] < other[a][0] or other[a][1] < one[a][0] for a in range(len(rows[0])))


@given(rows=TABLES, k=st.integers(2, 5))
def test_relaxed_classes_are_smaller_than_twice_k_unless_all_rows_are_alike(rows, k):
    # With the median row in either half, k rows are always enough for a half.
    problem = problem_of(rows, k)
    for members in found_classes(problem, Mondrian(relaxed=True).run(problem)):
        assert len(members) < 2 * k or len(set(members)) == 1


def test_a_column_of_dates_is_a_line_too():
    days = [date(2000, 1, 1), date(2000, 1, 2), date(2000, 1, 3), date(2009, 1, 1)]
    problem = problem_of([(day,) for day in days], 2)
    partition = Mondrian().run(problem)
    assert partition.classes.tolist() == [0, 0, 1, 1]
    (labels,) = labels_of(problem, partition, Mondrian().intervals(problem))
    assert labels.names == ("2000-01-01 to 2000-01-02", "2000-01-03 to 2009-01-01")
    (labels,) = labels_of(problem, partition, Mondrian().intervals(problem), exact=False)
    assert labels.names == ("2000-01-01 to 2000-01-02", "2000-01-03 to 2009-12-31")


@pytest.mark.parametrize("relaxed", [False, True])
def test_rows_that_are_all_alike_are_one_class(relaxed):
    problem = problem_of([(5, 5)] * 9, 2)
    assert Mondrian(relaxed=relaxed).run(problem).n == 1


# Intervals that end at cuts.


def ends(label):
    """Read an interval of whole or other numbers: what it covers, the upper end left out."""
    if isinstance(label, int | float):
        return label, label + 1
    if " to under " in label:
        left, right = label.split(" to under ")
        return float(left), float(right)
    if " to " in label:
        left, right = label.split(" to ")
        return int(left), int(right) + 1
    return int(label), int(label) + 1


def labelled(problem, method):
    partition = method.run(problem, rng=np.random.default_rng(1))
    labels = labels_of(problem, partition, method.intervals(problem), exact=method.exact_bounds)
    for of in range(partition.n):
        items = partition.item[partition.classes == of]
        rows = [
            tuple(c.values[i] for c, i in zip(problem.counts.columns, codes, strict=True))
            for codes in problem.counts.codes[:, items].T
        ]
        yield rows, [one.names[one.of_class[of]] for one in labels]


@pytest.mark.usefixtures("patience")
@settings(max_examples=200)
@given(rows=TABLES, k=st.integers(2, 5), relaxed=st.booleans(), scale=st.sampled_from([1, 0.5]))
def test_intervals_cover_their_rows_and_strict_ones_share_no_point(rows, k, relaxed, scale):
    rows = [tuple(value if scale == 1 else value * scale for value in row) for row in rows]
    assume(all(len(set(column)) > 1 for column in zip(*rows, strict=True)))
    boxes = []
    for members, labels in labelled(problem_of(rows, k), Mondrian(relaxed=relaxed)):
        box = [ends(label) for label in labels]
        for row in members:
            assert all(low <= value < high for value, (low, high) in zip(row, box, strict=True))
        boxes.append(box)
    if not relaxed:
        for one, other in combinations(boxes, 2):
            assert any(a[1] <= b[0] or b[1] <= a[0] for a, b in zip(one, other, strict=True))


def test_ends_are_round_numbers_beyond_all_values_and_between_those_that_were_cut():
    ages = [23, 24, 27, 38, 41, 47, 52, 58, 61, 66, 71, 77]
    problem = problem_of([(age,) for age in ages], 3)
    found = sorted(labels[0] for _, labels in labelled(problem, Mondrian()))
    assert found == ["20 to 29", "30 to 49", "50 to 64", "65 to 79"]
    exact = sorted(labels[0] for _, labels in labelled(problem, Mondrian(exact_bounds=True)))
    assert exact == ["23 to 27", "38 to 47", "52 to 61", "66 to 77"]


def test_the_oldest_person_does_not_show():
    """The largest value may be anybody's: within a stretch the labels are the same."""
    told = set()
    for oldest in (85, 86, 88, 89):
        ages = [20, 22, 30, 31, 40, 44, 50, 55, 60, 66, 70, oldest]
        problem = problem_of([(age,) for age in ages], 3)
        told.add(tuple(sorted(labels[0] for _, labels in labelled(problem, Mondrian()))))
    assert len(told) == 1


def test_numbers_that_stay_alone_are_published_as_they_are():
    problem = problem_of([(0,)] * 4 + [(1,)] * 4, 3)
    assert sorted(labels[0] for _, labels in labelled(problem, Mondrian())) == [0, 1]


def test_refined_classes_end_at_round_numbers_too():
    ages = [21, 23, 37, 38, 52, 59, 71, 78]
    problem = problem_of([(age,) for age in ages], 2)
    partition = replace(Mondrian().run(problem), cuts=None)
    (labels,) = labels_of(problem, partition, (True,), exact=False)
    assert all(int(name.split(" to ")[0]) % 5 == 0 for name in labels.names)
