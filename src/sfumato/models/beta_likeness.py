"""What the two β-likeness models share: how much likelier a class makes each value."""

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.models.rounding import ratio
from sfumato.typing import FloatArray


def gains(classes: EquivalenceClasses, column: str) -> tuple[FloatArray, FloatArray]:
    """Give, for each value in each class, its relative gain (p-q)/q and its table share q.

    p is the value's share in the class, q in the table. A value that a class does not
    show has gained nothing and has no entry. A missing value is a value like others.

    >>> rows = [("A", "flu"), ("B", "flu"), ("B", "flu"), ("B", "gout")]
    >>> gains(classes_of(rows, column="disease"), "disease")[0].round(3).tolist()
    [0.333, -0.111, 0.333]
    """
    counts = classes.counts_of(column)
    share = counts.rows / classes.sizes[counts.class_id]
    # `reference` has missing last, so code -1 finds it there.
    table = counts.reference[counts.value] / max(int(counts.reference.sum()), 1)
    return ratio(share - table, table), table


def worst_by_class(classes: EquivalenceClasses, column: str, entries: FloatArray) -> FloatArray:
    """Give the largest entry of each class."""
    worst: FloatArray = np.maximum.reduceat(entries, classes.counts_of(column).starts)
    return worst
