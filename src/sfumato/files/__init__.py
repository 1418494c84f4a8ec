"""Files as they are read, and as they are written: whole or not at all, no more open than needed.

Work in progress is under another name, in a folder that only its owner reads. A lock of the
operating system says whether that owner is still at work; it ends with the process, however that
ends. What a killed run left behind is removed by the next one that writes beside it.
"""

import os
import re
import secrets
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

from sfumato.errors import InputError, OutputError, SfumatoError, reason_of
from sfumato.files.confinement import require_inside
from sfumato.files.private import refuse_inside_release, release_around
from sfumato.text import format_integer

T = TypeVar("T")

_SPECIAL = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def refuse_special(
    path: str | PathLike[str], error: Callable[[str], SfumatoError] = InputError
) -> None:
    """Raise before it is opened if a path leads to what never ends, or can be read only once.

    To open a pipe waits for a writer, and a device may have no end. What does not exist, or may
    not be looked at, is left to those who open it. Where work is confined to a folder, what lies
    elsewhere is refused too: everything that is read by its name comes through here.

    Args:
        path: The path; links are followed.
        error: The kind of error.
    """
    require_inside(path, error)
    try:
        kind = _SPECIAL.get(stat.S_IFMT(Path(path).stat().st_mode))
    except (OSError, ValueError):
        return
    if kind is not None:
        raise error(
            f"{str(path)!r} is {kind}, not a file, and files are read more than once. Save what "
            "comes out of it as a file, and give that: also in place of <(command)."
        )


def read_small(
    path: Path,
    what: str,
    most: int,
    *,
    hint: str = "",
    error: Callable[[str], SfumatoError] = InputError,
) -> bytes:
    """Read a file whole that must not be large; raise `OSError` if it cannot be read.

    Args:
        path: The file.
        what: What it is, for the message: "a policy".
        most: How many bytes it may have.
        hint: What to do if it has more.
        error: The kind of error.
    """
    refuse_special(path, error)
    with path.open("rb") as file:
        # Not by its size: what the system makes up while it is read has none.
        data = file.read(most + 1)
    if len(data) > most:
        raise error(
            f"{path}: the file is too large, {what} has at most {format_integer(most)} bytes. "
            f"{hint}"
        )
    return data


_ADDRESS = re.compile(r"[a-z][\w+.-]+://", re.IGNORECASE)


def is_address(name: str) -> bool:
    """Return whether a name is the address of a table in a database, and no file's.

    >>> is_address("DuckDB:///p.db?table=t"), is_address("/home/a folder://people.csv")
    (True, False)
    """
    return _ADDRESS.match(name) is not None


def in_folder(member: T, names: Sequence[str], folder: str | PathLike[str]) -> T:
    """Return a dataclass with the files it names in a folder, unless their paths are whole.

    Args:
        member: The dataclass.
        names: Its fields that name files; those that are None stay so.
        folder: The folder.
    """
    found: dict[str, str | Path] = {}
    for name in names:
        given = getattr(member, name)
        if given is not None:
            path = Path(folder) / given
            found[name] = str(path) if isinstance(given, str) else path
    return replace(cast("Any", member), **found) if found else member


PRIVATE = 0o600
"""The mode of files that are not for publication, whatever the umask says."""


def write_file(path: Path, text: str | bytes, *, private: str = "") -> None:
    """Write a file whole or not at all; one that is there is replaced.

    Args:
        path: The file.
        text: What it holds; a text is written in UTF-8.
        private: What it is ("the report"), if it is not for publication: then only its owner may
            read it, and it is refused inside a release.
    """
    require_inside(path, OutputError)
    refuse_release(path, private)
    data = text.encode() if isinstance(text, str) else text
    temporary: Path | None = None
    try:
        if os.path.lexists(path) and not path.is_file() and path.exists():
            # A device or a pipe: what is written goes through it, and it stays.
            path.write_bytes(data)
            return
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(PRIVATE if private else 0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise OutputError(
            f"cannot write {str(path)!r}: {reason_of(error)}. Nothing was left behind. Choose "
            "another file."
        ) from None
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()


def refuse_release(path: Path, private: str = "") -> None:
    """Raise if a file would lie in a release, which has its own files and no others.

    Args:
        path: The file.
        private: What it is, if it is not for publication.
    """
    if private:
        refuse_inside_release(path, private)
    release = release_around(path)
    if release is not None:
        raise OutputError(
            f"{str(path)!r} would lie in the release {str(release)!r}, whose evidence names every "
            "file. Write it somewhere else."
        )


def open_to_readers(folder: Path) -> None:
    """Open a folder that was private to those who may read what its owner publishes."""
    folder.chmod(0o755 & ~_umask())


def _umask() -> int:
    # It can only be asked for by setting it: two threads that do so at once would set it for good.
    with _ASKING:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask


_ASKING = threading.Lock()


# Folders in which work is going on.


_SUFFIX = ".unfinished"
_REPLACED = ".replaced"


@contextmanager
def unfinished_folder(
    target: Path,
    *,
    hint: str = "Choose another output folder, or change its permissions.",
) -> Iterator[Path]:
    """Yield a private folder beside a target, which vanishes with the block.

    It may be renamed in the block; then nothing vanishes. What killed runs left there before is
    removed first. Folders above the target are made, and removed again if they stay empty.

    Args:
        target: What is going to be made.
        hint: What to do if nothing can be written there.
    """
    require_inside(target, OutputError)
    parent = target.parent
    new_parents = [folder for folder in (parent, *parent.parents) if not os.path.lexists(folder)]
    stage: Path | None = None
    lock = -1
    try:
        try:
            parent.mkdir(parents=True, exist_ok=True)
            sweep(parent)
            stage, lock = _make_locked(target)
        except OSError as error:
            raise OutputError(
                f"cannot write in {str(parent)!r}: {reason_of(error)}. {hint}"
            ) from None
        yield stage
    finally:
        if stage is not None:
            shutil.rmtree(stage, ignore_errors=True)
        if lock >= 0:
            os.close(lock)
        for folder in new_parents:
            # Only what is empty goes: if the release is in it, it stays.
            with suppress(OSError):
                folder.rmdir()


def write_folder(folder: Path, texts: Mapping[str, str], *, private: str) -> list[Path]:
    """Write several private files into a folder, all of them or none; equal names are replaced.

    Args:
        folder: Where to write; made if it is not there.
        texts: The files by their names.
        private: What each of them is ("the drawing").
    """
    refuse_release(folder / "x", private)
    with unfinished_folder(folder) as stage:
        for name, text in texts.items():
            write_file(stage / name, text, private=private)
        try:
            folder.mkdir(exist_ok=True)
            for name in texts:
                (stage / name).replace(folder / name)
        except OSError as error:
            raise OutputError(
                f"cannot write in {str(folder)!r}: {reason_of(error)}. Choose another folder."
            ) from None
    return [folder / name for name in texts]


def _make_locked(target: Path) -> tuple[Path, int]:
    """Make a private folder and lock it; without locks on this disk the second is -1."""
    while True:
        suffix = f".{_host()}{_SUFFIX}"
        stage = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=suffix, dir=target.parent))
        lock = _lock(stage, wait=True)
        if os.path.lexists(stage):
            return stage, lock
        # Another run took it for abandoned before it was locked.
        if lock >= 0:
            os.close(lock)


def replace_folder(stage: Path, target: Path) -> None:
    """Rename a finished folder to a target that exists; the former one is removed.

    A run that is killed between the two renamings leaves the former one under another name, and
    the next one puts it back.
    """
    require_inside(target, OutputError)
    old = target.with_name(f".{target.name}.{secrets.token_hex(4)}.{_host()}{_REPLACED}")
    lock = _lock(target, wait=False)
    try:
        target.rename(old)
        try:
            stage.rename(target)
        finally:
            # An interrupt may come before the renaming or after it.
            if os.path.lexists(target):
                _remove(old)
            else:
                old.rename(target)
    finally:
        if lock >= 0:
            os.close(lock)


def sweep(parent: Path) -> None:
    """Remove what killed runs of this user on this machine left in a folder.

    A folder goes only if its name and owner are those of such work, if it is no link, and if the
    lock shows that its process has ended.
    """
    if os.name != "posix":
        return
    with suppress(OSError):
        for path in list(parent.iterdir()):
            found = _ours().fullmatch(path.name)
            if found is not None:
                _sweep_one(path, parent / found["target"])


def _sweep_one(path: Path, target: Path) -> None:
    lock = -1
    with suppress(OSError):
        known = os.lstat(path)
        if not stat.S_ISDIR(known.st_mode) or known.st_uid != os.geteuid():
            return
        lock = _lock(path, wait=False)
        if lock < 0:
            return
        if path.name.endswith(_REPLACED) and not os.path.lexists(target):
            path.rename(target)
        else:
            _remove(path)
    if lock >= 0:
        os.close(lock)


def _remove(folder: Path) -> None:
    """Remove a folder of ours, also one that was made read-only after it was published."""
    with suppress(OSError):
        folder.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _ours() -> re.Pattern[str]:
    token = r"[a-z0-9_]{8}"  # noqa: S105 - a part of a name
    kinds = f"{re.escape(_SUFFIX)}|{re.escape(_REPLACED)}"
    return re.compile(rf"\.(?P<target>.+)\.{token}\.{_host()}({kinds})", re.DOTALL)


def _host() -> str:
    """Return a mark of this machine: locks on a shared disk may not reach others."""
    name = os.uname().nodename if hasattr(os, "uname") else ""
    return sha256(name.encode()).hexdigest()[:8]


def _lock(folder: Path, *, wait: bool) -> int:
    """Lock a folder, and return what holds the lock until it is closed; -1 if it cannot be had."""
    try:
        import fcntl
    except ImportError:
        return -1
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return -1
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(handle)
        return -1
    return handle
