"""What an engine is: the only thing that touches rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.errors import OutputError, ParameterError, UnknownColumnError, some
from sfumato.recoding import Recoding
from sfumato.typing import CodeArray, IntArray, Value

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.engines.arrow.survey import Survey

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the rows done so far and the rows there are, None while unknown."""

Suppression: TypeAlias = Literal["remove", "star"]
"""What becomes of a row in a suppressed class: left out, or every cell made meaningless."""

FORMATS = ("csv", "parquet", "feather")
"""The file formats a release can be written in."""


@dataclass(frozen=True)
class Written:
    """A file that was written, and what is in it."""

    path: Path
    rows: int
    """Rows in the file, starred ones included."""

    format: str
    delimiter: str | None
    """What separates the cells of a CSV file; None for other formats."""

    suppressed_rows: int
    """Rows left out or starred."""


@dataclass(frozen=True)
class Stored:
    """A table that was created in a database, and what is in it."""

    name: str
    rows: int
    """Rows in the table, starred ones included."""

    suppressed_rows: int
    """Rows left out or starred."""


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
    """Gives the values at some positions of `rows`, or a few of many where these stay elsewhere."""

    @property
    def total(self) -> int:
        """How many rows there are, with a value or without."""
        return int(self.rows.sum()) + self.missing

    def values(self, most: int | None = None) -> list[Value]:
        """Give the known values, or `most` of them, evenly spread."""
        n = len(self.rows)
        positions = np.arange(n, dtype=np.int64)
        if most is not None and n > most:
            positions = positions[:most] * n // most
        return self.take(positions)


class Table(ABC):
    """An opened source: it can be counted, and it can be published. It is never changed.

    Counting and publishing each read the source once from start to end, so that
    memory depends on the distinct combinations and not on the rows.
    """

    columns: tuple[str, ...]
    kind: str
    """What it came from: csv, parquet, feather, arrow, pandas, polars, duckdb, postgres, spark."""

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
    ) -> "FrequencySet | Survey":
        """Count every distinct combination, or tell of the columns if there are too many.

        Args:
            columns: The columns to count, at least one.
            most: How many combinations there may be.
            complete: Where rows that miss one of these columns are not to be counted, when
                values are counted column by column.
            progress: Told how many rows were read.
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
            rise: Given combinations that are too many, says anew what each value is taken for;
                what was taken for one stays so.
            progress: Told how many rows were read.
        """

    @abstractmethod
    def limit_rows(self, budget: int) -> None:
        """Keep at most so many bytes of recoded rows in memory."""

    @abstractmethod
    def domains(
        self, columns: Sequence[str], *, progress: Progress | None = None
    ) -> dict[str, Domain]:
        """Count the values of each column by itself, in one pass.

        Columns of lists and the like have no single value per row and are left out.
        """

    @abstractmethod
    def publish(
        self,
        recoding: Recoding,
        columns: Sequence[str],
        target: Path,
        *,
        format: str,  # noqa: A002 - the word users know
        suppression: Suppression,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Written:
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
            rng: Where the order of the rows comes from and, if rows that are alike become
                different, which of them become what.
            progress: Told how far it is, in rows.
        """

    @abstractmethod
    def publish_table(
        self,
        recoding: Recoding,
        columns: Sequence[str],
        *,
        suppression: Suppression,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> "pa.Table":
        """Do what `publish` does, in memory."""

    def publish_into(
        self,
        recoding: Recoding,
        columns: Sequence[str],
        name: str,
        *,
        suppression: Suppression,
        force: bool = False,
        progress: Progress | None = None,
    ) -> Stored:
        """Do what `publish` does, into a new table of the database the rows are in.

        Promises: the table is there whole or not at all, in an order the database draws. Rows
        do not leave the database.

        Args:
            recoding: As for `publish`.
            columns: As for `publish`.
            name: The table to create, such as people or schema.people.
            suppression: As for `publish`.
            force: Replace a table that has this name.
            progress: Told how many rows there are, at the end.
        """
        raise OutputError(
            f"the table ({self.kind}) is in no database, so it cannot be published into "
            f"{name!r}. Publish it to a file."
        )

    @abstractmethod
    def type_of(self, column: str) -> "pa.DataType":
        """Say as what a column's values are stored, in Arrow's terms."""

    @abstractmethod
    def native(self, table: "pa.Table") -> Any:  # noqa: ANN401 - whatever the caller gave
        """Turn a published table into the kind the caller gave (an Arrow table for files)."""

    def require(self, columns: Sequence[str]) -> None:
        """Refuse columns the table does not have, and columns named twice."""
        for column in columns:
            if column not in self.columns:
                raise UnknownColumnError(column, self.columns)
        repeated = {column for column in columns if list(columns).count(column) > 1}
        if repeated:
            raise ParameterError(
                "columns", list(columns), f"distinct, without {some(repeated)} twice"
            )


class Engine(ABC):
    """A way to read and write tables of some kinds."""

    name: ClassVar[str]

    @abstractmethod
    def owns(self, source: object) -> bool:
        """Tell whether this engine can open such a thing, without opening it."""

    @abstractmethod
    def open(self, source: object) -> Table:
        """Open it, or refuse with `InputError`."""
