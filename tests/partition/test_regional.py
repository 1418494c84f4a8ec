"""Regional recoding: every cut there is, checked one by one, is the judge of the search."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.errors import InfeasibleError
from sfumato.hierarchy import Hierarchy, Masking
from sfumato.losses import LOSSES
from sfumato.losses.base import Cut
from sfumato.models import KAnonymity
from sfumato.policy import Policy
from sfumato.recode.deciding import decide_full_domain, decide_regionally
from sfumato.recode.recoded import recode_counts
from sfumato.recode.regional import ColumnTree, CutLoss
from sfumato.recoding import Lattice
from tests.search.problems import COLUMNS, problems

PATHS = {
    "letter": {"a": ("ab", "*"), "b": ("ab", "*"), "c": ("cd", "*"), "d": ("cd", "*")},
    "digit": {
        "0": ("0-1", "low", "*"),
        "1": ("0-1", "low", "*"),
        "2": ("2", "low", "*"),
        "3": ("high", "high", "*"),
    },
    "shape": {"round": ("*",), "square": ("*",)},
}
"""What is above each value in the trees of the problems."""


def decided(problem, decide=decide_regionally, **changes):
    counts = FrequencySet.from_rows(COLUMNS, problem.rows)
    policy = problem.policy.replace(method={"method": "regional", "rounds": 3}, **changes)
    if decide is decide_full_domain:
        policy = policy.replace(method="full-domain")
    try:
        rng = np.random.default_rng(7)
        return policy, counts, decide(policy, counts, None, lambda checks: None, rng=rng)  # noqa: ARG005
    except InfeasibleError:
        return policy, counts, None


def every_loss(problem):
    """The loss of every choice of one cut per column, checked with ladders made of the cut."""
    checker = problem.checker()
    trees = [
        ColumnTree(ladder, low, high)
        for ladder, low, high in zip(
            checker.grouping.ladders,
            checker.lattice.lowest,
            checker.lattice.highest,
            strict=True,
        )
    ]
    for levels in product(*(literal_cuts(tree) for tree in trees)):
        yield loss_by_rows(problem, trees, levels)


def literal_cuts(tree):
    """All assignments of a level to each value in which values with one label agree on it."""
    n, codes = len(tree.ladder.values), tree.ladder.codes
    choices = range(tree.lowest, tree.highest + 1)
    for levels in product(choices, repeat=n):
        alike = all(
            levels[v] == levels[w]
            for v in range(n)
            for w in range(n)
            if codes[levels[v], v] == codes[levels[v], w]
        )
        cut = np.array(levels, dtype=np.int64)
        if alike and tree.is_clear(cut):
            yield cut


def loss_by_rows(problem, trees, levels):
    """Rewrite the table by the cut, and check it as a table whose only level is that."""
    outcome = outcome_of(problem, trees, levels)
    return outcome.loss if outcome.valid else np.inf


def outcome_of(problem, trees, levels):
    """Check a table whose only level is a cut."""
    checker = problem.checker()
    ladders = tuple(tree.at(each) for tree, each in zip(trees, levels, strict=True))
    zero = (0,) * len(trees)
    checker.grouping = checker.grouping.with_ladders(ladders)
    checker.lattice = Lattice(zero, zero)
    checker.loss = CutLoss(checker.loss, Cut(tuple(levels), ladders))
    return checker.evaluate(zero)


def smaller(problem):
    """The same with few values, so that every cut can be listed."""
    rows = [(a, b if b in ("0", "2", "3") else "0", c, d) for a, b, c, d in problem.rows]
    rows = [(a if a in ("a", "b", "c") else "c", b, c, d) for a, b, c, d in rows]
    return replace(problem, rows=rows)


@pytest.mark.usefixtures("patience")
@settings(max_examples=30, deadline=None)
@given(problem=problems())
def test_it_is_never_worse_than_full_domain_and_says_when_it_is_the_best(problem):
    problem = smaller(problem)
    _, _, whole = decided(problem, decide_full_domain)
    policy, _, regional = decided(problem)
    if whole is None:
        return
    name = policy.loss.name
    assert regional is not None
    if policy.sensitive_blind:
        return
    assert regional.losses[name] <= whole.losses[name] * (1 + 1e-12) + 1e-12


@settings(max_examples=12, deadline=None)
@given(problem=problems())
def test_it_is_the_best_of_all_cuts_where_it_says_so(problem):
    problem = smaller(problem)
    policy, _, found = decided(problem)
    losses = list(every_loss(problem))
    best = min(losses)
    if found is None:
        assert best == np.inf
        return
    loss = found.losses[policy.loss.name]
    assert loss >= best - 1e-9 * max(1, abs(best))
    if found.search["optimal"]:
        assert loss == pytest.approx(best, rel=1e-9, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(problem=problems())
def test_every_value_becomes_one_label_and_no_label_is_above_another(problem):
    policy, counts, found = decided(problem)
    assume(found is not None)
    for column in found.recoding.columns:
        used = {code for code in column.codes.tolist() if code >= 0}
        texts = [column.labels[code] for code in used]
        assert len({str(t) for t in texts if t is not None}) == sum(t is not None for t in texts)
        for value, code in zip(column.values, column.codes.tolist(), strict=True):
            if value is None or code < 0:
                continue
            way = [str(value), *PATHS[column.column][str(value)]]
            met = dict.fromkeys(label for label in way if label in set(map(str, texts)))
            assert list(met) == [str(column.labels[code])]
    published = recode_counts(counts, found.recoding, counts.names, np.random.default_rng(0))
    assert published.total == counts.total - found.suppressed
    assert found.suppressed <= policy.suppression.most_rows(counts.total)


@pytest.mark.usefixtures("patience")
@settings(max_examples=15, deadline=None)
@given(problem=problems(), low=st.integers(0, 1))
def test_levels_of_a_policy_bound_every_label(problem, low):
    columns = dict(problem.policy.columns)
    columns["digit"] = columns["digit"].replace(levels=(low, 2))
    policy, _, found = decided(problem, columns=columns)
    assume(found is not None)
    about = found.columns["digit"]
    at = {about["level"]} if "level" in about else set(np.flatnonzero(about["levels"]).tolist())
    assert at <= set(range(low, 3)) or None in {row[1] for row in problem.rows}
    assert policy.method.name == "regional"


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=10, deadline=None)
@given(problem=problems())
def test_a_cut_at_the_levels_of_a_node_costs_what_the_node_costs(loss, problem):
    """Whatever the loss, suppression included: that is what makes the two comparable."""
    problem = replace(problem, policy=problem.policy.replace(loss=LOSSES[loss].example()))
    checker = problem.checker()
    trees = [ColumnTree(ladder, 0, ladder.height) for ladder in checker.grouping.ladders]
    for node in [checker.lattice.highest, checker.lattice.lowest]:
        expected = checker.evaluate(node)
        levels = [tree.uniform(level) for tree, level in zip(trees, node, strict=True)]
        found = outcome_of(problem, trees, levels)
        assert found.loss == pytest.approx(expected.loss, rel=1e-9, abs=1e-12)
        assert (found.valid, found.suppressed) == (expected.valid, expected.suppressed)


def test_the_number_of_cuts_and_the_list_of_them_agree_with_all_assignments():
    ladder = Masking().ladder("zip", ["100", "101", "110", "200", None])
    for low, high in [(0, 3), (1, 3), (0, 2), (2, 2)]:
        tree = ColumnTree(ladder, low, high)
        listed = {tuple(cut.tolist()) for cut in tree.cuts()}
        assert listed == {tuple(cut.tolist()) for cut in literal_cuts(tree)}
        assert len(listed) == tree.number


def test_labels_that_mean_two_things_stand_only_at_one_level():
    """`north` is a town, and the name of the region that has another one in it."""
    paths = [["north", "*"], ["north", "*"], ["south", "*"]]
    ladder = Hierarchy.from_paths(["north", "hill", "sea"], paths).bind(
        "t", ["north", "hill", "sea"]
    )
    tree = ColumnTree(ladder, 0, 2)
    listed = [cut.tolist() for cut in tree.cuts()]
    assert [0, 0, 1] not in listed
    assert [1, 1, 0] not in listed
    assert listed == [[2, 2, 2], [1, 1, 1], [0, 0, 0]]


def test_a_village_is_coarser_than_a_city():
    """The case that it is for: a rare code does not take the last digits of all others."""
    rows = [("10001",)] * 5 + [("10002",)] * 5 + [("20001",), ("20002",), ("20003",), ("20004",)]
    counts = FrequencySet.from_rows(["zip"], rows)
    policy = Policy(
        columns={"zip": {"role": "quasi-identifier", "hierarchy": "masking"}},
        models=[KAnonymity(4)],
        method="regional",
    )
    found = decide_regionally(policy, counts, None, lambda checks: None)  # noqa: ARG005
    [column] = found.recoding.columns
    assert sorted(set(column.labels)) == ["10001", "10002", "2000*"]
    assert found.search["optimal"]
    assert found.columns["zip"]["cut"] == {"*": {"10001": {}, "10002": {}, "2000*": {}}}
