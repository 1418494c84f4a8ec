"""Tables that follow from counts, such as those of a decoupled release.

They hold nothing that the counts do not say, so they are described here and written by an engine,
without reading any row again. Arrow is imported when it is needed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.tables.base import Progress, Table, WrittenFile
from sfumato.tables.formats import require_format
from sfumato.typing import IntArray, Value

if TYPE_CHECKING:
    import pyarrow as pa

Cells: TypeAlias = tuple[np.ndarray, ...]
"""One array per column: codes into its values, or the numbers themselves."""

SLICE = 1 << 18
"""Rows written at a time."""

_AT_ONCE = 1 << 22
"""Rows that are put in random order at a time."""

_SORTED = 1 << 15
"""Numbers from which on sorting them by drawn keys is faster than swapping them."""


@dataclass(frozen=True)
class DerivedColumn:
    """A column's name, and the values that codes stand for."""

    name: str
    values: tuple[Value, ...] | None = None
    """The values by code; None where the cells are the numbers themselves."""

    whole: bool = True
    """Whether such numbers are whole."""


class Batch(NamedTuple):
    """Some rows: the distinct rows, and the index of the distinct row at each position."""

    kinds: Cells
    picks: IntArray | None = None
    """The kind of each row; None if every kind stands there once, in order."""


@dataclass(frozen=True, eq=False)
class DerivedTable:
    """Columns and rows of a table that no source holds.

    Example:
        >>> columns = (DerivedColumn("age", ("30s", "40s")), DerivedColumn("group"))
        >>> kinds = np.array([0, 1]), np.array([71, 28])
        >>> table = DerivedTable.repeat(columns, kinds, np.array([2, 1]), np.random.default_rng())
        >>> table.rows, sorted(np.concatenate([b.picks for b in table.batches()]).tolist())
        (3, [0, 0, 1])
    """

    columns: tuple[DerivedColumn, ...]
    rows: int
    batches: Callable[[], Iterator[Batch]]
    """Returns the rows; can be called once."""

    @classmethod
    def repeat(
        cls,
        columns: tuple[DerivedColumn, ...],
        kinds: Cells,
        times: IntArray,
        rng: np.random.Generator,
    ) -> "DerivedTable":
        """Repeat each kind of row some times, all rows in random order."""
        total = int(times.sum())

        def batches() -> Iterator[Batch]:
            for picks in in_random_order(times, rng):
                yield Batch(kinds, picks)

        return cls(columns, total, batches)


def in_random_order(
    times: IntArray,
    rng: np.random.Generator,
    *,
    at_once: int | None = None,
    size: int | None = None,
) -> Iterator[IntArray]:
    """Yield `times[i]` copies of every i, some at a time, every order of all equally likely.

    Each copy is thrown into one of several parts with equal chance, and each part is shuffled:
    memory depends on the different i and the size of a part, not on all the copies.

    Args:
        times: The number of copies.
        rng: Where the order comes from.
        at_once: The expected size of a part; None for as many as are fast.
        size: The most copies that are yielded together; None for as many as are written at a time.

    >>> some = list(in_random_order(np.array([2, 3]), np.random.default_rng(1), at_once=2))
    >>> sorted(np.concatenate(some).tolist())
    [0, 0, 1, 1, 1]
    """
    left = times.astype(np.int64)
    size = size or SLICE
    parts = -(-int(left.sum()) // (at_once or _AT_ONCE))
    width = np.min_scalar_type(max(len(times) - 1, 0))
    for part in range(parts):
        # How many copies of each i fall into this part is drawn without writing them out.
        last = part == parts - 1
        here = left if last else rng.binomial(left, 1 / (parts - part))
        left = left - here
        order = np.repeat(np.arange(len(times), dtype=width), here)
        order = _in_random_order(order, rng)
        if len(order):
            # Of about one size: a part is seldom a multiple, and a few rows left over would be a
            # row group of their own.
            yield from np.array_split(order, -(-len(order) // size))


def _in_random_order(numbers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return whole numbers in random order, every order equally likely.

    Many are sorted by keys that are drawn for them. If two keys are the same, which is seldom, all
    are drawn again: otherwise these two would stand in their own order.
    """
    n, bits = len(numbers), int(numbers.max(initial=0)).bit_length()
    drawn = 63 - bits
    if n < _SORTED or n * n > 1 << drawn:
        rng.shuffle(numbers)
        return numbers
    while True:
        keyed = rng.integers(1 << drawn, size=n) << bits
        keyed |= numbers
        keyed.sort()
        keys = keyed >> bits
        if (keys[1:] != keys[:-1]).all():
            return (keyed & ((1 << bits) - 1)).astype(numbers.dtype)


def write_derived(
    derived: DerivedTable,
    target: Path,
    *,
    format: str,  # noqa: A002 - the word users know
    likes: Mapping[str, Table],
    delimiter: str = ",",
    progress: Progress | None = None,
) -> WrittenFile:
    """Write a table that follows from counts to a new file.

    Promises: the file holds what is described, in that order, and nothing else; on failure no
    file is left.

    Args:
        derived: Its content.
        target: The file to write, in a private folder.
        format: One of `written_formats()`.
        likes: Per column, an opened table that has a column of this name and type; a column
            that is not named becomes text, or a number if it has no values.
        delimiter: Separates the cells of a CSV file.
        progress: Called with the number of rows that were written.
    """
    require_format(format)
    from sfumato.tables.arrow import writing as arrow

    return arrow.write_derived(
        derived,
        target,
        form=format,
        delimiter=delimiter,
        types=_types(likes),
        variables={
            name: table.variables[name] for name, table in likes.items() if name in table.variables
        },
        progress=progress,
    )


def derived_table(derived: DerivedTable, likes: Mapping[str, Table]) -> "pa.Table":
    """Return a table that follows from counts, in memory; see `write_derived`.

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
    """Return the table with values in the types that another table has for some columns.

    Also returns which columns these are, as `likes` for `write_derived`. Where the type would
    change a value, or the other table has no such column, all stays as it is.
    """
    from sfumato.tables.arrow.sources import restore_types

    found = {}
    known = set(columns) & set(table.columns)
    for column in derived.columns:
        if column.values is not None and column.name in known:
            values = restore_types(column.values, table.type_of(column.name))
            if values is not None:
                found[column.name] = replace(column, values=tuple(values))
    every = tuple(found.get(column.name, column) for column in derived.columns)
    return replace(derived, columns=every), dict.fromkeys(found, table)


def _types(likes: Mapping[str, Table]) -> dict[str, "pa.DataType"]:
    return {name: table.type_of(name) for name, table in likes.items()}
