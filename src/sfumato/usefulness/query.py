"""Counting queries: how many rows have such values in these columns?"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sfumato.counts import Column
from sfumato.errors import ParameterError, UnknownNameError, some
from sfumato.text import text_of, text_or_none
from sfumato.typing import BoolArray, FloatArray, Value
from sfumato.usefulness.line import reader_of


@dataclass(frozen=True, eq=False)
class Condition:
    """The values of one column that a query counts.

    Example:
        >>> print(Condition(Column("ill", ("flu", "gout")), np.array([True, False])))
        ill in {flu}
    """

    column: Column
    """The column of the original table."""

    allowed: BoolArray | FloatArray
    """Which of its values are counted, by code; or what share of the rows that have each."""

    def __post_init__(self) -> None:
        if len(self.allowed) != len(self.column.values):
            raise ParameterError(
                "allowed",
                len(self.allowed),
                f"one entry for each of the {len(self.column.values)} values of "
                f"{self.column.name!r}",
            )

    def __str__(self) -> str:
        at = np.flatnonzero(self.allowed).tolist()
        values = [self.column.values[i] for i in at]
        names = ["missing" if value is None else text_of(value) for value in values]
        in_a_row = len(at) > 1 and at[-1] - at[0] == len(at) - 1 and values[-1] is not None
        if in_a_row and reader_of(self.column) is not None:
            return f"{self.column.name} from {names[0]} to {names[-1]}"
        return f"{self.column.name} in {{{', '.join(names)}}}"


@dataclass(frozen=True, eq=False)
class Query:
    """How many rows keep all of these conditions?

    Example:
        >>> age, ill = Column("age", (30, 31, 45)), Column("ill", ("flu", "gout"))
        >>> print(Query((between(age, 30, 40), among(ill, ["gout"]))))
        age from 30 to 31 and ill in {gout}
    """

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        names = [condition.column.name for condition in self.conditions]
        if len(set(names)) < len(names):
            raise ParameterError("conditions", names, "on different columns")

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions)) or "every row"


def between(column: Column, low: Value, high: Value) -> Condition:
    """Count the values from `low` to `high`, both inside; a missing value is never among them.

    >>> between(Column("age", (30, 31, 45, None)), 31, 99).allowed.tolist()
    [False, True, True, False]
    """
    reader = reader_of(column)
    if reader is None:
        raise ParameterError(
            "column", column.name, "a column of numbers or dates", why="name the values: among()"
        )
    first, last = reader(low), reader(high)
    if first is None or last is None:
        unread = low if first is None else high
        raise ParameterError("low and high", unread, f"values like those of {column.name!r}")
    # Every value was read once to find the reader, so none is None here.
    points = [reader(value) for value in column.known]
    allowed = np.zeros(len(column.values), dtype=bool)
    allowed[: len(points)] = [point is not None and first <= point <= last for point in points]
    return Condition(column, allowed)


def among(column: Column, values: Iterable[Value]) -> Condition:
    """Count some values; None is the missing one. They are matched by how they are written.

    >>> among(Column("ill", ("flu", "gout", None)), ["flu", None]).allowed.tolist()
    [True, False, True]
    """
    position = {text_or_none(value): i for i, value in enumerate(column.values)}
    allowed = np.zeros(len(column.values), dtype=bool)
    for value in values:
        if text_or_none(value) not in position:
            known = [text_of(each) for each in column.known]
            raise UnknownNameError("value", some([value]), known, where=repr(column.name))
        allowed[position[text_or_none(value)]] = True
    return Condition(column, allowed)
