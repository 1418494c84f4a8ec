"""The files of a folder: which there are, how large they are, and their hashes.

A folder may come from anybody. Links are not followed, nothing but plain files is opened,
and nothing is read that is larger than expected.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from sfumato.errors import InputError

_BLOCK = 1 << 20
_SEPARATORS = set("/\\:\0")


@dataclass(frozen=True)
class FileHash:
    """A file as evidence describes it."""

    name: str
    sha256: str
    size: int

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain values that JSON can hold."""
        return {"name": self.name, "sha256": self.sha256, "size": self.size}


def is_plain_name(name: str) -> bool:
    r"""Tell the name of a file in a folder from a way to somewhere else.

    >>> [is_plain_name(name) for name in ("data.csv", "../data.csv", "..", "C:x", "a\\b", "")]
    [True, False, False, False, False, False]
    """
    return bool(name) and name not in (".", "..") and not set(name) & _SEPARATORS


def files_in(folder: Path) -> tuple[list[str], list[str]]:
    """Name the plain files of a folder, and all that is not one: folders, links, devices."""
    plain: list[str] = []
    strange: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            good = entry.is_file(follow_symlinks=False) and is_plain_name(entry.name)
            (plain if good else strange).append(entry.name)
    return sorted(plain), sorted(strange)


def hash_file(path: Path, *, expected_size: int | None = None) -> FileHash:
    """Hash a file; one of another size than expected is not read, and its hash is empty."""
    with _opened(path) as (file, size):
        if expected_size is not None and size != expected_size:
            return FileHash(path.name, "", size)
        digest, read = sha256(), 0
        while block := file.read(_BLOCK):
            digest.update(block)
            read += len(block)
    return FileHash(path.name, digest.hexdigest(), read)


def read_small(path: Path, *, most: int) -> bytes:
    """Read a whole file that must not be large."""
    with _opened(path) as (file, _):
        data = file.read(most + 1)
    if len(data) > most:
        raise InputError(f"it is larger than {most // 2**20} MB")
    return data


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    # A pipe would block, and a link may have come since the folder was listed.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise InputError("it is not a plain file")
        yield file, about.st_size
