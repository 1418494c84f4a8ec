"""Intervals: numbers or days become ranges, and ranges become wider ranges."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from datetime import date
from decimal import Context, Decimal
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar, Protocol, Self, TypeAlias

from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError, ParameterError, some
from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder, WrittenEnds
from sfumato.hierarchy.language import DEFAULT, Language, language_of
from sfumato.text import STAR, date_of, number_of, text_of
from sfumato.typing import Value

# Number lines: where a value stands, and how a stretch of the line is written.
#
# Decimals are exact decimals, never floats, so that 0.3 really is in 0.3 to under 0.4 and
# not, as 0.1 + 0.1 + 0.1 would have it, just below.


_EXACT = Context(prec=2000)
"""Enough digits for sums of the largest and the smallest number a float can be."""


def number_point(value: Value) -> Decimal | None:
    """Read a number exactly as it is written, or say None.

    >>> number_point(0.1), number_point(" 39 "), number_point("x")
    (Decimal('0.1'), Decimal('39'), None)
    """
    # The same cells are read for every draft, model and attack that asks how close they are.
    return _text_point(value) if isinstance(value, str) else _point_of(value)


def _point_of(value: Value) -> Decimal | None:
    number = number_of(value)
    if number is None:
        return None
    # Zero to every float (1e-999999 is), zero to us: it would not fit the exact arithmetic.
    return Decimal(text_of(value).strip()) if number else Decimal(0)


_text_point = lru_cache(maxsize=65_536)(_point_of)


def is_whole(point: Decimal) -> bool:
    """Return whether nothing stands behind the decimal point."""
    return point == point.to_integral_value()


def multiple_at(point: Decimal, step: Decimal, start: Decimal) -> Decimal:
    """Return the largest of start, start ± step, start ± 2 step, ... up to a point.

    >>> multiple_at(Decimal("-0.3"), Decimal("0.2"), Decimal(0))
    Decimal('-0.4')
    """
    count, rest = _EXACT.divmod(_EXACT.subtract(point, start), step)
    if rest < 0:
        count = _EXACT.subtract(count, 1)
    return _EXACT.fma(count, step, start)


def is_multiple(point: Decimal, step: Decimal) -> bool:
    """Return whether a step fits into a point without rest."""
    return not _EXACT.remainder(point, step)


def plus(point: Decimal, step: Decimal) -> Decimal:
    """Add without rounding."""
    return _EXACT.add(point, step)


class Scale(Protocol):
    """One kind of number line."""

    what: str
    """What its values are called in a message."""

    words: Language
    """The language that it writes."""

    a_point: str
    a_width: str

    def read(self, value: Value) -> Decimal | None:
        """Place a value on the line, or say None."""

    def width(self, value: Value) -> Decimal | None:
        """Read the width of an interval, or say None."""

    def point(self, at: Decimal) -> str:
        """Write one point."""

    def stretch(self, low: Decimal, high: Decimal) -> str:
        """Write everything from `low` up to, but not including, `high`."""

    def under(self, high: Decimal) -> str:
        """Write everything under a point."""

    def onwards(self, low: Decimal) -> str:
        """Write everything from a point on."""

    def told_in(self, words: Language) -> Self:
        """Return the same line, written in a language."""


def label(scale: Scale, low: Decimal | None, high: Decimal | None) -> str:
    """Write an interval; an end that is None is open."""
    if low is None:
        return scale.under(high) if high is not None else STAR
    if high is None:
        return scale.onwards(low)
    return scale.stretch(low, high)


class Numbers:
    """Any numbers; intervals are written `20 to under 25`."""

    what: str = "numbers"
    a_point: str = "a number"
    a_width: str = "a number above 0"
    words: Language = language_of(DEFAULT)

    def read(self, value: Value) -> Decimal | None:
        return number_point(value)

    def width(self, value: Value) -> Decimal | None:
        return number_point(value)

    def point(self, at: Decimal) -> str:
        return text_of(at)

    def stretch(self, low: Decimal, high: Decimal) -> str:
        return self.words.say("to under", low=self.point(low), high=self.point(high))

    def under(self, high: Decimal) -> str:
        return self.words.say("under", high=self.point(high))

    def onwards(self, low: Decimal) -> str:
        return self.words.say("or more", low=self.point(low))

    def told_in(self, words: Language) -> Self:
        made = type(self)()
        made.words = words
        return made


class WholeNumbers(Numbers):
    """Whole numbers; intervals are written with both ends inside: `20 to 24`."""

    def stretch(self, low: Decimal, high: Decimal) -> str:
        last = plus(high, Decimal(-1))
        if last == low:
            return self.point(low)
        return self.words.say("range", low=self.point(low), high=self.point(last))


class Days:
    """Calendar days; widths are written `7d`, intervals `2020-01-06 to 2020-01-12`."""

    what: str = "dates"
    a_point: str = "a date such as 2020-02-29"
    a_width: str = "a number of days above 0, such as 7d"
    words: Language = language_of(DEFAULT)

    def read(self, value: Value) -> Decimal | None:
        day = date_of(value)
        return None if day is None else Decimal(day.toordinal())

    def width(self, value: Value) -> Decimal | None:
        days = re.fullmatch(r"(\d{1,7})\s*d", value) if isinstance(value, str) else None
        return Decimal(days[1]) if days else None

    def point(self, at: Decimal) -> str:
        # The outermost interval may reach beyond the calendar.
        within = min(max(int(at), date.min.toordinal()), date.max.toordinal())
        return date.fromordinal(within).isoformat()

    def stretch(self, low: Decimal, high: Decimal) -> str:
        first, last = self.point(low), self.point(high - 1)
        return first if first == last else self.words.say("range", low=first, high=last)

    def under(self, high: Decimal) -> str:
        return self.words.say("before", high=self.point(high))

    def onwards(self, low: Decimal) -> str:
        return self.words.say("or later", low=self.point(low))

    def told_in(self, words: Language) -> Self:
        made = type(self)()
        made.words = words
        return made


Mark: TypeAlias = int | float | str | date
"""A number, a date, or either written as text."""

Ends: TypeAlias = tuple[Decimal | None, Decimal | None]
"""The lower end, inside, and the upper end, outside; None is open."""

_MONDAY = date(1970, 1, 5)


@dataclass(frozen=True)
class _Even:
    """A level of equally wide ranges between two limits."""

    start: Decimal
    step: Decimal
    lower: Decimal | None
    upper: Decimal | None

    @property
    def marks(self) -> list[Decimal]:
        return [
            mark for mark in (self.start, self.step, self.lower, self.upper) if mark is not None
        ]

    def around(self, point: Decimal) -> Ends:
        if self.lower is not None and point < self.lower:
            return None, self.lower
        if self.upper is not None and point >= self.upper:
            return self.upper, None
        low = multiple_at(point, self.step, self.start)
        high = plus(low, self.step)
        return (
            low if self.lower is None else max(low, self.lower),
            high if self.upper is None else min(high, self.upper),
        )


@dataclass(frozen=True)
class _CutLevel:
    """A level of ranges between cut points, open at both ends."""

    marks: list[Decimal]

    def around(self, point: Decimal) -> Ends:
        above = bisect_right(self.marks, point)
        return (
            self.marks[above - 1] if above else None,
            self.marks[above] if above < len(self.marks) else None,
        )


@dataclass(frozen=True)
class Intervals(HierarchyBuilder):
    """Nested ranges of numbers or days.

    Give either `widths`, each a multiple of the one before (5, 10, 20: all ranges are
    equally wide), or `bounds`, the cut points of each level, each level's taken from
    the level below ([[18, 30, 65], [18, 65]]: below 18, 18 to 64, 65 and more). A cut
    point belongs to the range above it. `*` is always added as the top level.

    Whole numbers are written `20 to 24`, other numbers `2.5 to under 5`, days
    `2020-01-06 to 2020-01-12`, open ends `under 18` and `65 or more`, of days `before 2020-01-06`
    and `2020-01-06 or later`. A column counts as whole when all its values and all cut points
    are. Numbers may be written as text.

    Args:
        widths: One width per level, finest first; for dates in days, as `7d`.
        bounds: One list of rising cut points per level, finest first; a single list is
            one level.
        start: Where the ranges of `widths` are counted from; by default 0, for dates
            Monday 1970-01-05, so that 7d are weeks.
        lower: With `widths`, everything below it is one open-ended range at every level.
        upper: With `widths`, likewise everything from it on.
        join: Whether local methods may join any neighbouring ranges of the finest level, so that
            less is hidden. Published ranges then overlap, and still begin and end only where one of
            the finest level does.
        language: The language of labels: en, de, fr, es, it or nl.

    Example:
        >>> h = Intervals(widths=[5, 10], upper=90).build("age", [23, 27, "90", 104])
        >>> h.labels[1:]
        (('20 to 24', '25 to 29', '90 or more'), ('20 to 29', '90 or more'), ('*',))
        >>> Intervals(bounds=[[18, 65]]).build("age", [17, 18.5]).labels[1]
        ('under 18', '18 to under 65')
    """

    name: ClassVar[str] = "intervals"
    title: ClassVar[str] = "Intervals"
    in_words: ClassVar[str] = "Numbers or days become ranges, and ranges become wider ranges."
    has_ends: ClassVar[bool] = True

    widths: Sequence[Mark] | None = None
    bounds: Sequence[Sequence[Mark]] | Sequence[Mark] | None = None
    start: Mark | None = None
    lower: Mark | None = None
    upper: Mark | None = None
    join: bool = False
    language: str = DEFAULT

    def __post_init__(self) -> None:
        language_of(self.language)
        if not isinstance(self.join, bool):
            raise ParameterError("join", self.join, "true or false")
        for field in fields(self):
            object.__setattr__(self, field.name, _freeze(getattr(self, field.name)))
        if (self.widths is None) == (self.bounds is None):
            which = "neither" if self.widths is None else "both"
            raise ParameterError("intervals", which, "given by either widths or bounds")
        given: object
        name, given = ("widths", self.widths) if self.bounds is None else ("bounds", self.bounds)
        if not isinstance(given, tuple) or not given or () in given:
            raise ParameterError(name, _thaw(given), "a list with something in it")
        if self.bounds is not None and not isinstance(given[0], tuple):
            object.__setattr__(self, "bounds", (given,))
        self._levels(self._scale())

    def in_language(self, language: str) -> Self:
        return replace(self, language=language)

    @property
    def fixed_height(self) -> int | None:
        # What is joined is at no level.
        return None if self.join else self.height

    @property
    def height(self) -> int:
        """The number of levels above the raw values."""
        return len(self._levels(self._scale())) + 1

    @property
    def suggests(self) -> bool:
        return self.join

    def ends_around(self, values: Sequence[Value]) -> WrittenEnds:
        """Return where ranges of the finest level that hold some of the values begin or end.

        Example:
            >>> [str(end) for end in Intervals(widths=[5], upper=80).ends_around([31, 90]).between]
            ['30', '35', '80']
        """
        points = [point for value in values if (point := self._scale().read(value)) is not None]
        levels = [
            tuple(sorted({end for ends in level for end in ends if end is not None}))
            for level in self.ranges(points)
        ]
        single = self.widths is not None and self._scale().width(self.widths[0]) == 1
        between = levels[1] if single and len(levels) > 1 else levels[0]
        return WrittenEnds(levels[0], between, self.language)

    @property
    def scale(self) -> Scale:
        """The line that its ranges are on: numbers or days."""
        return self._scale()

    def ranges(self, points: Iterable[Decimal]) -> list[set[Ends]]:
        """Return for each level, finest first, the ranges that hold some of the points.

        >>> [len(level) for level in Intervals(widths=[5, 10]).ranges([Decimal(23), Decimal(27)])]
        [2, 1]
        """
        levels = self._levels(self._scale())
        found: list[set[Ends]] = [set() for _ in levels]
        for point in points:
            for there, level in zip(found, levels, strict=True):
                there.add(level.around(point))
        return found

    def open_range_of(self, value: Value) -> str | None:
        """Return the label of the open range that holds a value; None if it is between the ends.

        >>> ages = Intervals(widths=[5], lower=20, upper=80)
        >>> ages.open_range_of(19), ages.open_range_of(80), ages.open_range_of(79)
        ('under 20', '80 or more', None)
        """
        scale = self._scale()
        point = scale.read(value)
        low, high = (None, None) if point is None else self._levels(scale)[0].around(point)
        if (low is None) == (high is None):
            return None
        return label(scale.told_in(language_of(self.language)), low, high)

    def build(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> Hierarchy:
        scale = self._scale()
        points: dict[str, Decimal] = {}
        wrong: list[Value] = []
        for value in values:
            point = scale.read(value)
            if point is None:
                wrong.append(value)
            else:
                points[text_of(value)] = point
        if wrong:
            raise HierarchyError(
                f"{column!r} cannot be put into intervals: {len(wrong)} of its {len(values)} "
                f"values are not {scale.what}: {some(wrong)}. Correct them, leave unknown ones "
                "empty, or choose another hierarchy."
            )
        levels = self._levels(scale)
        marks = [mark for level in levels for mark in level.marks]
        if isinstance(scale, Numbers) and all(
            is_whole(point) for point in (*marks, *points.values())
        ):
            scale = WholeNumbers()
        scale = scale.told_in(language_of(self.language))
        paths: dict[Ends, tuple[str, ...]] = {}

        def path(value: Value) -> tuple[str, ...]:
            point = points[text_of(value)]
            finest = levels[0].around(point)
            # What is in one range stays together, so one point speaks for the whole range.
            if finest not in paths:
                above = [label(scale, *level.around(point)) for level in levels]
                paths[finest] = (*above, STAR)
            return paths[finest]

        return Hierarchy.from_function(column, values, path)

    def _scale(self) -> Scale:
        """Return the scale, dates or numbers, by the first width or cut point."""
        first: object = self.widths or self.bounds
        while isinstance(first, tuple):
            first = first[0]
        days = Days()
        return Numbers() if days.width(first) is None and days.read(first) is None else days

    def _levels(self, scale: Scale) -> Sequence[_Even | _CutLevel]:
        """Read the settings, and refuse what does not nest."""
        return self._even(scale) if self.bounds is None else self._cut(scale)

    def _even(self, scale: Scale) -> list[_Even]:
        steps: list[Decimal] = []
        for width in self.widths or ():
            step = scale.width(width)
            if step is None or step <= 0:
                raise ParameterError("widths", width, scale.a_width)
            steps.append(step)
        if any(
            coarser <= finer or not is_multiple(coarser, finer)
            for finer, coarser in pairwise(steps)
        ):
            expected = "widths that are each a multiple of the one before"
            why = "a range must not straddle two ranges of the next level"
            raise ParameterError("widths", _thaw(self.widths), expected, why=why)
        default = _MONDAY if isinstance(scale, Days) else 0
        start = _read("start", scale, default if self.start is None else self.start)
        lower = None if self.lower is None else _read("lower", scale, self.lower)
        upper = None if self.upper is None else _read("upper", scale, self.upper)
        if lower is not None and upper is not None and lower >= upper:
            raise ParameterError("lower", self.lower, f"below upper, which is {self.upper!r}")
        return [_Even(start, step, lower, upper) for step in steps]

    def _cut(self, scale: Scale) -> list[_CutLevel]:
        for name in ("start", "lower", "upper"):
            if getattr(self, name) is not None:
                why = "bounds already say where the ranges begin and end"
                raise ParameterError(name, getattr(self, name), "left out with bounds", why=why)
        levels: list[_CutLevel] = []
        for bounds in self.bounds or ():
            if not isinstance(bounds, tuple):
                raise ParameterError("bounds", bounds, "a list of cut points, one list per level")
            cuts = [_read("bounds", scale, bound) for bound in bounds]
            if any(low >= high for low, high in pairwise(cuts)):
                raise ParameterError("bounds", list(bounds), "cut points in rising order")
            before = set(levels[-1].marks) if levels else set(cuts)
            new = [b for b, cut in zip(bounds, cuts, strict=True) if cut not in before]
            if new or (levels and len(cuts) == len(before)):
                expected = "fewer cut points at each level, all taken from the level before"
                why = f"the level before has no {some(new)}" if new else "two levels are the same"
                raise ParameterError("bounds", list(bounds), expected, why=why)
            levels.append(_CutLevel(cuts))
        return levels

    @classmethod
    def begin(cls, column: str, values: Sequence[Value], counts: Sequence[int]) -> HierarchyBuilder:
        from sfumato.hierarchy.automatic import intervals_for

        return intervals_for(column, values, counts)

    @classmethod
    def example(cls) -> Self:
        return cls(widths=[5, 10, 20], upper=80)

    @classmethod
    def example_values(cls) -> list[Value]:
        return [17, 23, 27, 44, "61", 80, 95]


def mark_of(scale: Scale, point: Decimal) -> Mark:
    """Write a point as plainly as it can be in a policy without moving it.

    >>> mark_of(Numbers(), Decimal("18.0")), mark_of(Numbers(), Decimal("0.1"))
    (18, 0.1)
    >>> mark_of(Days(), Decimal(date(2020, 2, 29).toordinal()))
    '2020-02-29'
    """
    if isinstance(scale, Days):
        return scale.point(point)
    if is_whole(point):
        return int(point)
    return float(point) if number_point(float(point)) == point else text_of(point)


def _read(name: str, scale: Scale, value: object) -> Decimal:
    point = scale.read(value)
    if point is None:
        raise ParameterError(name, value, scale.a_point)
    return point


def _freeze(setting: object) -> object:
    """Make a setting hashable and plain: lists become tuples, dates text."""
    if isinstance(setting, list | tuple):
        return tuple(_freeze(item) for item in setting)
    return setting.isoformat() if isinstance(setting, date) else setting


def _thaw(setting: object) -> object:
    return list(setting) if isinstance(setting, tuple) else setting
