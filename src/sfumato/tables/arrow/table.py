"""The arrow engine's table: counts and publishes whatever a source streams."""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types as t

from sfumato.counts import Column, FrequencySet, add_up
from sfumato.counts.baskets import Baskets
from sfumato.derivations import Preparation
from sfumato.errors import InputError
from sfumato.files.reading import Reading
from sfumato.populations.weights import Averaging, WeightFacts
from sfumato.recoding import LocalRecoding, Recoding, SolvedRecoding
from sfumato.tables.arrow.counting import (
    MISSING,
    ColumnCoder,
    CombinationTally,
    Frequencies,
    RowSample,
    ValueTally,
    count_line_breaks,
    make_survey,
    order_values,
)
from sfumato.tables.arrow.deriving import ListedSource, ReplacedSource, prepare
from sfumato.tables.arrow.publishing import (
    BUDGET,
    BatchPublication,
    ClassWeights,
    ColumnReader,
    CountedColumns,
    FullDomainRecoder,
    LocalRecoder,
    Recoder,
    Tuples,
    numbers_in,
    shuffle,
)
from sfumato.tables.arrow.sets import RowsWithSets, is_list, read_items, require_set
from sfumato.tables.arrow.settling import columns_to_settle, settle_types
from sfumato.tables.arrow.sources import (
    BATCH_ROWS,
    ArrowSource,
    as_type,
    canonical,
    counted_type,
    from_numpy,
    python_values,
)
from sfumato.tables.arrow.widening import widen_rows
from sfumato.tables.arrow.windows import WindowSource, extent, keep, order_of
from sfumato.tables.arrow.writing import (
    LabelledColumns,
    closing_writer,
    creating,
    open_writer,
    plain_batch,
)
from sfumato.tables.base import (
    DELIMITER,
    NO_WEIGHTS,
    Domain,
    Progress,
    Suppression,
    Survey,
    Table,
    WrittenFile,
    require_publishable,
)
from sfumato.tables.capabilities import (
    Extent,
    Order,
    OrderedRows,
    Sets,
    Weights,
    WideRows,
    Window,
    Windows,
)
from sfumato.tables.formats import require_format
from sfumato.tables.variables import PublishedVariable
from sfumato.text import text_of
from sfumato.typing import CodeArray, FloatArray, IntArray, Value


class ArrowTable(Table, OrderedRows, Weights, Sets, Windows):
    """A source opened by the arrow engine.

    Args:
        source: Where the rows come from.
        budget: Bytes of recoded rows to keep in memory while shuffling; more go to disk.
    """

    def __init__(self, source: ArrowSource, *, budget: int = BUDGET) -> None:
        source.check_columns()
        self.columns = source.columns
        self.kind = source.kind
        self.variables = source.variables
        self._source = source
        self._budget = budget
        self._rows = source.rows
        self._counted: CountedColumns | None = None
        """What was counted last: rows that are all told by it need not be read again."""

    def count(self, columns: Sequence[str], *, progress: Progress | None = None) -> FrequencySet:
        self.require(columns)
        if self._counted is not None and self._counted.counts.names == tuple(columns):
            # A verdict asks for the same columns more than once.
            self._source.check_unchanged()
            return self._counted.counts
        books = [ColumnCoder(name, self._source.schema.field(name).type) for name in columns]
        seen = CombinationTally(len(books))
        # Without columns there is one combination, and its rows are still to be counted.
        for batch in self._batches(columns or self.columns[:1], progress):
            codes = [book.index(batch.column(book.column)) for book in books]
            seen.add(codes, [len(book) for book in books], len(batch))
        self._counted = _count_table(books, seen)
        return self._counted.counts

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return self._source.batches(columns)

    def read(self, columns: Sequence[str]) -> tuple[tuple[Column, ...], CodeArray]:
        return self._read(columns, self._batches(columns, None))

    def draw(
        self, columns: Sequence[str], share: float
    ) -> tuple[tuple[Column, ...], CodeArray, IntArray]:
        rng = np.random.default_rng(0)
        batches: Iterable[pa.RecordBatch] = self._batches(columns, None)
        if share < 1:
            # Encoding few rows of many costs little; a survey of all orders every value.
            batches = (batch.filter(rng.random(len(batch)) < share) for batch in batches)
        found, codes = self._read(columns, batches)
        return found, codes, np.ones(codes.shape[1], dtype=np.int64)

    def _read(
        self, columns: Sequence[str], batches: Iterable[pa.RecordBatch]
    ) -> tuple[tuple[Column, ...], CodeArray]:
        self.require(columns)
        books = [ColumnCoder(name, self._source.schema.field(name).type) for name in columns]
        # Numbers are small, and to know them all at once saves looking up each batch in all before.
        read: list[list[pa.Array | CodeArray]] = [[] for _ in books]
        for batch in batches:
            for book, parts in zip(books, read, strict=True):
                array = batch.column(book.column)
                number = t.is_integer(array.type) or t.is_floating(array.type)
                parts.append(array if number else book.encode(array))
        codes = [_encode_all(book, parts) for book, parts in zip(books, read, strict=True)]
        # By counting: to sort the codes of a million rows takes longer than to read them.
        used = [np.flatnonzero(np.bincount(each)) for each in codes]
        ordered = [order_values(book, each) for book, each in zip(books, used, strict=True)]
        places = [number[code] for (_, number), code in zip(ordered, codes, strict=True)]
        return tuple(column for column, _ in ordered), np.array(places, dtype=np.int32)

    def survey(
        self,
        columns: Sequence[str],
        most: int,
        *,
        complete: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> FrequencySet | Survey:
        self.require(columns)
        books = [ColumnCoder(name, self._source.schema.field(name).type) for name in columns]
        seen: CombinationTally | None = CombinationTally(len(books), most)
        alone = Frequencies(len(books), [columns.index(name) for name in complete])
        sample = RowSample(len(books))
        for batch in self._batches(columns, progress):
            codes = [book.encode(batch.column(book.column)) for book in books]
            sizes = [len(book) for book in books]
            alone.add(codes, sizes)
            sample.add(codes)
            if seen is not None:
                seen.add(codes, sizes)
                seen = None if seen.too_many else seen
        if seen is not None and not seen.merge():
            self._counted = _count_table(books, seen)
            return self._counted.counts
        return make_survey(books, alone, sample)

    def count_merged(
        self,
        found: Survey,
        merged: Sequence[CodeArray],
        most: int,
        rise: Callable[[CodeArray], Sequence[CodeArray]],
        *,
        progress: Progress | None = None,
    ) -> tuple[CodeArray, IntArray]:
        columns = found.columns
        sizes = [len(column.values) for column in columns]
        readers = self._readers(columns, merged)
        seen = CombinationTally(len(columns), most)
        for batch in self._batches([column.name for column in columns], progress):
            seen.add([reader.encode(batch.column(reader.column)) for reader in readers], sizes)
            while seen.too_many:
                merged, seen = _lift(seen, rise, sizes, most)
                readers = self._readers(columns, merged)
        while seen.merge():
            _, seen = _lift(seen, rise, sizes, most)
        return seen.result()

    @property
    def unowned(self) -> float:
        return self._source.unowned

    def prepare(self, preparation: Preparation) -> "ArrowTable":
        table = ArrowTable(prepare(self._source, preparation), budget=self._budget)
        table.prepared = preparation
        return table

    def with_cells(self, cells: Mapping[str, tuple[Column, IntArray]]) -> "ArrowTable":
        table = ArrowTable(ReplacedSource(self._source, cells), budget=self._budget)
        table.prepared = self.prepared
        return table

    def with_lists_as_text(self, apart: Collection[str]) -> "ArrowTable":
        columns = [n for n in self.columns if n not in apart and is_list(self._type_of(n))]
        if not columns:
            return self
        return ArrowTable(ListedSource(self._source, columns), budget=self._budget)

    def _type_of(self, name: str) -> pa.DataType:
        return self._source.schema.field(name).type

    def head(self, most: int) -> pa.Table:
        rows: list[pa.RecordBatch] = []
        batches = self._source.batches(self.columns)
        while (room := most - sum(map(len, rows))) > 0 and (batch := next(batches, None)):
            rows.append(batch.slice(0, room))
        return pa.Table.from_batches(rows) if rows else pa.table({n: [] for n in self.columns})

    def limit_rows(self, budget: int) -> None:
        # More go to disk while they are shuffled.
        self._budget = min(self._budget, budget)

    def domains(
        self, columns: Sequence[str], *, progress: Progress | None = None
    ) -> dict[str, Domain]:
        self.require(columns)
        tallies = []
        for name in columns:
            with suppress(InputError):
                tallies.append(ValueTally(name, self._source.schema.field(name).type))
        if not tallies:
            return {}
        for batch in self._batches([tally.column for tally in tallies], progress):
            for tally in tallies:
                tally.add(batch.column(tally.column))
        orders = self.orders([tally.column for tally in tallies])
        return {tally.column: _domain(tally, orders.get(tally.column)) for tally in tallies}

    def orders(self, columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
        types = {name: self._source.schema.field(name).type for name in columns}
        ordered = [n for n, kind in types.items() if t.is_dictionary(kind) and kind.ordered]
        found: dict[str, pa.Array] = {}
        for batch in self._source.batches(ordered) if ordered else ():
            for name in list(ordered):
                column = batch.column(name)
                own = column.dictionary if t.is_dictionary(column.type) else None
                if own is None or not found.setdefault(name, own).equals(own):
                    ordered.remove(name)  # parts of a file that do not agree have no order
        return super().orders(columns) | {
            name: tuple(text_of(value) for value in found[name].to_pylist() if value is not None)
            for name in ordered
            if name in found
        }

    def repeats(self, column: str) -> bool:
        self.require((column,))
        found = ValueTally(column, self._source.schema.field(column).type)
        for number, batch in enumerate(self._batches([column], None)):
            found.add(batch.column(column))
            if number == 0:
                # Where people have several rows, the first ones tell nearly always.
                found.settle()
                if (found.rows > 1).any():
                    return True
        found.settle()
        return bool((found.rows > 1).any())

    def count_weighted(
        self, columns: Sequence[str], weight: str, *, progress: Progress | None = None
    ) -> tuple[FrequencySet, FloatArray]:
        self.require((*columns, weight))
        counts = self.count(columns, progress=progress)
        sizes = [len(column.values) for column in counts.columns]
        readers = self._readers(counts.columns, [np.arange(size, dtype=np.int32) for size in sizes])
        known = Tuples(list(counts.codes), sizes, len(counts))
        people = np.zeros(len(counts))
        # Counted with their weights rows are nearly all different: this takes a tenth of the time.
        for batch in self._batches((*columns, weight), None):
            codes = [reader.encode(batch.column(reader.column)) for reader in readers]
            weights = np.nan_to_num(numbers_in(batch.column(weight), weight), nan=0.0)
            people += add_up(known.find(codes, len(batch)), weights, len(counts))
        return counts, people

    def weigh(self, columns: Sequence[str]) -> dict[str, WeightFacts]:
        self.require(columns)
        found = dict.fromkeys(columns, WeightFacts())
        for batch in self._batches(columns, None):
            for name in columns:
                found[name] += WeightFacts.of(numbers_in(batch.column(name), name))
        return found

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
        # Codes of missing are read beside the columns.
        kinds = self._source.kinds if form.tells_missing else {}
        publication = self._publication(
            recoding,
            columns,
            suppression,
            weights,
            rng,
            as_text=form.is_text,
            kinds=[kinds[name] for name in columns if name in kinds],
        )
        with creating(target):
            rows, told = self._write(
                publication, target, format, rng, progress, as_text=form.is_text
            )
        # However the input is written: a release of the same rows is the same release.
        delimiter = DELIMITER if form.is_text else None
        domains = {}
        if form.keeps_values:
            # Other formats may read differently: text that looks like numbers, codes with labels.
            domains = {name: _domain(tally, None) for name, tally in publication.tallies.items()}
        return WrittenFile(
            target,
            rows,
            format,
            delimiter,
            publication.suppressed_rows,
            told,
            {name: domain for name, domain in domains.items() if domain.is_small},
        )

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
        publication = self._publication(recoding, columns, suppression, weights, rng, as_text=False)
        return self._published_table(publication, rng, progress)

    def require_sets(self, separators: Mapping[str, str | None]) -> None:
        for name, separator in separators.items():
            require_set(name, self.type_of(name), separator)

    def read_items(self, separators: Mapping[str, str | None]) -> dict[str, Baskets]:
        self.require_sets(separators)
        batches = list(self._batches(list(separators), None))
        return {
            name: read_items(
                name, pa.chunked_array([batch.column(name) for batch in batches]), separator
            )
            for name, separator in separators.items()
        }

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
    ) -> RowsWithSets:
        publication = self._publication(
            recoding, columns, suppression, weights, rng, as_text=as_text
        )
        return RowsWithSets(self._published_table(publication, rng, progress), separators)

    def within(self, window: Window) -> "ArrowTable":
        self.require([window.column])
        return ArrowTable(WindowSource(self._source, window), budget=self._budget)

    def widen(
        self,
        person: str,
        order: str | None,
        columns: Sequence[str],
        most: int | None,
        count: str,
    ) -> WideRows:
        self.require([person])
        return widen_rows(self._source, person, order, columns, most, count)

    def into_memory(self, most: int) -> "ArrowTable":
        found = keep(self._source, most)
        return self if found is None else ArrowTable(found, budget=self._budget)

    def extent(self, window: Window) -> Extent:
        self.require([window.column])
        return extent(self._source, window)

    def order_of(self, column: str) -> Order | None:
        return order_of(self.type_of(column))

    @property
    def reading(self) -> Reading | None:
        return self._source.reading

    @property
    def notes(self) -> tuple[str, ...]:
        return self._source.notes

    @property
    def lines_beyond(self) -> int:
        return self._source.lines_beyond

    def type_of(self, column: str) -> pa.DataType:
        self.require([column])
        return self._source.schema.field(column).type

    def has_single_values(self, column: str) -> bool:
        try:
            counted_type(self.type_of(column), column)
        except InputError:
            return False
        return True

    def native(self, table: pa.Table) -> Any:  # noqa: ANN401 - whatever the caller gave
        return self._source.native(table)

    def _readers(self, columns: Sequence[Column], codes: Sequence[CodeArray]) -> list[ColumnReader]:
        return [
            ColumnReader(column.name, column.values, of_value, self._source)
            for column, of_value in zip(columns, codes, strict=True)
        ]

    def _publication(
        self,
        recoding: Recoding,
        columns: Sequence[str],
        suppression: Suppression,
        weights: Mapping[str, Averaging],
        rng: np.random.Generator,
        *,
        as_text: bool,
        kinds: Sequence[str] = (),
    ) -> BatchPublication:
        require_publishable(self, recoding, columns, suppression)
        # Rows are recoded already only where there are workers to do it.
        assert not isinstance(recoding, SolvedRecoding)  # noqa: S101
        recoder: Recoder
        if isinstance(recoding, LocalRecoding):
            recoder = LocalRecoder(recoding, self._source, rng)
        else:
            recoder = FullDomainRecoder(recoding, self._source)
        sizes = [labels.star + 1 for labels in recoder.labels.values()]
        return BatchPublication(
            recoder,
            self._source.stored,
            [*columns, *kinds],
            suppression=suppression,
            as_text=as_text,
            weights=ClassWeights(weights, sizes, self._source.where, rng) if weights else None,
        )

    def _write(
        self,
        publication: BatchPublication,
        target: Path,
        form: str,
        rng: np.random.Generator,
        progress: Progress | None,
        *,
        as_text: bool,
    ) -> tuple[int, tuple[PublishedVariable, ...]]:
        variables = self._source.variables
        schema, batches = self._settle_rows(
            publication, rng, target.parent, progress, as_text=as_text
        )
        writer = open_writer(
            target,
            schema,
            form,
            DELIMITER,
            tidy=self._telling(publication) is not None,
            variables=variables,
            recoded=publication.recoded,
            from_text=self.kind == "csv",
        )
        told = LabelledColumns(schema.names, variables)
        written = 0
        with closing_writer(writer), closing(batches):
            for columns in batches:
                writer.write(columns)
                told.add(columns)
                written += len(columns[0])
            writer.complete = not publication.suppressed_rows
        if written != publication.rows:
            raise RuntimeError(f"wrote {written} of {publication.rows} rows to {target}")
        return written, told.published(writer.missing)

    def _published_table(
        self,
        publication: BatchPublication,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> pa.Table:
        """Return the rows of a release in memory."""
        schema, batches = self._settle_rows(publication, rng, None, progress)
        return pa.Table.from_batches([plain_batch(each, schema) for each in batches], schema)

    def _settle_rows(
        self,
        publication: BatchPublication,
        rng: np.random.Generator,
        folder: Path | None,
        progress: Progress | None,
        *,
        as_text: bool = False,
    ) -> tuple[pa.Schema, Generator[list[pa.Array], None, None]]:
        """Return the rows of a release as `_rows_out` does, with types that they tell themselves.

        Text has no types: a whole number is written in the same way, whatever type it has.
        """
        batches = self._rows_out(publication, rng, folder, progress)
        inferred = self._source.inferred - publication.weighted
        names = columns_to_settle(publication.schema, self._source.schema, inferred)
        if as_text or not names:
            return publication.schema, batches
        schema, held = settle_types(publication.schema, list(batches), names)
        return schema, (each for each in held)

    def _telling(self, publication: BatchPublication) -> CountedColumns | None:
        """Return what was counted, if the rows of a release can be made of it."""
        counted = self._counted
        return counted if counted is not None and publication.is_told_by(counted) else None

    def _rows_out(
        self,
        publication: BatchPublication,
        rng: np.random.Generator,
        folder: Path | None,
        progress: Progress | None,
    ) -> Generator[list[pa.Array], None, None]:
        """Yield the rows of a release in random order, some at a time, column by column."""
        counted = self._telling(publication)
        if counted is not None:
            self._source.check_unchanged()
            yield from publication.deal(counted, rng, progress)
            return
        # Writing takes about as long as reading does: each is half of the way.
        read = None if progress is None else lambda done, total: progress(done // 2, total)
        coded = publication.encode_batches(self._batches(publication.read, read))
        written = 0
        with closing(shuffle(coded, rng, folder=folder, budget=self._budget)) as batches:
            for batch in batches:
                yield publication.decode(batch)
                written += len(batch)
                if progress is not None and self._rows is not None:
                    progress(self._rows - (publication.rows - written) // 2, self._rows)

    def _batches(
        self, columns: Sequence[str], progress: Progress | None
    ) -> Iterator[pa.RecordBatch]:
        """Read once from start to end, and make sure it is the same table every time."""
        done = 0
        for large in self._source.batches(columns):
            for start in range(0, len(large), BATCH_ROWS):
                batch = large.slice(start, BATCH_ROWS)
                yield pa.RecordBatch.from_arrays(
                    [canonical(column) for column in batch.columns], batch.schema.names
                )
                done += len(batch)
                if progress is not None:
                    progress(done, self._rows)
        self._source.check_unchanged()
        if not done:
            raise InputError(f"{self._source.where} has no rows")
        if self._rows is not None and done != self._rows:
            raise InputError(
                f"{self._source.where} had {self._rows} rows and now has {done}. It changed "
                "while it was being worked on: start again with one that does not."
            )
        self._rows = done


def _encode_all(book: ColumnCoder, read: Sequence[pa.Array | CodeArray]) -> CodeArray:
    """Return the codes of a column whose batches are arrays or codes already."""
    if read and all(isinstance(each, pa.Array) for each in read):
        return book.encode(pa.concat_arrays([as_type(each, book.values.type) for each in read]))
    codes = [book.encode(each) if isinstance(each, pa.Array) else each for each in read]
    return np.concatenate([np.zeros(0, dtype=np.int32), *codes])


def _count_table(books: Sequence[ColumnCoder], seen: CombinationTally) -> CountedColumns:
    combinations, rows = seen.result()
    known, values = {}, []
    for book, codes in zip(books, combinations, strict=True):
        known[book.column], missing = _occurring(book, codes)
        values.append(missing + python_values(known[book.column], book.column))
    counts = FrequencySet.from_codes([b.column for b in books], values, combinations, rows)
    return CountedColumns(counts, known)


def _lift(
    seen: CombinationTally,
    rise: Callable[[CodeArray], Sequence[CodeArray]],
    sizes: Sequence[int],
    most: int,
) -> tuple[Sequence[CodeArray], CombinationTally]:
    """Merge more values of the combinations counted so far."""
    combinations, rows = seen.result()
    merged = rise(combinations)
    fewer = CombinationTally(len(sizes), most)
    codes = [of_value[codes] for of_value, codes in zip(merged, combinations, strict=True)]
    fewer.add(codes, sizes, rows=rows)
    return merged, fewer


def _occurring(book: ColumnCoder, codes: CodeArray) -> tuple[pa.Array, list[Value]]:
    """Return the known values that occur, and the missing one if it does; renumber the codes."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(book)))
    number = np.empty(len(book), dtype=np.int32)
    number[used] = np.arange(len(used))
    codes[:] = number[codes]
    known = used[used != MISSING]
    return book.values.take(from_numpy(known - 1)), [None] if len(known) < len(used) else []


def _domain(tally: ValueTally, order: tuple[str, ...] | None) -> Domain:
    tally.settle()
    take = partial(_values, tally.column, tally.values)
    broken = count_line_breaks(tally.values, tally.rows)
    return Domain(tally.column, tally.rows, tally.missing, take, broken, order)


def _values(column: str, values: pa.Array, positions: IntArray) -> list[Value]:
    return python_values(values.take(from_numpy(positions)), column)
