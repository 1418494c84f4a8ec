"""A graph laid out in rows: a box for every node and a route for every edge.

Edges never run through a box: between two rows they curve, through a row they go straight
down a lane of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt
from typing import NamedTuple

from sfumato.drawing.layers import Edge, Layered, layered
from sfumato.drawing.ordering import ordered
from sfumato.drawing.placing import placed
from sfumato.drawing.svg import Box, number

HEIGHT = 36.0
"""How high a box is."""

LOOP = 64.0
"""The room beside a box for an edge from a node to itself, and its label."""

_APART = 30.0
_BESIDE = 16.0
_LANE = 18.0
_PORT = 17.0
_CORNER = 12.0


class Point(NamedTuple):
    """A place in the drawing."""

    x: float
    y: float


@dataclass(frozen=True)
class Route:
    """The way of an edge from parent to child: upright at every point, curved in between."""

    points: tuple[Point, ...]
    against: bool = False
    """Whether it points up, against the flow: it closes a cycle."""

    def path(self, *, short: float) -> str:
        """Write the path, leaving out the last bit, which the arrowhead covers.

        >>> Route((Point(0, 0), Point(10, 20))).path(short=4)
        'M0 0C0 8 10 8 10 16'
        """
        *_, last = self.points
        end = last._replace(y=last.y + short if self.against else last.y - short)
        written = f"M{_pair(self.points[0])}"
        for a, b in pairwise((*self.points[:-1], end)):
            middle = (a.y + b.y) / 2
            bends = f"C{number(a.x)} {number(middle)} {number(b.x)} {number(middle)} {_pair(b)}"
            written += f"V{number(b.y)}" if a.x == b.x else bends
        return written

    def at(self, segment: int, t: float) -> Point:
        """Find a place on the way; `t` runs from 0 to 1 along one of its curves."""
        a, b = self.points[segment], self.points[segment + 1]
        # A cubic Bézier curve whose handles are upright and end half way down.
        ease = t * t * (3 - 2 * t)
        rise = 1.5 * t * (1 - t) + t * t * t
        return Point(a.x + (b.x - a.x) * ease, a.y + (b.y - a.y) * rise)

    @property
    def curves(self) -> range:
        """The segments between rows; those in between lead through a row."""
        return range(0, len(self.points) - 1, 2)


@dataclass(frozen=True)
class Layout:
    """Where everything is."""

    boxes: tuple[Box, ...]
    routes: Mapping[int, Route]
    """By position in the edges; an edge from a node to itself has none."""

    width: float
    height: float


def laid_out(widths: Sequence[float], edges: Sequence[Edge]) -> Layout:
    """Lay out a graph; nodes without edges stand below the others.

    Args:
        widths: How wide each node's box is.
        edges: Pairs of nodes; cycles are allowed.

    >>> layout = laid_out([50, 50], [(0, 1)])
    >>> [round(box.x) for box in layout.boxes], layout.routes[0].against
    ([0, 0], False)
    """
    proper = [e for e, (a, b) in enumerate(edges) if a != b]
    linked = sorted({node for e in proper for node in edges[e]})
    small = {node: i for i, node in enumerate(linked)}
    most = max(4, ceil(1.3 * sqrt(len(linked))))
    graph = layered(
        len(linked), [(small[edges[e][0]], small[edges[e][1]]) for e in proper], most=most
    )
    looped = {a for a, b in edges if a == b}
    rooms = [width + 2 * LOOP * (node in looped) for node, width in enumerate(widths)]
    boxes, routes, width, height = _flowing(
        graph, [widths[node] for node in linked], [rooms[node] for node in linked]
    )
    found = dict(zip(linked, boxes, strict=True))
    alone = [node for node in range(len(widths)) if node not in found]
    grid, width, height = _grid(widths, rooms, alone, Box(0, 0, width, height))
    found |= grid
    return Layout(
        tuple(found[node] for node in range(len(widths))),
        dict(zip(proper, routes, strict=True)),
        width,
        height,
    )


def _flowing(
    graph: Layered, widths: Sequence[float], rooms: Sequence[float]
) -> tuple[list[Box], list[Route], float, float]:
    if not graph.rows:
        return [], [], 0.0, 0.0
    rows = ordered(graph)
    links = graph.links()

    def apart(a: int, b: int) -> float:
        if a >= graph.nodes and b >= graph.nodes:
            return _LANE
        return sum(rooms[i] / 2 if i < graph.nodes else 0 for i in (a, b)) + _APART

    x = placed(rows, graph.chains, apart)
    edge_of = [rooms[i] / 2 if i < graph.nodes else _LANE / 2 for i in range(len(x))]
    left = min(x[i] - edge_of[i] for i in x)
    x = {item: place - left for item, place in x.items()}
    tops = _tops(rows, links, x)
    row_of = {item: r for r, row in enumerate(rows) for item in row}
    boxes = [
        Box(x[node] - widths[node] / 2, tops[row_of[node]], widths[node], HEIGHT)
        for node in range(graph.nodes)
    ]
    width = max(x[i] + edge_of[i] for i in x)
    return boxes, _routes(graph, x, boxes, row_of, tops), width, tops[-1] + HEIGHT


def _tops(
    rows: Sequence[Sequence[int]], links: Sequence[Sequence[Edge]], x: Mapping[int, float]
) -> list[float]:
    """Give every row its y: where edges go far sideways, rows stand further apart."""
    tops = [0.0]
    for between in links:
        far = max((abs(x[a] - x[b]) for a, b in between), default=0)
        tops.append(tops[-1] + HEIGHT + min(max(62.0, 40 + 0.15 * far), 130.0))
    return tops[: len(rows)]


def _routes(
    graph: Layered,
    x: Mapping[int, float],
    boxes: Sequence[Box],
    row_of: Mapping[int, int],
    tops: Sequence[float],
) -> list[Route]:
    leaving = _ports([(chain[0], x[chain[1]]) for chain in graph.chains], boxes)
    arriving = _ports([(chain[-1], x[chain[-2]]) for chain in graph.chains], boxes)
    routes = []
    for e, chain in enumerate(graph.chains):
        points = [Point(leaving[e], tops[row_of[chain[0]]] + HEIGHT)]
        for bend in chain[1:-1]:
            top = tops[row_of[bend]]
            points += [Point(x[bend], top), Point(x[bend], top + HEIGHT)]
        points.append(Point(arriving[e], tops[row_of[chain[-1]]]))
        against = e in graph.against
        routes.append(Route(tuple(reversed(points) if against else points), against))
    return routes


def _ports(ends: Sequence[tuple[int, float]], boxes: Sequence[Box]) -> list[float]:
    """Part the edges that meet at one side of a box, in the order in which they come.

    Two edges between the same nodes are parted the same way at both ends, so they do not cross.
    """
    ports = [0.0] * len(ends)
    for node, box in enumerate(boxes):
        here = sorted((far, e) for e, (at, far) in enumerate(ends) if at == node)
        step = min(_PORT, (box.width - 2 * _CORNER) / max(len(here) - 1, 1))
        for place, (_, e) in enumerate(here):
            ports[e] = box.x + box.width / 2 + step * (place - (len(here) - 1) / 2)
    return ports


def _grid(
    widths: Sequence[float], rooms: Sequence[float], nodes: Sequence[int], above: Box
) -> tuple[dict[int, Box], float, float]:
    """Put nodes in lines like words, below what is drawn already."""
    limit = max(above.width, 640.0)
    lines: list[list[int]] = []
    for node in nodes:
        if lines and sum(rooms[n] + _BESIDE for n in lines[-1]) + rooms[node] <= limit:
            lines[-1].append(node)
        else:
            lines.append([node])
    wide = [sum(rooms[n] + _BESIDE for n in line) - _BESIDE for line in lines]
    width = max([above.width, *wide])
    y = above.height + (_APART if above.height else 0)
    boxes: dict[int, Box] = {}
    for line, taken in zip(lines, wide, strict=True):
        x = (width - taken) / 2
        for node in line:
            boxes[node] = Box(x + (rooms[node] - widths[node]) / 2, y, widths[node], HEIGHT)
            x += rooms[node] + _BESIDE
        y += HEIGHT + _BESIDE
    return boxes, width, y - _BESIDE if nodes else above.height


def _pair(point: Point) -> str:
    return f"{number(point.x)} {number(point.y)}"
