"""Recoding in a database: lookups joined to the rows.

Whether the rows are those the recoding was made for is checked on their counts, before.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import ibis
import numpy as np
import pyarrow as pa

from sfumato.populations.weights import Averaging
from sfumato.recoding import (
    DROP,
    ColumnRecoding,
    FullDomainRecoding,
    LocalColumn,
    LocalRecoding,
    Recoding,
    SolvedRecoding,
)
from sfumato.recoding import (
    SUPPRESSED as NO_CLASS,
)
from sfumato.tables.arrow.counting import MISSING
from sfumato.tables.arrow.publishing import CombinationErrors, Tuples, unknown_values
from sfumato.tables.arrow.sources import from_numpy, from_texts
from sfumato.tables.base import NO_WEIGHTS, Suppression
from sfumato.tables.sql.counting import (
    CoarseCounts,
    CombinationNumbers,
    FetchedCounts,
    select_keys,
)
from sfumato.tables.sql.database import Database
from sfumato.text import STAR, text_of
from sfumato.typing import BoolArray, CodeArray, IntArray, Value

if TYPE_CHECKING:
    from ibis.expr.types import Table as Query

SUPPRESSED = "sfumato_suppressed"
"""A column that says whether a row is suppressed; it is there if any row is."""


class RecodedQuery(NamedTuple):
    """The rows with what is published of their recoded columns beside them."""

    query: "Query"
    labels: Mapping[str, str]
    """For each recoded column, the column of `query` that is published instead."""


class Constants:
    """Values that a statement needs once: uploaded, so that they never stand in its text.

    Args:
        database: Where they go.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._columns: dict[str, pa.Array] = {}

    def add(self, name: str, value: pa.Array) -> None:
        """Remember an array of one value."""
        self._columns[name] = value

    def beside(self, query: "Query") -> "Query":
        """Return the query with them beside every row."""
        if not self._columns:
            return query
        return query.cross_join(self._database.upload(pa.table(self._columns)))


def texts(values: list[Value]) -> pa.Array:
    """Write values as text; missing ones stay missing.

    >>> texts([30, None, "x"]).to_pylist()
    ['30', None, 'x']
    """
    return from_texts([None if v is None else text_of(v) for v in values], pa.string())


_UNKNOWN = -1


class FullDomainStatement:
    """Builds the statement that looks up each value of a row by itself.

    Args:
        database: Where the rows are.
        recoding: What the values become.
        counted: The recoded columns as they are now.
    """

    def __init__(
        self, database: Database, recoding: FullDomainRecoding, counted: FetchedCounts
    ) -> None:
        self._database = database
        self._recoding = recoding
        self._counted = counted
        self._codes = [
            _codes(database.where, column, counted, i) for i, column in enumerate(recoding.columns)
        ]
        """The label of each value of each column, by the value's code."""

        self._numbers = CombinationNumbers([len(column.labels) for column in recoding.columns])
        self.rows = int(counted.rows.sum())
        self.suppressed_rows = int(counted.rows[self._inside()].sum())
        self.suppresses = len(recoding.suppressed) > 0 or any(
            bool((column.codes == DROP).any()) for column in recoding.columns
        )

    def _inside(self) -> BoolArray:
        """Return which of the counted combinations are suppressed."""
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

    def build(self, plain: list[int], *, as_text: bool) -> RecodedQuery:
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
        query: Any = select_keys(self._database, positions, [*others, *unchanged])
        query = constants.beside(query)
        for i, lookup in lookups.items():
            query = query.left_join(lookup, [(f"k{positions[i]}", f"key{i}")])
        cells = {f"c{i}": query[f"c{i}"] for i in others}
        for i, position in enumerate(positions):
            cells[f"label_of{i}"] = (
                self._label(query, i) if i in labelled else query[f"c{position}"]
            )
        query = self._mark(query, cells) if self.suppressed_rows else query.select(**cells)
        return RecodedQuery(query, {c.column: f"label_of{i}" for i, c in enumerate(columns)})

    def _lookup(self, i: int, constants: Constants) -> Any:  # noqa: ANN401
        """Upload what the known values of a column become; remember what a missing one does."""
        book, codes = self._counted.books[i], self._codes[i]
        # Of a dropped value no label is seen, and where all are dropped there is none.
        known = self._recoding.columns[i].labels or (None,)
        labels = texts([known[max(code, 0)] for code in codes])
        if self._counted.misses(i):
            constants.add(f"missing_label{i}", labels[:1])
        parts = from_numpy(self._parts(i)[1:])
        return self._database.upload(
            pa.table({f"key{i}": book.values, f"part{i}": parts, f"label{i}": labels[1:]})
        )

    def _parts(self, i: int) -> IntArray:
        """Return what the values of a column add to the number of a class; -1 for dropped ones."""
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
        """Return whether some row is suppressed for its value of a column."""
        codes = self._codes[i] if self._counted.misses(i) else self._codes[i][1:]
        return bool((codes == DROP).any())

    def _mark(self, query: Any, cells: dict[str, Any]) -> Any:  # noqa: ANN401
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


def _codes(where: str, column: ColumnRecoding, counted: FetchedCounts, i: int) -> CodeArray:
    """Return the label of each counted value of a column; raise if one has none."""
    of_value = dict(zip(column.values, column.codes.tolist(), strict=True))
    values = counted.values[i]
    codes = np.array([of_value.get(value, _UNKNOWN) for value in values], dtype=np.int32)
    if not counted.misses(i) and codes[MISSING] == _UNKNOWN:
        codes[MISSING] = DROP
    if (codes == _UNKNOWN).any():
        strangers = [values[at] for at in np.flatnonzero(codes == _UNKNOWN)]
        raise unknown_values(where, column.column, strangers)
    return codes


_SEVERAL = -2
"""Stands for the class of a combination whose rows go to different ones."""


class LocalStatement:
    """Builds the statement that looks up each row's combination, then a portion of it.

    Args:
        database: Where the rows are.
        recoding: What the combinations become.
        counted: The columns of the recoding as they are now.
    """

    def __init__(self, database: Database, recoding: LocalRecoding, counted: FetchedCounts) -> None:
        self._database = database
        self._recoding = recoding
        self._counted = counted
        self._values = [c.values for c in recoding.columns] + [c.values for c in recoding.others]
        self._errors = CombinationErrors(database.where, counted.names, self._values)
        self._combination = self._found()
        """The number the recoding has for each counted combination."""

        self._check_rows()
        self.rows = recoding.total
        self.suppressed_rows = int(recoding.rows[recoding.classes == NO_CLASS].sum())
        self.suppresses = self.suppressed_rows > 0

    def _found(self) -> IntArray:
        codes = [self._known_codes(i) for i in range(len(self._values))]
        recoding = self._recoding
        sizes = [len(values) for values in self._values]
        known = Tuples(list(recoding.combinations), sizes, recoding.combinations.shape[1])
        found = known.find(codes, len(self._counted.rows))
        if (found < 0).any():
            at = int(np.argmax(found < 0))
            raise self._errors.unknown([int(column[at]) for column in codes])
        return found.astype(np.int64)

    def _known_codes(self, i: int) -> CodeArray:
        """Return the recoding's codes of a column's value in each counted combination."""
        code = {value: at for at, value in enumerate(self._values[i])}
        values = self._counted.values[i]
        lookup = np.array([code.get(value, -1) for value in values], dtype=np.int32)
        codes: CodeArray = lookup[self._counted.codes[i]]
        if (codes < 0).any():
            strangers = [values[at] for at in np.unique(self._counted.codes[i][codes < 0])]
            raise unknown_values(self._database.where, self._counted.names[i], strangers)
        return codes

    def _check_rows(self) -> None:
        """Raise if the portions do not fit the rows exactly."""
        starts = self._recoding.starts
        before = np.concatenate([[0], np.cumsum(self._recoding.rows)])
        planned = before[starts[1:]] - before[starts[:-1]]
        there = np.zeros(len(planned), dtype=np.int64)
        np.add.at(there, self._combination, self._counted.rows)
        wrong = np.flatnonzero(there != planned)
        if len(wrong):
            at = wrong[0]
            codes = self._recoding.combinations[:, at].tolist()
            more = bool(there[at] > planned[at])
            raise self._errors.wrong_rows(codes, int(planned[at]), more=more)

    def build(self, plain: list[int], *, as_text: bool) -> RecodedQuery:
        """Build it.

        Args:
            plain: Columns that are needed as they are, by their number.
            as_text: Whether recoded columns must be text.
        """
        positions = self._counted.positions
        recoded = positions[: len(self._recoding.columns)]
        others = [i for i in plain if i not in recoded]
        query: Any = self._with_class(select_keys(self._database, positions, others), others)
        labels = {
            f"label_of{i}": self._labels(i, as_text) for i in range(len(self._recoding.columns))
        }
        classes = self._recoding.labels.shape[1]
        table = pa.table({"class_at": from_numpy(np.arange(classes, dtype=np.int64)), **labels})
        query = query.left_join(self._database.upload(table), [("class_of", "class_at")])
        if self.suppressed_rows:
            query = query.mutate(**{SUPPRESSED: query.class_of == NO_CLASS})
        names = {c.column: f"label_of{i}" for i, c in enumerate(self._recoding.columns)}
        return RecodedQuery(query, names)

    def _labels(self, i: int, as_text: bool) -> pa.Array:  # noqa: FBT001
        """Return the label of each class in a column."""
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
        """Return the class of each row, and some of its columns as they are."""
        starts, classes = self._recoding.starts, self._recoding.classes
        parts = np.diff(starts)[self._combination]
        several = parts > 1
        firsts = classes[starts[self._combination]]
        query = self._join(query, others, np.where(several, _SEVERAL, firsts))
        if not several.any():
            return query.rename(class_of="first_class")
        # Drawn before it is ordered by: DuckDB draws nothing within a window.
        query = query.mutate(drawn=self._database.draw())
        dealt = ibis.window(group_by="combination", order_by="drawn")
        query = query.mutate(turn=ibis.row_number().over(dealt).cast("int64"))
        query = query.left_join(self._slots(), [("combination", "of"), ("turn", "place")])
        shared = query.first_class == _SEVERAL
        return query.mutate(class_of=ibis.ifelse(shared, query.slot_class, query.first_class))

    def _join(self, query: Any, others: list[int], classes: IntArray) -> Any:  # noqa: ANN401
        """Join the distinct combinations, each by the numbers that its values add up to."""
        counted = self._counted
        numbers = CombinationNumbers([len(book) for book in counted.books])
        # A column without any value tells nothing apart.
        known = [i for i, book in enumerate(counted.books) if len(book.values)]
        for i in known:
            pair = (f"k{counted.positions[i]}", f"key{i}")
            query = query.left_join(self._parts(i, numbers), [pair])
        parts: list[Any] = [ibis.literal(0, "int64")] * len(counted.books)
        for i in known:
            # Missing values have the code 0. A value that was not counted finds nothing.
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

    def _parts(self, i: int, numbers: CombinationNumbers) -> Any:  # noqa: ANN401
        """Upload what each known value of a column adds to a number."""
        values = self._counted.books[i].values
        codes = np.arange(1, len(values) + 1)
        return self._database.upload(
            pa.table({f"key{i}": values, f"part{i}": from_numpy(numbers.part(i, codes))})
        )

    def _slots(self) -> Any:  # noqa: ANN401
        """Return a class for each turn of the combinations whose rows go to different ones."""
        recoding = self._recoding
        of = np.repeat(np.arange(len(recoding.starts) - 1), np.diff(recoding.starts))
        before = np.concatenate([[0], np.cumsum(recoding.rows)])
        low = before[:-1] - before[recoding.starts[of]]
        shared = np.diff(recoding.starts)[of] > 1
        columns = {"of": of, "low": low, "times": recoding.rows, "slot_class": recoding.classes}
        table = self._database.upload(
            pa.table({k: from_numpy(v[shared].astype(np.int64)) for k, v in columns.items()})
        )
        most = int(recoding.rows[shared].max(initial=0))
        slots = self._database.repeat_rows(table, "times", most)
        return slots.select("of", "slot_class", place=slots.low + slots.turn)


class SolvedRecoder:
    """Builds the statement that chooses what is published of rows that workers recoded.

    Args:
        database: Where the rows are.
        recoding: Their columns and numbers.
    """

    def __init__(self, database: Database, recoding: SolvedRecoding) -> None:
        self._database = database
        self._recoding = recoding
        self.rows = recoding.rows
        self.suppressed_rows = recoding.suppressed
        self.suppresses = recoding.suppressed > 0

    def build(self, plain: list[int], *, as_text: bool) -> RecodedQuery:
        """Build it.

        Args:
            plain: Columns that are needed as they are; here all of them are there.
            as_text: Whether recoded columns must be text.
        """
        number = {field.name: i for i, field in enumerate(self._database.fields)}
        raw = {} if as_text else self._recoding.raw
        labels = {name: f"c{number[raw.get(name, name)]}" for name in self._recoding.columns}
        query: Any = self._database.rows
        starred = query[f"c{number[self._recoding.note]}"].notnull()
        return RecodedQuery(query.mutate(**{SUPPRESSED: starred}), labels)


class PublishingStatement(NamedTuple):
    """A statement whose result is published, and what must come of it."""

    query: "Query"
    rows: int
    suppressed_rows: int


def publication(
    database: Database,
    recoding: Recoding,
    columns: Sequence[str],
    *,
    suppression: Suppression,
    as_text: bool,
    coarse: bool = False,
    weights: Mapping[str, Averaging] = NO_WEIGHTS,
) -> PublishingStatement:
    """Check the rows against a recoding and build what publishes them.

    Args:
        database: Where the rows are; what the statement needs is uploaded to it.
        recoding: What the rows become.
        columns: What to publish, in order.
        suppression: What becomes of suppressed rows.
        as_text: Whether recoded columns must be text.
        coarse: Whether to count no finer than a full-domain recoding tells values apart.
        weights: What becomes of columns that hold weights.
    """
    number = {field.name: i for i, field in enumerate(database.fields)}
    positions = [number[name] for name in recoding.looked_at]
    recoder: FullDomainStatement | LocalStatement | SolvedRecoder
    if isinstance(recoding, LocalRecoding):
        recoder = LocalStatement(database, recoding, FetchedCounts(database, positions))
    elif isinstance(recoding, SolvedRecoding):
        recoder = SolvedRecoder(database, recoding)
    elif coarse:
        recoder = FullDomainStatement(
            database, recoding, CoarseCounts(database, positions, recoding)
        )
    else:
        recoder = FullDomainStatement(database, recoding, FetchedCounts(database, positions))
    star = suppression == "star"
    # A star is text, so a column that may get one must be text from its first row on.
    as_text = as_text or (star and recoder.suppresses)
    plain = sorted({number[name] for name in (*columns, *recoding.looked_at)})
    query, labels = recoder.build(plain, as_text=as_text)
    if recoder.suppressed_rows and not star:
        query = query.filter(~query[SUPPRESSED])
    starred = bool(recoder.suppressed_rows) and star
    published = {
        f"o{at}": _cell(query, labels.get(name), number[name], starred=starred)
        for at, name in enumerate(columns)
    }
    left = recoder.rows - (0 if star else recoder.suppressed_rows)
    query = query.select(**published)
    if weights:
        place = {name: f"o{at}" for at, name in enumerate(columns)}
        means = {place[name]: averaging for name, averaging in weights.items()}
        query = _average(query, [place[name] for name in labels if name in place], means)
    return PublishingStatement(query, left, recoder.suppressed_rows)


def _average(query: Any, labels: Sequence[str], weights: Mapping[str, Averaging]) -> Any:  # noqa: ANN401
    """Return rows with one weight for all that have the same labels; starred ones have none."""
    alike = ibis.window(group_by=list(labels))
    means = {}
    for name, averaging in weights.items():
        given = query[name].cast("float64")
        mean = given.mean().over(alike)
        if averaging.step is not None:
            steps = (mean / averaging.step + 0.5).floor().cast("float64")
            mean = ibis.ifelse((mean > 0) & (steps < 1), 1.0, steps) * averaging.step
        means[name] = ibis.ifelse(given.isnull(), ibis.null("float64"), mean)
    return query.mutate(**means).select(*query.columns)


def _cell(query: Any, label: str | None, position: int, *, starred: bool) -> Any:  # noqa: ANN401
    cell = query[label or f"c{position}"]
    if not starred:
        return cell
    return ibis.ifelse(query[SUPPRESSED], STAR if label else ibis.null(), cell)
