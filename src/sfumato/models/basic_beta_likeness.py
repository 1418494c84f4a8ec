"""Basic β-likeness: no class makes a sensitive value much likelier than the table does."""

from typing import ClassVar

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.models.beta_likeness import BetaLikeness, count_beyond, gains, worst_by_class
from sfumato.models.rounding import at_most
from sfumato.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class BasicBetaLikeness(BetaLikeness):
    """In every class each value's share p exceeds its share q in the table by `beta` · q at most.

    Promises: learning a person's class multiplies the probability of any value by
    1 + `beta` at most, rare values included.
    Does not promise: anything about values that become *less* likely (`DeltaDisclosure`),
    or for frequent values: with q = 0.5 and `beta` = 1 a class may be all one value; see
    `EnhancedBetaLikeness`. A missing value counts as one more value, because its
    absence can be telling too.

    Reference: Cao and Karras, "Publishing Microdata with a Robust Privacy Guarantee",
    Proceedings of the VLDB Endowment 5(11), 2012

    Args:
        column: The sensitive column.
        beta: Largest relative gain (p-q)/q allowed; above 0.

    Example:
        >>> rows = [("A", "flu"), ("A", "flu"), ("B", "flu"), ("B", "hiv")]
        >>> model = BasicBetaLikeness("disease", beta=0.5)
        >>> model.passes(classes_of(rows, column="disease"))
        array([ True, False])
        >>> model.measure(classes_of(rows, column="disease"))
        {'beta': 1.0}
    """

    name: ClassVar[str] = "basic-beta-likeness"
    in_words: ClassVar[str] = (
        "Finding a person's group makes no value of {column} more than {beta_times} times as "
        "likely as in the whole table."
    )

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        return at_most(self._worst(classes), self.beta)

    def count_lost(self, classes: EquivalenceClasses, gone: int) -> IntArray:
        return count_beyond(classes, self.column, gone, lambda table: table * (1 + self.beta))

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        worst = self._worst(classes)
        return {"beta": float(worst.max()) if len(worst) else self.beta}

    def _worst(self, classes: EquivalenceClasses) -> FloatArray:
        return worst_by_class(classes, self.column, gains(classes, self.column)[0])
