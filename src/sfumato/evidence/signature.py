"""Judging a signature: is there one, by whom, and of these very bytes?"""

from typing import NamedTuple

from sfumato.evidence.document import Evidence, Signature
from sfumato.evidence.keys import PublicKey, has_library
from sfumato.verifier import Check


class Judged(NamedTuple):
    """What there is to say of a signature."""

    checks: tuple[Check, ...] = ()
    """None if nobody asked for a signature, or nobody can check it."""

    signed_by: str | None = None
    note: str = ""


def judge_signature(evidence: Evidence, wanted: PublicKey | None) -> Judged:
    """Judge the signature of evidence, against a key if one is known."""
    if evidence.signature is not None:
        return _judge(evidence, evidence.signature, wanted)
    if wanted is not None:
        return _broken(wanted, "it is not signed")
    note = "Not signed: anybody who can change the files can change the evidence with them."
    return Judged(note=note)


def _judge(evidence: Evidence, signature: Signature, wanted: PublicKey | None) -> Judged:
    signer = PublicKey(signature.public_key)
    if wanted is not None and signer != wanted:
        return _broken(wanted, "it is signed by another key", signer)
    if not has_library():
        note = (
            'Its signature was not checked: that needs pip install "sfumato[sign]", and the public '
            f"key of the publisher. It names {signer}"
        )
        return Judged(note=note)
    if not signer.verifies(signature.value, evidence.message()):
        return _broken(wanted, "the signature is not of this evidence")
    whose = (
        "the key that was given"
        if wanted is not None
        else "a key that was compared with none; give the public key of the publisher"
    )
    good = Check("signature", "holds", _text(wanted), str(signer))
    return Judged((good,), str(signer), f"Signed by {whose}: {signer}")


def _broken(wanted: PublicKey | None, detail: str, found: PublicKey | None = None) -> Judged:
    return Judged((Check("signature", "broken", _text(wanted), _text(found), detail),))


def _text(key: PublicKey | None) -> str | None:
    return None if key is None else str(key)
