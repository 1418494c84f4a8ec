"""Height: the number of generalisation steps, whatever the data."""

from typing import ClassVar

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.losses.base import AGGREGATES, Attribute, CellLoss, Cells
from sfumato.typing import FloatArray


@dataclass(frozen=True)
class Height(CellLoss):
    """The sum of the levels of a node. Suppression does not count.

    Of a locally recoded table it is the sum of each attribute's mean level, where a
    suppressed row stands at the top.

    Args:
        aggregate: How attributes are combined; sum unless told otherwise.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> h = Hierarchy.from_paths(["a", "b"], [["*"], ["*"]])
        >>> Height().costs(Attribute(h.bind("letter", ["a", "b"]), np.array([5, 3]))).tolist()
        [[0.0, 0.0], [1.0, 1.0]]
    """

    name: ClassVar[str] = "height"
    in_words: ClassVar[str] = "The sum of all levels; a simple count."

    aggregate: str = "sum"

    def __post_init__(self) -> None:
        AGGREGATES[self.aggregate]

    def of_cells(self, attribute: Attribute, cells: Cells) -> FloatArray:
        return cells.level

    def suppression_cost(
        self, attribute: Attribute, costs: FloatArray, removed: FloatArray
    ) -> FloatArray:
        return np.zeros(len(costs))
