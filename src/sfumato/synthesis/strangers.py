"""People in the data against strangers: what an adversary does better on those who are in it.

Rows that a mechanism drew tell of people in general, and that is what they are for. What they tell
of those who are in the data, and of no one else, shows in the difference: the same attack runs on
people who are in it and on others of the same kind, of whom the mechanism knew nothing.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.showing.content import (
    Cell,
    Content,
    ContentTable,
    FineShare,
    Sentence,
    Showable,
)
from sfumato.text import percent
from sfumato.typing import FloatArray, IntArray

CONFIDENCE = 0.95

_BACK = 1.0
"""Of how many rows the guess is that a combination is as frequent as its values are alone."""


@dataclass(frozen=True)
class Advantage:
    """What an attack achieves on people in the data, and on strangers."""

    attack: str
    inside: float
    """The share of people in the data on whom it succeeds."""

    strangers: float
    """The share of strangers on whom it does."""

    of_inside: int
    of_strangers: int

    @property
    def gain(self) -> float:
        """By how much it succeeds more often on people in the data."""
        return self.inside - self.strangers

    @property
    def interval(self) -> tuple[float, float]:
        """Where the gain lies with 95 % confidence: the interval of Agresti and Caffo (2000).

        Reference: https://doi.org/10.1080/00031305.2000.10474560
        """
        z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
        n, m = self.of_inside + 2, self.of_strangers + 2
        p = (self.inside * self.of_inside + 1) / n
        q = (self.strangers * self.of_strangers + 1) / m
        wide = z * math.sqrt(p * (1 - p) / n + q * (1 - q) / m)
        return max(-1.0, p - q - wide), min(1.0, p - q + wide)

    def breaks(self, allowed: float) -> bool:
        """Return whether so much is gained that no promise of so little can hold."""
        return self.interval[0] > allowed

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {**vars(self), "gain": self.gain, "interval": list(self.interval)}


@dataclass(frozen=True)
class Strangers(Showable):
    """Attacks on people in the data and on strangers, beside what the promise allows.

    Example:
        >>> found = Strangers((Advantage("copies", 0.31, 0.30, 1000, 1000),), 0.5, 0.0)
        >>> round(found.allowed, 3), found.holds
        (0.245, True)
    """

    attacks: tuple[Advantage, ...]
    epsilon: float
    delta: float

    @property
    def allowed(self) -> float:
        """The most that any attack can gain: (e^ε − 1 + 2δ) / (e^ε + 1).

        As in Kairouz, Oh and Viswanath (2015), https://doi.org/10.48550/arXiv.1311.0776.
        """
        odds = math.exp(min(self.epsilon, 700.0))
        return min(1.0, (odds - 1 + 2 * self.delta) / (odds + 1))

    @property
    def holds(self) -> bool:
        """Whether nothing was gained that the promise excludes."""
        return not any(each.breaks(self.allowed) for each in self.attacks)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "holds": self.holds,
            "allowed": self.allowed,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "attacks": [each.to_dict() for each in self.attacks],
        }

    def content(self) -> Content:
        """Return a line per attack, and what the promise allows."""
        rows: list[list[Cell]] = [
            [
                each.attack,
                FineShare(each.inside),
                FineShare(each.strangers),
                f"{percent(each.interval[0], 1)} to {percent(each.interval[1], 1)}",
            ]
            for each in self.attacks
        ]
        heads = ["attack", "in the data", "strangers", "gained, 95 % sure"]
        told = (
            f"The promise (epsilon {self.epsilon:.4g}) lets no attack gain more than "
            f"{percent(self.allowed, 1)}"
        )
        end = "" if self.holds else ", and one does: it does not hold"
        table = ContentTable.of("", heads, rows, most=None)
        return Content("People in the data and strangers:", (table, Sentence(f"{told}{end}.")))


def keys_of_rows(cells: Sequence[IntArray]) -> list[IntArray]:
    """Number combinations of cells alike in several tables.

    Args:
        cells: For each table its cells, by columns and rows.

    >>> [k.tolist() for k in keys_of_rows([np.array([[0, 1], [2, 2]]), np.array([[1], [2]])])]
    [[0, 1], [1]]
    """
    together = np.concatenate(cells, axis=1)
    _, number = np.unique(together, axis=1, return_inverse=True)
    ends = np.cumsum([each.shape[1] for each in cells])[:-1]
    return list(np.split(number.reshape(-1), ends))


def copies(release: IntArray, inside: IntArray, strangers: IntArray) -> Advantage:
    """Return how many people have a row like theirs in the release, in all its columns.

    Args:
        release: The published rows, as cells by columns and rows.
        inside: The people in the data.
        strangers: The others.
    """
    there, own, others = keys_of_rows([release, inside, strangers])
    found = [np.isin(each, there) for each in (own, others)]
    return _advantage("copies of rows", *found)


def membership(
    release: IntArray, inside: IntArray, strangers: IntArray, rng: np.random.Generator
) -> Advantage:
    """Return how many are taken for people in the data by the ratio of likelihoods.

    Half of the strangers tell how frequent rows like a person's are in general. Who is more likely
    in the release than there is taken for one in the data, with the threshold at which half of the
    people asked about are: after Sankararaman, Obozinski, Jordan and Halperin, "Genomic privacy and
    limits of individual detection in a pool" (2009), https://doi.org/10.1038/ng.436.

    Args:
        release: The published rows, as cells by columns and rows.
        inside: The people in the data.
        strangers: The others.
        rng: Chooses the strangers who are asked about, and settles ties.
    """
    order = rng.permutation(strangers.shape[1])
    known, asked = np.array_split(order, 2)
    general, others = strangers[:, known], strangers[:, asked]
    both = np.concatenate([inside, others], axis=1)
    score = _log_likelihood(release, both) - _log_likelihood(general, both)
    score = score + rng.uniform(0, 1e-9, len(score))
    n = inside.shape[1]
    # Sides weigh the same, however many people each has.
    middle = np.quantile(score[:n], 0.5) / 2 + np.quantile(score[n:], 0.5) / 2
    return _advantage("membership", score[:n] > middle, score[n:] > middle)


def _log_likelihood(table: IntArray, people: IntArray) -> FloatArray:
    """Return how likely each person is in a table: by the whole row, backed by single columns."""
    there, asked = keys_of_rows([table, people])
    n = table.shape[1]
    alone = np.zeros(people.shape[1])
    for column, cells in zip(table, people, strict=True):
        size = int(max(column.max(initial=0), cells.max(initial=0))) + 1
        rows = np.bincount(column, minlength=size)
        alone += np.log((rows[cells] + 1) / (n + size))
    rows = np.bincount(there, minlength=int(max(there.max(initial=0), asked.max(initial=0))) + 1)
    likely: FloatArray = np.log((rows[asked] + _BACK * np.exp(alone)) / (n + _BACK))
    return likely


def attribute(
    name: str, at: int, known: Sequence[int], tables: tuple[IntArray, IntArray, IntArray]
) -> Advantage:
    """Return of how many people a value is guessed right by what the release says of their like.

    Args:
        name: The column.
        at: Its place.
        known: The places of the columns that the adversary knows.
        tables: The published rows, the people in the data, and the strangers.
    """
    release, inside, strangers = tables
    keys = keys_of_rows([each[[*known]] for each in tables])
    n = int(max(each.max(initial=0) for each in keys)) + 1
    size = int(max(each[at].max(initial=0) for each in tables)) + 1
    rows = np.bincount(keys[0] * size + release[at], minlength=n * size).reshape(n, size)
    usual = int(np.bincount(release[at], minlength=size).argmax())
    guess = np.where(rows.sum(axis=1) > 0, rows.argmax(axis=1), usual)
    right = [
        guess[key] == each[at] for key, each in zip(keys[1:], (inside, strangers), strict=True)
    ]
    return _advantage(f"{name}, by what others know", *right)


def _advantage(attack: str, inside: np.ndarray, strangers: np.ndarray) -> Advantage:
    return Advantage(
        attack, float(inside.mean()), float(strangers.mean()), len(inside), len(strangers)
    )
