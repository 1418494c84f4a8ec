"""Counting in a database: GROUP BY, at the finest levels or at coarser ones."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import ibis
import numpy as np
import pyarrow as pa
from pyarrow import types as t

from sfumato.counts import WIDEST_KEY, Column, FrequencySet, add_up, group, sums
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError
from sfumato.recoding import FullDomainRecoding
from sfumato.tables.arrow.counting import MISSING, SAMPLE, ColumnCoder, order_values
from sfumato.tables.arrow.publishing import Tuples
from sfumato.tables.arrow.sources import (
    changed_error,
    from_numpy,
    is_text,
    python_values,
    to_numpy,
)
from sfumato.tables.arrow.windows import text_of_scalar, value_of
from sfumato.tables.base import Survey
from sfumato.tables.capabilities import Extent, Window
from sfumato.tables.sql.database import Database, ibis_type
from sfumato.text import in_order
from sfumato.typing import CodeArray, FloatArray, IntArray, Value

if TYPE_CHECKING:
    from ibis.expr.types import Table as Query
    from ibis.expr.types import Value as Expression


def select_keys(database: Database, positions: Sequence[int], plain: Sequence[int] = ()) -> "Query":
    """Return rows with the keys (`ki`) of some columns, and some columns to publish (`ci`).

    Every statement begins here, so one value has one form in all of them: NaN and the empty text
    are missing, and -0.0 is zero.
    """
    rows: Any = database.rows
    keys = {f"k{i}": _canonical(rows[f"k{i}"], nan=database.has_nan) for i in positions}
    # A statement needs a column, even one that only counts rows.
    cells = {f"c{i}": _cell(database, rows, i) for i in plain or (() if keys else (0,))}
    return rows.select(**cells, **keys)


def _cell(database: Database, rows: Any, position: int) -> "Expression":  # noqa: ANN401
    """Return a column as it is published."""
    column: Expression = rows[f"c{position}"]
    field = database.fields[position]
    if field.key is None:
        return column
    if t.is_floating(field.key_type) or t.is_decimal(field.key_type):
        return _canonical(rows[f"k{position}"], nan=database.has_nan)
    if is_text(field.key_type):
        # By its key: a collation may hold other texts for equal to the empty one.
        return ibis.ifelse(rows[f"k{position}"] == "", ibis.null(), column)
    return _canonical(column, nan=database.has_nan)


def _canonical(column: "Expression", *, nan: bool) -> "Expression":
    value: Any = column
    if value.type().is_string() or value.type().is_binary():
        known: Expression = value.nullif(ibis.literal("").cast(value.type()))
        return known
    if not value.type().is_floating():
        return column
    # Adding zero would do, if no optimiser took it out.
    cases = [(value == 0, ibis.literal(0.0).cast(value.type()))]
    if nan:
        cases.insert(0, (value.isnan(), ibis.null(value.type())))
    return ibis.cases(*cases, else_=value)


TIMES = "sfumato_times"


class FetchedCounts:
    """Distinct combinations of some columns as a database gave them, and how often each occurs.

    Args:
        database: Where the table is.
        positions: The columns, by their number in the table.
        most: How many combinations to fetch; None for all.
        weight: A column to add up in each combination; None for none.
    """

    def __init__(
        self,
        database: Database,
        positions: Sequence[int],
        *,
        most: int | None = None,
        weight: int | None = None,
    ) -> None:
        fetched = database.fetch(group_query(database, positions, weight).limit(most))
        self._sums = fetched.column(SUM).to_pylist() if weight is not None else []
        self.positions = tuple(positions)
        self.names = tuple(database.fields[i].name for i in positions)
        self.rows: IntArray = to_numpy(fetched.column(TIMES).cast(pa.int64()).combine_chunks())
        if not self.rows.sum():
            raise InputError(f"{database.where} has no rows")
        arrays = [_one(fetched.column(f"k{i}"), database.fields[i].key_type) for i in positions]
        self.books = [
            ColumnCoder(name, array.type) for name, array in zip(self.names, arrays, strict=True)
        ]
        self._indexed = [book.index(array) for book, array in zip(self.books, arrays, strict=True)]
        self._missing = [
            array.null_count > 0 or bool((column.lookup[:-1] == MISSING).any())
            for array, column in zip(arrays, self._indexed, strict=True)
        ]

    @cached_property
    def codes(self) -> CodeArray:
        """`codes[c, i]`: the value of column c in combination i, 0 if it is missing."""
        codes = [column.codes() for column in self._indexed]
        return np.array(codes, dtype=np.int32).reshape(len(codes), len(self.rows))

    @cached_property
    def values(self) -> list[list[Value]]:
        """The values that the codes of each column stand for."""
        return [[None, *python_values(book.values, book.column)] for book in self.books]

    def misses(self, column: int) -> bool:
        """Return whether some row has no value in a column."""
        return self._missing[column]

    def originals(self, column: int, codes: np.ndarray) -> pa.Array:
        """Return the values that have some codes, as the database gave them."""
        return self.books[column].values.take(from_numpy(codes - 1, missing=codes == MISSING))

    def frequency_set(self) -> FrequencySet:
        """Return the counts without their connection to the database."""
        values = [
            known if misses else known[1:]
            for known, misses in zip(self.values, self._missing, strict=True)
        ]
        columns = [
            Column(name, tuple(in_order(v))) for name, v in zip(self.names, values, strict=True)
        ]
        ranks = [_ranks(column, known) for column, known in zip(columns, self.values, strict=True)]
        order = self._order(columns, ranks)
        if order is None:
            every = np.array([rank[c] for rank, c in zip(ranks, self.codes, strict=True)])
            every = every.reshape(self.codes.shape)
            return FrequencySet.from_codes(
                self.names, [c.values for c in columns], every, self.rows
            )
        codes = np.empty((len(columns), len(self.rows)), dtype=np.int32)
        for i, (column, rank) in enumerate(zip(self._indexed, ranks, strict=True)):
            codes[i] = column.codes(rank[column.lookup])[order]
        return FrequencySet(tuple(columns), codes, self.rows[order])

    def with_weights(self) -> tuple[FrequencySet, FloatArray]:
        """Return the counts, and the sum of the weights of each combination."""
        counts = self.frequency_set()
        ranks = [_ranks(c, known) for c, known in zip(counts.columns, self.values, strict=True)]
        codes = [rank[code] for rank, code in zip(ranks, self.codes, strict=True)]
        sizes = [len(column.values) for column in counts.columns]
        at = Tuples(list(counts.codes), sizes, len(counts)).find(codes, len(self.rows))
        sums = np.array([float(each or 0) for each in self._sums])
        return counts, add_up(at, sums, len(counts))

    def _order(self, columns: Sequence[Column], ranks: Sequence[CodeArray]) -> IntArray | None:
        """Return the order of the combinations; None if they are too wide for one number.

        A database returns each combination once, so unlike elsewhere none need be added up.
        """
        sizes = [len(column.values) for column in columns]
        if not sizes or prod(sizes) >= WIDEST_KEY:
            return None
        key: IntArray = np.zeros(len(self.rows), dtype=np.int64)
        for at, (column, rank) in enumerate(zip(self._indexed, ranks, strict=True)):
            part: Any = rank.astype(np.int64)[column.lookup] * prod(sizes[at + 1 :])
            key += column.codes(part)
        order: IntArray = np.argsort(key)
        # Two values of a database that are one value to Python would be a repeat.
        return None if (np.diff(key[order]) == 0).any() else order


def _ranks(column: Column, known: Sequence[Value]) -> CodeArray:
    """Return the place of each code's value in a column's dictionary."""
    rank = {value: i for i, value in enumerate(column.values)}
    return np.array([rank.get(value, 0) for value in known], dtype=np.int32)


SUM = "float_sum"
"""The sum of a weight in each combination."""


def group_query(database: Database, positions: Sequence[int], weight: int | None = None) -> "Query":
    """Return the query that counts the distinct combinations of some columns (`ki`).

    Args:
        database: Where the table is.
        positions: The columns.
        weight: A column to add up in each combination; None for none.
    """
    rows = select_keys(database, [*positions, *([] if weight is None else [weight])])
    times = {TIMES: rows.count()}
    if weight is not None:
        times[SUM] = rows[f"k{weight}"].cast("float64").sum()
    if not positions:
        return rows.aggregate(**times)
    return rows.group_by([f"k{i}" for i in positions]).aggregate(**times)


def _one(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    """Join the pieces of a column; where nothing is known, not even its type was fetched."""
    column = column.cast(kind) if t.is_null(column.type) else column
    return column.combine_chunks()


# Windows: the rows of which a column has a value between two bounds. The database compares.


def rows_within(database: Database, position: int, window: Window, rows: Any) -> "Query":  # noqa: ANN401
    """Return the rows of a window, of all that there are."""
    inside: Query = rows.filter(_is_inside(database, position, window, rows))
    return inside


def _is_inside(database: Database, position: int, window: Window, rows: Any) -> Any:  # noqa: ANN401
    key: Any = _window_key(database, position, window, rows)
    inside = key.notnull()
    if window.low is not None:
        low = _literal(database, position, window.low)
        inside &= key > low if window.above else key >= low
    if window.high is not None:
        high = _literal(database, position, window.high)
        inside &= key <= high if window.through else key < high
    return inside


def _window_key(database: Database, position: int, window: Window, rows: Any) -> Any:  # noqa: ANN401
    """Return a column as it is compared, missing where a text is not of the form."""
    key: Any = _canonical(rows[f"k{position}"], nan=database.has_nan)
    if window.form is None or not is_text(database.fields[position].key_type):
        return key
    return ibis.ifelse(key.re_search(window.form), key, ibis.null())


def _literal(database: Database, position: int, bound: str) -> Any:  # noqa: ANN401
    field = database.fields[position]
    # As Arrow reads it, so that what is no value is refused in the same words.
    value = value_of(bound, field.key_type, field.name)
    if is_text(field.key_type):
        return ibis.literal(bound)
    if t.is_timestamp(field.key_type) and field.key_type.tz is not None:
        bound = f"{bound}+00:00"
    if t.is_integer(field.key_type):
        return ibis.literal(value.as_py())
    return ibis.literal(bound).cast(ibis_type(field.key_type))


def extent(database: Database, position: int, window: Window) -> Extent:
    """Return how many rows are in a window, and where they begin and end, with one statement."""
    rows: Any = database.rows
    inside = _is_inside(database, position, window, rows)
    key = _window_key(database, position, window, rows)
    named = f"k{position}"
    found = database.fetch(
        rows.aggregate(
            inside=inside.ifelse(1, 0).sum().cast("int64"),
            others=key.isnull().ifelse(1, 0).sum().cast("int64"),
            **{
                f"{named}_least": inside.ifelse(key, ibis.null()).min(),
                f"{named}_largest": inside.ifelse(key, ibis.null()).max(),
                f"{named}_other": key.isnull().ifelse(rows[named], ibis.null()).min(),
            },
        )
    )
    kind = database.fields[position].key_type
    n, others = (int(found.column(name)[0].as_py() or 0) for name in ("inside", "others"))
    least, largest, other = (
        _text_or_none(_one(found.column(f"{named}_{end}"), kind)[0])
        for end in ("least", "largest", "other")
    )
    return Extent(n, others, least, largest, other if other and is_text(kind) else None)


def _text_or_none(value: pa.Scalar) -> str | None:
    return text_of_scalar(value) if value.is_valid else None


# Counting at coarser levels. Where there are too many combinations to fetch them all, columns are
# counted one by one. Then statements can refer to values by their numbers, and several values can
# share one.


_PRIME = 2**31 - 1
"""Numbers below it can be multiplied in 64 bits."""

_WHOLE = "sfumato_whole"


@dataclass(frozen=True, eq=False)
class Values:
    """One column by itself: its values as the database gave them, and how often each occurs."""

    position: int
    """The column's number in the table."""

    book: ColumnCoder
    """The known values; code 1 is the first, 0 is missing."""

    rows: IntArray
    """How many rows have each code of the book."""

    whole: IntArray
    """The same of the rows that miss nothing that must not be missed."""

    @classmethod
    def of(cls, database: Database, position: int, complete: Sequence[int] = ()) -> "Values":
        """Count a column.

        Args:
            database: Where the table is.
            position: The column's number.
            complete: Columns that must not be missing in a row for it to be whole.
        """
        rows: Any = select_keys(database, sorted({position, *complete}))
        found = {TIMES: rows.count().cast("int64")}
        if complete:
            whole: Any = ibis.and_(*(rows[f"k{i}"].notnull() for i in complete))
            found[_WHOLE] = whole.ifelse(1, 0).sum().cast("int64")
        fetched = database.fetch(rows.group_by(f"k{position}").aggregate(**found))
        field = database.fields[position]
        keys = _one(fetched.column(f"k{position}"), field.key_type)
        book = ColumnCoder(field.name, keys.type)
        codes = book.encode(keys).astype(np.int64)
        times, whole_times = (
            sums(codes, _numbers(fetched.column(name)), len(book))
            for name in (TIMES, _WHOLE if complete else TIMES)
        )
        return cls(position, book, times, whole_times)

    @property
    def misses(self) -> bool:
        """Whether some row has no value."""
        return bool(self.rows[MISSING])


@dataclass(frozen=True, eq=False)
class StoredSurvey(Survey):
    """A survey of a table in a database, and what it takes to count it by number.

    The sample is one of distinct combinations, and `rows` is how many of those there are.
    """

    lookups: tuple[Values, ...] = ()
    numbers: tuple[IntArray, ...] = ()
    """For each code of a column's book, the number of the value among all in order."""


def survey(
    database: Database, positions: Sequence[int], most: int, complete: Sequence[int]
) -> StoredSurvey | None:
    """Count each column if there are more than `most` combinations; None if there are not.

    The sample consists of distinct combinations, the same ones every time.
    """
    n = _distinct(database, positions)
    if n <= most:
        return None
    lookups = tuple(Values.of(database, i, complete) for i in positions)
    columns, numbers, frequencies = [], [], {}
    for values in lookups:
        there = np.flatnonzero(values.rows)
        column, number = order_values(values.book, there)
        rows = np.zeros(len(column.values), dtype=np.int64)
        np.add.at(rows, number[there], values.whole[there])
        columns.append(column)
        numbers.append(number)
        frequencies[column.name] = rows
    with database.scope():
        query = by_number(database, lookups, {"r": numbers})
        sample = _sample(database, query, len(positions), n)
    return StoredSurvey(tuple(columns), frequencies, sample, n, lookups, tuple(numbers))


def _distinct(database: Database, positions: Sequence[int]) -> int:
    groups: Any = select_keys(database, positions).distinct()
    fetched = database.fetch(groups.aggregate(**{TIMES: groups.count().cast("int64")}))
    n = int(fetched.column(TIMES)[0].as_py())
    if not n:
        raise InputError(f"{database.where} has no rows")
    return n


def _sample(database: Database, query: Any, columns: int, n: int) -> CodeArray:  # noqa: ANN401
    """Fetch the numbers of some of `n` distinct combinations, of all if they are few."""
    names = [f"r{i}" for i in range(columns)]
    if n > SAMPLE:
        # Always the same numbers: equal tables are to be treated alike.
        drawn = np.random.default_rng(0).integers(1, _PRIME, columns).tolist()
        place = sum((query[name] * by) % _PRIME for name, by in zip(names, drawn, strict=True))
        query = query.filter(place % _PRIME < _PRIME * SAMPLE // n)
    return _codes(database, database.fetch(query.select(*names).distinct()), names)


def _codes(database: Database, fetched: pa.Table, names: Sequence[str]) -> CodeArray:
    columns = [fetched.column(name) for name in names]
    if any(column.null_count for column in columns):
        raise changed_error(database.where, "a row has a value that was not there before")
    codes: CodeArray = np.empty((len(names), fetched.num_rows), dtype=np.int32)
    for i, column in enumerate(columns):
        codes[i] = _numbers(column)
    return codes


def _numbers(column: pa.ChunkedArray) -> IntArray:
    numbers: IntArray = to_numpy(column.cast(pa.int64()).combine_chunks())
    return numbers


def count_merged(
    database: Database,
    found: StoredSurvey,
    merged: Sequence[CodeArray],
    most: int,
    rise: Callable[[CodeArray], Sequence[CodeArray]],
) -> tuple[CodeArray, IntArray]:
    """Count combinations in which several values are taken for one, in the database.

    Args:
        database: Where the table is.
        found: What is known of its columns.
        merged: For each value of each column, which one it is taken for.
        most: How many combinations there may be.
        rise: Returns, for combinations that are too many, coarser `merged`; values that were one
            stay one.
    """
    while True:
        alike = [of_codes(of, number) for of, number in zip(merged, found.numbers, strict=True)]
        codes, rows = count_by_number(database, found.lookups, alike, limit=most + 1)
        if len(rows) <= most:
            return codes, rows
        merged = rise(codes)


def of_codes(merged: CodeArray, number: IntArray) -> IntArray:
    """Return the number of each code of a book; a code that no row has may have any."""
    return merged[np.minimum(number, len(merged) - 1)].astype(np.int64)


def count_by_number(
    database: Database,
    lookups: Sequence[Values],
    numbers: Sequence[IntArray],
    *,
    limit: int | None = None,
) -> tuple[CodeArray, IntArray]:
    """Count the combinations of the numbers that values have, `limit` of them at most."""
    names = [f"r{i}" for i in range(len(lookups))]
    with database.scope():
        query: Any = by_number(database, lookups, {"r": numbers})
        counted = query.group_by(names).aggregate(**{TIMES: query.count().cast("int64")})
        fetched = database.fetch(counted if limit is None else counted.limit(limit))
    codes = _codes(database, fetched, names)
    # A database gives its groups in any order, another one each time.
    groups = group(list(codes), [int(column.max(initial=0)) + 1 for column in codes])
    return codes[:, groups.first], _numbers(fetched.column(TIMES))[groups.first]


class CoarseCounts(FetchedCounts):
    """Columns counted no finer than a full-domain recoding tells their values apart.

    Each value is known, and one value of each label stands for all in the combinations.

    Args:
        database: Where the table is.
        positions: The columns of the recoding, by their number in the table.
        recoding: What the values become.
    """

    def __init__(
        self, database: Database, positions: Sequence[int], recoding: FullDomainRecoding
    ) -> None:
        lookups = [Values.of(database, i) for i in positions]
        self.positions = tuple(positions)
        self.names = tuple(database.fields[i].name for i in positions)
        self.books = [values.book for values in lookups]
        numbers = [
            _first_alike(known, dict(zip(column.values, column.codes.tolist(), strict=True)))
            for known, column in zip(self.values, recoding.columns, strict=True)
        ]
        self.codes, self.rows = count_by_number(database, lookups, numbers)
        self._missing = [values.misses for values in lookups]

    def misses(self, column: int) -> bool:
        return self._missing[column]


def _first_alike(values: Sequence[Value], labels: dict[Value, int]) -> IntArray:
    """Return for each value the place of the first one with its label; missing stays apart.

    >>> _first_alike([None, 31, 38, 47], {31: 0, 38: 0, 47: 1}).tolist()
    [0, 1, 1, 3]
    """
    first: dict[object, int] = {}
    return np.array(
        [
            first.setdefault("missing" if value is None else labels.get(value, (at,)), at)
            for at, value in enumerate(values)
        ],
        dtype=np.int64,
    )


def by_number(
    database: Database,
    lookups: Sequence[Values],
    numbers: Mapping[str, Sequence[IntArray]],
    plain: Sequence[int] = (),
) -> "Query":
    """Return rows with a number for the value of each column.

    Args:
        database: Where the rows are; the lookups are uploaded until its work ends.
        lookups: The columns.
        numbers: For each code of each column's book its number. Those under `r` become the
            columns `r0`, `r1` and so on; there may be several.
        plain: Columns that are needed as they are, by their number in the table.
    """
    query: Any = select_keys(database, [values.position for values in lookups], plain)
    for i, values in enumerate(lookups):
        if len(values.book.values):
            lookup = {f"key{i}": values.book.values}
            lookup |= {f"{kind}_of{i}": from_numpy(of[i][1:]) for kind, of in numbers.items()}
            uploaded = database.upload(pa.table(lookup))
            query = query.left_join(uploaded, [(f"k{values.position}", f"key{i}")])
    return query.mutate(
        **{
            f"{kind}{i}": _number(query, f"{kind}_of{i}", values, int(of[i][MISSING]))
            for kind, of in numbers.items()
            for i, values in enumerate(lookups)
        }
    )


def _number(query: Any, found: str, values: Values, missing: int) -> Any:  # noqa: ANN401
    instead = ibis.literal(missing, type="int64")
    if not len(values.book.values):
        return instead
    if not values.misses:
        return query[found]
    return ibis.ifelse(query[f"k{values.position}"].isnull(), instead, query[found])


class CombinationNumbers:
    """Numbers for combinations of codes: one each, or a few where one is too narrow.

    Databases join by them instead of many columns. A number is a sum of one part per column, so a
    database can add it up from lookups.

    Args:
        sizes: How many codes each column can have.

    Example:
        >>> numbers = CombinationNumbers([3, 2])
        >>> [numbers.part(0, np.array([2])).tolist(), numbers.part(1, np.array([1])).tolist()]
        [[2], [3]]
        >>> [each.tolist() for each in numbers.of([np.array([2, 0]), np.array([1, 1])])]
        [[5, 3]]
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._weights: list[int] = []
        self.groups: list[list[int]] = []
        """Which columns are added up to the first number, to the second and so on."""

        width = WIDEST_KEY
        for column, size in enumerate(sizes):
            if width * max(size, 1) >= WIDEST_KEY:
                width = 1
                self.groups.append([])
            self.groups[-1].append(column)
            self._weights.append(width)
            width *= max(size, 1)

    def part(self, column: int, codes: np.ndarray) -> IntArray:
        """Return the parts that the codes of a column add to a number."""
        part: IntArray = codes.astype(np.int64) * self._weights[column]
        return part

    def of(self, codes: Sequence[np.ndarray]) -> list[IntArray]:
        """Return the numbers of combinations."""
        return self.sums([self.part(column, each) for column, each in enumerate(codes)])

    def sums(self, parts: Sequence[Any]) -> list[Any]:
        """Add up the parts of each number, be they arrays or expressions."""
        found = []
        for members in self.groups:
            number = parts[members[0]]
            for column in members[1:]:
                number = number + parts[column]
            found.append(number)
        return found
