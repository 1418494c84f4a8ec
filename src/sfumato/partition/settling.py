"""From who is with whom to what is published: names for the classes, and a last judgement."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from sfumato.classes import EquivalenceClasses, overlapping
from sfumato.counts import FrequencySet, group, sums
from sfumato.hierarchy.base import Ladder
from sfumato.hierarchy.intervals import number_point
from sfumato.losses import Attribute, Cells, LocalResult
from sfumato.models import PrivacyModel
from sfumato.models.base import TableModel
from sfumato.partition.base import Parted, Problem
from sfumato.recoding import SUPPRESSED, LocalColumn, LocalRecoding
from sfumato.text import STAR, date_of, number_of, text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

# What classes are called: for each attribute the narrowest label that covers all their rows.


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels one attribute has in a parted table, and which of them each class has."""

    names: tuple[Value, ...]
    """Each text once; raw values stand for themselves, None is missing."""

    of_class: IntArray
    cells: Cells
    raw: bool
    """Whether every label is a raw value."""

    levels: IntArray | None
    """How many rows are published at each level; None for intervals."""


def is_ordered(attribute: Attribute) -> bool:
    """Tell whether all values are numbers, or all are dates, so that intervals say something.

    >>> from sfumato.hierarchy import Suppress
    >>> [is_ordered(Attribute(Suppress().ladder("x", v), np.ones(2, dtype=np.int64)))
    ...  for v in (["39", 40], ["f", "m"])]
    [True, False]
    """
    known = [value for value in attribute.ladder.values if value is not None]
    return bool(known) and (
        all(number_point(value) is not None for value in known)
        or all(date_of(value) is not None for value in known)
    )


def labels_of(problem: Problem, parted: Parted, intervals: Sequence[bool]) -> list[Labels]:
    """Name the classes of a parted table in every attribute.

    Args:
        problem: What was parted.
        parted: The portions.
        intervals: Which attributes are published as intervals of the values present.
    """
    if not parted.n:
        return [_nothing(problem, a, as_interval) for a, as_interval in enumerate(intervals)]
    return [
        _intervals(problem, parted, a) if as_interval else _from_ladder(problem, parted, a)
        for a, as_interval in enumerate(intervals)
    ]


def _nothing(problem: Problem, a: int, as_interval: bool) -> Labels:  # noqa: FBT001
    none, no_cell = np.empty(0, dtype=np.int64), np.empty(0)
    height = problem.attributes[a].ladder.height
    cells = Cells(none, no_cell, no_cell, no_cell, no_cell)
    levels = None if as_interval else np.zeros(height + 1, dtype=np.int64)
    return Labels((), none, cells, raw=True, levels=levels)


def _from_ladder(problem: Problem, parted: Parted, a: int) -> Labels:
    """Climb until all rows of a class have one label."""
    attribute = problem.attributes[a]
    ladder = attribute.ladder
    raw = problem.raw[a][parted.item]
    starts = parted.starts
    level = np.full(parted.n, problem.highest[a], dtype=np.int64)
    code = np.zeros(parted.n, dtype=np.int64)
    open_: BoolArray = np.ones(parted.n, dtype=bool)
    for height in range(problem.lowest[a], problem.highest[a] + 1):
        codes = ladder.codes[height][raw]
        lowest = np.minimum.reduceat(codes, starts)
        found = open_ & (lowest == np.maximum.reduceat(codes, starts))
        level[found], code[found] = height, lowest[found]
        open_ &= ~found
        if not open_.any():
            break
    else:
        # Publishing any label here would publish a lie.
        raise RuntimeError(f"no label of {ladder.column!r} that is allowed covers a class")
    base = np.cumsum([0, *map(len, ladder.labels)])
    used, of_class = np.unique(base[level] + code, return_inverse=True)
    heights = np.searchsorted(base, used, side="right") - 1
    found_labels = [
        ladder.labels[height][at - base[height]]
        for height, at in zip(heights.tolist(), used.tolist(), strict=True)
    ]
    names, number = _by_text(found_labels)
    piece_level = level[parted.classes]
    rows_at = np.bincount(piece_level, weights=parted.rows, minlength=ladder.height + 1)
    cells = _grouped(
        raw,
        piece_level,
        parted.rows,
        level=piece_level.astype(np.float64),
        leaves=np.concatenate(ladder.leaves)[base[piece_level] + ladder.codes[piece_level, raw]],
        together=_together(attribute)[piece_level, raw],
    )
    return Labels(names, number[of_class], cells, _all_raw(names, ladder), rows_at.astype(np.int64))


def _intervals(problem: Problem, parted: Parted, a: int) -> Labels:
    """Write the interval from the smallest to the largest value of each class."""
    attribute = problem.attributes[a]
    values = attribute.ladder.values
    raw = problem.raw[a][parted.item].astype(np.int64)
    low = np.minimum.reduceat(raw, parted.starts)
    high = np.maximum.reduceat(raw, parted.starts)
    n = len(values)
    used, of_class = np.unique(low * n + high, return_inverse=True)
    found = [
        _interval(values[i], values[j])
        for i, j in zip((used // n).tolist(), (used % n).tolist(), strict=True)
    ]
    names, number = _by_text(found)
    low, high = low[parted.classes], high[parted.classes]
    star = (high == n - 1) & (low < high) & (values[-1] is None)
    low, high = np.where(star, 0, low), np.where(star, n - 1, high)
    share = (high - low) / max(n - 1, 1)
    rows_up_to = np.concatenate([[0.0], np.cumsum(attribute.frequency, dtype=np.float64)])
    cells = _grouped(
        raw,
        low * n + high,
        parted.rows,
        # An attribute without a hierarchy has one level above the raw values: its whole domain.
        level=share * attribute.ladder.height,
        leaves=(high - low + 1).astype(np.float64),
        together=rows_up_to[high + 1] - rows_up_to[low],
    )
    return Labels(names, number[of_class], cells, _all_raw(names, attribute.ladder), None)


def _interval(low: Value, high: Value) -> Value:
    if low is high:
        return low
    if high is None:
        return STAR
    number = number_point(low)
    separator = "-" if number is not None and number >= 0 else " to "
    return f"{text_of(low)}{separator}{text_of(high)}"


def _by_text(labels: Sequence[Value]) -> tuple[tuple[Value, ...], IntArray]:
    """Make labels that are written alike one label."""
    names: dict[str | None, tuple[int, Value]] = {}
    number = []
    for label in labels:
        text = None if label is None else text_of(label)
        number.append(names.setdefault(text, (len(names), label))[0])
    return tuple(label for _, label in names.values()), np.array(number, dtype=np.int64)


def _all_raw(names: Sequence[Value], ladder: Ladder) -> bool:
    values = set(map(id, ladder.values))
    return all(id(name) in values for name in names)


def _together(attribute: Attribute) -> FloatArray:
    """Count, for each level and raw value, the rows of the table that its label covers."""
    frequency = attribute.frequency.astype(np.float64)
    return np.array([np.bincount(c, weights=frequency)[c] for c in attribute.ladder.codes])


def _grouped(
    raw: IntArray,
    label: IntArray,
    rows: IntArray,
    *,
    level: FloatArray,
    leaves: FloatArray,
    together: FloatArray,
) -> Cells:
    """Put cells with the same raw value and label together."""
    _, first, of_item = np.unique(
        label * (int(raw.max(initial=0)) + 1) + raw, return_index=True, return_inverse=True
    )
    added: FloatArray = np.bincount(of_item, weights=rows, minlength=len(first)).astype(float)
    return Cells(raw[first], level[first], leaves[first], together[first], added)


@dataclass(frozen=True, eq=False)
class Settled:
    """A parted table with its labels, judged as it is published."""

    problem: Problem
    parted: Parted
    """The published portions; classes with the same labels are one class."""

    labels: tuple[Labels, ...]
    """The labels of each attribute."""

    gone: Parted
    """The portions of classes that broke a model, and are suppressed."""

    left: EquivalenceClasses
    """The published classes as the models judge them."""

    broken: tuple[PrivacyModel, ...]
    """The models that were broken before anything was suppressed."""

    @property
    def suppressed(self) -> int:
        """How many rows are not published."""
        return int(self.gone.rows.sum())

    def result(self) -> LocalResult:
        """Show it to a loss."""
        gone = self.gone
        removed: list[FloatArray] = [
            sums(raw[gone.item], gone.rows, len(attribute.frequency)).astype(float)
            for raw, attribute in zip(self.problem.raw, self.problem.attributes, strict=True)
        ]
        cells = [one.cells for one in self.labels]
        return LocalResult(cells, self.parted.sizes, removed, self.suppressed)

    def recoding(self, counts: FrequencySet, items: IntArray) -> LocalRecoding:
        """Say what becomes of every combination of a table.

        Args:
            counts: The whole table, of which the problem may be a part.
            items: Where the problem's items are in it; all others are suppressed.
        """
        outside = np.setdiff1d(np.arange(len(counts)), items)
        item = np.concatenate([items[self.parted.item], items[self.gone.item], outside])
        rows = np.concatenate([self.parted.rows, self.gone.rows, counts.rows[outside]])
        lost = np.full(len(self.gone.item) + len(outside), SUPPRESSED)
        classes = np.concatenate([self.parted.classes, lost])
        order = np.lexsort((classes, item))
        n = len(self.problem.attributes)
        codes = [one.of_class for one in self.labels]
        return LocalRecoding(
            columns=tuple(
                LocalColumn(column.name, column.values, one.names, one.raw)
                for column, one in zip(counts.columns[:n], self.labels, strict=True)
            ),
            others=counts.columns[n:],
            combinations=counts.codes,
            starts=np.searchsorted(item[order], np.arange(len(counts) + 1)),
            rows=rows[order],
            classes=classes[order],
            labels=np.array(codes, dtype=np.int32).reshape(n, self.parted.n),
        )


def settle(problem: Problem, parted: Parted, intervals: Sequence[bool]) -> Settled:
    """Name the classes, merge those with the same name, and suppress what breaks a model.

    Classes are judged once more because of what only the whole release shows: merged
    classes, missing values that match any, and the distribution of the rows that stay.
    """
    gone = Parted.of([], [], [])
    broken: tuple[PrivacyModel, ...] | None = None
    while True:
        parted, labels = _named(problem, parted, intervals)
        left = _view(problem, parted, labels)
        keep, failed = _judge(problem.models, left)
        broken = failed if broken is None else broken
        if keep.all():
            return Settled(problem, parted, labels, gone, left, broken)
        stays = keep[parted.classes]
        gone = Parted.of(
            np.concatenate([gone.item, parted.item[~stays]]),
            np.concatenate([gone.rows, parted.rows[~stays]]),
            np.zeros(len(gone.item) + int(np.count_nonzero(~stays))),
        )
        parted = Parted.of(parted.item[stays], parted.rows[stays], parted.classes[stays])


def _named(
    problem: Problem, parted: Parted, intervals: Sequence[bool]
) -> tuple[Parted, tuple[Labels, ...]]:
    """Name classes and make those with the same name one."""
    labels = labels_of(problem, parted, intervals)
    names = group([one.of_class for one in labels], [len(one.names) for one in labels], n=parted.n)
    merged = Parted.of(parted.item, parted.rows, names.of_item[parted.classes])
    return merged, tuple(replace(one, of_class=one.of_class[names.first]) for one in labels)


def _view(problem: Problem, parted: Parted, labels: Sequence[Labels]) -> EquivalenceClasses:
    """Show the models what a reader of the release sees."""
    sizes = parted.sizes
    classes = problem.judge.classes(parted.classes, parted.item, parted.rows, sizes)
    own = problem.whole is None
    classes = classes.kept(np.ones(len(sizes), dtype=bool), own_reference=own)
    if not problem.matches_any:
        return classes
    missing = [np.array([name is None for name in one.names] or [False]) for one in labels]
    codes: IntArray = np.array([one.of_class for one in labels])
    lacking: BoolArray = np.array(
        [lack[one.of_class] for lack, one in zip(missing, labels, strict=True)], dtype=bool
    )
    return overlapping(codes, lacking, classes, own_reference=own)


def _judge(
    models: Sequence[PrivacyModel], classes: EquivalenceClasses
) -> tuple[BoolArray, tuple[PrivacyModel, ...]]:
    """Say which classes may stay, and which models do not let all of them.

    A model of the whole table decides only when every class keeps the others.
    """
    keep = np.ones(len(classes), dtype=bool)
    broken: list[PrivacyModel] = []
    for per_table in (False, True):
        if not keep.all():
            break
        for model in models:
            if isinstance(model, TableModel) == per_table:
                verdicts = model.passes(classes)
                keep &= verdicts
                if not verdicts.all():
                    broken.append(model)
    return keep, tuple(broken)


# Attributes laid out in a line, so that boxes of rows can be measured and cut along them.


_DIGITS = 12


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
        """Where the portions of each box begin."""
        return np.flatnonzero(np.diff(self.box, prepend=-1))

    @property
    def sizes(self) -> IntArray:
        """How many rows each box has."""
        return sums(self.box, self.rows, self.n)

    def portions(self, boxes: np.ndarray) -> tuple[IntArray, IntArray, IntArray]:
        """Give items, rows and renumbered boxes of some boxes."""
        number = np.cumsum(boxes) - 1
        at = boxes[self.box]
        return self.item[at], self.rows[at], number[self.box[at]]

    def ranges(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Give the smallest and the largest of the portions' values in each box."""
        return np.minimum.reduceat(values, self.starts), np.maximum.reduceat(values, self.starts)


class View(ABC):
    """How boxes lie on one line."""

    widths: FloatArray
    """How wide each box is there, relative to the whole; 0 if it cannot be cut there."""

    @abstractmethod
    def positions(self, at: IntArray) -> IntArray:
        """Give the place of some portions; those at one place cannot be told apart yet."""


class Line(ABC):
    """One attribute as Mondrian sees it."""

    @abstractmethod
    def look(self, boxes: Boxes) -> View:
        """Measure boxes."""


class Interval(Line):
    """Numbers or dates without a hierarchy: a box is as wide as the stretch of its values."""

    def __init__(self, problem: Problem, attribute: int) -> None:
        values = problem.attributes[attribute].ladder.values
        self.raw = problem.raw[attribute]
        self.weight = problem.attributes[attribute].weight
        self.missing = len(values) - 1 if None in values else -1
        self.scale = places(values) * self.weight

    def look(self, boxes: Boxes) -> View:
        return _IntervalView(self, boxes)


class _IntervalView(View):
    def __init__(self, line: Interval, boxes: Boxes) -> None:
        self._line = line
        self._boxes = boxes
        raw = line.raw[boxes.item]
        low, high = boxes.ranges(raw)
        # A box with missing values is as wide as can be: only * covers it.
        self._lacking = (high == line.missing) & (low < high)
        self.widths = np.where(self._lacking, line.weight, line.scale[high] - line.scale[low])
        _widen(self.widths, low < high)

    def positions(self, at: IntArray) -> IntArray:
        raw = self._line.raw[self._boxes.item[at]].astype(np.int64)
        lacking = self._lacking[self._boxes.box[at]]
        place: IntArray = np.where(lacking, raw == self._line.missing, raw)
        return place


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

    def look(self, boxes: Boxes) -> View:
        return _BranchesView(self, boxes)


class _BranchesView(View):
    def __init__(self, line: Branches, boxes: Boxes) -> None:
        self._line = line
        self._boxes = boxes
        raw = line.raw[boxes.item]
        first = raw[boxes.starts]
        self._level = np.zeros(boxes.n, dtype=np.int64)
        self.widths = np.zeros(boxes.n)
        for level, step in enumerate(line.steps[:-1]):
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
    """Let a box that can be cut have some width, even if the cut says nothing.

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
