"""Small tables for tests: readable to make, and strategies to draw them."""

import inspect

from hypothesis import note
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


def hold_all(things):
    """Hold each of these, a test's first argument, to what the test says of one example drawn.

    To draw an example takes longer than to judge it, so all of them judge the same ones. Stands
    below `given`.
    """
    every = list(things)
    assert every

    def decorate(test):
        def on_each(*given, **drawn):
            for thing in every:
                note(f"{thing}")
                test(thing, *given, **drawn)

        _, *rest = inspect.signature(test).parameters.values()
        on_each.__signature__ = inspect.Signature(rest)
        on_each.__name__, on_each.__qualname__ = test.__name__, test.__qualname__
        on_each.__doc__ = test.__doc__
        return on_each

    return decorate
