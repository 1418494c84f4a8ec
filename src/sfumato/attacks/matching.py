"""In how many groups of a release could a person be, going by what others may know?"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, Self

import numpy as np

from sfumato.counts import Column, FrequencySet, group
from sfumato.errors import ParameterError
from sfumato.hierarchy import Ladder
from sfumato.text import text_or_none
from sfumato.typing import BoolArray, CodeArray, IntArray, Value

Labels = Mapping[str, Mapping[str | None, Value]]
"""Per column that is generalised, the label that each raw text became."""

_AT_ONCE = 1 << 22
"""Pairs of a row and a group that are looked at together."""


class Matcher(Protocol):
    """Anything that can tell in how many groups of a release a row could be."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """What the rows are written in: one dictionary of values per quasi-identifier."""

    def matches(self, codes: CodeArray) -> IntArray:
        """Give, for rows `codes[column, row]`, the number of groups each of them matches."""


@dataclass(frozen=True, eq=False)
class _Piece:
    """Some columns that are published together: which of their values occur in which group."""

    lookups: tuple[tuple[int, CodeArray], ...]
    """Per column its position among all, and the published code of each value; -1 for none."""

    sizes: tuple[int, ...]
    published: CodeArray
    """`published[column, tuple]`: the different tuples that occur."""

    key: IntArray
    """Tuple number times number of groups, plus group: sorted, each pair once."""

    starts: IntArray
    """Where the groups of each tuple begin in `key`."""

    def found(self, codes: CodeArray) -> IntArray:
        """Give the number of the tuple each row has; -1 if no group has it."""
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


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups that are known by the values which occur in them.

    A row matches a group when, in every table of the release, the group has the row's values of
    that table's columns. Where quasi-identifiers are published together there is one table, and
    the groups are those in which the row's values stand: the class of a generalised or decoupled
    release, the buckets of an anatomised one. A sliced release has one table per column, and
    a row matches every bucket in which each of them has the row's part.

    Example:
        >>> people = FrequencySet.from_rows(["age", "sex"], [(30, "f"), (40, "m")])
        >>> apart = [
        ...     FrequencySet.from_rows(["bucket", "age"], [(1, 30), (1, 40), (2, 40)]),
        ...     FrequencySet.from_rows(["bucket", "sex"], [(1, "f"), (1, "m"), (2, "m")]),
        ... ]
        >>> Groups.of(people, apart, group="bucket").matches(people.codes).tolist()
        [1, 2]
    """

    columns: tuple[Column, ...]
    pieces: tuple[_Piece, ...]
    n_groups: int

    @classmethod
    def of(
        cls,
        people: FrequencySet,
        tables: Sequence[FrequencySet],
        *,
        group: str | None = None,
        labels: Labels | None = None,
    ) -> Self:
        """Read groups from the published tables, counted.

        Args:
            people: Whose dictionaries the rows are written in; its columns are those that
                others may know. Values are matched by how they are written.
            tables: The published tables, each with the group and some of these columns.
            group: The column that names the group; None if every combination is one.
            labels: What raw values became, if the tables are generalised.
        """
        require_tables(people, tables, group)
        ids = groups_of(tables, group)
        n = max((int(each.max()) + 1 for each in ids if len(each)), default=0)
        pieces = [
            _piece(people, table, each, n, labels or {}, group)
            for table, each in zip(tables, ids, strict=True)
        ]
        return cls(people.columns, tuple(pieces), n)

    def matches(self, codes: CodeArray) -> IntArray:
        """Give the number of groups each row matches."""
        found = [piece.found(codes) for piece in self.pieces]
        widths = [_widths(piece, at) for piece, at in zip(self.pieces, found, strict=True)]
        # The table in which rows have the fewest groups says which are looked at in the others.
        first = int(np.argmin([int(width.sum()) for width in widths]))
        result = np.zeros(codes.shape[1], dtype=np.int64)
        for rows in _batches(widths[first]):
            row, candidate = self._candidates(first, found[first][rows], widths[first][rows])
            for position, piece in enumerate(self.pieces):
                if position != first:
                    number = found[position][rows][row]
                    good = _among(piece.key, number * self.n_groups + candidate) & (number >= 0)
                    row, candidate = row[good], candidate[good]
            result[rows] = np.bincount(row, minlength=rows.stop - rows.start)
        return result

    def _candidates(
        self, first: int, number: IntArray, width: IntArray
    ) -> tuple[IntArray, IntArray]:
        """List the groups that each row's tuple stands in, in one table."""
        piece = self.pieces[first]
        row = np.repeat(np.arange(len(number)), width)
        within = np.arange(len(row)) - np.repeat(np.cumsum(width) - width, width)
        candidate: IntArray = piece.key[piece.starts[number[row]] + within] % max(self.n_groups, 1)
        return row, candidate


def require_tables(people: FrequencySet, tables: Sequence[FrequencySet], group: str | None) -> None:
    """Refuse tables that have not the columns of people, or nothing that links them."""
    covered = [name for table in tables for name in table.names if name != group]
    if set(covered) != set(people.names):
        raise ParameterError(
            "tables",
            covered,
            f"tables of the columns {list(people.names)}",
            why="a row is held against every column that others may know, and no other",
        )
    if group is None and len(tables) != 1:
        raise ParameterError("group", None, "the column that links the tables")


def groups_of(tables: Sequence[FrequencySet], name: str | None) -> list[IntArray]:
    """Number the groups, the same in all tables."""
    if name is None:
        return [np.arange(len(table)) for table in tables]
    numbers: dict[str | None, int] = {}
    found = []
    for table in tables:
        values = table.column(name).values
        ids = [numbers.setdefault(text_or_none(value), len(numbers)) for value in values]
        found.append(np.array(ids, dtype=np.int64)[table.codes_of(name)])
    return found


def _piece(
    people: FrequencySet,
    table: FrequencySet,
    ids: IntArray,
    n: int,
    labels: Labels,
    group_name: str | None,
) -> _Piece:
    names = [name for name in table.names if name != group_name]
    sizes = tuple(len(table.column(name).values) for name in names)
    codes = [table.codes_of(name) for name in names]
    tuples = group(codes, sizes, n=len(table))
    key = np.unique(tuples.of_item * n + ids)
    return _Piece(
        tuple((people.index(m), _lookup(people.column(m), table.column(m), labels)) for m in names),
        sizes,
        np.array([each[tuples.first] for each in codes], dtype=np.int32).reshape(len(names), -1),
        key,
        np.searchsorted(key, np.arange(tuples.n + 1) * n),
    )


def _lookup(raw: Column, published: Column, labels: Labels) -> CodeArray:
    """Give the published code of each raw value; -1 if nobody's value became that."""
    codes = {text_or_none(value): code for code, value in enumerate(published.values)}
    texts = [text_or_none(value) for value in raw.values]
    became = {text: text for text in texts}
    if raw.name in labels:
        became = {text: text_or_none(label) for text, label in labels[raw.name].items()}
    found = [codes.get(became[text], -1) if text in became else -1 for text in texts]
    return np.array(found, dtype=np.int32)


def _widths(piece: _Piece, number: IntArray) -> IntArray:
    """Count the groups that each row's tuple stands in."""
    width: IntArray = np.where(number >= 0, np.diff(piece.starts, append=0)[number], 0)
    return width


def _batches(width: IntArray) -> list[slice]:
    """Cut rows into runs that have not too many groups together."""
    ends = np.cumsum(width)
    cuts = np.flatnonzero(np.diff(ends // _AT_ONCE, prepend=0))
    edges = [0, *(cut for cut in cuts.tolist() if cut), len(width)]
    return [slice(a, b) for a, b in pairwise(edges) if a < b]


def _among(key: IntArray, asked: IntArray) -> np.ndarray:
    at = np.minimum(np.searchsorted(key, asked), max(len(key) - 1, 0))
    return key[at] == asked if len(key) else np.zeros(len(asked), dtype=bool)


# Matching groups whose labels cover values: a value may have become several labels.


Covers = Mapping[str | None, Collection[str | None]]
"""Per label, the raw texts it stands for."""

_COVERING_AT_ONCE = 1 << 24
"""Pairs of a row and a published row that are looked at together."""


@dataclass(frozen=True, eq=False)
class _Part:
    """One published table: labels, and the group that each of its entries stands in."""

    labels: tuple[tuple[int, CodeArray], ...]
    """Per column its position among all, and the published code of each entry."""

    covers: tuple[BoolArray, ...]
    """Per column, whether `[value, label]` belong together."""

    entries: int
    starts: IntArray
    """Where each group's entries begin; they are sorted by group."""

    groups: IntArray
    """The groups that occur, in the same order."""

    def holds(self, rows: CodeArray, n: int) -> BoolArray:
        """Tell for `[row, group]` whether an entry of the group covers the row's values."""
        good = np.ones((rows.shape[1], self.entries), dtype=np.bool_)
        for (position, label), cover in zip(self.labels, self.covers, strict=True):
            good &= cover[rows[position]][:, label]
        found = np.zeros((rows.shape[1], n), dtype=np.bool_)
        if self.entries:
            found[:, self.groups] = np.logical_or.reduceat(good, self.starts, axis=1)
        return found


@dataclass(frozen=True, eq=False)
class Covered:
    """Groups whose labels cover values, as local recoding makes them.

    A row matches a group when, in every table of the release, the group has labels that
    cover the row's values of that table's columns. Where every value became one label, `Groups`
    finds the same and is faster: here each row is held against each published row.

    Example:
        >>> people = FrequencySet.from_rows(["zip"], [("13053",), ("13068",)])
        >>> published = FrequencySet.from_rows(["zip"], [("130**",), ("13053",)])
        >>> covers = {"zip": {"130**": ["13053", "13068"]}}
        >>> Covered.of(people, [published], covers).matches(people.codes).tolist()
        [2, 1]
    """

    columns: tuple[Column, ...]
    parts: tuple[_Part, ...]
    n_groups: int

    @classmethod
    def of(
        cls,
        people: FrequencySet,
        tables: Sequence[FrequencySet],
        covers: Mapping[str, Covers],
        *,
        group: str | None = None,
    ) -> Self:
        """Read groups from the published tables, counted.

        Args:
            people: Whose dictionaries the rows are written in.
            tables: The same columns as published; see `Groups.of`.
            covers: Per column, what its labels stand for. A label that is not named stands
                for the value that is written like it.
            group: The column that names the group; None if every combination is one.
        """
        require_tables(people, tables, group)
        numbers = groups_of(tables, group)
        n = max((int(each.max()) + 1 for each in numbers if len(each)), default=0)
        parts = [_part(people, *each, covers, group) for each in zip(tables, numbers, strict=True)]
        return cls(people.columns, tuple(parts), n)

    def matches(self, codes: CodeArray) -> IntArray:
        """Give the number of groups each row matches."""
        n = codes.shape[1]
        widest = max(self.n_groups, *(part.entries for part in self.parts), 1)
        step = max(_COVERING_AT_ONCE // widest, 1)
        found = np.zeros(n, dtype=np.int64)
        for start in range(0, n, step):
            rows = codes[:, start : start + step]
            good = np.ones((rows.shape[1], self.n_groups), dtype=np.bool_)
            for part in self.parts:
                good &= part.holds(rows, self.n_groups)
            found[start : start + step] = good.sum(axis=1)
        return found


def _part(
    people: FrequencySet,
    table: FrequencySet,
    numbers: IntArray,
    covers: Mapping[str, Covers],
    group: str | None,
) -> _Part:
    names = [name for name in table.names if name != group]
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    found = [_covers(people.column(n), table.column(n), covers.get(n, {})) for n in names]
    labels = [(people.index(n), table.codes_of(n)[order]) for n in names]
    return _Part(tuple(labels), tuple(found), len(order), starts, numbers[order][starts])


def covers_of(ladder: Ladder) -> Covers:
    """Say what the labels of a hierarchy stand for, on all its levels.

    >>> from sfumato.hierarchy import Hierarchy
    >>> ladder = Hierarchy.from_paths(["a", "b"], [["*"], ["*"]]).bind("letter", ["a", "b"])
    >>> {label: sorted(raw) for label, raw in covers_of(ladder).items()}
    {'a': ['a'], 'b': ['b'], '*': ['a', 'b']}
    """
    found: dict[str | None, set[str | None]] = {}
    texts = [text_or_none(value) for value in ladder.values]
    for codes, labels in zip(ladder.codes, ladder.labels, strict=True):
        for text, code in zip(texts, codes.tolist(), strict=True):
            found.setdefault(text_or_none(labels[code]), set()).add(text)
    return found


def _covers(raw: Column, published: Column, covers: Covers) -> BoolArray:
    at = {text_or_none(value): code for code, value in enumerate(raw.values)}
    found = np.zeros((len(raw.values), len(published.values)), dtype=np.bool_)
    for label, value in enumerate(published.values):
        text = text_or_none(value)
        under = covers.get(text, [text])
        found[[at[each] for each in under if each in at], label] = True
    return found
