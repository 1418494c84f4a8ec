"""k-anonymity: every class has at least k rows."""

from collections.abc import Mapping
from typing import ClassVar, Self

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import require_int
from sfumato.models.base import ABSORBING, Merging, PrivacyModel
from sfumato.typing import BoolArray


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every class has at least `k` rows.

    Promises: an adversary who knows a person's quasi-identifiers finds at least `k` rows
    that could be theirs, so picks the right one with probability 1/k at most.
    Does not promise: that these rows differ in what is sensitive. If all `k` have the
    same diagnosis, it is known; see `DistinctLDiversity` and `TCloseness`.

    Reference: "k-anonymity: a model for protecting privacy", 2002,
    doi:10.1142/S0218488502001648

    Args:
        k: Fewest rows a class may have; 2 or more.

    Example:
        >>> classes = classes_of([("A", "flu"), ("A", "gout"), ("B", "flu")], column="disease")
        >>> KAnonymity(2).passes(classes)
        array([ True, False])
        >>> KAnonymity(2).measure(classes)
        {'k': 1}
    """

    name: ClassVar[str] = "k-anonymity"
    in_words: ClassVar[str] = (
        "No person can be narrowed down to fewer than {k} people: who knows a person's details "
        "picks the right row with a chance of {k_chance} at most."
    )
    stricter: ClassVar[Mapping[str, int]] = {"k": 1}
    merging: ClassVar[Merging] = ABSORBING
    merging_of_people: ClassVar[Merging] = ABSORBING

    k: int

    def __post_init__(self) -> None:
        require_int("k", self.k, at_least=2, why="with k=1 every class passes")

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        verdicts: BoolArray = classes.sizes >= self.k
        return verdicts

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        return {"k": int(classes.sizes.min()) if len(classes) else self.k}

    @property
    def smallest_class(self) -> int:
        return self.k

    @classmethod
    def example(cls) -> Self:
        return cls(2)
