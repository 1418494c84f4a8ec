"""What a mean or median of a class tells, by an adversary who goes through all worlds.

A *world* gives every published row an age that its range allows, so that every class has the mean
or median that is published. The adversary knows everything public, the age of one person, and that
the person is among the rows; all worlds, and all rows that may be the person's, are equally likely.
Nothing here is taken from the code that computes means.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import factorial, prod
from statistics import fmean, median

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf

AGES = range(6)
"""What everybody knows an age may be."""

METHODS = ("full-domain", "regional", "mondrian", "bottom-up", "mdav")
MIDDLES = {"mean": fmean, "median": median}

PEOPLE = st.lists(
    st.tuples(st.sampled_from(AGES), st.sampled_from("ns"), st.sampled_from("abc")),
    min_size=2,
    max_size=6,
)


def publish(people, how, method, *, k=2, levels=None, limit=0.5):
    """Return the published rows, each as a dictionary."""
    ages, places, ills = zip(*people, strict=True)
    age = {"role": "quasi-identifier", "as": how, "hierarchy": {"kind": "intervals", "widths": [3]}}
    if levels is not None:
        age["levels"] = levels
    policy = sf.Policy(
        columns={"age": age, "place": "quasi-identifier", "ill": "sensitive"},
        models=[sf.models.KAnonymity(k)],
        suppression=limit,
        method=method,
    )
    table = pa.table({"age": list(ages), "place": list(places), "ill": list(ills)})
    return sf.anonymize(table, policy, seed=1).table.to_pylist()


def classes_in(rows):
    """Return the numbers of the rows that look alike."""
    found = defaultdict(list)
    for number, row in enumerate(rows):
        found[row["age_low"], row["age_high"], row["age"], row["place"]].append(number)
    return list(found.values())


def possible(row):
    """Return the ages that the range of a row allows; all of them where it is hidden."""
    if row["age_low"] is None and row["age_high"] is None:
        return list(AGES)
    return [age for age in AGES if row["age_low"] <= age <= row["age_high"]]


def fits(values, row, how):
    """Return whether these ages have the middle that is published: with one decimal, half to even.

    Where it is hidden, any do.
    """
    return row["age"] is None or float(np.round(MIDDLES[how](values), 1)) == row["age"]


def worlds_of(rows, how):
    """Return, class by class, every way to give its rows ages."""
    return [
        [
            dict(zip(members, values, strict=True))
            for values in product(possible(rows[members[0]]), repeat=len(members))
            if how is None or fits(values, rows[members[0]], how)
        ]
        for members in classes_in(rows)
    ]


def whose_row(rows, age, how):
    """Return how likely each row is that of a person of this age; None if no row can be."""
    worlds = worlds_of(rows, how)
    every = prod(len(each) for each in worlds)
    found = Counter()
    for of_class in worlds:
        for world in of_class:
            for row, value in world.items():
                # The other classes are any of their worlds.
                found[row] += (value == age) * (every // len(of_class))
    total = sum(found.values())
    return {row: Fraction(n, total) for row, n in found.items()} if total else None


def beliefs(rows, rowwise):
    found = Counter()
    for row, chance in rowwise.items():
        found[rows[row]["ill"]] += chance
    return {value: chance for value, chance in found.items() if chance}


@pytest.mark.usefixtures("patience")
@settings(max_examples=40, deadline=None)
@given(
    people=PEOPLE,
    how=st.sampled_from(["mean", "median"]),
    method=st.sampled_from(METHODS),
    k=st.integers(2, 3),
)
def test_every_row_of_a_class_is_as_likely_a_persons_as_any_other(people, how, method, k):
    try:
        rows = publish(people, how, method, k=k)
    except sf.errors.InfeasibleError:
        return
    for age in {age for age, *_ in people}:
        found = whose_row(rows, age, how)
        if found is None:
            continue  # Only suppressed people have it.
        for members in classes_in(rows):
            assert len({found[row] for row in members}) == 1
            assert found[members[0]] <= Fraction(1, k)
        # No value is likelier than in the class where it is most frequent: what models promise.
        for value, belief in beliefs(rows, found).items():
            shares = (
                Fraction(sum(rows[r]["ill"] == value for r in members), len(members))
                for members in classes_in(rows)
            )
            assert belief <= max(shares)


@settings(max_examples=25, deadline=None)
@given(people=PEOPLE, how=st.sampled_from(["mean", "median"]))
def test_where_ranges_do_not_overlap_beliefs_are_those_without_means(people, how):
    alike = [(age, "n", ill) for age, _, ill in people]
    try:
        rows = publish(alike, how, "full-domain")
    except sf.errors.InfeasibleError:
        return
    for age in {age for age, *_ in alike}:
        with_means, without = whose_row(rows, age, how), whose_row(rows, age, None)
        if with_means is not None:
            assert with_means == without
            assert beliefs(rows, with_means) == beliefs(rows, without)


@settings(max_examples=25, deadline=None)
@given(people=PEOPLE, how=st.sampled_from(["mean", "median"]), method=st.sampled_from(METHODS))
def test_the_truth_is_one_of_the_worlds(people, how, method):
    try:
        rows = publish(people, how, method)
    except sf.errors.InfeasibleError:
        return
    for age in {age for age, *_ in people} if len(rows) == len(people) else ():
        assert whose_row(rows, age, how) is not None


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("how", ["mean", "median"])
def test_middles_tell_nothing_of_suppressed_rows(how):
    """All tables of four people, their level fixed: what labels tell of the suppressed is all."""
    by_labels, by_numbers = defaultdict(Counter), defaultdict(Counter)
    for ages in combinations_with_replacement(range(1, 5), 4):
        people = [(age, "n", "a") for age in ages]
        ways = factorial(4) // prod(factorial(n) for n in Counter(ages).values())
        try:
            rows = publish(people, how, "full-domain", levels=[1, 1], limit=0.3)
        except sf.errors.InfeasibleError:
            continue
        shown = Counter((row["age_low"], row["age_high"]) for row in rows)
        gone = tuple(a for a in ages if not any(low <= a <= high for low, high in shown))
        assert len(gone) == len(people) - len(rows)
        labels = tuple(sorted(shown.items()))
        numbers = tuple(sorted((row["age"], row["age_low"]) for row in rows))
        by_labels[labels][gone] += ways
        by_numbers[labels, numbers][gone] += ways
    # Some suppressed ages are open, and so are means beside them.
    open_ = {labels for labels, each in by_labels.items() if len(each) > 1}
    assert any(sum(key[0] == labels for key in by_numbers) > 1 for labels in open_)
    for (labels, _), found in by_numbers.items():
        there, here = by_labels[labels], sum(found.values())
        assert {gone: Fraction(n, here) for gone, n in found.items()} == {
            gone: Fraction(n, sum(there.values())) for gone, n in there.items()
        }


# What a middle tells of ages themselves: docs/how-to/read-a-release.md says it in these words.


def ages_of_one(low, high, n, middle, how):
    """Return the ages that one person of a class of n may have, by trying all."""
    return {
        values[0]
        for values in product(range(low, high + 1), repeat=n)
        if float(np.round(MIDDLES[how](values), 1)) == middle
    }


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_a_mean_narrows_a_range_only_near_its_ends(n, width):
    low, high = 10, 10 + width
    for total in range(n * low, n * high + 1):
        found = ages_of_one(low, high, n, float(np.round(total / n, 1)), "mean")
        first = max(low, total - (n - 1) * high)
        last = min(high, total - (n - 1) * low)
        assert found == set(range(first, last + 1))
        mean = round(total / n, 1)
        assert last == min(high, round(low + n * (mean - low)))
        assert first == max(low, round(high - n * (high - mean)))
        # The whole range is left if the mean is an n-th of it away from both ends.
        inside = total - n * low >= width and n * high - total >= width
        assert (found == set(range(low, high + 1))) == inside
    assert ages_of_one(low, high, n, float(low), "mean") == {low}
    assert ages_of_one(low, high, n, float(high), "mean") == {high}


@pytest.mark.parametrize("n", [3, 4, 5])
def test_a_median_of_three_or_more_leaves_the_whole_range_to_each(n):
    for double in range(20, 27):
        middle = double / 2
        if n % 2 and double % 2:
            continue  # Of an odd number of rows it is the value of one of them.
        assert ages_of_one(10, 13, n, middle, "median") == set(range(10, 14))


@pytest.mark.parametrize(("n", "exact"), [(2, True), (9, True), (10, True), (11, False)])
def test_of_ten_rows_or_fewer_a_mean_tells_the_sum(n, exact):
    means = [float(np.round(total / n, 1)) for total in range(100 * n)]
    assert (len(set(means)) == len(means)) == exact
