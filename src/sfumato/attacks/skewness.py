"""The skewness attack: a class in which a value is far commoner than in the table."""

from typing import ClassVar, Self

import numpy as np

from sfumato.attacks.base import (
    LIMIT_SHARE,
    Beliefs,
    ClassAttack,
    Finding,
    Guesses,
    Outcome,
    chance_of_guesses,
    is_value,
    limit_shares,
    priors,
    secrecy_of,
    strongest,
)
from sfumato.attacks.target import Target
from sfumato.classes import EquivalenceClasses, ValueCounts
from sfumato.dataclasses import dataclass
from sfumato.errors import require_number, require_text
from sfumato.harm import HarmRule
from sfumato.models.rounding import at_least
from sfumato.policy.remedies import Remedy
from sfumato.typing import IntArray


@dataclass(frozen=True)
class Skewness(ClassAttack):
    """Look for classes in which a sensitive value is far commoner than in the whole table.

    One student in a hundred fails. In a class of fifty with 49 failures each has failed
    with 98 %, in one with 25 with 50 %; both are as diverse as two values can be, and so is
    the class with one failure, which tells nothing.

    Finds: every class in which the share of some value among the known ones exceeds its share in
    the table by `gain` or more. It looks at the value whose share grew most, which need not be
    the most frequent one. On a release, as `sf.verify` tries it, the rule for harm judges every
    value that a class has, and the one that harms most counts, whatever its gain.
    Does not find: a value that is rarer in a class than elsewhere, though that tells something
    too (see t-closeness); nor several values each of which grew a little (see `Similarity`).

    Reference: Li et al., "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", 2007,
    doi:10.1109/ICDE.2007.367856

    Args:
        column: The sensitive column.
        gain: How much larger a value's share must be in the class than in the table; above 0
            and below 1. With a quarter, 1 % in the table and 26 % in the class are far apart.

    Example:
        >>> rows = [("A", "fail")] * 49 + [("A", "pass")] + [("B", "pass")] * 50
        >>> finding = Skewness("exam").run(classes_of(rows, column="exam"))
        >>> finding.vulnerable, finding.prior.tolist(), finding.posterior.tolist()
        (array([ True,  True]), [0.49, 0.51], [0.98, 1.0])
    """

    name: ClassVar[str] = "skewness"
    how: ClassVar[str] = (
        "Finds the person's class and believes of them what is far commoner there than elsewhere."
    )
    advice: ClassVar[str] = LIMIT_SHARE

    column: str
    gain: float = 0.25

    def remedies(self, outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
        return limit_shares(outcome, rule)

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_number("gain", self.gain, above=0, below=1)

    def run(self, classes: EquivalenceClasses) -> Finding:
        guess = _most_grown(classes.counts_of(self.column))
        return self.guess_values(classes, guess, at_least(guess.posterior - guess.prior, self.gain))

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        counts = target.classes.counts_of(self.column)
        guess = _most_harmful(counts, rule)
        return Beliefs(
            target.classes.inside,
            guess.prior,
            guess.posterior,
            target.who,
            is_value(counts, guess.value),
            secrecy_of(counts, guess.value),
            chance_of_guesses(counts, guess, rule),
            people=target.classes.people,
            find=target.find_classes,
        ).outcome(self, self.column, rule)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        return [cls(column) for column in target.sensitive]

    @classmethod
    def example(cls) -> Self:
        return cls("disease")


def _most_grown(counts: ValueCounts) -> Guesses:
    """Return the value of each class whose share exceeds that in the table by most."""
    known = counts.known
    before = priors(counts)[known.value]
    share = known.rows / known.totals[known.class_id]
    # Of those that grew by the same, the most frequent.
    return _guesses(counts, np.lexsort((share, share - before, known.class_id)))


def _most_harmful(counts: ValueCounts, rule: HarmRule) -> Guesses:
    """Return the value of each class that harms its people most by the rule."""
    known = counts.known
    before = priors(counts)[known.value]
    share = known.rows / known.totals[known.class_id]
    secrecy = secrecy_of(counts, known.value)
    best = strongest(rule, known.class_id, before, share, secrecy, len(known))
    return _guesses(counts, best[best >= 0])


def _guesses(counts: ValueCounts, entries: IntArray) -> Guesses:
    """Return the guesses that some entries are; of several of a class the last."""
    known, n = counts.known, len(counts.known)
    value = np.full(n, -1, dtype=np.int64)
    posterior = np.zeros(n)
    at = known.class_id[entries]
    value[at] = known.value[entries]
    posterior[at] = known.rows[entries] / known.totals[at]
    prior = np.append(priors(counts), 0.0)[value]
    return Guesses(value, prior, posterior)
