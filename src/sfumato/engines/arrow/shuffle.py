"""Bring rows into a random order, on disk if they are too many for memory.

The order of a release must say nothing about the order of the input: neighbours in a
register are neighbours in the street.
"""

import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import ipc
from pyarrow import types as t

from sfumato.engines.arrow.build import from_numpy
from sfumato.engines.arrow.types import as_type, plain_type
from sfumato.typing import CodeArray, IntArray

BUDGET = 512 * 2**20
"""Bytes of recoded rows that are kept in memory."""

_BUCKETS = 64
"""Parts that many rows are thrown into; files, when they exceed the budget."""

SLICE = 1 << 18
"""Rows given out at a time."""

_AT_ONCE = 1 << 20
"""Rows that are put in random order without being thrown into buckets first."""


def shuffled(
    batches: Iterator[pa.RecordBatch],
    rng: np.random.Generator,
    *,
    folder: Path | None = None,
    budget: int = BUDGET,
) -> Generator[pa.RecordBatch, None, None]:
    """Give the same rows in an order drawn from `rng`, every order equally likely.

    Rows beyond the budget are thrown into random buckets, files in a new private folder
    inside `folder`; each bucket is then put in random order and given out. The folder
    is removed at the end and when the iterator is closed. Without a `folder` all rows
    stay in memory.

    >>> rows = pa.RecordBatch.from_pydict({"n": range(6)})
    >>> [out] = shuffled(iter([rows]), np.random.default_rng(1))
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
    yield from _permuted(held, rng) if sum(map(len, held)) <= _AT_ONCE else _parted(held, rng)


def dealt(rows: IntArray, rng: np.random.Generator) -> Iterator[CodeArray]:
    """Give the number i as often as `rows[i]` says, in an order drawn from `rng`.

    Every order is equally likely, as in `shuffled`: too many numbers at once are thrown into two
    halves first, and how many of each number fall into one half is drawn without writing them out.

    >>> [numbers] = dealt(np.array([3, 0, 2]), np.random.default_rng(1))
    >>> sorted(numbers.tolist())
    [0, 0, 0, 2, 2]
    """
    if rows.sum() > _AT_ONCE:
        half = rng.binomial(rows, 0.5)
        yield from dealt(half, rng)
        yield from dealt(rows - half, rng)
        return
    numbers = np.repeat(np.arange(len(rows), dtype=np.int32), rows)
    rng.shuffle(numbers)
    if len(numbers):
        yield from np.array_split(numbers, -(-len(numbers) // SLICE))


def _parted(held: list[pa.RecordBatch], rng: np.random.Generator) -> Iterator[pa.RecordBatch]:
    """Throw rows into parts that fit the processor's cache, and put each in random order."""
    table = pa.Table.from_batches(held).unify_dictionaries()
    held.clear()
    # A part is given out at once, so it should seldom be longer than what is given out at a time.
    n = min(-(-4 * table.num_rows // (3 * SLICE)), _BUCKETS)
    parts: list[list[pa.RecordBatch]] = [[] for _ in range(n)]
    batches = table.to_batches(max_chunksize=SLICE)
    del table
    for batch in _emptying(batches):
        for part, rows in zip(parts, _thrown(batch, n, rng), strict=True):
            part.append(rows)
    for part in parts:
        yield from _permuted(part, rng)


def _thrown(rows: pa.RecordBatch, n: int, rng: np.random.Generator) -> Iterator[pa.RecordBatch]:
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
                for writer, thrown in zip(writers, _thrown(rows, _BUCKETS, rng), strict=True):
                    if len(thrown):
                        writer.write_batch(thrown)
        for path in paths:
            with pa.OSFile(str(path)) as file:
                held = list(ipc.open_stream(file))
            path.unlink()
            yield from _permuted(held, rng)


def _permuted(batches: list[pa.RecordBatch], rng: np.random.Generator) -> Iterator[pa.RecordBatch]:
    """Put rows in random order, emptying the list to keep only one copy of each column."""
    if not batches:
        return
    table = pa.Table.from_batches(batches).unify_dictionaries()
    batches.clear()
    order = from_numpy(rng.permutation(np.arange(table.num_rows, dtype=_smallest(table.num_rows))))
    schema, columns = table.schema, table.columns
    del table
    for i, column in enumerate(columns):
        columns[i] = _joined(column).take(order)
    for start in range(0, len(order), SLICE):
        yield pa.RecordBatch.from_arrays(
            [column.slice(start, SLICE) for column in columns], schema.names
        )


def _smallest(n: int) -> type[np.signedinteger]:
    return np.int32 if n < 2**31 else np.int64


def _joined(column: pa.ChunkedArray) -> pa.Array:
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
