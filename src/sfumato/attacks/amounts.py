"""Amounts as people write them: numbers with units and thousands apart, days, months, times."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from sfumato.classes import SensitiveColumn
from sfumato.hierarchy.intervals import Days, Numbers, Scale
from sfumato.models.number_line import NumberLine, line_of
from sfumato.text import date_of, text_of

_MOST = 0.5
"""The share of a column's values that have to be amounts of one kind."""


def amounts_of(column: SensitiveColumn) -> NumberLine | None:
    """Return the line that the amounts of a column stand on; None if there is none.

    Unlike promises, which need exact numbers, an adversary reads `5.000 €`, `12 mg`, `3.5.2021` and
    `07:45`, and is not stopped by one cell that says `unknown`. Values that are no amounts, or have
    another unit than most, stand behind the last point.

    >>> amounts_of(SensitiveColumn("pay", ("1,200 €", "900 €", "unknown"))).place.tolist()
    [1, 0, 2]
    >>> amounts_of(SensitiveColumn("ill", ("flu", "i12", "gout"))) is None
    True
    """
    return column.memoize("amounts", _find_amounts)


def _find_amounts(column: SensitiveColumn) -> NumberLine | None:
    exact = line_of(column)
    if exact is not None:
        return exact
    texts = [text_of(value).strip() for value in column.values]
    least = _MOST * len(texts)
    readings: tuple[Callable[[Sequence[str]], _Amounts], ...] = (_numbers, _days, _times)
    for read in readings:
        # One look at a few shows for most columns that they hold something else.
        found = read(texts)
        known = [point for point in found.points if point is not None]
        if not known or len(known) < least:
            continue
        points = sorted({*known})
        at: dict[Decimal | None, int] = {point: i for i, point in enumerate(points)}
        place = np.array([at.get(p, len(points)) for p in found.points], dtype=np.int64)
        return NumberLine(tuple(points), place, found.scale)
    return None


class _Amounts(NamedTuple):
    points: list[Decimal | None]
    scale: Scale


_NUMBER = re.compile(
    r"(?:[~≈]|ca\.?)?\s*"
    r"(?P<sign>[-+−]?)\s*(?P<before>[€$£¥]|[A-Z]{3}(?=\s?\d))?\s*"
    r"(?P<digits>\d{1,3}(?:[ '’.,\u00a0\u2009\u202f]\d{3})+(?:[.,]\d{1,4})?"
    r"|\d{1,18}(?:[.,]\d{1,12})?)"
    r"\s*(?P<unit>[^\d\s.,;:/|+\-][^\d;:/|+]{0,11}|)"
)


def _numbers(texts: Sequence[str]) -> _Amounts:
    """Read numbers with the unit that most of them have."""
    read = [_number(text) for text in texts]
    units = Counter(each[0] for each in read if each is not None)
    unit = units.most_common(1)[0][0] if units else ""
    # A bare number among those with a unit is meant in that unit.
    points = [each[1] if each is not None and each[0] in (unit, "") else None for each in read]
    return _Amounts(points, Numbers())


def _number(text: str) -> tuple[str, Decimal] | None:
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    digits = re.sub(r"[ '’\u00a0\u2009\u202f]", "", found["digits"])
    dot, comma = digits.rfind("."), digits.rfind(",")
    if dot >= 0 and comma >= 0:
        # What comes last is the decimal point.
        group = "," if dot > comma else "."
        digits = digits.replace(group, "").replace(",", ".")
    elif comma >= 0:
        whole = re.fullmatch(r"\d{1,3}(,\d{3})+", digits) is not None
        digits = digits.replace(",", "" if whole else ".")
    elif digits.count(".") > 1:
        digits = digits.replace(".", "")
    unit = (found["before"] or found["unit"] or "").strip().casefold()
    sign = -1 if found["sign"] in ("-", "−") and found["sign"] else 1
    try:
        return unit, sign * Decimal(digits)
    except ArithmeticError:
        return None


def readings_of(text: str) -> set[str]:
    """Return what number or day a text may mean, in one writing.

    >>> readings_of("1,000 EUR") & readings_of("1000.0 eur"), readings_of("flu")
    ({'= 1000 eur'}, set())
    >>> readings_of("2.1.2020") & readings_of("2020-01-02")
    {'= 2020-01-02'}
    """
    text = text.strip()
    found = set()
    number = _number(text)
    if number is not None:
        unit, amount = number
        found.add(f"= {amount.normalize():f} {unit}".rstrip())
        if re.search(r"\d[.,]\d{3}(?!\d)", text):
            # 1.000 is one to some, and a thousand to others.
            shifts = (amount * 1000, amount / 1000)
            found |= {f"= {each.normalize():f} {unit}".rstrip() for each in shifts}
    day = date_of(text)
    point = Decimal(day.toordinal()) if day is not None else _days([text]).points[0]
    if point is not None:
        found.add(f"= {Days().point(point)}")
    return found


_DAY = re.compile(r"(\d{1,4})([-./])(\d{1,2})(?:\2(\d{1,4}))?")


def _days(texts: Sequence[str]) -> _Amounts:
    """Read days in any order of day, month and year, and months."""
    parts = [_DAY.fullmatch(text) for text in texts]
    # Of `5/3/2021` nothing says which is the month, but of others of the column.
    shown = [found for found in parts if found is not None and found[4] and len(found[1]) <= 2]
    american = any(int(f[3]) > 12 for f in shown) and not any(int(f[1]) > 12 for f in shown)

    def day(found: re.Match[str] | None) -> Decimal | None:
        if found is None:
            return None
        first, second, third = int(found[1]), int(found[3]), int(found[4] or 1)
        if len(found[1]) == 4:
            year, month, of_month = first, second, third
        elif found[4] and len(found[4]) == 4:
            year = third
            month, of_month = (first, second) if american else (second, first)
        else:
            return None
        try:
            return Decimal(date(year, month, of_month).toordinal())
        except ValueError:
            return None

    return _Amounts([day(found) for found in parts], Days())


_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?")


class TimesOfDay(Numbers):
    """Minutes since midnight, written as times.

    >>> TimesOfDay().read("07:45"), TimesOfDay().point(Decimal(465))
    (Decimal('465'), '07:45')
    """

    def read(self, value: object) -> Decimal | None:
        """Read a time; seconds do not count."""
        found = _TIME.fullmatch(value.strip()) if isinstance(value, str) else None
        return None if found is None else Decimal(60 * int(found[1]) + int(found[2]))

    def point(self, at: Decimal) -> str:
        """Write a time."""
        return f"{int(at) // 60:02d}:{int(at) % 60:02d}"


def _times(texts: Sequence[str]) -> _Amounts:
    scale = TimesOfDay()
    return _Amounts([scale.read(text) for text in texts], scale)
