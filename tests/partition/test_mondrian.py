"""Mondrian against the recursion as it is described, row by row."""

from collections import Counter
from datetime import date
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

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
        return self.weights[a] * (max(values) - min(values)) / (high - low)

    def cut(self, rows) -> None:
        widths = {a: self.width(rows, a) for a in range(len(rows[0]))}
        for a in sorted(widths, key=lambda a: (-round(widths[a], 12), a)):
            if widths[a] > 0:
                lower, upper = self.halves(rows, a)
                if min(len(lower), len(upper)) >= self.k:
                    self.cut(lower)
                    self.cut(upper)
                    return
        self.classes.append(tuple(sorted(rows, key=order)))

    def halves(self, rows, a: int):
        """Cut where the halves are most alike, the lower boundary of two; missing goes first."""
        if any(row[a] is None for row in rows):
            return [r for r in rows if r[a] is not None], [r for r in rows if r[a] is None]
        values = sorted({row[a] for row in rows})
        last = min(
            values[:-1],
            key=lambda v: (abs(len(rows) - 2 * sum(row[a] <= v for row in rows)), v),
        )
        return [r for r in rows if r[a] <= last], [r for r in rows if r[a] > last]


@settings(max_examples=300)
@given(rows=TABLES | LACKING, k=st.integers(2, 5), weight=st.sampled_from([1, 1, 3]))
def test_strict_cuts_are_those_of_the_description(rows, k, weight):
    weights = [weight, 1, 1][: len(rows[0])]
    # A column nobody knows anything of is no line.
    assume(all(any(v is not None for v in column) for column in zip(*rows, strict=True)))
    problem = problem_of(rows, k, weights)
    partition = Mondrian().run(problem)
    assert found_classes(problem, partition) == Counter(Literal(rows, k, weights).classes)


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


@pytest.mark.parametrize("relaxed", [False, True])
def test_rows_that_are_all_alike_are_one_class(relaxed):
    problem = problem_of([(5, 5)] * 9, 2)
    assert Mondrian(relaxed=relaxed).run(problem).n == 1
