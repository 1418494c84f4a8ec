"""Matching groups whose labels cover values: a value may have become several labels."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sfumato.attacks.matching import groups_of, require_tables
from sfumato.counts import Column, FrequencySet
from sfumato.hierarchy import Ladder
from sfumato.text import text_or_none
from sfumato.typing import BoolArray, CodeArray, IntArray

Covers = Mapping[str | None, Collection[str | None]]
"""Per label, the raw texts it stands for."""

_AT_ONCE = 1 << 24
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
        step = max(_AT_ONCE // widest, 1)
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
