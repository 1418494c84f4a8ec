"""What a decoupling is: a counted table goes in, several tables with weak links come out."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from sfumato.counts import Column, FrequencySet, group, sums
from sfumato.errors import ParameterError, UnknownColumnError
from sfumato.tables.base import DerivedTable
from sfumato.typing import CodeArray, IntArray

# A table split into groups: quasi-identifiers on one side, each sensitive column on another.
#
# What the tables of a decoupled release hold, as counts. Everything about breach probabilities and
# increments is decided on this.


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
class GroupedTables:
    """Groups of people, and what is published about each.

    Example:
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "low"), ("40s", "flu", "high")]
        >>> counts = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> grouped = GroupedTables.of(counts, ["age"], ["ill", "pay"])
        >>> grouped.sizes.tolist(), grouped.table("pay").rows.tolist()
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


@dataclass(frozen=True, eq=False)
class Part:
    """One of the tables that are published."""

    name: str
    """What it is called: the name of its file, without the ending."""

    table: Literal["qi", "sensitive", "slice"]
    """Whether it holds the quasi-identifiers, one sensitive column, or some columns of both."""

    content: DerivedTable
    column: str | None = None
    """The sensitive column it holds."""

    columns: tuple[str, ...] = ()
    """The columns it holds, if it is a slice."""

    def described(self) -> dict[str, Any]:
        """Say what it is, as a manifest does."""
        plain: dict[str, Any] = {"table": self.table}
        if self.column is not None:
            plain["column"] = self.column
        if self.columns:
            plain["columns"] = list(self.columns)
        return plain


@dataclass(frozen=True, eq=False)
class Parts:
    """Everything that is published instead of the one table."""

    grouped: GroupedTables
    """The same as counts, each group with the label it is published under."""

    group: str
    """The column that links the tables."""

    count: str
    """The column that says how many people of a group have a value."""

    tables: tuple[Part, ...]
    models: tuple[Mapping[str, Any], ...] = ()
    """What the groups keep, as manifests write it, where the table's own models say nothing."""


class Decoupling(ABC):
    """A way to publish a table in parts, so that nobody can put the rows together again.

    A member of the family is a frozen dataclass; its docstring says what it promises and
    what it does not. It sees counts only and writes nothing: an engine does.
    """

    name: ClassVar[str]
    """What it is called in the registry, in manifests and on the command line."""

    keeps_classes: ClassVar[bool] = True
    """Whether groups are people with the same quasi-identifiers: the models of the table then hold
    as they did. Otherwise the parts say themselves what they keep."""

    notes: ClassVar[tuple[str, ...]] = ()
    """What holds of every such release and deserves a second look before publishing."""

    @abstractmethod
    def run(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        *,
        rng: np.random.Generator,
    ) -> Parts:
        """Say what is published. Orders and labels come from `rng`, never from the data."""

    @abstractmethod
    def companions(self, parts: Parts, manifest: Mapping[str, Any]) -> dict[str, str]:
        """Write what lies beside the tables, by the name of the file."""

    @classmethod
    @abstractmethod
    def example(cls) -> Self:
        """Give a small valid instance."""


def only_sensitive(sensitive: Sequence[str]) -> str:
    """Give the one sensitive column that buckets can be diverse in, or refuse several."""
    if len(sensitive) != 1:
        raise ParameterError(
            "sensitive",
            list(sensitive),
            "one column",
            why="buckets that are diverse in each column by itself do not bound how likely "
            "values of several are together. Name one, or take break-merge",
        )
    return sensitive[0]


def unused(name: str, taken: Iterable[str]) -> str:
    """Give a column name that no other has, whatever the case: SQL may not tell `A` from `a`.

    >>> unused("group", ["age", "Group"])
    'group_2'
    """
    folded = {each.casefold() for each in taken}
    found, number = name, 1
    while found.casefold() in folded:
        number += 1
        found = f"{name}_{number}"
    return found


def file_names(columns: Sequence[str], prefix: str) -> list[str]:
    """Make file names of column names: safe everywhere, and no two alike, whatever the case.

    A column whose name is safe keeps it; others get a number where they would be mistaken.

    >>> file_names(["pay, net", "pay_net", "ü"], "sensitive_")
    ['sensitive_pay_net_2', 'sensitive_pay_net', 'sensitive_column']
    """
    plain = [re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:40] or "column" for name in columns]
    # Those that are safe as they are come first, so that they keep their names.
    order = sorted(range(len(columns)), key=lambda i: plain[i] != columns[i])
    found: dict[int, str] = {}
    for i in order:
        found[i] = unused(prefix + plain[i], found.values())
    return [found[i] for i in range(len(columns))]
