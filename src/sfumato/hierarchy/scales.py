"""Number lines: where a value stands, and how a stretch of the line is written.

Decimals are exact decimals, never floats, so that 0.3 really is the lower end of [0.3, 0.4)
and not, as 0.1 + 0.1 + 0.1 would have it, just below.
"""

import re
from datetime import date
from decimal import Context, Decimal
from typing import Protocol

from sfumato.text import date_of, number_of, text_of
from sfumato.typing import Value

_EXACT = Context(prec=2000)
"""Enough digits for sums of the largest and the smallest number a float can be."""


def number_point(value: Value) -> Decimal | None:
    """Read a number exactly as it is written, or say None.

    >>> number_point(0.1), number_point(" 39 "), number_point("x")
    (Decimal('0.1'), Decimal('39'), None)
    """
    number = number_of(value)
    if number is None:
        return None
    # Zero to every float (1e-999999 is), zero to us: it would not fit the exact arithmetic.
    return Decimal(text_of(value).strip()) if number else Decimal(0)


def is_whole(point: Decimal) -> bool:
    """Tell whether nothing stands behind the decimal point."""
    return point == point.to_integral_value()


def multiple_at(point: Decimal, step: Decimal, start: Decimal) -> Decimal:
    """Go down from a point to the next of start, start ± step, start ± 2 step, ...

    >>> multiple_at(Decimal("-0.3"), Decimal("0.2"), Decimal(0))
    Decimal('-0.4')
    """
    count, rest = _EXACT.divmod(_EXACT.subtract(point, start), step)
    if rest < 0:
        count = _EXACT.subtract(count, 1)
    return _EXACT.fma(count, step, start)


def is_multiple(point: Decimal, step: Decimal) -> bool:
    """Tell whether a step fits into a point without rest."""
    return not _EXACT.remainder(point, step)


def plus(point: Decimal, step: Decimal) -> Decimal:
    """Add without rounding."""
    return _EXACT.add(point, step)


class Scale(Protocol):
    """One kind of number line."""

    what: str
    """What its values are called in a message."""

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


def label(scale: Scale, low: Decimal | None, high: Decimal | None) -> str:
    """Write an interval; an end that is None is open."""
    if low is None:
        return f"<{scale.point(high)}" if high is not None else "*"
    if high is None:
        return f">={scale.point(low)}"
    return scale.stretch(low, high)


class Numbers:
    """Any numbers; intervals are written `[20, 25)`."""

    what: str = "numbers"
    a_point: str = "a number"
    a_width: str = "a number above 0"

    def read(self, value: Value) -> Decimal | None:
        return number_point(value)

    def width(self, value: Value) -> Decimal | None:
        return number_point(value)

    def point(self, at: Decimal) -> str:
        return text_of(at)

    def stretch(self, low: Decimal, high: Decimal) -> str:
        return f"[{self.point(low)}, {self.point(high)})"


class WholeNumbers(Numbers):
    """Whole numbers; intervals are written with both ends inside: `20-24`, `-5 to -1`."""

    def stretch(self, low: Decimal, high: Decimal) -> str:
        last = plus(high, Decimal(-1))
        if last == low:
            return self.point(low)
        return f"{self.point(low)}{'-' if low >= 0 else ' to '}{self.point(last)}"


class Days:
    """Calendar days; widths are written `7d`, intervals `2020-01-06 to 2020-01-12`."""

    what: str = "dates"
    a_point: str = "a date such as 2020-02-29"
    a_width: str = "a number of days above 0, such as 7d"

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
        return first if first == last else f"{first} to {last}"
