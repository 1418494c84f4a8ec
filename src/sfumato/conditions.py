"""Conditions on columns: values and ranges as people write them, held against what there is."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from sfumato.counts import Column
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, ParameterError, UnknownValueError, suggest
from sfumato.hierarchy.labels import Reader, Stretch, day_of, stretch_of
from sfumato.text import STAR, is_missing, number_of, text_of, text_or_none
from sfumato.typing import Value

# What is asked of a column, before it is known what the column has.


@dataclass(frozen=True)
class Range:
    """Everything from one end to the other, both inside; None leaves an end open."""

    low: Value
    high: Value

    def __str__(self) -> str:
        ends = ["" if end is None else text_of(end) for end in (self.low, self.high)]
        return "..".join(ends)


@dataclass(frozen=True)
class Question:
    """What is asked of one column: values, and ranges of them."""

    column: str
    items: tuple[Value | Range, ...]
    """None is the missing value. A text may turn out to be a range: see `ConditionLine.read`."""

    @classmethod
    def of(cls, name: str, given: object) -> Self:
        """Read a condition: a pair is a range, a list or set are values, anything else is one.

        >>> [str(Question.of("age", each)) for each in ((30, 45), (None, 45), ["f", "m"], "flu")]
        ['30..45', '..45', 'f,m', 'flu']
        """
        if isinstance(given, tuple):
            if len(given) != 2 or given == (None, None):
                raise ParameterError(
                    f"where[{name!r}]",
                    given,
                    "a range (low, high) with at least one end, a list of values, or a value",
                )
            return cls(name, (Range(*given),))
        if isinstance(given, list | set | frozenset):
            if not given:
                raise ParameterError(f"where[{name!r}]", given, "at least one value")
            return cls(name, tuple(None if is_missing(each) else each for each in given))
        return cls(name, (None if is_missing(given) else given,))

    @property
    def texts(self) -> frozenset[str | None]:
        """The values as they are written."""
        values = (each for each in self.items if not isinstance(each, Range))
        return frozenset(map(text_or_none, values))

    def __str__(self) -> str:
        return ",".join(
            str(each) if isinstance(each, Range) else text_or_none(each) or ""
            for each in self.items
        )


def split_conditions(given: Iterable[str], known: Sequence[str] = ()) -> dict[str, str]:
    """Cut `column=value` in two; each column may be there once.

    A column's own name may hold an equals sign: of the known names the longest that fits is
    meant. If there are known names, others are refused.

    >>> split_conditions(["age=30..45", "a=b=c"], ["age", "a=b"])
    {'age': '30..45', 'a=b': 'c'}
    """
    found: dict[str, str] = {}
    for text in given:
        fitting = [name for name in known if text.startswith(f"{name}=")]
        name, sign, value = text.partition("=")
        if fitting:
            name = max(fitting, key=len)
            value = text[len(name) + 1 :]
        elif known:
            form = "" if sign else " Write it as column=value."
            hint = suggest(name, list(known))
            raise InputError(f"{text!r}: there is no column {name!r}.{form} {hint}")
        elif not sign or not name.strip():
            raise InputError(f"{text!r} must be a column and a value. Write it as column=value.")
        name = name if fitting else name.strip()
        if name in found:
            raise InputError(
                f"{name}: two values are given for it. Give one, or several between commas where "
                "several may be asked for."
            )
        found[name] = value
    return found


# Columns whose values and labels lie on a line, and what is asked of them there.


@dataclass(frozen=True, eq=False)
class ConditionLine:
    """A column of numbers or days: how they are read, and where its labels lie.

    Example:
        >>> line = ConditionLine.of(Column("age", ("20-29", 31, "*")))
        >>> line.stretches["20-29"].high, line.least, line.most
        (29.0, 20.0, 31.0)
        >>> line.read("25..30")[:3], line.read("20-24")[:3], line.read("banana")
        ((25.0, 30.0, True), (20.0, 24.0, True), None)
    """

    reader: Reader
    stretches: Mapping[str, Stretch]
    """What each label covers; `*` and words are not among them."""

    @classmethod
    def all_of(cls, column: Column) -> "list[ConditionLine]":
        """Return the lines that all labels of a column but `*` lie on; of numbers first."""
        texts = [text for text in map(text_of, column.known) if text != STAR]
        lines = []
        for reader in (number_of, day_of):
            read = {text: read_label(text, reader) for text in texts}
            stretches = {text: each for text, each in read.items() if each is not None}
            if stretches and len(stretches) == len(read):
                lines.append(cls(reader, stretches))
        return lines

    @classmethod
    def of(cls, column: Column) -> "ConditionLine | None":
        """Return the line that all labels of a column but `*` lie on, if there is one."""
        return next(iter(cls.all_of(column)), None)

    @classmethod
    def of_values(cls, column: Column) -> "ConditionLine | None":
        """Return the line that most values of an original column lie on; others are words."""
        texts = [text_of(value) for value in column.known]
        for reader in (number_of, day_of):
            points = {text: reader(value) for text, value in zip(texts, column.known, strict=True)}
            found = {
                text: Stretch(at, at, closed=True) for text, at in points.items() if at is not None
            }
            if 2 * len(found) > len(points):
                return cls(reader, found)
        return None

    @property
    def least(self) -> float:
        """The least finite end of a label."""
        return min(self._ends)

    @property
    def most(self) -> float:
        """The greatest finite end of a label."""
        return max(self._ends)

    @property
    def _ends(self) -> list[float]:
        ends = (end for each in self.stretches.values() for end in (each.begin, each.high))
        return [end for end in ends if math.isfinite(end)]

    @property
    def is_open(self) -> bool:
        """Whether a label reaches farther than can be seen, as `under 20` and `>=65` do."""
        ends = (end for each in self.stretches.values() for end in (each.low, each.high))
        return not all(map(math.isfinite, ends))

    def read(self, item: Value | Range) -> Stretch | None:
        """Read a value, a label or a range; None if it does not lie on the line."""
        if isinstance(item, Range):
            return self._between(item.low, item.high)
        text = text_of(item)
        if isinstance(item, str) and ".." in text:
            low, _, high = (part.strip() for part in text.partition(".."))
            if low or high:
                return self._between(low or None, high or None)
        point = self.reader(item)
        return Stretch(point, point, closed=True) if point is not None else self._label(text)

    def _label(self, text: str) -> Stretch | None:
        return self.stretches.get(text) or read_label(text, self.reader)

    def _between(self, low: Value, high: Value) -> Stretch | None:
        ends = [None if end is None else self.read(end) for end in (low, high)]
        if any(
            end is not None and read is None for end, read in zip((low, high), ends, strict=True)
        ):
            return None
        first, last = ends
        begin = -math.inf if first is None else first.low
        end, closed = (math.inf, True) if last is None else (last.high, last.closed)
        return Stretch(begin, end, closed) if begin <= end else None

    def __str__(self) -> str:
        low, high = (self._write(end) for end in (self.least, self.most))
        kind = "days" if self.reader is day_of else "numbers"
        return f"{kind} from {low} to {high}"

    def _write(self, point: float) -> str:
        if self.reader is day_of:
            from datetime import date

            return date.fromordinal(min(max(int(point), 1), date.max.toordinal())).isoformat()
        return text_of(int(point) if point.is_integer() else point)

    def refuse(self, column: str, item: Value | Range, words: Sequence[str] = ()) -> InputError:
        """Return the error for what cannot be asked of the column, with what can be."""
        text = str(item) if isinstance(item, Range) else text_of(item)
        low, high = (self._write(end) for end in (self.least, self.most))
        said = ""
        if isinstance(item, Range) or ".." in text:
            low_end, _, high_end = text.partition("..")
            wrong = [
                end for end in (low_end.strip(), high_end.strip()) if end and not self.read(end)
            ]
            order = (
                "The lower end comes first." if low_end and high_end else "Give at least one end."
            )
            said = f" {wrong[0]!r} is none of them." if wrong else f" {order}"
        besides = f", and {suggest('', list(words))[len('Known: ') : -1]}" if words else ""
        return UnknownValueError(
            column,
            text,
            f"It has {self}{besides}.{said} Ask for one, or for a range such as "
            f"'{low} to {high}' or '{low}..{high}'.",
        )


def unknown_value(column: str, text: str, known: Sequence[str], *, more: str = "") -> InputError:
    """Return the error for a word that no row has.

    >>> print(unknown_value("sex", "X", ["f", "m"]))
    no value 'X' in 'sex'. Known: 'f', 'm'.
    """
    hint = suggest(text, known) + (f" {more}" if more else "")
    return UnknownValueError(column, text, hint)


def read_label(text: str, reader: Reader) -> Stretch | None:
    """Read a label as a stretch: a point, an interval, or a mask of digits.

    >>> [read_label(text, number_of)[:3] for text in ("31", "476**")]
    [(31.0, 31.0, True), (47600.0, 47699.0, True)]
    """
    point = reader(text)
    if point is not None:
        return Stretch(point, point, closed=True)
    if reader is number_of and re.fullmatch(r"\d+\*+", text):
        return Stretch(float(text.replace(STAR, "0")), float(text.replace(STAR, "9")), closed=True)
    return stretch_of(text, reader)


def overlap(one: Stretch, other: Stretch) -> bool:
    """Return whether two stretches have a point in common.

    >>> overlap(Stretch(20, 30, False), Stretch(30, 40, True))
    False
    """
    low, high = max(one.low, other.low), min(one.high, other.high)
    return low < high or (low == high and one.holds(low) and other.holds(low))


# One of the values or labels that a column has, as `breach` and `detect` ask for it.


def find_values(columns: Sequence[Column], given: Sequence[str]) -> dict[str, Value]:
    """Find the columns and values that were written as `column=value`.

    A value is meant as it is written, by another way to write its interval, or by something
    that one label alone covers; `column=` with nothing after it is a missing value.

    >>> age = [Column("age", ("20-29", "30-39", None))]
    >>> [find_values(age, [text]) for text in ("age=20-29", "age=[20, 29]", "age=35", "age=")]
    [{'age': '20-29'}, {'age': '20-29'}, {'age': '30-39'}, {'age': None}]
    >>> find_values([Column("job", ("State-gov",))], ["job=Stat-gov"])
    Traceback (most recent call last):
    sfumato.errors.UnknownValueError: no value 'Stat-gov' in 'job'. Did you mean
    'State-gov'? Known: 'State-gov'.
    """
    by_name = {column.name: column for column in columns}
    asked = split_conditions(given, list(by_name))
    return {name: find_value(by_name[name], text) for name, text in asked.items()}


def find_value(column: Column, text: str) -> Value:
    """Return the value or label of a column that a text means."""
    by_text = {text_or_none(value) or "": value for value in column.values}
    if text in by_text:
        return by_text[text]
    if not text:
        raise unknown_value(column.name, text, list(by_text), more="No row misses it.")
    line = ConditionLine.of(column)
    if line is None:
        masks = [each for each in by_text if each != STAR and STAR in each]
        fitting = [mask for mask in masks if fits_mask(text, mask)]
        if len(fitting) == 1:
            return by_text[fitting[0]]
        raise unknown_value(column.name, text, [each for each in by_text if each])
    stretch = line.read(text)
    if stretch is None:
        raise unknown_value(column.name, text, [each for each in by_text if each])
    alike = [label for label, each in line.stretches.items() if each == stretch]
    covering = alike or [
        label
        for label, each in line.stretches.items()
        if each.low <= stretch.low and (stretch.high < each.high or each.holds(stretch.high))
    ]
    if len(covering) == 1:
        return by_text[covering[0]]
    more = f"Several cover it: name one of {', '.join(map(repr, covering))}." if covering else ""
    raise unknown_value(column.name, text, [each for each in by_text if each], more=more)


def fits_mask(word: str, mask: str) -> bool:
    """Return whether a mask such as `AB*` may stand for a word; each star is one character."""
    return re.fullmatch(re.escape(mask).replace(re.escape(STAR), "."), word, re.DOTALL) is not None
