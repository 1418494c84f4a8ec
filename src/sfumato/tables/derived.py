"""Tables that follow from counts, as files and in memory; Arrow is imported when it is needed."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import ParameterError
from sfumato.tables.base import FORMATS, DerivedTable, Progress, Table, Written

if TYPE_CHECKING:
    import pyarrow as pa


def write_derived(
    derived: DerivedTable,
    target: Path,
    *,
    format: str,  # noqa: A002 - the word users know
    likes: Mapping[str, Table],
    delimiter: str = ",",
    progress: Progress | None = None,
) -> Written:
    """Write a table that follows from counts to a new file.

    Promises: what stands in the file is what is described, in that order, and nothing else; on
    failure no file is left.

    Args:
        derived: What is in it.
        target: The file to write, in a private folder.
        format: One of `FORMATS`.
        likes: Per column, an opened table that has a column of this name and type; a column
            that is not named becomes text, or a number if it has no values.
        delimiter: What separates the cells of a CSV file.
        progress: Told how many rows were written.
    """
    if format not in FORMATS:
        raise ParameterError("format", format, f"one of {', '.join(FORMATS)}")
    from sfumato.tables.arrow import writing as arrow

    return arrow.write_derived(
        derived,
        target,
        form=format,
        delimiter=delimiter,
        types=_types(likes),
        progress=progress,
    )


def derived_table(derived: DerivedTable, likes: Mapping[str, Table]) -> "pa.Table":
    """Do what `write_derived` does, in memory.

    >>> import numpy as np
    >>> from sfumato.tables.base import Batch, DerivedColumn
    >>> batch = Batch((np.array([4, 5]),))
    >>> derived = DerivedTable((DerivedColumn("count"),), 2, lambda: iter([batch]))
    >>> derived_table(derived, {}).to_pydict()
    {'count': [4, 5]}
    """
    from sfumato.tables.arrow import writing as arrow

    return arrow.derived_table(derived, _types(likes))


def in_types_of(
    derived: DerivedTable, table: Table, columns: Iterable[str]
) -> tuple[DerivedTable, dict[str, Table]]:
    """Give the values of some columns in the types that a table has for them.

    Also tells which columns that are, as `likes` for `write_derived`. Where the type would change
    a value, or the table has no such column, all stays as it is.
    """
    from sfumato.tables.arrow.types import restored

    found = {}
    known = set(columns) & set(table.columns)
    for column in derived.columns:
        if column.values is not None and column.name in known:
            values = restored(column.values, table.type_of(column.name))
            if values is not None:
                found[column.name] = replace(column, values=tuple(values))
    every = tuple(found.get(column.name, column) for column in derived.columns)
    return replace(derived, columns=every), dict.fromkeys(found, table)


def _types(likes: Mapping[str, Table]) -> dict[str, "pa.DataType"]:
    return {name: table.type_of(name) for name, table in likes.items()}
