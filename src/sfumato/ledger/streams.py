"""Streams: what a ledger took of a source that grows, and where its next increment begins.

What was taken is part of the entry that its increment adds to the chain. So it is recorded in the
same transaction, or not at all, and an edit of it is found as in the rest of the ledger.
"""

import calendar
import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, date, datetime, timedelta, tzinfo
from fractions import Fraction
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, ParameterError
from sfumato.text import number_of, text_of
from sfumato.typing import Value

FILES = "files"
"""By which a folder grows, in place of a column."""

BEGINNING = "beginning"
"""Where a stream starts that takes everything."""

# Columns by which tables grow: the form of their values, and bounds in that form.


Kind = Literal["days", "times", "moments", "numbers"]


@dataclass(frozen=True)
class ValueForm:
    """How the values of a column by which a table grows are written, and compared."""

    name: str
    kind: Kind
    pattern: str | None = None
    """A regular expression, if they are texts; these are compared as texts."""

    letter: str = " "
    """Stands between day and time, if they are texts."""

    @property
    def is_calendar(self) -> bool:
        """Whether they are days or times, and not numbers."""
        return self.kind != "numbers"

    def read(self, text: str, zone: tzinfo) -> datetime:
        """Return a day or time on the calendar of a zone; moments are written in UTC.

        >>> FORMS["moments"].read("2026-10-31 23:30:00", ZoneInfo("Europe/Rome")).date()
        datetime.date(2026, 11, 1)
        """
        day, _, clock = text[:10], text[10:11], re.sub(r"Z|[+]00:00", "", text[11:])
        year, month, number = map(int, day.split("-"))
        # Texts may name days that no calendar has: then the one before them is meant.
        year, month, number = max(year, 1), min(max(month, 1), 12), 31 if month > 12 else number
        number = min(max(number, 1), calendar.monthrange(year, month)[1])
        hours = [*clock.partition(".")[0].split(":"), "0", "0"][:3] if clock else ["0"] * 3
        hour, minute, second = (
            min(int(n), most) for n, most in zip(hours, (23, 59, 59), strict=True)
        )
        found = datetime(year, month, number, hour, minute, second)
        return found.replace(tzinfo=UTC).astimezone(zone) if self.kind == "moments" else found

    def bound(self, day: date, zone: tzinfo) -> str:
        """Return the beginning of a day as a bound.

        >>> FORMS["moments"].bound(date(2026, 11, 1), ZoneInfo("Europe/Rome"))
        '2026-10-31 23:00:00'
        """
        if self.kind == "moments":
            midnight = datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)
            return midnight.strftime(f"%Y-%m-%d{self.letter}%H:%M:%S")
        # A day alone comes before all times of that day, in texts too.
        return day.isoformat() if self.pattern or self.kind == "days" else f"{day} 00:00:00"

    def parse(self, name: str, given: Value, zone: tzinfo) -> str:
        """Return a bound that was given; raise if it is none of this form."""
        text = text_of(given).strip()
        if not self.is_calendar:
            number = number_of(text)
            if number is None:
                raise ParameterError(name, given, "a number, as the column has them")
            return str(int(number)) if number.is_integer() else repr(number)
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            raise ParameterError(
                name, given, "a day or time such as 2026-11-01 or 2026-11-01 10:15"
            ) from None
        if len(text) == _DAY:
            return self.bound(found.date(), zone)
        if self.kind == "days":
            raise ParameterError(name, given, "a day such as 2026-11-01", why="the column has days")
        if self.kind == "moments":
            found = (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)
        elif found.tzinfo is not None:
            raise ParameterError(
                name, given, "a time without an offset", why="the times of the column have none"
            )
        decimals = f".{found.microsecond:06d}" if found.microsecond else ""
        return found.strftime(f"%Y-%m-%d{self.letter}%H:%M:%S") + decimals.rstrip("0")


_DAY = 10
"""The letters of 2026-11-01."""

_DATE = "^[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = "[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?"
_UTC = "[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+]00:00)"

FORMS = {
    form.name: form
    for form in (
        ValueForm("days", "days"),
        ValueForm("times", "times"),
        ValueForm("moments", "moments"),
        ValueForm("numbers", "numbers"),
        ValueForm("texts of times", "times", f"{_DATE}( {_CLOCK})?$"),
        ValueForm("texts of times with T", "times", f"{_DATE}(T{_CLOCK})?$", "T"),
        # Without decimals: with them, what comes after them would be compared with digits.
        ValueForm("texts of moments", "moments", f"{_DATE} {_UTC}$"),
        ValueForm("texts of moments with T", "moments", f"{_DATE}T{_UTC}$", "T"),
        ValueForm("texts of numbers", "numbers", "^-?[0-9]{1,15}([.][0-9]+)?$"),
    )
}
"""All forms by name; texts are tried in this order."""


def read_zone(name: str | None) -> tzinfo:
    """Return a time zone by its name; UTC if none is named."""
    try:
        return UTC if name is None else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ParameterError("zone", name, "a time zone such as Europe/Rome") from None


# Calendar windows.


@dataclass(frozen=True)
class WindowStretch:
    """One whole window: a day, week, month, quarter or year, or as many numbers."""

    name: str
    start: str
    end: str
    """Where it ends; it is not in it."""


MONTHS = {"month": 1, "quarter": 3, "year": 12}
PERIODS = ("day", "week", *MONTHS)


@dataclass(frozen=True)
class Period:
    """The windows into which what is new is cut: whole ones, from the beginning of each to its end.

    >>> months = Period("month")
    >>> months.around("2026-11-03 10:15:00", FORMS["times"], UTC)
    WindowStretch(name='2026-11', start='2026-11-01 00:00:00', end='2026-12-01 00:00:00')
    >>> Period(1000).around("2500", FORMS["numbers"], UTC)
    WindowStretch(name='2000-2999', start='2000', end='3000')
    """

    length: str | int

    @classmethod
    def parse(cls, given: str | int) -> "Period":
        """Return the windows that were asked for; raise if there are none of the name."""
        width = number_of(given)
        if given in PERIODS:
            return cls(given)
        if width is None or not width.is_integer() or width < 1:
            what = f"{', '.join(PERIODS)}, or a whole number for a column of numbers"
            raise ParameterError("every", given, what)
        return cls(int(width))

    def require(self, form: ValueForm) -> None:
        """Raise if a column of some form has no such windows."""
        if isinstance(self.length, str) != form.is_calendar:
            kinds = "days and times" if form.is_calendar else "numbers"
            allowed = f"one of {', '.join(PERIODS)}" if form.is_calendar else "a whole number"
            raise ParameterError("every", self.length, allowed, why=f"the column has {kinds}")

    def around(self, value: str, form: ValueForm, zone: tzinfo) -> WindowStretch:
        """Return the window that a value is in."""
        if isinstance(self.length, int):
            start = Fraction(value) // self.length * self.length
            end = start + self.length
            return WindowStretch(f"{start}-{end - 1}", str(start), str(end))
        name, first, last = _around(form.read(value, zone).date(), self.length)
        return WindowStretch(name, form.bound(first, zone), form.bound(last, zone))


def _around(day: date, length: str) -> tuple[str, date, date]:
    if length == "day":
        return day.isoformat(), day, day + timedelta(days=1)
    if length == "week":
        year, week, weekday = day.isocalendar()
        monday = day - timedelta(days=weekday - 1)
        return f"{year}-W{week:02d}", monday, monday + timedelta(days=7)
    months = MONTHS[length]
    first = day.month - (day.month - 1) % months
    year, month = (day.year, first + months) if first + months <= _DECEMBER else (day.year + 1, 1)
    names = {
        "month": f"{day:%Y-%m}",
        "quarter": f"{day.year:04d}-Q{(day.month + 2) // 3}",
        "year": f"{day:%Y}",
    }
    return names[length], date(day.year, first, 1), date(year, month, 1)


_DECEMBER = 12


# What was taken: read from the chain, and written into it.


@dataclass(frozen=True)
class Intake:
    """What one increment took of a stream; a part of its entry."""

    stream: str
    """The name of the stream; a ledger can have several."""

    since: str
    """The column by which it grows, or `files`."""

    start: str
    """Where the stream begins, as a bound or the name of a file, or `beginning`."""

    window: str
    """What was taken, in a word."""

    form: str = ""
    through: str | None = None
    """The largest value that was taken; what is larger is new."""

    end: str | None = None
    """Where the window ends, if it is a whole one: what comes from there on is new."""

    files: Mapping[str, tuple[str, int, int]] = field(default_factory=dict)
    """Of each file that was taken its hash, its size, and when it was last changed."""

    rows: int = 0
    late: bool = False
    """Whether it took what was missing where everything had been taken."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        plain = {**self.__dict__, "files": {n: list(each) for n, each in self.files.items()}}
        return {key: value for key, value in plain.items() if value not in (None, "", {}, False)}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Intake":
        """Return it from plain values."""
        files = {name: tuple(each) for name, each in plain.get("files", {}).items()}
        return cls(**{"stream": "", **plain, "files": files})


@dataclass(frozen=True)
class Position:
    """How far a stream was taken."""

    taken: tuple[Intake, ...] = ()
    """All that was taken, the first first."""

    @classmethod
    def read(cls, db: sqlite3.Connection, stream: str) -> "Position":
        """Read what was taken of a stream."""
        rows = db.execute(f"{_TAKEN} ORDER BY sequence", (stream,)).fetchall()
        return cls(tuple(Intake.of(json.loads(text)) for [text] in rows))

    @property
    def last(self) -> Intake | None:
        """The last intake; None if nothing was taken."""
        return self.taken[-1] if self.taken else None

    @property
    def rows(self) -> int:
        """The number of rows that were taken in all."""
        return sum(each.rows for each in self.taken)

    @property
    def files(self) -> dict[str, tuple[str, int, int]]:
        """All files that were taken."""
        return {name: about for each in self.taken for name, about in each.files.items()}

    def require_column(self, since: str) -> None:
        """Raise if the stream was taken by another column so far."""
        if self.last is not None and self.last.since != since:
            raise InputError(
                f"so far the stream was taken by {self.last.since!r}, not by {since!r}: what is "
                "new cannot be known. Go on as before, or name another stream: --stream NAME "
                "(stream=...)."
            )

    def require_start(self, start: str | None) -> None:
        """Raise if it is not known where the stream starts, or it started somewhere else."""
        if self.last is None and start is None:
            raise InputError(
                "the ledger has taken nothing of this stream yet, and cannot know which of its "
                "rows were published already, by its first release for example. Say from where on "
                "they are new: --start VALUE (start=…), or --start beginning if all are."
            )
        if self.last is not None and start not in (None, self.last.start):
            raise InputError(
                f"the stream started at {self.last.start!r} and was taken from there on, not from "
                f"{start!r}. Leave --start (start=...) out, or name another stream: --stream NAME "
                "(stream=...)."
            )


_TAKEN = (
    "SELECT json_extract(entry, '$.taken') FROM releases WHERE "
    "json_extract(entry, '$.taken.since') IS NOT NULL AND "
    "COALESCE(json_extract(entry, '$.taken.stream'), '') = ?"
)


def require_position(db: sqlite3.Connection, taken: Intake, before: Intake | None) -> None:
    """Raise if another run took more of a stream since it was looked at."""
    # From the end: what was taken last is found at once, however much was taken before.
    found = db.execute(f"{_TAKEN} ORDER BY sequence DESC LIMIT 1", (taken.stream,)).fetchone()
    if (None if found is None else Intake.of(json.loads(found[0]))) != before:
        raise InputError(
            "another run took more of the same stream meanwhile. Nothing was changed; run it again "
            "for what is left."
        )
