"""Arithmetic on whole lattices: one number per node, in flat lexicographic order."""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from sfumato.typing import FloatArray, Node

_SMALL_PRODUCT = 200_000
"""Products of matrices with fewer multiplications than this are not worth a second thread to
the linear algebra library, and waking one costs more than it gains on a busy machine."""

_WIDEST_BLOCK = 32
"""Attributes are taken together up to this many level combinations: small matrices, few passes."""


def outer_sum(parts: Sequence[FloatArray]) -> FloatArray:
    """Add one number per attribute for every node.

    >>> outer_sum([np.array([0.0, 1.0]), np.array([10.0, 20.0])]).tolist()
    [10.0, 20.0, 11.0, 21.0]
    """
    return reduce(lambda grid, part: np.add.outer(grid, part).ravel(), parts)


def below(node: Node, lowest: Node) -> tuple[slice, ...]:
    """Index everything at or below a node."""
    return tuple(slice(0, level - low + 1) for level, low in zip(node, lowest, strict=True))


def above(node: Node, lowest: Node) -> tuple[slice, ...]:
    """Index everything at or above a node."""
    return tuple(slice(level - low, None) for level, low in zip(node, lowest, strict=True))


class BoxCounter:
    """Counts, for every node, how many marked nodes lie below it (or above it).

    Sums over boxes are products with small triangular matrices, one per block of
    attributes.

    Example:
        >>> counter = BoxCounter((2, 2))
        >>> counter.below(np.array([1, 1, 0, 1])).tolist()
        [1.0, 2.0, 1.0, 3.0]
        >>> counter.above(np.array([1, 1, 0, 1])).tolist()
        [3.0, 2.0, 1.0, 1.0]
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._matrices: list[np.ndarray] = []
        block = np.ones((1, 1), dtype=np.float32)
        for levels in shape:
            if len(block) * levels > _WIDEST_BLOCK and len(block) > 1:
                self._matrices.append(block)
                block = np.ones((1, 1), dtype=np.float32)
            block = np.kron(block, np.tri(levels, dtype=np.float32))
        self._matrices.append(block)
        size = int(np.prod(shape))
        self._chunks = [
            _divisor(size // len(m), _SMALL_PRODUCT // len(m) ** 2) for m in self._matrices
        ]

    def below(self, marked: np.ndarray) -> np.ndarray:
        """Count marked nodes at or below each node."""
        return self._apply(marked, [matrix.T for matrix in self._matrices])

    def above(self, marked: np.ndarray) -> np.ndarray:
        """Count marked nodes at or above each node."""
        return self._apply(marked, self._matrices)

    def _apply(self, marked: np.ndarray, matrices: Sequence[np.ndarray]) -> np.ndarray:
        counts = marked.astype(np.float32)
        # Each step consumes the last block and brings it to the front; after all, order is back.
        for matrix, chunk in zip(reversed(matrices), reversed(self._chunks), strict=True):
            width = len(matrix)
            product = counts.reshape(-1, chunk, width) @ matrix
            counts = product.reshape(-1, width).T.ravel()
        return counts


def _divisor(n: int, most: int) -> int:
    """Find the largest divisor of n that is not above a bound.

    >>> _divisor(12, 5)
    4
    """
    return next(d for d in range(min(n, max(most, 1)), 0, -1) if n % d == 0)
