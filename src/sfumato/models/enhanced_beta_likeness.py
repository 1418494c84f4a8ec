"""Enhanced β-likeness: β-likeness that also bounds values which are frequent in the table."""

from typing import ClassVar

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.models.beta_likeness import BetaLikeness, count_beyond, gains, worst_by_class
from sfumato.models.rounding import at_most
from sfumato.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class EnhancedBetaLikeness(BetaLikeness):
    """In every class each value's relative gain over the table is at most min(`beta`, -ln q).

    q is the value's share in the table: the commoner the value, the less it may gain.

    Promises: learning a person's class multiplies the probability of any value by
    1 + `beta` at most, and never makes a value certain that was not.
    Does not promise: anything about values that become *less* likely; see
    `DeltaDisclosure`. A missing value counts as one more value, because its absence can
    be telling too.

    When some value exceeds -ln q no `beta` helps, and `measure` gives infinity.

    Reference: Cao and Karras, "Publishing Microdata with a Robust Privacy Guarantee",
    Proceedings of the VLDB Endowment 5(11), 2012

    Args:
        column: The sensitive column.
        beta: Largest relative gain (p-q)/q allowed for any value; above 0.

    Example:
        >>> rows = [("A", "flu"), ("A", "flu"), ("B", "flu"), ("B", "hiv")]
        >>> EnhancedBetaLikeness("disease", beta=2).passes(classes_of(rows, column="disease"))
        array([False,  True])
    """

    name: ClassVar[str] = "enhanced-beta-likeness"
    in_words: ClassVar[str] = (
        "Finding a person's group makes no value of {column} more than {beta_times} times as "
        "likely as in the whole table, and none certain."
    )

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        gain, table = gains(classes, self.column)
        bad = ~at_most(gain, np.minimum(self.beta, _most(table)))
        verdicts: BoolArray = worst_by_class(classes, self.column, bad.astype(float)) == 0
        return verdicts

    def count_lost(self, classes: EquivalenceClasses, gone: int) -> IntArray:
        return count_beyond(
            classes,
            self.column,
            gone,
            lambda table: table * (1 + np.minimum(self.beta, _most(table))),
        )

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        if not len(classes):
            return {"beta": self.beta}
        gain, table = gains(classes, self.column)
        helpless = not at_most(gain, _most(table)).all()
        return {"beta": float("inf") if helpless else float(gain.max())}


def _most(table: FloatArray) -> FloatArray:
    """-ln q, the largest gain a value of share q may have; none for a value the table lacks."""
    most: FloatArray = -np.log(table, out=np.zeros(len(table)), where=table > 0)
    return most
