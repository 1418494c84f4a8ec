"""Opening: what is recognised, and what is refused in words that help."""

import csv
import gzip
import os
import subprocess
import sys
from types import ModuleType

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import InputError
from sfumato.tables import ENGINES, ArrowEngine, open_table
from sfumato.tables.arrow import delimited as csv_file
from sfumato.verifier.counting import open_source
from tests.tables.tables import KINDS, as_source, write_csv
from tests.unprivileged import unprivileged


def given(tmp_path, content: bytes, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def values(path, column):
    return open_table(path).count([column]).columns[0].values


@pytest.mark.parametrize("kind", KINDS)
def test_the_content_says_what_a_file_is_and_the_object_what_a_table_is(kind, tmp_path):
    expected = {"stream": "feather", "reader": "arrow", "lazy": "polars"}.get(kind, kind)
    assert open_table(as_source(pa.table({"a": [1]}), kind, tmp_path)).kind == expected


def test_a_path_may_be_text_and_a_parquet_file_may_have_any_name(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "people.data")
    assert open_table(str(tmp_path / "people.data")).kind == "parquet"


def test_a_record_batch_and_a_foreign_stream_are_tables():
    class Foreign:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table({"a": [1, 2]}).__arrow_c_stream__(requested_schema)

    assert open_table(Foreign()).count(["a"]).total == 2
    assert open_table(pa.record_batch({"a": [1, 2]})).count(["a"]).total == 2


@pytest.mark.parametrize("source", [42, None, {"a": [1]}, [[1, 2]], b"people.csv"])
def test_what_is_no_table_is_answered_with_what_is(source):
    with pytest.raises(InputError, match=r"cannot read a table from builtins\..*Give the path of"):
        open_table(source)


def test_a_single_column_of_a_library_is_no_table():
    for source in (pd.Series([1], name="a"), pl.Series("a", [1]), pa.chunked_array([[1]])):
        with pytest.raises(InputError, match=r"the table cannot be read: "):
            open_table(source)


def test_the_engine_is_in_the_registry():
    assert ENGINES["arrow"] is ArrowEngine


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter, tmp_path):
    rows = [["x,5", "a;b|c"], ["y,5", "d\te"]]
    path = write_csv(
        tmp_path / "t.txt", ["x y", "z"], rows, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL
    )
    assert open_table(path).columns == ("x y", "z")
    assert values(path, "x y") == ("x,5", "y,5")


def test_one_column_needs_no_delimiter(tmp_path):
    path = given(tmp_path, b"note\nhello, world\nbye\n")
    assert values(path, "note") == ("bye", "hello, world")


def test_a_byte_order_mark_windows_and_old_mac_line_ends_are_fine(tmp_path):
    assert open_table(given(tmp_path, b"\xef\xbb\xbfa,b\r\n1,2\r\n")).columns == ("a", "b")
    assert values(given(tmp_path, b"a,b\r1,2\r3,4\r"), "a") == ("1", "3")
    assert values(given(tmp_path, b"a,b\n1,2"), "b") == ("2",)


def test_leading_zeros_quotes_newlines_and_words_like_na_stay_what_they_are(tmp_path):
    path = given(tmp_path, b'zip,x\n00123,"two\nlines"\n"0,1","say ""hi"""\nNA, null \n,""\n')
    assert values(path, "zip") == ("00123", "0,1", "NA", None)
    assert values(path, "x") == (" null ", 'say "hi"', "two\nlines", None)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv"])
def test_a_gzipped_file_is_unpacked_whatever_its_name(name, tmp_path):
    assert values(given(tmp_path, gzip.compress(b"a,b\n1,2\n"), name), "b") == ("2",)


def test_a_broken_gzip_file_is_refused(tmp_path):
    content = gzip.compress(os.urandom(3000).hex().encode())[:-900]
    path = given(tmp_path, content, "t.csv.gz")
    with pytest.raises(InputError, match=r"t.csv.gz cannot be read as CSV: "):
        open_table(path)


def test_empty_cells_are_missing(tmp_path):
    assert values(given(tmp_path, b'a,b\n1,\n2,""\n3,x\n'), "b") == ("x", None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"t\.csv is empty\. A table needs a header and at least one row"),
        (b"\n\n\n", r"t\.csv is empty"),
        (b"\xef\xbb\xbf", r"t\.csv is empty"),
        (b"a,b\n", r"t\.csv has a header and no rows"),
        (b"a,b", r"t\.csv has a header and no rows"),
        (b"a,b\n\n\n", r"t\.csv has a header and no rows"),
        (b"a,b,a\n1,2,3\n", r"t\.csv: 'a' is the name of more than one column"),
        (b",b\n1,2\n", r"t\.csv: column 1 of 2 has no name\..*to_csv\(index=False\)"),
        (b"a,b,\n1,2,3\n", r"t\.csv: column 3 of 3 has no name"),
        (b"a,b\n1,\xe9\n", r"t\.csv is not in UTF-8: line 2 holds the byte 0xE9\. Its encod"),
        (b"a,b\n1,2\n\0\0", r"t\.csv is not a text file: it holds zero bytes"),
        (b'"a,b\n' + b"1,2\n" * 300_000, r"t\.csv, line 1: .* A quote in it is not closed"),
        (b'"a,b\n1,2\n', r"t\.csv, line 1: .* A quote in it is not closed"),
        (b"a" * (2 << 20) + b",b\n1,2\n", r"t\.csv has a header that is too long"),
        (b"a" * (1 << 18) + b",b\n1,2\n", r"t\.csv has a header that is too long"),
        (
            b"age\nAnn,30,flu\nBob,31,gout\n",
            r"t\.csv: the header has 1 cell, and every row has 3 \(",
        ),
        (b"# by x\nage;ill\n30;flu\n", r"t\.csv: the header has 1 cell, and every row has 2 \("),
        (b"PK\x03\x04....", r"t\.csv is a zip archive or a spreadsheet"),
        (b"FEA1....", r"t\.csv is a Feather file of the old version 1"),
        (b"PAR1....", r"t\.csv cannot be read as Parquet: "),
        (b"ARROW1\0\0....", r"t\.csv cannot be read as Feather: "),
        (b"\xff\xff\xff\xff....", r"t\.csv cannot be read as Feather: "),
    ],
)
def test_what_cannot_be_a_table_is_refused_when_opened(content, message, tmp_path):
    with pytest.raises(InputError, match=message):
        open_table(given(tmp_path, content))


def test_a_name_that_is_too_long_is_so_whatever_limit_others_set(tmp_path):
    before = csv.field_size_limit(2**31 - 1)
    try:
        with pytest.raises(InputError, match="a header that is too long"):
            open_table(given(tmp_path, b"a" * (1 << 18) + b",b\n1,2\n"))
    finally:
        csv.field_size_limit(before)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n3\n", r"t\.csv, line 3: the row has 1 cells, the header has 2 \(separated by"),
        (b"a;b\n1;2\n1;2;3\n", r"line 3: the row has 3 cells, the header has 2 \(separated by ';'"),
        (b'a,b\n"x\ny",2\n\n3,4,5\n6,7\n', r"line 5: the row has 3 cells"),
        (b"a,b\r\n1,2\r\n3,4,5\r\n", r"line 3: the row has 3 cells"),
        (b"a,b\r1,2\r3,4,5\r", r"line 3: the row has 3 cells"),
        (b'a,b\n1,2\n"x,3\n4,5\n', r"line 3: .* A quote in it is not closed"),
        (b"a,b\n" + b"1,2\n" * 400_000 + b"3\n", r"line 400002: the row has 1 cells"),
        (b"a,b\n" + b"1,2\n" * 400_000 + b"\xff,2\n", r"line 400002 holds the byte 0xFF"),
        (b"a,b\n1,2\n" + b"x" * (13 << 20) + b",2\n", r"t\.csv has a row longer than 4 MB"),
    ],
)
def test_what_is_wrong_further_down_is_refused_with_its_line(content, message, tmp_path):
    table = open_table(given(tmp_path, content))
    with pytest.raises(InputError, match=message):
        table.count(table.columns)


def test_a_wrong_row_is_found_beyond_the_first_block(tmp_path, monkeypatch):
    content = b"a,b\n" + b'"1\n1",2\n' * 5000 + b"7,8,9\n" + b"1,2\n" * 50
    table = open_table(given(tmp_path, content))
    monkeypatch.setattr(csv_file, "_BLOCK", 1000)
    with pytest.raises(InputError, match=r"line 10002: the row has 3 cells"):
        table.count(["a"])


def test_a_character_cut_in_two_by_a_block_is_no_error(tmp_path, monkeypatch):
    content = b"a,b\n" + "è,è\n".encode() * 400 + b"\xe8,1\n"
    path = given(tmp_path, content)
    monkeypatch.setattr(csv_file, "_SAMPLE", 101)
    table = open_table(path)
    monkeypatch.setattr(csv_file, "_BLOCK", 101)
    with pytest.raises(InputError, match=r"line 402 holds the byte 0xE8"):
        table.count(["a"])


def test_a_first_row_longer_than_the_sample_is_no_problem(tmp_path):
    path = given(tmp_path, b"a,b\n" + b"x" * (2 << 20) + b",2\n")
    assert [len(value) for value in values(path, "a")] == [2 << 20]


def test_a_file_that_is_not_there_is_answered_with_one_that_is(tmp_path):
    given(tmp_path, b"a\n1\n", "patients.csv")
    with pytest.raises(InputError, match=r"there is no file .*pateints.csv\. Did you mean .*patie"):
        open_table(tmp_path / "pateints.csv")
    with pytest.raises(InputError, match=r"There is no folder .*nowhere either"):
        open_table(tmp_path / "nowhere" / "x.csv")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InputError, match=r"is a folder\. Give a file: CSV, Parquet or Feather"):
        open_table(tmp_path)


def test_a_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    path = given(tmp_path, b"a\n1\n")
    assert open_table(path).columns == ("a",)
    path.chmod(0)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    refused = pytest.raises(InputError, match=r"cannot read .*t.csv: Permission denied")
    with unprivileged(), refused:
        open_table(path.name)


def test_a_path_the_system_does_not_allow_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*"):
        open_table("x" * 5000)
    with pytest.raises(InputError, match=r"cannot read .*null"):
        open_table("a\0b")


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrow"])
def test_a_name_that_promises_what_the_content_is_not_is_refused(name, tmp_path):
    with pytest.raises(InputError, match=rf"{name} is not a .* file, whatever its name says"):
        open_table(given(tmp_path, b"a,b\n1,2\n", name))


def test_a_truncated_parquet_or_feather_file_is_refused(tmp_path):
    for kind in ("parquet", "feather"):
        path = as_source(pa.table({"a": list(range(1000))}), kind, tmp_path)
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(InputError, match=r"cannot be read as "):
            open_table(path)


def no_text():
    """Return a column whose second cell is no UTF-8, as damaged files have it."""
    _, offsets, _ = pa.array(["ab", "cd", "ef"]).buffers()
    return pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"ab\xd4def"))


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrow"])
@pytest.mark.parametrize("encoded", [False, True], ids=["plain", "encoded"])
def test_text_that_is_no_text_is_refused(kind, encoded, tmp_path):
    column = no_text()
    if encoded:
        column = pa.DictionaryArray.from_arrays([0, 1, 2], column)
    source = as_source(pa.table({"a": column}), kind, tmp_path)
    with pytest.raises(InputError, match=r"cannot be read.*UTF8"):
        open_table(source).count(["a"])
    with pytest.raises(InputError, match=r"cannot be read.*(UTF8|utf-8)"):
        list(open_source(source).batches(["a"]))


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_a_name_that_is_no_text_is_refused(kind, tmp_path):
    path = as_source(pa.table({"WRGKWJJ": [1, 2]}), kind, tmp_path)
    path.write_bytes(path.read_bytes().replace(b"WRGKWJJ", b"WR\xffKWJJ"))
    with pytest.raises(InputError, match=r"cannot be read as "):
        open_table(path)
    with pytest.raises(InputError, match=r"cannot be read"):
        open_source(path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_without_rows_is_refused(kind, tmp_path):
    table = pa.table({"a": pa.array([], pa.string())})
    with pytest.raises(InputError, match=r"has no rows"):
        open_table(as_source(table, kind, tmp_path)).count(["a"])


@pytest.mark.parametrize("kind", ["parquet", "arrow", "pandas"])
def test_repeated_and_empty_names_are_refused_everywhere(kind, tmp_path):
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    if kind == "pandas":
        source = pd.DataFrame([[1, 2]], columns=["a", "a"])
    else:
        source = as_source(twice, kind, tmp_path)
    with pytest.raises(InputError, match=r": 'a' is the name of more than one column"):
        open_table(source)
    with pytest.raises(InputError, match=r": column 2 of 2 has no name"):
        open_table(as_source(pa.table({"a": [1], "": [2]}), kind, tmp_path))


def test_a_table_without_columns_is_refused():
    with pytest.raises(InputError, match=r"has no"):
        open_table(pd.DataFrame(index=[1, 2]))


def test_a_lazy_frame_that_fails_says_so(tmp_path):
    lazy = pl.LazyFrame({"a": ["x"]}).select(pl.col("a").cast(pl.Int64))
    with pytest.raises(InputError, match=r"the LazyFrame cannot be evaluated: "):
        open_table(lazy).count(["a"])
    with pytest.raises(InputError, match=r"the LazyFrame cannot be evaluated: "):
        open_table(pl.scan_parquet(tmp_path / "nowhere.parquet"))


@pytest.mark.usefixtures("patience")
def test_counting_and_publishing_files_imports_neither_pandas_nor_polars(tmp_path):
    write_csv(tmp_path / "t.csv", ["q", "s"], [["a", "x"], ["b", None], ["a", ""]])
    pq.write_table(pa.table({"q": ["a", "b"], "s": [1.5, None]}), tmp_path / "t.parquet")
    script = """
import sys, pathlib, numpy as np
from sfumato.tables import open_table
assert "pyarrow" not in sys.modules
from sfumato.hierarchy import Hierarchy
from sfumato.recoding import FullDomainRecoding
folder = pathlib.Path(sys.argv[1])
for name in ("t.csv", "t.parquet"):
    table = open_table(folder / name)
    counts = table.count(["q", "s"])
    ladder = Hierarchy.from_paths(["a", "b"], [["*"], ["*"]]).bind("q", ["a", "b"])
    recoding = FullDomainRecoding.at([ladder], (0,), np.array([[0]]))
    for form in ("csv", "parquet", "feather"):
        table.publish(recoding, ["q", "s"], folder / (name + form), format=form,
                      suppression="star", rng=np.random.default_rng())
assert not {"pandas", "polars"} & set(sys.modules), "imported"
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_damage_inside_a_file_is_found_when_it_is_read(kind, tmp_path):
    path = as_source(pa.table({"a": [f"{i * 7919 % 9973}" for i in range(9000)]}), kind, tmp_path)
    content = bytearray(path.read_bytes())
    content[200:4000] = b"\xff" * 3800
    path.write_bytes(content)
    table = open_table(path)
    with pytest.raises(InputError, match=rf"cannot be read as {kind.capitalize()}"):
        table.count(["a"])


def test_another_engine_may_open_what_ours_does_not(monkeypatch):
    class Answer(ArrowEngine):
        name = "answer"

        def owns(self, source):
            return source == 42

        def open(self, source):
            return "the answer"

    assert len(ENGINES)  # Plug-ins are there first: what they find would keep this one.
    monkeypatch.setitem(ENGINES._members, "answer", Answer)
    assert open_table(42) == "the answer"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_another_thread_imports_has_made_no_table_yet(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, ModuleType(library))
    assert open_table(pa.table({"a": [1, 2]})).kind == "arrow"
