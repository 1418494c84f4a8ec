"""Small tables of (class label, disease) rows, and what the textbook tests read off them."""

from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from sfumato.classes import EquivalenceClasses, SensitiveColumn, classes_from
from sfumato.counts import FrequencySet
from sfumato.hierarchy.base import Hierarchy
from tests.builders import DISEASES, LABELS

TREE = Hierarchy.from_paths(
    ["flu", "hiv", "gout", "cancer"],
    [
        ["viral", "infection", "*"],
        ["viral", "infection", "*"],
        ["gout", "other", "*"],
        ["tumour", "other", "*"],
    ],
)

COUNTED = st.dictionaries(
    st.tuples(LABELS, DISEASES), st.integers(1, 9), min_size=1, max_size=20
).map(lambda table: [row for row, n in table.items() for _ in range(n)])
"""Rows with repeats, so that classes are larger and more alike than single draws make them."""


def classes_with_tree(rows) -> EquivalenceClasses:
    """Group rows into classes, in the order of the labels; diseases have a hierarchy."""
    counts = FrequencySet.from_rows(["label", "disease"], rows)
    column = counts.column("disease")
    described = SensitiveColumn("disease", column.known, TREE.bind("disease", column.values))
    return classes_from(counts, ("label",), {"disease": described})


@st.composite
def populated(draw) -> EquivalenceClasses:
    """Classes with a hierarchy and a population, which may even be too small."""
    classes = classes_with_tree(draw(COUNTED))
    n = len(classes)
    more = draw(st.lists(st.integers(-3, 12), min_size=n, max_size=n))
    return replace(classes, population=np.maximum(classes.sizes + np.array(more), 0))


def empty() -> EquivalenceClasses:
    """A table nobody is in."""
    classes = classes_with_tree([("A", "flu"), ("A", "hiv")])
    left = replace(classes, population=classes.sizes).keep(np.array([False]))
    # Nobody was suppressed either: it would tell who was in it.
    return replace(left, suppressed=0, unseen=0)


def numbered(classes: EquivalenceClasses) -> EquivalenceClasses:
    """The same classes with numbers for the diseases, some close together and some not."""
    counts = classes.counts_of("disease")
    values = (1, 2, 5, 12)[: len(counts.column.values)]
    described = SensitiveColumn("disease", values)
    return replace(classes, sensitive={"disease": replace(counts, column=described)})


def counts_by_class(rows) -> list[Counter]:
    """Count the diseases of each class, in the order of the labels."""
    tables: dict[str, Counter] = {}
    for label, disease in rows:
        tables.setdefault(label, Counter())[disease] += 1
    return [tables[label] for label in sorted(tables)]


def known(counts: Counter) -> list[int]:
    """The counts of a class's known values, largest first."""
    return sorted((n for value, n in counts.items() if value is not None), reverse=True)
