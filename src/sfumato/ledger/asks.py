"""What is asked of a ledger: rows to add, to remove or to correct; and those that wait."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from sfumato.errors import InputError
from sfumato.ledger.chain import rows_digest, shift
from sfumato.ledger.records import GroupState
from sfumato.ledger.written import split_keys

Kind = Literal["add", "remove", "correct"]


class Ask(NamedTuple):
    """One row, generalised: the labels of its group, and its sensitive values.

    A correction names the row as it was published and as it should have been.
    """

    kind: Kind
    labels: str
    row: str
    new_labels: str = ""
    new_row: str = ""

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups it concerns."""
        return (self.labels, self.new_labels) if self.kind == "correct" else (self.labels,)


@dataclass(frozen=True)
class Waiting:
    """How many rows of a kind wait, and since which release."""

    rows: int
    since: int


def waiting_in(db: sqlite3.Connection, groups: Iterable[str]) -> dict[Ask, Waiting]:
    """Read the rows that wait in some groups."""
    keys = json.dumps(list(groups))
    found = {}
    for column in ("labels", "new_labels"):
        for *ask, rows, since in db.execute(
            "SELECT kind, labels, row, new_labels, new_row, rows, since FROM waiting "  # noqa: S608
            f"WHERE {column} IN (SELECT value FROM json_each(?))",
            (keys,),
        ):
            found[Ask(*ask)] = Waiting(rows, since)
    return found


def write_waiting(
    db: sqlite3.Connection, before: Mapping[Ask, Waiting], after: Mapping[Ask, Waiting]
) -> None:
    """Let rows wait, and let go of those that do not any more."""
    moved = 0
    for ask in before.keys() | after.keys():
        old, new = before.get(ask), after.get(ask)
        if old == new:
            continue
        key = (ask.kind, ask.labels, ask.row, ask.new_labels, ask.new_row)
        if old is not None:
            moved -= rows_digest([(*key, old.rows, old.since)])
            db.execute(
                "DELETE FROM waiting WHERE kind = ? AND labels = ? AND row = ? AND "
                "new_labels = ? AND new_row = ?",
                key,
            )
        if new is not None:
            moved += rows_digest([(*key, new.rows, new.since)])
            db.execute(
                "INSERT INTO waiting (kind, labels, row, new_labels, new_row, rows, since) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*key, new.rows, new.since),
            )
    shift(db, "waiting", moved)


def withdrawn(
    given: Counter[Ask], waiting: Mapping[Ask, Waiting]
) -> tuple[Counter[Ask], dict[Ask, Waiting], int]:
    """Let requests meet rows that still wait: who was never published need not be removed.

    Gives what is left to ask, what is left waiting, and how many rows were withdrawn.
    """
    asked, left, gone = Counter(given), dict(waiting), 0
    for ask, rows in given.items():
        if ask.kind == "add":
            continue
        unpublished = Ask("add", ask.labels, ask.row)
        if unpublished not in left:
            continue
        n = min(rows, left[unpublished].rows)
        gone += n
        asked[ask] -= n
        if ask.kind == "correct":
            asked[Ask("add", ask.new_labels, ask.new_row)] += n
        rest = left[unpublished].rows - n
        if rest:
            left[unpublished] = replace(left[unpublished], rows=rest)
        else:
            del left[unpublished]
    return +asked, left, gone


def refuse_unpublished(
    asks: Mapping[Ask, int], groups: Mapping[str, GroupState], columns: tuple[str, ...]
) -> None:
    """Refuse to remove or correct rows that cannot have been published."""
    wanted: Counter[tuple[str, int, str]] = Counter()
    for ask, rows in asks.items():
        if ask.kind != "add":
            for column, value in enumerate(split_keys(ask.row)):
                wanted[ask.labels, column, value] += rows
    for (labels, column, value), rows in wanted.items():
        group = groups[labels]
        code = group.codes[column].get(value)
        there = 0 if code is None else group.rows[column][code]
        if rows > there:
            raise InputError(
                f"{rows} rows with {columns[column]} {value} are to leave the group "
                f"{labels}, which was published with {there}. Give rows to delete or correct as "
                "they were published; nothing was changed."
            )
