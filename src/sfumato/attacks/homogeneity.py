"""The homogeneity attack: a class in which all people have the same value."""

from dataclasses import dataclass
from typing import ClassVar, Self

from sfumato.attacks.base import ClassAttack, Finding, likeliest
from sfumato.attacks.target import Target
from sfumato.classes import EquivalenceClasses
from sfumato.errors import require_text
from sfumato.harm import HarmRule


@dataclass(frozen=True)
class Homogeneity(ClassAttack):
    """Look for classes whose known sensitive values are all equal.

    However large such a class is, who knows that a person is in it knows the value. A
    class of one row is the smallest case.

    Finds: every class that shows exactly one known value. Missing values hide no person:
    in {flu, flu, missing} those with a known value have flu. A class of missing values only
    gives away that nothing is known, and is not vulnerable.
    Does not find: a value that is likely but not certain, or several values that amount to
    the same (see `Similarity`); nor whether the value was known before, because all people
    in the table have it.

    Reference: Machanavajjhala et al., "l-Diversity: Privacy Beyond k-Anonymity", ACM
    Transactions on Knowledge Discovery from Data 1(1), 2007, doi:10.1145/1217299.1217302

    Args:
        column: The sensitive column.

    Example:
        >>> rows = [("A", "flu"), ("A", "flu"), ("B", "flu"), ("B", "gout"), ("C", None)]
        >>> Homogeneity("disease").run(classes_of(rows, column="disease")).vulnerable
        array([ True, False, False])
    """

    name: ClassVar[str] = "homogeneity"
    how: ClassVar[str] = (
        "Finds the person's class, in which everybody has the same value, and reads the value off."
    )
    advice: ClassVar[str] = (
        "Promise diversity: models: [{{model: probabilistic-l-diversity, column: {column}, l: 3}}]."
    )

    column: str

    def __post_init__(self) -> None:
        require_text("column", self.column)

    def run(self, classes: EquivalenceClasses) -> Finding:
        counts = classes.counts_of(self.column)
        return self.guess_values(
            classes, likeliest(counts), counts.known.distinct == 1, certain=True
        )

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        return [cls(column) for column in target.sensitive]

    @classmethod
    def example(cls) -> Self:
        return cls("disease")
