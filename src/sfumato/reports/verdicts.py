"""The answer whether a release may be published, in the forms that people and machines read."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sfumato._version import __version__
from sfumato.attacks import Outcome
from sfumato.drafting.unprotected import ColumnFinding
from sfumato.errors import UnknownNameError
from sfumato.showing.content import to_markdown
from sfumato.tasks.assessment import Assessment
from sfumato.text import visible, visible_json
from sfumato.verifier import Check
from sfumato.verifier.promises import OPEN, in_words

__all__ = ["FORMATS", "format_assessment"]


def format_assessment(assessment: Assessment, form: str, *, subject: str = "release") -> str:
    """Return an assessment in one of the forms.

    Args:
        assessment: What was found.
        form: One of `FORMATS`.
        subject: The release, as it is to be called: a path that the reader knows.

    Example:
        >>> from sfumato.verifier import Check, Verdict
        >>> held = Assessment(Verdict((Check("rows", "holds", 4, 4),)))
        >>> print(format_assessment(held, "markdown", subject="release").splitlines()[0])
        # May `release` be published? Yes
    """
    if form not in _WRITERS:
        raise UnknownNameError("format", form, FORMATS)
    return _WRITERS[form](assessment, subject)


def _text(assessment: Assessment, subject: str) -> str:
    return visible(f"{subject}\n{assessment}\n", keep="\n")


def _json(assessment: Assessment, subject: str) -> str:
    return visible_json(json.dumps({"subject": subject, **assessment.to_dict()}, indent=2)) + "\n"


def _markdown(assessment: Assessment, subject: str) -> str:
    name = " ".join(visible(subject).replace("`", "'").split())
    title = f"# May `{name}` be published? {assessment.answer.capitalize()}"
    return "\n\n".join([title, *to_markdown(assessment.details().parts)]) + "\n"


# JUnit XML: continuous integration shows every promise and attack as a test.


def _junit(assessment: Assessment, subject: str) -> str:
    """Return promises, attacks and columns that nothing protects as suites of tests.

    A broken promise, an attack that puts people at risk and a column that names people are
    failures. What could not be checked is an error. An attack that could not be tried is skipped,
    as is a promise about people that only the publisher can recount.
    """
    root = Element("testsuites", name=_clean(f"sfumato verify {subject}: {assessment.headline}"))
    promises = SubElement(root, "testsuite", name="promises")
    for check in assessment.checks:
        _junit_check(promises, check)
    attacks = SubElement(root, "testsuite", name="attacks")
    succeeded = set(map(id, assessment.succeeded))
    for outcome in assessment.attacks:
        _junit_attack(attacks, outcome, failed=id(outcome) in succeeded)
    suites = [promises, attacks]
    if assessment.columns:
        suites.append(SubElement(root, "testsuite", name="columns"))
    for found in assessment.columns:
        _junit_column(suites[-1], found)
    for suite in suites:
        for counted, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(counted, str(len(suite.findall(f"testcase/{tag}"))))
        suite.set("tests", str(len(suite)))
    for counted in ("tests", "failures", "errors", "skipped"):
        root.set(counted, str(sum(int(suite.get(counted, 0)) for suite in suites)))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _junit_check(suite: Element, check: Check) -> None:
    case = SubElement(suite, "testcase", name=_clean(check.name), classname="sfumato.promises")
    if check.status == "holds":
        return
    kinds = {"broken": "failure", **dict.fromkeys(OPEN, "skipped")}
    kind = kinds.get(check.status, "error")
    text = check.detail or f"promised {in_words(check.promised)}, found {in_words(check.found)}"
    SubElement(case, kind, message=_clean(text), type=check.status)


def _junit_attack(suite: Element, outcome: Outcome, *, failed: bool) -> None:
    case = SubElement(suite, "testcase", name=_clean(outcome.title), classname="sfumato.attacks")
    if not outcome.tried:
        SubElement(case, "skipped", message=_clean(outcome.note))
    elif failed:
        failure = SubElement(case, "failure", message=_clean(outcome.reason), type="at risk")
        failure.text = _clean("\n".join(map(str, outcome.worst)))
    else:
        SubElement(case, "system-out").text = _clean(str(outcome))


def _junit_column(suite: Element, found: ColumnFinding) -> None:
    name = f"{found.kind}: {', '.join(found.columns)}"
    case = SubElement(suite, "testcase", name=_clean(name), classname="sfumato.columns")
    if found.answer == "no":
        SubElement(case, "failure", message=_clean(f"{found}. {found.advice}"), type=found.kind)
    else:
        SubElement(case, "system-out").text = _clean(f"{found}. {found.advice}".strip())


def _clean(text: str) -> str:
    r"""Return a text without what XML cannot hold, or a terminal would obey.

    >>> _clean("a\x00b"), _clean("\ufffe")
    ('a\\x00b', '\ufffd')
    """
    return re.sub("[\ufffe\uffff]", "\ufffd", visible(text, keep="\n"))


# SARIF 2.1.0: code hosts show what is wrong beside the release.


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def _sarif(assessment: Assessment, subject: str) -> str:
    """Return what speaks against a release as results, each with the rule it breaks.

    A broken promise, or one that could not be checked, and an attack that puts people at risk are
    errors. An attack that gives something away without that, or that was accepted, is a warning.
    So is a promise about people that was not recounted, and a column that singles people out.
    A column that names people is an error.
    """
    found = [_sarif_check(check) for check in assessment.checks if check.status != "holds"]
    succeeded = set(map(id, assessment.succeeded))
    for outcome in assessment.attacks:
        if id(outcome) in succeeded:
            found.append(_sarif_attack(outcome, "error"))
        elif outcome in assessment.concerns or outcome in assessment.accepted:
            found.append(_sarif_attack(outcome, "warning"))
    found += map(_sarif_column, assessment.columns)
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
        "properties": {"answer": assessment.answer, "peopleAtRisk": assessment.at_risk},
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return visible_json(json.dumps(document, indent=2)) + "\n"


def _rules(assessment: Assessment) -> list[dict[str, Any]]:
    promises = {f"promise/{check.name}": f"The promise {check.name}" for check in assessment.checks}
    attacks = {f"attack/{each.attack}": each.how or each.attack for each in assessment.attacks}
    columns = {
        _column_rule(each): f"Columns that nothing protects: {each.kind}"
        for each in assessment.columns
    }
    rules = {**promises, **attacks, **columns}
    return [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()]


def _sarif_check(check: Check) -> dict[str, Any]:
    text = check.detail or f"promised {in_words(check.promised)}, found {in_words(check.found)}"
    text = f"{check.name} is {check.status}: {text}"
    level = "warning" if check.status in OPEN else "error"
    return {"ruleId": f"promise/{check.name}", "level": level, "message": {"text": text}}


def _sarif_attack(outcome: Outcome, level: str) -> dict[str, Any]:
    text = f"{outcome.reason} {outcome.accepted}".strip()
    return {"ruleId": f"attack/{outcome.attack}", "level": level, "message": {"text": text}}


def _sarif_column(found: ColumnFinding) -> dict[str, Any]:
    level = "error" if found.answer == "no" else "warning"
    text = f"{found}. {found.advice}".strip()
    return {"ruleId": _column_rule(found), "level": level, "message": {"text": text}}


def _column_rule(found: ColumnFinding) -> str:
    return f"column/{found.kind.replace(' ', '-')}"


_WRITERS: Mapping[str, Callable[[Assessment, str], str]] = {
    "text": _text,
    "json": _json,
    "markdown": _markdown,
    "junit": _junit,
    "sarif": _sarif,
}

FORMATS = tuple(_WRITERS)
"""The names of the forms."""
