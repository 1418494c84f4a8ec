"""Counting: a Counter over Python rows is the judge, whatever the rows come from."""

import csv
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.errors import InputError, ParameterError, UnknownColumnError
from sfumato.tables import open_table
from sfumato.tables.arrow import counting as combinations
from sfumato.tables.arrow.counting import CombinationTally
from tests.tables.tables import (
    KINDS,
    ODD_NAMES,
    TEXTS,
    as_source,
    cell,
    literal_rows,
    typed_tables,
    write_csv,
)


def tuples(counts: FrequencySet) -> Counter:
    """Spell out a frequency set as texts."""
    columns = [
        [cell(column.values[code]) for code in codes]
        for column, codes in zip(counts.columns, counts.codes, strict=True)
    ]
    spelt = list(zip(*columns, strict=True)) if columns else [()] * len(counts)
    assert len(set(spelt)) == len(spelt), "a combination stands there twice"
    return Counter(dict(zip(spelt, counts.rows.tolist(), strict=True)))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(table=typed_tables())
def test_every_kind_of_table_is_counted_like_a_counter_would(kind, table, tmp_path):
    opened = open_table(as_source(table, kind, tmp_path))
    assert opened.columns == tuple(table.column_names)
    assert tuples(opened.count(opened.columns)) == Counter(literal_rows(table))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=9)
@given(table=typed_tables())
def test_every_kind_of_table_is_read_in_its_order(kind, table, tmp_path):
    opened = open_table(as_source(table, kind, tmp_path))
    columns, codes = opened.read(opened.columns)
    read = [
        [cell(column.values[code]) for code in each]
        for column, each in zip(columns, codes.tolist(), strict=True)
    ]
    assert list(zip(*read, strict=True)) == list(literal_rows(table))
    # The same values in the same order as counting finds.
    counts = opened.count(opened.columns)
    assert [c.values for c in columns] == [c.values for c in counts.columns]


def test_batches_are_read_one_after_the_other(monkeypatch):
    monkeypatch.setattr("sfumato.tables.arrow.table.BATCH_ROWS", 2)
    cells = [["b", None, "a"], ["a", "c", "b", "c"]]
    table = pa.table({"x": pa.chunked_array(cells, pa.string())})
    [column], codes = open_table(table).read(["x"])
    assert column.values == ("a", "b", "c", None)
    assert [column.values[code] for code in codes[0]] == [*cells[0], *cells[1]]


@given(
    names=st.lists(st.sampled_from(ODD_NAMES), min_size=1, max_size=3, unique=True),
    data=st.data(),
    delimiter=st.sampled_from(",;\t|"),
)
def test_a_csv_file_is_counted_as_text(names, data, delimiter, tmp_path):
    row = st.tuples(*[st.one_of(st.none(), TEXTS) for _ in names])
    rows = data.draw(st.lists(row, min_size=1, max_size=8))
    path = write_csv(tmp_path / "t.csv", names, rows, delimiter=delimiter)
    table = open_table(path)
    assert table.columns == tuple(names)
    assert tuples(table.count(names)) == Counter(tuple(c or None for c in row) for row in rows)


def test_equal_tables_give_equal_frequency_sets_from_every_kind(tmp_path):
    table = pa.table({"age": ["9", "10", None, "9"], "sex": ["f", "m", "f", "f"]})
    table_rows = list(zip(*table.to_pydict().values(), strict=True))
    expected = FrequencySet.from_rows(["age", "sex"], table_rows)
    sources = [as_source(table, kind, tmp_path) for kind in KINDS]
    sources.append(write_csv(tmp_path / "t.csv", table.column_names, table_rows))
    for source in sources:
        counts = open_table(source).count(["age", "sex"])
        assert [c.values for c in counts.columns] == [c.values for c in expected.columns]
        assert counts.codes.tolist() == expected.codes.tolist()
        assert counts.rows.tolist() == expected.rows.tolist()


def test_columns_are_counted_in_the_order_asked_for(tmp_path):
    table = pa.table({"a": [1, 2], "b": ["x", "y"], "c": [True, False]})
    for kind in KINDS:
        counts = open_table(as_source(table, kind, tmp_path)).count(["c", "a"])
        assert counts.names == ("c", "a")
        assert tuples(counts) == {("true", "1"): 1, ("false", "2"): 1}


def test_without_columns_there_is_one_combination_with_all_rows(tmp_path):
    path = write_csv(tmp_path / "t.csv", ["a"], [["1"], ["2"]])
    assert open_table(path).count([]).rows.tolist() == [2]


def test_the_values_are_python_values_of_the_columns_type():
    table = pa.table(
        {
            "i": pa.array([1], pa.uint8()),
            "f": pa.array([0.1], pa.float32()),
            "h": pa.array(np.array([1.5], np.float16)),
            "d": pa.array([Decimal("1.50")], pa.decimal128(5, 2)),
            "b": pa.array([True]),
            "t": pa.array([datetime(2020, 1, 2)], pa.timestamp("ns")),
            "v": pa.array(["x"], pa.string_view()),
            "r": pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array(["y"])),
            "s": pa.array([Decimal("1.5")], pa.decimal32(5, 1)),
            "w": pa.array([b"z"], pa.binary_view()),
            "u": pa.array([b"0" * 16], pa.uuid()),
        }
    )
    counts = open_table(table).count(table.column_names)
    assert [column.values[0] for column in counts.columns] == [
        1, 0.1, 1.5, Decimal("1.50"), True, datetime(2020, 1, 2), "x", "y", Decimal("1.5"), b"z",
        b"0" * 16,
    ]  # fmt: skip
    assert type(counts.columns[4].values[0]) is bool


def test_a_nanosecond_is_not_lost():
    table = pa.table({"t": pa.array([1_000, 1_001, None], pa.timestamp("ns"))})
    values = set(open_table(table).count(["t"]).columns[0].values)
    assert values == {datetime(1970, 1, 1, 0, 0, 0, 1), "1970-01-01 00:00:00.000001001", None}
    fine = pa.table(
        {"t": pa.array([1, 1000], pa.time64("ns")), "d": pa.array([7, 1000], pa.duration("ns"))}
    )
    counts = open_table(fine).count(["t", "d"])
    assert "00:00:00.000000001" in counts.columns[0].values
    assert set(counts.columns[1].values) == {"7 ns", timedelta(microseconds=1)}


def test_the_two_hours_at_the_end_of_summer_time_stay_two():
    twice = [datetime(2020, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1)]  # 02:30 in Rome
    table = pa.table({"t": pa.array(twice, pa.timestamp("s", "Europe/Rome"))})
    values = open_table(table).count(["t"]).columns[0].values
    assert sorted(map(str, values)) == ["2020-10-25 02:30:00+01:00", "2020-10-25 02:30:00+02:00"]


def test_days_beyond_pythons_calendar_become_text():
    table = pa.table(
        {
            "d": pa.array([10_000_000, 0], pa.date32()),
            "t": pa.array([10**13, 0], pa.timestamp("s")),
        }
    )
    counts = open_table(table).count(["d", "t"])
    assert "29349-01-26" in counts.columns[0].values
    assert "10000000000000 s" in counts.columns[1].values


def test_an_unknown_time_zone_is_refused():
    table = pa.table({"t": pa.array([1], pa.timestamp("s", "Mars/Base"))})
    with pytest.raises(InputError, match=r"column 't' has times in the zone 'Mars/Base'"):
        open_table(table).count(["t"])


def test_categories_that_no_row_has_are_not_counted(tmp_path):
    frame = pd.DataFrame({"c": pd.Categorical(["u", "v", "u"], categories=["w", "v", "u"])})
    assert open_table(frame).count(["c"]).columns[0].values == ("u", "v")
    enum = pl.DataFrame({"c": pl.Series(["u", "v"], dtype=pl.Enum(["w", "v", "u"]))})
    assert open_table(enum).count(["c"]).columns[0].values == ("u", "v")


def test_a_dictionary_may_repeat_a_value_and_hold_a_missing_one():
    strange = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["a", "a", None]))
    counts = open_table(pa.table({"c": strange})).count(["c"])
    assert (counts.columns[0].values, counts.rows.tolist()) == (("a", None), [2, 2])


def test_dictionaries_may_differ_from_batch_to_batch(tmp_path):
    parts = [pa.array(words).dictionary_encode() for words in (["a", "b"], ["c", "b"], ["b"])]
    table = pa.table({"c": pa.chunked_array(parts)})
    with pa.ipc.new_stream(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    for source in (table, tmp_path / "t.arrow"):
        assert tuples(open_table(source).count(["c"])) == {("a",): 1, ("b",): 3, ("c",): 1}


def test_pandas_row_labels_are_not_data():
    frame = pd.DataFrame({"a": ["x", "y"]}, index=pd.Index(["anna", "bert"], name="patient"))
    assert open_table(frame).columns == ("a",)


def test_row_labels_that_pandas_wrote_into_a_file_are_not_data(tmp_path):
    pd.DataFrame({"a": ["x"]}, index=["anna"]).to_parquet(tmp_path / "t.parquet")
    assert "__index_level_0__" in pq.read_schema(tmp_path / "t.parquet").names
    assert open_table(tmp_path / "t.parquet").columns == ("a",)


def test_a_column_whose_name_has_a_dot_is_not_taken_for_a_part_of_another(tmp_path):
    table = pa.table({"a": [1, 1], "a.b": [2, 3], "s": [{"x": 1}, {"x": 2}]})
    pq.write_table(table, tmp_path / "t.parquet")
    opened = open_table(tmp_path / "t.parquet")
    assert tuples(opened.count(["a"])) == {("1",): 2}
    assert tuples(opened.count(["a.b", "a"])) == {("2", "1"): 1, ("3", "1"): 1}


def test_sixty_columns_do_not_fit_one_integer_and_are_counted_all_the_same():
    rng = np.random.default_rng(1)
    rows = [tuple(rng.integers(0, 40, 60).tolist()) for _ in range(30)]
    rows += rows[:10] * 3
    table = pa.table({f"c{i}": [row[i] for row in rows] for i in range(60)})
    counts = open_table(table).count(table.column_names)
    assert tuples(counts) == Counter(tuple(map(str, row)) for row in rows)


@given(
    batches=st.lists(
        st.lists(st.tuples(*[st.integers(0, 2**31 - 2)] * 3), min_size=1, max_size=6), max_size=5
    ),
    compact=st.sampled_from([1, 3, 1000]),
)
def test_partial_counts_add_up_while_columns_outgrow_their_bits(batches, compact):
    sizes = np.ones(3, dtype=int)
    before, combinations._COMPACT = combinations._COMPACT, compact
    try:
        seen = CombinationTally(3)
        for rows in batches:
            codes = [np.array(column, dtype=np.int32) for column in zip(*rows, strict=True)]
            sizes = np.maximum(sizes, [int(column.max()) + 1 for column in codes])
            seen.add(codes, sizes.tolist())
        codes, counts = seen.result()
    finally:
        combinations._COMPACT = before
    got = dict(zip(map(tuple, codes.T.tolist()), counts.tolist(), strict=True))
    assert len(got) == len(counts)
    assert Counter(got) == Counter(row for rows in batches for row in rows)


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**40)), max_size=40),
    wide=st.booleans(),
    most=st.integers(1, 20),
)
def test_tuples_that_come_with_their_rows_are_added_up_and_too_many_are_noticed(rows, wide, most):
    # Beside keys of many bits there is no room for the rows.
    sizes = [2**60] if wide else [4]
    seen, judge = CombinationTally(1, most), Counter()
    for i in range(0, len(rows), 7):
        some = rows[i : i + 7]
        seen.add([np.array([c for c, _ in some])], sizes, rows=np.array([n for _, n in some]))
        for code, n in some:
            judge[code] += n
        assert seen.merge() == (len(judge) > most)
    codes, counts = seen.result()
    assert dict(zip(codes[0].tolist(), counts.tolist(), strict=True)) == judge


def test_a_list_cannot_be_counted_and_the_column_is_named():
    table = pa.table({"visits": [[1, 2], [3]]})
    with pytest.raises(InputError, match=r"column 'visits' holds list<.*int64>, which has no sin"):
        open_table(table).count(["visits"])


def test_unknown_and_repeated_columns_are_refused():
    table = open_table(pa.table({"disease": ["flu"]}))
    with pytest.raises(UnknownColumnError, match=r"no column 'diseese'.*Did you mean 'disease'"):
        table.count(["diseese"])
    with pytest.raises(ParameterError, match=r"columns must be distinct, without 'disease' twice"):
        table.count(["disease", "disease"])


@pytest.mark.parametrize("kind", KINDS)
def test_progress_ends_with_all_rows(kind, tmp_path):
    calls = []
    table = open_table(as_source(pa.table({"a": list(range(12))}), kind, tmp_path))
    table.count(["a"], progress=lambda done, total: calls.append((done, total)))
    assert calls[-1][0] == 12
    assert calls[-1][1] in (12, None)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_counting_does_not_change_the_callers_table():
    frame = pd.DataFrame(
        {"a": [1.0, -0.0, None], "b": pd.Categorical(["x", "y", "x"])}, index=[5, 5, 1]
    )
    before = frame.copy(deep=True)
    open_table(frame).count(["a", "b"])
    pd.testing.assert_frame_equal(frame, before)


def test_plain_csv_needs_no_quotes(tmp_path):
    rows = [("00123", "a b"), ("", "x,y")]
    path = write_csv(tmp_path / "t.csv", ["zip", "é"], rows, quoting=csv.QUOTE_MINIMAL)
    assert tuples(open_table(path).count(["zip", "é"])) == {("00123", "a b"): 1, (None, "x,y"): 1}


def test_adult_has_as_many_distinct_people_as_others_counted(adult):
    table = open_table(adult / "adult.csv")
    counts = table.count([name for name in table.columns if name != "salary-class"])
    # Counted with other tools: 30 162 rows, 18 109 distinct combinations of the eight columns.
    assert (counts.total, len(counts)) == (30162, 18109)


def test_calendar_intervals_are_counted_by_their_text():
    table = pa.table({"i": pa.array([(1, 2, 3), (1, 2, 3)], pa.month_day_nano_interval())})
    assert open_table(table).count(["i"]).rows.tolist() == [2]
