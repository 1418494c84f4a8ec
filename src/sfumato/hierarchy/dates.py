"""Dates: days become months, quarters, years, decades."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Self

from sfumato.errors import HierarchyError, ParameterError, some
from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder
from sfumato.text import STAR, date_of, text_of
from sfumato.typing import Value

UNITS: dict[str, Callable[[date], str]] = {
    "day": lambda day: day.isoformat(),
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10:03}0s",
    "century": lambda day: f"{day.year // 100:02}00-{day.year // 100:02}99",
}
"""What can be a level, finest first, and how it is written. Weeks are none: they do not nest."""


@dataclass(frozen=True)
class Dates(HierarchyBuilder):
    """Coarser and coarser calendar units: 2020-02-29 → 2020-02 → 2020-Q1 → 2020 → 2020s → `*`.

    Values are dates, times of day with a date, or text in ISO 8601 (`2020-02-29`,
    `2020-02-29T23:15`). A time with a zone belongs to the day it is written with.
    Weeks are not offered because they do not nest in months; `Intervals` with widths
    of 7d does weeks.

    Args:
        levels: Units from fine to coarse out of day, month, quarter, year, decade and
            century (1900-1999). By default month, quarter, year and decade, with day
            before them if some value has a time of day. `*` is always added.

    Example:
        >>> Dates(levels=["month", "year"]).build("born", ["2020-02-29", "2020-11-01"]).labels[1:]
        (('2020-02', '2020-11'), ('2020',), ('*',))
    """

    name: ClassVar[str] = "dates"

    levels: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.levels is None:
            return
        order = list(UNITS)
        levels = [self.levels] if isinstance(self.levels, str) else list(self.levels)
        known = [order.index(unit) for unit in levels if unit in order]
        if not levels or len(known) < len(levels) or known != sorted(set(known)):
            allowed = f"some of {', '.join(order)}, in this order and each once"
            raise ParameterError("levels", levels, allowed)
        object.__setattr__(self, "levels", tuple(levels))

    @property
    def fixed_height(self) -> int | None:
        return None if self.levels is None else len(self.levels) + 1

    def build(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> Hierarchy:
        days: dict[str, date] = {}
        wrong: list[Value] = []
        for value in values:
            day = date_of(value)
            if day is None:
                wrong.append(value)
            else:
                days[text_of(value)] = day
        if wrong:
            raise HierarchyError(
                f"{column!r} cannot be generalised as dates: {len(wrong)} of its {len(values)} "
                f"values are not dates: {some(wrong)}. Write dates as 2020-02-29 and leave unknown "
                "ones empty, or choose another hierarchy."
            )
        levels = self.levels
        if levels is None:
            timed = any(text != day.isoformat() for text, day in days.items())
            levels = [*(["day"] if timed else []), "month", "quarter", "year", "decade"]
        name_of = [UNITS[unit] for unit in levels]

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
