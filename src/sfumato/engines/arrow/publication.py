"""The way of the rows from a source to a release."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.engines.arrow.build import from_numpy, to_numpy
from sfumato.engines.arrow.combinations import Combinations
from sfumato.engines.arrow.counted import Counted, Weighted
from sfumato.engines.arrow.recoder import Recoder
from sfumato.engines.arrow.types import as_type, is_text, plain_type, stored
from sfumato.engines.base import Suppression
from sfumato.typing import BoolArray, CodeArray, IntArray


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

    def coded(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
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
                array = stored(batch.column(name))
                arrays.append(array if take is None else array.take(take))
        self.rows += len(batch) if take is None else len(take)
        return pa.RecordBatch.from_arrays(arrays, list(self._columns))

    def told_by(self, counted: Counted) -> bool:
        """Say whether rows need not be read, because all there is to know was counted."""
        recoder = self._recoder
        return recoder.of_combinations and counted.tells(
            self._raw, self._columns, recoder.looked_at
        )

    def distinct(self, counted: Counted) -> Distinct:
        """Recode counted combinations instead of rows, and leave out or star the suppressed."""
        seen = Combinations(len(self._columns))
        others = {n: counted.values(n) for n in self._columns if n not in self._recoder.labels}
        # One code more: that of a star, or of a cell that is missing in a starred row.
        sizes = [
            1 + (len(others[n]) if n in others else self._recoder.labels[n].star)
            for n in self._columns
        ]
        for weighted in counted.batches(self.read):
            codes, rows = self._weighted(weighted)
            self.rows += int(rows.sum())
            seen.add(codes, sizes, rows=rows)
        combinations, rows = seen.result()
        values = [self._values(n, others) for n in self._columns]
        columns = [
            _tidy(v, c, field.type)
            for v, c, field in zip(values, combinations, self.schema, strict=True)
        ]
        return Distinct(columns, rows)

    def _weighted(self, weighted: Weighted) -> tuple[list[np.ndarray], IntArray]:
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

    def finished(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Give the published values of coded rows; call it when all rows were coded."""
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
    """Give text as a dictionary of what is in it, each value once and in order, the rest as it is.

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
