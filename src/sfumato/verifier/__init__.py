"""The independent verifier: re-reads what was written and recomputes every promise.

It shares no code with the anonymisers and models it judges, uses only Arrow to count
and whole numbers and fractions to judge, and believes nothing a manifest says.
"""

from sfumato.verifier.counting import DatabaseRelation, count_population
from sfumato.verifier.models import MODEL_CHECKS
from sfumato.verifier.promises import Check, Promises, Verdict
from sfumato.verifier.release import (
    verify_file,
    verify_folder,
    verify_relation,
    verify_stored,
    verify_tables,
    verify_unjudged,
)

__all__ = [
    "MODEL_CHECKS",
    "Check",
    "DatabaseRelation",
    "Promises",
    "Verdict",
    "count_population",
    "verify_file",
    "verify_folder",
    "verify_relation",
    "verify_stored",
    "verify_tables",
    "verify_unjudged",
]
