"""Exhaustive search: check every node. The oracle the other searches are compared with."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from sfumato.dataclasses import dataclass
from sfumato.recoding import is_below
from sfumato.search.base import NOTHING_YET, Checker, Found, Search
from sfumato.typing import Node


@dataclass(frozen=True)
class Exhaustive(Search):
    """Checks all nodes and infers nothing, so it cannot be wrong about what follows from what.

    Among nodes of equal loss the first in lexicographic order wins. Use it on small
    lattices: its cost is the number of nodes. More than a million are refused unless it has
    a budget; if that runs out before a valid node was met, the most general one is taken.
    """

    name: ClassVar[str] = "exhaustive"
    exact: ClassVar[bool] = True

    @property
    def finds_all(self) -> bool:
        return True

    def run(self, checker: Checker) -> Iterator[Found]:
        self.refuse_endless(checker.lattice)
        budget = self.budget()
        best = NOTHING_YET
        passing: list[Node] = []
        complete, rest = True, math.inf
        for node in checker.lattice:
            if budget.is_spent(checker.checks):
                complete, rest = False, _least_from(checker, node)
                break
            outcome = checker.check(node)
            if outcome.valid:
                passing.append(node)
            if outcome.valid and outcome.loss < best.loss:
                best = Found(node, outcome.loss, outcome.suppressed, checker.checks)
                yield best
        if not complete and best.node is None:
            # It begins at the bottom, where nothing is valid yet.
            outcome = checker.check(checker.lattice.highest)
            if outcome.valid:
                best = Found(outcome.node, outcome.loss, outcome.suppressed, checker.checks)
        yield replace(
            best,
            checks=checker.checks,
            proven=complete,
            finished=True,
            bound=min(best.loss, rest),
            minimal=minimal_of(passing) if complete else None,
            passing=tuple(passing) if complete else None,
        )


def _least_from(checker: Checker, node: Node) -> float:
    """Return a floor of a node and all after it in lexicographic order."""
    lowest, highest = checker.lattice.lowest, checker.lattice.highest
    after = [
        (*node[:i], node[i] + 1, *lowest[i + 1 :]) for i in range(len(node)) if node[i] < highest[i]
    ]
    # Floors do not fall upwards, so the lowest node of each part is enough.
    return min(checker.loss.floor(each) for each in (node, *after))


def minimal_of(nodes: list[Node]) -> tuple[Node, ...]:
    """Keep the nodes that have no other of them below.

    >>> minimal_of([(0, 1), (1, 1), (1, 0)])
    ((0, 1), (1, 0))
    """
    kept: list[Node] = []
    # By height: whatever lies below a node comes before it.
    for node in sorted(nodes, key=lambda node: (sum(node), node)):
        if not any(is_below(other, node) for other in kept):
            kept.append(node)
    return tuple(sorted(kept))
