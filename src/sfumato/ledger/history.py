"""What a ledger can be asked: its releases, and its tables as they were."""

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from sfumato.broken import Broken
from sfumato.errors import UnknownNameError
from sfumato.ledger.meta import Settings
from sfumato.ledger.records import GroupState, broken_from, group_states


def entries(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Give all entries, the first release first, each with its hash."""
    return [
        {**json.loads(text), "hash": hashed}
        for text, hashed in db.execute("SELECT entry, hash FROM releases ORDER BY sequence")
    ]


def at(db: sqlite3.Connection, settings: Settings, sequence: int) -> Broken:
    """Give all tables as they were after a release."""
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
    return broken_from(settings, sizes, counts)


def states(db: sqlite3.Connection, settings: Settings) -> Iterator[GroupState]:
    """Give all groups that have rows, with their counts."""
    keys = [key for [key] in db.execute("SELECT labels FROM groups WHERE rows > 0 ORDER BY id")]
    yield from group_states(db, keys, len(settings.sensitive)).values()


def last_change(db: sqlite3.Connection, group: int) -> tuple[int, dict[tuple[int, str], int]]:
    """Give how a group's size and counts changed in the last release that changed it."""
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
