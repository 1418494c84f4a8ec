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


@dataclass(frozen=True, eq=False)
class SubTuples:
    """The items of a counted table: the sub-tuple of each in every column, for one secret.

    The secret is a sensitive attribute. People are told apart by everything but the secret.

    Example:
        >>> rows = [("30s", "x", "flu"), ("30s", "y", "flu"), ("40s", "x", "gout")]
        >>> counts = FrequencySet.from_rows(["age", "zip", "ill"], rows)
        >>> [laid] = SubTuples.of(counts, Columns((("age",), ("zip", "ill")), ("ill",)))
        >>> laid.others[0].tolist(), laid.known.tolist(), laid.pair.tolist()
        ([0, 0, 1], [0, 1, 0], [0, 2, 1])
    """

    others: tuple[IntArray, ...]
    """Per column without the secret, the sub-tuple of each item, as far as others may know it."""

    known: IntArray
    """What stands beside the secret of each item."""

    value: IntArray
    """The secret of each item."""

    rows: IntArray
    missing: int = -1
    """The value that stands for a missing one, which hides no person; -1 if none does."""

    shared: tuple[IntArray | None, ...] | None = None
    """Per column in the order they are joined in, what of each item the columns before it hold too;
    None for nothing. None for all of it: columns overlap in a circle."""

    order: tuple[int, ...] = ()
    """That order, as positions in `(*others, known)`."""

    @classmethod
    def of(cls, counts: FrequencySet, columns: Columns) -> "list[SubTuples]":
        """Number the sub-tuples of every column, for each secret of a table.

        Without any secret there is one for all, of which all people have the same.
        """
        if not columns.sensitive:
            nothing = np.zeros(len(counts), dtype=np.int64)
            return [SubTuples((), nothing, nothing, counts.rows)]
        return [_of_attribute(counts, columns, name) for name in columns.sensitive]

    def take(self, items: IntArray) -> Self:
        """Return some items, each as one row; an item may be there several times."""
        shared = self.shared and tuple(None if s is None else s[items] for s in self.shared)
        return type(self)(
            tuple(numbers[items] for numbers in self.others),
            self.known[items],
            self.value[items],
            np.ones(len(items), dtype=np.int64),
            self.missing,
            shared,
            self.order,
        )

    @property
    def numbers(self) -> tuple[IntArray, ...]:
        """The part of each item that others may know, per column; the secret's is last."""
        return (*self.others, self.known)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def values(self) -> int:
        """The number of values the secret can have."""
        return int(self.value.max(initial=-1)) + 1

    @cached_property
    def pair(self) -> IntArray:
        """The sub-tuple in the secret's column; those with equal `known` follow each other."""
        return group([self.known, self.value], [_size(self.known), self.values]).of_item

    @cached_property
    def pairs(self) -> int:
        """The number of sub-tuples the secret's column has."""
        return _size(self.pair)

    @cached_property
    def known_of_pair(self) -> IntArray:
        """The known part of each sub-tuple in the secret's column."""
        return self._of_pair(self.known)

    @cached_property
    def value_of_pair(self) -> IntArray:
        """The secret of each sub-tuple in its column."""
        return self._of_pair(self.value)

    def _of_pair(self, numbers: IntArray) -> IntArray:
        found = np.zeros(self.pairs, dtype=np.int64)
        found[self.pair] = numbers
        return found

    @cached_property
    def people(self) -> IntArray:
        """One item of each kind of person that can be told apart."""
        return group(self.numbers, [_size(each) for each in self.numbers], n=len(self)).first


def _of_attribute(counts: FrequencySet, columns: Columns, name: str) -> SubTuples:
    """Number sub-tuples for a sensitive attribute; of other columns only what others may know.

    What stands beside it counts as known, even if it is sensitive too.
    """
    at = columns.columns.index(columns.holding(name))
    open_ = [
        [each for each in column if i == at or each not in columns.sensitive]
        for i, column in enumerate(columns.columns)
    ]
    open_[at] = list(columns.beside(name))
    others = [i for i in range(len(open_)) if i != at]
    column = counts.column(name)
    value = counts.codes_of(name).astype(np.int64)
    return _number_columns(counts, columns, open_, [*others, at], value, column.missing)


def _number_columns(
    counts: FrequencySet,
    columns: Columns,
    known: Sequence[Sequence[str]],
    places: Sequence[int],
    value: IntArray,
    missing: int,
) -> SubTuples:
    numbers = [_numbers(counts, known[at]) for at in places]
    order, shared = columns.join_order, None
    if order is not None:
        names = [sorted(columns.names_in(at, order[:i])) if i else [] for i, at in enumerate(order)]
        shared = tuple(_numbers(counts, each) if each else None for each in names)
    return SubTuples(
        tuple(numbers[:-1]),
        numbers[-1],
        value,
        counts.rows,
        missing,
        shared,
        () if order is None else tuple(places.index(at) for at in order),
    )


def _numbers(counts: FrequencySet, names: Sequence[str]) -> IntArray:
    codes = [counts.codes_of(name) for name in names]
    sizes = [len(counts.column(name).values) for name in names]
    return group(codes, sizes, n=len(counts)).of_item


def _size(numbers: IntArray) -> int:
    return int(numbers.max(initial=-1)) + 1
