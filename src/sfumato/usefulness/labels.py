"""What the labels of a column say, with the hierarchies and levels a reader knows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.counts import Column
from sfumato.hierarchy import Ladder
from sfumato.typing import CodeArray
from sfumato.usefulness.covering import Covering
from sfumato.usefulness.facet import Facet


@dataclass(frozen=True, eq=False)
class Labels:
    """What a reader of labels knows besides them.

    Example:
        >>> import numpy as np
        >>> raw, shown = Column("age", (31, 32, 45)), Column("age", ("30-39", 45))
        >>> facet = Labels().facet(raw, shown, np.array([0, 0, 1]))
        >>> facet.share(np.array([True, False, True])).tolist()
        [0.5, 0.5, 1.0]
    """

    ladders: Mapping[str, Ladder] = field(default_factory=dict)
    """The hierarchies of the columns that have one."""

    levels: Mapping[str, int] = field(default_factory=dict)
    """The level of each column that was published at one level."""

    def facet(self, raw: Column, shown: Column, codes: CodeArray) -> Facet:
        """Spread rows evenly over the raw values that their label covers.

        Args:
            raw: The column of the original table.
            shown: The same column as it was published.
            codes: The label of each item.
        """
        covering = Covering(raw, self.ladders.get(raw.name), self.levels.get(raw.name))
        return Facet.of(raw, codes, covering.all(shown.values))
