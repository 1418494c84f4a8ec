"""Dates as people write them: in which order, how they are read, and one way to write them.

`10.01.1937`, `01/10/1937`, `10 Jan 1937` and `1937-01-10` are one day. Which of two numbers is the
day cannot be seen in one value; it is found out from all values of a column, or it is said.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from datetime import date, datetime
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, some
from sfumato.patterns import late
from sfumato.text import Value, format_integer, text_of

DAY_FIRST, MONTH_FIRST, YEAR_FIRST = "day-first", "month-first", "year-first"

ORDERS = (DAY_FIRST, MONTH_FIRST, YEAR_FIRST)
"""The orders in which a day, a month and a year are written."""

DETECT = "detect"
"""The order is found out from all values of the column."""

_LONGEST = 64
"""Letters of a date with a time, at most; longer texts are none."""

_NAMES = {
    1: "jan january januar jänner jaenner jänn janvier janv enero ene gennaio gen januari janeiro",
    2: "feb february februar feber février févr fév febrero febbraio februari fevereiro fev",
    3: "mar march märz maerz mär mrz mars marzo maart mrt março",
    4: "apr april avril avr abril abr aprile",
    5: "may mai mayo maggio mag mei maio",
    6: "jun june juni juin junio giugno giu junho",
    7: "jul july juli juillet juil julio luglio lug julho",
    8: "aug august août aout agosto ago augustus",
    9: "sep sept september septembre septiembre settembre set setembro",
    10: "oct october oktober okt octobre octubre ottobre ott outubro out",
    11: "nov november novembre noviembre novembro",
    12: "dec december dezember dez décembre déc diciembre dic dicembre dezembro",
}
_MONTHS = {
    spelling: month
    for month, names in _NAMES.items()
    for name in names.split()
    for spelling in (name, unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode())
}
"""Months in English, German, French, Spanish, Italian, Dutch and Portuguese."""

_DAY_NAMES = (
    "mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday "
    "saturday sunday mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag "
    "sonnabend sonntag"
)
_WEEKDAYS = frozenset(_DAY_NAMES.split())

_WORD = r"([^\W\d_]{3,10})\.?"
_REST = r"(?:(?:T|,? +|,)(\S.*))?"
_NUMBERS = late(rf"(\d{{1,4}})([-./ ]) ?(\d{{1,2}})\2 ?(\d{{1,4}}){_REST}", re.ASCII)
_DAY_NAME = late(
    rf"(\d{{1,2}})(?:\.|st|nd|rd|th|er|º)?[-/ ]{{0,2}}(?:de |of )?{_WORD},?[-/ ]{{0,2}}(?:de )?"
    rf"'?(\d{{4}}|\d{{2}}){_REST}"
)
_NAME_DAY = late(rf"{_WORD}[-/ ]{{0,2}}(\d{{1,2}})(?:st|nd|rd|th)?(?:, ?|[-/ ])(\d{{4}}){_REST}")
_YEAR_NAME = late(rf"(\d{{4}})[-/ .]{{1,2}}{_WORD}[-/ ]{{1,2}}(\d{{1,2}}){_REST}")
_NAME_YEAR = late(rf"{_WORD},?[-/ ]{{0,2}}(?:de )?(\d{{4}})")
_COMPACT = late(r"(\d{8})(?:[T ]?(\d{4}(?:\d{2})?(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?))?",
                      re.ASCII)  # fmt: skip
_YEAR = late(r"\d{4}", re.ASCII)
_YEAR_MONTH = late(r"(\d{4})[-./](\d{1,2})", re.ASCII)
_MONTH_YEAR = late(r"(\d{1,2})[-./] ?(\d{4})", re.ASCII)
_TIME = late(
    r"(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?(?: ?([ap])\.?m\.?)?(?: ?(?:uhr|h))?"
    r" ?(z|utc|gmt|[+-]\d{2}(?::?\d{2})?)?(?:\[[\w/+-]+\])?",
    re.ASCII | re.IGNORECASE,
)

CANONICAL = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
"""The form of a day that is written in the one way already."""


class Readings(NamedTuple):
    """What a text is in each order: a date in ISO 8601, None where it is none."""

    day_first: str | None
    month_first: str | None
    year_first: str | None
    short: bool = False
    """Whether its year has two digits, and no century is given."""

    def of(self, order: str) -> str | None:
        """Return what it is in an order."""
        found = (self.day_first, self.month_first, self.year_first)
        return found[ORDERS.index(order)]


_NONE = Readings(None, None, None)
Parts: TypeAlias = tuple[int, int, int]
"""A year, a month and a day; 0 if it is not known."""


def _same(written: str | None) -> Readings:
    return Readings(written, written, written)


def _write(parts: Parts, rest: str | None = None) -> str | None:
    """Return a date, or a part of one, in ISO 8601; None if the calendar does not have it."""
    year, month, day = parts
    if not (day or rest):
        if not 1 <= year <= 9999 or not 0 <= month <= 12:
            return None
        return f"{year:04}-{month:02}" if month else f"{year:04}"
    try:
        written = date(year, month, day).isoformat()
    except ValueError:
        return None
    if rest is None:
        return written
    clock = _write_time(rest)
    return None if clock is None else written + clock


@lru_cache(maxsize=4096)
def _write_time(rest: str) -> str | None:
    found = _TIME.fullmatch(rest.strip())
    if found is None:
        return None
    hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
    if found[5]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found[5].lower() == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    fraction = (found[4] or "").rstrip("0")
    fraction = "." + fraction.ljust(6 if len(fraction) <= 6 else 9, "0") if fraction else ""
    zone = found[6]
    if not (zone or fraction or hour or minute or second):
        # As for times of other tables: a midnight is the day.
        return ""
    return f" {hour:02}:{minute:02}:{second:02}{fraction}{_write_zone(zone)}"


def _write_zone(zone: str | None) -> str:
    if zone is None:
        return ""
    if zone[0] not in "+-":
        return "+00:00"
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return f"{zone[0]}{digits[:2]}:{digits[2:]}"


def _century(year: int, digits: int, pivot: int | None) -> int | None:
    """Return the whole year; None if it has two digits and no century is said."""
    if digits > 2:
        return year
    if pivot is None:
        return None
    return year + (2000 if year <= pivot else 1900)


def _in_each_order(first: int, second: int, third: int, pivot: int | None, rest: str | None) -> (
    Readings
):  # fmt: skip
    """Read three numbers of at most two digits."""
    if pivot is None:
        whole = [(1904, second, first), (1904, first, second), (1904, second, third)]
        fits = [_write(parts, rest) for parts in whole]
        return Readings(fits[0], fits[1], fits[2], short=True) if any(fits) else _NONE
    years = [_century(year, 2, pivot) or 0 for year in (third, first)]
    return Readings(
        _write((years[0], second, first), rest),
        _write((years[0], first, second), rest),
        _write((years[1], second, third), rest),
    )


def _read_numbers(found: "re.Match[str]", pivot: int | None) -> Readings:
    first, second, third, rest = found[1], found[3], found[4], found[5]
    a, b, c = int(first), int(second), int(third)
    lengths = len(first), len(third)
    if lengths[0] == 4:
        return _same(_write((a, b, c), rest)) if lengths[1] <= 2 else _NONE
    if lengths[0] > 2 or lengths[1] == 3:
        return _NONE
    if lengths[1] == 4:
        return Readings(_write((c, b, a), rest), _write((c, a, b), rest), None)
    return _in_each_order(a, b, c, pivot, rest)


def _read_compact(digits: str, rest: str | None) -> Readings:
    year_first = _write((int(digits[:4]), int(digits[4:6]), int(digits[6:])), rest)
    if year_first is not None and int(digits[4:6]):
        return _same(year_first)
    a, b, year = int(digits[:2]), int(digits[2:4]), int(digits[4:])
    # What is a year here is no month above, so that no text is read in both ways.
    if not 1300 <= year <= 2999 or rest is not None or not (a and b):
        return _NONE
    return Readings(_write((year, b, a)), _write((year, a, b)), None)


def _month(word: str) -> int | None:
    return _MONTHS.get(word.lower())


def _read_named(text: str, pivot: int | None) -> Readings:
    """Read a date with the name of a month."""
    for form, places in ((_DAY_NAME, (3, 2, 1, 4)), (_NAME_DAY, (3, 1, 2, 4)),
                         (_YEAR_NAME, (1, 2, 3, 4))):  # fmt: skip
        found = form.fullmatch(text)
        if found is None:
            continue
        year, word, day, rest = (found[place] for place in places)
        month = _month(word)
        if month is None or not int(day):
            return _NONE
        whole = _century(int(year), len(year), pivot)
        if whole is None:
            fits = _write((1904, month, int(day)), rest)
            return Readings(fits, fits, fits, short=True) if fits else _NONE
        return _same(_write((whole, month, int(day)), rest))
    found = _NAME_YEAR.fullmatch(text)
    month = None if found is None else _month(found[1])
    return _NONE if found is None or month is None else _same(_write((int(found[2]), month, 0)))


def read_text(text: str, pivot: int | None = None) -> Readings:  # noqa: PLR0911 - one per form
    """Return what a text is in each order in which a date may be written.

    Args:
        text: Any text.
        pivot: The last year of two digits that is after 2000: with 30, years 00 to 30 are 2000 to
            2030 and 31 to 99 are 1931 to 1999. None if such years are not read.

    >>> read_text("10.01.1937")[:2], read_text("10 Jan 1937").year_first
    (('1937-01-10', '1937-10-01'), '1937-01-10')
    >>> read_text("1937").day_first, read_text("31.12.37 14:30", 30).day_first
    ('1937', '1937-12-31 14:30:00')
    >>> read_text("2020-02-30").day_first, read_text("31.12.37").short
    (None, True)
    """
    if len(text) == 10 and text[4] == text[7] == "-":
        # Most dates, and much faster.
        with suppress(ValueError):
            return _same(date.fromisoformat(text).isoformat())
    if len(text) > _LONGEST:
        return _NONE
    text = " ".join(text.split())
    found = _NUMBERS.fullmatch(text)
    if found is not None:
        numbers = _read_numbers(found, pivot)
        return _read_iso(text) if numbers == _NONE and text[4] == "-" else numbers
    if _YEAR.fullmatch(text):
        return _same(_write((int(text), 0, 0)))
    found = _YEAR_MONTH.fullmatch(text)
    if found is not None:
        return _same(_write((int(found[1]), int(found[2]), 0)))
    found = _MONTH_YEAR.fullmatch(text)
    if found is not None:
        return _same(_write((int(found[2]), int(found[1]), 0)))
    found = _COMPACT.fullmatch(text)
    if found is not None:
        return _read_compact(found[1], found[2])
    word, _, rest = text.partition(" ")
    if rest and word.rstrip(".,").lower() in _WEEKDAYS:
        return read_text(rest, pivot)
    if len(text) >= 10 and text[4] == "-":
        rare = _read_iso(text)
        return _read_named(text, pivot) if rare is _NONE else rare
    return _read_named(text, pivot)


def _read_iso(text: str) -> Readings:
    """Return a date in a rarer form of ISO 8601, such as those with weeks, or with hours only."""
    with suppress(ValueError):
        return _same(text_of(datetime.fromisoformat(text)))
    return _NONE


# A format that is given: as %d.%m.%Y, or as dd.mm.yyyy.

_DIRECTIVES = {
    "d": r"(?P<d>\d{1,2})", "m": r"(?P<m>\d{1,2})", "Y": r"(?P<Y>\d{4})", "y": r"(?P<y>\d{2})",
    "b": r"(?P<b>[^\W\d_]+)\.?", "B": r"(?P<b>[^\W\d_]+)\.?",
    "H": r"(?P<H>\d{1,2})", "I": r"(?P<I>\d{1,2})", "M": r"(?P<M>\d{1,2})", "S": r"(?P<S>\d{1,2})",
    "f": r"(?P<f>\d{1,6})", "p": r"(?P<p>[aApP]\.?[mM]\.?)",
    "z": r"(?P<z>Z|[+-]\d{2}:?\d{2})", "%": "%",
}  # fmt: skip
_PLAIN_FORMAT = late(r"(d{1,2}|m{1,2}|y{4}|y{2})", re.IGNORECASE)
_ALLOWED = (
    f"{', '.join(ORDERS)}, {DETECT}, or a format such as %d.%m.%Y or dd.mm.yyyy (with %d, %m, %b "
    "and %Y or, with a pivot, %y)"
)


@lru_cache(maxsize=256)
def _pattern(form: str) -> "re.Pattern[str]":
    """Return the pattern of a format; raise `ValueError` if it is none."""
    written = form
    if "%" not in form:
        codes = {"d": "%d", "m": "%m", "yyyy": "%Y", "yy": "%y"}
        written = _PLAIN_FORMAT.sub(
            lambda found: codes.get(found[0].lower(), codes.get(found[0][0].lower(), "")), form
        )
    pieces, used, at = [], set(), 0
    while at < len(written):
        letter = written[at]
        if letter != "%":
            pieces.append(r"\s+" if letter == " " else re.escape(letter))
            at += 1
            continue
        code = written[at + 1 : at + 2]
        if code not in _DIRECTIVES or code in used:
            raise ValueError(code)
        used.add(code)
        pieces.append(_DIRECTIVES[code])
        at += 2
    months, years = used & {"m", "b", "B"}, used & {"Y", "y"}
    if len(years) != 1 or len(months) > 1 or ("d" in used and not months):
        raise ValueError(form)
    if used & {"H", "I", "M", "S", "f", "p", "z"} and "d" not in used:
        raise ValueError(form)
    # Where a compact format has no marks, only fixed widths tell the numbers apart.
    between = "".join(pieces)
    compact = re.search(r"\d\}\)\(\?P<[dmYy]>", between) is not None
    return re.compile(between.replace(r"\d{1,2}", r"\d{2}") if compact else between)


def _read_format(form: "DateForm", text: str) -> str | None:
    found = _pattern(form.format or "").fullmatch(" ".join(text.split()))
    if found is None:
        return None
    part = found.groupdict()
    digits = part.get("Y") or part.get("y") or ""
    year = _century(int(digits), len(digits), form.pivot)
    month = _month(part["b"]) if part.get("b") else int(part.get("m") or 0)
    day = int(part.get("d") or 0)
    if year is None or month is None:
        return None
    hour = part.get("H") or part.get("I")
    if hour is None:
        return _write((year, month, day))
    clock = f"{hour}:{(part.get('M') or '0').zfill(2)}:{(part.get('S') or '0').zfill(2)}"
    clock += f".{part['f']}" if part.get("f") else ""
    clock += f" {part['p']}" if part.get("p") else ""
    return _write((year, month, day), clock + (part.get("z") or ""))


@dataclass(frozen=True)
class DateForm:
    """How the dates of a column are written: an order, a format, or to be found out.

    Whatever the order, what has only one reading is read too: 1937-01-10, 10 Jan 1937, 1937.

    Args:
        order: `day-first`, `month-first`, `year-first`, or `detect`: found out from all values.
        format: A format instead of an order, such as %d.%m.%Y or dd.mm.yyyy.
        pivot: The last year of two digits that is after 2000; None if such years are refused.

    Example:
        >>> DateForm("day-first").read("1.2.1937"), DateForm("month-first").read("1/2/1937")
        ('1937-02-01', '1937-01-02')
        >>> DateForm(format="ddmmyy", pivot=30).read("310137")
        '1937-01-31'
    """

    order: str = DETECT
    format: str | None = None
    pivot: int | None = None

    def __post_init__(self) -> None:
        if self.order not in (*ORDERS, DETECT):
            raise ParameterError("order", self.order, _ALLOWED)
        if self.format is not None:
            try:
                pattern = _pattern(self.format)
            except (ValueError, re.error):
                raise ParameterError("format", self.format, _ALLOWED) from None
            if "y" in pattern.groupindex and self.pivot is None:
                raise ParameterError("format", self.format, "given with a pivot", why=_TWO_DIGITS)
        if self.pivot is not None and not 0 <= self.pivot <= 99:
            raise ParameterError("pivot", self.pivot, "between 0 and 99", why=_TWO_DIGITS)

    @property
    def settled(self) -> bool:
        """Whether every text has one reading."""
        return self.format is not None or self.order != DETECT

    def read(self, text: str) -> str | None:
        """Return a text as a date in ISO 8601, or a part of one; None if it is none."""
        if self.format is not None:
            return _read_format(self, text)
        found = read_text(text, self.pivot)
        return None if found.short else found.of(self.order)

    def __str__(self) -> str:
        return self.format or self.order


_TWO_DIGITS = "with a pivot of 30, years 00 to 30 are 2000 to 2030 and 31 to 99 are 1931 to 1999"


def given_form(value: Value) -> DateForm:
    """Return the form that a text names: an order, or a format.

    >>> given_form("day-first").order, given_form("%d.%m.%Y").format
    ('day-first', '%d.%m.%Y')
    """
    text = text_of(value)
    if text in (*ORDERS, DETECT):
        return DateForm(text)
    if "%" not in text and not re.search(r"y{2}", text, re.IGNORECASE):
        raise ParameterError("dates", text, _ALLOWED)
    return DateForm(format=text)


@dataclass(frozen=True)
class Detection:
    """What all values of a column say about how their dates are written.

    Example:
        >>> found = Detection.of({"10.01.1937": 2, "13.01.1937": 1})
        >>> found.order, found.line("born")
        ('day-first', "'born' is read day first: 13.01.1937 is 1937-01-13")
        >>> Detection.of({"10.01.1937": 1}).problem("born").partition(":")[0]
        "'born' can be read in two ways, and every value fits them all"
    """

    form: DateForm
    order: str | None
    """The order in which every value is a date; None if there is none, or more than one."""

    wrong: tuple[str, ...] = ()
    """Values that are no dates, a few of them."""

    wrong_rows: int = 0
    wrong_values: int = 0
    short: tuple[str, ...] = ()
    """Values with years of two digits of which the century is not said."""

    short_rows: int = 0
    telling: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """For an order, a value that is a date in no other, and how many rows have such a value."""

    possible: tuple[str, ...] = ()
    """The orders in which every value is a date."""

    unclear: str | None = None
    """A value that means two days."""

    @classmethod
    def of(cls, values: Mapping[str, int], form: DateForm | None = None) -> "Detection":
        """Return what all values of a column say, with the rows that have each.

        Args:
            values: The texts of the column, each with its number of rows.
            form: What is known of them already.
        """
        form = form or DateForm()
        orders = ORDERS if form.order == DETECT else (form.order,)
        possible = set(orders)
        wrong: list[str] = []
        short: list[str] = []
        wrong_rows = wrong_values = short_rows = 0
        telling: dict[str, tuple[str, int]] = {}
        differing: list[tuple[str, Readings]] = []
        for text, rows in values.items():
            if form.format is not None:
                if form.read(text) is None:
                    wrong_rows, wrong_values = wrong_rows + rows, wrong_values + 1
                    wrong += [text] if len(wrong) < _SHOWN else []
                continue
            found = read_text(text, form.pivot)
            fits = [order for order in orders if found.of(order) is not None]
            if not fits:
                wrong_rows, wrong_values = wrong_rows + rows, wrong_values + 1
                wrong += [text] if len(wrong) < _SHOWN else []
                continue
            if found.short:
                short_rows += rows
                short += [text] if len(short) < _SHOWN else []
            if len(fits) < len(orders):
                possible &= {*fits}
                if len(fits) == 1:
                    example, before = telling.get(fits[0], (text, 0))
                    telling[fits[0]] = example, before + rows
            # Of many values few are enough to say whether they mean two days.
            if len(differing) < _COMPARED and len({found.of(order) for order in fits}) > 1:
                differing.append((text, found))
        order = next((each for each in ORDERS if each in possible), None)
        unclear = next(
            (
                text
                for text, found in differing
                if len({found.of(each) for each in possible} - {None}) > 1
            ),
            None,
        )
        if form.format is None and (unclear is not None and form.order == DETECT):
            order = None
        return cls(
            form, order, tuple(wrong), wrong_rows, wrong_values, tuple(short), short_rows, telling,
            tuple(each for each in ORDERS if each in possible), unclear,
        )  # fmt: skip

    @property
    def settled(self) -> DateForm | None:
        """The form in which every value is a date; None if there is a problem."""
        if self.wrong or self.short:
            return None
        if self.form.format is not None:
            return self.form
        return None if self.order is None else DateForm(self.order, pivot=self.form.pivot)

    def line(self, column: str) -> str | None:
        """Return what was found out, in one line; None if there was nothing to find out."""
        form = self.settled
        if form is None or self.form.settled or form.order not in self.telling:
            return None
        text, _ = self.telling[form.order]
        words = form.order.replace("-", " ")
        return f"{column!r} is read {words}: {text} is {form.read(text)}"

    def problem(self, column: str) -> str | None:
        """Return why the values cannot be read, and what to do; None if they can."""
        if self.wrong:
            rows = f"{format_integer(self.wrong_rows)} {'row' if self.wrong_rows == 1 else 'rows'}"
            how = "" if self.form.order == DETECT and self.form.format is None else (
                f" that are written {self.form}"
            )  # fmt: skip
            or_say = ", or say how they are written, as in dates: day-first" if how else ""
            return (
                f"{column!r} does not hold dates{how} in {rows}: {some(self.wrong)}. Leave "
                f"unknown dates empty, {'' if how else 'or '}correct them{or_say}."
            )
        if self.short:
            rows = f"{format_integer(self.short_rows)} {'row' if self.short_rows == 1 else 'rows'}"
            order = self.order or DAY_FIRST
            return (
                f"{column!r} has years of two digits in {rows}, such as {self.short[0]!r}, and the "
                f"century is not said. Say it under columns, as in {column}: {{dates: {{order: "
                f"{order}, pivot: 30}}}}: {_TWO_DIGITS}."
            )
        if self.order is not None or self.form.format is not None:
            return None
        if self.unclear is None:
            only = [
                f"{text!r} ({format_integer(rows)} {'row' if rows == 1 else 'rows'}) is a date "
                "only "
                f"{order.replace('-', ' ')}"
                for order, (text, rows) in self.telling.items()
            ]
            return (
                f"{column!r} has dates in different orders: {', '.join(only)}. Write them in one "
                "order, or correct those that are wrong."
            )
        found = read_text(self.unclear, self.form.pivot)
        fits = [order for order in ORDERS if order in self.possible]
        ways = [f"{o.replace('-', ' ')}, {self.unclear} is {found.of(o)}" for o in fits]
        return (
            f"{column!r} can be read in {'two' if len(fits) == 2 else 'three'} ways, and every "
            f"value fits them all: {'; '.join(ways)}. Say which is meant under columns: dates: "
            f"{' or dates: '.join(fits)}."
        )


_SHOWN = 20
_COMPARED = 10_000


def iso_of(value: Value) -> str | None:
    """Return a date in ISO 8601, if it is one already, or a part of one; None if it is not.

    >>> iso_of(date(1937, 1, 10)), iso_of("1937-01"), iso_of("1937-01-10 14:30"), iso_of("1.2.1937")
    ('1937-01-10', '1937-01', '1937-01-10 14:30:00', None)
    """
    if isinstance(value, date):
        return text_of(value)
    if isinstance(value, str) and _ISO_START.match(value):
        found = read_text(value)
        return found.day_first if found.day_first == found.month_first else None
    return None


_ISO_START = late(r"\d{4}($|-\d{2}($|-\d{2}($|[T ])))", re.ASCII)


def day_of(written: str) -> date | None:
    """Return the day of a date in ISO 8601; None if only a part of it is known.

    >>> day_of("1937-01-10 14:30:00"), day_of("1937-01")
    (datetime.date(1937, 1, 10), None)
    """
    return date.fromisoformat(written[:10]) if len(written) >= 10 else None


def look_like_dates(values: Iterable[Value]) -> bool:
    """Return whether values are clearly dates, although nothing says that they are.

    Years alone, and numbers that are no likely days, may be anything; so may 1.2.3.

    >>> look_like_dates(["10.01.1937", "1.2.1937"]), look_like_dates(["1.2.3"])
    (True, False)
    >>> look_like_dates(["19370110"]), look_like_dates(["1937", "1938"]), look_like_dates([])
    (True, False, False)
    """
    whole = False
    for value in values:
        if isinstance(value, date):
            whole = True
            continue
        text = text_of(value).strip()
        if _YEAR.fullmatch(text):
            continue
        if not isinstance(value, str) and not _LIKELY_DAY.fullmatch(text):
            return False
        if text.isdigit() and not _LIKELY_DAY.fullmatch(text):
            return False
        found = read_text(text)
        if not any(found[:3]) or (found.short and not _SHORT_DAY.match(text)):
            return False
        whole = True
    return whole


_LIKELY_DAY = late(r"(18|19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])", re.ASCII)
_SHORT_DAY = late(r"\d{2}([-./])\d{2}\1\d{2}\b|.*[^\W\d_]{3}")
