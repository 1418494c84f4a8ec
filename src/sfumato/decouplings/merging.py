"""Merge: what the tables of a broken release say when they are joined again."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from sfumato.broken import Broken
from sfumato.decouplings.base import unused
from sfumato.derived import SLICE, Batch, DerivedColumn, DerivedTable
from sfumato.typing import IntArray


class Merged:
    """The natural join of the tables on the group: every combination that could be.

    With several sensitive tables a group joins all its values of one with all its values of
    the others. How many of its people have a combination nobody can tell; if the
    columns had nothing to do with each other it would be |G| · Π cᵢ/|G|, the expected rows.

    Args:
        broken: The groups.
        names: The sensitive columns to join; None takes all.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "high"), ("40s", "flu", "high")]
        >>> counts = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> merged = Merged(Broken.of(counts, ["age"], ["ill", "pay"]))
        >>> merged.total, merged.expected(0, merged.total).tolist()
        (5, [0.5, 0.5, 0.5, 0.5, 1.0])
    """

    def __init__(self, broken: Broken, names: Sequence[str] | None = None) -> None:
        self._broken = broken
        chosen = broken.names if names is None else tuple(names)
        self.tables = tuple(broken.table(name) for name in chosen)

    @cached_property
    def _widths(self) -> list[IntArray]:
        """How many values of each column every group has."""
        n = len(self._broken)
        return [np.bincount(table.group, minlength=n) for table in self.tables]

    @cached_property
    def total(self) -> int:
        """How many rows the join has; counted in Python, for it may be more than 64 bits hold."""
        product = np.ones(len(self._broken), dtype=object)
        for width in self._widths:
            product = product * width
        return int(product.sum())

    @cached_property
    def _ends(self) -> IntArray:
        product = np.ones(len(self._broken), dtype=np.int64)
        for width in self._widths:
            product = product * width
        return np.cumsum(product)

    def rows(self, start: int, stop: int) -> tuple[IntArray, list[IntArray]]:
        """Give the group of some rows, and their entry in each sensitive table."""
        at = np.arange(start, stop, dtype=np.int64)
        group: IntArray = np.searchsorted(self._ends, at, side="right")
        # A row's number in its group, written in digits: one per sensitive table.
        rest = at - np.concatenate([[0], self._ends])[group]
        entries: list[IntArray] = []
        for table, width in zip(self.tables[::-1], self._widths[::-1], strict=True):
            rest, digit = np.divmod(rest, width[group])
            entries.insert(0, table.starts[group] + digit)
        return group, entries

    def expected(self, start: int, stop: int) -> np.ndarray:
        """Give how many people each of some rows stands for, if columns are independent."""
        return self._expected(*self.rows(start, stop))

    def _expected(self, group: IntArray, entries: Sequence[IntArray]) -> np.ndarray:
        sizes = self._broken.sizes[group].astype(np.float64)
        expected = sizes.copy()
        for table, entry in zip(self.tables, entries, strict=True):
            expected *= table.rows[entry] / sizes
        return expected

    def derived(self, group: str) -> DerivedTable:
        """Describe the join as a table: group, quasi-identifiers, values, expected rows."""
        broken = self._broken
        names = [c.name for c in broken.quasi_identifiers] + [t.column.name for t in self.tables]
        columns = (
            DerivedColumn(group),
            *(DerivedColumn(column.name, column.values) for column in broken.quasi_identifiers),
            *(DerivedColumn(table.column.name, table.column.values) for table in self.tables),
            DerivedColumn(unused("expected", [*names, group]), whole=False),
        )

        def batches() -> Iterator[Batch]:
            for start in range(0, self.total, SLICE):
                at, entries = self.rows(start, min(start + SLICE, self.total))
                values = (t.value[e] for t, e in zip(self.tables, entries, strict=True))
                expected = self._expected(at, entries)
                yield Batch((broken.labelled[at], *broken.labels[:, at], *values, expected))

        return DerivedTable(columns, self.total, batches)
