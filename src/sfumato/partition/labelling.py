"""Labels for the classes of a partition, and a last judgement of what is published."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from itertools import takewhile

import numpy as np

from sfumato.classes import EquivalenceClasses, overlapping
from sfumato.counts import FrequencySet, group, sums
from sfumato.dataclasses import dataclass
from sfumato.hierarchy.base import Ladder, WrittenEnds
from sfumato.hierarchy.by_counts import roundest
from sfumato.hierarchy.intervals import (
    Days,
    Numbers,
    Scale,
    WholeNumbers,
    is_whole,
    multiple_at,
    number_point,
    plus,
)
from sfumato.hierarchy.intervals import (
    label as write_interval,
)
from sfumato.hierarchy.language import language_of
from sfumato.losses import Attribute, Cells, LocalResult
from sfumato.models import PrivacyModel
from sfumato.models.base import TableModel
from sfumato.partition.base import Partition, Problem
from sfumato.recoding import SUPPRESSED, LocalColumn, LocalRecoding
from sfumato.text import STAR, date_of, number_of, text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value


@dataclass(frozen=True, eq=False)
class AttributeLabels:
    """The labels one attribute has in a partition, and which of them each class has."""

    names: tuple[Value, ...]
    """Each text once; raw values stand for themselves, None is missing."""

    of_class: IntArray
    cells: Cells
    raw: bool
    """Whether every label is a raw value."""

    levels: IntArray | None
    """The rows that are published at each level; None for intervals."""


def is_ordered(attribute: Attribute) -> bool:
    """Return whether all values are numbers, or all are dates, so that intervals say something.

    >>> from sfumato.hierarchy import Suppress
    >>> [is_ordered(Attribute(Suppress().ladder("x", v), np.ones(2, dtype=np.int64)))
    ...  for v in (["39", 40], ["f", "m"])]
    [True, False]
    """
    return line_of(attribute) is not None


def line_of(attribute: Attribute) -> FloatArray | None:
    """Return the numbers or days that the values are, NaN where one is missing; None if neither.

    >>> from sfumato.hierarchy import Suppress
    >>> line_of(Attribute(Suppress().ladder("x", ["39", None]), np.ones(2, dtype=np.int64)))
    array([39., nan])
    """
    values = attribute.ladder.values
    known = [value for value in values if value is not None]
    for read in (number_of, _day_of):
        # Reading stops at the first that is neither: of texts that is soon.
        points = list(takewhile(lambda point: point is not None, map(read, known)))
        if known and len(points) == len(known):
            line = np.full(len(values), np.nan)
            line[[value is not None for value in values]] = points
            return line
    return None


def _day_of(value: Value) -> float | None:
    day = date_of(value)
    return None if day is None else float(day.toordinal())


def labels_of(
    problem: Problem, partition: Partition, intervals: Sequence[bool], *, exact: bool = True
) -> list[AttributeLabels]:
    """Choose the labels of the classes in every attribute: the narrowest that cover their rows.

    Args:
        problem: The table.
        partition: Its classes.
        intervals: Which attributes are published as intervals.
        exact: Whether intervals go from the smallest to the largest value of a class; else they
            reach from cut to cut, or between round numbers where no cuts are known.
    """
    if not partition.n:
        return [_nothing(problem, a, as_interval) for a, as_interval in enumerate(intervals)]
    return [
        _intervals(problem, partition, a, exact=exact)
        if as_interval
        else _from_ladder(problem, partition, a)
        for a, as_interval in enumerate(intervals)
    ]


def _nothing(problem: Problem, a: int, as_interval: bool) -> AttributeLabels:  # noqa: FBT001
    none, no_cell = np.empty(0, dtype=np.int64), np.empty(0)
    height = problem.attributes[a].ladder.height
    cells = Cells(none, no_cell, no_cell, no_cell, no_cell)
    levels = None if as_interval else np.zeros(height + 1, dtype=np.int64)
    return AttributeLabels((), none, cells, raw=True, levels=levels)


def _from_ladder(problem: Problem, partition: Partition, a: int) -> AttributeLabels:
    """Climb until all rows of a class have one label."""
    attribute = problem.attributes[a]
    ladder = attribute.ladder
    raw = problem.raw[a][partition.item]
    starts = partition.starts
    level = np.full(partition.n, problem.highest[a], dtype=np.int64)
    code = np.zeros(partition.n, dtype=np.int64)
    open_: BoolArray = np.ones(partition.n, dtype=bool)
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
    piece_level = level[partition.classes]
    rows_at = np.bincount(piece_level, weights=partition.rows, minlength=ladder.height + 1)
    cells = _count_cells(
        raw,
        piece_level,
        partition.rows,
        level=piece_level.astype(np.float64),
        leaves=np.concatenate(ladder.leaves)[base[piece_level] + ladder.codes[piece_level, raw]],
        together=_together(attribute)[piece_level, raw],
    )
    return AttributeLabels(
        names, number[of_class], cells, _all_raw(names, ladder), rows_at.astype(np.int64)
    )


def _intervals(problem: Problem, partition: Partition, a: int, *, exact: bool) -> AttributeLabels:
    """Write the interval that covers the values of each class."""
    attribute = problem.attributes[a]
    values = attribute.ladder.values
    raw = problem.raw[a][partition.item].astype(np.int64)
    low = np.minimum.reduceat(raw, partition.starts)
    high = np.maximum.reduceat(raw, partition.starts)
    n = len(values)
    if exact:
        used, of_class = np.unique(low * n + high, return_inverse=True)
        found = [
            _interval(values[i], values[j])
            for i, j in zip((used // n).tolist(), (used % n).tolist(), strict=True)
        ]
    else:
        cuts = None if partition.cuts is None else partition.cuts[:, a]
        ends = problem.ends[a] if problem.ends else None
        kind = _Ruler if ends is None else partial(_WrittenRuler, ends)
        found, of_class, low, high = kind(values, np.unique(raw)).label(low, high, cuts)
    names, number = _by_text(found)
    low, high = low[partition.classes], high[partition.classes]
    star = (high == n - 1) & (low < high) & (values[-1] is None)
    low, high = np.where(star, 0, low), np.where(star, n - 1, high)
    share = (high - low) / max(n - 1, 1)
    rows_up_to = np.concatenate([[0.0], np.cumsum(attribute.frequency, dtype=np.float64)])
    cells = _count_cells(
        raw,
        low * n + high,
        partition.rows,
        # An attribute without a hierarchy has one level above the raw values: its whole domain.
        level=share * attribute.ladder.height,
        leaves=(high - low + 1).astype(np.float64),
        together=rows_up_to[high + 1] - rows_up_to[low],
    )
    return AttributeLabels(names, number[of_class], cells, _all_raw(names, attribute.ladder), None)


def _interval(low: Value, high: Value) -> Value:
    if low is high:
        return low
    if high is None:
        return STAR
    return f"{text_of(low)} to {text_of(high)}"


_YEARS = 5 * 365
"""A stretch of days that is rounded to years; a shorter one to months."""


class _Ruler:
    """Numbers or days, and round places between and beyond them.

    Where intervals end at such places, and not at the smallest and largest value of a class, they
    publish no value of a single person. No place depends on a value that no class has.

    Args:
        values: The values that codes stand for, in their order; a missing one is the last.
        used: The codes of those that some class has.
    """

    def __init__(self, values: Sequence[Value], used: IntArray) -> None:
        self._values = values
        self._n = len(values)
        known = [value for value in values if value is not None]
        self._missing = len(known) if len(known) < self._n else -1
        numbers = [number_point(value) for value in known]
        self._days = any(number is None for number in numbers)
        scale: Scale = Days() if self._days else Numbers()
        self._points = [point for value in known if (point := scale.read(value)) is not None]
        # Equal numbers may be written differently.
        met = [code for code in used.tolist() if code != self._missing]
        points = {self._points[code] for code in met}
        self._different: list[Decimal] = sorted(points) or [Decimal(0)]
        if not self._days and all(map(is_whole, self._different)):
            scale = WholeNumbers()
        self._scale = scale
        self._by_text = {text_of(known[code]): known[code] for code in met}
        self._step = self._step_of()

    def _step_of(self) -> Decimal:
        """Return about a tenth of the whole stretch, as a round number."""
        stretch = self._different[-1] - self._different[0]
        least = Decimal(1) if isinstance(self._scale, WholeNumbers) else None
        if not stretch:
            exponent = min(int(self._different[0].as_tuple().exponent), 0)
            return least or Decimal(1).scaleb(exponent)
        exponent = (stretch / 10).adjusted()
        fitting = [Decimal(d).scaleb(exponent) for d in (1, 2, 5)]
        step = max((each for each in fitting if each <= stretch / 10), default=fitting[0])
        return max(step, least) if least is not None else step

    def label(
        self, low: IntArray, high: IntArray, cuts: IntArray | None
    ) -> tuple[list[Value], IntArray, IntArray, IntArray]:
        """Return the labels, which of them each class has, and the values they reach to.

        Args:
            low: The smallest value of each class, as its code.
            high: The largest.
            cuts: The cut below each class and the one above it; None if no cuts are known.
        """
        if cuts is None:
            below, lower = self._places(low, self._round_down)
            above, upper = self._places(np.where(high == self._missing, low, high), self._round_up)
        else:
            below, lower = self._places(cuts[:, 0], self._cut_below)
            above, upper = self._places(cuts[:, 1], self._cut_above)
        lacking = high == self._missing if self._missing >= 0 else np.zeros(len(low), dtype=bool)
        # Missing values have no place: alone they are missing, with others they are *.
        state = np.where(lacking, np.where(low == self._missing, 1, 2), 0)
        width = len(above) + 1
        key = np.where(state == 0, (lower * width + upper) * 3, state)
        _, first, of_class = np.unique(key, return_index=True, return_inverse=True)
        starts = np.array([self._first_from(mark) for mark in below], dtype=np.int64)
        ends = np.array([self._first_from(mark, above=True) - 1 for mark in above], dtype=np.int64)
        from_, to = starts[lower], ends[upper]
        if ((low < from_) | (high > to))[state == 0].any():
            raise RuntimeError("an interval does not cover the values of its class")
        found: list[Value] = []
        for i in first.tolist():
            text = write_interval(self._scale, below[lower[i]], above[upper[i]])
            found.append((self._by_text.get(text, text), None, STAR)[state[i]])
        return found, of_class, np.where(state == 0, from_, low), np.where(state == 0, to, high)

    def _first_from(self, mark: Decimal | None, *, above: bool = False) -> int:
        """Return the code of the first value that is not below a place; None is an open end."""
        if mark is None:
            return len(self._points) if above else 0
        return bisect_left(self._points, mark)

    def _places(
        self, keys: IntArray, place: Callable[[int], Decimal | None]
    ) -> tuple[list[Decimal | None], IntArray]:
        """Find the place of each key, each once."""
        used, number = np.unique(keys, return_inverse=True)
        return [place(key) for key in used.tolist()], number

    def _cut_below(self, key: int) -> Decimal | None:
        """Return the place at which the upper half of a cut begins."""
        if key < 0:
            return self._down(self._different[0])
        left, right = self._beside(key)
        if left < right:
            return self._roundest(left, right)
        # One value is on both sides.
        at = bisect_left(self._different, right)
        return self._roundest(self._different[at - 1], right) if at else self._down(right)

    def _cut_above(self, key: int) -> Decimal | None:
        """Return the place before which the lower half of a cut ends."""
        if key < 0:
            return self._up(self._different[-1])
        left, right = self._beside(key)
        if left < right:
            return self._roundest(left, right)
        at = bisect_right(self._different, left)
        more = at < len(self._different)
        return self._roundest(left, self._different[at]) if more else self._up(left)

    def _beside(self, key: int) -> tuple[Decimal, Decimal]:
        """Return the values that classes have on both sides of a cut."""
        left, right = (self._points[code] for code in divmod(key, self._n))
        below = bisect_right(self._different, left) - 1
        above = bisect_left(self._different, right)
        last = len(self._different) - 1
        return self._different[max(below, 0)], self._different[min(above, last)]

    def _round_down(self, code: int) -> Decimal | None:
        return self._down(self._points[min(code, len(self._points) - 1)])

    def _round_up(self, code: int) -> Decimal | None:
        return self._up(self._points[min(code, len(self._points) - 1)])

    def _down(self, point: Decimal) -> Decimal:
        """Return the next round place at or below a point."""
        if not self._days:
            return multiple_at(point, self._step, Decimal(0))
        day = date.fromordinal(int(point)).replace(day=1)
        return Decimal((day.replace(month=1) if self._in_years else day).toordinal())

    def _up(self, point: Decimal) -> Decimal:
        """Return the next round place above a point."""
        if not self._days:
            return plus(self._down(point), self._step)
        day = date.fromordinal(int(self._down(point)))
        if (day.year, day.month) >= (9999, 1 if self._in_years else 12):
            return Decimal(date.max.toordinal() + 1)
        if self._in_years:
            return Decimal(day.replace(year=day.year + 1).toordinal())
        return Decimal((day.replace(day=28) + timedelta(days=4)).replace(day=1).toordinal())

    @property
    def _in_years(self) -> bool:
        stretch: Decimal = self._different[-1] - self._different[0]
        return stretch > _YEARS

    def _roundest(self, above: Decimal, up_to: Decimal) -> Decimal:
        """Return the roundest place above one point and not above another."""
        if not self._days:
            return roundest(above, up_to)
        day = date.fromordinal(int(up_to))
        for start in (day.replace(month=1, day=1), day.replace(day=1)):
            if start.toordinal() > above:
                return Decimal(start.toordinal())
        return up_to


class _WrittenRuler(_Ruler):
    """A ruler whose only places are the ends that a policy writes down, the outermost ones open.

    Each place is the end of a range that holds a published value, whatever other values there are.

    Args:
        ends: The places.
        values: The values that codes stand for, in their order; a missing one is the last.
        used: The codes of those that some class has.
    """

    def __init__(self, ends: WrittenEnds, values: Sequence[Value], used: IntArray) -> None:
        super().__init__(values, used)
        self._ends = ends
        if isinstance(self._scale, WholeNumbers) and not all(map(is_whole, ends.between)):
            self._scale = Numbers()
        self._scale = self._scale.told_in(language_of(ends.language))

    def label(
        self, low: IntArray, high: IntArray, cuts: IntArray | None
    ) -> tuple[list[Value], IntArray, IntArray, IntArray]:
        if cuts is not None:
            # Where a class was not cut, its own outermost value says in which range it ends.
            top = np.where(high == self._missing, low, high)
            own = np.minimum(np.stack([low, top], axis=1), max(len(self._points) - 1, 0))
            cuts = np.where(cuts < 0, -2 - own, cuts)
        return super().label(low, high, cuts)

    def _round_down(self, code: int) -> Decimal | None:
        return _end_at(self._ends.outside, self._points[min(code, len(self._points) - 1)])

    def _round_up(self, code: int) -> Decimal | None:
        return _end_above(self._ends.outside, self._points[min(code, len(self._points) - 1)])

    def _cut_below(self, key: int) -> Decimal | None:
        if key < 0:
            return self._round_down(-2 - key)
        return _end_at(self._ends.between, self._beside(key)[1])

    def _cut_above(self, key: int) -> Decimal | None:
        if key < 0:
            return self._round_up(-2 - key)
        return _end_above(self._ends.between, self._beside(key)[0])


def _end_at(ends: Sequence[Decimal], point: Decimal) -> Decimal | None:
    """Return the last end that is not above a point; None if the range has none below."""
    at = bisect_right(ends, point)
    return ends[at - 1] if at else None


def _end_above(ends: Sequence[Decimal], point: Decimal) -> Decimal | None:
    """Return the first end above a point; None if the range has none above."""
    at = bisect_right(ends, point)
    return ends[at] if at < len(ends) else None


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


def _count_cells(
    raw: IntArray,
    label: IntArray,
    rows: IntArray,
    *,
    level: FloatArray,
    leaves: FloatArray,
    together: FloatArray,
) -> Cells:
    """Count cells with the same raw value and label once."""
    _, first, of_item = np.unique(
        label * (int(raw.max(initial=0)) + 1) + raw, return_index=True, return_inverse=True
    )
    added: FloatArray = np.bincount(of_item, weights=rows, minlength=len(first)).astype(float)
    return Cells(raw[first], level[first], leaves[first], together[first], added)


@dataclass(frozen=True, eq=False)
class LabelledPartition:
    """A partition with its labels, judged as it is published."""

    problem: Problem
    partition: Partition
    """The published portions; classes with the same labels are one class."""

    labels: tuple[AttributeLabels, ...]
    """The labels of each attribute."""

    gone: Partition
    """The portions of classes that broke a model, and are suppressed."""

    left: EquivalenceClasses
    """The published classes as the models judge them."""

    broken: tuple[PrivacyModel, ...]
    """The models that were broken before anything was suppressed."""

    first: EquivalenceClasses
    """The classes before anything was suppressed."""

    @property
    def suppressed(self) -> int:
        """The rows that are not published."""
        return int(self.gone.rows.sum())

    @property
    def lost(self) -> int:
        """The number that the limit is of: those rows, or the people whose rows they are."""
        if not self.problem.whole_people:
            return self.suppressed
        return len(np.unique(self.problem.of_person[self.gone.item]))

    def result(self) -> LocalResult:
        """Return it as losses see it."""
        gone = self.gone
        removed: list[FloatArray] = [
            sums(raw[gone.item], gone.rows, len(attribute.frequency)).astype(float)
            for raw, attribute in zip(self.problem.raw, self.problem.attributes, strict=True)
        ]
        cells = [one.cells for one in self.labels]
        return LocalResult(cells, self.partition.sizes, removed, self.suppressed)

    def recoding(self, counts: FrequencySet, items: IntArray) -> LocalRecoding:
        """Return what becomes of every combination of a table.

        Args:
            counts: The whole table, of which the problem may be a part.
            items: Where the problem's items are in it; all others are suppressed.
        """
        is_outside = np.ones(len(counts), dtype=bool)
        is_outside[items] = False
        outside = np.flatnonzero(is_outside)
        item = np.concatenate([items[self.partition.item], items[self.gone.item], outside])
        rows = np.concatenate([self.partition.rows, self.gone.rows, counts.rows[outside]])
        lost = np.full(len(self.gone.item) + len(outside), SUPPRESSED)
        classes = np.concatenate([self.partition.classes, lost])
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
            labels=np.array(codes, dtype=np.int32).reshape(n, self.partition.n),
        )


def label_partition(
    problem: Problem, partition: Partition, intervals: Sequence[bool], *, exact: bool = True
) -> LabelledPartition:
    """Label the classes, merge those with the same labels, and suppress what breaks a model.

    Classes are judged once more because of what only the whole release shows: merged
    classes, missing values that match any, and the distribution of the rows that stay. Where
    people are suppressed with all their rows, who leaves one class leaves the others too.
    """
    gone = Partition.of([], [], [])
    broken: tuple[PrivacyModel, ...] = ()
    first = None
    while True:
        partition, labels = _merge_same_labels(problem, partition, intervals, exact=exact)
        left = _view(problem, partition, labels)
        keep, failed = _judge(problem.models, left)
        if first is None:
            first, broken = left, failed
        if keep.all():
            return LabelledPartition(problem, partition, labels, gone, left, broken, first)
        stays = keep[partition.classes]
        if problem.whole_people:
            leaves = np.zeros(int(problem.of_person.max()) + 1, dtype=bool)
            leaves[problem.of_person[partition.item[~stays]]] = True
            stays &= ~leaves[problem.of_person[partition.item]]
            keep = np.bincount(partition.classes, weights=stays, minlength=partition.n) > 0
        gone = Partition.of(
            np.concatenate([gone.item, partition.item[~stays]]),
            np.concatenate([gone.rows, partition.rows[~stays]]),
            np.zeros(len(gone.item) + int(np.count_nonzero(~stays))),
        )
        cuts = None if partition.cuts is None else partition.cuts[keep]
        partition = replace(partition.part(stays), cuts=cuts)


def _merge_same_labels(
    problem: Problem, partition: Partition, intervals: Sequence[bool], *, exact: bool
) -> tuple[Partition, tuple[AttributeLabels, ...]]:
    """Label classes, and make those with the same labels one."""
    labels = labels_of(problem, partition, intervals, exact=exact)
    names = group(
        [one.of_class for one in labels], [len(one.names) for one in labels], n=partition.n
    )
    merged = Partition.of(partition.item, partition.rows, names.of_item[partition.classes])
    if partition.cuts is not None:
        merged = replace(merged, cuts=partition.cuts[names.first])
    return merged, tuple(replace(one, of_class=one.of_class[names.first]) for one in labels)


def _view(
    problem: Problem, partition: Partition, labels: Sequence[AttributeLabels]
) -> EquivalenceClasses:
    """Return the classes as a reader of the release sees them."""
    n = partition.n
    classes = problem.judge.classes(partition.classes, partition.item, partition.rows, n)
    own = problem.whole is None
    classes = classes.keep(np.ones(n, dtype=bool), own_reference=own)
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
    """Return which classes may stay, and the models that some of them break.

    A model of the whole table decides only when every class keeps the others.
    """
    keep = np.ones(len(classes), dtype=bool)
    broken: list[PrivacyModel] = []
    for per_table in (False, True):
        if not keep.all():
            break
        for model in models:
            if isinstance(model, TableModel) == per_table:
                verdicts = model.judge(classes)
                keep &= verdicts
                if not verdicts.all():
                    broken.append(model)
    return keep, tuple(broken)
