"""A counted table as slicing sees it: each item's sub-tuple in every column, as a number."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from sfumato.counts import FrequencySet, group
from sfumato.errors import ParameterError, UnknownColumnError, some
from sfumato.typing import IntArray

# The columns of a sliced table: which attributes are published side by side.


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
        """The attributes beside the sensitive one."""
        return tuple(name for name in self.with_sensitive if name != self.sensitive)

    @property
    def others(self) -> tuple[tuple[str, ...], ...]:
        """The columns without the sensitive attribute."""
        return tuple(column for column in self.columns if self.sensitive not in column)

    @classmethod
    def of(
        cls, columns: Sequence[Sequence[str]], quasi_identifiers: Sequence[str], sensitive: str
    ) -> Self:
        """Read columns as they are given, or raise an error with the reason."""
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
    """Return what is wanted and why, for everything that is wrong."""
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


@dataclass(frozen=True, eq=False)
class SubTuples:
    """The items of a counted table: the sub-tuple of each in every column.

    People are told apart by what others may know of them, which is all but the sensitive value.

    Example:
        >>> rows = [("30s", "x", "flu"), ("30s", "y", "flu"), ("40s", "x", "gout")]
        >>> counts = FrequencySet.from_rows(["age", "zip", "ill"], rows)
        >>> laid = SubTuples.of(counts, Columns((("age",), ("zip", "ill")), "ill"))
        >>> laid.others[0].tolist(), laid.known.tolist(), laid.pair.tolist()
        ([0, 0, 1], [0, 1, 0], [0, 2, 1])
    """

    others: tuple[IntArray, ...]
    """Per column without the sensitive attribute, the sub-tuple of each item."""

    known: IntArray
    """What stands beside the sensitive value of each item."""

    value: IntArray
    """The sensitive value of each item."""

    rows: IntArray
    missing: int = -1
    """The sensitive value that stands for a missing one, which hides nobody; -1 if none does."""

    @classmethod
    def of(cls, counts: FrequencySet, columns: Columns) -> Self:
        """Number the sub-tuples of every column."""
        return cls(
            tuple(_numbers(counts, column) for column in columns.others),
            _numbers(counts, columns.known),
            counts.codes_of(columns.sensitive).astype(np.int64),
            counts.rows,
            counts.column(columns.sensitive).missing,
        )

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def values(self) -> int:
        """The number of sensitive values there can be."""
        return int(self.value.max(initial=-1)) + 1

    @cached_property
    def pair(self) -> IntArray:
        """The sub-tuple in the sensitive column; those with equal `known` follow each other."""
        return group([self.known, self.value], [_size(self.known), self.values]).of_item

    @cached_property
    def pairs(self) -> int:
        """The number of sub-tuples the sensitive column has."""
        return _size(self.pair)

    @cached_property
    def known_of_pair(self) -> IntArray:
        """The known part of each sub-tuple in the sensitive column."""
        return self._of_pair(self.known)

    @cached_property
    def value_of_pair(self) -> IntArray:
        """The sensitive value of each sub-tuple in the sensitive column."""
        return self._of_pair(self.value)

    def _of_pair(self, numbers: IntArray) -> IntArray:
        found = np.zeros(self.pairs, dtype=np.int64)
        found[self.pair] = numbers
        return found

    @cached_property
    def people(self) -> IntArray:
        """One item of each kind of person that can be told apart."""
        columns = (*self.others, self.known)
        return group(columns, [_size(column) for column in columns], n=len(self)).first


def _numbers(counts: FrequencySet, names: Sequence[str]) -> IntArray:
    codes = [counts.codes_of(name) for name in names]
    sizes = [len(counts.column(name).values) for name in names]
    return group(codes, sizes, n=len(counts)).of_item


def _size(numbers: IntArray) -> int:
    return int(numbers.max(initial=-1)) + 1
