"""The chain of entries: a ledger that was edited by hand is found out.

Every release is one entry, and every entry holds the hash of the one before, a hash of all the
changes it made to the counts, and one of everything that waited after it. Whoever changes a
number breaks a link. Somebody who writes the whole chain anew cannot be found out from the file
alone: keep the last hash, which every publish shows, in another place.
"""

import sqlite3
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from sfumato.ledger.meta import get, put
from sfumato.ledger.written import digest_text

_MODULUS = 2**256

HASHED = {
    "waiting": "SELECT kind, labels, row, new_labels, new_row, rows, since FROM waiting",
    "paths": "SELECT column, value, path FROM paths",
    "given": "SELECT fingerprint, sequence, time FROM given",
}
"""Tables that are hashed as they grow and shrink: a row more is a term more."""


def append(db: sqlite3.Connection, entry: dict[str, Any]) -> str:
    """Add an entry for a release whose changes are written already; give its hash."""
    previous = get(db, "head")
    whole = {
        **entry,
        "changes": changes_digest(db, entry["sequence"]),
        **{f"{table}_hash": get(db, f"{table}_hash") for table in HASHED},
        "settings": settings_digest(db),
    }
    text = digest_text(whole)
    hashed = _link(previous, text)
    db.execute(
        "INSERT INTO releases VALUES (?, ?, ?, ?)", (entry["sequence"], text, previous, hashed)
    )
    put(db, "head", hashed)
    return hashed


def _link(previous: str, text: str) -> str:
    return sha256(f"{previous}\n{text}".encode()).hexdigest()


def changes_digest(db: sqlite3.Connection, sequence: int) -> str:
    """Hash what a release changed: groups by their labels, values by their text."""
    digest = sha256()
    for row in db.execute(
        "SELECT g.labels, g.label, m.joined, m.left_it FROM moves m JOIN groups g ON g.id = "
        "m.group_id WHERE m.sequence = ? ORDER BY g.labels",
        (sequence,),
    ):
        digest.update(digest_text(row).encode())
    for row in db.execute(
        "SELECT g.labels, v.column, v.value, c.rows FROM changes c JOIN groups g ON g.id = "
        "c.group_id JOIN sensitive_values v ON v.id = c.value_id WHERE c.sequence = ? "
        "ORDER BY g.labels, v.column, v.value",
        (sequence,),
    ):
        digest.update(digest_text(row).encode())
    return digest.hexdigest()


def settings_digest(db: sqlite3.Connection) -> str:
    """Hash what a ledger was started with."""
    rows = db.execute(
        "SELECT key, value FROM meta WHERE key <> 'head' AND key NOT LIKE '%_hash' ORDER BY key"
    ).fetchall()
    return sha256(digest_text(rows).encode()).hexdigest()


def rows_digest(rows: Iterable[tuple[object, ...]]) -> int:
    """Hash rows, whatever their order: a sum, so that one more is one more term."""
    return (
        sum(int.from_bytes(sha256(digest_text(row).encode()).digest()) for row in rows) % _MODULUS
    )


def shift(db: sqlite3.Connection, table: str, by: int) -> None:
    """Note that rows were added to a table, or taken from it."""
    key = f"{table}_hash"
    put(db, key, f"{(int(get(db, key), 16) + by) % _MODULUS:064x}")


def faults(db: sqlite3.Connection, head: str | None = None) -> list[str]:
    """Recompute everything that can be, and say what does not agree; nothing if all does.

    Args:
        db: The ledger.
        head: The last hash as it was kept elsewhere, to find out a chain written anew.
    """
    import json

    found = []
    previous = ""
    entry: dict[str, Any] = {}
    for sequence, text, before, hashed in db.execute(
        "SELECT sequence, entry, previous, hash FROM releases ORDER BY sequence"
    ).fetchall():
        entry = json.loads(text)
        if before != previous or hashed != _link(previous, text) or entry["sequence"] != sequence:
            found.append(f"entry {sequence} is not the one that was written")
        if entry["changes"] != changes_digest(db, sequence):
            found.append(f"the changes of release {sequence} are not those that were published")
        previous = hashed
    if get(db, "head") != previous:
        found.append("the last entry is missing, or was added by hand")
    if head is not None and head != previous:
        found.append(f"the last hash is {previous}, not {head}")
    found += _disagreements(db)
    if entry.get("settings") != settings_digest(db):
        found.append("the settings are not those the ledger was started with")
    for table, rows in HASHED.items():
        hashed = f"{rows_digest(db.execute(rows)):064x}"
        if not hashed == get(db, f"{table}_hash") == entry.get(f"{table}_hash"):
            found.append(f"the table {table!r} is not as it was written")
    return found


def _disagreements(db: sqlite3.Connection) -> list[str]:
    """Compare the counts with the sum of all changes, and with the sizes of the groups."""
    found = []
    [wrong] = db.execute(
        "SELECT COUNT(*) FROM (SELECT group_id, value_id, SUM(rows) AS n FROM (SELECT group_id, "
        "value_id, rows FROM changes UNION ALL SELECT group_id, value_id, -rows FROM counts) "
        "GROUP BY group_id, value_id HAVING n <> 0)"
    ).fetchone()
    if wrong:
        found.append(f"{wrong} counts are not what the releases add up to")
    [wrong] = db.execute(
        "SELECT COUNT(*) FROM groups g WHERE g.rows <> (SELECT COALESCE(SUM(joined - left_it), 0) "
        "FROM moves m WHERE m.group_id = g.id)"
    ).fetchone()
    if wrong:
        found.append(f"{wrong} groups do not have as many rows as the releases add up to")
    [wrong] = db.execute(
        "SELECT COUNT(*) FROM (SELECT c.group_id FROM counts c JOIN sensitive_values v ON v.id = "
        "c.value_id JOIN groups g ON g.id = c.group_id GROUP BY c.group_id, v.column HAVING "
        "SUM(c.rows) <> MAX(g.rows))"
    ).fetchone()
    if wrong:
        found.append(f"{wrong} tables of groups do not count every row once")
    return found
