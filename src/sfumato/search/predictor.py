"""Guessing how many rows a node would suppress, to choose whom to check next.

A guess never decides anything: it only orders the work.
"""

import numpy as np

from sfumato.search.boxes import outer_sum
from sfumato.typing import FloatArray, Node


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
        self._bits = bits
        self._lowest = lowest
        self._offsets = np.cumsum([2, *(len(levels) for levels in bits)])
        n = int(self._offsets[-1])
        # The inverse of the regression's matrix, kept up to date by rank-one corrections.
        self._inverse = np.eye(n)
        self._inverse[0, 0] = self._inverse[1, 1] = 1e3
        self._b = np.zeros(n)
        self._errors: list[float] = []
        self._weights: FloatArray | None = None
        # Two anchors: with all bits nearly every row stands alone, with none no row does.
        self._add(self._anchor(sum(float(levels[0]) for levels in bits)), float(np.log1p(rows)))
        self._add(self._anchor(sum(float(levels[-1]) for levels in bits)), 0.0)

    def _anchor(self, bits: float) -> FloatArray:
        features = np.zeros(len(self._b))
        features[0], features[1] = 1.0, bits
        return features

    def _add(self, features: FloatArray, target: float) -> None:
        moved = self._inverse @ features
        self._inverse -= np.outer(moved, moved / (1.0 + features @ moved))
        self._b += features * target
        self._weights = None

    def _features(self, node: Node) -> FloatArray:
        levels = [level - low for level, low in zip(node, self._lowest, strict=True)]
        bits = sum(float(b[level]) for b, level in zip(self._bits, levels, strict=True))
        features = self._anchor(bits)
        features[self._offsets[:-1] + levels] = 1.0
        return features

    def learn(self, node: Node, suppressed: int) -> None:
        """Take in what a check showed."""
        features = self._features(node)
        target = float(np.log1p(suppressed))
        self._errors.append(target - float(features @ self.weights))
        self._add(features, target)

    @property
    def weights(self) -> FloatArray:
        """The regression's current weights."""
        if self._weights is None:
            self._weights = self._inverse @ self._b
        weights: FloatArray = self._weights
        return weights

    @property
    def spread(self) -> float:
        """How far off recent guesses were."""
        recent = self._errors[-20:]
        if len(recent) < 4:
            return 1.0
        return max(0.25, float(np.sqrt(np.mean(np.square(recent)))))

    def parts(self) -> list[FloatArray]:
        """Give each attribute's share in the guess by level, with the constant in the first."""
        weights = self.weights
        parts = [
            weights[1] * bits + weights[start : start + len(bits)]
            for bits, start in zip(self._bits, self._offsets[:-1], strict=True)
        ]
        parts[0] = parts[0] + weights[0]
        return parts

    def grid(self) -> FloatArray:
        """Guess for every node, as a flat array in lexicographic order."""
        return outer_sum(self.parts())

    def of(self, node: Node) -> float:
        """Guess for one node."""
        return float(self._features(node) @ self.weights)


def chance(over: FloatArray, spread: float) -> np.ndarray:
    """Turn a guess of how far above a threshold something is into a probability.

    >>> chance(np.array([-9.0, 0.0, 9.0]), spread=1.0).round(2).tolist()
    [0.0, 0.5, 1.0]
    """
    return (1.0 / (1.0 + np.exp(np.clip(over * (-1.7 / spread), -30, 30)))).astype(np.float32)
