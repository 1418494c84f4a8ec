"""Line breaks in published cells: a stray quote in a CSV file hides whole rows in one cell.

Two quotes some rows apart make a valid file, in which all that is between them is one cell: names
and numbers of other people, published as part of a diagnosis.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.tables import Table
from sfumato.tables.capabilities import OrderedRows
from sfumato.text import format_integer, has_line_break
from sfumato.typing import IntArray


def count_line_breaks(counts: FrequencySet) -> dict[str, int]:
    r"""Count the cells with line breaks, by column; columns without any are left out.

    >>> rows = [(30, "flu"), (30, "flu\nAnn,31,gout"), (40, "gout")]
    >>> count_line_breaks(FrequencySet.from_rows(["age", "ill"], rows))
    {'ill': 1}
    """
    return _count((column, counts.value_counts(column.name)) for column in counts.columns)


def count_line_breaks_of_groups(grouped: GroupedTables) -> dict[str, int]:
    """Count the people of a decoupled release whose cells have line breaks, by column."""
    known = [
        (column, np.bincount(codes, grouped.sizes, len(column.values)))
        for column, codes in zip(grouped.quasi_identifiers, grouped.labels, strict=True)
    ]
    secret = [
        (table.column, np.bincount(table.value, table.rows, len(table.column.values)))
        for each in grouped.sensitive
        for table in each.split(len(grouped))
    ]
    return _count([*known, *secret])


def _count(columns: Iterable[tuple[Column, IntArray]]) -> dict[str, int]:
    found = {}
    for column, rows in columns:
        cells = sum(
            int(rows[code]) for code, value in enumerate(column.values) if has_line_break(value)
        )
        if cells:
            found[column.name] = cells
    return found


def describe_line_breaks(column: str, cells: int) -> str:
    """Return in a sentence what cells with line breaks may hold.

    >>> describe_line_breaks("ill", 2)
    "2 cells of 'ill' have line breaks in them: whole rows of other people may hide there"
    """
    many = f"{format_integer(cells)} cells of {column!r} have line breaks in them"
    one = f"a cell of {column!r} has line breaks in it"
    return f"{many if cells > 1 else one}: whole rows of other people may hide there"


ADVICE = "Look at them, and remove stray quotes"


def warn_of_line_breaks(found: Mapping[str, int]) -> list[str]:
    """Return warnings about cells with line breaks, one for each column that has some."""
    return [f"{describe_line_breaks(name, cells)}. {ADVICE}" for name, cells in found.items()]


def warn_of_lines(table: Table, *, told: bool) -> list[str]:
    """Return a warning if a file has more lines than rows, though no published cell shows why.

    Args:
        table: The table, after it was read.
        told: Whether line breaks in published cells account for it.
    """
    beyond = table.lines_beyond if isinstance(table, OrderedRows) else 0
    if told or not beyond:
        return []
    lines = "a line" if beyond == 1 else f"{format_integer(beyond)} lines"
    text = (
        f"the file has {lines} more than rows: cells that are not published have line breaks in "
        f"them, and may have swallowed rows of other people. {ADVICE}"
    )
    return [text]
