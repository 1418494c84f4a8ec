"""Ranges of numbers or days, edited by hand; every edit gives new, valid intervals."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import Self

from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError, ParameterError, some
from sfumato.hierarchy.group_tree import MOST_LEVELS, GroupTree
from sfumato.hierarchy.intervals import Days, Intervals, Mark, Scale, mark_of
from sfumato.typing import Value


@dataclass(frozen=True)
class CutPoints:
    """Numbers or days in ranges, level by level: what a hand edits of intervals.

    Ranges are even, counted in `widths` and with open ends where that is said, or lie between cut
    points, open at both ends. Moving, adding and removing a cut point turns the first into the
    second: beyond the outermost values the ranges are open then. A cut point of a level is one of
    every finer level, too; a level that has none left, or the same as the next finer one, is gone.

    Example:
        >>> from sfumato.hierarchy.editing import edit
        >>> ages = edit(Intervals(bounds=[[18, 40, 65], [65]]), "age", [12, 30, 50, 70])
        >>> ages.move_cut(65, 60).builder().params()
        {'bounds': [[18, 40, 60], [60]]}
        >>> ages.remove_cut(65, level=2).builder().params()
        {'bounds': [[18, 40, 65]]}
    """

    column: str
    rows: Mapping[str, int]
    """Each value, as text, and how many rows have it."""

    intervals: Intervals
    missing: int = 0

    def __post_init__(self) -> None:
        if not self.rows:
            raise HierarchyError(f"{self.column!r} has no values to be put into intervals")
        # Raises if some value is no number, or no date.
        self.intervals.build(self.column, list(self.rows)[:1])
        _ = self.points

    @cached_property
    def points(self) -> dict[Decimal, int]:
        """The places of the values on the line, in order, and the rows at each."""
        scale, found, wrong = self.intervals.scale, Counter[Decimal](), []
        for value, rows in self.rows.items():
            point = scale.read(value)
            if point is None:
                wrong.append(value)
            else:
                found[point] += rows
        if wrong:
            # Says what is wrong in the words of the builder.
            self.intervals.build(self.column, list(self.rows))
        return dict(sorted(found.items()))

    @property
    def scale(self) -> Scale:
        """The line the values are on."""
        return self.intervals.scale

    @property
    def is_even(self) -> bool:
        """Whether ranges are equally wide, so that there are some for values not seen yet."""
        return self.intervals.bounds is None

    @property
    def height(self) -> int:
        """The top level."""
        return self.intervals.height

    @cached_property
    def cuts(self) -> tuple[tuple[Decimal, ...], ...]:
        """The cut points of each level, finest first; of even ranges those between the values."""
        if not self.is_even:
            return tuple(
                tuple(_point(self.scale, mark) for mark in _marks(level))
                for level in self.intervals.bounds or ()
            )
        low, high = min(self.points), max(self.points)
        levels = [
            {end for ends in level for end in ends if end is not None and low < end <= high}
            for level in self.intervals.ranges(self.points)
        ]
        for at in range(len(levels) - 1, 0, -1):
            levels[at - 1] |= levels[at]
        return tuple(tuple(sorted(level)) for level in levels)

    # Edits of cut points.

    def move_cut(self, cut: Mark, to: Mark) -> Self:
        """Return it with a cut point at another place between its neighbours, at every level.

        Args:
            cut: Where it is.
            to: Where it shall be.
        """
        old, new = self._find_cut(cut), self._read("to", to)
        finest = self.cuts[0]
        at = finest.index(old)
        below = finest[at - 1] if at else None
        above = finest[at + 1] if at + 1 < len(finest) else None
        if (below is not None and new <= below) or (above is not None and new >= above):
            sides = (("above", below), ("below", above))
            bounds = " and ".join(
                f"{side} {self.scale.point(end)}" for side, end in sides if end is not None
            )
            raise HierarchyError(
                f"the cut point {self.scale.point(old)} of {self.column!r} cannot be moved to "
                f"{self.scale.point(new)}: it must stay {bounds}. Remove the cut point that is in "
                "its way, or add another where you want one."
            )
        return self._with_cuts(
            [[new if each == old else each for each in level] for level in self.cuts]
        )

    def add_cut(self, at: Mark, *, level: int = 1) -> Self:
        """Return it with one cut point more, at a level and all finer ones.

        Args:
            at: Where it is.
            level: The coarsest level that has it.
        """
        self._require_level(level)
        point = self._read("at", at)
        if point in self.cuts[level - 1]:
            raise HierarchyError(
                f"level {level} of {self.column!r} has the cut point {self.scale.point(point)} "
                "already. Choose another place."
            )
        return self._with_cuts(
            [{*cuts, point} if i < level else cuts for i, cuts in enumerate(self.cuts)]
        )

    def remove_cut(self, cut: Mark, *, level: int = 1) -> Self:
        """Return it without a cut point at a level and all coarser ones.

        Args:
            cut: Where it is.
            level: The finest level that loses it.
        """
        self._require_level(level)
        point = self._find_cut(cut, level)
        return self._with_cuts(
            [{*cuts} - {point} if i >= level - 1 else cuts for i, cuts in enumerate(self.cuts)]
        )

    def set_cuts(self, level: int, cuts: Sequence[Mark]) -> Self:
        """Return it with these cut points at a level; finer levels get them, coarser lose others.

        Args:
            level: The level.
            cuts: Its cut points, in any order.
        """
        self._require_level(level)
        points = {self._read("cuts", cut) for cut in cuts}
        return self._with_cuts(
            [
                points if i == level - 1 else points | {*old} if i < level - 1 else points & {*old}
                for i, old in enumerate(self.cuts)
            ]
        )

    def add_level(self, above: int) -> Self:
        """Return it with one level more, above another, with about half of its cut points.

        Of even ranges the new ones are a multiple as wide; at the top, twice.

        Args:
            above: The level above which it comes; 0 are the values.
        """
        if not 0 <= above < self.height:
            allowed = f"a level from 0 to {self.height - 1}"
            raise ParameterError("above", above, allowed, why="the top stays the top")
        if self.height >= MOST_LEVELS:
            raise HierarchyError(
                f"{self.column!r} has {self.height} levels, and more than {MOST_LEVELS} are of no "
                "use. Remove one first."
            )
        if self.is_even and (widths := self._wider(above)) is not None:
            return self._with_intervals(replace(self.intervals, widths=widths))
        finer = self.cuts[above - 1] if above else tuple(list(self.points)[1:])
        kept = {*self.cuts[above]} if above < len(self.cuts) else set[Decimal]()
        others = [cut for cut in finer if cut not in kept]
        if len(others) < 2 and (kept or len(finer) < 2):
            raise HierarchyError(
                f"there is no room for a level above level {above} of {self.column!r}: it would be "
                "the same as one beside it. Add cut points to the finer level first."
            )
        new = sorted(kept | {*others[1::2]})
        levels: list[Collection[Decimal]] = [*self.cuts[:above], new, *self.cuts[above:]]
        return self._with_cuts(levels)

    def remove_level(self, level: int) -> Self:
        """Return it without one of the levels between the values and the top."""
        self._require_level(level)
        if self.height == 2:
            raise HierarchyError(
                f"the intervals of {self.column!r} have one level only. Change its cut points, or "
                "choose another kind of hierarchy, such as star."
            )
        if self.is_even:
            widths = [w for i, w in enumerate(self.intervals.widths or ()) if i != level - 1]
            return self._with_intervals(replace(self.intervals, widths=widths))
        return self._with_cuts([cuts for i, cuts in enumerate(self.cuts) if i != level - 1])

    def set_widths(self, widths: Sequence[Mark], *, start: Mark | None = None) -> Self:
        """Return even ranges, each level's width a multiple of the one before.

        Open ends stay if the ranges were even before.

        Args:
            widths: A width per level, finest first; of days as in 7d.
            start: Where they are counted from; by default 0, of days a Monday.
        """
        ends = (self.intervals.lower, self.intervals.upper) if self.is_even else (None, None)
        return self._with_intervals(
            Intervals(
                widths=widths, start=start, lower=ends[0], upper=ends[1], join=self.intervals.join
            )
        )

    def set_ends(self, *, lower: Mark | None = None, upper: Mark | None = None) -> Self:
        """Return it with open ends: below `lower` is one range at every level, from `upper` on too.

        Args:
            lower: Where the ranges begin. Without it, even ranges go on downwards, and cut points
                stay as they are.
            upper: Where the last range begins; likewise.
        """
        if self.is_even:
            return self._with_intervals(replace(self.intervals, lower=lower, upper=upper))
        low = None if lower is None else self._read("lower", lower)
        high = None if upper is None else self._read("upper", upper)
        if low is not None and high is not None and low >= high:
            raise ParameterError("lower", lower, f"below upper, which is {upper!r}")
        ends = {end for end in (low, high) if end is not None}
        return self._with_cuts(
            [
                {cut for cut in cuts if (low is None or cut > low) and (high is None or cut < high)}
                | ends
                for cuts in self.cuts
            ]
        )

    # Results.

    def builder(self) -> Intervals:
        """Return what a policy can hold."""
        return self.intervals

    def as_tree(self) -> GroupTree:
        """Return its ranges as groups with names, to be renamed or grouped in another way."""
        hierarchy = self.intervals.build(self.column, list(self.rows))
        values: list[Value] = [*self.rows, *([None] if self.missing else [])]
        counts = [*self.rows.values(), *([self.missing] if self.missing else [])]
        return GroupTree.of(hierarchy, self.column, values, counts)

    def to_csv(self) -> str:
        """Return its labels as ARX writes hierarchies."""
        return self.as_tree().to_csv()

    # What all edits share.

    def _with_intervals(self, intervals: Intervals) -> Self:
        return replace(self, intervals=intervals)

    def _with_cuts(self, levels: Iterable[Collection[Decimal]]) -> Self:
        """Make intervals of cut points, without levels that are empty or there already."""
        kept: list[list[Decimal]] = []
        for level in levels:
            cuts = sorted(level)
            if cuts and (not kept or len(cuts) < len(kept[-1])):
                kept.append(cuts)
        if not kept:
            raise HierarchyError(
                f"the intervals of {self.column!r} would have no cut point left. Keep one, or "
                "choose another kind of hierarchy, such as star."
            )
        bounds = [[mark_of(self.scale, cut) for cut in cuts] for cuts in kept]
        return self._with_intervals(Intervals(bounds=bounds, join=self.intervals.join))

    def _wider(self, above: int) -> list[Mark] | None:
        """Return the widths with one more; None if there is none between two."""
        widths = list(self.intervals.widths or ())
        steps = [width for width in map(self.scale.width, widths) if width is not None]
        days = isinstance(self.scale, Days)
        if above == 0:
            new = steps[0] / 2
            if days or new != new.to_integral_value():
                return None
        elif above == len(steps):
            new = steps[-1] * 2
        else:
            finer, coarser = steps[above - 1], steps[above]
            times = coarser / finer
            between = [
                n for n in range(2, min(int(times), 1000)) if times == int(times) and not times % n
            ]
            if not between:
                return None
            new = finer * min(between, key=lambda n: abs(n * n - times))
        mark: Mark = f"{int(new)}d" if days else mark_of(self.scale, new)
        return [*widths[:above], mark, *widths[above:]]

    def _read(self, name: str, mark: Mark) -> Decimal:
        point = self.scale.read(mark)
        if point is None:
            raise ParameterError(name, mark, self.scale.a_point)
        return point

    def _find_cut(self, cut: Mark, level: int = 1) -> Decimal:
        point = self._read("cut", cut)
        if point not in self.cuts[level - 1]:
            points = some(map(self.scale.point, self.cuts[level - 1]), most=12)
            raise HierarchyError(
                f"level {level} of {self.column!r} has no cut point {self.scale.point(point)}. It "
                f"has {points or 'none'}."
            )
        return point

    def _require_level(self, level: int) -> None:
        if not 1 <= level < self.height:
            raise HierarchyError(
                f"the intervals of {self.column!r} have no level {level} that can be edited. "
                f"Choose one from 1 to {self.height - 1}."
            )


def _marks(level: object) -> Sequence[Mark]:
    return level if isinstance(level, tuple) else (level,)


def _point(scale: Scale, mark: Mark) -> Decimal:
    point = scale.read(mark)
    assert point is not None  # noqa: S101 - the builder has read it before
    return point
