"""k-map: every class of the table stands for at least k people of the population."""

from collections.abc import Mapping
from typing import ClassVar, Self

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import require_int
from sfumato.models.base import ABSORBING, Merging, PrivacyModel
from sfumato.typing import BoolArray


@dataclass(frozen=True)
class KMap(PrivacyModel):
    """At least `k` people of the population have the quasi-identifiers of each class.

    Promises: an adversary who links a row to the population finds `k` or more people it could be.
    Does not promise: anything against someone who knows that a person is in the table
    (`KAnonymity` does), or about sensitive values. The population given must be the
    one the adversary has. Where missing quasi-identifiers match any value it cannot be said which
    class a person of the population is in, and the model is refused.

    Reference: "Protecting Privacy Using k-Anonymity", 2008, doi:10.1197/jamia.M2716

    Args:
        k: Fewest people a class may stand for; 2 or more.

    Example:
        >>> classes = EquivalenceClasses(np.array([1, 1]), population=np.array([5, 1]))
        >>> KMap(3).passes(classes)
        array([ True, False])
    """

    name: ClassVar[str] = "k-map"
    in_words: ClassVar[str] = "Each row could be any of at least {k} people of the population."
    of_population: ClassVar[bool] = True
    stricter: ClassVar[Mapping[str, int]] = {"k": 1}
    merging: ClassVar[Merging] = ABSORBING
    merging_of_people: ClassVar[Merging] = ABSORBING
    needs_population: ClassVar[bool] = True

    k: int

    def __post_init__(self) -> None:
        require_int("k", self.k, at_least=2, why="with k=1 every class passes")

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        verdicts: BoolArray = classes.population_sizes() >= self.k
        return verdicts

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        people = classes.population_sizes()
        return {"k": int(people.min()) if len(classes) else self.k}

    @classmethod
    def example(cls) -> Self:
        return cls(2)
