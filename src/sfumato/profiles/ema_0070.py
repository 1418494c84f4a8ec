"""EMA policy 0070: clinical data are published with a risk of at most 0.09 for every person."""

from collections.abc import Sequence
from typing import ClassVar

from sfumato.dataclasses import dataclass
from sfumato.profiles.base import Clause, Profile
from sfumato.profiles.checks import ForAPerson, LargestRisk, NobodyAtRisk, NoIdentifiers

_GUIDANCE = "EMA/90915/2016, chapter 3"


@dataclass(frozen=True)
class Ema0070(Profile):
    """The anonymisation of clinical data for EMA policy 0070, and for Health Canada.

    The guidance lets publishers show that the three criteria of WP 216 are met (see `wp216`), or
    evaluate the risk of re-identification against a threshold. This is the second way, for data
    that everyone may read: the largest risk of anyone is at most 0.09. Taken as it is written,
    that needs groups of 12; groups of 11 are often meant, whose risk is 1/11 = 0.0909: say
    `threshold: 0.091` for those.

    Reference: European Medicines Agency, External guidance on the implementation of the European
    Medicines Agency policy on the publication of clinical data for medicinal products for human
    use, EMA/90915/2016; Health Canada, Public Release of Clinical Information: guidance document

    Args:
        threshold: The largest risk allowed.

    Example:
        >>> Ema0070().smallest_class, Ema0070(threshold=0.091).smallest_class
        (12, 11)
    """

    name: ClassVar[str] = "ema-0070"
    title: ClassVar[str] = "EMA policy 0070"
    in_words: ClassVar[str] = "Nobody's row is found with more than 9 %, as for clinical data."
    source: ClassVar[str] = "EMA/90915/2016, with Health Canada's threshold of 0.09"
    note: ClassVar[str] = (
        "The risk is that of people in the data, not of a wider population: the larger of the two."
    )

    threshold: float = 0.09

    def __post_init__(self) -> None:
        LargestRisk(self.threshold)

    def clauses(self) -> Sequence[Clause]:
        health_canada = "Health Canada, Public Release of Clinical Information"
        return [
            Clause(
                "direct identifiers",
                "no direct identifier of a trial participant is published",
                _GUIDANCE,
                NoIdentifiers(),
            ),
            Clause(
                "threshold",
                f"the largest risk of re-identification is at most {self.threshold}",
                f"{_GUIDANCE}; {health_canada}",
                LargestRisk(self.threshold),
            ),
            Clause(
                "adversaries",
                "plausible attacks on the data were identified and tried",
                _GUIDANCE,
                NobodyAtRisk(),
            ),
            Clause(
                "quasi-identifiers",
                "all variables that others may know are taken for quasi-identifiers",
                _GUIDANCE,
                ForAPerson("Read the role of every column: a wrong role hides a risk."),
            ),
            Clause(
                "documents",
                "narratives, tables and figures of the report are anonymised like the data",
                _GUIDANCE,
                ForAPerson("Sfumato reads tables, not documents."),
            ),
            Clause(
                "utility",
                "what is lost, and why as much had to be, is considered",
                _GUIDANCE,
                ForAPerson("The report's figures on utility help: sfumato report --data."),
            ),
            Clause(
                "anonymisation report",
                "method, rationale and outcome are documented",
                _GUIDANCE,
                ForAPerson("This table and the report are parts of it, and not the whole."),
            ),
        ]
