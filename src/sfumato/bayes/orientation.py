"""Giving the edges of a skeleton directions, never in a circle."""

from collections.abc import Iterable, Iterator
from itertools import combinations


class Pattern:
    """A graph with edges that have a direction and edges that have none yet.

    Nodes are positions. `orient` keeps it free of cycles: an edge that cannot point one
    way points the other.

    Example:
        >>> graph = Pattern(3, [(0, 1), (1, 2)])
        >>> graph.orient(0, 1)
        True
        >>> close(graph)  # 1 – 2 must not meet 0 → 1 at a collider
        >>> sorted(graph.arrows)
        [(0, 1), (1, 2)]
    """

    def __init__(self, nodes: int, edges: Iterable[tuple[int, int]]) -> None:
        self.nodes = range(nodes)
        self.neighbours: list[set[int]] = [set() for _ in self.nodes]
        self.children: list[set[int]] = [set() for _ in self.nodes]
        for a, b in edges:
            self.neighbours[a].add(b)
            self.neighbours[b].add(a)

    @property
    def arrows(self) -> set[tuple[int, int]]:
        """The edges that have a direction."""
        return {(a, b) for a in self.nodes for b in self.children[a]}

    def adjacent(self, a: int, b: int) -> bool:
        """Tell whether there is an edge, with a direction or without."""
        return b in self.neighbours[a]

    def arrow(self, a: int, b: int) -> bool:
        """Tell whether a → b."""
        return b in self.children[a]

    def open(self, a: int, b: int) -> bool:
        """Tell whether a – b, without a direction."""
        return self.adjacent(a, b) and not self.arrow(a, b) and not self.arrow(b, a)

    def open_edges(self) -> Iterator[tuple[int, int]]:
        """List the edges without a direction, in order."""
        return (
            (a, b)
            for a in self.nodes
            for b in sorted(self.neighbours[a])
            if a < b and self.open(a, b)
        )

    def reaches(self, a: int, b: int) -> bool:
        """Tell whether arrows lead from a to b."""
        seen: set[int] = set()
        waiting = [a]
        while waiting:
            new = self.children[waiting.pop()] - seen
            if b in new:
                return True
            seen |= new
            waiting += new
        return False

    def orient(self, a: int, b: int) -> bool:
        """Point an edge from a to b, or the other way if that would close a circle."""
        if self.reaches(b, a):
            self.children[b].add(a)
            return False
        self.children[a].add(b)
        return True

    def drop(self, a: int, b: int) -> None:
        """Take an edge out."""
        self.neighbours[a].discard(b)
        self.neighbours[b].discard(a)


def close(graph: Pattern) -> None:
    """Orient what follows from the arrows there are, until nothing more does (Meek 1995)."""
    changed = True
    while changed:
        changed = False
        for a, b in list(graph.open_edges()):
            for tail, head in ((a, b), (b, a)):
                if graph.open(tail, head) and _follows(graph, tail, head):
                    graph.orient(tail, head)
                    changed = True


def _follows(graph: Pattern, a: int, b: int) -> bool:
    """Tell whether a – b must be a → b."""
    near_a, near_b = graph.neighbours[a], graph.neighbours[b]
    into_b = [c for c in near_b if graph.arrow(c, b)]
    # R1: else c → a – b would be a new collider.
    if any(graph.arrow(c, a) and c not in near_b for c in near_a):
        return True
    # R2: else a → c → b → a would be a circle.
    if any(graph.arrow(a, c) for c in into_b):
        return True
    # R3: with b → a, both c → a and d → a would follow from R2, a new collider.
    beside = [c for c in into_b if graph.open(a, c)]
    if any(not graph.adjacent(c, d) for c, d in combinations(beside, 2)):
        return True
    # R4: with b → a, R2 gives d → a and then c → a, a new collider with b.
    return any(
        graph.open(a, c) and graph.arrow(c, d) and c not in near_b
        for d in into_b
        if d in near_a
        for c in near_a
    )


def choose_rest(graph: Pattern) -> set[tuple[int, int]]:
    """Orient what is left open, from the first node on; tell which arrows that made.

    >>> graph = Pattern(3, [(0, 2), (1, 2)])
    >>> sorted(choose_rest(graph))  # the second follows from the first
    [(0, 2), (2, 1)]
    """
    left = list(graph.open_edges())
    for a, b in left:
        if graph.open(a, b):
            graph.orient(a, b)
            close(graph)
    return {(a, b) if graph.arrow(a, b) else (b, a) for a, b in left}


def unshielded(graph: Pattern) -> Iterator[tuple[int, int, int]]:
    """List a – c – b with a and b not adjacent, as (a, c, b) with a < b."""
    for c in graph.nodes:
        for a, b in combinations(sorted(graph.neighbours[c]), 2):
            if not graph.adjacent(a, b):
                yield a, c, b


def compelled(nodes: int, arrows: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Give the arrows of a network that all equivalent networks share.

    >>> sorted(compelled(4, [(0, 1), (1, 2), (3, 2)]))
    [(1, 2), (3, 2)]
    """
    directed = set(arrows)
    graph = Pattern(nodes, directed)
    for a, c, b in unshielded(graph):
        if {(a, c), (b, c)} <= directed:
            graph.orient(a, c)
            graph.orient(b, c)
    close(graph)
    return graph.arrows
