"""Descent: for lattices too large to hold, go down from the top where it promises most."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato.search.base import NOTHING_YET, Budget, Found, Search
from sfumato.search.checker import Checker, Outcome
from sfumato.search.predictor import Predictor
from sfumato.typing import Node

_DEFAULT_CHECKS = 2000
"""Checks made when nobody set a budget: a lattice this large has no natural end."""


@dataclass(frozen=True)
class Descent(Search):
    """Improves a valid node step by step from the top, by expected improvement.

    Every node one step below a valid one is a candidate. The next to be checked is the
    one that promises most: the chance that it is valid times how much less it would
    lose than the best so far, both guessed from the checks made. A candidate that
    cannot be better itself waits; when nothing promising is left, the search looks
    below those that wait. The result is always valid, and proven optimal if nothing
    was left to look at.
    """

    name: ClassVar[str] = "descent"
    exact: ClassVar[bool] = False

    def run(self, checker: Checker) -> Iterator[Found]:
        budget = self.budget()
        if budget.checks is None and budget.seconds is None:
            budget = Budget(checks=_DEFAULT_CHECKS)
        state = _Frontier(checker)
        best = NOTHING_YET
        node: Node | None = checker.lattice.highest
        while node is not None:
            outcome = checker.check(node)
            if outcome.valid and outcome.loss < best.loss:
                best = Found(node, outcome.loss, outcome.suppressed, checker.checks)
                yield best
            state.learn(outcome, best.loss)
            if budget.spent(checker.checks):
                break
            node = state.choose(best.loss)
        proven = node is None
        yield replace(best, checks=checker.checks, proven=proven, finished=True)


class _Frontier:
    """Candidates below valid nodes, the most promising first."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._guess = Predictor(checker.bits(), rows=checker.total, lowest=checker.lattice.lowest)
        self._heap: list[tuple[float, Node]] = []
        self._seen: set[Node] = {checker.lattice.highest}
        self._hopeless = np.empty((0, len(checker.lattice.highest)), dtype=np.int64)
        top = checker.loss.floor(checker.lattice.highest)
        self._lift_per_row = top / max(checker.total, 1)
        self._waiting: list[tuple[float, Node]] = []
        """Nodes that cannot be better themselves, though something below them may."""

    def learn(self, outcome: Outcome, best: float) -> None:
        """Take in a check, and put the nodes below a valid (or not hopeless) one in line."""
        self._guess.learn(outcome.node, outcome.suppressed)
        if outcome.hopeless:
            self._hopeless = np.vstack([self._hopeless, np.array(outcome.node)])
            return
        self._line_up(outcome.node, best)

    def _line_up(self, above: Node, best: float) -> None:
        for node in self._checker.lattice.below(above):
            if node not in self._seen:
                self._seen.add(node)
                heapq.heappush(self._heap, (-self._promise(node, best), node))

    def choose(self, best: float) -> Node | None:
        """Take the most promising candidate; stale promises are renewed before they count."""
        while self._heap or self._waiting:
            if not self._heap:
                _, node = heapq.heappop(self._waiting)
                self._line_up(node, best)
                continue
            old, node = heapq.heappop(self._heap)
            if (np.array(node) <= self._hopeless).all(axis=1).any():
                continue
            promise = self._promise(node, best)
            if promise <= 0.0:
                heapq.heappush(self._waiting, (self._checker.loss.floor(node), node))
            elif self._heap and promise < -0.9 * self._heap[0][0] and promise < -0.9 * old:
                heapq.heappush(self._heap, (-promise, node))
            else:
                return node
        return None

    def _promise(self, node: Node, best: float) -> float:
        limit = self._checker.limit
        guess = self._guess.of(node)
        odds = np.clip((guess - np.log1p(limit)) * (1.7 / self._guess.spread), -30, 30)
        expected = min(float(np.expm1(min(guess, 50.0))), float(limit))
        loss = self._checker.loss.floor(node) + self._lift_per_row * max(expected, 0.0)
        chance = 1.0 / (1.0 + np.exp(odds))
        if not np.isfinite(best):
            return float(chance / (1.0 + loss))
        # The floor alone says whether it can be better at all; the guess only how likely.
        if self._checker.loss.floor(node) >= best:
            return 0.0
        return float(chance * max(best - loss, 1e-6 * abs(best)))
