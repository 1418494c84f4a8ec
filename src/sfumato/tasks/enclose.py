"""Enclose: put a report for everybody into the release that it is about, and into its evidence."""

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from sfumato.errors import InputError, OutputError
from sfumato.evidence import (
    EVIDENCE,
    REPORT,
    FileHash,
    PublicKey,
    SigningKey,
    read_evidence,
    sign_evidence,
    with_report,
    write_whole,
)
from sfumato.release import MANIFEST
from sfumato.tasks.evidence import require_unbroken, sign, unchanged
from sfumato.verifier import verify_folder


def is_inside(folder: Path | None, path: Path) -> bool:
    """Tell whether a file would lie in a release, whatever links lead there.

    >>> is_inside(Path("release"), Path("release/../release/report.html"))
    True
    >>> is_inside(Path("release"), Path("report.html"))
    False
    """
    # The file itself may be a link: it would be replaced where it is, not where it leads to.
    place = path.parent.resolve()
    return folder is not None and folder.resolve() in (place, *place.parents)


def require_place(
    folder: Path | None, path: Path, *, public: bool, key: SigningKey | None = None
) -> None:
    """Refuse a place where a report may not be, before any work is done.

    Args:
        folder: The release it is about.
        path: The file it shall be.
        public: Whether it is a page for everybody.
        key: Signs the release again, if the report joins it.
    """
    if folder is not None and is_inside(folder, path):
        _require_enclosable(folder, path, public=public, key=key)
    elif all((path.parent / name).is_file() for name in (MANIFEST, EVIDENCE)):
        raise OutputError(
            f"{str(path)!r} lies in another release, whose evidence names every file. "
            "Write it somewhere else."
        )


def _require_enclosable(folder: Path, path: Path, *, public: bool, key: SigningKey | None) -> None:
    if not public or path.parent.resolve() / path.name != folder.resolve() / REPORT:
        raise OutputError(
            f"{str(path)!r} lies in the release itself, which everybody gets. Only a report for "
            f"everybody (--public) may join it, as {REPORT}. Write it beside the release."
        )
    signer = _signer_of(folder)
    if signer is not None and key is None:
        raise OutputError(
            f"{str(folder)!r} is signed, and a report in it has to be signed with the rest. Give "
            "the key (--key), or write the report beside the release."
        )
    if signer is not None and key is not None and signer != key.public:
        raise OutputError(
            f"{str(folder)!r} is signed by another key, {signer}. Give that one, or write the "
            "report beside the release."
        )


def enclose(folder: Path, text: str, key: SigningKey | None = None) -> Path:
    """Write the report into its release and take it into the evidence: both or neither.

    Args:
        folder: The release; it must be what was published.
        text: The report, as HTML.
        key: Signs the release, after it was verified once more.
    """
    path, data = folder / REPORT, text.encode("utf-8")
    _require_enclosable(folder, path, public=True, key=key)
    if key is not None:
        require_unbroken(verify_folder(folder))
    evidence = unchanged(folder) if os.path.lexists(folder / EVIDENCE) else None
    before = path.read_bytes() if path.exists() else None
    write_whole(path, data)
    try:
        if evidence is not None:
            joined = FileHash(REPORT, sha256(data).hexdigest(), len(data))
            sign_evidence(folder, with_report(evidence, joined), key)
        elif key is not None:
            sign(folder, key)
    except BaseException:
        _restore(path, before)
        raise
    return path


def _signer_of(folder: Path) -> PublicKey | None:
    if not os.path.lexists(folder / EVIDENCE):
        return None
    try:
        signature = read_evidence(folder).signature
    except (InputError, OSError) as error:
        why = getattr(error, "strerror", None) or error
        raise OutputError(
            f"the {EVIDENCE} in {str(folder)!r} cannot be read: {why}. Nothing is added to such a "
            "release; write the report beside it."
        ) from None
    return None if signature is None else PublicKey(signature.public_key)


def _restore(path: Path, before: bytes | None) -> None:
    with suppress(OSError, OutputError):
        if before is None:
            path.unlink()
        else:
            write_whole(path, before)
