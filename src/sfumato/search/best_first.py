"""Best-first search: the optimum with few checks, and a proof that it is one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato.losses.base import ClassLossFunction
from sfumato.search.base import NOTHING_YET, Found, Search
from sfumato.search.boxes import BoxCounter, above, below
from sfumato.search.checker import Checker, Outcome
from sfumato.search.descent import Descent
from sfumato.search.minimal import Boundary
from sfumato.search.predictor import Predictor, chance
from sfumato.typing import BoolArray, Node

_DENSE_NODES = 300_000
"""Lattices up to this size are kept whole in memory, one number per node."""

_TYPICAL_SHARE = 0.7
"""A valid node near the boundary suppresses about this share of what it may."""

_LIFT_TRUST = 0.7
"""How far to trust the estimate of what lifted floors settle."""

_NODES_PER_CHOICE = 50_000
"""Scoring costs more than a check in a lattice larger than this: several are chosen at once."""

_REFRESH = 8
"""Guesses are renewed after this many checks: between them they change little."""


@dataclass(frozen=True)
class BestFirst(Search):
    """Finds the node of least loss and proves that no other is better.

    It keeps, for every node, a floor its loss cannot be below, and checks the node
    whose verdict is expected to settle the most others: a hopeless node settles all
    below it, a good one all whose floor is above its loss, and rows that are suppressed
    at a node are suppressed below it too, which lifts the floors there. It concludes
    only what the models declare about merging. Which node is checked next depends on a
    guess; what is concluded from the answer does not.

    On lattices too large to hold it descends from the top instead and says whether
    the result is proven.

    Args:
        checks: Most nodes to check before the best so far is taken; None for no limit.
        seconds: Most seconds to search before the best so far is taken; None for no limit.
        all_minimal: Go on until every valid node is known, and with them the minimal ones.
    """

    name: ClassVar[str] = "best-first"
    exact: ClassVar[bool] = True

    all_minimal: bool = False

    def run(self, checker: Checker) -> Iterator[Found]:
        if checker.lattice.size > _DENSE_NODES:
            yield from Descent(self.checks, self.seconds).run(checker)
            return
        budget = self.budget()
        state = _State(checker)
        best = NOTHING_YET
        limited = budget.checks is not None or budget.seconds is not None
        pending: list[Node] = [checker.lattice.highest] if limited else []
        while True:
            node = pending.pop() if pending else state.choose(best.loss)
            if node is None:
                break
            outcome = checker.check(node)
            if outcome.valid and outcome.loss < best.loss:
                best = Found(node, outcome.loss, outcome.suppressed, checker.checks)
                yield best
            state.learn(outcome)
            if budget.spent(checker.checks):
                break
        proven = state.choose(best.loss) is None
        best = replace(best, checks=checker.checks, proven=proven, finished=True)
        if self.all_minimal and proven:
            border = Boundary(checker)
            for outcome in state.outcomes:
                border.learn(outcome)
            for _ in border.run():
                if budget.spent(checker.checks):
                    break
            else:
                best = replace(best, minimal=border.minimal(), passing=border.valid())
            best = replace(best, checks=checker.checks)
        yield best


class _State:
    """What is known of every node, as flat arrays in lexicographic order."""

    def __init__(self, checker: Checker) -> None:
        lattice = checker.lattice
        self._checker = checker
        self.outcomes: list[Outcome] = []
        self._lowest = lattice.lowest
        self._shape = lattice.shape
        self._counter = BoxCounter(lattice.shape)
        self._floor = checker.loss.floors(lattice.lowest, lattice.highest).ravel()
        self._settled = np.zeros(lattice.size, dtype=bool)
        self._known_valid = np.zeros(lattice.size, dtype=bool)
        bits = checker.bits()
        rows = checker.total
        self._certain = Predictor(bits, rows=rows, lowest=lattice.lowest)
        self._suppressed = self._certain
        if not checker.all_absorbing and not checker.strict:
            self._suppressed = Predictor(bits, rows=rows, lowest=lattice.lowest)
        self._class_loss = isinstance(checker.loss, ClassLossFunction)
        # What suppressing one row adds to the loss: a first guess, then the average seen.
        self._lift_per_row = float(self._floor.max()) / max(rows, 1)
        self._lifts: list[float] = []
        self._queue: list[int] = []
        self._age = 0
        self._loss_of_refresh = np.inf

    def choose(self, best: float) -> Node | None:
        """Pick the node whose verdict is expected to settle the most others; None when all are."""
        open_ = ~self._settled
        if np.isfinite(best):
            # Losses are sums of many floats: a difference by rounding alone is none.
            open_ &= self._floor < best - 1e-12 * max(1.0, abs(best))
        if not open_.any():
            return None
        while self._queue:
            flat = self._queue.pop(0)
            if open_[flat]:
                return self._node(flat)
        if self._age % _REFRESH == 0 or self._age < 2 * _REFRESH or best != self._loss_of_refresh:
            self._refresh(best, open_)
        self._age += 1
        score = self._hopeless * self._counter.below(open_)
        if self._class_loss:
            score += np.maximum(self._gain * open_, self._valid * self._counter.above(open_))
        else:
            score += np.maximum(self._gain * open_, self._lift_gain)
        score[self._settled | (self._known_valid & ~open_)] = -1.0
        first, *more = self._highest(score)
        self._queue = more
        return self._node(first)

    def _highest(self, score: np.ndarray) -> list[int]:
        """Give the node of the highest score, and in a large lattice a few more to check next."""
        batch = len(score) // _NODES_PER_CHOICE
        if batch < 2:
            return [int(score.argmax())]
        highest = np.argpartition(score, -batch)[-batch:]
        return [int(flat) for flat in highest[np.argsort(score[highest])[::-1]]]

    def _refresh(self, best: float, open_: BoolArray) -> None:
        """Guess anew how likely each node is hopeless or valid, and what each would settle."""
        limit = self._checker.limit
        guess = self._certain.grid()
        self._hopeless = chance(guess - np.log1p(limit), self._certain.spread)
        self._hopeless[self._known_valid] = 0.0
        self._valid = 1.0 - self._hopeless
        if self._suppressed is not self._certain:
            over = self._suppressed.grid() - np.log1p(limit)
            self._valid = chance(-over, self._suppressed.spread)
        # A valid node settles every node whose floor is above its loss.
        would_be = self._floor + self._lift_per_row * _TYPICAL_SHARE * limit
        floors = np.sort(self._floor[open_])
        settles = len(floors) - np.searchsorted(floors, would_be)
        self._gain = self._valid * np.maximum(settles, 1).astype(np.float32)
        # It also lifts the floors below it, by about as much as a boundary node suppresses.
        self._lift_gain = np.float32(0.0)
        if limit and np.isfinite(best) and not self._class_loss:
            typical = _TYPICAL_SHARE * limit
            liftable = self._floor + self._lift_per_row * typical >= best
            near = np.minimum(1.0, np.exp(np.minimum(guess, 50.0)) / typical) ** 2
            lifted = self._counter.below(open_ & liftable)
            self._lift_gain = _LIFT_TRUST * self._valid * near.astype(np.float32) * lifted
        self._loss_of_refresh = best

    def learn(self, outcome: Outcome) -> None:
        """Draw every conclusion the models allow from one check."""
        self.outcomes.append(replace(outcome, judged=None, sure=None))
        checker, node, lowest = self._checker, outcome.node, self._lowest
        down, up = below(node, lowest), above(node, lowest)
        settled = self._settled.reshape(self._shape)
        floor = self._floor.reshape(self._shape)
        self._certain.learn(node, outcome.suppressed if checker.strict else outcome.certain)
        if self._suppressed is not self._certain:
            self._suppressed.learn(node, outcome.suppressed)
        if outcome.valid and outcome.suppressed:
            self._lifts.append((outcome.loss - checker.loss.floor(node)) / outcome.suppressed)
            self._lift_per_row = sum(self._lifts) / len(self._lifts)
        if outcome.hopeless:
            settled[down] = True
        else:
            settled[tuple(level - low for level, low in zip(node, lowest, strict=True))] = True
            if checker.valid_above(outcome):
                self._known_valid.reshape(self._shape)[up] = True
            if outcome.sure is not None:
                lifted = checker.loss.floors_below(outcome.sure, lowest)
                if lifted is not None:
                    np.maximum(floor[down], lifted, out=floor[down])
        if outcome.sure is not None:
            over = checker.loss.floor_above(outcome.sure)
            if over is not None:
                np.maximum(floor[up], over, out=floor[up])

    def _node(self, flat: int) -> Node:
        place = np.unravel_index(flat, self._shape)
        return tuple(int(i) + low for i, low in zip(place, self._lowest, strict=True))
