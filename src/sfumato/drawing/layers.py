"""Which row of the drawing each node belongs to, so that arrows point down.

Reference: "Methods for Visual Understanding of Hierarchical System Structures", 1981,
doi:10.1109/TSMC.1981.4308636
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

Edge: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Layered:
    """Rows of items. An item is a node, or a bend that leads a long edge through a row.

    Bends have numbers from `nodes` on.
    """

    nodes: int
    rows: tuple[tuple[int, ...], ...]
    chains: tuple[tuple[int, ...], ...]
    """For each edge the items it passes, downwards, one in every row."""

    against: frozenset[int]
    """The edges that point up: each closes a cycle."""

    def links(self) -> list[list[Edge]]:
        """Give, for each pair of neighbouring rows, the pairs of items to be joined."""
        row_of = {item: r for r, row in enumerate(self.rows) for item in row}
        found: list[list[Edge]] = [[] for _ in self.rows[1:]]
        for chain in self.chains:
            for upper, lower in pairwise(chain):
                found[row_of[upper]].append((upper, lower))
        return found


def layered(nodes: int, edges: Sequence[Edge], *, most: int) -> Layered:
    """Sort nodes into rows of at most `most`, and lead long edges from row to row.

    >>> layered(3, [(0, 1), (1, 2), (0, 2)], most=5)
    Layered(nodes=3, rows=((0,), (1, 3), (2,)), chains=((0, 1), (1, 2), (0, 3, 2)),
    against=frozenset())
    >>> layered(2, [(0, 1), (1, 0)], most=5).against
    frozenset({1})
    """
    place = {node: i for i, node in enumerate(flow(nodes, edges))}
    against = frozenset(e for e, (a, b) in enumerate(edges) if place[a] > place[b])
    down = [(b, a) if e in against else (a, b) for e, (a, b) in enumerate(edges)]
    row_of = _rows_of(nodes, down, most)
    rows: list[list[int]] = [[] for _ in range(max(row_of, default=-1) + 1)]
    for node, row in enumerate(row_of):
        rows[row].append(node)
    chains = []
    bends = nodes
    for upper, lower in down:
        between = range(row_of[upper] + 1, row_of[lower])
        for bend, row in enumerate(between, bends):
            rows[row].append(bend)
        chains.append((upper, *range(bends, bends + len(between)), lower))
        bends += len(between)
    return Layered(nodes, tuple(map(tuple, rows)), tuple(chains), against)


def flow(nodes: int, edges: Sequence[Edge]) -> list[int]:
    """Order nodes so that few edges point back; none if there is no cycle.

    Reference: "A fast and effective heuristic for the feedback arc set problem", 1993,
    doi:10.1016/0020-0190(93)90079-O

    >>> flow(3, [(2, 1), (1, 0)]), flow(2, [(0, 1), (1, 0)])
    ([2, 1, 0], [0, 1])
    """
    left = list(range(nodes))
    first: list[int] = []
    last: list[int] = []
    while left:
        inside = [(a, b) for a, b in edges if a in left and b in left]
        out = {node: sum(a == node for a, _ in inside) for node in left}
        into = {node: sum(b == node for _, b in inside) for node in left}
        sources = [node for node in left if not into[node]]
        sinks = [node for node in left if not out[node] and into[node]]
        if sources or sinks:
            first += sources
            last = sinks + last
        else:
            sources = [max(left, key=lambda node: (out[node] - into[node], -node))]
            first += sources
        left = [node for node in left if node not in sources and node not in sinks]
    return first + last


def _rows_of(nodes: int, down: Sequence[Edge], most: int) -> list[int]:
    """Fill row after row, those with the longest way below them first; then shorten edges."""
    parents = [[a for a, b in down if b == node] for node in range(nodes)]
    children = [[b for a, b in down if a == node] for node in range(nodes)]
    below = [0] * nodes
    for node in reversed(flow(nodes, down)):
        below[node] = max((below[child] + 1 for child in children[node]), default=0)
    row_of = [-1] * nodes
    row = 0
    while -1 in row_of:
        free = [
            node
            for node in range(nodes)
            if row_of[node] < 0 and all(0 <= row_of[p] < row for p in parents[node])
        ]
        for node in sorted(free, key=lambda node: (-below[node], node))[:most]:
            row_of[node] = row
        row += 1
    _tighten(row_of, parents, children, most)
    used = sorted(set(row_of))
    return [used.index(row) for row in row_of]


def _tighten(
    row_of: list[int], parents: list[list[int]], children: list[list[int]], most: int
) -> None:
    """Move nodes up or down, where there is room, as long as edges get shorter."""
    bottom = max(row_of, default=0)
    moved = True
    while moved:
        moved = False
        for node, row in enumerate(row_of):
            highest = max((row_of[p] + 1 for p in parents[node]), default=0)
            lowest = min((row_of[c] - 1 for c in children[node]), default=bottom)
            if len(parents[node]) > len(children[node]):
                better = range(highest, row)
            elif len(parents[node]) < len(children[node]):
                better = range(lowest, row, -1)
            else:
                continue
            room = [r for r in better if row_of.count(r) < most]
            if room:
                row_of[node] = room[0]
                moved = True
