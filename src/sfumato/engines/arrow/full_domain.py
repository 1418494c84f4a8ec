"""Full-domain recoding of rows: one lookup per column."""

import numpy as np
import pyarrow as pa

from sfumato.engines.arrow.labels import Labels
from sfumato.engines.arrow.reader import ColumnReader
from sfumato.engines.arrow.recoder import Recoded, Recoder
from sfumato.engines.arrow.source import Source
from sfumato.engines.arrow.tuples import Tuples
from sfumato.recoding import DROP, FullDomainRecoding
from sfumato.typing import BoolArray, CodeArray


class FullDomainRecoder(Recoder):
    """Looks up each value of a row by itself, and the row's labels among the suppressed classes.

    Example:
        >>> from sfumato.engines.arrow.opening import open_source
        >>> from sfumato.hierarchy import Hierarchy
        >>> decades = Hierarchy.from_paths([30, 41], [["30s", "*"], ["40s", "*"]])
        >>> by_decade = FullDomainRecoding.at([decades.bind("age", [30, 41])], (1,))
        >>> people = pa.table({"age": [41, 30]})
        >>> recoder = FullDomainRecoder(by_decade, open_source(people))
        >>> recoder.encode(people.to_batches()[0]).codes["age"].tolist()
        [1, 0]
    """

    of_combinations = True

    def __init__(self, recoding: FullDomainRecoding, source: Source) -> None:
        self._readers = {
            column.column: ColumnReader(column.column, column.values, column.codes, source)
            for column in recoding.columns
        }
        self.looked_at = tuple(self._readers)
        self.labels = {
            column.column: Labels(
                self._readers[column.column],
                column.labels,
                np.arange(len(column.labels)) if column.level == 0 else None,
            )
            for column in recoding.columns
        }
        self._suppressed = Tuples(
            list(recoding.suppressed.T),
            [len(column.labels) for column in recoding.columns],
            len(recoding.suppressed),
        )
        self._drops = any(bool((column.codes == DROP).any()) for column in recoding.columns)
        self.suppresses = self._drops or len(self._suppressed) > 0

    def encode(self, batch: pa.RecordBatch) -> Recoded:
        codes = {name: reader.encode(batch.column(name)) for name, reader in self._readers.items()}
        return Recoded(codes, self._inside(codes, len(batch)) if self.suppresses else None)

    def _inside(self, codes: dict[str, CodeArray], n: int) -> BoolArray:
        inside: BoolArray = np.zeros(n, dtype=bool)
        if self._drops:
            for column in codes.values():
                dropped = column == DROP
                inside |= dropped
                column[dropped] = 0
        if len(self._suppressed):
            inside |= self._suppressed.find(list(codes.values()), n) >= 0
        return inside
