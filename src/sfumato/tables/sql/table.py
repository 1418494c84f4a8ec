"""The Ibis engine's table: counts and publishes where the rows are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.counts import Column, FrequencySet
from sfumato.errors import InputError, OutputError, ParameterError
from sfumato.recoding import Recoding
from sfumato.tables.arrow.counting import MISSING, Survey
from sfumato.tables.arrow.types import from_numpy, python_values, to_numpy
from sfumato.tables.base import (
    FORMATS,
    DerivedTable,
    Domain,
    Progress,
    Stored,
    Suppression,
    Table,
    Written,
)
from sfumato.tables.derived import derived_table
from sfumato.tables.sql.counting import TIMES, Counted, StoredSurvey, count_merged, grouped, survey
from sfumato.tables.sql.database import Answer, Database, Field, Name, name_of, written
from sfumato.tables.sql.recoding import Publication, looked_at, publication
from sfumato.tables.sql.releases import (
    Staging,
    Unfinished,
    keep_evidence,
    kinds_of,
    read_evidence,
    read_manifest,
    releasing,
    store_kinds,
)
from sfumato.text import text_of
from sfumato.typing import CodeArray, IntArray, Value

if TYPE_CHECKING:
    from sfumato.tables.sql.spark_fragments import Division, Solve

# One column of a database by itself.


MOST = 10_000
"""How many values of a column are fetched: more are names or numbers of people, or near that."""

_SAMPLED = 1_000


def domain(database: "Database", position: int) -> Domain:
    """Give a column's values, or a sample of them if there are many; how often each occurs always.

    Args:
        database: Where the table is.
        position: The column, by its number in the table.
    """
    counted = Counted(database, [position], most=MOST + 1)
    return _few(counted) if len(counted.rows) <= MOST else _many(database, position)


def _few(counted: Counted) -> Domain:
    book, codes = counted.books[0], counted.codes[0]
    rows = np.zeros(len(book), dtype=np.int64)
    np.add.at(rows, codes, counted.rows)
    # A database gives its groups in any order, another one each time.
    order = np.asarray(pc.sort_indices(book.values), dtype=np.int64)
    values = book.values.take(from_numpy(order))
    return Domain(
        book.column, rows[1:][order], int(rows[MISSING]), partial(_at, values, book.column)
    )


def _many(database: "Database", position: int) -> Domain:
    groups: Any = grouped(database, [position])
    key = groups[f"k{position}"]
    sizes = groups.group_by(missing=ibis.ifelse(key.isnull(), 1, 0), times=groups[TIMES])
    fetched = database.fetch(sizes.aggregate(distinct_values=groups.count()))
    missing, times, distinct = (
        to_numpy(fetched.column(name).cast(pa.int64()).combine_chunks())
        for name in ("missing", "times", "distinct_values")
    )
    known = missing == 0
    rows = np.repeat(times[known], distinct[known])
    name = database.fields[position].name
    values = _spread(database, groups.filter(key.notnull()), f"k{position}", len(rows))
    return Domain(name, rows, int(times[~known].sum()), partial(_near, values, name, len(rows)))


def _spread(database: "Database", groups: Any, key: str, n: int) -> pa.Array:  # noqa: ANN401
    """Fetch a few values, evenly spread over all of them in their order."""
    turn = ibis.row_number().over(ibis.window(order_by=key)).cast("int64")
    numbered = groups.mutate(turn=turn)
    some = numbered.filter(numbered.turn % max(n // _SAMPLED, 1) == 0)
    return database.fetch(some.select(key)).column(key).combine_chunks()


def _at(values: pa.Array, column: str, positions: IntArray) -> list[Value]:
    return python_values(values.take(from_numpy(positions)), column)


def _near(values: pa.Array, column: str, n: int, positions: IntArray) -> list[Value]:
    """Give the values of a sample that stand for some positions, each once."""
    return _at(values, column, np.unique(positions * len(values) // n))


class IbisTable(Table):
    """A table of a database. What comes out of it are counts; rows stay where they are.

    The order of published rows, and which of equal rows become what, are drawn by the database's
    own generator: `rng` cannot reach it, so a seed does not repeat them.

    Args:
        database: Where the table is.
        given: What opened it, such as an address; None if that is not known.
    """

    def __init__(self, database: Database, given: object = None) -> None:
        database.check_fields()
        self.columns = tuple(field.name for field in database.fields)
        self.kind = database.kind
        self.given = given
        self._database = database
        self._coarse = False
        """Whether there are too many combinations to fetch them all."""

    def count(self, columns: Sequence[str], *, progress: Progress | None = None) -> FrequencySet:
        self.require(columns)
        for name in columns:
            self._require_key(name)
        counts = self._counted(columns).frequency_set()
        if progress is not None:
            progress(counts.total, counts.total)
        return counts

    def survey(
        self,
        columns: Sequence[str],
        most: int,
        *,
        complete: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> FrequencySet | StoredSurvey:
        self.require(columns)
        for name in columns:
            self._require_key(name)
        positions, whole = (
            [self.columns.index(name) for name in names] for names in (columns, complete)
        )
        found = survey(self._database, positions, most, whole)
        # From now on nothing that is published makes the database give more than that.
        self._coarse = found is not None
        return self.count(columns, progress=progress) if found is None else found

    def count_merged(
        self,
        found: Survey,
        merged: Sequence[CodeArray],
        most: int,
        rise: Callable[[CodeArray], Sequence[CodeArray]],
        *,
        progress: Progress | None = None,
    ) -> tuple[CodeArray, IntArray]:
        assert isinstance(found, StoredSurvey)  # noqa: S101 - that is what `survey` finds
        combinations, rows = count_merged(self._database, found, merged, most, rise)
        if progress is not None:
            progress(int(rows.sum()), int(rows.sum()))
        return combinations, rows

    def limit_rows(self, budget: int) -> None:
        """They stay where they are, so there is nothing to limit."""

    def domains(
        self, columns: Sequence[str], *, progress: Progress | None = None
    ) -> dict[str, Domain]:
        self.require(columns)
        found = {}
        for name in columns:
            if self._field(name).key is not None:
                found[name] = domain(self._database, self.columns.index(name))
                if progress is not None:
                    progress(found[name].total, found[name].total)
        return found

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
        if format not in FORMATS:
            raise ParameterError("format", format, f"one of {', '.join(FORMATS)}")
        self._require_publishable(recoding, columns, suppression)
        types = [self._field(name).type for name in columns if name not in looked_at(recoding)]
        self._database.require_writable(format, types)
        if target.exists():
            raise OutputError(f"cannot write {target}: it exists. Nothing was changed.")
        with self._database.work():
            plan = publication(
                self._database,
                recoding,
                columns,
                suppression=suppression,
                as_text=format == "csv",
                coarse=self._coarse,
            )
            rows = self._database.write(plan.query, columns, target, format)
            _check(plan, rows, str(target))
        if progress is not None:
            progress(rows, rows)
        delimiter = "," if format == "csv" else None
        return Written(target, rows, format, delimiter, plan.suppressed_rows)

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
        self._require_publishable(recoding, columns, suppression)
        parts = name_of(name)
        with self._database.work():
            self._database.require_free(parts, force=force)
            plan = publication(
                self._database,
                recoding,
                columns,
                suppression=suppression,
                as_text=False,
                coarse=self._coarse,
            )
            check = partial(_check, plan, where=written(parts))
            self._database.create(plan.query, columns, parts, check, force=force)
        if progress is not None:
            progress(plan.rows, plan.rows)
        return Stored(written(parts), plan.rows, plan.suppressed_rows)

    def publish_table(
        self,
        recoding: Recoding,
        columns: Sequence[str],
        *,
        suppression: Suppression,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> pa.Table:
        raise OutputError(
            f"{self._database.where}: rows of a database are not brought into memory. Publish "
            "them to a table of the same database, or to a file."
        )

    @property
    def source(self) -> Name:
        """What statements that are asked call the table."""
        return self._database.source

    def ask(self, statement: str) -> Answer:
        """Run a statement of somebody else's, such as the verifier; its result must be small."""
        return self._database.ask(statement)

    def manifest(self) -> str | None:
        """Give the manifest that stands beside the table; None if it is no release."""
        name = self._database.name
        return None if name is None else read_manifest(self._database, name)

    def evidence(self) -> str | None:
        """Give the evidence that stands beside the table; None if there is none."""
        name = self._database.name
        return None if name is None else read_evidence(self._database, name)

    def keep_evidence(self, text: str) -> None:
        """Put evidence beside the table, in place of what was there."""
        assert self._database.name is not None  # noqa: S101 - a release has a name
        keep_evidence(self._database, self._database.name, text)

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return self._database.where

    def is_called(self, name: str) -> bool:
        """Tell whether a name means this very table."""
        mine, theirs = self._database.name or (), name_of(name)
        shorter = min(len(mine), len(theirs))
        # Only PostgreSQL tells names apart by their letters' case.
        same = str if self.kind == "postgres" else str.lower
        return [*map(same, mine[-shorter:])] == [*map(same, theirs[-shorter:])] and shorter > 0

    def other(self, name: str) -> "IbisTable":
        """Open another table of the same database."""
        return IbisTable(self._database.other(name_of(name)))

    def beside(self, name: str) -> "IbisTable":
        """Open another table, in the schema of this one unless its name says where it is."""
        mine, parts = self._database.name or (), name_of(name)
        missing = max(0, len(mine) - len(parts))
        return IbisTable(self._database.other((*mine[:missing], *parts)))

    @contextmanager
    def releasing(
        self, name: str, others: Sequence[str] = (), *, force: bool, signed: bool = False
    ) -> Iterator[Unfinished]:
        """Let tables and their manifest appear together at the end of the block, or none of them.

        Args:
            name: What the table will be called; it is `Unfinished.name` until then.
            others: What further tables of the release will be called.
            force: Replace a release of that name; any other table is never touched.
            signed: Whether its evidence appears with them.
        """
        further = [name_of(other) for other in others]
        first = name_of(name)
        with releasing(self._database, first, further, force=force, signed=signed) as unfinished:
            yield unfinished

    def for_ledger(self, owner: str) -> Staging:
        """Give where the tables of a ledger wait for their names, in the same database."""
        return Staging(self._database, owner)

    @contextmanager
    def solving(
        self,
        division: "Division",
        solve: "Solve",
        columns: Mapping[str, str | None],
        output: str | None,
    ) -> Iterator["Solved"]:
        """Let Spark's workers recode the rows, fragment by fragment; see `solved_in_fragments`.

        What they made is there until the block ends.
        """
        from sfumato.tables.sql.spark import SparkDatabase
        from sfumato.tables.sql.spark_fragments import solved_in_fragments

        assert isinstance(self._database, SparkDatabase)  # noqa: S101 - the others have no workers
        name = None if output is None else name_of(output)
        with solved_in_fragments(self._database, division, solve, columns, name) as solved:
            tables = IbisTable(solved.published), IbisTable(solved.every)
            yield Solved(*tables, solved.note, solved.notes)

    def store(self, derived: DerivedTable, name: str, likes: Mapping[str, Table]) -> None:
        """Create a table that follows from counts; its rows are made in the database."""
        kinds, times = kinds_of(derived)
        store_kinds(self._database, derived_table(kinds, likes), times, name_of(name))

    def type_of(self, column: str) -> pa.DataType:
        self.require([column])
        return self._field(column).type

    def native(self, table: pa.Table) -> Any:  # noqa: ANN401 - whatever the caller gave
        return table

    def described(self, column: str) -> tuple[str, bool]:
        """Give the type of a column in the database's words, and whether it has single values."""
        field = self._field(column)
        return field.described, field.key is not None

    def require_writable(self, form: str, columns: Sequence[str]) -> None:
        """Refuse files that the database cannot write, or with columns it spells differently."""
        self._database.require_writable(form, [self._field(name).type for name in columns])

    def _field(self, name: str) -> Field:
        return self._database.fields[self.columns.index(name)]

    def _counted(self, columns: Sequence[str]) -> Counted:
        return Counted(self._database, [self.columns.index(name) for name in columns])

    def _require_key(self, name: str) -> None:
        field = self._field(name)
        if field.key is None:
            raise InputError(
                f"column {name!r} holds {field.described}, which has no single value per row. "
                "Split it into plain columns, or publish it without generalising it."
            )

    def _require_publishable(
        self, recoding: Recoding, columns: Sequence[str], suppression: Suppression
    ) -> None:
        self.require(columns)
        self.require(looked_at(recoding))
        for name in looked_at(recoding):
            self._require_key(name)
        if not columns:
            raise ParameterError("columns", list(columns), "at least one column to publish")
        if suppression not in ("remove", "star"):
            raise ParameterError("suppression", suppression, "'remove' or 'star'")


class Solved(NamedTuple):
    """What workers made of the rows of a table."""

    published: IbisTable
    """The rows that are published."""

    every: IbisTable
    """The same and the starred ones, with a column of notes."""

    note: str
    """What that column is called: it is missing in rows that are published."""

    notes: list[str]
    """What the workers said of their fragments."""


def _check(plan: Publication, rows: int, where: str) -> None:
    """Make sure that no row was lost or doubled on the way."""
    if rows != plan.rows:
        raise OutputError(
            f"{where} got {rows} rows and not {plan.rows}: the table changed while it was being "
            "published. Nothing was left there. Start again with a table nobody writes to."
        )


# Rows as they would be published, while nothing is published yet.


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
