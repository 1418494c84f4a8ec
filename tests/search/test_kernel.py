"""The compiled loops give what NumPy gives, bit for bit, and refuse what they cannot read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.search import kernel
from sfumato.search.best_first import BoxCounter


@st.composite
def items(draw):
    """Items with a code per group, and what a code adds to a key."""
    n = draw(st.integers(0, 60))
    codes, tables, width = [], [], 1
    for _ in range(draw(st.integers(0, 3))):
        raw, size = draw(st.integers(1, 9)), draw(st.integers(1, 9))
        coded = st.lists(st.integers(0, raw - 1), min_size=n, max_size=n)
        codes.append(np.array(draw(coded), dtype=draw(st.sampled_from(["u2", "i4"]))))
        labels = st.lists(st.integers(0, size - 1), min_size=raw, max_size=raw)
        tables.append(np.array(draw(labels), dtype=np.int64) * width)
        width *= size
    # Few keys are numbered in a table, keys far apart are hashed and sorted.
    far = draw(st.sampled_from([1, 3, 10**6, 10**15]))
    rows = np.array(draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)), dtype=np.int32)
    return codes, [table * far for table in tables], width * far, rows


def same(one, other):
    assert len(one) == len(other)
    for mine, theirs in zip(one, other, strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.tolist() == theirs.tolist()


@given(items())
def test_items_are_grouped_alike(given):
    same(kernel.group_items(*given), kernel.numpy_group_items(*given))


@given(items(), st.integers(1, 5), st.data())
def test_entries_are_added_up_alike(given, values, data):
    of_item, first, _ = kernel.numpy_group_items(*given)
    entries = [
        (item, value, data.draw(st.integers(1, 5)))
        for item in range(len(of_item))
        for value in sorted(data.draw(st.sets(st.integers(0, values - 1), min_size=1)))
    ]
    columns = tuple(np.array(column, dtype=np.int32) for column in zip(*entries, strict=True))
    columns = columns or (np.empty(0, dtype=np.int32),) * 3
    asked = of_item, len(first), columns, values
    same(kernel.group_entries(*asked), kernel.numpy_group_entries(*asked))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.data())
def test_boxes_are_added_up_alike(shape, data):
    size = int(np.prod(shape))
    marked = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    counter = BoxCounter(tuple(shape))
    for above, matrices in (
        (False, [matrix.T for matrix in counter._matrices]),
        (True, counter._matrices),
    ):
        counts = marked.astype(np.float32)
        if kernel.sum_boxes(counts, tuple(shape), above=above):
            assert counts.tolist() == counter._apply(marked, matrices).tolist()


@pytest.mark.parametrize("different", [10**6, 3 * 10**5, 10**4])
def test_a_million_keys_are_numbered_alike(different):
    """Keys that are mostly different are sorted, others are hashed."""
    keys = np.random.default_rng(5).permutation(10**6).astype(np.int32) % different
    spread = np.arange(10**6, dtype=np.int64) * 2**40
    asked = [keys], [spread], 2**60, np.ones(10**6, dtype=np.int32)
    same(kernel.group_items(*asked), kernel.numpy_group_items(*asked))


NUMBERS, TABLE = np.arange(3, dtype=np.int32), np.arange(3)
SPACE = np.empty(3, np.int32)


@pytest.mark.skipif(kernel.COMPILED is None, reason="nothing was compiled")
@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("group_items", ((NUMBERS,), (TABLE[:2],), 9, NUMBERS, *[SPACE] * 3)),
        ("group_items", ((NUMBERS,), (TABLE,), 2, NUMBERS, *[SPACE] * 3)),
        ("group_items", ((NUMBERS,), (-TABLE,), 9, NUMBERS, *[SPACE] * 3)),
        ("group_items", ((-NUMBERS,), (TABLE,), 9, NUMBERS, *[SPACE] * 3)),
        ("group_items", ((NUMBERS,), (TABLE,), 9, NUMBERS, *[SPACE[:2]] * 3)),
        ("group_items", ((NUMBERS,), (), 9, NUMBERS, *[SPACE] * 3)),
        ("group_items", ((NUMBERS,), (TABLE,), 9, TABLE, *[SPACE] * 3)),
        ("group_items", ((TABLE,), (TABLE,), 9, NUMBERS, *[SPACE] * 3)),
        ("group_items", ((NUMBERS,), (NUMBERS,), 9, NUMBERS, *[SPACE] * 3)),
        ("group_entries", (NUMBERS, 2, NUMBERS, NUMBERS, 3, NUMBERS, *[SPACE] * 3)),
        ("group_entries", (NUMBERS, 3, NUMBERS, NUMBERS, 2, NUMBERS, *[SPACE] * 3)),
        ("group_entries", (NUMBERS, 3, NUMBERS + 1, NUMBERS, 3, NUMBERS, *[SPACE] * 3)),
        ("group_entries", (NUMBERS, 3, NUMBERS, NUMBERS, 3, NUMBERS, *[SPACE[:2]] * 3)),
        ("group_entries", (NUMBERS, 3, NUMBERS, TABLE, 3, NUMBERS, *[SPACE] * 3)),
        ("sum_boxes", (np.zeros(4, np.float32), (2, 3), True)),
        ("sum_boxes", (np.zeros(4), (4,), True)),
    ],
)
def test_what_is_out_of_range_is_refused(name, asked):
    with pytest.raises((IndexError, ValueError, TypeError)):
        getattr(kernel.COMPILED, name)(*asked)
