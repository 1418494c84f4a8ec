"""The group of each new row.

A row belongs to a group whose labels its values have on their way up: the value itself, the label
of level 1, of level 2, up to `*`, or an interval the value lies in. With one level per column that
is one group. Where rows were generalised differently several may fit, and the most specific is
taken: the one whose labels stand for the fewest values, of several such the one with the lowest
levels, and of those the one that was first. If none fits, the row asks for a new group, at the
level the column has in all groups, or else the highest at which any row of the increment found
its label.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from math import prod
from typing import NamedTuple

from sfumato.errors import HierarchyError, InputError, some
from sfumato.hierarchy import HierarchyBuilder, Ladder
from sfumato.hierarchy.intervals import number_point
from sfumato.ledger.store import Settings, key_of, keys_of
from sfumato.policy import Policy
from sfumato.text import STAR, date_of, text_or_none
from sfumato.typing import Value

_FEW = 256
"""Up to this many candidate groups are looked up by name; beyond, all groups are scanned."""

_BETWEEN = 1_000_000
"""The level of an interval: no hierarchy is that high."""


class Rung(NamedTuple):
    """A label a value can have."""

    label: str | None
    level: int
    share: float
    """Of all the values there are, the share it stands for: 0 says most, 1 nothing."""


@dataclass(frozen=True, eq=False)
class Climbs:
    """For every distinct value of one quasi-identifier, the labels it can have."""

    column: int
    values: tuple[Value, ...]
    rungs: tuple[tuple[Rung, ...], ...]


def places_of(
    db: sqlite3.Connection,
    settings: Settings,
    policy: Policy | None,
    rows: Sequence[Sequence[Value]],
) -> list[str]:
    """Return the key of the group of each row: of one there is, or of a new one.

    How values were generalised is written down, so that it stays so.

    Args:
        db: The ledger.
        settings: What it was started with.
        policy: Where the hierarchies come from; None if rows come with their labels.
        rows: The quasi-identifiers of each distinct row.
    """
    climbs = [
        _climbs(db, settings, policy, column, list(dict.fromkeys(row[column] for row in rows)))
        for column in range(len(settings.quasi_identifiers))
    ]
    _remember(db, climbs)
    existing = [_existing(db, each) for each in climbs]
    fallback = [
        _levels(settings, each, there) for each, there in zip(climbs, existing, strict=True)
    ]
    seen: dict[tuple[Value, ...], str] = {}
    result = []
    for row in rows:
        key = tuple(row)
        if key not in seen:
            candidates = [there[value] for there, value in zip(existing, row, strict=True)]
            found = _group_with(db, candidates) if all(candidates) else None
            seen[key] = found or keys_of(
                new[value] for new, value in zip(fallback, row, strict=True)
            )
        result.append(seen[key])
    return result


def _climbs(
    db: sqlite3.Connection,
    settings: Settings,
    policy: Policy | None,
    column: int,
    values: list[Value],
) -> Climbs:
    name = settings.quasi_identifiers[column]
    rule = None if policy is None else policy.columns.get(name)
    if rule is None or rule.hierarchy is None:
        star = (Rung(STAR, 1, 1.0),) if rule is not None else ()
        return Climbs(
            column,
            tuple(values),
            tuple((Rung(text_or_none(value), 0, 0.0), *star) for value in values),
        )
    recorded = {
        value: json.loads(path)
        for value, path in db.execute(
            "SELECT value, path FROM paths WHERE column = ? AND value IN "
            "(SELECT value FROM json_each(?))",
            (column, json.dumps([key_of(value) for value in values])),
        )
    }
    new = [value for value in values if key_of(value) not in recorded]
    recorded |= _new_ways(db, rule.hierarchy, name, column, new)
    return Climbs(
        column,
        tuple(values),
        tuple(
            tuple(Rung(*rung) for rung in recorded[key_of(value)])
            if key_of(value) in recorded
            else (Rung(text_or_none(value), 0, 0.0),)
            for value in values
        ),
    )


def _is_label(db: sqlite3.Connection, column: int, value: Value) -> bool:
    """Return whether a row comes with a label that a group has."""
    return bool(
        db.execute(
            "SELECT 1 FROM labels WHERE column = ? AND label = ?", (column, key_of(value))
        ).fetchone()
    )


_Ways = dict[str, list[tuple[str | None, int, float]]]
"""By the key of a value, its way up."""


def _new_ways(
    db: sqlite3.Connection,
    builder: HierarchyBuilder,
    name: str,
    column: int,
    values: list[Value],
) -> _Ways:
    """Return the ways up of new values; those that are labels and no raw values have none."""
    if not values:
        return {}
    known = {
        value: json.loads(path)
        for value, path in db.execute("SELECT value, path FROM paths WHERE column = ?", (column,))
    }
    texts = [json.loads(key) for key in known]
    try:
        ways = ways_up(builder.ladder(name, [*texts, *values]))
    except HierarchyError as error:
        raw = [value for value in values if not _is_label(db, column, value)]
        if len(raw) < len(values):
            return _new_ways(db, builder, name, column, raw)
        raise InputError(
            f"{error} The new rows cannot be generalised as the published ones were, and nothing "
            "was changed."
        ) from None
    moved = [json.loads(key) for key, path in known.items() if _names(ways[key]) != _names(path)]
    if moved:
        raise InputError(
            f"with the new values of {name!r}, {some(values)}, the hierarchy would give other "
            f"labels to {some(moved)}, which were published. Leave those rows out, or start a "
            "new ledger."
        )
    return {key_of(value): ways[key_of(value)] for value in values}


def ways_up(ladder: Ladder) -> _Ways:
    """Return for each value its label at every level, and what share of all values that is.

    >>> from sfumato.hierarchy import Suppress
    >>> ways_up(Suppress().ladder("sex", ["f", "m"]))['"f"']
    [('f', 0, 0.0), ('*', 1, 1.0)]
    """
    most = max(ladder.n_leaves - 1, 1)
    found = {}
    for i, value in enumerate(ladder.values):
        found[key_of(value)] = [
            (
                text_or_none(ladder.labels[level][code]),
                level,
                (float(ladder.leaves[level][code]) - 1) / most,
            )
            for level, code in enumerate(ladder.codes[:, i].tolist())
        ]
    return found


def record_ladder(db: sqlite3.Connection, column: int, ladder: Ladder) -> None:
    """Write down how all values of a column are generalised."""
    _record(db, ((column, key, path) for key, path in ways_up(ladder).items()))


def _remember(db: sqlite3.Connection, climbs: Sequence[Climbs]) -> None:
    """Write down how values were generalised, so that it stays so."""
    _record(
        db,
        (
            (each.column, key_of(value), [tuple(rung) for rung in rungs])
            for each in climbs
            for value, rungs in zip(each.values, each.rungs, strict=True)
            if len(rungs) > 1
        ),
    )


def _record(db: sqlite3.Connection, ways: Iterable[tuple[int, str, object]]) -> None:
    db.executemany(
        "INSERT OR IGNORE INTO paths VALUES (?, ?, ?)",
        ((column, key, json.dumps(path, ensure_ascii=False)) for column, key, path in ways),
    )


def _names(path: Sequence[Sequence[object]]) -> list[object]:
    return [rung[0] for rung in path]


def _existing(db: sqlite3.Connection, climbs: Climbs) -> dict[Value, list[Rung]]:
    """Keep the labels that some group has, and add the intervals that hold the value."""
    wanted = {key_of(rung.label) for rungs in climbs.rungs for rung in rungs}
    there = {
        label
        for [label] in db.execute(
            "SELECT label FROM labels WHERE column = ? AND label IN "
            "(SELECT value FROM json_each(?))",
            (climbs.column, json.dumps(sorted(wanted))),
        )
    }
    found = {
        # A label may stand for a value at two levels; the lower one is meant.
        value: list({r.label: r for r in rungs[::-1] if key_of(r.label) in there}.values())[::-1]
        for value, rungs in zip(climbs.values, climbs.rungs, strict=True)
    }
    lost = [value for value, rungs in found.items() if not _is_settled(rungs)]
    if lost:
        intervals = _intervals(db, climbs.column)
        for value in lost:
            found[value] += _around(value, intervals, {rung.label for rung in found[value]})
    return found


def _is_settled(rungs: Sequence[Rung]) -> bool:
    """Return whether a label was found that is no last resort."""
    return any(rung.share < 1 for rung in rungs)


class _Stretch(NamedTuple):
    label: str
    low: Decimal
    high: Decimal


def _intervals(db: sqlite3.Connection, column: int) -> list[_Stretch]:
    found = []
    for [key] in db.execute("SELECT label FROM labels WHERE column = ?", (column,)):
        label = json.loads(key)
        low, high = map(_point, ends_of(label) if label is not None else (None, None))
        if low is not None and high is not None and low <= high:
            found.append(_Stretch(label, low, high))
    return found


def ends_of(label: str) -> tuple[str | None, str | None]:
    """Read an interval of values that were present, as local methods write them.

    >>> ends_of("20-29"), ends_of("-5 to -1"), ends_of("2020-01-06 to 2020-01-12"), ends_of("x")
    (('20', '29'), ('-5', '-1'), ('2020-01-06', '2020-01-12'), (None, None))
    """
    separator = " to " if " to " in label else "-"
    low, found, high = label.partition(separator)
    return (low, high) if found and low else (None, None)


def _around(value: Value, stretches: Sequence[_Stretch], known: set[str | None]) -> list[Rung]:
    point = _point(value)
    if point is None or not stretches:
        return []
    whole = max(each.high for each in stretches) - min(each.low for each in stretches)
    return [
        Rung(each.label, _BETWEEN, float((each.high - each.low) / whole) if whole else 0.0)
        for each in stretches
        if each.low <= point <= each.high and each.label not in known
    ]


def _point(value: Value) -> Decimal | None:
    number = number_point(value)
    if number is None and (day := date_of(value)) is not None:
        return Decimal(day.toordinal())
    return number


def _levels(
    settings: Settings, climbs: Climbs, existing: dict[Value, list[Rung]]
) -> dict[Value, str | None]:
    """Return the label each value would have in a new group."""
    fixed = settings.levels[climbs.column]
    highest = max((r.level for rungs in existing.values() for r in rungs), default=None)
    level = fixed if fixed is not None else highest
    labels: dict[Value, str | None] = {}
    for value, rungs in zip(climbs.values, climbs.rungs, strict=True):
        at = [rung for rung in rungs if rung.level == level]
        labels[value] = (at or rungs)[-1].label
    return labels


def _group_with(db: sqlite3.Connection, candidates: Sequence[Sequence[Rung]]) -> str | None:
    """Find the most specific group that has one of these labels in every column."""
    if prod(map(len, candidates)) > _FEW:
        return _scan_groups(db, candidates)
    keys = {keys_of(rung.label for rung in way): _width(way) for way in product(*candidates)}
    found = db.execute(
        "SELECT id, labels FROM groups WHERE labels IN (SELECT value FROM json_each(?))",
        (json.dumps(list(keys)),),
    )
    best = min(((*keys[labels], number, labels) for number, labels in found), default=None)
    return None if best is None else str(best[-1])


def _scan_groups(db: sqlite3.Connection, candidates: Sequence[Sequence[Rung]]) -> str | None:
    rungs = [{rung.label: rung for rung in each} for each in candidates]
    best: tuple[float, int, int, str] | None = None
    for number, key in db.execute("SELECT id, labels FROM groups"):
        labels = json.loads(key)
        if all(label in each for label, each in zip(labels, rungs, strict=True)):
            way = [each[label] for label, each in zip(labels, rungs, strict=True)]
            best = min(filter(None, (best, (*_width(way), number, key))))
    return None if best is None else best[-1]


def _width(way: Sequence[Rung]) -> tuple[float, int]:
    """Return how much labels stand for; of equals, those of lower levels say more."""
    # Rounded, so that the order of adding up decides nothing.
    return round(sum(rung.share for rung in way), 9), sum(rung.level for rung in way)
