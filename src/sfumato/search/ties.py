"""Among nodes that lose the same, the least general one."""

from dataclasses import replace

from sfumato.search.base import Found
from sfumato.search.checker import Checker
from sfumato.typing import Node


def step_down(checker: Checker, found: Found) -> Found:
    """Lower levels for as long as nothing is lost by it.

    A column that is constant, or values that no other value of the data shares a group
    with, lose nothing when generalised; a search that only looks at the loss may lift
    them for no reason. Attributes are tried in order, so the result is always the same.
    """
    while found.node is not None:
        lower = _equally_good(checker, found.node, found.loss)
        if lower is None:
            return replace(found, checks=checker.checks)
        found = replace(found, node=lower.node, loss=lower.loss, suppressed=lower.suppressed)
    return found


def _equally_good(checker: Checker, node: Node, loss: float) -> Found | None:
    slack = 1e-12 * max(1.0, abs(loss))
    floor = checker.loss.floor(node)
    for lower in checker.lattice.below(node):
        # Where generalising did cost something, the search has looked already.
        if checker.loss.floor(lower) < floor - slack:
            continue
        outcome = checker.check(lower)
        if outcome.valid and outcome.loss <= loss + slack:
            return Found(lower, outcome.loss, outcome.suppressed, checker.checks)
    return None
