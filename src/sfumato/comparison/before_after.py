"""Before and after: what became of every row, for the owner of the table alone.

A release has its rows in random order, so that they do not tell whose they are. The owner has the
table and the recoding, and may hold both side by side: that is private, and goes into no release.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, UnknownColumnError
from sfumato.recode.recoded import recode_entries
from sfumato.recoding import LocalRecoding, SolvedRecoding
from sfumato.releases.release import Release
from sfumato.releases.subject import Subject
from sfumato.tables import Table
from sfumato.tables.capabilities import OrderedRows
from sfumato.text import STAR, number_of, text_or_none
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray, Value

_BARS = 12
"""The most bars of a distribution; of more numbers, ranges are drawn."""

_RANGES = 10


class Cell(NamedTuple):
    """A cell of the release."""

    text: str | None
    """What is published; None if it is missing."""

    change: str
    """`same`, `general` if it became more general, or `hidden` if nothing is left of it."""


class Row(NamedTuple):
    """Some rows that are alike, before and after."""

    before: tuple[str | None, ...]
    """The quasi-identifiers as they are in the table."""

    after: tuple[Cell, ...] | None
    """The same as they are published; None if the row is left out."""

    others: tuple[str | None, ...]
    """The other columns that are published, as they are."""

    rows: int
    """How many rows of the table are like this."""


class ColumnSpread(NamedTuple):
    """How a column is spread, in the table and as a reader of the release sees it."""

    column: str
    labels: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def distance(self) -> float:
        """The share of people who would have to change their value to make both alike."""
        pairs = zip(self.before, self.after, strict=True)
        return sum(abs(one - other) for one, other in pairs) / 2


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    """A table and its release row by row, as only their owner can see them.

    Where a local method parts rows that are alike, which of them went where is drawn when they are
    published, and is drawn again here: the numbers are those of the release.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> table = pa.table({"age": [31, 31, 47], "ill": ["flu", "gout", "flu"]})
        >>> policy = sf.Policy(columns={"age": "quasi-identifier", "ill": "sensitive"},
        ...     models=[sf.models.KAnonymity(2)], suppression="50%")
        >>> found = BeforeAfter.of(table, sf.anonymize(table, policy))
        >>> [(row.before, row.after, row.others) for row in found.page(0, 2)]
        [(('31',), (Cell(text='31', change='same'),), ('flu',)), (('31',), \
(Cell(text='31', change='same'),), ('gout',))]
        >>> [row.before for row in found.page(0, 9, only="left out")]
        [('47',)]
    """

    quasi_identifiers: tuple[str, ...]
    others: tuple[str, ...]
    columns: dict[str, Column]
    """The raw values of each column."""

    codes: dict[str, CodeArray]
    """The raw value of each row."""

    labels: dict[str, tuple[Value, ...]]
    """What is published of each quasi-identifier."""

    label_codes: dict[str, CodeArray]
    """Which of that each row has; -1 where it is left out."""

    rows: IntArray
    stay: BoolArray
    in_order: bool
    """Whether the rows are those of the table, in its order; else they are its combinations."""

    dealt: bool
    """Whether rows that are alike part ways, and are dealt out here."""

    @classmethod
    def of(cls, data: object, release: Release) -> Self:
        """Return the rows of a table beside what became of them.

        Args:
            data: The table.
            release: What `sf.anonymize` made of it, in memory.
        """
        policy, recoding = release.policy, release.recoding
        if policy is None or recoding is None or isinstance(recoding, SolvedRecoding):
            raise InputError(
                "what became of each row is known only of a release that was just made in memory. "
                "Make it again, without an output."
            )
        subject = Subject.open(data, policy)
        table, published = subject.table, subject.columns
        known = policy.quasi_identifiers
        names = tuple(
            name
            for name in dict.fromkeys((*known, *published, *recoding.looked_at))
            if table.has_single_values(name)
        )
        columns, codes, rows, in_order = _read(table, names)
        raw = dict(zip(names, columns, strict=True))
        at = dict(zip(names, codes, strict=True))
        counts = _as_decided(raw, at, rows, recoding)
        entries = recode_entries(counts, recoding, recoding.looked_at, np.random.default_rng(0))
        local = isinstance(recoding, LocalRecoding)
        dealt = isinstance(recoding, LocalRecoding) and bool((np.diff(recoding.starts) > 1).any())
        if local and not in_order:
            # Combinations may be in several portions: each is a line of its own.
            order = np.argsort(entries.item, kind="stable")
            item = entries.item[order]
            gone = np.setdiff1d(np.arange(len(rows)), item)
            place = np.concatenate([item, gone])
            at = {name: mine[place] for name, mine in at.items()}
            stay = np.arange(len(place)) < len(item)
            rows = np.concatenate([entries.rows[order], rows[gone]])
            spread = np.arange(len(item)), order
        else:
            stay = np.zeros(len(rows), dtype=np.bool_)
            stay[entries.item] = True
            spread = entries.item, np.arange(len(entries.item))
        labels, label_codes = {}, {}
        for name in known:
            values, mine = entries.labels[name]
            found = np.full(len(rows), -1, dtype=np.int32)
            found[spread[0]] = mine[spread[1]]
            labels[name], label_codes[name] = values, found
        others = tuple(n for n in published if n not in known and n in raw)
        return cls(tuple(known), others, raw, at, labels, label_codes, rows, stay, in_order, dealt)

    @property
    def total(self) -> int:
        """The number of rows of the table."""
        return int(self.rows.sum())

    @property
    def left_out(self) -> int:
        """The number of rows that are not published."""
        return int(self.rows[~self.stay].sum())

    @cached_property
    def _changed(self) -> dict[str, BoolArray]:
        """Per quasi-identifier, whether each row has another text than before."""
        found = {}
        for name in self.quasi_identifiers:
            before = np.array(_texts(self.columns[name].values), dtype=object)
            after = np.array([*_texts(self.labels[name]), None], dtype=object)
            found[name] = after[self.label_codes[name]] != before[self.codes[name]]
        return found

    def changed_share(self, name: str) -> float:
        """Return the share of the published cells of a column that were generalised."""
        published = self.rows[self.stay].sum()
        return float(self.rows[self.stay & self._changed[name]].sum() / max(published, 1))

    def find(self, *, only: str = "", text: str = "") -> IntArray:
        """Return the lines to look at.

        Args:
            only: `changed`, `left out`, or nothing for all.
            text: What a cell must hold, before or after; nothing for any.
        """
        keep = np.ones(len(self.rows), dtype=np.bool_)
        if only == "left out":
            keep = ~self.stay
        elif only == "changed":
            keep = self.stay & np.any(list(self._changed.values()), axis=0)
        if text:
            keep &= self._holding(text.casefold())
        return np.flatnonzero(keep)

    def _holding(self, text: str) -> BoolArray:
        found = np.zeros(len(self.rows), dtype=np.bool_)
        for name in (*self.quasi_identifiers, *self.others):
            found |= _holds(self.columns[name].values, text)[self.codes[name]]
        for name in self.quasi_identifiers:
            found |= np.append(_holds(self.labels[name], text), False)[self.label_codes[name]]
        return found

    def page(self, first: int, most: int, *, only: str = "", text: str = "") -> list[Row]:
        """Return some lines, from one on; see `find`."""
        found = self.find(only=only, text=text)
        return [self._row(at) for at in found[first : first + most].tolist()]

    def _row(self, at: int) -> Row:
        before = tuple(
            text_or_none(self.columns[name].values[self.codes[name][at]])
            for name in self.quasi_identifiers
        )
        after = None
        if self.stay[at]:
            published = (
                text_or_none(self.labels[name][self.label_codes[name][at]])
                for name in self.quasi_identifiers
            )
            after = tuple(
                Cell(text, _change(was, text)) for was, text in zip(before, published, strict=True)
            )
        others = tuple(
            text_or_none(self.columns[name].values[self.codes[name][at]]) for name in self.others
        )
        return Row(before, after, others, int(self.rows[at]))

    def distribution(self, name: str) -> ColumnSpread:
        """Return how a column is spread before and after.

        Rows behind a label are taken to be spread evenly over the values that it stands for in
        the table, as a careful reader of the release would.
        """
        if name not in (*self.quasi_identifiers, *self.others):
            raise UnknownColumnError(name, [*self.quasi_identifiers, *self.others])
        values, codes = self.columns[name].values, self.codes[name]
        n = len(values)
        before = _add_up(codes, self.rows, n)
        if name in self.others:
            after = _add_up(codes[self.stay], self.rows[self.stay], n)
        else:
            after = self._spread(name, n)
        bars = _bars(values, before, after)
        return ColumnSpread(name, *bars)

    def _spread(self, name: str, n: int) -> FloatArray:
        codes, labels = self.codes[name][self.stay], self.label_codes[name][self.stay]
        rows = self.rows[self.stay]
        width = len(self.labels[name])
        behind = _add_up(labels, rows, width)
        pairs = np.unique(labels.astype(np.int64) * n + codes)
        label, value = pairs // n, pairs % n
        members = np.bincount(label, minlength=width)
        return _add_up(value, behind[label] / np.maximum(members[label], 1), n)


def _add_up(at: IntArray | CodeArray, rows: IntArray | FloatArray, n: int) -> FloatArray:
    return np.asarray(np.bincount(at, weights=rows, minlength=n), dtype=np.float64)


def _read(
    table: Table, names: Sequence[str]
) -> tuple[tuple[Column, ...], CodeArray, IntArray, bool]:
    """Return the rows in their order, or the combinations of a table that has no order."""
    try:
        columns, codes = OrderedRows.expect(table).read(names)
    except InputError:
        counts = table.count(names).project(names)
        return counts.columns, counts.codes, counts.rows, False
    return columns, codes, np.ones(codes.shape[1], dtype=np.int64), True


def _as_decided(
    raw: dict[str, Column],
    codes: dict[str, CodeArray],
    rows: IntArray,
    recoding: object,
) -> FrequencySet:
    """Return rows with the codes that the recoding knows them by."""
    decided = {each.column: each.values for each in getattr(recoding, "columns", ())}
    decided |= {each.name: each.values for each in getattr(recoding, "others", ())}
    columns, mine = [], []
    for name, values in decided.items():
        place = {text_or_none(value): i for i, value in enumerate(values)}
        lookup = np.array([place[text_or_none(v)] for v in raw[name].values], dtype=np.int32)
        columns.append(Column(name, values))
        mine.append(lookup[codes[name]])
    stacked = np.array(mine, dtype=np.int32).reshape(len(columns), len(rows))
    return FrequencySet(tuple(columns), stacked, rows)


def _texts(values: Sequence[Value]) -> list[str | None]:
    return [text_or_none(value) for value in values]


def _holds(values: Sequence[Value], text: str) -> BoolArray:
    return np.array([text in (text_or_none(v) or "").casefold() for v in values], dtype=np.bool_)


def _change(before: str | None, after: str | None) -> str:
    if before == after:
        return "same"
    return "hidden" if after is None or after == STAR else "general"


def _bars(
    values: Sequence[Value], before: FloatArray, after: FloatArray
) -> tuple[tuple[str, ...], tuple[float, ...], tuple[float, ...]]:
    """Return few bars for many values: numbers in ranges, of all else the most frequent."""
    one, other = before / max(before.sum(), 1), after / max(after.sum(), 1)
    numbers = [None if value is None else number_of(value) for value in values]
    known = [i for i, value in enumerate(values) if value is not None]
    if len(values) > _BARS and all(numbers[i] is not None for i in known):
        sizes = np.array([float(numbers[i] or 0) for i in known])
        edges = np.linspace(sizes.min(), sizes.max(), _RANGES + 1)
        bins = np.clip(np.searchsorted(edges, sizes, side="right") - 1, 0, _RANGES - 1)
        # Whole numbers where that tells the ranges apart.
        digits = 0 if edges[1] - edges[0] >= 2 else 2
        labels = [f"{edges[i]:.{digits}f} – {edges[i + 1]:.{digits}f}" for i in range(_RANGES)]
        one, other = (
            np.bincount(bins, weights=each[known], minlength=_RANGES) for each in (one, other)
        )
        return tuple(labels), tuple(one.tolist()), tuple(other.tolist())
    texts = ["(missing)" if value is None else str(text_or_none(value)) for value in values]
    if len(values) <= _BARS:
        return tuple(texts), tuple(one.tolist()), tuple(other.tolist())
    first = np.sort(np.argsort(-one, kind="stable")[: _BARS - 1])
    rest = np.setdiff1d(np.arange(len(values)), first)
    labels = [*(texts[i] for i in first.tolist()), f"{len(rest)} others"]
    return (
        tuple(labels),
        (*one[first].tolist(), float(one[rest].sum())),
        (*other[first].tolist(), float(other[rest].sum())),
    )
