"""Guesses of how many rows a node would suppress. They order the work and decide nothing."""

from collections.abc import Sequence
from functools import reduce
from math import log1p

import numpy as np

from sfumato.typing import BoolArray, FloatArray, IntArray, Node

TYPICAL_SHARE = 0.7
"""A valid node near the boundary suppresses about this share of what it may."""

_MOST_NEWS = 32
"""Checks that a regression is corrected by at once."""

_MOST_WEIGHTS = 1000
"""Weights of a regression: its matrix has their square, and every check corrects all of it."""


class Predictor:
    """Ridge regression of log(1 + suppressed rows) on the level of each attribute.

    Before anything is known it goes by the entropy of the generalised columns: the
    more bits a node keeps, the more classes it has and the smaller they are. Every
    check then corrects the share each level has in that.

    Example:
        >>> guess = Predictor([np.array([2.0, 0.0])], rows=100, lowest=(0,))
        >>> guess.learn((1,), 0)
        >>> bool(guess.grid()[0] > guess.grid()[1])
        True
    """

    def __init__(self, bits: list[FloatArray], *, rows: int, lowest: Node) -> None:
        self._lowest = np.array(lowest, dtype=np.int64)
        self._bits = np.concatenate(bits)
        self._starts = np.cumsum([0, *map(len, bits)])[:-1]
        self._attribute = np.repeat(np.arange(len(bits)), [len(levels) for levels in bits])
        # One weight per level, or where that would be too many one per attribute and step.
        self._fine = len(self._bits) <= _MOST_WEIGHTS
        n = 2 + (len(self._bits) if self._fine else len(bits))
        steps = np.arange(len(self._bits)) - self._starts[self._attribute]
        self._steps = np.ones(len(steps)) if self._fine else 1.0 / (1.0 + steps)
        # The inverse of the regression's matrix, corrected by what checks have shown since it was
        # asked last (Woodbury), in place of solving the whole system.
        self._inverse = np.eye(n)
        self._inverse[0, 0] = self._inverse[1, 1] = 1e3
        self._b = np.zeros(n)
        self._news: list[tuple[Node, float]] = []
        self._errors: list[float] = []
        self._weights: FloatArray | None = None
        self._guesses: FloatArray | None = None
        # Two anchors: with all bits nearly every row stands alone, with none no row does.
        anchors = np.zeros((2, n))
        anchors[:, 0] = 1.0
        anchors[:, 1] = [sum(float(levels[end]) for levels in bits) for end in (0, -1)]
        self._correct(anchors, np.array([np.log1p(rows), 0.0]))

    def _correct(self, features: FloatArray, targets: FloatArray) -> None:
        moved = self._inverse @ features.T
        inner = features @ moved
        inner[np.diag_indices(len(targets))] += 1.0
        self._inverse -= moved @ np.linalg.solve(inner, moved.T)
        self._b += targets @ features
        self._weights = self._guesses = None

    def _features(self, nodes: Sequence[Node]) -> FloatArray:
        places = self._places(np.array(nodes, dtype=np.int64))
        features = np.zeros((len(nodes), len(self._b)))
        features[:, 0], features[:, 1] = 1.0, self._bits[places].sum(axis=1)
        columns = 2 + (places if self._fine else self._attribute[places])
        features[np.arange(len(nodes))[:, None], columns] = self._steps[places]
        return features

    def _places(self, levels: IntArray) -> IntArray:
        """Return where the level of each attribute is among all levels of all of them."""
        return self._starts + levels - self._lowest

    def learn(self, node: Node, suppressed: int) -> None:
        """Correct the guess by what a check showed."""
        self.learn_log(node, log1p(suppressed))

    def learn_log(self, node: Node, target: float) -> None:
        """Correct the guess by its logarithm."""
        self._news.append((node, target))

    @property
    def weights(self) -> FloatArray:
        """The regression's current weights."""
        if self._weights is None:
            self._weights = self._inverse @ self._b
        if self._news:
            for start in range(0, len(self._news), _MOST_NEWS):
                news = self._news[start : start + _MOST_NEWS]
                features = self._features([node for node, _ in news])
                targets = np.array([target for _, target in news])
                self._errors = [*self._errors, *(targets - features @ self._weights)][-20:]
                self._correct(features, targets)
                self._weights = self._inverse @ self._b
            self._news = []
        weights: FloatArray = self._weights
        return weights

    @property
    def spread(self) -> float:
        """The typical error of recent guesses."""
        assert self.weights is not None  # noqa: S101 - what is new has been learned
        if len(self._errors) < 4:
            return 1.0
        return max(0.25, float(np.sqrt(np.mean(np.square(self._errors)))))

    @property
    def guesses(self) -> FloatArray:
        """The share of each level of each attribute in the guess, apart from the constant."""
        if self._guesses is None or self._news:
            own = self.weights[2:] if self._fine else self.weights[2:][self._attribute]
            self._guesses = self.weights[1] * self._bits + own * self._steps
        guesses: FloatArray = self._guesses
        return guesses

    @property
    def offsets(self) -> IntArray:
        """The place at which the guess of each attribute's level 0 would be."""
        offsets: IntArray = self._starts - self._lowest
        return offsets

    def of_all(self, nodes: np.ndarray) -> FloatArray:
        """Guess for some nodes: a row each."""
        guesses: FloatArray = self.weights[0] + self.guesses[self._places(nodes)].sum(axis=1)
        return guesses

    def grid(self, lowest: Node | None = None, highest: Node | None = None) -> FloatArray:
        """Guess for every node, or for those of a box, as a flat array in lexicographic order."""
        starts, guesses = self._starts.tolist(), self.guesses
        ends = [*starts[1:], len(guesses)]
        if lowest is not None and highest is not None:
            least = self._lowest.tolist()
            ends = [s + high - a + 1 for s, high, a in zip(starts, highest, least, strict=True)]
            starts = [s + low - a for s, low, a in zip(starts, lowest, least, strict=True)]
        parts = [guesses[start:end] for start, end in zip(starts, ends, strict=True)]
        parts[0] = parts[0] + self.weights[0]
        return outer_sum(parts)

    def of(self, node: Node) -> float:
        """Guess for one node."""
        places = self._places(np.array(node, dtype=np.int64))
        return float(self.weights[0] + self.guesses[places].sum())


def chance(over: FloatArray, spread: float) -> np.ndarray:
    """Turn a guess of how far above a threshold something is into a probability.

    >>> chance(np.array([-9.0, 0.0, 9.0]), spread=1.0).round(2).tolist()
    [0.0, 0.5, 1.0]
    """
    # In 32 bits, which are enough for a guess: its exponentials are most of a choice.
    steep = over.astype(np.float32) * np.float32(-1.7 / spread)
    np.clip(steep, -30, 30, out=steep)
    np.exp(steep, out=steep)
    steep += 1.0
    np.reciprocal(steep, out=steep)
    return steep


_BINS = 1024
"""Floors are sorted into this many bins where a guess is enough."""


def count_above(floors: FloatArray, chosen: BoolArray, lift: float) -> np.ndarray:
    """Count, for each floor, the chosen ones that are about this much above it, or more.

    >>> count_above(np.array([1.0, 2.0, 4.0]), np.array([True, True, True]), lift=1.5).tolist()
    [1.0, 1.0, 0.0]
    """
    low, high = float(floors.min()), float(floors.max())
    scale = (_BINS - 1) / (high - low) if high > low else 0.0
    places = ((floors - low) * scale).astype(np.int64)
    ranked = np.bincount(places[chosen], minlength=_BINS)
    left = np.append(np.cumsum(ranked[::-1])[::-1], 0).astype(np.float32)
    shift = int(np.ceil(lift * scale))
    return left[np.minimum(places + shift, _BINS)]


def outer_sum(parts: Sequence[FloatArray]) -> FloatArray:
    """Add one number per attribute for every node.

    >>> outer_sum([np.array([0.0, 1.0]), np.array([10.0, 20.0])]).tolist()
    [10.0, 20.0, 11.0, 21.0]
    """
    # From the right: each step then adds one number to a long stretch of others.
    return reduce(lambda grid, part: np.add.outer(part, grid).ravel(), reversed(parts))
