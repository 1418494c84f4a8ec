"""Grouping names nobody has ordered: rare ones join first."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias

_LONGEST_LIST = 40
_LONGEST_NAME = 20

Members: TypeAlias = tuple[int, ...]


def frequency_tree(texts: Sequence[str], counts: Sequence[int], depth: int) -> dict[str, Any]:
    """Make a tree of groups with 2 ** depth, …, 4, 2 groups per level, for `Taxonomy`.

    Again and again the two groups with the fewest rows become one, as in Huffman's code. So
    frequent values keep their names longest and rare ones hide each other. A group is called
    by its members while that is short. The names are not meant to last: edit them.

    Args:
        texts: The values, in an order that does not depend on the table's.
        counts: How many rows have each.
        depth: How many levels of groups; 2 ** depth must be less than the number of values.

    Example:
        >>> frequency_tree(["flu", "gout", "cold", "hiv"], [9, 1, 8, 1], 1)
        {'flu': None, '{gout, cold, hiv}': ['gout', 'cold', 'hiv']}
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
            new_names[first] = _name([texts[i] for i in group], number, len(groups), taken)
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


def _name(members: Sequence[str], number: int, groups: int, taken: set[str]) -> str:
    name = "{" + ", ".join(members) + "}"
    if len(name) > _LONGEST_LIST or name in taken:
        first = members[0]
        first = first if len(first) <= _LONGEST_NAME else first[: _LONGEST_NAME - 1] + "…"
        name = f"group {number} of {groups} ({first} and {len(members) - 1} more)"
    while name in taken:
        name += "'"
    return name
