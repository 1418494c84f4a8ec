"""Cut points near the quantiles, at numbers people like."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from decimal import Decimal
from itertools import accumulate

from sfumato.hierarchy.scales import multiple_at

_BAND = 0.1
"""How far from the half a cut may lie for the sake of a rounder number."""


def nested_cuts(weights: Mapping[Decimal, int], depth: int) -> list[list[Decimal]]:
    """Halve the rows, the halves, the quarters ... and give each level's cut points, finest first.

    A cut takes the roundest number that leaves 40 to 60 % of the rows on either side. Where
    so many rows share one number that there is none, it goes next to that number.
    Levels that would repeat the one before are left out.

    Args:
        weights: The numbers, and how many rows have each.
        depth: How often to halve; at most 2 ** depth ranges come out.

    Example:
        >>> ages = {Decimal(age): 1 for age in range(18, 91)}
        >>> [[str(cut) for cut in level] for level in nested_cuts(ages, 2)]
        [['35', '50', '70'], ['50']]
    """
    points = sorted(weights)
    sums = [0, *accumulate(weights[point] for point in points)]
    found: set[Decimal] = set()
    levels: list[list[Decimal]] = []
    parts = [(0, len(points))]
    for _ in range(depth):
        halves: list[tuple[int, int]] = []
        for low, high in parts:
            if high - low > 1:
                cut = _halve(points, sums, low, high)
                found.add(cut)
                middle = bisect_left(points, cut)
                halves += [(low, middle), (middle, high)]
        parts = halves
        if found and (not levels or len(found) > len(levels[-1])):
            levels.append(sorted(found))
    return levels[::-1]


def _halve(points: list[Decimal], sums: list[int], low: int, high: int) -> Decimal:
    """Find a cut so that points[low:high] has points on both sides of it."""
    total = sums[high] - sums[low]
    # A cut "at i" puts points[i] and everything above it on the upper side.
    first = bisect_left(sums, sums[low] + (0.5 - _BAND) * total, low + 1, high - 1)
    last = bisect_right(sums, sums[low] + (0.5 + _BAND) * total, low + 1, high) - 1
    if first > last:
        half = sums[low] + 0.5 * total
        nearest = min(range(max(low + 1, first - 1), first + 1), key=lambda i: abs(sums[i] - half))
        first = last = nearest
    return roundest(points[first - 1], points[last])


def roundest(above: Decimal, up_to: Decimal) -> Decimal:
    """Find the roundest number in (above, up_to]: a multiple of the largest 1, 2 or 5 × 10ⁿ.

    >>> [str(roundest(Decimal(a), Decimal(b))) for a, b in ((37, 43), (-5, 3), (23, 24))]
    ['40', '0', '24']
    """
    if above < 0 <= up_to:
        return Decimal(0)
    exponent = max(above.adjusted(), up_to.adjusted())
    while True:
        for digit in (5, 2, 1):
            step = Decimal(digit).scaleb(exponent)
            multiple = multiple_at(up_to, step, Decimal(0))
            if multiple > above:
                return multiple
        exponent -= 1
