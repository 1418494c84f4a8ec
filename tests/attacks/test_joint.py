"""Two releases of the same people, against all ways to say whose rows are whose."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.attacks.joint import join_values, one_way, shared_values
from sfumato.attacks.overlap import MatchedPairs
from sfumato.classes import classes_from
from sfumato.counts import FrequencySet

VALUES = ["cancer", "flu", "gout"]


def matchings(one, other, fits):
    """Yield every way to match rows of two lists that fit, each as a tuple of pairs."""
    if not one:
        yield ()
        return
    (first, *rest) = one
    yield from matchings(rest, other, fits)
    for i, second in enumerate(other):
        if fits(first, second):
            left = other[:i] + other[i + 1 :]
            for more in matchings(rest, left, fits):
                yield ((first, second), *more)


def worlds(one, other, compatible):
    """All matchings of as many people as possible; rows are (number, class, value)."""
    rows = [[(i, *row) for i, row in enumerate(each)] for each in (one, other)]
    found = list(matchings(*rows, lambda a, b: a[2] == b[2] and (a[1], b[1]) in compatible))
    most = max(map(len, found))
    return [world for world in found if len(world) == most]


def expected(one, other, compatible):
    """The expected number of people per pair of classes and value, over all worlds."""
    every = worlds(one, other, compatible)
    sums = {}
    for world in every:
        for (_, a, v), (_, b, _) in world:
            sums[a, b, v] = sums.get((a, b, v), 0) + Fraction(1, len(every))
    return sums


def sides(one, other):
    counts = [FrequencySet.from_rows(["c", "v"], rows) for rows in (one, other)]
    return shared_values(*(classes_from(each, ("c",), ("v",)).counts_of("v") for each in counts))


def run(one, other, compatible):
    pairs = MatchedPairs.of(
        *(np.array(each) for each in zip(*sorted(compatible), strict=True)), width=9
    )
    first, second, missing = sides(one, other)
    return pairs, first, second, missing, join_values(pairs, first, second)


def table(classes, most):
    """Rows of classes that are numbered without gaps."""
    row = st.tuples(st.integers(0, classes - 1), st.sampled_from([*VALUES, None]))
    start = [(i, "flu") for i in range(classes)]
    return st.lists(row, max_size=most).map(lambda rows: [*start, *rows])


def found_people(one, other, compatible):
    pairs, _first, _second, missing, joint = run(one, other, compatible)
    names = dict(enumerate(values_of(one, other))) | {missing: None}
    found = {}
    for pair, value, people in zip(joint.pair, joint.value, joint.people, strict=True):
        key = int(pairs.one[pair]), int(pairs.other[pair]), names[int(value)]
        found[key] = float(people)
    return found, joint


def values_of(one, other):
    first = sorted({v for _, v in one if v is not None})
    return [*first, *sorted({v for _, v in other if v is not None} - {*first})]


@settings(max_examples=60)
@given(table(2, 3), table(2, 3))
def test_where_all_classes_fit_the_numbers_are_exact(one, other):
    every = {(a, b) for a in range(2) for b in range(2)}
    found, joint = found_people(one, other, every)
    assert joint.exact
    textbook = expected(one, other, every)
    assert {k for k, n in found.items() if n} == {*textbook}
    for key, people in textbook.items():
        assert found[key] == pytest.approx(float(people), abs=1e-12)


@settings(max_examples=60)
@given(table(3, 2), table(3, 2))
def test_where_each_class_fits_one_the_numbers_are_exact(one, other):
    found, joint = found_people(one, other, {(0, 0), (1, 1), (2, 2)})
    assert joint.exact
    textbook = expected(one, other, {(0, 0), (1, 1), (2, 2)})
    for key in found.keys() | textbook.keys():
        assert found.get(key, 0.0) == pytest.approx(float(textbook.get(key, 0)), abs=1e-12)


GRAPHS = st.sets(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=1)


@settings(max_examples=100, deadline=None)
@given(table(2, 3), table(3, 2), GRAPHS)
def test_where_some_fit_the_numbers_are_close(one, other, compatible):
    found, joint = found_people(one, other, compatible)
    textbook = expected(one, other, compatible)
    for key in found.keys() | textbook.keys():
        assert found.get(key, 0.0) == pytest.approx(float(textbook.get(key, 0)), abs=0.26)
    # Together as many people are in both releases as can be.
    most = sum(textbook.values())
    assert joint.people.sum() == pytest.approx(float(most), abs=0.15)


def test_who_joined_is_told_only_where_people_only_joined():
    one = [(0, "flu"), (0, "hiv"), (1, "flu"), (1, "gout")]
    other = [(0, "flu"), (1, "flu"), (1, "hiv")]
    pairs, first, second, _, joint = run(one, other, {(0, 0), (1, 1)})
    gained, lost = one_way(pairs, joint, first, second)
    assert gained.tolist() == [True, False]
    assert lost.tolist() == [False, False]
    assert joint.joined.tolist() == [0.0, 1.0, 0.0, 1.0]
    assert joint.left.tolist() == [0.0, 0.0, 1.0]
