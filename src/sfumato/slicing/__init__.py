"""Slicing: attributes in columns, rows in buckets, and each column shuffled within a bucket.

Everything is decided on counts. `sfumato.decouplings` publishes what comes out.
"""

from sfumato.slicing.attributes import correlated_columns, medoids, require_diverse
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
    Entropy,
    Form,
    Probabilistic,
    Recursive,
    beliefs,
    crowds,
    find_exposed,
    form_of,
)
from sfumato.slicing.layout import Columns, SubTuples

__all__ = [
    "FORMS",
    "MEASURES",
    "Columns",
    "Correlations",
    "Crowds",
    "Entropy",
    "Form",
    "Probabilistic",
    "Recursive",
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
    "shared_information",
]
