"""Epochs: all groups of a ledger generalised further, so that more people hide each other.

Only labels change, and they only get coarser: every cell keeps its number, its people and its
tables, all of which are public already. So an epoch tells nothing. What it changes is who joins
together from now on: those who waited in two groups may be enough in one. Labels that were
published cannot be made finer again: the difference would reveal who is where.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence

from sfumato.errors import InputError, UnknownColumnError, require_int, some
from sfumato.ledger.store import Settings, split_keys


def coarsen(db: sqlite3.Connection, settings: Settings, levels: Mapping[str, int]) -> Settings:
    """Return the settings after all cells and rows that wait got the labels of higher levels.

    Args:
        db: The ledger.
        settings: What holds now.
        levels: The new level of some quasi-identifiers.
    """
    names = settings.quasi_identifiers
    for name, level in levels.items():
        if name not in names:
            raise UnknownColumnError(name, names, where="the quasi-identifiers")
        require_int(f"the level of {name}", level, at_least=0)
        before = settings.levels[names.index(name)]
        if before is not None and level < before:
            raise InputError(
                f"{name!r} was published at level {before} and cannot be made finer, to level "
                f"{level}: the difference would reveal who is where. Choose a higher level."
            )
    maps = [
        _coarser(db, column, name, levels[name]) if name in levels else {}
        for column, name in enumerate(names)
    ]
    _relabel(db, maps)
    new = [levels.get(name, old) for name, old in zip(names, settings.levels, strict=True)]
    [last] = db.execute("SELECT MAX(sequence) FROM releases").fetchone()
    db.execute("INSERT INTO epochs VALUES (?, ?)", (int(last) + 1, json.dumps(new)))
    return Settings.load(db)


def _coarser(db: sqlite3.Connection, column: int, name: str, level: int) -> dict[str, str]:
    """Return for every label that groups have the one of a higher level, both as keys."""
    found: dict[str, str] = {}
    above: set[str] = set()
    for [text] in db.execute("SELECT path FROM paths WHERE column = ?", (column,)):
        path = json.loads(text)
        target = next((rung for rung in path if rung[1] >= level), path[-1])
        for label, at, _ in path:
            key = json.dumps(label, ensure_ascii=False)
            if at > level:
                above.add(key)
            elif found.setdefault(key, json.dumps(target[0], ensure_ascii=False)) != json.dumps(
                target[0], ensure_ascii=False
            ):
                raise InputError(
                    f"the label {key} of {name!r} is part of several labels of level {level}, so "
                    "its people cannot be generalised together. Nothing was changed."
                )
    there = [
        label for [label] in db.execute("SELECT label FROM labels WHERE column = ?", (column,))
    ]
    lost = [label for label in there if label not in found and label not in above]
    if lost:
        raise InputError(
            f"it is not known what the labels {some(lost)} of {name!r} are at level {level}. "
            "Only labels of a hierarchy of the ledger's policy can be generalised, and only if the "
            "ledger was started with the table of its first release (source=). Nothing was changed."
        )
    return found


def _relabel(db: sqlite3.Connection, maps: Sequence[Mapping[str, str]]) -> None:
    def rename(keys: str) -> str:
        if not keys:
            return keys
        each = zip(maps, split_keys(keys), strict=True)
        return f"[{', '.join(coarser.get(key, key) for coarser, key in each)}]"

    old = [labels for [labels] in db.execute("SELECT DISTINCT labels FROM cells")]
    db.executemany(
        "UPDATE cells SET labels = ? WHERE labels = ?",
        [(rename(labels), labels) for labels in old if rename(labels) != labels],
    )
    db.execute("DELETE FROM labels")
    for [labels] in db.execute("SELECT DISTINCT labels FROM cells").fetchall():
        db.executemany("INSERT OR IGNORE INTO labels VALUES (?, ?)", enumerate(split_keys(labels)))
    waiting = db.execute(
        "SELECT kind, labels, row, new_labels, new_row, person, rows, since FROM waiting"
    ).fetchall()
    db.execute("DELETE FROM waiting")
    db.executemany(
        "INSERT INTO waiting (kind, labels, row, new_labels, new_row, person, rows, since) VALUES "
        "(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows, "
        "since = min(since, excluded.since)",
        [
            (kind, rename(labels), row, rename(new_labels), new_row, person, rows, since)
            for kind, labels, row, new_labels, new_row, person, rows, since in waiting
            # Who is where the move was to lead has nothing left to wait for.
            if kind != "correct" or (rename(labels), row) != (rename(new_labels), new_row)
        ],
    )
