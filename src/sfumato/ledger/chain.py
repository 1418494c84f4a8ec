"""The chain of entries: a ledger that was damaged or edited is found out before it is used.

Every release is one entry. It holds the hash of the entry before, and hashes of the settings, of
what the release changed, and of every other table as it is after the release. So no cell of the
file can change without breaking a link. Everything that acts on a ledger checks all of it first.

A forger who rewrites the whole chain cannot be found out from the file alone, and neither can an
old copy: keep the last hash, which every publish shows, in another place, and give it as `head`.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from hashlib import blake2b, sha256
from itertools import chain as concatenate
from itertools import groupby
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import numpy as np

from sfumato.errors import InputError, some
from sfumato.ledger import store
from sfumato.ledger.counting import PAIR, find_miscounted
from sfumato.ledger.store import (
    FINGERPRINT,
    MOST_ROWS,
    OPTIONAL,
    OWNER,
    SEALS,
    WAIT,
    Settings,
    damage_error,
    get,
    is_damage,
    is_text,
    put,
    split_keys,
)

TABLES = {
    "sensitive_values": "SELECT id, column, value, shown FROM sensitive_values ORDER BY id",
    "waiting": "SELECT id, kind, labels, row, new_labels, new_row, person, rows, since FROM "
    "waiting ORDER BY id",
    "paths": "SELECT column, value, path FROM paths ORDER BY column, value",
}
"""The tables that a release may change everywhere: every entry has the hash of each."""


class Blocks(NamedTuple):
    """A table that grows with the releases, hashed in blocks: only some of them change."""

    column: str
    """The column by which rows are in blocks, and in order."""

    block: str
    """SQL for the block of a row."""

    rows: str
    """Selects the block, and what is hashed; `{where}` stands for some of the blocks."""

    bounds: Callable[[Any], tuple[object, object]]
    """Returns between which values of the column a block is; the second is not in it."""


def _cell_bounds(block: int) -> tuple[int, int]:
    return 64 * block, 64 * (block + 1)


def _people_bounds(block: str) -> tuple[bytes, bytes]:
    end = int(block, 16) + 1
    last = bytes.fromhex(f"{end:03X}0") if end < 1 << 12 else b"\xff" * (FINGERPRINT + 1)
    return bytes.fromhex(f"{block}0"), last


BLOCKS = {
    "cells": Blocks(
        "id",
        "{row}id / 64",
        "SELECT id / 64, id, label, labels, born, parent FROM cells {where} ORDER BY id",
        _cell_bounds,
    ),
    "people": Blocks(
        "fingerprint",
        "substr(hex({row}fingerprint), 1, 3)",
        # One text per block of people, who are in the order of their fingerprints.
        "SELECT substr(hex(fingerprint), 1, 3), group_concat(hex(fingerprint) || ' ' || cell_id || "
        "' ' || joined || ' ' || left_it) FROM (SELECT * FROM people {where} ORDER BY fingerprint) "
        "GROUP BY 1 ORDER BY 1",
        _people_bounds,
    ),
    "likenesses": Blocks(
        "likeness",
        "substr(hex({row}likeness), 1, 3)",
        "SELECT substr(hex(likeness), 1, 3), hex(likeness), hex(person) FROM likenesses {where} "
        "ORDER BY likeness, person",
        _people_bounds,
    ),
    "given": Blocks(
        "fingerprint",
        "substr({row}fingerprint, 1, 2)",
        "SELECT substr(fingerprint, 1, 2), fingerprint, sequence, time FROM given {where} "
        "ORDER BY fingerprint",
        lambda block: (block, f"{block}\U0010ffff"),
    ),
}
"""The tables of which a release changes a part: every entry has the hash of all their blocks."""

HISTORY = {
    "parts": "SELECT cell_id, joined, left_it, rows, counts FROM parts WHERE sequence = ? "
    "ORDER BY cell_id",
    "epochs": "SELECT levels FROM epochs WHERE sequence = ?",
    "sketches": "SELECT buckets, rows FROM sketches WHERE sequence = ?",
}
"""The tables that only grow: every entry has the hashes of its own rows."""

_PENDING = "SELECT sequence, stage, target, hash FROM pending"

_BATCH = 20_000


def digest_rows(rows: sqlite3.Cursor) -> str:
    """Hash rows in their order, with the type of every cell.

    >>> db = sqlite3.connect(":memory:")
    >>> one, other = (db.execute(f"SELECT {cell}") for cell in ("1", "'1'"))
    >>> digest_rows(one) == digest_rows(other)
    False
    """
    digest = sha256()
    while batch := rows.fetchmany(_BATCH):
        if all(type(row[-1]) is bytes for row in batch):
            # As they are: written as text they are three times as long.
            digest.update(b"".join(row[-1] for row in batch))
            batch = [(*row[:-1], len(row[-1])) for row in batch]
        # `ascii` writes all types differently, and the same on every version of Python.
        digest.update("".join(f"{row!a}\n" for row in batch).encode())
    return digest.hexdigest()


def digest_text(plain: object) -> str:
    """Write plain values in one way only, so that their hash is always the same."""
    return json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def append(db: sqlite3.Connection, entry: dict[str, Any]) -> str:
    """Add an entry for a release whose changes are written already, and return its hash."""
    previous, sequence = get(db, "head"), entry["sequence"]
    # A new one each time: the hashes of earlier entries confirm no guess of what was there then.
    put(db, "blind", token_hex(16))
    seal_pending(db)
    _seal_blocks(db)
    whole = {
        **entry,
        "settings": _settings_digest(db),
        "history": _history_digests(db, sequence),
        "tables": {
            **{name: _blind(db, db.execute(rows)) for name, rows in TABLES.items()},
            **{name: _blind(db, db.execute(_SEALS_OF, (name,))) for name in BLOCKS},
        },
        "pending": _pending_digest(db, sequence),
    }
    text = digest_text(whole)
    hashed = _link(previous, text)
    db.execute("INSERT INTO releases VALUES (?, ?, ?, ?)", (sequence, text, previous, hashed))
    put(db, "head", hashed)
    return hashed


def _blind(db: sqlite3.Connection, rows: sqlite3.Cursor) -> str:
    """Hash rows that may go, with a text that goes when the next entry is written."""
    plain, blind = digest_rows(rows), get(db, "blind")
    return sha256(f"{blind}\n{plain}".encode()).hexdigest() if blind else plain


def seal_pending(db: sqlite3.Connection) -> None:
    """Hash the releases that wait for their names: they get them after their entry is written."""
    put(db, "pending_hash", digest_rows(db.execute(f"{_PENDING} ORDER BY sequence")))


# Blocks: what an increment does not touch is not hashed again.


_SEALS_OF = "SELECT block, hash FROM seals WHERE name = ? ORDER BY block"


def _block_digests(db: sqlite3.Connection, name: str) -> dict[Any, str]:
    """Hash all blocks of a table."""
    rows = db.execute(BLOCKS[name].rows.format(where=""))
    return {block: _digest(each) for block, each in groupby(rows, key=lambda row: row[0])}


def _digest(rows: Iterable[tuple[object, ...]]) -> str:
    return sha256("".join(f"{row!a}\n" for row in rows).encode()).hexdigest()


def _watch(db: sqlite3.Connection) -> None:
    """Make the connection note which blocks are changed, by whatever statement."""
    db.execute("CREATE TEMP TABLE touched (name, block, PRIMARY KEY (name, block)) WITHOUT ROWID")
    for name, table in BLOCKS.items():
        for event, rows in (("INSERT", ["NEW"]), ("DELETE", ["OLD"]), ("UPDATE", ["OLD", "NEW"])):
            blocks = [table.block.format(row=f"{row}.") for row in rows]
            # Not OR IGNORE: a statement that says what to do about a conflict says it for triggers.
            notes = [
                f"INSERT INTO touched SELECT '{name}', {block} WHERE NOT EXISTS (SELECT 1 FROM "  # noqa: S608
                f"touched WHERE name = '{name}' AND block = {block});"
                for block in dict.fromkeys(blocks)
            ]
            db.execute(
                f"CREATE TEMP TRIGGER touch_{name}_{event} AFTER {event} ON main.{name} "
                f"BEGIN {' '.join(notes)} END"
            )


def _seal_blocks(db: sqlite3.Connection) -> None:
    """Hash the blocks that were changed, or all of a ledger that was not watched."""
    watched = db.execute("SELECT 1 FROM sqlite_temp_master WHERE name = 'touched'").fetchone()
    for name, table in BLOCKS.items():
        if watched is None:
            db.execute("DELETE FROM seals WHERE name = ?", (name,))
            new = _block_digests(db, name)
        else:
            touched = db.execute("SELECT block FROM touched WHERE name = ?", (name,)).fetchall()
            where = f"WHERE {table.column} >= ? AND {table.column} < ?"
            new = {
                block: digest_rows(db.execute(table.rows.format(where=where), table.bounds(block)))
                for [block] in touched
            }
        db.executemany(
            "INSERT OR REPLACE INTO seals VALUES (?, ?, ?)",
            ((name, block, hashed) for block, hashed in new.items()),
        )
        # A block without rows has no hash.
        db.execute("DELETE FROM seals WHERE name = ? AND hash = ?", (name, _digest(())))
    if watched is not None:
        db.execute("DELETE FROM touched")


def _link(previous: str, text: str) -> str:
    return sha256(f"{previous}\n{text}".encode()).hexdigest()


def _history_digests(db: sqlite3.Connection, sequence: int) -> dict[str, str]:
    return {name: digest_rows(db.execute(rows, (sequence,))) for name, rows in HISTORY.items()}


def _settings_digest(db: sqlite3.Connection) -> str:
    keys = ", ".join("?" * len(SEALS))
    return digest_rows(
        db.execute(f"SELECT key, value FROM meta WHERE key NOT IN ({keys}) ORDER BY key", SEALS)  # noqa: S608
    )


def _pending_digest(db: sqlite3.Connection, sequence: int) -> str:
    return digest_rows(db.execute(f"{_PENDING} WHERE sequence = ?", (sequence,)))


# Reading and writing: nothing is done with a ledger that is not as it was written.


@contextmanager
def reading(path: str | PathLike[str], *, head: str | None = None) -> Iterator[sqlite3.Connection]:
    """Open a ledger to look at it, after checking that it is as it was written.

    Args:
        path: The file.
        head: The last hash, from the copy you keep elsewhere.
    """
    with store.reading(path) as db:
        require_sound(db, Path(path), head)
        yield db


@contextmanager
def writing(
    path: str | PathLike[str], *, wait: float = WAIT, head: str | None = None
) -> Iterator[sqlite3.Connection]:
    """Open a ledger to publish on it, after checking that it is as it was written.

    Args:
        path: The file.
        wait: Seconds to wait for another publish.
        head: The last hash, from the copy you keep elsewhere.
    """
    with store.writing(path, wait=wait) as db:
        require_sound(db, Path(path), head)
        _watch(db)
        before = db.total_changes
        yield db
        if db.in_transaction and db.total_changes > before:
            seal_file(db)


def require_sound(db: sqlite3.Connection, file: Path, head: str | None = None) -> None:
    """Raise if a ledger is damaged, was edited, or is not the one that was left."""
    if head is None and _is_as_sealed(db):
        return
    found = faults(db, thorough=False)
    if found:
        raise damage_error(file, "; ".join(found[:_FEW]))
    wrong = None if head is None else _other_head(db, head)
    if wrong:
        raise InputError(f"{str(file)!r} is not the ledger you left: {wrong}. Nothing was changed.")


_FEW = 3


def faults(db: sqlite3.Connection, head: str | None = None, *, thorough: bool = True) -> list[str]:
    """Recompute everything that can be, and return what does not agree; nothing if all does.

    Args:
        db: The ledger.
        head: The last hash as it was kept elsewhere, to find out a rewritten chain.
        thorough: Follow the size of every cell over all releases too. It is what was counted if
            all hashes agree, unless the whole chain was forged.
    """
    try:
        found = _file_faults(db) or [*_chain_faults(db), *_seal_faults(db)]
        found = found or _form_faults(db) or _size_faults(db)
        if not found and thorough:
            found = [*_sum_faults(db), *_person_faults(db)]
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if not is_damage(error):
            raise
        # What SQLite says may quote what the file holds.
        return ["the file is damaged: parts of it cannot be read"]
    wrong = None if head is None else _other_head(db, head)
    return [*found, *([wrong] if wrong else [])]


def _other_head(db: sqlite3.Connection, head: str) -> str | None:
    """Return in which way the last hash is not the one that was kept; None if it is."""
    last, given = get(db, "head"), head.strip().lower()
    if given == last:
        return None
    known = db.execute("SELECT sequence FROM releases WHERE hash = ?", (given,)).fetchone()
    if known is not None:
        [newest] = db.execute("SELECT MAX(sequence) FROM releases").fetchone()
        return (
            f"the last hash is {last}, not {head}: that is the hash of release {known[0]}, and "
            f"there are {newest}. If these are yours, give the last hash"
        )
    return (
        f"the last hash is {last}, not {head}, which no release has: it is an older copy, or it "
        "was rewritten. Restore the copy with that hash"
    )


# The file as a whole. Every cell must be looked at before a ledger is used, and nothing is faster
# than to hash all bytes: a thirtieth of the time of reading all tables. If they are those that were
# left, everything in them was checked then. If not, everything is checked again: other programs
# write the same cells in other places. With the last hash as it was kept elsewhere, everything is
# always checked: who computes the hash of the file again is found by that one.


_LARGEST = 1 << 30
"""Bytes of a ledger that are hashed as a whole, for they are in memory then."""


def seal_file(db: sqlite3.Connection) -> None:
    """Write the hash of all pages, in the transaction that changed them."""
    db.execute("INSERT OR IGNORE INTO file_seal VALUES (1, '')")
    hashed = _file_digest(db)
    if hashed is not None:
        db.execute("UPDATE file_seal SET hash = ?", (_with_check(hashed),))
    else:
        db.execute("DELETE FROM file_seal")


def _with_check(hashed: str) -> str:
    # By its second half an edited seal is told from one of another layout of the file.
    return f"{hashed} {sha256(hashed.encode()).hexdigest()}"


def _is_as_sealed(db: sqlite3.Connection) -> bool:
    """Return whether all pages are those that were left."""
    try:
        [[seal]] = db.execute("SELECT hash FROM file_seal").fetchall() or [[None]]
        hashed = None if not isinstance(seal, str) else _file_digest(db)
    except (sqlite3.Error, UnicodeDecodeError, ValueError):
        return False  # What is wrong will be found when everything is read.
    return hashed is not None and seal == _with_check(hashed)


def _file_digest(db: sqlite3.Connection) -> str | None:
    """Hash all pages but the one with the hash; None if there are too many."""
    [[size], [pages]] = (
        db.execute(f"PRAGMA {name}").fetchone() for name in ("page_size", "page_count")
    )
    if size * pages > _LARGEST:
        return None
    found = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'file_seal'").fetchone()
    if found is None:
        raise ValueError("the ledger has no table 'file_seal'")
    [own] = found
    # Every publish hashes all of the ledger twice: this takes half the time of SHA-256.
    digest = blake2b(f"{size} {pages} {own}\n".encode(), digest_size=32)
    data = memoryview(db.serialize())
    # Without what SQLite counts in the header when it commits: how often, how much, and who did.
    for start, end in ((0, 24), (32, 92), (100, (own - 1) * size), (own * size, len(data))):
        digest.update(data[start:end])
    return digest.hexdigest()


def _seal_faults(db: sqlite3.Connection) -> list[str]:
    for number, seal in db.execute("SELECT id, hash FROM file_seal").fetchall():
        if number != 1 or not isinstance(seal, str) or seal != _with_check(seal.partition(" ")[0]):
            return ["the table 'file_seal' is not as it was written"]
    return []


# The file: its tables, and how SQLite keeps them.


def _file_faults(db: sqlite3.Connection) -> list[str]:
    if _schema(db) != _expected_schema():
        return ["there are other tables, indexes or triggers than a ledger has"]
    # Rows that an index has otherwise than their table would be found by some and not by others.
    [[answer]] = db.execute("PRAGMA integrity_check(1)").fetchall()
    return [] if answer == "ok" else ["the file is damaged: its pages do not fit together"]


def _schema(db: sqlite3.Connection) -> set[tuple[object, ...]]:
    return set(db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall())


def _expected_schema() -> set[tuple[object, ...]]:
    with closing(sqlite3.connect(":memory:")) as db:
        store.create_tables(db)
        return _schema(db)


# The chain: entries, settings, and the hash of every table.


def _chain_faults(db: sqlite3.Connection) -> list[str]:
    found, entries = [], list(_read_entries(db))
    settings, previous = _settings_digest(db), ""
    for number, (row, entry) in enumerate(entries, start=1):
        sequence, text, before, hashed = row
        if (
            entry is None
            or not sequence == entry["sequence"] == number
            or before != previous
            or hashed != _link(previous, text)
        ):
            found.append(f"entry {number} is not the one that was written")
        elif entry["history"] != _history_digests(db, number):
            found.append(f"the changes of release {number} are not those that were published")
        previous = str(hashed)
    if not entries or get(db, "head") != previous:
        found.append("the last entry is missing, or was added by hand")
    known = [entry for _, entry in entries if entry is not None]
    if any(entry["settings"] != settings for entry in known) or not _are_settings(db):
        found.append("the settings are not those the ledger was started with")
    for name in HISTORY:
        [others] = db.execute(
            f"SELECT COUNT(*) FROM {name} WHERE sequence < 1 OR sequence > ?",  # noqa: S608
            (len(entries),),
        ).fetchone()
        if others:
            found.append(f"the table {name!r} has rows of releases that there are not")
    last = known[-1]["tables"] if known else {}
    found += [
        f"the table {name!r} is not as it was written"
        for name, rows in TABLES.items()
        if _blind(db, db.execute(rows)) != last.get(name)
    ]
    found += _block_faults(db, last)
    return [*found, *_pending_faults(db, {entry["sequence"]: entry for entry in known})]


def _block_faults(db: sqlite3.Connection, written: Mapping[str, str]) -> list[str]:
    found = []
    for name in BLOCKS:
        if _blind(db, db.execute(_SEALS_OF, (name,))) != written.get(name):
            found.append("the table 'seals' is not as it was written")
        elif db.execute(_SEALS_OF, (name,)).fetchall() != [*_block_digests(db, name).items()]:
            found.append(f"the table {name!r} is not as it was written")
    known = json.dumps([*BLOCKS])
    [others] = db.execute(
        "SELECT COUNT(*) FROM seals WHERE name NOT IN (SELECT value FROM json_each(?))", (known,)
    ).fetchone()
    return [*found, *(["the table 'seals' has rows of no table"] if others else [])]


def _read_entries(
    db: sqlite3.Connection,
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any] | None]]:
    """Yield the rows of the chain with their entries, None for one that is not one."""
    for row in db.execute(
        "SELECT sequence, entry, previous, hash FROM releases ORDER BY sequence"
    ).fetchall():
        yield row, read_entry(row[1])


def read_entry(text: object) -> dict[str, Any] | None:
    """Return an entry, or None if a text is none.

    >>> read_entry("{}") is None
    True
    """
    try:
        entry = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or not entry.keys() >= _ENTRY.keys():
        return None
    if any(type(entry[key]) is not kind for key, kind in _ENTRY.items()):
        return None
    texts = concatenate(entry["history"].values(), entry["tables"].values())
    numbers = entry["rows"].values()
    if not all(isinstance(each, str) for each in texts):
        return None
    return entry if all(type(n) is int and 0 <= n <= MOST_ROWS for n in numbers) else None


_ENTRY = {
    "sequence": int,
    "kind": str,
    "time": str,
    "files": str,
    "rows": dict,
    "settings": str,
    "history": dict,
    "tables": dict,
    "pending": str,
}
"""What an entry holds, and as what."""


def _are_settings(db: sqlite3.Connection) -> bool:
    keys = {key for [key] in db.execute("SELECT key FROM meta")}
    try:
        settings = Settings.load(db)
    except InputError:
        return False
    return keys - {*OPTIONAL} == {*Settings.names(several=settings.several), *SEALS} - {*OPTIONAL}


def _pending_faults(db: sqlite3.Connection, entries: dict[int, dict[str, Any]]) -> list[str]:
    waiting = [number for [number] in db.execute("SELECT sequence FROM pending")]
    whole = digest_rows(db.execute(f"{_PENDING} ORDER BY sequence"))
    if get(db, "pending_hash") == whole and all(
        number in entries and entries[number]["pending"] == _pending_digest(db, number)
        for number in waiting
    ):
        return []
    return ["the table 'pending' is not as it was written"]


# The form of every cell: after a forgery, too, nothing is read that is not what it should be.


def _whole(column: str, least: int = 0) -> str:
    return f"typeof({column}) = 'integer' AND {column} BETWEEN {least} AND {MOST_ROWS}"


def _plain_json(column: str, *kinds: str) -> str:
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    return (
        f"typeof({column}) = 'text' AND json_valid({column}) AND json_type({column}) IN ({listed})"
    )


def _none_of(array: str, wrong: str) -> str:
    return f"NOT EXISTS (SELECT 1 FROM json_each({array}) AS each WHERE {wrong})"  # noqa: S608


def _texts(column: str, length: int) -> str:
    """Return that a column holds a JSON array of `length` texts; any of them may be missing."""
    return (
        f"{_plain_json(column, 'array')} AND json_array_length({column}) = {length} AND "
        + _none_of(column, "each.type NOT IN ('text', 'null')")
    )


def _names(column: str) -> str:
    """Return that a column holds the names of tables, as `pending.staged_tables` writes them."""
    rest = f"substr({column}, 7)"
    return (
        f"{column} LIKE 'table:%' AND json_valid({rest}) AND json_type({rest}) = 'array' AND "
        + _none_of(rest, "each.type <> 'text'")
    )


def _forms(settings: Settings) -> dict[str, str]:
    """Return for each table what must hold for every row."""
    known, secret = len(settings.quasi_identifiers), len(settings.sensitive)
    # Who waits for a bucket waits with the row that will be published, and everyone else as part of
    # the one group that all buckets are.
    waits = _texts("labels", known)
    if settings.exact:
        waits = (
            f"CASE kind WHEN 'add' THEN {_texts('labels', len(settings.exact))} ELSE {waits} END"
        )
    path = f"{_plain_json('path', 'array')} AND " + _none_of(
        "paths.path",  # `json_each` has a column of that name.
        "each.type <> 'array' OR json_array_length(each.value) <> 3 OR "
        "json_type(each.value, '$[0]') NOT IN ('text', 'null') OR "
        "json_type(each.value, '$[1]') <> 'integer' OR "
        "json_type(each.value, '$[2]') NOT IN ('integer', 'real')",
    )
    return {
        "cells": f"{_whole('id')} AND {_whole('label')} AND {_whole('born', 1)} AND "
        f"{_texts('labels', known)} AND (parent IS NULL OR parent < id)",
        "labels": f"{_whole('column')} AND column < {known} AND "
        f"{_plain_json('label', 'text', 'null')}",
        "sensitive_values": f"{_whole('id')} AND {_whole('column')} AND column < {secret} AND "
        f"{_plain_json('value', 'text', 'null')} AND "
        f"{_plain_json('shown', 'text', 'null', 'integer', 'real', 'true', 'false')} AND "
        "(json_type(shown) <> 'integer' OR length(shown) <= 20)",
        "parts": f"{_whole('sequence', 1)} AND {_whole('joined')} AND {_whole('left_it')} AND "
        f"{_whole('rows')} AND typeof(counts) = 'blob' AND length(counts) % {PAIR} = 0",
        "waiting": "kind IN ('add', 'remove', 'correct', 'aside') AND "
        f"{waits} AND {_texts('row', secret)} AND {_whole('rows', 1)} AND "
        f"{_whole('since')} AND typeof(person) = 'text' AND (person = '' OR "
        f"rows = 1 AND person NOT GLOB '*[^0-9a-f]*' AND length(person) = {2 * FINGERPRINT}) "
        f"AND CASE kind WHEN 'correct' THEN {_texts('new_labels', known)} AND "
        f"{_texts('new_row', secret)} ELSE new_labels = '' AND new_row = '' END",
        "paths": f"{_whole('column')} AND column < {known} AND "
        f"{_plain_json('value', 'text', 'null')} AND {path}",
        "given": f"typeof(fingerprint) = 'text' AND {_whole('sequence')} AND typeof(time) = 'text'",
        "people": f"typeof(fingerprint) = 'blob' AND length(fingerprint) = {FINGERPRINT} AND "
        f"{_whole('joined', 1)} AND {_whole('left_it')}",
        "likenesses": " AND ".join(
            f"typeof({name}) = 'blob' AND length({name}) = {FINGERPRINT}"
            for name in ("likeness", "person")
        ),
        "epochs": f"{_whole('sequence', 1)} AND {_plain_json('levels', 'array')} AND "
        f"json_array_length(levels) = {known} AND "
        + _none_of("levels", "each.type NOT IN ('integer', 'null') OR each.value < 0"),
        "sketches": f"{_whole('sequence', 1)} AND "
        f"{_whole('buckets', 1)} AND typeof(rows) = 'blob' AND length(rows) % 4 = 0",
        "pending": f"{_whole('sequence', 1)} AND typeof(stage) = 'text' AND "
        "typeof(target) = 'text' AND typeof(hash) = 'text' AND "
        "instr(stage || target, char(0)) = 0 AND CASE WHEN stage LIKE 'table:%' OR target LIKE "
        f"'table:%' THEN {_names('stage')} AND {_names('target')} ELSE 1 END",
    }


def _form_faults(db: sqlite3.Connection) -> list[str]:
    forms = _forms(Settings.load(db))
    there = {name for [name] in db.execute("SELECT name FROM sqlite_master")}
    wrong = [
        name
        for name, form in forms.items()
        if name in there
        and db.execute(f"SELECT EXISTS (SELECT 1 FROM {name} WHERE NOT ({form}))").fetchone()[0]  # noqa: S608
    ]
    wrong += [name for name, column in _JSON if _has_strange_text(db, name, column)]
    links = {row[0] for row in db.execute("PRAGMA foreign_key_check").fetchall()}
    names = [name for name in forms if name in {*wrong, *links}]
    return [f"tables hold what a ledger does not: {some(names)}"] if names else []


_JSON = (
    ("cells", "labels"),
    ("labels", "label"),
    ("sensitive_values", "value"),
    ("sensitive_values", "shown"),
    ("waiting", "labels"),
    ("waiting", "row"),
    ("waiting", "new_labels"),
    ("waiting", "new_row"),
    ("paths", "value"),
    ("paths", "path"),
)
"""Columns of texts that are read again and published."""


def _has_strange_text(db: sqlite3.Connection, table: str, column: str) -> bool:
    """Return whether a column holds text that is no Unicode, which JSON can escape."""
    rows = db.execute(
        f"SELECT {column} FROM {table} WHERE instr(lower({column}), '\\ud')"  # noqa: S608
    )
    return not all(is_text(_unescape(text)) for [text] in rows)


def _unescape(text: str) -> str:
    """Write JSON again with all characters as they are."""
    return json.dumps(json.loads(text or "null"), ensure_ascii=False)


# Sums: every row of a cell is counted once in each column, and once by the releases.


def _size_faults(db: sqlite3.Connection) -> list[str]:
    """Compare the size of every part with its counts, and the labels with those of the cells."""
    found = []
    parts = db.execute("SELECT rows, counts FROM parts ORDER BY cell_id, sequence").fetchall()
    columns = dict(db.execute("SELECT id, column FROM sensitive_values").fetchall())
    sizes = np.array([rows for rows, _ in parts], dtype=np.int64)
    wrong = find_miscounted([packed for _, packed in parts], sizes, columns)
    if wrong:
        found.append(f"{wrong} tables of cells do not count every row once")
    labels = {
        (column, label)
        for [key] in db.execute("SELECT DISTINCT labels FROM cells")
        for column, label in enumerate(split_keys(key))
    }
    if labels != set(db.execute("SELECT column, label FROM labels").fetchall()):
        found.append("the table 'labels' is not as it was written")
    return found


def _sum_faults(db: sqlite3.Connection) -> list[str]:
    """Compare the size of every part with what joined and left the cell."""
    parts = db.execute(
        "SELECT cell_id, sequence, joined, left_it, rows FROM parts ORDER BY cell_id, sequence"
    ).fetchall()
    cell, sequence, joined, left, rows = np.array(parts, dtype=np.int64).reshape(-1, 5).T
    first = np.diff(cell, prepend=0) != 0
    before = np.where(first, 0, np.concatenate([[0], rows])[:-1])
    wrong = len(np.unique(cell[rows != before + joined - left]))
    born = db.execute("SELECT id, born FROM cells ORDER BY id").fetchall()
    starts = np.stack([cell[first], sequence[first]], axis=1)
    if not np.array_equal(starts, np.array(born, dtype=np.int64).reshape(-1, 2)):
        wrong = max(wrong, 1)
    return [f"{wrong} cells do not have the rows that the releases add up to"] if wrong else []


def _person_faults(db: sqlite3.Connection) -> list[str]:
    """Compare the people who are known with the rows of their cells, and with who waits."""
    [crowded] = db.execute(
        "SELECT COUNT(*) FROM (SELECT cell_id, COUNT(*) AS n FROM people WHERE left_it = 0 "
        "GROUP BY cell_id) p JOIN current c ON c.id = p.cell_id WHERE p.n > c.rows"
    ).fetchone()
    [gone] = db.execute(
        "SELECT COUNT(*) FROM waiting w JOIN people p ON hex(p.fingerprint) = upper(w.person) "
        "WHERE w.kind = 'add' OR p.left_it > 0"
    ).fetchone()
    [left] = db.execute(
        "SELECT COUNT(*) FROM (SELECT cell_id, left_it, COUNT(*) AS n FROM people "
        "WHERE left_it > 0 GROUP BY 1, 2) p LEFT JOIN parts q ON q.cell_id = p.cell_id AND "
        "q.sequence = p.left_it WHERE p.n > COALESCE(q.left_it, 0)"
    ).fetchone()
    [elsewhere] = db.execute(
        "SELECT COUNT(*) FROM waiting w JOIN people p ON hex(p.fingerprint) = upper(w.person) "
        "JOIN cells c ON c.id = p.cell_id WHERE w.kind IN ('remove', 'correct') AND "
        "c.labels <> w.labels"
    ).fetchone()
    found = [f"cells with more people than rows: {crowded}"] if crowded else []
    found += [f"cells that more people left than rows: {left}"] if left else []
    found += [f"people who wait in another group than theirs: {elsewhere}"] if elsewhere else []
    found += [f"people who wait and left, or are published already: {gone}"] if gone else []
    return [*found, *_row_faults(db)]


def _row_faults(db: sqlite3.Connection) -> list[str]:
    """Count the rows of every person, where people may have several."""
    settings = Settings.load(db)
    if not settings.several:
        return []
    owner = f"substr(fingerprint, 1, {OWNER})"
    [twice] = db.execute(
        "SELECT COUNT(*) FROM (SELECT 1 FROM people "  # noqa: S608
        f"GROUP BY {owner}, cell_id HAVING COUNT(*) > 1)"
    ).fetchone()
    [most] = db.execute(
        "SELECT COALESCE(MAX(n), 0) FROM "  # noqa: S608
        f"(SELECT COUNT(*) AS n FROM people GROUP BY {owner})"
    ).fetchone()
    [there, known] = db.execute(
        "SELECT (SELECT COALESCE(SUM(rows), 0) FROM current), "
        "(SELECT COUNT(*) FROM people WHERE left_it = 0)"
    ).fetchone()
    found = [f"{twice} people have two rows in one cell"] if twice else []
    limit = settings.rows_per_person
    if isinstance(limit, int) and most > limit:
        found.append(f"a person has {most} rows, more than {limit}")
    return [*found, *(["rows are published of which it is not known whose"] * (there != known))]
