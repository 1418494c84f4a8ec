"""WP 216: the three criteria of anonymity in the EU: singling out, linkability, inference."""

from collections.abc import Sequence
from typing import ClassVar

from sfumato.dataclasses import dataclass
from sfumato.profiles.base import Clause, Profile
from sfumato.profiles.checks import ForAPerson, NobodyAtRisk, NobodySingledOut, NotLinkable

_OPINION = "Opinion 05/2014 (WP 216)"


@dataclass(frozen=True)
class Wp216(Profile):
    """The three criteria of the Article 29 Working Party's opinion on anonymisation techniques.

    Where one of them is not met, the opinion asks for a thorough evaluation of the risks. It was
    written about recital 26 of Directive 95/46/EC; recital 26 of the GDPR has the same test of the
    means reasonably likely to be used.

    Reference: Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation
    Techniques, WP 216, 0829/14/EN, adopted on 10 April 2014

    Args:
        at_least: People who must look alike for nobody to be singled out.

    Example:
        >>> [clause.id for clause in Wp216().clauses()][:3]
        ['singling out', 'linkability', 'inference']
    """

    name: ClassVar[str] = "wp216"
    title: ClassVar[str] = "WP 216: the three criteria"
    in_words: ClassVar[str] = "Nobody is singled out, linked, or learned about, as the EU asks."
    source: ClassVar[str] = f"{_OPINION}, adopted on 10 April 2014"
    note: ClassVar[str] = (
        "The opinion says itself that k-anonymity alone leaves linkability and inference as risks."
    )

    at_least: int = 2

    def __post_init__(self) -> None:
        NobodySingledOut(self.at_least)

    def clauses(self) -> Sequence[Clause]:
        return [
            Clause(
                "singling out",
                "no record can be isolated that identifies an individual",
                f"{_OPINION}, section 3",
                NobodySingledOut(self.at_least),
            ),
            Clause(
                "linkability",
                "no two records of the same person or group can be linked, in this data or others",
                f"{_OPINION}, section 3",
                NotLinkable(),
            ),
            Clause(
                "inference",
                "no value of a person can be deduced with significant probability from others",
                f"{_OPINION}, section 3",
                NobodyAtRisk(),
            ),
            Clause(
                "means",
                "account is taken of all means reasonably likely to be used",
                "GDPR, recital 26",
                ForAPerson("Say who could look for people, with what cost, time and technology."),
            ),
            Clause(
                "original data",
                "the data at the level of events is no longer held, or nobody can be traced there",
                f"{_OPINION}, section 2.2.2",
                ForAPerson("Whoever keeps the original can single out people in the release."),
            ),
            Clause(
                "over time",
                "the risks are assessed again as others learn more",
                f"{_OPINION}, section 2.2.3",
                ForAPerson("Verify again when other data of the same people is published."),
            ),
        ]
