"""Local recoding: parting the rows into classes, each generalised only as far as it must be.

Every partitioner is one file and one class; `PARTITIONERS` finds them by name.
"""

from sfumato.partition.base import Parted, Partitioner, Problem
from sfumato.partition.bottomup import BottomUp
from sfumato.partition.mondrian import Fragments, Mondrian, fragmented
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
