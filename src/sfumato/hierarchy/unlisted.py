"""Values that a hierarchy does not list: refused, or all in one group."""

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from sfumato.errors import ParameterError
from sfumato.hierarchy.base import Hierarchy
from sfumato.hierarchy.language import DEFAULT, language_of
from sfumato.text import text_of
from sfumato.typing import Value

Unlisted: TypeAlias = Literal["refuse", "other"]
"""What becomes of a value that a hierarchy does not list."""


def require_unlisted(given: object) -> None:
    """Check the setting."""
    if given not in get_args(Unlisted):
        why = "values that are not listed stop a release, or are one group"
        raise ParameterError("new", given, "refuse or other", why=why)


def name_for_others(taken: set[str], language: str = DEFAULT) -> str:
    """Return what the group is called; no value and no other group has the name.

    >>> name_for_others({"flu"}), name_for_others({"other"}), name_for_others({"grippe"}, "fr")
    ('other', 'any other', 'autres')
    """
    return free_name(language_of(language).say("other"), taken)


def free_name(name: str, taken: set[str]) -> str:
    """Return a name, or one like it that nothing else has."""
    while name in taken:
        name = f"any {name}"
    return name


def place_unlisted(hierarchy: Hierarchy, column: str, values: Sequence[Value]) -> Hierarchy:
    """Return a hierarchy in which values that it does not list are one group until the top.

    Example:
        >>> wards = Hierarchy.from_paths(["A", "B"], [["north", "*"], ["south", "*"]])
        >>> place_unlisted(wards, "ward", ["A", "C"]).labels[1]
        ('north', 'south', 'other')
    """
    known = {text_of(value) for value in hierarchy.values}
    fresh = {text_of(value): value for value in values if text_of(value) not in known}
    if not fresh or hierarchy.height < 1:
        return hierarchy
    taken = known.union(fresh, *hierarchy.labels)
    name = name_for_others(taken)
    ways = [
        [hierarchy.labels[level][code] for code in hierarchy.codes[level].tolist()]
        for level in range(1, hierarchy.height + 1)
    ]
    paths = [list(way) for way in zip(*ways, strict=True)]
    top = hierarchy.labels[-1][0]
    paths += [[*[name] * (hierarchy.height - 1), top] for _ in fresh]
    return Hierarchy.from_paths(
        (*hierarchy.values, *fresh.values()), paths, origin=f"the hierarchy of {column!r}"
    )
