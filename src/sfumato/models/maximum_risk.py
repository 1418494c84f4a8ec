"""Maximum risk: each person is picked out with at most a given probability."""

import math
from collections.abc import Mapping
from typing import ClassVar, Self

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import require_number
from sfumato.models.base import ABSORBING, Merging, PrivacyModel
from sfumato.models.rounding import SLACK, at_most
from sfumato.typing import BoolArray


@dataclass(frozen=True)
class MaximumRisk(PrivacyModel):
    """In every class of n rows the re-identification risk 1/n is at most `risk`.

    k-anonymity in the language of risk: `risk` = 0.2 is k = 5.

    Promises: an adversary who knows that a person is in the table, and their
    quasi-identifiers, picks the right row with probability `risk` at most.
    Does not promise: that the rows of a class differ in what is sensitive; see
    `DistinctLDiversity` and `TCloseness`.

    Reference: "Protecting Privacy Using k-Anonymity", 2008, doi:10.1197/jamia.M2716

    Args:
        risk: Largest probability allowed; above 0 and below 1 (a share, not a percentage).

    Example:
        >>> rows = [("A", "flu"), ("A", "gout"), ("B", "flu")]
        >>> MaximumRisk(0.5).passes(classes_of(rows, column="disease"))
        array([ True, False])
    """

    name: ClassVar[str] = "maximum-risk"
    in_words: ClassVar[str] = (
        "Who knows a person's details picks the right row with a chance of {risk_percent} at most."
    )
    stricter: ClassVar[Mapping[str, int]] = {"risk": -1}
    merging: ClassVar[Merging] = ABSORBING
    merging_of_people: ClassVar[Merging] = ABSORBING

    risk: float

    def __post_init__(self) -> None:
        require_number("risk", self.risk, above=0, below=1, why="it is a share, 0.05 is 5 %")

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        return at_most(1 / classes.sizes, self.risk)

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        return {"risk": 1 / int(classes.sizes.min()) if len(classes) else self.risk}

    @property
    def smallest_class(self) -> int:
        return math.ceil(1 / (self.risk + SLACK))

    @classmethod
    def example(cls) -> Self:
        return cls(0.5)
