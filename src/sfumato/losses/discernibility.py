"""Discernibility: how many rows each row can no longer be told from."""

from typing import ClassVar

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.losses.base import ClassLoss
from sfumato.typing import IntArray


@dataclass(frozen=True)
class Discernibility(ClassLoss):
    """The sum of the squared class sizes; a suppressed row costs as much as the table has rows.

    Reference: "Data privacy through optimal k-anonymization", 2005,
    doi:10.1109/ICDE.2005.42

    Args:
        ignore_suppression: Whether suppressed classes cost their squared size like the others;
            in local recoding suppressed rows are one class.

    Example:
        >>> Discernibility().of_sizes(np.array([3, 2]), 1, np.array([3, 2, 1]))
        19.0
    """

    name: ClassVar[str] = "discernibility"
    in_words: ClassVar[str] = "How many people look alike; large groups cost most."

    ignore_suppression: bool = False

    def of_sizes(self, kept: IntArray, suppressed: int, everything: IntArray) -> float:
        if self.ignore_suppression:
            return _squares(everything)
        sizes = kept.astype(np.float64)
        return float(sizes @ sizes + float(everything.sum()) * suppressed)

    def floor_of(self, everything: IntArray, smallest: int) -> float:
        if self.ignore_suppression:
            return _squares(everything)
        # Rows of classes that are too small are suppressed, or come into one that is not.
        small = everything < smallest
        least = min(smallest, int(everything.sum()))
        return _squares(everything[~small]) + float(least * everything[small].sum())

    def lift_per_row(self, rows: int, limit: int, smallest: int) -> float:
        if self.ignore_suppression:
            return 0.0
        # `floor_of` counts a row with no more than its class has, and no class that is suppressed
        # has more rows than may be.
        return float(max(rows - max(limit, smallest), 0))


def _squares(sizes: IntArray) -> float:
    exact = sizes.astype(np.float64)
    return float(exact @ exact)
