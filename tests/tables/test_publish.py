"""Publishing: a row-by-row recode in plain Python is the judge."""

import csv
import errno
import math
import resource
from collections import Counter
from datetime import date
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import InputError, OutputError, ParameterError, UnknownColumnError
from sfumato.hierarchy import Hierarchy
from sfumato.recoding import FullDomainRecoding
from sfumato.tables import derived, open_table
from sfumato.tables.arrow import publishing as counted
from sfumato.tables.arrow import publishing as shuffle
from sfumato.tables.arrow import writing as writers
from sfumato.tables.arrow.publishing import Tuples
from sfumato.tables.arrow.sources import open_source
from sfumato.tables.arrow.table import ArrowTable
from sfumato.tables.derived import in_random_order
from sfumato.tables.formats import written_formats
from sfumato.text import is_missing
from tests.tables.tables import (
    KINDS,
    TEXTS,
    as_source,
    cell,
    literal_rows,
    typed_tables,
    write_csv,
)


def rng():
    return np.random.default_rng(5)


def ladders_for(counts, names, groups):
    """Give each column three levels: itself, one of two groups (drawn), everything."""
    ladders = []
    for name in names:
        values = counts.column(name).values
        known = [value for value in values if not is_missing(value)] or ["nobody"]
        paths = [[f"group {groups[i % len(groups)]}", "*"] for i in range(len(known))]
        ladders.append(Hierarchy.from_paths(known, paths).bind(name, values))
    return ladders


def recoding_of(table, names, node, *, groups=(0, 1), suppress=()):
    """Recode to a node; `suppress` holds rows of raw values whose classes are suppressed."""
    counts = table.count(names)
    ladders = ladders_for(counts, names, groups)
    suppressed = [
        [
            ladder.codes[level][ladder.values.index(value)]
            for ladder, level, value in zip(ladders, node, row, strict=True)
        ]
        for row in suppress
    ]
    classes = np.unique(np.array(suppressed, dtype=np.int64).reshape(-1, len(names)), axis=0)
    return FullDomainRecoding.at(ladders, node, classes)


def textbook(rows, names, columns, recoding, suppression):
    """Recode literally: cell by cell, row by row."""
    published = []
    suppressed = {tuple(codes) for codes in recoding.suppressed.tolist()}
    for row in rows:
        cells = dict(zip(names, row, strict=True))
        label, code = {}, []
        for column in recoding.columns:
            at = [cell(value) for value in column.values].index(cells[column.column])
            code.append(int(column.codes[at]))
            label[column.column] = cell(column.labels[code[-1]])
        if tuple(code) not in suppressed:
            published.append(tuple(label.get(name, cells[name]) for name in columns))
        elif suppression == "star":
            published.append(tuple("*" if name in label else None for name in columns))
    return published


def read_back(path, form):
    """Read a release with other tools than ours."""
    if form == "csv":
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        return header, [tuple(c or None for c in row) for row in rows]
    table = pq.read_table(path) if form == "parquet" else pyarrow.feather.read_table(path)
    return table.column_names, literal_rows(table)


@st.composite
def requests(draw, names):
    """Draw which columns are recoded to which level, and which are published in which order."""
    quasi = draw(st.lists(st.sampled_from(names), min_size=1, max_size=len(names), unique=True))
    node = tuple(draw(st.integers(0, 2)) for _ in quasi)
    columns = draw(st.permutations(names))[: draw(st.integers(1, len(names)))]
    return quasi, node, columns


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(
    table=typed_tables(min_columns=2),
    data=st.data(),
    suppression=st.sampled_from(["remove", "star"]),
    form=st.sampled_from(["parquet", "feather", "memory"]),
    budget=st.sampled_from([0, 2**29]),
    told=st.booleans(),
)
def test_rows_are_recoded_like_the_textbook_says(
    kind, table, data, suppression, form, budget, told, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("release")
    opened = ArrowTable(open_source(as_source(table, kind, folder)), budget=budget)
    quasi, node, columns = data.draw(requests(table.column_names))
    counts = opened.count(quasi)
    pick = st.lists(st.integers(0, len(counts) - 1), max_size=3, unique=True)
    groups = data.draw(st.lists(st.integers(0, 1), min_size=1, max_size=4))
    suppress = [
        [
            column.values[code]
            for column, code in zip(counts.columns, counts.codes[:, i], strict=True)
        ]
        for i in data.draw(pick)
    ]
    recoding = recoding_of(opened, quasi, node, groups=groups, suppress=suppress)
    expected = textbook(literal_rows(table), table.column_names, columns, recoding, suppression)
    if told:
        # All that is published was counted: the rows are made of that, where it is exact.
        opened.count(table.column_names)
    worth_it = patch.object(counted, "_WORTH_IT", 1 if told else math.inf)
    if form == "memory":
        with worth_it:
            result = opened.publish_table(recoding, columns, suppression=suppression, rng=rng())
        names, rows = result.column_names, literal_rows(result)
    else:
        with worth_it:
            written = opened.publish(
                recoding, columns, folder / "out", format=form, suppression=suppression, rng=rng()
            )
        names, rows = read_back(written.path, form)
        assert written.rows == len(rows)
        lost = len(table) - len(rows)
        assert suppression == "star" or written.suppressed_rows == lost
        assert [entry.name for entry in folder.iterdir() if entry.name.startswith(".")] == []
    assert names == list(columns)
    assert Counter(rows) == Counter(expected)


@given(
    data=st.data(),
    suppression=st.sampled_from(["remove", "star"]),
    delimiter=st.sampled_from(",;\t|"),
    width=st.integers(1, 3),
)
def test_a_csv_file_becomes_a_csv_file_whatever_its_delimiter(
    data, suppression, delimiter, width, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("release")
    names = ["a b", 'q"q', "new\nline"][:width]
    row = st.tuples(*[st.one_of(st.none(), TEXTS) for _ in names])
    rows = data.draw(st.lists(row, min_size=1, max_size=8))
    table = open_table(write_csv(folder / "t.csv", names, rows, delimiter=delimiter))
    quasi, node, columns = data.draw(requests(names))
    read = [tuple(c or None for c in row) for row in rows]
    victim = [dict(zip(names, read[0], strict=True))[name] for name in quasi]
    recoding = recoding_of(table, quasi, node, suppress=[victim])
    written = table.publish(
        recoding, columns, folder / "out.csv", format="csv", suppression=suppression, rng=rng()
    )
    assert written.delimiter == ","
    again = open_table(written.path) if written.rows else None
    assert again is None or again.columns == tuple(columns)
    with written.path.open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file, delimiter=written.delimiter)
    assert header == list(columns)
    expected = textbook(read, names, columns, recoding, suppression)
    assert Counter(tuple(c or None for c in line) for line in lines) == Counter(expected)


def test_cells_are_quoted_only_where_they_must_be(tmp_path):
    rows = pa.table({"a": ["x", "y,z", 'q"', "", None], "b": ["1", "1", "1", "1", "1"]})
    table = open_table(rows)
    table.publish(
        recoding_of(table, ["b"], (0,)),
        ["a", "b"],
        tmp_path / "out.csv",
        format="csv",
        suppression="remove",
        rng=rng(),
    )
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "a,b"
    assert sorted(lines[1:]) == ['"q""",1', '"y,z",1', ",1", ",1", "x,1"]


def test_a_missing_cell_of_a_table_with_one_column_is_not_an_empty_line(tmp_path):
    table = open_table(pa.table({"a": ["x", None]}))
    recoding = recoding_of(table, ["a"], (0,))
    out = tmp_path / "out.csv"
    table.publish(recoding, ["a"], out, format="csv", suppression="remove", rng=rng())
    assert sorted(out.read_text().splitlines()[1:]) == ['""', "x"]
    assert open_table(out).count(["a"]).total == 2


def test_level_0_keeps_the_type_and_other_levels_are_text():
    source = pa.table(
        {
            "age": pa.array([30, 41, None], pa.int16()),
            "born": pa.array([date(1980, 1, 1)] * 3),
            "half": pa.array(np.array([0.5, 1.5, 0.5], np.float16)),
            "ward": pa.array([1, 2, 3], pa.uint8()),
            "list": [[1], None, [2, 3]],
            "kind": pa.array(["x", "y", "x"]).dictionary_encode(),
        }
    )
    table = open_table(source)
    recoding = recoding_of(table, ["age", "born", "half"], (0, 1, 0))
    result = table.publish_table(recoding, source.column_names, suppression="star", rng=rng())
    assert result.schema.types == [
        pa.int16(), pa.string(), pa.float16(), pa.uint8(), pa.list_(pa.int64()), pa.string(),
    ]  # fmt: skip
    together = sorted(zip(result["ward"].to_pylist(), result["list"].to_pylist(), strict=True))
    assert together == [(1, [1]), (2, None), (3, [2, 3])]


def test_a_starred_row_says_nothing_and_makes_numbers_text():
    table = open_table(pa.table({"age": [30, 41], "visits": [[1], [2]], "ill": ["flu", "gout"]}))
    recoding = recoding_of(table, ["age"], (0,), suppress=[[41]])
    result = table.publish_table(recoding, table.columns, suppression="star", rng=rng())
    rows = sorted(map(tuple, (row.values() for row in result.to_pylist())))
    assert rows == [("*", None, None), ("30", [1], "flu")]


def test_rows_of_one_class_cannot_be_told_apart_by_kinds_of_nothing_or_of_zero():
    values = [math.nan, None, -0.0, 0.0]
    table = open_table(pa.table({"x": pa.array(values, pa.float64())}))
    recoding = recoding_of(table, ["x"], (0,))
    result = table.publish_table(recoding, ["x"], suppression="remove", rng=rng())["x"]
    assert result.null_count == 2
    zeros = [math.copysign(1, value) for value in result.drop_null().to_pylist()]
    assert zeros == [1.0, 1.0]


def test_nan_is_published_as_missing_in_a_column_that_is_not_recoded():
    table = open_table(pa.table({"x": [math.nan, None], "q": ["a", "a"]}))
    recoding = recoding_of(table, ["q"], (0,))
    result = table.publish_table(recoding, ["x"], suppression="remove", rng=rng())["x"]
    assert result.null_count == 2


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_nothing_of_the_input_travels_along(form, tmp_path):
    frame = pd.DataFrame(
        {
            "q": pd.Categorical(["a", "b", "a"], categories=["SECRET", "b", "a"]),
            "s": pd.Categorical(["x", "x", "x"], categories=["SECRET", "x"]),
        },
        index=["anna", "bert", "carl"],
    )
    table = open_table(frame)
    recoding = recoding_of(table, ["q"], (0,))
    out = tmp_path / "out"
    table.publish(recoding, ["q", "s"], out, format=form, suppression="remove", rng=rng())
    result = pq.read_table(out) if form == "parquet" else pyarrow.feather.read_table(out)
    assert result.schema.metadata is None
    assert result.schema.types == [pa.large_string()] * 2
    assert not any(word in out.read_bytes() for word in (b"SECRET", b"anna", b"pandas"))


def test_the_categories_of_a_polars_enum_do_not_travel_along():
    frame = pl.DataFrame({"q": pl.Series(["a", "b"], dtype=pl.Enum(["SECRET", "b", "a"]))})
    table = open_table(frame)
    recoding = recoding_of(table, ["q"], (0,))
    result = table.publish_table(recoding, ["q"], suppression="remove", rng=rng())
    assert "SECRET" not in str(result.schema)
    assert result.schema.field("q").metadata is None


def test_the_same_kind_of_table_comes_back():
    frame = pd.DataFrame(
        {7: pd.array([1, None, 3], "Int64"), "q": ["a", "b", "a"]}, index=[3, 3, 1]
    )
    table = open_table(frame)
    recoding = recoding_of(table, ["q"], (1,))

    def back(source):
        opened = open_table(source)
        return opened.native(
            opened.publish_table(recoding, opened.columns, suppression="remove", rng=rng())
        )

    result = back(frame)
    assert isinstance(result.index, pd.RangeIndex)
    assert list(result.columns) == [7, "q"]
    assert result[7].dtype == frame[7].dtype
    assert result[7].isna().sum() == 1
    polars = pl.DataFrame({"q": ["a", "b"]})
    assert isinstance(back(polars), pl.DataFrame)
    assert isinstance(back(polars.lazy()), pl.LazyFrame)
    assert isinstance(back(pa.table({"q": ["a", "b"]})), pa.Table)


def test_large_numbers_stay_exact_in_pandas_when_rows_are_starred():
    big = 2**53 + 1
    frame = pd.DataFrame({"q": ["a", "b"], "n": np.array([big, 5], np.uint64), "m": [big, 5]})
    table = open_table(frame)
    recoding = recoding_of(table, ["q"], (0,), suppress=[["b"]])
    result = table.native(
        table.publish_table(recoding, table.columns, suppression="star", rng=rng())
    )
    assert [str(dtype) for dtype in result.dtypes[["n", "m"]]] == ["UInt64", "Int64"]
    assert [result[name].dropna().tolist() for name in ("n", "m")] == [[big], [big]]


def test_publishing_does_not_change_the_callers_table():
    frame = pd.DataFrame({"q": ["a", "b", "a"], "n": [1, 2, 3]}, index=[3, 3, 1])
    before = frame.copy(deep=True)
    table = open_table(frame)
    recoding = recoding_of(table, ["q"], (1,), suppress=[["a"]])
    table.publish_table(recoding, ["q", "n"], suppression="star", rng=rng())
    pd.testing.assert_frame_equal(frame, before)


def test_a_value_that_was_not_counted_is_refused(tmp_path):
    counted, other = pa.table({"q": ["a", "b"]}), pa.table({"q": ["a", "zebra"]})
    recoding = recoding_of(open_table(counted), ["q"], (1,))
    with pytest.raises(InputError, match=r"column 'q' holds 'zebra', which the recoding does not"):
        open_table(other).publish(
            recoding, ["q"], tmp_path / "o", format="csv", suppression="remove", rng=rng()
        )
    with pytest.raises(InputError, match=r"column 'q' holds None"):
        open_table(pa.table({"q": [None, "a"]})).publish_table(
            recoding, ["q"], suppression="remove", rng=rng()
        )
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_changed_since_it_was_opened_is_refused(tmp_path):
    path = write_csv(tmp_path / "t.csv", ["q"], [["a"], ["b"]])
    table = open_table(path)
    recoding = recoding_of(table, ["q"], (1,))
    write_csv(path, ["q"], [["a"], ["b"], ["b"]])
    with pytest.raises(InputError, match=r"t.csv changed while it was being worked on"):
        table.publish(
            recoding, ["q"], tmp_path / "o", format="csv", suppression="remove", rng=rng()
        )
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.csv"]


def test_what_was_counted_is_no_count_of_a_file_that_changed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age\n30\n30\n")
    table = open_table(path)
    assert table.count(["age"]) is table.count(["age"])
    path.write_text("age\n30\n31\n32\n")
    with pytest.raises(InputError, match="changed while it was being worked on"):
        table.count(["age"])


def test_a_query_that_gives_other_rows_the_second_time_is_refused():
    frame = pl.DataFrame({"q": ["a"] * 50, "w": ["b"] * 50})
    sizes = iter([20, 30])
    lazy = frame.lazy().map_batches(lambda rows: rows.head(next(sizes)) if rows.height else rows)
    table = open_table(lazy)
    recoding = recoding_of(table, ["q"], (1,))
    with pytest.raises(InputError, match=r"the LazyFrame had 20 rows and now has 30"):
        table.publish_table(recoding, ["q", "w"], suppression="remove", rng=rng())


def test_what_a_csv_cell_cannot_hold_is_refused_before_anything_is_read(tmp_path):
    table = open_table(pa.table({"q": ["a"], "visits": [[1]], "photo": [b"x"]}))
    recoding = recoding_of(table, ["q"], (0,))
    for column, kind in [("visits", "list<.*>"), ("photo", "binary")]:
        with pytest.raises(OutputError, match=rf"column '{column}' holds {kind}, which a CSV cell"):
            table.publish(
                recoding, [column], tmp_path / "o", format="csv", suppression="remove", rng=rng()
            )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", written_formats())
@pytest.mark.parametrize("budget", [0, 2**29])
def test_a_full_disk_leaves_nothing_behind(form, budget, tmp_path):
    n = 200_000
    words = pa.array([f"{i * 7919 % 1000003:x}" for i in range(n)])
    table = ArrowTable(open_source(pa.table({"q": ["a"] * n, "w": words})), budget=budget)
    recoding = recoding_of(table, ["q"], (0,))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(OutputError, match=r"cannot write .*out: .*Nothing was left there"):
            table.publish(
                recoding,
                ["q", "w"],
                tmp_path / "out",
                format=form,
                suppression="remove",
                rng=rng(),
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_whatever_interrupts_the_writing_leaves_nothing_behind(failure, tmp_path, monkeypatch):
    def fail(*_):
        raise failure

    monkeypatch.setattr(writers.CsvWriter, "write", fail)
    table = open_table(pa.table({"q": ["a", "b"]}))
    recoding = recoding_of(table, ["q"], (0,))
    expected = OutputError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        table.publish(
            recoding, ["q"], tmp_path / "o", format="csv", suppression="remove", rng=rng()
        )
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_already_is_not_touched(tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("precious")
    table = open_table(pa.table({"q": ["a"]}))
    recoding = recoding_of(table, ["q"], (0,))
    with pytest.raises(OutputError, match=r"cannot write .*out.csv: File exists"):
        table.publish(recoding, ["q"], out, format="csv", suppression="remove", rng=rng())
    assert out.read_text() == "precious"
    with pytest.raises(OutputError, match=r"cannot write .*nowhere/o: No such file or directory"):
        table.publish(
            recoding, ["q"], tmp_path / "nowhere" / "o", format="csv", suppression="remove",
            rng=rng(),
        )  # fmt: skip


def test_requests_that_make_no_sense_are_refused(tmp_path):
    table = open_table(pa.table({"q": ["a"]}))
    recoding = recoding_of(table, ["q"], (0,))
    with pytest.raises(ParameterError, match=r"format must be one of csv, .*xlsx, got 'docx'"):
        table.publish(recoding, ["q"], tmp_path / "o", format="docx", suppression="star", rng=rng())
    with pytest.raises(ParameterError, match=r"suppression must be 'remove' or 'star', got 'hide'"):
        table.publish_table(recoding, ["q"], suppression="hide", rng=rng())
    with pytest.raises(ParameterError, match=r"columns must be at least one column"):
        table.publish_table(recoding, [], suppression="star", rng=rng())
    with pytest.raises(UnknownColumnError, match=r"no column 'z'"):
        table.publish_table(recoding, ["z"], suppression="star", rng=rng())
    other = recoding_of(open_table(pa.table({"z": ["a"]})), ["z"], (0,))
    with pytest.raises(UnknownColumnError, match=r"no column 'z'"):
        table.publish_table(other, ["q"], suppression="star", rng=rng())


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "folder", [None, "in parts", pytest.param("on disk", marks=pytest.mark.statistics)]
)
def test_every_order_is_equally_likely(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(shuffle, "_BUCKETS", 3)
    if folder == "in parts":
        monkeypatch.setattr(shuffle, "AT_ONCE", 0)
        monkeypatch.setattr(shuffle, "SLICE", 2)
    generator = np.random.default_rng(11)
    seen = Counter()
    for _ in range(1200):
        rows = iter(
            [pa.RecordBatch.from_pydict({"n": [0, 1]}), pa.RecordBatch.from_pydict({"n": [2]})]
        )
        disk = tmp_path if folder == "on disk" else None
        out = shuffle.shuffle(rows, generator, folder=disk, budget=0)
        seen[tuple(n for batch in out for n in batch["n"].to_pylist())] += 1
    assert len(seen) == 6
    # Chi-square with 5 degrees of freedom exceeds 25.7 once in ten thousand times.
    assert sum((times - 200) ** 2 / 200 for times in seen.values()) < 25.7
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("at_once", [1, 100])
@pytest.mark.parametrize("sort_from", [2, 1000])
def test_every_order_of_dealt_numbers_is_equally_likely(at_once, sort_from, monkeypatch):
    monkeypatch.setattr(derived, "_SORTED", sort_from)
    generator = np.random.default_rng(12)
    seen = Counter()
    for _ in range(1200):
        out = list(in_random_order(np.array([1, 0, 2, 1]), generator, at_once=at_once, size=2))
        assert all(len(numbers) <= 2 for numbers in out)
        seen[tuple(np.concatenate(out).tolist())] += 1
    assert len(seen) == 12
    # Chi-square with 11 degrees of freedom exceeds 37.4 once in ten thousand times.
    assert sum((times - 100) ** 2 / 100 for times in seen.values()) < 37.4


def test_numbers_whose_drawn_keys_are_the_same_are_drawn_again(monkeypatch):
    monkeypatch.setattr(derived, "_SORTED", 2)

    class Generator:
        keys = iter([[5, 5, 1], [9, 2, 4]])

        def integers(self, below, size):
            assert below > size**2
            return np.array(next(self.keys))

    [out] = in_random_order(np.array([2, 1]), Generator())
    assert out.tolist() == [0, 1, 0]


def test_pieces_are_of_about_one_size():
    sizes = [len(out) for out in in_random_order(np.array([9]), rng(), size=4)]
    assert sizes == [3, 3, 3]


def test_rows_that_were_counted_are_not_read_again(tmp_path):
    frame = pl.DataFrame({"q": ["a", "b", None] * 5, "s": [1, 2, 3] * 5, "x": [-0.0, 0.0, 1.0] * 5})
    read = []
    lazy = frame.lazy().map_batches(lambda rows: read.append(rows.height) or rows)
    table = open_table(lazy)
    recoding = recoding_of(table, ["q"], (0,), suppress=[("b",)])
    table.count(["q", "s", "x"])
    read.clear()
    told = []
    written = table.publish(
        recoding,
        ["s", "q"],
        tmp_path / "o",
        format="parquet",
        suppression="remove",
        rng=rng(),
        progress=lambda done, total: told.append((done, total)),
    )
    assert read == []
    assert (written.rows, written.suppressed_rows, told[-1]) == (10, 5, (10, 10))
    assert Counter(literal_rows(pq.read_table(written.path))) == {("1", "a"): 5, ("3", None): 5}
    # As it was counted, -0.0 is published as 0.0.
    again = table.publish_table(recoding, ["x", "q"], suppression="remove", rng=rng())
    assert read == []
    assert Counter(map(str, again["x"].to_pylist())) == {"0.0": 5, "1.0": 5}


def test_a_parquet_file_made_of_counts_has_only_dictionaries_of_what_is_in_it(tmp_path):
    names = ["zoë", "adam", "eve", "bob", None, ""] * 5
    source = pa.table({"q": names, "s": names})
    table = open_table(source)
    recoding = recoding_of(table, ["q"], (0,), suppress=[("eve",)])
    table.count(["q", "s"])
    target = tmp_path / "o"
    table.publish(recoding, ["q", "s"], target, format="parquet", suppression="remove", rng=rng())
    assert pq.read_schema(target).equals(source.schema, check_metadata=True)
    with pq.ParquetFile(target, read_dictionary=["q", "s"]) as file:
        for name in ("q", "s"):
            [chunk] = file.read(columns=[name])[name].chunks
            assert chunk.dictionary.to_pylist() == ["adam", "bob", "zoë"]
            assert Counter(chunk.to_pylist()) == {"adam": 5, "bob": 5, "zoë": 5, None: 10}


def test_rows_in_parts_keep_their_cells_together(monkeypatch):
    monkeypatch.setattr(shuffle, "AT_ONCE", 10)
    monkeypatch.setattr(shuffle, "SLICE", 8)
    texts = pa.array([None if i % 7 == 0 else f"text {i % 5}" for i in range(300)])
    rows = pa.table({"n": range(300), "text": texts}).to_batches(max_chunksize=40)
    coded = [
        pa.RecordBatch.from_arrays([b["n"], b["text"].dictionary_encode()], ["n", "text"])
        for b in rows
    ]
    out = pa.Table.from_batches(list(shuffle.shuffle(iter(coded), rng()))).to_pydict()
    assert sorted(out["n"]) == list(range(300)) != out["n"]
    assert out["text"] == [texts[n].as_py() for n in out["n"]]


def test_a_parquet_file_has_only_dictionaries_of_what_is_in_a_row_group(tmp_path, monkeypatch):
    monkeypatch.setattr(shuffle, "SLICE", 4)
    kinds = {"q": pa.string(), "plain": pa.large_string(), "n": pa.int16()}
    names = ["zoë", "adam", "eve", "bob", None, ""] * 5
    table = pa.table({"q": names, "plain": names[::-1], "n": range(30)}, pa.schema(kinds))
    source = tmp_path / "in.parquet"
    pq.write_table(table, source)
    opened = open_table(source)
    recoding = recoding_of(opened, ["q"], (0,), suppress=[("eve",)])
    target = tmp_path / "out.parquet"
    opened.publish(
        recoding, ["q", "plain", "n"], target, format="parquet", suppression="remove", rng=rng()
    )
    written = pq.read_table(target)
    assert written.schema.equals(pa.schema(kinds), check_metadata=True)
    published = [[None if v == "" else v for v in row.values()] for row in table.to_pylist()]
    kept = Counter(tuple(row) for row in published if row[0] != "eve")
    assert Counter((*row.values(),) for row in written.to_pylist()) == kept
    with pq.ParquetFile(target, read_dictionary=["q", "plain"]) as file:
        assert file.metadata.num_row_groups > 1
        for i in range(file.metadata.num_row_groups):
            assert not file.metadata.row_group(i).column(0).is_stats_set
            for name in ("q", "plain"):
                [chunk] = file.read_row_group(i, columns=[name])[name].chunks
                known = chunk.dictionary.to_pylist()
                assert known == sorted(set(chunk.to_pylist()) - {None})


def test_buckets_are_private_and_go_when_the_rows_are_not_wanted_any_more(tmp_path):
    rows = (pa.RecordBatch.from_pydict({"n": list(range(1000))}) for _ in range(3))
    out = shuffle.shuffle(rows, rng(), folder=tmp_path, budget=0)
    next(out)
    [private] = tmp_path.iterdir()
    assert private.stat().st_mode & 0o777 == 0o700
    out.close()
    assert list(tmp_path.iterdir()) == []


def test_progress_tells_half_of_the_rows_when_they_are_read_and_all_when_they_are_written(
    monkeypatch,
):
    monkeypatch.setattr(shuffle, "SLICE", 4)
    table = open_table(pa.table({"q": ["a", "b"] * 5, "w": range(10)}))
    recoding = recoding_of(table, ["q"], (0,), suppress=[("b",)])
    calls = []
    table.publish_table(
        recoding,
        ["q", "w"],
        suppression="remove",
        rng=rng(),
        progress=lambda *call: calls.append(call),
    )
    assert calls == [(5, 10), (10, 10), (10, 10)]


@given(data=st.data(), columns=st.integers(0, 12), size=st.sampled_from([2, 2**6, 2**16, 2**31]))
def test_tuples_are_found_among_the_known_ones_however_wide(data, columns, size):
    code = st.sampled_from([0, 1, size // 2, size - 1])
    rows = data.draw(st.lists(st.tuples(*[code] * columns), min_size=1, max_size=8))
    known = data.draw(
        st.lists(st.sampled_from(rows) | st.tuples(*[code] * columns), max_size=4, unique=True)
    )
    tuples = Tuples(
        np.array(known, dtype=np.int64).reshape(len(known), columns).T,
        [size] * columns,
        len(known),
    )
    assert len(tuples) == len(known)
    codes = np.array(rows, dtype=np.int32).reshape(len(rows), columns).T
    numbers = {row: number for number, row in enumerate(known)}
    assert tuples.find(list(codes), len(rows)).tolist() == [numbers.get(row, -1) for row in rows]


def test_lists_structs_and_maps_travel_unchanged(tmp_path):
    source = pa.table(
        {
            "q": pa.array([b"0" * 16, None, b"1" * 16], pa.uuid()),
            "list": pa.array([["a"], None, []], pa.large_list(pa.string_view())),
            "view": pa.array([[1], None, []], pa.list_view(pa.int8())),
            "pair": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int8(), 2)),
            "struct": pa.array(
                [{"x": "a"}, None, {"x": None}], pa.struct([("x", pa.string_view())])
            ),
            "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
            "kind": pa.array([1, None, 2]).dictionary_encode(),
            "id": [0, 1, 2],
        }
    )
    table = open_table(source)
    recoding = recoding_of(table, ["q"], (0,))
    out = tmp_path / "out.parquet"
    table.publish(
        recoding, source.column_names, out, format="parquet", suppression="star", rng=rng()
    )
    result = pq.read_table(out).sort_by("id")
    for name in source.column_names[1:]:
        assert result[name].to_pylist() == source[name].to_pylist()
    assert result["q"].to_pylist() == [b"0" * 16, None, b"1" * 16]
