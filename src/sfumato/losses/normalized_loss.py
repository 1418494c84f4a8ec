"""Normalised loss: how much of its domain each published value covers."""

from typing import ClassVar

from sfumato.dataclasses import dataclass
from sfumato.losses.base import AGGREGATES, Attribute, CellLoss, Cells
from sfumato.typing import FloatArray


@dataclass(frozen=True)
class NormalizedLoss(CellLoss):
    """Each cell costs the share of the attribute's domain its value stands for.

    A raw value costs 0, `*` costs 1, a value that stands for m of n raw values costs
    (m − 1)/(n − 1). A suppressed cell costs 1.

    Reference: "Transforming data to satisfy privacy constraints", 2002,
    doi:10.1145/775047.775089

    Args:
        aggregate: How attributes are combined; geometric-mean unless told otherwise.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> h = Hierarchy.from_paths(["a", "b", "c"], [["ab", "*"], ["ab", "*"], ["c", "*"]])
        >>> letters = Attribute(h.bind("letter", ["a", "b", "c"]), np.array([5, 3, 2]))
        >>> NormalizedLoss().costs(letters).tolist()
        [[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1.0, 1.0, 1.0]]
    """

    name: ClassVar[str] = "normalized-loss"
    in_words: ClassVar[str] = (
        "How much of a column's range a published value stands for. Fits most uses."
    )

    aggregate: str = "geometric-mean"

    def __post_init__(self) -> None:
        AGGREGATES[self.aggregate]

    def of_cells(self, attribute: Attribute, cells: Cells) -> FloatArray:
        # An attribute with a single raw value has nothing to lose.
        cost: FloatArray = (cells.leaves - 1.0) / max(attribute.ladder.n_leaves - 1, 1)
        return cost

    @property
    def charges_suppressed_cells_alike(self) -> bool:
        return True

    def suppression_cost(
        self, attribute: Attribute, costs: FloatArray, removed: FloatArray
    ) -> FloatArray:
        added: FloatArray = removed.sum() - costs @ removed
        return added
