"""Matching people with the groups of a release, going by what others may know of them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import pairwise
from typing import Self

import numpy as np

from sfumato.counts import Column, FrequencySet, group
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import LinkedTables
from sfumato.errors import ParameterError
from sfumato.hierarchy.labels import LabelIndex, Labels, RawLabels
from sfumato.typing import BoolArray, CodeArray, IntArray

_CANDIDATES = 1 << 22
"""Pairs of a row and a group that are looked at together."""

_CELLS = 1 << 24
"""Pairs of a row and a published row that are looked at together."""


@dataclass(frozen=True, eq=False)
class Matcher(ABC):
    """The groups of a release that a row written in raw values could be in.

    A row matches a group when, in every table of the release, the group has the row's values of
    that table's columns, or labels that cover them. Where quasi-identifiers are published together
    there is one table, and the groups are those in which the row's values stand: the class of a
    generalised release, the buckets of an anatomised one. A sliced release has one table per
    column, and a row matches every bucket in which each of them has the row's part.
    """

    columns: tuple[Column, ...]
    """What the rows are written in: one dictionary of values per quasi-identifier."""

    n_groups: int

    @abstractmethod
    def pairs(self, codes: CodeArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the rows `codes[column, row]` and the groups they match, some rows at a time."""

    def matches(self, codes: CodeArray) -> IntArray:
        """Return the number of groups each row matches."""
        found = np.zeros(codes.shape[1], dtype=np.int64)
        for row, _ in self.pairs(codes):
            found += np.bincount(row, minlength=len(found))
        return found


def matcher(people: FrequencySet, tables: LinkedTables, labels: Labels | None = None) -> Matcher:
    """Read the groups that people can be matched with.

    Args:
        people: Whose dictionaries the rows are written in; its columns are those that others
            may know.
        tables: The published tables, with no other columns about people.
        labels: What the labels come from; None if values are published as they are.
    """
    _require_tables(people, tables)
    indices = [
        {
            name: LabelIndex.of(people.column(name), table.column(name), labels or RawLabels())
            for name in tables.names(table)
        }
        for table in tables.tables
    ]
    single = all(index.only is not None for each in indices for index in each.values())
    read = ExactMatcher if single else CoveringMatcher
    return read.of(people, tables, indices)


def _require_tables(people: FrequencySet, tables: LinkedTables) -> None:
    """Raise an error for tables without the columns of people, or without a link."""
    held = [name for table in tables.tables for name in tables.names(table)]
    if set(held) != set(people.names):
        raise ParameterError(
            "tables",
            held,
            f"tables of the columns {list(people.names)}",
            why="a row is held against every column that others may know, and no other",
        )
    if tables.group is None and len(tables.tables) != 1:
        raise ParameterError("group", None, "the column that links the tables")


@dataclass(frozen=True, eq=False)
class _Piece:
    """Some columns that are published together: which of their values occur in which group."""

    lookups: tuple[tuple[int, IntArray], ...]
    """Per column its position among all, and the published code of each value; -1 for none."""

    sizes: tuple[int, ...]
    published: CodeArray
    """`published[column, tuple]`: the different tuples that occur."""

    key: IntArray
    """Tuple number times number of groups, plus group: sorted, each pair once."""

    starts: IntArray
    """Where the groups of each tuple begin in `key`."""

    def find(self, codes: CodeArray) -> IntArray:
        """Return the number of the tuple each row has; -1 if no group has it."""
        rows = [lookup[codes[position]] for position, lookup in self.lookups]
        n = self.published.shape[1]
        both = [np.concatenate([p, r]) for p, r in zip(self.published, rows, strict=True)]
        # A value that is not published is a code more, which no published tuple has.
        shifted = [each + 1 for each in both]
        tuples = group(shifted, [size + 1 for size in self.sizes], n=n + codes.shape[1])
        number = np.full(tuples.n, -1, dtype=np.int64)
        number[tuples.of_item[:n]] = np.arange(n)
        found: IntArray = number[tuples.of_item[n:]]
        return found

    def widths(self, number: IntArray) -> IntArray:
        """Count the groups that each row's tuple stands in."""
        width: IntArray = np.where(number >= 0, np.diff(self.starts, append=0)[number], 0)
        return width


@dataclass(frozen=True, eq=False)
class ExactMatcher(Matcher):
    """Groups that are known by the values which occur in them: every value became one label.

    Example:
        >>> people = FrequencySet.from_rows(["age", "sex"], [(30, "f"), (40, "m")])
        >>> apart = [
        ...     FrequencySet.from_rows(["bucket", "age"], [(1, 30), (1, 40), (2, 40)]),
        ...     FrequencySet.from_rows(["bucket", "sex"], [(1, "f"), (1, "m"), (2, "m")]),
        ... ]
        >>> matcher(people, LinkedTables(tuple(apart), "bucket")).matches(people.codes).tolist()
        [1, 2]
    """

    pieces: tuple[_Piece, ...]

    @classmethod
    def of(
        cls, people: FrequencySet, tables: LinkedTables, indices: list[dict[str, LabelIndex]]
    ) -> Self:
        """Read the tables; every value has one label at most."""
        each = zip(tables.tables, tables.groups, indices, strict=True)
        pieces = tuple(_piece(people, table, ids, tables.n, index) for table, ids, index in each)
        return cls(people.columns, tables.n, pieces)

    def pairs(self, codes: CodeArray) -> Iterator[tuple[IntArray, IntArray]]:
        found = [piece.find(codes) for piece in self.pieces]
        widths = [piece.widths(at) for piece, at in zip(self.pieces, found, strict=True)]
        # The table in which rows have the fewest groups says which are looked at in the others.
        first = int(np.argmin([int(width.sum()) for width in widths]))
        for rows in _batches(widths[first]):
            row, candidate = self._candidates(first, found[first][rows], widths[first][rows])
            for position, piece in enumerate(self.pieces):
                if position != first:
                    number = found[position][rows][row]
                    good = _among(piece.key, number * self.n_groups + candidate) & (number >= 0)
                    row, candidate = row[good], candidate[good]
            yield row + rows.start, candidate

    def _candidates(
        self, first: int, number: IntArray, width: IntArray
    ) -> tuple[IntArray, IntArray]:
        """List the groups that each row's tuple stands in, in one table."""
        piece = self.pieces[first]
        row = np.repeat(np.arange(len(number)), width)
        within = np.arange(len(row)) - np.repeat(np.cumsum(width) - width, width)
        candidate: IntArray = piece.key[piece.starts[number[row]] + within] % max(self.n_groups, 1)
        return row, candidate


def _piece(
    people: FrequencySet,
    table: FrequencySet,
    ids: IntArray,
    n: int,
    index: dict[str, LabelIndex],
) -> _Piece:
    sizes = tuple(len(table.column(name).values) for name in index)
    codes = [table.codes_of(name) for name in index]
    tuples = group(codes, sizes, n=len(table))
    key = np.unique(tuples.of_item * n + ids)
    lookups = {people.index(name): each.only for name, each in index.items()}
    return _Piece(
        tuple((position, only) for position, only in lookups.items() if only is not None),
        sizes,
        np.array([each[tuples.first] for each in codes], dtype=np.int32).reshape(len(codes), -1),
        key,
        np.searchsorted(key, np.arange(tuples.n + 1) * n),
    )


def _batches(width: IntArray) -> list[slice]:
    """Cut rows into runs that have not too many groups together."""
    ends = np.cumsum(width)
    cuts = np.flatnonzero(np.diff(ends // _CANDIDATES, prepend=0))
    edges = [0, *(cut for cut in cuts.tolist() if cut), len(width)]
    return [slice(a, b) for a, b in pairwise(edges) if a < b]


def _among(key: IntArray, asked: IntArray) -> np.ndarray:
    at = np.minimum(np.searchsorted(key, asked), max(len(key) - 1, 0))
    return key[at] == asked if len(key) else np.zeros(len(asked), dtype=bool)


@dataclass(frozen=True, eq=False)
class _Part:
    """One published table: labels, and the group that each of its entries stands in."""

    labels: tuple[tuple[int, LabelIndex, CodeArray], ...]
    """Per column its position among all, what its labels cover, and the label of each entry."""

    entries: int
    starts: IntArray
    """Where each group's entries begin; they are sorted by group."""

    groups: IntArray
    """The groups that occur, in the same order."""

    def holds(self, rows: CodeArray, n: int) -> BoolArray:
        """Return for `[row, group]` whether an entry of the group covers the row's values."""
        good = np.ones((rows.shape[1], self.entries), dtype=np.bool_)
        for position, index, label in self.labels:
            good &= index.fits(rows[position])[:, label]
        if self.entries == len(self.groups) == n:
            # Every entry is a group of its own, in order.
            return good
        found = np.zeros((rows.shape[1], n), dtype=np.bool_)
        if self.entries:
            found[:, self.groups] = np.logical_or.reduceat(good, self.starts, axis=1)
        return found


@dataclass(frozen=True, eq=False)
class CoveringMatcher(Matcher):
    """Groups whose labels cover values, as local recoding makes them.

    Where every value became one label, `ExactMatcher` finds the same and is faster: here each row
    is held against each published row.

    Example:
        >>> people = FrequencySet.from_rows(["zip"], [("13053",), ("13068",)])
        >>> published = FrequencySet.from_rows(["zip"], [("130**",), ("13053",)])
        >>> matcher(people, LinkedTables((published,)), Labels()).matches(people.codes).tolist()
        [2, 1]
    """

    parts: tuple[_Part, ...]

    @classmethod
    def of(
        cls, people: FrequencySet, tables: LinkedTables, indices: list[dict[str, LabelIndex]]
    ) -> Self:
        """Read the tables."""
        each = zip(tables.tables, tables.groups, indices, strict=True)
        parts = tuple(_part(people, table, ids, index) for table, ids, index in each)
        return cls(people.columns, tables.n, parts)

    def pairs(self, codes: CodeArray) -> Iterator[tuple[IntArray, IntArray]]:
        widest = max(self.n_groups, *(part.entries for part in self.parts), 1)
        step = max(_CELLS // widest, 1)
        for start in range(0, codes.shape[1], step):
            rows = codes[:, start : start + step]
            good = np.ones((rows.shape[1], self.n_groups), dtype=np.bool_)
            for part in self.parts:
                good &= part.holds(rows, self.n_groups)
            row, candidate = np.nonzero(good)
            yield row + start, candidate


def _part(
    people: FrequencySet, table: FrequencySet, ids: IntArray, index: dict[str, LabelIndex]
) -> _Part:
    order = np.argsort(ids, kind="stable")
    starts = np.flatnonzero(np.diff(ids[order], prepend=-1))
    labels = [(people.index(n), each, table.codes_of(n)[order]) for n, each in index.items()]
    return _Part(tuple(labels), len(order), starts, ids[order][starts])
