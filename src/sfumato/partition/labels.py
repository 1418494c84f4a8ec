"""What classes are called: for each attribute the narrowest label that covers all their rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.hierarchy.base import Ladder
from sfumato.hierarchy.scales import number_point
from sfumato.losses import Attribute, Cells
from sfumato.partition.parted import Parted
from sfumato.partition.problem import Problem
from sfumato.text import STAR, date_of, text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value


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
