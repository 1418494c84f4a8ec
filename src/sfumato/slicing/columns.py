"""The columns of a sliced table: which attributes are published side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from sfumato.errors import ParameterError, UnknownColumnError, some


@dataclass(frozen=True)
class Columns:
    """Attributes in columns: each in one at least, the sensitive one in exactly one.

    Example:
        >>> Columns.of([["age", "sex"], ["zip", "ill"]], ["age", "sex", "zip"], "ill").known
        ('zip',)
    """

    columns: tuple[tuple[str, ...], ...]
    sensitive: str

    @property
    def with_sensitive(self) -> tuple[str, ...]:
        """The column that holds the sensitive attribute."""
        return next(column for column in self.columns if self.sensitive in column)

    @property
    def known(self) -> tuple[str, ...]:
        """What stands beside the sensitive attribute."""
        return tuple(name for name in self.with_sensitive if name != self.sensitive)

    @property
    def others(self) -> tuple[tuple[str, ...], ...]:
        """The columns without the sensitive attribute."""
        return tuple(column for column in self.columns if self.sensitive not in column)

    @classmethod
    def of(
        cls, columns: Sequence[Sequence[str]], quasi_identifiers: Sequence[str], sensitive: str
    ) -> Self:
        """Take columns as they are given, or refuse them with the reason."""
        names = (*quasi_identifiers, sensitive)
        shown = [list(column) for column in columns]
        for name in (name for column in shown for name in column):
            if name not in names:
                raise UnknownColumnError(
                    name, names, where="the quasi-identifiers and the sensitive column"
                )
        if faults := _faults(shown, names, sensitive):
            expected, why = faults[0]
            raise ParameterError("columns", shown, expected, why=why)
        return cls(tuple(map(tuple, shown)), sensitive)


def _faults(
    columns: list[list[str]], names: tuple[str, ...], sensitive: str
) -> list[tuple[str, str]]:
    """Say what is wanted and why, for everything that is wrong."""
    absent = [name for name in names if not any(name in column for column in columns)]
    twice = [name for name in names if any(column.count(name) > 1 for column in columns)]
    held = sum(sensitive in column for column in columns)
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
            held > 1,
            f"columns of which only one holds {sensitive!r}",
            "in two columns a sensitive attribute would tie the rows of both together",
        ),
        (bool(within), "columns that say something new", f"{some(within)} is inside another one"),
    ]
    return [(expected, why) for wrong, expected, why in found if wrong]


def redundant(columns: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Give the columns that say nothing another one does not say; of equals the first stays.

    >>> redundant([["age"], ["age", "sex"], ["sex", "age"]])
    [['age'], ['sex', 'age']]
    """
    sets = [set(column) for column in columns]
    return [
        column
        for i, column in enumerate(columns)
        if any(sets[i] < other or (sets[i] == other and j < i) for j, other in enumerate(sets))
    ]
