"""Tables and engines: the interfaces of everything that touches rows."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.derivations import Preparation
from sfumato.errors import InputError, ParameterError, UnknownColumnError, some
from sfumato.populations.weights import Averaging, add_weights
from sfumato.recoding import Recoding
from sfumato.tables.variables import PublishedVariable, Variable
from sfumato.typing import CodeArray, FloatArray, IntArray, Value

if TYPE_CHECKING:
    import pyarrow as pa

_CALENDAR_DAY = re.compile(r"(?!0000)\d{4}-")

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the rows done so far and the rows there are, None while unknown."""

Suppression: TypeAlias = Literal["remove", "star"]
"""The fate of a row in a suppressed class: left out, or every cell made meaningless."""

NO_WEIGHTS: Mapping[str, Averaging] = MappingProxyType({})
"""What becomes of the weights of a table that has none."""

DELIMITER = ","
"""What separates the cells of a release that is a CSV file."""


@dataclass(frozen=True)
class WrittenFile:
    """A file that was written, and its content."""

    path: Path
    rows: int
    """Rows in the file, starred ones included."""

    format: str
    delimiter: str | None
    """The separator of the cells of a CSV file; None for other formats."""

    suppressed_rows: int
    """Rows left out or starred."""

    variables: tuple[PublishedVariable, ...] = ()
    """What is stated about its columns, if the input had a dictionary."""

    domains: Mapping[str, "Domain"] = field(default_factory=dict)
    """How many rows have each value, of columns of which that is known and need not be read."""


@dataclass(frozen=True)
class CreatedTable:
    """A table that was created in a database, and its content."""

    name: str
    rows: int
    """Rows in the table, starred ones included."""

    suppressed_rows: int
    """Rows left out or starred."""


_FEW_VALUES = 10_000


@dataclass(frozen=True, eq=False)
class Domain:
    """One column by itself: how many rows have each of its values.

    Values stay where the engine has them until they are asked for, because a column of
    names may have as many as there are rows.
    """

    column: str
    rows: IntArray
    """How many rows have each known value, in the order the values were met."""

    missing: int
    take: Callable[[IntArray], list[Value]]
    """Returns the values at some positions of `rows`, or a few of them if they stay elsewhere."""

    line_breaks: int = 0
    """How many rows have a text of more than one line."""

    order: tuple[str, ...] | None = None
    """All categories, the least first, if the table says that they have an order."""

    @property
    def total(self) -> int:
        """The number of rows, with a value or without."""
        return int(self.rows.sum()) + self.missing

    @property
    def is_small(self) -> bool:
        """Whether its values are few enough to be kept as long as others may ask for them."""
        return len(self.rows) <= _FEW_VALUES

    def values(self, most: int | None = None) -> list[Value]:
        """Return the known values, or `most` of them, evenly spread."""
        n = len(self.rows)
        positions = np.arange(n, dtype=np.int64)
        if most is not None and n > most:
            positions = positions[:most] * n // most
        return self.take(positions)


@dataclass(frozen=True, eq=False)
class Survey:
    """The columns of a table that has too many combinations to hold them all."""

    columns: tuple[Column, ...]
    frequencies: Mapping[str, IntArray]
    """How many rows have each value of a column; of the complete rows, if only those matter."""

    sample: CodeArray
    """`sample[c, i]`: the value of column c in the i-th of some rows, drawn at random."""

    rows: int
    """The number of rows."""


class Table(ABC):
    """An opened source: it can be counted, and it can be published. It is never changed.

    Counting and publishing each read the source once from start to end, so that
    memory depends on the distinct combinations and not on the rows.
    """

    columns: tuple[str, ...]
    kind: str
    """Where it came from: csv, parquet, feather, sav, por, dta, sas7bdat, xpt, xlsx, arrow, pandas,
    polars, duckdb, postgres, spark."""

    variables: Mapping[str, Variable] = MappingProxyType({})
    """What a dictionary in the file says about columns."""

    prepared: Preparation = Preparation()
    """What was done with the rows before they are counted."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes on what was found out about the form of the data, each in one line."""
        return ()

    @property
    def unowned(self) -> float:
        """The share of the rows that are left out, once they were read: they have no owner."""
        return 0.0

    def prepare(self, preparation: Preparation) -> "Table":
        """Return the table with dates in one form, and with the columns that are derived."""
        raise InputError(
            f"tables of the engine {self.kind} cannot derive columns or read dates in other forms "
            "than their own. Make a table that has the columns, or give the rows as a file."
        )

    @abstractmethod
    def count(self, columns: Sequence[str], *, progress: Progress | None = None) -> FrequencySet:
        """Count every distinct combination of these columns.

        None, NaN and NaT are one value: missing. -0.0 is 0.0.
        """

    @abstractmethod
    def survey(
        self,
        columns: Sequence[str],
        most: int,
        *,
        complete: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> FrequencySet | Survey:
        """Count combinations; if more than `most`, return frequencies per column and a sample.

        Args:
            columns: The columns to count, at least one.
            most: How many combinations there may be.
            complete: Where rows that miss one of these columns are not to be counted, when
                values are counted column by column.
            progress: Called with the number of rows that were read.
        """

    @abstractmethod
    def count_merged(
        self,
        found: Survey,
        merged: Sequence[CodeArray],
        most: int,
        rise: Callable[[CodeArray], Sequence[CodeArray]],
        *,
        progress: Progress | None = None,
    ) -> tuple[CodeArray, IntArray]:
        """Count combinations in which several values are taken for one.

        Args:
            found: What `survey` found: the columns with all values that occur.
            merged: For each value of each column, which one it is taken for.
            most: How many combinations there may be.
            rise: Returns, for combinations that are too many, coarser `merged`; values that
                were one stay one.
            progress: Called with the number of rows that were read.
        """

    @abstractmethod
    def head(self, most: int) -> "pa.Table":
        """Return some rows to look at: of a file the first, of a database any.

        Args:
            most: How many rows at most.
        """

    @abstractmethod
    def domains(
        self, columns: Sequence[str], *, progress: Progress | None = None
    ) -> dict[str, Domain]:
        """Count the values of each column by itself, in one pass.

        Columns of lists and the like have no single value per row and are left out.
        """

    def orders(self, columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the values of those columns that are categories with an order, in that order.

        The values may be more than the rows have.
        """
        ordinal = [
            name
            for name in columns
            if name in self.variables and self.variables[name].measure == "ordinal"
        ]
        return {
            name: tuple(told.labels.values() if told.category else told.labels)
            for name in ordinal
            if (told := self.variables[name]).labels
        }

    def count_weighted(
        self, columns: Sequence[str], weight: str, *, progress: Progress | None = None
    ) -> tuple[FrequencySet, FloatArray]:
        """Count combinations, and add up a weight in each; one that is missing is 0."""
        names = (*columns, weight)
        return add_weights(self.count(names, progress=progress).project(names), weight)

    def repeats(self, column: str) -> bool:
        """Return whether two rows have the same value in a column; missing ones are none."""
        domain = self.domains((column,)).get(column)
        return domain is not None and bool((domain.rows > 1).any())

    @abstractmethod
    def publish(
        self,
        recoding: Recoding,
        columns: Sequence[str],
        target: Path,
        *,
        format: str,  # noqa: A002 - the word users know
        suppression: Suppression,
        weights: Mapping[str, Averaging] = NO_WEIGHTS,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> WrittenFile:
        """Write the recoded rows to a file, in an order drawn from `rng`.

        Promises: the order of the rows, dictionaries and metadata say nothing about the
        input; on failure no file is left. Does not promise that the release is safe:
        it does what the recoding says.

        Args:
            recoding: What each value becomes, or each combination of values, and which
                classes are suppressed. A local recoding must fit the rows exactly.
            columns: All columns to publish, in order. Those of the recoding are recoded,
                the others are published as they are.
            target: The file to write. Give one in a private folder: it is written in
                place, and temporary files stand beside it while it grows.
            format: One of `written_formats()`.
            suppression: `remove` leaves suppressed rows out; `star` writes `*` in each of
                their recoded columns and nothing in the others.
            weights: What becomes of columns that hold weights: one number for all rows that have
                the same labels.
            rng: Where the order of the rows comes from and, if rows that are alike become
                different, which of them become what.
            progress: Called with the rows that are done.
        """

    @abstractmethod
    def publish_table(
        self,
        recoding: Recoding,
        columns: Sequence[str],
        *,
        suppression: Suppression,
        weights: Mapping[str, Averaging] = NO_WEIGHTS,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> "pa.Table":
        """Return the recoded rows as a table in memory; see `publish`."""

    @abstractmethod
    def type_of(self, column: str) -> "pa.DataType":
        """Return the Arrow type of a column's values."""

    @abstractmethod
    def has_single_values(self, column: str) -> bool:
        """Return whether each row has a single value in a column: not a list or the like."""

    @abstractmethod
    def native(self, table: "pa.Table") -> Any:  # noqa: ANN401 - whatever the caller gave
        """Turn a published table into the kind the caller gave (an Arrow table for files)."""

    def require(self, columns: Sequence[str]) -> None:
        """Raise if the table does not have the columns, or a column is named twice."""
        for column in columns:
            if column not in self.columns:
                raise UnknownColumnError(column, self.columns)
        repeated = {column for column in columns if list(columns).count(column) > 1}
        if repeated:
            raise ParameterError(
                "columns", list(columns), f"distinct, without {some(repeated)} twice"
            )


def require_publishable(
    table: Table, recoding: Recoding, columns: Sequence[str], suppression: Suppression
) -> None:
    """Raise if a table cannot be published in this way."""
    table.require(columns)
    table.require(recoding.looked_at)
    if not columns:
        raise ParameterError("columns", list(columns), "at least one column to publish")
    if suppression not in ("remove", "star"):
        raise ParameterError("suppression", suppression, "'remove' or 'star'")


def require_single_values(table: Table, columns: Sequence[str]) -> None:
    """Raise if a column that is to be published holds lists, structs or maps."""
    for name in columns:
        if not table.has_single_values(name):
            raise InputError(
                f"column {name!r} holds {table.type_of(name)}, which has no single value per "
                "row, so nothing can be promised about it. If it is a list of items, give it "
                "the role set and promise km-anonymity; else split it into plain columns, or "
                "leave it out with the role dropped."
            )


def require_calendar_days(table: Table, counts: FrequencySet) -> None:
    """Raise if a date or time that was counted is outside the years 1 to 9999.

    Most readers of a release cannot read it, the verifier included.
    """
    for column in counts.columns:
        if not str(table.type_of(column.name)).startswith(("date", "timestamp")):
            continue
        # Counting writes what Python's calendar does not have as text.
        strange = [
            value
            for value in column.values
            if isinstance(value, str) and not _CALENDAR_DAY.match(value)
        ]
        if strange:
            raise InputError(
                f"column {column.name!r} holds {len(strange)} dates or times outside the "
                "years 1 to 9999, which most programs cannot read. Make them missing, or put "
                "a day in their place that exists."
            )


class Engine(ABC):
    """A way to open tables of some kinds.

    A plug-in registers its engine as an entry point of the group `sfumato.engines`. For a database
    that speaks SQL, a class in the group `sfumato.databases` is enough.
    """

    name: ClassVar[str]
    in_database: ClassVar[bool] = False
    """Whether its tables are those of a database: `sfumato.tables.stored.DatabaseTable`."""

    @abstractmethod
    def owns(self, source: object) -> bool:
        """Return whether this engine can open a source, without opening it."""

    @abstractmethod
    def open(self, source: object) -> Table:
        """Open a source; raise `InputError` if that is not possible."""


def require_column_names(names: Sequence[str], where: str, hint: str = "") -> None:
    """Raise if columns cannot be told apart by name."""
    if not names:
        raise InputError(f"{where} has no columns")
    if "" in names:
        raise InputError(
            f"{where}: column {names.index('') + 1} of {len(names)} has no name. "
            f"Give it one, or take it out{hint}."
        )
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise InputError(
            f"{where}: {some(repeated)} is the name of more than one column. "
            "Give every column its own name."
        )
