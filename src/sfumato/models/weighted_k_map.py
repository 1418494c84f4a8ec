"""Weighted k-map: by its weights, every class stands, most likely, for k people or more."""

import math
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses, SensitiveColumn
from sfumato.counts import add_up
from sfumato.dataclasses import dataclass
from sfumato.errors import PolicyError, require_int, require_number, require_text, some
from sfumato.models.base import ABSORBING, Merging, PrivacyModel
from sfumato.models.rounding import SLACK
from sfumato.text import number_of
from sfumato.typing import BoolArray, FloatArray, IntArray

_NEGLIGIBLE = 1e-17
"""A term this small beside the sum of those before it changes nothing."""


@dataclass(frozen=True)
class WeightedKMap(PrivacyModel):
    """Every class has as many rows, by their weights, as fewer than `k` people would hardly show.

    For a survey whose weights say how many people each row stands for. The weights of a class add
    up to an estimate of its people, and its rows divided by that are the share of them that was
    drawn. A class passes if a class of k - 1 people, each drawn with this share, of whom some are
    in the table, would show as many rows with probability 1 - `confidence` at most. The sum alone
    does not do: one row of weight 1000 may be the only one of its kind, and never passes. Where all
    weights are the same it is `EstimatedKMap` with one over them for the fraction.

    Promises: a person who is not known to be in the table is, most likely, one of `k` people of the
    population or more with the quasi-identifiers of the class. It is an estimate.
    Does not promise: that a given class has `k` people, as `KMap` does from a table of them; that
    a person who is known to be in the table is one of more than its rows, see `KAnonymity`;
    anything where weights are not one over the chance of being drawn (scaled to a mean of 1, or
    trimmed), or where people of one class were drawn with very different chances: take
    `EstimatedKMap` with the largest. Weights must be published as means: rounded ones or those with
    noise do not tell what was judged, and are refused.

    Reference: "Protecting Privacy Using k-Anonymity", 2008, doi:10.1197/jamia.M2716, with the share
    of each class after R. Benedetti, L. Franconi, "Statistical and technological solutions for
    controlled data dissemination", New Techniques and Technologies for Statistics, 1998

    Args:
        column: The weight.
        k: Fewest people a class should stand for; 2 or more.
        confidence: How sure that is of each class; at least 0.5 and below 1.

    Example:
        >>> rows = [("A", 100), ("A", 90), ("A", 110), ("B", 100), ("B", 2), ("C", 9999)]
        >>> classes = classes_of(rows, column="wgt")
        >>> WeightedKMap("wgt", k=20).passes(classes)
        array([ True, False, False])
        >>> WeightedKMap("wgt", k=20).measure(classes_of(rows[:3], column="wgt"))
        {'k': 27}
    """

    name: ClassVar[str] = "weighted-k-map"
    in_words: ClassVar[str] = (
        "Each row could, most likely, be any of at least {k} people of the population, as many as "
        "{column} says it stands for."
    )
    of_population: ClassVar[bool] = True
    stricter: ClassVar[Mapping[str, int]] = {"k": 1, "confidence": 1}
    # A class that passes has more than k - 1 people by its weights. More weight makes the share
    # smaller that was drawn. More rows make it larger, and still k - 1 people hardly show them: a
    # test goes through all numbers of rows.
    merging: ClassVar[Merging] = ABSORBING
    counts_people: ClassVar[bool] = False
    of_weights: ClassVar[bool] = True
    needs_numbers: ClassVar[bool] = True

    column: str
    k: int
    confidence: float = 0.99

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_int("k", self.k, at_least=2, why="with k=1 every class passes")
        require_number("confidence", self.confidence, at_least=0.5, below=1)

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        return _hardly(classes.sizes, self._people(classes), self.k - 1, self.confidence)

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        if not len(classes):
            return {"k": self.k}
        rows, people = classes.sizes, self._people(classes)

        def hardly(most: int) -> bool:
            return bool(_hardly(rows, people, most, self.confidence).all())

        low, step = int(rows.min()) - 1, 1
        while hardly(low + step):
            low, step = low + step, 2 * step
        high = low + step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if hardly(middle) else (low, middle)
        return {"k": low + 1}

    @property
    def smallest_class(self) -> int:
        return 2

    def _people(self, classes: EquivalenceClasses) -> FloatArray:
        """Return the sum of the weights of each class; a missing one is 0."""
        counts = classes.counts_of(self.column)
        weights = counts.column.memoize("weights", _weights_of)
        # The last is that of a missing one, whose code is -1.
        return add_up(counts.class_id, weights[counts.value] * counts.rows, len(classes))

    @classmethod
    def example(cls) -> Self:
        return cls("disease", k=2, confidence=0.5)


def _weights_of(column: SensitiveColumn) -> FloatArray:
    numbers = [number_of(value) for value in column.values]
    wrong = [value for value, number in zip(column.values, numbers, strict=True) if number is None]
    if wrong:
        raise PolicyError(
            f"{len(wrong)} of the {len(column.values)} values of column {column.name!r} are not "
            f"numbers: {some(wrong)}. weighted-k-map adds them up: name the column that says how "
            "many people a row stands for."
        )
    return np.array([*numbers, 0.0], dtype=float)


def _hardly(rows: IntArray, people: FloatArray, most: int, confidence: float) -> BoolArray:
    """Return whether a class of this many people at most would hardly show the rows of each class.

    >>> _hardly(np.array([2, 3]), np.array([300.0, 300.0]), 19, 0.99)
    array([False,  True])
    """
    share = rows / np.maximum(people, rows)
    found: BoolArray = rows > most
    # As many as are drawn on average are there more often than not.
    at = np.flatnonzero(~found & (rows > most * share))
    if len(at):
        chance = _share_of_as_many(most, rows[at], share[at])
        found[at] = chance <= 1 - confidence + SLACK
    return found


def _share_of_as_many(people: int, rows: IntArray, fraction: FloatArray) -> FloatArray:
    """Return how likely some people show as many rows or more, if they show any.

    Of more rows than are drawn on average, so that each number of rows is less likely than the one
    before it, and few of them matter.
    """
    sizes, which = np.unique(rows, return_inverse=True)
    ways = np.array([_log_choices(people, size) for size in sizes.tolist()])[which]
    term = np.exp(ways + rows * np.log(fraction) + (people - rows) * np.log1p(-fraction))
    total, n = term.copy(), rows.astype(float)
    odds = fraction / (1 - fraction)
    while (term > _NEGLIGIBLE * total).any():
        term = term * (people - n) / (n + 1) * odds
        total, n = total + term, n + 1
    chance: FloatArray = total / -np.expm1(people * np.log1p(-fraction))
    return chance


def _log_choices(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
