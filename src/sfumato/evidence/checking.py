"""Check a release folder against its evidence, with nothing but the folder and a public key."""

from hashlib import sha256
from pathlib import Path

from sfumato.errors import InputError, some
from sfumato.evidence.canonical import read_object
from sfumato.evidence.claims import disagreement
from sfumato.evidence.document import EVIDENCE, MANIFEST, Evidence
from sfumato.evidence.hashes import files_in, hash_file, read_small
from sfumato.evidence.keys import PublicKey, require_library
from sfumato.evidence.result import EvidenceVerdict
from sfumato.evidence.signature import judge_signature
from sfumato.evidence.writing import MOST_MANIFEST, read_evidence
from sfumato.verifier import Check
from sfumato.verifier.verdict import status


def check(folder: Path, public_key: PublicKey | None = None) -> EvidenceVerdict:
    """Hash every file again, and compare names, sizes, hashes, claims and signature.

    Args:
        folder: The release folder; whatever is in it may be forged.
        public_key: The publisher's. Without it, anybody may have signed.
    """
    if public_key is not None:
        require_library()
    plain, _ = _listed(folder)
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
    plain, strange = _listed(folder)
    checks = [
        Check("evidence", "holds"),
        _files_check(evidence, plain, strange),
        _hashes_check(folder, evidence, plain),
        _claims_check(folder, evidence),
    ]
    judged = judge_signature(evidence, public_key)
    return EvidenceVerdict((*checks, *judged.checks), judged.signed_by, judged.note)


def _listed(folder: Path) -> tuple[list[str], list[str]]:
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
        if sha256(data).hexdigest() != hashes[MANIFEST]:
            return Check("claims", "broken", detail=f"{MANIFEST} was changed")
        detail = disagreement(evidence.claims, read_object(data), hashes)
    except (InputError, OSError) as error:
        return Check("claims", "broken", detail=f"{MANIFEST}: {_why(error)}")
    except RecursionError:
        return Check("claims", "broken", detail=f"{MANIFEST} is nested too deeply")
    return Check("claims", status(holds=not detail), detail=detail)


def _why(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
