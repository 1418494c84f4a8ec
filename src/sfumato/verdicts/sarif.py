"""An answer as SARIF 2.1.0: code hosts show what is wrong beside the release."""

import json
from typing import Any
from urllib.parse import quote

from sfumato._version import __version__
from sfumato.assessment import Assessment
from sfumato.attacks import Outcome
from sfumato.verifier import Check
from sfumato.verifier.verdict import in_words

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def write(assessment: Assessment, subject: str) -> str:
    """Write what speaks against a release as results, each with the rule it breaks.

    A broken promise, or one that could not be checked, and an attack that succeeds are errors;
    an attack that brings somebody's belief to the level *high* is a warning.
    """
    found = [_check(check) for check in assessment.checks if check.status != "holds"]
    succeeded = set(map(id, assessment.succeeded))
    for outcome in assessment.attacks:
        if id(outcome) in succeeded:
            found.append(_attack(outcome, "error"))
        elif outcome.judged and outcome.gain and (outcome.posterior or 0) >= assessment.levels.high:
            found.append(_attack(outcome, "warning"))
    place = {"physicalLocation": {"artifactLocation": {"uri": quote(subject.replace("\\", "/"))}}}
    run = {
        "tool": {
            "driver": {
                "name": "sfumato",
                "version": __version__,
                "rules": _rules(assessment),
            }
        },
        "results": [{**result, "locations": [place]} for result in found],
        "properties": {"answer": assessment.answer},
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2) + "\n"


def _rules(assessment: Assessment) -> list[dict[str, Any]]:
    promises = {f"promise/{check.name}": f"The promise {check.name}" for check in assessment.checks}
    attacks = {f"attack/{each.attack}": each.how or each.attack for each in assessment.attacks}
    rules = {**promises, **attacks}
    return [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()]


def _check(check: Check) -> dict[str, Any]:
    said = check.detail or f"promised {in_words(check.promised)}, found {in_words(check.found)}"
    text = f"{check.name} is {check.status}: {said}"
    return {"ruleId": f"promise/{check.name}", "level": "error", "message": {"text": text}}


def _attack(outcome: Outcome, level: str) -> dict[str, Any]:
    text = "\n".join([str(outcome), *(f"worst: {case}" for case in outcome.worst[:1])])
    return {"ruleId": f"attack/{outcome.attack}", "level": level, "message": {"text": text}}
