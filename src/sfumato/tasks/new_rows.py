"""From tables of rows to what is asked of a ledger."""

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sfumato.engines import Table, open_table
from sfumato.errors import InputError, UnknownColumnError, some
from sfumato.ledger.asks import Ask, Kind
from sfumato.ledger.meta import Settings
from sfumato.ledger.placing import places_of
from sfumato.ledger.written import key_of, keys_of, shown_of
from sfumato.policy import Policy
from sfumato.text import number_of
from sfumato.typing import Value

Row = tuple[Value, ...]

OLD = "old_"
"""What the name of a column begins with that holds what was published, in corrections."""


@dataclass(eq=False)
class NewRows:
    """Rows that are given, counted, and generalised to the groups of a ledger."""

    db: sqlite3.Connection
    settings: Settings
    policy: Policy | None
    asks: Counter[Ask] = field(default_factory=Counter)
    shown: dict[tuple[int, str], str] = field(default_factory=dict)
    """How values are to be given back, by column and key."""

    def add(self, data: object, kind: Kind) -> None:
        """Count a table, and ask for each of its rows."""
        table = open_table(data)
        self._check(table.columns)
        rows, times = _rows(table, self.names)
        for (labels, row), n in zip(self._generalised(rows), times, strict=True):
            self.asks[Ask(kind, labels, row)] += n

    def correct(self, data: object) -> None:
        """Ask for rows to become others: `age` is what it should be, `old_age` what it was."""
        table = open_table(data)
        was = {f"{OLD}{name}": name for name in self.names}
        olds = {name: old for old, name in was.items() if old in table.columns}
        if not olds:
            raise InputError(
                f"the corrections name no old value. Give for every column that changes what was "
                f"published, as {OLD}{self.names[-1]}; columns are {some(table.columns, most=20)}."
            )
        self._check([name for name in table.columns if name not in was])
        rows, times = _rows(table, (*self.names, *olds.values()))
        width = len(self.names)
        place = {name: width + i for i, name in enumerate(olds)}
        before = [
            tuple(row[place.get(name, i)] for i, name in enumerate(self.names)) for row in rows
        ]
        pairs = zip(
            self._generalised(before), self._generalised([r[:width] for r in rows]), strict=True
        )
        for (old, new), n in zip(pairs, times, strict=True):
            if old != new:
                self.asks[Ask("correct", *old, *new)] += n

    @property
    def names(self) -> tuple[str, ...]:
        """The columns rows must have."""
        return (*self.settings.quasi_identifiers, *self.settings.sensitive)

    def _check(self, columns: Sequence[str]) -> None:
        for name in self.names:
            if name not in columns:
                raise UnknownColumnError(name, columns, where="the new rows")
        if self.policy is not None:
            self.policy.check_against(columns)
            return
        others = [name for name in columns if name not in self.names]
        if others:
            raise InputError(
                f"the rows have columns that the ledger does not: {some(others)}. Leave them out; "
                f"it has {some(self.names, most=20)}."
            )

    def _generalised(self, rows: Sequence[Row]) -> list[tuple[str, str]]:
        split = len(self.settings.quasi_identifiers)
        places = places_of(self.db, self.settings, self.policy, [row[:split] for row in rows])
        for column, values in enumerate(zip(*(row[split:] for row in rows), strict=True)):
            for value in set(values):
                self.shown.setdefault((column, key_of(value)), shown_of(value))
        return [(place, keys_of(row[split:])) for place, row in zip(places, rows, strict=True)]

    def as_published(self) -> dict[tuple[int, str], str]:
        """Write new values as those of the same column are: numbers where all are numbers."""
        columns = {column for column, _ in self.shown}
        numeric = {column for column in columns if self._numbers_only(column)}
        return {
            (column, key): _as_number(key) if column in numeric else shown
            for (column, key), shown in self.shown.items()
        }

    def _numbers_only(self, column: int) -> bool:
        found = self.db.execute(
            "SELECT shown FROM sensitive_values WHERE column = ? LIMIT 20", (column,)
        ).fetchall()
        values = [json.loads(shown) for [shown] in found]
        return bool(values) and all(isinstance(v, int | float) for v in values if v is not None)


def _as_number(key: str) -> str:
    text = json.loads(key)
    number = None if text is None else number_of(text)
    if number is None:
        return key
    return json.dumps(int(number) if number.is_integer() else number)


def _rows(table: Table, names: Sequence[str]) -> tuple[list[Row], list[int]]:
    """Count a table, and give its distinct rows and how many there are of each."""
    counts = table.count(names)
    columns = [
        [column.values[code] for code in codes.tolist()]
        for column, codes in zip(counts.columns, counts.codes, strict=True)
    ]
    return list(zip(*columns, strict=True)), counts.rows.tolist()
