"""A table broken into groups: quasi-identifiers on one side, each sensitive column on another.

What the tables of a broken release hold, as counts. Everything about breach probabilities
and increments is decided on this.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from sfumato.counts import Column, FrequencySet, group, sums
from sfumato.errors import UnknownColumnError
from sfumato.typing import CodeArray, IntArray


@dataclass(frozen=True, eq=False)
class SensitiveTable:
    """One sensitive column by itself: how many rows of each group have each value.

    One entry per pair that occurs, sorted by group, then value. A missing value is a value.
    """

    column: Column
    group: IntArray
    value: CodeArray
    """Code into the column's values."""

    rows: IntArray

    @cached_property
    def starts(self) -> IntArray:
        """Where each group's entries begin; every group has at least one."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    def largest(self, n_groups: int) -> IntArray:
        """Give the rows of each group's most frequent value."""
        most = np.zeros(n_groups, dtype=np.int64)
        if len(self.group):
            most[self.group[self.starts]] = np.maximum.reduceat(self.rows, self.starts)
        return most


@dataclass(frozen=True, eq=False)
class Broken:
    """Groups of people, and what is published about each.

    Example:
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "low"), ("40s", "flu", "high")]
        >>> counts = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> broken = Broken.of(counts, ["age"], ["ill", "pay"])
        >>> broken.sizes.tolist(), broken.table("pay").rows.tolist()
        ([2, 1], [2, 1])
    """

    quasi_identifiers: tuple[Column, ...]
    labels: CodeArray
    """`labels[q, g]`: the value of quasi-identifier q in group g."""

    sizes: IntArray
    """How many rows each group has."""

    sensitive: tuple[SensitiveTable, ...]
    ids: IntArray | None = None
    """The label each group is published under; None as long as it has none."""

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def total(self) -> int:
        """How many rows there are."""
        return int(self.sizes.sum())

    @property
    def labelled(self) -> IntArray:
        """The label each group is published under, where that is settled."""
        if self.ids is None:
            raise RuntimeError("the groups have no labels yet")
        return self.ids

    @property
    def names(self) -> tuple[str, ...]:
        """The sensitive columns in order."""
        return tuple(table.column.name for table in self.sensitive)

    def table(self, name: str) -> SensitiveTable:
        """Find a sensitive column's table by name."""
        if name not in self.names:
            raise UnknownColumnError(name, self.names, where="the sensitive columns")
        return self.sensitive[self.names.index(name)]

    @classmethod
    def of(
        cls, counts: FrequencySet, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
    ) -> Self:
        """Break a counted table: rows with the same quasi-identifiers are a group."""
        columns = tuple(counts.column(name) for name in quasi_identifiers)
        codes = [counts.codes_of(name) for name in quasi_identifiers]
        groups = group(codes, [len(column.values) for column in columns], n=len(counts))
        labels = np.array([code[groups.first] for code in codes], dtype=np.int32)
        return cls(
            columns,
            labels.reshape(len(columns), groups.n),
            sums(groups.of_item, counts.rows, groups.n),
            tuple(_table(counts, name, groups.of_item, groups.n) for name in sensitive),
        )


def _table(counts: FrequencySet, name: str, of_item: IntArray, n: int) -> SensitiveTable:
    column = counts.column(name)
    codes = counts.codes_of(name)
    cells = group([of_item, codes], [n, len(column.values)])
    rows = sums(cells.of_item, counts.rows, cells.n)
    return SensitiveTable(column, of_item[cells.first], codes[cells.first], rows)
