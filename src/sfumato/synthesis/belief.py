"""Belief: what a promise of differential privacy lets anyone come to believe of a person."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.dataclasses import dataclass
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
    but: float = 0.0
    """With which probability the release lets more be believed."""

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
            "but": self.but,
        }

    def __str__(self) -> str:
        first, *others = zip(self.priors, self.posteriors, strict=True)
        told = [f"a belief of {percent(first[0])} becomes at most {_at_most(first[1])}"]
        told += [f"{percent(before)} at most {_at_most(after)}" for before, after in others]
        return f"{self.what}: {', '.join(told)}"


def _at_most(share: float) -> str:
    """Return a share as a percentage of one digit after the point that is not below it."""
    return f"{math.ceil(round(share * 1000, 6)) / 10:.1f} %"


def more_than(epsilon: float, rho: float) -> float:
    """Return with which probability odds change by more than e^ε at most, where ρ is promised.

    δ is less than that: it is how much more probable anything can be than e^ε allows, and not how
    probable it is that more can be believed. exp(−(ε − ρ)² / 4ρ), by Bun and Steinke (2016),
    https://doi.org/10.1007/978-3-662-53641-4_24, lemma 3.5.

    >>> f"{more_than(1.0, 0.015):.1e}", more_than(0.01, 0.02)
    ('9.5e-08', 1.0)
    """
    return math.exp(-((epsilon - rho) ** 2) / (4 * rho)) if epsilon > rho else 1.0


def bounds_of(epsilon: float, unit: str, rho: float | None = None) -> tuple[BeliefBound, ...]:
    """Return what a promise means for each thing that an adversary may be after.

    Who is in the table and who is not differ by all rows of one unit, and odds change by e^ε. One
    value in place of another takes rows away and adds others: e^2ε, and 4ρ.

    Args:
        epsilon: ε of the promise.
        unit: Whom it is about.
        rho: ρ of the promise, if it has a δ: then odds change by more with a small probability.

    >>> [bound.epsilon for bound in bounds_of(0.5, "row")]
    [0.5, 1.0]
    """
    who = "person" if unit == "row" else unit
    there, of_value = (0.0, 0.0) if rho is None else (rho, 4 * rho)
    return (
        BeliefBound(
            f"whether a {who} is in the table",
            epsilon,
            but=more_than(epsilon, there) if rho else 0.0,
        ),
        BeliefBound(
            f"a value of a {who} who is known to be in it",
            2 * epsilon,
            but=more_than(2 * epsilon, of_value) if rho else 0.0,
        ),
    )


_SELDOM = 0.01
"""The chance from which on that nothing is promised to somebody counts."""


def but_for(bounds: Sequence[BeliefBound]) -> str:
    """Return in words with which probability more can be believed; empty if with none.

    >>> but_for(bounds_of(1.0, "row", 0.015))
    'with a probability of at most 1.6e-07 more than that'
    """
    most = max((each.but for each in bounds), default=0.0)
    return f"with a probability of at most {rounded_up(most)} more than that" if most else ""


def rounded_up(number: float) -> str:
    """Return a small number with two digits, not below it.

    >>> rounded_up(1.51e-7), rounded_up(0.0009)
    ('1.6e-07', '0.0009')
    """
    step = 10.0 ** (math.floor(math.log10(number)) - 1)
    return f"{math.ceil(number / step - 1e-9) * step:.2g}"


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
