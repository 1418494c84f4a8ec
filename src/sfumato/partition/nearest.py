"""Merging groups that break a model with the nearest ones, until all keep it."""

from collections.abc import Callable

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.typing import BoolArray, FloatArray, IntArray

_TRIED = 6
"""The nearest groups of a group that are tried: would the two keep the models together?"""

_AT_ONCE = 2**22
"""Pairs of groups whose distance is computed at a time."""

_ROUNDS = 200
"""The most rounds: whatever still fails after them is left to others to place."""

Passes = Callable[[IntArray, IntArray, int], BoolArray]
"""Judges groups of points: the group of each entry, its point, and the number of groups."""


@dataclass(frozen=True, eq=False)
class GroupSpace:
    """Groups of points: where their middles are, and which labels most of their rows have."""

    numbers: FloatArray
    """`numbers[j, g]`: coordinate j of the middle of group g."""

    codes: IntArray
    """`codes[j, g]`: the most frequent label j in group g, of equally frequent ones the first."""

    place: IntArray
    """Groups in different places may not be merged."""

    @classmethod
    def of(
        cls,
        numbers: FloatArray,
        codes: IntArray,
        rows: FloatArray,
        place: IntArray,
        group: IntArray,
    ) -> "GroupSpace":
        """Return the groups of points.

        Args:
            numbers: Coordinate j of point i.
            codes: Label j of point i.
            rows: How many rows each point has.
            place: Where it is.
            group: The group it is in, without gaps.
        """
        n = int(group.max(initial=-1)) + 1
        weights = np.bincount(group, weights=rows, minlength=n)
        middles = [
            np.bincount(group, weights=line * rows, minlength=n) / weights for line in numbers
        ]
        labels = [_most_frequent(line, rows, group) for line in codes]
        where = np.zeros(n, dtype=np.int64)
        where[group] = place
        return cls(
            np.array(middles).reshape(len(numbers), n),
            np.array(labels, dtype=np.int64).reshape(len(codes), n),
            where,
        )

    def nearest(self, some: IntArray, apart: FloatArray, most: int) -> tuple[IntArray, FloatArray]:
        """Return the nearest other groups of some groups, and how far they are.

        Args:
            some: The groups.
            apart: What different labels add to the squared distance.
            most: How many are wanted; where there are fewer, the distance is infinite.
        """
        n = self.place.size
        most = min(most, n)
        near = np.empty((len(some), most), dtype=np.int64)
        far = np.empty((len(some), most))
        step = max(_AT_ONCE // max(n, 1), 1)
        for start in range(0, len(some), step):
            here = some[start : start + step]
            away = np.zeros((len(here), n))
            for line in self.numbers:
                away += np.square(line[here][:, None] - line)
            for line, each in zip(self.codes, apart.tolist(), strict=True):
                away += each * (line[here][:, None] != line)
            away[self.place[here][:, None] != self.place] = np.inf
            away[np.arange(len(here)), here] = np.inf
            # Of equally near groups the first ones are taken.
            chosen = np.argsort(away, axis=1, kind="stable")[:, :most]
            near[start : start + step] = chosen
            far[start : start + step] = np.take_along_axis(away, chosen, axis=1)
        return near, far


def _most_frequent(labels: IntArray, rows: FloatArray, group: IntArray) -> IntArray:
    """Return the label that most rows of each group have, of equally frequent ones the first.

    >>> rows = np.array([1.0, 1.0, 3.0, 1.0])
    >>> _most_frequent(np.array([0, 0, 1, 2]), rows, np.array([0, 0, 0, 1])).tolist()
    [1, 2]
    """
    width = int(labels.max(initial=0)) + 1
    keys, of_key = np.unique(group * width + labels, return_inverse=True)
    weight = np.bincount(of_key, weights=rows)
    order = np.lexsort([keys % width, -weight, keys // width])
    first = np.flatnonzero(np.diff(keys[order] // width, prepend=-1))
    found: IntArray = keys[order][first] % width
    return found


def merge_nearest(
    numbers: FloatArray,
    codes: IntArray,
    apart: FloatArray,
    rows: FloatArray,
    place: IntArray,
    group: IntArray,
    passes: Passes,
) -> IntArray:
    """Merge groups that break a model with near ones; return the group of each point.

    In each round every group that fails looks at its nearest groups and chooses the nearest with
    which it would keep the models, or else the nearest of all. Of choices that share a group the
    best is carried out: one that passes, then the shorter way, then the first. A group that fails
    still when it has no other to go to stays as it is.

    Args:
        numbers: Coordinate j of point i.
        codes: Label j of point i.
        apart: What different labels add to a squared distance.
        rows: How many rows each point has.
        place: Points in different places are never merged.
        group: The group of each point.
        passes: Judges groups.

    >>> def passes(group, point, n):
    ...     return np.bincount(group, minlength=n) > 1
    >>> line, none = np.array([[0.0, 1.0, 5.0, 6.0, 6.5]]), np.zeros((0, 5), dtype=np.int64)
    >>> one, alone = np.ones(5), np.arange(5)
    >>> merge_nearest(line, none, np.ones(0), one, alone * 0, alone, passes).tolist()
    [0, 0, 1, 1, 1]
    """
    group = np.unique(group, return_inverse=True)[1]
    points = np.arange(len(group))
    fails = ~passes(group, points, int(group.max(initial=-1)) + 1)
    for _ in range(_ROUNDS):
        n = len(fails)
        if not fails.any() or n < 2:
            break
        space = GroupSpace.of(numbers, codes, rows, place, group)
        some = np.flatnonzero(fails)
        near, far = space.nearest(some, apart, _TRIED)
        good = _would_pass(group, points, some, near, far, passes)
        best = np.argmax(good, axis=1)
        any_good = good[np.arange(len(some)), best]
        # Where none would do, the nearest: the next round looks further.
        target = near[np.arange(len(some)), best]
        way = far[np.arange(len(some)), best]
        order = np.lexsort([target, some, way, ~any_good])
        order = order[np.isfinite(way[order])]
        if not len(order):
            break
        pairs = _apart(some[order], target[order], n)
        one, other = some[order][pairs], target[order][pairs]
        into = np.arange(n)
        into[np.maximum(one, other)] = np.minimum(one, other)
        passing = ~fails
        merged = np.minimum(one, other)
        passing[merged] = any_good[order][pairs]
        kept = np.flatnonzero(into == np.arange(n))
        number = np.cumsum(into == np.arange(n)) - 1
        group = number[into][group]
        fails = ~passing[kept]
    return group


def _apart(one: IntArray, other: IntArray, n: int) -> IntArray:
    """Return the pairs that are the first, in their order, in which each of their groups is.

    >>> _apart(np.array([0, 1, 3]), np.array([1, 2, 4]), 5).tolist()
    [0, 2]
    """
    rank = np.arange(len(one))
    first = np.full(n, len(one))
    np.minimum.at(first, one, rank)
    np.minimum.at(first, other, rank)
    return np.flatnonzero((first[one] == rank) & (first[other] == rank))


def _would_pass(
    group: IntArray,
    points: IntArray,
    some: IntArray,
    near: IntArray,
    far: FloatArray,
    passes: Passes,
) -> BoolArray:
    """Return whether each group would keep the models with each of its nearest."""
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    one = np.repeat(some, near.shape[1])
    other = near.ravel()
    possible = np.isfinite(far.ravel())
    one, other = one[possible], other[possible]
    members = np.stack([one, other], axis=1).ravel()
    lengths = sizes[members]
    of_pair = np.repeat(np.arange(len(members)) // 2, lengths)
    within = np.arange(len(of_pair)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    found = points[order[np.repeat(starts[members], lengths) + within]]
    good = np.zeros(far.size, dtype=bool)
    if len(one):
        good[possible] = passes(of_pair, found, len(one))
    return good.reshape(far.shape)
