"""Local recoding: parting the rows into classes, each generalised only as far as it must be.

Every partitioner is one file and one class; `PARTITIONERS` finds them by name.
"""

from sfumato.partition.base import Partition, Partitioner, Problem
from sfumato.partition.bottomup import BottomUp
from sfumato.partition.labelling import LabelledPartition, label_partition
from sfumato.partition.mdav import Mdav
from sfumato.partition.mondrian import Fragments, Mondrian, cut_into_fragments
from sfumato.partition.topdown import TopDown
from sfumato.registry import Registry

__all__ = [
    "PARTITIONERS",
    "BottomUp",
    "Fragments",
    "LabelledPartition",
    "Mdav",
    "Mondrian",
    "Partition",
    "Partitioner",
    "Problem",
    "TopDown",
    "cut_into_fragments",
    "label_partition",
]

PARTITIONERS: Registry[Partitioner] = Registry(
    "method", "sfumato.partitioners", [TopDown, Mondrian, BottomUp, Mdav]
)
