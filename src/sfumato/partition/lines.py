"""Attributes laid out in a line, so that boxes of rows can be measured and cut along them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from sfumato.counts import sums
from sfumato.partition.problem import Problem
from sfumato.text import date_of, number_of
from sfumato.typing import FloatArray, IntArray, Value

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
