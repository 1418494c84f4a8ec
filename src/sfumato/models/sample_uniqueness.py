"""Sample uniqueness: few people are alone in their class."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_number
from sfumato.models.base import ABSORBING, Merging, PrivacyModel, TableModel
from sfumato.typing import FloatArray, IntArray


@dataclass(frozen=True)
class SampleUniqueness(TableModel):
    """At most a `share` of the rows are alone in their class.

    Where there are more, all of them are suppressed, or as few as will do, which are then drawn
    by lot (`drawn`). Any other choice would tell: who knows the rule sees from those who
    stayed who else may have been there.

    Promises: an adversary who knows quasi-identifiers finds exactly one row for this
    share of the people at most.
    Does not promise: anything to those who are alone, or more than a companion to the
    rest: a class of two counts as safe here. Add `KAnonymity`. Every release draws for itself:
    two of the same table together show more people who are alone than either may.

    Reference: "Protecting Privacy Using k-Anonymity", 2008, doi:10.1197/jamia.M2716

    Args:
        share: Largest share of unique rows allowed; 0 or more and below 1.
        drawn: Whether, where too many rows are unique, as many stay as the share allows, drawn at
            random; else none of them stays. Local methods leave no one alone either way.

    Example:
        >>> rows = [("A", "flu"), ("A", "gout"), ("A", "hiv"), ("B", "flu")]
        >>> classes = classes_of(rows, column="disease")
        >>> SampleUniqueness(0.25).passes(classes), SampleUniqueness(0.2).passes(classes)
        (array([ True,  True]), array([ True, False]))
        >>> rows += [("C", "flu"), ("D", "flu")]
        >>> SampleUniqueness(0.25, drawn=True).passes(classes_of(rows, column="disease"))
        array([ True, False, False,  True])
    """

    name: ClassVar[str] = "sample-uniqueness"
    in_words: ClassVar[str] = (
        "At most {share_percent} of the people are the only ones with their details."
    )
    stricter: ClassVar[Mapping[str, int]] = {"share": -1}
    # Classes of two and more always stay, and merging never makes anyone unique.
    merging: ClassVar[Merging] = ABSORBING

    share: float
    drawn: bool = False

    def __post_init__(self) -> None:
        require_number("share", self.share, at_least=0, below=1, why="it is a share, 0.05 is 5 %")
        if not isinstance(self.drawn, bool):
            raise ParameterError("drawn", self.drawn, "true or false")

    @property
    def draws(self) -> bool:
        return self.drawn

    @property
    def sizes_together(self) -> bool:
        return not self.drawn

    @property
    def limit(self) -> float:
        return self.share

    def risks(self, sizes: IntArray) -> FloatArray:
        alone: FloatArray = (sizes == 1).astype(np.float64)
        return alone

    def params(self) -> dict[str, Any]:
        return {"share": self.share, **({"drawn": True} if self.drawn else {})}

    def implies(self, other: PrivacyModel) -> bool:
        # Who was left out to keep a share does not change what it promises.
        return isinstance(other, SampleUniqueness) and self.share <= other.share

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        return {"share": self.worst(classes)}

    @classmethod
    def example(cls) -> Self:
        return cls(0.2)
