"""The section on shifts: how sensitive values are spread, overall and in the worst class."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import field

import numpy as np

from sfumato.attacks import Target
from sfumato.classes import MISSING, ValueCounts
from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter, NotHereError
from sfumato.showing.charts import shares_svg
from sfumato.showing.content import (
    Beside,
    Cell,
    ContentTable,
    Drawing,
    Heading,
    Part,
    Sentence,
    Share,
)
from sfumato.text import brief, number_of, text_of
from sfumato.typing import FloatArray, IntArray, Value

# Few labels for many values: numbers in ranges, everything else as it is.


MOST = 12
"""Numbers with more values than this are put into ten ranges, each with as many people."""

_RANGES = 10


@dataclass(frozen=True, eq=False)
class Ranges:
    """Which label each value has.

    Example:
        >>> ranges = Ranges.of(tuple(range(20)), np.ones(20, dtype=np.int64))
        >>> ranges.labels[:2], ranges.place("3"), ranges.place(None)
        (('0 to 1', '2 to 3'), 1, 10)
    """

    labels: tuple[str, ...]
    of_code: IntArray
    """The label of each value that was given."""

    starts: tuple[float, ...] = ()
    """Where ranges begin; empty if values are as they are."""

    places: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Sequence[Value], rows: IntArray) -> "Ranges":
        """Find labels for known values, in order, and how many people have each."""
        numbers = [number_of(value) for value in values]
        known = [number for number in numbers if number is not None]
        if len(values) <= MOST or len(known) < len(values) or known != sorted(known):
            places = {text_of(value): i for i, value in enumerate(values)}
            labels = tuple(brief(value, most=60) for value in values)
            return cls(labels, np.arange(len(values)), places=places)
        before = np.cumsum(rows) - rows
        at = np.minimum(before * _RANGES // max(int(rows.sum()), 1), _RANGES - 1)
        first, code = np.unique(at, return_index=True, return_inverse=True)[1:]
        last = [*(first[1:] - 1).tolist(), len(values) - 1]
        labels = tuple(
            text_of(values[a]) if a == b else f"{text_of(values[a])} to {text_of(values[b])}"
            for a, b in zip(first.tolist(), last, strict=True)
        )
        return cls(labels, code, starts=tuple(known[i] for i in first.tolist()))

    def place(self, value: Value) -> int:
        """Find the label of any value; after the last come what is missing and what is unknown."""
        if value is None:
            return len(self.labels)
        unknown = len(self.labels) + 1
        if not self.starts:
            return self.places.get(text_of(value), unknown)
        number = number_of(value)
        if number is None:
            return unknown
        return max(bisect_right(self.starts, number) - 1, 0)


_MOST_DRAWN = 6
"""Sensitive columns that are drawn; all are in the table."""


def _parts(dossier: Dossier) -> Sequence[Part]:
    target = dossier.target
    if not target.sensitive or not target.classes.total:
        raise NotHereError("the release has no sensitive column, or no person in it")
    spreads = [_spread(target, name, dossier.original) for name in target.sensitive]
    parts: list[Part] = [_table(spreads, with_original=dossier.original is not None)]
    parts.append(Beside(tuple(Drawing.of(_draw(spread)) for spread in spreads[:_MOST_DRAWN])))
    if len(spreads) > _MOST_DRAWN:
        parts.append(Sentence(f"And {len(spreads) - _MOST_DRAWN} more columns, not drawn."))
    return parts


@dataclass(frozen=True, eq=False)
class ColumnShares:
    """The shares of the values of one column, side by side."""

    column: str
    values: tuple[str, ...]
    original: FloatArray | None
    release: FloatArray
    worst: FloatArray
    """In the class that differs most from the release as a whole."""

    who: str
    people: int


def _spread(target: Target, name: str, original: FrequencySet | None) -> ColumnShares:
    counts = target.classes.counts_of(name)
    ranges = Ranges.of(counts.column.values, counts.reference[:-1])
    n = len(ranges.labels) + 2
    of_value = np.append(ranges.of_code, n - 2)
    release = _shares(np.bincount(of_value, weights=counts.reference, minlength=n))
    code = of_value[np.where(counts.value == MISSING, len(counts.column.values), counts.value)]
    at = worst_class(counts, code, release)
    mine = counts.class_id == at
    worst = _shares(np.bincount(code[mine], weights=counts.rows[mine], minlength=n))
    before = None if original is None else _before(original, name, ranges)
    return ColumnShares(
        name,
        (*ranges.labels, "(missing)", "(not in the release)"),
        before,
        release,
        worst,
        _join_named(target.who(at)),
        int(target.classes.inside[at]),
    )


def worst_class(counts: ValueCounts, code: np.ndarray, whole: FloatArray) -> int:
    """Find the class whose shares differ most from those of all: half the sum of differences.

    Values that a class lacks differ by their whole share, so that only those it has are looked at.

    >>> counts = classes_of([("A", "flu"), ("A", "gout"), ("B", "flu")], column="ill")
    >>> counts = counts.counts_of("ill")
    >>> worst_class(counts, counts.value, np.array([2 / 3, 1 / 3]))
    1
    """
    n = int(counts.class_id.max()) + 1
    width = len(whole)
    cells, at = np.unique(counts.class_id * width + code, return_inverse=True)
    rows = np.bincount(at, weights=counts.rows)
    of_cell, value = cells // width, cells % width
    share = rows / np.bincount(of_cell, weights=rows, minlength=n)[of_cell]
    there = np.bincount(of_cell, weights=np.abs(share - whole[value]), minlength=n)
    lacking = 1 - np.bincount(of_cell, weights=whole[value], minlength=n)
    return int(np.argmax(there + lacking))


def _before(original: FrequencySet, name: str, ranges: Ranges) -> FloatArray:
    values = original.column(name).values
    rows = original.value_counts(name)
    places = [ranges.place(value) for value in values]
    return _shares(np.bincount(places, weights=rows, minlength=len(ranges.labels) + 2))


def _shares(rows: FloatArray | IntArray) -> FloatArray:
    share: FloatArray = rows / max(float(rows.sum()), 1.0)
    return share


def _join_named(who: "dict[str, Value]") -> str:
    return ", ".join(f"{name}={brief(value, most=40)}" for name, value in who.items())


def _table(spreads: Sequence[ColumnShares], *, with_original: bool) -> ContentTable:
    def apart(one: FloatArray, other: FloatArray) -> Share:
        return Share(min(float(np.abs(one - other).sum()) / 2, 1.0))

    rows: list[list[Cell]] = []
    for s in spreads:
        commonest = int(np.argmax(s.worst))
        row: list[Cell] = [s.column, int((s.release[:-2] > 0).sum())]
        row += [] if s.original is None else [apart(s.original, s.release)]
        row += [apart(s.worst, s.release), s.who or "everybody", s.people]
        rows.append([*row, s.values[commonest], Share(float(s.worst[commonest]))])
    shifted = Heading(
        "original to release",
        "How many people's values would have to change to make one distribution the other.",
    )
    return ContentTable.of(
        "How far the shares of sensitive values are from each other",
        [
            "column",
            Heading("values", "How many values, or ranges of numbers, are told apart."),
            *([shifted] if with_original else []),
            Heading("release to worst class", "The same between all people and that class."),
            "worst class",
            Heading("people", "How many are in that class."),
            Heading("most frequent there", "What one would guess of its people."),
            Heading("share", "How often that guess is right."),
        ],
        rows,
    )


def _draw(spread: ColumnShares) -> str:
    series = {} if spread.original is None else {"original": spread.original.tolist()}
    series |= {"release": spread.release.tolist(), "worst class": spread.worst.tolist()}
    # The release looks the same whether the original is beside it or not.
    looks = ("before", "now", "worst")[-len(series) :]
    shown = [i for i in range(len(spread.values)) if any(s[i] > 0 for s in series.values())]
    return shares_svg(
        [spread.values[i] for i in shown],
        {name: [min(s[i], 1.0) for i in shown] for name, s in series.items()},
        title=f"{brief(spread.column, most=60)}: shares of its values",
        looks=looks,
    )


SHIFT = Chapter(
    "shift",
    "How sensitive values are spread",
    "If a class has other shares than all people together, an adversary who knows a person's class "
    "learns something; if the release has other shares than the original, analyses are off.",
    _parts,
    of_people=True,
)
