"""Average risk: on average people are picked out with at most a given probability."""

from collections.abc import Mapping
from typing import ClassVar, Self

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import require_number
from sfumato.models.base import TableModel
from sfumato.typing import FloatArray, IntArray


@dataclass(frozen=True)
class AverageRisk(TableModel):
    """The mean re-identification risk of all rows, classes / rows, is at most `risk`.

    A row in a class of n is picked out with probability 1/n; added up over the rows of
    a class that is 1, so the mean is the number of classes over the number of rows.

    Promises: someone who links every row of the table to people picks `risk` of them
    rightly at most, on average.
    Does not promise: anything to a single person. A table with a low average may hold
    people who are alone in their class; add `KAnonymity` or `MaximumRisk`.

    Reference: "Protecting Privacy Using k-Anonymity", 2008, doi:10.1197/jamia.M2716

    Args:
        risk: Largest mean probability allowed; above 0 and below 1 (a share, not a percentage).

    Example:
        >>> rows = [("A", "flu"), ("A", "gout"), ("A", "hiv"), ("B", "flu")]
        >>> classes = classes_of(rows, column="disease")
        >>> AverageRisk(0.5).passes(classes), AverageRisk(0.4).passes(classes)
        (array([ True,  True]), array([ True, False]))
        >>> AverageRisk(0.4).measure(classes)
        {'risk': 0.5}
    """

    name: ClassVar[str] = "average-risk"
    in_words: ClassVar[str] = (
        "A person's row is picked with a chance of {risk_percent} at most, on average over all "
        "people; a single one may be found more easily."
    )
    stricter: ClassVar[Mapping[str, int]] = {"risk": -1}

    risk: float

    def __post_init__(self) -> None:
        require_number("risk", self.risk, above=0, below=1, why="it is a share, 0.05 is 5 %")

    @property
    def limit(self) -> float:
        return self.risk

    def risks(self, sizes: IntArray) -> FloatArray:
        return 1.0 / sizes

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        return {"risk": self.worst(classes)}

    @classmethod
    def example(cls) -> Self:
        return cls(0.4)
