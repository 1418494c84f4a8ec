"""Distinct l-diversity: every class shows at least l different sensitive values."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sfumato.checks import require_int, require_text
from sfumato.classes import EquivalenceClasses
from sfumato.models.base import ABSORBING, Merging, PrivacyModel
from sfumato.typing import BoolArray, IntArray


@dataclass(frozen=True)
class DistinctLDiversity(PrivacyModel):
    """Every class shows at least `l` different values of a sensitive column.

    Promises: whoever learns a person's class still faces `l` or more values.
    Does not promise: that they are equally likely. A class may be 99 % one value; see
    `EntropyLDiversity` and `TCloseness`. Missing values do not count, because
    "unknown" hides nobody among `l` diagnoses.

    Reference: "l-Diversity: Privacy Beyond k-Anonymity", 2007,
    doi:10.1145/1217299.1217302

    Args:
        column: The sensitive column.
        l: Fewest different values a class may show; 2 or more.

    Example:
        >>> classes = classes_of([("A", "flu"), ("A", "gout"), ("B", "flu")], column="disease")
        >>> DistinctLDiversity("disease", l=2).passes(classes)
        array([ True, False])
    """

    name: ClassVar[str] = "distinct-l-diversity"
    merging: ClassVar[Merging] = ABSORBING

    column: str
    l: int

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_int("l", self.l, at_least=2, why="with l=1 every class passes")

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        verdicts: BoolArray = self._distinct(classes) >= self.l
        return verdicts

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        distinct = self._distinct(classes)
        return {"l": int(distinct.min()) if len(distinct) else self.l}

    def _distinct(self, classes: EquivalenceClasses) -> IntArray:
        known = classes.counts_of(self.column).known
        return np.bincount(known.class_id, minlength=len(classes))

    @classmethod
    def example(cls) -> Self:
        return cls("disease", l=2)
