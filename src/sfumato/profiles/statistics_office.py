"""Statistical offices: a minimum count in every group, and no group that nearly all agree in."""

from collections.abc import Sequence
from typing import ClassVar

from sfumato.dataclasses import dataclass
from sfumato.errors import require_int
from sfumato.profiles.base import Clause, Profile
from sfumato.profiles.checks import (
    ForAPerson,
    LargestShare,
    NobodySingledOut,
    NoIdentifiers,
    SmallestGroup,
)

_GUIDELINES = "ESSnet SDC, Guidelines for the checking of output based on microdata research, 2010"
_GLOSSARY = "Glossary of Statistical Disclosure Control, UNECE/Eurostat, 2005, threshold rule"


@dataclass(frozen=True)
class StatisticsOffice(Profile):
    """The rules of thumb by which statistical offices check what leaves them.

    A minimum number of people behind every figure, and no group of which nearly all have the same
    value. Offices differ: many ask for ten, others for five or three. Say yours.

    Reference: Brandt and others, Guidelines for the checking of output based on microdata research,
    ESSnet SDC, 2010; Glossary of Statistical Disclosure Control, Joint UNECE/Eurostat work session
    on statistical data confidentiality, Geneva, 2005

    Args:
        minimum: People in every group at least.
        share: From this share of a group on, it may not have the same value.

    Example:
        >>> StatisticsOffice().smallest_class, StatisticsOffice(minimum=3).smallest_class
        (10, 3)
    """

    name: ClassVar[str] = "statistics-office"
    title: ClassVar[str] = "Rules of statistical offices"
    in_words: ClassVar[str] = "Ten people behind every figure, and no group that nearly agrees."
    source: ClassVar[str] = _GUIDELINES
    note: ClassVar[str] = (
        "These are rules of thumb, by which outputs are passed without a further look. An office "
        "may ask for more, or accept less with a reason."
    )

    minimum: int = 10
    share: float = 0.9

    def __post_init__(self) -> None:
        require_int("minimum", self.minimum, at_least=2)
        LargestShare(self.share)

    def clauses(self) -> Sequence[Clause]:
        return [
            Clause("identifiers", "no name or number of a person", _GLOSSARY, NoIdentifiers()),
            Clause(
                "minimum count",
                f"at least {self.minimum} people, unweighted, behind every figure",
                f"{_GUIDELINES}; {_GLOSSARY}",
                SmallestGroup(self.minimum),
            ),
            Clause(
                "group disclosure",
                f"no value that {self.share:.0%} of a group or more have",
                _GUIDELINES,
                LargestShare(self.share),
            ),
            Clause(
                "differencing",
                "other published columns do not lead to fewer people",
                _GUIDELINES,
                NobodySingledOut(),
            ),
            Clause(
                "dominance",
                "no one contributes half of a total or more",
                _GUIDELINES,
                ForAPerson("It is about totals of amounts: check the tables made of this data."),
            ),
            Clause(
                "linked tables",
                "tables published before cannot be subtracted from this one",
                _GUIDELINES,
                ForAPerson("Compare with what was published: sfumato verify --earlier."),
            ),
        ]
