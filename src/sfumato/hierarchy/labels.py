"""Which raw values a published label stands for."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from sfumato.counts import Column
from sfumato.errors import InputError
from sfumato.hierarchy import Ladder
from sfumato.text import STAR, date_of, number_of, text_of
from sfumato.typing import BoolArray, IntArray, Value

# Columns that have an order, and labels that name a stretch of it.


_SIGNS = str.maketrans({"–": "-", "−": "-"})
"""Dashes that people and spreadsheets write for a minus or between two numbers."""

Reader: TypeAlias = Callable[[Value], float | None]
"""Places a value on the line, or says None."""


class Stretch(NamedTuple):
    """What lies between two ends; the lower one is always inside."""

    low: float
    high: float
    closed: bool
    """Whether the upper end is inside too."""

    def holds(self, point: float) -> bool:
        """Tell whether a point lies in it."""
        return self.low <= point and (point <= self.high if self.closed else point < self.high)


def reader_of(column: Column) -> Reader | None:
    """Find how the values are ordered: all numbers, or all days; None if they are not.

    >>> readers = [reader_of(Column("x", v)) for v in ((31, "40", None), ("f", "m"))]
    >>> [reader is not None for reader in readers]
    [True, False]
    """
    if not column.known:
        return None
    for reader in (number_of, day_of):
        if all(reader(value) is not None for value in column.known):
            return reader
    return None


def stretch_of(label: str, reader: Reader) -> Stretch | None:
    """Read a label as an interval, in any of the ways Sfumato and others write them.

    >>> [stretch_of(label, number_of) for label in ("20-24", "[2.5, 5[", ">=65", "young")]
    [Stretch(low=20.0, high=24.0, closed=True), Stretch(low=2.5, high=5.0, closed=False),
     Stretch(low=65.0, high=inf, closed=True), None]
    """
    text = label.strip().translate(_SIGNS)
    brackets = re.fullmatch(r"([\[\](])(.+)[,;](.+)([\[\])])", text)
    if brackets:
        opening, low, high, closing = (part.strip() for part in brackets.groups())
        ends = _between(low, high, reader, closed=closing == "]")
        return ends if ends is None or opening == "[" else _after(ends)
    one_sided = re.fullmatch(r"([<>]=?|[≤≥])(.+)", text)
    if one_sided:
        return _one_sided(one_sided[1], reader(one_sided[2].strip()))
    if re.fullmatch(r"\[.+\]", text):
        text = text[1:-1]
    found = (_between(low, high, reader, closed=True) for low, high in _halves(text))
    return next((stretch for stretch in found if stretch is not None), None)


def _one_sided(sign: str, end: float | None) -> Stretch | None:
    if end is None:
        return None
    if sign in "<=≤":
        return Stretch(-math.inf, end, closed=sign != "<")
    upwards = Stretch(end, math.inf, closed=True)
    return _after(upwards) if sign == ">" else upwards


def _after(stretch: Stretch) -> Stretch:
    """Leave the lower end out."""
    return stretch._replace(low=math.nextafter(stretch.low, math.inf))


def _halves(text: str) -> Iterator[tuple[str, str]]:
    """Cut a text at ` to `, or at every dash: -5 and 1e-05 have dashes of their own."""
    if " to " in text:
        low, high = text.split(" to ", 1)
        yield low, high
        return
    for dash in re.finditer("-", text):
        yield text[: dash.start()], text[dash.end() :]


def _between(low: str, high: str, reader: Reader, *, closed: bool) -> Stretch | None:
    first = -math.inf if low in ("-inf", "-∞") else reader(low)
    last = math.inf if high in ("inf", "+inf", "∞", "+∞") else reader(high)
    if first is None or last is None or first > last:
        return None
    return Stretch(first, last, closed)


def day_of(value: Value) -> float | None:
    """Read a value as the number of a day, or say None.

    >>> day_of("1970-01-02") - day_of("1970-01-01"), day_of("soon")
    (1.0, None)
    """
    day = date_of(value)
    return None if day is None else float(day.toordinal())


class Covering:
    """Reads the labels of one column, as somebody who knows the column's raw values does.

    A label is looked for in the hierarchy at the level the column was published at, then
    among the raw values, then in the hierarchy from the bottom up. What is not there is read:
    `*` stands for every value, `20-29`, `-5 to -1`, `[2.5, 5)`, `[20, 30[`, `(20, 30]`, `<18` and
    `>=65` for the values in between, `476**` for the values that fit, each star for one character.

    A missing value stands for the missing value of the original. If that has none, the row
    was suppressed and says nothing: it stands for every value.

    Args:
        raw: The column of the original table.
        ladder: Its hierarchy, if it has one.
        level: The level it was published at, if it is one for all rows.

    Example:
        >>> covering = Covering(Column("age", (31, 32, 39, 40)))
        >>> [covering.of(label).tolist() for label in ("30-39", 40, "*", "3*")]
        [[0, 1, 2], [3], [0, 1, 2, 3], [0, 1, 2]]
    """

    def __init__(self, raw: Column, ladder: Ladder | None = None, level: int | None = None) -> None:
        self._raw = raw
        self._everything = np.arange(len(raw.values))
        self._everything.flags.writeable = False
        self._codes = {text_of(v): code for code, v in enumerate(raw.known)}
        self._reader = reader_of(raw)
        self._ladder = ladder
        self._places = {} if ladder is None else _places(ladder, level)
        self._first = level if ladder is not None else None

    def all(self, labels: Sequence[Value]) -> list[IntArray]:
        """Read the labels of a column."""
        return [self.of(label) for label in labels]

    def of(self, label: Value) -> IntArray:
        """Give the codes of the raw values that a label stands for."""
        if label is None:
            return self._everything[-1:] if self._raw.missing >= 0 else self._everything
        text = text_of(label)
        level = self._places.get(text, (-1, -1))[0]
        if text in self._codes and level != self._first:
            return np.array([self._codes[text]])
        found = self._below(text) if level >= 0 else self._read(text)
        if not len(found):
            raise self._unread(text)
        return found

    def _below(self, text: str) -> IntArray:
        """Give the values that a label of the hierarchy covers."""
        assert self._ladder is not None  # noqa: S101 - only a ladder has places
        level, code = self._places[text]
        values = [self._ladder.values[i] for i in np.flatnonzero(self._ladder.codes[level] == code)]
        codes = [
            self._raw.missing if value is None else self._codes.get(text_of(value), -1)
            for value in values
        ]
        # A hierarchy may know values that the table does not have.
        return np.unique([code for code in codes if code >= 0]).astype(np.int64)

    def _read(self, text: str) -> IntArray:
        if text == STAR:
            return self._everything
        stretch = None if self._reader is None else stretch_of(text, self._reader)
        if stretch is not None and self._reader is not None:
            points = [self._reader(value) for value in self._raw.known]
            inside = [point is not None and stretch.holds(point) for point in points]
            return np.flatnonzero(inside)
        if STAR not in text:
            return np.empty(0, dtype=np.int64)
        mask = re.compile(re.escape(text).replace(re.escape(STAR), "."), re.DOTALL)
        return np.flatnonzero([mask.fullmatch(raw) is not None for raw in self._codes])

    def _unread(self, text: str) -> InputError:
        return InputError(
            f"the label {text!r} of column {self._raw.name!r} stands for no value that the "
            "original table has. A label must be a raw value, a label of the column's hierarchy, "
            "an interval such as '20-29', a mask such as '47***', or '*'. Give the policy that "
            "the release was made with (policy=...), and the table it was made of."
        )


def _places(ladder: Ladder, level: int | None) -> dict[str, tuple[int, int]]:
    """Find the level and code of each label; the published level first, then the lowest."""
    # A policy other than the release's may have fewer levels.
    known = [] if level is None or level > ladder.height else [level]
    order = [*known, *range(ladder.height + 1)]
    places: dict[str, tuple[int, int]] = {}
    for each in order:
        for code, label in enumerate(ladder.labels[each]):
            if label is not None:
                places.setdefault(text_of(label), (each, code))
    return places


# Which raw values a published label may stand for, also if it stands for none of them.


def reads(
    raw: Column,
    published: Column,
    ladder: Ladder | None = None,
    level: int | None = None,
    *,
    matches_any: bool = False,
) -> BoolArray:
    """Tell for `[value, label]` whether somebody with the value may have got the label.

    Labels are read as `Covering` reads them. A label that cannot be read stands for none of the
    values: whoever looks for a person passes it by.

    Args:
        raw: The values that are known of people.
        published: The labels of the same column.
        ladder: Its hierarchy, if there is one, for at least these values.
        level: The level it was published at, if it is one for all rows.
        matches_any: Whether a missing label may hide any value.

    Example:
        >>> raw = Column("age", (31, 42))
        >>> reads(raw, Column("age", ("3*", "40-49", "[30, 45)", "young", "*", None))).tolist()
        [[True, False, True, False, True, False], [False, True, True, False, True, False]]
    """
    found = np.zeros((len(raw.values), len(published.values)), dtype=np.bool_)
    for at, codes in enumerate(codes_read(raw, published, ladder, level, matches_any=matches_any)):
        found[codes, at] = True
    return found


def codes_read(
    raw: Column,
    published: Column,
    ladder: Ladder | None = None,
    level: int | None = None,
    *,
    matches_any: bool = False,
) -> list[IntArray]:
    """Give for each label the codes of the values it may stand for; see `reads`.

    >>> [codes.tolist() for codes in codes_read(Column("age", (31, 42)), Column("age", ("3*",)))]
    [[0]]
    """
    covering = Covering(raw, ladder, level)
    everything = np.arange(len(raw.values))
    missing = everything[raw.missing :] if raw.missing >= 0 else everything[:0]
    found = []
    for label in published.values:
        try:
            codes = covering.of(label) if label is not None else missing
        except InputError:
            codes = everything[:0]
        found.append(everything if label is None and matches_any else codes)
    return found
