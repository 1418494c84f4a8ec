"""The probabilistic attack: a class in which one value is likely, if not certain."""

from typing import ClassVar, Self

from sfumato.attacks.base import LIMIT_SHARE, ClassAttack, Finding, Outcome, likeliest, limit_shares
from sfumato.attacks.target import Target
from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import require_number, require_text
from sfumato.harm import HarmRule
from sfumato.models.rounding import at_least
from sfumato.policy.remedies import Remedy


@dataclass(frozen=True)
class ProbabilisticInference(ClassAttack):
    """Look for classes in which one sensitive value is frequent.

    Ten patients with three different diseases, eight of whom have HIV: the class is 3-diverse,
    and taking any of them for HIV-positive is right in four of five cases.

    Finds: every class in which the share of a value among the known ones is `at_least` or more;
    homogeneous classes are among them. Missing values hide no person.
    Does not find: whether the value is as frequent everywhere, in which case nothing was learned
    from the class: `prior` beside `posterior` says so (see `Skewness`).

    Reference: Machanavajjhala et al., "l-Diversity: Privacy Beyond k-Anonymity", ACM
    Transactions on Knowledge Discovery from Data 1(1), 2007, doi:10.1145/1217299.1217302

    Args:
        column: The sensitive column.
        at_least: The share from which on a value is frequent; above 0, 1 at most.

    Example:
        >>> rows = [("A", "hiv")] * 8 + [("A", "flu"), ("A", "gout"), ("B", "flu"), ("B", "gout")]
        >>> finding = ProbabilisticInference("disease", at_least=0.75).run(
        ...     classes_of(rows, column="disease"))
        >>> finding.vulnerable, finding.posterior, finding.believed(0)
        (array([ True, False]), array([0.8, 0.5]), 'disease = hiv')
    """

    name: ClassVar[str] = "probabilistic-inference"
    how: ClassVar[str] = "Finds the person's class and takes its most frequent value for theirs."
    advice: ClassVar[str] = LIMIT_SHARE

    column: str
    at_least: float = 0.5

    def remedies(self, outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
        return limit_shares(outcome, rule)

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_number("at_least", self.at_least, above=0, at_most=1)

    def run(self, classes: EquivalenceClasses) -> Finding:
        guess = likeliest(classes.counts_of(self.column))
        return self.guess_values(classes, guess, at_least(guess.posterior, self.at_least))

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:
        return [cls(column, at_least=rule.very_high) for column in target.sensitive]

    @classmethod
    def example(cls) -> Self:
        return cls("disease", at_least=0.75)
