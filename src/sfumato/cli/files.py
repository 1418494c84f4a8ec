"""Writing a text file: whole or not at all, and never over something without being told."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from sfumato.errors import OutputError


def refuse_existing(path: Path, *, force: bool) -> None:
    """Refuse to write where something is, before any work is done."""
    if path.is_dir():
        raise OutputError(f"{str(path)!r} is a folder. Give the name of a file.")
    if os.path.lexists(path) and not force:
        raise OutputError(f"{str(path)!r} exists. Choose another name, or replace it with --force.")


def write_text(path: Path, text: str, *, force: bool) -> None:
    """Write a file in UTF-8."""
    refuse_existing(path, force=force)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        # A temporary file is private; a policy is as readable as the user's other files.
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(path)
    except OSError as error:
        raise OutputError(
            f"cannot write {str(path)!r}: {error.strerror or error}. Nothing was left behind."
        ) from None
    finally:
        if temporary is not None:
            with suppress(OSError):
                Path(temporary).unlink()
