"""The roles of columns, and which of them are published side by side."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property
from typing import Self

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, UnknownColumnError, some


class Role(StrEnum):
    """The part a column plays.

    >>> Role("sensitive")
    <Role.SENSITIVE: 'sensitive'>
    """

    IDENTIFIER = "identifier"
    """Names a person by itself (name, social security number): dropped from every release."""

    QUASI_IDENTIFIER = "quasi-identifier"
    """Known to others and linkable (age, postcode): generalised."""

    SENSITIVE = "sensitive"
    """What no adversary should learn about a person (diagnosis, salary): kept, and protected."""

    SET = "set"
    """Several values per row (diagnoses, purchases), some of which others may know: generalised."""

    PLAIN = "plain"
    """Neither: published as it is."""

    WEIGHT = "weight"
    """How many people of the population a row of a survey stands for: never published as it is, but
    as one number for all rows of a class."""

    DROPPED = "dropped"
    """Not identifying, but not to be published."""


@dataclass(frozen=True)
class Columns:
    """Attributes in columns: each in one at least, every sensitive one in exactly one.

    Example:
        >>> of = [["age", "sex"], ["zip", "ill"]]
        >>> Columns.of(of, ["age", "sex", "zip"], ["ill"]).beside("ill")
        ('zip',)
    """

    columns: tuple[tuple[str, ...], ...]
    sensitive: tuple[str, ...] = ()

    def holding(self, name: str) -> tuple[str, ...]:
        """Return the column that holds a sensitive attribute."""
        return next(column for column in self.columns if name in column)

    def beside(self, name: str) -> tuple[str, ...]:
        """Return the attributes beside a sensitive one, other sensitive ones included."""
        return tuple(each for each in self.holding(name) if each != name)

    @cached_property
    def join_order(self) -> tuple[int, ...] | None:
        """The order in which columns are joined, so that each shares with one before it only.

        Then every column has all that it shares with those before it in one of them, and the ways
        to join them are counted one column after the other. None if columns overlap in a circle.

        >>> Columns((("a", "b"), ("c", "d"), ("b", "c"))).join_order
        (0, 2, 1)
        >>> Columns((("a", "b"), ("b", "c"), ("c", "a"))).join_order is None
        True
        """
        sets = [set(column) for column in self.columns]
        joined, left = [0], list(range(1, len(sets)))
        while left:
            # Prim's walk over the sizes of what is shared finds such an order if there is one.
            best = max(left, key=lambda i: (max(len(sets[i] & sets[j]) for j in joined), -i))
            if not any(self.names_in(best, joined) <= sets[j] for j in joined):
                return None
            joined.append(best)
            left.remove(best)
        return tuple(joined)

    def names_in(self, at: int, others: Sequence[int]) -> set[str]:
        """Return the attributes of a column that stand in some others too."""
        return set(self.columns[at]) & {name for j in others for name in self.columns[j]}

    @classmethod
    def of(
        cls,
        columns: Sequence[Sequence[str]],
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
    ) -> Self:
        """Read columns as they are given, or raise an error with the reason."""
        names = (*quasi_identifiers, *sensitive)
        shown = [list(column) for column in columns]
        for name in (name for column in shown for name in column):
            if name not in names:
                raise UnknownColumnError(
                    name, names, where="the quasi-identifiers and the sensitive columns"
                )
        if faults := _faults(shown, names, sensitive):
            expected, why = faults[0]
            raise ParameterError("columns", shown, expected, why=why)
        return cls(tuple(map(tuple, shown)), tuple(sensitive))


def _faults(
    columns: list[list[str]], names: tuple[str, ...], sensitive: Sequence[str]
) -> list[tuple[str, str]]:
    """Return what is wanted and why, for everything that is wrong."""
    absent = [name for name in names if not any(name in column for column in columns)]
    twice = [name for name in names if any(column.count(name) > 1 for column in columns)]
    spread = [name for name in sensitive if sum(name in column for column in columns) > 1]
    within = redundant(columns)
    found = [
        (
            len(columns) < 2,
            "at least two columns",
            "with one column whole rows are published, and nothing is hidden",
        ),
        (not all(columns), "columns with at least one attribute each", "one of them is empty"),
        (bool(twice), "columns that name no attribute twice", f"{some(twice)} stands there twice"),
        (
            bool(absent),
            "columns that hold every attribute",
            f"in no column: {some(absent)}. Leave it out of the quasi-identifiers instead",
        ),
        (
            bool(spread),
            f"columns of which only one holds {some(spread)}",
            "in two columns a sensitive attribute would tie the rows of both together",
        ),
        (bool(within), "columns that say something new", f"{some(within)} is inside another one"),
    ]
    return [(expected, why) for wrong, expected, why in found if wrong]


def redundant(columns: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the columns that say nothing another one does not say; of equals the first stays.

    >>> redundant([["age"], ["age", "sex"], ["sex", "age"]])
    [['age'], ['sex', 'age']]
    """
    sets = [set(column) for column in columns]
    return [
        column
        for i, column in enumerate(columns)
        if any(sets[i] < other or (sets[i] == other and j < i) for j, other in enumerate(sets))
    ]
