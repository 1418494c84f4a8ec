"""Questions about one column, and the answers that its labels give."""

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from sfumato.content import Content, Showable
from sfumato.counts import Column, add_up
from sfumato.errors import InputError, ParameterError, UnknownNameError
from sfumato.hierarchy import Ladder
from sfumato.hierarchy.labels import (
    LabelReader,
    Reader,
    Stretch,
    day_of,
    reader_of,
    stretch_of,
)
from sfumato.text import STAR, number_of, text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value
from sfumato.usefulness.queries import between


@dataclass(frozen=True)
class Range:
    """Everything from one end to the other, both inside; None leaves an end open."""

    low: Value
    high: Value

    def __str__(self) -> str:
        ends = ["" if end is None else text_of(end) for end in (self.low, self.high)]
        return "..".join(ends)


@dataclass(frozen=True)
class Values:
    """Some values; None is the missing one."""

    values: tuple[Value, ...]

    @property
    def texts(self) -> frozenset[str | None]:
        """The values as they are written."""
        return frozenset(None if value is None else text_of(value) for value in self.values)

    def __str__(self) -> str:
        return ",".join("" if value is None else text_of(value) for value in self.values)


Wanted: TypeAlias = Range | Values


def wanted_of(name: str, given: object) -> Wanted:
    """Read a condition: a pair is a range, a list or set are values, anything else is one.

    >>> [str(wanted_of("age", given)) for given in ((30, 45), (None, 45), ["f", "m"], "flu")]
    ['30..45', '..45', 'f,m', 'flu']
    """
    if isinstance(given, tuple):
        if len(given) != 2 or given == (None, None):
            raise ParameterError(
                f"where[{name!r}]",
                given,
                "a range (low, high) with at least one end, a list of values, or a value",
            )
        return Range(*given)
    if isinstance(given, list | set | frozenset):
        if not given:
            raise ParameterError(f"where[{name!r}]", given, "at least one value")
        return Values(tuple(given))
    return Values((given,))


# What a published label says to a question about raw values.


class LabelAnswer(NamedTuple):
    """How likely a person with a label has what is asked for, and whether it is certain."""

    share: float
    certain: bool
    """Whether all people with the label have it."""

    possible: bool
    """Whether anybody with the label can have it."""


YES = LabelAnswer(1.0, certain=True, possible=True)
NO = LabelAnswer(0.0, certain=False, possible=False)


class AnswerReader(Protocol):
    """Anything that can hold the labels of a column against a question."""

    def answer(self, label: Value) -> LabelAnswer:
        """Return what one label says."""


class InformedReader:
    """Reads labels knowing all raw values of the column.

    Rows behind a label are taken to be spread evenly over the raw values it covers. A label
    may also be asked for by its own name.

    Args:
        raw: The column of the original table.
        shown: The column as it was published.
        wanted: What is asked for.
        ladder: The column's hierarchy, if it has one.
        level: The level it was published at, if it is one for all rows.

    Example:
        >>> age = Column("age", (31, 32, 38, 40))
        >>> reading = InformedReader(age, Column("age", ("30-39", "40-49")), Range(35, 45))
        >>> [reading.answer(label).share for label in ("30-39", "40-49")]
        [0.3333333333333333, 1.0]
    """

    def __init__(
        self,
        raw: Column,
        shown: Column,
        wanted: Wanted,
        ladder: Ladder | None = None,
        level: int | None = None,
    ) -> None:
        self._reader = LabelReader(raw, ladder, level)
        if isinstance(wanted, Range):
            low = raw.known[0] if wanted.low is None and raw.known else wanted.low
            high = raw.known[-1] if wanted.high is None and raw.known else wanted.high
            self._named: frozenset[str | None] = frozenset()
            self._allowed = between(raw, low, high).allowed
        else:
            self._named = wanted.texts
            self._allowed = _allow(raw, shown, wanted)

    def answer(self, label: Value) -> LabelAnswer:
        """Return what one label says."""
        if label is not None and text_of(label) in self._named:
            return YES
        inside = self._allowed[self._reader.codes(label)]
        return LabelAnswer(
            float(inside.mean()), certain=bool(inside.all()), possible=bool(inside.any())
        )


def _allow(raw: Column, shown: Column, wanted: Values) -> BoolArray:
    texts = [None if value is None else text_of(value) for value in raw.values]
    named = {text_of(value) for value in shown.known}
    reader = reader_of(raw)
    for value in wanted.values:
        text = None if value is None else text_of(value)
        # A number that no row has is no mistake, a word that no row has most likely is.
        read = None if reader is None or value is None else reader(value)
        if text is not None and text not in texts and text not in named and read is None:
            raise unknown(raw.name, text, [each for each in texts if each is not None])
    return np.array([text in wanted.texts for text in texts], dtype=bool)


def unknown(column: str, text: str, known: list[str]) -> UnknownNameError:
    """Return the error for a value that no row can have."""
    return UnknownNameError("value", text, known, where=repr(column))


# Reading labels with nothing but the release.


class ReleaseOnlyReader:
    """Reads labels with the release and nothing else.

    What is asked for is held against an interval pro rata: whole numbers and days are counted
    where all ends are whole (`20-29` are ten values), lengths are compared where not. An open
    end (`>=65`) reaches as far as anything that is published or asked for, `*` from the least to
    the most of that, and a mask of digits (`476**`) stands for all numbers that fit. `*`
    among words stands for the words that are published or asked for. A word stands for itself.

    Args:
        shown: The column as it was published.
        wanted: What is asked for.

    Example:
        >>> reading = ReleaseOnlyReader(Column("age", ("20-29", "30-39", "40-49")), Range(25, 39))
        >>> [reading.answer(label).share for label in ("20-29", "30-39", "40-49")]
        [0.5, 1.0, 0.0]
    """

    def __init__(self, shown: Column, wanted: Wanted) -> None:
        if shown.known and {text_of(value) for value in shown.known} == {STAR}:
            raise InputError(
                f"column {shown.name!r} is published as '*' for everybody, which says nothing "
                f"about {str(wanted)!r}. Give the table it was made of (--original, original=...), "
                "or leave the column out."
            )
        axis = _Axis.of_column(shown, wanted)
        self._reading: _Axis | _Words
        if axis is not None:
            self._reading = axis
        elif isinstance(wanted, Values):
            self._reading = _Words(shown, wanted)
        else:
            raise _no_order_error(shown, wanted)

    def answer(self, label: Value) -> LabelAnswer:
        """Return what one label says."""
        return self._reading.answer(label)


class _Axis:
    """Labels that are all numbers or days, or stretches of them."""

    def __init__(self, wanted: Wanted, reader: Reader, stretches: Mapping[str, Stretch]) -> None:
        self._stretches = stretches
        self._whole = _whole(stretches.values())
        self._named = wanted.texts if isinstance(wanted, Values) else frozenset()
        given = wanted.values if isinstance(wanted, Values) else (wanted.low, wanted.high)
        points = [None if value is None else reader(value) for value in given]
        known = [point for point in points if point is not None]
        self._asked = _Points(known) if isinstance(wanted, Values) else _Between(*points)
        ends = [end for each in stretches.values() for end in (each.low, each.high)]
        finite = [end for end in [*ends, *known] if math.isfinite(end)]
        self._least, self._most = min(finite), max(finite)

    @classmethod
    def of_column(cls, shown: Column, wanted: Wanted) -> "_Axis | None":
        """Find how all labels can be put on a line, if they can."""
        texts = [text_of(value) for value in shown.known if text_of(value) != STAR]
        for reader in (number_of, day_of):
            read = {text: _stretch(text, reader) for text in texts}
            stretches = {text: each for text, each in read.items() if each is not None}
            if stretches and len(stretches) == len(read) and _fits(wanted, reader, read):
                return cls(wanted, reader, stretches)
        return None

    def answer(self, label: Value) -> LabelAnswer:
        text = None if label is None else text_of(label)
        if text is None or text in self._named:
            return YES if text in self._named else NO
        everything = Stretch(-math.inf, math.inf, closed=True)
        stretch = everything if text == STAR else self._stretches[text]
        if self._whole and not stretch.closed:
            stretch = Stretch(stretch.low, stretch.high - 1, closed=True)
        share = self._asked.share(self._clip(stretch), whole=self._whole)
        certain, possible = self._asked.bounds(stretch, whole=self._whole)
        return LabelAnswer(share if possible else 0.0, certain=certain, possible=possible)

    def _clip(self, stretch: Stretch) -> Stretch:
        """Cut open ends at the farthest known point, and keep at least a point."""
        low, high = max(stretch.low, self._least), min(stretch.high, self._most)
        if low > high:
            low = high = low if math.isinf(stretch.high) else high
        return Stretch(low, high, stretch.closed)


class _Between:
    """A range, held against stretches."""

    def __init__(self, low: float | None, high: float | None) -> None:
        self._low = -math.inf if low is None else low
        self._high = math.inf if high is None else high

    def share(self, stretch: Stretch, *, whole: bool) -> float:
        low, high = max(self._low, stretch.low), min(self._high, stretch.high)
        if whole:
            return max(math.floor(high) - math.ceil(low) + 1, 0) / (stretch.high - stretch.low + 1)
        if stretch.low == stretch.high:
            return float(low <= high)
        return max(high - low, 0.0) / (stretch.high - stretch.low)

    def bounds(self, stretch: Stretch, *, whole: bool) -> tuple[bool, bool]:
        """Return whether it holds all of a stretch, and whether any of it."""
        certain = self._low <= stretch.low and stretch.high <= self._high
        low, high = max(self._low, stretch.low), min(self._high, stretch.high)
        if whole and math.isfinite(low) and math.isfinite(high):
            return certain, math.ceil(low) <= math.floor(high)
        return certain, low < high or (low == high and stretch.holds(low))


class _Points:
    """Some values, held against stretches."""

    def __init__(self, points: Iterable[float]) -> None:
        self._points = sorted(set(points))

    def share(self, stretch: Stretch, *, whole: bool) -> float:
        inside = sum(map(stretch.holds, self._points))
        if stretch.low == stretch.high:
            return float(inside > 0)
        # A single point of a line has no length.
        return inside / (stretch.high - stretch.low + 1) if whole else 0.0

    def bounds(self, stretch: Stretch, *, whole: bool) -> tuple[bool, bool]:
        """Return whether they are all of a stretch, and whether any is in it."""
        inside = sum(map(stretch.holds, self._points))
        width = stretch.high - stretch.low + 1 if whole else 1.0
        return bool(inside) and inside == width and (
            whole or stretch.low == stretch.high
        ), inside > 0


class _Words:
    """Labels that stand for themselves, and masks of them."""

    def __init__(self, shown: Column, wanted: Values) -> None:
        labels = [None if value is None else text_of(value) for value in shown.values]
        self._wanted = wanted.texts
        words = {label for label in labels if label is None or STAR not in label}
        self._domain = words | self._wanted
        for text in self._wanted:
            if text is not None and not any(self._fits(text, label) for label in labels):
                raise unknown(shown.name, text, [each for each in labels if each is not None])

    def answer(self, label: Value) -> LabelAnswer:
        text = None if label is None else text_of(label)
        if text in self._wanted:
            return YES
        if text is None or STAR not in text:
            return NO
        under = [word for word in self._domain if self._fits(word, text)]
        inside = [word for word in under if word in self._wanted]
        share = len(inside) / len(under) if under else 0.0
        # Other words than those published may be meant, so nothing is certain.
        return LabelAnswer(share, certain=False, possible=bool(inside))

    @staticmethod
    def _fits(word: str | None, label: str | None) -> bool:
        if label in {word, STAR}:
            return True
        if word is None or label is None:
            return False
        return re.fullmatch(re.escape(label).replace(re.escape(STAR), "."), word) is not None


def _stretch(text: str, reader: Reader) -> Stretch | None:
    """Read a label as a stretch: a point, an interval, or a mask of digits."""
    point = reader(text)
    if point is not None:
        return Stretch(point, point, closed=True)
    if reader is number_of and re.fullmatch(r"\d+\*+", text):
        return Stretch(float(text.replace(STAR, "0")), float(text.replace(STAR, "9")), closed=True)
    return stretch_of(text, reader)


def _fits(wanted: Wanted, reader: Reader, labels: Container[str]) -> bool:
    """Return whether what is asked for can be put on the line, or is named as it is published."""
    if isinstance(wanted, Range):
        ends = [end for end in (wanted.low, wanted.high) if end is not None]
        return all(reader(end) is not None for end in ends)
    return all(
        value is None or text_of(value) in labels or reader(value) is not None
        for value in wanted.values
    )


def _whole(stretches: Iterable[Stretch]) -> bool:
    """Return whether labels name whole numbers: all ends are whole, and intervals hold both."""
    for low, high, closed in stretches:
        finite = [end for end in (low, high) if math.isfinite(end)]
        if not all(end.is_integer() for end in finite) or (not closed and len(finite) == 2):
            return False
    return True


def _no_order_error(shown: Column, wanted: Range) -> InputError:
    return InputError(
        f"column {shown.name!r} cannot be asked for the range {str(wanted)!r}: its labels are not "
        "all numbers or dates, or intervals of them. Ask for some of the labels, or give the "
        "table it was made of (--original, original=...) and its policy (-p, policy=...)."
    )


# How few and how many people can keep all conditions, whatever is behind a release.


class Part(NamedTuple):
    """One published table: for each of its entries the group, and what is certain of it."""

    group: IntArray
    people: FloatArray
    certain: Mapping[str, BoolArray]
    """Per column that is asked about, whether everybody behind an entry keeps the condition."""

    possible: Mapping[str, BoolArray]
    """Likewise, whether anybody can."""


def bounds(parts: Sequence[Part]) -> tuple[int, int]:
    """Return the least and the most people who can keep the conditions on all columns.

    Tables say nothing about who in a group is who in another, so in each group the bounds are
    Fréchet's: as many as the smallest number in any table, and no fewer than must meet if all
    others are kept apart. If no column stands in two tables, and labels are exact, some table
    behind the release reaches either bound.

    Reference: Fréchet, "Généralisation du théorème des probabilités totales", 1935,
    doi:10.4064/fm-25-1-379-387

    Example:
        >>> one, two = np.zeros(2, dtype=int), np.array([3.0, 1.0])
        >>> flu, low = np.array([True, False]), np.array([True, False])
        >>> bounds([Part(one, two, {"ill": flu}, {"ill": flu}),
        ...         Part(one, two, {"pay": low}, {"pay": low})])
        (2, 3)
    """
    n = max(int(part.group.max(initial=-1)) + 1 for part in parts)
    sizes = add_up(parts[0].group, parts[0].people, n)
    most = sizes
    for part in parts:
        most = np.minimum(most, _people(part, part.possible, list(part.possible), n))
    least, left = sizes, {name for part in parts for name in part.certain}
    while left:
        # A column that stands in several tables is counted in one of them only.
        best = max(parts, key=lambda part: len(left & part.certain.keys()))
        least = least + _people(best, best.certain, sorted(left & best.certain.keys()), n) - sizes
        left -= best.certain.keys()
    return round(float(np.maximum(least, 0).sum())), round(float(most.sum()))


def _people(part: Part, kept: Mapping[str, BoolArray], names: Sequence[str], n: int) -> FloatArray:
    """Count the people of each group whose entry keeps the conditions on some columns."""
    people = part.people
    for name in names:
        people = people * kept[name]
    return add_up(part.group, people, n)


# What a counting query gives when a release is all there is.


@dataclass(frozen=True)
class Estimate(Showable):
    """An estimated count, and what it can be at all.

    Example:
        >>> print(Estimate(12.4, rows=400, least=8, most=20, where={"ill": "flu"}))
        about 12.4 of 400 rows have ill=flu; at least 8 and at most 20
    """

    estimate: float
    """The number of rows that keep all conditions, as far as the release tells."""

    rows: int
    """The number of rows the release has."""

    least: int
    """Fewer rows cannot keep them, whatever table is behind the release."""

    most: int
    """More rows cannot."""

    where: Mapping[str, str]
    """What was asked for, as it is written on the command line."""

    people: float | None = None
    """The estimated number of people in the population, by the weight; None without one."""

    population: float | None = None
    """The number of people that all rows of the release stand for; None without a weight."""

    @property
    def exact(self) -> bool:
        """Whether the release leaves no doubt."""
        return self.least == self.most

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold."""
        return {
            "where": dict(self.where),
            "estimate": self.estimate,
            "rows": self.rows,
            "least": self.least,
            "most": self.most,
            "exact": self.exact,
            **({} if self.people is None else {"people": self.people}),
            **({} if self.population is None else {"population": self.population}),
        }

    def content(self) -> Content:
        """Return the estimate and its bounds in one sentence."""
        return Content(self.headline)

    @property
    def headline(self) -> str:
        """The estimate and its bounds."""
        asked = " and ".join(f"{name}={wanted}" for name, wanted in self.where.items())
        if self.exact:
            return f"{self.least} of {self.rows} rows have {asked}{self._weighted}"
        return (
            f"about {self.estimate:.4g} of {self.rows} rows have {asked}; at least {self.least} "
            f"and at most {self.most}{self._weighted}"
        )

    @property
    def _weighted(self) -> str:
        if self.people is None or self.population is None:
            return ""
        of = f"{round(self.people):,} of {round(self.population):,}"
        return f"; weighted, an estimated {of} people of the population"
