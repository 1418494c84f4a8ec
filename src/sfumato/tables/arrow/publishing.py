"""The way of rows from a source to a release: encoded, shuffled, and decoded."""

import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc
from pyarrow import types as t

from sfumato.counts import FrequencySet
from sfumato.tables.arrow.counting import Combinations
from sfumato.tables.arrow.recoding import Recoder
from sfumato.tables.arrow.sources import BATCH_ROWS
from sfumato.tables.arrow.types import (
    as_type,
    counted_type,
    from_numpy,
    is_text,
    plain_type,
    python_values,
    takeable,
    to_numpy,
)
from sfumato.tables.base import Progress, Suppression
from sfumato.tables.derived import in_random_order
from sfumato.typing import BoolArray, CodeArray, IntArray

_WORTH_IT = 2
"""Rows per combination from which on making rows is cheaper than reading them again."""


class WeightedBatch(NamedTuple):
    """Some combinations as rows of their own, and how many rows of the table each is."""

    batch: pa.RecordBatch
    """Every column is a dictionary, whose numbers are those of the counts."""

    rows: IntArray


@dataclass(frozen=True, eq=False)
class CountedTable:
    """The counts of some columns of a table, with their values as Arrow has them.

    Example:
        >>> counts = FrequencySet.from_rows(["sex"], [("f",), ("m",), (None,), ("f",)])
        >>> counted = CountedTable(counts, {"sex": pa.array(["m", "f"])})
        >>> [(batch,rows)] = counted.batches(["sex"])
        >>> batch["sex"].to_pylist(), rows.tolist()
        (['f', 'm', None], [2, 1, 1])
    """

    counts: FrequencySet
    known: Mapping[str, pa.Array]
    """The values of each column that are not missing, in any order."""

    def suffices(self, schema: pa.Schema, published: Sequence[str], recoded: Sequence[str]) -> bool:
        """Return whether the rows of a release can be made of it, and fast.

        Args:
            schema: The table's columns and their types.
            published: The columns of the release.
            recoded: Those that are published as labels.
        """
        names = self.counts.names
        return (
            _WORTH_IT * len(self.counts) <= self.counts.total
            and all(name in names for name in (*published, *recoded))
            and all(_exact(schema.field(n).type, n) for n in published if n not in recoded)
        )

    def values(self, name: str) -> pa.Array:
        """Return the values of a column by their numbers in the counts."""
        known = self.known[name]
        place = {value: at for at, value in enumerate(python_values(known, name))}
        wanted = np.array([place.get(v, -1) for v in self.counts.column(name).values], dtype=int)
        return known.take(from_numpy(wanted, missing=wanted < 0))

    def batches(self, columns: Sequence[str]) -> Iterator[WeightedBatch]:
        """Yield the combinations, some at a time."""
        values = [self.values(name) for name in columns]
        codes = [self.counts.codes_of(name) for name in columns]
        for start in range(0, len(self.counts), BATCH_ROWS):
            some = slice(start, start + BATCH_ROWS)
            arrays = [_dictionary(c[some], v) for c, v in zip(codes, values, strict=True)]
            batch = pa.RecordBatch.from_arrays(arrays, list(columns))
            yield WeightedBatch(batch, self.counts.rows[some])


def _dictionary(codes: CodeArray, values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(from_numpy(codes), values, safe=False)


def _exact(kind: pa.DataType, column: str) -> bool:
    """Return whether values are counted as they are; -0.0 and NaN are not."""
    plain = plain_type(kind)
    return not t.is_floating(plain) and counted_type(kind, column) == plain


class Distinct(NamedTuple):
    """The distinct rows of a release, and how many rows each stands for."""

    columns: list[pa.Array]
    """Text as dictionaries of the values that are published, each once and in order."""

    rows: IntArray


class Publication:
    """What is published of each batch: first as codes, small enough to shuffle, then in full.

    Args:
        recoder: What the rows become.
        schema: The source's columns and their types.
        columns: What to publish, in order.
        suppression: What becomes of suppressed rows.
        as_text: Whether recoded columns must be text (a CSV file has nothing else).
    """

    def __init__(
        self,
        recoder: Recoder,
        schema: pa.Schema,
        columns: Sequence[str],
        *,
        suppression: Suppression,
        as_text: bool,
    ) -> None:
        self._recoder = recoder
        self._raw = schema
        self._columns = tuple(columns)
        self._star = suppression == "star"
        # A star is text, so a column that may get one must be text from its first row on.
        as_text = as_text or (self._star and recoder.suppresses)
        self._types = {
            name: labels.type(as_text=as_text) for name, labels in recoder.labels.items()
        }
        self.read = tuple(dict.fromkeys((*columns, *recoder.looked_at)))
        """The columns that must be read."""

        self.schema = pa.schema(
            [
                (name, self._types.get(name) or plain_type(schema.field(name).type))
                for name in columns
            ]
        )
        """The published types, without the input's metadata."""

        self.rows = 0
        self.suppressed_rows = 0
        self._labels: dict[str, pa.Array] = {}

    def encode_batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Recode batches to label codes, and leave out or star the suppressed rows."""
        for batch in batches:
            codes, suppressed = self._recoder.encode(batch)
            if suppressed is None or not suppressed.any():
                yield self._batch(batch, codes)
            else:
                yield self._without_suppressed(batch, codes, suppressed)
        self._recoder.finish()

    def _without_suppressed(
        self, batch: pa.RecordBatch, codes: dict[str, CodeArray], inside: BoolArray
    ) -> pa.RecordBatch:
        self.suppressed_rows += int(np.count_nonzero(inside))
        if not self._star:
            keep = np.flatnonzero(~inside)
            kept = {name: column[keep] for name, column in codes.items()}
            return self._batch(batch, kept, from_numpy(keep))
        for name, column in codes.items():
            column[inside] = self._recoder.labels[name].star
        # Taking a missing position gives a missing value, whatever the column's type.
        return self._batch(batch, codes, from_numpy(np.arange(len(inside)), missing=inside))

    def _batch(
        self, batch: pa.RecordBatch, codes: dict[str, CodeArray], take: pa.Array | None = None
    ) -> pa.RecordBatch:
        arrays = []
        for name in self._columns:
            if name in codes:
                width = np.min_scalar_type(self._recoder.labels[name].star)
                arrays.append(from_numpy(codes[name].astype(width)))
            else:
                array = takeable(batch.column(name))
                arrays.append(array if take is None else array.take(take))
        self.rows += len(batch) if take is None else len(take)
        return pa.RecordBatch.from_arrays(arrays, list(self._columns))

    def is_told_by(self, counted: CountedTable) -> bool:
        """Return whether rows need not be read, because everything in them was counted."""
        recoder = self._recoder
        return recoder.of_combinations and counted.suffices(
            self._raw, self._columns, recoder.looked_at
        )

    def distinct(self, counted: CountedTable) -> Distinct:
        """Recode counted combinations instead of rows, and leave out or star the suppressed."""
        seen = Combinations(len(self._columns))
        others = {n: counted.values(n) for n in self._columns if n not in self._recoder.labels}
        # One code more: that of a star, or of a cell that is missing in a starred row.
        sizes = [
            1 + (len(others[n]) if n in others else self._recoder.labels[n].star)
            for n in self._columns
        ]
        for weighted in counted.batches(self.read):
            codes, rows = self._recode_weighted(weighted)
            self.rows += int(rows.sum())
            seen.add(codes, sizes, rows=rows)
        combinations, rows = seen.result()
        values = [self._values(n, others) for n in self._columns]
        columns = [
            _tidy(v, c, field.type)
            for v, c, field in zip(values, combinations, self.schema, strict=True)
        ]
        return Distinct(columns, rows)

    def deal(
        self, counted: CountedTable, rng: np.random.Generator, progress: Progress | None
    ) -> Iterator[list[pa.Array]]:
        """Yield the rows of a release in random order, made of what was counted."""
        distinct = self.distinct(counted)
        done = 0
        for numbers in in_random_order(distinct.rows, rng, at_once=AT_ONCE, size=SLICE):
            rows = from_numpy(numbers)
            yield [column.take(rows) for column in distinct.columns]
            done += len(rows)
            if progress is not None:
                progress(done, self.rows)

    def _recode_weighted(self, weighted: WeightedBatch) -> tuple[list[np.ndarray], IntArray]:
        """Recode some combinations to one code per published column."""
        batch, rows = weighted
        recoded, suppressed = self._recoder.encode(batch)
        codes = [
            recoded[n] if n in recoded else to_numpy(batch.column(n).indices) for n in self._columns
        ]
        if suppressed is None or not suppressed.any():
            return codes, rows
        self.suppressed_rows += int(rows[suppressed].sum())
        if not self._star:
            keep = np.flatnonzero(~suppressed)
            return [column[keep] for column in codes], rows[keep]
        stars = [
            self._recoder.labels[n].star if n in recoded else len(batch.column(n).dictionary)
            for n in self._columns
        ]
        starred = [np.where(suppressed, star, c) for star, c in zip(stars, codes, strict=True)]
        return starred, rows

    def _values(self, name: str, others: dict[str, pa.Array]) -> pa.Array:
        if name in others:
            return pa.concat_arrays([others[name], pa.nulls(1, others[name].type)])
        return self._recoder.labels[name].array(self._types[name])

    def decode(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the published values of encoded rows; call it when all rows were encoded."""
        if not self._labels:
            self._labels = {
                name: labels.array(self._types[name])
                for name, labels in self._recoder.labels.items()
            }
        return [
            # Not checked: there is a label for every code that was given.
            pa.DictionaryArray.from_arrays(column, self._labels[name], safe=False)
            if name in self._labels
            else column
            for name, column in zip(self._columns, batch.columns, strict=True)
        ]


def _tidy(values: pa.Array, codes: CodeArray, kind: pa.DataType) -> pa.Array:
    """Return text as a dictionary of its values, each once and in order, other types as they are.

    >>> texts = _tidy(pa.array(["c", "b", "a", None]), np.array([3, 2, 0, 2]), pa.string())
    >>> texts.dictionary.to_pylist(), texts.indices.to_pylist(), texts.indices.type
    (['a', 'c'], [None, 0, 1, 0], DataType(uint8))
    """
    values = as_type(values, kind)
    if not is_text(kind):
        return values.take(from_numpy(codes))
    used = np.flatnonzero(np.bincount(codes, minlength=len(values)))
    own = values.take(from_numpy(used)).drop_null().unique()
    own = own.take(pc.sort_indices(own))
    width = pa.from_numpy_dtype(np.min_scalar_type(max(len(own) - 1, 0)))
    places = pc.index_in(values, value_set=own).cast(width)
    return pa.DictionaryArray.from_arrays(places.take(from_numpy(codes)), own, safe=False)


# Random order, on disk if there are too many rows for memory. The order of a release must say
# nothing about the order of the input: neighbours in a register are neighbours in the street.


BUDGET = 512 * 2**20
"""Bytes of recoded rows that are kept in memory."""

_BUCKETS = 64
"""Parts that many rows are thrown into; files, when they exceed the budget."""

SLICE = 1 << 18
"""Rows given out at a time."""

AT_ONCE = 1 << 20
"""Rows that are put in random order without being thrown into buckets first."""


def shuffle(
    batches: Iterator[pa.RecordBatch],
    rng: np.random.Generator,
    *,
    folder: Path | None = None,
    budget: int = BUDGET,
) -> Generator[pa.RecordBatch, None, None]:
    """Yield the same rows in an order drawn from `rng`, every order equally likely.

    Rows beyond the budget are thrown into random buckets, files in a new private folder
    inside `folder`; each bucket is then put in random order and given out. The folder
    is removed at the end and when the iterator is closed. Without a `folder` all rows
    stay in memory.

    >>> rows = pa.RecordBatch.from_pydict({"n": range(6)})
    >>> [out] = shuffle(iter([rows]), np.random.default_rng(1))
    >>> sorted(out["n"].to_pylist()) == rows["n"].to_pylist() != out["n"].to_pylist()
    True
    """
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if folder is not None and size > budget:
            yield from _through_buckets(chain(_emptying(held), batches), rng, folder)
            return
    yield from (
        _permute(held, rng) if sum(map(len, held)) <= AT_ONCE else _shuffle_in_parts(held, rng)
    )


def _shuffle_in_parts(
    held: list[pa.RecordBatch], rng: np.random.Generator
) -> Iterator[pa.RecordBatch]:
    """Throw rows into parts that fit the processor's cache, and put each in random order."""
    table = pa.Table.from_batches(held).unify_dictionaries()
    held.clear()
    # A part is given out at once, so it should seldom be longer than what is given out at a time.
    n = min(-(-4 * table.num_rows // (3 * SLICE)), _BUCKETS)
    parts: list[list[pa.RecordBatch]] = [[] for _ in range(n)]
    batches = table.to_batches(max_chunksize=SLICE)
    del table
    for batch in _emptying(batches):
        for part, rows in zip(parts, _throw(batch, n, rng), strict=True):
            part.append(rows)
    for part in parts:
        yield from _permute(part, rng)


def _throw(rows: pa.RecordBatch, n: int, rng: np.random.Generator) -> Iterator[pa.RecordBatch]:
    """Throw each row into one of n buckets, all equally likely, and give the buckets."""
    bucket = rng.integers(n, size=len(rows), dtype=np.uint8)
    rows = rows.take(from_numpy(np.argsort(bucket, kind="stable").astype(np.int32)))
    ends = np.cumsum(np.bincount(bucket, minlength=n)).tolist()
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        yield rows.slice(start, end - start)


def _through_buckets(
    batches: Iterator[pa.RecordBatch], rng: np.random.Generator, folder: Path
) -> Iterator[pa.RecordBatch]:
    with tempfile.TemporaryDirectory(prefix=".shuffle-", dir=folder) as private:
        paths = [Path(private) / str(i) for i in range(_BUCKETS)]
        with ExitStack() as stack:
            writers: list[ipc.RecordBatchStreamWriter] = []
            for batch in batches:
                rows = _plain(batch)
                if not writers:
                    writers = [
                        stack.enter_context(ipc.new_stream(str(path), rows.schema))
                        for path in paths
                    ]
                for writer, thrown in zip(writers, _throw(rows, _BUCKETS, rng), strict=True):
                    if len(thrown):
                        writer.write_batch(thrown)
        for path in paths:
            with pa.OSFile(str(path)) as file:
                held = list(ipc.open_stream(file))
            path.unlink()
            yield from _permute(held, rng)


def _permute(batches: list[pa.RecordBatch], rng: np.random.Generator) -> Iterator[pa.RecordBatch]:
    """Yield rows in random order, emptying the list to keep only one copy of each column."""
    if not batches:
        return
    table = pa.Table.from_batches(batches).unify_dictionaries()
    batches.clear()
    order = from_numpy(rng.permutation(np.arange(table.num_rows, dtype=_smallest(table.num_rows))))
    schema, columns = table.schema, table.columns
    del table
    for i, column in enumerate(columns):
        columns[i] = _join(column).take(order)
    for start in range(0, len(order), SLICE):
        yield pa.RecordBatch.from_arrays(
            [column.slice(start, SLICE) for column in columns], schema.names
        )


def _smallest(n: int) -> type[np.signedinteger]:
    return np.int32 if n < 2**31 else np.int64


def _join(column: pa.ChunkedArray) -> pa.Array:
    if t.is_string(column.type) and column.nbytes > 2**30:
        # One array of this type holds two gigabytes of text at most.
        column = column.cast(pa.large_string())
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    arrays = [as_type(array, plain_type(array.type)) for array in batch.columns]
    return pa.RecordBatch.from_arrays(arrays, batch.schema.names)


def _emptying(held: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    held.reverse()
    while held:
        yield held.pop()
