"""What every search must keep, with the exhaustive one as the judge."""

from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.search import SEARCHES, BestFirst, Exhaustive, best_first
from tests.search.problems import Problem, problems

every_search = pytest.mark.parametrize("search", [kind() for kind in SEARCHES.values()], ids=str)


def test_the_registry_names_each_search():
    assert all(kind.name == name for name, kind in SEARCHES.items())


@pytest.mark.usefixtures("patience")
@every_search
@given(problem=problems())
def test_it_finds_the_least_loss(search, problem: Problem):
    *_, truth = Exhaustive().run(problem.checker())
    *_, found = search.run(problem.checker())
    assert found.finished
    assert (found.node is None) == (truth.node is None)
    if found.proven and truth.node is not None:
        assert found.loss == pytest.approx(truth.loss, rel=1e-9, abs=1e-9)
    if search.exact:
        assert found.proven


@pytest.mark.usefixtures("patience")
@every_search
@given(problem=problems())
def test_it_only_ever_improves_and_every_step_is_valid(search, problem: Problem):
    checker = problem.checker()
    last = float("inf")
    for found in search.run(checker):
        assert found.loss <= last
        last = found.loss
        if found.node is not None:
            outcome = checker.evaluate(found.node)
            assert outcome.valid
            assert outcome.loss == pytest.approx(found.loss)
            assert outcome.suppressed == found.suppressed


@pytest.mark.usefixtures("patience")
@every_search
@given(problem=problems(), budget=st.integers(1, 6))
def test_a_budget_is_kept_and_still_gives_a_valid_node(search, problem: Problem, budget):
    checker = problem.checker()
    *_, found = replace(search, checks=budget).run(checker)
    assert found.checks <= budget + 1
    *_, truth = Exhaustive().run(problem.checker())
    if found.proven:
        assert found.loss == pytest.approx(truth.loss)
    if problem.checker().check(checker.lattice.highest).valid and search.name != "exhaustive":
        assert found.node is not None


@pytest.mark.usefixtures("patience")
@every_search
@given(problem=problems(), budget=st.integers(1, 40))
def test_no_valid_node_is_below_the_bound(search, problem: Problem, budget):
    *_, truth = Exhaustive().run(problem.checker())
    for found in replace(search, checks=budget).run(problem.checker()):
        assert found.bound <= truth.loss + 1e-9 * max(1.0, abs(truth.loss))
        assert found.bound <= found.loss
        if found.proven:
            assert found.bound == found.loss
            assert found.excess == 0.0
        elif found.excess is not None:
            assert found.loss <= truth.loss * (1.0 + found.excess) * (1.0 + 1e-9)


@pytest.mark.usefixtures("patience")
@given(problem=problems(), budget=st.none() | st.integers(1, 40))
def test_a_lattice_that_is_not_held_has_the_same_optimum(problem: Problem, budget):
    *_, truth = Exhaustive().run(problem.checker())
    with patch.object(best_first, "_DENSE_NODES", 0):
        steps = list(BestFirst(checks=budget).run(problem.checker()))
    found = steps[-1]
    assert found.finished
    assert found.proven or budget is not None
    for step in steps:
        assert step.bound <= truth.loss + 1e-9 * max(1.0, abs(truth.loss))
        assert step.bound <= step.loss
    if found.proven:
        assert (found.node is None) == (truth.node is None)
        assert found.bound == found.loss
        if truth.node is not None:
            assert found.loss == pytest.approx(truth.loss, rel=1e-9, abs=1e-9)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", ["incognito", "best-first"])
@given(problem=problems())
def test_all_minimal_and_all_valid_nodes_are_found(name, problem: Problem):
    search = BestFirst(all_minimal=True) if name == "best-first" else SEARCHES[name]()
    *_, truth = Exhaustive().run(problem.checker())
    *_, found = search.run(problem.checker())
    assert found.minimal == truth.minimal
    assert found.passing == truth.passing


@pytest.mark.usefixtures("patience")
@given(problem=problems())
def test_a_lattice_limited_by_the_policy_is_not_left(problem: Problem):
    columns = dict(problem.policy.columns)
    columns["digit"] = columns["digit"].replace(levels=(1, 2))
    policy = problem.policy.replace(columns=columns)
    for kind in SEARCHES.values():
        *_, found = kind().run(Problem(problem.rows, policy).checker())
        assert found.node is None or 1 <= found.node[1] <= 2
