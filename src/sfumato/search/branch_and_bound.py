"""Branch and bound: the optimum of lattices with too many nodes for a number each."""

import numpy as np

from sfumato.losses.base import ClassLossFunction
from sfumato.search.base import Checker, CheckOutcome
from sfumato.search.boxes import OpenBoxes, Points, below_best
from sfumato.search.pairs import look_at_pairs
from sfumato.search.predictor import TYPICAL_SHARE, Predictor, chance
from sfumato.typing import FloatArray, Node

_SAMPLE = 512
"""Open nodes that stand for all."""

_MOST_LOWS = 128
"""Boxes whose lowest nodes are looked at for a better one."""

_REFRESH = 8
"""Nodes near the best are gathered after this many choices: between them they change little."""

_LEAST = 8
"""One of this many choices is the lowest node of the box with the lowest floor."""


class LargeState:
    """The knowledge of a lattice that is too large to hold: boxes, and a sample of their nodes.

    Which node is checked next is decided as in small lattices: the one whose verdict is expected to
    settle the most others. They are counted in a sample.
    """

    def __init__(self, checker: Checker) -> None:
        lattice = checker.lattice
        self._checker = checker
        self.boxes = OpenBoxes(checker)
        self._rng = np.random.default_rng(0)
        self._low, self._high = np.array(lattice.lowest), np.array(lattice.highest)
        bits, rows = checker.bits(), checker.total
        self._certain = Predictor(bits, rows=rows, lowest=lattice.lowest)
        self._suppressed = self._certain
        if not checker.all_absorbing and not checker.strict:
            self._suppressed = Predictor(bits, rows=rows, lowest=lattice.lowest)
        pairs = look_at_pairs(checker)
        for node, rare in () if pairs is None else pairs.seen:
            self._certain.learn(node, rare)
            if rare > checker.limit:
                self.boxes.rule_out(np.array(node, dtype=self.boxes.dtype))
        self._class_loss = isinstance(checker.loss, ClassLossFunction)
        if self._class_loss:
            self._over = Predictor(bits, rows=rows, lowest=lattice.lowest)
            self._top = 1.0
        # What suppressing a row adds to the loss of a node, as a share of what is left to lose
        # there: a first guess, then the average seen.
        self._most = checker.loss.floor(lattice.highest)
        self._lift_share = 1.0
        self._lifts: list[float] = []
        self._sample: Points | None = None
        self._drawn = 0
        self._known: set[Node] = set()
        self._soft: list[Node] = []
        """Nodes that are not hopeless, and the rows that are lost below each."""
        self._soft_rows: list[int] = []
        self._best: Node | None = None
        self._hope: tuple[Node, float] = ((), 0.0)
        self._hits, self._hoped = 0, 0.0
        self._near: Points | None = None
        self._best_of_near: Node | None = None
        self._age = 0

    def learn(self, outcome: CheckOutcome, *, improved: bool) -> None:
        """Draw every conclusion the models allow from one check."""
        checker, node = self._checker, outcome.node
        self._known.add(node)
        fact = self.boxes.learn(outcome)
        if self._sample is not None:
            self._sample.learn(fact)
        if self._near is not None:
            self._near.learn(fact)
        self._certain.learn(node, outcome.suppressed if checker.strict else outcome.certain)
        if self._suppressed is not self._certain:
            self._suppressed.learn(node, outcome.suppressed)
        if not outcome.hopeless:
            self._soft.append(node)
            self._soft_rows.append(outcome.certain)
        if self._class_loss and fact.over:
            if node == checker.lattice.highest:
                self._top = fact.over
            self._over.learn_log(node, float(np.log(self._top / max(fact.over, 1e-9))))
        left = self._most - checker.loss.floor(node)
        if outcome.valid and outcome.suppressed and left > 0:
            lift = (outcome.loss - checker.loss.floor(node)) / outcome.suppressed
            self._lifts.append(lift * checker.total / left)
            self._lift_share = sum(self._lifts) / len(self._lifts)
        if improved:
            self._best = node
        if self._hope[0] == node:
            self._hits, self._hoped = self._hits + outcome.valid, self._hoped + self._hope[1]

    def bound(self, best: float) -> float:
        """Return a loss that no valid node is below."""
        return self.boxes.bound(best)

    def choose(self, best: float) -> Node | None:
        """Pick the node whose verdict is expected to settle the most; None when all are settled."""
        least = self.boxes.least(best)
        if least is None:
            return None
        sample = self._draw(best)
        # Of a loss of classes nothing is known of a box until its lowest node was checked.
        lowest = self._class_loss and self._age % _LEAST == 0 and least not in self._known
        if not len(sample) or lowest:
            self._age += 1
            return least
        floors = sample.floors
        need = self._rows_needed(sample.nodes, floors, best)
        found = [self._likely_better(sample, floors, best)]
        found.append(self._likely_hopeless(sample, need))
        if self._class_loss:
            found.append(self._likely_worse(sample, best))
        score, node = max(found, key=lambda each: each[0])
        return least if score <= 0.0 else node

    def _draw(self, best: float) -> Points:
        """Return a sample of what is open."""
        if self._sample is not None:
            self._sample.keep(self._sample.floors < below_best(best))
        if self._sample is None or 2 * len(self._sample) < self._drawn:
            drawn = self.boxes.draw(_SAMPLE, best, self._rng)
            if self._sample is not None:
                drawn.join(self._sample)
            self._sample, self._drawn = drawn, len(drawn)
        return self._sample

    def _rows_needed(self, nodes: np.ndarray, floors: FloatArray, best: float) -> FloatArray:
        """Return how many rows must be lost above nodes for these to be settled."""
        limit = float(self._checker.limit)
        if not limit or not np.isfinite(best):
            return np.full(len(floors), limit)
        floors = floors if self._class_loss else self.boxes.floors(nodes)
        unit = np.maximum(self._lift_unit(floors), 1e-300)
        return np.minimum(limit, np.maximum(best - floors, 0.0) / unit)

    def _lift_unit(self, floors: FloatArray) -> FloatArray:
        """Return what each suppressed row adds to the loss of nodes, as far as can be guessed."""
        if self._class_loss:
            return np.full(len(floors), self.boxes.lift_unit)
        unit: FloatArray = self._lift_share * (self._most - floors) / max(self._checker.total, 1)
        return unit

    def _likely_better(self, sample: Points, floors: FloatArray, best: float) -> tuple[float, Node]:
        """Return the node that is likely to be valid and to settle the most that lose more."""
        near = self._look_near(best)
        nodes = np.concatenate([sample.nodes, near.nodes])
        own, limit = np.concatenate([floors, near.floors]), self._checker.limit
        guess = self._suppressed.of_all(nodes)
        valid = 1.0 - chance(guess - np.log1p(limit), self._suppressed.spread)
        lost = np.minimum(np.expm1(np.clip(guess, 0.0, 50.0)), TYPICAL_SHARE * limit)
        would_be = own + self._lift_unit(self.boxes.floors(nodes)) * lost
        settled = len(floors) - np.searchsorted(np.sort(floors), would_be)
        gain = valid * np.maximum(settled, 1) * (would_be < best)
        first = int(gain.argmax())
        # Of many guesses the one that promises most is often wrong: as often as it was.
        trust = (1.0 + self._hits) / (1.0 + self._hoped)
        self._hope = _node(nodes[first]), float(valid[first])
        return trust * float(gain[first]), self._hope[0]

    def _look_near(self, best: float) -> Points:
        """Return open nodes that lose little: near the best, and the lowest of boxes."""
        if self._near is None or self._age % _REFRESH == 0 or self._best != self._best_of_near:
            nodes = np.concatenate([self.boxes.lows(_MOST_LOWS), self._swaps()])
            self._near, self._best_of_near = self.boxes.points(nodes, best), self._best
        self._age += 1
        return self._near

    def _swaps(self) -> np.ndarray:
        """Return the nodes with one level less than the best, or one less and another more."""
        if self._best is None:
            return np.empty((0, len(self._low)), dtype=self.boxes.dtype)
        step = np.eye(len(self._low), dtype=np.int64)
        moves = np.concatenate([-step, *(step - one for one in step)])
        nodes = np.array(self._best) + moves
        inside = ((nodes >= self._low) & (nodes <= self._high)).all(axis=1)
        swaps: np.ndarray = nodes[inside].astype(self.boxes.dtype)
        return swaps

    def _likely_hopeless(self, sample: Points, need: FloatArray) -> tuple[float, Node]:
        """Return the node whose lost rows are likely to settle the most nodes below it.

        From the top down, each step to where the most is expected to be settled.
        """
        guess, nodes = self._certain, sample.nodes.astype(np.int64)
        levels, offsets, spread = guess.guesses, guess.offsets, guess.spread
        needed, node = np.log1p(need), self._high.copy()
        now = guess.of(_node(node))
        soft = np.array(self._soft, dtype=np.int64).reshape(-1, len(node))
        soft_rows = np.array(self._soft_rows)
        best, chosen = 0.0, _node(node)
        while (free := np.flatnonzero(node > self._low)).size and len(nodes) > best:
            after = (
                now + levels[offsets[free] + node[free] - 1] - levels[offsets[free] + node[free]]
            )
            expected = chance(after - needed[:, None], spread)
            expected *= nodes[:, free] < node[free]
            # No more rows are lost at a node than at those below it.
            most = np.where(soft[:, free] < node[free], soft_rows[:, None], np.inf)
            most = most.min(axis=0, initial=np.inf)
            known = expected * (need[:, None] < most)
            score, further = known.sum(axis=0), expected.sum(axis=0)
            here = int(score.argmax())
            if score[here] <= 0.0:
                here = int(further.argmax())
            step = int(free[here])
            now, node[step] = float(after[here]), node[step] - 1
            if score[here] > best and _node(node) not in self._known:
                best, chosen = float(score[here]), _node(node)
            left = nodes[:, step] <= node[step]
            nodes, needed, need = nodes[left], needed[left], need[left]
            below = soft[:, step] <= node[step]
            soft, soft_rows = soft[below], soft_rows[below]
        return best, chosen

    def _likely_worse(self, sample: Points, best: float) -> tuple[float, Node]:
        """Return the node whose classes are likely to settle the most nodes above it.

        From the bottom up, each step to where the most is expected to be settled.
        """
        if not np.isfinite(best):
            return 0.0, self._checker.lattice.lowest
        guess, nodes = self._over, sample.nodes.astype(np.int64)
        levels, offsets, spread = guess.guesses, guess.offsets, guess.spread
        needed, node = float(np.log(self._top / best)), self._low.copy()
        now = guess.of(_node(node))
        score, chosen = 0.0, _node(node)
        while (free := np.flatnonzero(node < self._high)).size and len(nodes) > score:
            after = (
                now + levels[offsets[free] + node[free] + 1] - levels[offsets[free] + node[free]]
            )
            expected = chance(needed - after, spread) * (nodes[:, free] > node[free]).sum(axis=0)
            here = int(expected.argmax())
            step = int(free[here])
            now, node[step] = float(after[here]), node[step] + 1
            if expected[here] > score and _node(node) not in self._known:
                score, chosen = float(expected[here]), _node(node)
            nodes = nodes[nodes[:, step] >= node[step]]
        return score, chosen


def _node(levels: np.ndarray) -> Node:
    return tuple(levels.tolist())
