"""Tables and engines: the interfaces of everything that touches rows."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.counts.baskets import Baskets
from sfumato.derivations import Preparation
from sfumato.errors import InputError, OutputError, ParameterError, UnknownColumnError, some
from sfumato.files.dialect import Dialect
from sfumato.files.reading import Reading
from sfumato.populations.weights import Averaging, WeightFacts, add_weights
from sfumato.recoding import Recoding
from sfumato.tables.variables import PublishedVariable, Variable
from sfumato.typing import CodeArray, FloatArray, IntArray, Value

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.tables.arrow.counting import Survey
    from sfumato.tables.arrow.sets import RowsWithSets
    from sfumato.tables.arrow.widening import WideRows
    from sfumato.tables.derived import DerivedTable
    from sfumato.tables.sql.database import Answer
    from sfumato.tables.sql.releases import Staging, UnfinishedRelease
    from sfumato.tables.sql.spark_fragments import Division, Solve
    from sfumato.tables.sql.table import SolvedTables

_CALENDAR_DAY = re.compile(r"(?!0000)\d{4}-")

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the rows done so far and the rows there are, None while unknown."""

Suppression: TypeAlias = Literal["remove", "star"]
"""The fate of a row in a suppressed class: left out, or every cell made meaningless."""

NO_WEIGHTS: Mapping[str, Averaging] = MappingProxyType({})
"""What becomes of the weights of a table that has none."""

OFFICE_FORMATS = ("sav", "dta", "xlsx")
"""Formats of SPSS, Stata and Excel, which need an extra."""

FORMATS = ("csv", "parquet", "feather", *OFFICE_FORMATS)
"""The file formats a release can be written in."""

DELIMITER = ","
"""What separates the cells of a release that is a CSV file."""

_NEAREST = {"por": "sav", "sas7bdat": "dta", "xpt": "dta"}


def format_like(kind: str) -> str:
    """Return the format in which a release of a kind of table is written, if none is named.

    >>> format_like("csv"), format_like("sas7bdat"), format_like("arrow")
    ('csv', 'dta', 'parquet')
    """
    kind = _NEAREST.get(kind, kind)
    return kind if kind in FORMATS else "parquet"


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


_MOST_DRAWN = 50_000
"""Combinations that a database counts when some of its rows are to be looked at."""


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

    has_workers: bool = False
    """Whether rows can be recoded by workers, fragment by fragment; see `solving`."""

    prepared: Preparation = Preparation()
    """What was done with the rows before they are counted."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes on what was found out about the form of the data, each in one line."""
        return ()

    def prepare(self, preparation: Preparation) -> "Table":
        """Return the table with dates in one form, and with the columns that are derived."""
        raise InputError(
            f"tables of the engine {self.kind} cannot derive columns or read dates in other forms "
            "than their own. Make a table that has the columns, or give the rows as a file."
        )

    def with_cells(self, cells: Mapping[str, tuple[Column, IntArray]]) -> "Table":
        """Return the table with other values in some columns, or with more columns of numbers.

        Args:
            cells: For each column its values, and which of them each row has, in the order in
                which `read` gives the rows.
        """
        raise InputError(
            f"values are changed row by row, and rows of the engine {self.kind} have no order. "
            "Give them as a file, or as a pandas, Polars or Arrow table."
        )

    @property
    def reading(self) -> Reading | None:
        """The way it is read, in full, if it is a text file."""
        return None

    @property
    def lines_beyond(self) -> int:
        """Lines of a text file beyond its rows, once it was read, and 0 for what has no lines.

        Cells with line breaks make them, in whatever column, also in those that are not read.
        """
        return 0

    @abstractmethod
    def count(self, columns: Sequence[str], *, progress: Progress | None = None) -> FrequencySet:
        """Count every distinct combination of these columns.

        None, NaN and NaT are one value: missing. -0.0 is 0.0.
        """

    def read(self, columns: Sequence[str]) -> tuple[tuple[Column, ...], CodeArray]:
        """Return the rows in the order they are given in, for the few things that depend on it.

        Returns:
            The columns with the values that occur, and `codes[i, r]`: the value of row r in
            column i.
        """
        raise InputError(
            f"rows are taken in their order, and a table of {self.kind} has none. Give them as a "
            "file, or as a pandas, Polars or Arrow table."
        )

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
        found = self.survey(columns, _MOST_DRAWN)
        if isinstance(found, FrequencySet):
            at = [found.index(name) for name in columns]
            return tuple(found.columns[i] for i in at), found.codes[at], found.rows
        return found.columns, found.sample, np.ones(found.sample.shape[1], dtype=np.int64)

    @abstractmethod
    def survey(
        self,
        columns: Sequence[str],
        most: int,
        *,
        complete: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> "FrequencySet | Survey":
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
        found: "Survey",
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
    def limit_rows(self, budget: int) -> None:
        """Keep at most `budget` bytes of recoded rows in memory."""

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

    def weigh(self, columns: Sequence[str]) -> dict[str, WeightFacts]:
        """Measure columns that hold weights; raise if one holds no numbers."""
        raise InputError(
            f"tables of the engine {self.kind} cannot publish weights. Give the column "
            f"{columns[0]!r} the role dropped, or the table as a file."
        )

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
            format: One of `FORMATS`.
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

    def publish_into(
        self,
        recoding: Recoding,
        columns: Sequence[str],
        name: str,
        *,
        suppression: Suppression,
        weights: Mapping[str, Averaging] = NO_WEIGHTS,
        force: bool = False,
        progress: Progress | None = None,
    ) -> CreatedTable:
        """Create a table with the recoded rows in the database the rows are in; see `publish`.

        Promises: the table is there whole or not at all, in an order the database draws. Rows
        do not leave the database.

        Args:
            recoding: As for `publish`.
            columns: As for `publish`.
            name: The table to create, such as people or schema.people.
            suppression: As for `publish`.
            weights: As for `publish`.
            force: Replace a table that has this name.
            progress: Called with the number of rows, at the end.
        """
        raise OutputError(
            f"the table ({self.kind}) is in no database, so it cannot be published into "
            f"{name!r}. Publish it to a file."
        )

    def solving(
        self,
        division: "Division",
        solve: "Solve",
        columns: Mapping[str, str | None],
        output: str | None,
    ) -> "AbstractContextManager[SolvedTables]":
        """Return a block in which the rows that workers recoded are there.

        Args:
            division: Which rows are in which fragment.
            solve: Recodes the rows of a fragment.
            columns: The columns it returns; see `sfumato.tables.sql.spark_fragments`.
            output: The table that is made of them, if it is one.
        """
        raise NotImplementedError(f"{self.kind} has no workers")

    def within(self, window: Window) -> "Table":
        """Return the rows of a window as a table of its own, which is counted where they are."""
        raise InputError(_NO_WINDOWS.format(self.kind))

    def widen(
        self,
        person: str,
        order: str | None,
        columns: Sequence[str],
        most: int | None,
        count: str,
    ) -> "WideRows":
        """Return the rows of each person side by side; see `sfumato.tasks.widen`."""
        raise InputError(
            f"rows of {self.kind} are not put side by side here: that is done in memory. Give the "
            "rows as a file, or as a pandas, Polars or Arrow table."
        )

    def into_memory(self, most: int) -> "Table":
        """Return it in memory if that takes at most `most` bytes; else, or in a database, itself.

        A file of which many windows are counted is then read once.
        """
        return self

    def extent(self, window: Window) -> Extent:
        """Return how many rows are in a window, and where they begin and end, in one pass."""
        raise InputError(_NO_WINDOWS.format(self.kind))

    def order_of(self, column: str) -> Order | None:
        """Return how the values of a column are ordered; None if they are not."""
        return None

    @abstractmethod
    def type_of(self, column: str) -> "pa.DataType":
        """Return the Arrow type of a column's values."""

    @abstractmethod
    def has_single_values(self, column: str) -> bool:
        """Return whether each row has a single value in a column: not a list or the like."""

    def require_sets(self, separators: Mapping[str, str | None]) -> None:
        """Raise if columns cannot be read as sets of items.

        Args:
            separators: Per column, what stands between the items of a cell of text.
        """
        raise InputError(
            f"column {some(separators)} has the role set, and items are not counted in a database "
            f"({self.kind}). Export the table to a Parquet file (lists) or a CSV file (text with a "
            "separator) and anonymise that, or leave the column out with the role dropped."
        )

    def read_items(self, separators: Mapping[str, str | None]) -> dict[str, Baskets]:
        """Return the items of some columns, row by row, in the order that `read` has.

        Args:
            separators: As for `require_sets`.
        """
        self.require_sets(separators)
        raise NotImplementedError(f"{self.kind} reads no sets")

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
        raise NotImplementedError(f"{self.kind} reads no sets")

    def require_single_values(self, columns: Sequence[str]) -> None:
        """Raise if a column that is to be published holds lists, structs or maps."""
        for name in columns:
            if not self.has_single_values(name):
                raise InputError(
                    f"column {name!r} holds {self.type_of(name)}, which has no single value per "
                    "row, so nothing can be promised about it. If it is a list of items, give it "
                    "the role set and promise km-anonymity; else split it into plain columns, or "
                    "leave it out with the role dropped."
                )

    def require_calendar_days(self, counts: FrequencySet) -> None:
        """Raise if a date or time that was counted is outside the years 1 to 9999.

        Most readers of a release cannot read it, the verifier included.
        """
        for column in counts.columns:
            if not str(self.type_of(column.name)).startswith(("date", "timestamp")):
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

    @abstractmethod
    def native(self, table: "pa.Table") -> Any:  # noqa: ANN401 - whatever the caller gave
        """Turn a published table into the kind the caller gave (an Arrow table for files)."""

    def require_publishable(
        self, recoding: Recoding, columns: Sequence[str], suppression: Suppression
    ) -> None:
        """Raise if the table cannot be published in this way."""
        self.require(columns)
        self.require(recoding.looked_at)
        if not columns:
            raise ParameterError("columns", list(columns), "at least one column to publish")
        if suppression not in ("remove", "star"):
            raise ParameterError("suppression", suppression, "'remove' or 'star'")

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


_NO_WINDOWS = "tables of the engine {} cannot be read window by window. Give new rows as a table."


class DatabaseTable(Table):
    """A table of a database. Counts come out of it; rows stay where they are.

    Beyond counting and publishing it can hold releases: tables of the same database with a
    manifest, and evidence, in tables beside them. A database that speaks SQL needs none of this by
    itself: `sfumato.tables.sql.database.Database` documents the one class it needs. An engine of
    another kind implements this interface and sets `Engine.in_database`.
    """

    given: object
    """The source that was opened, such as an address; None if it is not known."""

    name: str
    """The table's name in messages."""

    relation_name: tuple[str, ...]
    """The table's name, in parts, in statements for `query`."""

    dialect: Dialect
    """The SQL in which the verifier writes statements for `query`."""

    @abstractmethod
    def query(self, statement: str) -> "Answer":
        """Run a statement and return its rows, which must be few."""

    @abstractmethod
    def native_type(self, column: str) -> str:
        """Return the type of a column in the database's words."""

    @abstractmethod
    def is_called(self, name: str) -> bool:
        """Return whether a name means this very table."""

    @abstractmethod
    def is_view(self) -> bool:
        """Return whether it is a query, whose rows are made whenever they are read."""

    @abstractmethod
    def open_other(self, name: str) -> "DatabaseTable":
        """Open another table of the same database."""

    @abstractmethod
    def open_beside(self, name: str) -> "DatabaseTable":
        """Open another table, in the schema of this one unless its name has one."""

    @abstractmethod
    def manifest(self) -> str | None:
        """Return the manifest beside the table; None if it is no release."""

    @abstractmethod
    def evidence(self) -> str | None:
        """Return the evidence beside the table; None if there is none."""

    @abstractmethod
    def store_evidence(self, text: str) -> None:
        """Store evidence beside the table, in place of what was there."""

    @abstractmethod
    def require_writable(self, form: str, columns: Sequence[str]) -> None:
        """Raise if the database cannot write such a file as the arrow engine would."""

    @abstractmethod
    def releasing(
        self, name: str, others: Sequence[str] = (), *, force: bool, signed: bool = False
    ) -> "AbstractContextManager[UnfinishedRelease]":
        """Return a block at whose end tables and their manifest appear together, or none of them.

        Args:
            name: The final name of the table; it is `UnfinishedRelease.name` until then.
            others: The final names of further tables of the release.
            force: Replace a release of that name; any other table is never touched.
            signed: Whether its evidence appears with them.
        """

    @abstractmethod
    def staging(self, owner: str) -> "Staging":
        """Return where the tables of a ledger wait for their names, in the same database."""

    @abstractmethod
    def store(self, derived: "DerivedTable", name: str, likes: Mapping[str, Table]) -> None:
        """Create a table that follows from counts; its rows are made in the database."""

    @abstractmethod
    def simulate(self, counts: FrequencySet) -> "DatabaseTable":
        """Return a table of the same database that consists of counts and is never written."""


class Engine(ABC):
    """A way to open tables of some kinds.

    A plug-in registers its engine as an entry point of the group `sfumato.engines`. For a database
    that speaks SQL, a class in the group `sfumato.databases` is enough.
    """

    name: ClassVar[str]
    in_database: ClassVar[bool] = False
    """Whether its tables are `DatabaseTable`s."""

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
