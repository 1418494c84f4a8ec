"""Starting a ledger: the first release of what is to grow."""

import json
import secrets
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.broken import Broken
from sfumato.checks import require_int
from sfumato.decoupled import Decoupled
from sfumato.engines import open_table
from sfumato.errors import InputError, ParameterError, some
from sfumato.ledger import chain, pending
from sfumato.ledger.limit import exact
from sfumato.ledger.meta import Settings
from sfumato.ledger.placing import record_ladder
from sfumato.ledger.promises import refuse_models
from sfumato.ledger.starting import groups_above, start_tables
from sfumato.ledger.store import new_ledger
from sfumato.policy import Policy
from sfumato.release import MANIFEST, manifest_text
from sfumato.tasks.broken_tables import open_broken, opened, require_broken
from sfumato.tasks.problem import ladder_of
from sfumato.tasks.publication import Publication
from sfumato.tasks.stored import is_stored, shown, stored_tables

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
    broken, manifest, origin = _decoupled(data)
    if policy is not None:
        _refuse_other_columns(policy, broken)
        refuse_models(policy)
    settings = _settings(broken, manifest, alpha, k, policy)
    above = tuple(groups_above(broken, limit))
    head = ""
    if not dry_run:
        with new_ledger(file) as db:
            settings.save(db)
            if source is not None and policy is not None:
                _record_source(db, settings, policy, source)
            start_tables(db, broken, np.random.default_rng(secrets.randbits(128)))
            head = chain.append(
                db,
                {
                    "sequence": 1,
                    "kind": "start",
                    "time": settings.created,
                    "files": origin,
                    "rows": {"joined": broken.total, "left": 0, "refused": 0, "waiting": 0},
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
        broken.total,
        broken.total,
        above=above,
        tables=broken,
        head=head,
        dry_run=dry_run,
        warnings=(text,) if above else (),
    )


def _decoupled(data: object) -> tuple[Broken, dict[str, Any], str]:
    """Give the tables of a decoupled release, what it says of itself, and a hash of it."""
    if isinstance(data, Broken):
        return data, {}, ""
    if isinstance(data, Decoupled):
        require_broken(data.method)
        return data.broken, dict(data.manifest), _origin(data)
    if (stored := stored_tables(data)) is not None:
        broken = opened(stored.tables, stored.claims).broken
        return broken, dict(stored.plain), _told(stored.plain)
    if isinstance(data, str | PathLike) and (Path(data).expanduser() / MANIFEST).is_file():
        folder = Path(data).expanduser()
        plain = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return open_broken(folder).broken, plain, pending.folder_hash(folder)
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
    broken: Broken,
    manifest: dict[str, Any],
    alpha: float,
    k: int | None,
    policy: Policy | None,
) -> Settings:
    if not broken.total or not broken.sensitive:
        raise InputError(
            "the release has no rows, or no sensitive column: there is nothing to keep"
        )
    said = {column["name"]: column for column in manifest.get("columns", ())}
    names = tuple(column.name for column in broken.quasi_identifiers)
    smallest = int(broken.sizes.min())
    models = policy.models if policy is not None else ()
    promised = [int(m.k) for m in models if hasattr(m, "k")]
    promised += [int(m["k"]) for m in manifest.get("models", ()) if "k" in m and not promised]
    return Settings(
        alpha=float(alpha),
        k=k or max(promised, default=max(min(_USUAL_K, smallest), 2)),
        quasi_identifiers=names,
        sensitive=broken.names,
        levels=tuple(said.get(name, {}).get("level") for name in names),
        policy="" if policy is None else policy.to_yaml(),
        folder=str(Path.cwd()),
        created=now(),
        salt=secrets.token_hex(32),
    )


def _refuse_other_columns(policy: Policy, broken: Broken) -> None:
    names = tuple(column.name for column in broken.quasi_identifiers)
    for what, mine, theirs in (
        ("quasi-identifiers", names, policy.quasi_identifiers),
        ("sensitive columns", broken.names, policy.sensitive),
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
