"""k^m-anonymity: who knows up to m items of a person still finds at least k rows."""

from collections.abc import Mapping
from typing import ClassVar, Self

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import require_int
from sfumato.models.base import ABSORBING, Merging, PrivacyModel
from sfumato.typing import BoolArray


@dataclass(frozen=True)
class KmAnonymity(PrivacyModel):
    """Who knows the class of a person and up to `m` of their items finds at least `k` rows.

    For columns with the role `set`: several values per row, such as diagnoses or purchases. Their
    items are generalised along the hierarchy of the column, or left out, until every set of up to
    `m` published items that a row has is in at least `k` rows of its class. Several such columns
    count together: `m` is what is known of all of them.

    Promises: an adversary who knows a person's quasi-identifiers and any `m` of their items finds
    at least `k` rows that could be theirs. With no item known that is k-anonymity.
    Does not promise: anything against who knows more than `m` items, or items a person does *not*
    have, such as that they have none; that these rows differ in what is sensitive, nor in their
    other items: what all of them share is learned.

    Reference: Terrovitis, Mamoulis and Kalnis, "Privacy-preserving anonymization of set-valued
    data", Proceedings of the VLDB Endowment 1(1), 2008, doi:10.14778/1453856.1453874; within
    classes: Poulis and others, "Anonymizing data with relational and transaction attributes",
    ECML PKDD 2013, doi:10.1007/978-3-642-40994-3_23

    Args:
        k: Fewest rows that share a class and up to `m` items; 2 or more.
        m: Most items of a person that others may know; 1 or more. The cost grows with the sets of
            `m` items that rows have.

    Example:
        >>> classes = classes_of([("A", "flu"), ("A", "gout"), ("B", "flu")], column="disease")
        >>> KmAnonymity(k=2, m=2).passes(classes)
        array([ True, False])
    """

    name: ClassVar[str] = "km-anonymity"
    in_words: ClassVar[str] = (
        "Who knows a person's details and up to {m} of their items still finds at least {k} people."
    )
    stricter: ClassVar[Mapping[str, int]] = {"k": 1, "m": 1}
    merging: ClassVar[Merging] = ABSORBING
    protects_sets: ClassVar[bool] = True
    counts_people: ClassVar[bool] = False

    k: int
    m: int

    def __post_init__(self) -> None:
        require_int("k", self.k, at_least=2, why="with k=1 every class passes")
        require_int("m", self.m, at_least=1, why="with m=0 no item is known: use k-anonymity")

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
        return cls(2, 2)
