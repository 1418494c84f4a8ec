"""The raw values that a published label stands for: the one reader for all who ask."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Self, TypeAlias

import numpy as np

from sfumato.counts import Column
from sfumato.errors import InputError
from sfumato.hierarchy import Ladder
from sfumato.text import STAR, date_of, number_of, text_of, text_or_none
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

_SIGNS = str.maketrans({"–": "-", "−": "-"})
"""Dashes that people and spreadsheets write for a minus or between two numbers."""

Reader: TypeAlias = Callable[[Value], float | None]
"""Returns the place of a value on the line, or None."""


class Stretch(NamedTuple):
    """Everything between two ends; the lower one is always inside."""

    low: float
    high: float
    closed: bool
    """Whether the upper end is inside too."""

    def holds(self, point: float) -> bool:
        """Return whether a point lies in it."""
        return self.low <= point and (point <= self.high if self.closed else point < self.high)


def reader_of(column: Column) -> Reader | None:
    """Return what places the values on a line: all are numbers, or all days; None if neither.

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
    """Return the stretch without its lower end."""
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
    """Read a value as the number of a day; None if it is none.

    >>> day_of("1970-01-02") - day_of("1970-01-01"), day_of("soon")
    (1.0, None)
    """
    day = date_of(value)
    return None if day is None else float(day.toordinal())


class LabelReader:
    """Reads the labels of one column, knowing the column's raw values.

    A label is looked for in the hierarchy at the level the column was published at, then
    among the raw values, then in the hierarchy from the bottom up. What is not there is read:
    `*` stands for every value, `20-29`, `-5 to -1`, `[2.5, 5)`, `[20, 30[`, `(20, 30]`, `<18` and
    `>=65` for the values in between, `476**` for the values that fit, each star for one character.

    Args:
        raw: The column of the original table.
        ladder: Its hierarchy, if it has one.
        level: The level it was published at, if it is one for all rows.

    Example:
        >>> reader = LabelReader(Column("age", (31, 32, 39, 40)))
        >>> [reader.codes(label).tolist() for label in ("30-39", 40, "*", "3*")]
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

    def codes(self, label: Value) -> IntArray:
        """Return the codes of the raw values that a label stands for; at least one.

        A missing value stands for the missing value of the original. If that has none, the row
        was suppressed and says nothing: it stands for every value.
        """
        if label is None:
            return self._everything[-1:] if self._raw.missing >= 0 else self._everything
        found = self._find(text_of(label))
        if not len(found):
            raise self._unreadable(text_of(label))
        return found

    def possible(self, label: Value, *, matches_any: bool = False) -> IntArray:
        """Return the codes of the known values that a label may hide; none if it cannot be read.

        Args:
            label: The label.
            matches_any: Whether a missing label may hide any value, and not only a missing one.
        """
        if label is None:
            first = 0 if matches_any else len(self._raw.known)
            return self._everything[first:]
        return self._find(text_of(label))

    def _find(self, text: str) -> IntArray:
        level = self._places.get(text, (-1, -1))[0]
        if text in self._codes and level != self._first:
            return np.array([self._codes[text]])
        return self._below(text) if level >= 0 else self._read(text)

    def _below(self, text: str) -> IntArray:
        """Return the values that a label of the hierarchy covers."""
        assert self._ladder is not None  # noqa: S101 - only a ladder has places
        level, code = self._places[text]
        codes = self._of_ladder[self._ladder.codes[level] == code]
        # A hierarchy may know values that the table does not have.
        return np.unique(codes[codes >= 0])

    @cached_property
    def _of_ladder(self) -> IntArray:
        """The code of each value of the hierarchy; -1 if the column does not have it."""
        values = () if self._ladder is None else self._ladder.values
        codes = [
            self._raw.missing if value is None else self._codes.get(text_of(value), -1)
            for value in values
        ]
        return np.array(codes, dtype=np.int64)

    @cached_property
    def _points(self) -> FloatArray:
        """The place of each known value on the line, read once for all labels."""
        read = self._reader or number_of
        return np.array([read(value) for value in self._raw.known], dtype=np.float64)

    def _read(self, text: str) -> IntArray:
        if text == STAR:
            return self._everything
        stretch = None if self._reader is None else stretch_of(text, self._reader)
        if stretch is not None:
            below = np.less_equal if stretch.closed else np.less
            inside = (self._points >= stretch.low) & below(self._points, stretch.high)
            return np.flatnonzero(inside)
        if STAR not in text:
            return np.empty(0, dtype=np.int64)
        mask = re.compile(re.escape(text).replace(re.escape(STAR), "."), re.DOTALL)
        return np.flatnonzero([mask.fullmatch(raw) is not None for raw in self._codes])

    def _unreadable(self, text: str) -> InputError:
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


@dataclass(frozen=True, eq=False)
class Labels:
    """Everything a reader of labels knows besides them.

    Example:
        >>> raw, shown = Column("age", (31, 32, 45)), Column("age", ("30-39", 45))
        >>> [codes.tolist() for codes in Labels().read(raw, shown)]
        [[0, 1], [2]]
        >>> shown = Column("age", ("3*", "[30, 45)", "young", None))
        >>> [codes.tolist() for codes in Labels(strict=False).read(raw, shown)]
        [[0, 1], [0, 1], [], []]
    """

    ladders: Mapping[str, Ladder] = field(default_factory=dict)
    """The hierarchies of the columns that have one."""

    levels: Mapping[str, int] = field(default_factory=dict)
    """The level of each column that was published at one level."""

    strict: bool = True
    """Whether a label that stands for none of the values is refused. Otherwise it is passed by:
    it is the label of others."""

    matches_any: bool = False
    """Whether a missing label may hide any value; only asked if not strict."""

    def read(self, raw: Column, shown: Column) -> Sequence[IntArray]:
        """Return for each label the codes of the raw values it stands for.

        Args:
            raw: The column of the original table, or the values that are known of people.
            shown: The same column as it was published.
        """
        reader = LabelReader(raw, self.ladders.get(raw.name), self.levels.get(raw.name))
        if self.strict:
            return [reader.codes(label) for label in shown.values]
        return [reader.possible(label, matches_any=self.matches_any) for label in shown.values]


class RawLabels(Labels):
    """Labels that are raw values: each stands for the value that is written like it."""

    def read(self, raw: Column, shown: Column) -> Sequence[IntArray]:
        codes = {text_or_none(value): code for code, value in enumerate(raw.values)}
        found = [codes.get(text_or_none(label), -1) for label in shown.values]
        return [np.array([code] if code >= 0 else [], dtype=np.int64) for code in found]


class LabelIndex(NamedTuple):
    """The labels that each raw value of a column may have become, value after value.

    Example:
        >>> raw, shown = Column("zip", ("13053", "13068")), Column("zip", ("130**", "13053"))
        >>> index = LabelIndex.of(raw, shown, Labels())
        >>> index.only is None, index.fits(np.array([0, 1])).tolist()
        (True, [[True, True], [True, False]])
    """

    starts: IntArray
    """Where the labels of each value begin; one entry more at the end."""

    label: IntArray
    n: int
    """The number of labels."""

    @classmethod
    def of(cls, raw: Column, shown: Column, labels: Labels) -> Self:
        """Turn around what each label covers."""
        codes = labels.read(raw, shown)
        value = np.concatenate([np.zeros(0, dtype=np.int64), *codes])
        label = np.repeat(np.arange(len(codes)), [len(each) for each in codes])
        order = np.argsort(value, kind="stable")
        starts = np.searchsorted(value[order], np.arange(len(raw.values) + 1))
        return cls(starts, label[order], len(codes))

    @property
    def only(self) -> IntArray | None:
        """The one label of each value, -1 for none; None if some value has several."""
        number = np.diff(self.starts)
        if number.max(initial=0) > 1:
            return None
        found = np.full(len(number), -1, dtype=np.int64)
        found[number == 1] = self.label
        return found

    def fits(self, codes: np.ndarray) -> BoolArray:
        """Return for `[value, label]` whether each of some values may have become the label."""
        first, number = self.starts[codes], np.diff(self.starts)[codes]
        at = np.repeat(np.arange(len(codes)), number)
        offset = np.arange(len(at)) - np.repeat(np.cumsum(number) - number, number)
        found = np.zeros((len(codes), self.n), dtype=np.bool_)
        found[at, self.label[np.repeat(first, number) + offset]] = True
        return found
