"""What an engine is: the only thing that touches rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.errors import OutputError, ParameterError, UnknownColumnError, some
from sfumato.recoding import Recoding
from sfumato.typing import CodeArray, IntArray, Value

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.tables.arrow.counting import Survey

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


# Tables that follow from counts: what is in them, and batch by batch in which order.
#
# A decoupled release has nothing that the counts do not say, so its tables are described here and
# written by an engine, without reading any row again.


Cells: TypeAlias = tuple[np.ndarray, ...]
"""One array per column: codes into its values, or the numbers themselves."""

SLICE = 1 << 18
"""Rows written at a time."""

_THROWN = 1 << 22
"""Rows that are put in random order at a time."""


@dataclass(frozen=True)
class DerivedColumn:
    """A column's name, and the values that codes stand for."""

    name: str
    values: tuple[Value, ...] | None = None
    """The values by code; None where the cells are the numbers themselves."""

    whole: bool = True
    """Whether such numbers are whole."""


class Batch(NamedTuple):
    """Some rows: kinds of row, and which of them stand there one after the other."""

    kinds: Cells
    picks: IntArray | None = None
    """The kind of each row; None if every kind stands there once, in order."""


@dataclass(frozen=True, eq=False)
class DerivedTable:
    """Columns and rows of a table that no source holds.

    Example:
        >>> columns = (DerivedColumn("age", ("30s", "40s")), DerivedColumn("group"))
        >>> kinds = np.array([0, 1]), np.array([71, 28])
        >>> table = DerivedTable.repeated(columns, kinds, np.array([2, 1]), np.random.default_rng())
        >>> table.rows, sorted(np.concatenate([b.picks for b in table.batches()]).tolist())
        (3, [0, 0, 1])
    """

    columns: tuple[DerivedColumn, ...]
    rows: int
    batches: Callable[[], Iterator[Batch]]
    """Gives the rows; they can be asked for once."""

    @classmethod
    def repeated(
        cls,
        columns: tuple[DerivedColumn, ...],
        kinds: Cells,
        times: IntArray,
        rng: np.random.Generator,
    ) -> "DerivedTable":
        """Let each kind of row stand there some times, all rows in random order."""
        total = int(times.sum())

        def batches() -> Iterator[Batch]:
            for picks in in_random_order(times, rng):
                yield Batch(kinds, picks)

        return cls(columns, total, batches)


def in_random_order(
    times: IntArray, rng: np.random.Generator, *, thrown: int = _THROWN
) -> Iterator[IntArray]:
    """Deal out `times[i]` copies of every i, every order of all of them equally likely.

    Each copy is thrown into one of several parts with equal chance, and each part is shuffled:
    memory depends on the different i and the size of a part, not on all the copies.

    >>> dealt = list(in_random_order(np.array([2, 3]), np.random.default_rng(1), thrown=2))
    >>> sorted(np.concatenate(dealt).tolist())
    [0, 0, 1, 1, 1]
    """
    left = times.astype(np.int64)
    parts = -(-int(left.sum()) // thrown)
    width = np.min_scalar_type(max(len(times) - 1, 0))
    for part in range(parts):
        # What is not yet thrown goes into one of the parts that are left, this one among them.
        here = rng.binomial(left, 1 / (parts - part))
        left -= here
        order = np.repeat(np.arange(len(times), dtype=width), here)
        rng.shuffle(order)
        for start in range(0, len(order), SLICE):
            yield order[start : start + SLICE]
