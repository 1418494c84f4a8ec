"""Distinct l-diversity: every class shows at least l different sensitive values."""

import math
from collections.abc import Mapping
from typing import ClassVar, Self

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import require_int, require_number, require_text
from sfumato.models.base import ABSORBING, CLOSED, Merging, PrivacyModel
from sfumato.models.rounding import SLACK
from sfumato.typing import BoolArray


@dataclass(frozen=True)
class DistinctLDiversity(PrivacyModel):
    """Every class shows at least `l` different values of a sensitive column.

    Promises: an adversary who learns a person's class still faces `l` or more values.
    Does not promise: that they are equally likely. A class may be 99 % one value; see
    `EntropyLDiversity` and `TCloseness`. Missing values do not count, because
    "unknown" hides no one among `l` diagnoses.

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
    in_words: ClassVar[str] = (
        "Who finds a person's group still faces at least {l} different values of {column}."
    )
    stricter: ClassVar[Mapping[str, int]] = {"l": 1}
    merging: ClassVar[Merging] = ABSORBING

    column: str
    l: int

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_int("l", self.l, at_least=2, why="with l=1 every class passes")

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        verdicts: BoolArray = classes.counts_of(self.column).known.distinct >= self.l
        return verdicts

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        distinct = classes.counts_of(self.column).known.distinct
        return {"l": int(distinct.min()) if len(distinct) else self.l}

    @property
    def fewest_values(self) -> int:
        return self.l

    @classmethod
    def example(cls) -> Self:
        return cls("disease", l=2)


@dataclass(frozen=True)
class FinerLDiversity(PrivacyModel):
    """An l-diversity whose `l` need not be a whole number: being worth 2.5 values takes three."""

    merging: ClassVar[Merging] = CLOSED
    stricter: ClassVar[Mapping[str, int]] = {"l": 1}

    column: str
    l: float

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_number("l", self.l, above=1, why="with l=1 every class passes")

    @property
    def fewest_values(self) -> int:
        return math.ceil(self.l - SLACK * max(1.0, self.l))

    @property
    def absorbing_part(self) -> DistinctLDiversity | None:
        fewest = self.fewest_values
        return DistinctLDiversity(self.column, fewest) if fewest >= 2 else None

    @classmethod
    def example(cls) -> Self:
        return cls("disease", l=2)
