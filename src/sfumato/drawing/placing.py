"""Where along its row each item stands: near its neighbours, and never on another item."""

from collections.abc import Callable, Sequence
from itertools import pairwise

_SWEEPS = 40


def placed(
    rows: Sequence[Sequence[int]],
    chains: Sequence[Sequence[int]],
    apart: Callable[[int, int], float],
) -> dict[int, float]:
    """Give every item an x, keeping the order of its row.

    Args:
        rows: The items of each row, from left to right.
        chains: The items that each edge passes, downwards; all but the ends are its bends.
        apart: How far apart the middles of two neighbours in a row must be.

    >>> x = placed([[0], [1, 2]], [(0, 1), (0, 2)], lambda a, b: 10)
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
    for sweep in range(_SWEEPS):
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
