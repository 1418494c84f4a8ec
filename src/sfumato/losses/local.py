"""A locally recoded table as losses see it."""

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.losses.cells import Cells
from sfumato.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class LocalResult:
    """What came of local recoding: the published cells, their classes, and what was left out."""

    cells: Sequence[Cells]
    """For each attribute the cells of the published rows; their rows add up to all of those."""

    sizes: IntArray
    """The sizes of the published classes."""

    removed: Sequence[FloatArray]
    """For each attribute, how many suppressed rows have each raw value."""

    suppressed: int
    """How many rows are left out."""
