"""Cells and counts in a ledger: reading those that are needed, and writing what changed."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sfumato.counts import Column
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import GroupedTables, SensitiveTable, random_labels
from sfumato.errors import UnknownNameError
from sfumato.hierarchy.ordered import is_unsaid
from sfumato.ledger.admission import MISSING, SeenTogether
from sfumato.ledger.corrections import Memory, kernel_of
from sfumato.ledger.counting import CellCounts
from sfumato.ledger.store import MOST_ROWS, Settings, key_of, shown_of, split_keys
from sfumato.policy import Policy
from sfumato.text import fold_spelling, in_order, text_or_none
from sfumato.typing import BoolArray, FloatArray, IntArray


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

    def widen(self, part: SeenTogether) -> SeenTogether:
        """Return a part with room for all codes there are."""
        counts = tuple(
            np.concatenate([count, np.zeros(len(codes) - len(count), dtype=np.int64)])
            for count, codes in zip(part.counts, self.columns, strict=True)
        )
        return SeenTogether(part.size, counts, self.mask(), self.silent())

    def empty(self) -> SeenTogether:
        """Return a part without people."""
        counts = tuple(np.zeros(len(codes), dtype=np.int64) for codes in self.columns)
        return SeenTogether(0, counts, self.mask(), self.silent())

    def mask(self) -> tuple[BoolArray, ...] | None:
        """Return of each column and code whether the value is harmless; None if none is."""
        if not any(self.harmless.values):
            return None
        return tuple(
            np.array([self.harmless.has(column, value) for value in codes], dtype=bool)
            for column, codes in enumerate(self.columns)
        )

    def silent(self) -> tuple[BoolArray, ...] | None:
        """Return of each column and code whether the value says nothing; None if none does."""
        if not any(any(map(_is_silent, codes)) for codes in self.columns):
            return None
        return tuple(
            np.array([self.harmless.is_silent(column, value) for value in codes], dtype=bool)
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

    def is_silent(self, column: int, key: str) -> bool:
        """Return whether a value says that nothing was said, and the policy does not call it one.

        Who has `unknown` may have what all others of a cell have, so it hides nobody.
        """
        return _is_silent(key) and not self.has(column, key)


@lru_cache(maxsize=1 << 16)
def _is_silent(key: str) -> bool:
    text = json.loads(key)
    return isinstance(text, str) and is_unsaid(text)


def stored_policy(settings: Settings) -> Policy | None:
    """Read the policy a ledger was started with."""
    if not settings.policy:
        return None
    return Policy.from_yaml(settings.policy, origin="the ledger's policy", folder=settings.folder)


@dataclass(eq=False)
class CellState:
    """A cell with its counts, and a code for each value that is or may come to be in it."""

    record: CellRecord
    codes: Codes
    rows: tuple[dict[int, int], ...]
    """By column and code, how many rows have a value now."""

    def part(self) -> SeenTogether:
        """Return the people who are in it now."""
        counts = tuple(
            np.array([rows.get(code, 0) for code in codes.values()], dtype=np.int64)
            for codes, rows in zip(self.codes.columns, self.rows, strict=True)
        )
        return SeenTogether(self.record.rows, counts, self.codes.mask(), self.codes.silent())


def cell_states(
    db: sqlite3.Connection, keys: Iterable[str], ids: Iterable[int], harmless: Harmless
) -> list[CellState]:
    """Read the cells of some groups and some others by number; empty ones are left out."""
    read = db.execute(
        "SELECT id, label, labels, born, parent, rows, counts FROM current WHERE rows > 0 AND "
        "(labels IN (SELECT value FROM json_each(?)) OR id IN (SELECT value FROM json_each(?))) "
        "ORDER BY id",
        (json.dumps(list(keys)), json.dumps(list(ids))),
    ).fetchall()
    found = [
        CellState(CellRecord(*record), Codes.of(harmless), tuple({} for _ in harmless.values))
        for *record, _ in read
    ]
    counted = CellCounts.unpack([row[-1] for row in read])
    values = _values(db, counted.value)
    for cell, number, rows in zip(*(each.tolist() for each in counted), strict=True):
        column, value = values[number]
        state = found[cell]
        state.rows[column][state.codes.code(column, value)] = rows
    return found


def _values(db: sqlite3.Connection, numbers: IntArray) -> dict[int, tuple[int, str]]:
    """Return the column and the key of some values, by their numbers."""
    return {
        number: (column, value)
        for number, column, value in db.execute(
            "SELECT id, column, value FROM sensitive_values WHERE id IN "
            "(SELECT value FROM json_each(?))",
            (json.dumps(np.unique(numbers).tolist()),),
        )
    }


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
    parts = db.execute(
        "SELECT joined, left_it, counts FROM parts WHERE cell_id = ? AND sequence < ? "
        "ORDER BY sequence DESC",
        (cell, until),
    ).fetchall()
    if not any(not joined and not left for joined, left, _ in parts):
        return
    counted = CellCounts.unpack([packed for *_, packed in parts])
    values = {
        number: (column, codes.code(column, value))
        for number, (column, value) in _values(db, counted.value).items()
    }
    tables = [
        [np.zeros(len(known), dtype=np.int64) for known in codes.columns] for _ in range(len(parts))
    ]
    for part, number, rows in zip(*(each.tolist() for each in counted), strict=True):
        column, code = values[number]
        tables[part][column][code] = rows
    for i, (joined, left, _) in enumerate(parts[:-1]):
        if not joined and not left:
            for column, (now, before) in enumerate(zip(tables[i], tables[i + 1], strict=True)):
                if not np.array_equal(now, before):
                    yield column, kernel_of(before, now)


@dataclass(frozen=True)
class Change:
    """What a release does to one cell, or a cell that it adds."""

    labels: str
    codes: Codes
    before: SeenTogether
    now: SeenTogether
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

    rows: tuple[str, ...] = ()
    """The rows of quasi-identifiers that are published of those who join, where they are exact."""


def write_changes(
    db: sqlite3.Connection,
    sequence: int,
    changes: Sequence[Change],
    shown: Mapping[tuple[int, str], str],
    rng: np.random.Generator,
) -> list[int]:
    """Add a release's changes to the counts; return what each cell is called in tables.

    Args:
        db: The ledger.
        sequence: The number of the release.
        changes: One per cell that changes, and per new one.
        shown: How values that may be new are given back.
        rng: Draws what new cells are called.
    """
    born = [change for change in changes if change.record is None]
    new = iter(_insert_cells(db, sequence, born, rng))
    cells = [next(new) if each.record is None else each.record.id for each in changes]
    counted = _count_parts(changes, _ValueIds(db, shown)).pack(len(changes))
    db.executemany(
        "INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?)",
        sorted(
            (sequence, cell, each.joined, each.left, each.now.size, packed)
            for cell, each, packed in zip(cells, changes, counted, strict=True)
        ),
    )
    db.executemany(
        "INSERT INTO people VALUES (?, ?, ?, 0) ON CONFLICT (fingerprint) DO UPDATE SET "
        "cell_id = excluded.cell_id",
        sorted(
            (bytes.fromhex(person), cell, sequence)
            for cell, each in zip(cells, changes, strict=True)
            for person in each.people
        ),
    )
    db.executemany(
        "UPDATE people SET left_it = ? WHERE cell_id = ? AND left_it = 0",
        [(sequence, c) for c, each in zip(cells, changes, strict=True) if each.everyone],
    )
    db.executemany(
        "UPDATE people SET left_it = ? WHERE fingerprint = ?",
        ((sequence, bytes.fromhex(person)) for each in changes for person in each.gone),
    )
    called = dict(
        db.execute(
            "SELECT id, label FROM cells WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(cells),),
        ).fetchall()
    )
    return [called[cell] for cell in cells]


def _count_parts(changes: Sequence[Change], ids: "_ValueIds") -> CellCounts:
    """Return how many rows have each value in cells after a release, by the numbers of values."""
    cells: list[int] = []
    values: list[int] = []
    rows: list[int] = []
    for i, change in enumerate(changes):
        here = [
            (ids.of(column, value), n)
            for column, (codes, count) in enumerate(
                zip(change.codes.columns, change.now.counts, strict=True)
            )
            # Codes are numbered as they were met; a part may have been counted before the last.
            for value, n in zip(codes, count.tolist(), strict=False)
            if n
        ]
        here.sort()
        cells += [i] * len(here)
        values += [number for number, _ in here]
        rows += [n for _, n in here]
    return CellCounts(*(np.array(each, dtype=np.int64) for each in (cells, values, rows)))


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
        # Each by its index: both at once would go through all cells.
        "SELECT COALESCE((SELECT MAX(id) FROM cells), 0), "
        "COALESCE((SELECT MAX(label) FROM cells), 100000)"
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
            (number, label, change.labels, sequence, change.parent)
            for number, label, change in zip(ids, labels, born, strict=True)
        ],
    )
    return ids


_NewCell = tuple[int, int, str, int, int | None]
"""Its number, what it is called in tables, the key of its group, the release and its parent."""


def insert_cells(db: sqlite3.Connection, cells: Sequence[_NewCell]) -> None:
    """Add cells, without their counts."""
    db.executemany("INSERT INTO cells VALUES (?, ?, ?, ?, ?)", cells)
    names = {
        (column, text)
        for key in {cell[2] for cell in cells}
        for column, text in enumerate(split_keys(key))
    }
    db.executemany("INSERT OR IGNORE INTO labels VALUES (?, ?)", sorted(names))


def current(db: sqlite3.Connection, settings: Settings) -> GroupedTables:
    """Read all groups and counts as they are published now."""
    return _tables(db, settings, "SELECT label, labels, rows, counts FROM current WHERE rows > 0")


def newcomers(db: sqlite3.Connection, settings: Settings, sequence: int) -> GroupedTables:
    """Read the tables of the cells that a release added; it must not have changed others."""
    return _tables(
        db,
        settings,
        "SELECT c.label, c.labels, p.rows, p.counts FROM parts p JOIN cells c ON c.id = p.cell_id "
        "WHERE p.sequence = ? AND c.born = p.sequence",
        sequence,
    )


def changed_cells(db: sqlite3.Connection, settings: Settings, sequence: int) -> GroupedTables:
    """Read the tables of the cells that a release added or changed, as they are after it."""
    return _tables(
        db,
        settings,
        "SELECT c.label, c.labels, p.rows, p.counts FROM parts p JOIN cells c ON c.id = p.cell_id "
        "WHERE p.sequence = ? AND p.rows > 0",
        sequence,
    )


def _tables(
    db: sqlite3.Connection, settings: Settings, cells: str, *given: object
) -> GroupedTables:
    """Make tables of cells, which a statement selects with label, labels, rows and counts."""
    found = db.execute(cells, given).fetchall()
    names = [row[0] for row in found]
    keys = {key: i for i, key in enumerate(dict.fromkeys(row[1] for row in found))}
    texts = json.loads(f"[{','.join(keys)}]")
    of_key = np.array([keys[row[1]] for row in found], dtype=np.int64)
    columns: list[Column] = []
    codes = np.empty((len(settings.quasi_identifiers), len(found)), dtype=np.int32)
    for q, name in enumerate(settings.quasi_identifiers):
        values = in_order({text[q] for text in texts})
        rank = {value: i for i, value in enumerate(values)}
        codes[q] = np.array([rank[text[q]] for text in texts], dtype=np.int32)[of_key]
        columns.append(Column(name, tuple(values)))
    # In the order of their labels, as a counted table has them; of several cells of a group, in the
    # order of the numbers they are called by, which are drawn.
    order = np.lexsort((np.array(names, dtype=np.int64), *codes[::-1]))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    counted = CellCounts.unpack([row[3] for row in found])
    counted = counted._replace(cell=place[counted.cell])
    return GroupedTables(
        tuple(columns),
        codes[:, order],
        np.array([row[2] for row in found], dtype=np.int64)[order],
        tuple(_sensitive_tables(db, settings, counted)),
        ids=np.array(names, dtype=np.int64)[order],
    )


def _sensitive_tables(
    db: sqlite3.Connection, settings: Settings, counted: CellCounts
) -> Iterator[SensitiveTable]:
    numbers, at = np.unique(counted.value, return_inverse=True)
    shown = {
        number: (column, json.loads(value))
        for number, column, value in db.execute(
            "SELECT id, column, shown FROM sensitive_values WHERE id IN "
            "(SELECT value FROM json_each(?))",
            (json.dumps(numbers.tolist()),),
        )
    }
    described = [shown[number] for number in numbers.tolist()]
    column_of = np.array([column for column, _ in described], dtype=np.int64)
    for column, name in enumerate(settings.sensitive):
        values = in_order({value for other, value in described if other == column})
        rank = {value: i for i, value in enumerate(values)}
        code = np.array(
            [rank[value] if other == column else -1 for other, value in described], dtype=np.int32
        )
        mine = np.flatnonzero(column_of[at] == column)
        group, value = counted.cell[mine], code[at[mine]]
        order = np.lexsort((counted.rows[mine], value, group))
        yield SensitiveTable(
            Column(name, tuple(values)), group[order], value[order], counted.rows[mine][order]
        )


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
    return _tables(
        db,
        settings,
        "SELECT c.label, c.labels, p.rows, p.counts FROM cells c CROSS JOIN parts p ON "
        "p.cell_id = c.id AND p.sequence = (SELECT MAX(sequence) FROM parts WHERE "
        "cell_id = c.id AND sequence <= ?) WHERE p.rows > 0",
        sequence,
    )


def all_states(db: sqlite3.Connection, harmless: Harmless) -> dict[str, list[CellState]]:
    """Read all cells that have rows, by the key of their group."""
    ids = [number for [number] in db.execute("SELECT id FROM current WHERE rows > 0")]
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
    cells = db.execute("SELECT id, born, parent, rows, counts FROM current ORDER BY id").fetchall()
    counted = CellCounts.unpack([row[-1] for row in cells])
    values = _values(db, counted.value)
    unlimited = {number for number, value in values.items() if harmless.has(*value)}
    silent = {
        number
        for number, value in values.items()
        if value[1] == key_of(None) or harmless.is_silent(*value)
    }
    largest: dict[tuple[int, int], int] = defaultdict(int)
    known: dict[tuple[int, int], int] = defaultdict(int)
    for cell, number, rows in zip(*(each.tolist() for each in counted), strict=True):
        column, _ = values[number]
        if number not in silent:
            known[cell, column] += rows
            if number not in unlimited:
                largest[cell, column] = max(largest[cell, column], rows)
    worst: dict[int, Fraction] = defaultdict(Fraction)
    for (cell, column), most in largest.items():
        worst[cell] = max(worst[cell], Fraction(most, known[cell, column]))
    found: dict[int, CellSummary] = {}
    for i, (number, born, parent, rows, _) in enumerate(cells):
        joined = born if parent is None else found[parent].joined_in
        found[number] = CellSummary(joined, rows, worst[i])
    return found


def cell_moves(db: sqlite3.Connection) -> list[tuple[int, int, int, int]]:
    """Read how many people joined and left each cell: (release, cell, joined, left)."""
    return db.execute(
        "SELECT sequence, cell_id, joined, left_it FROM parts ORDER BY sequence"
    ).fetchall()


def waiting_rows(db: sqlite3.Connection) -> list[tuple[str, str, int, int]]:
    """Read who waits, by kind and group: (kind, labels, rows, since)."""
    return db.execute(
        "SELECT kind, labels, SUM(rows), MIN(since) FROM waiting "
        "WHERE kind <> 'aside' GROUP BY kind, labels"
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
            (number, name, key, 1, None)
            for number, name, key in zip(ids, names.tolist(), keys, strict=True)
        ],
    )
    counted = []
    first = 1
    for column, table in enumerate(grouped.sensitive):
        values = table.column.values
        db.executemany(
            "INSERT INTO sensitive_values VALUES (?, ?, ?, ?)",
            [(first + i, column, key_of(v), shown_of(v)) for i, v in enumerate(values)],
        )
        counted.append((table.group, table.value.astype(np.int64) + first, table.rows))
        first += len(values)
    cell, value, rows = (np.concatenate(each) for each in zip(*counted, strict=True))
    order = np.lexsort((value, cell))
    packed = CellCounts(cell[order], value[order], rows[order]).pack(len(sizes))
    db.executemany(
        "INSERT INTO parts VALUES (1, ?, ?, 0, ?, ?)", zip(ids, sizes, sizes, packed, strict=True)
    )


def groups_above(
    grouped: GroupedTables, limit: Fraction, harmless: Harmless
) -> Iterator[tuple[tuple[str | None, ...], Fraction]]:
    """Yield the groups in which a value has a larger share than the limit, and how large."""
    tables = tuple(
        _without(table, [harmless.is_silent(i, key_of(v)) for v in table.column.values])
        for i, table in enumerate(grouped.sensitive)
    )
    grouped = replace(grouped, sensitive=tables)
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


def _without(table: SensitiveTable, silent: Sequence[bool]) -> SensitiveTable:
    """Return a table without values that say nothing."""
    if not any(silent):
        return table
    keep = ~np.array(silent, dtype=bool)[table.value]
    return replace(table, group=table.group[keep], value=table.value[keep], rows=table.rows[keep])


def _largest(table: SensitiveTable, n_groups: int, harmless: Sequence[bool]) -> IntArray:
    """Return the rows of each group's most frequent known value that is not harmless."""
    if not any(harmless):
        return table.largest(n_groups)
    limited = ~np.array(harmless, dtype=bool)[table.value]
    limited &= np.array([value is not None for value in table.column.values])[table.value]
    most = np.zeros(n_groups, dtype=np.int64)
    np.maximum.at(most, table.group[limited], table.rows[limited])
    return most
