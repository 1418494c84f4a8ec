"""The tables of a release, as somebody looks through them for one person."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.attacks.matching import groups_of
from sfumato.attacks.person import Piece
from sfumato.attacks.reading import reads
from sfumato.counts import Column, FrequencySet, group
from sfumato.errors import HierarchyError, UnknownColumnError
from sfumato.hierarchy import Hierarchy, Ladder
from sfumato.policy import Policy
from sfumato.tasks.measure import counted
from sfumato.tasks.published import Counted, Published
from sfumato.text import STAR, text_of
from sfumato.typing import BoolArray, IntArray, Value
from sfumato.usefulness.entries import people_of
from sfumato.verifier.manifest import BREAK_MERGE

TABLE = "table"
"""The kind of a release in one piece."""


@dataclass(frozen=True, eq=False)
class Labels:
    """Reads what is published, for somebody who knows raw values."""

    levels: Mapping[str, int]
    """The level of each column that was published at one level."""

    policy: Policy | None = None
    data: object = None
    """The original table, for hierarchies that are built from it."""

    matches_any: bool = False
    """Whether a missing label may hide any value."""

    def fit(self, name: str, value: Value, labels: Column) -> BoolArray:
        """Tell for each label whether somebody with the value may have got it.

        >>> Labels({}).fit("age", 41, Column("age", ("30-39", "4*", "*"))).tolist()
        [False, True, True]
        """
        raw, level = Column(name, (value,)), self.levels.get(name)
        found = reads(raw, labels, self._ladder(raw), level, matches_any=self.matches_any)
        fits: BoolArray = found[0]
        return fits

    def raw_texts(self, name: str, value: Value) -> list[str]:
        """Give other raw values that a column can have, as far as anything says so."""
        hierarchy = self._hierarchy(Column(name, (value,)))
        texts = [] if hierarchy is None else [text_of(each) for each in hierarchy.values]
        if self.data is not None:
            texts += [text_of(each) for each in counted(self.data, [name]).column(name).known]
        return [text for text in dict.fromkeys(texts) if value is None or text != text_of(value)]

    def _ladder(self, raw: Column) -> Ladder | None:
        hierarchy = self._hierarchy(raw)
        try:
            return None if hierarchy is None else hierarchy.bind(raw.name, raw.known)
        except HierarchyError:
            # It does not know the value. Intervals and masks can be read all the same.
            return None

    def _hierarchy(self, raw: Column) -> Hierarchy | None:
        described = None if self.policy is None else self.policy.columns.get(raw.name)
        if described is None or described.hierarchy is None or not raw.known:
            return None
        values, rows = raw.known, None
        if self.data is not None:
            counts = counted(self.data, [raw.name])
            values = counts.column(raw.name).known
            rows = counts.value_counts(raw.name)[: len(values)].tolist()
        try:
            return described.hierarchy.build(raw.name, values, rows)
        except HierarchyError:
            return None


@dataclass(frozen=True, eq=False)
class Seen:
    """The published tables, and which of their entries agree with what is known of a person.

    Rows that are all `*` could be anybody's: nobody is looked for there as long as others fit,
    unless such rows are known to be a class like others.
    """

    kind: str
    opened: Published
    known: Mapping[str, Value]
    reader: Labels
    stars_are_people: bool = False
    """Whether no row is suppressed that is shown, so that all `*` is a class."""

    @cached_property
    def counted(self) -> Counted:
        """The tables, over the quasi-identifiers and the sensitive columns."""
        return self.opened.counted((*self.opened.quasi_identifiers, *self.opened.sensitive))

    @cached_property
    def buckets(self) -> list[IntArray]:
        """Per table the group of each entry; in one piece, rows that look alike are a group."""
        if self.counted.group is not None:
            return groups_of(self.counted.tables, self.counted.group)
        [table] = self.counted.tables
        names = self.opened.quasi_identifiers
        sizes = [len(table.column(name).values) for name in names]
        return [group([table.codes_of(n) for n in names], sizes, n=len(table)).of_item]

    @cached_property
    def n(self) -> int:
        """How many groups there are."""
        return max((int(each.max()) + 1 for each in self.buckets if len(each)), default=0)

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The tables as weights can be put on them."""
        return tuple(
            self._piece(table, bucket)
            for table, bucket in zip(self.counted.tables, self.buckets, strict=True)
        )

    @property
    def total(self) -> int:
        """How many people there are."""
        return round(float(self.pieces[0].people.sum()))

    def sensitive(self, name: str) -> Column:
        """Find a sensitive column."""
        for table in self.counted.tables:
            if name in table.names:
                return table.column(name)
        every = [each for table in self.counted.tables for each in table.names]
        raise UnknownColumnError(name, every, where="the published tables")

    def labels(self, bucket: int) -> dict[str, Value]:
        """Say what a class, group or bucket is recognised by."""
        table, names, first = self._recognised
        at = int(first[bucket])
        return {name: table.column(name).values[table.codes_of(name)[at]] for name in names}

    @cached_property
    def _recognised(self) -> tuple[FrequencySet, list[str], IntArray]:
        """Find the table whose entries name the groups, and the first entry of each."""
        names = self.opened.quasi_identifiers
        alike = self.kind in (TABLE, BREAK_MERGE) and bool(names)
        at = 0
        if alike:
            at = next(i for i, table in enumerate(self.counted.tables) if names[0] in table.names)
        shown = list(names) if alike else [str(self.counted.group)]
        if not alike and self.counted.group is None:
            shown = []
        first = np.unique(self.buckets[at], return_index=True)[1]
        return self.counted.tables[at], shown, first

    def unread(self) -> dict[str, list[str]]:
        """Give the columns of whose labels none stands for the value, with what they do have."""
        found = {}
        for name, value in self.known.items():
            columns = [table.column(name) for table in self.counted.tables if name in table.names]
            if not any(self.reader.fit(name, value, labels).any() for labels in columns):
                texts = [text_of(label) for labels in columns for label in labels.known]
                found[name] = self.reader.raw_texts(name, value) or list(dict.fromkeys(texts))
        return found

    @cached_property
    def left_out(self) -> int:
        """How many rows could be anybody's, and are not looked at."""
        if self.counted.group is not None:
            return 0
        [table], [piece] = self.counted.tables, self.pieces
        silent = self._silent(table)
        return 0 if (piece.fits & silent).any() else int(table.rows[silent].sum())

    def _piece(self, table: FrequencySet, bucket: IntArray) -> Piece:
        count = self.counted.count
        told = count is not None and count in table.names
        people = people_of(table, str(count)) if told else table.rows.astype(np.float64)
        fits = np.ones(len(table), dtype=np.bool_)
        for name, value in self.known.items():
            if name in table.names:
                labels = self.reader.fit(name, value, table.column(name))
                fits &= labels[table.codes_of(name)]
        if self.counted.group is None:
            silent = self._silent(table)
            fits &= ~silent if (fits & ~silent).any() else True
        values = {
            name: (table.column(name), table.codes_of(name))
            for name in self.opened.sensitive
            if name in table.names
        }
        return Piece(bucket, people, fits, values)

    def _silent(self, table: FrequencySet) -> BoolArray:
        """Tell which rows say nothing about whose they are."""
        some = bool(self.opened.quasi_identifiers) and not self.stars_are_people
        silent = np.full(len(table), some, dtype=np.bool_)
        for name in self.opened.quasi_identifiers:
            stars = [v is not None and text_of(v) == STAR for v in table.column(name).values]
            silent &= np.array(stars, dtype=np.bool_)[table.codes_of(name)]
        return silent
