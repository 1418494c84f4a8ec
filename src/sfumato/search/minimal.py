"""All valid nodes and the minimal ones among them, with few checks."""

from collections.abc import Iterator

import numpy as np

from sfumato.search.boxes import BoxCounter, above, below
from sfumato.search.checker import Checker, Outcome
from sfumato.search.predictor import Predictor, chance
from sfumato.typing import BoolArray, Node


class Boundary:
    """The border between valid and invalid nodes, found by settling as many as possible at once.

    A hopeless node settles everything below it, a valid one everything above it where
    the models allow that; where they allow nothing, every node is checked.
    """

    def __init__(self, checker: Checker) -> None:
        lattice = checker.lattice
        self._checker = checker
        self._shape, self._lowest = lattice.shape, lattice.lowest
        self._open = np.ones(lattice.size, dtype=bool)
        self._valid = np.zeros(lattice.size, dtype=bool)
        self._counter = BoxCounter(lattice.shape)
        self._guess = Predictor(checker.bits(), rows=checker.total, lowest=lattice.lowest)

    def learn(self, outcome: Outcome) -> None:
        """Draw every conclusion the models allow from one check."""
        open_, valid = self._open.reshape(self._shape), self._valid.reshape(self._shape)
        here = tuple(level - low for level, low in zip(outcome.node, self._lowest, strict=True))
        self._guess.learn(outcome.node, outcome.suppressed)
        open_[here] = False
        valid[here] = outcome.valid
        if outcome.hopeless:
            open_[below(outcome.node, self._lowest)] = False
        if self._checker.valid_above(outcome):
            up = above(outcome.node, self._lowest)
            open_[up] = False
            valid[up] = True

    def run(self) -> Iterator[Outcome]:
        """Check until every node is settled."""
        while (node := self._choose()) is not None:
            outcome = self._checker.check(node)
            self.learn(outcome)
            yield outcome

    def _choose(self) -> Node | None:
        if not self._open.any():
            return None
        over = self._guess.grid() - np.log1p(self._checker.limit)
        hopeless = chance(over, self._guess.spread)
        score = hopeless * self._counter.below(self._open)
        score += (1.0 - hopeless) * self._counter.above(self._open)
        score[~self._open] = -1.0
        place = np.unravel_index(int(score.argmax()), self._shape)
        return tuple(int(i) + low for i, low in zip(place, self._lowest, strict=True))

    def valid(self) -> tuple[Node, ...]:
        """Give the valid nodes in lexicographic order."""
        return self._nodes(self._valid)

    def minimal(self) -> tuple[Node, ...]:
        """Give the valid nodes that have no valid node below them."""
        counts = self._counter.below(self._valid)
        return self._nodes(self._valid & (counts == 1))

    def _nodes(self, marked: BoolArray) -> tuple[Node, ...]:
        places = np.argwhere(marked.reshape(self._shape)) + np.array(self._lowest)
        return tuple(tuple(int(level) for level in place) for place in places)
