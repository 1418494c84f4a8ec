"""How few and how many people can keep all conditions, whatever is behind a release."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sfumato.typing import BoolArray, FloatArray, IntArray
from sfumato.usefulness.facet import added


class Part(NamedTuple):
    """One published table: for each of its entries the group, and what is certain of it."""

    group: IntArray
    people: FloatArray
    certain: Mapping[str, BoolArray]
    """Per column that is asked about, whether everybody behind an entry keeps the condition."""

    possible: Mapping[str, BoolArray]
    """Likewise, whether anybody can."""


def bounds(parts: Sequence[Part]) -> tuple[int, int]:
    """Give the least and the most people who can keep the conditions on all columns.

    Tables say nothing about who in a group is who in another, so in each group the bounds are
    Fréchet's: as many as the smallest number in any table, and no fewer than must meet if all
    others are kept apart. If no column stands in two tables, and labels are exact, some table
    behind the release reaches either bound.

    Reference: Fréchet, "Généralisation du théorème des probabilités totales", 1935,
    doi:10.4064/fm-25-1-379-387

    Example:
        >>> one, two = np.zeros(2, dtype=int), np.array([3.0, 1.0])
        >>> flu, low = np.array([True, False]), np.array([True, False])
        >>> bounds([Part(one, two, {"ill": flu}, {"ill": flu}),
        ...         Part(one, two, {"pay": low}, {"pay": low})])
        (2, 3)
    """
    n = max(int(part.group.max(initial=-1)) + 1 for part in parts)
    sizes = added(parts[0].group, parts[0].people, n)
    most = sizes
    for part in parts:
        most = np.minimum(most, _people(part, part.possible, list(part.possible), n))
    least, left = sizes, {name for part in parts for name in part.certain}
    while left:
        # A column that stands in several tables is counted in one of them only.
        best = max(parts, key=lambda part: len(left & part.certain.keys()))
        least = least + _people(best, best.certain, sorted(left & best.certain.keys()), n) - sizes
        left -= best.certain.keys()
    return round(float(np.maximum(least, 0).sum())), round(float(most.sum()))


def _people(part: Part, kept: Mapping[str, BoolArray], names: Sequence[str], n: int) -> FloatArray:
    """Count the people of each group whose entry keeps the conditions on some columns."""
    people = part.people
    for name in names:
        people = people * kept[name]
    return added(part.group, people, n)
