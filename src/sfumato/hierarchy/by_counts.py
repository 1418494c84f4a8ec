"""Cut points near the quantiles, at numbers people like."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from decimal import Decimal
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import Any, TypeAlias

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
                cut = _halve(points, sums, low, high)
                if hide_single and weights.get(cut) == 1:
                    cut = _beside(points[bisect_left(points, cut) - 1], cut)
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


# Grouping names that have no order: rare ones join first.


_LONGEST_LIST = 40
_LONGEST_NAME = 20

Members: TypeAlias = tuple[int, ...]


def frequency_tree(
    texts: Sequence[str], counts: Sequence[int], depth: int, *, hide_single: bool = False
) -> dict[str, Any]:
    """Make a tree of groups with 2 ** depth, …, 4, 2 groups per level, for `Taxonomy`.

    Again and again the two groups with the fewest rows become one, as in Huffman's code. So
    frequent values keep their names longest and rare ones hide each other. A group is called
    by its members while that is short. The names are not meant to last: edit them.

    Args:
        texts: The values, in an order that does not depend on the table's.
        counts: How many rows have each.
        depth: How many levels of groups; 2 ** depth must be less than the number of values.
        hide_single: Whether values of a single row are left out of the names of groups: that row
            may not be published, and its value would be all the same.

    Example:
        >>> frequency_tree(["flu", "gout", "cold", "hiv"], [9, 1, 8, 1], 1)
        {'flu': None, '{gout, cold, hiv}': ['gout', 'cold', 'hiv']}
        >>> frequency_tree(["flu", "gout", "cold", "hiv"], [9, 1, 8, 1], 1, hide_single=True)
        {'flu': None, '{cold and 2 more}': ['gout', 'cold', 'hiv']}
    """
    levels = _merge(counts, [2**level for level in range(depth, 0, -1)])
    below: dict[int, Any] = dict.fromkeys(range(len(texts)))
    # Name groups level by level; a group is known by its first member, which is in no other.
    names: dict[int, str] = dict(enumerate(texts))
    for groups in levels:
        new_below: dict[int, Any] = {}
        new_names: dict[int, str] = {}
        taken = set(texts)
        for number, group in enumerate(groups, start=1):
            first = group[0]
            if len(group) == 1:
                new_below[first], new_names[first] = None, texts[first]
                continue
            children = {names[i]: below[i] for i in group if i in below}
            leaves = all(child is None for child in children.values())
            new_below[first] = list(children) if leaves else children
            shown = [texts[i] for i in group if not hide_single or counts[i] > 1]
            new_names[first] = _name(shown, len(group), (number, len(groups)), taken)
            taken.add(new_names[first])
        below, names = new_below, new_names
    return {names[first]: below[first] for first in below}


def _merge(counts: Sequence[int], targets: Sequence[int]) -> list[list[Members]]:
    """Merge the two lightest groups until there are as many as each target says."""
    heap: list[tuple[int, int, Members]] = [(max(n, 1), i, (i,)) for i, n in enumerate(counts)]
    heapify(heap)
    levels: list[list[Members]] = []
    for target in targets:
        while len(heap) > target:
            (n, _, one), (m, _, other) = heappop(heap), heappop(heap)
            members = tuple(sorted(one + other))
            heappush(heap, (n + m, members[0], members))
        levels.append(sorted(members for _, _, members in heap))
    return levels


def _name(shown: Sequence[str], size: int, place: tuple[int, int], taken: set[str]) -> str:
    """Return what a group is called: by those of its members that may be shown, if it is short."""
    rest = size - len(shown)
    name = "{" + ", ".join(shown) + (f" and {rest} more" if rest else "") + "}"
    number, groups = place
    if not shown:
        name = f"group {number} of {groups}"
    elif len(name) > _LONGEST_LIST or name in taken:
        first = shown[0]
        first = first if len(first) <= _LONGEST_NAME else first[: _LONGEST_NAME - 1] + "…"
        name = f"group {number} of {groups} ({first} and {size - 1} more)"
    while name in taken:
        name += "'"
    return name
