"""In which order the items of each row stand, so that few edges cross."""

from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import pairwise

from sfumato.drawing.layers import Edge, Layered

_SWEEPS = 16


def ordered(graph: Layered) -> tuple[tuple[int, ...], ...]:
    """Order every row: by the mean place of each item's neighbours, then by swapping pairs.

    >>> from sfumato.drawing.layers import layered
    >>> graph = layered(4, [(0, 3), (1, 2)], most=5)
    >>> crossings(graph.rows, graph.links()), crossings(ordered(graph), graph.links())
    (1, 0)
    """
    links = graph.links()
    above: dict[int, list[int]] = {item: [] for row in graph.rows for item in row}
    below: dict[int, list[int]] = {item: [] for row in graph.rows for item in row}
    for between in links:
        for upper, lower in between:
            above[lower].append(upper)
            below[upper].append(lower)
    tries = [_swept(graph, above, below, down=down) for down in (False, True)]
    return min(tries, key=lambda rows: crossings(rows, links))


def _swept(
    graph: Layered, above: dict[int, list[int]], below: dict[int, list[int]], *, down: bool
) -> tuple[tuple[int, ...], ...]:
    """Go through the rows again and again, down and up in turns, and keep the best."""
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
                    _crossed(side[a], side[b], places) - _crossed(side[b], side[a], places)
                    for side in (above, below)
                )
                if gain > 0:
                    row[i], row[i + 1] = b, a
                    places[a], places[b] = i + 1, i
                    saved = True


def _crossed(left: list[int], right: list[int], places: dict[int, int]) -> int:
    return sum(places[a] > places[b] for a in left for b in right)
