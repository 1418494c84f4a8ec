"""Generalisation hierarchies: ever more general names for values.

Every builder is one file and one frozen dataclass; `BUILDERS` finds them by name.
"""

from sfumato.hierarchy.automatic import Automatic
from sfumato.hierarchy.base import EXAMPLE_FOLDER, Hierarchy, HierarchyBuilder, Ladder, Suppress
from sfumato.hierarchy.csv_file import CsvHierarchy
from sfumato.hierarchy.dates import Dates
from sfumato.hierarchy.intervals import Intervals
from sfumato.hierarchy.masking import Masking
from sfumato.hierarchy.taxonomy import Taxonomy
from sfumato.registry import Registry

__all__ = [
    "BUILDERS",
    "EXAMPLE_FOLDER",
    "Automatic",
    "CsvHierarchy",
    "Dates",
    "Hierarchy",
    "HierarchyBuilder",
    "Intervals",
    "Ladder",
    "Masking",
    "Suppress",
    "Taxonomy",
]

BUILDERS: Registry[HierarchyBuilder] = Registry(
    "hierarchy",
    "sfumato.hierarchies",
    [CsvHierarchy, Taxonomy, Intervals, Masking, Dates, Suppress, Automatic],
)
