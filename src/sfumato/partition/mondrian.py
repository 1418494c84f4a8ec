"""Mondrian: halve the table along its widest attribute as long as both halves keep the models."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import ClassVar, Self, TypeAlias

import numpy as np

from sfumato.classes import repeat_spans
from sfumato.counts import FrequencySet, changes, number_keys, sums
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError
from sfumato.partition.base import (
    CombinationProblem,
    Frontier,
    Partition,
    Partitioner,
    Problem,
    Progress,
    draw_rows,
    secret_generator,
    starting_groups,
)
from sfumato.partition.labelling import is_ordered
from sfumato.text import date_of, number_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

Halving: TypeAlias = Callable[[IntArray, IntArray, IntArray, IntArray, int], IntArray]
"""Returns the rows of each portion that go to the upper half of its box."""


@dataclass(frozen=True)
class Mondrian(Partitioner):
    """Cut the rows in two, again and again, as long as both halves keep the models.

    A box of rows is cut on the attribute that is widest in it: widest relative to the
    whole domain, times the attribute's weight; a stretch of numbers counts half beside labels,
    because a cut leaves half of it, and three quarters where only `*` would say it. If a half would
    break a model, the next widest attribute is tried. An attribute with a hierarchy is cut between
    the children of the lowest label that covers the box; one without, if it holds numbers or dates,
    between any two values, and is published as the interval between its cuts; one whose hierarchy
    is `auto`, if it holds numbers, at the ends of its ranges where that can be. Rows that miss such
    a value are cut off first: only `*` covers them together with others. Where they are too few,
    they stay with the rows that have the highest values.

    Promises: every class keeps the models. Does not promise the least possible loss.

    Reference: "Mondrian multidimensional k-anonymity", 2006, doi:10.1109/ICDE.2006.101

    Args:
        relaxed: Whether rows with the same value may go to both halves where no cut between
            values is possible; which of them is drawn at random. Else (strict) all cuts are
            between values.
        exact_bounds: Whether an interval goes from the smallest to the largest value of its
            class, as in the paper. These are values of single people. Else it reaches from cut
            to cut, each at the roundest number between the values it separates, and at the
            ends to a round number beyond all values.

    Example:
        >>> Mondrian(relaxed=True).params()
        {'relaxed': True, 'exact_bounds': False}
    """

    name: ClassVar[str] = "mondrian"
    in_words: ClassVar[str] = (
        "People are parted at the middle again and again, so numbers become ranges made to "
        "measure. Loses least with numbers."
    )
    usual: ClassVar[bool] = True

    relaxed: bool = False
    exact_bounds: bool = False

    def __post_init__(self) -> None:
        for name in ("relaxed", "exact_bounds"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(name, getattr(self, name), "true or false")

    def intervals(self, problem: Problem) -> tuple[bool, ...]:
        return tuple(
            free and is_ordered(attribute)
            for free, attribute in zip(problem.free, problem.attributes, strict=True)
        )

    def run(
        self,
        problem: Problem,
        progress: Progress | None = None,
        *,
        rng: np.random.Generator | None = None,
    ) -> Partition:
        if (
            problem.person is not None
            and not self.relaxed
            and not isinstance(problem, CombinationProblem)
        ):
            folded = problem.by_combination
            return folded.take_apart(self.run(folded, progress, rng=rng))
        rng = secret_generator() if rng is None else rng
        lines = [
            Interval(problem, a) if as_interval else Branches(problem, a)
            for a, as_interval in enumerate(self.intervals(problem))
        ]
        start = starting_groups(problem)
        boxes = Boxes.of(start.item, start.rows, start.group, len(start))
        between = np.full((boxes.n, len(lines), 2), -1, dtype=np.int64)
        done: list[tuple[IntArray, IntArray, IntArray]] = []
        cuts = [between[:0]]
        classes = settled = 0
        while boxes.n:
            big = boxes.sizes >= 2 * problem.judge.least
            cut = cut_boxes(problem, lines, boxes, big, rng=rng if self.relaxed else None)
            item, rows, box = boxes.portions(~cut.done)
            done.append((item, rows, box + classes))
            cuts.append(between[~cut.done])
            classes += boxes.n - int(np.count_nonzero(cut.done))
            settled += int(rows.sum())
            if progress is not None:
                progress(settled, problem.total)
            between = _between_cuts(problem, cut, lines, between)
            boxes = cut.halves()
        found = Partition.gather(done)
        return found if self.exact_bounds else replace(found, cuts=np.concatenate(cuts))


def _between_cuts(
    problem: Problem, cut: "BoxCuts", lines: Sequence["Line"], before: IntArray
) -> IntArray:
    """Return the cuts that the halves of boxes lie between, as a partition states them."""
    boxes = cut.boxes
    lower, upper = before[cut.done].copy(), before[cut.done].copy()
    number = np.cumsum(cut.done) - 1
    for attribute, line in enumerate(lines):
        if not isinstance(line, Interval):
            continue
        here = cut.done & (cut.attribute == attribute)
        at = np.flatnonzero(here[boxes.box])
        if not len(at):
            continue
        n = len(problem.attributes[attribute].ladder.values)
        raw, box = line.raw[boxes.item[at]].astype(np.int64), boxes.box[at]
        above = cut.above[at]
        last, first = np.full(boxes.n, -1, dtype=np.int64), np.full(boxes.n, n, dtype=np.int64)
        below = boxes.rows[at] > above
        np.maximum.at(last, box[below], raw[below])
        np.minimum.at(first, box[above > 0], raw[above > 0])
        # Where missing values were cut off, no value was cut from another.
        known = np.flatnonzero(here & (first != line.missing))
        key = last[known] * n + first[known]
        lower[number[known], attribute, 1] = key
        upper[number[known], attribute, 0] = key
    return np.concatenate([lower, upper])


# Attributes are laid out in a line, so that boxes of rows can be measured and cut along them.

_LEFT_BY_A_CUT = 0.5
"""The share of a stretch of numbers that each half keeps."""

_HIDDEN = 0.75
"""The width of a stretch of which nothing would be told: cut after what only `*` covers among
labels, because that ends with one cut, and before all that says something already."""

_DIGITS = 12
"""Widths are rounded to this many digits: those that differ only by rounding are ties."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """Portions of items, sorted by the box each is in; no box is empty."""

    item: IntArray
    rows: IntArray
    box: IntArray
    n: int

    @classmethod
    def of(cls, item: IntArray, rows: IntArray, box: IntArray, n: int) -> Self:
        """Sort portions by box."""
        order = np.argsort(box, kind="stable")
        return cls(item[order], rows[order], box[order], n)

    @cached_property
    def starts(self) -> IntArray:
        """The first portion of each box."""
        return np.flatnonzero(changes(self.box))

    @property
    def sizes(self) -> IntArray:
        """The rows of each box."""
        return sums(self.box, self.rows, self.n)

    def portions(self, boxes: np.ndarray) -> tuple[IntArray, IntArray, IntArray]:
        """Return items, rows and renumbered boxes of some boxes."""
        number = np.cumsum(boxes) - 1
        at = boxes[self.box]
        return self.item[at], self.rows[at], number[self.box[at]]

    def ranges(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return the smallest and the largest of the portions' values in each box."""
        return np.minimum.reduceat(values, self.starts), np.maximum.reduceat(values, self.starts)


class BoxView(ABC):
    """Boxes on one line."""

    widths: FloatArray
    """The width of each box there, relative to the whole; 0 if it cannot be cut there."""

    @abstractmethod
    def positions(self, at: IntArray) -> IntArray:
        """Return the place of some portions; those at one place cannot be told apart yet."""


class Line(ABC):
    """One attribute as Mondrian sees it."""

    @abstractmethod
    def look(self, boxes: Boxes) -> BoxView:
        """Measure boxes."""

    def look_closer(self, boxes: Boxes) -> list[BoxView]:
        """Return further views, for boxes that could not be cut on the first one."""
        del boxes
        return []


class Interval(Line):
    """Numbers or dates without a hierarchy: a box is as wide as the stretch of its values."""

    def __init__(self, problem: Problem, attribute: int) -> None:
        values = problem.attributes[attribute].ladder.values
        self.raw = problem.raw[attribute]
        self.weight = problem.attributes[attribute].weight
        self.missing = len(values) - 1 if None in values else -1
        self.fewest = problem.judge.least
        self.scale = places(values) * self.weight
        ladder = problem.attributes[attribute].ladder
        self.steps: list[IntArray] = [
            np.cumsum(np.diff(codes, prepend=codes[:1]) != 0) for codes in ladder.codes[1:-1]
        ]
        """The place of each value as far as ranges tell, if it has ranges; narrow ones first."""

        self.finest = int(bool(self.steps and problem.ends and problem.ends[attribute] is not None))
        """The narrowest ranges that are told apart: 0 for values themselves."""

        self.last = max(len(values) - 1 - (self.missing >= 0), 0)
        """The highest value."""

    def look(self, boxes: Boxes) -> BoxView:
        return _IntervalView(self, boxes)

    def look_closer(self, boxes: Boxes) -> list[BoxView]:
        # Where the roundest cut breaks a model, the next roundest may not, nor one anywhere.
        closer = [1, len(self.steps)][: len(self.steps)]
        views: list[BoxView] = [_IntervalView(self, boxes, each) for each in dict.fromkeys(closer)]
        if self.missing >= 0:
            lacking = _LackingView(self, boxes, len(self.steps))
            views += [lacking] * bool(lacking.widths.any())
        return views


class _IntervalView(BoxView):
    def __init__(
        self, line: Interval, boxes: Boxes, closer: int = 0, highest: IntArray | None = None
    ) -> None:
        self._line = line
        self._boxes = boxes
        low, high = boxes.ranges(line.raw[boxes.item])
        high = high if highest is None else highest
        # A box with missing values is as wide as can be: only * covers it. A cut between labels
        # takes all of their width away, one between numbers about half.
        self._lacking = (high == line.missing) & (low < high)
        stretch = (line.scale[high] - line.scale[low]) * _LEFT_BY_A_CUT
        if line.finest:
            narrow = line.steps[0]
            hidden = (narrow[low] == narrow[0]) & (narrow[high] == narrow[line.last])
            stretch = np.where(hidden, line.weight * _HIDDEN, stretch)
        self.widths = np.where(self._lacking, line.weight, stretch)
        _widen(self.widths, low < high)
        if line.finest:
            self.widths[line.steps[0][low] == line.steps[0][high]] = 0
        # The widest ranges that tell rows of a box apart: cuts are at ends that are rounder.
        self._level = np.full(boxes.n, line.finest, dtype=np.int64)
        for level, step in enumerate(line.steps, 1):
            self._level[step[low] < step[high]] = level
        if closer:
            before = self._level
            self._level = np.maximum(before - closer, line.finest)
            self.widths[self._lacking | (before == self._level)] = 0

    def positions(self, at: IntArray) -> IntArray:
        raw = self._line.raw[self._boxes.item[at]].astype(np.int64)
        box = self._boxes.box[at]
        return np.where(self._lacking[box], raw == self._line.missing, self.places(raw, box))

    def places(self, raw: IntArray, box: IntArray) -> IntArray:
        """Return the places of values, as far as the ranges that cut each box tell."""
        place: IntArray = raw.copy()
        for level, step in enumerate(self._line.steps, 1):
            here = self._level[box] == level
            place[here] = step[raw[here]]
        return place


class _LackingView(BoxView):
    """Boxes with too few missing values to be by themselves, which stay with the highest number."""

    def __init__(self, line: Interval, boxes: Boxes, closer: int) -> None:
        self._raw, self._boxes = line.raw[boxes.item].astype(np.int64), boxes
        self._missing = self._raw == line.missing
        lacking = sums(boxes.box[self._missing], boxes.rows[self._missing], boxes.n)
        few = (lacking > 0) & (lacking < line.fewest)
        self.widths = np.zeros(boxes.n)
        if not few.any():
            return
        low = boxes.ranges(self._raw)[0]
        self._highest = boxes.ranges(np.where(self._missing, -1, self._raw))[1]
        self._known = _IntervalView(line, boxes, closer, np.maximum(self._highest, low))
        self.widths[few & (self._known.widths > 0)] = line.weight

    def positions(self, at: IntArray) -> IntArray:
        raw, box = self._raw[at], self._boxes.box[at]
        return self._known.places(np.where(self._missing[at], self._highest[box], raw), box)


class Branches(Line):
    """An attribute with a hierarchy: a box is as wide as the lowest label that covers it.

    It is cut between the children of that label; what a child covers stays together.
    """

    def __init__(self, problem: Problem, attribute: int) -> None:
        ladder = problem.attributes[attribute].ladder
        lowest, highest = problem.lowest[attribute], problem.highest[attribute]
        self.raw = problem.raw[attribute]
        order = np.lexsort(ladder.codes[lowest : highest + 1])
        self.steps: list[IntArray] = []
        """For each level allowed, the place of each raw value as far as that level tells."""

        self.widths: list[FloatArray] = []
        for level in range(lowest, highest + 1):
            codes = ladder.codes[level][order]
            step = np.empty(len(order), dtype=np.int64)
            step[order] = np.cumsum(np.diff(codes, prepend=codes[:1]) != 0)
            self.steps.append(step)
            self.widths.append(problem.costs[attribute][level])
        self.coarser = _steps_by_finest(self.steps)
        """For each level allowed, the place by that of the lowest; None if it does not follow."""

    def look(self, boxes: Boxes) -> BoxView:
        return _BranchesView(self, boxes)


def _steps_by_finest(steps: Sequence[IntArray]) -> list[IntArray] | None:
    """Return the places of each level by those of the first; None if they do not follow."""
    finest = steps[0]
    first = np.zeros(int(finest.max(initial=0)) + 1, dtype=np.int64)
    first[finest] = np.arange(len(finest))
    if not len(finest):
        return None
    found = [step[first] for step in steps]
    follow = all(
        np.array_equal(coarse[finest], step) and bool((coarse[1:] >= coarse[:-1]).all())
        for coarse, step in zip(found, steps, strict=True)
    )
    return found if follow else None


class _BranchesView(BoxView):
    def __init__(self, line: Branches, boxes: Boxes) -> None:
        self._line = line
        self._boxes = boxes
        raw = line.raw[boxes.item]
        first = raw[boxes.starts]
        self._level = np.zeros(boxes.n, dtype=np.int64)
        self.widths = np.zeros(boxes.n)
        if line.coarser is not None:
            # Labels stand together at every level: the ends of a box tell its ends further up.
            least, most = boxes.ranges(line.steps[0][raw])
        for level, step in enumerate(line.steps[:-1]):
            if line.coarser is not None:
                low, high = line.coarser[level][least], line.coarser[level][most]
            else:
                low, high = boxes.ranges(step[raw])
            split = low < high
            # Told apart at this level, so only a higher one covers the box.
            self._level[split] = level + 1
            self.widths[split] = line.widths[level + 1][first[split]]
        _widen(self.widths, self._level > 0)

    def positions(self, at: IntArray) -> IntArray:
        raw = self._line.raw[self._boxes.item[at]]
        level = self._level[self._boxes.box[at]]
        place = np.zeros(len(at), dtype=np.int64)
        for below, step in enumerate(self._line.steps[:-1]):
            here = level == below + 1
            place[here] = step[raw[here]]
        return place


def _widen(widths: FloatArray, divisible: np.ndarray) -> None:
    """Set some width for a box that can be cut, even if the cut says nothing.

    Widths that differ only by how they were computed are made equal, so that ties are ties.
    """
    np.round(widths, _DIGITS, out=widths)
    widths[divisible & (widths <= 0)] = np.finfo(np.float64).tiny


def places(values: tuple[Value, ...]) -> FloatArray:
    """Place numbers or dates between 0 and 1; a missing value has no place and stands at 0.

    >>> places(("20", "30", "40", None)).tolist()
    [0.0, 0.5, 1.0, 0.0]
    """
    known = [value for value in values if value is not None]
    numbers = [number_of(value) for value in known]
    if any(number is None for number in numbers):
        days = [date_of(value) for value in known]
        numbers = [float(day.toordinal()) if day is not None else 0.0 for day in days]
    line = np.array([number or 0.0 for number in numbers], dtype=np.float64)
    # Halved before subtracting: the difference of the largest floats would overflow.
    low, high = line.min(initial=np.inf) / 2, line.max(initial=-np.inf) / 2
    at = (line / 2 - low) / (high - low) if high > low else np.zeros(len(line))
    return np.append(at, np.zeros(len(values) - len(known)))


def cut_boxes(
    problem: Problem,
    lines: Sequence[Line],
    boxes: Boxes,
    big: BoolArray,
    *,
    rng: np.random.Generator | None = None,
) -> "BoxCuts":
    """Cut every big box that can be cut, on the widest attribute on which it can.

    Args:
        problem: What both halves must keep.
        lines: The attributes to cut on.
        boxes: Where the rows are.
        big: Which boxes are to be cut.
        rng: Draws which rows with the same values go to which half where no cut between values
            is possible; None if all cuts are between values.
    """
    cut = BoxCuts(boxes)
    if not big.any():
        return cut
    if not big.all():
        # Near the end most boxes are too small to be cut: measuring them was half of the work.
        some = Boxes(*boxes.portions(big), int(np.count_nonzero(big)))
        cut.take(cut_boxes(problem, lines, some, np.ones(some.n, dtype=bool), rng=rng), big)
        return cut
    views = [(attribute, line.look(boxes)) for attribute, line in enumerate(lines)]
    for attribute, line in enumerate(lines):
        views += [(attribute, view) for view in line.look_closer(boxes)]
    attributes = np.array([attribute for attribute, _ in views], dtype=np.int64)
    widths = np.array([view.widths for _, view in views])
    _cut_at_middle(problem, views, widths, cut)
    if rng is not None:
        _cut_at_median(problem, views, widths, cut, rng)
    chosen = cut.done
    cut.attribute[chosen] = attributes[cut.view[chosen]]
    return cut


_AT_ONCE = 2**17
"""The portions that are halved at once, at most, once boxes are tried on several lines."""


def _cut_at_middle(
    problem: Problem,
    views: Sequence[tuple[int, BoxView]],
    widths: FloatArray,
    cut: "BoxCuts",
) -> None:
    """Cut boxes between values, each on the widest line on which both halves keep the models.

    All boxes are tried at once, whatever each is cut on, and those that cannot be cut on the widest
    lines on twice as many of the next ones: many small steps cost most.
    """
    boxes = cut.boxes
    order = np.argsort(-widths, axis=0, kind="stable")
    lines = np.count_nonzero(widths > 0, axis=0)
    sizes = np.bincount(boxes.box, minlength=boxes.n)
    first, several = 0, 1
    while True:
        waiting = np.flatnonzero(~cut.done & (lines > first))
        if not len(waiting):
            return
        several = max(min(several, _AT_ONCE // int(sizes[waiting].sum()), len(views) - first), 1)
        box = np.repeat(waiting, several)
        rank = np.tile(np.arange(first, first + several), len(waiting))
        there = rank < lines[box]
        box, rank = box[there], rank[there]
        _try_cuts(problem, views, box, order[rank, box], cut, _above_middle)
        first, several = first + several, 2 * several


def _cut_at_median(
    problem: Problem,
    views: Sequence[tuple[int, BoxView]],
    widths: FloatArray,
    cut: "BoxCuts",
    rng: np.random.Generator,
) -> None:
    """Cut boxes at their median rows: what is drawn is drawn line by line."""
    split = partial(rows_above_median, rng=rng)
    every = np.arange(cut.boxes.n)
    left = np.where(cut.done, 0, widths)
    for _ in views:
        widest = np.argmax(left, axis=0)
        wide = left[widest, every] > 0
        if not wide.any():
            return
        for number in np.unique(widest[wide]):
            box = np.flatnonzero(wide & (widest == number))
            _try_cuts(problem, views, box, widest[box], cut, split)
        left[widest, every] = 0
        left[:, cut.done] = 0


def _try_cuts(
    problem: Problem,
    views: Sequence[tuple[int, BoxView]],
    box: IntArray,
    view: IntArray,
    cut: "BoxCuts",
    split: Halving,
) -> None:
    """Cut boxes on the first of the lines given for each on which both halves keep the models.

    Args:
        problem: What both halves must keep.
        views: The boxes on each line.
        box: The boxes to cut, in order, each as often as there are lines to try.
        view: On which line each is to be cut.
        cut: What was cut already, and gets what is cut now.
        split: Says where.
    """
    boxes, n = cut.boxes, len(box)
    size = np.bincount(boxes.box, minlength=boxes.n)
    at, of = repeat_spans(boxes.starts, size, box)
    item, rows = boxes.item[at], boxes.rows[at]
    above = split(of, _positions(views, view[of], at), problem.alike[item], rows, n)
    below = rows - above
    lower, upper = below > 0, above > 0
    # Both halves of every box have rows, because the box was wide.
    good = problem.judge.passes(
        np.concatenate([of[lower], of[upper] + n]),
        np.concatenate([item[lower], item[upper]]),
        np.concatenate([below[lower], above[upper]]),
        2 * n,
        halves=True,
    )
    tries = np.flatnonzero(good[:n])
    # The first line of a box on which it can be cut is the widest one.
    tries = tries[changes(box[tries])]
    done = box[tries]
    cut.done[done] = True
    cut.view[done] = view[tries]
    chosen = np.zeros(n, dtype=bool)
    chosen[tries] = True
    keep = chosen[of]
    cut.above[at[keep]] = above[keep]


def _positions(
    views: Sequence[tuple[int, BoxView]], of_portion: IntArray, at: IntArray
) -> IntArray:
    """Return the place of some portions, each on a line of its own."""
    rows = np.bincount(of_portion, minlength=len(views))
    used = np.flatnonzero(rows).tolist()
    if len(used) == 1:
        return views[used[0]][1].positions(at)
    places = np.empty(len(at), dtype=np.int64)
    order = np.argsort(of_portion, kind="stable")
    for number, here in zip(used, np.split(order, np.cumsum(rows[used])[:-1]), strict=True):
        places[here] = views[number][1].positions(at[here])
    return places


class BoxCuts:
    """The boxes that are cut, and the rows of each portion that go to the upper half."""

    def __init__(self, boxes: Boxes) -> None:
        self.boxes = boxes
        self.done = np.zeros(boxes.n, dtype=bool)
        self.attribute = np.full(boxes.n, -1, dtype=np.int64)
        """What each box is cut on."""

        self.view = np.full(boxes.n, -1, dtype=np.int64)
        """The line of that attribute on which it is."""

        self.above = np.zeros(len(boxes.item), dtype=np.int64)

    def take(self, other: "BoxCuts", boxes: BoolArray) -> None:
        """Keep what another cut did to some of the boxes."""
        self.done[boxes] = other.done
        self.attribute[boxes] = other.attribute
        self.above[boxes[self.boxes.box]] = other.above

    def halves(self) -> Boxes:
        """Return the halves of the boxes that were cut."""
        boxes, above = self.boxes, self.above
        number = np.cumsum(self.done) - 1
        n = int(number[-1]) + 1
        below = np.where(self.done[boxes.box], boxes.rows - above, 0)
        lower, upper = np.flatnonzero(below), np.flatnonzero(above)
        return Boxes.of(
            np.concatenate([boxes.item[lower], boxes.item[upper]]),
            np.concatenate([below[lower], above[upper]]),
            np.concatenate([number[boxes.box[lower]], number[boxes.box[upper]] + n]),
            2 * n,
        )


def rows_above_middle(box: IntArray, position: IntArray, rows: IntArray, n: int) -> IntArray:
    """Cut every box between two positions, where the halves are most alike; return the upper half.

    >>> box, position = np.array([0, 0, 0]), np.array([4, 1, 3])
    >>> rows_above_middle(box, position, np.array([2, 1, 2]), 1).tolist()
    [2, 0, 0]
    """
    width = int(position.max(initial=0)) + 1
    # All boxes at once, in place of a loop over boxes: number the places in the order of boxes and
    # positions, cumulate their rows, and find in each box the place nearest to half of it.
    place = number_keys(box * width + position, n * width)
    of_place = place.keys // width
    up_to = np.cumsum(sums(place.of_item, rows, place.n))
    last = np.append(np.flatnonzero(of_place[1:] != of_place[:-1]), len(of_place) - 1)
    total = up_to[last].copy()
    total[1:] -= up_to[last[:-1]]
    before = (up_to[last] - total)[of_place]
    lopsided = np.abs(2 * (up_to - before) - total[of_place])
    # Nothing is above the last position.
    lopsided[last] = total + 1
    starts = np.concatenate([[0], last[:-1] + 1])
    best = np.minimum.reduceat(lopsided, starts)
    is_best = np.flatnonzero(lopsided == best[of_place])
    first = is_best[changes(of_place[is_best])]
    above: IntArray = np.where(place.of_item > first[box], rows, 0)
    return above


def _above_middle(
    box: IntArray,
    position: IntArray,
    alike: IntArray,  # noqa: ARG001 - rows at one position stay together
    rows: IntArray,
    n: int,
) -> IntArray:
    return rows_above_middle(box, position, rows, n)


def rows_above_median(
    box: IntArray,
    position: IntArray,
    alike: IntArray,
    rows: IntArray,
    n: int,
    *,
    rng: np.random.Generator,
) -> IntArray:
    """Cut every box at its median row, whatever its position; return the rows of the upper half.

    Rows at one position are in the order of their other values; of rows that are alike
    there too, those above the median are drawn.

    >>> box, position, alike = np.array([0, 0, 0]), np.array([4, 1, 3]), np.array([2, 0, 1])
    >>> rng = np.random.default_rng()
    >>> rows_above_median(box, position, alike, np.array([2, 1, 3]), 1, rng=rng).tolist()
    [2, 0, 1]
    """
    order = np.lexsort((alike, position, box))
    new = np.zeros(len(order), dtype=bool)
    for key in (alike, position, box):
        new |= np.diff(key[order], prepend=-1) != 0
    first, of_set = np.flatnonzero(new), np.cumsum(new) - 1
    # Rows that only sensitive values tell apart are one set.
    size, of_box = sums(of_set, rows[order], len(first)), box[order][first]
    total = sums(box, rows, n)
    before = (np.cumsum(total) - total)[of_box]
    wanted = np.clip(np.cumsum(size) - before - (total // 2)[of_box], 0, size)
    above = np.empty(len(rows), dtype=np.int64)
    above[order] = draw_rows(of_set, rows[order], wanted, rng)
    return above


# Fragments of a table, each of which can be partitioned by itself.

NOWHERE = -1
"""The fragment of items that are in none, because nothing allowed protects them."""


@dataclass(frozen=True, eq=False)
class Fragments:
    """The fragment of each item."""

    of_item: IntArray
    """The number of the fragment, `NOWHERE` if the item is suppressed."""

    sizes: IntArray
    """The rows of each fragment."""

    @property
    def n(self) -> int:
        """The number of fragments."""
        return len(self.sizes)


def cut_into_fragments(problem: Problem, intervals: tuple[bool, ...], most: int) -> Fragments:
    """Cut a table until no fragment has more than `most` rows, as far as that is possible.

    Promises: all rows of a fragment together keep the models, so whatever else is found, they
    can be one class. Items with equal quasi-identifiers are in one fragment. Does not promise
    that every fragment is small enough: the caller must look.

    Args:
        problem: What is divided; its classes are compared with the rows that are in fragments.
        intervals: Which attributes are published as intervals of values.
        most: How many rows a fragment may have.

    Example:
        >>> from sfumato.hierarchy import Masking
        >>> from sfumato.losses import Attribute
        >>> from sfumato.models import KAnonymity
        >>> counts = FrequencySet.from_rows(["zip"], [("10",), ("11",), ("20",), ("21",)])
        >>> zips = Attribute(Masking().ladder("zip", counts.columns[0].values), counts.rows)
        >>> problem = Problem(counts, (zips,), (0,), (2,), (KAnonymity(2),), {})
        >>> cut_into_fragments(problem, (False,), most=2).of_item.tolist()
        [0, 0, 1, 1]
    """
    items, start = _without_hopeless(problem)
    some = _among(problem, items)
    lines: list[Line] = [
        Interval(some, a) if as_interval else Branches(some, a)
        for a, as_interval in enumerate(intervals)
    ]
    boxes = Boxes.of(start.item, start.rows, start.group, len(start))
    of_item = np.full(len(problem.counts), NOWHERE, dtype=np.int64)
    n = 0
    while boxes.n:
        cut = cut_boxes(some, lines, boxes, boxes.sizes > most)
        item, _, box = boxes.portions(~cut.done)
        of_item[items[item]] = box + n
        n += boxes.n - int(np.count_nonzero(cut.done))
        boxes = cut.halves()
    inside = of_item != NOWHERE
    return Fragments(of_item, sums(of_item[inside], problem.rows[inside], n))


def _without_hopeless(problem: Problem) -> tuple[IntArray, Frontier]:
    """Remove what breaks a model at the highest levels, until all the rest keeps them."""
    items = np.arange(len(problem.counts))
    while True:
        some = _among(problem, items)
        start = starting_groups(some)
        passes = some.judge.passes(start.group, start.item, start.rows, len(start))
        if passes.all():
            return items, start
        # Rows that stay are compared with those that stay, so they are judged again.
        items = items[passes[start.group]]


def _among(problem: Problem, items: IntArray) -> Problem:
    counts = problem.counts
    some = FrequencySet(counts.columns, counts.codes[:, items], counts.rows[items])
    return replace(problem, counts=some)
