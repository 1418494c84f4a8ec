"""Entropy l-diversity: sensitive values are as uncertain as l equally likely ones."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.models.distinct_l_diversity import FinerLDiversity
from sfumato.models.rounding import at_least
from sfumato.typing import BoolArray, FloatArray


@dataclass(frozen=True)
class EntropyLDiversity(FinerLDiversity):
    """In every class the entropy of the sensitive values is at least log(`l`).

    Promises: the values of a class are, on average, as hard to guess as `l` equally
    likely ones.
    Does not promise: a bound for the single most likely value (that is
    `ProbabilisticLDiversity`), or a distribution like the whole table's (`TCloseness`).
    The entropy is that of the rows with a known value, and a class without any fails:
    a missing value hides nobody.

    Reference: "l-Diversity: Privacy Beyond k-Anonymity", 2007,
    doi:10.1145/1217299.1217302

    Args:
        column: The sensitive column.
        l: Fewest equally likely values it must be worth; more than 1, not only whole numbers.

    Example:
        >>> rows = [("A", "flu"), ("A", "gout"), ("B", "flu"), ("B", "flu"), ("B", "gout")]
        >>> EntropyLDiversity("disease", l=2).passes(classes_of(rows, column="disease"))
        array([ True, False])
    """

    name: ClassVar[str] = "entropy-l-diversity"

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        return at_least(self._entropies(classes), math.log(self.l))

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        entropies = self._entropies(classes)
        return {"l": float(np.exp(entropies.min())) if len(entropies) else self.l}

    def _entropies(self, classes: EquivalenceClasses) -> FloatArray:
        known = classes.counts_of(self.column).known
        # -Σ c/n log(c/n) = log n - (Σ c log c)/n, one pass over the counts.
        sums = np.bincount(
            known.class_id, weights=known.rows * np.log(known.rows), minlength=len(classes)
        )
        result = np.full(len(classes), -np.inf)
        some = known.totals > 0
        totals = known.totals[some]
        # Rounding must not make the entropy of a single value negative.
        result[some] = np.maximum(np.log(totals) - sums[some] / totals, 0.0)
        return result
