"""Generalisation hierarchies: ever more general names for values.

Every builder is one file and one frozen dataclass; `BUILDERS` finds them by name.
"""

from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder, Ladder

__all__ = ["Hierarchy", "HierarchyBuilder", "Ladder"]
