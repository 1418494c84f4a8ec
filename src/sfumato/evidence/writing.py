"""Making evidence of a folder that was just verified, and signing it."""

import os
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from sfumato.errors import InputError, OutputError, some
from sfumato.evidence.canonical import read_object
from sfumato.evidence.claims import checks_of, claims_of
from sfumato.evidence.document import (
    EVIDENCE,
    MANIFEST,
    MOST_BYTES,
    Evidence,
    Signature,
    parse_evidence,
)
from sfumato.evidence.hashes import FileHash, files_in, hash_file, read_small
from sfumato.evidence.keys import SigningKey
from sfumato.verifier import Verdict

MOST_MANIFEST = 64 * 2**20

REPORT = "report.html"
"""The one file that may join a release after it was published."""


def write_evidence(folder: Path, verdict: Verdict, key: SigningKey | None = None) -> Evidence:
    """Write `evidence.json` for all files of a folder, as the last of them.

    Args:
        folder: A release that is complete.
        verdict: What the verifier found in it.
        key: Signs it at once.
    """
    names, strange = files_in(folder)
    if strange:
        raise InputError(f"there is more than plain files in {str(folder)!r}: {some(strange)}")
    manifest = read_object(read_small(folder / MANIFEST, most=MOST_MANIFEST))
    files = tuple(hash_file(folder / name) for name in names if name != EVIDENCE)
    return sign_evidence(folder, Evidence(files, claims_of(manifest, checks_of(verdict))), key)


def sign_evidence(folder: Path, evidence: Evidence, key: SigningKey | None) -> Evidence:
    """Write evidence into its folder, signed if there is a key."""
    if key is not None:
        signature = Signature(key.public.raw, key.sign(evidence.message()))
        evidence = replace(evidence, signature=signature)
    data = evidence.to_bytes()
    # What cannot be read again is not to be published.
    parse_evidence(data)
    write_whole(folder / EVIDENCE, data)
    return evidence


def with_report(evidence: Evidence, report: FileHash | None) -> Evidence:
    """Take a report into evidence that was written before it; what was signed is not any more."""
    others = [file for file in evidence.files if file.name != REPORT]
    files = others if report is None else [*others, report]
    return Evidence(tuple(sorted(files, key=lambda file: file.name)), evidence.claims)


def read_evidence(folder: Path) -> Evidence:
    """Read the evidence in a folder, and refuse what is none."""
    evidence = parse_evidence(read_small(folder / EVIDENCE, most=MOST_BYTES))
    if evidence.tables:
        raise InputError("it is evidence of tables in a database")
    return evidence


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, readable as the other files of a release are."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(0o777 & (path.parent / MANIFEST).stat().st_mode)
        Path(temporary).replace(path)
    except OSError as error:
        raise OutputError(
            f"cannot write {str(path)!r}: {error.strerror or error}. Nothing was changed."
        ) from None
    finally:
        if temporary is not None:
            with suppress(OSError):
                Path(temporary).unlink()
