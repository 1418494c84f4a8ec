"""Combinations of many batches, beside the same counted cell by cell."""

import math
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError
from sfumato.verifier import counting as tally
from sfumato.verifier.counting import Tally, count, count_each, open_source

ROWS = st.lists(
    st.tuples(
        st.none() | st.text("abcdefgh", max_size=2),
        st.none() | st.floats(width=32) | st.just(-0.0),
        st.integers(-(2**62), 2**62),
    ),
    min_size=1,
    max_size=12,
)
KINDS = pa.string(), pa.float64(), pa.int64()


def literally(value: object) -> object:
    if not isinstance(value, float):
        return None if value == "" else value
    return None if math.isnan(value) else value + 0.0


def as_dictionary(column: pa.Array, *, twice: bool) -> pa.Array:
    """Give a dictionary as a stranger may write it: with values that stand there twice."""
    coded = column.dictionary_encode()
    if not twice:
        return coded
    both = pa.concat_arrays([coded.dictionary, coded.dictionary])
    shift = [
        None if i is None else i + len(coded.dictionary) * (i % 2)
        for i in coded.indices.to_pylist()
    ]
    return pa.DictionaryArray.from_arrays(pa.array(shift, pa.int32()), both)


@given(
    batches=st.lists(st.tuples(ROWS, st.sampled_from(["plain", "coded", "twice"])), max_size=6),
    pending=st.sampled_from([1, 5, 1000]),
    bits=st.sampled_from([2, 5, 62]),
)
def test_batches_are_counted_like_a_counter_would(batches, pending, bits):
    before = tally._PENDING, tally._BITS
    tally._PENDING, tally._BITS = pending, bits
    try:
        found = Tally(3)
        for rows, form in batches:
            columns = [
                pa.array(cells, kind)
                for cells, kind in zip(zip(*rows, strict=True), KINDS, strict=True)
            ]
            if form != "plain":
                columns = [as_dictionary(column, twice=form == "twice") for column in columns]
            found.add(columns)
        sums = found.sums()
    finally:
        tally._PENDING, tally._BITS = before
    assert sums == Counter(tuple(map(literally, row)) for rows, _ in batches for row in rows)


def test_nothing_is_counted_as_nothing():
    assert Tally(2).sums() == {}


def test_a_dictionary_that_points_nowhere_is_refused():
    codes = pa.Array.from_buffers(pa.int32(), 1, [None, pa.py_buffer(b"\x07\0\0\0")])
    wrong = pa.DictionaryArray.from_arrays(codes, pa.array(["f", "m"]), safe=False)
    with pytest.raises(pa.ArrowException):
        Tally(1).add([wrong])


def test_text_of_a_parquet_file_is_counted_whether_it_has_dictionaries_or_not(tmp_path):
    texts = [f"text {i % 700}" for i in range(3000)] + [None, ""]
    for coded in (True, False):
        path = tmp_path / f"{coded}.parquet"
        pq.write_table(pa.table({"a": texts, "n": range(3002)}), path, use_dictionary=coded)
        assert count(open_source(path), ["a"]).combinations == Counter(
            (text or None,) for text in texts
        )


def test_a_broken_page_is_an_error_for_people(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"a": ["f", "m"] * 500}), path, compression="none")
    data = bytearray(path.read_bytes())
    data[4:60] = b"\xff" * 56
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"people.parquet cannot be read"):
        count(open_source(path), ["a"])


@given(st.lists(ROWS, min_size=1, max_size=4), st.integers(0, 3))
def test_combinations_in_two_parts_are_the_combinations(batches, width):
    names = ["a", "b", "c"]
    parts = [
        pa.table(
            [pa.array(c, k) for c, k in zip(zip(*rows, strict=True), KINDS, strict=True)], names
        )
        for rows in batches
    ]
    source = open_source(pa.concat_tables(parts))
    found = count(source, names).combinations
    literal = Counter(tuple(map(literally, row)) for rows in batches for row in rows)
    assert len(found) == len(literal)
    if isinstance(found, tally.CodedCombinations):
        keys, key_of, others, times = found.split(width)
        assert len(set(keys)) == len(keys)
        spelt = Counter()
        for at, (key, rows) in enumerate(zip(key_of, times, strict=True)):
            rest = (values[codes[at]] for values, codes in others)
            spelt[*keys[key], *rest] += rows
        assert spelt == literal
        each = [Counter() for _ in names]
        for combination, rows in literal.items():
            for sums, value in zip(each, combination, strict=True):
                sums[value] += rows
        assert list(found.count_each()) == each
    assert found == literal


def test_a_column_that_was_counted_is_not_read_again():
    read = []
    table = pa.table({"sex": ["f", "m"] * 40, "age": [30] * 80})
    source = open_source(table)
    batches = source.batches
    source = replace(source, batches=lambda names: read.append(names) or batches(names))
    count(source, ["sex"])
    assert count_each(source, ["sex", "age"]) == {"sex": {"f": 40, "m": 40}, "age": {30: 80}}
    assert read == [["sex"], ["age"]]
