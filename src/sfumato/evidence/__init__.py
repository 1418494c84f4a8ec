"""Evidence: what a release holds and claims, hashed, and signed by its publisher.

A reader needs the folder, or the tables of a database, and the publisher's public key, and nothing
else.
"""

from typing import TYPE_CHECKING

from sfumato.registry import on_first_use

if TYPE_CHECKING:
    from sfumato.evidence.database import check_stored as check_stored
    from sfumato.evidence.database import evidence_of_tables as evidence_of_tables
    from sfumato.evidence.database import read_stored as read_stored
    from sfumato.evidence.database import signed_text as signed_text
    from sfumato.evidence.document import REPORT as REPORT
    from sfumato.evidence.document import Evidence as Evidence
    from sfumato.evidence.document import EvidenceVerdict as EvidenceVerdict
    from sfumato.evidence.document import FileHash as FileHash
    from sfumato.evidence.document import Form as Form
    from sfumato.evidence.document import StoredTable as StoredTable
    from sfumato.evidence.document import answer_in as answer_in
    from sfumato.evidence.document import check as check
    from sfumato.evidence.document import compare as compare
    from sfumato.evidence.document import files_in as files_in
    from sfumato.evidence.document import hash_file as hash_file
    from sfumato.evidence.document import is_signed_by as is_signed_by
    from sfumato.evidence.document import parse_evidence as parse_evidence
    from sfumato.evidence.document import read_evidence as read_evidence
    from sfumato.evidence.document import sign_evidence as sign_evidence
    from sfumato.evidence.document import with_answer as with_answer
    from sfumato.evidence.document import with_report as with_report
    from sfumato.evidence.document import write_evidence as write_evidence
    from sfumato.evidence.document import write_whole as write_whole
    from sfumato.evidence.keys import EVIDENCE as EVIDENCE
    from sfumato.evidence.keys import Key as Key
    from sfumato.evidence.keys import PublicKey as PublicKey
    from sfumato.evidence.keys import SigningKey as SigningKey
    from sfumato.evidence.keys import keygen as keygen
    from sfumato.evidence.keys import write_pair as write_pair

_HOMES = {
    "EVIDENCE": "keys",
    "Evidence": "document",
    "EvidenceVerdict": "document",
    "FileHash": "document",
    "Form": "document",
    "Key": "keys",
    "PublicKey": "keys",
    "REPORT": "document",
    "SigningKey": "keys",
    "StoredTable": "document",
    "answer_in": "document",
    "check": "document",
    "check_stored": "database",
    "compare": "document",
    "evidence_of_tables": "database",
    "files_in": "document",
    "hash_file": "document",
    "is_signed_by": "document",
    "keygen": "keys",
    "parse_evidence": "document",
    "read_evidence": "document",
    "read_stored": "database",
    "sign_evidence": "document",
    "signed_text": "database",
    "with_answer": "document",
    "with_report": "document",
    "write_evidence": "document",
    "write_pair": "keys",
    "write_whole": "document",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [*_HOMES]  # noqa: PLE0604 - all of them are texts

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)
