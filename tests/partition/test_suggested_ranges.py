"""Ranges that a hierarchy only suggests: Mondrian joins neighbouring ones, at their ends."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf

AGES = st.lists(st.integers(0, 99), min_size=12, max_size=60).filter(lambda a: len({*a}) > 4)
"""Of two ages or fewer there is no range to suggest."""


def published(ages, hierarchy, k=3):
    rule = {"role": "quasi-identifier", "hierarchy": hierarchy}
    policy = sf.Policy(columns={"age": rule}, models=[sf.models.KAnonymity(k)], method="mondrian")
    return sf.anonymize(pa.table({"age": ages}), policy, seed=1)


def ends(label):
    """The lowest and the highest age that a label stands for."""
    low, _, high = str(label).partition(" to ")
    return int(low), int(high or low)


@pytest.mark.usefixtures("patience")
@given(ages=AGES)
def test_every_label_covers_its_people_and_hides_none_of_them(ages):
    labels = published(ages, "auto").table["age"].to_pylist()
    assert "*" not in labels
    found = sorted({ends(label) for label in labels})
    # Ranges do not overlap, so that each person can only be in one.
    assert all(first[1] < second[0] for first, second in pairwise(found))
    for low, high in found:
        rows = sum(ends(label) == (low, high) for label in labels)
        assert sum(low <= age <= high for age in ages) == rows >= 3


def test_a_hierarchy_that_was_given_is_kept_to():
    ages = np.repeat(np.arange(20, 80), 2).tolist()
    given_ = {"kind": "intervals", "widths": [10, 20]}
    labels = set(published(ages, given_, k=25).table["age"].to_pylist())
    assert labels <= {"20 to 39", "40 to 59", "60 to 79"}


def test_a_cut_that_breaks_a_model_is_tried_elsewhere():
    """The old are nearly all ill: to cut them off breaks the promise, to cut elsewhere does not."""
    ages = [*range(60, 80)] * 6 + [*range(80, 100)] * 2
    ill = ["yes" if age >= 80 or i % 3 == 0 else "no" for i, age in enumerate(ages)]
    model = {
        "model": "alpha-k-anonymity",
        "column": "ill",
        "alpha": 0.74,
        "k": 5,
        "protected": ["yes"],
    }
    columns = {"age": {"role": "quasi-identifier", "hierarchy": "auto"}, "ill": "sensitive"}
    policy = sf.Policy(columns=columns, models=[model], method="mondrian")
    release = sf.anonymize(pa.table({"age": ages, "ill": ill}), policy, seed=1)
    assert len(set(release.table["age"].to_pylist())) > 1
