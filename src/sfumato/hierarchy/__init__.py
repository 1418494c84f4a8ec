"""Generalisation hierarchies: ever more general names for values.

Every builder is one file and one frozen dataclass; `BUILDERS` finds them by name.
"""

from sfumato.hierarchy.automatic import Automatic
from sfumato.hierarchy.base import EXAMPLE_FOLDER, Hierarchy, HierarchyBuilder, Ladder, Suppress
from sfumato.hierarchy.csv_file import CsvHierarchy
from sfumato.hierarchy.dates import Dates
from sfumato.hierarchy.frequent import Frequent
from sfumato.hierarchy.intervals import Intervals
from sfumato.hierarchy.known import KnownTree
from sfumato.hierarchy.masking import Masking
from sfumato.hierarchy.ordered import OrderedCategories
from sfumato.hierarchy.taxonomy import Taxonomy
from sfumato.hierarchy.zip_areas import ZipAreas
from sfumato.registry import Registry

__all__ = [
    "BUILDERS",
    "EXAMPLE_FOLDER",
    "Automatic",
    "CsvHierarchy",
    "Dates",
    "Frequent",
    "Hierarchy",
    "HierarchyBuilder",
    "Intervals",
    "KnownTree",
    "Ladder",
    "Masking",
    "OrderedCategories",
    "Suppress",
    "Taxonomy",
    "ZipAreas",
]

BUILDERS: Registry[HierarchyBuilder] = Registry(
    "hierarchy",
    "sfumato.hierarchies",
    [
        Automatic,
        Intervals,
        Taxonomy,
        OrderedCategories,
        Dates,
        Masking,
        KnownTree,
        Frequent,
        ZipAreas,
        CsvHierarchy,
        Suppress,
    ],
)
