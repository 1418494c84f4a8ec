"""How an answer looks: the promises, the attacks, and whether a release may be published."""

from typing import TYPE_CHECKING

from sfumato.cli.show import cell, clean, table
from sfumato.cli.views import verdict_view
from sfumato.tasks.percent import percent

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from sfumato.assessment import Assessment
    from sfumato.attacks import Outcome

_STYLES = {"yes": "green", "with care": "yellow", "no": "bold red"}


def assessment_view(assessment: "Assessment") -> list["RenderableType"]:
    """Show promises, attacks, the worst cases, and the answer last: that is where people look."""
    parts: list[RenderableType] = []
    if assessment.checks:
        parts += verdict_view(assessment.verdict)
    tried = [outcome for outcome in assessment.attacks if outcome.tried]
    if tried:
        parts.append(_attacks(assessment, tried))
    worst = [
        f"{outcome.attack}: {case}"
        for outcome in assessment.succeeded
        for case in outcome.worst[:1]
    ]
    if worst:
        parts.append(cell("Worst cases:\n" + "\n".join(map(clean, worst)), keep="\n"))
    missing = [f"{each.attack} ({each.note})" for each in assessment.attacks if not each.tried]
    if missing:
        parts.append(cell("Not tried: " + ", ".join(missing)))
    answer = assessment.answer
    headline = f"May it be published? {answer.capitalize()}."
    return [*parts, cell(headline, _STYLES[answer])]


def _attacks(assessment: "Assessment", tried: "list[Outcome]") -> "Table":
    heads = ("attack", "on", "", "people at risk", "believed before", "after")
    rows = [
        (
            outcome.attack,
            outcome.about,
            _result(assessment, outcome),
            f"{outcome.people} of {outcome.of}",
            "" if outcome.prior is None else percent(outcome.prior),
            percent(outcome.posterior or 0.0),
        )
        for outcome in tried
    ]
    return table(heads, rows, right=heads[3:])


def _result(assessment: "Assessment", outcome: "Outcome") -> "Text":
    if not outcome.judged:
        return cell("told")
    if outcome.people > assessment.allowed:
        return cell("succeeds", "bold red")
    return cell("fails", "green")
