"""A release and the ledger, together or not at all.

A folder is written under a hidden name beside its target. The ledger then commits the release
with both names and the folder's hash, and only after that the folder is renamed. Whatever
interrupts this, the next one to open the ledger finishes it: before the commit nothing
happened and the hidden folder is removed, after it the renaming is made up for. With tables of a
database it is the same, but only a caller who is connected to it can rename them.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from sfumato.errors import OutputError, reason_of
from sfumato.files import open_to_readers
from sfumato.files.confinement import require_inside
from sfumato.ledger.chain import seal_pending

_UNFINISHED = "unfinished"
_TABLES = "table:"
"""What the stage of tables begins with; folders are written down with their whole path."""


class StagedRelease(NamedTuple):
    """Something that is written and waits for its name."""

    stage: str
    target: str
    hash: str


def staged_folder(stage: Path, target: Path) -> StagedRelease:
    """Describe a folder that waits for its name."""
    return StagedRelease(str(stage.absolute()), str(target.absolute()), folder_hash(stage))


def staged_tables(names: Sequence[str], final: Sequence[str], hashed: str) -> StagedRelease:
    """Describe tables that wait for their names.

    >>> staged_tables(["x1"], ["april"], "3f5a")
    StagedRelease(stage='table:["x1"]', target='table:["april"]', hash='3f5a')
    """
    stage, target = (
        _TABLES + json.dumps(list(each), ensure_ascii=False) for each in (names, final)
    )
    return StagedRelease(stage, target, hashed)


def names_in(tables: str) -> list[str]:
    """Return the names of tables as they are written down.

    >>> names_in('table:["april", "april_sensitive_ill"]')
    ['april', 'april_sensitive_ill']
    """
    names: list[str] = json.loads(tables.removeprefix(_TABLES))
    return names


def stage_for(target: Path, ledger_id: str, write: Callable[[Path], None]) -> Path:
    """Write a folder under a hidden name beside its target, on the disk to the last byte."""
    require_inside(target, OutputError)
    stage = target.with_name(f".{target.name}.{ledger_id}.{_UNFINISHED}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(mode=0o700)
        write(stage)
        open_to_readers(stage)
        for path in [*sorted(stage.iterdir()), stage]:
            _sync(path)
    except BaseException as error:
        shutil.rmtree(stage, ignore_errors=True)
        if isinstance(error, OSError) and not isinstance(error, OutputError):
            raise OutputError(
                f"cannot write {str(target)!r}: {reason_of(error)}. Nothing was changed."
            ) from None
        raise
    return stage


def is_stage(folder: Path) -> bool:
    """Return whether a folder waits for its name, or was left behind by an interrupted run.

    >>> is_stage(Path(".april.0d3f.unfinished")), is_stage(Path("april"))
    (True, False)
    """
    return folder.name.startswith(".") and folder.name.endswith(f".{_UNFINISHED}")


def note(db: sqlite3.Connection, sequence: int, staged: StagedRelease) -> None:
    """Write down, in the same transaction as the release, that something is to be renamed."""
    db.execute("INSERT INTO pending VALUES (?, ?, ?, ?)", (sequence, *staged))


def finish(db: sqlite3.Connection) -> list[str]:
    """Make up for interrupted renamings of folders, and return what could not be made up for."""
    return _finish_all(
        db, "folder", lambda stage, target, hashed: _rename(Path(stage), Path(target), hashed)
    )


def finish_tables(
    db: sqlite3.Connection, settle: Callable[[list[str], list[str], str], str]
) -> list[str]:
    """Make up for interrupted renamings of tables; `settle` renames, or returns what hinders it."""
    return _finish_all(
        db,
        "tables",
        lambda stage, target, hashed: settle(names_in(stage), names_in(target), hashed),
    )


def _finish_all(
    db: sqlite3.Connection, what: str, settle: Callable[[str, str, str], str]
) -> list[str]:
    problems = []
    for sequence, *staged in db.execute("SELECT * FROM pending ORDER BY sequence").fetchall():
        if staged[0].startswith(_TABLES) != (what == "tables"):
            continue
        problem = settle(*staged)
        if problem:
            problems.append(f"the {what} of release {sequence}: {problem}")
        else:
            db.execute("DELETE FROM pending WHERE sequence = ?", (sequence,))
            seal_pending(db)
    return problems


def _rename(stage: Path, target: Path, expected: str) -> str:
    try:
        # Where they are is what the ledger says, and a ledger may come from elsewhere.
        require_inside(stage, OutputError)
        require_inside(target, OutputError)
        if target.is_dir() and folder_hash(target) == expected:
            return ""
        if not stage.is_dir() or folder_hash(stage) != expected:
            return f"{str(stage)!r} is gone or was changed. Write it again from the ledger."
        if os.path.lexists(target) and (not target.is_dir() or any(target.iterdir())):
            return f"something else is in {str(target)!r}. Move it away, and it will be put there."
        stage.rename(target)
        _sync(target.parent)
    except OSError as error:
        return str(error)
    return ""


def sweep(target: Path, ledger_id: str, *, keep: set[str]) -> None:
    """Remove what an interrupted publish on this ledger left beside a target."""
    with suppress(OSError):
        for path in target.parent.glob(f".*.{ledger_id}.{_UNFINISHED}"):
            if str(path.absolute()) not in keep:
                shutil.rmtree(path, ignore_errors=True)


def staged_names(db: sqlite3.Connection) -> set[str]:
    """Return the names of what is still to be renamed, as they are written down."""
    return {str(stage) for [stage] in db.execute("SELECT stage FROM pending")}


def waiting_tables(db: sqlite3.Connection) -> list[list[str]]:
    """Return the present names of the tables that are still to be renamed."""
    return [names_in(stage) for stage in sorted(staged_names(db)) if stage.startswith(_TABLES)]


def folder_hash(folder: Path) -> str:
    """Hash the names and contents of a folder's files."""
    digest = sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file():
            digest.update(f"{path.name}\n".encode())
            digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
