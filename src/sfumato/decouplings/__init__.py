"""Decoupling: a table published in parts with weak links, so that rows cannot be put together.

Every method is one file and one frozen dataclass; `DECOUPLINGS` finds them by name.
"""

from typing import TYPE_CHECKING

from sfumato.decouplings.base import DecoupledPart, Decoupling, Kind, Parts, random_labels
from sfumato.registry import Registry, on_first_use

if TYPE_CHECKING:
    from sfumato.decouplings.anatomy import Anatomy as Anatomy
    from sfumato.decouplings.association_hiding import AssociationHiding as AssociationHiding
    from sfumato.decouplings.break_merge import BreakMerge as BreakMerge
    from sfumato.decouplings.break_merge import publish as publish
    from sfumato.decouplings.bucketization import Bucketization as Bucketization
    from sfumato.decouplings.merging import MergedTables as MergedTables
    from sfumato.decouplings.slicing import Slicing as Slicing

_HOMES = {
    "Anatomy": "anatomy",
    "AssociationHiding": "association_hiding",
    "BreakMerge": "break_merge",
    "Bucketization": "bucketization",
    "MergedTables": "merging",
    "Slicing": "slicing",
    "publish": "break_merge",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [  # noqa: PLE0604 - all of them are texts
    "DECOUPLINGS",
    "DecoupledPart",
    "Decoupling",
    "Kind",
    "Parts",
    "kind_of",
    "random_labels",
    *_HOMES,
]

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)

DECOUPLINGS: Registry[Decoupling] = Registry(
    "decoupling",
    "sfumato.decouplings",
    {
        "break-merge": "BreakMerge",
        "anatomy": "Anatomy",
        "bucketization": "Bucketization",
        "slicing": "Slicing",
        "association-hiding": "AssociationHiding",
    },
    home=__name__,
)
"""Ways to decouple, by name."""


def kind_of(name: str | None) -> type[Kind]:
    """Return the facts of a kind of release, by the name that its manifest has.

    >>> kind_of("slicing").groups, kind_of(None).groups
    (('bucket', 'buckets'), ('class', 'classes'))
    """
    # A manifest of a stranger may say anything.
    return Kind if name is None or name == Kind.name else DECOUPLINGS[str(name)]
