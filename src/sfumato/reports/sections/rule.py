"""The rule that is answered to: each of its clauses, what was checked, and what is for a person."""

from collections.abc import Sequence

from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter, NotHereError
from sfumato.showing.content import Part, Sentence


def _parts(dossier: Dossier) -> Sequence[Part]:
    found = dossier.assessment.rule
    if found is None:
        raise NotHereError("no rule is named: profile in the policy, as in profile: wp216")
    return [Sentence(found.headline, loud=True), *found.parts()]


RULE = Chapter(
    "rule",
    "The rule you answer to",
    "Each clause, where it stands, what was checked, the figure that decides, and whether it "
    "holds. What no program can check is left for a person.",
    _parts,
)
