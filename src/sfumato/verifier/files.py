"""Look at files before what is in them."""

import hashlib
import re
from pathlib import Path

from sfumato.errors import some
from sfumato.verifier.database import Relation
from sfumato.verifier.manifest import COMPANIONS, Manifest
from sfumato.verifier.reading import Source

_INDEX_NAME = re.compile(r"|__index_level_\d+__|Unnamed: \d+")
"""Names under which row numbers travel; row numbers lead back to the original rows."""


def is_plain_file(path: Path) -> bool:
    """Tell a file from a folder, a link and nothing at all."""
    return path.is_file() and not path.is_symlink()


def strange_in(folder: Path, manifest: Manifest) -> list[str]:
    """Name what lies in a folder and is no file of the release."""
    known = {file.name for file in manifest.files} | set(COMPANIONS)
    return sorted(
        entry.name
        for entry in folder.iterdir()
        if not is_plain_file(entry) or entry.name not in known
    )


def checksum_of(path: Path) -> str:
    """Give the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def foreign_in(source: Source | Relation) -> str:
    """Say what a table brings along that is no data: notes of other programs, row numbers."""
    notes = () if isinstance(source, Relation) else source.metadata
    foreign = [key for key in notes if not key.startswith("sfumato")]
    index = [name for name in source.names if _INDEX_NAME.fullmatch(name)]
    details = [
        f"the file carries notes of another program: {some(foreign)}" if foreign else "",
        f"there are index columns: {some(index)}" if index else "",
    ]
    return "; ".join(filter(None, details))
