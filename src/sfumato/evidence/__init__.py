"""Evidence: what a release holds and claims, hashed, and signed by its publisher.

A reader needs the folder, or the tables of a database, and the publisher's public key, and nothing
else.
"""

from sfumato.evidence.checking import check, compare
from sfumato.evidence.document import EVIDENCE, Evidence, parse_evidence
from sfumato.evidence.hashes import FileHash, files_in, hash_file
from sfumato.evidence.keys import Key, PublicKey, SigningKey
from sfumato.evidence.pair import write_pair
from sfumato.evidence.result import EvidenceVerdict
from sfumato.evidence.stored import check_stored, evidence_of_tables, read_stored, signed
from sfumato.evidence.tables import Form, StoredTable
from sfumato.evidence.writing import (
    REPORT,
    read_evidence,
    sign_evidence,
    with_report,
    write_evidence,
    write_whole,
)

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
    "check",
    "check_stored",
    "compare",
    "evidence_of_tables",
    "files_in",
    "hash_file",
    "parse_evidence",
    "read_evidence",
    "read_stored",
    "sign_evidence",
    "signed",
    "with_report",
    "write_evidence",
    "write_pair",
    "write_whole",
]
