"""Cells: what a cell loss needs to know of a published value, whatever recoding made it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from sfumato.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from sfumato.losses.base import Attribute


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of one attribute: groups of rows with one raw value, published with one label.

    Each field has one entry per group. In full-domain recoding all groups stand at one
    level; in local recoding one raw value may be in several groups, each with a label of
    its own.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> from sfumato.losses import Attribute
        >>> h = Hierarchy.from_paths(["a", "b", "c"], [["ab", "*"], ["ab", "*"], ["c", "*"]])
        >>> letters = Attribute(h.bind("letter", ["a", "b", "c"]), np.array([5, 3, 2]))
        >>> cells = Cells.at(letters, 1)
        >>> cells.leaves.tolist(), cells.together.tolist()
        ([2.0, 2.0, 1.0], [8.0, 8.0, 2.0])
    """

    value: IntArray
    """The raw value, as its code in the attribute's ladder."""

    level: FloatArray
    """How far up the hierarchy the label stands: 0 is raw, the ladder's height the top.

    For an attribute that is recoded to intervals, whose ladder has height 1, the share of
    its domain that the interval covers.
    """

    leaves: FloatArray
    """How many raw values of the domain the label stands for."""

    together: FloatArray
    """How many rows of the original table have a raw value that the label covers."""

    rows: FloatArray
    """How many rows there are in the group."""

    @classmethod
    def at(cls, attribute: "Attribute", level: int) -> Self:
        """Give the cells of a whole column at one level: one group per raw value."""
        codes = attribute.ladder.codes[level]
        rows = attribute.frequency.astype(np.float64)
        return cls(
            value=np.arange(len(rows)),
            level=np.full(len(rows), float(level)),
            leaves=attribute.ladder.leaves[level][codes],
            together=np.bincount(codes, weights=rows)[codes],
            rows=rows,
        )
