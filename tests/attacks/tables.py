"""Rows gone through one by one: what the attacks are compared with."""

from collections import defaultdict

TREE = {
    "flu": ["viral", "infection", "*"],
    "hiv": ["viral", "infection", "*"],
    "gout": ["gout", "other", "*"],
    "cancer": ["tumour", "other", "*"],
}
"""The hierarchy of `tests.models.tables.TREE`, as plain paths."""


def values_by_class(rows):
    """The values of each class, in the order of the labels."""
    classes = defaultdict(list)
    for label, value in rows:
        classes[label].append(value)
    return [classes[label] for label in sorted(classes)]


def literally(rows, alike):
    """One verdict per class: it has a known value, and any two known values are alike."""
    verdicts = []
    for values in values_by_class(rows):
        known = [value for value in values if value is not None]
        verdicts.append(bool(known) and all(alike(a, b) for a in known for b in known))
    return verdicts
