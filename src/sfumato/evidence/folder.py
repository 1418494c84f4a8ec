"""Check a release folder against its evidence, with nothing but the folder and a public key."""

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from sfumato.content import Content, Sentence
from sfumato.errors import InputError, OutputError, some
from sfumato.evidence.document import (
    EVIDENCE,
    MANIFEST,
    MOST_BYTES,
    Evidence,
    FileHash,
    Signature,
    checks_of,
    claims_of,
    disagreement,
    files_in,
    hash_file,
    parse_evidence,
    read_object,
    read_small,
)
from sfumato.evidence.keys import PublicKey, SigningKey, has_library, require_library
from sfumato.verifier import Check, Verdict
from sfumato.verifier.promises import status


@dataclass(frozen=True)
class EvidenceVerdict(Verdict):
    """Whether a folder is what its evidence says, and who signed that.

    Example:
        >>> from sfumato.verifier import Check
        >>> print(EvidenceVerdict((Check("files", "holds"),), note="Not signed."))
        Holds: all 1 checks.
        check  result
        files  holds
        Not signed.
    """

    signed_by: str | None = None
    """The public key of a signature that was checked; None if there is no such."""

    note: str = ""
    """What can be said of the signature, in words."""

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "signed_by": self.signed_by, "note": self.note}

    def content(self) -> Content:
        """Return the checks, and what can be said of the signature."""
        found = super().content()
        return replace(found, parts=(*found.parts, Sentence(self.note))) if self.note else found


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
    evidence = sign_document(evidence, key)
    write_whole(folder / EVIDENCE, evidence.to_bytes())
    return evidence


def sign_document(evidence: Evidence, key: SigningKey | None) -> Evidence:
    """Sign evidence if there is a key, and check that readers will be able to read it."""
    if key is not None:
        signature = Signature(key.public.raw, key.sign(evidence.message()))
        evidence = replace(evidence, signature=signature)
    parse_evidence(evidence.to_bytes())
    return evidence


def with_report(evidence: Evidence, report: FileHash | None) -> Evidence:
    """Add a report to evidence that was written before it, which removes the signature."""
    others = [file for file in evidence.files if file.name != REPORT]
    files = others if report is None else [*others, report]
    return Evidence(tuple(sorted(files, key=lambda file: file.name)), evidence.claims)


def read_evidence(folder: Path) -> Evidence:
    """Read the evidence in a folder; evidence of tables is an error."""
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


class SignatureFinding(NamedTuple):
    """The result of looking at a signature."""

    checks: tuple[Check, ...] = ()
    """Empty if no signature was asked for, or none can be checked."""

    signed_by: str | None = None
    note: str = ""


def judge_signature(evidence: Evidence, wanted: PublicKey | None) -> SignatureFinding:
    """Judge the signature of evidence, against a key if one is known."""
    if evidence.signature is not None:
        return _judge(evidence, evidence.signature, wanted)
    if wanted is not None:
        return _broken_signature(wanted, "it is not signed")
    note = "Not signed: anybody who can change the files can change the evidence with them."
    return SignatureFinding(note=note)


def _judge(evidence: Evidence, signature: Signature, wanted: PublicKey | None) -> SignatureFinding:
    signer = PublicKey(signature.public_key)
    if wanted is not None and signer != wanted:
        return _broken_signature(wanted, "it is signed by another key", signer)
    if not has_library():
        note = (
            'Its signature was not checked: that needs pip install "sfumato[sign]", and the public '
            f"key of the publisher. It names {signer}"
        )
        return SignatureFinding(note=note)
    if not signer.verifies(signature.value, evidence.message()):
        return _broken_signature(wanted, "the signature is not of this evidence")
    whose = (
        "the key that was given"
        if wanted is not None
        else "a key that was compared with none; give the public key of the publisher"
    )
    good = Check("signature", "holds", _text(wanted), str(signer))
    return SignatureFinding((good,), str(signer), f"Signed by {whose}: {signer}")


def _broken_signature(
    wanted: PublicKey | None, detail: str, found: PublicKey | None = None
) -> SignatureFinding:
    return SignatureFinding((Check("signature", "broken", _text(wanted), _text(found), detail),))


def _text(key: PublicKey | None) -> str | None:
    return None if key is None else str(key)


def check(folder: Path, public_key: PublicKey | None = None) -> EvidenceVerdict:
    """Hash every file again, and compare names, sizes, hashes, claims and signature.

    Args:
        folder: The release folder; everything in it may be forged.
        public_key: The publisher's. Without it, any key may have signed.
    """
    if public_key is not None:
        require_library()
    plain, _ = _list_files(folder)
    if EVIDENCE not in plain:
        detail = f"there is no {EVIDENCE} that is a plain file"
        return EvidenceVerdict((Check("evidence", "broken", detail=detail),))
    try:
        evidence = read_evidence(folder)
    except (InputError, OSError) as error:
        return EvidenceVerdict((Check("evidence", "broken", detail=_why(error)),))
    return compare(folder, evidence, public_key)


def compare(folder: Path, evidence: Evidence, public_key: PublicKey | None) -> EvidenceVerdict:
    """Compare a folder with evidence, wherever that comes from."""
    plain, strange = _list_files(folder)
    checks = [
        Check("evidence", "holds"),
        _files_check(evidence, plain, strange),
        _hashes_check(folder, evidence, plain),
        _claims_check(folder, evidence),
    ]
    judged = judge_signature(evidence, public_key)
    return EvidenceVerdict((*checks, *judged.checks), judged.signed_by, judged.note)


def _list_files(folder: Path) -> tuple[list[str], list[str]]:
    if not folder.is_dir():
        raise InputError(f"{str(folder)!r} is not a folder. Give the folder of a release.")
    plain, strange = files_in(folder)
    if not {MANIFEST, EVIDENCE} & {*plain, *strange}:
        raise InputError(
            f"there is neither {MANIFEST} nor {EVIDENCE} in {str(folder)!r}. Give the folder of "
            "a release."
        )
    return plain, strange


def _files_check(evidence: Evidence, plain: list[str], strange: list[str]) -> Check:
    known = {file.name for file in evidence.files}
    there = set(plain) - {EVIDENCE}
    missing, extra = sorted(known - there), sorted({*(there - known), *strange})
    details = [
        f"missing, or not plain files: {some(missing)}" if missing else "",
        f"not in the evidence, or not plain files: {some(extra)}" if extra else "",
    ]
    detail = "; ".join(filter(None, details))
    return Check("files", status(holds=not detail), len(known), len(there) + len(strange), detail)


def _hashes_check(folder: Path, evidence: Evidence, plain: list[str]) -> Check:
    changed = []
    for file in evidence.files:
        if file.name not in plain:
            continue
        try:
            same = hash_file(folder / file.name, expected_size=file.size) == file
        except (InputError, OSError):
            same = False
        if not same:
            changed.append(file.name)
    detail = f"changed: {some(changed)}" if changed else ""
    return Check("sha256", status(holds=not changed), detail=detail)


def _claims_check(folder: Path, evidence: Evidence) -> Check:
    hashes = {file.name: file.sha256 for file in evidence.files}
    try:
        data = read_small(folder / MANIFEST, most=MOST_MANIFEST)
        if FileHash.of(MANIFEST, data).sha256 != hashes[MANIFEST]:
            return Check("claims", "broken", detail=f"{MANIFEST} was changed")
        detail = disagreement(evidence.claims, read_object(data), hashes)
    except (InputError, OSError) as error:
        return Check("claims", "broken", detail=f"{MANIFEST}: {_why(error)}")
    except RecursionError:
        return Check("claims", "broken", detail=f"{MANIFEST} is nested too deeply")
    return Check("claims", status(holds=not detail), detail=detail)


def _why(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
