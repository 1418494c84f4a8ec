"""The way of the rows from a source to a release."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from sfumato.engines.arrow.build import from_numpy
from sfumato.engines.arrow.recoder import ColumnRecoder
from sfumato.engines.arrow.source import Source
from sfumato.engines.arrow.suppressed import SuppressedClasses
from sfumato.engines.arrow.types import plain_type, stored
from sfumato.engines.base import Suppression
from sfumato.recoding import DROP, FullDomainRecoding
from sfumato.typing import BoolArray, CodeArray


class Publication:
    """What is published of each batch: first as codes, small enough to shuffle, then in full.

    Args:
        source: Where the rows come from.
        recoding: What each value becomes.
        columns: What to publish, in order.
        suppression: What becomes of suppressed rows.
        as_text: Whether recoded columns must be text (a CSV file has nothing else).
    """

    def __init__(
        self,
        source: Source,
        recoding: FullDomainRecoding,
        columns: Sequence[str],
        *,
        suppression: Suppression,
        as_text: bool,
    ) -> None:
        self._columns = tuple(columns)
        self._suppressed = SuppressedClasses(
            recoding.suppressed, [len(column.labels) for column in recoding.columns]
        )
        self._drops = any(bool((column.codes == DROP).any()) for column in recoding.columns)
        self._star = suppression == "star"
        # A star is text, so a column that may get one must be text from its first row on.
        as_text = as_text or (self._star and (self._drops or bool(self._suppressed)))
        self._recoders = {
            column.column: ColumnRecoder(
                column, source.schema.field(column.column).type, as_text=as_text, where=source.where
            )
            for column in recoding.columns
        }
        self.read = tuple(dict.fromkeys((*columns, *self._recoders)))
        """The columns that must be read."""

        self.schema = pa.schema([(name, self._type(source, name)) for name in columns])
        """The published types, without the input's metadata."""

        self.rows = 0
        self.suppressed_rows = 0
        self._labels: dict[str, pa.Array] = {}

    def _type(self, source: Source, name: str) -> pa.DataType:
        recoder = self._recoders.get(name)
        return recoder.type if recoder else plain_type(source.schema.field(name).type)

    def coded(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Recode batches to label codes, and leave out or star the suppressed rows."""
        for batch in batches:
            codes = {
                name: recoder.encode(batch.column(name)) for name, recoder in self._recoders.items()
            }
            if self._suppressed or self._drops:
                yield self._without_suppressed(batch, codes)
            else:
                yield self._batch(batch, codes)

    def _without_suppressed(
        self, batch: pa.RecordBatch, codes: dict[str, CodeArray]
    ) -> pa.RecordBatch:
        inside: BoolArray = np.zeros(len(batch), dtype=bool)
        if self._drops:
            for column in codes.values():
                dropped = column == DROP
                inside |= dropped
                column[dropped] = 0
        if self._suppressed:
            inside |= self._suppressed.contain(list(codes.values()))
        hit = int(np.count_nonzero(inside))
        self.suppressed_rows += hit
        if not hit:
            return self._batch(batch, codes)
        if not self._star:
            keep = np.flatnonzero(~inside)
            kept = {name: column[keep] for name, column in codes.items()}
            return self._batch(batch, kept, from_numpy(keep))
        for name, column in codes.items():
            column[inside] = self._recoders[name].star
        # Taking a missing position gives a missing value, whatever the column's type.
        return self._batch(batch, codes, from_numpy(np.arange(len(inside)), missing=inside))

    def _batch(
        self, batch: pa.RecordBatch, codes: dict[str, CodeArray], take: pa.Array | None = None
    ) -> pa.RecordBatch:
        arrays = []
        for name in self._columns:
            if name in codes:
                width = np.min_scalar_type(self._recoders[name].star)
                arrays.append(from_numpy(codes[name].astype(width)))
            else:
                array = stored(batch.column(name))
                arrays.append(array if take is None else array.take(take))
        self.rows += len(batch) if take is None else len(take)
        return pa.RecordBatch.from_arrays(arrays, list(self._columns))

    def finished(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Give the published values of coded rows; call it when all rows were coded."""
        if not self._labels:
            self._labels = {name: recoder.labels() for name, recoder in self._recoders.items()}
        return [
            pa.DictionaryArray.from_arrays(column.cast(pa.int32()), self._labels[name])
            if name in self._labels
            else column
            for name, column in zip(self._columns, batch.columns, strict=True)
        ]
