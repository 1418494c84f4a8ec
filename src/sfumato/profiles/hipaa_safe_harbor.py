"""HIPAA's Safe Harbor: 18 kinds of identifiers are gone, and nobody is known to be identifiable."""

from collections.abc import Sequence
from datetime import date
from typing import ClassVar

from sfumato.dataclasses import dataclass
from sfumato.drafting.identifiers import IdentifierKind, identifiers_in
from sfumato.hierarchy import Dates, HierarchyBuilder, Intervals, ZipAreas
from sfumato.hierarchy.dates import likely_days
from sfumato.hierarchy.zip_areas import area_of, small_zip_areas
from sfumato.policy import ColumnRule
from sfumato.policy.meanings import ColumnKind, is_of_birth, meaning_of, words
from sfumato.profiles.base import Clause, Profile
from sfumato.profiles.checks import ForAPerson, NoIdentifiers
from sfumato.schema import Role
from sfumato.tables import Domain
from sfumato.text import number_of

_RULE = "45 CFR 164.514(b)(2)"

_TEXTS = {
    "A": "names",
    "B": "geographic subdivisions smaller than a state, but for the first three digits of a ZIP "
    "code whose area has more than 20 000 people, else 000",
    "C": "elements of dates but the year, and ages over 89 and dates that reveal them, unless "
    "together as 90 or older",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan beneficiary numbers",
    "J": "account numbers",
    "K": "certificate and license numbers",
    "L": "vehicle identifiers and serial numbers, license plates included",
    "M": "device identifiers and serial numbers",
    "N": "web addresses (URLs)",
    "O": "IP addresses",
    "P": "biometric identifiers, finger and voice prints included",
    "Q": "full-face photographs and comparable images",
    "R": "any other unique identifying number, characteristic, or code",
}
_KNOWLEDGE = (
    "You must not know that what is left could identify someone, alone or with other information. "
    "The people at risk above are such information: read them."
)
_CODES = (
    "A code to identify records again must not be derived from information about the person, and "
    "how it is made must not be disclosed."
)


@dataclass(frozen=True)
class HipaaSafeHarbor(Profile):
    """The Safe Harbor method of de-identification of the HIPAA Privacy Rule.

    Each of the 18 kinds of identifiers, of the individual and of relatives, employers and household
    members, must be gone from what is published. That says nothing about what the other columns
    give away together: the answer to whether it may be published does, and may be *no* although
    every clause holds.

    Reference: 45 CFR 164.514(b)(2); the ZIP areas by the Guidance Regarding Methods for
    De-identification of Protected Health Information, Department of Health and Human Services, 2012

    Args:
        areas_file: A file with the first three digits of ZIP codes whose areas have 20 000 people
            or fewer, by the current data of the Census Bureau; without it, the 17 of 2000.

    Example:
        >>> len(HipaaSafeHarbor().clauses())
        20
    """

    name: ClassVar[str] = "hipaa-safe-harbor"
    title: ClassVar[str] = "HIPAA Safe Harbor"
    in_words: ClassVar[str] = "18 kinds of identifiers are gone, as a rule of the USA asks."
    source: ClassVar[str] = _RULE
    note: ClassVar[str] = (
        "Other numbers, names and places are recognised by what columns are called; columns whose "
        "names and values say nothing have to be read by a person. ZIP areas are those of the "
        "census of 2000 unless a newer list is given (areas_file)."
    )

    areas_file: str | None = None

    def __post_init__(self) -> None:
        small_zip_areas(self.areas_file)

    def clauses(self) -> Sequence[Clause]:
        kinds = [
            Clause(
                str(kind),
                _TEXTS[kind],
                f"{_RULE}(i)({kind})",
                NoIdentifiers((str(kind),), self.areas_file),
            )
            for kind in IdentifierKind
        ]
        return [
            *kinds,
            Clause(
                "ii", "no actual knowledge of who it is", f"{_RULE}(ii)", ForAPerson(_KNOWLEDGE)
            ),
            Clause("c", "codes for re-identification", "45 CFR 164.514(c)", ForAPerson(_CODES)),
        ]

    def column_rule(self, domain: Domain, role: Role) -> tuple[ColumnRule, str] | None:
        if role in (Role.IDENTIFIER, Role.DROPPED):
            return None
        areas = small_zip_areas(self.areas_file)
        found = identifiers_in(domain, today=date.today(), small_areas=areas)
        if found:
            kind, said = found[0].kind, found[0].reason
        elif _are_ages(domain) or is_of_birth(domain.column):
            kind, said = IdentifierKind.DATES, "ages, or years of birth"
        else:
            return None
        why = f"{said}: clause ({kind}) of the Safe Harbor rule"
        hierarchy = self._hierarchy(domain, kind)
        if hierarchy is None:
            return (ColumnRule(role=Role.DROPPED), why) if found else None
        levels = (1, hierarchy.fixed_height or 1)
        known = ColumnRule(role=Role.QUASI_IDENTIFIER, hierarchy=hierarchy, levels=levels)
        return known, why

    def _hierarchy(self, domain: Domain, kind: IdentifierKind) -> HierarchyBuilder | None:
        """Return what makes a column as coarse as the rule asks; None if nothing does."""
        values = domain.values(_LOOKED_AT)
        if kind is IdentifierKind.GEOGRAPHY and all(area_of(value) for value in values):
            return ZipAreas(self.areas_file)
        if kind is not IdentifierKind.DATES:
            return None
        if _are_ages(domain):
            return Intervals(widths=[5, 10, 30], upper=90)
        days = likely_days(values)
        old = date.today().year - 90
        if days is None or (is_of_birth(domain.column) and any(int(d[:4]) <= old for d in days)):
            # A year of birth would tell an age above 89.
            return None
        return Dates(levels=["year", "decade"])


_LOOKED_AT = 100_000


def _are_ages(domain: Domain) -> bool:
    meaning = meaning_of(domain.column)
    aged = meaning is not None and meaning.kind is ColumnKind.AGE
    said = words(domain.column)
    if not aged or any(word in said for word in ("month", "months", "day", "days")):
        return False
    return all(number_of(value) is not None for value in domain.values(_LOOKED_AT))
