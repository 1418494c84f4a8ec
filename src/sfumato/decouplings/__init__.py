"""Decoupling: a table published in parts with weak links, so that rows cannot be put together.

Every method is one file and one frozen dataclass; `DECOUPLINGS` finds them by name.
"""

from sfumato.decouplings.anatomy import Anatomy
from sfumato.decouplings.association_hiding import AssociationHiding
from sfumato.decouplings.base import DecoupledPart, Decoupling, Kind, Parts, random_labels
from sfumato.decouplings.break_merge import BreakMerge, publish
from sfumato.decouplings.bucketization import Bucketization
from sfumato.decouplings.merging import MergedTables
from sfumato.decouplings.slicing import Slicing
from sfumato.registry import Registry

__all__ = [
    "DECOUPLINGS",
    "Anatomy",
    "AssociationHiding",
    "BreakMerge",
    "Bucketization",
    "DecoupledPart",
    "Decoupling",
    "Kind",
    "MergedTables",
    "Parts",
    "Slicing",
    "kind_of",
    "publish",
    "random_labels",
]

DECOUPLINGS: Registry[Decoupling] = Registry(
    "decoupling",
    "sfumato.decouplings",
    [BreakMerge, Anatomy, Bucketization, Slicing, AssociationHiding],
)
"""Ways to decouple, by name."""


def kind_of(name: str | None) -> type[Kind]:
    """Return the facts of a kind of release, by the name that its manifest has.

    >>> kind_of("slicing").groups, kind_of(None).groups
    (('bucket', 'buckets'), ('class', 'classes'))
    """
    # A manifest of a stranger may say anything.
    return Kind if name is None or name == Kind.name else DECOUPLINGS[str(name)]
