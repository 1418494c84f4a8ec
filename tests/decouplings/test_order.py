"""Labels and orders are random: they say nothing about sizes, values or the input."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sfumato.counts import FrequencySet
from sfumato.decouplings import BreakMerge, random_labels
from sfumato.tables.derived import in_random_order

UNLIKELY = 1e-6
"""A fair draw looks this uneven once in a million times; the seeds here are fixed."""


def dealt(times, rng, thrown=1 << 22):
    parts = list(in_random_order(np.array(times), rng, at_once=thrown))
    return tuple(np.concatenate(parts).tolist()) if parts else ()


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 7), st.integers(0, 2**32))
def test_everything_is_dealt_out_exactly_as_often_as_it_should(times, thrown, seed):
    found = Counter(dealt(times, np.random.default_rng(seed), thrown))
    assert found == Counter({i: n for i, n in enumerate(times) if n})


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("thrown", [1, 2, 100])
def test_every_order_is_equally_likely(thrown):
    rng = np.random.default_rng(5)
    found = Counter(dealt([2, 1, 1], rng, thrown) for _ in range(6000))
    assert set(found) == set(permutations([0, 0, 1, 2]))
    assert chisquare(list(found.values())).pvalue > UNLIKELY


@given(st.integers(0, 3000), st.integers(0, 2**32))
def test_labels_differ_and_are_equally_long(n, seed):
    labels = random_labels(n, np.random.default_rng(seed)).tolist()
    assert len(set(labels)) == n
    assert len({len(str(label)) for label in labels}) <= 1


@pytest.mark.usefixtures("patience")
def test_which_group_has_the_smallest_label_depends_on_nothing():
    rows = [("a", "x")] + [("b", "x")] * 5 + [("c", "y")] * 30
    counts = FrequencySet.from_rows(["age", "ill"], rows)
    ranks = Counter()
    for seed in range(1200):
        rng = np.random.default_rng(seed)
        parts = BreakMerge().run(counts, ["age"], ["ill"], rng=rng)
        ranks[tuple(np.argsort(parts.grouped.labelled).tolist())] += 1
    assert set(ranks) == set(permutations(range(3)))
    assert chisquare(list(ranks.values())).pvalue > UNLIKELY


@pytest.mark.usefixtures("patience")
def test_rows_come_in_any_order_whatever_the_order_of_labels_and_sizes():
    rows = [("a", "x"), ("b", "x"), ("b", "y")]
    counts = FrequencySet.from_rows(["age", "ill"], rows)
    people, values = Counter(), Counter()
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        parts = BreakMerge().run(counts, ["age"], ["ill"], rng=rng)
        [[people_batch], [value_batch]] = (part.content.batches() for part in parts.tables)
        people[tuple(people_batch.picks.tolist())] += 1
        values[tuple(value_batch.picks.tolist())] += 1
    assert len(people) == 3
    assert len(values) == 6
    assert chisquare(list(people.values())).pvalue > UNLIKELY
    assert chisquare(list(values.values())).pvalue > UNLIKELY
