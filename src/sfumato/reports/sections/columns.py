"""Columns that nothing protects: who is named by them, and who becomes rare if they are known."""

from collections.abc import Sequence

from sfumato.drafting.unprotected import findings_table
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter, NotHereError
from sfumato.showing.content import Part, Sentence


def _parts(dossier: Dossier) -> Sequence[Part]:
    found = dossier.assessment.columns
    if not found:
        raise NotHereError(
            "no column that is published as it is names people, singles them out or lacks a role"
        )
    named = [each for each in found if each.answer == "no"]
    parts: list[Part] = []
    if named:
        parts.append(Sentence("A column names people: do not publish this.", loud=True))
    return [*parts, findings_table(found, "Columns that nothing protects")]


COLUMNS = Chapter(
    "columns",
    "What columns give away that nothing protects",
    "Models protect quasi-identifiers and sensitive columns; a plain column is published as it is. "
    "Each line says how many people are left in a group that is too small, if an adversary knows "
    "that column, or those columns, besides the quasi-identifiers.",
    _parts,
    of_people=True,
)
