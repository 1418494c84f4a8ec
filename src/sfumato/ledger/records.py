"""Groups and counts in a ledger: reading those that are needed, and writing what changed."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from sfumato.counts import Column
from sfumato.decouplings.base import GroupedTables, SensitiveTable, random_labels
from sfumato.errors import UnknownNameError
from sfumato.ledger.admission import Tally
from sfumato.ledger.store import Settings, key_of, keys_of, shown_of
from sfumato.likelihood import likelihood_with_a_value
from sfumato.text import in_order, text_or_none
from sfumato.typing import Value


class GroupRecord(NamedTuple):
    """A group that is in the ledger."""

    id: int
    label: int
    """What it is called in the published tables."""

    rows: int


@dataclass(eq=False)
class GroupState:
    """A group with its counts, and a code for each value that is or may come to be in it."""

    key: str
    record: GroupRecord | None
    codes: tuple[dict[str, int], ...]
    rows: tuple[list[int], ...]

    def code(self, column: int, value: str) -> int:
        """Return a value's code; one that is new in the group gets the next."""
        known = self.codes[column]
        if value not in known:
            known[value] = len(known)
            self.rows[column].append(0)
        return known[value]

    def tally(self) -> Tally:
        """Return the counts as they are published now."""
        counts = tuple(np.array(rows, dtype=np.int64) for rows in self.rows)
        return Tally(0 if self.record is None else self.record.rows, counts)


def group_states(
    db: sqlite3.Connection, keys: Iterable[str], n_columns: int
) -> dict[str, GroupState]:
    """Read some groups by their labels; those that do not exist are empty."""
    wanted = list(dict.fromkeys(keys))
    found = {
        key: GroupState(
            key, None, tuple({} for _ in range(n_columns)), tuple([] for _ in range(n_columns))
        )
        for key in wanted
    }
    by_id = {}
    for labels, *record in db.execute(
        "SELECT labels, id, label, rows FROM groups WHERE labels IN "
        "(SELECT value FROM json_each(?))",
        (json.dumps(wanted),),
    ):
        found[labels].record = GroupRecord(*record)
        by_id[record[0]] = found[labels]
    for group, column, value, rows in db.execute(
        "SELECT c.group_id, v.column, v.value, c.rows FROM json_each(?) j CROSS JOIN counts c ON "
        "c.group_id = j.value CROSS JOIN sensitive_values v ON v.id = c.value_id "
        "ORDER BY c.group_id, v.id",
        (json.dumps(list(by_id)),),
    ):
        state = by_id[group]
        state.rows[column][state.code(column, value)] = rows
    return found


@dataclass(frozen=True)
class Change:
    """What a release does to one group."""

    state: GroupState
    before: Tally
    now: Tally
    newcomers: Tally
    """The rows that join, by themselves."""

    leavers: Tally


def write_changes(
    db: sqlite3.Connection,
    sequence: int,
    changes: Iterable[Change],
    shown: Mapping[tuple[int, str], str],
    rng: np.random.Generator,
) -> None:
    """Add a release's changes to the counts.

    Args:
        db: The ledger.
        sequence: The number of the release.
        changes: One per group that changes.
        shown: How values that may be new are given back.
        rng: Draws what new groups are called.
    """
    ids = _ValueIds(db, shown)
    moved: list[tuple[int, int, int, int]] = []
    counts: list[tuple[int, int, int]] = []
    for change in changes:
        group = change.state.record or _new_group(db, change.state.key, rng)
        db.execute(
            "UPDATE groups SET rows = rows + ? WHERE id = ?",
            (change.now.size - change.before.size, group.id),
        )
        db.execute(
            "INSERT INTO moves VALUES (?, ?, ?, ?)",
            (sequence, group.id, change.newcomers.size, change.leavers.size),
        )
        for column, codes in enumerate(change.state.codes):
            before, after = (tally.counts[column].tolist() for tally in (change.before, change.now))
            for value, code in codes.items():
                if before[code] != after[code]:
                    value_id = ids.of(column, value)
                    moved.append((sequence, group.id, value_id, after[code] - before[code]))
                    counts.append((group.id, value_id, after[code]))
    db.executemany("INSERT INTO changes VALUES (?, ?, ?, ?)", moved)
    db.executemany("INSERT OR REPLACE INTO counts VALUES (?, ?, ?)", (c for c in counts if c[2]))
    db.executemany(
        "DELETE FROM counts WHERE group_id = ? AND value_id = ?",
        (c[:2] for c in counts if not c[2]),
    )


@dataclass(eq=False)
class _ValueIds:
    db: sqlite3.Connection
    shown: Mapping[tuple[int, str], str]
    known: dict[tuple[int, str], int] = field(default_factory=dict)

    def of(self, column: int, value: str) -> int:
        if (column, value) not in self.known:
            self.db.execute(
                "INSERT OR IGNORE INTO sensitive_values (column, value, shown) VALUES (?, ?, ?)",
                (column, value, self.shown.get((column, value), value)),
            )
            [found] = self.db.execute(
                "SELECT id FROM sensitive_values WHERE column = ? AND value = ?", (column, value)
            ).fetchone()
            self.known[column, value] = found
        return self.known[column, value]


def _new_group(db: sqlite3.Connection, key: str, rng: np.random.Generator) -> GroupRecord:
    [longest] = db.execute("SELECT COALESCE(MAX(label), 100000) FROM groups").fetchone()
    digits = max(6, len(str(longest)))
    while True:
        label = int(rng.integers(10 ** (digits - 1), 10**digits))
        if not db.execute("SELECT 1 FROM groups WHERE label = ?", (label,)).fetchone():
            return insert_group(db, key, label)


def insert_group(db: sqlite3.Connection, key: str, label: int) -> GroupRecord:
    """Add an empty group."""
    cursor = db.execute("INSERT INTO groups (label, labels, rows) VALUES (?, ?, 0)", (label, key))
    for column, text in enumerate(json.loads(key)):
        db.execute(
            "INSERT OR IGNORE INTO labels VALUES (?, ?)",
            (column, json.dumps(text, ensure_ascii=False)),
        )
    return GroupRecord(int(cursor.lastrowid or 0), label, 0)


def current(db: sqlite3.Connection, settings: Settings) -> GroupedTables:
    """Read all groups and counts as they are published now."""
    sizes = db.execute("SELECT id, label, labels, rows FROM groups WHERE rows > 0").fetchall()
    counts = db.execute(
        "SELECT c.group_id, v.column, v.shown, c.rows FROM counts c "
        "JOIN sensitive_values v ON v.id = c.value_id"
    ).fetchall()
    return grouped_from(settings, sizes, counts)


def newcomers(db: sqlite3.Connection, settings: Settings, sequence: int) -> GroupedTables:
    """Read the tables of the rows that a release added; it must not have removed any."""
    sizes = db.execute(
        "SELECT g.id, g.label, g.labels, m.joined FROM moves m JOIN groups g ON g.id = m.group_id "
        "WHERE m.sequence = ? AND m.joined > 0",
        (sequence,),
    ).fetchall()
    counts = db.execute(
        "SELECT c.group_id, v.column, v.shown, c.rows FROM changes c "
        "JOIN sensitive_values v ON v.id = c.value_id WHERE c.sequence = ?",
        (sequence,),
    ).fetchall()
    return grouped_from(settings, sizes, counts)


def grouped_from(
    settings: Settings,
    sizes: list[tuple[int, int, str, int]],
    counts: list[tuple[int, int, str, int]],
) -> GroupedTables:
    """Make tables of groups (id, label, labels, rows) and counts (group, column, value, rows)."""
    labels = [json.loads(key) for _, _, key, _ in sizes]
    dictionaries = [
        in_order({row[q] for row in labels}) for q in range(len(settings.quasi_identifiers))
    ]
    ranks = [{value: i for i, value in enumerate(values)} for values in dictionaries]
    codes = [[rank[row[q]] for row in labels] for q, rank in enumerate(ranks)]
    # Groups in the order of their labels, as a counted table has them.
    order = sorted(range(len(sizes)), key=lambda g: [code[g] for code in codes])
    place = {sizes[g][0]: i for i, g in enumerate(order)}
    columns = tuple(
        Column(name, tuple(values))
        for name, values in zip(settings.quasi_identifiers, dictionaries, strict=True)
    )
    return GroupedTables(
        columns,
        np.array([[code[g] for g in order] for code in codes], dtype=np.int32).reshape(
            len(columns), len(order)
        ),
        np.array([sizes[g][3] for g in order], dtype=np.int64),
        tuple(
            _table(name, [(place[g], json.loads(v), n) for g, c, v, n in counts if c == i])
            for i, name in enumerate(settings.sensitive)
        ),
        ids=np.array([sizes[g][1] for g in order], dtype=np.int64),
    )


def _table(name: str, entries: list[tuple[int, Value, int]]) -> SensitiveTable:
    values = in_order({value for _, value, _ in entries})
    rank = {value: i for i, value in enumerate(values)}
    ordered = sorted((group, rank[value], rows) for group, value, rows in entries)
    group, value, rows = np.array(ordered, dtype=np.int64).reshape(-1, 3).T
    return SensitiveTable(Column(name, tuple(values)), group, value.astype(np.int32), rows)


# History: the releases of a ledger, and its tables as they were.


def entries(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Read all entries, the first release first, each with its hash."""
    return [
        {**json.loads(text), "hash": hashed}
        for text, hashed in db.execute("SELECT entry, hash FROM releases ORDER BY sequence")
    ]


def at(db: sqlite3.Connection, settings: Settings, sequence: int) -> GroupedTables:
    """Read all tables as they were after a release."""
    known = [int(n) for [n] in db.execute("SELECT sequence FROM releases ORDER BY sequence")]
    if sequence not in known:
        raise UnknownNameError("release", str(sequence), map(str, known), where="the ledger")
    sizes = db.execute(
        "SELECT g.id, g.label, g.labels, SUM(m.joined - m.left_it) AS n FROM moves m "
        "JOIN groups g ON g.id = m.group_id WHERE m.sequence <= ? GROUP BY g.id HAVING n > 0",
        (sequence,),
    ).fetchall()
    counts = db.execute(
        "SELECT c.group_id, v.column, v.shown, SUM(c.rows) AS n FROM changes c "
        "JOIN sensitive_values v ON v.id = c.value_id WHERE c.sequence <= ? "
        "GROUP BY c.group_id, v.id HAVING n > 0",
        (sequence,),
    ).fetchall()
    return grouped_from(settings, sizes, counts)


def states(db: sqlite3.Connection, settings: Settings) -> Iterator[GroupState]:
    """Yield all groups that have rows, with their counts."""
    keys = [key for [key] in db.execute("SELECT labels FROM groups WHERE rows > 0 ORDER BY id")]
    yield from group_states(db, keys, len(settings.sensitive)).values()


def last_change(db: sqlite3.Connection, group: int) -> tuple[int, dict[tuple[int, str], int]]:
    """Return how a group's size and counts changed in the last release that changed it."""
    found = db.execute(
        "SELECT sequence, joined - left_it FROM moves WHERE group_id = ? AND sequence > 1 "
        "ORDER BY sequence DESC LIMIT 1",
        (group,),
    ).fetchone()
    if found is None:
        return 0, {}
    rows = db.execute(
        "SELECT v.column, v.value, c.rows FROM changes c JOIN sensitive_values v ON "
        "v.id = c.value_id WHERE c.sequence = ? AND c.group_id = ?",
        (found[0], group),
    )
    return int(found[1]), {(column, value): n for column, value, n in rows}


# The first entry of a ledger: the tables of a decoupled release.


def start_tables(db: sqlite3.Connection, grouped: GroupedTables, rng: np.random.Generator) -> None:
    """Write groups and counts into an empty ledger, as release 1."""
    ids = grouped.ids if grouped.ids is not None else random_labels(len(grouped), rng)
    numbers = [
        insert_group(db, keys_of(value for _, value in grouped.group_at(g)), label).id
        for g, label in enumerate(ids.tolist())
    ]
    sizes = grouped.sizes.tolist()
    db.executemany("UPDATE groups SET rows = ? WHERE id = ?", zip(sizes, numbers, strict=True))
    db.executemany("INSERT INTO moves VALUES (1, ?, ?, 0)", zip(numbers, sizes, strict=True))
    for column, table in enumerate(grouped.sensitive):
        values = []
        for value in table.column.values:
            cursor = db.execute(
                "INSERT INTO sensitive_values (column, value, shown) VALUES (?, ?, ?)",
                (column, key_of(value), shown_of(value)),
            )
            values.append(cursor.lastrowid)
        entries = [
            (numbers[group], values[value], rows)
            for group, value, rows in zip(
                table.group.tolist(), table.value.tolist(), table.rows.tolist(), strict=True
            )
        ]
        db.executemany("INSERT INTO counts VALUES (?, ?, ?)", entries)
        db.executemany("INSERT INTO changes VALUES (1, ?, ?, ?)", entries)


def groups_above(
    grouped: GroupedTables, limit: Fraction
) -> Iterator[tuple[tuple[str | None, ...], Fraction]]:
    """Yield the groups that tell more than the limit, and how much."""
    largest = np.array([table.largest(len(grouped)) for table in grouped.sensitive])
    known = np.array([table.totals(len(grouped)) for table in grouped.sensitive])
    for g in range(len(grouped)):
        worst = likelihood_with_a_value(largest[:, g].tolist(), known[:, g].tolist())
        if worst > limit:
            yield tuple(text_or_none(value) for _, value in grouped.group_at(g)), worst
