"""Published cells as an analyst reads them: a number, several, a category, or nothing."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sfumato.counts import Column
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import LinkedTables
from sfumato.hierarchy import Ladder
from sfumato.hierarchy.labels import LabelReader, Labels, RawLabels, stretch_of
from sfumato.text import STAR, number_of, text_of
from sfumato.typing import CodeArray, FloatArray, IntArray, Value
from sfumato.usefulness.estimators import EstimatedTable, Facet


def is_number_column(column: Column) -> bool:
    """Return whether all known values are numbers; there must be some.

    >>> [is_number_column(Column("x", v)) for v in ((31, "40", None), ("f", 3), (None,))]
    [True, False, False]
    """
    return bool(column.known) and not bool(np.isnan(numbers_of(column.known)).any())


def numbers_of(values: Sequence[Value]) -> FloatArray:
    """Return values as numbers; NaN for what is none.

    >>> numbers_of((31, "40.5", None, "flu")).tolist()
    [31.0, 40.5, nan, nan]
    """
    if set(map(type, values)) <= {int, float}:
        # As they are: a column of measurements has about as many values as rows.
        found = np.array(values, dtype=np.float64)
        return np.where(np.isfinite(found), found, np.nan)
    read = [number_of(value) for value in values]
    return np.array([np.nan if number is None else number for number in read], dtype=np.float64)


def why_not_computed(column: Column, ladder: Ladder | None = None) -> str:
    """Return why nothing is computed with numbers: they are rather codes; nothing if it is.

    >>> why_not_computed(Column("zip", ("02139", "13053")))
    'it is written with leading zeros, like a code'
    >>> why_not_computed(Column("age", (0, 31)))
    ''
    """
    if np.abs(numbers_of(column.known)).max(initial=0.0) > _LARGEST:
        return "its numbers are too large to be squared"
    for value in column.known:
        if isinstance(value, str):
            digits = value.strip().lstrip("+-")
            if digits[:1] == "0" and digits[1:2].isdigit():
                return "it is written with leading zeros, like a code"
    labels = [] if ladder is None else [each for some in ladder.labels[1:-1] for each in some]
    if any(label is not None and STAR in text_of(label) for label in labels):
        return "its hierarchy masks digits, as of a code"
    return ""


_LARGEST = 1e140


class _Reading(NamedTuple):
    """The values that each label of a column may stand for, label after label."""

    label: IntArray
    value: FloatArray
    """A number, or the code of a category. A label that has none says nothing."""

    n: int
    """The number of labels."""

    unread: tuple[str, ...]
    """Labels that say something which cannot be read."""

    def facet(self, name: str, kinds: IntArray | CodeArray, domain: FloatArray) -> Facet:
        """Return how likely each value of a domain is in each entry; the last is no value."""
        spoken = np.zeros(self.n, dtype=bool)
        spoken[self.label] = True
        silent = np.flatnonzero(~spoken)
        kind = np.concatenate([self.label, silent])
        at = np.searchsorted(domain, self.value)
        value = np.concatenate([at, np.full(len(silent), len(domain))])
        column = Column(name, (*domain.tolist(), None))
        return Facet(column, kinds, kind, value, np.ones(len(kind)), self.n)


def _read_numbers(raw: Column, shown: Column, labels: Labels) -> _Reading:
    """Read labels as numbers.

    A number is itself, also one that the original does not have. Other labels are as likely each
    of the raw values they cover; a range that covers none is its middle. A star, and a missing
    value, say nothing.
    """
    ladder, level = labels.ladders.get(raw.name), labels.levels.get(raw.name)
    # At a level above the raw values a number may be the name of several.
    names: set[str] = set()
    if ladder is not None and level and level <= ladder.height:
        names = {text_of(label) for label in ladder.labels[level] if label is not None}
    numbers = numbers_of(shown.values)
    if names:
        named = [value is not None and text_of(value) in names for value in shown.values]
        numbers[np.array(named, dtype=bool)] = np.nan
    points = np.flatnonzero(~np.isnan(numbers))
    label, found = [points], [numbers[points]]
    others = [
        at
        for at in np.flatnonzero(np.isnan(numbers)).tolist()
        if shown.values[at] is not None and text_of(shown.values[at]) != STAR
    ]
    unread = []
    if others:
        reader = LabelReader(raw, ladder, level)
        known = numbers_of(raw.known)
        for at in others:
            codes = reader.possible(shown.values[at])
            covered = known[codes[codes < len(known)]]
            if not len(covered):
                covered = _middle(text_of(shown.values[at]))
            if not len(covered):
                unread.append(text_of(shown.values[at]))
            label.append(np.full(len(covered), at))
            found.append(covered)
    return _Reading(np.concatenate(label), np.concatenate(found), len(shown.values), tuple(unread))


def _middle(label: str) -> FloatArray:
    stretch = stretch_of(label, number_of)
    if stretch is None or not (math.isfinite(stretch.low) and math.isfinite(stretch.high)):
        return np.empty(0)
    return np.array([(stretch.begin + stretch.high) / 2])


def _read_categories(raw: Column, shown: Column, labels: Labels) -> _Reading:
    """Read labels as codes of categories; each that a label covers is as likely."""
    reader = LabelReader(raw, labels.ladders.get(raw.name), labels.levels.get(raw.name))
    exact = {text_of(value): code for code, value in enumerate(raw.known)}
    covered, unread = [], []
    for value in shown.values:
        codes = np.empty(0, dtype=np.int64)
        if value is not None and isinstance(labels, RawLabels):
            codes = np.array([exact[text_of(value)]])
        elif value is not None and text_of(value) != STAR:
            codes = reader.possible(value)
            codes = codes[codes < len(raw.known)]
            if not len(codes):
                unread.append(text_of(value))
        covered.append(codes)
    label = np.repeat(np.arange(len(covered)), [len(codes) for codes in covered])
    values = np.concatenate([np.empty(0), *covered]).astype(np.float64)
    return _Reading(label, values, len(covered), tuple(unread))


@dataclass(frozen=True, eq=False)
class AnalystCells:
    """The cells of a table, or of the tables of a release, as an analyst reads them.

    A number is itself. A range or another label is as likely each of the raw values it covers,
    whatever the row's other cells are. A hidden cell, and a missing one, say nothing: an analyst
    leaves them out.

    Args:
        tables: The published tables.
        raw: The columns of the original.
        numbers: Which of them hold numbers; all others are categories.
        labels: The hierarchies and levels that labels come from, as far as they are known.
        weights: How many people each entry of the only table stands for, if rows have a weight.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> raw, shown = Column("age", (31, 32, 39)), [("31 to 32",), ("*",), (39.5,)]
        >>> shown = LinkedTables((FrequencySet.from_rows(["age"], shown),))
        >>> cells = AnalystCells(shown, (raw,), frozenset(["age"]), Labels())
        >>> cells.domain("age").tolist()
        [31.0, 32.0, 39.5]
        >>> [facet] = [piece.facets["age"] for piece in cells.pieces]
        >>> facet.spread(np.ones(3)).tolist()  # the last is no value
        [0.5, 0.5, 1.0, 1.0]
    """

    tables: LinkedTables
    raw: tuple[Column, ...]
    numbers: frozenset[str]
    labels: Labels
    weights: FloatArray | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the original."""
        return tuple(column.name for column in self.raw)

    @property
    def published(self) -> frozenset[str]:
        """The columns that some table has."""
        return frozenset(name for table in self.tables.tables for name in table.names)

    def apart(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the pairs of published columns that no table has both of."""
        for pair in combinations([name for name in names if name in self.published], 2):
            if not any({*pair} <= {*table.names} for table in self.tables.tables):
                yield pair

    @cached_property
    def _readings(self) -> Mapping[tuple[int, str], _Reading]:
        found = {}
        for at, table in enumerate(self.tables.tables):
            for raw in self.raw:
                if raw.name in table.names:
                    read = _read_numbers if raw.name in self.numbers else _read_categories
                    found[at, raw.name] = read(raw, table.column(raw.name), self.labels)
        return found

    @property
    def unread(self) -> Mapping[str, tuple[str, ...]]:
        """The labels that cannot be read, by column; they are taken for hidden."""
        return {name: each.unread for (_, name), each in self._readings.items() if each.unread}

    def domain(self, name: str) -> FloatArray:
        """Return the numbers that cells may stand for in order, or the codes of the categories."""
        return self._domains[name]

    @cached_property
    def _domains(self) -> Mapping[str, FloatArray]:
        found = {}
        for raw in self.raw:
            values = [each.value for (_, of), each in self._readings.items() if of == raw.name]
            found[raw.name] = np.unique(np.concatenate([np.empty(0), *values]))
            if raw.name not in self.numbers:
                found[raw.name] = np.arange(len(raw.known), dtype=np.float64)
        return found

    @cached_property
    def pieces(self) -> list[EstimatedTable]:
        """The tables, with the chances of each value of the domain in each entry."""
        return self.pieces_over(self._domains)

    def pieces_over(self, domains: Mapping[str, FloatArray]) -> list[EstimatedTable]:
        """Return the tables, with the chances of each value of other domains in each entry.

        Args:
            domains: The values by column in order, at least all of its own.
        """
        found = []
        tables = zip(self.tables.tables, self.tables.groups, self.tables.people, strict=True)
        for at, (table, group, people) in enumerate(tables):
            facets = {
                name: self._readings[at, name].facet(name, table.codes_of(name), domains[name])
                for name in self.names
                if (at, name) in self._readings
            }
            found.append(
                EstimatedTable(group, people if self.weights is None else self.weights, facets)
            )
        return found
