"""Numbers that databases join by: each combination of codes has its own."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables import open_table
from sfumato.tables.sql.counting import CombinationNumbers
from tests.tables.test_ibis_edges import published
from tests.tables.test_publish import recoding_of
from tests.tables.test_publish_local import by_label


@given(st.lists(st.integers(1, 2**40), min_size=1, max_size=12), st.data())
def test_different_combinations_have_different_numbers(sizes, data):
    codes = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    combinations = data.draw(st.lists(codes, min_size=1, max_size=8, unique=True))
    numbers = CombinationNumbers(sizes)
    columns = [np.array(column) for column in zip(*combinations, strict=True)]
    found = numbers.of(columns)
    assert len(set(zip(*(each.tolist() for each in found), strict=True))) == len(combinations)
    assert sorted(column for group in numbers.groups for column in group) == [*range(len(sizes))]
    parts = [numbers.part(i, column) for i, column in enumerate(columns)]
    for each, group in zip(found, numbers.groups, strict=True):
        # In Python, where nothing overflows.
        exact = [sum(int(parts[c][i]) for c in group) for i in range(len(combinations))]
        assert each.tolist() == exact
        assert min(exact) >= 0


@pytest.mark.usefixtures("patience")
def test_combinations_too_wide_for_one_number_are_joined_by_two(quick_database):
    # 8 values in each of 24 columns: 2 ** 72 combinations.
    names = [f"q{i}" for i in range(24)]
    rows = [tuple(str((row + i) % 8) for i in range(24)) for row in range(8)]
    table = open_table(
        quick_database.load(pa.table(dict(zip(names, zip(*rows, strict=True), strict=True))))
    )
    full = recoding_of(table, names, (0,) * 24, suppress=[list(rows[3])])
    left = published(quick_database, table, full, names)
    assert left == {row: 1 for row in rows if row != rows[3]}
    moved = {row: {rows[0]: 1} for row in rows}
    local = by_label(table.count(names), names, moved)
    assert published(quick_database, table, local, names, force=True) == {rows[0]: 8}
