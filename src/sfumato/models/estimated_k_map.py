"""Estimated k-map: every class is large enough to stand, most likely, for k people or more."""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import require_int, require_number
from sfumato.models.base import ABSORBING, Merging, PrivacyModel
from sfumato.models.rounding import SLACK
from sfumato.typing import BoolArray


@dataclass(frozen=True)
class EstimatedKMap(PrivacyModel):
    """Every class has as many rows as a class of fewer than `k` people would hardly show.

    For a sample whose population is known by its size only. Each person of the population is in
    the table with probability `fraction`. A class passes if a class of k - 1 people, of whom some
    are in the table, would show as many rows with probability 1 - `confidence` at most.

    Promises: of the classes of fewer than `k` people that a random sample shows, a share of
    1 - `confidence` at most passes; all others would be refused. So a person who is not known to
    be in the table is most likely one of `k` or more.
    Does not promise: that a given class has `k` people, as `KMap` does from a table of them; that
    a person who is known to be in the table is one of more than its rows, see `KAnonymity`;
    anything where the sample was not drawn at random. With unequal weights take the largest
    fraction.

    Reference: "Protecting Privacy Using k-Anonymity", 2008, doi:10.1197/jamia.M2716 (with the
    binomial distribution in place of its approximation)

    Args:
        k: Fewest people a class should stand for; 2 or more.
        fraction: The share of the population that is in the table; above 0 and at most 1.
        confidence: How sure that is of each class; at least 0.5 and below 1.

    Example:
        >>> model = EstimatedKMap(20, fraction=0.01)
        >>> model.smallest_class
        3
        >>> model.passes(EquivalenceClasses(np.array([5, 2])))
        array([ True, False])
        >>> model.measure(EquivalenceClasses(np.array([5, 3])))
        {'k': 27}
    """

    name: ClassVar[str] = "estimated-k-map"
    in_words: ClassVar[str] = (
        "Each row could, most likely, be any of at least {k} people of the population, of which a "
        "share of {fraction} is in the table."
    )
    of_population: ClassVar[bool] = True
    stricter: ClassVar[Mapping[str, int]] = {"k": 1, "fraction": 1, "confidence": 1}
    merging: ClassVar[Merging] = ABSORBING
    merging_of_people: ClassVar[Merging] = ABSORBING

    k: int
    fraction: float
    confidence: float = 0.99

    def __post_init__(self) -> None:
        require_int("k", self.k, at_least=2, why="with k=1 every class passes")
        why = "it is the share of the population that is in the table, 0.01 is 1 %"
        require_number("fraction", self.fraction, above=0, at_most=1, why=why)
        require_number("confidence", self.confidence, at_least=0.5, below=1)

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        verdicts: BoolArray = classes.sizes >= self.smallest_class
        return verdicts

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        if not len(classes):
            return {"k": self.k}
        rows = int(classes.sizes.min())
        return {"k": _most_people(rows, self.fraction, self.confidence) + 1}

    @property
    def smallest_class(self) -> int:
        return _fewest_rows(self.k - 1, self.fraction, self.confidence)

    @classmethod
    def example(cls) -> Self:
        return cls(2, fraction=0.2)


@lru_cache(maxsize=1024)
def _fewest_rows(people: int, fraction: float, confidence: float) -> int:
    """Return the fewest rows that a class of so few people hardly shows."""
    low, high = 1, people + 1  # More rows than people it never shows.
    while low < high:
        middle = (low + high) // 2
        if _share_of_as_many(people, middle, fraction) <= 1 - confidence + SLACK:
            high = middle
        else:
            low = middle + 1
    return low


@lru_cache(maxsize=1024)
def _most_people(rows: int, fraction: float, confidence: float) -> int:
    """Return the most people whose class hardly shows as many rows."""

    def hardly(people: int) -> bool:
        return _share_of_as_many(people, rows, fraction) <= 1 - confidence + SLACK

    low, step = rows - 1, 1
    while hardly(low + step):
        low, step = low + step, 2 * step
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if hardly(middle) else (low, middle)
    return low


def _share_of_as_many(people: int, rows: int, fraction: float) -> float:
    """Return how likely a class of some people shows as many rows, if it shows any."""
    if rows > people:
        return 0.0
    if fraction == 1 or rows <= 1:
        return 1.0
    # Numbers of rows that are further from the mean than any that has a chance are left out.
    mean, spread = people * fraction, math.sqrt(people * fraction * (1 - fraction))
    first = max(1, int(mean - 12 * spread) - 50)
    if first >= rows:
        return 1.0
    if rows > mean + 12 * spread + 50:
        return 0.0
    numbers = np.arange(first, rows - 1)
    odds = math.log(fraction) - math.log1p(-fraction)
    start = (
        math.lgamma(people + 1)
        - math.lgamma(first + 1)
        - math.lgamma(people - first + 1)
        + first * math.log(fraction)
        + (people - first) * math.log1p(-fraction)
    )
    steps = np.cumsum(np.log((people - numbers) / (numbers + 1)) + odds)
    fewer = float(np.exp(start + np.concatenate([[0.0], steps])).sum())
    some = -math.expm1(people * math.log1p(-fraction))
    return max(0.0, 1 - fewer / some)
