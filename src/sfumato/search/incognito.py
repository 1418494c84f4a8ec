"""Incognito: all minimal nodes, subset by subset of the quasi-identifiers."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import ClassVar

from sfumato.dataclasses import dataclass
from sfumato.search.base import NOTHING_YET, Budget, Checker, Found, Search
from sfumato.search.exhaustive import minimal_of
from sfumato.typing import Node


@dataclass(frozen=True)
class Incognito(Search):
    """Finds every valid node, and so all minimal ones, then the one of least loss.

    Breadth-first and bottom-up over subsets of the quasi-identifiers of growing size.
    A valid node makes everything above it valid; a node that is hopeless for a subset
    is hopeless for every larger set, so it never becomes a candidate there. Both
    conclusions are drawn only where the models allow them. Frequency sets come by
    rolling up finer ones, never by counting again. A lattice of more than a million nodes is
    refused unless there is a budget.

    Reference: "Incognito: efficient full-domain k-anonymity", 2005,
    doi:10.1145/1066157.1066164
    """

    name: ClassVar[str] = "incognito"
    exact: ClassVar[bool] = True

    @property
    def finds_all(self) -> bool:
        return True

    def run(self, checker: Checker) -> Iterator[Found]:
        self.refuse_endless(checker.lattice)
        budget = self.budget()
        run = _Run(checker, budget)
        passing = run.all_subsets()
        best = NOTHING_YET
        if passing is None:  # the budget ran out: nothing is known of the full set yet
            outcome = checker.check(checker.lattice.highest)
            if outcome.valid:
                best = Found(outcome.node, outcome.loss, outcome.suppressed, checker.checks)
                yield best
            bound = min(best.loss, checker.loss.floor(checker.lattice.lowest))
            yield replace(best, checks=checker.checks, finished=True, bound=bound)
            return
        # Cheapest floor first, so that most valid nodes never need their exact loss.
        complete, rest = True, math.inf
        for floor, node in sorted((checker.loss.floor(node), node) for node in passing):
            if floor >= best.loss:
                break
            if budget.is_spent(checker.checks):
                complete, rest = False, floor
                break
            if node not in run.losses:
                checked = checker.check(node)
                run.losses[node] = (checked.loss, checked.suppressed)
            loss, suppressed = run.losses[node]
            if loss < best.loss:
                best = Found(node, loss, suppressed, checker.checks)
                yield best
        yield replace(
            best,
            checks=checker.checks,
            proven=complete,
            finished=True,
            bound=min(best.loss, rest),
            minimal=minimal_of(passing),
            passing=tuple(passing),
        )


def candidates_of(checker: Checker) -> dict[tuple[int, ...], dict[Node, bool]]:
    """Return the nodes that are looked at for each set of attributes, and whether they are judged.

    The sets come in the order in which they are gone through, the smaller ones first. Nodes that
    are not there were ruled out by a smaller set. Those that are there and not judged are valid
    because a node below them is.
    """
    run = _Run(checker, Budget())
    run.all_subsets()
    return run.candidates


class _Run:
    """One run: the candidates of each subset and what became of them."""

    def __init__(self, checker: Checker, budget: Budget) -> None:
        self._checker = checker
        self._budget = budget
        self._tops = tuple(ladder.height for ladder in checker.grouping.ladders)
        self.losses: dict[Node, tuple[float, int]] = {}
        """Loss and suppressed rows of nodes of the full set that were checked."""

        self.candidates: dict[tuple[int, ...], dict[Node, bool]] = {}
        """The candidates of each subset, and whether each was checked."""

    def all_subsets(self) -> list[Node] | None:
        """Return the valid nodes of the full set in lexicographic order; None if time ran out."""
        n = len(self._tops)
        survivors: dict[tuple[int, ...], set[Node]] = {(): {()}}
        valid: set[Node] = set()
        for size in range(1, n + 1):
            following: dict[tuple[int, ...], set[Node]] = {}
            for subset in combinations(range(n), size):
                candidates = self._candidates(subset, survivors)
                judged = self._breadth_first(subset, candidates)
                if judged is None:
                    return None
                following[subset], valid = judged
            survivors = following
        return sorted(valid)

    def _candidates(
        self, subset: tuple[int, ...], survivors: dict[tuple[int, ...], set[Node]]
    ) -> list[Node]:
        """Join: keep the nodes none of whose projections was found hopeless."""
        lattice = self._checker.lattice
        ranges = [range(lattice.lowest[a], lattice.highest[a] + 1) for a in subset]
        smaller = [
            (leave, survivors[subset[:leave] + subset[leave + 1 :]]) for leave in range(len(subset))
        ]
        # Extending what survived without the last attribute looks at no more than it must.
        extended = ((*head, level) for head, level in product(sorted(smaller[-1][1]), ranges[-1]))
        nodes = [
            node
            for node in extended
            if all(node[:leave] + node[leave + 1 :] in kept for leave, kept in smaller[:-1])
        ]
        return sorted(nodes, key=lambda node: (sum(node), node))

    def _breadth_first(
        self, subset: tuple[int, ...], candidates: list[Node]
    ) -> tuple[set[Node], set[Node]] | None:
        """Judge a subset's candidates bottom-up; return those not hopeless, and those valid."""
        checker = self._checker
        known_valid: set[Node] = set()
        alive: set[Node] = set()
        valid: set[Node] = set()
        checked = self.candidates[subset] = {}
        for node in candidates:
            checked[node] = node not in known_valid
            if node in known_valid:
                self._mark_above(node, subset, known_valid)
                alive.add(node)
                valid.add(node)
                continue
            if self._budget.is_spent(checker.checks):
                return None
            outcome = checker.check(with_top(node, subset, self._tops))
            if not outcome.hopeless:
                alive.add(node)
            if outcome.valid:
                valid.add(node)
                if len(subset) == len(self._tops):
                    self.losses[node] = (outcome.loss, outcome.suppressed)
            if checker.valid_above(outcome):
                self._mark_above(node, subset, known_valid)
        return alive, valid

    def _mark_above(self, node: Node, subset: tuple[int, ...], known_valid: set[Node]) -> None:
        highest = self._checker.lattice.highest
        for i, attribute in enumerate(subset):
            if node[i] < highest[attribute]:
                known_valid.add((*node[:i], node[i] + 1, *node[i + 1 :]))


def with_top(node: Node, subset: tuple[int, ...], tops: Node) -> Node:
    """Return a node of all attributes: those outside the subset are at their single top value.

    >>> with_top((1,), (2,), (3, 2, 1))
    (3, 2, 1)
    >>> with_top((0, 0), (0, 2), (3, 2, 1))
    (0, 2, 0)
    """
    levels = list(tops)
    for attribute, level in zip(subset, node, strict=True):
        levels[attribute] = level
    return tuple(levels)
