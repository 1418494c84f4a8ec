"""The order of values: shortcuts for many of one kind give what reading each of them gives."""

import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.tables import open_table
from sfumato.text import in_order, is_missing, number_of, text_of

TEXTS = st.text(max_size=4) | st.sampled_from(
    ["7", "07", " 8", "+1", "-2", ".5", "p1", "p10", "p9"]
)


def read_each(values):
    """Return the values in order, each of them read by itself."""
    known = [value for value in values if not is_missing(value)]
    numbers = {value: number_of(value) for value in known}
    numeric = [value for value in known if numbers[value] is not None]
    others = [value for value in known if numbers[value] is None]
    numeric.sort(key=lambda value: (numbers[value], text_of(value)))
    return [*numeric, *sorted(others, key=text_of), *([None] if len(known) < len(values) else [])]


@given(st.sets(TEXTS))
def test_texts_are_in_the_order_of_what_they_say(values):
    assert in_order(values) == read_each(values)


@given(st.sets(st.integers()))
def test_whole_numbers_are_in_the_order_of_their_size(values):
    assert in_order(values) == read_each(values)


@given(st.sets(st.floats(allow_nan=False)))
def test_amounts_are_in_the_order_of_their_size(values):
    assert in_order(values) == read_each(values)


SPELT = st.sampled_from(
    [
        "7",
        "07",
        "7.0",
        "+1",
        "-2",
        ".5",
        "-.5",
        "1e3",
        "1e400",
        "1_000",
        "-",
        "5 ",
        "1e",
        "٣",
        "nan",
    ]
)


@given(st.sets(SPELT))
def test_numbers_that_are_written_are_in_the_order_of_their_size(values):
    assert in_order(values) == read_each(values)


@given(st.sets(st.none() | st.integers() | st.floats(allow_nan=False)))
def test_numbers_and_nothing_are_in_order(values):
    assert in_order(values) == read_each(values)


NUMBERS = st.one_of(
    st.lists(st.one_of(st.none(), st.floats())).map(lambda v: pa.array(v, pa.float64())),
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))).map(
        lambda v: pa.array(v, pa.int64())
    ),
    st.lists(st.one_of(st.none(), st.integers(0, 255))).map(lambda v: pa.array(v, pa.uint8())),
)


@given(array=NUMBERS, at=st.integers(0, 20))
def test_numbers_of_a_table_are_read_in_that_order_and_row_by_row(array, at):
    assume(len(array))
    parts = pa.chunked_array([array[:at], array[at:]])
    [column], [codes] = open_table(pa.table({"n": parts})).read(["n"])
    cells = [None if is_missing(value) else value for value in array.to_pylist()]
    assert [column.values[code] for code in codes] == cells
    assert list(column.values) == read_each(set(cells))
