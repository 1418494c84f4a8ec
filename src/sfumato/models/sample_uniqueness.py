"""Sample uniqueness: few people are alone in their class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.errors import require_number
from sfumato.models.base import ABSORBING, Merging, TableModel
from sfumato.typing import FloatArray, IntArray


@dataclass(frozen=True)
class SampleUniqueness(TableModel):
    """At most a `share` of the rows are alone in their class.

    Promises: an adversary who knows quasi-identifiers finds exactly one row for this
    share of the people at most.
    Does not promise: anything to those who are alone, or more than a companion to the
    rest: a class of two counts as safe here. Add `KAnonymity`.

    Reference: "Protecting Privacy Using k-Anonymity", 2008, doi:10.1197/jamia.M2716

    Args:
        share: Largest share of unique rows allowed; 0 or more and below 1.

    Example:
        >>> rows = [("A", "flu"), ("A", "gout"), ("A", "hiv"), ("B", "flu")]
        >>> classes = classes_of(rows, column="disease")
        >>> SampleUniqueness(0.25).passes(classes), SampleUniqueness(0.2).passes(classes)
        (array([ True,  True]), array([ True, False]))
    """

    name: ClassVar[str] = "sample-uniqueness"
    stricter: ClassVar[Mapping[str, int]] = {"share": -1}
    # Classes of two and more always stay, and merging never makes anyone unique.
    merging: ClassVar[Merging] = ABSORBING
    # Which of several unique people may stay would be arbitrary, so none does.
    sizes_together: ClassVar[bool] = True

    share: float

    def __post_init__(self) -> None:
        require_number("share", self.share, at_least=0, below=1, why="it is a share, 0.05 is 5 %")

    @property
    def limit(self) -> float:
        return self.share

    def risks(self, sizes: IntArray) -> FloatArray:
        alone: FloatArray = (sizes == 1).astype(np.float64)
        return alone

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        return {"share": self.worst(classes)}

    @classmethod
    def example(cls) -> Self:
        return cls(0.2)
