"""Non-uniform entropy: the bits a reader would need to undo the generalisation."""

from typing import ClassVar

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.losses.base import AGGREGATES, Attribute, CellLoss, Cells
from sfumato.typing import FloatArray


@dataclass(frozen=True)
class Entropy(CellLoss):
    """Each cell costs −log₂ of the share of its raw value among the rows its label covers.

    Generalising to a group where one value dominates costs little, to an even one
    much. For suppressed rows the entropy of their generalised values is added, unless
    suppression is ignored; in local recoding they cost what `*` costs. The result is in
    bits, summed over all cells.

    Reference: "k-Anonymization with minimal loss of information", 2009,
    doi:10.1109/TKDE.2008.129

    Args:
        aggregate: How attributes are combined; sum unless told otherwise.
        ignore_suppression: Whether suppressed rows cost what the others cost.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> h = Hierarchy.from_paths(["a", "b"], [["*"], ["*"]])
        >>> Entropy().costs(Attribute(h.bind("letter", ["a", "b"]), np.array([6, 2]))).round(2)
        array([[0.  , 0.  ],
               [0.42, 2.  ]])
    """

    name: ClassVar[str] = "entropy"
    in_words: ClassVar[str] = "How hard it is to guess the true value from the published one."

    aggregate: str = "sum"
    ignore_suppression: bool = False

    def __post_init__(self) -> None:
        AGGREGATES[self.aggregate]

    def of_cells(self, attribute: Attribute, cells: Cells) -> FloatArray:
        raw = attribute.frequency[cells.value].astype(np.float64)
        # Values with no rows (they are in a population only) cost nothing.
        share = np.divide(cells.together, raw, out=np.ones(len(raw)), where=raw > 0)
        cost: FloatArray = np.log2(share)
        return cost

    def scale(self, attribute: Attribute, rows: int) -> float:
        return 1.0

    def suppression_cost(
        self, attribute: Attribute, costs: FloatArray, removed: FloatArray
    ) -> FloatArray:
        added = np.zeros(len(costs))
        if self.ignore_suppression:
            return added
        total = removed.sum()
        for level, codes in enumerate(attribute.ladder.codes):
            merged = np.bincount(codes, weights=removed)
            merged = merged[merged > 0]
            added[level] = merged @ np.log2(total / merged)
        return added
