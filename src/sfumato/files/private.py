"""Files that are not for publication: where they may not lie, and who can get at them."""

import json
import os
import stat
from os import PathLike
from pathlib import Path

from sfumato.errors import OutputError
from sfumato.files.confinement import current

MANIFEST, EVIDENCE = "manifest.json", "evidence.json"
"""The files by which a folder is known to be a release."""

_OURS = frozenset({"sfumato", "columns", "models", "rows"})
"""Keys of a manifest; a web application has a `manifest.json` too, without them."""

_MOST_BYTES = 1 << 26


def release_around(path: str | PathLike[str]) -> Path | None:
    """Return the release folder that a file lies in or would lie in, at any depth.

    Links are followed, and the way as it is written counts as well: what is copied may be
    either. A manifest that cannot be read counts as one.

    >>> release_around("clinic.ledger") is None
    True
    """
    written, real = _write_out(Path(path)), _resolve(Path(path))
    folders = dict.fromkeys((*written.parents, *real.parents))
    return next((folder for folder in folders if is_release(folder)), None)


def is_release(folder: Path) -> bool:
    """Return whether a folder holds a release, as far as its manifest or evidence tells."""
    manifest = folder / MANIFEST
    if os.path.lexists(folder / EVIDENCE) and os.path.lexists(manifest):
        return True
    if current() is not None and manifest.is_symlink():
        # It may lead out of the folder that work is confined to, so it is not read.
        return True
    try:
        is_plain = stat.S_ISREG(manifest.stat().st_mode)
    except OSError:
        return os.path.lexists(manifest)
    if not is_plain:
        return True
    try:
        with manifest.open("rb") as file:
            found = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return True
    return not isinstance(found, dict) or not found or not _OURS.isdisjoint(found)


def refuse_inside_release(
    path: str | PathLike[str], what: str, *, output: str | PathLike[str] | None = None
) -> None:
    """Raise before any work is done if a private file would lie in a release.

    Args:
        path: The file, whether or not it exists.
        what: What it is, for the message: "the ledger".
        output: A release folder that is about to be written, if there is one.
    """
    release = release_around(path)
    if release is None and output is not None:
        target = _resolve(Path(output))
        release = target if target in _resolve(Path(path)).parents else None
    if release is not None:
        raise OutputError(
            f"{what} {str(path)!r} is private, and {str(release)!r} is a release, which all "
            "readers get. Keep it in another folder."
        )


def _resolve(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # Links that lead in a circle.
        return _write_out(path)


def _write_out(path: Path) -> Path:
    """Return the whole path without following links, which `Path.resolve` does."""
    return Path(os.path.normpath(path.absolute()))


def is_open(path: str | PathLike[str], *, writable: bool = False) -> bool:
    """Return whether others than its owner may read a file, where files have owners.

    Args:
        path: The file.
        writable: Ask whether they may write it.
    """
    bits = 0o022 if writable else 0o044
    return os.name == "posix" and bool(Path(path).expanduser().stat().st_mode & bits)


def describe_access(path: str | PathLike[str]) -> list[str]:
    """Return a warning if others than its owner may read or write a private file.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:  # Such files are private.
    ...     describe_access(file.name)
    []
    """
    can = [
        word
        for word, writable in (("read", False), ("change", True))
        if is_open(path, writable=writable)
    ]
    if not can:
        return []
    return [f"others on this machine can {' and '.join(can)} {str(path)!r}. Run: chmod 600 on it"]
