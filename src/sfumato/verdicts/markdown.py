"""An answer as Markdown, for pull requests and pages."""

import re
from collections.abc import Iterable, Sequence

from sfumato.assessment import Assessment
from sfumato.attacks import Outcome
from sfumato.text import percent_of
from sfumato.verifier import Check
from sfumato.verifier.verdict import in_words


def write(assessment: Assessment, subject: str) -> str:
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
