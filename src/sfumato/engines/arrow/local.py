"""Local recoding of rows: one lookup per combination, and a portion of it for each row."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sfumato.engines.arrow.labels import Labels
from sfumato.engines.arrow.portions import Portions, UsedUpError
from sfumato.engines.arrow.reader import ColumnReader
from sfumato.engines.arrow.recoder import Recoded, Recoder
from sfumato.engines.arrow.source import Source, changed
from sfumato.engines.arrow.tuples import Tuples
from sfumato.recoding import SUPPRESSED, LocalColumn, LocalRecoding
from sfumato.typing import CodeArray, IntArray, Value


class LocalRecoder(Recoder):
    """Looks up each row's combination, then a portion of it, then the labels of its class.

    Example:
        >>> from sfumato.engines.arrow.opening import open_source
        >>> people = pa.table({"zip": ["73456", "73455", "73456"]})
        >>> recoding = LocalRecoding(
        ...     columns=(LocalColumn("zip", ("73455", "73456"), ("73456", "7345*"), raw=False),),
        ...     others=(),
        ...     combinations=np.array([[0, 1]], dtype=np.int32),
        ...     starts=np.array([0, 1, 3]),
        ...     rows=np.array([1, 1, 1]),
        ...     classes=np.array([1, 1, 0]),
        ...     labels=np.array([[0, 1]], dtype=np.int32),
        ... )
        >>> recoder = LocalRecoder(recoding, open_source(people), np.random.default_rng())
        >>> codes = recoder.encode(people.to_batches()[0]).codes["zip"].tolist()
        >>> codes in ([0, 1, 1], [1, 1, 0])
        True
    """

    def __init__(self, recoding: LocalRecoding, source: Source, rng: np.random.Generator) -> None:
        dictionaries = {column.column: column.values for column in recoding.columns}
        dictionaries |= {column.name: column.values for column in recoding.others}
        self._where = source.where
        self._recoding = recoding
        self._values = list(dictionaries.values())
        self._readers = [
            ColumnReader(name, values, np.arange(len(values)), source)
            for name, values in dictionaries.items()
        ]
        self.looked_at = tuple(dictionaries)
        self.labels = {
            column.column: Labels(reader, column.labels, _raw_codes(column))
            for column, reader in zip(recoding.columns, self._readers, strict=False)
        }
        self._combinations = Tuples(
            list(recoding.combinations),
            [len(values) for values in self._values],
            recoding.combinations.shape[1],
        )
        self._portions = Portions(recoding.starts, recoding.rows, rng)
        self.suppresses = bool((recoding.classes == SUPPRESSED).any())
        # The class of suppressed rows is -1, so their labels must be the last.
        self._labels = np.pad(recoding.labels, ((0, 0), (0, 1)))

    def encode(self, batch: pa.RecordBatch) -> Recoded:
        raw = [reader.encode(batch.column(reader.column)) for reader in self._readers]
        classes = self._recoding.classes[self._portions_of(raw, len(batch))]
        codes = {
            name: labels[classes] for name, labels in zip(self.labels, self._labels, strict=True)
        }
        return Recoded(codes, classes == SUPPRESSED if self.suppresses else None)

    def _portions_of(self, raw: Sequence[CodeArray], n: int) -> IntArray:
        combinations = self._combinations.find(raw, n)
        strangers = combinations < 0
        if strangers.any():
            row = int(np.argmax(strangers))
            example = self._told([column[row] for column in raw])
            raise changed(self._where, f"a row has {example}, which the recoding does not know")
        try:
            return self._portions.hand_out(combinations)
        except UsedUpError as error:
            told, rows = self._counted(error.combination)
            raise changed(
                self._where, f"there are more rows with {told} than the {rows} of the recoding"
            ) from None

    def finish(self) -> None:
        left = np.flatnonzero(self._portions.left)
        if len(left):
            at = int(np.searchsorted(self._recoding.starts, left[0], side="right")) - 1
            told, rows = self._counted(at)
            raise changed(
                self._where, f"there are fewer rows with {told} than the {rows} of the recoding"
            )

    def _counted(self, combination: int) -> tuple[str, int]:
        """Describe a combination, and say how many rows the recoding has of it."""
        start, end = self._recoding.starts[combination : combination + 2]
        told = self._told(self._recoding.combinations[:, combination])
        return told, int(self._recoding.rows[start:end].sum())

    def _told(self, codes: Sequence[int] | CodeArray) -> str:
        cells = zip(self.looked_at, self._values, codes, strict=True)
        return ", ".join(f"{name} {values[code]!r}" for name, values, code in cells)


def _raw_codes(column: LocalColumn) -> IntArray | None:
    """Say which raw value each label is, if they all are."""
    if not column.raw:
        return None
    code: dict[Value, int] = {value: i for i, value in enumerate(column.values)}
    return np.array([code[label] for label in column.labels], dtype=np.int64)
