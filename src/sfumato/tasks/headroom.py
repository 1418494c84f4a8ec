"""Headroom: how many more rows the groups of a ledger can take."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from sfumato.attacks.composition import Compared, Composition
from sfumato.checks import require_int
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import InputError, UnknownColumnError
from sfumato.ledger import records as history
from sfumato.ledger import store as chain
from sfumato.ledger.records import GroupState, current, labels_at, last_change, states
from sfumato.ledger.store import Settings, Tally, breach, key_of, permitted, reading
from sfumato.typing import Value

Which = Literal["most frequent", "asked", "waiting"]


@dataclass(frozen=True)
class Room:
    """One combination of values in one group: what it tells, and how many more may have it."""

    group: tuple[str | None, ...]
    size: int
    values: tuple[str | None, ...]
    which: Which
    """Why it is looked at: it is the likeliest of its group, was asked for, or rows wait for it."""

    breach: Fraction
    """Its breach probability now, for whoever knows the group and one of the values."""

    before: Fraction | None
    """The same before the last release that changed the group; None if there was none."""

    permitted: int | None
    """How many further rows would be admitted one after the other; None if there is no end."""

    @property
    def ratio(self) -> float | None:
        """By how much the last release raised it: (new − old) / old; None if that says nothing."""
        return None if not self.before else float((self.breach - self.before) / self.before)


@dataclass(frozen=True, eq=False)
class Headroom:
    """The combinations that were looked at, those closest to the limit first.

    How many rows are permitted counts rows of that combination alone. Rows of other
    combinations in the group make room for more.
    """

    alpha: float
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    rooms: tuple[Room, ...]
    groups: int
    """How many groups there are; not all need be shown."""

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {
            "alpha": self.alpha,
            "groups": self.groups,
            "rooms": [
                {
                    "group": dict(zip(self.quasi_identifiers, room.group, strict=True)),
                    "size": room.size,
                    "values": dict(zip(self.sensitive, room.values, strict=True)),
                    "which": room.which,
                    "breach": float(room.breach),
                    "before": None if room.before is None else float(room.before),
                    "ratio": room.ratio,
                    "permitted": room.permitted,
                }
                for room in self.rooms
            ],
        }

    def svg(self) -> str:
        """Draw what each combination told before the last release, and what it tells now."""
        from sfumato.drawing import bars_svg

        return bars_svg(
            [f"{_said(room.group)}: {_said(room.values)}" for room in self.rooms],
            [float(room.breach if room.before is None else room.before) for room in self.rooms],
            [float(room.breach) for room in self.rooms],
            title=f"Breach probabilities in the ledger; the limit is {self.alpha:g}",
        )

    def __repr__(self) -> str:
        return f"<Headroom {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        lines = [f"{self.groups} groups, alpha {self.alpha:g}"]
        for room in self.rooms:
            more = "any number of" if room.permitted is None else str(room.permitted)
            lines.append(
                f"  {_said(room.group)}: {_said(room.values)} tells {float(room.breach):.1%}, "
                f"{more} more"
            )
        return "\n".join(lines)


def headroom(
    ledger: str | PathLike[str],
    combinations: Sequence[Mapping[str, Value]] = (),
    *,
    group: Mapping[str, Value] | None = None,
    most: int | None = None,
) -> Headroom:
    """Say how many further rows each group of a ledger takes before it reaches alpha.

    A group has more combinations of values than anybody wants to read. Looked at are the
    likeliest of each group (the most frequent value of every column), those that are asked for,
    and those of rows that wait.

    Args:
        ledger: The file.
        combinations: Values to look at in every group, as `{"ill": "flu", "pay": "low"}`; a
            column that is left out takes its most frequent value.
        group: Only groups with these labels, as `{"age": "30-39"}`.
        most: Give only so many, those closest to the limit.

    Example:
        >>> import pyarrow as pa, tempfile
        >>> import sfumato as sf
        >>> table = pa.table({"age": ["30s"] * 4, "ill": ["flu", "gout", "gout", "hiv"]})
        >>> decoupled = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill"])
        >>> ledger = tempfile.mkdtemp() + "/clinic.ledger"
        >>> _ = sf.publish(decoupled, ledger, alpha=0.6)
        >>> print(headroom(ledger, [{"ill": "hiv"}]))
        1 groups, alpha 0.6
          30s: gout tells 50.0%, 1 more
          30s: hiv tells 25.0%, 3 more
    """
    if most is not None:
        require_int("most", most, at_least=1)
    with reading(Path(ledger)) as db:
        settings = Settings.load(db)
        for asked in combinations:
            _require_known(asked, settings.sensitive, "the sensitive columns")
        _require_known(group or {}, settings.quasi_identifiers, "the quasi-identifiers")
        waiting: dict[str, list[str]] = {}
        for labels, row in db.execute("SELECT labels, row FROM waiting WHERE kind = 'add'"):
            waiting.setdefault(labels, []).append(row)
        rooms: list[Room] = []
        n = 0
        for state in states(db, settings):
            n += 1
            if state.record is None or not _is_in(state, settings, group or {}):
                continue
            change = last_change(db, state.record.id)
            wanted = _wanted(state, settings, combinations, waiting.get(state.key, ()))
            rooms += [_room(state, which, row, change, settings.limit) for which, row in wanted]
    if group and not rooms:
        raise InputError(f"the ledger has no group with {dict(group)!r}. See: sfumato ledger show")
    rooms.sort(key=_closeness)
    return Headroom(
        settings.alpha, settings.quasi_identifiers, settings.sensitive, tuple(rooms[:most]), n
    )


def _closeness(room: Room) -> tuple[bool, int, Fraction]:
    return room.permitted is None, room.permitted or 0, -room.breach


def _require_known(named: Mapping[str, Value], known: tuple[str, ...], where: str) -> None:
    for name in named:
        if name not in known:
            raise UnknownColumnError(name, known, where=where)


def _is_in(state: GroupState, settings: Settings, group: Mapping[str, Value]) -> bool:
    labels = dict(zip(settings.quasi_identifiers, json.loads(state.key), strict=True))
    return all(key_of(labels[name]) == key_of(value) for name, value in group.items())


def _wanted(
    state: GroupState,
    settings: Settings,
    combinations: Sequence[Mapping[str, Value]],
    waiting: Sequence[str],
) -> Iterator[tuple[Which, tuple[str, ...]]]:
    """Name the combinations to look at, each once."""
    frequent = tuple(
        max(sorted(codes), key=lambda value, c=codes, r=rows: r[c[value]])  # type: ignore[misc]
        for codes, rows in zip(state.codes, state.rows, strict=True)
    )
    seen = {frequent}
    yield "most frequent", frequent
    asked = [
        tuple(
            key_of(named[name]) if name in named else usual
            for name, usual in zip(settings.sensitive, frequent, strict=True)
        )
        for named in combinations
    ]
    in_line = [tuple(key_of(value) for value in json.loads(row)) for row in waiting]
    for which, rows in (("asked", asked), ("waiting", in_line)):
        for row in rows:
            if row not in seen:
                seen.add(row)
                yield which, row  # type: ignore[misc]


def _room(
    state: GroupState,
    which: Which,
    row: tuple[str, ...],
    change: tuple[int, dict[tuple[int, str], int]],
    limit: Fraction,
) -> Room:
    codes = tuple(state.code(column, value) for column, value in enumerate(row))
    tally = state.tally()
    return Room(
        tuple(json.loads(state.key)),
        tally.size,
        tuple(json.loads(value) for value in row),
        which,
        breach(tally, codes)[1],
        _before(tally, row, codes, change),
        permitted(tally, codes, limit),
    )


def _before(
    tally: Tally,
    row: tuple[str, ...],
    codes: tuple[int, ...],
    change: tuple[int, dict[tuple[int, str], int]],
) -> Fraction | None:
    """Give a combination's breach probability before the last release that changed its group."""
    grown, counts = change
    if not counts or tally.size == grown:
        return None
    import numpy as np

    earlier = tuple(
        np.array([int(tally.counts[i][code]) - counts.get((i, value), 0)])
        for i, (value, code) in enumerate(zip(row, codes, strict=True))
    )
    return breach(Tally(tally.size - grown, earlier), (0,) * len(row))[1]


def _said(values: Sequence[str | None]) -> str:
    return ", ".join("(missing)" if value is None else value for value in values)


# Looking into a ledger: its releases, its groups, and whether it was edited.


def log(ledger: str | PathLike[str]) -> list[dict[str, Any]]:
    """Give the entries of a ledger, the first release first."""
    with reading(Path(ledger)) as db:
        return history.entries(db)


def verify_ledger(ledger: str | PathLike[str], head: str | None = None) -> list[str]:
    """Recompute the chain and the counts; give what does not agree, or nothing."""
    with reading(Path(ledger)) as db:
        return chain.faults(db, head)


def compare(ledger: str | PathLike[str], earlier: int, later: int) -> Compared:
    """Say what two releases of a ledger tell together."""
    with reading(Path(ledger)) as db:
        settings = Settings.load(db)
        tables = [history.at(db, settings, sequence) for sequence in (earlier, later)]
    return Composition(settings.alpha, settings.k).run(*tables)


@dataclass(frozen=True, eq=False)
class Contents:
    """What a ledger holds. Whole rows are not among it, not even those that wait."""

    alpha: float
    k: int
    created: str
    tables: GroupedTables
    release: int
    waiting: int
    with_policy: bool

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        names = [column.name for column in self.tables.quasi_identifiers]
        return {
            "alpha": self.alpha,
            "k": self.k,
            "created": self.created,
            "release": self.release,
            "rows": self.tables.total,
            "waiting": self.waiting,
            "policy": self.with_policy,
            "sensitive": list(self.tables.names),
            "groups": [
                {
                    "group": dict(zip(names, labels_at(self.tables, g), strict=True)),
                    "rows": int(size),
                }
                for g, size in enumerate(self.tables.sizes)
            ],
        }


def contents(ledger: str | PathLike[str], release: int | None = None) -> Contents:
    """Give what a ledger was started with, and its groups now or after some release."""
    with reading(Path(ledger)) as db:
        settings = Settings.load(db)
        [last] = db.execute("SELECT MAX(sequence) FROM releases").fetchone()
        [waiting] = db.execute("SELECT COALESCE(SUM(rows), 0) FROM waiting").fetchone()
        now = release is None
        tables = current(db, settings) if now else history.at(db, settings, int(release or 0))
    return Contents(
        settings.alpha,
        settings.k,
        settings.created,
        tables,
        release or last,
        waiting,
        bool(settings.policy),
    )
