"""The common part of the two β-likeness models: how much likelier a class makes each value."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.counts import add_up
from sfumato.dataclasses import dataclass
from sfumato.errors import require_number, require_text
from sfumato.models.base import CLOSED, Merging, PrivacyModel
from sfumato.models.rounding import at_most, ratio, rows_above
from sfumato.typing import FloatArray, IntArray


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


def count_beyond(
    classes: EquivalenceClasses,
    column: str,
    gone: int,
    most: Callable[[FloatArray], FloatArray],
) -> IntArray:
    """Return how many rows each class loses at least because some values have too large a share.

    Args:
        classes: The classes.
        column: The sensitive column.
        gone: The most rows that may leave the table, which raises the shares of what stays.
        most: The largest share in a class, by the share in the table; it never falls.
    """
    counts = classes.counts_of(column)
    total = max(counts.reference_total, 1)
    if gone >= total:
        return np.zeros(len(classes), dtype=np.int64)
    # `reference` has missing last, so code -1 finds it there.
    bounds = most(np.minimum(counts.reference / (total - gone), 1.0))[counts.value]
    share = counts.rows / classes.sizes[counts.class_id]
    over = ~at_most(share, bounds)
    of_class, n = counts.class_id[over], len(classes)
    mine, allowed = add_up(of_class, share[over], n), add_up(of_class, bounds[over], n)
    some = np.bincount(of_class, minlength=n) > 0
    # Together, as one value: what goes of one leaves the shares of the others larger.
    return np.maximum(rows_above(mine, np.minimum(allowed, 1.0), classes.sizes), some)


def worst_by_class(classes: EquivalenceClasses, column: str, entries: FloatArray) -> FloatArray:
    """Return the largest entry of each class."""
    worst: FloatArray = np.maximum.reduceat(entries, classes.counts_of(column).starts)
    return worst
