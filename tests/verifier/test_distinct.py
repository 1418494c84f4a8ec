"""Distinct combinations of a batch, beside the same counted cell by cell."""

from collections import Counter

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sfumato.verifier.counting import distinct

ROWS = st.lists(
    st.tuples(
        st.none() | st.sampled_from("abcdefgh"), st.none() | st.integers(0, 2), st.booleans()
    ),
    min_size=1,
    max_size=12,
)


@given(ROWS)
def test_combinations_are_counted_in_the_order_they_first_occur(rows):
    columns = [
        pa.array(column, type=kind)
        for column, kind in zip(
            zip(*rows, strict=True), (pa.string(), pa.int64(), pa.bool_()), strict=True
        )
    ]
    assert list(distinct(columns)) == list(Counter(rows).items())


def test_rows_that_are_alone_keep_their_last_columns():
    columns = [pa.array(["a", "b", None]), pa.array([1, 1, 2]), pa.array(["x", None, "x"])]
    assert dict(distinct(columns)) == {("a", 1, "x"): 1, ("b", 1, None): 1, (None, 2, "x"): 1}
