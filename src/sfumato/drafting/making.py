"""Ways to publish the rows of a draft: the method, and whether sensitive columns stand apart."""

from collections.abc import Mapping

from sfumato.dataclasses import dataclass
from sfumato.partition import Mdav, Mondrian

_BLOCK = 4096
"""The combinations among which groups are formed at a time, so that a draft takes seconds."""


@dataclass(frozen=True)
class Making:
    """How rows become a release.

    >>> BOXES.name, NEIGHBOURS.name, Making("mondrian", apart=True).apart
    ('mondrian', 'mdav', True)
    """

    name: str
    """The method of local recoding."""

    block: int | None = None
    apart: bool = False
    """Whether every sensitive column has a table of its own."""

    @property
    def method(self) -> str | Mapping[str, object]:
        """The setting `method` of a policy."""
        return self.name if self.block is None else {"method": self.name, "block": self.block}

    @property
    def why(self) -> str:
        """A few words on what the method does."""
        if self.name == Mdav.name:
            return "each row shares its labels with its nearest neighbours, so ranges overlap"
        return "each row is generalised only as far as it must be"


BOXES = Making(Mondrian.name)
"""Cuts the table into boxes: fast whatever is promised, and decides without a look at secrets."""

NEIGHBOURS = Making(Mdav.name, _BLOCK)
"""Groups rows with their nearest neighbours, which loses least where there are many numbers."""
