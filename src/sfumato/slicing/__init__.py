"""Slicing: attributes in columns, rows in buckets, and each column shuffled within a bucket.

Everything is decided on counts. `sfumato.decouplings` publishes what comes out.
"""

from sfumato.slicing.attributes import AIMS, correlated_columns, medoids, require_diverse
from sfumato.slicing.buckets import cut_into_buckets
from sfumato.slicing.correlation import (
    MEASURES,
    Correlations,
    correlations,
    cramers_v,
    mean_square_contingency,
    mutual_information,
    phi_square,
    shared_information,
)
from sfumato.slicing.diversity import (
    FORMS,
    Crowds,
    EnhancedPAlpha,
    Entropy,
    Form,
    PAlpha,
    Probabilistic,
    Recursive,
    Size,
    crowds,
    form_of,
)
from sfumato.slicing.layout import Columns, SubTuples
from sfumato.slicing.matching import CHECKS, Buckets, beliefs, find_exposed, ruled_out

__all__ = [
    "AIMS",
    "CHECKS",
    "FORMS",
    "MEASURES",
    "Buckets",
    "Columns",
    "Correlations",
    "Crowds",
    "EnhancedPAlpha",
    "Entropy",
    "Form",
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
