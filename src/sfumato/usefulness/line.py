"""Columns that have an order, and labels that name a stretch of it."""

import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from sfumato.counts import Column
from sfumato.text import date_of, number_of
from sfumato.typing import Value

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
