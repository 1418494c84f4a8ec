"""A table of a database that speaks SQL: counted and published where the rows are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.counts import Column, FrequencySet
from sfumato.derivations import Preparation
from sfumato.errors import InputError, OutputError
from sfumato.populations.weights import Averaging, WeightFacts
from sfumato.recoding import Recoding
from sfumato.tables.arrow.counting import MISSING, count_line_breaks
from sfumato.tables.arrow.sources import from_numpy, python_values, to_numpy
from sfumato.tables.arrow.windows import order_of
from sfumato.tables.base import (
    NO_WEIGHTS,
    CreatedTable,
    Domain,
    Progress,
    Suppression,
    Survey,
    Table,
    WrittenFile,
    require_column_names,
    require_publishable,
)
from sfumato.tables.capabilities import Extent, Order, Window
from sfumato.tables.derived import DerivedTable, derived_table
from sfumato.tables.formats import require_format
from sfumato.tables.sql.counting import (
    TIMES,
    FetchedCounts,
    StoredSurvey,
    count_merged,
    extent,
    group_query,
    rows_within,
    select_keys,
    survey,
)
from sfumato.tables.sql.database import Answer, Database, Field, format_name, name_of
from sfumato.tables.sql.deriving import prepare
from sfumato.tables.sql.recoding import PublishingStatement, publication
from sfumato.tables.sql.releases import (
    Staging,
    UnfinishedRelease,
    kinds_of,
    read_evidence,
    read_manifest,
    releasing,
    store_evidence,
    store_kinds,
)
from sfumato.tables.stored import DatabaseTable
from sfumato.tables.workers import Division, Solve, SolvedTables, Workers
from sfumato.text import text_of
from sfumato.typing import CodeArray, FloatArray, IntArray, Value

# One column of a database by itself.


MOST = 10_000
"""The most values of a column that are fetched: more are names or numbers of people."""

_SAMPLED = 1_000


def domain(database: "Database", position: int) -> Domain:
    """Count a column's values; return all of them, or a sample if there are many.

    Args:
        database: Where the table is.
        position: The column, by its number in the table.
    """
    counted = FetchedCounts(database, [position], most=MOST + 1)
    return _few(counted) if len(counted.rows) <= MOST else _many(database, position)


def _few(counted: FetchedCounts) -> Domain:
    book, codes = counted.books[0], counted.codes[0]
    rows = np.zeros(len(book), dtype=np.int64)
    np.add.at(rows, codes, counted.rows)
    # A database gives its groups in any order, another one each time.
    order = np.asarray(pc.sort_indices(book.values), dtype=np.int64)
    values = book.values.take(from_numpy(order))
    ordered = rows[1:][order]
    take = partial(_at, values, book.column)
    broken = count_line_breaks(values, ordered)
    return Domain(book.column, ordered, int(rows[MISSING]), take, broken)


def _many(database: "Database", position: int) -> Domain:
    groups: Any = group_query(database, [position])
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
    take = partial(_near, values, name, len(rows))
    return Domain(name, rows, int(times[~known].sum()), take, _line_breaks(database, groups, key))


def _line_breaks(database: "Database", groups: Any, key: Any) -> int:  # noqa: ANN401 - Ibis
    """Count the rows that have a text of more than one line."""
    if not key.type().is_string():
        return 0
    broken = groups.filter(key.contains("\n") | key.contains("\r"))
    fetched = database.fetch(broken.aggregate(cells=groups[TIMES].sum()))
    return int(fetched.column("cells")[0].as_py() or 0)


def _spread(database: "Database", groups: Any, key: str, n: int) -> pa.Array:  # noqa: ANN401
    """Fetch a few values, evenly spread over all of them in their order."""
    turn = ibis.row_number().over(ibis.window(order_by=key)).cast("int64")
    numbered = groups.mutate(turn=turn)
    some = numbered.filter(numbered.turn % max(n // _SAMPLED, 1) == 0)
    return database.fetch(some.select(key)).column(key).combine_chunks()


def _at(values: pa.Array, column: str, positions: IntArray) -> list[Value]:
    return python_values(values.take(from_numpy(positions)), column)


def _near(values: pa.Array, column: str, n: int, positions: IntArray) -> list[Value]:
    """Return the values of a sample that stand for some positions, each once."""
    return _at(values, column, np.unique(positions * len(values) // n))


class SqlTable(DatabaseTable, Workers):
    """A table of a database that speaks SQL, with statements that Ibis writes.

    The order of published rows, and which of equal rows become what, are drawn by the database's
    own generator: `rng` cannot reach it, so a seed does not repeat them.

    Args:
        database: The table and its connection.
        given: The source that was opened, such as an address; None if that is not known.
    """

    def __init__(self, database: Database, given: object = None) -> None:
        self.columns = tuple(field.name for field in database.fields)
        require_column_names(self.columns, database.where)
        self.kind = database.kind
        self.name = database.where
        self.relation_name = database.relation_name
        self.dialect = database.dialect
        self.has_workers = database.has_workers
        self.given = given
        self._database = database
        self._coarse = False
        """Whether there are too many combinations to fetch them all."""

    @property
    def unowned(self) -> float:
        return self._database.unowned

    def prepare(self, preparation: Preparation) -> "SqlTable":
        table = SqlTable(prepare(self._database, preparation), self.given)
        table.prepared = preparation
        return table

    def count(self, columns: Sequence[str], *, progress: Progress | None = None) -> FrequencySet:
        self.require(columns)
        for name in columns:
            self._require_key(name)
        counts = FetchedCounts(
            self._database, [self.columns.index(name) for name in columns]
        ).frequency_set()
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

    def head(self, most: int) -> pa.Table:
        rows = self._database.rows
        # What has no key, such as a list, is handed through and not looked at.
        keys = [f"k{i}" for i, name in enumerate(self.columns) if self._field(name).key is not None]
        fetched = self._database.fetch(rows.select(*keys).limit(most)) if keys else pa.table({})
        return pa.table(
            {
                name: fetched.column(f"k{i}") if f"k{i}" in keys else pa.nulls(len(fetched))
                for i, name in enumerate(self.columns)
            }
        )

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

    def count_weighted(
        self, columns: Sequence[str], weight: str, *, progress: Progress | None = None
    ) -> tuple[FrequencySet, FloatArray]:
        self.require((*columns, weight))
        for name in columns:
            self._require_key(name)
        self._require_number(weight)
        positions = [self.columns.index(name) for name in columns]
        counted = FetchedCounts(self._database, positions, weight=self.columns.index(weight))
        if progress is not None:
            progress(int(counted.rows.sum()), int(counted.rows.sum()))
        return counted.with_weights()

    def weigh(self, columns: Sequence[str]) -> dict[str, WeightFacts]:
        self.require(columns)
        return {name: self._weigh(name) for name in columns}

    def _require_number(self, name: str) -> None:
        field = self._field(name)
        kind = None if field.key is None else field.key_type
        if kind is None or not (t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind)):
            raise InputError(
                f"column {name!r} has the role weight, and holds {field.native_type}, which is no "
                "number. A weight says how many people a row stands for. Make it a number in the "
                "database, or give it another role."
            )

    def _weigh(self, name: str) -> WeightFacts:
        self._require_number(name)
        position = self.columns.index(name)
        rows: Any = select_keys(self._database, [position])
        weight = rows[f"k{position}"].cast("float64")
        facts = self._database.fetch(
            rows.aggregate(
                all_rows=rows.count(),
                with_weight=weight.count(),
                float_least=weight.min(),
                float_largest=weight.max(),
                float_total=weight.sum(),
            )
        ).to_pylist()[0]
        every, known = int(facts["all_rows"]), int(facts["with_weight"])
        ends = (facts["float_least"], facts["float_largest"], facts["float_total"])
        return WeightFacts(every, every - known, *(map(float, ends) if known else ()))

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
        form = require_format(format)
        self._require_publishable(recoding, columns, suppression)
        own = (*recoding.looked_at, *weights)
        types = [self._field(name).type for name in columns if name not in own]
        self._database.require_writable(format, types)
        if target.exists():
            raise OutputError(f"cannot write {target}: it exists. Nothing was changed.")
        self._database.prepare_files()
        with self._database.scope():
            plan = publication(
                self._database,
                recoding,
                columns,
                suppression=suppression,
                as_text=form.is_text,
                coarse=self._coarse,
                weights=weights,
            )
            rows = self._database.write(plan.query, columns, target, format)
            _check(plan, rows, str(target))
        if progress is not None:
            progress(rows, rows)
        delimiter = "," if form.is_text else None
        return WrittenFile(target, rows, format, delimiter, plan.suppressed_rows)

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
        self._require_publishable(recoding, columns, suppression)
        parts = name_of(name)
        with self._database.scope():
            self._database.require_free(parts, force=force)
            plan = publication(
                self._database,
                recoding,
                columns,
                suppression=suppression,
                as_text=False,
                coarse=self._coarse,
                weights=weights,
            )
            check = partial(_check, plan, where=format_name(parts))
            self._database.store(plan.query, columns, parts, check, force=force)
        if progress is not None:
            progress(plan.rows, plan.rows)
        return CreatedTable(format_name(parts), plan.rows, plan.suppressed_rows)

    def publish_table(
        self,
        recoding: Recoding,
        columns: Sequence[str],
        *,
        suppression: Suppression,
        weights: Mapping[str, Averaging] = NO_WEIGHTS,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> pa.Table:
        raise OutputError(
            f"{self._database.where}: rows of a database are not brought into memory. Publish "
            "them to a table of the same database, or to a file."
        )

    def within(self, window: Window) -> "SqlTable":
        self._require_window(window)
        position = self.columns.index(window.column)
        # Of the connection that is open now: a file that is opened again to write has another.
        database, all_rows = copy(self._database), self._database.restrict or (lambda rows: rows)
        database.restrict = lambda rows: rows_within(database, position, window, all_rows(rows))
        return SqlTable(database)

    def extent(self, window: Window) -> Extent:
        self._require_window(window)
        return extent(self._database, self.columns.index(window.column), window)

    def order_of(self, column: str) -> Order | None:
        self.require([column])
        field = self._field(column)
        return None if field.key is None else order_of(field.key_type)

    def _require_window(self, window: Window) -> None:
        self.require([window.column])
        self._require_key(window.column)

    def query(self, statement: str) -> Answer:
        return self._database.query(statement)

    def manifest(self) -> str | None:
        name = self._database.name
        return None if name is None else read_manifest(self._database, name)

    def evidence(self) -> str | None:
        name = self._database.name
        return None if name is None else read_evidence(self._database, name)

    def store_evidence(self, text: str) -> None:
        assert self._database.name is not None  # noqa: S101 - a release has a name
        store_evidence(self._database, self._database.name, text)

    def is_called(self, name: str) -> bool:
        mine = self._database.name
        same = Database.same_table  # by their letters: the table may be gone
        return mine is not None and same(self._database, mine, name_of(name))

    def is_view(self) -> bool:
        name = self._database.name
        return name is not None and self._database.is_view(name)

    def open_other(self, name: str) -> "SqlTable":
        return SqlTable(self._database.open_table(name_of(name)))

    def open_beside(self, name: str) -> "SqlTable":
        mine, parts = self._database.name or (), name_of(name)
        missing = max(0, len(mine) - len(parts))
        return SqlTable(self._database.open_table((*mine[:missing], *parts)))

    @contextmanager
    def releasing(
        self, name: str, others: Sequence[str] = (), *, force: bool, signed: bool = False
    ) -> Iterator[UnfinishedRelease]:
        further = [name_of(other) for other in others]
        first = name_of(name)
        with releasing(self._database, first, further, force=force, signed=signed) as unfinished:
            yield unfinished

    def staging(self, owner: str) -> Staging:
        return Staging(self._database, owner)

    @contextmanager
    def solving(
        self,
        division: Division,
        solve: Solve,
        columns: Mapping[str, str | None],
        output: str | None,
    ) -> Iterator[SolvedTables]:
        from sfumato.tables.sql.spark import Spark
        from sfumato.tables.sql.spark_fragments import solved_in_fragments

        assert isinstance(self._database, Spark)  # noqa: S101 - the others have no workers
        name = None if output is None else name_of(output)
        with solved_in_fragments(self._database, division, solve, columns, name) as solved:
            tables = SqlTable(solved.published), SqlTable(solved.every)
            yield SolvedTables(*tables, solved.note, solved.notes)

    def store(self, derived: DerivedTable, name: str, likes: Mapping[str, Table]) -> None:
        kinds, times = kinds_of(derived)
        store_kinds(self._database, derived_table(kinds, likes), times, name_of(name))

    def type_of(self, column: str) -> pa.DataType:
        self.require([column])
        return self._field(column).type

    def native(self, table: pa.Table) -> Any:  # noqa: ANN401 - whatever the caller gave
        return table

    def simulate(self, counts: FrequencySet) -> "SimulatedTable":
        return SimulatedTable(self, counts)

    def native_type(self, column: str) -> str:
        return self._field(column).native_type

    def has_single_values(self, column: str) -> bool:
        return self._field(column).key is not None

    def require_writable(self, form: str, columns: Sequence[str]) -> None:
        self._database.require_writable(form, [self._field(name).type for name in columns])

    def _field(self, name: str) -> Field:
        return self._database.fields[self.columns.index(name)]

    def _require_key(self, name: str) -> None:
        field = self._field(name)
        if field.key is None:
            raise InputError(
                f"column {name!r} holds {field.native_type}, which has no single value per row. "
                "Split it into plain columns, or publish it without generalising it."
            )

    def _require_publishable(
        self, recoding: Recoding, columns: Sequence[str], suppression: Suppression
    ) -> None:
        require_publishable(self, recoding, columns, suppression)
        for name in recoding.looked_at:
            self._require_key(name)


def _check(plan: PublishingStatement, rows: int, where: str) -> None:
    """Raise if a row was lost or doubled on the way."""
    if rows != plan.rows:
        raise OutputError(
            f"{where} got {rows} rows and not {plan.rows}: the table changed while it was being "
            "published. Nothing was left there. Start again with a table that no program writes to."
        )


class SimulatedTable(SqlTable):
    """The counts of a release that is simulated and not written.

    It can be counted, and tables that follow from its counts can be stored in the database.

    Args:
        table: The table that would be recoded.
        counts: The counts of what would be published of it.
    """

    def __init__(self, table: SqlTable, counts: FrequencySet) -> None:
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
        """Return None: the manifest beside the table is not about these rows."""

    def type_of(self, column: str) -> pa.DataType:
        self.require([column])
        return self._types[column]


def _type_of(column: Column, table: SqlTable) -> pa.DataType:
    """Return the type of a published column: one with labels in it is text."""
    before = table.type_of(column.name)
    labels = any(isinstance(value, str) for value in column.values)
    textual = t.is_string(before) or t.is_large_string(before)
    return pa.string() if labels and not textual else before


def _as_typed(counts: FrequencySet, types: dict[str, pa.DataType]) -> FrequencySet:
    """Write columns as text that have both labels and values."""
    values = [
        [None if value is None else text_of(value) for value in column.values]
        if types[column.name] == pa.string()
        else list(column.values)
        for column in counts.columns
    ]
    return FrequencySet.from_codes(counts.names, values, counts.codes, counts.rows)
