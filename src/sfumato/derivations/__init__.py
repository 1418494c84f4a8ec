"""Derivations: columns that are computed from others, before anything else is done with a table.

A derivation says what is computed; the engines, which touch the rows, compute it. `Preparation` is
all that a policy asks for before rows are counted: dates in one form, then the derivations.
"""

import hmac
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import ClassVar, Literal, Self

from sfumato.dataclasses import dataclass
from sfumato.derivations.dates import DateForm
from sfumato.errors import ParameterError, require_int
from sfumato.files import in_folder
from sfumato.registry import Member
from sfumato.text import number_of, text_of

__all__ = [
    "DERIVATIONS",
    "Age",
    "Derivation",
    "Preparation",
    "Relative",
    "Shift",
    "spellings_of_code",
]

Unit = Literal["days", "weeks", "months"]
Incomplete = Literal["refuse", "missing"]


class Derivation(Member, ABC):
    """Something that is computed for each row."""

    names_files: ClassVar[tuple[str, ...]] = ()
    """Its settings that name files, relative to the policy's folder."""

    incomplete: Incomplete

    @property
    @abstractmethod
    def dates(self) -> tuple[str, ...]:
        """The columns whose dates it needs."""

    @property
    @abstractmethod
    def made(self) -> tuple[str, ...]:
        """The columns it makes, which the table must not have; none if it changes some."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """All columns that it needs."""
        person = getattr(self, "person", None)
        return (*self.dates, *([] if person is None else [person]))

    @property
    def needs_person(self) -> bool:
        """Whether it must know which rows are one person's, and is not told."""
        return False

    @property
    def across(self) -> str | None:
        """The column whose rows are read together; None if each row is computed by itself."""
        return None

    def of_person(self, column: str) -> Self:
        """Return the same for the column that is the same in all rows of a person."""
        return self

    def relative_to(self, folder: Path) -> Self:
        """Return the same with the files it names in a folder."""
        return in_folder(self, self.names_files, folder)

    @abstractmethod
    def note(self) -> str:
        """Return what readers of a release must know of it."""

    def _require_names(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value):
                raise ParameterError(name, value, "the name of a column")
        if self.incomplete not in ("refuse", "missing"):
            raise ParameterError("incomplete", self.incomplete, "refuse or missing")


@dataclass(frozen=True)
class Shift(Derivation):
    """Dates of a person moved by the person's own secret number of days.

    All dates of a person in these columns move by the same number, so their order and the
    distances between them stay. The number is drawn by a secret key, for each person by itself.

    Promises: who does not know the key learns from a shifted date only that the true one is within
    `days` of it, as far as the dates alone go. Does not promise more: distances within a person
    stay and may single the person out; dates at the ends of the study, weekdays (with a multiple
    of 7), seasons, events that all know of, and columns that follow from the true dates, such as
    an age, narrow it down.

    Args:
        columns: The columns of dates to move, all by the same number.
        days: The most days that a date is moved, either way.
        multiple: The number of days is a multiple of it: 7 keeps the day of the week.
        person: The column that is the same in all rows of a person; without it, that of the
            policy.
        key: A private file with the secret, so that later releases are moved alike; it is made if
            it is not there. Without it, a secret is drawn for one release and forgotten.
        incomplete: What becomes of dates that are known in part, which cannot be moved: `refuse`
            the table, or make them `missing`.

    Example:
        >>> shift = Shift(columns=("seen",), days=14, multiple=7)
        >>> keys = shift.keys(b"secret")
        >>> sorted({shift.offset(keys, str(person)) for person in range(99)})
        [-14, -7, 0, 7, 14]
    """

    name: ClassVar[str] = "shift"
    names_files: ClassVar[tuple[str, ...]] = ("key",)

    columns: Sequence[str]
    days: int
    multiple: int = 1
    person: str | None = None
    key: Path | None = None
    incomplete: Incomplete = "refuse"

    def __post_init__(self) -> None:
        given = (self.columns,) if isinstance(self.columns, str) else tuple(self.columns)
        if not given or len(set(given)) < len(given) or not all(given):
            raise ParameterError("columns", list(given), "names of columns, each once")
        object.__setattr__(self, "columns", given)
        require_int("multiple", self.multiple, at_least=1)
        require_int("days", self.days, at_least=self.multiple)
        if self.days > _MOST_DAYS:
            raise ParameterError("days", self.days, f"at most {_MOST_DAYS}")
        self._require_names("person")

    @property
    def dates(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def made(self) -> tuple[str, ...]:
        return ()

    @property
    def needs_person(self) -> bool:
        return self.person is None

    def of_person(self, column: str) -> Self:
        return self if self.person is not None else replace(self, person=column)

    @classmethod
    def example(cls) -> Self:
        return cls(columns=("admitted", "discharged"), days=182, multiple=7, person="patient")

    @property
    def steps(self) -> int:
        """The most multiples that a date is moved, either way."""
        return self.days // self.multiple

    @staticmethod
    def keys(secret: bytes) -> tuple[str, str]:
        """Return the two keys of the hash: each fills a block of SHA-256, as those of HMAC do.

        They are texts, and so is what is hashed, so that every database can compute the same.
        """
        inner, outer = (hmac.digest(secret, name, "sha256").hex() for name in (b"inner", b"outer"))
        return inner, outer

    def offset(self, keys: tuple[str, str], person: str) -> int:
        """Return by how many days the dates of a person are moved.

        Args:
            keys: What `keys` makes of the secret.
            person: The person's identifier, as text.
        """
        inner, outer = keys
        hashed = sha256((inner + person).encode()).hexdigest()
        drawn = int(sha256((outer + hashed).encode()).hexdigest()[:DIGITS], 16)
        return (drawn % (2 * self.steps + 1) - self.steps) * self.multiple

    def note(self) -> str:
        names = ", ".join(map(repr, self.columns))
        weeks = "" if self.multiple == 1 else f", a multiple of {self.multiple}"
        return (
            f"dates of {names} were moved by a secret number of days for each person, at most "
            f"{self.days} either way{weeks}; distances within a person are true"
        )


_MOST_DAYS = 36_600
DIGITS = 15
"""Hexadecimal digits of the number by which dates are moved: databases have numbers of 64 bits."""


@dataclass(frozen=True)
class Relative(Derivation):
    """Days, weeks or months from one date to another.

    The other date is one of the same row, or the first that the person has in a column. Before it
    the number is negative. Weeks are days divided by 7 and rounded down. A month is over when the
    same day of a later month is reached: from 31 January, on 1 March.

    Args:
        of: The column of dates.
        into: The name of the column that is made, of whole numbers.
        since: The column with the date from which is counted, of the same row.
        first: Instead of `since`, a column of which the person's first date is taken.
        person: The column that is the same in all rows of a person, for `first`; without it, that
            of the policy.
        unit: `days`, `weeks` or `months`.
        incomplete: What becomes of dates that are known in part: `refuse` the table, or make the
            number `missing`.

    Example:
        >>> stay = Relative(of="discharged", since="admitted", into="stay")
        >>> stay.between(date(2020, 2, 27), date(2020, 3, 1))
        3
    """

    name: ClassVar[str] = "relative"

    of: str
    into: str
    since: str | None = None
    first: str | None = None
    person: str | None = None
    unit: Unit = "days"
    incomplete: Incomplete = "refuse"

    def __post_init__(self) -> None:
        self._require_names("of", "into", "since", "first", "person")
        if (self.since is None) == (self.first is None):
            given = {"since": self.since, "first": self.first}
            why = "a date is counted from one of the same row, or from the person's first"
            raise ParameterError("since", given, "given, or first instead of it", why=why)
        if self.unit not in ("days", "weeks", "months"):
            raise ParameterError("unit", self.unit, "days, weeks or months")

    @property
    def dates(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([self.of, self.since or self.first or self.of]))

    @property
    def across(self) -> str | None:
        return None if self.first is None else self.person

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.dates if self.first is None else super().inputs

    @property
    def made(self) -> tuple[str, ...]:
        return (self.into,)

    @property
    def needs_person(self) -> bool:
        return self.first is not None and self.person is None

    def of_person(self, column: str) -> Self:
        return replace(self, person=column) if self.needs_person else self

    @classmethod
    def example(cls) -> Self:
        return cls(of="discharged", since="admitted", into="stay")

    def between(self, since: date, day: date) -> int:
        """Return the number for two days."""
        if self.unit == "months":
            months = 12 * (day.year - since.year) + day.month - since.month
            return months - (day.day < since.day)
        days = (day - since).days
        return days // 7 if self.unit == "weeks" else days

    def note(self) -> str:
        start = self.since if self.first is None else f"the person's first {self.first}"
        return f"{self.into!r} is counted in {self.unit} from {start} to {self.of}"


_FIXED = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Age(Derivation):
    """Age in whole years on a day, from the date of birth.

    Who was born on 29 February is a year older on 1 March in years that have no such day.

    Args:
        of: The column with dates of birth.
        into: The name of the column that is made, of whole numbers.
        at: The column with the day on which the age is meant, or one day for all, as 2020-12-31.
        incomplete: What becomes of dates that are known in part: `refuse` the table, or make the
            age `missing`.

    Example:
        >>> age = Age(of="born", at="admitted", into="age")
        >>> age.between(date(2004, 2, 29), date(2021, 2, 28))
        16
    """

    name: ClassVar[str] = "age"

    of: str
    into: str
    at: str
    incomplete: Incomplete = "refuse"

    def __post_init__(self) -> None:
        self._require_names("of", "into", "at")
        if _FIXED.fullmatch(self.at):
            try:
                date.fromisoformat(self.at)
            except ValueError:
                raise ParameterError("at", self.at, "a column, or a day that exists") from None

    @property
    def fixed(self) -> date | None:
        """The one day for all; None if it is a column."""
        return date.fromisoformat(self.at) if _FIXED.fullmatch(self.at) else None

    @property
    def dates(self) -> tuple[str, ...]:
        return (self.of,) if self.fixed else tuple(dict.fromkeys([self.of, self.at]))

    @property
    def made(self) -> tuple[str, ...]:
        return (self.into,)

    @classmethod
    def example(cls) -> Self:
        return cls(of="born", at="admitted", into="age")

    @staticmethod
    def between(born: date, day: date) -> int:
        """Return the age on a day; it is negative before birth."""
        return day.year - born.year - ((day.month, day.day) < (born.month, born.day))

    def note(self) -> str:
        return f"{self.into!r} is the age in whole years by {self.of} on {self.at}"


DERIVATIONS: dict[str, type[Derivation]] = {each.name: each for each in (Shift, Relative, Age)}
"""Everything that can be derived, by name."""


@dataclass(frozen=True)
class Preparation:
    """All that is done with a table before its rows are counted.

    Example:
        >>> Preparation(dates={"born": DateForm("day-first")}).empty
        False
    """

    dates: Mapping[str, DateForm] = field(default_factory=dict)
    """The columns of dates, and how these are written."""

    likely: tuple[str, ...] = ()
    """Columns that may hold dates: if all their values are, they are read as such."""

    steps: tuple[Derivation, ...] = ()
    secret: bytes | None = field(default=None, repr=False)
    """The secret by which dates are moved."""

    codes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values of columns that mean that none is known, as texts; they are made missing first."""

    owned: str | None = None
    """The column without which a row is left out, as it does not say whose it is."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.dates or self.likely or self.steps or self.codes or self.owned)

    @property
    def shift(self) -> Shift | None:
        """The one step that moves dates, if there is one."""
        return next((step for step in self.steps if isinstance(step, Shift)), None)

    @property
    def made(self) -> tuple[str, ...]:
        """The columns that are made."""
        return tuple(name for step in self.steps for name in step.made)

    def only(self, columns: Sequence[str], wanted: Sequence[str]) -> "Preparation":
        """Return what can be done with a table that has some columns, and of which some are wanted.

        A table of other people may have the age already, or have no dates to move.
        """
        here, steps = {*columns}, []
        for step in self.steps:
            makes = step.made or tuple(name for name in step.dates if name in wanted)
            asked = any(name in wanted for name in makes) and not here & {*step.made}
            if asked and {*step.inputs} <= here:
                steps.append(step)
                here |= {*step.made}
        dates = {name: form for name, form in self.dates.items() if name in columns}
        likely = tuple(name for name in self.likely if name in columns)
        codes = {name: each for name, each in self.codes.items() if name in columns}
        owned = self.owned if self.owned in columns else None
        return replace(
            self, dates=dates, likely=likely, steps=tuple(steps), codes=codes, owned=owned
        )


def spellings_of_code(code: str) -> tuple[str, ...]:
    """Return how a code of a missing value may be written in a text file.

    >>> spellings_of_code("-9"), spellings_of_code("refused")
    (('-9', '-9.0', '-9.00'), ('refused',))
    """
    number = number_of(code)
    if number is None:
        return (code,)
    plain = text_of(int(number) if number.is_integer() else number)
    decimals = (f"{plain}.0", f"{plain}.00") if number.is_integer() else ()
    return tuple(dict.fromkeys((code, plain, *decimals)))
