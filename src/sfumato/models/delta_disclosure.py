"""δ-disclosure privacy: no class makes a sensitive value much likelier or less likely."""

import math
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import require_number, require_text
from sfumato.models.base import CLOSED, Merging, PrivacyModel
from sfumato.models.beta_likeness import count_beyond, gains, worst_by_class
from sfumato.models.rounding import below, ratio
from sfumato.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class DeltaDisclosure(PrivacyModel):
    """In every class |ln(p/q)| < `delta` for every value of the table.

    p is the value's share in the class, q in the table. A value the class does not show
    has p = 0, an infinite logarithm, and fails the class: that a person does *not* have
    it is then certain.

    Promises: learning a person's class multiplies or divides the probability of any
    value by less than e to the `delta`.
    Does not promise: that the table itself says little. A missing value counts as one
    more value, because its absence can be telling too.

    What `measure` gives is the bound that delta must exceed: the inequality is strict.

    Reference: "The Cost of Privacy: Destruction of Data-Mining Utility in Anonymized Data
    Publishing", 2008, doi:10.1145/1401890.1401904

    Args:
        column: The sensitive column.
        delta: What every |ln(p/q)| must stay below; above 0.

    Example:
        >>> rows = [("A", "flu"), ("A", "hiv"), ("B", "flu"), ("B", "flu"), ("B", "hiv")]
        >>> DeltaDisclosure("disease", delta=0.2).passes(classes_of(rows, column="disease"))
        array([False,  True])
        >>> rows = [("A", "flu"), ("A", "hiv"), ("B", "flu"), ("B", "flu")]
        >>> DeltaDisclosure("disease", delta=9).passes(classes_of(rows, column="disease"))
        array([ True, False])
    """

    name: ClassVar[str] = "delta-disclosure"
    in_words: ClassVar[str] = (
        "Finding a person's group makes no value of {column} more than {delta_factor} times as "
        "likely, or as unlikely, as in the whole table."
    )
    stricter: ClassVar[Mapping[str, int]] = {"delta": -1}
    merging: ClassVar[Merging] = CLOSED
    compares_with_table: ClassVar[bool] = True
    exceeds: ClassVar[tuple[str, ...]] = ("delta",)

    column: str
    delta: float

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_number("delta", self.delta, above=0)

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        return below(self._worst(classes), self.delta)

    def count_lost(self, classes: EquivalenceClasses, gone: int) -> IntArray:
        lost = count_beyond(classes, self.column, gone, lambda table: table * math.exp(self.delta))
        # A value that stays in the table, whatever goes, must be in every class, and not too rare.
        counts, sizes = classes.counts_of(self.column), classes.sizes
        left = np.maximum(counts.reference - gone, 0)
        shown = np.bincount(counts.class_id[left[counts.value] > 0], minlength=len(classes))
        lost = np.where(shown < np.count_nonzero(left), sizes, lost)
        least = left / max(counts.reference_total - gone, 1) * math.exp(-self.delta)
        room = ratio(counts.rows, least[counts.value])
        too_many = np.ceil(sizes[counts.class_id] - room - 1e-6)
        np.maximum.at(lost, counts.class_id, np.maximum(too_many, 0).astype(np.int64))
        return lost

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        worst = self._worst(classes)
        return {"delta": float(worst.max()) if len(worst) else self.delta}

    def _worst(self, classes: EquivalenceClasses) -> FloatArray:
        counts = classes.counts_of(self.column)
        # p/q = 1 + (p-q)/q, and a value of the table that has no entry in a class is absent.
        logs = np.abs(np.log1p(gains(classes, self.column)[0]))
        shown = np.bincount(counts.class_id, minlength=len(classes))
        all_shown = shown >= np.count_nonzero(counts.reference)
        return np.where(all_shown, worst_by_class(classes, self.column, logs), np.inf)

    @classmethod
    def example(cls) -> Self:
        return cls("disease", delta=1)
