"""The first entry of a ledger: the tables of a decoupled release."""

import sqlite3
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from sfumato.broken import Broken
from sfumato.ledger.limit import Tally
from sfumato.ledger.records import insert_group
from sfumato.ledger.written import key_of, keys_of, shown_of
from sfumato.text import text_of
from sfumato.typing import IntArray


def start_tables(db: sqlite3.Connection, broken: Broken, rng: np.random.Generator) -> None:
    """Write groups and counts into an empty ledger, as release 1."""
    ids = broken.ids if broken.ids is not None else _labels(len(broken), rng)
    texts = [column.values for column in broken.quasi_identifiers]
    numbers = []
    for g, label in enumerate(ids.tolist()):
        labels = [values[code] for values, code in zip(texts, broken.labels[:, g], strict=True)]
        numbers.append(insert_group(db, keys_of(labels), label).id)
    sizes = broken.sizes.tolist()
    db.executemany("UPDATE groups SET rows = ? WHERE id = ?", zip(sizes, numbers, strict=True))
    db.executemany("INSERT INTO moves VALUES (1, ?, ?, 0)", zip(numbers, sizes, strict=True))
    for column, table in enumerate(broken.sensitive):
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
    broken: Broken, limit: Fraction
) -> Iterator[tuple[tuple[str | None, ...], Fraction]]:
    """Name the groups that tell more than the limit, and how much."""
    largest = np.array([table.largest(len(broken)) for table in broken.sensitive])
    for g, size in enumerate(broken.sizes.tolist()):
        worst = Tally(size, tuple(largest[:, [g]])).worst
        if worst > limit:
            yield labels_at(broken, g), worst


def labels_at(broken: Broken, group: int) -> tuple[str | None, ...]:
    """Give the labels of a group as text."""
    values = (
        column.values[code]
        for column, code in zip(broken.quasi_identifiers, broken.labels[:, group], strict=True)
    )
    return tuple(None if value is None else text_of(value) for value in values)


def _labels(n: int, rng: np.random.Generator) -> IntArray:
    """Draw names for groups that have none yet."""
    least = 10 ** (max(6, len(str(100 * n))) - 1)
    drawn: IntArray = rng.choice(9 * least, size=n, replace=False) + least
    return drawn
