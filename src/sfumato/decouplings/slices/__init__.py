"""Slicing: attributes in columns, rows in buckets, and each column shuffled within a bucket.

Everything is decided on counts. `sfumato.decouplings` publishes what comes out.
"""

from sfumato.decouplings.slices.attributes import AIMS, correlated_columns, medoids, require_diverse
from sfumato.decouplings.slices.buckets import cut_into_buckets
from sfumato.decouplings.slices.correlation import (
    MEASURES,
    Correlations,
    correlations,
    cramers_v,
    mean_square_contingency,
    mutual_information,
    phi_square,
    shared_information,
)
from sfumato.decouplings.slices.diversity import (
    FORMS,
    Crowds,
    DiversityForm,
    EnhancedPAlpha,
    EntropyForm,
    PAlpha,
    Probabilistic,
    Recursive,
    Size,
    crowds,
    form_of,
)
from sfumato.decouplings.slices.layout import SubTuples
from sfumato.decouplings.slices.matching import CHECKS, Buckets, beliefs, find_exposed, ruled_out
from sfumato.schema import Columns

__all__ = [
    "AIMS",
    "CHECKS",
    "FORMS",
    "MEASURES",
    "Buckets",
    "Columns",
    "Correlations",
    "Crowds",
    "DiversityForm",
    "EnhancedPAlpha",
    "EntropyForm",
    "PAlpha",
    "Probabilistic",
    "Recursive",
    "Size",
    "SubTuples",
    "beliefs",
    "correlated_columns",
    "correlations",
    "cramers_v",
    "crowds",
    "cut_into_buckets",
    "find_exposed",
    "form_of",
    "mean_square_contingency",
    "medoids",
    "mutual_information",
    "phi_square",
    "require_diverse",
    "ruled_out",
    "shared_information",
]
