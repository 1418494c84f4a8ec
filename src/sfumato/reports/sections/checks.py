"""Everything that was checked: all reasons of the answer, and each promise recomputed."""

from collections.abc import Sequence
from dataclasses import replace

from sfumato.decouplings.base import GroupedTables
from sfumato.releases.opening import PublishedTables
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter
from sfumato.showing.content import ContentTable, Listing, Part, Sentence

_CHECKS = "Checks: what the release says of itself, recomputed from its files"


def _parts(dossier: Dossier) -> Sequence[Part]:
    found = dossier.assessment
    reasons = [f"{_capital(dossier.without_path(why))}." for why in found.why]
    parts: list[Part] = [Listing.of(reasons, most=12, caption="Reasons of the answer")]
    parts += [
        replace(part, caption=_CHECKS) if isinstance(part, ContentTable) else part
        for part in found.verdict.content().parts
    ]
    warnings = _warnings(dossier)
    if warnings:
        told = [f"{_capital(text)}." for text in warnings]
        parts += [Sentence("What holds and still deserves a second look:"), Listing.of(told)]
    return parts


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".")


def _warnings(dossier: Dossier) -> list[str]:
    """Return what holds and still deserves a second look."""
    if dossier.manifest is None or not dossier.assessment.verdict.holds:
        return []
    verdict = dossier.assessment.verdict
    if dossier.kind is None:
        found = Release(dossier.manifest, verdict).warnings
    else:
        found = DecoupledRelease(dossier.manifest, verdict, _groups(dossier)).warnings
    return [text.rstrip(".") for text in found]


def _groups(dossier: Dossier) -> GroupedTables:
    """Return the groups of people who look alike; of buckets, none: attacks tell of those."""
    if dossier.target.grouped is not None:
        return dossier.target.grouped
    release = dossier.release
    if isinstance(release, PublishedTables) and release.known_groups is not None:
        return release.known_groups
    counts = dossier.target.classes.sizes[:0]
    return GroupedTables((), dossier.target.labels[:0, :0], counts, ())


CHECKS = Chapter(
    "checks",
    "What was checked",
    "First every reason of the answer, with the lines of a policy that help; then every check, "
    "with what was promised and what was found.",
    _parts,
)
