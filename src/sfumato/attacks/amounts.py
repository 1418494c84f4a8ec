"""Amounts as people write them: numbers with units and thousands apart, days, times, bands."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from math import isfinite
from typing import NamedTuple

import numpy as np

from sfumato.amounts import WrittenAmount, amount_in_parts, amount_of
from sfumato.classes import SensitiveColumn
from sfumato.derivations.dates import ORDERS, read_text
from sfumato.hierarchy.intervals import Days, Numbers, Scale
from sfumato.hierarchy.ordered import band_of
from sfumato.models.number_line import NumberLine, line_of
from sfumato.text import date_of, text_of

_MOST = 0.5
"""The share of a column's values that have to be amounts of one kind."""


_FEW = 500
"""About the number of values that are looked at before all of a column are read."""


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
    readings: tuple[Callable[[Sequence[str]], _Amounts], ...] = (_numbers, _days, _times, _bands)
    for read in readings:
        # A look at a few shows for most columns that they hold something else.
        some = texts[:: max(len(texts) // _FEW, 1)]
        if not any(point is not None for point in read(some).points):
            continue
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


def _numbers(texts: Sequence[str]) -> _Amounts:
    """Read numbers in the unit that most of them have, of those that have one.

    A bare number among others is meant in that unit, and what is in another one that measures the
    same, pounds beside kilos, is counted in it.

    >>> [str(point) for point in _numbers(["80 kg", "90 kg", "95000 g", "70", "5 %"]).points]
    ['80', '90', '95', '70', 'None']
    """
    read = [amount_of(text) or amount_in_parts(text) for text in texts]
    units = Counter(each.unit for each in read if each is not None and each.unit)
    unit = units.most_common(1)[0][0] if units else ""

    def number(each: WrittenAmount | None) -> Decimal | None:
        if each is None or not each.unit:
            return None if each is None else each.number
        found = each.counted_in(unit)
        # Of what was measured otherwise no more digits are meant than people write.
        return found if found is None or each.unit == unit else Decimal(f"{found:.6g}")

    return _Amounts([number(each) for each in read], Numbers())


def readings_of(text: str) -> set[str]:
    """Return what number or day a text may mean, in one writing.

    >>> readings_of("1,000 EUR") & readings_of("1000.0 eur"), readings_of("flu")
    ({'= 1000 eur'}, set())
    >>> readings_of("2.1.2020") & readings_of("2020-01-02")
    {'= 2020-01-02'}
    """
    text = text.strip()
    found = set()
    number = amount_of(text)
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


_LAST_SHORT = 30
"""Years of two digits up to this are after 2000."""


def _days(texts: Sequence[str]) -> _Amounts:
    """Read days however they are written, and months as their first days."""
    read = [read_text(text, _LAST_SHORT) for text in texts]
    # Of `5/3/2021` nothing says which is the month, but of others of the column.
    order = max(ORDERS, key=lambda order: sum(each.of(order) is not None for each in read))

    def day(found: str | None) -> Decimal | None:
        if found is None or len(found) < len("2021-03"):
            return None
        return Decimal(date.fromisoformat(f"{found}-01"[:10]).toordinal())

    return _Amounts([day(each.of(order)) for each in read], Days())


_TIME = re.compile(
    r"(?P<hour>\d{1,2})(?:(?P<apart>[:.h])(?P<minute>\d{2})(?::\d{2})?)?\s*"
    r"(?P<clock>uhr|h|hrs?|o'clock|uur|(?P<half>[ap])\.?m\.?)?",
    re.IGNORECASE,
)


class TimesOfDay(Numbers):
    """Minutes since midnight, written as times.

    >>> TimesOfDay().read("07:45"), TimesOfDay().point(Decimal(465))
    (Decimal('465'), '07:45')
    >>> [str(TimesOfDay().read(text)) for text in ("22 Uhr", "22h00", "10:00 pm", "22.00", "22")]
    ['1320', '1320', '1320', 'None', 'None']
    """

    def read(self, value: object) -> Decimal | None:
        """Read a time; seconds do not count."""
        found = _TIME.fullmatch(value.strip()) if isinstance(value, str) else None
        if found is None or (found["apart"] in (None, ".") and not found["clock"]):
            return None
        hour, half = int(found["hour"]), (found["half"] or "").lower()
        if half:
            # Twelve is where both halves of a day begin.
            hour = hour % 12 + 12 * (half == "p")
        return Decimal(60 * hour + int(found["minute"] or 0))

    def point(self, at: Decimal) -> str:
        """Write a time."""
        return f"{int(at) // 60:02d}:{int(at) % 60:02d}"


def _times(texts: Sequence[str]) -> _Amounts:
    scale = TimesOfDay()
    return _Amounts([scale.read(text) for text in texts], scale)


class MiddlesOfBands(Numbers):
    """Numbers that stand for a band: its middle, or the end that it has.

    >>> scale = MiddlesOfBands()
    >>> [str(scale.read(text)) for text in ("10-20", "10k to 20k", "75 and more", "about 15")]
    ['15', '15000', '75', '15']
    >>> scale.point(Decimal(15))
    'about 15'
    """

    def read(self, value: object) -> Decimal | None:
        """Read a band, or a single number."""
        band = band_of(value.removeprefix("about ")) if isinstance(value, str) else None
        if band is None:
            return None
        ends = [end for end in (band.begin, band.high) if isfinite(end)]
        return Decimal(f"{sum(ends) / len(ends):.10g}") if ends else None

    def point(self, at: Decimal) -> str:
        """Write a middle."""
        return f"about {super().point(at)}"


def _bands(texts: Sequence[str]) -> _Amounts:
    scale = MiddlesOfBands()
    return _Amounts([scale.read(text) for text in texts], scale)
