"""Cells and counts in a ledger: reading those that are needed, and writing what changed."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from sfumato.counts import Column
from sfumato.decouplings.base import GroupedTables, SensitiveTable, random_labels
from sfumato.errors import UnknownNameError
from sfumato.ledger.admission import MISSING, Part
from sfumato.ledger.corrections import Memory, kernel_of
from sfumato.ledger.store import MOST_ROWS, Settings, key_of, shown_of, split_keys
from sfumato.policy import Policy
from sfumato.text import fold_spelling, in_order, text_or_none
from sfumato.typing import BoolArray, FloatArray, IntArray, Value


class CellRecord(NamedTuple):
    """A cell that is in the ledger: the people who joined a group in one release."""

    id: int
    label: int
    """What it is called in the published tables."""

    labels: str
    """The key of its group."""

    born: int
    parent: int | None
    """The cell that its people were in before they moved; None if they joined."""

    rows: int


@dataclass(eq=False)
class Codes:
    """A code for each value of each sensitive column; the first is a missing value's."""

    columns: tuple[dict[str, int], ...]
    harmless: "Harmless"

    @classmethod
    def of(cls, harmless: "Harmless") -> "Codes":
        """Return the codes of no value but the missing one."""
        return cls(tuple({key_of(None): MISSING} for _ in harmless.values), harmless)

    def code(self, column: int, value: str) -> int:
        """Return a value's code; one that is new gets the next."""
        known = self.columns[column]
        return known.setdefault(value, len(known))

    def encode(self, row: str) -> tuple[int, ...]:
        """Return the codes of a row's values."""
        return tuple(self.code(column, key) for column, key in enumerate(split_keys(row)))

    def widen(self, part: Part) -> Part:
        """Return a part with room for all codes there are."""
        counts = tuple(
            np.pad(count, (0, len(codes) - len(count)))
            for count, codes in zip(part.counts, self.columns, strict=True)
        )
        return Part(part.size, counts, self.mask())

    def empty(self) -> Part:
        """Return a part without people."""
        counts = tuple(np.zeros(len(codes), dtype=np.int64) for codes in self.columns)
        return Part(0, counts, self.mask())

    def mask(self) -> tuple[BoolArray, ...] | None:
        """Return of each column and code whether the value is harmless; None if none is."""
        if not any(self.harmless.values):
            return None
        return tuple(
            np.array([self.harmless.has(column, value) for value in codes], dtype=bool)
            for column, codes in enumerate(self.columns)
        )


@dataclass(frozen=True)
class Harmless:
    """The values that a policy calls harmless: to be known to have one hurts no person."""

    values: tuple[frozenset[str], ...]
    """Per sensitive column, as they are spelt there or folded."""

    folded: tuple[bool, ...]

    @classmethod
    def of(cls, policy: Policy | None, sensitive: Sequence[str]) -> "Harmless":
        """Read them from a policy."""
        rules = {} if policy is None else policy.columns
        exact = () if policy is None else policy.exact
        found = [rules[name].harmless if name in rules else () for name in sensitive]
        folded = tuple(name not in exact for name in sensitive)
        return cls(
            tuple(
                frozenset(map(fold_spelling, each) if fold else each)
                for each, fold in zip(found, folded, strict=True)
            ),
            folded,
        )

    def has(self, column: int, key: str) -> bool:
        """Return whether a value, given as a key, is harmless."""
        text = json.loads(key) if self.values[column] else None
        if text is None:
            return False
        return (fold_spelling(text) if self.folded[column] else text) in self.values[column]


@dataclass(eq=False)
class CellState:
    """A cell with its counts, and a code for each value that is or may come to be in it."""

    record: CellRecord
    codes: Codes
    rows: tuple[dict[int, int], ...]
    """By column and code, how many rows have a value now."""

    def part(self) -> Part:
        """Return the people who are in it now."""
        counts = tuple(
            np.array([rows.get(code, 0) for code in codes.values()], dtype=np.int64)
            for codes, rows in zip(self.codes.columns, self.rows, strict=True)
        )
        return Part(self.record.rows, counts, self.codes.mask())


def cell_states(
    db: sqlite3.Connection, keys: Iterable[str], ids: Iterable[int], harmless: Harmless
) -> list[CellState]:
    """Read the cells of some groups and some others by number; empty ones are left out."""
    found = {
        record[0]: CellState(
            CellRecord(*record), Codes.of(harmless), tuple({} for _ in harmless.values)
        )
        for record in db.execute(
            "SELECT id, label, labels, born, parent, rows FROM cells WHERE rows > 0 AND (labels IN "
            "(SELECT value FROM json_each(?)) OR id IN (SELECT value FROM json_each(?))) "
            "ORDER BY id",
            (json.dumps(list(keys)), json.dumps(list(ids))),
        )
    }
    for cell, column, value, rows in db.execute(
        "SELECT c.cell_id, v.column, v.value, c.rows FROM json_each(?) j CROSS JOIN counts c ON "
        "c.cell_id = j.value CROSS JOIN sensitive_values v ON v.id = c.value_id "
        "ORDER BY c.cell_id, v.id",
        (json.dumps(list(found)),),
    ):
        state = found[cell]
        state.rows[column][state.codes.code(column, value)] = rows
    return list(found.values())


def memory_of(db: sqlite3.Connection, state: CellState) -> Memory:
    """Read what was corrected in a cell, and in those its people were in before."""
    kernels: list[list[FloatArray]] = [[] for _ in state.rows]
    cell: tuple[int, int | None] = (state.record.id, state.record.parent)
    until = MOST_ROWS
    while True:
        # The last first: what was before is counted back from what is now.
        for column, kernel in _kernels_back(db, state.codes, cell[0], until):
            kernels[column].insert(0, kernel)
        if cell[1] is None:
            break
        [until, *_] = db.execute("SELECT born FROM cells WHERE id = ?", (cell[0],)).fetchone()
        cell = db.execute("SELECT id, parent FROM cells WHERE id = ?", (cell[1],)).fetchone()
    return Memory(tuple(map(tuple, kernels)))


def _kernels_back(
    db: sqlite3.Connection, codes: Codes, cell: int, until: int
) -> Iterator[tuple[int, FloatArray]]:
    """Yield the kernels of a cell's corrections before a release, the last first."""
    corrected = {
        sequence
        for [sequence] in db.execute(
            "SELECT sequence FROM moves WHERE cell_id = ? AND joined = 0 AND left_it = 0 AND "
            "sequence < ?",
            (cell, until),
        )
    }
    if not corrected:
        return
    counts: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for column, value, rows in db.execute(
        "SELECT v.column, v.value, c.rows FROM counts c JOIN sensitive_values v ON v.id = "
        "c.value_id WHERE c.cell_id = ?",
        (cell,),
    ):
        counts[column][codes.code(column, value)] = rows
    changes: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for sequence, column, value, rows in db.execute(
        "SELECT c.sequence, v.column, v.value, c.rows FROM changes c JOIN sensitive_values v ON "
        "v.id = c.value_id WHERE c.cell_id = ? ORDER BY c.sequence DESC",
        (cell,),
    ):
        changes[sequence].append((column, codes.code(column, value), rows))
    for sequence, changed in changes.items():
        width = {column: len(codes.columns[column]) for column, _, _ in changed}
        after = {c: np.array([counts[c][i] for i in range(w)]) for c, w in width.items()}
        for column, code, rows in changed:
            counts[column][code] -= rows
        if sequence in corrected:
            for column, now in after.items():
                before = np.array([counts[column][i] for i in range(len(now))])
                yield column, kernel_of(before, now)


@dataclass(frozen=True)
class Change:
    """What a release does to one cell, or a cell that it adds."""

    labels: str
    codes: Codes
    before: Part
    now: Part
    record: CellRecord | None = None
    """The cell; None if it is new."""

    joined: int = 0
    left: int = 0
    parent: int | None = None
    """For a new one, the cell its people come from if they moved."""

    people: tuple[str, ...] = ()
    """The fingerprints of those who join a new cell."""

    gone: tuple[str, ...] = ()
    """The fingerprints of those who leave, and are nowhere any more."""

    everyone: bool = False
    """Whether all who are in it leave, known by name or not."""


def write_changes(
    db: sqlite3.Connection,
    sequence: int,
    changes: Sequence[Change],
    shown: Mapping[tuple[int, str], str],
    rng: np.random.Generator,
) -> None:
    """Add a release's changes to the counts.

    Args:
        db: The ledger.
        sequence: The number of the release.
        changes: One per cell that changes, and per new one.
        shown: How values that may be new are given back.
        rng: Draws what new cells are called.
    """
    ids = _ValueIds(db, shown)
    moved: list[tuple[int, int, int, int]] = []
    counts: list[tuple[int, int, int]] = []
    born = [change for change in changes if change.record is None]
    cells = dict(zip(map(id, born), _insert_cells(db, sequence, born, rng), strict=True))
    for change in changes:
        cell = cells[id(change)] if change.record is None else change.record.id
        for column, codes in enumerate(change.codes.columns):
            after = change.now.counts[column].tolist()
            before = change.before.counts[column].tolist()
            before += [0] * (len(after) - len(before))
            for value, code in codes.items():
                if code < len(after) and before[code] != after[code]:
                    value_id = ids.of(column, value)
                    moved.append((sequence, cell, value_id, after[code] - before[code]))
                    counts.append((cell, value_id, after[code]))
        if change.people:
            db.executemany(
                "INSERT INTO people VALUES (?, ?, ?, 0) ON CONFLICT (fingerprint) DO UPDATE SET "
                "cell_id = excluded.cell_id",
                ((bytes.fromhex(each), cell, sequence) for each in sorted(change.people)),
            )
        if change.everyone:
            db.execute(
                "UPDATE people SET left_it = ? WHERE cell_id = ? AND left_it = 0", (sequence, cell)
            )
        db.executemany(
            "UPDATE people SET left_it = ? WHERE fingerprint = ?",
            ((sequence, bytes.fromhex(each)) for each in change.gone),
        )
    db.executemany(
        "UPDATE cells SET rows = ? WHERE id = ?",
        ((c.now.size, c.record.id) for c in changes if c.record is not None),
    )
    db.executemany(
        "INSERT INTO moves VALUES (?, ?, ?, ?)",
        (
            (sequence, cells[id(c)] if c.record is None else c.record.id, c.joined, c.left)
            for c in changes
        ),
    )
    db.executemany("INSERT INTO changes VALUES (?, ?, ?, ?)", moved)
    db.executemany("INSERT OR REPLACE INTO counts VALUES (?, ?, ?)", (c for c in counts if c[2]))
    db.executemany(
        "DELETE FROM counts WHERE cell_id = ? AND value_id = ?",
        (c[:2] for c in counts if not c[2]),
    )


@dataclass(eq=False)
class _ValueIds:
    db: sqlite3.Connection
    shown: Mapping[tuple[int, str], str]
    known: dict[tuple[int, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.known = {
            (column, value): number
            for number, column, value in self.db.execute(
                "SELECT id, column, value FROM sensitive_values"
            )
        }

    def of(self, column: int, value: str) -> int:
        if (column, value) not in self.known:
            cursor = self.db.execute(
                "INSERT INTO sensitive_values (column, value, shown) VALUES (?, ?, ?)",
                (column, value, self.shown.get((column, value), value)),
            )
            self.known[column, value] = int(cursor.lastrowid or 0)
        return self.known[column, value]


def _insert_cells(
    db: sqlite3.Connection, sequence: int, born: Sequence[Change], rng: np.random.Generator
) -> list[int]:
    """Add new cells, called by numbers that none has, and return their ids."""
    [last, longest] = db.execute(
        "SELECT COALESCE(MAX(id), 0), COALESCE(MAX(label), 100000) FROM cells"
    ).fetchone()
    digits = max(6, len(str(longest)), len(str(20 * (last + len(born)))))
    taken: set[int] = set()
    while len(taken) < len(born):
        drawn = rng.integers(10 ** (digits - 1), 10**digits, len(born) - len(taken)).tolist()
        used = db.execute(
            "SELECT label FROM cells WHERE label IN (SELECT value FROM json_each(?))",
            (json.dumps(drawn),),
        )
        taken |= set(drawn) - {label for [label] in used}
    ids = list(range(last + 1, last + 1 + len(born)))
    labels = rng.permutation(sorted(taken)).tolist()
    insert_cells(
        db,
        [
            CellRecord(number, label, change.labels, sequence, change.parent, change.now.size)
            for number, label, change in zip(ids, labels, born, strict=True)
        ],
    )
    return ids


def insert_cells(db: sqlite3.Connection, cells: Sequence[CellRecord]) -> None:
    """Add cells, without their counts."""
    db.executemany("INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?)", cells)
    names = {
        (column, text)
        for key in {cell.labels for cell in cells}
        for column, text in enumerate(split_keys(key))
    }
    db.executemany("INSERT OR IGNORE INTO labels VALUES (?, ?)", sorted(names))


def current(db: sqlite3.Connection, settings: Settings) -> GroupedTables:
    """Read all groups and counts as they are published now."""
    sizes = db.execute("SELECT id, label, labels, rows FROM cells WHERE rows > 0").fetchall()
    counts = db.execute(
        "SELECT c.cell_id, v.column, v.shown, c.rows FROM counts c "
        "JOIN sensitive_values v ON v.id = c.value_id"
    ).fetchall()
    return grouped_from(settings, sizes, counts)


def newcomers(db: sqlite3.Connection, settings: Settings, sequence: int) -> GroupedTables:
    """Read the tables of the cells that a release added; it must not have changed others."""
    sizes = db.execute(
        "SELECT id, label, labels, rows FROM cells WHERE born = ?", (sequence,)
    ).fetchall()
    counts = db.execute(
        "SELECT c.cell_id, v.column, v.shown, c.rows FROM changes c "
        "JOIN sensitive_values v ON v.id = c.value_id WHERE c.sequence = ?",
        (sequence,),
    ).fetchall()
    return grouped_from(settings, sizes, counts)


def changed(db: sqlite3.Connection, settings: Settings, sequence: int) -> GroupedTables:
    """Read the tables of the cells that a release added or changed, as they are after it."""
    sizes = db.execute(
        "SELECT g.id, g.label, g.labels, g.rows FROM moves m JOIN cells g ON g.id = m.cell_id "
        "WHERE m.sequence = ? AND g.rows > 0",
        (sequence,),
    ).fetchall()
    counts = db.execute(
        "SELECT c.cell_id, v.column, v.shown, c.rows FROM moves m JOIN counts c ON c.cell_id = "
        "m.cell_id JOIN sensitive_values v ON v.id = c.value_id WHERE m.sequence = ?",
        (sequence,),
    ).fetchall()
    return grouped_from(settings, sizes, counts)


def grouped_from(
    settings: Settings,
    sizes: list[tuple[int, int, str, int]],
    counts: list[tuple[int, int, str, int]],
) -> GroupedTables:
    """Make tables of cells (id, label, labels, rows) and counts (cell, column, value, rows)."""
    labels = [json.loads(key) for _, _, key, _ in sizes]
    dictionaries = [
        in_order({row[q] for row in labels}) for q in range(len(settings.quasi_identifiers))
    ]
    ranks = [{value: i for i, value in enumerate(values)} for values in dictionaries]
    codes = [[rank[row[q]] for row in labels] for q, rank in enumerate(ranks)]
    # In the order of their labels, as a counted table has them; of several cells of a group, in the
    # order of the numbers they are called by, which are drawn.
    order = sorted(range(len(sizes)), key=lambda g: ([code[g] for code in codes], sizes[g][1]))
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
        "JOIN cells g ON g.id = m.cell_id WHERE m.sequence <= ? GROUP BY g.id HAVING n > 0",
        (sequence,),
    ).fetchall()
    counts = db.execute(
        "SELECT c.cell_id, v.column, v.shown, SUM(c.rows) AS n FROM changes c "
        "JOIN sensitive_values v ON v.id = c.value_id WHERE c.sequence <= ? "
        "GROUP BY c.cell_id, v.id HAVING n > 0",
        (sequence,),
    ).fetchall()
    return grouped_from(settings, sizes, counts)


def all_states(db: sqlite3.Connection, harmless: Harmless) -> dict[str, list[CellState]]:
    """Read all cells that have rows, by the key of their group."""
    ids = [number for [number] in db.execute("SELECT id FROM cells WHERE rows > 0")]
    found: dict[str, list[CellState]] = defaultdict(list)
    for state in cell_states(db, (), ids, harmless):
        found[state.record.labels].append(state)
    return found


class CellSummary(NamedTuple):
    """A cell in figures."""

    joined_in: int
    """The release in which its people joined the ledger, also if they moved since."""

    rows: int
    largest: Fraction
    """The largest share of any value in it that is not harmless."""


def cell_summaries(db: sqlite3.Connection, harmless: Harmless) -> dict[int, CellSummary]:
    """Read all cells, those that are empty by now too."""
    values = db.execute("SELECT id, column, value FROM sensitive_values").fetchall()
    unlimited = [number for number, column, value in values if harmless.has(column, value)]
    largest: dict[int, Fraction] = defaultdict(Fraction)
    for cell, most, known in db.execute(
        "SELECT c.cell_id, MAX(CASE WHEN v.id IN (SELECT value FROM json_each(?)) THEN 0 ELSE "
        "c.rows END), SUM(c.rows) FROM counts c JOIN sensitive_values v ON v.id = c.value_id "
        "WHERE v.value <> ? GROUP BY c.cell_id, v.column",
        (json.dumps(unlimited), key_of(None)),
    ):
        largest[cell] = max(largest[cell], Fraction(most, known))
    found: dict[int, CellSummary] = {}
    for number, born, parent, rows in db.execute(
        "SELECT id, born, parent, rows FROM cells ORDER BY id"
    ):
        joined = born if parent is None else found[parent].joined_in
        found[number] = CellSummary(joined, rows, largest[number])
    return found


def cell_moves(db: sqlite3.Connection) -> list[tuple[int, int, int, int]]:
    """Read how many people joined and left each cell: (release, cell, joined, left)."""
    return db.execute(
        "SELECT sequence, cell_id, joined, left_it FROM moves ORDER BY sequence"
    ).fetchall()


def waiting_rows(db: sqlite3.Connection) -> list[tuple[str, str, int, int]]:
    """Read who waits, by kind and group: (kind, labels, rows, since)."""
    return db.execute(
        "SELECT kind, labels, SUM(rows), MIN(since) FROM waiting GROUP BY kind, labels"
    ).fetchall()


# The first entry of a ledger: the tables of a decoupled release.


def start_tables(db: sqlite3.Connection, grouped: GroupedTables, rng: np.random.Generator) -> None:
    """Write cells and counts into an empty ledger, as release 1."""
    names = grouped.ids if grouped.ids is not None else random_labels(len(grouped), rng)
    texts = [[key_of(value) for value in column.values] for column in grouped.quasi_identifiers]
    keys = [
        f"[{', '.join(text[code] for text, code in zip(texts, codes, strict=True))}]"
        for codes in grouped.labels.T.tolist()
    ]
    sizes = grouped.sizes.tolist()
    ids = range(1, len(sizes) + 1)
    insert_cells(
        db,
        [
            CellRecord(number, label, key, 1, None, size)
            for number, label, key, size in zip(ids, names.tolist(), keys, sizes, strict=True)
        ],
    )
    db.executemany("INSERT INTO moves VALUES (1, ?, ?, 0)", zip(ids, sizes, strict=True))
    value_id = 0
    for column, table in enumerate(grouped.sensitive):
        first = value_id + 1
        for value in table.column.values:
            value_id += 1
            db.execute(
                "INSERT INTO sensitive_values VALUES (?, ?, ?, ?)",
                (value_id, column, key_of(value), shown_of(value)),
            )
        # Where no group is called twice, a row of the table is a row of the ledger.
        entries = list(
            zip(
                (table.group + 1).tolist(),
                (table.value.astype(np.int64) + first).tolist(),
                table.rows.tolist(),
                strict=True,
            )
        )
        db.executemany("INSERT INTO counts VALUES (?, ?, ?)", entries)
        db.executemany("INSERT INTO changes VALUES (1, ?, ?, ?)", entries)


def groups_above(
    grouped: GroupedTables, limit: Fraction, harmless: Harmless
) -> Iterator[tuple[tuple[str | None, ...], Fraction]]:
    """Yield the groups in which a value has a larger share than the limit, and how large."""
    largest = np.array(
        [
            _largest(table, len(grouped), [harmless.has(i, key_of(v)) for v in table.column.values])
            for i, table in enumerate(grouped.sensitive)
        ]
    )
    known = np.array([table.totals(len(grouped)) for table in grouped.sensitive])
    above = (largest * float(limit.denominator) > float(limit.numerator) * known).any(axis=0)
    close = np.isclose(largest / np.maximum(known, 1), float(limit)).any(axis=0)
    for g in np.flatnonzero(above | close).tolist():
        worst = max(
            Fraction(most, total) if total else Fraction(0)
            for most, total in zip(largest[:, g].tolist(), known[:, g].tolist(), strict=True)
        )
        if worst > limit:
            yield tuple(text_or_none(value) for _, value in grouped.group_at(g)), worst


def _largest(table: SensitiveTable, n_groups: int, harmless: Sequence[bool]) -> IntArray:
    """Return the rows of each group's most frequent known value that is not harmless."""
    if not any(harmless):
        return table.largest(n_groups)
    limited = ~np.array(harmless, dtype=bool)[table.value]
    limited &= np.array([value is not None for value in table.column.values])[table.value]
    most = np.zeros(n_groups, dtype=np.int64)
    np.maximum.at(most, table.group[limited], table.rows[limited])
    return most
