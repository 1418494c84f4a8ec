"""Local recoding in a database: a join on the distinct combinations, and a portion for each row."""

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
from sfumato.engines.ibis.keys import keyed
from sfumato.engines.ibis.numbers import Numbers
from sfumato.engines.ibis.recoded import SUPPRESSED, Recoded, texts
from sfumato.errors import some
from sfumato.recoding import SUPPRESSED as NO_CLASS
from sfumato.recoding import LocalColumn, LocalRecoding
from sfumato.typing import CodeArray, IntArray, Value

_SEVERAL = -2
"""Stands for the class of a combination whose rows go to different ones."""


class LocalRecoder:
    """Builds the statement that looks up each row's combination, then a portion of it.

    Whether the rows are those the recoding was made for is checked on their counts, before.

    Args:
        database: Where the rows are.
        recoding: What the combinations become.
        counted: The columns of the recoding as they are now.
    """

    def __init__(self, database: Database, recoding: LocalRecoding, counted: Counted) -> None:
        self._database = database
        self._recoding = recoding
        self._counted = counted
        self._values = [c.values for c in recoding.columns] + [c.values for c in recoding.others]
        self._combination = self._found()
        """The number the recoding has for each counted combination."""

        self._check_rows()
        self.rows = recoding.total
        self.suppressed_rows = int(recoding.rows[recoding.classes == NO_CLASS].sum())
        self.suppresses = self.suppressed_rows > 0

    def _found(self) -> IntArray:
        codes = [self._known(i) for i in range(len(self._values))]
        recoding = self._recoding
        sizes = [len(values) for values in self._values]
        known = Tuples(list(recoding.combinations), sizes, recoding.combinations.shape[1])
        found = known.find(codes, len(self._counted.rows))
        if (found < 0).any():
            at = int(np.argmax(found < 0))
            told = self._told([int(column[at]) for column in codes])
            raise changed(
                self._database.where, f"a row has {told}, which the recoding does not know"
            )
        return found.astype(np.int64)

    def _known(self, i: int) -> CodeArray:
        """Give the recoding's codes of a column's value in each counted combination."""
        code = {value: at for at, value in enumerate(self._values[i])}
        values = self._counted.values[i]
        lookup = np.array([code.get(value, -1) for value in values], dtype=np.int32)
        codes: CodeArray = lookup[self._counted.codes[i]]
        if (codes < 0).any():
            strangers = [values[at] for at in np.unique(self._counted.codes[i][codes < 0])]
            raise changed(
                self._database.where,
                f"column {self._counted.names[i]!r} holds {some(strangers)}, which the recoding "
                "does not know",
            )
        return codes

    def _check_rows(self) -> None:
        """Refuse rows that the portions do not fit exactly."""
        starts = self._recoding.starts
        before = np.concatenate([[0], np.cumsum(self._recoding.rows)])
        planned = before[starts[1:]] - before[starts[:-1]]
        there = np.zeros(len(planned), dtype=np.int64)
        np.add.at(there, self._combination, self._counted.rows)
        wrong = np.flatnonzero(there != planned)
        if len(wrong):
            at = wrong[0]
            more = "more" if there[at] > planned[at] else "fewer"
            told = self._told(self._recoding.combinations[:, at].tolist())
            raise changed(
                self._database.where,
                f"there are {more} rows with {told} than the {planned[at]} of the recoding",
            )

    def _told(self, codes: list[int]) -> str:
        cells = zip(self._counted.names, self._values, codes, strict=True)
        return ", ".join(f"{name} {values[code]!r}" for name, values, code in cells)

    def recoded(self, plain: list[int], *, as_text: bool) -> Recoded:
        """Build it.

        Args:
            plain: Columns that are needed as they are, by their number.
            as_text: Whether recoded columns must be text.
        """
        positions = self._counted.positions
        recoded = positions[: len(self._recoding.columns)]
        others = [i for i in plain if i not in recoded]
        query: Any = self._with_class(keyed(self._database, positions, others), others)
        labels = {
            f"label_of{i}": self._labels(i, as_text) for i in range(len(self._recoding.columns))
        }
        classes = self._recoding.labels.shape[1]
        table = pa.table({"class_at": from_numpy(np.arange(classes, dtype=np.int64)), **labels})
        query = query.left_join(self._database.upload(table), [("class_of", "class_at")])
        if self.suppressed_rows:
            query = query.mutate(**{SUPPRESSED: query.class_of == NO_CLASS})
        names = {c.column: f"label_of{i}" for i, c in enumerate(self._recoding.columns)}
        return Recoded(query, names)

    def _labels(self, i: int, as_text: bool) -> pa.Array:  # noqa: FBT001
        """Give the label of each class in a column."""
        column = self._recoding.columns[i]
        of_class = self._recoding.labels[i]
        if column.raw and not as_text:
            return self._originals(i, column).take(from_numpy(of_class.astype(np.int64)))
        return texts(list(column.labels)).take(from_numpy(of_class.astype(np.int64)))

    def _originals(self, i: int, column: LocalColumn) -> pa.Array:
        code: dict[Value, int] = {value: at for at, value in enumerate(self._counted.values[i])}
        # A label that no row of the source has as its value is one that no class has, either.
        codes = np.array([code.get(label, MISSING) for label in column.labels], dtype=np.int64)
        return self._counted.originals(i, codes)

    def _with_class(self, query: Any, others: list[int]) -> Any:  # noqa: ANN401
        """Give the class of each row, and some of its columns as they are."""
        starts, classes = self._recoding.starts, self._recoding.classes
        parts = np.diff(starts)[self._combination]
        several = parts > 1
        firsts = classes[starts[self._combination]]
        query = self._joined(query, others, np.where(several, _SEVERAL, firsts))
        if not several.any():
            return query.rename(class_of="first_class")
        # Drawn before it is ordered by: DuckDB draws nothing within a window.
        query = query.mutate(drawn=ibis.random())
        dealt = ibis.window(group_by="combination", order_by="drawn")
        query = query.mutate(turn=ibis.row_number().over(dealt).cast("int64"))
        query = query.left_join(self._slots(), [("combination", "of"), ("turn", "place")])
        shared = query.first_class == _SEVERAL
        return query.mutate(class_of=ibis.ifelse(shared, query.slot_class, query.first_class))

    def _joined(self, query: Any, others: list[int], classes: IntArray) -> Any:  # noqa: ANN401
        """Join the distinct combinations, each by the numbers that its values add up to."""
        counted = self._counted
        numbers = Numbers([len(book) for book in counted.books])
        # A column without any value tells nothing apart.
        known = [i for i, book in enumerate(counted.books) if len(book.values)]
        for i in known:
            pair = (f"k{counted.positions[i]}", f"key{i}")
            query = query.left_join(self._parts(i, numbers), [pair])
        parts: list[Any] = [ibis.literal(0, "int64")] * len(counted.books)
        for i in known:
            # Missing values have the code 0. A value that nobody counted finds nothing.
            missing = query[f"k{counted.positions[i]}"].isnull()
            part = query[f"part{i}"]
            parts[i] = ibis.ifelse(missing, 0, part) if counted.misses(i) else part
        sums = {f"number{g}": each for g, each in enumerate(numbers.sums(parts))}
        columns = {
            f"found{g}": from_numpy(each) for g, each in enumerate(numbers.of(list(counted.codes)))
        }
        columns["combination"] = from_numpy(self._combination)
        columns["first_class"] = from_numpy(classes.astype(np.int64))
        table = self._database.upload(pa.table(columns))
        pairs = [(f"number{g}", f"found{g}") for g in range(len(sums))]
        # The fewer columns go through the joins, the shorter is the statement.
        cells = {f"c{i}": query[f"c{i}"] for i in others}
        return query.select(**cells, **sums).view().inner_join(table, pairs)

    def _parts(self, i: int, numbers: Numbers) -> Any:  # noqa: ANN401
        """Upload what each known value of a column adds to a number."""
        values = self._counted.books[i].values
        codes = np.arange(1, len(values) + 1)
        return self._database.upload(
            pa.table({f"key{i}": values, f"part{i}": from_numpy(numbers.part(i, codes))})
        )

    def _slots(self) -> Any:  # noqa: ANN401
        """Give a class for each turn of the combinations whose rows go to different ones."""
        recoding = self._recoding
        of = np.repeat(np.arange(len(recoding.starts) - 1), np.diff(recoding.starts))
        before = np.concatenate([[0], np.cumsum(recoding.rows)])
        low = before[:-1] - before[recoding.starts[of]]
        shared = np.diff(recoding.starts)[of] > 1
        columns = {
            "of": of,
            "low": low,
            "high": low + recoding.rows,
            "slot_class": recoding.classes,
        }
        table = self._database.upload(
            pa.table({k: from_numpy(v[shared].astype(np.int64)) for k, v in columns.items()})
        )
        places = ibis.range(table.low, table.high).unnest()
        return table.select("of", "slot_class", place=places)
