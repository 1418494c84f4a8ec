"""Tiny tables to try losses on: a letter and a digit, with hierarchies of different height."""

from collections import Counter

import numpy as np
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.hierarchy import Taxonomy
from sfumato.losses import Attribute, CheckedNode

TREES = {
    "letter": {"ab": ["a", "b"], "c": ["c"]},
    "digit": {"low": {"binary": ["0", "1"]}, "high": {"two": ["2"], "three": ["3"]}},
}
PATHS = {
    "a": ("a", "ab", "*"),
    "b": ("b", "ab", "*"),
    "c": ("c", "c", "*"),
    None: (None, None, "*"),
    "0": ("0", "binary", "low", "*"),
    "1": ("1", "binary", "low", "*"),
    "2": ("2", "two", "high", "*"),
    "3": ("3", "three", "high", "*"),
}
"""The trees once more: what each value is called at each level."""

LETTERS, DIGITS = ("a", "b", "c", None), ("0", "1", "2", "3")
ROWS = st.lists(
    st.tuples(st.sampled_from(LETTERS), st.sampled_from(DIGITS)), min_size=1, max_size=25
).filter(lambda rows: any(letter is not None for letter, _ in rows))


def attributes_of(rows):
    counts = FrequencySet.from_rows(list(TREES), rows)
    return [
        Attribute(
            Taxonomy(tree).build(name, counts.column(name).known).bind(name, values),
            counts.value_counts(name),
        )
        for name, tree in TREES.items()
        for values in [counts.column(name).values]
    ]


@st.composite
def tables(draw):
    """Rows, a node, and which rows are suppressed (whole classes)."""
    rows = draw(ROWS)
    attributes = attributes_of(rows)
    node = tuple(draw(st.integers(0, attribute.ladder.height)) for attribute in attributes)
    published = [label_tuple(attributes, node, row) for row in rows]
    classes = sorted(set(published), key=repr)
    kept = [draw(st.booleans()) for _ in classes]
    return rows, attributes, node, published, dict(zip(classes, kept, strict=True))


def label_tuple(attributes, node, row):
    return tuple(
        attribute.ladder.labels[level][
            attribute.ladder.codes[level][attribute.ladder.values.index(cell)]
        ]
        for attribute, level, cell in zip(attributes, node, row, strict=True)
    )


def judged_of(rows, attributes, node, published, kept) -> CheckedNode:
    sizes = Counter(published)

    def histogram(i):
        values = attributes[i].ladder.values
        gone = Counter(
            row[i] for row, labels in zip(rows, published, strict=True) if not kept[labels]
        )
        return np.array([gone[value] for value in values], dtype=float)

    return CheckedNode(
        node,
        np.array([sizes[labels] for labels in kept]),
        np.array(list(kept.values())),
        len(rows),
        histogram,
    )
