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

from sfumato.search.base import Checker
from sfumato.typing import BoolArray, IntArray, Node

_WORTH = 200
"""Pairs are looked at if at most one of so many rows may be suppressed. Of more, most nodes can be
valid that are too fine in two columns."""

_FEW_LABELS = 512
"""A column is looked at from the lowest level on at which it has no more labels than this."""


class Pairs(NamedTuple):
    """The findings about all pairs."""

    hopeless: BoolArray
    """Which nodes are hopeless by two of their columns."""

    seen: list[tuple[Node, int]]
    """Nodes that have only these two columns, and the rows that would be suppressed there."""


def look_at_pairs(checker: Checker) -> Pairs | None:
    """Return what pairs of columns say about the nodes; None if it is not worth looking."""
    grouping, lattice = checker.grouping, checker.lattice
    if checker.smallest < 2 or checker.limit * _WORTH > checker.total:
        return None
    if len(lattice.shape) < 2 or grouping.person is not None or checker.matches_any:
        return None
    tables = [_levels(checker, attribute) for attribute in range(len(lattice.shape))]
    marked = np.zeros(lattice.shape, dtype=bool)
    seen: list[tuple[Node, int]] = []
    for i, j in combinations(range(len(tables)), 2):
        if tables[i] and tables[j]:
            for one, other, rows in _staircase(checker, (i, j), (tables[i], tables[j])):
                node = [*lattice.highest]
                node[i], node[j] = lattice.lowest[i] + one, lattice.lowest[j] + other
                seen.append((tuple(node), rows))
                if rows <= checker.limit:
                    continue
                box = [slice(None)] * len(lattice.shape)
                box[i], box[j] = slice(0, one + 1), slice(0, other + 1)
                marked[tuple(box)] = True
    return Pairs(marked.ravel(), seen)


Levels = list[tuple[IntArray, int]]
"""For each level of a column above the first one here: the label of each code, and their number."""


def _levels(checker: Checker, attribute: int) -> Levels:
    """Return what becomes of the labels of the finest level that is looked at."""
    ladder, lattice = checker.grouping.ladders[attribute], checker.lattice
    low, high = lattice.lowest[attribute], lattice.highest[attribute]
    while low <= high and len(ladder.labels[low]) > _FEW_LABELS:
        low += 1
    found: Levels = []
    for level in range(low, high + 1):
        table = np.zeros(len(ladder.labels[low]), dtype=np.int64)
        table[ladder.codes[low]] = ladder.codes[level]
        found.append((table, len(ladder.labels[level])))
    return found


def _staircase(
    checker: Checker, pair: tuple[int, int], levels: tuple[Levels, Levels]
) -> Iterator[tuple[int, int, int]]:
    """Yield levels of two columns, counted from the lowest of the lattice, and rows too rare there.

    Every choice of levels that is too fine is at or below one of them.
    """
    grouping, lattice = checker.grouping, checker.lattice
    (_, n_first), (_, n_second) = levels[0][0], levels[1][0]
    starts = [lattice.shape[a] - len(found) for a, found in zip(pair, levels, strict=True)]
    codes = []
    for attribute, start in zip(pair, starts, strict=True):
        ladder = grouping.ladders[attribute]
        codes.append(ladder.codes[lattice.lowest[attribute] + start][grouping.codes[attribute]])
    key = codes[0].astype(np.int64) * n_second + codes[1]
    rows = np.bincount(key, grouping.weights, n_first * n_second)
    one, other = 0, len(levels[1]) - 1
    # Down a staircase: what is too fine stays so below, so one corner of each step is enough.
    while one < len(levels[0]) and other >= 0:
        (table, _), (across, width) = levels[0][one], levels[1][other]
        merged = np.bincount((table[:, None] * width + across).ravel(), rows)
        rare = int(merged[merged < checker.smallest].sum())
        yield starts[0] + one, starts[1] + other, rare
        if rare > checker.limit:
            one += 1
        else:
            other -= 1
