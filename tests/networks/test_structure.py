"""Structure learners: the worked table, their definitions, order, constraints."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError, UnknownColumnError
from sfumato.networks import LEARNERS, Constraints, InductiveCausation, Network, WekaIcs
from sfumato.networks.ic import Pattern, close, compelled_arrows, unshielded_triples
from sfumato.networks.network import Learner
from tests.networks import literal_structure as literal
from tests.networks.worked import COLUMNS, QUASI, SENSITIVE, TABLE


def random_table(seed: int, *, most_rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Make columns of which some follow earlier ones: codes[c, i], and their sizes."""
    rng = np.random.default_rng(seed)
    columns, rows = int(rng.integers(2, 6)), int(rng.integers(5, most_rows))
    sizes = rng.integers(2, 5, columns)
    codes = rng.integers(0, sizes[:, None], (columns, rows))
    for c in range(1, columns):
        parents = rng.choice(c, min(c, int(rng.integers(0, 3))), replace=False)
        if len(parents):
            follows = rng.random(rows) < rng.uniform(0.2, 1)
            codes[c] = np.where(follows, codes[parents].sum(axis=0) % sizes[c], codes[c])
    order = rng.permutation(columns)
    return codes[order], sizes[order]


def counted(codes: np.ndarray, sizes: np.ndarray, names: list[str] | None = None) -> FrequencySet:
    names = names or [f"c{i}" for i in range(len(codes))]
    ones = np.ones(codes.shape[1], dtype=np.int64)
    return FrequencySet.from_codes(names, [list(range(s)) for s in sizes], codes, ones)


def arrows(network: Network) -> set[tuple[int, int]]:
    return {(int(a[1:]), int(b[1:])) for a, b in network.edges}


@pytest.mark.parametrize("learner", [InductiveCausation(), WekaIcs()])
@pytest.mark.parametrize("expected", [QUASI, SENSITIVE])
def test_the_worked_table_gives_the_published_networks(learner, expected):
    assert learner.learn(TABLE.project(expected.columns)).network.edges == expected.edges


@pytest.mark.parametrize("learner", [InductiveCausation(), WekaIcs()])
def test_on_the_whole_worked_table_ties_make_government_depend_on_three(learner):
    learned = learner.learn(TABLE)
    assert learned.network.parents == {
        "Age": (),
        "Gender": ("Zipcode",),
        "Zipcode": ("Age",),
        "Government": ("Zipcode", "Marital-Status", "Salary"),
        "Marital-Status": (),
        "Salary": ("Marital-Status",),
    }
    assert learned.network.chosen == {
        ("Age", "Zipcode"),
        ("Zipcode", "Gender"),
        ("Marital-Status", "Salary"),
    }
    assert learned.separators["Age", "Gender"] == ("Zipcode",)
    assert not learned.cycles


def test_columns_that_are_copies_stay_together():
    rows = [(i % 3, i % 3, i % 3, i % 3, i % 2) for i in range(60)]
    for order in permutations("abcd"):
        learned = InductiveCausation().learn(FrequencySet.from_rows([*order, "x"], rows))
        joined = learned.network
        assert len(joined.edges) == 3
        assert {c for edge in joined.edges for c in edge} == set("abcd")


@pytest.mark.parametrize("seed", range(10))
def test_ic_has_no_circle_and_does_not_depend_on_column_order(seed, some):
    for table in range(seed * 100, seed * 100 + some(20, of=100)):
        codes, sizes = random_table(table, most_rows=100)
        rng = np.random.default_rng(table)
        names = [f"c{i}" for i in range(len(codes))]
        test = "g2" if table % 4 == 3 else "score"
        learner = InductiveCausation(test=test)
        learned = learner.learn(counted(codes, sizes))
        assert learned.network.acyclic
        order = rng.permutation(len(codes))
        moved = learner.learn(counted(codes[order], sizes[order], [names[i] for i in order]))
        assert set(moved.network.edges) == set(learned.network.edges)
        assert moved.network.chosen == learned.network.chosen
        assert moved.separators == learned.separators


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "seed",
    [*range(30), *(pytest.param(s, marks=pytest.mark.thorough) for s in range(30, 120))],
)
def test_learners_do_what_is_written(seed):
    codes, sizes = random_table(seed)
    counts = counted(codes, sizes)
    rows = [tuple(row) for row in codes.T.tolist()]
    assert arrows(WekaIcs().learn(counts).network) == literal.weka_ics(rows, sizes)
    assert arrows(InductiveCausation().learn(counts).network) == literal.ic(rows, sizes)


@given(st.integers(0, 10_000))
def test_rows_counted_once_or_many_times_are_the_same_table(seed):
    codes, sizes = random_table(seed, most_rows=40)
    counts = counted(codes, sizes)
    repeated = FrequencySet(
        counts.columns, np.repeat(counts.codes, counts.rows, axis=1), np.ones(counts.total, int)
    )
    for learner in (InductiveCausation(), WekaIcs()):
        assert learner.learn(counts) == learner.learn(repeated)


def test_weka_ics_reports_its_cycles():
    cyclic = 0
    for seed in range(60):
        learned = WekaIcs().learn(counted(*random_table(seed)))
        assert learned.network.acyclic == (not learned.cycles)
        for group in learned.cycles:
            assert all(set(learned.network.parents[c]) & set(group) for c in group)
        cyclic += bool(learned.cycles)
    assert cyclic


def test_weka_ics_knows_no_constraints():
    with pytest.raises(ParameterError, match="learner 'ic' keeps them"):
        WekaIcs().learn(TABLE, Constraints(required=[("Age", "Gender")]))


def test_missing_is_a_value():
    rows = [(None, 1), (None, 1), ("x", 2), ("x", 2)] * 5
    assert InductiveCausation().learn(FrequencySet.from_rows("ab", rows)).network.edges


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("rows", [[], [("x", 1)], [("x", 1)] * 9])
def test_tables_that_tell_nothing_have_no_edges(name, rows):
    learner = LEARNERS[name].example()
    assert learner.learn(FrequencySet.from_rows("ab", rows)).network.edges == ()
    assert learner.learn(FrequencySet.from_rows("a", [row[:1] for row in rows])).tests == 0


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_is_a_value_with_settings(name):
    kind = LEARNERS[name]
    learner = kind.example()
    assert isinstance(learner, Learner)
    assert kind(**learner.params()) == learner
    assert kind.name == name
    assert learner.learn(TABLE).network.columns == COLUMNS
    if kind.acyclic:
        assert learner.learn(TABLE).network.acyclic


@pytest.mark.parametrize("learner", [InductiveCausation(), WekaIcs()])
def test_progress_rises_to_what_there_is(learner):
    seen = []
    learner.learn(TABLE, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert seen[-1][0] == seen[-1][1]


def test_settings_that_make_no_sense_are_refused():
    for wrong in (
        {"test": "chi"},
        {"significance": 0.05},
        {"test": "g2", "significance": 2},
        {"most_given": -1},
    ):
        with pytest.raises(ParameterError):
            InductiveCausation(**wrong)
    with pytest.raises(ParameterError):
        WekaIcs(most_given=-1)


CHAIN = FrequencySet.from_rows(
    "abc",
    [(i // 4 % 2, (i // 4 + (i % 8 == 0)) % 2, (i // 4 + (i % 7 == 0)) % 2) for i in range(99)],
)


def test_required_and_forbidden_edges_are_kept():
    free = InductiveCausation().learn(CHAIN).network
    assert ("a", "b") in free.edges
    turned = InductiveCausation().learn(CHAIN, Constraints(forbidden=[("a", "b")])).network
    assert ("b", "a") in turned.edges
    assert ("b", "a") not in turned.chosen
    both = Constraints(forbidden=[("a", "b"), ("b", "a")])
    without = InductiveCausation().learn(CHAIN, both)
    assert not {("a", "b"), ("b", "a")} & set(without.network.edges)
    assert ("a", "b") not in without.separators
    noise = FrequencySet.from_rows("ab", [(i % 2, i // 2 % 2) for i in range(40)])
    needed = InductiveCausation().learn(noise, Constraints(required=[("b", "a")]))
    assert needed.network.edges == (("b", "a"),)


@given(st.integers(0, 10_000))
def test_random_constraints_are_kept_and_no_circle_is_made(seed):
    codes, sizes = random_table(seed)
    names = [f"c{i}" for i in range(len(codes))]
    rng = np.random.default_rng(seed)
    pairs = list(permutations(names, 2))
    forbidden = {pairs[i] for i in rng.choice(len(pairs), len(pairs) // 2, replace=False)}
    order = rng.permutation(names).tolist()
    allowed = [(a, b) for a, b in pairs if order.index(a) < order.index(b)]
    required = [edge for edge in allowed if edge not in forbidden and rng.random() < 0.2]
    constraints = Constraints(forbidden, required)
    learned = InductiveCausation().learn(counted(codes, sizes), constraints)
    edges = set(learned.network.edges)
    assert edges >= set(required)
    assert not edges & forbidden
    assert learned.network.acyclic


def test_tiers_let_no_edge_lead_back():
    tiers = Constraints(tiers=[["Salary"], ["Government", "Marital-Status"], ["Age", "Zipcode"]])
    network = InductiveCausation().learn(TABLE, tiers).network
    tier = {column: i for i, group in enumerate(tiers.tiers) for column in group}
    assert network.edges
    for parent, child in network.edges:
        assert tier.get(parent, 0) <= tier.get(child, 9)


def test_an_edge_without_a_possible_direction_is_dropped_and_told():
    rows = [(i % 2, (i + (i % 5 == 0)) % 2, (i + (i % 7 == 0)) % 2) for i in range(200)]
    counts = FrequencySet.from_rows("abc", rows)
    assert len(InductiveCausation(most_given=0).learn(counts).network.edges) == 3
    circle = Constraints(forbidden=[("b", "a"), ("c", "b"), ("a", "c")])
    learned = InductiveCausation(most_given=0).learn(counts, circle)
    assert len(learned.network.edges) == 2
    assert len(learned.dropped) == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, "not forbidden"),
        ({"required": [("a", "b")], "tiers": [["b"], ["a"]]}, "earlier tier"),
        ({"required": [("a", "b"), ("b", "c"), ("c", "a")]}, "without a circle"),
        ({"required": [("a", "a")]}, "another column"),
        ({"forbidden": ["ab"]}, "pairs of a parent"),
        ({"tiers": [["a"], ["a", "b"]]}, "name a column once"),
    ],
)
def test_contradictory_constraints_are_refused(wrong, says):
    with pytest.raises(ParameterError, match=says):
        Constraints(**wrong)


def test_constraints_on_unknown_columns_are_refused():
    for wrong in ({"tiers": [["Aeg"]]}, {"forbidden": [("Aeg", "Age")]}):
        with pytest.raises(UnknownColumnError, match="Did you mean 'Age'"):
            InductiveCausation().learn(TABLE, Constraints(**wrong))


def equivalents(nodes: int, arrows: set[tuple[int, int]]) -> list[set[tuple[int, int]]]:
    """List the networks with the same edges and the same colliders, trying every direction."""
    skeleton = [tuple(sorted(arrow)) for arrow in arrows]
    every = [
        {(a, b) if keep else (b, a) for (a, b), keep in zip(skeleton, way, strict=True)}
        for way in product([True, False], repeat=len(skeleton))
    ]
    names = [str(i) for i in range(nodes)]
    return [
        other
        for other in every
        if Network.of(names, {(str(a), str(b)) for a, b in other}).acyclic
        and meeting(nodes, other) == meeting(nodes, arrows)
    ]


def meeting(nodes: int, arrows: set[tuple[int, int]]) -> set[tuple[int, int, int]]:
    joined = arrows | {(b, a) for a, b in arrows}
    return {
        (a, c, b)
        for c in range(nodes)
        for a, b in combinations(range(nodes), 2)
        if {(a, c), (b, c)} <= arrows and (a, b) not in joined
    }


@given(st.integers(0, 100_000))
def test_the_rules_find_every_arrow_that_follows_and_no_other(seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(5).tolist()
    pairs = list(combinations(order, 2))
    arrows = {pairs[i] for i in rng.choice(10, int(rng.integers(3, 10)), replace=False)}
    same = equivalents(5, arrows)
    assert compelled_arrows(5, arrows) == set.intersection(*same)
    known = {arrow for arrow in sorted(arrows) if rng.random() < 0.3}
    graph = Pattern(5, arrows)
    for a, b in known:
        graph.orient(a, b)
    for a, c, b in unshielded_triples(graph):
        if {(a, c), (b, c)} <= arrows:
            graph.orient(a, c)
            graph.orient(b, c)
    close(graph)
    assert graph.arrows == set.intersection(*(other for other in same if known <= other))
