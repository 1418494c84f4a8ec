"""Generalisation hierarchies: ever more general names for values.

Every builder is one file and one frozen dataclass; `BUILDERS` finds them by name.
"""

from typing import TYPE_CHECKING

from sfumato.hierarchy.base import EXAMPLE_FOLDER, Hierarchy, HierarchyBuilder, Ladder, Suppress
from sfumato.registry import Registry, on_first_use

if TYPE_CHECKING:
    from sfumato.hierarchy.automatic import Automatic as Automatic
    from sfumato.hierarchy.csv_file import CsvHierarchy as CsvHierarchy
    from sfumato.hierarchy.dates import Dates as Dates
    from sfumato.hierarchy.frequent import Frequent as Frequent
    from sfumato.hierarchy.intervals import Intervals as Intervals
    from sfumato.hierarchy.known import KnownTree as KnownTree
    from sfumato.hierarchy.masking import Masking as Masking
    from sfumato.hierarchy.ordered import OrderedCategories as OrderedCategories
    from sfumato.hierarchy.taxonomy import Taxonomy as Taxonomy
    from sfumato.hierarchy.zip_areas import ZipAreas as ZipAreas

_HOMES = {
    "Automatic": "automatic",
    "CsvHierarchy": "csv_file",
    "Dates": "dates",
    "Frequent": "frequent",
    "Intervals": "intervals",
    "KnownTree": "known",
    "Masking": "masking",
    "OrderedCategories": "ordered",
    "Taxonomy": "taxonomy",
    "ZipAreas": "zip_areas",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [  # noqa: PLE0604 - all of them are texts
    "BUILDERS",
    "EXAMPLE_FOLDER",
    "Hierarchy",
    "HierarchyBuilder",
    "Ladder",
    "Suppress",
    *_HOMES,
]

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)

BUILDERS: Registry[HierarchyBuilder] = Registry(
    "hierarchy",
    "sfumato.hierarchies",
    {
        "auto": "Automatic",
        "intervals": "Intervals",
        "taxonomy": "Taxonomy",
        "ordered": "OrderedCategories",
        "dates": "Dates",
        "masking": "Masking",
        "known": "KnownTree",
        "frequent": "Frequent",
        "zip-areas": "ZipAreas",
        "csv": "CsvHierarchy",
        "star": "Suppress",
    },
    home=__name__,
)
