"""Incremental Break-Merge as its source has it: rows are appended to published tables, one by one.

Each row is judged by how likely its own values are in the tables with it: the product of their
shares in its group. It is admitted if that is at most alpha. The source says it in two ways, which
differ (`ReadingName`): its Algorithm 3 as printed, and its definition of the breach probability of
an adversary who knows one value.

This bounds what the last tables tell about the values of the rows that come, and no more. Other
combinations may rise above alpha, and who compares the tables with earlier ones sees the newcomers
by themselves. `sfumato.ledger` bounds both.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from sfumato.counts import Column, group, sums
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import GroupedTables, SensitiveTable
from sfumato.decouplings.likelihood import (
    UNLIMITED,
    increment_ratio,
    likelihood,
    permitted_each,
    worst_with_a_value,
)
from sfumato.errors import InputError, ParameterError
from sfumato.showing.content import (
    Cell,
    Content,
    ContentTable,
    Sentence,
    Share,
    Showable,
    join_values,
)
from sfumato.text import in_order, percent, text_or_none
from sfumato.typing import CodeArray, IntArray, Value

ReadingName: TypeAlias = Literal["one-known", "printed"]
"""`one-known`: an adversary knows one sensitive value and guesses the others; every row has its
turn. `printed`: Algorithm 3 word by word, the product over all sensitive tables, and nothing is
admitted after the first refusal."""

READINGS: tuple[ReadingName, ...] = get_args(ReadingName)

Outcome: TypeAlias = Literal["admitted", "refused", "not reached", "new group"]
"""What became of a row. `not reached`: a row before it was refused, and the algorithm had ended.
`new group`: the tables have no such group, and a group is never published for one row."""

_Counts: TypeAlias = Sequence[tuple[int, int] | None]
"""Per sensitive column: how many rows of a group have a value, and how many a known one; None for
a value that is missing, which no adversary guesses."""


@dataclass(frozen=True)
class ShareReading:
    """Which shares are multiplied, and how large their product may be.

    Example:
        >>> counts = [(2, 5), (2, 5), (4, 5)]
        >>> half = Fraction(1, 2)
        >>> printed, known = ShareReading(half, "printed"), ShareReading(half, known=0)
        >>> [str(each.likelihood(counts)) for each in (printed, known, ShareReading(half))]
        ['16/125', '8/25', '8/25']
        >>> [each.count_permitted([counts]) for each in (printed, known)]
        [[6], [2]]
    """

    alpha: Fraction
    name: ReadingName = "one-known"
    known: int | None = None
    """The sensitive column the adversary knows; None: any one, whichever tells most."""

    def __post_init__(self) -> None:
        if self.name not in READINGS:
            raise ParameterError("reading", self.name, "one of " + ", ".join(READINGS))
        if self.known is not None and self.name == "printed":
            raise ParameterError(
                "known", self.known, "left out", why="as printed, all columns are multiplied"
            )

    def likelihood(self, counts: _Counts) -> Fraction:
        """Return how likely a combination is to the adversary who can tell most."""
        guessed = [pair for i, pair in enumerate(counts) if pair is not None and i != self.known]
        if self.name == "printed" or len(counts) == 1:
            guessed = [pair for pair in counts if pair is not None]
        elif self.known is None and len(guessed) > 1:
            # The adversary who knows the least likely value guesses the others best.
            least = guessed[0]
            for pair in guessed[1:]:
                # Where no value is known yet, the share is 0.
                if pair[0] * max(least[1], 1) < least[0] * max(pair[1], 1):
                    least = pair
            guessed.remove(least)
        if not guessed:
            return Fraction(0)
        return likelihood([n for n, _ in guessed], [of for _, of in guessed])

    def count_permitted(self, combinations: Sequence[_Counts]) -> list[int | None]:
        """Return how many further rows of each combination may come; None if there is no limit."""
        if not combinations:
            return []
        named = np.array([[pair is not None for pair in each] for each in combinations]).T
        # A share of 1/1 stays 1 and changes no product: that of a value which is not guessed.
        pairs = np.array([[pair or (1, 1) for pair in each] for each in combinations]).T
        found: IntArray = np.full(len(combinations), UNLIMITED)
        for known in self._may_be_known(len(named)):
            guessed = named.copy()
            if known is not None:
                guessed[known] = False
            rows, of = (np.where(guessed, each, 1) for each in pairs)
            limits = np.minimum(found, permitted_each(rows, of, self.alpha))
            found = np.where(guessed.any(axis=0), limits, found)
        # What is above alpha already takes none.
        return [None if n == UNLIMITED else max(n, 0) for n in found.tolist()]

    def _may_be_known(self, columns: int) -> Iterable[int | None]:
        """Return the columns of which the adversary may know the value; None: no column."""
        if self.name == "printed" or columns == 1:
            # With a single column nothing is left to guess for who knows it: its share counts.
            return [None]
        return range(columns) if self.known is None else [self.known]


class JudgedRow(NamedTuple):
    """A row that was given, and what became of it."""

    group: tuple[Value, ...]
    values: tuple[Value, ...]
    outcome: Outcome
    likelihood: Fraction | None
    """How likely its values are in the tables with it; None if the row was not judged."""


@dataclass(frozen=True)
class GrownCombination:
    """Values that rows came with, and how likely they are in their group before and after."""

    group: tuple[Value, ...]
    values: tuple[Value, ...]
    before: Fraction
    after: Fraction
    permitted: int | None
    """How many further rows may come with these values; None if there is no limit."""

    @property
    def ratio(self) -> Fraction | None:
        """By how much the likelihood rose, relative to what it was; None if that was 0."""
        return increment_ratio(self.before, self.after) if self.before else None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "group": [text_or_none(value) for value in self.group],
            "values": [text_or_none(value) for value in self.values],
            "before": str(self.before),
            "after": str(self.after),
            "ratio": None if self.ratio is None else str(self.ratio),
            "permitted": self.permitted,
        }


@dataclass(frozen=True)
class ToldNewcomers:
    """What most newcomers of a group have, as the difference of two releases shows it."""

    group: tuple[Value, ...]
    column: str
    value: Value
    people: int
    of: int
    """How many newcomers have a known value in the column."""

    @property
    def share(self) -> Fraction:
        """The belief of a reader of both releases, about a newcomer of the group."""
        return Fraction(self.people, self.of)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "group": [text_or_none(value) for value in self.group],
            "column": self.column,
            "value": text_or_none(self.value),
            "people": self.people,
            "of": self.of,
        }


@dataclass(frozen=True, eq=False)
class AppendedRows(Showable):
    """The tables with the rows that were admitted, and what became of every row."""

    tables: GroupedTables
    rows: tuple[JudgedRow, ...]
    """All rows, in the order they were given in. They are whole: not for publication."""

    combinations: tuple[GrownCombination, ...]
    """Each combination of values that rows of a published group have, once."""

    alpha: float
    reading: ReadingName
    known: str | None
    worst: Fraction
    """The largest breach probability of any combination in the groups that rows came to, if any
    one value is known. It may be above alpha."""

    @cached_property
    def admitted(self) -> tuple[JudgedRow, ...]:
        """The rows that are in the tables now."""
        return self._with("admitted")

    @cached_property
    def refused(self) -> tuple[JudgedRow, ...]:
        """The rows that would have been likelier than alpha."""
        return self._with("refused")

    @cached_property
    def not_reached(self) -> tuple[JudgedRow, ...]:
        """The rows after the first refusal, where the algorithm ends with it."""
        return self._with("not reached")

    @cached_property
    def waiting(self) -> tuple[JudgedRow, ...]:
        """The rows of groups that are not published; anonymise them by themselves."""
        return self._with("new group")

    def _with(self, outcome: Outcome) -> tuple[JudgedRow, ...]:
        return tuple(row for row in self.rows if row.outcome == outcome)

    @cached_property
    def told(self) -> tuple[ToldNewcomers, ...]:
        """The most frequent values of newcomers, which a reader of both releases learns."""
        by_group: dict[tuple[Value, ...], list[tuple[Value, ...]]] = {}
        for row in self.admitted:
            by_group.setdefault(row.group, []).append(row.values)
        found = []
        for group_of, rows in by_group.items():
            for name, values in zip(self.tables.names, zip(*rows, strict=True), strict=True):
                known = Counter(value for value in values if value is not None)
                if known:
                    value, n = known.most_common(1)[0]
                    found.append(ToldNewcomers(group_of, name, value, n, known.total()))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold, without whole rows."""
        return {
            "alpha": self.alpha,
            "reading": self.reading,
            "known": self.known,
            "admitted": len(self.admitted),
            "refused": len(self.refused),
            "not_reached": len(self.not_reached),
            "waiting": len(self.waiting),
            "worst": str(self.worst),
            "combinations": [each.to_dict() for each in self.combinations],
            "told": [each.to_dict() for each in self.told],
        }

    @property
    def headline(self) -> str:
        """The number of rows with each outcome."""
        more = [
            f", {len(rows)} {what}"
            for rows, what in (
                (self.not_reached, "not reached"),
                (self.waiting, "of groups that are not there"),
            )
            if rows
        ]
        return (
            f"{len(self.admitted)} of {len(self.rows)} rows admitted, {len(self.refused)} refused"
            f"{''.join(more)}; alpha {self.alpha:g}, reading {self.reading}"
        )

    def content(self) -> Content:
        """Return how likely each combination was and is, and how many rows it still takes."""
        rows: list[list[Cell]] = [
            [
                join_values(map(text_or_none, each.group)),
                join_values(map(text_or_none, each.values)),
                Share(each.before),
                Share(each.after),
                None if each.ratio is None else round(float(each.ratio), 3),
                "any number" if each.permitted is None else each.permitted,
            ]
            for each in self.combinations
        ]
        heads = ["group", "values", "before", "after", "increment ratio", "more rows"]
        several = len(self.tables.sensitive) > 1
        knows, guessed = (" and one value", "others") if several else ("", "value")
        told = (
            f"An adversary who knows the group{knows} guesses the {guessed} with up to "
            f"{percent(float(self.worst))}."
        )
        limit = (
            "This is about these tables alone: compared with earlier ones they show the newcomers "
            "by themselves. sf.Ledger bounds that too."
        )
        more = (self._told_table(),) if self.told else ()
        shown = ContentTable.of("", heads, rows)
        return Content(self.headline, (shown, Sentence(told), Sentence(limit), *more))

    def _told_table(self) -> ContentTable:
        rows: list[list[Cell]] = [
            [
                join_values(map(text_or_none, each.group)),
                f"{each.column}={text_or_none(each.value)}",
                each.people,
                each.of,
                Share(each.share),
            ]
            for each in sorted(self.told, key=lambda each: -each.share)
        ]
        heads = ["group", "most of its newcomers", "people", "of", "share"]
        return ContentTable.of("What both releases reveal together", heads, rows)

    def tables_content(self) -> Content:
        """Return the new sensitive tables, by the labels of their groups."""
        labels = self.labelled.labelled.tolist()
        tables = tuple(
            ContentTable.of(
                table.column.name,
                ["group", table.column.name, "count"],
                [
                    [labels[at], text_or_none(table.column.values[code]), n]
                    for at, code, n in zip(
                        table.group.tolist(), table.value.tolist(), table.rows.tolist(), strict=True
                    )
                ],
            )
            for table in self.tables.sensitive
        )
        return Content("The sensitive tables with the rows that were admitted", tables)

    @cached_property
    def labelled(self) -> GroupedTables:
        """The tables with the labels of their groups; numbers from 1 where they have none."""
        if self.tables.ids is not None:
            return self.tables
        return replace(self.tables, ids=np.arange(1, len(self.tables) + 1))

    def __repr__(self) -> str:
        return f"<AppendedRows: {self.headline}>"


def append_rows(
    grouped: GroupedTables,
    columns: Sequence[Column],
    codes: CodeArray,
    reading: ShareReading,
) -> AppendedRows:
    """Return the tables with those rows of an increment that may be appended.

    Args:
        grouped: The published tables.
        columns: The quasi-identifiers, then the sensitive columns, as the rows have them.
        codes: `codes[i, r]`: the value of row r in column i; the order of rows counts.
        reading: What is multiplied, and the limit.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> start = [("30s", "flu"), ("30s", "flu"), ("30s", "gout"), ("30s", "hiv")]
        >>> start = FrequencySet.from_rows(["age", "ill"], start)
        >>> columns = Column("age", ("30s",)), Column("ill", ("flu", "hiv"))
        >>> new = np.array([[0, 0, 0], [0, 1, 0]])
        >>> grouped = GroupedTables.of(start, ["age"], ["ill"])
        >>> done = append_rows(grouped, columns, new, ShareReading(Fraction(1, 2)))
        >>> [row.outcome for row in done.rows], done.tables.sizes.tolist()
        (['refused', 'admitted', 'admitted'], [6])
    """
    n = len(grouped.quasi_identifiers)
    places = _find_groups(grouped, columns[:n], codes[:n])
    merged = [
        _MergedColumn.of(table, column, code)
        for table, column, code in zip(grouped.sensitive, columns[n:], codes[n:], strict=True)
    ]
    judged = _judge(grouped, places, merged, reading)
    admitted = np.array([outcome == "admitted" for outcome, _ in judged], dtype=np.bool_)
    tables = replace(
        grouped,
        sizes=grouped.sizes + np.bincount(places[admitted], minlength=len(grouped)),
        sensitive=tuple(each.append(places, admitted, len(grouped)) for each in merged),
    )
    cells = (
        [column.values[value] for value in code.tolist()]
        for column, code in zip(columns, codes, strict=True)
    )
    rows = tuple(
        JudgedRow(row[:n], row[n:], *verdict)
        for row, verdict in zip(zip(*cells, strict=True), judged, strict=True)
    )
    known = None if reading.known is None else grouped.names[reading.known]
    return AppendedRows(
        tables,
        rows,
        _compare(grouped, tables, places, merged, reading),
        float(reading.alpha),
        reading.name,
        known,
        _worst(tables, np.unique(places[places >= 0])),
    )


def _find_groups(grouped: GroupedTables, columns: Sequence[Column], codes: CodeArray) -> IntArray:
    """Return the group of each row by its labels, however they are written; -1 if there is none."""
    published = _spell(grouped.quasi_identifiers, grouped.labels, len(grouped))
    by_labels = {labels: g for g, labels in enumerate(published)}
    if len(by_labels) < len(published):
        raise InputError(
            "several groups of this release have the same quasi-identifiers, as in the releases of "
            "a ledger: a row cannot be said to be of one of them. Publish it with that ledger: "
            "sf.Ledger."
        )
    distinct = group(list(codes), [len(column.values) for column in columns], n=codes.shape[1])
    wanted = _spell(columns, codes[:, distinct.first], distinct.n)
    place = np.array([by_labels.get(labels, -1) for labels in wanted], dtype=np.int64)
    return place[distinct.of_item]


def _spell(columns: Sequence[Column], codes: CodeArray, n: int) -> list[tuple[str | None, ...]]:
    """Return rows of codes as texts."""
    if not columns:
        return [()] * n
    texts = [[text_or_none(value) for value in column.values] for column in columns]
    spelled = ([text[c] for c in code.tolist()] for text, code in zip(texts, codes, strict=True))
    return list(zip(*spelled, strict=True))


@dataclass(frozen=True, eq=False)
class _MergedColumn:
    """A sensitive column with the values that are published, and those that rows come with."""

    table: SensitiveTable
    """What is published, in codes of all values."""

    value: CodeArray
    """The value of each row, likewise."""

    @classmethod
    def of(cls, table: SensitiveTable, column: Column, codes: CodeArray) -> "_MergedColumn":
        by_text = {text_or_none(value): value for value in table.column.values}
        as_text = all(isinstance(value, str) for value in table.column.known)
        for value in column.values:
            text = text_or_none(value)
            by_text.setdefault(text, text if as_text else value)
        values = in_order(by_text.values())
        place = {text_or_none(value): code for code, value in enumerate(values)}

        def recode(old: Column) -> CodeArray:
            return np.array([place[text_or_none(v)] for v in old.values], dtype=np.int32)

        # Values keep their order when others come between them, so entries stay sorted.
        published = SensitiveTable(
            Column(table.column.name, tuple(values)),
            table.group,
            recode(table.column)[table.value],
            table.rows,
        )
        return cls(published, recode(column)[codes])

    def append(self, places: IntArray, admitted: np.ndarray, n_groups: int) -> SensitiveTable:
        """Return the table with the rows that were admitted; values that no row has are left."""
        groups = np.concatenate([self.table.group, places[admitted]])
        values = np.concatenate([self.table.value, self.value[admitted]])
        rows = np.concatenate([self.table.rows, np.ones(int(admitted.sum()), dtype=np.int64)])
        cells = group([groups, values], [n_groups, len(self.table.column.values)])
        added = sums(cells.of_item, rows, cells.n)
        return SensitiveTable(self.table.column, groups[cells.first], values[cells.first], added)


class _Counting:
    """How many rows of each group have each value, while rows are appended."""

    def __init__(self, tables: Sequence[SensitiveTable], n_groups: int) -> None:
        self._missing = [table.column.missing for table in tables]
        self._rows = [
            dict(
                zip(
                    zip(table.group.tolist(), table.value.tolist(), strict=True),
                    table.rows.tolist(),
                    strict=True,
                )
            )
            for table in tables
        ]
        self._known = [table.totals(n_groups).tolist() for table in tables]

    def counts(self, place: int, values: Sequence[int], more: int = 0) -> _Counts:
        """Return the counts of a combination, with some more rows that have it."""
        return [
            None if code == missing else (rows.get((place, code), 0) + more, known[place] + more)
            for code, missing, rows, known in zip(
                values, self._missing, self._rows, self._known, strict=True
            )
        ]

    def add(self, place: int, values: Sequence[int]) -> None:
        """Count one row more."""
        for code, missing, rows, known in zip(
            values, self._missing, self._rows, self._known, strict=True
        ):
            rows[place, code] = rows.get((place, code), 0) + 1
            known[place] += code != missing


def _judge(
    grouped: GroupedTables,
    places: IntArray,
    merged: Sequence[_MergedColumn],
    reading: ShareReading,
) -> list[tuple[Outcome, Fraction | None]]:
    """Return what becomes of each row, in their order: each depends on those before it."""
    counting = _Counting([each.table for each in merged], len(grouped))
    values = zip(*(each.value.tolist() for each in merged), strict=True)
    judged: list[tuple[Outcome, Fraction | None]] = []
    ended = False
    for place, row in zip(places.tolist(), values, strict=True):
        if place < 0:
            judged.append(("new group", None))
            continue
        if ended:
            judged.append(("not reached", None))
            continue
        probability = reading.likelihood(counting.counts(place, row, 1))
        if probability <= reading.alpha:
            counting.add(place, row)
            judged.append(("admitted", probability))
        else:
            ended = reading.name == "printed"
            judged.append(("refused", probability))
    return judged


def _compare(
    before: GroupedTables,
    after: GroupedTables,
    places: IntArray,
    merged: Sequence[_MergedColumn],
    reading: ShareReading,
) -> tuple[GrownCombination, ...]:
    """Return how likely each combination of the rows was and is, in the order they came in."""
    was = _Counting([each.table for each in merged], len(before))
    now = _Counting(after.sensitive, len(after))
    columns = [each.table.column for each in merged]
    codes = zip(places.tolist(), *(each.value.tolist() for each in merged), strict=True)
    offered = [(place, row) for place, *row in dict.fromkeys(codes) if place >= 0]
    counts = [now.counts(place, row) for place, row in offered]
    return tuple(
        GrownCombination(
            tuple(value for _, value in before.group_at(place)),
            tuple(column.values[code] for column, code in zip(columns, row, strict=True)),
            reading.likelihood(was.counts(place, row)),
            reading.likelihood(pairs),
            permitted,
        )
        for (place, row), pairs, permitted in zip(
            offered, counts, reading.count_permitted(counts), strict=True
        )
    )


def _worst(tables: GroupedTables, places: IntArray) -> Fraction:
    """Return the largest breach probability in some groups, if any one value is known."""
    largest = np.array([table.largest(len(tables))[places] for table in tables.sensitive])
    known = np.array([table.totals(len(tables))[places] for table in tables.sensitive])
    return worst_with_a_value(largest, known)
