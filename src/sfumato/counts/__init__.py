"""Frequency sets: every distinct combination of values, and how many rows have it.

`SELECT columns, COUNT(*) … GROUP BY columns`, as integer codes. Everything Sfumato
decides, it decides on these.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from types import NoneType
from typing import NamedTuple, Self

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.errors import UnknownColumnError
from sfumato.text import fold_spelling, in_order, is_missing, text_of, text_or_none
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray, Value

WIDEST_KEY = 2**62
"""Packed keys stay below this, so that no product of dictionary sizes overflows."""

_DENSE = 2**20
"""Marking keys in a table of this size beats sorting, whatever the number of items."""

_SMALL = 1024
"""A dense table of this many keys is made even for a few items."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column's name and its dictionary: the distinct values, in order, missing last.

    >>> Column("age", (25, 40, None)).missing
    2
    """

    name: str
    values: tuple[Value, ...]

    @cached_property
    def missing(self) -> int:
        """The code of the missing value, or -1 if none is missing."""
        return len(self.values) - 1 if self.values and self.values[-1] is None else -1

    @property
    def known(self) -> tuple[Value, ...]:
        """The values without the missing one."""
        return self.values if self.missing < 0 else self.values[:-1]

    @cached_property
    def folded(self) -> "FoldedColumn":
        """The column with values that differ only in spelling taken for one.

        >>> folded = Column("ill", ("HIV", "flu", "hiv ")).folded
        >>> folded.column.values, folded.codes.tolist(), folded.spellings
        (('flu', 'HIV'), [1, 0, 1], (('HIV', 'hiv '),))
        """
        return FoldedColumn.of(self)


class FoldedColumn(NamedTuple):
    """A column whose values are all different in more than their spelling."""

    column: Column
    """One spelling of each value, in the order of what is left of them when folded."""

    codes: CodeArray
    """Which of these each value of the given column is."""

    spellings: tuple[tuple[Value, ...], ...]
    """The values that are taken for one; a missing one among them is None."""

    @classmethod
    def of(cls, column: Column) -> "FoldedColumn":
        """Fold a column; one without texts stays as it is."""
        if not any(isinstance(value, str) for value in column.values):
            return cls(column, np.arange(len(column.values), dtype=np.int32), ())
        # What folds to nothing is missing: it shows no value.
        keys = [None if v is None else fold_spelling(text_of(v)) or None for v in column.values]
        spelt: dict[str | None, list[Value]] = {}
        for key, value in zip(keys, column.values, strict=True):
            spelt.setdefault(key, []).append(value)
        ordered = in_order(spelt)
        place = {key: at for at, key in enumerate(ordered)}
        values = tuple(None if key is None else spelt[key][0] for key in ordered)  # type: ignore[index]
        missing = dict.fromkeys((None, *spelt.pop(None, [])))
        several = [tuple(each) for each in (missing, *spelt.values()) if len(each) > 1]
        codes = np.array([place[key] for key in keys], dtype=np.int32)
        return cls(Column(column.name, values), codes, tuple(several))


class Groups(NamedTuple):
    """Which group each item is in, and one item of each group."""

    of_item: IntArray
    first: IntArray

    @property
    def n(self) -> int:
        """The number of groups."""
        return len(self.first)


def sums(of_item: IntArray, rows: IntArray, n: int) -> IntArray:
    """Add up the rows of the items of each group.

    >>> sums(np.array([0, 1, 0]), np.array([5, 1, 2]), 2).tolist()
    [7, 1]
    """
    # Exact: a float holds every whole number up to 2**53, and no table has that many rows.
    return np.bincount(of_item, weights=rows, minlength=n).astype(np.int64)


def add_up(of_item: IntArray | CodeArray, weight: np.ndarray, n: int) -> FloatArray:
    """Add up the weights of the items of each group.

    >>> add_up(np.array([0, 1, 0]), np.array([0.5, 1.0, 2.0]), 2).tolist()
    [2.5, 1.0]
    """
    return np.bincount(of_item, weights=weight, minlength=n).astype(np.float64, copy=False)


class PackedKeys(NamedTuple):
    """Tuples of codes packed into one number each, below `width`.

    Example:
        >>> keys = PackedKeys.of([np.array([1, 0, 1]), np.array([0, 2, 0])], [2, 3])
        >>> keys.key.tolist(), keys.width
        ([3, 2, 3], 6)
    """

    key: IntArray
    width: int

    @classmethod
    def of(
        cls, codes: Sequence[np.ndarray], sizes: Sequence[int], *, n: int | None = None
    ) -> "PackedKeys":
        """Pack columns of codes, the most significant first; see `group`."""
        if not codes:
            return cls(np.zeros(int(n or 0), dtype=np.int64), 1)
        # As `extend` does it, but in one array from the first column on: searches pack often.
        key, width = codes[0].astype(np.int64), max(sizes[0], 1)
        for column, size in zip(codes[1:], sizes[1:], strict=True):
            if width * size >= WIDEST_KEY:
                shorter = number_keys(key, width)
                key, width = shorter.of_item.astype(np.int64), shorter.n
            key *= max(size, 1)
            key += column
            width *= max(size, 1)
        return cls(key, width)

    def extend(self, codes: np.ndarray, size: int) -> "PackedKeys":
        """Append a column. Keys that would grow too wide are numbered first, in their order."""
        key, width = self
        size = max(size, 1)
        if width * size >= WIDEST_KEY:
            shorter = number_keys(key, width)
            key, width = shorter.of_item, shorter.n
        # In place: one array less to allocate per column.
        key = key * size
        key += codes
        return PackedKeys(key, width * size)


def group(codes: Sequence[np.ndarray], sizes: Sequence[int], *, n: int | None = None) -> Groups:
    """Number the distinct tuples of codes, in lexicographic order, however wide they are.

    Args:
        codes: One array of codes per column, the most significant first.
        sizes: How many codes each column can have.
        n: Number of items; needed only when there are no columns.

    >>> groups = group([np.array([1, 0, 1]), np.array([0, 2, 0])], [2, 3])
    >>> groups.of_item.tolist(), groups.first.tolist()
    ([1, 0, 1], [1, 0])
    """
    key, width = PackedKeys.of(codes, sizes, n=n)
    if len(key) and (key.min() < 0 or key.max() >= width):
        # Codes that are none, such as -1 for nothing: no dense table has a place for them.
        _, first, of_item = np.unique(key, return_index=True, return_inverse=True)
        return Groups(of_item, first)
    return group_keys(key, width)


def group_keys(key: IntArray, width: int) -> Groups:
    """Number the distinct keys in order, all of them from 0 to below `width`.

    >>> groups = group_keys(np.array([7, 3, 7]), 2**40)
    >>> groups.of_item.tolist(), groups.first.tolist()
    ([1, 0, 1], [1, 0])
    """
    n = len(key)
    if width <= max(2 * n, _SMALL):
        first = np.full(width, -1, dtype=np.int64)
        # Of several items the one that is written last stays, which is the first of them.
        first[key[::-1]] = np.arange(n - 1, -1, -1)
        present = np.flatnonzero(first >= 0)
        number = np.empty(width, dtype=np.int64)
        number[present] = np.arange(len(present))
        return Groups(number[key], first[present])
    ordered, item = sort_keys(key, width)
    new = changes(ordered)
    of_item = np.empty(n, dtype=np.int64)
    of_item[item] = np.cumsum(new) - 1
    return Groups(of_item, item[new])


class KeyNumbers(NamedTuple):
    """The number of each item's key, and the key of each number."""

    of_item: IntArray
    keys: IntArray

    @property
    def n(self) -> int:
        """The number of different keys."""
        return len(self.keys)


def number_keys(key: IntArray, width: int) -> KeyNumbers:
    """Number the distinct keys in their order; all are from 0 to below `width`.

    >>> number_keys(np.array([7, 2, 7]), 10)
    KeyNumbers(of_item=array([1, 0, 1]), keys=array([2, 7]))
    """
    # Marking keys in a table replaces sorting them: measured, 3 to 30 times as fast for tables of
    # 7 places per key.
    if width <= max(8 * len(key), _DENSE):
        present = np.zeros(width, dtype=bool)
        present[key] = True
        keys = np.flatnonzero(present)
        number = np.empty(width, dtype=np.int64)
        number[keys] = np.arange(len(keys))
        return KeyNumbers(number[key], keys)
    groups = group_keys(key, width)
    return KeyNumbers(groups.of_item, key[groups.first])


def distinct_keys(key: IntArray, width: int) -> IntArray:
    """Return the distinct keys in their order; all are from 0 to below `width`.

    >>> distinct_keys(np.array([7, 2, 7]), 10).tolist()
    [2, 7]
    """
    if width <= max(8 * len(key), _DENSE):
        present = np.zeros(width, dtype=bool)
        present[key] = True
        return np.flatnonzero(present)
    ordered: IntArray = np.sort(key)
    return ordered[changes(ordered)]


def sort_keys(key: IntArray, width: int) -> tuple[IntArray, IntArray]:
    """Return the keys in order, and the item of each; of equal keys the first item first."""
    n = len(key)
    bits = n.bit_length()
    if width < WIDEST_KEY >> bits:
        # Sorting numbers is several times faster than sorting positions by them.
        ordered = (key << bits) | np.arange(n)
        ordered.sort()
        item = ordered & ((1 << bits) - 1)
        ordered >>= bits
        return ordered, item
    item = np.argsort(key, kind="stable")
    return key[item], item


def changes(values: np.ndarray) -> BoolArray:
    """Return whether each value differs from the one before it; the first does.

    >>> changes(np.array([4, 4, 7])).tolist()
    [True, False, True]
    """
    new = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new


@dataclass(frozen=True, eq=False)
class FrequencySet:
    """Distinct combinations with the number of rows that have them.

    The combinations are in lexicographic order of their codes and each dictionary is
    in the order of `sfumato.text.in_order`, so equal tables give equal frequency sets
    whatever engine counted them.

    Example:
        >>> f = FrequencySet.from_rows(["sex", "age"], [("f", 30), ("m", 30), ("f", 30)])
        >>> f.codes.tolist(), f.rows.tolist()
        ([[0, 1], [0, 0]], [2, 1])
        >>> f.project(["age"]).rows.tolist()
        [3]
    """

    columns: tuple[Column, ...]
    codes: CodeArray
    """`codes[c, i]`: the value of column c in combination i."""

    rows: IntArray
    """The number of rows that have combination i."""

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def total(self) -> int:
        """The number of rows counted."""
        return int(self.rows.sum())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The column names in order."""
        return tuple(column.name for column in self.columns)

    def index(self, name: str) -> int:
        """Find a column's position, or refuse with the nearest name."""
        try:
            return self.names.index(name)
        except ValueError:
            raise UnknownColumnError(name, self.names) from None

    def column(self, name: str) -> Column:
        """Find a column by name."""
        return self.columns[self.index(name)]

    def codes_of(self, name: str) -> CodeArray:
        """Return the codes of one column."""
        codes: CodeArray = self.codes[self.index(name)]
        return codes

    def value_counts(self, name: str) -> IntArray:
        """Count the rows of each value of one column, by code."""
        if name not in self._value_counts:
            position = self.index(name)
            n = len(self.columns[position].values)
            self._value_counts[name] = sums(self.codes[position], self.rows, n)
            # Many ask for them: who changed them would change them for all.
            self._value_counts[name].flags.writeable = False
        return self._value_counts[name]

    @cached_property
    def _value_counts(self) -> dict[str, IntArray]:
        return {}

    def group_by(self, names: Sequence[str]) -> Groups:
        """Group the combinations by their values in some columns."""
        sizes = [len(self.column(name).values) for name in names]
        return group([self.codes_of(name) for name in names], sizes, n=len(self))

    def values_at(self, names: Sequence[str], at: int) -> tuple[tuple[str, Value], ...]:
        """Return some columns and the values that one combination has in them."""
        return tuple((name, self.column(name).values[self.codes_of(name)[at]]) for name in names)

    def project(self, names: Sequence[str]) -> "FrequencySet":
        """Count over fewer columns (the subset's frequency set, without the rows)."""
        positions = [self.index(name) for name in names]
        columns = tuple(self.columns[p] for p in positions)
        groups = group(
            [self.codes[p] for p in positions], [len(c.values) for c in columns], n=len(self)
        )
        rows = sums(groups.of_item, self.rows, groups.n)
        return FrequencySet(columns, self.codes[positions][:, groups.first], rows)

    @classmethod
    def from_codes(
        cls,
        names: Sequence[str],
        values: Sequence[Sequence[Value]],
        codes: np.ndarray,
        rows: IntArray,
    ) -> Self:
        """Bring dictionaries and combinations into their canonical order, adding up repeats.

        Args:
            names: The column names.
            values: One dictionary per column, in any order, each value once.
            codes: One row of codes per column, into those dictionaries.
            rows: The number of rows of each combination.
        """
        columns: list[Column] = []
        recoded = np.empty(codes.shape, dtype=np.int32)
        for position, (name, dictionary) in enumerate(zip(names, values, strict=True)):
            cleaned: Sequence[Value] = dictionary
            kinds = set(map(type, dictionary))
            if kinds <= {int, float, NoneType}:
                cleaned = [None if value != value else value for value in dictionary]  # noqa: PLR0124
            elif "" in dictionary or kinds != {str}:
                cleaned = [None if is_missing(value) else value for value in dictionary]
            ordered = in_order(cleaned)
            rank = {value: i for i, value in enumerate(ordered)}
            lookup = np.array([rank[value] for value in cleaned], dtype=np.int32)
            columns.append(Column(name, tuple(ordered)))
            recoded[position] = lookup[codes[position]] if len(lookup) else 0
        groups = group(list(recoded), [len(column.values) for column in columns], n=len(rows))
        added = sums(groups.of_item, rows, groups.n)
        return cls(tuple(columns), recoded[:, groups.first], added)

    @classmethod
    def from_rows(cls, names: Sequence[str], rows: Iterable[Sequence[Value]]) -> Self:
        """Count rows given as Python tuples: for tests, examples and small tables."""
        table = [tuple(None if is_missing(v) else v for v in row) for row in rows]
        values: list[list[Value]] = []
        codes = np.empty((len(names), len(table)), dtype=np.int32)
        for position in range(len(names)):
            seen: dict[Value, int] = {}
            codes[position] = [seen.setdefault(row[position], len(seen)) for row in table]
            values.append(list(seen))
        return cls.from_codes(names, values, codes, np.ones(len(table), dtype=np.int64))

    def fold(self, names: Iterable[str]) -> "FrequencySet":
        """Return it with spellings of a value in some columns taken for one.

        >>> counts = FrequencySet.from_rows(["ill"], [("HIV",), ("hiv",), ("flu",)])
        >>> counts.fold(["ill"]).columns[0].values, counts.fold(["ill"]).rows.tolist()
        (('flu', 'HIV'), [1, 2])
        """
        columns, codes = list(self.columns), None
        for name in names:
            at = self.index(name)
            folded = columns[at].folded
            if folded.spellings:
                codes = self.codes.copy() if codes is None else codes
                codes[at] = folded.codes[codes[at]]
                columns[at] = folded.column
        if codes is None:
            return self
        groups = group(list(codes), [len(c.values) for c in columns], n=len(self))
        rows = sums(groups.of_item, self.rows, groups.n)
        return FrequencySet(tuple(columns), codes[:, groups.first], rows)

    def without(self, unwanted: BoolArray) -> Self:
        """Remove some combinations; the dictionaries stay as they are."""
        return replace(self, codes=self.codes[:, ~unwanted], rows=self.rows[~unwanted])

    def is_used(self, name: str) -> BoolArray:
        """Return whether each value of a column is one that some row has."""
        used: BoolArray = self.value_counts(name) > 0
        return used

    def compact(self) -> Self:
        """Remove values that no row has from the dictionaries.

        What is built from a dictionary (hierarchies, ends of ranges) then depends on these rows
        alone, and not on rows that were removed before.

        >>> counts = FrequencySet.from_rows(["age"], [(30,), (31,), (99,)])
        >>> counts.without(np.array([False, False, True])).compact().columns[0].values
        (30, 31)
        """
        columns, codes = list(self.columns), self.codes
        for at, column in enumerate(columns):
            used = np.flatnonzero(self.is_used(column.name))
            if len(used) == len(column.values):
                continue
            number = np.zeros(len(column.values), dtype=codes.dtype)
            number[used] = np.arange(len(used))
            codes = codes.copy() if codes is self.codes else codes
            codes[at] = number[codes[at]]
            columns[at] = Column(column.name, tuple(column.values[i] for i in used.tolist()))
        return self if codes is self.codes else replace(self, columns=tuple(columns), codes=codes)


@dataclass(frozen=True, eq=False)
class CoarseFrequencySet(FrequencySet):
    """Combinations in which one value stands for all that a generalisation does not tell apart.

    There are fewer of them than combinations of values. At levels that merge those values anyway,
    all that is decided is the same; how often each value itself occurs is kept beside.

    Example:
        >>> ages = Column("age", (31, 38))
        >>> coarse = CoarseFrequencySet((ages,), np.array([[0]]), np.array([3]),
        ...     {"age": np.array([2, 1])})
        >>> coarse.rows.tolist(), coarse.value_counts("age").tolist()
        ([3], [2, 1])
    """

    frequencies: Mapping[str, IntArray] = field(default_factory=dict)
    """Of columns whose values are merged, how many rows have each; a missing one is the last."""

    def value_counts(self, name: str) -> IntArray:
        if name in self.frequencies:
            return self.frequencies[name][: len(self.column(name).values)]
        return super().value_counts(name)

    def is_used(self, name: str) -> BoolArray:
        # A value that stands for others stays, whether it has rows of its own or not.
        used = super().is_used(name)
        used[np.unique(self.codes_of(name))] = True
        return used

    def compact(self) -> Self:
        left = super().compact()
        if left is self:
            return self
        rows = {name: self.value_counts(name)[self.is_used(name)] for name in self.frequencies}
        return replace(left, frequencies=rows)


def align(
    table: FrequencySet, other: FrequencySet, names: Sequence[str]
) -> tuple[FrequencySet, FrequencySet]:
    """Return two frequency sets common dictionaries for some columns.

    Values are matched by how they are written, so the text "39" of a CSV file and the
    number 39 of a Parquet file are one value.

    >>> one = FrequencySet.from_rows(["age"], [("39",), ("41",)])
    >>> two = FrequencySet.from_rows(["age"], [(40,), (41,)])
    >>> [f.columns[0].values for f in align(one, two, ["age"])]
    [('39', 40, '41'), ('39', 40, '41')]
    """
    both = []
    unions: dict[str, tuple[Column, dict[str | None, int]]] = {}
    for name in names:
        values = {text_or_none(v): v for v in other.column(name).values}
        values |= {text_or_none(v): v for v in table.column(name).values}
        ordered = in_order(values.values())
        column = Column(name, tuple(ordered))
        unions[name] = column, {text_or_none(v): i for i, v in enumerate(ordered)}
    for counts in (table, other):
        columns = list(counts.columns)
        codes = counts.codes.copy()
        for name, (column, rank) in unions.items():
            position = counts.index(name)
            lookup = np.array(
                [rank[text_or_none(v)] for v in columns[position].values], dtype=np.int32
            )
            codes[position] = lookup[codes[position]] if len(lookup) else 0
            columns[position] = column
        both.append(FrequencySet(tuple(columns), codes, counts.rows))
    return both[0], both[1]
