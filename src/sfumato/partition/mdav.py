"""MDAV: groups of nearest neighbours around the rows that lie farthest out."""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from sfumato.counts import sums
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_int
from sfumato.partition.base import (
    Partition,
    Partitioner,
    Problem,
    Progress,
    starting_groups,
)
from sfumato.partition.labelling import line_of
from sfumato.partition.mondrian import Mondrian
from sfumato.partition.nearest import merge_nearest
from sfumato.typing import BoolArray, FloatArray, IntArray

_BLOCK = 32_768


@dataclass(frozen=True)
class Mdav(Partitioner):
    """Group each far-out combination with its nearest neighbours: microaggregation by MDAV.

    The combination farthest from the mean of all, and then the one farthest from that, each become
    a group with as many of their nearest neighbours as give the rows a class needs; so until
    too few are left, which are the last group. Numbers and dates are compared by what they are,
    others by the levels of their hierarchy at which they differ; each column counts in relation to
    its own spread, times its weight. Rows with the same quasi-identifiers stay together. Groups
    that break a model are merged with near ones until all keep it.

    Promises: every class keeps the models. Does not promise the least possible loss. With
    `as: mean` or `as: median` numbers stay numbers: that is microaggregation as it is known.

    Reference: "Practical data-oriented microaggregation for statistical disclosure control", 2002,
    doi:10.1109/69.979982

    Args:
        size: Rows of a group; None for the fewest that the models need.
        block: More combinations than this are first cut into blocks at medians, and grouped block
            by block: time grows with the square of a block, and beyond that with the number of
            blocks.
        exact_bounds: Whether an interval goes from the smallest to the largest value of its class.
            These are values of single people. Else it reaches to round numbers around them.

    Example:
        >>> Mdav(size=5).params()
        {'size': 5, 'block': 32768, 'exact_bounds': False}
    """

    name: ClassVar[str] = "mdav"
    in_words: ClassVar[str] = (
        "Each person far out is grouped with the nearest others. Made for numbers, which can stay "
        "numbers: the mean or median of the group."
    )

    size: int | None = None
    block: int = _BLOCK
    exact_bounds: bool = False

    def __post_init__(self) -> None:
        if self.size is not None:
            require_int("size", self.size, at_least=1)
        require_int("block", self.block, at_least=100)
        if not isinstance(self.exact_bounds, bool):
            raise ParameterError("exact_bounds", self.exact_bounds, "true or false")

    def intervals(self, problem: Problem) -> tuple[bool, ...]:
        return Mondrian().intervals(problem)

    def run(
        self,
        problem: Problem,
        progress: Progress | None = None,
        *,
        rng: np.random.Generator | None = None,
    ) -> Partition:
        size = max(self.size or 1, problem.judge.least)
        space = _Space.of(problem)
        start = starting_groups(problem)
        place = np.zeros(space.n, dtype=np.int64)
        place[problem.alike[start.item]] = start.group
        class_of = np.full(space.n, -1, dtype=np.int64)
        n = 0
        for some in _blocks(space, np.arange(space.n), place, self.block):
            for group in _groups(space, some, size):
                class_of[group] = n
                n += 1
                if progress is not None and not n % _TOLD:
                    progress(min(n * size, problem.total), problem.total)
        items = _PartItems.of(problem, space.n)
        class_of = merge_nearest(
            space.numbers, space.codes, space.apart, space.rows, place, class_of, items.passes
        )
        if progress is not None:
            progress(problem.total, problem.total)
        return Partition.of(np.arange(len(problem.counts)), problem.rows, class_of[problem.alike])


@dataclass(frozen=True, eq=False)
class _PartItems:
    """The items of each combination."""

    problem: Problem
    order: IntArray
    """The items, combination after combination."""

    starts: IntArray
    lengths: IntArray

    @classmethod
    def of(cls, problem: Problem, n: int) -> "_PartItems":
        lengths = np.bincount(problem.alike, minlength=n)
        order = np.argsort(problem.alike, kind="stable")
        return cls(problem, order, np.cumsum(lengths) - lengths, lengths)

    def passes(self, group: IntArray, combination: IntArray, n: int) -> BoolArray:
        """Judge groups of combinations."""
        lengths = self.lengths[combination]
        of_item = np.repeat(group, lengths)
        within = np.arange(len(of_item)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        items = self.order[np.repeat(self.starts[combination], lengths) + within]
        found: BoolArray = self.problem.judge.passes(of_item, items, self.problem.rows[items], n)
        return found


_TOLD = 64
"""Progress is told after this many groups."""

_PARTS = 64
"""Distances are cut into this many parts, or more, to see how far the nearest are."""


@dataclass(frozen=True, eq=False)
class _Space:
    """Combinations of quasi-identifiers as points, in which each column has a spread of one."""

    numbers: FloatArray
    """`numbers[j, i]`: coordinate j of combination i."""

    codes: IntArray
    """`codes[j, i]`: the label of combination i at a level of a column."""

    apart: FloatArray
    """What it adds to the squared distance of two if their labels differ there."""

    rows: FloatArray

    @property
    def n(self) -> int:
        """The number of combinations."""
        return len(self.rows)

    @classmethod
    def of(cls, problem: Problem) -> "_Space":
        n = int(problem.alike.max(initial=-1)) + 1
        first = np.zeros(n, dtype=np.int64)
        first[problem.alike[::-1]] = np.arange(len(problem.counts))[::-1]
        rows = sums(problem.alike, problem.rows, n).astype(np.float64)
        numbers: list[FloatArray] = []
        codes: list[IntArray] = []
        apart: list[float] = []
        for a, attribute in enumerate(problem.attributes):
            raw = problem.raw[a][first].astype(np.int64)
            points = line_of(attribute)
            if points is not None:
                line = points[raw]
                known = ~np.isnan(line)
                numbers.append(_standardise(line, rows, known) * np.sqrt(attribute.weight))
                if not known.all():
                    codes.append(known.astype(np.int64))
                    apart.append(2.0 * attribute.weight)
                continue
            levels = [
                attribute.ladder.codes[at][raw]
                for at in range(problem.lowest[a], attribute.ladder.height + 1)
            ]
            spread = sum(_spread(level, rows) for level in levels)
            if spread > 0.0:
                codes += [level.astype(np.int64) for level in levels]
                apart += [2.0 * attribute.weight / spread] * len(levels)
        return cls(
            np.array(numbers).reshape(len(numbers), n),
            np.array(codes, dtype=np.int64).reshape(len(codes), n),
            np.array(apart),
            rows,
        )


def _standardise(line: FloatArray, rows: FloatArray, known: np.ndarray) -> FloatArray:
    """Return numbers with mean 0 and variance 1; missing ones are at the mean.

    >>> _standardise(np.array([1.0, 3.0]), np.ones(2), np.ones(2, dtype=bool)).round(9).tolist()
    [-1.0, 1.0]
    """
    found = np.zeros(len(line))
    if known.any():
        values, weights = line[known], rows[known]
        # Of very large numbers the squares would be none any more.
        values = values / max(float(np.abs(values).max()), 1e-300)
        values = values - np.average(values, weights=weights)
        variance = float(np.average(values * values, weights=weights))
        found[known] = values / np.sqrt(variance) if variance > 0.0 else 0.0
    return found


def _spread(labels: IntArray, rows: FloatArray) -> float:
    """Return the chance that two rows have different labels.

    >>> _spread(np.array([0, 1]), np.array([1.0, 1.0]))
    0.5
    """
    shares = np.bincount(labels, weights=rows) / rows.sum()
    return 1.0 - float(shares @ shares)


def _blocks(space: _Space, chosen: IntArray, place: IntArray, most: int) -> Iterator[IntArray]:
    """Yield combinations that may be grouped with each other, in blocks that are not too large.

    A block is cut at the median of the number in which it is widest; without one, of a label.
    """
    waiting = [chosen[place[chosen] == at] for at in np.unique(place[chosen])]
    while waiting:
        some = waiting.pop()
        if len(some) <= most:
            yield some
            continue
        # Where nothing tells combinations apart, they are cut as they stand.
        lines = [*space.numbers, *space.codes, np.zeros(space.n)]
        widths = [float(line[some].std()) for line in space.numbers]
        line = lines[int(np.argmax(widths))] if max(widths, default=0.0) > 0.0 else lines[-2:][0]
        order = np.argsort(line[some], kind="stable")
        waiting += [some[order[len(some) // 2 :]], some[order[: len(some) // 2]]]


class _Points(NamedTuple):
    """Those points that have no group yet: all arrays are filled from the left."""

    numbers: FloatArray
    codes: IntArray
    rows: FloatArray
    ids: IntArray

    def first(self, n: int) -> "_Points":
        """Return the first points of all."""
        return _Points(self.numbers[:, :n], self.codes[:, :n], self.rows[:n], self.ids[:n])

    def remove(self, places: IntArray) -> "_Points":
        """Return the others, the last of which take the places that become free."""
        n = len(self.ids) - len(places)
        goes = places >= n
        if not goes.all():
            stays = np.ones(len(places), dtype=bool)
            stays[places[goes] - n] = False
            free, movers = places[~goes], n + np.flatnonzero(stays)
            # Few places change: line by line is faster than all lines at once.
            for line in (*self.numbers, *self.codes, self.rows, self.ids):
                line[free] = line[movers]
        return self.first(n)


def _groups(space: _Space, some: IntArray, size: int) -> Iterator[IntArray]:
    """Yield groups of combinations with at least the rows asked for, as far as there are enough."""
    points = _Points(
        space.numbers[:, some].copy(), space.codes[:, some].copy(), space.rows[some], some.copy()
    )
    centre = _Centre(space, points)
    while centre.rows >= 2 * size:
        two = centre.rows >= 3 * size
        far = int(np.argmax(centre.distances(points)))
        away = _distances(space, points, points.numbers[:, far], points.codes[:, far])
        near = _nearest(away, points, size)
        away[near] = -1.0
        other = int(np.argmax(away))
        there = points.numbers[:, other].copy(), points.codes[:, other].copy()
        yield points.ids[near]
        centre.leave(points, near)
        points = points.remove(near)
        if two and centre.rows >= 2 * size:
            away = _distances(space, points, *there)
            near = _nearest(away, points, size)
            yield points.ids[near]
            centre.leave(points, near)
            points = points.remove(near)
    if len(points.ids):
        yield points.ids


class _Centre:
    """The mean of the points that have no group yet."""

    def __init__(self, space: _Space, points: _Points) -> None:
        self._apart = space.apart
        self.rows = float(points.rows.sum())
        self._sums = points.numbers @ points.rows
        self._counts = [np.bincount(codes, weights=points.rows) for codes in points.codes]

    def distances(self, points: _Points) -> FloatArray:
        """Return the squared distance of each point, but for what is the same for all."""
        found = _squares(points, (self._sums / self.rows).tolist())
        for codes, counts, apart in zip(points.codes, self._counts, self._apart, strict=True):
            found -= (counts * (apart / self.rows))[codes]
        return found

    def leave(self, points: _Points, places: IntArray) -> None:
        """Remove the points at some places."""
        rows = points.rows[places]
        self.rows -= float(rows.sum())
        self._sums -= points.numbers[:, places] @ rows
        for codes, counts in zip(points.codes, self._counts, strict=True):
            np.subtract.at(counts, codes[places], rows)


def _distances(space: _Space, points: _Points, numbers: FloatArray, codes: IntArray) -> FloatArray:
    """Return the squared distance of each point from the one with these coordinates."""
    found = _squares(points, numbers.tolist())
    for labels, label, apart in zip(
        points.codes, codes.tolist(), space.apart.tolist(), strict=True
    ):
        found += apart * (labels != label)
    return found


def _squares(points: _Points, numbers: list[float]) -> FloatArray:
    """Return what numbers add to the squared distance of each point."""
    if not numbers:
        return np.zeros(len(points.ids))
    found: FloatArray = points.numbers[0] - numbers[0]
    found *= found
    for line, number in zip(points.numbers[1:], numbers[1:], strict=True):
        off = line - number
        off *= off
        found += off
    return found


def _nearest(away: FloatArray, points: _Points, size: int) -> IntArray:
    """Return the places of the nearest points that have enough rows together."""
    near = np.arange(len(away)) if len(away) <= size else np.flatnonzero(away <= _bound(away, size))
    near = near[np.lexsort([points.ids[near], away[near]])]
    enough = int(np.searchsorted(np.cumsum(points.rows[near]), size)) + 1
    return near[:enough]


def _bound(away: FloatArray, size: int) -> float:
    """Return a distance within which there are as many points as asked for, and hardly more.

    >>> _bound(np.array([5.0, 1.0, 4.0, 2.0]), 2)
    2.0
    """
    parts = max(4 * size, _PARTS)
    if len(away) >= 8 * parts:
        # The nearest of each of `size` parts are as many points. Minima are found three times
        # as fast as the order of all, and leave a few points more to sort.
        width = len(away) // parts
        away = away[: parts * width].reshape(parts, width).min(axis=1)
    return float(np.partition(away, size - 1)[size - 1])
