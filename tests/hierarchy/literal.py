"""What a hierarchy must be, checked value by value and pair by pair: slow, and easy to believe."""

from sfumato.hierarchy import Hierarchy
from sfumato.text import text_of


def labels_of(hierarchy: Hierarchy) -> dict[str, list[str]]:
    """Give for each raw value its label at every level, level 0 first."""
    return {
        text_of(value): [
            hierarchy.labels[level][hierarchy.codes[level, i]]
            for level in range(hierarchy.height + 1)
        ]
        for i, value in enumerate(hierarchy.values)
    }


def groups_of(hierarchy: Hierarchy) -> list[set[frozenset[str]]]:
    """Give for each level the groups of raw values that share a label."""
    paths = labels_of(hierarchy)
    return [
        {
            frozenset(value for value, path in paths.items() if path[level] == label)
            for label in hierarchy.labels[level]
        }
        for level in range(hierarchy.height + 1)
    ]


def assert_nested(hierarchy: Hierarchy) -> None:
    """Whoever shares a label shares all labels above it; at the top all share one."""
    paths = list(labels_of(hierarchy).values())
    for one in paths:
        for other in paths:
            together = [a == b for a, b in zip(one, other, strict=True)]
            assert together == sorted(together), f"{one} and {other} part again"
            assert together[-1]
