"""Dates in one form, and columns that are derived, in a database: expressions over its rows."""

import re
from collections.abc import Callable, Sequence
from copy import copy
from datetime import date
from typing import Any, TypeAlias

import ibis
import pyarrow as pa
from pyarrow import types as t

from sfumato.derivations import (
    DIGITS,
    Age,
    Derivation,
    Preparation,
    Relative,
    Shift,
    spellings_of_code,
)
from sfumato.derivations.dates import (
    DAY_FIRST,
    DETECT,
    YEAR_FIRST,
    DateForm,
    Detection,
    look_like_dates,
)
from sfumato.errors import InputError
from sfumato.files.reading import tell
from sfumato.tables.arrow.sources import is_text
from sfumato.tables.sql.counting import FetchedCounts
from sfumato.tables.sql.database import Database, Field
from sfumato.text import format_integer, number_of

Rows: TypeAlias = Any
"""An expression of Ibis for the rows of a table, column i as `ci` and its key as `ki`."""

_MOST_TEXTS = 1_000_000
"""Different texts of a column of dates that are fetched to find out how they are written."""

_SOME_TEXTS = 1000

_NUMBERS = "^([0-9]{1,4})[-./]([0-9]{1,2})[-./]([0-9]{1,4})$"
_COMPACT = "^[0-9]{8}$"
_WHOLE = "____-__-__%"


def prepare(database: Database, preparation: Preparation) -> Database:
    """Return a table of a database with dates in one form and the columns that are derived."""
    made = copy(database)
    made.stored = database.stored or database.fields
    for name, codes in preparation.codes.items():
        _make_missing(made, name, codes)
    if preparation.owned is not None:
        made.unowned = _leave_out(made, preparation.owned)
    for name in (*preparation.dates, *preparation.likely):
        _read_dates(made, name, preparation)
    for step in preparation.steps:
        _apply(made, step, preparation.secret)
    return made


def _then(database: Database, change: Callable[[Rows], Rows]) -> None:
    """Change the rows that every statement is about."""
    before = database.derive or (lambda rows: rows)
    database.derive = lambda rows: change(before(rows))


def _position(database: Database, name: str, step: Derivation | None = None) -> int:
    for i, each in enumerate(database.fields):
        if each.name == name:
            return i
    what = "the policy" if step is None else step.name
    raise InputError(f"{database.where} has no column {name!r}, which {what} needs.")


def _count(database: Database, condition: Callable[[Rows], Any]) -> int:
    """Count the rows for which something is true."""
    rows: Any = database.rows
    chosen = rows.filter(condition(rows))
    found = database.fetch(chosen.aggregate(n=chosen.count()))
    return int(found.column("n")[0].as_py())


def _rows(n: int) -> str:
    return f"{format_integer(n)} {'row' if n == 1 else 'rows'}"


# Codes of missing values, and rows that do not say whose they are.


def _make_missing(database: Database, name: str, codes: Sequence[str]) -> None:
    """Make the codes of a column missing."""
    position = _position(database, name)
    field = database.fields[position]
    if field.key is None:
        return
    if is_text(field.key_type):
        written: list[Any] = [each for code in codes for each in spellings_of_code(code)]
    elif t.is_integer(field.type) or t.is_floating(field.type) or t.is_decimal(field.type):
        numbers = [number_of(code) for code in codes]
        written = [n for n in numbers if n is not None]
        if t.is_integer(field.type):
            written = [int(n) for n in written if n.is_integer()]
    else:
        return
    if not written:
        return

    def change(rows: Rows) -> Rows:
        key, value = rows[f"k{position}"], rows[f"c{position}"]
        compared = key if is_text(field.key_type) else value
        coded = compared.isin(written)
        return rows.mutate(**{
            f"c{position}": ibis.ifelse(coded, ibis.null(value.type()), value),
            f"k{position}": ibis.ifelse(coded, ibis.null(key.type()), key),
        })  # fmt: skip

    _then(database, change)


def _leave_out(database: Database, name: str) -> float:
    """Remove the rows that have no value in a column; return their share."""
    position = _position(database, name)
    textual = is_text(database.fields[position].key_type)

    def has_owner(rows: Rows) -> Any:  # noqa: ANN401
        key = rows[f"k{position}"]
        return key.notnull() & (key != "") if textual else key.notnull()

    everything = _count(database, lambda _: ibis.literal(True))  # noqa: FBT003
    kept = _count(database, has_owner)
    _then(database, lambda rows: rows.filter(has_owner(rows)))
    return 1 - kept / max(everything, 1)


# Dates in one form.


def _read_dates(database: Database, name: str, preparation: Preparation) -> None:
    """Write the dates of a column in ISO 8601, if they are texts in another form."""
    position = _position(database, name)
    field, likely = database.fields[position], name in preparation.likely
    if t.is_temporal(field.type) or field.key is None or not is_text(field.key_type):
        if likely or t.is_temporal(field.type):
            return
        raise InputError(
            f"{database.where}: column {name!r} holds {field.native_type}, and dates were "
            "expected. Give dates, or text such as 2020-02-29."
        )
    key = f"k{position}"
    form = preparation.dates.get(name, DateForm())
    if form.format is None and not _count(
        database, lambda rows: (rows[key] != "") & ~rows[key].like(_WHOLE)
    ):
        # Days in ISO 8601, and times, which stay as they are.
        return
    # Most texts are no dates, and a few of them say so.
    if likely and not look_like_dates(_texts(database, position, _SOME_TEXTS)):
        return
    values = _texts(database, position, _MOST_TEXTS + 1)
    if likely and not look_like_dates(values):
        return
    if len(values) > _MOST_TEXTS:
        raise InputError(
            f"{database.where}: column {name!r} has more than {format_integer(_MOST_TEXTS)} "
            "different texts, too "
            "many to find out how its dates are written. Give a column of dates."
        )
    found = Detection.of(values, form)
    problem = found.problem(name)
    settled = found.settled
    if problem is not None or settled is None:
        raise InputError(f"{database.where}: {problem}")
    odd = [text for text in values if _rewrite(text, settled) != settled.read(text)]
    if odd:
        raise InputError(
            f"{database.where}: column {name!r} has dates that are not read in a database, such as "
            f"{odd[0]!r}: only numbers with points, dashes or slashes between them are. Give a "
            "column of dates, or the rows as a file."
        )
    line = found.line(name)
    if line is not None:
        tell(f"{database.where}: {line}")
    _then(database, lambda rows: rows.mutate(**dict.fromkeys(
        (key, f"c{position}"), _iso(rows[key], settled))))  # fmt: skip
    fields = [*database.fields]
    fields[position] = Field(name, pa.string(), field.native_type, field.key, pa.string())
    database.fields = tuple(fields)


def _texts(database: Database, position: int, most: int) -> dict[str, int]:
    """Return different texts of a column, `most` of them at most, with their rows."""
    counted = FetchedCounts(database, [position], most=most)
    values = zip(counted.codes[0].tolist(), counted.rows.tolist(), strict=True)
    found = {counted.values[0][code]: n for code, n in values}
    return {str(text): n for text, n in found.items() if text is not None and text != ""}


def _places(form: DateForm) -> tuple[int, int, int]:
    """Return which of three numbers is the year, the month and the day."""
    order = form.order
    if form.format is not None:
        letters = re.sub("[^dmyY]", "", form.format).lower()
        first = list(dict.fromkeys(letters))
        return first.index("y") + 1, first.index("m") + 1, first.index("d") + 1
    if order == YEAR_FIRST:
        return 1, 2, 3
    return (3, 2, 1) if order in (DAY_FIRST, DETECT) else (3, 1, 2)


def _rewrite(text: str, form: DateForm) -> str | None:
    """Return what the expression of `_iso` makes of a text."""
    found = re.fullmatch(_NUMBERS, text)
    if found is not None:
        year, month, day = (1, 2, 3) if len(found[1]) == 4 else _places(form)
        return f"{found[year]}-{found[month].zfill(2)}-{found[day].zfill(2)}"
    if re.fullmatch(_COMPACT, text):
        return f"{text[:4]}-{text[4:6]}-{text[6:]}"
    return text


def _iso(text: Any, form: DateForm) -> Any:  # noqa: ANN401 - expressions of Ibis
    part = {i: text.re_extract(_NUMBERS, i) for i in (1, 2, 3)}

    def write(places: tuple[int, int, int]) -> Any:  # noqa: ANN401
        year, month, day = places
        return part[year] + "-" + part[month].lpad(2, "0") + "-" + part[day].lpad(2, "0")

    return ibis.cases(
        (text.re_search(_NUMBERS) & (part[1].length() == 4), write((1, 2, 3))),
        (text.re_search(_NUMBERS), write(_places(form))),
        (text.re_search(_COMPACT), text[0:4] + "-" + text[4:6] + "-" + text[6:8]),
        else_=text,
    )


# Derivations.


class _Days:
    """The dates of a column as expressions over rows."""

    def __init__(self, database: Database, name: str, step: Derivation) -> None:
        self.name, self.step, self._database = name, step, database
        self.position = _position(database, name, step)
        self.field = database.fields[self.position]
        kind = self.field.type
        self.text = is_text(kind)
        zoned = t.is_timestamp(kind) and kind.tz is not None
        if zoned or not (self.text or t.is_date(kind) or t.is_timestamp(kind)):
            why = "times in a zone, whose day depends on it" if zoned else self.field.native_type
            raise InputError(
                f"{database.where}: column {name!r} holds {why}, and {step.name} needs dates in a "
                "database. Make a column of dates of it."
            )

    def values(self, rows: Rows) -> Any:  # noqa: ANN401
        """Return the dates: missing where a text is none, or a part of one."""
        if not self.text:
            return rows[f"c{self.position}"].cast("date")
        text = rows[f"k{self.position}"]
        return ibis.ifelse(text.length() >= 10, text[0:10], ibis.null("string")).cast("date")

    def refuse_partial(self) -> None:
        """Raise if dates are known in part and the step needs whole ones."""
        if not self.text or self.step.incomplete == "missing":
            return
        key = f"k{self.position}"
        n = _count(self._database, lambda rows: (rows[key] != "") & (rows[key].length() < 10))
        if n:
            raise InputError(
                f"{self._database.where}: column {self.name!r} has dates that are known only in "
                f"part, in {_rows(n)}, and {self.step.name} needs whole ones. Complete them, or "
                "make the result missing there with incomplete: missing."
            )


def _apply(database: Database, step: Derivation, secret: bytes | None) -> None:
    days = {name: _Days(database, name, step) for name in step.dates}
    for each in days.values():
        each.refuse_partial()
    for name in step.made:
        if any(field.name == name for field in database.fields):
            raise InputError(
                f"{database.where} has a column {name!r} already, which {step.name} is to make. "
                "Give what is made another name with into."
            )
    if isinstance(step, Shift):
        if secret is None:
            raise RuntimeError("dates are moved by a secret, and there is none")
        _shift(database, step, days, secret)
    elif isinstance(step, Age):
        _add_age(database, step, days)
    elif isinstance(step, Relative):
        _add_relative(database, step, days)
    else:
        raise NotImplementedError(type(step).__name__)


def _add(database: Database, name: str, make: Callable[[Rows], Any]) -> None:
    """Add a column of whole numbers."""
    n = len(database.fields)

    def change(rows: Rows) -> Rows:
        value = make(rows).cast("int64")
        return rows.mutate(**{f"c{n}": value, f"k{n}": value})

    _then(database, change)
    field = Field(name, pa.int64(), "bigint", f"k{n}", pa.int64())
    database.fields = (*database.fields, field)


def _month_day(day: Any) -> Any:  # noqa: ANN401
    return day.month().cast("int64") * 100 + day.day().cast("int64")


def _years(since: Any, until: Any) -> Any:  # noqa: ANN401
    later = ibis.ifelse(_month_day(until) < _month_day(since), 1, 0)
    return until.year().cast("int64") - since.year().cast("int64") - later


def _add_age(database: Database, step: Age, days: dict[str, _Days]) -> None:
    def age(rows: Rows) -> Any:  # noqa: ANN401
        fixed = step.fixed
        until = ibis.literal(fixed) if fixed is not None else days[step.at].values(rows)
        return _years(days[step.of].values(rows), until)

    negative = _count(database, lambda rows: age(rows) < 0)
    if negative:
        raise InputError(
            f"{database.where}: column {step.of!r} has dates after {step.at} in {_rows(negative)}, "
            "so that the age would be negative. Correct them, or make them missing."
        )
    _add(database, step.into, age)


def _add_relative(database: Database, step: Relative, days: dict[str, _Days]) -> None:
    def relative(rows: Rows) -> Any:  # noqa: ANN401
        until = days[step.of].values(rows)
        if step.since is not None:
            since = days[step.since].values(rows)
        else:
            key = rows[f"k{_person(database, step)}"]
            since = days[str(step.first)].values(rows).min().over(ibis.window(group_by=key))
        if step.unit == "months":
            months = (until.year() - since.year()).cast("int64") * 12
            months += (until.month() - since.month()).cast("int64")
            return months - ibis.ifelse(until.day() < since.day(), 1, 0)
        gone = until.epoch_days() - since.epoch_days()
        return gone // 7 if step.unit == "weeks" else gone

    if step.first is not None:
        _require_person(database, step, [days[step.of], days[step.first]])
    _add(database, step.into, relative)


def _person(database: Database, step: Relative | Shift) -> int:
    position = _position(database, str(step.person), step)
    field = database.fields[position]
    if field.key is None or not (is_text(field.key_type) or t.is_integer(field.key_type)):
        raise InputError(
            f"{database.where}: column {step.person!r} holds {field.native_type}, and {step.name} "
            "needs text or whole numbers that say whose a row is."
        )
    return position


def _require_person(database: Database, step: Relative | Shift, days: Sequence[_Days]) -> None:
    """Raise if a date is there, and not whose it is."""
    position = _person(database, step)
    textual = is_text(database.fields[position].key_type)

    def nameless(rows: Rows) -> Any:  # noqa: ANN401
        key = rows[f"k{position}"]
        missing = key.isnull() | (key == "") if textual else key.isnull()
        dated = [each.values(rows).notnull() for each in days]
        return missing & ibis.or_(*dated)

    n = _count(database, nameless)
    if n:
        raise InputError(
            f"{database.where}: column {step.person!r} does not say whose the dates are in "
            f"{_rows(n)}, and {step.name} needs to know. Fill it in, or take those rows out."
        )


# The secret number of days of a person: as `Shift.offset` computes it.


@ibis.udf.scalar.builtin(name="sha256")  # type: ignore[untyped-decorator]
def _sha256(text: str) -> str: ...  # type: ignore[empty-body]


@ibis.udf.scalar.builtin(name="sha2")  # type: ignore[untyped-decorator]
def _sha2(text: str, bits: int) -> str: ...  # type: ignore[empty-body]


@ibis.udf.scalar.builtin(name="sha256")  # type: ignore[untyped-decorator]
def _sha256_bytes(data: bytes) -> bytes: ...  # type: ignore[empty-body]


@ibis.udf.scalar.builtin(name="convert_to")  # type: ignore[untyped-decorator]
def _convert_to(text: str, encoding: str) -> bytes: ...  # type: ignore[empty-body]


@ibis.udf.scalar.builtin(name="encode")  # type: ignore[untyped-decorator]
def _encode(data: bytes, form: str) -> str: ...  # type: ignore[empty-body]


_HASHES: dict[str, Callable[[Any], Any]] = {
    "duckdb": _sha256,
    "pyspark": lambda text: _sha2(text, 256),
    "postgres": lambda text: _encode(_sha256_bytes(_convert_to(text, "UTF8")), "hex"),
}
"""SHA-256 of a text in UTF-8, in hexadecimal digits, by the name that Ibis has for a database."""


def _shift(database: Database, step: Shift, days: dict[str, _Days], secret: bytes) -> None:
    sha256 = _HASHES.get(database.ibis_name)
    timed = [name for name, each in days.items() if t.is_timestamp(each.field.type)]
    if sha256 is None or timed:
        why = f"columns of times, as {timed[0]!r} is," if timed else f"tables of {database.title}"
        raise InputError(
            f"{database.where}: dates of {why} are not moved in a database. Give columns of dates, "
            "or the rows as a file."
        )
    _require_person(database, step, [*days.values()])
    position = _person(database, step)
    inner, outer = step.keys(secret)
    drawn = f"sfumato_drawn_{position}"

    def change(rows: Rows) -> Rows:
        person = rows[f"k{position}"].cast("string")
        hashed = sha256(ibis.literal(outer) + sha256(ibis.literal(inner) + person))
        rows = rows.mutate(**{drawn: hashed})
        # By way of text: PostgreSQL finds numbers of 32 bits, which Ibis takes for 64.
        digits = [
            ibis.literal("0123456789abcdef")
            .find(rows[drawn][i : i + 1])
            .cast("string")
            .cast("int64")
            * 16 ** (DIGITS - 1 - i)
            for i in range(DIGITS)
        ]
        offset = (sum(digits[1:], digits[0]) % (2 * step.steps + 1) - step.steps) * step.multiple
        changed: dict[str, Any] = {}
        for each in days.values():
            moved = (each.values(rows).cast("timestamp") + offset.as_interval("D")).cast("date")
            value = moved
            if each.text:
                clock = rows[f"k{each.position}"].substr(10)
                value = moved.cast("timestamp").strftime("%Y-%m-%d") + clock
            changed |= {f"c{each.position}": value, f"k{each.position}": value}
        return rows.mutate(**changed).drop(drawn)

    low = ibis.literal(date.fromordinal(date.min.toordinal() + step.days))
    high = ibis.literal(date.fromordinal(date.max.toordinal() - step.days))

    def count_beyond(each: _Days) -> int:
        return _count(database, lambda rows: (each.values(rows) < low) | (each.values(rows) > high))

    for each in days.values():
        beyond = count_beyond(each)
        if beyond:
            raise InputError(
                f"{database.where}: column {each.name!r} has dates that could be moved beyond the "
                f"years 1 to 9999, in {_rows(beyond)}. Make them missing."
            )
    _then(database, change)
