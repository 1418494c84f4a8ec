"""Starting points of roll-ups: partitions that are kept, and ones that are worth making.

A node's classes are made of those of a node below, the fewer the cheaper. What was made is kept
for the next, as far as there is memory; what was not used for longest goes. Where rows are nearly
unique every node is far from all tuples, and the nodes that a search asks for are near each other.
So what lies below several of them is made first, if it has few classes by a guess.
"""

from collections import deque
from collections.abc import Callable
from threading import Lock

import numpy as np

from sfumato.recoding import is_below
from sfumato.search.node_classes import NodeClasses
from sfumato.typing import Node

_CACHED_BYTES = 120 * 2**20
"""Memory for cached starting points of roll-ups; it limits nothing else."""

_LEFT = 0.75
"""The share of it that is left when some go."""

_FIRST = 64

_WORTH_A_HUB = 32_768
"""Fewer classes than this are grouped faster than a better starting point is found."""

_RECENT = 12
"""Nodes asked for lately, which stand for those to come."""


class _Shelf:
    """Partitions beside arrays of their nodes and sizes: the nearest is found without a loop."""

    def __init__(self, parts: list[NodeClasses], columns: int) -> None:
        self.parts: list[NodeClasses] = []
        self.nodes = np.empty((columns, _FIRST), dtype=np.int32)
        self.sizes = np.empty(_FIRST, dtype=np.int64)
        self.used = np.empty(_FIRST, dtype=np.int64)
        for part in parts:
            self.append(part, 0)

    def append(self, part: NodeClasses, now: int) -> None:
        n = len(self.parts)
        if n == len(self.sizes):
            self.nodes = np.concatenate([self.nodes, self.nodes], axis=1)
            self.sizes = np.concatenate([self.sizes, self.sizes])
            self.used = np.concatenate([self.used, self.used])
        self.nodes[:, n], self.sizes[n], self.used[n] = part.node, len(part.rows), now
        # Last: others look only at as many as are here.
        self.parts.append(part)


class Starts:
    """The partitions of one table from which others are made.

    Args:
        base: The finest of them, which is always there.
    """

    def __init__(self, base: NodeClasses) -> None:
        self._base = base
        self._lock = Lock()
        self._shelf = _Shelf([], len(base.node))
        self._bytes = 0
        self._now = 0
        self._recent: deque[tuple[Node, int]] = deque(maxlen=_RECENT)
        self._tried: set[Node] = set()

    def nearest(self, node: Node) -> NodeClasses:
        """Return the smallest partition at or below a node."""
        shelf = self._shelf
        n = len(shelf.parts)
        # A row per column: each comparison then runs over a long stretch.
        levels = np.array(node, dtype=np.int32)[:, None]
        below = np.flatnonzero((shelf.nodes[:, :n] <= levels).all(axis=0))
        if not len(below):
            return self._base
        found = int(below[shelf.sizes[below].argmin()])
        self._now += 1
        shelf.used[found] = self._now
        return shelf.parts[found]

    def keep(self, part: NodeClasses) -> None:
        """Keep a partition, and let go those that were not used for longest if memory is short."""
        size = part.nbytes
        if size > _CACHED_BYTES * _LEFT:
            return
        with self._lock:
            self._shelf.append(part, self._now)
            self._bytes += size
            if self._bytes > _CACHED_BYTES:
                self._let_go()

    def grow(self, size: int) -> None:
        """Count memory that a partition took after it was kept."""
        with self._lock:
            self._bytes += size

    def _let_go(self) -> None:
        old = self._shelf
        left, kept = int(_CACHED_BYTES * _LEFT), []
        for i in np.argsort(-old.used[: len(old.parts)], kind="stable").tolist():
            left -= old.parts[i].nbytes
            if left < 0:
                break
            kept.append(i)
        # In a new one: others may be looking at the old one.
        self._shelf = _Shelf([], len(self._base.node))
        for i in kept:
            self._shelf.append(old.parts[i], int(old.used[i]))
        self._bytes = sum(part.nbytes for part in self._shelf.parts)

    def hub(self, node: Node, start: NodeClasses, guess: Callable[[Node], float]) -> Node | None:
        """Return a node below, to be made first because others asked for lately are above it too.

        Args:
            node: The node that is asked for.
            start: What it would be made of.
            guess: Tells about how many classes a node has.
        """
        size = len(start.rows)
        if size < _WORTH_A_HUB:
            return None
        with self._lock:
            above = [(n, s) for n, s in self._recent if is_below(start.node, n)]
            self._recent.append((node, size))
        if not above:
            return None
        meets = sorted({_meet(node, other) for other, _ in above} - self._tried, key=guess)
        best, most, all_of_them = None, 0.0, node
        for each in meets:
            all_of_them = _meet(all_of_them, each)
            for hub in {each, all_of_them} - self._tried - {start.node}:
                classes = guess(hub)
                # What it would have saved of the last, and saves now, beside what it costs.
                saved = sum(max(s - classes, 0.0) for n, s in above if is_below(hub, n))
                gain = saved - classes
                if 2 * classes <= size and gain > most:
                    best, most = hub, gain
        if best is None:
            return None
        with self._lock:
            self._tried.add(best)
            self._recent = deque(
                [
                    (n, min(s, int(guess(best))) if is_below(best, n) else s)
                    for n, s in self._recent
                ],
                maxlen=_RECENT,
            )
        return best


def _meet(one: Node, other: Node) -> Node:
    """Return the highest node below two.

    >>> _meet((1, 2), (2, 0))
    (1, 0)
    """
    return tuple(map(min, one, other))
