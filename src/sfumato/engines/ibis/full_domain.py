"""Full-domain recoding in a database: a lookup joined to each column."""

from typing import Any

import ibis
import numpy as np
import pyarrow as pa

from sfumato.engines.arrow.build import from_numpy
from sfumato.engines.arrow.codebook import MISSING
from sfumato.engines.arrow.source import changed
from sfumato.engines.arrow.tuples import Tuples
from sfumato.engines.ibis.counting import Counted
from sfumato.engines.ibis.database import Database
from sfumato.engines.ibis.keys import kept, keyed
from sfumato.engines.ibis.recoded import SUPPRESSED, Constants, Recoded, texts
from sfumato.errors import some
from sfumato.recoding import DROP, ColumnRecoding, FullDomainRecoding
from sfumato.typing import BoolArray, CodeArray

_UNKNOWN = -1


class FullDomainRecoder:
    """Builds the statement that looks up each value of a row by itself.

    Whether the rows are those the recoding was made for is checked on their counts, before.

    Args:
        database: Where the rows are.
        recoding: What the values become.
        counted: The recoded columns as they are now.
    """

    def __init__(self, database: Database, recoding: FullDomainRecoding, counted: Counted) -> None:
        self._database = database
        self._recoding = recoding
        self._counted = counted
        self._codes = [
            _codes(database.where, column, counted, i) for i, column in enumerate(recoding.columns)
        ]
        """The label of each value of each column, by the value's code."""

        self.rows = int(counted.rows.sum())
        self.suppressed_rows = int(counted.rows[self._inside()].sum())
        self.suppresses = len(recoding.suppressed) > 0 or any(
            bool((column.codes == DROP).any()) for column in recoding.columns
        )

    def _inside(self) -> BoolArray:
        """Say which of the counted combinations are suppressed."""
        n = len(self._counted.rows)
        inside: BoolArray = np.zeros(n, dtype=bool)
        labels = []
        for codes, of_values in zip(self._counted.codes, self._codes, strict=True):
            mine = of_values[codes]
            inside |= mine == DROP
            labels.append(np.maximum(mine, 0))
        suppressed = self._recoding.suppressed
        sizes = [len(column.labels) for column in self._recoding.columns]
        return inside | (Tuples(list(suppressed.T), sizes, len(suppressed)).find(labels, n) >= 0)

    def recoded(self, plain: list[int], *, as_text: bool) -> Recoded:
        """Build it.

        Args:
            plain: Columns that are needed as they are, by their number.
            as_text: Whether recoded columns must be text.
        """
        columns = self._recoding.columns
        constants = Constants(self._database)
        wanted = [
            i
            for i, column in enumerate(columns)
            if self.suppressed_rows or as_text or column.level > 0
        ]
        lookups = {i: self._lookup(i, constants) for i in wanted}
        query: Any = keyed(self._database, self._counted.positions, plain)
        query = constants.beside(query)
        for i, lookup in lookups.items():
            query = query.left_join(lookup, [(f"k{self._counted.positions[i]}", f"key{i}")])
        cells = {f"code_of{i}": self._cell(query, i, "code") for i in wanted}
        for i, column in enumerate(columns):
            cells[f"label_of{i}"] = (
                self._cell(query, i, "label")
                if column.level > 0 or as_text
                else kept(self._database, query, self._counted.positions[i])
            )
        query = query.mutate(**cells)
        if self.suppressed_rows:
            query = self._marked(query)
        return Recoded(query, {c.column: f"label_of{i}" for i, c in enumerate(columns)})

    def _lookup(self, i: int, constants: Constants) -> Any:  # noqa: ANN401
        """Upload what the known values of a column become; remember what a missing one does."""
        book, codes = self._counted.books[i], self._codes[i]
        # Of a dropped value no label is seen.
        labels = texts([self._recoding.columns[i].labels[max(code, 0)] for code in codes])
        numbers = from_numpy(codes)
        if self._counted.misses(i):
            constants.add(f"missing_code{i}", numbers[:1])
            constants.add(f"missing_label{i}", labels[:1])
        return self._database.upload(
            pa.table({f"key{i}": book.values, f"code{i}": numbers[1:], f"label{i}": labels[1:]})
        )

    def _cell(self, query: Any, i: int, what: str) -> Any:  # noqa: ANN401
        found = query[f"{what}{i}"]
        if not self._counted.misses(i):
            return found
        missing = query[f"k{self._counted.positions[i]}"].isnull()
        return ibis.ifelse(missing, query[f"missing_{what}{i}"], found)

    def _marked(self, query: Any) -> Any:  # noqa: ANN401
        """Add a column that says whether a row is suppressed."""
        numbers = range(len(self._recoding.columns))
        drops = [query[f"code_of{i}"] == DROP for i in numbers]
        suppressed = np.unique(self._recoding.suppressed, axis=0).astype(np.int32)
        if not len(suppressed):
            return query.mutate(**{SUPPRESSED: ibis.or_(*drops)})
        classes = {f"class{i}": from_numpy(column) for i, column in enumerate(suppressed.T)}
        hits = self._database.upload(pa.table(classes))
        query = query.left_join(hits, [(f"code_of{i}", f"class{i}") for i in numbers])
        return query.mutate(**{SUPPRESSED: ibis.or_(query.class0.notnull(), *drops)})


def _codes(where: str, column: ColumnRecoding, counted: Counted, i: int) -> CodeArray:
    """Give the label of each counted value of a column, or refuse values it has none for."""
    of_value = dict(zip(column.values, column.codes.tolist(), strict=True))
    values = counted.values[i]
    codes = np.array([of_value.get(value, _UNKNOWN) for value in values], dtype=np.int32)
    if not counted.misses(i) and codes[MISSING] == _UNKNOWN:
        codes[MISSING] = DROP
    if (codes == _UNKNOWN).any():
        strangers = [values[at] for at in np.flatnonzero(codes == _UNKNOWN)]
        raise changed(
            where,
            f"column {column.column!r} holds {some(strangers)}, which the recoding does not know",
        )
    return codes
