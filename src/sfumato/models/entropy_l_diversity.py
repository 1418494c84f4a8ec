"""Entropy l-diversity: sensitive values are as uncertain as l equally likely ones."""

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from sfumato.classes import EquivalenceClasses, KnownCounts
from sfumato.dataclasses import dataclass
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
    a missing value hides no one.

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
    in_words: ClassVar[str] = (
        "In every group, {column} is on average as hard to guess as {l} equally likely values."
    )
    sliders: ClassVar[Mapping[str, tuple[float, float, float]]] = {"l": (1.1, 12, 0.1)}

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        return self.keeps(classes.counts_of(self.column).known)

    def keeps(self, known: KnownCounts) -> BoolArray:
        """Return which value counts keep the promise, whatever they are counts of."""
        return at_least(known.entropy, math.log(self.l))

    def figures(self, known: KnownCounts) -> FloatArray:
        """Return the largest `l` that each of them keeps."""
        found: FloatArray = np.exp(known.entropy)
        return found

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        figures = self.figures(classes.counts_of(self.column).known)
        return {"l": float(figures.min()) if len(figures) else self.l}
