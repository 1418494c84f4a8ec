"""Belief: what a promise of differential privacy lets anyone come to believe of a person."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.errors import require_number
from sfumato.harm import HarmRule, Level
from sfumato.text import format_integer, percent

PRIORS = (0.01, 0.1, 0.5)
"""The beliefs that are told, as examples."""

_RARE = 0.01
"""Where even such a belief may become as good as knowledge, a promise excludes nothing."""


def most_believed(prior: float, epsilon: float) -> float:
    """Return the most that a belief of some prior can become, apart from δ.

    The odds change by a factor of at most e^ε: p e^ε / (1 − p + p e^ε).

    >>> round(most_believed(0.5, math.log(3)), 4), round(most_believed(0.01, 1.0), 4)
    (0.75, 0.0267)
    """
    require_number("prior", prior, at_least=0, at_most=1)
    odds = math.exp(min(epsilon, 700.0))
    return prior * odds / (1 - prior + prior * odds)


@dataclass(frozen=True)
class BeliefBound:
    """The most that anyone can come to believe of one thing, whatever else they know.

    Example:
        >>> bound = BeliefBound("whether a person is in the table", 1.0)
        >>> print(bound)
        whether a person is in the table: a belief of 1 % becomes at most 2.7 %, 10 % at most
        23.2 %, 50 % at most 73.2 %
        >>> str(bound.worst(HarmRule())), str(BeliefBound("a value", 2.0).worst(HarmRule()))
        ('low', 'very high')
    """

    what: str
    epsilon: float
    """How much odds can change: by e to the power of it."""

    priors: tuple[float, ...] = PRIORS

    @property
    def posteriors(self) -> tuple[float, ...]:
        """The most that each of the priors becomes."""
        return tuple(most_believed(prior, self.epsilon) for prior in self.priors)

    def worst(self, rule: HarmRule) -> Level:
        """Return the highest level that is not excluded, over all beliefs before the release."""
        return Level(int(self._levels(rule)[1].max()))

    def example(self, rule: HarmRule) -> tuple[float, float] | None:
        """Return the smallest belief that may become harmful to the worst degree, and what to."""
        priors, levels = self._levels(rule)
        if levels.max() < Level.HIGH:
            return None
        prior = float(priors[np.flatnonzero(levels == levels.max())[0]])
        return prior, most_believed(prior, self.epsilon)

    def _levels(self, rule: HarmRule) -> tuple[np.ndarray, np.ndarray]:
        priors = np.arange(1, 1000) / 1000
        after = np.array([most_believed(float(each), self.epsilon) for each in priors])
        return priors, np.asarray(rule.levels(priors, after))

    def excludes_nothing(self, rule: HarmRule) -> bool:
        """Return whether even a rare belief may become as good as knowledge."""
        return most_believed(_RARE, self.epsilon) >= rule.very_high

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        told = zip(self.priors, self.posteriors, strict=True)
        return {
            "what": self.what,
            "epsilon": self.epsilon,
            "at_most": [{"before": before, "after": after} for before, after in told],
        }

    def __str__(self) -> str:
        first, *others = zip(self.priors, self.posteriors, strict=True)
        told = [f"a belief of {percent(first[0])} becomes at most {_at_most(first[1])}"]
        told += [f"{percent(before)} at most {_at_most(after)}" for before, after in others]
        return f"{self.what}: {', '.join(told)}"


def _at_most(share: float) -> str:
    """Return a share as a percentage of one digit after the point that is not below it."""
    return f"{math.ceil(round(share * 1000, 6)) / 10:.1f} %"


def bounds_of(epsilon: float, unit: str) -> tuple[BeliefBound, ...]:
    """Return what a promise means for each thing that an adversary may be after.

    Who is in the table and who is not differ by all rows of one unit, and odds change by e^ε. One
    value in place of another takes rows away and adds others: e^2ε.

    Args:
        epsilon: ε of the promise.
        unit: Whom it is about.

    >>> [bound.epsilon for bound in bounds_of(0.5, "row")]
    [0.5, 1.0]
    """
    who = "person" if unit == "row" else unit
    return (
        BeliefBound(f"whether a {who} is in the table", epsilon),
        BeliefBound(f"a value of a {who} who is known to be in it", 2 * epsilon),
    )


_SELDOM = 0.01
"""The chance from which on that nothing is promised to somebody counts."""


def promises_nothing(delta: float, people: int) -> bool:
    """Return whether δ is so large that the promise may leave out somebody for sure.

    Whoever publishes the whole row of each person with probability δ, and nothing of the others,
    keeps a promise of ε = 0 and δ.

    >>> promises_nothing(1e-3, 2000), promises_nothing(1e-9, 2000)
    (True, False)
    """
    return delta * people >= 1


def loose_bounds(
    bounds: Sequence[BeliefBound], rule: HarmRule, delta: float = 0.0, people: int = 0
) -> tuple[str, ...]:
    """Return what a promise does not exclude and should, in sentences.

    Args:
        bounds: What it means.
        rule: What harms.
        delta: The probability with which nothing is promised to a person.
        people: How many people there are, about.
    """
    found = []
    for each in bounds:
        harmful = each.example(rule)
        if harmful is not None:
            before, after = percent(harmful[0]), _at_most(harmful[1])
            found.append(
                f"the promise lets a belief about {each.what} grow from {before} to {after}, which "
                f"is {each.worst(rule)}: a smaller epsilon excludes it"
            )
    chance = delta * people
    left_out = (
        f"with a probability of {delta:.3g} for each of about {format_integer(people)} nothing is "
        f"promised, which is up to {percent(min(1.0, chance))} that it is to somebody: a delta of "
        f"{_SELDOM / people:.0e} or less excludes it"
        if chance > _SELDOM
        else ""
    )
    return (*found[-1:], *([left_out] if left_out else []))
