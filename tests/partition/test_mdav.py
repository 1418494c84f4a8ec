"""MDAV against the algorithm as it is described, row by row."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError
from sfumato.hierarchy import Taxonomy
from sfumato.models import DistinctLDiversity, KAnonymity, TCloseness
from sfumato.partition import Mdav
from sfumato.partition.mdav import _bound
from sfumato.policy import Policy
from sfumato.recode.deciding import make_problem, prepare

TREE = {
    "fruit": {"stone": ["plum", "peach"], "pome": ["apple", "pear"]},
    "roots": {"root": ["beet", "leek"]},
}
PATHS = {
    leaf: (leaf, group, kind)
    for kind, groups in TREE.items()
    for group, leaves in groups.items()
    for leaf in leaves
}


def problem_of(rows, k: int, *, tree=None, weight: float = 1.0):
    names = [f"q{i}" for i in range(len(rows[0]))]
    columns = {name: {"role": "quasi-identifier"} for name in names}
    columns[names[0]]["weight"] = weight
    if tree is not None:
        columns[names[-1]]["hierarchy"] = Taxonomy(tree)
    policy = Policy(columns=columns, models=[KAnonymity(k)])
    return make_problem(policy, prepare(policy, FrequencySet.from_rows(names, rows)))


def groups_of(problem, partition) -> set[frozenset[tuple]]:
    found: list[set[tuple]] = [set() for _ in range(partition.n)]
    for item, of in zip(partition.item.tolist(), partition.classes.tolist(), strict=True):
        codes = problem.counts.codes[:, item]
        row = tuple(c.values[i] for c, i in zip(problem.counts.columns, codes, strict=True))
        found[of].add(row)
    return {frozenset(group) for group in found}


class Textbook:
    """MDAV over a list of different rows, with every distance written out."""

    def __init__(self, rows: list[tuple], k: int, *, weight: float, tree: bool) -> None:
        self.k = k
        self.left = list(rows)
        n = len(rows[0])
        self.points = {row: self.point(row, rows, n, weight, tree) for row in rows}

    def point(self, row, rows, n: int, weight: float, tree: bool) -> list[float]:
        """Coordinates in which squared distances are those that are asked for."""
        numbers = n - 1 if tree else n
        coordinates = []
        for a in range(numbers):
            column = [float(each[a]) for each in rows]
            mean = sum(column) / len(column)
            spread = math.sqrt(sum((x - mean) ** 2 for x in column) / len(column)) or 1.0
            coordinates.append((float(row[a]) - mean) / spread * math.sqrt(weight if a == 0 else 1))
        if tree:
            paths = [PATHS[each[-1]] for each in rows]
            spread = 0.0
            for level in range(3):
                labels = [path[level] for path in paths]
                spread += 1 - sum((labels.count(x) / len(labels)) ** 2 for x in set(labels))
            for level in range(3):
                for label in sorted({path[level] for path in paths}):
                    here = PATHS[row[-1]][level] == label
                    unit = math.sqrt(1.0 / spread) if spread else 0.0
                    coordinates.append(unit if here else 0.0)
        return coordinates

    def distance(self, one: list[float], other: list[float]) -> float:
        return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))

    def mean(self) -> list[float]:
        every = [self.points[row] for row in self.left]
        return [sum(column) / len(every) for column in zip(*every, strict=True)]

    def group(self, around: tuple) -> frozenset[tuple]:
        here = self.points[around]
        near = sorted(self.left, key=lambda row: self.distance(self.points[row], here))[: self.k]
        self.left = [row for row in self.left if row not in near]
        return frozenset(near)

    def run(self) -> set[frozenset[tuple]]:
        found = set()
        while len(self.left) >= 2 * self.k:
            n, centre = len(self.left), self.mean()
            far = max(self.left, key=lambda row: self.distance(self.points[row], centre))
            other = max(
                self.left, key=lambda row: self.distance(self.points[row], self.points[far])
            )
            found.add(self.group(far))
            if n >= 3 * self.k:
                found.add(self.group(other))
        return {*found, frozenset(self.left)} if self.left else found


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 45),
    columns=st.integers(1, 3),
    k=st.integers(2, 6),
    weight=st.sampled_from([1.0, 0.25, 3.0]),
)
def test_groups_of_numbers_are_those_of_the_textbook(seed, n, columns, k, weight):
    # No two distances are equal, so there is one answer.
    draws = np.random.default_rng(seed).normal(size=(n, columns))
    rows = [tuple(map(float, row)) for row in draws]
    problem = problem_of(rows, k, weight=weight)
    found = groups_of(problem, Mdav().run(problem))
    assert found == Textbook(rows, k, weight=weight, tree=False).run()


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(("n", "k"), [(700, 3), (900, 20)])
def test_groups_among_many_are_those_of_the_textbook(n, k):
    # Enough that the nearest are looked for part by part.
    draws = np.random.default_rng(n).normal(size=(n, 2))
    rows = [tuple(map(float, row)) for row in draws]
    problem = problem_of(rows, k)
    found = groups_of(problem, Mdav().run(problem))
    assert found == Textbook(rows, k, weight=1.0, tree=False).run()


@given(
    away=st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 9.0]), min_size=1, max_size=900),
    size=st.integers(1, 40),
)
def test_as_many_points_as_asked_for_are_within_the_bound(away, size):
    if len(away) < size:
        return
    distances = np.array(away)
    assert np.count_nonzero(distances <= _bound(distances, size)) >= size


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), k=st.integers(2, 5))
def test_groups_of_numbers_and_trees_are_those_of_the_textbook(seed, n, k):
    rng = np.random.default_rng(seed)
    leaves = rng.choice(list(PATHS), n).tolist()
    rows = [(float(x), leaf) for x, leaf in zip(rng.normal(size=n), leaves, strict=True)]
    problem = problem_of(rows, k, tree=TREE)
    found = groups_of(problem, Mdav().run(problem))
    assert found == Textbook(rows, k, weight=1.0, tree=True).run()


NUMBERS = st.sampled_from([-7, 0, 1, 2, 5, 8, 13, 40])


@given(
    rows=st.lists(st.tuples(NUMBERS, NUMBERS | st.none()), min_size=1, max_size=40),
    k=st.integers(2, 6),
)
def test_equal_rows_stay_together_and_groups_are_no_larger_than_they_must_be(rows, k):
    problem = problem_of(rows, k)
    partition = Mdav().run(problem)
    groups = groups_of(problem, partition)
    assert not any(one & other for one, other in itertools.combinations(groups, 2))
    assert partition.rows.sum() == len(rows)
    if len(rows) >= k:
        assert partition.sizes.min() >= k
    heaviest = max(rows.count(row) for row in rows)
    # The last group is of fewer than two; what is left over joins another one.
    assert partition.sizes.max() < 3 * k + 2 * heaviest


@given(seed=st.integers(0, 99), n=st.integers(150, 400))
@settings(max_examples=10)
def test_blocks_are_grouped_each_by_itself(seed, n):
    draws = np.random.default_rng(seed).normal(size=(n, 2))
    problem = problem_of([tuple(map(float, row)) for row in draws], 3)
    partition = Mdav(block=100).run(problem)
    assert partition.sizes.min() >= 3
    assert partition.rows.sum() == n


def test_groups_may_be_larger_than_models_need():
    rows = [(float(x),) for x in np.random.default_rng(2).normal(size=20)]
    problem = problem_of(rows, 2)
    assert groups_of(problem, Mdav(size=5).run(problem)) == groups_of(
        problem_of(rows, 5), Mdav().run(problem_of(rows, 5))
    )


@pytest.mark.parametrize("model", [DistinctLDiversity("ill", 2), TCloseness("ill", 0.4)])
def test_groups_that_break_a_model_are_formed_again(model):
    rng = np.random.default_rng(1)
    ages = rng.integers(20, 80, 60)
    rows = [(int(age), "flu" if age < 50 else "hiv") for age in ages]
    table = pa.table({"age": [age for age, _ in rows], "ill": [ill for _, ill in rows]})
    policy = sf.Policy(
        columns={"age": {"role": "quasi-identifier", "as": "mean"}, "ill": "sensitive"},
        models=[KAnonymity(3), model],
    )
    release = sf.anonymize(table, policy, method="mdav")
    assert release.verdict.holds
    assert release.suppressed == 0


def test_numbers_stay_numbers():
    table = pa.table({"age": [20, 21, 22, 60, 61, 65], "ill": ["a", "b", "c", "d", "e", "f"]})
    policy = sf.Policy(
        columns={"age": {"role": "quasi-identifier", "as": "mean"}, "ill": "sensitive"},
        models=[KAnonymity(3)],
    )
    release = sf.anonymize(table, policy, method="mdav")
    assert sorted(release.table["age"].to_pylist()) == [21, 21, 21, 62, 62, 62]


@pytest.mark.parametrize("given_", [{"size": 0}, {"block": 1}, {"exact_bounds": 1}, {"size": "3"}])
def test_settings_that_make_no_sense_are_refused(given_):
    with pytest.raises(ParameterError):
        Mdav(**given_)
