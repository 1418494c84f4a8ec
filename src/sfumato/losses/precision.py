"""Precision loss: how far up its hierarchy each cell was lifted."""

from typing import ClassVar

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.losses.base import AGGREGATES, Attribute, CellLoss, Cells
from sfumato.typing import FloatArray


@dataclass(frozen=True)
class Precision(CellLoss):
    """Each cell costs its level divided by the hierarchy's height.

    Called precision because one minus it is Sweeney's *Prec*. A suppressed cell costs
    1, unless suppression is ignored.

    Reference: "Achieving k-anonymity privacy protection using generalization and
    suppression", 2002, doi:10.1142/S021848850200165X

    Args:
        aggregate: How attributes are combined.
        ignore_suppression: Whether suppressed rows cost what the others cost, or, in local
            recoding, what `*` costs.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> h = Hierarchy.from_paths(["a", "b"], [["ab", "*"], ["ab", "*"]])
        >>> Precision().costs(Attribute(h.bind("letter", ["a", "b"]), np.array([5, 3]))).tolist()
        [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]]
    """

    name: ClassVar[str] = "precision"
    in_words: ClassVar[str] = "How high values were raised in their hierarchies."

    aggregate: str = "arithmetic-mean"
    ignore_suppression: bool = False

    def __post_init__(self) -> None:
        AGGREGATES[self.aggregate]

    def of_cells(self, attribute: Attribute, cells: Cells) -> FloatArray:
        cost: FloatArray = cells.level / max(attribute.ladder.height, 1)
        return cost

    @property
    def charges_suppressed_cells_alike(self) -> bool:
        return not self.ignore_suppression

    def suppression_cost(
        self, attribute: Attribute, costs: FloatArray, removed: FloatArray
    ) -> FloatArray:
        if self.ignore_suppression:
            return np.zeros(len(costs))
        added: FloatArray = removed.sum() - costs @ removed
        return added
