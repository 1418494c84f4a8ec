"""Local recoding: parting the rows into classes, each generalised only as far as it must be.

Every partitioner is one file and one class; `PARTITIONERS` finds them by name.
"""

from typing import TYPE_CHECKING

from sfumato.partition.base import Partition, Partitioner, Problem
from sfumato.registry import Registry, on_first_use

if TYPE_CHECKING:
    from sfumato.partition.bottomup import BottomUp as BottomUp
    from sfumato.partition.labelling import LabelledPartition as LabelledPartition
    from sfumato.partition.labelling import label_partition as label_partition
    from sfumato.partition.mdav import Mdav as Mdav
    from sfumato.partition.mondrian import Fragments as Fragments
    from sfumato.partition.mondrian import Mondrian as Mondrian
    from sfumato.partition.mondrian import cut_into_fragments as cut_into_fragments
    from sfumato.partition.topdown import TopDown as TopDown

_HOMES = {
    "BottomUp": "bottomup",
    "Fragments": "mondrian",
    "LabelledPartition": "labelling",
    "Mdav": "mdav",
    "Mondrian": "mondrian",
    "TopDown": "topdown",
    "cut_into_fragments": "mondrian",
    "label_partition": "labelling",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [  # noqa: PLE0604 - all of them are texts
    "PARTITIONERS",
    "Partition",
    "Partitioner",
    "Problem",
    *_HOMES,
]

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)

PARTITIONERS: Registry[Partitioner] = Registry(
    "method",
    "sfumato.partitioners",
    {
        "top-down": "TopDown",
        "mondrian": "Mondrian",
        "bottom-up": "BottomUp",
        "mdav": "Mdav",
    },
    home=__name__,
)
