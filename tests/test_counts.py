"""Grouping codes: a sorted set of tuples is the judge, however wide the tuples are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import group


@st.composite
def coded(draw):
    """Draw columns of codes, of few or of very many values, and perhaps of no rows."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 300, 2**20, 2**40]), min_size=1, max_size=4))
    rows = draw(st.integers(0, 12))
    columns = [
        draw(st.lists(st.sampled_from([0, size // 2, size - 1]), min_size=rows, max_size=rows))
        for size in sizes
    ]
    return sizes, columns


@given(table=coded())
def test_tuples_are_numbered_in_their_order(table):
    sizes, columns = table
    groups = group([np.array(column, dtype=np.int64) for column in columns], sizes)
    tuples = list(zip(*columns, strict=True))
    distinct = sorted(set(tuples))
    assert groups.of_item.tolist() == [distinct.index(each) for each in tuples]
    assert groups.first.tolist() == [tuples.index(each) for each in distinct]


def test_without_columns_all_items_are_alike():
    groups = group([], [], n=3)
    assert (groups.of_item.tolist(), groups.first.tolist()) == ([0, 0, 0], [0])
