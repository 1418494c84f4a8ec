"""An answer as plain text, for terminals and logs."""

from sfumato.assessment import Assessment


def write(assessment: Assessment, subject: str) -> str:
    """Write an answer as people read it."""
    return f"{subject}\n{assessment}\n"
