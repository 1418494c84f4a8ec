"""Check a release folder against its evidence, with nothing but the folder and a public key."""

from hashlib import sha256
from pathlib import Path

from sfumato.errors import InputError, some
from sfumato.evidence.canonical import read_object
from sfumato.evidence.claims import disagreement
from sfumato.evidence.document import EVIDENCE, MANIFEST, Evidence
from sfumato.evidence.hashes import files_in, hash_file, read_small
from sfumato.evidence.keys import PublicKey, has_library, require_library
from sfumato.evidence.result import EvidenceVerdict
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
    plain, strange = _listed(folder)
    if EVIDENCE not in plain:
        detail = f"there is no {EVIDENCE} that is a plain file"
        return EvidenceVerdict((Check("evidence", "broken", detail=detail),))
    try:
        evidence = read_evidence(folder)
    except (InputError, OSError) as error:
        return EvidenceVerdict((Check("evidence", "broken", detail=_why(error)),))
    checks = [
        Check("evidence", "holds"),
        _files_check(evidence, plain, strange),
        _hashes_check(folder, evidence, plain),
        _claims_check(folder, evidence),
    ]
    return _with_signature(checks, evidence, public_key)


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


def _with_signature(
    checks: list[Check], evidence: Evidence, wanted: PublicKey | None
) -> EvidenceVerdict:
    """Judge the signature, and say whose it is."""
    signature = evidence.signature
    if signature is None:
        note = "Not signed: anybody who can change the files can change the evidence with them."
        if wanted is None:
            return EvidenceVerdict(tuple(checks), note=note)
        lacking = Check("signature", "broken", str(wanted), detail="it is not signed")
        return EvidenceVerdict((*checks, lacking))
    signer = PublicKey(signature.public_key)
    promised = None if wanted is None else str(wanted)
    if wanted is not None and signer != wanted:
        other = Check("signature", "broken", promised, str(signer), "it is signed by another key")
        return EvidenceVerdict((*checks, other))
    if not has_library():
        note = (
            f"It names {signer} as its signer, which was not checked: that needs the public key "
            'of the publisher, and pip install "sfumato[sign]".'
        )
        return EvidenceVerdict(tuple(checks), note=note)
    if not signer.verifies(signature.value, evidence.message()):
        detail = "the signature is not of this evidence"
        return EvidenceVerdict((*checks, Check("signature", "broken", promised, detail=detail)))
    good = Check("signature", "holds", promised, str(signer))
    whose = (
        "the key that was given"
        if wanted is not None
        else "a key that was compared with none; give the public key of the publisher"
    )
    note = f"Signed by {whose}: {signer}"
    return EvidenceVerdict((*checks, good), str(signer), note)


def _why(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
