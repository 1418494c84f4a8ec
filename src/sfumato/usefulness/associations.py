"""How much of what columns have to do with each other is still in a release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np

from sfumato.typing import FloatArray
from sfumato.usefulness.estimator import Estimator

MOST_CELLS = 1_000_000
"""Pairs of columns with more pairs of values than this are left out, and named."""


class Pair(NamedTuple):
    """Two columns, and Cramér's V between them in the original and in the release."""

    one: str
    other: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        """How far the release is off."""
        return abs(self.after - self.before)


@dataclass(frozen=True)
class Associations:
    """Cramér's V of every pair of columns, before and after.

    Example:
        >>> from sfumato.broken import Broken
        >>> from sfumato.counts import FrequencySet
        >>> from sfumato.usefulness import BrokenTable, Original
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "high")]
        >>> table = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> release = BrokenTable(Broken.of(table, ["age"], ["ill", "pay"]), table.columns)
        >>> names = ["ill", "pay"]
        >>> print(Associations.between(strengths(Original(table), names), release, names))
        correlations (Cramér's V) of 1 pair of columns: off by 1.000 in the mean, most in ill and
        pay (1.000 became 0.000)
    """

    pairs: tuple[Pair, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    """Pairs of columns with too many values to be compared."""

    @classmethod
    def between(
        cls, before: Mapping[tuple[str, str], float], release: Estimator, names: Sequence[str]
    ) -> Self:
        """Compare the strengths of the original with those of a release."""
        after = strengths(release, names)
        pairs = tuple(Pair(*names, before[names], after[names]) for names in before)
        return cls(pairs, tuple(each for each in combinations(names, 2) if each not in before))

    @property
    def mean_difference(self) -> float:
        """How far the release is off in the mean over all pairs; 0 is a perfect release."""
        return sum(p.difference for p in self.pairs) / len(self.pairs) if self.pairs else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain values that JSON can hold."""
        return {
            "mean_difference": self.mean_difference,
            "pairs": [
                {"columns": [p.one, p.other], "before": p.before, "after": p.after}
                for p in self.pairs
            ],
            "left_out": [list(names) for names in self.left_out],
        }

    def __str__(self) -> str:
        if not self.pairs:
            return "correlations: no pair of columns to compare"
        worst = max(self.pairs, key=lambda pair: pair.difference)
        pairs = "1 pair" if len(self.pairs) == 1 else f"{len(self.pairs)} pairs"
        rest = f"; {len(self.left_out)} with too many values left out" if self.left_out else ""
        return (
            f"correlations (Cramér's V) of {pairs} of columns: off by "
            f"{self.mean_difference:.3f} in the mean, most in {worst.one} and {worst.other} "
            f"({worst.before:.3f} became {worst.after:.3f}){rest}"
        )


def strengths(estimator: Estimator, names: Sequence[str]) -> dict[tuple[str, str], float]:
    """Give Cramér's V of each pair of columns; pairs of more than `MOST_CELLS` are left out.

    >>> from sfumato.counts import FrequencySet
    >>> from sfumato.usefulness import Original
    >>> table = FrequencySet.from_rows(["ill", "pay"], [("flu", "low"), ("gout", "high")])
    >>> strengths(Original(table), ["ill", "pay"])
    {('ill', 'pay'): 1.0}
    """
    sizes = {name: len(estimator.column(name).values) for name in names}
    return {
        (one, other): cramers_v(estimator.joint(one, other))
        for one, other in combinations(names, 2)
        if sizes[one] * sizes[other] <= MOST_CELLS
    }


def cramers_v(table: FloatArray) -> float:
    """Measure how much two columns have to do with each other: 0 nothing, 1 one tells the other.

    A column with a single value has nothing to do with any other.

    Args:
        table: How many rows have each pair of values.

    Example:
        >>> cramers_v(np.array([[5.0, 0.0], [0.0, 5.0]])), cramers_v(np.ones((2, 3)))
        (1.0, 0.0)
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    least = min(table.shape) - 1
    if least < 1:
        return 0.0
    across, down = table.sum(axis=1), table.sum(axis=0)
    # φ² = Σ n²ᵢⱼ / (nᵢ nⱼ) - 1, which rounding may take a hair below 0 or above its limit.
    phi_square = float((table / across[:, None] * (table / down)).sum()) - 1
    return float(np.sqrt(min(max(phi_square / least, 0.0), 1.0)))
