"""Ledgers of format 1: checked by the hashes they have, until the next publish upgrades them.

Their chain covers the settings, the changes of every release, and the tables `waiting`, `paths`
and `given`, as sums of hashes; it does not cover how values are shown, labels, refused and
pending rows.
"""

import json
import sqlite3
from collections.abc import Iterable
from hashlib import sha256

from sfumato.ledger.store import get

VERSION = 1

_HASHED = {
    "waiting": "SELECT kind, labels, row, new_labels, new_row, rows, since FROM waiting",
    "paths": "SELECT column, value, path FROM paths",
    "given": "SELECT fingerprint, sequence, time FROM given",
}
"""The tables that are hashed, as sums: their rows may be in any order."""

_MOVES = (
    "SELECT g.labels, g.label, m.joined, m.left_it FROM moves m JOIN groups g ON g.id = "
    "m.group_id WHERE m.sequence = ? ORDER BY g.labels"
)
_CHANGES = (
    "SELECT g.labels, v.column, v.value, c.rows FROM changes c JOIN groups g ON g.id = "
    "c.group_id JOIN sensitive_values v ON v.id = c.value_id WHERE c.sequence = ? "
    "ORDER BY g.labels, v.column, v.value"
)
"""What a release changed, by the texts of groups and values."""

DERIVED = ("changes", "settings", *(f"{name}_hash" for name in _HASHED))
"""What an entry holds besides what was done: hashes."""


def faults(db: sqlite3.Connection) -> list[str]:
    """Return what does not agree with the chain of a ledger of format 1."""
    try:
        return list(_faults(db))
    except (ValueError, KeyError, TypeError, RecursionError):
        return ["the entries or settings cannot be read"]


def _faults(db: sqlite3.Connection) -> Iterable[str]:
    previous, entry = "", {}
    for number, row in enumerate(
        db.execute("SELECT sequence, entry, previous, hash FROM releases ORDER BY sequence"), 1
    ):
        sequence, text, before, hashed = row
        entry = json.loads(text)
        link = sha256(f"{previous}\n{text}".encode()).hexdigest()
        if (before, hashed, sequence, entry["sequence"]) != (previous, link, number, number):
            yield f"entry {number} is not the one that was written"
        elif entry["changes"] != _changes_digest(db, number):
            yield f"the changes of release {number} are not those that were published"
        previous = hashed
    if not entry or get(db, "head") != previous:
        yield "the last entry is missing, or was added by hand"
    rows = db.execute(
        "SELECT key, value FROM meta WHERE key <> 'head' AND key NOT LIKE '%_hash' ORDER BY key"
    ).fetchall()
    if entry.get("settings") != sha256(_text(rows).encode()).hexdigest():
        yield "the settings are not those the ledger was started with"
    for name, select in _HASHED.items():
        total = sum(
            int.from_bytes(sha256(_text(row).encode()).digest()) for row in db.execute(select)
        )
        if f"{total % 2**256:064x}" != entry.get(f"{name}_hash"):
            yield f"the table {name!r} is not as it was written"


def _changes_digest(db: sqlite3.Connection, sequence: int) -> str:
    digest = sha256()
    for select in (_MOVES, _CHANGES):
        for row in db.execute(select, (sequence,)):
            digest.update(_text(row).encode())
    return digest.hexdigest()


def _text(plain: object) -> str:
    return json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
