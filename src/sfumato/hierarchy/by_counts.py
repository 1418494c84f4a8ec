"""Ranges that fit the numbers of a column: even ones, or cut points near the quantiles."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from decimal import Decimal
from itertools import accumulate
from typing import NamedTuple

from sfumato.hierarchy.intervals import multiple_at

_BAND = 0.1
"""How far from the half a cut may lie for the sake of a rounder number."""


def nested_cuts(
    weights: Mapping[Decimal, int], depth: int, *, hide_single: bool = False
) -> list[list[Decimal]]:
    """Halve the rows, the halves, the quarters ... and give each level's cut points, finest first.

    A cut takes the roundest number that leaves 40 to 60 % of the rows on either side. Where
    too many rows share one number for that, it goes next to that number.
    Levels that would repeat the one before are left out.

    Args:
        weights: The numbers, and how many rows have each.
        depth: How often to halve; at most 2 ** depth ranges come out.
        hide_single: Whether a cut avoids the number of a single row, if there is one beside it:
            that row may not be published, and its number would be a bound all the same.

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
                cut, up_to = _halve(points, sums, low, high)
                # A rounder number below the last that would do was not chosen for the row it is of.
                if hide_single and cut == up_to and weights[up_to] == 1:
                    cut = _beside(points[bisect_left(points, cut) - 1], cut)
                found.add(cut)
                middle = bisect_left(points, cut)
                halves += [(low, middle), (middle, high)]
        parts = halves
        if found and (not levels or len(found) > len(levels[-1])):
            levels.append(sorted(found))
    return levels[::-1]


class EvenRanges(NamedTuple):
    """Ranges of equal, round widths, and where the open ends begin."""

    widths: list[Decimal]
    lower: Decimal | None
    upper: Decimal | None


_MOST_RANGES = 16
_LEAST_DIFFERENT = 12
_LOPSIDED = 3
_CROWDED = 0.4


def even_ranges(weights: Mapping[Decimal, int]) -> EvenRanges | None:
    """Return even ranges for numbers, or None where they would be empty here and crowded there.

    Widths and open ends follow from the quantiles, rounded; no single row moves them. An open
    end holds between 2 and 16 % of the rows, and no bound is the smallest or largest number. It
    begins where a range of every width does, so that no level has a sliver beside it.

    Args:
        weights: The numbers, and how many rows have each.

    Example:
        >>> ages = {Decimal(age): 1 for age in range(18, 91)}
        >>> [str(width) for width in even_ranges(ages).widths], even_ranges(ages).upper
        (['5', '10', '20', '40'], Decimal('80'))
        >>> even_ranges({Decimal(2) ** n: 1 for n in range(20)}) is None
        True
    """
    points = sorted(weights)
    if len(points) < _LEAST_DIFFERENT:
        return None
    sums = list(accumulate(weights[point] for point in points))

    def quantile(share: float) -> Decimal:
        return points[bisect_left(sums, share * sums[-1])]

    low, second, middle, last, high = map(quantile, (0.02, 0.16, 0.5, 0.84, 0.98))
    span = high - low
    sides = (middle - low, high - middle)
    if not span or min(sides) * _LOPSIDED < max(sides):
        return None
    width = _width(span / _MOST_RANGES)
    whole = all(point == point.to_integral_value() for point in (*points, width))
    if whole and width <= 1:
        width = Decimal(2)
    in_range: dict[Decimal, int] = {}
    for point in points:
        start = multiple_at(point, width, Decimal(0))
        in_range[start] = in_range.get(start, 0) + weights[point]
    if max(in_range.values()) > _CROWDED * sums[-1]:
        return None
    widths = [width]
    while widths[-1] * 3 <= span:
        widths.append(widths[-1] * 2)
    lower, upper = (_open_end(*ends, widths[-1]) for ends in ((low, second), (last, high)))
    if lower is not None and (lower <= points[0] or lower >= middle):
        lower = None
    if upper is not None and (upper >= points[-1] or upper <= middle):
        upper = None
    return EvenRanges(widths, lower, upper)


def _width(least: Decimal) -> Decimal:
    """Return the smallest 1, 2 or 5 × 10ⁿ that is not below a number."""
    exponent = least.adjusted()
    steps = (Decimal(digit).scaleb(exponent) for digit in (1, 2, 5, 10))
    return next(step for step in steps if step >= least)


def _open_end(above: Decimal, up_to: Decimal, width: Decimal) -> Decimal | None:
    """Return the last end in a stretch at which a range of the widest begins; None if none does."""
    found = multiple_at(up_to, width, Decimal(0))
    return found if found > above else None


def _halve(points: list[Decimal], sums: list[int], low: int, high: int) -> tuple[Decimal, Decimal]:
    """Find a cut so that points[low:high] has points on both sides, and the last that would do."""
    total = sums[high] - sums[low]
    # A cut "at i" puts points[i] and everything above it on the upper side.
    first = bisect_left(sums, sums[low] + (0.5 - _BAND) * total, low + 1, high - 1)
    last = bisect_right(sums, sums[low] + (0.5 + _BAND) * total, low + 1, high) - 1
    if first > last:
        half = sums[low] + 0.5 * total
        nearest = min(range(max(low + 1, first - 1), first + 1), key=lambda i: abs(sums[i] - half))
        first = last = nearest
    return roundest(points[first - 1], points[last]), points[last]


def _beside(below: Decimal, cut: Decimal) -> Decimal:
    """Find a round number between two, apart from both; the upper one if whole numbers have none.

    >>> [str(_beside(Decimal(a), Decimal(b))) for a, b in ((1000, 1005), (36, 37), (1, "1.5"))]
    ['1004', '37', '1.2']
    """
    if below == below.to_integral_value() and cut == cut.to_integral_value():
        return roundest(below, cut - 1) if cut - 1 > below else cut
    return roundest(below, (below + cut) / 2)


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
