"""Decoupling: a table published in parts with weak links, so that rows cannot be put together.

Every method is one file and one frozen dataclass; `DECOUPLINGS` finds them by name.
"""

from sfumato.decouple.base import Decoupling, Part, Parts
from sfumato.decouple.break_merge import BreakMerge, publish, random_labels
from sfumato.decouple.merging import Merged
from sfumato.registry import Registry

__all__ = [
    "DECOUPLINGS",
    "BreakMerge",
    "Decoupling",
    "Merged",
    "Part",
    "Parts",
    "publish",
    "random_labels",
]

DECOUPLINGS: Registry[Decoupling] = Registry("decoupling", "sfumato.decouplings", [BreakMerge])
"""Ways to decouple, by name."""
