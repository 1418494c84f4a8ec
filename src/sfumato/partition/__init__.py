"""Local recoding: parting the rows into classes, each generalised only as far as it must be.

Every partitioner is one file and one class; `PARTITIONERS` finds them by name.
"""

from sfumato.partition.base import Partitioner
from sfumato.partition.bottomup import BottomUp
from sfumato.partition.fragmenting import Fragments, fragmented
from sfumato.partition.mondrian import Mondrian
from sfumato.partition.parted import Parted
from sfumato.partition.problem import Problem
from sfumato.partition.settling import Settled, settle
from sfumato.partition.topdown import TopDown
from sfumato.registry import Registry

__all__ = [
    "PARTITIONERS",
    "BottomUp",
    "Fragments",
    "Mondrian",
    "Parted",
    "Partitioner",
    "Problem",
    "Settled",
    "TopDown",
    "fragmented",
    "settle",
]

PARTITIONERS: Registry[Partitioner] = Registry(
    "method", "sfumato.partitioners", [TopDown, Mondrian, BottomUp]
)
