"""Probabilistic l-diversity: no sensitive value is likelier than 1/l in its class."""

import math
from dataclasses import dataclass
from typing import ClassVar

from sfumato.classes import EquivalenceClasses
from sfumato.models.distinct_l_diversity import FinerLDiversity
from sfumato.models.rounding import at_least, ratio
from sfumato.typing import BoolArray


@dataclass(frozen=True)
class ProbabilisticLDiversity(FinerLDiversity):
    """In every class the most frequent sensitive value has at most one row in `l`.

    Promises: whoever learns a person's class guesses the sensitive value with
    probability 1/l at most, if the class is all they know.
    Does not promise: anything against someone who can rule values out, or protection of
    values that are alike ("lung cancer", "skin cancer"); see
    `EnhancedPAlphaSensitiveKAnonymity`. Shares are of the rows with a known value, and
    a class without any fails: a missing value hides nobody.

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

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        known = classes.counts_of(self.column).known
        verdicts: BoolArray = (known.totals > 0) & at_least(known.totals, known.largest * self.l)
        return verdicts

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        known = classes.counts_of(self.column).known
        if not len(classes):
            return {"l": self.l}
        worst = float(ratio(known.largest, known.totals).max())
        return {"l": 0.0 if math.isinf(worst) else 1 / worst}
