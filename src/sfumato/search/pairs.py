"""Pairs of columns: what is too rare in two columns is too rare in all of them.

A class of all quasi-identifiers is part of a class of any two. If more rows than may be suppressed
are in classes of two columns that are too small, then so they are at every node with these levels
of the two, or lower ones, whatever the levels of the others are. A table of two columns is small,
so all nodes are judged by all pairs before the first of them is checked.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sfumato.counts import add_up
from sfumato.dataclasses import dataclass
from sfumato.search.base import Checker
from sfumato.typing import BoolArray, FloatArray, Node

_WORTH = 200
"""Pairs are looked at if at most one of this many rows may be suppressed. Of more, most nodes can
be valid that are too fine in two columns."""

_FEW_LABELS = 256
"""A column is looked at from the lowest level on at which it has no more labels than this."""


class Pairs(NamedTuple):
    """The findings about all pairs."""

    shape: tuple[int, ...]
    """The number of levels of each column of the lattice."""

    boxes: list[tuple[slice, ...]]
    """Where nodes are hopeless by two of their columns."""

    seen: list[tuple[Node, int]]
    """Nodes that have only these two columns, and the rows that would be suppressed there."""

    @property
    def hopeless(self) -> BoolArray:
        """A flag for each node that is hopeless; only asked of lattices that fit into memory."""
        marked = np.zeros(self.shape, dtype=bool)
        for box in self.boxes:
            marked[box] = True
        return marked.ravel()


def look_at_pairs(checker: Checker) -> Pairs | None:
    """Return what pairs of columns say about the nodes; None if it is not worth looking."""
    grouping, lattice = checker.grouping, checker.lattice
    if checker.smallest < 2 or checker.limit * _WORTH > checker.total:
        return None
    if len(lattice.shape) < 2 or grouping.person is not None or checker.matches_any:
        return None
    columns = [_LowColumn.of(checker, attribute) for attribute in range(len(lattice.shape))]
    boxes: list[tuple[slice, ...]] = []
    seen: list[tuple[Node, int]] = []
    for i, j in combinations(range(len(columns)), 2):
        for one, other, rows in _staircase(checker, columns[i], columns[j]):
            node = [*lattice.highest]
            node[i], node[j] = lattice.lowest[i] + one, lattice.lowest[j] + other
            seen.append((tuple(node), rows))
            if rows > checker.limit:
                box = [slice(None)] * len(lattice.shape)
                box[i], box[j] = slice(0, one + 1), slice(0, other + 1)
                boxes.append(tuple(box))
    return Pairs(lattice.shape, boxes, seen)


@dataclass(frozen=True, eq=False)
class _LowColumn:
    """A column from the lowest level on at which it has few labels."""

    start: int
    """That level, counted from the lowest of the lattice."""

    codes: np.ndarray
    """The label of each tuple there."""

    levels: list[FloatArray]
    """For this level and each above: a row per label, with 1 where it covers a label here."""

    @classmethod
    def of(cls, checker: Checker, attribute: int) -> "_LowColumn":
        ladder, lattice = checker.grouping.ladders[attribute], checker.lattice
        least, high = lattice.lowest[attribute], lattice.highest[attribute]
        low = least
        while low <= high and len(ladder.labels[low]) > _FEW_LABELS:
            low += 1
        levels = []
        for level in range(low, high + 1):
            covers = np.zeros((len(ladder.labels[level]), len(ladder.labels[low])))
            covers[ladder.codes[level], ladder.codes[low]] = 1.0
            levels.append(covers)
        # So few labels fit into a byte; where there are more, no pair is looked at.
        codes = ladder.codes[min(low, high)].astype(np.uint8)[checker.grouping.codes[attribute]]
        return cls(low - least, codes, levels)


def _staircase(
    checker: Checker, first: _LowColumn, second: _LowColumn
) -> Iterator[tuple[int, int, int]]:
    """Yield levels of two columns, counted from the lowest of the lattice, and rows too rare there.

    Every choice of levels that is too fine is at or below one of them.
    """
    if not first.levels or not second.levels:
        return
    shape = first.levels[0].shape[1], second.levels[0].shape[1]
    key = first.codes.astype(np.int32) * shape[1] + second.codes
    rows = add_up(key, checker.grouping.weights, shape[0] * shape[1]).reshape(shape)
    one, other = 0, len(second.levels) - 1
    lifted = rows
    # Down a staircase: what is too fine stays so below, so one corner of each step is enough.
    while one < len(first.levels) and other >= 0:
        merged = lifted @ second.levels[other].T
        rare = int(merged[merged < checker.smallest].sum())
        yield first.start + one, second.start + other, rare
        if rare > checker.limit:
            one += 1
            lifted = first.levels[min(one, len(first.levels) - 1)] @ rows
        else:
            other -= 1
