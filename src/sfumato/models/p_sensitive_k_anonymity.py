"""p-sensitive k-anonymity: classes of at least k that show at least p sensitive values."""

from collections.abc import Mapping
from typing import ClassVar, Self

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import require_int, require_text
from sfumato.models.base import ABSORBING, Merging, PrivacyModel
from sfumato.typing import BoolArray


@dataclass(frozen=True)
class PSensitiveKAnonymity(PrivacyModel):
    """Every class has at least `k` rows and `p` different values of a sensitive column.

    Promises: what k-anonymity promises, and that an adversary who learns a class still
    faces `p` or more values.
    Does not promise: that the values differ in how sensitive they are. {HIV, cancer} is
    two values and one secret; see `EnhancedPAlphaSensitiveKAnonymity`. `k` counts all
    rows; missing values do not count towards `p`, because "unknown" hides no one.

    Reference: "Privacy Protection: p-Sensitive k-Anonymity Property", 2006,
    doi:10.1109/ICDEW.2006.116

    Args:
        column: The sensitive column.
        p: Fewest different values a class may show; 2 or more.
        k: Fewest rows a class may have; 2 or more.

    Example:
        >>> rows = [("A", "flu"), ("A", "gout"), ("B", "flu"), ("B", "flu")]
        >>> PSensitiveKAnonymity("disease", p=2, k=2).passes(classes_of(rows, column="disease"))
        array([ True, False])
    """

    name: ClassVar[str] = "p-sensitive-k-anonymity"
    in_words: ClassVar[str] = (
        "Every group has at least {k} people and at least {p} different values of {column}."
    )
    stricter: ClassVar[Mapping[str, int]] = {"p": 1, "k": 1}
    merging: ClassVar[Merging] = ABSORBING

    column: str
    p: int
    k: int

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_int("p", self.p, at_least=2, why="with p=1 it is k-anonymity alone")
        require_int("k", self.k, at_least=2, why="with k=1 every class is large enough")

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        distinct = classes.counts_of(self.column).known.distinct
        verdicts: BoolArray = (classes.sizes >= self.k) & (distinct >= self.p)
        return verdicts

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        distinct = classes.counts_of(self.column).known.distinct
        if not len(classes):
            return {"p": self.p, "k": self.k}
        return {"p": int(distinct.min()), "k": int(classes.sizes.min())}

    @property
    def smallest_class(self) -> int:
        return self.k

    @property
    def fewest_values(self) -> int:
        return self.p

    @classmethod
    def example(cls) -> Self:
        return cls("disease", p=2, k=2)
