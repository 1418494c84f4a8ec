"""A graph laid out in rows: a box for every node and a route for every edge.

Edges never run through a box: between two rows they curve, through a row they go straight
down a lane of their own.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import ceil, sqrt
from typing import NamedTuple, TypeAlias

from sfumato.dataclasses import dataclass
from sfumato.showing.svg import Box, number

# The row of each node, so that arrows point down.
#
# Reference: "Methods for Visual Understanding of Hierarchical System Structures", 1981,
# doi:10.1109/TSMC.1981.4308636


Edge: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class LayeredGraph:
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
        """Return, for each pair of neighbouring rows, the pairs of items to be joined."""
        row_of = {item: r for r, row in enumerate(self.rows) for item in row}
        found: list[list[Edge]] = [[] for _ in self.rows[1:]]
        for chain in self.chains:
            for upper, lower in pairwise(chain):
                found[row_of[upper]].append((upper, lower))
        return found


def assign_rows(nodes: int, edges: Sequence[Edge], *, most: int) -> LayeredGraph:
    """Sort nodes into rows of at most `most`, and lead long edges from row to row.

    >>> assign_rows(3, [(0, 1), (1, 2), (0, 2)], most=5)
    LayeredGraph(nodes=3, rows=((0,), (1, 3), (2,)), chains=((0, 1), (1, 2), (0, 3, 2)),
    against=frozenset())
    >>> assign_rows(2, [(0, 1), (1, 0)], most=5).against
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
    return LayeredGraph(nodes, tuple(map(tuple, rows)), tuple(chains), against)


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


# The order of the items in each row, so that few edges cross.


_SWEEPS = 16


def order_rows(graph: LayeredGraph) -> tuple[tuple[int, ...], ...]:
    """Order every row: by the mean place of each item's neighbours, then by swapping pairs.

    >>> from sfumato.showing.layout import assign_rows
    >>> graph = assign_rows(4, [(0, 3), (1, 2)], most=5)
    >>> crossings(graph.rows, graph.links()), crossings(order_rows(graph), graph.links())
    (1, 0)
    """
    links = graph.links()
    above: dict[int, list[int]] = {item: [] for row in graph.rows for item in row}
    below: dict[int, list[int]] = {item: [] for row in graph.rows for item in row}
    for between in links:
        for upper, lower in between:
            above[lower].append(upper)
            below[upper].append(lower)
    tries = [_sweep(graph, above, below, down=down) for down in (False, True)]
    return min(tries, key=lambda rows: crossings(rows, links))


def _sweep(
    graph: LayeredGraph, above: dict[int, list[int]], below: dict[int, list[int]], *, down: bool
) -> tuple[tuple[int, ...], ...]:
    """Sweep through the rows again and again, down and up in turns, and keep the best."""
    links = graph.links()
    rows = [_bends_inside(row, graph.nodes) for row in graph.rows]
    best, fewest = _copy(rows), crossings(rows, links)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        # Downwards a row is sorted by the row above it, which is settled, and upwards by the next.
        if down == (sweep % 2 == 0):
            for r in range(1, len(rows)):
                _sort(rows[r], rows[r - 1], above)
        else:
            for r in range(len(rows) - 2, -1, -1):
                _sort(rows[r], rows[r + 1], below)
        _swap(rows, above, below)
        found = crossings(rows, links)
        if found < fewest:
            best, fewest = _copy(rows), found
    return best


def _bends_inside(row: Sequence[int], nodes: int) -> list[int]:
    """Start with the bends in the middle: what goes further down, goes down between the nodes."""
    real = [item for item in row if item < nodes]
    half = len(real) // 2
    return [*real[:half], *(item for item in row if item >= nodes), *real[half:]]


def crossings(rows: Sequence[Sequence[int]], links: Sequence[Sequence[Edge]]) -> int:
    """Count the pairs of edges that cross between neighbouring rows."""
    total = 0
    for (upper, lower), between in zip(pairwise(rows), links, strict=True):
        left, right = _places(upper), _places(lower)
        seen: list[int] = []
        for _, end in sorted((left[a], right[b]) for a, b in between):
            total += len(seen) - bisect_left(seen, end + 1)
            insort(seen, end)
    return total


def _copy(rows: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in rows)


def _places(row: Sequence[int]) -> dict[int, int]:
    return {item: place for place, item in enumerate(row)}


def _sort(row: list[int], fixed: list[int], neighbours: dict[int, list[int]]) -> None:
    own, other = _places(row), _places(fixed)
    # An item without neighbours keeps its share of the way along the row.
    stretch = len(fixed) / len(row)

    def mean(item: int) -> float:
        places = [other[n] for n in neighbours[item]]
        return sum(places) / len(places) if places else own[item] * stretch

    row.sort(key=lambda item: (mean(item), own[item]))


def _swap(rows: list[list[int]], above: dict[int, list[int]], below: dict[int, list[int]]) -> None:
    """Swap neighbours in a row as long as that saves crossings."""
    places = {item: place for row in rows for place, item in enumerate(row)}
    saved = True
    while saved:
        saved = False
        for row in rows:
            for i in range(len(row) - 1):
                a, b = row[i], row[i + 1]
                gain = sum(
                    _crosses(side[a], side[b], places) - _crosses(side[b], side[a], places)
                    for side in (above, below)
                )
                if gain > 0:
                    row[i], row[i + 1] = b, a
                    places[a], places[b] = i + 1, i
                    saved = True


def _crosses(left: list[int], right: list[int], places: dict[int, int]) -> int:
    return sum(places[a] > places[b] for a in left for b in right)


# The place of each item along its row: near its neighbours, and never on another item.


_PLACING_SWEEPS = 40


def place_items(
    rows: Sequence[Sequence[int]],
    chains: Sequence[Sequence[int]],
    apart: Callable[[int, int], float],
) -> dict[int, float]:
    """Return an x for every item, keeping the order of its row.

    Args:
        rows: The items of each row, from left to right.
        chains: The items that each edge passes, downwards; all but the ends are its bends.
        apart: How far apart the middles of two neighbours in a row must be.

    >>> x = place_items([[0], [1, 2]], [(0, 1), (0, 2)], lambda a, b: 10)
    >>> x[0] - x[1], x[2] - x[0]
    (5.0, 5.0)
    """
    pulls: dict[int, list[tuple[int, float]]] = {item: [] for row in rows for item in row}
    for chain in chains:
        bends = chain[1:-1]
        for upper, lower in pairwise(chain):
            pulls[upper].append((lower, 1.0))
            pulls[lower].append((upper, 1.0))
        for bend in bends:
            # All bends of an edge pull at each other, so that it goes straight where it can.
            pulls[bend] += [(other, 4.0 / len(bends)) for other in bends]
    steps = [[apart(a, b) for a, b in pairwise(row)] for row in rows]
    x: dict[int, float] = {}
    for row, gaps in zip(rows, steps, strict=True):
        x.update(zip(row, _around_zero(gaps), strict=False))
    for sweep in range(_PLACING_SWEEPS):
        turn = range(len(rows)) if sweep % 2 == 0 else range(len(rows) - 1, -1, -1)
        for r in turn:
            wanted = [_mean([(x[n], w) for n, w in pulls[item]], x[item]) for item in rows[r]]
            weights = [sum(w for _, w in pulls[item]) or 0.1 for item in rows[r]]
            x.update(zip(rows[r], spread(wanted, weights, steps[r]), strict=True))
    return x


def spread(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Find the places nearest to the wanted ones (least squares) that keep their gaps.

    Less the gaps before it, every place must be at least the place before it: an isotonic
    regression, solved by pooling neighbours that are in each other's way.

    >>> spread([0, 0, 100], [1, 1, 1], [10, 10])
    [-5.0, 5.0, 100.0]
    """
    before = [0.0]
    for gap in gaps:
        before.append(before[-1] + gap)
    pools: list[tuple[float, float, int]] = []
    for want, weight, start in zip(wanted, weights, before, strict=False):
        mean, heavy, size = want - start, weight, 1
        while pools and pools[-1][0] > mean:
            other, weight_of_other, n = pools.pop()
            mean = (mean * heavy + other * weight_of_other) / (heavy + weight_of_other)
            heavy, size = heavy + weight_of_other, size + n
        pools.append((mean, heavy, size))
    flat = [mean for mean, _, size in pools for _ in range(size)]
    return [float(place + start) for place, start in zip(flat, before, strict=False)]


def _around_zero(gaps: Sequence[float]) -> list[float]:
    places = [0.0]
    for gap in gaps:
        places.append(places[-1] + gap)
    middle = places[-1] / 2
    return [place - middle for place in places]


def _mean(pairs: Sequence[tuple[float, float]], otherwise: float) -> float:
    weight = sum(w for _, w in pairs)
    return sum(place * w for place, w in pairs) / weight if weight else otherwise


HEIGHT = 36.0
"""How high a box is."""

LOOP = 64.0
"""The room beside a box for an edge from a node to itself, and its label."""

_APART = 30.0
_BESIDE = 16.0
_LANE = 18.0
_PORT = 17.0
_CORNER = 12.0


class DrawnPoint(NamedTuple):
    """A place in the drawing."""

    x: float
    y: float


@dataclass(frozen=True)
class Route:
    """The way of an edge from parent to child: upright at every point, curved in between."""

    points: tuple[DrawnPoint, ...]
    against: bool = False
    """Whether it points up, against the flow: it closes a cycle."""

    def path(self, *, short: float) -> str:
        """Write the path, leaving out the last bit, which the arrowhead covers.

        >>> Route((DrawnPoint(0, 0), DrawnPoint(10, 20))).path(short=4)
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

    def at(self, segment: int, t: float) -> DrawnPoint:
        """Find a place on the way; `t` runs from 0 to 1 along one of its curves."""
        a, b = self.points[segment], self.points[segment + 1]
        # A cubic Bézier curve whose handles are upright and end half way down.
        ease = t * t * (3 - 2 * t)
        rise = 1.5 * t * (1 - t) + t * t * t
        return DrawnPoint(a.x + (b.x - a.x) * ease, a.y + (b.y - a.y) * rise)

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


def lay_out(widths: Sequence[float], edges: Sequence[Edge]) -> Layout:
    """Lay out a graph; nodes without edges stand below the others.

    Args:
        widths: How wide each node's box is.
        edges: Pairs of nodes; cycles are allowed.

    >>> layout = lay_out([50, 50], [(0, 1)])
    >>> [round(box.x) for box in layout.boxes], layout.routes[0].against
    ([0, 0], False)
    """
    proper = [e for e, (a, b) in enumerate(edges) if a != b]
    linked = sorted({node for e in proper for node in edges[e]})
    small = {node: i for i, node in enumerate(linked)}
    most = max(4, ceil(1.3 * sqrt(len(linked))))
    graph = assign_rows(
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
    graph: LayeredGraph, widths: Sequence[float], rooms: Sequence[float]
) -> tuple[list[Box], list[Route], float, float]:
    if not graph.rows:
        return [], [], 0.0, 0.0
    rows = order_rows(graph)
    links = graph.links()

    def apart(a: int, b: int) -> float:
        if a >= graph.nodes and b >= graph.nodes:
            return _LANE
        return sum(rooms[i] / 2 if i < graph.nodes else 0 for i in (a, b)) + _APART

    x = place_items(rows, graph.chains, apart)
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
    """Return the y of every row: where edges go far sideways, rows stand further apart."""
    tops = [0.0]
    for between in links:
        far = max((abs(x[a] - x[b]) for a, b in between), default=0)
        tops.append(tops[-1] + HEIGHT + min(max(62.0, 40 + 0.15 * far), 130.0))
    return tops[: len(rows)]


def _routes(
    graph: LayeredGraph,
    x: Mapping[int, float],
    boxes: Sequence[Box],
    row_of: Mapping[int, int],
    tops: Sequence[float],
) -> list[Route]:
    leaving = _ports([(chain[0], x[chain[1]]) for chain in graph.chains], boxes)
    arriving = _ports([(chain[-1], x[chain[-2]]) for chain in graph.chains], boxes)
    routes = []
    for e, chain in enumerate(graph.chains):
        points = [DrawnPoint(leaving[e], tops[row_of[chain[0]]] + HEIGHT)]
        for bend in chain[1:-1]:
            top = tops[row_of[bend]]
            points += [DrawnPoint(x[bend], top), DrawnPoint(x[bend], top + HEIGHT)]
        points.append(DrawnPoint(arriving[e], tops[row_of[chain[-1]]]))
        against = e in graph.against
        routes.append(Route(tuple(reversed(points) if against else points), against))
    return routes


def _ports(ends: Sequence[tuple[int, float]], boxes: Sequence[Box]) -> list[float]:
    """Spread the edges that meet at one side of a box, in the order in which they come.

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
    """Place nodes in lines like words, below what is drawn already."""
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


def _pair(point: DrawnPoint) -> str:
    return f"{number(point.x)} {number(point.y)}"
