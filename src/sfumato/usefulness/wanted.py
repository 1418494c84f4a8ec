"""What somebody asks of one column: a range, or some values."""

from dataclasses import dataclass
from typing import TypeAlias

from sfumato.errors import ParameterError
from sfumato.text import text_of
from sfumato.typing import Value


@dataclass(frozen=True)
class Range:
    """Everything from one end to the other, both inside; None leaves an end open."""

    low: Value
    high: Value

    def __str__(self) -> str:
        ends = ["" if end is None else text_of(end) for end in (self.low, self.high)]
        return "..".join(ends)


@dataclass(frozen=True)
class Values:
    """Some values; None is the missing one."""

    values: tuple[Value, ...]

    @property
    def texts(self) -> frozenset[str | None]:
        """How the values are written."""
        return frozenset(None if value is None else text_of(value) for value in self.values)

    def __str__(self) -> str:
        return ",".join("" if value is None else text_of(value) for value in self.values)


Wanted: TypeAlias = Range | Values


def wanted_of(name: str, given: object) -> Wanted:
    """Read a condition: a pair is a range, a list or set are values, anything else is one.

    >>> [str(wanted_of("age", given)) for given in ((30, 45), (None, 45), ["f", "m"], "flu")]
    ['30..45', '..45', 'f,m', 'flu']
    """
    if isinstance(given, tuple):
        if len(given) != 2 or given == (None, None):
            raise ParameterError(
                f"where[{name!r}]",
                given,
                "a range (low, high) with at least one end, a list of values, or a value",
            )
        return Range(*given)
    if isinstance(given, list | set | frozenset):
        if not given:
            raise ParameterError(f"where[{name!r}]", given, "at least one value")
        return Values(tuple(given))
    return Values((given,))
