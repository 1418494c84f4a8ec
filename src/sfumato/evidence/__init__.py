"""Evidence: what a release holds and claims, hashed, and signed by its publisher.

A reader needs the folder, or the tables of a database, and the publisher's public key, and nothing
else.
"""

from sfumato.evidence.database import check_stored, evidence_of_tables, read_stored, signed_text
from sfumato.evidence.document import (
    REPORT,
    Evidence,
    EvidenceVerdict,
    FileHash,
    Form,
    StoredTable,
    answer_in,
    check,
    compare,
    files_in,
    hash_file,
    is_signed_by,
    parse_evidence,
    read_evidence,
    sign_evidence,
    with_answer,
    with_report,
    write_evidence,
    write_whole,
)
from sfumato.evidence.keys import EVIDENCE, Key, PublicKey, SigningKey, keygen, write_pair

__all__ = [
    "EVIDENCE",
    "REPORT",
    "Evidence",
    "EvidenceVerdict",
    "FileHash",
    "Form",
    "Key",
    "PublicKey",
    "SigningKey",
    "StoredTable",
    "answer_in",
    "check",
    "check_stored",
    "compare",
    "evidence_of_tables",
    "files_in",
    "hash_file",
    "is_signed_by",
    "keygen",
    "parse_evidence",
    "read_evidence",
    "read_stored",
    "sign_evidence",
    "signed_text",
    "with_answer",
    "with_report",
    "write_evidence",
    "write_pair",
    "write_whole",
]
