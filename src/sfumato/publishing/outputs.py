"""The tables of a ledger's release, and how they are written: to a folder or into a database."""

import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sfumato.decouplings import Parts, publish, readme, schema_sql
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import VerificationError
from sfumato.evidence import SigningKey, write_evidence
from sfumato.ledger import pending
from sfumato.ledger.pending import StagedRelease
from sfumato.ledger.store import Settings
from sfumato.releases.evidence import attestation
from sfumato.releases.manifest import (
    MANIFEST,
    ClassSizes,
    ColumnRecord,
    FileRecord,
    IncrementRecord,
    LeftOut,
    Manifest,
    Promise,
    RowRecord,
)
from sfumato.releases.release import hash_of
from sfumato.releases.stored import StoredOutput, relation_of
from sfumato.schema import Role
from sfumato.tables import in_types_of, write_derived
from sfumato.verifier import Verdict, verify_folder, verify_tables
from sfumato.verifier.release import promises_in

if TYPE_CHECKING:
    from sfumato.tables import DatabaseTable


@dataclass(frozen=True, eq=False)
class Increment:
    """The tables of one release of a ledger."""

    grouped: GroupedTables
    """What they hold."""

    settings: Settings
    """What the ledger was started with."""

    sequence: int
    everything: bool
    """Whether they hold all rows, and not only the newcomers."""

    rng: np.random.Generator
    """The order of the rows."""

    reproducible: bool
    """Whether that comes from a seed."""

    @cached_property
    def parts(self) -> Parts:
        """The tables, as they are published."""
        return publish(self.grouped, self.rng)

    @property
    def raw(self) -> tuple[str, ...]:
        """The columns whose values are published as they were given."""
        names, levels = self.settings.quasi_identifiers, self.settings.levels
        if self.settings.policy:
            names = tuple(name for name, level in zip(names, levels, strict=True) if level == 0)
        return (*names, *self.settings.sensitive)

    @property
    def owner(self) -> str:
        """The mark that distinguishes the ledger's unfinished work from that of others."""
        return owner_of(self.settings)

    def manifest(self, files: Sequence[FileRecord]) -> Manifest:
        """Describe the release: everything in it may be public."""
        roles = dict.fromkeys(self.settings.quasi_identifiers, Role.QUASI_IDENTIFIER)
        roles |= dict.fromkeys(self.settings.sensitive, Role.SENSITIVE)
        smallest = int(self.grouped.sizes.min())
        return Manifest(
            kind="break-merge",
            increment=IncrementRecord(self.sequence, "all" if self.everything else "newcomers"),
            columns=tuple(ColumnRecord(name, role.value) for name, role in roles.items()),
            rows=RowRecord(self.grouped.total, 0, "remove"),
            missing="own-value",
            models=(Promise("k-anonymity", {"k": smallest}, {"k": smallest}),),
            classes=ClassSizes.of(self.grouped.sizes),
            left_out=LeftOut(),
            reproducible=self.reproducible,
            group=self.parts.group,
            count=self.parts.count,
            files=tuple(files),
        )


class IncrementOutput(Protocol):
    """Where a release of a ledger is written: under another name first, until it is recorded."""

    @property
    def folder(self) -> Path | None:
        """The folder, if it is one."""

    @property
    def place(self) -> str | None:
        """The address of the first table, if it is in a database; no password is in it."""

    def stage(self, increment: Increment, db: Connection) -> StagedRelease:
        """Write it, let the verifier read it again, and return its name until later."""

    def drop(self, staged: StagedRelease) -> None:
        """Remove what was staged and is not to be published."""

    def finish(self, db: Connection) -> list[str]:
        """Rename everything that waits; return what is in the way."""


def owner_of(settings: Settings) -> str:
    """Return a mark of a ledger that does not tell its secret."""
    return sha256(settings.salt.encode()).hexdigest()[:12]


def require(verdict: Verdict) -> Verdict:
    """Raise if tables are not as promised."""
    if not verdict.holds:
        raise VerificationError(
            "the increment was not published, because the verifier does not find in its tables "
            f"what was promised. This is a fault of Sfumato; please report it.\n{verdict}"
        )
    return verdict


@dataclass(frozen=True)
class FolderOutput:
    """A folder that a release of a ledger is to become."""

    folder: Path
    form: str
    """csv, parquet or feather."""

    key: SigningKey | None = None
    """Signs the folder, if there is one."""

    place: None = None

    def stage(self, increment: Increment, db: sqlite3.Connection) -> StagedRelease:
        """Write it under a hidden name."""
        pending.sweep(self.folder, increment.owner, keep=pending.staged_names(db))
        stage = pending.stage_for(
            self.folder,
            increment.owner,
            lambda stage: write_tables(stage, increment, form=self.form, key=self.key),
        )
        return pending.staged_folder(stage, self.folder)

    def drop(self, staged: StagedRelease) -> None:
        """Remove the hidden folder."""
        shutil.rmtree(staged.stage, ignore_errors=True)

    def finish(self, db: sqlite3.Connection) -> list[str]:
        """Rename every folder that waits."""
        return pending.finish(db)


def write_tables(
    folder: Path, increment: Increment, *, form: str, key: SigningKey | None = None
) -> None:
    """Write tables as a decoupled release, and let the verifier read them again.

    Args:
        folder: An empty private folder.
        increment: What is written.
        form: csv, parquet or feather.
        key: Signs the folder, if there is one.
    """
    files = []
    for part in increment.parts.tables:
        path = folder / f"{part.name}.{form}"
        written = write_derived(part.content, path, format=form, likes={})
        files.append(
            FileRecord(
                path.name,
                written.format,
                written.rows,
                hash_of(path),
                delimiter=written.delimiter,
                **part.describe(),
            )
        )
    manifest = increment.manifest(files)
    (folder / "schema.sql").write_text(schema_sql(increment.parts), encoding="utf-8")
    (folder / "README.md").write_text(readme(manifest.to_dict()), encoding="utf-8")
    (folder / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
    write_evidence(folder, require(verify_folder(folder)), key)


@dataclass(frozen=True)
class TablesOutput:
    """Tables that a release of a ledger is to become."""

    database: "DatabaseTable"
    """Any table of the database they will be in."""

    output: StoredOutput
    key: SigningKey | None = None
    """Signs them, if there is one."""

    folder: None = None

    @property
    def place(self) -> str:
        """The address of the first table; no password is in it."""
        return self.output.place

    def stage(self, increment: Increment, db: sqlite3.Connection) -> StagedRelease:
        """Create them under hidden names, verified, and there to stay."""
        from sfumato.tables.sql.database import format_name
        from sfumato.tables.sql.releases import manifest_hash

        parts = increment.parts.tables
        names = self.output.names([part.name for part in parts])
        manifest = increment.manifest(
            [
                FileRecord(name, rows=part.content.rows, **part.describe())
                for name, part in zip(names, parts, strict=True)
            ]
        )
        text = manifest.to_json()
        signed = self.key is not None
        keep = [waiting[0] for waiting in pending.waiting_tables(db)]
        staging = self.database.staging(increment.owner)
        with staging.stage(names[0], names[1:], signed=signed, keep=keep) as unfinished:
            made = {}
            for part, name, now in zip(parts, names, unfinished.names, strict=True):
                # Of the types that the first release has: readers put the tables together.
                content, likes = in_types_of(part.content, self.database, increment.raw)
                self.database.store(content, now, likes)
                made[name] = self.database.open_other(now)
            unfinished.store_manifest(text)
            verdict = _verify(manifest, made)
            if self.key is not None:
                unfinished.store_evidence(attestation(text, made, verdict, self.key))
        waiting = list(unfinished.names)
        if unfinished.evidence is not None:
            waiting.append(format_name(unfinished.evidence))
            names.append(self.output.names(["", "evidence"])[1])
        return pending.staged_tables(waiting, names, manifest_hash(text))

    def drop(self, staged: StagedRelease) -> None:
        """Remove what was staged."""
        self.database.staging("").drop(pending.names_in(staged.stage))

    def finish(self, db: sqlite3.Connection) -> list[str]:
        """Rename the tables that wait, as far as they are in this database."""
        return finish_tables(db, self.database)


def _verify(manifest: Manifest, tables: Mapping[str, "DatabaseTable"]) -> Verdict:
    """Return the verifier's verdict on the tables; raise if they are not as promised."""
    claims = manifest.claims()
    relations = {name: relation_of(table) for name, table in tables.items()}
    return require(verify_tables(relations, claims, promises_in(claims)))


def finish_tables(db: sqlite3.Connection, database: "DatabaseTable | None") -> list[str]:
    """Rename what an interrupted publish left; return what could not be renamed."""
    if database is None:
        return pending.finish_tables(db, lambda staged, final, hashed: _ELSEWHERE)  # noqa: ARG005
    return pending.finish_tables(db, database.staging(owner_of(Settings.load(db))).settle)


_ELSEWHERE = (
    "they are in a database, under other names. Publish rows of that database, and they get "
    "their names."
)
