"""The way of the rows from a source to a release."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from sfumato.engines.arrow.build import from_numpy
from sfumato.engines.arrow.recoder import Recoder
from sfumato.engines.arrow.types import plain_type, stored
from sfumato.engines.base import Suppression
from sfumato.typing import BoolArray, CodeArray


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
