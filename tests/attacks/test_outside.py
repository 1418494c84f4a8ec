"""Lists that are held against a release: what is read of labels, and how much room it takes."""

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks import Outside, Target
from sfumato.counts import Column, FrequencySet
from sfumato.hierarchy.labels import LabelIndex
from tests.attacks.reading import Written


@given(st.lists(st.lists(st.integers(0, 5), unique=True, max_size=6), max_size=5), st.data())
def test_labels_of_values_are_found_as_in_a_table_of_all_pairs(codes, data):
    pairs = np.zeros((6, len(codes)), dtype=bool)
    for label, values in enumerate(codes):
        pairs[values, label] = True
    raw, shown = (
        Column("x", tuple("012345")),
        Column("x", tuple(f"l{i}" for i in range(len(codes)))),
    )
    covers = {f"l{i}": [str(value) for value in values] for i, values in enumerate(codes)}
    labels = LabelIndex.of(raw, shown, Written({"x": covers}))
    asked = np.array(data.draw(st.lists(st.integers(0, 5), max_size=8)), dtype=np.int64)
    assert labels.fits(asked).tolist() == pairs[asked].tolist()
    if pairs.sum(axis=1).max(initial=0) > 1:
        assert labels.only is None
    else:
        assert labels.only.tolist() == [int(row.argmax()) if row.any() else -1 for row in pairs]


def test_many_values_take_no_room_for_all_their_pairs():
    n = 4000
    rows = [(f"v{i}",) for i in range(n)]
    people = FrequencySet.from_rows(["a"], rows)
    target = Target.of_table(FrequencySet.from_rows(["a"], rows), ("a",), ())
    tracemalloc.start()
    found = Outside.of(people, target)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.fitting.tolist() == [1] * n
    assert most < n * n / 2
