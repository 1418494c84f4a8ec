"""Slicing: attributes in columns, rows in buckets, and each column shuffled within a bucket.

Everything is decided on counts. `sfumato.decouplings` publishes what comes out.
"""

from sfumato.slicing.attributes import correlated_columns, require_diverse
from sfumato.slicing.buckets import bucketed
from sfumato.slicing.columns import Columns
from sfumato.slicing.correlation import (
    Correlations,
    correlations,
    cramers_v,
    mean_square_contingency,
    mutual_information,
    phi_square,
)
from sfumato.slicing.diversity import Crowds, beliefs, crowds, exposed
from sfumato.slicing.laid import Laid
from sfumato.slicing.medoids import medoids

__all__ = [
    "Columns",
    "Correlations",
    "Crowds",
    "Laid",
    "beliefs",
    "bucketed",
    "correlated_columns",
    "correlations",
    "cramers_v",
    "crowds",
    "exposed",
    "mean_square_contingency",
    "medoids",
    "mutual_information",
    "phi_square",
    "require_diverse",
]
