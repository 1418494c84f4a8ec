"""Writing a new pair of keys: the private one is never readable to others, nor written over."""

import os
from contextlib import suppress
from pathlib import Path

from sfumato.errors import OutputError
from sfumato.evidence.document import EVIDENCE, MANIFEST
from sfumato.evidence.keys import SigningKey


def write_pair(path: Path, key: SigningKey, passphrase: str | None = None) -> tuple[Path, Path]:
    """Write `path.key` and `path.pub`, both or neither."""
    stem = str(path).removesuffix(".key")
    if all((path.parent / name).is_file() for name in (EVIDENCE, MANIFEST)):
        raise OutputError(
            f"{str(path.parent)!r} is a release, which everybody gets. A key that signs does not "
            "belong there; choose another folder."
        )
    private, public = Path(f"{stem}.key"), Path(f"{stem}.pub")
    for each in (private, public):
        if os.path.lexists(each):
            raise OutputError(
                f"{str(each)!r} exists, and a key that was used cannot be made again. Choose "
                "another name, or move it away."
            )
    _write_new(private, key.pem(passphrase), 0o600)
    try:
        _write_new(public, key.public.pem(), 0o644)
    except BaseException:
        private.unlink()
        raise
    return private, public


def _write_new(path: Path, data: bytes, mode: int) -> None:
    made = False
    try:
        # Private before its first byte, and only if nothing is there.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        made = True
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except OSError as error:
        if made:
            with suppress(OSError):
                path.unlink()
        raise OutputError(
            f"cannot write {str(path)!r}: {error.strerror or error}. Nothing was left behind."
        ) from None
