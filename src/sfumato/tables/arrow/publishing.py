"""The way of rows from a source to a release: encoded, shuffled, and decoded."""

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc
from pyarrow import types as t

from sfumato.counts import WIDEST_KEY, FrequencySet, add_up
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, some
from sfumato.populations.weights import Averaging
from sfumato.recoding import DROP, SUPPRESSED, FullDomainRecoding, LocalColumn, LocalRecoding
from sfumato.tables.arrow.counting import ColumnCoder, CombinationTally, ValueTally
from sfumato.tables.arrow.sources import (
    BATCH_ROWS,
    ArrowSource,
    as_type,
    changed_error,
    counted_type,
    from_numpy,
    from_texts,
    is_text,
    number,
    plain_type,
    python_values,
    takeable,
    to_numpy,
    used_entries,
)
from sfumato.tables.base import Progress, Suppression
from sfumato.tables.derived import in_random_order
from sfumato.text import STAR, number_of, text_of
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray, Value

# Recoding batch by batch: raw values to codes, codes to labels.


_UNKNOWN = -1


def unknown_values(where: str, column: str, values: Iterable[Value]) -> InputError:
    """Return the error for values of a column that a recoding does not know."""
    return changed_error(
        where, f"column {column!r} holds {some(values)}, which the recoding does not know"
    )


class CombinationErrors(NamedTuple):
    """The errors for combinations of values that do not fit a local recoding."""

    where: str
    names: Sequence[str]
    values: Sequence[Sequence[Value]]
    """Per column, the values that codes stand for."""

    def unknown(self, codes: Sequence[int]) -> InputError:
        """Return the error for a combination that the recoding does not know."""
        return changed_error(
            self.where, f"a row has {self._describe(codes)}, which the recoding does not know"
        )

    def wrong_rows(self, codes: Sequence[int], planned: int, *, more: bool) -> InputError:
        """Return the error for more rows, or fewer, than the recoding has of a combination."""
        word, text = "more" if more else "fewer", self._describe(codes)
        return changed_error(
            self.where, f"there are {word} rows with {text} than the {planned} of the recoding"
        )

    def _describe(self, codes: Sequence[int]) -> str:
        cells = zip(self.names, self.values, codes, strict=True)
        return ", ".join(f"{name} {values[code]!r}" for name, values, code in cells)


class ColumnReader:
    """Turns raw arrays into the codes of their values, batch after batch.

    Args:
        column: The column's name.
        values: Every raw value that may occur; None is missing.
        codes: The code of each of them.
        source: The table that is read.

    Example:
        >>> from sfumato.tables.arrow.sources import open_source
        >>> people = open_source(pa.table({"age": pa.array([41, 30], pa.int8())}))
        >>> ages = ColumnReader("age", [30, 41], np.array([0, 7]), people)
        >>> ages.encode(pa.array([41, 30, 41], pa.int8())).tolist()
        [7, 0, 7]
        >>> ages.originals(np.array([7, -1])).to_pylist()
        [41, None]
    """

    def __init__(
        self, column: str, values: Sequence[Value], codes: np.ndarray, source: ArrowSource
    ) -> None:
        self.column = column
        self.kind: pa.DataType = source.schema.field(column).type
        """The column's Arrow type."""

        self._where = source.where
        self._book = ColumnCoder(column, self.kind)
        self._of_value = dict(zip(values, codes.tolist(), strict=True))
        self._lookup: CodeArray = np.array([self._of_value.get(None, _UNKNOWN)], dtype=np.int32)

    def encode(self, array: pa.Array) -> CodeArray:
        """Return the code of each row; raise if a value was not counted."""
        places = self._book.index(array)
        self._learn()
        codes = places.codes(self._lookup[places.lookup])
        unknown = codes == _UNKNOWN
        if unknown.any():
            strangers = np.unique(places.codes()[unknown])
            raise unknown_values(self._where, self.column, self._values(strangers))
        return codes

    def _learn(self) -> None:
        """Find the codes of values the book has learnt since."""
        known = len(self._lookup)
        if len(self._book) > known:
            new = python_values(self._book.values[known - 1 :], self.column)
            # A dictionary may hold values that no row has, so an unknown one is no error yet.
            codes = np.array([self._of_value.get(value, _UNKNOWN) for value in new], dtype=np.int32)
            self._lookup = np.concatenate([self._lookup, codes])

    def _values(self, places: np.ndarray) -> list[Value]:
        known = from_numpy(places[places > 0] - 1)
        missing: list[Value] = [None] if (places == 0).any() else []
        return missing + python_values(self._book.values.take(known), self.column)

    def originals(self, codes: IntArray) -> pa.Array:
        """Return the raw values that have some codes, as Arrow has them.

        They are missing for -1, for the missing value, and for values not met so far.
        """
        met = self._lookup[1:]
        useful = np.flatnonzero(met >= 0)  # not values of no row, or of dropped rows
        # One place more than there are codes, for -1 to fall into.
        place = np.full(max(codes.max(initial=-1), met.max(initial=-1)) + 2, -1, dtype=np.int64)
        place[met[useful]] = useful
        wanted = place[codes]
        return self._book.values.take(from_numpy(wanted, missing=wanted < 0))


class PublishedValues:
    """The published values of a column: label code 0 is the first, a star comes after the last.

    Args:
        reader: The column's raw values.
        labels: The published values; None is missing.
        raw: The code that `reader` gives the raw value each label is; None if not all of
            them are raw values.

    Example:
        >>> from sfumato.tables.arrow.sources import open_source
        >>> people = open_source(pa.table({"age": pa.array([41, 30], pa.int8())}))
        >>> ages = ColumnReader("age", [30, 41], np.array([0, 1]), people)
        >>> PublishedValues(ages, ["30s", "40s"]).array(pa.string()).to_pylist()
        ['30s', '40s', '*']
        >>> PublishedValues(ages, [30, 41], np.arange(2)).type(as_text=False)
        DataType(int8)
    """

    def __init__(
        self, reader: ColumnReader, labels: Sequence[Value], raw: IntArray | None = None
    ) -> None:
        self.star = len(labels)
        """The label code of a starred row."""

        self._reader = reader
        self._labels = labels
        self._raw = raw

    def type(self, *, as_text: bool) -> pa.DataType:
        """Return the published column's type: its own if all labels are raw values.

        Args:
            as_text: Publish text even then.
        """
        kind = plain_type(self._reader.kind)
        if isinstance(kind, pa.BaseExtensionType):
            kind = counted_type(kind, self._reader.column)
        keeps_type = self._raw is not None and (is_text(kind) or not as_text)
        return kind if keeps_type else pa.string()

    def array(self, kind: pa.DataType) -> pa.Array:
        """Return the published value of each label code, when all rows were read."""
        if self._raw is not None and not is_text(kind):
            values = self._reader.originals(np.append(self._raw, -1))
            return values if values.type == kind else values.cast(kind)
        texts = [None if label is None else text_of(label) for label in self._labels]
        return from_texts([*texts, STAR], kind)


class RecodedBatch(NamedTuple):
    """The rows of a batch after recoding."""

    codes: dict[str, CodeArray]
    """One label code per row for each recoded column; whatever there is in suppressed rows."""

    suppressed: BoolArray | None
    """Which rows are suppressed, None if none can be."""


class Recoder(ABC):
    """Turns rows into label codes, batch after batch."""

    looked_at: tuple[str, ...]
    """The columns it must be given."""

    labels: dict[str, PublishedValues]
    """The meaning of the codes of each recoded column."""

    suppresses: bool
    """Whether there may be suppressed rows."""

    of_combinations: bool = False
    """Whether rows that are alike become alike, so that one of them can be encoded for all."""

    @abstractmethod
    def encode(self, batch: pa.RecordBatch) -> RecodedBatch:
        """Recode some rows; raise if the recoding does not know one."""

    def finish(self) -> None:
        """Raise if rows are missing, when all rows were encoded."""
        return


_TABLE = 2**22
"""With at most this many possible keys a table of them is faster than searching."""

_SLOTS = 22
"""Bits of the slots that keys are thrown into, to see that most of them are not there."""


class Tuples:
    """Known code tuples that rows are looked up in, however wide they are.

    Args:
        codes: One array of codes per column; one item per known tuple.
        sizes: How many codes each column can have.
        n: How many tuples there are.

    Example:
        >>> known = Tuples([np.array([1, 0]), np.array([0, 2])], sizes=[2, 3], n=2)
        >>> known.find([np.array([0, 1, 1]), np.array([2, 0, 2])], n=3).tolist()
        [1, 0, -1]
    """

    def __init__(self, codes: Sequence[np.ndarray], sizes: Sequence[int], n: int) -> None:
        self._sizes = sizes
        self._stages: list[tuple[list[int], IntArray]] = []
        """Columns to add to the key, and the keys that known tuples have then."""

        self._table: CodeArray | None = None
        key: IntArray = np.zeros(n, dtype=np.int64)
        width, columns = 1, list[int]()
        for column, size in enumerate(sizes):
            if width * size >= WIDEST_KEY:
                # Go on with the number of the key among those of the known tuples.
                distinct, key = np.unique(key, return_inverse=True)
                self._stages.append((columns, distinct))
                width, columns = len(distinct), []
            key = key * size + codes[column]
            width *= size
            columns.append(column)
        keys, first = np.unique(key, return_index=True)
        self._stages.append((columns, keys))
        self._numbers: CodeArray = first.astype(np.int32)
        self._taken: BoolArray | None = None
        """Slots in which there is a known key, if there is one key per tuple."""

        if len(self._stages) == 1 and width <= _TABLE:
            self._table = np.full(width, -1, dtype=np.int32)
            self._table[keys] = first
        elif len(self._stages) == 1:
            self._taken = np.zeros(1 << _SLOTS, dtype=bool)
            self._taken[_slots(keys)] = True

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, codes: Sequence[np.ndarray], n: int) -> CodeArray:
        """Return the number of each of `n` tuples among the known ones, -1 for strangers."""
        strangers: CodeArray = np.full(n, -1, dtype=np.int32)
        if not len(self):
            return strangers
        key: IntArray = np.zeros(n, dtype=np.int64)
        known = np.ones(n, dtype=bool)
        for columns, keys in self._stages:
            for column in columns:
                key *= self._sizes[column]
                key += codes[column]
            if self._table is not None:
                return self._table[key]
            if self._taken is not None:
                return self._found(key, keys)
            place = _places(keys, key)
            known &= keys[place] == key
            key = place
        return np.where(known, self._numbers[key], strangers)

    def _found(self, key: IntArray, keys: IntArray) -> CodeArray:
        """Search only for what may be there: a row is seldom in a suppressed class."""
        assert self._taken is not None  # noqa: S101 - asked for only then
        maybe = np.flatnonzero(self._taken.take(_slots(key)))
        wanted = key[maybe]
        place = _places(keys, wanted)
        found: CodeArray = np.full(len(key), -1, dtype=np.int32)
        found[maybe] = np.where(keys[place] == wanted, self._numbers[place], np.int32(-1))
        return found


def _slots(keys: IntArray) -> IntArray:
    """Throw keys into slots: equal ones into the same, others into any."""
    # Multiplying by an odd number close to the golden ratio's share mixes the upper bits.
    mixed = keys.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(64 - _SLOTS)).view(np.int64)


def _places(keys: IntArray, wanted: IntArray) -> IntArray:
    """Return the place of each wanted key in sorted keys; any place if it is not there.

    >>> _places(np.array([3, 5, 8]), np.array([8, 3, 9])).tolist()
    [2, 0, 0]
    """
    # One after the other in order, searches stay within the processor's cache.
    order = np.argsort(wanted)
    found = np.searchsorted(keys, wanted[order])
    found[found == len(keys)] = 0
    place = np.empty_like(found)
    place[order] = found
    return place


class FullDomainRecoder(Recoder):
    """Looks up each value of a row by itself, and the row's labels among the suppressed classes.

    Example:
        >>> from sfumato.tables.arrow.sources import open_source
        >>> from sfumato.hierarchy import Hierarchy
        >>> decades = Hierarchy.from_paths([30, 41], [["30s", "*"], ["40s", "*"]])
        >>> by_decade = FullDomainRecoding.at([decades.bind("age", [30, 41])], (1,))
        >>> people = pa.table({"age": [41, 30]})
        >>> recoder = FullDomainRecoder(by_decade, open_source(people))
        >>> recoder.encode(people.to_batches()[0]).codes["age"].tolist()
        [1, 0]
    """

    of_combinations = True

    def __init__(self, recoding: FullDomainRecoding, source: ArrowSource) -> None:
        self._readers = {
            column.column: ColumnReader(column.column, column.values, column.codes, source)
            for column in recoding.columns
        }
        self.looked_at = tuple(self._readers)
        self.labels = {
            column.column: PublishedValues(
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
        self._merged = {
            column.column: column.published_codes for column in recoding.columns if column.is_merged
        }
        self._drops = any(bool((column.codes == DROP).any()) for column in recoding.columns)
        self.suppresses = self._drops or len(self._suppressed) > 0

    def encode(self, batch: pa.RecordBatch) -> RecodedBatch:
        codes = {name: reader.encode(batch.column(name)) for name, reader in self._readers.items()}
        inside = self._inside(codes, len(batch)) if self.suppresses else None
        for name, published in self._merged.items():
            codes[name] = published[codes[name]]
        return RecodedBatch(codes, inside)

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


class UsedUpError(Exception):
    """There are more rows of a combination than its portions have."""

    def __init__(self, combination: int) -> None:
        super().__init__(combination)
        self.combination = combination


class Portions:
    """Gives every row a portion of its combination, until all portions are used up.

    Which rows are in which portion is uniformly random and has nothing to do with their
    order, as if all rows of a combination were shuffled and then dealt. Only what is
    left of each portion is remembered.

    Args:
        starts: The portions of combination i are those from `starts[i]` to `starts[i + 1]`.
        rows: How many rows each portion takes.
        rng: Where the choice comes from.

    Example:
        >>> portions = Portions(np.array([0, 1, 3]), np.array([2, 1, 1]), np.random.default_rng(0))
        >>> first, second = portions.hand_out(np.array([1, 0, 0, 1]))[[0, 3]]
        >>> sorted([int(first), int(second)]), portions.left.tolist()
        ([1, 2], [0, 0, 0])
    """

    def __init__(self, starts: IntArray, rows: IntArray, rng: np.random.Generator) -> None:
        self.left = rows.astype(np.int64)
        """How many rows each portion still takes."""

        self._starts = starts
        self._rng = rng

    def hand_out(self, combinations: np.ndarray) -> IntArray:
        """Return the portion of each row of a batch; raise `UsedUpError` if too few are left.

        Args:
            combinations: The combination of each row.
        """
        order = self._rng.permutation(len(combinations))
        # Now the rows of a combination are side by side, in random order.
        order = order[np.argsort(combinations[order])]
        met, asked = np.unique(combinations[order], return_counts=True)
        portions, starts = _ranges(self._starts[met], self._starts[met + 1])
        before = np.concatenate([[0], np.cumsum(self.left[portions])])
        short = np.diff(before[starts]) < asked
        if short.any():
            raise UsedUpError(int(met[np.argmax(short)]))
        taken = _draw(before, starts, asked, self._rng)
        self.left[portions] -= taken
        given = np.empty(len(combinations), dtype=np.int64)
        given[order] = np.repeat(portions, taken)
        return given


def _ranges(begins: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Return ranges written out one after the other, where each starts, and where the last ends.

    >>> [array.tolist() for array in _ranges(np.array([5, 0]), np.array([7, 1]))]
    [[5, 6, 0], [0, 2, 3]]
    """
    starts = np.concatenate([[0], np.cumsum(ends - begins)])
    return np.arange(starts[-1]) + np.repeat(begins - starts[:-1], ends - begins), starts


def _draw(
    before: IntArray, starts: IntArray, asked: IntArray, rng: np.random.Generator
) -> IntArray:
    """Draw rows without replacement from portions: how many are of each.

    Every combination's portions are cut into two halves, how many rows are of the first
    half is drawn, and each half is cut again: the rounds are as many as the logarithm of
    the most portions.

    Args:
        before: How many rows there are to draw from before each portion, and in all.
        starts: The first portion of each combination, and where the last one ends.
        asked: How many rows to draw from each combination; not more than there are.
        rng: Where the numbers come from.

    >>> before = np.array([0, 3, 4, 13])
    >>> _draw(before, np.array([0, 2, 3]), np.array([4, 5]), np.random.default_rng()).tolist()
    [3, 1, 5]
    """
    taken = np.zeros(len(before) - 1, dtype=np.int64)
    low, high, rows = starts[:-1], starts[1:], asked
    while len(low):
        single = high - low == 1
        taken[low[single]] = rows[single]
        low, high, rows = (array[~single & (rows > 0)] for array in (low, high, rows))
        middle = (low + high) // 2
        first = rng.hypergeometric(
            before[middle] - before[low], before[high] - before[middle], rows
        )
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        rows = np.concatenate([first, rows - first])
    return taken


class LocalRecoder(Recoder):
    """Looks up each row's combination, then a portion of it, then the labels of its class.

    Example:
        >>> from sfumato.tables.arrow.sources import open_source
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

    def __init__(
        self, recoding: LocalRecoding, source: ArrowSource, rng: np.random.Generator
    ) -> None:
        dictionaries = {column.column: column.values for column in recoding.columns}
        dictionaries |= {column.name: column.values for column in recoding.others}
        self._errors = CombinationErrors(
            source.where, tuple(dictionaries), tuple(dictionaries.values())
        )
        self._recoding = recoding
        self._readers = [
            ColumnReader(name, values, np.arange(len(values)), source)
            for name, values in dictionaries.items()
        ]
        self.looked_at = tuple(dictionaries)
        self.labels = {
            column.column: PublishedValues(reader, column.labels, _raw_codes(column))
            for column, reader in zip(recoding.columns, self._readers, strict=False)
        }
        self._combinations = Tuples(
            list(recoding.combinations),
            [len(values) for values in dictionaries.values()],
            recoding.combinations.shape[1],
        )
        self._portions = Portions(recoding.starts, recoding.rows, rng)
        self.suppresses = bool((recoding.classes == SUPPRESSED).any())
        # The class of suppressed rows is -1, so their labels must be the last.
        self._labels = np.pad(recoding.labels, ((0, 0), (0, 1)))

    def encode(self, batch: pa.RecordBatch) -> RecodedBatch:
        raw = [reader.encode(batch.column(reader.column)) for reader in self._readers]
        classes = self._recoding.classes[self._portions_of(raw, len(batch))]
        codes = {
            name: labels[classes] for name, labels in zip(self.labels, self._labels, strict=True)
        }
        return RecodedBatch(codes, classes == SUPPRESSED if self.suppresses else None)

    def _portions_of(self, raw: Sequence[CodeArray], n: int) -> IntArray:
        combinations = self._combinations.find(raw, n)
        strangers = combinations < 0
        if strangers.any():
            row = int(np.argmax(strangers))
            raise self._errors.unknown([int(column[row]) for column in raw])
        try:
            return self._portions.hand_out(combinations)
        except UsedUpError as error:
            raise self._wrong_rows(error.combination, more=True) from None

    def finish(self) -> None:
        left = np.flatnonzero(self._portions.left)
        if len(left):
            at = int(np.searchsorted(self._recoding.starts, left[0], side="right")) - 1
            raise self._wrong_rows(at, more=False)

    def _wrong_rows(self, at: int, *, more: bool) -> InputError:
        start, end = self._recoding.starts[at : at + 2]
        planned = int(self._recoding.rows[start:end].sum())
        codes = self._recoding.combinations[:, at].tolist()
        return self._errors.wrong_rows(codes, planned, more=more)


def _raw_codes(column: LocalColumn) -> IntArray | None:
    """Return the code of the raw value that each label is, if they all are."""
    if not column.raw:
        return None
    code: dict[Value, int] = {value: i for i, value in enumerate(column.values)}
    return np.array([code[label] for label in column.labels], dtype=np.int64)


_WORTH_IT = 2
"""Rows per combination from which on making rows is cheaper than reading them again."""


class WeightedBatch(NamedTuple):
    """Some combinations as rows of their own, and how many rows of the table each is."""

    batch: pa.RecordBatch
    """Every column is a dictionary, whose numbers are those of the counts."""

    rows: IntArray


@dataclass(frozen=True, eq=False)
class CountedColumns:
    """The counts of some columns of a table, with their values as Arrow has them.

    Example:
        >>> counts = FrequencySet.from_rows(["sex"], [("f",), ("m",), (None,), ("f",)])
        >>> counted = CountedColumns(counts, {"sex": pa.array(["m", "f"])})
        >>> [(batch,rows)] = counted.batches(["sex"])
        >>> batch["sex"].to_pylist(), rows.tolist()
        (['f', 'm', None], [2, 1, 1])
    """

    counts: FrequencySet
    known: Mapping[str, pa.Array]
    """The values of each column that are not missing, in any order."""

    def suffices(self, schema: pa.Schema, published: Sequence[str], recoded: Sequence[str]) -> bool:
        """Return whether the rows of a release can be made of it, and fast.

        Args:
            schema: The table's columns and their types.
            published: The columns of the release.
            recoded: Those that are published as labels.
        """
        names = self.counts.names
        return (
            _WORTH_IT * len(self.counts) <= self.counts.total
            and all(name in names for name in (*published, *recoded))
            and all(_exact(schema.field(n).type, n) for n in published if n not in recoded)
        )

    def values(self, name: str) -> pa.Array:
        """Return the values of a column by their numbers in the counts."""
        known = self.known[name]
        place = {value: at for at, value in enumerate(python_values(known, name))}
        wanted = np.array([place.get(v, -1) for v in self.counts.column(name).values], dtype=int)
        return known.take(from_numpy(wanted, missing=wanted < 0))

    def batches(self, columns: Sequence[str]) -> Iterator[WeightedBatch]:
        """Yield the combinations, some at a time."""
        values = [self.values(name) for name in columns]
        codes = [self.counts.codes_of(name) for name in columns]
        for start in range(0, len(self.counts), BATCH_ROWS):
            some = slice(start, start + BATCH_ROWS)
            arrays = [_dictionary(c[some], v) for c, v in zip(codes, values, strict=True)]
            batch = pa.RecordBatch.from_arrays(arrays, list(columns))
            yield WeightedBatch(batch, self.counts.rows[some])


def _dictionary(codes: CodeArray, values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(from_numpy(codes), values, safe=False)


def _exact(kind: pa.DataType, column: str) -> bool:
    """Return whether values are counted in the type that they are published in."""
    return bool(counted_type(kind, column) == plain_type(kind))


# Weights: one number for all rows of a class, known when all rows were read.


def numbers_in(array: pa.Array, column: str) -> FloatArray:
    """Return the numbers of a column, NaN where there is none; raise if it holds anything else.

    >>> numbers_in(pa.array([" 2.5", None, "1e3"]), "weight").tolist()
    [2.5, nan, 1000.0]
    """
    kind = plain_type(array.type)
    array = as_type(array, kind)
    if not (is_text(kind) or t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind)):
        raise _no_number(column, str(kind))
    if is_text(kind):
        strange = next((each for each in array.unique().to_pylist() if _is_strange(each)), None)
        if strange is not None:
            raise _no_number(column, f"{strange!r}")
        array = pc.utf8_trim_whitespace(array)
    numbers = array.cast(pa.float64(), safe=False)
    filled = pc.if_else(pc.is_null(numbers), number(np.nan, pa.float64()), numbers)
    return to_numpy(filled)


def _is_strange(value: str | None) -> bool:
    return value is not None and number_of(value) is None


def _no_number(column: str, what: str) -> InputError:
    return InputError(
        f"column {column!r} has the role weight, and holds {what}, which is no number. A weight "
        "says how many people a row stands for. Write it as a number, or give it another role."
    )


class _Numbering:
    """Numbers keys as they come, batch after batch."""

    def __init__(self) -> None:
        self._number: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._number)

    def of(self, keys: IntArray) -> IntArray:
        """Return the number of each key; a loop over distinct keys, not over rows."""
        distinct, place = np.unique(keys, return_inverse=True)
        known = self._number
        numbers = [known.setdefault(key, len(known)) for key in distinct.tolist()]
        return np.array(numbers, dtype=np.int64)[place]


class ClassWeights:
    """The weights of the classes of a release: added up batch by batch, then published as one.

    Rows carry the number of their class until all were read. A class is what readers see: rows
    with the same labels.

    Args:
        averagings: What becomes of each column.
        sizes: How many labels each recoded column has, its star included.
        where: What the table is called in messages.
        rng: Where noise comes from.

    Example:
        >>> weights = ClassWeights({"w": Averaging()}, [2, 2], "data", np.random.default_rng())
        >>> rows = pa.RecordBatch.from_pydict({"w": [1, 2, 6]})
        >>> codes = {"age": np.array([0, 1, 0]), "sex": np.array([1, 1, 1])}
        >>> coded = weights.encode(rows, codes, None)["w"]
        >>> weights.decode("w", coded).to_pylist()
        [3.5, 2.0, 3.5]
    """

    def __init__(
        self,
        averagings: Mapping[str, Averaging],
        sizes: Sequence[int],
        where: str,
        rng: np.random.Generator,
    ) -> None:
        self._averagings = averagings
        self._sizes = sizes
        self._where = where
        self._rng = rng
        self._numberings: list[_Numbering] = [_Numbering()]
        self._rows: IntArray = np.zeros(0, dtype=np.int64)
        self._sums: dict[str, FloatArray] = {name: np.zeros(0) for name in averagings}
        self._published: dict[str, pa.Array] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._averagings

    def encode(
        self, batch: pa.RecordBatch, codes: Mapping[str, CodeArray], take: pa.Array | None
    ) -> dict[str, pa.Array]:
        """Add up the weights of some rows; return the class of each, missing if it is starred.

        Args:
            batch: The rows as they were read.
            codes: The labels of those that are published.
            take: Which of them these are, missing for starred ones; None for all.
        """
        kept = (
            np.arange(len(batch))
            if take is None
            else to_numpy(pc.fill_null(take, number(-1, take.type)))
        )
        starred = kept < 0
        numbers = self._classes(list(codes.values()), len(kept))
        n = len(self._numberings[-1])
        self._rows = _longer(self._rows, n) + np.bincount(numbers[~starred], minlength=n)
        for name in self._averagings:
            weights = numbers_in(batch.column(name), name)[kept[~starred]]
            if not np.isfinite(weights).all():
                # They were looked at before, and all were numbers then.
                raise changed_error(self._where, f"column {name!r} lacks a weight that it had")
            found = add_up(numbers[~starred], weights, n)
            self._sums[name] = _longer(self._sums[name], n) + found
        coded = from_numpy(numbers.astype(np.int32), missing=starred if starred.any() else None)
        return dict.fromkeys(self._averagings, coded)

    def _classes(self, codes: Sequence[np.ndarray], n: int) -> IntArray:
        """Return the number of each row's class, however many columns there are."""
        key: IntArray = np.zeros(n, dtype=np.int64)
        width, stage = 1, 0
        for column, size in zip(codes, self._sizes, strict=True):
            if width * size >= WIDEST_KEY:
                stage += 1
                if stage == len(self._numberings):
                    self._numberings.append(_Numbering())
                key, width = self._numberings[stage - 1].of(key), 2**31
            key = key * size + column
            width *= size
        return self._numberings[stage].of(key)

    def decode(self, name: str, classes: pa.Array) -> pa.Array:
        """Return the published weight of some rows; call it when all rows were encoded."""
        if name not in self._published:
            known = self._rows > 0
            means = np.zeros(len(known))
            means[known] = self._averagings[name].of_classes(
                self._sums[name][known], self._rows[known], self._rng
            )
            self._published[name] = from_numpy(means)
        return self._published[name].take(classes)


def _longer(array: np.ndarray, n: int) -> np.ndarray:
    """Return an array with zeros after it."""
    return np.pad(array, (0, n - len(array)))


class Distinct(NamedTuple):
    """The distinct rows of a release, and how many rows each stands for.

    Example:
        >>> sex = pa.array(["f", "m"]).dictionary_encode()
        >>> [rows] = Distinct([sex], np.array([3, 1])).take(np.array([1, 1]))
        >>> rows.to_pylist(), rows.dictionary.to_pylist()
        (['m', 'm'], ['m'])
    """

    columns: list[pa.Array]
    """Text as dictionaries of the values that are published, each once and in order."""

    rows: IntArray

    def take(self, numbers: np.ndarray) -> list[pa.Array]:
        """Return some rows, text as dictionaries of the values that they have, in order."""
        rows = from_numpy(numbers)
        met = None
        if len(self.rows) < len(numbers):
            # Fewer distinct rows than rows are to be looked at, one column after the other.
            met = from_numpy(np.flatnonzero(np.bincount(numbers, minlength=len(self.rows))))
        return [
            _with_own_values(column, rows, met)
            if t.is_dictionary(column.type)
            else column.take(rows)
            for column in self.columns
        ]


def _with_own_values(column: pa.Array, rows: pa.Array, met: pa.Array | None) -> pa.Array:
    """Return some rows of a column with a dictionary of the values that they have.

    Args:
        column: The column, whose dictionary may have more.
        rows: The rows.
        met: The same, each once; None if they are as they are.
    """
    picked = column.indices.take(rows if met is None else met)
    used = used_entries(picked, len(column.dictionary))
    place = np.zeros(len(column.dictionary), dtype=np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    places = from_numpy(place)
    # Rows that were counted here are there: for Arrow to look whether they are is half of taking.
    own = (
        places.take(picked)
        if met is None
        else pc.take(places.take(column.indices), rows, boundscheck=False)
    )
    values = column.dictionary.take(from_numpy(used))
    return pa.DictionaryArray.from_arrays(own, values, safe=False)


class BatchPublication:
    """What is published of each batch: first as codes, small enough to shuffle, then in full.

    Args:
        recoder: What the rows become.
        schema: The source's columns and their types.
        columns: What to publish, in order.
        suppression: What becomes of suppressed rows.
        as_text: Whether recoded columns must be text (a CSV file has nothing else).
        weights: What becomes of the columns that hold weights.
    """

    def __init__(
        self,
        recoder: Recoder,
        schema: pa.Schema,
        columns: Sequence[str],
        *,
        suppression: Suppression,
        as_text: bool,
        weights: "ClassWeights | None" = None,
    ) -> None:
        self._recoder = recoder
        self._weights = weights
        self._raw = schema
        self._columns = tuple(columns)
        self._star = suppression == "star"
        # A star is text, so a column that may get one must be text from its first row on.
        as_text = as_text or (self._star and recoder.suppresses)
        self._types = {
            name: labels.type(as_text=as_text) for name, labels in recoder.labels.items()
        }
        self.recoded = tuple(name for name in columns if name in recoder.looked_at)
        """The published columns that models look at."""

        self.read = tuple(dict.fromkeys((*columns, *recoder.looked_at)))
        """The columns that must be read."""

        self.schema = pa.schema(
            [(name, self._types.get(name) or self._plain_type(name)) for name in columns]
        )
        """The published types, without the input's metadata."""

        self.weighted = frozenset(() if weights is None else filter(weights.__contains__, columns))
        """The published columns that hold means of weights."""

        self.rows = 0
        self.suppressed_rows = 0
        self._labels: dict[str, pa.Array] = {}
        self.tallies: dict[str, ValueTally] = {}
        """How often each text was published, by column; of columns of which that is easily told."""

    def _plain_type(self, name: str) -> pa.DataType:
        if self._weights is not None and name in self._weights:
            return pa.float64()
        return plain_type(self._raw.field(name).type)

    def encode_batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
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
        weights = {} if self._weights is None else self._weights.encode(batch, codes, take)
        for name in self._columns:
            if name in codes:
                width = np.min_scalar_type(self._recoder.labels[name].star)
                arrays.append(from_numpy(codes[name].astype(width)))
            elif name in weights:
                arrays.append(weights[name])
            else:
                array = takeable(batch.column(name))
                arrays.append(array if take is None else array.take(take))
        self.rows += len(batch) if take is None else len(take)
        return pa.RecordBatch.from_arrays(arrays, list(self._columns))

    def is_told_by(self, counted: CountedColumns) -> bool:
        """Return whether rows need not be read, because everything in them was counted."""
        recoder = self._recoder
        # Weights are added up row by row.
        return (
            self._weights is None
            and recoder.of_combinations
            and counted.suffices(self._raw, self._columns, recoder.looked_at)
        )

    def distinct(self, counted: CountedColumns) -> Distinct:
        """Recode counted combinations instead of rows, and leave out or star the suppressed."""
        seen = CombinationTally(len(self._columns))
        others = {n: counted.values(n) for n in self._columns if n not in self._recoder.labels}
        # One code more: that of a star, or of a cell that is missing in a starred row.
        sizes = [
            1 + (len(others[n]) if n in others else self._recoder.labels[n].star)
            for n in self._columns
        ]
        for weighted in counted.batches(self.read):
            codes, rows = self._recode_weighted(weighted)
            self.rows += int(rows.sum())
            seen.add(codes, sizes, rows=rows)
        combinations, rows = seen.result()
        values = [self._values(n, others) for n in self._columns]
        columns = [
            _tidy(v, c, field.type)
            for v, c, field in zip(values, combinations, self.schema, strict=True)
        ]
        for name, column in zip(self._columns, columns, strict=True):
            if t.is_dictionary(column.type):
                self._tally(name, column, rows)
        return Distinct(columns, rows)

    def deal(
        self, counted: CountedColumns, rng: np.random.Generator, progress: Progress | None
    ) -> Iterator[list[pa.Array]]:
        """Yield the rows of a release in random order, made of what was counted."""
        distinct = self.distinct(counted)
        done = 0
        for numbers in in_random_order(distinct.rows, rng, at_once=AT_ONCE, size=SLICE):
            yield distinct.take(numbers)
            done += len(numbers)
            if progress is not None:
                progress(done, self.rows)

    def _recode_weighted(self, weighted: WeightedBatch) -> tuple[list[np.ndarray], IntArray]:
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

    def decode(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the published values of encoded rows; call it when all rows were encoded."""
        if not self._labels:
            self._labels = {
                name: labels.array(self._types[name])
                for name, labels in self._recoder.labels.items()
            }
        columns = [self._decode(*each) for each in zip(self._columns, batch.columns, strict=True)]
        for name, column in zip(self._columns, columns, strict=True):
            if name in self._labels and is_text(self._types[name]):
                self._tally(name, column)
        return columns

    def _tally(self, name: str, column: pa.Array, rows: IntArray | None = None) -> None:
        tally = self.tallies.setdefault(name, ValueTally(name, self.schema.field(name).type))
        tally.add(column, rows)

    def _decode(self, name: str, column: pa.Array) -> pa.Array:
        if name in self._labels:
            # Not checked: there is a label for every code that was given.
            return pa.DictionaryArray.from_arrays(column, self._labels[name], safe=False)
        if self._weights is not None and name in self._weights:
            return self._weights.decode(name, column)
        return column


def _tidy(values: pa.Array, codes: CodeArray, kind: pa.DataType) -> pa.Array:
    """Return text as a dictionary of its values, each once and in order, other types as they are.

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


# Random order, on disk if there are too many rows for memory. The order of a release must say
# nothing about the order of the input: neighbours in a register are neighbours in the street.


BUDGET = 512 * 2**20
"""Bytes of recoded rows that are kept in memory."""

_BUCKETS = 64
"""Parts that many rows are thrown into; files, when they exceed the budget."""

SLICE = 1 << 18
"""Rows given out at a time."""

AT_ONCE = 1 << 20
"""Rows that are put in random order without being thrown into buckets first."""


def shuffle(
    batches: Iterator[pa.RecordBatch],
    rng: np.random.Generator,
    *,
    folder: Path | None = None,
    budget: int = BUDGET,
) -> Generator[pa.RecordBatch, None, None]:
    """Yield the same rows in an order drawn from `rng`, every order equally likely.

    Rows beyond the budget are thrown into random buckets, files in a new private folder
    inside `folder`; each bucket is then put in random order and given out. The folder
    is removed at the end and when the iterator is closed. Without a `folder` all rows
    stay in memory.

    >>> rows = pa.RecordBatch.from_pydict({"n": range(6)})
    >>> [out] = shuffle(iter([rows]), np.random.default_rng(1))
    >>> sorted(out["n"].to_pylist()) == rows["n"].to_pylist() != out["n"].to_pylist()
    True
    """
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if folder is not None and size > budget:
            yield from _through_buckets(chain(_emptying(held), batches), rng, folder)
            return
    yield from (
        _permute(held, rng) if sum(map(len, held)) <= AT_ONCE else _shuffle_in_parts(held, rng)
    )


def _shuffle_in_parts(
    held: list[pa.RecordBatch], rng: np.random.Generator
) -> Iterator[pa.RecordBatch]:
    """Throw rows into parts that fit the processor's cache, and put each in random order."""
    table = pa.Table.from_batches(held).unify_dictionaries()
    held.clear()
    # A part is given out at once, so it should seldom be longer than what is given out at a time.
    n = min(-(-4 * table.num_rows // (3 * SLICE)), _BUCKETS)
    parts: list[list[pa.RecordBatch]] = [[] for _ in range(n)]
    batches = table.to_batches(max_chunksize=SLICE)
    del table
    for batch in _emptying(batches):
        for part, rows in zip(parts, _throw(batch, n, rng), strict=True):
            part.append(rows)
    for part in parts:
        yield from _permute(part, rng)


def _throw(rows: pa.RecordBatch, n: int, rng: np.random.Generator) -> Iterator[pa.RecordBatch]:
    """Throw each row into one of n buckets, all equally likely, and give the buckets."""
    bucket = rng.integers(n, size=len(rows), dtype=np.uint8)
    rows = rows.take(from_numpy(np.argsort(bucket, kind="stable").astype(np.int32)))
    ends = np.cumsum(np.bincount(bucket, minlength=n)).tolist()
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        yield rows.slice(start, end - start)


def _through_buckets(
    batches: Iterator[pa.RecordBatch], rng: np.random.Generator, folder: Path
) -> Iterator[pa.RecordBatch]:
    with tempfile.TemporaryDirectory(prefix=".shuffle-", dir=folder) as private:
        paths = [Path(private) / str(i) for i in range(_BUCKETS)]
        with ExitStack() as stack:
            writers: list[ipc.RecordBatchStreamWriter] = []
            for batch in batches:
                rows = _plain(batch)
                if not writers:
                    writers = [
                        stack.enter_context(ipc.new_stream(str(path), rows.schema))
                        for path in paths
                    ]
                for writer, thrown in zip(writers, _throw(rows, _BUCKETS, rng), strict=True):
                    if len(thrown):
                        writer.write_batch(thrown)
        for path in paths:
            with pa.OSFile(str(path)) as file:
                held = list(ipc.open_stream(file))
            path.unlink()
            yield from _permute(held, rng)


def _permute(batches: list[pa.RecordBatch], rng: np.random.Generator) -> Iterator[pa.RecordBatch]:
    """Yield rows in random order, emptying the list to keep only one copy of each column."""
    if not batches:
        return
    table = pa.Table.from_batches(batches).unify_dictionaries()
    batches.clear()
    order = from_numpy(rng.permutation(np.arange(table.num_rows, dtype=_smallest(table.num_rows))))
    schema, columns = table.schema, table.columns
    del table
    for i, column in enumerate(columns):
        columns[i] = _join(column).take(order)
    for start in range(0, len(order), SLICE):
        yield pa.RecordBatch.from_arrays(
            [column.slice(start, SLICE) for column in columns], schema.names
        )


def _smallest(n: int) -> type[np.signedinteger]:
    return np.int32 if n < 2**31 else np.int64


def _join(column: pa.ChunkedArray) -> pa.Array:
    if t.is_string(column.type) and column.nbytes > 2**30:
        # One array of this type holds two gigabytes of text at most.
        column = column.cast(pa.large_string())
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    arrays = [as_type(array, plain_type(array.type)) for array in batch.columns]
    return pa.RecordBatch.from_arrays(arrays, batch.schema.names)


def _emptying(held: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    held.reverse()
    while held:
        yield held.pop()
