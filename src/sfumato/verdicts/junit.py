"""An answer as JUnit XML: continuous integration shows every promise and attack as a test."""

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sfumato.assessment import Assessment
from sfumato.attacks import Outcome
from sfumato.verifier import Check
from sfumato.verifier.verdict import in_words


def write(assessment: Assessment, subject: str) -> str:
    """Write promises and attacks as two suites of tests.

    A broken promise and an attack that succeeds are failures, what could not be checked is an
    error, an attack that could not be tried is skipped.
    """
    root = Element("testsuites", name=_clean(f"sfumato verify {subject}"))
    promises = SubElement(root, "testsuite", name="promises")
    for check in assessment.checks:
        _check(promises, check)
    attacks = SubElement(root, "testsuite", name="attacks")
    succeeded = set(map(id, assessment.succeeded))
    for outcome in assessment.attacks:
        _attack(attacks, outcome, failed=id(outcome) in succeeded)
    for suite in (promises, attacks):
        for counted, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(counted, str(len(suite.findall(f"testcase/{tag}"))))
        suite.set("tests", str(len(suite)))
    for counted in ("tests", "failures", "errors", "skipped"):
        root.set(counted, str(int(promises.get(counted, 0)) + int(attacks.get(counted, 0))))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _check(suite: Element, check: Check) -> None:
    case = SubElement(suite, "testcase", name=_clean(check.name), classname="sfumato.promises")
    if check.status == "holds":
        return
    kind = "failure" if check.status == "broken" else "error"
    said = check.detail or f"promised {in_words(check.promised)}, found {in_words(check.found)}"
    SubElement(case, kind, message=_clean(said), type=check.status)


def _attack(suite: Element, outcome: Outcome, *, failed: bool) -> None:
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
