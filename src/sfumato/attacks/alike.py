"""Values that differ and are alike: in a category, close together, or under one label."""

from bisect import bisect_right
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from sfumato.classes import SensitiveColumn, ValueCounts
from sfumato.errors import PolicyError, some
from sfumato.hierarchy.scales import number_point, plus
from sfumato.models.categories import category_codes
from sfumato.text import text_of
from sfumato.typing import FloatArray, IntArray, Value


class Likeness(NamedTuple):
    """Where each value stands on a line, and how far likeness reaches from each place.

    Values are all alike when the highest place is within reach of the lowest.
    """

    place: IntArray
    reach: IntArray
    said: Callable[[int, int], str]
    """Says what values are that stand from one place to another."""


ALIKE_IN_NOTHING = Likeness(
    np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), "{} {}".format
)
"""For a column without known values."""


class Fullest(NamedTuple):
    """For each class, the alike values that most of its rows have."""

    rows: IntArray
    lowest: IntArray
    """The place of the first of them; -1 where nothing is alike."""

    highest: IntArray
    prior: FloatArray
    """The share of rows from the first to the last in the whole table."""


def fullest(counts: ValueCounts, likeness: Likeness) -> Fullest:
    """Find where most rows of each class are alike; of equals what is rarest in the table.

    >>> rows = [("A", 30), ("A", 40), ("A", 90), ("B", 90)]
    >>> counts = classes_of(rows, column="pay").counts_of("pay")
    >>> found = fullest(counts, by_distance(counts.column, 10))
    >>> found.rows.tolist(), found.prior.tolist()
    ([2, 1], [0.5, 0.5])
    """
    known, n = counts.known, len(counts.starts)
    nothing = np.zeros(n, dtype=np.int64)
    if not len(known.rows):
        return Fullest(nothing, nothing - 1, nothing - 1, np.zeros(n))
    width = int(likeness.place.max()) + 2
    key = known.class_id * width + likeness.place[known.value]
    order = np.argsort(key, kind="stable")
    key, class_id = key[order], known.class_id[order]
    before = np.concatenate([[0], np.cumsum(known.rows[order])])
    place = key - class_id * width
    # From each entry up to the last of its class within reach; a reach of -1 ends before it.
    first = np.searchsorted(key, key)
    end = np.searchsorted(key, class_id * width + likeness.reach[place], side="right")
    rows = np.where(end > first, before[end] - before[first], 0)
    last = place[np.maximum(end, 1) - 1]
    prior = _share(counts, likeness.place, place, last)
    best = np.lexsort((-prior, rows, class_id))
    best = best[rows[best] > 0]
    found = Fullest(nothing, nothing - 1, nothing - 1, np.zeros(n))
    at = class_id[best]
    # Assignments go in order, so that the last of a class stays.
    found.rows[at], found.lowest[at] = rows[best], place[best]
    found.highest[at], found.prior[at] = last[best], prior[best]
    return found


def _share(counts: ValueCounts, place: IntArray, low: IntArray, high: IntArray) -> FloatArray:
    """Give the share of the table's known rows that stand from one place to another."""
    rows = np.bincount(place, weights=counts.reference[:-1])
    below = np.concatenate([[0], np.cumsum(rows)])
    share: FloatArray = (below[high + 1] - below[low]) / max(below[-1], 1.0)
    return share


def saying(counts: ValueCounts, found: Fullest, likeness: Likeness) -> Callable[[int], str]:
    """Say for a class what is believed of its people."""

    def believed(at: int) -> str:
        if found.rows[at] == 0:
            return "nothing"
        low, high = int(found.lowest[at]), int(found.highest[at])
        return f"{counts.column.name} {likeness.said(low, high)}"

    return believed


def by_category(column: SensitiveColumn, categories: tuple[tuple[Value, ...], ...]) -> Likeness:
    """Let values be alike that are in one category."""
    texts = tuple(tuple(map(text_of, category)) for category in categories)
    # By text, as the models that share the codes do: True and 1 are one key but two values.
    codes = column.derived(("categories", texts), lambda c: category_codes(c, texts))
    return Likeness(codes, np.arange(len(texts)), lambda low, _: f"is one of {some(texts[low])}")


def by_distance(column: SensitiveColumn, within: float) -> Likeness:
    """Let numbers be alike that are no further apart than `within`."""
    points = [number_point(value) for value in column.values]
    numbers = [point for point in points if point is not None]
    if len(numbers) < len(points):
        others = [v for v, p in zip(column.values, points, strict=True) if p is None]
        raise PolicyError(
            f"{len(others)} of the {len(points)} values of column {column.name!r} are not "
            f"numbers: {some(others)}. Similarity within a range needs numbers; for other "
            "values say what is alike with categories or level."
        )
    # Not the column's own order: floats cannot tell two long decimals apart, nor are two
    # spellings of a number two numbers.
    line = sorted(set(numbers))
    at = {number: i for i, number in enumerate(line)}
    place = np.array([at[number] for number in numbers], dtype=np.int64)
    step = Decimal(text_of(within))
    reach = np.array([bisect_right(line, plus(low, step)) - 1 for low in line])
    return Likeness(place, reach, lambda low, high: _between(line[low], line[high]))


def _between(low: Decimal, high: Decimal) -> str:
    return f"= {text_of(low)}" if low == high else f"from {text_of(low)} to {text_of(high)}"


def by_label(column: SensitiveColumn, level: int) -> Likeness:
    """Let values be alike that have one label at a level of the column's hierarchy."""
    ladder = column.ladder
    if ladder is None:
        raise PolicyError(
            f"similarity at a level needs a hierarchy of {column.name!r} and it has none. "
            "Give it one, or say what is alike with categories or within."
        )
    if level >= ladder.height:
        raise PolicyError(
            f"similarity at level {level}: the hierarchy of {column.name!r} ends at level "
            f"{ladder.height}, where all values are alike. Give a lower level."
        )
    position = {value: i for i, value in enumerate(ladder.values)}
    place = ladder.codes[level, [position[value] for value in column.values]].astype(np.int64)
    # A branch may reach the top early; its label says nothing there either.
    says_nothing = np.array([label in ladder.labels[-1] for label in ladder.labels[level]])
    labels = ladder.labels[level]
    return Likeness(
        place,
        np.where(says_nothing, -1, np.arange(len(says_nothing))),
        lambda low, _: f"is {text_of(labels[low])}",
    )
