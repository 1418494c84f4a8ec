"""The homogeneity attack: a class in which all people have the same value."""

from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from sfumato.attacks.base import (
    LIMIT_SHARE,
    Case,
    ClassAttack,
    Finding,
    Outcome,
    likeliest,
    limit_shares,
)
from sfumato.attacks.target import Target
from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import require_text
from sfumato.harm import HarmRule, Level, Secrecy
from sfumato.policy.remedies import GiveRole, Remedy, SayHarmless
from sfumato.schema import Role
from sfumato.text import text_of


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
        "Finds the person's class, in which all have the same value, and reads the value off."
    )
    advice: ClassVar[str] = LIMIT_SHARE

    column: str

    def remedies(self, outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
        return limit_shares(outcome, rule)

    def __post_init__(self) -> None:
        require_text("column", self.column)

    def run(self, classes: EquivalenceClasses) -> Finding:
        counts = classes.counts_of(self.column)
        return self.guess_values(
            classes, likeliest(counts), counts.known.distinct == 1, certain=True
        )

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        counts = target.classes.counts_of(self.column)
        outcome = super().on(target, rule)
        only = np.flatnonzero(counts.reference[:-1])
        if len(only) != 1:
            return outcome
        return self._judge_constant(target, outcome, int(only[0]))

    def _judge_constant(self, target: Target, outcome: Outcome, code: int) -> Outcome:
        """Return the outcome for a column with one value: to be in the table is to have it.

        How likely it was before, the table cannot say: it shows no other people.
        """
        counts = target.classes.counts_of(self.column)
        secrecy = counts.column.secrecy
        declared = Secrecy.ORDINARY if secrecy is None else Secrecy(int(secrecy[code]))
        level = {
            Secrecy.HARMLESS: Level.LOW, Secrecy.ORDINARY: Level.HIGH,
            Secrecy.SECRET: Level.VERY_HIGH,
        }[declared]  # fmt: skip
        value = text_of(counts.column.values[code])
        believed = f"{self.column} = {value}, for all people in the table have it"
        counted = target.classes.people
        people = counts.known_total if counted is None else counted.with_known(self.column)
        return replace(
            outcome,
            people=people if level is Level.VERY_HIGH else 0,
            high=people if level is Level.HIGH else 0,
            moderate=0,
            by_chance=0,
            found=None,
            worst=(Case({}, people, believed, 1.0, 1.0, level),),
            note="who is known to be in the table is known to have it",
            advice=f"Leave {self.column} out, or say that it is no secret: harmless: [{value}].",
            remedies=(GiveRole(self.column, Role.DROPPED), SayHarmless(self.column, value)),
        )

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        return [cls(column) for column in target.sensitive]

    @classmethod
    def example(cls) -> Self:
        return cls("disease")
