"""A counted table as slicing sees it: each item's sub-tuple in every column, as a number."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from sfumato.counts import FrequencySet, group
from sfumato.slicing.columns import Columns
from sfumato.typing import IntArray


@dataclass(frozen=True, eq=False)
class Laid:
    """The items of a counted table, laid into columns.

    People are told apart by what others may know of them, which is all but the sensitive value.

    Example:
        >>> rows = [("30s", "x", "flu"), ("30s", "y", "flu"), ("40s", "x", "gout")]
        >>> counts = FrequencySet.from_rows(["age", "zip", "ill"], rows)
        >>> laid = Laid.of(counts, Columns((("age",), ("zip", "ill")), "ill"))
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
        """How many sensitive values there can be."""
        return int(self.value.max(initial=-1)) + 1

    @cached_property
    def pair(self) -> IntArray:
        """The sub-tuple in the sensitive column; those with equal `known` follow each other."""
        return group([self.known, self.value], [_size(self.known), self.values]).of_item

    @cached_property
    def pairs(self) -> int:
        """How many sub-tuples the sensitive column has."""
        return _size(self.pair)

    @cached_property
    def known_of_pair(self) -> IntArray:
        """What is known of each sub-tuple in the sensitive column."""
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
