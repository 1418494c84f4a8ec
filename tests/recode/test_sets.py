"""Labels of sets of items, held against the definition and against every choice there is."""

from collections import Counter
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts.baskets import Baskets, combinations_of, least_support
from sfumato.hierarchy import Suppress, Taxonomy
from sfumato.recode.sets import ItemTree, RecodedSets

ITEMS = ("a", "b", "c", "d", "e")
TREES = {
    "flat": None,
    "two": {"ab": ["a", "b"], "cde": ["c", "d", "e"]},
    "deep": {"abc": {"ab": ["a", "b"], "c": ["c"]}, "de": ["d", "e"]},
    "alone": {"all": {"ab": ["a", "b"], "cd": ["c", "d"]}, "e": ["e"]},
}
ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.frozensets(st.sampled_from(ITEMS))), min_size=1, max_size=12
)
LIMITS = st.tuples(st.integers(2, 3), st.integers(1, 3))


def supports(rows, m):
    """How many rows of a class have each set of up to m items that one of them has, by the book."""
    found = Counter()
    for cls, items in rows:
        for size in range(m + 1):
            found.update((cls, each) for each in combinations(sorted(items), size))
    return found


def keeps(rows, k, m):
    """Whether every set of 1 to m items that a row has is in k rows of its class."""
    return all(n >= k for (_, items), n in supports(rows, m).items() if items)


def baskets_of(rows):
    cells = [(at, ITEMS.index(item)) for at, (_, items) in enumerate(rows) for item in items]
    row, item = np.array(cells, dtype=np.int64).reshape(-1, 2).T
    return Baskets.of_cells(row, item, len(rows), ITEMS)


def tree_of(name):
    builder = Suppress() if TREES[name] is None else Taxonomy(TREES[name])
    return ItemTree.of({"x": (list(ITEMS), builder)})


def classes_of(rows):
    return np.array([cls for cls, _ in rows], dtype=np.int64)


def published(found):
    [baskets] = found.baskets
    cut = np.split(baskets.items, baskets.starts[1:-1])
    return [frozenset(baskets.values[code] for code in codes.tolist()) for codes in cut]


def choices(tree):
    """Every way to give each item a label, or none, such that no label is above another."""

    def below(label):
        inside = [below(each) for each in tree.below[label]]
        finer = [list(chain(*each)) for each in product(*inside)] if inside else [[]]
        return [[label], *finer]

    return [list(chain(*each)) for each in product(*(below(top) for top in tree.tops))]


def recode(rows, tree, labels):
    """The rows as these labels publish them, item by item, and what that loses."""
    order = {name: int(at) for name, at in zip(tree.names, tree.item_of, strict=True)}
    label_of = {
        item: label for label in labels for item in range(tree.low[label], tree.high[label])
    }
    loss = sum(
        tree.loss[label_of[order[item]]] if order[item] in label_of else 1.0
        for _, items in rows
        for item in items
    )
    shown = [
        (cls, frozenset(tree.labels[label_of[order[i]]] for i in items if order[i] in label_of))
        for cls, items in rows
    ]
    return shown, loss


@given(ROWS, st.sampled_from(list(TREES)), LIMITS, st.booleans())
def test_every_set_of_up_to_m_items_is_in_k_rows_of_its_class(rows, name, limits, per_class):
    k, m = limits
    found = RecodedSets.find(
        baskets_of(rows), tree_of(name), classes_of(rows), (k,) * m, per_class=per_class
    )
    shown = list(zip(classes_of(rows).tolist(), published(found), strict=True))
    assert keeps(shown, k, m)
    least = [n for (_, items), n in supports(shown, m).items() if items]
    assert found.support(m) == min(least, default=None)


@given(ROWS, st.sampled_from(list(TREES)), LIMITS)
def test_one_choice_of_labels_explains_the_whole_table(rows, name, limits):
    k, m = limits
    tree = tree_of(name)
    found = RecodedSets.find(baskets_of(rows), tree, classes_of(rows), (k,) * m)
    total = sum(len(items) for _, items in rows)
    possible = [recode(rows, tree, labels) for labels in choices(tree)]
    same = [loss for shown, loss in possible if [items for _, items in shown] == published(found)]
    assert any(loss == pytest.approx(found.loss * total) for loss in same)


@given(ROWS, st.sampled_from(list(TREES)), LIMITS)
def test_what_is_found_loses_no_less_than_the_best_of_all_choices(rows, name, limits):
    k, m = limits
    tree = tree_of(name)
    found = RecodedSets.find(baskets_of(rows), tree, classes_of(rows), (k,) * m)
    total = sum(len(items) for _, items in rows)
    best = min(
        loss for shown, loss in (recode(rows, tree, each) for each in choices(tree))
        if keeps(shown, k, m)
    )  # fmt: skip
    assert found.loss * total >= best - 1e-9


@given(ROWS, st.sampled_from(list(TREES)), LIMITS)
def test_a_label_for_each_class_loses_no_more_in_sum_than_is_left_out(rows, name, limits):
    k, m = limits
    found = RecodedSets.find(
        baskets_of(rows), tree_of(name), classes_of(rows), (k,) * m, per_class=True
    )
    assert 0 <= found.left_out <= found.loss + 1e-9 <= 1 + 1e-9
    assert found.kept + found.left_out <= 1 + 1e-9


@given(ROWS, st.integers(1, 3))
def test_sets_are_counted_as_the_definition_counts_them(rows, m):
    baskets, classes = baskets_of(rows), classes_of(rows)
    book = supports(rows, m)
    assert least_support(baskets, classes, m) == min(
        (n for (_, items), n in book.items() if items), default=None
    )
    found = combinations_of(baskets, classes, m)
    mine = {
        (int(classes[found.row[at]]), tuple(ITEMS[i] for i in found.items[:, at])): int(n)
        for at, n in zip(found.first, found.support, strict=True)
    }
    assert mine == {key: n for key, n in book.items() if len(key[1]) == m}


@pytest.mark.usefixtures("patience")
def test_on_small_tables_most_results_are_the_best_of_all_choices():
    rng = np.random.default_rng(7)
    extra = []
    for _ in range(40):
        k, m = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        chance = rng.random(len(ITEMS)) ** 2
        rows = [
            (int(rng.integers(2)), frozenset(i for i, p in zip(ITEMS, chance, strict=True)
             if rng.random() < p))
            for _ in range(20)
        ]  # fmt: skip
        tree = tree_of(list(TREES)[int(rng.integers(len(TREES)))])
        found = RecodedSets.find(baskets_of(rows), tree, classes_of(rows), (k,) * m)
        total = max(sum(len(items) for _, items in rows), 1)
        possible = (recode(rows, tree, each) for each in choices(tree))
        best = min(loss for shown, loss in possible if keeps(shown, k, m))
        extra.append(found.loss - best / total)
    assert np.mean(np.array(extra) < 1e-9) >= 0.9
    assert np.mean(extra) < 0.01


def test_more_can_be_asked_of_one_item_than_of_two():
    rows = [(0, frozenset("ab"))] * 2 + [(0, frozenset("a"))] * 2 + [(0, frozenset("c"))] * 3
    found = RecodedSets.find(baskets_of(rows), tree_of("flat"), classes_of(rows), (4, 2))
    assert published(found) == [frozenset("a")] * 4 + [frozenset()] * 3
    assert found.support(2) == 4


@given(ROWS, st.sampled_from(list(TREES)), LIMITS, st.booleans())
def test_who_knows_raw_items_finds_k_rows_that_can_be_the_persons(rows, name, limits, per_class):
    """The adversary knows the hierarchy, and takes each row that what they know may be in.

    A row may be the person's if each known item is in it by its label, or has no label in the
    class: then it was left out of every row.
    """
    k, m = limits
    rows = [row for row in rows if sum(cls == row[0] for cls, _ in rows) >= k]
    if not rows:
        return
    tree = tree_of(name)
    baskets, classes = baskets_of(rows), classes_of(rows)
    found = RecodedSets.find(baskets, tree, classes, (k,) * m, per_class=per_class)
    shown = list(zip(classes.tolist(), published(found), strict=True))
    spans = list(zip(tree.labels, tree.low.tolist(), tree.high.tolist(), strict=True))
    above = {
        item: {label for label, low, high in spans if low <= number < high}
        for item, number in zip(tree.names, tree.item_of.tolist(), strict=True)
    }
    for cls, items in rows:
        labels = set().union(*(own for other, own in shown if other == cls))
        for known in (each for size in range(m + 1) for each in combinations(sorted(items), size)):
            told = [above[item] & labels for item in known]
            fitting = [
                own for other, own in shown if other == cls and all(not t or t & own for t in told)
            ]
            assert len(fitting) >= k
