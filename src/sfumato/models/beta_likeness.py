"""The common part of the two β-likeness models: how much likelier a class makes each value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.errors import require_number, require_text
from sfumato.models.base import CLOSED, Merging, PrivacyModel
from sfumato.models.rounding import ratio
from sfumato.typing import FloatArray


@dataclass(frozen=True)
class BetaLikeness(PrivacyModel):
    """A bound `beta` on how much likelier a class makes a value than the table does."""

    merging: ClassVar[Merging] = CLOSED
    stricter: ClassVar[Mapping[str, int]] = {"beta": -1}
    compares_with_table: ClassVar[bool] = True

    column: str
    beta: float

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_number("beta", self.beta, above=0)

    @classmethod
    def example(cls) -> Self:
        return cls("disease", beta=1)


def gains(classes: EquivalenceClasses, column: str) -> tuple[FloatArray, FloatArray]:
    """Return, for each value in each class, its relative gain (p-q)/q and its table share q.

    p is the value's share in the class, q in the table. A value that a class does not
    show has gained nothing and has no entry. A missing value is a value like others.

    >>> rows = [("A", "flu"), ("B", "flu"), ("B", "flu"), ("B", "gout")]
    >>> gains(classes_of(rows, column="disease"), "disease")[0].round(3).tolist()
    [0.333, -0.111, 0.333]
    """
    counts = classes.counts_of(column)
    share = counts.rows / classes.sizes[counts.class_id]
    # `reference` has missing last, so code -1 finds it there.
    table = counts.reference[counts.value] / max(counts.reference_total, 1)
    return ratio(share - table, table), table


def worst_by_class(classes: EquivalenceClasses, column: str, entries: FloatArray) -> FloatArray:
    """Return the largest entry of each class."""
    worst: FloatArray = np.maximum.reduceat(entries, classes.counts_of(column).starts)
    return worst
