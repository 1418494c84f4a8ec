"""A counted table as slicing sees it: each item's sub-tuple in every column, as a number."""

from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np

from sfumato.counts import FrequencySet, group
from sfumato.dataclasses import dataclass
from sfumato.schema import Columns
from sfumato.typing import IntArray


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
