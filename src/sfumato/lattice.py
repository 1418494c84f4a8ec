"""The lattice: all ways to choose one level per quasi-identifier."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from sfumato.errors import ParameterError
from sfumato.typing import Node


@dataclass(frozen=True)
class Lattice:
    """Every node between a lowest and a highest one, ordered level by level.

    Example:
        >>> lattice = Lattice((0, 0), (2, 1))
        >>> len(lattice), list(lattice.above((1, 0)))
        (6, [(2, 0), (1, 1)])
    """

    lowest: Node
    highest: Node

    def __post_init__(self) -> None:
        if len(self.lowest) != len(self.highest) or any(
            low > high or low < 0 for low, high in zip(self.lowest, self.highest, strict=True)
        ):
            raise ParameterError(
                "levels", (self.lowest, self.highest), "a lowest level not above the highest one"
            )

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of levels each attribute has to choose from."""
        return tuple(high - low + 1 for low, high in zip(self.lowest, self.highest, strict=True))

    @cached_property
    def size(self) -> int:
        """The number of nodes (may exceed what fits in memory)."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Node]:
        """Yield all nodes in lexicographic order."""
        return product(
            *(range(low, high + 1) for low, high in zip(self.lowest, self.highest, strict=True))
        )

    def __contains__(self, node: object) -> bool:
        return (
            isinstance(node, tuple)
            and len(node) == len(self.lowest)
            and all(
                low <= level <= high
                for low, level, high in zip(self.lowest, node, self.highest, strict=True)
            )
        )

    def above(self, node: Node) -> Iterator[Node]:
        """Yield the nodes one step more general."""
        for i, level in enumerate(node):
            if level < self.highest[i]:
                yield (*node[:i], level + 1, *node[i + 1 :])

    def below(self, node: Node) -> Iterator[Node]:
        """Yield the nodes one step less general."""
        for i, level in enumerate(node):
            if level > self.lowest[i]:
                yield (*node[:i], level - 1, *node[i + 1 :])


def is_below(lower: Node, upper: Node) -> bool:
    """Return whether every level of one node is at most the other's.

    >>> is_below((0, 1), (0, 2)), is_below((1, 0), (0, 2))
    (True, False)
    """
    return all(a <= b for a, b in zip(lower, upper, strict=True))
