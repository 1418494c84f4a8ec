"""Starting a ledger: the first release of what is to grow."""

import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.attacks.composition import Compared
from sfumato.checks import require_int
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import InputError, ParameterError, some
from sfumato.ledger import pending
from sfumato.ledger import store as chain
from sfumato.ledger.increment import Held, Refusal, refuse_models
from sfumato.ledger.placing import record_ladder
from sfumato.ledger.records import current, groups_above, start_tables
from sfumato.ledger.store import Settings, exact, new_ledger, reading
from sfumato.policy import Policy
from sfumato.recode.problem import ladder_of
from sfumato.releases.manifest import promise_of, promised_class_size
from sfumato.releases.opening import open_grouped, opened, require_grouped
from sfumato.releases.release import MANIFEST, Decoupled, manifest_text
from sfumato.releases.stored import is_stored, shown, stored_tables
from sfumato.tables import open_table

# What a publish on a ledger gives back.


@dataclass(frozen=True, eq=False)
class Publication:
    """What became of an increment, or that a ledger was started.

    Nothing in it is for publication but the tables: refused and waiting rows are whole rows.
    """

    ledger: Path
    sequence: int
    """The number of this entry in the ledger; the first release is 1."""

    alpha: float
    columns: tuple[str, ...]
    """The sensitive columns, in the order in which rows below have their values."""

    given: int
    """How many rows were given."""

    admitted: int
    """How many rows joined the published tables, of those given now and those that had waited."""

    left: int = 0
    """How many rows left them."""

    corrected: int = 0
    withdrawn: int = 0
    """How many rows were taken back before they were published."""

    refused: tuple[Refusal, ...] = ()
    held: tuple[Held, ...] = ()
    waiting: int = 0
    """How many rows wait in the ledger now."""

    above: tuple[tuple[tuple[str | None, ...], Fraction], ...] = ()
    """Groups that were published above alpha, and what they tell now; nothing in them may rise."""

    composition: Compared | None = None
    """What a comparison with the last release shows; None for the first."""

    refused_before: int = 0
    """How many of the refused rows had been refused before."""

    tables: GroupedTables | None = None
    """The tables of those who joined, or all of them if somebody left; None if nothing changed."""

    folder: Path | None = None
    place: str | None = None
    """The address of the first table that was written, if it is in a database."""

    head: str = ""
    """The hash of this entry: keep it elsewhere, and `ledger verify` finds any forgery."""

    dry_run: bool = False
    warnings: tuple[str, ...] = field(default=())

    @property
    def current(self) -> GroupedTables:
        """All tables as they are published now, read from the ledger."""
        with reading(self.ledger) as db:
            return current(db, Settings.load(db))

    @property
    def refused_rows(self) -> int:
        """How many rows were refused."""
        return sum(each.rows for each in self.refused)

    @property
    def held_rows(self) -> int:
        """How many rows of this increment, or in its groups, wait."""
        return sum(each.rows for each in self.held)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold. Refused rows are in it."""
        return {
            "ledger": str(self.ledger),
            "sequence": self.sequence,
            "alpha": self.alpha,
            "dry_run": self.dry_run,
            "given": self.given,
            "admitted": self.admitted,
            "left": self.left,
            "corrected": self.corrected,
            "withdrawn": self.withdrawn,
            "refused": [self._refusal(each) for each in self.refused],
            "refused_before": self.refused_before,
            "held": [self._held(each) for each in self.held],
            "waiting": self.waiting,
            "above": [
                {"group": list(labels), "breach": float(share)} for labels, share in self.above
            ],
            "composition": None if self.composition is None else self.composition.to_dict(),
            "folder": None if self.folder is None else str(self.folder),
            **({} if self.place is None else {"place": self.place}),
            "head": self.head,
            "warnings": list(self.warnings),
        }

    def _refusal(self, refusal: Refusal) -> dict[str, Any]:
        return {
            "group": list(refusal.labels),
            "values": dict(zip(self.columns, refusal.row, strict=True)),
            "rows": refusal.rows,
            "breach_by_group": float(refusal.group_only),
            "breach_with_a_value": float(refusal.with_a_value),
            "largest_breach": float(refusal.worst),
        }

    def _held(self, held: Held) -> dict[str, Any]:
        return {
            "kind": held.ask.kind,
            "group": json.loads(held.ask.labels),
            "values": dict(zip(self.columns, json.loads(held.ask.row), strict=True)),
            "rows": held.rows,
            "why": held.why,
        }

    def __repr__(self) -> str:
        return f"<Publication {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        if self.sequence == 1:
            return f"ledger started with {self.admitted} rows, alpha {self.alpha:g}"
        would = "would be " if self.dry_run else ""
        parts = [f"{self.admitted} rows {would}admitted"]
        parts += [f"{self.left} left"] if self.left else []
        parts += [f"{self.corrected} corrected"] if self.corrected else []
        parts += [f"{self.withdrawn} withdrawn"] if self.withdrawn else []
        parts += [f"{self.refused_rows} refused", f"{self.held_rows} held back"]
        return f"release {self.sequence}: {', '.join(parts)}; {self.waiting} wait in the ledger"


_USUAL_K = 5
"""Fewest newcomers of a group where no k is promised, if the groups are as large."""


def start_ledger(
    data: object,
    file: Path,
    alpha: float | None,
    k: int | None,
    policy: Policy | None,
    source: object,
    *,
    dry_run: bool,
) -> Publication:
    """Make a ledger of a decoupled release."""
    if alpha is None:
        raise ParameterError(
            "alpha",
            None,
            "a number above 0 and at most 1",
            why="a new ledger needs to know how much its tables may tell",
        )
    limit = exact(alpha)
    if k is not None:
        require_int("k", k, at_least=1)
    grouped, manifest, origin = _decoupled(data)
    if policy is not None:
        _refuse_other_columns(policy, grouped)
        refuse_models(policy)
    settings = _settings(grouped, manifest, alpha, k, policy)
    above = tuple(groups_above(grouped, limit))
    head = ""
    if not dry_run:
        with new_ledger(file) as db:
            settings.save(db)
            if source is not None and policy is not None:
                _record_source(db, settings, policy, source)
            start_tables(db, grouped, np.random.default_rng(secrets.randbits(128)))
            head = chain.append(
                db,
                {
                    "sequence": 1,
                    "kind": "start",
                    "time": settings.created,
                    "files": origin,
                    "rows": {"joined": grouped.total, "left": 0, "refused": 0, "waiting": 0},
                },
            )
    text = (
        f"{len(above)} groups tell more than alpha already: no row will be admitted that raises "
        "what is above it"
    )
    return Publication(
        file,
        1,
        alpha,
        settings.sensitive,
        grouped.total,
        grouped.total,
        above=above,
        tables=grouped,
        head=head,
        dry_run=dry_run,
        warnings=(text,) if above else (),
    )


def _decoupled(data: object) -> tuple[GroupedTables, dict[str, Any], str]:
    """Give the tables of a decoupled release, what it says of itself, and a hash of it."""
    if isinstance(data, GroupedTables):
        return data, {}, ""
    if isinstance(data, Decoupled):
        require_grouped(data.method)
        return data.grouped, dict(data.manifest), _origin(data)
    if (stored := stored_tables(data)) is not None:
        grouped = opened(stored.tables, stored.claims).grouped
        return grouped, dict(stored.plain), _told(stored.plain)
    if isinstance(data, str | PathLike) and (Path(data).expanduser() / MANIFEST).is_file():
        folder = Path(data).expanduser()
        plain = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return open_grouped(folder).grouped, plain, pending.folder_hash(folder)
    what = "None" if data is None else called(data)
    raise InputError(
        f"a ledger starts from a decoupled release, and {what} is none. Anonymise the table and "
        "decouple it first: sfumato anonymize, then sfumato decouple; or name a ledger that exists "
        "to publish new rows on it."
    )


def _origin(release: Decoupled) -> str:
    if release.folder is not None:
        return pending.folder_hash(release.folder)
    return "" if release.place is None else _told(release.manifest)


def _told(manifest: Mapping[str, Any]) -> str:
    """Hash what a release in a database says of itself: there is no checksum of its tables."""
    return sha256(manifest_text(manifest).encode()).hexdigest()


def _settings(
    grouped: GroupedTables,
    manifest: dict[str, Any],
    alpha: float,
    k: int | None,
    policy: Policy | None,
) -> Settings:
    if not grouped.total or not grouped.sensitive:
        raise InputError(
            "the release has no rows, or no sensitive column: there is nothing to keep"
        )
    said = {column["name"]: column for column in manifest.get("columns", ())}
    names = tuple(column.name for column in grouped.quasi_identifiers)
    smallest = int(grouped.sizes.min())
    models = policy.models if policy is not None else ()
    promised = promised_class_size(map(promise_of, models))
    promised = promised or promised_class_size(manifest.get("models", ()))
    return Settings(
        alpha=float(alpha),
        k=k or promised or max(min(_USUAL_K, smallest), 2),
        quasi_identifiers=names,
        sensitive=grouped.names,
        levels=tuple(said.get(name, {}).get("level") for name in names),
        policy="" if policy is None else policy.to_yaml(),
        folder=str(Path.cwd()),
        created=now(),
        salt=secrets.token_hex(32),
    )


def _refuse_other_columns(policy: Policy, grouped: GroupedTables) -> None:
    names = tuple(column.name for column in grouped.quasi_identifiers)
    for what, mine, theirs in (
        ("quasi-identifiers", names, policy.quasi_identifiers),
        ("sensitive columns", grouped.names, policy.sensitive),
    ):
        if set(mine) != set(theirs):
            raise InputError(
                f"the policy has the {what} {some(theirs, most=20)}, the release has "
                f"{some(mine, most=20)}. Give the policy the release was made with."
            )


def _record_source(
    db: sqlite3.Connection, settings: Settings, policy: Policy, source: object
) -> None:
    counts = open_table(source).count(settings.quasi_identifiers)
    for column, name in enumerate(settings.quasi_identifiers):
        if policy.columns[name].hierarchy is not None:
            record_ladder(db, column, ladder_of(policy, counts, name))


def now() -> str:
    """Give the time as ledgers write it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def called(data: object) -> str:
    """Name what was given in a message."""
    if isinstance(data, tuple) and is_stored(data):
        return f"table {data[1]}"
    return repr(shown(data)) if isinstance(data, str | PathLike) else f"a {type(data).__name__}"
