"""The independent verifier: re-reads what was written and recomputes every promise.

It shares no code with the anonymisers and models it judges, uses only Arrow to count
and whole numbers and fractions to judge, and believes nothing a manifest says.
"""

from sfumato.verifier.counting import count_population
from sfumato.verifier.database import Relation
from sfumato.verifier.file import verify_file
from sfumato.verifier.folder import verify_folder
from sfumato.verifier.kinds import verify_tables
from sfumato.verifier.promises import Promises
from sfumato.verifier.recompute import MODEL_CHECKS
from sfumato.verifier.stored import verify_relation, verify_stored
from sfumato.verifier.verdict import Check, Verdict

__all__ = [
    "MODEL_CHECKS",
    "Check",
    "Promises",
    "Relation",
    "Verdict",
    "count_population",
    "verify_file",
    "verify_folder",
    "verify_relation",
    "verify_stored",
    "verify_tables",
]
