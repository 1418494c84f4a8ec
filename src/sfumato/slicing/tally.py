"""How much each sensitive value weighs, for many crowds or many people at once."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from sfumato.typing import FloatArray, IntArray

Weights: TypeAlias = IntArray | FloatArray
"""Numbers of rows, or probabilities."""


@dataclass(frozen=True, eq=False)
class Tally:
    """The weights of sensitive values, those of each crowd or person one after the other.

    Weights are rows, or probabilities. A missing value weighs nothing, for it hides nobody.

    Example:
        >>> tally = Tally(np.array([2, 3, 1, 4]), np.array([0, 3]))
        >>> tally.total.tolist(), tally.largest.tolist(), tally.beyond(1).tolist()
        ([6, 4], [3, 4], [3, 0])
        >>> np.exp(Tally(np.array([5, 5, 0]), np.array([0])).entropy).round(3).tolist()
        [2.0]
    """

    weight: Weights
    starts: IntArray
    """Where the weights of each begin; each has one at least."""

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def total(self) -> Weights:
        """What all values weigh together."""
        return self._added(self.weight)

    @cached_property
    def largest(self) -> Weights:
        """What the heaviest value weighs."""
        return np.maximum.reduceat(self.weight, self.starts) if len(self) else self.weight[:0]

    @cached_property
    def distinct(self) -> IntArray:
        """How many values there are."""
        return self._added((self.weight > 0).astype(np.int64)).astype(np.int64)

    @cached_property
    def entropy(self) -> FloatArray:
        """The entropy of the shares, to base e; -∞ where there is no value at all."""
        weight = self.weight.astype(np.float64)
        # -Σ w/n log(w/n) = log n - (Σ w log w)/n, and 0 log 0 is 0.
        logs = np.log(weight, out=np.zeros(len(weight)), where=weight > 0)
        some = self.total > 0
        total, sums = self.total[some], self._added(weight * logs)[some]
        found = np.full(len(self), -np.inf)
        # Rounding must not make the entropy of a single value negative.
        found[some] = np.maximum(np.log(total) - sums / total, 0.0)
        return found

    def beyond(self, n: int) -> Weights:
        """Give what all but the n heaviest values weigh together."""
        widths = np.diff(np.append(self.starts, len(self.weight)))
        of_weight = np.repeat(np.arange(len(self)), widths)
        falling = self.weight[np.lexsort((-self.weight, of_weight))]
        rank = np.arange(len(falling)) - np.repeat(self.starts, widths)
        return self._added(np.where(rank >= n, falling, 0))

    def _added(self, weight: Weights) -> Weights:
        return np.add.reduceat(weight, self.starts) if len(self) else weight[:0]
