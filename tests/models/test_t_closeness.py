"""t-closeness: the transport problem itself, solved as a linear programme, is the judge."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sfumato.classes import SensitiveColumn, ValueCounts
from sfumato.errors import ParameterError, PolicyError
from sfumato.hierarchy.base import Hierarchy
from sfumato.models import TCloseness, distances
from sfumato.models.distances import hierarchical_distance, ordered_distance
from tests.builders import classes_of
from tests.models.tables import COUNTED, TREE, classes_with_tree, counts_by_class

PATHS = {"flu": "vi*", "hiv": "vi*", "gout": "go*", "cancer": "to*", None: "nn*"}
"""Each disease's labels above it; a missing value is a branch of its own below the root."""


def ground_equal(values):
    return [[float(a != b) for b in values] for a in values]


def ground_ordered(values):
    steps = max(len(values) - 1, 1)
    return [[abs(i - j) / steps for j in range(len(values))] for i in range(len(values))]


def ground_hierarchical(values):
    def level(a, b):
        return next(i for i in range(4) if (a, *PATHS[a])[i] == (b, *PATHS[b])[i])

    return [[level(a, b) / 3 for b in values] for a in values]


CATEGORIES = [
    (("hiv", "cancer"), ("gout",), ("flu",)),
    (("hiv",), ("flu", "gout"), ("cancer",), ("malaria",)),
    (("gout", "flu"), ("hiv", "cancer")),
]


def ground_category(values, categories):
    last = len(categories) - 1
    place = {value: i for i, each in enumerate(categories) for value in each}

    def apart(a, b):
        if a is None or b is None:
            # A missing value is 1 from either end, and half of that from the middle.
            known = b if a is None else a
            return 0.5 + abs(place[known] / last - 0.5) if known is not None else 0.0
        return abs(place[a] - place[b]) / last

    return [[apart(a, b) for b in values] for a in values]


GROUND = {
    "equal": ground_equal,
    "ordered": ground_ordered,
    "hierarchical": ground_hierarchical,
    **{n: partial(ground_category, categories=each) for n, each in enumerate(CATEGORIES)},
}


def model_of(t, distance):
    """A model by the name of its distance, or the number of its categories."""
    if distance in range(len(CATEGORIES)):
        return TCloseness("disease", t, "category", CATEGORIES[distance])
    return TCloseness("disease", t, distance)


def transport(supply, demand, cost):
    """The least work that moves one distribution onto another."""
    n = len(supply)
    constraints = [[float(i == row) for i in range(n) for _ in range(n)] for row in range(n)]
    constraints += [[float(j == column) for _ in range(n) for j in range(n)] for column in range(n)]
    solved = linprog(
        np.ravel(cost), A_eq=np.array(constraints), b_eq=np.concatenate((supply, demand))
    )
    assert solved.success
    return solved.fun


def textbook(rows, distance):
    # Diseases are texts, so their order is the alphabet's; missing comes last.
    table = [disease for _, disease in rows]
    values = sorted({d for d in table if d is not None}) + [None] * (None in table)
    cost = GROUND[distance](values)
    demand = np.array([table.count(value) for value in values]) / len(table)
    return [
        transport(np.array([counts[v] for v in values]) / counts.total(), demand, cost)
        for counts in counts_by_class(rows)
    ]


@pytest.mark.parametrize("distance", GROUND)
@settings(max_examples=40)
@given(rows=COUNTED, t=st.floats(0, 0.99))
def test_agrees_with_the_transport_problem(distance, rows, t):
    classes = classes_with_tree(rows)
    expected = textbook(rows, distance)
    model = model_of(t, distance)
    assert model.measure(classes)["t"] == pytest.approx(max(expected), abs=1e-7)
    close = [abs(value - t) < 1e-7 for value in expected]
    wanted = [value <= t for value in expected]
    verdicts = zip(model.passes(classes).tolist(), wanted, close, strict=True)
    assert all(verdict == want or near for verdict, want, near in verdicts)


@given(
    table=st.lists(st.lists(st.integers(0, 4), min_size=9, max_size=9), min_size=1, max_size=5),
    distance=st.sampled_from(["ordered", "hierarchical"]),
)
def test_many_values_agree_with_the_dense_formula(table, distance):
    counts = np.array([row for row in table if any(row)] or [[1] * 9])
    column = SensitiveColumn("stage", tuple(range(8)), binary_tree().bind("stage", [*range(8)]))
    value_counts = sparse(column, counts)
    sizes = counts.sum(axis=1)
    p = counts / sizes[:, None]
    q = counts.sum(axis=0) / counts.sum()
    occurs = q > 0
    if distance == "ordered":
        steps = max(occurs.sum() - 1, 1)
        expected = np.abs(np.cumsum((p - q)[:, occurs], axis=1)).sum(axis=1) / steps
        assert ordered_distance(value_counts, sizes) == pytest.approx(expected)
    else:
        assert hierarchical_distance(value_counts, sizes) == pytest.approx(
            [li_et_al(excess) for excess in p - q]
        )


@given(table=st.lists(st.lists(st.integers(0, 4), min_size=9, max_size=9), min_size=1, max_size=5))
def test_few_and_many_values_are_compared_alike(table):
    counts = np.array([row for row in table if any(row)] or [[1] * 9])
    column = SensitiveColumn("stage", tuple(range(8)), binary_tree().bind("stage", [*range(8)]))
    value_counts, sizes = sparse(column, counts), counts.sum(axis=1)
    ways = distances.hierarchical_distance, distances.hierarchical_shares_above
    together = [way(value_counts, sizes) for way in ways]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "_MOST_CELLS", -(10**9))
        apart = [way(value_counts, sizes) for way in ways]
    assert together[0].tolist() == apart[0].tolist()
    for one, other in zip(together[1], apart[1], strict=True):
        assert one == pytest.approx(other)
    assert together[1][0] - together[1][1] == pytest.approx(together[0])


def binary_tree():
    return Hierarchy.from_paths(
        list(range(8)), [[str(i // 2), f"half {i // 4}", "*"] for i in range(8)]
    )


def li_et_al(excess):
    """Per inner node, level/height × min(excess out, excess in), over a binary tree of eight."""
    nodes, work = [[e] for e in excess[:8]], 0.0
    for level in (1, 2, 3):
        children = [sum(node) for node in nodes]
        nodes = [children[i : i + 2] for i in range(0, len(children), 2)]
        if level == 3:
            nodes[0].append(excess[8])  # the missing value hangs below the root
        for node in nodes:
            out, into = sum(e for e in node if e > 0), -sum(e for e in node if e < 0)
            work += level / 3 * min(out, into)
    return work


def sparse(column, counts):
    """Value counts of a dense table whose last column is the missing value."""
    entries = [
        (i, value if value < 8 else -1, rows)
        for i, row in enumerate(counts.tolist())
        for value, rows in sorted(
            enumerate(row), key=lambda pair: pair[0] % 8 if pair[0] < 8 else -1
        )
        if rows
    ]
    class_id, value, rows = (np.array(part) for part in zip(*entries, strict=True))
    return ValueCounts(column, class_id, value, rows, counts.sum(axis=0))


def test_the_salaries_of_the_paper():
    # Li et al. 2007: nine salaries 3k to 11k; {3k,4k,5k} is 0.375 away, {6k,8k,11k} 0.167.
    salaries = [3, 4, 5, 6, 11, 8, 7, 9, 10]
    classes = classes_of(list(zip("AAABBBCCC", salaries, strict=True)), column="salary")
    first, second, _ = ordered_distance(classes.counts_of("salary"), classes.sizes)
    assert first == pytest.approx(0.375)
    assert second == pytest.approx(1 / 6)


def test_numbers_are_ordered_by_size_even_if_they_are_text():
    rows = [("A", "9"), ("A", "10"), ("B", "9"), ("B", "100")]
    classes = classes_of(rows, column="stage")
    measured = TCloseness("stage", t=0, distance="ordered").measure(classes)
    assert measured == {"t": pytest.approx(0.125)}


def test_a_table_of_one_value_is_close_to_itself():
    classes = classes_with_tree([("A", "flu"), ("B", "flu")])
    for distance in GROUND:
        model = model_of(0, distance)
        assert model.passes(classes).all()
        assert model.measure(classes) == {"t": 0.0}


def test_a_hierarchy_of_one_value_has_only_the_missing_one_beside_it():
    column = SensitiveColumn("stage", (0,), Hierarchy.from_paths([0], [[]]).bind("stage", [0]))
    class_id, value, rows = np.array([0, 1]), np.array([0, 0]), np.array([3, 1])
    alone = ValueCounts(column, class_id, value, rows, np.array([4, 0]))
    assert hierarchical_distance(alone, rows).tolist() == [0.0, 0.0]
    beside = ValueCounts(column, class_id, np.array([0, -1]), rows, np.array([3, 1]))
    assert hierarchical_distance(beside, rows).tolist() == [0.25, 0.75]


def test_the_hierarchical_distance_needs_a_hierarchy():
    classes = classes_of([("A", "flu"), ("B", "gout")], column="disease")
    with pytest.raises(PolicyError, match=r"needs a hierarchy of 'disease'.*\"equal\""):
        TCloseness("disease", t=0.2, distance="hierarchical").passes(classes)


def test_the_tree_of_the_tests_is_the_one_the_judge_uses():
    labels = {
        v: [TREE.labels[k][TREE.codes[k, i]] for k in (1, 2, 3)] for i, v in enumerate(TREE.values)
    }
    for (a, above_a), (b, above_b) in product(labels.items(), repeat=2):
        joined = [x == y for x, y in zip(above_a, above_b, strict=True)]
        assert joined == [x == y for x, y in zip(PATHS[a], PATHS[b], strict=True)]


@pytest.mark.parametrize("t", [-0.1, 1, 1.5, "0.2", True, float("nan")])
def test_refuses_a_t_that_promises_nothing(t):
    with pytest.raises(ParameterError, match="t must be a number of at least 0 and below 1, got "):
        TCloseness("disease", t=t)


def test_categories_and_their_distance_belong_together():
    with pytest.raises(ParameterError, match="categories must be at least two lists of values"):
        TCloseness("disease", t=0.2, distance="category")
    with pytest.raises(ParameterError, match=r"must be left out.*distance: category goes by them"):
        TCloseness("disease", t=0.2, categories=CATEGORIES[0])
    classes = classes_of([("A", "flu"), ("B", "plague")], column="disease")
    with pytest.raises(PolicyError, match="in no category: 'plague'"):
        TCloseness("disease", 0.2, "category", CATEGORIES[0]).passes(classes)


def test_similar_secrets_are_close_and_moving_all_from_one_end_to_the_other_is_1():
    """The thesis's eight diseases: its {HIV, Cancer, HIV, Flu}, and a class of the gravest."""
    four = [["Cancer", "HIV"], ["Hepatitis", "Phthisis"], ["Asthma", "Obesity"], ["Flu", "Cold"]]
    rows = [("A", "HIV"), ("A", "Cancer"), ("A", "HIV"), ("A", "Flu")]
    rows += [("B", "Flu"), ("B", "Cold"), ("B", "Flu"), ("B", "HIV")]
    model = TCloseness("disease", t=0.2, distance="category", categories=four)
    # Half of the table is at either end; of A three quarters are, so a quarter moves all the way.
    assert model.measure(classes_of(rows, column="disease")) == {"t": 0.25}
    ends = [("A", "HIV"), ("B", "Flu")]
    assert model.measure(classes_of(ends, column="disease")) == {"t": 0.5}
    inside = [("A", "HIV"), ("B", "Cancer")]
    assert model.measure(classes_of(inside, column="disease")) == {"t": 0.0}


def test_many_classes_are_measured_in_parts(monkeypatch):
    rng = np.random.default_rng(3)
    rows = [(f"{i:03}", d) for i in range(40) for d in rng.choice([*"abcd"], 3).tolist()]
    classes = classes_of(rows, column="disease")
    model = TCloseness("disease", 0.3, "category", [["a"], ["b", "d"], ["c"]])
    whole = model.passes(classes)
    monkeypatch.setattr("sfumato.models.distances._CELLS", 12)
    assert model.passes(classes).tolist() == whole.tolist()
    assert 0 < whole.sum() < 40


def test_refuses_an_unknown_distance():
    with pytest.raises(ParameterError, match="distance must be one of equal, ordered, hierarch"):
        TCloseness("disease", t=0.2, distance="euclid")
