"""An answer as Markdown, for pull requests and pages."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sfumato._version import __version__
from sfumato.attacks import Outcome
from sfumato.tasks.verify import Assessment
from sfumato.text import percent_of
from sfumato.verifier import Check
from sfumato.verifier.promises import in_words


def write_markdown(assessment: Assessment, subject: str) -> str:
    """Write an answer as two tables, with the reasons before them."""
    lines = [
        f"# May {_code(subject)} be published? {assessment.answer.capitalize()}",
        "",
        *(f"- {_plain(reason)}" for reason in assessment.why),
        "",
        *_table(
            "Promises", ("promise", "", "promised", "found", ""), map(_check, assessment.checks)
        ),
        *_table(
            "Attacks",
            ("attack", "on", "people at risk", "before", "after", "worst case"),
            map(_attack, assessment.attacks),
        ),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    body = [f"| {' | '.join(row)} |" for row in rows]
    if not body:
        return []
    return [
        f"## {title}",
        "",
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *body,
        "",
    ]


def _check(check: Check) -> Sequence[str]:
    promised, found = (
        "" if value is None else _plain(in_words(value)) for value in (check.promised, check.found)
    )
    return (_plain(check.name), check.status, promised, found, _plain(check.detail))


def _attack(outcome: Outcome) -> Sequence[str]:
    if outcome.posterior is None:
        return (outcome.attack, "", "not tried", "", "", _plain(outcome.note))
    told = "" if outcome.judged else " (told, not judged)"
    worst = _plain(str(outcome.worst[0])) if outcome.worst else ""
    return (
        outcome.attack,
        _plain(outcome.about),
        f"{outcome.people} of {outcome.of}{told}",
        "" if outcome.prior is None else percent_of(outcome.prior),
        percent_of(outcome.posterior),
        worst,
    )


def _plain(text: str) -> str:
    r"""Write text that Markdown shows as it is.

    >>> print(_plain("a|b <i>*c*"))
    a\|b \<i\>\*c\*
    """
    one_line = " ".join(text.split())
    return re.sub(r"([\\`*_{}\[\]<>#|~!])", r"\\\1", one_line)


def _code(text: str) -> str:
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"


# An answer as JUnit XML: continuous integration shows every promise and attack as a test.


def write_junit(assessment: Assessment, subject: str) -> str:
    """Write promises and attacks as two suites of tests.

    A broken promise and an attack that succeeds are failures, what could not be checked is an
    error, an attack that could not be tried is skipped.
    """
    root = Element("testsuites", name=_clean(f"sfumato verify {subject}"))
    promises = SubElement(root, "testsuite", name="promises")
    for check in assessment.checks:
        _junit_check(promises, check)
    attacks = SubElement(root, "testsuite", name="attacks")
    succeeded = set(map(id, assessment.succeeded))
    for outcome in assessment.attacks:
        _junit_attack(attacks, outcome, failed=id(outcome) in succeeded)
    for suite in (promises, attacks):
        for counted, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(counted, str(len(suite.findall(f"testcase/{tag}"))))
        suite.set("tests", str(len(suite)))
    for counted in ("tests", "failures", "errors", "skipped"):
        root.set(counted, str(int(promises.get(counted, 0)) + int(attacks.get(counted, 0))))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _junit_check(suite: Element, check: Check) -> None:
    case = SubElement(suite, "testcase", name=_clean(check.name), classname="sfumato.promises")
    if check.status == "holds":
        return
    kind = "failure" if check.status == "broken" else "error"
    said = check.detail or f"promised {in_words(check.promised)}, found {in_words(check.found)}"
    SubElement(case, kind, message=_clean(said), type=check.status)


def _junit_attack(suite: Element, outcome: Outcome, *, failed: bool) -> None:
    case = SubElement(suite, "testcase", name=_clean(outcome.title), classname="sfumato.attacks")
    if not outcome.tried:
        SubElement(case, "skipped", message=_clean(outcome.note))
    elif failed:
        failure = SubElement(case, "failure", message=_clean(str(outcome)), type="at risk")
        failure.text = _clean("\n".join(map(str, outcome.worst)))
    else:
        SubElement(case, "system-out").text = _clean(str(outcome))


def _clean(text: str) -> str:
    r"""Leave out what XML cannot hold.

    >>> _clean("a\x00b")
    'a\ufffdb'
    """
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


# An answer as SARIF 2.1.0: code hosts show what is wrong beside the release.


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def write_sarif(assessment: Assessment, subject: str) -> str:
    """Write what speaks against a release as results, each with the rule it breaks.

    A broken promise, or one that could not be checked, and an attack that succeeds are errors;
    an attack that brings somebody's belief to the level *high* is a warning.
    """
    found = [_sarif_check(check) for check in assessment.checks if check.status != "holds"]
    succeeded = set(map(id, assessment.succeeded))
    for outcome in assessment.attacks:
        if id(outcome) in succeeded:
            found.append(_sarif_attack(outcome, "error"))
        elif outcome.judged and outcome.gain and (outcome.posterior or 0) >= assessment.levels.high:
            found.append(_sarif_attack(outcome, "warning"))
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


def _sarif_check(check: Check) -> dict[str, Any]:
    said = check.detail or f"promised {in_words(check.promised)}, found {in_words(check.found)}"
    text = f"{check.name} is {check.status}: {said}"
    return {"ruleId": f"promise/{check.name}", "level": "error", "message": {"text": text}}


def _sarif_attack(outcome: Outcome, level: str) -> dict[str, Any]:
    text = "\n".join([str(outcome), *(f"worst: {case}" for case in outcome.worst[:1])])
    return {"ruleId": f"attack/{outcome.attack}", "level": level, "message": {"text": text}}


# An answer as JSON: everything that was found.


def write_json(assessment: Assessment, subject: str) -> str:
    """Write an answer with all its figures."""
    return json.dumps({"subject": subject, **assessment.to_dict()}, indent=2) + "\n"


# An answer as plain text, for terminals and logs.


def write_text(assessment: Assessment, subject: str) -> str:
    """Write an answer as people read it."""
    return f"{subject}\n{assessment}\n"
