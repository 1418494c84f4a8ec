"""A release folder and the ledger, together or not at all.

The folder is written under a hidden name beside its target. The ledger then commits the release
with both names and the folder's hash, and only after that the folder is renamed. Whatever
interrupts this, the next one to open the ledger finishes it: before the commit nothing
happened and the hidden folder is removed, after it the renaming is made up for.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from sfumato.errors import OutputError

_UNFINISHED = "unfinished"


def stage_for(target: Path, ledger_id: str, write: Callable[[Path], None]) -> Path:
    """Write a folder under a hidden name beside its target, on the disk to the last byte."""
    stage = target.with_name(f".{target.name}.{ledger_id}.{_UNFINISHED}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(mode=0o700)
        write(stage)
        stage.chmod(0o755)
        for path in [*sorted(stage.iterdir()), stage]:
            _sync(path)
    except BaseException as error:
        shutil.rmtree(stage, ignore_errors=True)
        if isinstance(error, OSError) and not isinstance(error, OutputError):
            raise OutputError(
                f"cannot write {str(target)!r}: {error.strerror or error}. Nothing was changed."
            ) from None
        raise
    return stage


def note(db: sqlite3.Connection, sequence: int, stage: Path, target: Path) -> None:
    """Write down, in the same transaction as the release, that a folder is to be renamed."""
    db.execute(
        "INSERT INTO pending VALUES (?, ?, ?, ?)",
        (sequence, str(stage.absolute()), str(target.absolute()), folder_hash(stage)),
    )


def finish(db: sqlite3.Connection) -> list[str]:
    """Make up for renamings that were interrupted; say what could not be made up for."""
    problems = []
    for sequence, stage, target, expected in db.execute("SELECT * FROM pending").fetchall():
        problem = _finish(Path(stage), Path(target), expected)
        if problem:
            problems.append(f"the folder of release {sequence}: {problem}")
        else:
            db.execute("DELETE FROM pending WHERE sequence = ?", (sequence,))
    return problems


def _finish(stage: Path, target: Path, expected: str) -> str:
    if target.is_dir() and folder_hash(target) == expected:
        return ""
    if not stage.is_dir() or folder_hash(stage) != expected:
        return f"{str(stage)!r} is gone or was changed. Write it again from the ledger."
    if os.path.lexists(target) and (not target.is_dir() or any(target.iterdir())):
        return f"something else is in {str(target)!r}. Move it away, and it will be put there."
    try:
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


def staged(db: sqlite3.Connection) -> set[str]:
    """Name the hidden folders that are still to be renamed."""
    return {str(stage) for [stage] in db.execute("SELECT stage FROM pending")}


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
