"""Things that only some tables can do, besides being counted and published."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.counts.baskets import Baskets
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, some
from sfumato.files.reading import Reading
from sfumato.populations.weights import Averaging, WeightFacts
from sfumato.recoding import Recoding
from sfumato.tables.base import NO_WEIGHTS, Progress, Suppression, Table
from sfumato.typing import CodeArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.tables.arrow.sets import RowsWithSets

_MOST_DRAWN = 50_000
"""Combinations that a database counts when some of its rows are to be looked at."""


class Capability(ABC):
    """Something that only some tables can do."""

    refusal: ClassVar[str]
    """What to say of a table that cannot: `{kind}` is its kind, `{columns}` what was asked for."""

    @classmethod
    def expect(cls, table: object, columns: Iterable[str] = ()) -> Self:
        """Return a table that can do it; raise if it cannot.

        Args:
            table: The table.
            columns: The columns it is needed for, if the refusal names them.
        """
        if isinstance(table, cls):
            return table
        kind = getattr(table, "kind", "this kind")
        raise InputError(cls.refusal.format(kind=kind, columns=some(columns)))


@dataclass(frozen=True, eq=False)
class WideRows:
    """Rows that were put side by side, one per person."""

    table: Any
    """The rows: a table of Arrow."""

    constant: tuple[str, ...]
    """The columns that never change within a person: they stay one column."""

    changing: tuple[str, ...]
    """The columns that became several."""

    people: int
    rows: int
    """The rows there were."""

    lost: int
    """The rows that were left out, because their person has more than are kept."""

    side_by_side: int
    """The most rows of a person that were put side by side."""

    ties: int
    """People of whom two rows have the same place in the order."""


class OrderedRows(Capability):
    """A table whose rows have an order: a file, or a table in memory."""

    refusal = (
        "rows are taken in their order, and a table of {kind} has none. Give them as a file, or as "
        "a pandas, Polars or Arrow table."
    )

    @property
    @abstractmethod
    def reading(self) -> Reading | None:
        """The way it is read, in full, if it is a text file."""

    @property
    @abstractmethod
    def lines_beyond(self) -> int:
        """Lines of a text file beyond its rows, once it was read, and 0 for what has no lines.

        Cells with line breaks make them, in whatever column, also in those that are not read.
        """

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator["pa.RecordBatch"]:
        """Return the rows as Arrow has them, in the order they are given in."""

    @abstractmethod
    def read(self, columns: Sequence[str]) -> tuple[tuple[Column, ...], CodeArray]:
        """Return the rows in the order they are given in, for the few things that depend on it.

        Returns:
            The columns with the values that occur, and `codes[i, r]`: the value of row r in
            column i.
        """

    @abstractmethod
    def draw(
        self, columns: Sequence[str], share: float
    ) -> tuple[tuple[Column, ...], CodeArray, IntArray]:
        """Return some rows, the same ones every time, to see how columns belong together.

        Args:
            columns: The columns to look at, at least one.
            share: About which share of the rows; a database gives what it counts instead.

        Returns:
            The columns, the code of each column in each combination, and how many rows have it.
        """

    @abstractmethod
    def with_cells(self, cells: Mapping[str, tuple[Column, IntArray]]) -> Table:
        """Return the table with other values in some columns, or with more columns of numbers.

        Args:
            cells: For each column its values, and which of them each row has, in the order in
                which `read` gives the rows.
        """

    @abstractmethod
    def with_lists_as_text(self, apart: Collection[str]) -> Table:
        """Return the table with text in place of lists of single values: `a; b`.

        Args:
            apart: The columns in which lists stay.
        """

    @abstractmethod
    def widen(
        self,
        person: str,
        order: str | None,
        columns: Sequence[str],
        most: int | None,
        count: str,
    ) -> WideRows:
        """Return the rows of each person side by side; see `sfumato.tasks.widen`."""

    @abstractmethod
    def into_memory(self, most: int) -> Table:
        """Return it in memory if that takes at most `most` bytes; else itself."""

    @abstractmethod
    def limit_rows(self, budget: int) -> None:
        """Keep at most `budget` bytes of recoded rows in memory."""


def reading_of(table: Table) -> Reading | None:
    """Return the way a table is read, in full, if it is a text file."""
    return table.reading if isinstance(table, OrderedRows) else None


def into_memory(table: Table, most: int) -> Table:
    """Return a table in memory if that takes at most `most` bytes; else, or in a database, itself.

    A file of which many windows are counted is then read once.

    Args:
        table: The table.
        most: The bytes it may take.
    """
    return table.into_memory(most) if isinstance(table, OrderedRows) else table


def limit_rows(table: Table, budget: int) -> None:
    """Keep at most `budget` bytes of recoded rows in memory; those of a database stay in it."""
    if isinstance(table, OrderedRows):
        table.limit_rows(budget)


def draw_rows(
    table: Table, columns: Sequence[str], share: float
) -> tuple[tuple[Column, ...], CodeArray, IntArray]:
    """Return some rows of any table, to see how columns belong together; see `OrderedRows.draw`.

    Args:
        table: The table; a database gives what it counts instead.
        columns: The columns to look at, at least one.
        share: About which share of the rows.
    """
    if isinstance(table, OrderedRows):
        return table.draw(columns, share)
    found = table.survey(columns, _MOST_DRAWN)
    if isinstance(found, FrequencySet):
        at = [found.index(name) for name in columns]
        return tuple(found.columns[i] for i in at), found.codes[at], found.rows
    return found.columns, found.sample, np.ones(found.sample.shape[1], dtype=np.int64)


class Weights(Capability):
    """A table whose weights can be measured, and published as means."""

    refusal = (
        "tables of the engine {kind} cannot publish weights. Give the column {columns} the role "
        "dropped, or the table as a file."
    )

    @abstractmethod
    def weigh(self, columns: Sequence[str]) -> dict[str, WeightFacts]:
        """Measure columns that hold weights; raise if one holds no numbers."""


class Sets(Capability):
    """A table in which a cell can hold several items."""

    refusal = (
        "column {columns} has the role set, and items are not counted in a database ({kind}). "
        "Export the table to a Parquet file (lists) or a CSV file (text with a separator) and "
        "anonymise that, or leave the column out with the role dropped."
    )

    @abstractmethod
    def require_sets(self, separators: Mapping[str, str | None]) -> None:
        """Raise if columns cannot be read as sets of items.

        Args:
            separators: Per column, what stands between the items of a cell of text.
        """

    @abstractmethod
    def read_items(self, separators: Mapping[str, str | None]) -> dict[str, Baskets]:
        """Return the items of some columns, row by row, in the order that `read` has.

        Args:
            separators: As for `require_sets`.
        """

    @abstractmethod
    def rows_with_sets(
        self,
        recoding: Recoding,
        columns: Sequence[str],
        separators: Mapping[str, str | None],
        *,
        as_text: bool,
        suppression: Suppression,
        weights: Mapping[str, Averaging] = NO_WEIGHTS,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> "RowsWithSets":
        """Return the recoded rows in memory, their sets still as they were; see `publish`.

        Args:
            recoding: As for `publish`.
            columns: As for `publish`.
            separators: As for `require_sets`.
            as_text: Whether recoded columns must be text, as in a CSV file.
            suppression: As for `publish`.
            weights: As for `publish`.
            rng: As for `publish`.
            progress: Called with the rows that are done.
        """


Order = Literal["days", "times", "moments", "numbers", "texts"]
"""How values are ordered. Moments are times in a zone: the same everywhere."""


@dataclass(frozen=True)
class Window:
    """A stretch of a column by which a table grows: times, days or numbers.

    Bounds are texts, as `Extent` has them, so that no engine rounds them. Rows without a value, or
    with a text that is not of the form, are in no window.

    >>> november = Window("seen", low="2026-11-01", high="2026-12-01")
    >>> november.above, november.through
    (False, False)
    """

    column: str
    form: str | None = None
    """A regular expression of the texts that are values, if the column holds text."""

    low: str | None = None
    """Where it begins; None if there is no such bound."""

    above: bool = False
    """Whether `low` itself is not in it."""

    high: str | None = None
    """Where it ends; None if there is no such bound."""

    through: bool = False
    """Whether `high` itself is in it."""


@dataclass(frozen=True)
class Extent:
    """How many rows are in a window, and where they begin and end.

    Whole numbers, days and texts are written as they are, other numbers so that nothing is lost,
    times as 2026-11-03 10:15:00 with as many decimals as they have, and moments in UTC.
    """

    rows: int
    others: int
    """Rows of the whole table that are in no window."""

    least: str | None
    """The smallest value; None if there are no rows."""

    largest: str | None
    other: str | None = None
    """One of the texts that are not of the form, the first of them in order."""


class Windows(Capability):
    """A table that grows along a column, and is read stretch by stretch."""

    refusal = (
        "tables of the engine {kind} cannot be read window by window. Give new rows as a table."
    )

    @abstractmethod
    def within(self, window: Window) -> Table:
        """Return the rows of a window as a table of its own, which is counted where they are."""

    @abstractmethod
    def extent(self, window: Window) -> Extent:
        """Return how many rows are in a window, and where they begin and end, in one pass."""

    @abstractmethod
    def order_of(self, column: str) -> Order | None:
        """Return how the values of a column are ordered; None if they are not."""
