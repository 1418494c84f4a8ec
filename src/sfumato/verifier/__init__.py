"""The independent verifier: re-reads what was written and recomputes every promise.

It shares no code with the anonymisers and models it judges, uses only Arrow to count
and whole numbers and fractions to judge, and believes nothing a manifest says.
"""

from typing import TYPE_CHECKING

from sfumato.registry import on_first_use

if TYPE_CHECKING:
    from sfumato.verifier.counting import DatabaseRelation as DatabaseRelation
    from sfumato.verifier.counting import count_population as count_population
    from sfumato.verifier.models import MODEL_CHECKS as MODEL_CHECKS
    from sfumato.verifier.promises import Check as Check
    from sfumato.verifier.promises import Promises as Promises
    from sfumato.verifier.promises import Verdict as Verdict
    from sfumato.verifier.release import verify_file as verify_file
    from sfumato.verifier.release import verify_folder as verify_folder
    from sfumato.verifier.release import verify_relation as verify_relation
    from sfumato.verifier.release import verify_stored as verify_stored
    from sfumato.verifier.release import verify_tables as verify_tables
    from sfumato.verifier.release import verify_unjudged as verify_unjudged

_HOMES = {
    "Check": "promises",
    "DatabaseRelation": "counting",
    "MODEL_CHECKS": "models",
    "Promises": "promises",
    "Verdict": "promises",
    "count_population": "counting",
    "verify_file": "release",
    "verify_folder": "release",
    "verify_relation": "release",
    "verify_stored": "release",
    "verify_tables": "release",
    "verify_unjudged": "release",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [*_HOMES]  # noqa: PLE0604 - all of them are texts

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)
