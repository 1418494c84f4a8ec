"""Average class size: rows per class."""

from typing import ClassVar

from sfumato.dataclasses import dataclass
from sfumato.losses.base import ClassLoss
from sfumato.typing import IntArray


@dataclass(frozen=True)
class AverageClassSize(ClassLoss):
    """All rows divided by the number of classes; what is suppressed counts as one class.

    Reference: "Mondrian multidimensional k-anonymity", 2006, doi:10.1109/ICDE.2006.101

    Example:
        >>> AverageClassSize().of_sizes(np.array([3, 2]), 1, np.array([3, 2, 1]))
        2.0
    """

    name: ClassVar[str] = "average-class-size"
    in_words: ClassVar[str] = "How large a group is on average."

    def of_sizes(self, kept: IntArray, suppressed: int, everything: IntArray) -> float:
        classes = len(kept) + (suppressed > 0)
        return float(everything.sum() / max(classes, 1))

    def floor_of(self, everything: IntArray, smallest: int) -> float:
        if not len(everything):
            return 0.0
        # Those that are too small make classes together, and the rest of them may be suppressed.
        small = everything < smallest
        classes = len(everything) - int(small.sum()) + int(everything[small].sum()) // smallest
        return float(everything.sum() / (classes + 1))

    def floor_below(self, kept: IntArray, rows: int, smallest: int) -> float:
        return float(rows / (int((kept // smallest).sum()) + 1))
