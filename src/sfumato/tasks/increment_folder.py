"""Writing the tables of a ledger's release as a folder of its own."""

import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from sfumato.decouplings import readme, schema_sql
from sfumato.engines import write_derived
from sfumato.evidence import SigningKey, write_evidence
from sfumato.ledger import pending
from sfumato.release import hash_of, write_manifest
from sfumato.tasks.increment import Increment, require
from sfumato.verifier import verify_folder


@dataclass(frozen=True)
class FolderOutput:
    """A folder that a release of a ledger is to become."""

    folder: Path
    form: str
    """csv, parquet or feather."""

    key: SigningKey | None = None
    """Signs the folder, if there is one."""

    place: None = None

    def stage(self, increment: Increment, db: sqlite3.Connection) -> pending.Staged:
        """Write it under a hidden name."""
        pending.sweep(self.folder, increment.owner, keep=pending.staged(db))
        stage = pending.stage_for(
            self.folder,
            increment.owner,
            lambda stage: write_tables(stage, increment, form=self.form, key=self.key),
        )
        return pending.staged_folder(stage, self.folder)

    def drop(self, staged: pending.Staged) -> None:
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
        file = {
            "name": path.name,
            "format": written.format,
            "rows": written.rows,
            "sha256": hash_of(path),
            **part.described(),
        }
        if written.delimiter is not None:
            file["delimiter"] = written.delimiter
        files.append(file)
    manifest = increment.manifest(files)
    (folder / "schema.sql").write_text(schema_sql(increment.parts), encoding="utf-8")
    (folder / "README.md").write_text(readme(manifest), encoding="utf-8")
    write_manifest(folder, manifest)
    write_evidence(folder, require(verify_folder(folder)), key)
