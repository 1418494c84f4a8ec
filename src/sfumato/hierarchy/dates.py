"""Dates: days become months, quarters, years, decades."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import ClassVar, Self

from sfumato.dataclasses import dataclass
from sfumato.derivations.dates import DAY_FIRST, DateForm, Detection, iso_of, look_like_dates
from sfumato.errors import HierarchyError, ParameterError, some
from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder
from sfumato.hierarchy.language import DEFAULT, Language, language_of
from sfumato.text import STAR, text_of
from sfumato.typing import Value


def _quarter(day: str) -> str:
    month = day[5:7]
    return f"{day[:4]} Q{(int(month) + 2) // 3}" if month else day[:4]


UNITS: dict[str, Callable[[str], str]] = {
    "day": lambda day: day[:10],
    "month": lambda day: day[:7],
    "quarter": _quarter,
    "year": lambda day: day[:4],
    "decade": lambda day: f"{day[:3]}0s",
    "century": lambda day: f"{day[:2]}00 to {day[:2]}99",
}
"""What can be a level, finest first, and how it is written, of a date in ISO 8601 or a part of one:
what is not known of it stays away. Weeks are none: they do not nest."""


def _unit_in(unit: str, words: Language) -> Callable[[str], str]:
    """Return how a unit is written in a language."""
    if unit == "decade":
        return lambda day: words.say("decade", decade=f"{day[:3]}0")
    if unit == "century":
        return lambda day: words.say("range", low=f"{day[:2]}00", high=f"{day[:2]}99")
    return UNITS[unit]


def days_of(column: str, values: Sequence[Value]) -> dict[str, str]:
    """Return the date that each value is, in ISO 8601, by the text of the value.

    Raises:
        HierarchyError: Some value is no date, or it is not clear which date it is.

    Example:
        >>> days_of("born", ["13.01.1937", "1.2.1937", date(1937, 5, 1), "1937"])
        {'13.01.1937': '1937-01-13', '1.2.1937': '1937-02-01', '1937-05-01': '1937-05-01', '1937':
        '1937'}
    """
    days = {text_of(value): iso_of(value) for value in values}
    others = {text: 1 for text, day in days.items() if day is None}
    if others:
        found = Detection.of(others, DateForm())
        if found.wrong:
            wrong = [value for value in values if text_of(value) in found.wrong]
            more = f" and {found.wrong_values - 5} more" if found.wrong_values > 5 else ""
            raise HierarchyError(
                f"{column!r} cannot be generalised as dates: {found.wrong_values} of its "
                f"{len(values)} values are not dates: {some(wrong[:5])}{more}. Write dates as "
                "2020-02-29 and leave unknown ones empty, or choose another hierarchy."
            )
        form = found.settled
        if form is None:
            raise HierarchyError(str(found.problem(column)))
        days |= {text: form.read(text) for text in others}
    return {text: day for text, day in days.items() if day is not None}


def likely_days(values: Sequence[Value]) -> list[str] | None:
    """Return the dates that values are, if they clearly are dates; None if they are not.

    Where the order is not clear, it is one that fits.
    """
    if not look_like_dates(values):
        return None
    texts = [text_of(value) for value in values]
    found = Detection.of(dict.fromkeys(texts, 1))
    form = DateForm(next(iter(found.possible), DAY_FIRST), pivot=30)
    days = [form.read(text) for text in texts]
    known = [day for day in days if day is not None]
    return known if len(known) == len(days) else None


@dataclass(frozen=True)
class Dates(HierarchyBuilder):
    """Coarser and coarser calendar units: 2020-02-29 → 2020-02 → 2020 Q1 → 2020 → 2020s → `*`.

    Values are dates, times of day with a date, or text: in ISO 8601 (`2020-02-29`,
    `2020-02-29T23:15`), with the day first (`29.02.2020`), the month first (`02/29/2020`), or with
    the name of the month (`29 Feb 2020`). Which order it is follows from all values of the column;
    the setting `dates` of a column says it. Labels are the same however the input is written. Of
    a date that is known in part (`2020`, `2020-02`) the known part stays. A time with a zone
    belongs to the day it is written with. Weeks are not offered because they do not nest in
    months; `Intervals` with widths of 7d does weeks.

    Args:
        levels: Units from fine to coarse out of day, month, quarter, year, decade and
            century (1900 to 1999). By default month, quarter, year and decade, with day
            before them if some value has a time of day. `*` is always added.
        language: The language of labels: en, de, fr, es, it or nl.

    Example:
        >>> Dates(levels=["month", "year"]).build("born", ["2020-02-29", "2020-11-01"]).labels[1:]
        (('2020-02', '2020-11'), ('2020',), ('*',))
        >>> Dates(levels=["decade"], language="fr").build("naissance", ["1987-03-14"]).labels[1]
        ('années 1980',)
    """

    name: ClassVar[str] = "dates"
    title: ClassVar[str] = "Calendar"
    in_words: ClassVar[str] = "Days become months, quarters, years, decades."
    of_dates: ClassVar[bool | None] = True

    levels: Sequence[str] | None = None
    language: str = DEFAULT

    def __post_init__(self) -> None:
        language_of(self.language)
        if self.levels is None:
            return
        order = list(UNITS)
        levels = [self.levels] if isinstance(self.levels, str) else list(self.levels)
        known = [order.index(unit) for unit in levels if unit in order]
        if not levels or len(known) < len(levels) or known != sorted(set(known)):
            allowed = f"some of {', '.join(order)}, in this order and each once"
            raise ParameterError("levels", levels, allowed)
        object.__setattr__(self, "levels", tuple(levels))

    def in_language(self, language: str) -> Self:
        return replace(self, language=language)

    @property
    def fixed_height(self) -> int | None:
        return None if self.levels is None else len(self.levels) + 1

    def build(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> Hierarchy:
        days = days_of(column, values)
        levels = self.levels
        if levels is None:
            timed = any(len(day) > 10 for day in days.values())
            levels = [*(["day"] if timed else []), "month", "quarter", "year", "decade"]
        words = language_of(self.language)
        name_of = [_unit_in(unit, words) for unit in levels]

        def path(value: Value) -> tuple[str, ...]:
            day = days[text_of(value)]
            return (*(name(day) for name in name_of), STAR)

        return Hierarchy.from_function(column, values, path)

    @classmethod
    def example(cls) -> Self:
        return cls(levels=["month", "year", "decade"])

    @classmethod
    def example_values(cls) -> list[Value]:
        return ["1987-03-14", "1987-11-02", "1991-06-30", date(2004, 2, 29)]
