"""How a value is written, matched and ordered.

A hierarchy file says `39`; the table may hold the text "39", the integer 39 or,
because some cells are missing, the float 39.0. They are the same value. This
module is the one place that decides so.
"""

import math
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

# The alias of sfumato.typing again: that module needs NumPy, which the verifier does without.
Value: TypeAlias = object

STAR = "*"
"""The most general value: it says nothing."""


def is_missing(value: Value) -> bool:
    """Tell whether a cell holds nothing: None, NaN or NaT.

    >>> [is_missing(v) for v in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - NaN and NaT differ from themselves
    except (TypeError, ValueError):
        return False


def text_of(value: Value) -> str:  # noqa: PLR0911 - one line per type
    """Write a value the way people and hierarchy files write it.

    >>> [text_of(v) for v in ("x", 39, 39.0, -0.0, 2.5, True, date(2020, 1, 31))]
    ['x', '39', '39', '0', '2.5', 'true', '2020-01-31']
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(float(value))
    if isinstance(value, Decimal):
        # Not normalize(): it rounds to 28 digits, and two values would become one.
        text = format(value, "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text == "-0" else text
    if isinstance(value, datetime):
        at_midnight = (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
        return value.date().isoformat() if at_midnight and value.tzinfo is None else str(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def text_or_none(value: Value) -> str | None:
    """Return the text of a value, or None for a missing one.

    >>> [text_or_none(v) for v in (39.0, None)]
    ['39', None]
    """
    return None if value is None else text_of(value)


def percent_of(share: float) -> str:
    """Write a share in whole percents, never rounded down to none or up to all.

    >>> [percent_of(share) for share in (0, 0.0004, 0.254, 0.9996, 1)]
    ['0%', '<1%', '25%', '>99%', '100%']
    """
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def number_of(value: Value) -> float | None:
    """Read a value as a finite number, or say None.

    >>> [number_of(v) for v in (3, "3.5", " 4 ", "x", True, None, "nan")]
    [3.0, 3.5, 4.0, None, None, None, None]
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        # float() also takes "1_000" and "infinity"; in data about people those are text.
        first = value.lstrip()[:1]
        if "_" in value or not (first.isdigit() or (first in "+-." and first)):
            return None
        try:
            number = float(value)
        except ValueError:
            return None
    elif isinstance(value, int | float | Decimal):
        try:
            number = float(value)
        except (OverflowError, InvalidOperation):
            return None
    else:
        return None
    return number if math.isfinite(number) else None


def date_of(value: Value) -> date | None:
    """Read a value as a calendar day (ISO 8601 if it is text), or say None.

    >>> date_of("2020-02-29"), date_of(datetime(2020, 2, 29, 23)), date_of("29/02/2020")
    (datetime.date(2020, 2, 29), datetime.date(2020, 2, 29), None)
    """
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, str) and len(value) >= 10 and value[4:5] == "-":
        try:
            return datetime.fromisoformat(value).date()
        except ValueError:
            return None
    return None


def in_order(values: Iterable[Value]) -> list[Value]:
    """Sort distinct values: numbers by size (also written as text), then the rest by text.

    Missing values come last. Which of two values is first does not depend on the others,
    so the order stays what it is when values disappear; it is the same on every engine,
    and it is the order that ordered distances use. Dates are in order because their
    text is.

    >>> in_order(["10", "9", None])
    ['9', '10', None]
    >>> in_order(["b", "10", "a", "9"])
    ['9', '10', 'a', 'b']
    """
    known: list[Value] = []
    missing = False
    for value in values:
        if is_missing(value):
            missing = True
        else:
            known.append(value)
    return [*sorted(known, key=_place), *([None] if missing else [])]


def _place(value: Value) -> tuple[bool, float, str]:
    number = number_of(value)
    # Two spellings of one number ("07" and "7") still need a fixed order.
    return (number is None, 0.0 if number is None else number, text_of(value))


# Shares for people to read.


def percent(share: float) -> str:
    """Write a share, never rounded up to all or down to none.

    >>> percent(0.998), percent(0.99999), percent(0.00001), percent(1), percent(0)
    ('99.8 %', '99.9 %', '0.1 %', '100 %', '0 %')
    """
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return f"{100 * min(max(share, 0.001), 0.999):.1f} %"
