"""Rows as they would be published, while nothing is published yet."""

from collections.abc import Sequence

import pyarrow as pa
from pyarrow import types as t

from sfumato.counts import Column, FrequencySet
from sfumato.engines.base import Progress
from sfumato.engines.ibis.table import IbisTable
from sfumato.text import text_of


class TriedTable(IbisTable):
    """What a recoding would make of a table of a database: counts, and no table.

    It stands for a release that nobody needs to see: it can be counted, and tables that follow
    from its counts can be stored in the database.

    Args:
        table: The table that would be recoded.
        counts: What would be published of it.
    """

    def __init__(self, table: IbisTable, counts: FrequencySet) -> None:
        super().__init__(table._database, table.given)  # noqa: SLF001 - of the same class
        self._types = {column.name: _type_of(column, table) for column in counts.columns}
        self._counts = _as_typed(counts, self._types)
        self.columns = counts.names

    def count(self, columns: Sequence[str], *, progress: Progress | None = None) -> FrequencySet:
        self.require(columns)
        if progress is not None:
            progress(self._counts.total, self._counts.total)
        return self._counts.project(tuple(columns))

    def manifest(self) -> None:
        """Give none: what stands beside the table is not about these rows."""

    def type_of(self, column: str) -> pa.DataType:
        self.require([column])
        return self._types[column]


def _type_of(column: Column, table: IbisTable) -> pa.DataType:
    """Say as what a column is published: one with labels in it is text."""
    before = table.type_of(column.name)
    labels = any(isinstance(value, str) for value in column.values)
    textual = t.is_string(before) or t.is_large_string(before)
    return pa.string() if labels and not textual else before


def _as_typed(counts: FrequencySet, types: dict[str, pa.DataType]) -> FrequencySet:
    """Let labels and values stand in one column as text."""
    values = [
        [None if value is None else text_of(value) for value in column.values]
        if types[column.name] == pa.string()
        else list(column.values)
        for column in counts.columns
    ]
    return FrequencySet.from_codes(counts.names, values, counts.codes, counts.rows)
