"""Small tables for tests: readable to make, and strategies to draw them."""

from hypothesis import strategies as st

from sfumato.classes import EquivalenceClasses, classes_from
from sfumato.counts import FrequencySet

LABELS = st.sampled_from(["A", "B", "C", "D"])
DISEASES = st.sampled_from(["flu", "gout", "cancer", "hiv", None])
ROWS = st.lists(st.tuples(LABELS, DISEASES), min_size=1, max_size=40)
"""Rows of (class label, disease)."""


def classes_of(rows, *, column: str) -> EquivalenceClasses:
    """Group (label, sensitive value) rows into classes, in the order of the labels."""
    counts = FrequencySet.from_rows(["label", column], rows)
    return classes_from(counts, ("label",), (column,))
