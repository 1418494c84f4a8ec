"""Probabilistic l-diversity: no sensitive value is likelier than 1/l in its class."""

from collections.abc import Mapping
from math import ceil
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses, KnownCounts
from sfumato.dataclasses import dataclass
from sfumato.models.distinct_l_diversity import FinerLDiversity
from sfumato.models.rounding import at_least, ratio, rows_above
from sfumato.typing import BoolArray, FloatArray, IntArray

_FINEST = 1000
"""Parts of one by which `l` is written where it follows from a share."""


@dataclass(frozen=True)
class ProbabilisticLDiversity(FinerLDiversity):
    """In every class the most frequent sensitive value has at most one row in `l`.

    Promises: an adversary who learns a person's class guesses the sensitive value with
    probability 1/l at most, if the class is all they know.
    Does not promise: anything against someone who can rule values out, or protection of
    values that are alike ("lung cancer", "skin cancer"); see
    `CategoryShare`. Shares are of the rows with a known value, and
    a class without any fails: a missing value hides no one.

    Reference: "(α, k)-anonymity: an enhanced k-anonymity model for privacy preserving
    data publishing", 2006, doi:10.1145/1150402.1150499 (α = 1/l)

    Args:
        column: The sensitive column.
        l: One over the largest share a value may have; more than 1, not only whole numbers.

    Example:
        >>> rows = [("A", "flu"), ("A", "gout"), ("B", "flu"), ("B", "flu"), ("B", "gout")]
        >>> model = ProbabilisticLDiversity("disease", l=2)
        >>> model.passes(classes_of(rows, column="disease"))
        array([ True, False])
        >>> model.measure(classes_of(rows, column="disease"))
        {'l': 1.5}
    """

    name: ClassVar[str] = "probabilistic-l-diversity"
    in_words: ClassVar[str] = (
        "Who finds a person's group guesses {column} with a chance of {l_chance} at most."
    )
    sliders: ClassVar[Mapping[str, tuple[float, float, float]]] = {"l": (1.1, 12, 0.1)}

    @classmethod
    def limiting_share(cls, column: str, share: float) -> Self:
        # Rounded up: what is promised is no more than the share.
        return cls(column=column, l=ceil(_FINEST / share) / _FINEST)

    @property
    def largest_share(self) -> float:
        return 1 / self.l

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        return self.keeps(classes.counts_of(self.column).known)

    def keeps(self, known: KnownCounts) -> BoolArray:
        """Return which value counts keep the promise, whatever they are counts of."""
        verdicts: BoolArray = (known.totals > 0) & at_least(known.totals, known.largest * self.l)
        return verdicts

    def figures(self, known: KnownCounts) -> FloatArray:
        """Return the largest `l` that each of them keeps; 0 where no value is known."""
        found: FloatArray = np.where(known.totals > 0, ratio(known.totals, known.largest), 0.0)
        return found

    def count_lost(self, classes: EquivalenceClasses, gone: int) -> IntArray:
        known = classes.counts_of(self.column).known
        return rows_above(ratio(known.largest, known.totals), 1 / self.l, known.totals)

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        figures = self.figures(classes.counts_of(self.column).known)
        return {"l": float(figures.min()) if len(figures) else self.l}
