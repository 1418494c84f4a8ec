"""The raw values that a published label stands for: the one reader for all who ask."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date
from functools import cached_property
from itertools import chain
from typing import NamedTuple, Self, TypeAlias

import numpy as np

from sfumato.counts import Column
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError
from sfumato.hierarchy.base import Ladder
from sfumato.hierarchy.language import in_english
from sfumato.patterns import late
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

    after: bool = False
    """Whether a lower end was written that is not inside, as in `>50`: `low` is the next number."""

    @property
    def begin(self) -> float:
        """The lower end as it was written, which is what a reader can be told: 50 of `>50`."""
        return math.nextafter(self.low, -math.inf) if self.after else self.low

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

    >>> for label in ("20 to 24", "2.5 to under 5", "65 or more", "20-24", "[2.5, 5[", "<18"):
    ...     print(stretch_of(label, number_of))
    Stretch(low=20.0, high=24.0, closed=True, after=False)
    Stretch(low=2.5, high=5.0, closed=False, after=False)
    Stretch(low=65.0, high=inf, closed=True, after=False)
    Stretch(low=20.0, high=24.0, closed=True, after=False)
    Stretch(low=2.5, high=5.0, closed=False, after=False)
    Stretch(low=-inf, high=18.0, closed=False, after=False)
    >>> stretch_of(">50", number_of).begin, stretch_of(">50", number_of).holds(50)
    (50.0, False)
    >>> stretch_of("20 bis unter 25", number_of) == stretch_of("20 tot 25", number_of)
    True
    >>> stretch_of("young", number_of), stretch_of("2020-02", day_of)
    (None, Stretch(low=737456.0, high=737485.0, closed=False, after=False))
    """
    text = label.strip().translate(_SIGNS)
    for way in chain([text], in_english(text)):
        if reader is day_of and (unit := _unit_of(way)) is not None:
            return unit
        for sides in _sides(way):
            stretch = _between(sides, reader)
            if stretch is not None:
                return stretch
    return None


class _Sides(NamedTuple):
    """The two ends of an interval as they are written; None is an open end."""

    low: str | None
    high: str | None
    from_low: bool = True
    """Whether the lower end is inside."""

    to_high: bool = True


_BRACKETS = late(r"([\[\](])(.+)[,;](.+)([\[\])])")
_SIGNED = late(r"([<>]=?|[≤≥])(.+)")
_UNDER = late(r"(?:under|below|before|less than|fewer than|younger than) (.+)", re.IGNORECASE)
_UP_TO = late(
    r"(?:up to|at most|until|through) (.+)"
    r"|(.+) (?:or|and) (?:less|under|fewer|earlier|younger|below)",
    re.IGNORECASE,
)
_OVER = late(r"(?:over|above|after|more than|greater than|older than) (.+)", re.IGNORECASE)
_FROM = late(
    r"(?:at least|from) (.+)|(.+) (?:or|and) (?:more|over|later|older|above|up)|(.+)\+",
    re.IGNORECASE,
)
_TO_UNDER = late(r"(.+?) to (?:under|below|less than) (.+)", re.IGNORECASE)
_TO = late(r"(.+?)(?: to |\.\.)(.+)", re.IGNORECASE)


def _sides(text: str) -> Iterator[_Sides]:
    """Yield the ways in which a text may be an interval, the likeliest first."""
    if found := _BRACKETS.fullmatch(text):
        opening, low, high, closing = (part.strip() for part in found.groups())
        yield _Sides(
            None if low in ("-inf", "-∞", "") else low,
            None if high in ("inf", "+inf", "∞", "+∞", "") else high,
            opening == "[",
            closing == "]",
        )
        return
    if found := _SIGNED.fullmatch(text):
        sign, end = found[1], found[2].strip()
        if sign[0] in "<≤":
            yield _Sides(None, end, to_high=sign != "<")
        else:
            yield _Sides(end, None, from_low=sign != ">")
        return
    if found := _TO_UNDER.fullmatch(text):
        yield _Sides(found[1].strip(), found[2].strip(), to_high=False)
        return
    for pattern, low, inside in _ONE_SIDED:
        if found := pattern.fullmatch(text):
            end = next(part for part in found.groups() if part is not None).strip()
            yield _Sides(end, None, from_low=inside) if low else _Sides(None, end, to_high=inside)
    if re.fullmatch(r"\[.+\]", text):
        text = text[1:-1]
    if found := _TO.fullmatch(text):
        yield _Sides(found[1].strip(), found[2].strip())
        return
    # -5 and 1e-05 have dashes of their own.
    for dash in re.finditer("-", text):
        yield _Sides(text[: dash.start()].strip(), text[dash.end() :].strip())


_ONE_SIDED = (
    (_UNDER, False, False),
    (_UP_TO, False, True),
    (_OVER, True, False),
    (_FROM, True, True),
)
"""Words for open ends: whether they name the lower end, and whether it is inside."""


def _between(sides: _Sides, reader: Reader) -> Stretch | None:
    low, high = (None if end is None else _end(end, reader) for end in sides[:2])
    if (sides.low is not None and low is None) or (sides.high is not None and high is None):
        return None
    first, last, closed = -math.inf, math.inf, True
    after = False
    if low is not None:
        after = not sides.from_low and low.closed
        first = low.low if sides.from_low else _after(low)
    if high is not None:
        last, closed = (high.high, high.closed) if sides.to_high else (high.low, False)
    if first > last or (first == last and not closed):
        return None
    return Stretch(first, last, closed, after)


def _end(text: str, reader: Reader) -> Stretch | None:
    """Read one end: a point, or a month, quarter, year or decade of days."""
    point = reader(text)
    if point is not None:
        return Stretch(point, point, closed=True)
    return _unit_of(text) if reader is day_of else None


def _after(end: Stretch) -> float:
    """Return where a stretch begins that leaves an end out."""
    return math.nextafter(end.high, math.inf) if end.closed else end.high


_UNITS = (
    (late(r"(\d{4})-(\d{2})"), lambda y, m: (y, m, y + m // 12, m % 12 + 1)),
    (late(r"(\d{4})[- ]Q([1-4])"), lambda y, q: (y, 3 * q - 2, y + q // 4, 3 * q % 12 + 1)),
    (late(r"(\d{4})()"), lambda y, _: (y, 1, y + 1, 1)),
    (late(r"(\d{3}0)s()"), lambda y, _: (y, 1, y + 10, 1)),
)
"""How months, quarters, years and decades are written; their first month, and the one after."""


def _unit_of(text: str) -> Stretch | None:
    """Read a month, quarter, year or decade."""
    for pattern, months in _UNITS:
        match = pattern.fullmatch(text)
        if match:
            year, month, next_year, next_month = months(
                *(int(n) if n else 0 for n in match.groups())
            )
            try:
                first = date(year, month, 1).toordinal()
                last = next_year > date.max.year
                after = (
                    date.max.toordinal() + 1 if last else date(next_year, next_month, 1).toordinal()
                )
            except ValueError:
                return None
            return Stretch(float(first), float(after), closed=False)
    return None


# Labels were written otherwise before: a release of then says the same as one of now.

_NUMBER = r"(?:0|[1-9]\d*)(?:\.\d+)?"
_FORMER = (
    (late(rf"({_NUMBER})-({_NUMBER})"), r"\1 to \2"),
    (late(rf"\[(-?{_NUMBER}), (-?{_NUMBER})\)"), r"\1 to under \2"),
    (late(rf"<(-?{_NUMBER})"), r"under \1"),
    (late(rf">=(-?{_NUMBER})"), r"\1 or more"),
    (late(r"<(\d{4}-\d{2}-\d{2})"), r"before \1"),
    (late(r">=(\d{4}-\d{2}-\d{2})"), r"\1 or later"),
    (late(r"(\d{4})-Q([1-4])"), r"\1 Q\2"),
)
_LATTER = (
    (late(rf"({_NUMBER}) to ({_NUMBER})"), r"\1-\2"),
    (late(rf"(-?{_NUMBER}) to under (-?{_NUMBER})"), r"[\1, \2)"),
    (late(rf"(?:under|before) (-?{_NUMBER}|\d{{4}}-\d{{2}}-\d{{2}})"), r"<\1"),
    (late(rf"(-?{_NUMBER}|\d{{4}}-\d{{2}}-\d{{2}}) or (?:more|later)"), r">=\1"),
    (late(r"(\d{4}) Q([1-4])"), r"\1-Q\2"),
)


def respell(label: str) -> str:
    """Return a label of a release that was made before as it would be written now.

    >>> [respell(label) for label in ("20-24", "[1, 1.4)", "<18", ">=65", "2020-Q1", "2020-03")]
    ['20 to 24', '1 to under 1.4', 'under 18', '65 or more', '2020 Q1', '2020-03']
    """
    written = _rewrite(label, _FORMER)
    low, found, high = written.partition(" to ")
    # A code such as 94110-2222 is no range.
    return label if found and label.endswith(f"-{high}") and float(low) >= float(high) else written


def spell_as_before(label: str) -> str:
    """Return a label as it was written before, for a ledger that began then.

    >>> [spell_as_before(label) for label in ("20 to 24", "1 to under 1.4", "-5 to -1", "f")]
    ['20-24', '[1, 1.4)', '-5 to -1', 'f']
    """
    return _rewrite(label, _LATTER)


def _rewrite(label: str, forms: Sequence[tuple[re.Pattern[str], str]]) -> str:
    for pattern, written in forms:
        found = pattern.fullmatch(label)
        if found:
            return found.expand(written)
    return label


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
    `*` stands for every value, `20 to 29`, `2.5 to under 5`, `under 18`, `65 or more` and what
    others write (`20-29`, `[2.5, 5)`, `(20, 30]`, `<18`, `65+`) for the values in between, `476**`
    for the values that fit, each star for one character.

    Args:
        raw: The column of the original table.
        ladder: Its hierarchy, if it has one.
        level: The level it was published at, if it is one for all rows.

    Example:
        >>> reader = LabelReader(Column("age", (31, 32, 39, 40)))
        >>> [reader.codes(label).tolist() for label in ("30 to 39", 40, "*", "3*")]
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

    def codes(self, label: Value, *, nearest: bool = False) -> IntArray:
        """Return the codes of the raw values that a label stands for; at least one.

        A missing value stands for the missing value of the original. If that has none, the row
        was suppressed and says nothing: it stands for every value.

        Args:
            label: The label.
            nearest: Whether a number that no row of the original has stands for the nearest one.
        """
        if label is None:
            return self._everything[-1:] if self._raw.missing >= 0 else self._everything
        found = self._find(text_of(label))
        if not len(found) and nearest and self._reader is number_of:
            number = number_of(label)
            if number is not None:
                return np.array([self._nearest(number)])
        if not len(found):
            raise self._unreadable(text_of(label))
        return found

    def _nearest(self, number: float) -> int:
        """Return the code of the raw value that a number is nearest to; of two the lower."""
        above = int(np.searchsorted(self._points, number))
        near = [code for code in (above - 1, above) if 0 <= code < len(self._points)]
        return min(near, key=lambda code: abs(self._points[code] - number))

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

    def read(self, shown: Column, *, nearest: bool = False) -> list[IntArray]:
        """Return the codes of the raw values that each label of a column stands for.

        A hierarchy that is taken from the data is built for the published rows. Built for all rows
        of the original, it may call a group by another name. Such a label stands for what no
        other one covers.

        >>> from sfumato.hierarchy import Frequent
        >>> raw = Column("ill", ("cold", "flu", "gout"))
        >>> reader = LabelReader(raw, Frequent(["flu"]).ladder("ill", raw.values))
        >>> [each.tolist() for each in reader.read(Column("ill", ("flu", "other than flu or hiv")))]
        [[1], [0, 2]]
        """
        found = []
        for label in shown.values:
            try:
                found.append(self.codes(label, nearest=nearest))
            except InputError:
                rest = self._rest(shown)
                if not len(rest):
                    raise
                found.append(rest)
        return found

    def _rest(self, shown: Column) -> IntArray:
        """Return the values that no label covers; none if no label is one of the hierarchy."""
        free = np.ones(len(self._raw.known), dtype=bool)
        for label in shown.known:
            codes = self._find(text_of(label))
            if text_of(label) != STAR:
                free[codes[codes < len(free)]] = False
        if not any(text_of(label) in self._places for label in shown.known):
            free[:] = False
        return np.flatnonzero(free)

    def _find(self, text: str) -> IntArray:
        if text not in self._places and text not in self._codes:
            text = respell(text)
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
            "an interval such as '20 to 29', a mask such as '47***', or '*'. Give the policy that "
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
        >>> raw, shown = Column("age", (31, 32, 45)), Column("age", ("30 to 39", 45))
        >>> [codes.tolist() for codes in Labels().read(raw, shown)]
        [[0, 1], [2]]
        >>> shown = Column("age", ("3*", "30 to under 45", "young", None))
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

    nearest: bool = False
    """Whether a number that the original does not have stands for the nearest that it has, as in
    columns that were perturbed; only asked if strict."""

    def read(self, raw: Column, shown: Column) -> Sequence[IntArray]:
        """Return for each label the codes of the raw values it stands for.

        Args:
            raw: The column of the original table, or the values that are known of people.
            shown: The same column as it was published.
        """
        reader = LabelReader(raw, self.ladders.get(raw.name), self.levels.get(raw.name))
        if self.strict:
            return reader.read(shown, nearest=self.nearest)
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


def has_ranges(ladder: Ladder) -> bool:
    """Return whether a ladder is of numbers, and all its labels between are ranges of them.

    >>> from sfumato.hierarchy import Intervals, Masking
    >>> has_ranges(Intervals(widths=[5]).ladder("age", ["31", "33", "47"]))
    True
    >>> has_ranges(Masking().ladder("zip", ["02139", "02141"]))
    False
    """
    known = [value for value in ladder.values if value is not None]
    if not known or any(number_of(value) is None for value in known):
        return False
    raw = {text_of(value) for value in known}
    between = {
        text_of(label) for labels in ladder.labels[1:-1] for label in labels if label is not None
    }
    ranges = between - raw
    return bool(ranges) and all(stretch_of(label, number_of) is not None for label in ranges)


class Meaning(NamedTuple):
    """What a label of a hierarchy stands for: a stretch if it says one, and its values."""

    stretch: Stretch | None
    members: tuple[str, ...]


def meanings(ladder: Ladder) -> dict[str, Meaning]:
    """Return what each label between the raw values and the top stands for, finest first.

    Members are all values that the column has, also those that only people have who are not
    published. A release lists those of trees that are common knowledge, and those of hierarchies
    that are written out where the policy asks for it.

    >>> from sfumato.hierarchy import Intervals, OrderedCategories
    >>> meanings(Intervals(widths=[10]).ladder("age", [31, 38, 45]))["30 to 39"].members
    ('31', '38')
    >>> steps = ["never", "rarely", "often"]
    >>> meanings(OrderedCategories(steps).ladder("smokes", steps))["never to rarely"]
    Meaning(stretch=None, members=('never', 'rarely'))
    """
    column = Column(ladder.column, tuple(value for value in ladder.values if value is not None))
    reader = reader_of(column) or number_of
    texts = np.array([text_or_none(value) for value in ladder.values], dtype=object)
    found: dict[str, Meaning] = {}
    for level in range(1, ladder.height):
        for code, label in enumerate(ladder.labels[level]):
            if label is not None:
                inside = texts[ladder.codes[level] == code]
                name = text_of(label)
                found.setdefault(name, Meaning(stretch_of(name, reader), tuple(inside)))
    return found
