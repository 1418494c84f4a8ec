"""Checking a node: fast grouping against the definition by hand."""

from copy import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.losses import LOSSES
from sfumato.search.pairs import look_at_pairs
from tests.search.problems import Problem, literal_left, problems


def any_node(data, checker):
    return tuple(
        data.draw(st.integers(low, high))
        for low, high in zip(checker.lattice.lowest, checker.lattice.highest, strict=True)
    )


@pytest.mark.usefixtures("patience")
@given(problem=problems(), data=st.data())
def test_a_node_suppresses_what_the_definition_suppresses(problem: Problem, data):
    checker = problem.checker()
    # Several checks of one checker: roll-ups from cached nodes must not change anything.
    for _ in range(4):
        node = any_node(data, checker)
        outcome = checker.evaluate(node)
        left = literal_left(problem, checker, node)
        assert outcome.suppressed == checker.total - len(left)
        assert outcome.valid == (outcome.suppressed <= checker.limit)


@given(problem=problems(), data=st.data())
def test_what_a_check_concludes_about_other_nodes_is_true(problem: Problem, data):
    checker = problem.checker()
    node = any_node(data, checker)
    outcome = checker.check(node)
    other = any_node(data, checker)
    lower = tuple(min(a, b) for a, b in zip(node, other, strict=True))
    upper = tuple(max(a, b) for a, b in zip(node, other, strict=True))
    if outcome.hopeless:
        assert not checker.check(lower).valid
    if checker.valid_above(outcome):
        assert checker.check(upper).valid
    assert checker.evaluate(lower).suppressed >= outcome.certain


@pytest.mark.usefixtures("patience")
@given(problem=problems(), data=st.data())
def test_floors_are_below_the_losses(problem: Problem, data):
    checker = problem.checker()
    node, other = any_node(data, checker), any_node(data, checker)
    lower = tuple(min(a, b) for a, b in zip(node, other, strict=True))
    upper = tuple(max(a, b) for a, b in zip(node, other, strict=True))
    for name in LOSSES:
        loss = LOSSES[name].example().over(checker.attributes, checker.total)
        outcome = checker.evaluate(node)
        at_lower, at_upper = checker.evaluate(lower), checker.evaluate(upper)
        tolerance = 1e-9 * (1 + abs(loss.of(at_lower.judged)))
        assert loss.floor(node) <= loss.of(outcome.judged) + tolerance
        grid = loss.floors_below(outcome.sure, checker.lattice.lowest)
        if grid is not None:
            assert grid[lower] <= loss.of(at_lower.judged) + tolerance
        assert loss.floor_below(outcome.sure) <= loss.of(at_lower.judged) + tolerance
        over = loss.floor_above(outcome.judged)
        if over is not None:
            assert over <= loss.of(at_upper.judged) + tolerance


@given(problem=problems(), data=st.data())
def test_floors_from_both_sides_are_below_the_losses(problem: Problem, data):
    """What rows that stay lost add to a floor from below is lost indeed."""
    checker = problem.checker()
    nodes = zip(*(any_node(data, checker) for _ in range(3)), strict=True)
    lower, node, upper = zip(*map(sorted, nodes), strict=True)
    outcome = checker.evaluate(node)
    if not outcome.valid:
        return
    fine, coarse = checker.evaluate(lower), checker.evaluate(upper)
    for name in LOSSES:
        loss = LOSSES[name].example().over(checker.attributes, checker.total)
        unit = loss.lift_per_row(checker.total, checker.row_limit, checker.smallest)
        floor = (loss.floor_above(fine.sure) or 0.0) + unit * coarse.sure.suppressed
        assert floor <= loss.of(outcome.judged) * (1 + 1e-9) + 1e-9


@given(problem=problems())
def test_nodes_that_pairs_of_columns_give_up_are_not_valid(problem: Problem):
    checker = problem.checker()
    pairs = look_at_pairs(checker)
    if pairs is None:
        return
    lattice = checker.lattice
    marked = pairs.hopeless.reshape(lattice.shape)
    for node in lattice:
        place = tuple(level - low for level, low in zip(node, lattice.lowest, strict=True))
        assert not (marked[place] and checker.check(node).valid)
    for node, rows in pairs.seen:
        assert checker.evaluate(node).certain >= rows


@given(problem=problems(), data=st.data())
def test_the_suppressed_classes_are_those_that_are_gone(problem: Problem, data):
    checker = problem.checker()
    node = any_node(data, checker)
    outcome = checker.evaluate(node)
    gone = {
        tuple(
            ladder.labels[level][code]
            for ladder, level, code in zip(checker.grouping.ladders, node, codes, strict=True)
        )
        for codes in checker.suppressed_classes(outcome)
    }
    left = {row[:3] for row in literal_left(problem, checker, node)}
    everything = {row[:3] for row in literal_left(problem_without_models(problem), checker, node)}
    assert gone == everything - left


def problem_without_models(problem: Problem) -> Problem:
    policy = copy(problem.policy)
    object.__setattr__(policy, "models", ())  # which no policy file may say
    return Problem(problem.rows, policy)


@given(problem=problems(models=None, missing=["own-value"]))
def test_the_published_classes_keep_every_model(problem: Problem):
    checker = problem.checker()
    outcome = checker.evaluate(checker.lattice.highest)
    left = checker.left(outcome)
    assert all(model.passes(left).all() for model in problem.policy.models)
    assert left.total == checker.total - outcome.suppressed
