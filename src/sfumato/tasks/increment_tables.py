"""Writing the tables of a ledger's release into the database that its rows came from."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sfumato.engines import in_types_of
from sfumato.evidence import SigningKey
from sfumato.ledger import pending
from sfumato.ledger.meta import Settings
from sfumato.release import manifest_text
from sfumato.tasks.increment import Increment, owner_of, require
from sfumato.tasks.promises import claims_in
from sfumato.tasks.stored import StoredOutput, relation_of
from sfumato.tasks.stored_evidence import attestation
from sfumato.verifier import Verdict, verify_tables
from sfumato.verifier.folder import promises_in

if TYPE_CHECKING:
    from sfumato.engines.ibis.table import IbisTable


@dataclass(frozen=True)
class TablesOutput:
    """Tables that a release of a ledger is to become."""

    database: "IbisTable"
    """Any table of the database they will be in."""

    output: StoredOutput
    key: SigningKey | None = None
    """Signs them, if there is one."""

    folder: None = None

    @property
    def place(self) -> str:
        """The address of the first table; no password is in it."""
        return self.output.place

    def stage(self, increment: Increment, db: sqlite3.Connection) -> pending.Staged:
        """Create them under names that nobody looks for, verified, and there to stay."""
        from sfumato.engines.ibis.address import written
        from sfumato.engines.ibis.staging import manifest_hash

        parts = increment.parts.tables
        names = self.output.names([part.name for part in parts])
        manifest = increment.manifest(
            [
                {"name": name, "rows": part.content.rows, **part.described()}
                for name, part in zip(names, parts, strict=True)
            ]
        )
        text = manifest_text(manifest)
        signed = self.key is not None
        keep = [waiting[0] for waiting in pending.waiting_tables(db)]
        staging = self.database.for_ledger(increment.owner)
        with staging.staged(names[0], names[1:], signed=signed, keep=keep) as unfinished:
            made = {}
            for part, name, now in zip(parts, names, unfinished.names, strict=True):
                # Of the types that the first release has: readers put the tables together.
                content, likes = in_types_of(part.content, self.database, increment.raw)
                self.database.store(content, now, likes)
                made[name] = self.database.other(now)
            unfinished.keep(text)
            verdict = _verified(manifest, made)
            if self.key is not None:
                unfinished.attest(attestation(text, made, verdict, self.key))
        waiting = list(unfinished.names)
        if unfinished.evidence is not None:
            waiting.append(written(unfinished.evidence))
            names.append(self.output.names(["", "evidence"])[1])
        return pending.staged_tables(waiting, names, manifest_hash(text))

    def drop(self, staged: pending.Staged) -> None:
        """Remove what was staged."""
        self.database.for_ledger("").drop(pending.names_in(staged.stage))

    def finish(self, db: sqlite3.Connection) -> list[str]:
        """Give the tables that wait their names, as far as they are in this database."""
        return finish_tables(db, self.database)


def _verified(manifest: dict[str, Any], tables: Mapping[str, "IbisTable"]) -> Verdict:
    """Let the verifier ask the tables whether they are as promised."""
    claims = claims_in(manifest)
    relations = {name: relation_of(table) for name, table in tables.items()}
    return require(verify_tables(relations, claims, promises_in(claims)))


def finish_tables(db: sqlite3.Connection, database: "IbisTable | None") -> list[str]:
    """Make up for what an interrupted publish left without its name; say what could not be."""
    if database is None:
        return pending.finish_tables(db, lambda staged, final, told: _ELSEWHERE)  # noqa: ARG005
    return pending.finish_tables(db, database.for_ledger(owner_of(Settings.load(db))).settle)


_ELSEWHERE = (
    "they are in a database, under other names. Publish rows of that database, and they get "
    "their names."
)
