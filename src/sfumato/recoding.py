"""What becomes of each value: the only thing an engine needs to write a release."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.hierarchy.base import Ladder
from sfumato.typing import CodeArray, IntArray, Node, Value

DROP = -2
"""The code of a raw value whose rows are all suppressed."""


@dataclass(frozen=True, eq=False)
class ColumnRecoding:
    """One column's lookup: raw value → published value.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> h = Hierarchy.from_paths(["a", "b"], [["*"], ["*"]])
        >>> ColumnRecoding.at(h.bind("letter", ["a", "b"]), 1).labels
        ('*',)
    """

    column: str
    level: int
    height: int
    values: tuple[Value, ...]
    """The raw values in the order they were counted; None is missing."""

    codes: CodeArray
    """Which label each raw value becomes; `DROP` if a row that has it is suppressed."""

    labels: tuple[Value, ...]
    """The published values; None is missing. At level 0 they are the raw values themselves."""

    @classmethod
    def at(cls, ladder: Ladder, level: int) -> "ColumnRecoding":
        """Read a ladder at one level."""
        return cls(
            ladder.column,
            level,
            ladder.height,
            ladder.values,
            ladder.codes[level],
            ladder.labels[level],
        )


@dataclass(frozen=True, eq=False)
class FullDomainRecoding:
    """One level per column for the whole table, and the classes that are left out.

    `suppressed` has one row per suppressed class, one label code per column.
    """

    columns: tuple[ColumnRecoding, ...]
    suppressed: IntArray

    def dropping_missing(self) -> "FullDomainRecoding":
        """Suppress every row in which one of the columns is missing."""
        columns = []
        for column in self.columns:
            known = [value is not None for value in column.values]
            columns.append(
                replace(
                    column,
                    values=(*(value for value in column.values if value is not None), None),
                    codes=np.append(column.codes[known], np.int32(DROP)),
                )
            )
        return replace(self, columns=tuple(columns))

    @classmethod
    def at(
        cls, ladders: Sequence[Ladder], node: Node, suppressed: IntArray | None = None
    ) -> "FullDomainRecoding":
        """Recode every column to its level of a node."""
        columns = tuple(
            ColumnRecoding.at(ladder, level) for ladder, level in zip(ladders, node, strict=True)
        )
        nothing = np.empty((0, len(columns)), dtype=np.int64)
        return cls(columns, nothing if suppressed is None else suppressed)

    @property
    def node(self) -> Node:
        """The level of each column."""
        return tuple(column.level for column in self.columns)
