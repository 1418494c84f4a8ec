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
from sfumato.engines.ibis.numbers import Numbers
from sfumato.engines.ibis.recoded import SUPPRESSED, Constants, Recoded, texts
from sfumato.errors import some
from sfumato.recoding import DROP, ColumnRecoding, FullDomainRecoding
from sfumato.typing import BoolArray, CodeArray, IntArray

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

        self._numbers = Numbers([len(column.labels) for column in recoding.columns])
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
        labelled = [i for i, column in enumerate(columns) if as_text or column.level > 0]
        wanted = range(len(columns)) if self.suppressed_rows else labelled
        lookups = {i: self._lookup(i, constants) for i in wanted}
        positions = self._counted.positions
        unchanged = [positions[i] for i in range(len(columns)) if i not in labelled]
        # The fewer columns go through the joins, the shorter is the statement.
        others = [i for i in plain if i not in positions]
        query: Any = keyed(self._database, positions, [*others, *unchanged])
        query = constants.beside(query)
        for i, lookup in lookups.items():
            query = query.left_join(lookup, [(f"k{positions[i]}", f"key{i}")])
        cells = {f"c{i}": query[f"c{i}"] for i in others}
        for i, position in enumerate(positions):
            labels = i in labelled
            cells[f"label_of{i}"] = (
                self._label(query, i) if labels else kept(self._database, query, position)
            )
        query = self._marked(query, cells) if self.suppressed_rows else query.select(**cells)
        return Recoded(query, {c.column: f"label_of{i}" for i, c in enumerate(columns)})

    def _lookup(self, i: int, constants: Constants) -> Any:  # noqa: ANN401
        """Upload what the known values of a column become; remember what a missing one does."""
        book, codes = self._counted.books[i], self._codes[i]
        # Of a dropped value no label is seen.
        labels = texts([self._recoding.columns[i].labels[max(code, 0)] for code in codes])
        if self._counted.misses(i):
            constants.add(f"missing_label{i}", labels[:1])
        parts = from_numpy(self._parts(i)[1:])
        return self._database.upload(
            pa.table({f"key{i}": book.values, f"part{i}": parts, f"label{i}": labels[1:]})
        )

    def _parts(self, i: int) -> IntArray:
        """Give what the values of a column add to the number of a class; -1 for dropped ones."""
        codes = self._codes[i]
        return np.where(codes == DROP, -1, self._numbers.part(i, codes))

    def _label(self, query: Any, i: int) -> Any:  # noqa: ANN401
        found = query[f"label{i}"]
        if not self._counted.misses(i):
            return found
        missing = query[f"k{self._counted.positions[i]}"].isnull()
        return ibis.ifelse(missing, query[f"missing_label{i}"], found)

    def _part(self, query: Any, i: int) -> Any:  # noqa: ANN401
        found = query[f"part{i}"]
        if not self._counted.misses(i):
            return found
        missing = query[f"k{self._counted.positions[i]}"].isnull()
        return ibis.ifelse(missing, int(self._parts(i)[MISSING]), found)

    def _drops(self, i: int) -> bool:
        """Tell whether some row is suppressed for its value of a column."""
        codes = self._codes[i] if self._counted.misses(i) else self._codes[i][1:]
        return bool((codes == DROP).any())

    def _marked(self, query: Any, cells: dict[str, Any]) -> Any:  # noqa: ANN401
        """Select some cells, and a column that says whether a row is suppressed."""
        parts = [self._part(query, i) for i in range(len(self._codes))]
        drops = [part < 0 for i, part in enumerate(parts) if self._drops(i)]
        suppressed = np.unique(self._recoding.suppressed, axis=0)
        if not len(suppressed):
            return query.select(**cells, **{SUPPRESSED: ibis.or_(*drops)})
        sums = {f"number{g}": each for g, each in enumerate(self._numbers.sums(parts))}
        classes = {
            f"class{g}": from_numpy(each)
            for g, each in enumerate(self._numbers.of(list(suppressed.T)))
        }
        hits = self._database.upload(pa.table(classes))
        pairs = [(f"number{g}", f"class{g}") for g in range(len(sums))]
        # What is dropped is none of the classes, whatever its parts add up to.
        dropped = {"dropped": ibis.or_(*drops)} if drops else {}
        query = query.select(**cells, **sums, **dropped).view().left_join(hits, pairs)
        hit = query.class0.notnull()
        return query.mutate(**{SUPPRESSED: hit | query.dropped if drops else hit})


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
