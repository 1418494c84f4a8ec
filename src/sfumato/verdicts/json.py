"""An answer as JSON: everything that was found."""

import json

from sfumato.assessment import Assessment


def write(assessment: Assessment, subject: str) -> str:
    """Write an answer with all its figures."""
    return json.dumps({"subject": subject, **assessment.to_dict()}, indent=2) + "\n"
