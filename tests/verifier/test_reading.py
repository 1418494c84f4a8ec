"""The same rows in any format give the same figures, and a broken file gives a clear error."""

import csv
import datetime as dt
import decimal
import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError, ParameterError, SfumatoError, UnknownNameError
from sfumato.tables import open_table
from sfumato.tables.arrow.delimited import _most_regular, _parse
from sfumato.verifier import Promises, verify_file
from sfumato.verifier.counting import count, find_delimiter, open_source
from tests.verifier.releases import write_data

TABLE = pa.table(
    {
        "zip": ["1;2", "1;2", None, None, "a,b"],
        "age": ["30", "30", "x\ny", "x\ny", 'say "hi"'],
        "ill": ["flu", None, "hiv", "hiv", "flu"],
    }
)
PROMISES = Promises(
    ["zip", "age"],
    ["ill"],
    [
        {"model": "k-anonymity", "k": 2},
        {"model": "distinct-l-diversity", "column": "ill", "l": 2},
    ],
    published=5,
)
FOUND = [5, {"k": 1}, {"l": 1}]


def figures(data, promises=PROMISES):
    return [check.found for check in verify_file(data, promises).checks]


def sizes_of(data, columns):
    return dict(count(open_source(data), columns).combinations)


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_every_format_gives_the_same_figures(tmp_path, form):
    path = tmp_path / f"data.{form}"
    write_data(TABLE, path, form)
    assert figures(path) == FOUND
    assert figures(str(path)) == FOUND
    expected = sizes_of(TABLE, TABLE.column_names)
    assert sizes_of(path, TABLE.column_names) == expected


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_of_a_csv_file_is_found_out(tmp_path, delimiter):
    path = tmp_path / "data.csv"
    write_data(TABLE, path, "csv", delimiter)
    assert figures(path) == FOUND


def test_a_csv_file_of_the_standard_library_with_byte_order_mark_is_read(tmp_path):
    path = tmp_path / "data.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as handle:
        writer = csv.writer(handle)
        writer.writerow(TABLE.column_names)
        writer.writerows([row.values() for row in TABLE.to_pylist()])
    assert figures(path) == FOUND


@pytest.mark.parametrize(
    ("text", "missing"),
    [("age\n30\n\n30\n", 0), ('age\n30\n""\n30\n', 1), ("age\r\n30\r\n\r\n30\r\n\r\n", 0)],
)
def test_an_empty_line_is_no_row_and_quotes_around_nothing_are_a_missing_one(
    tmp_path, text, missing
):
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode())
    sizes = {("30",): 2} | ({(None,): 1} if missing else {})
    assert sizes_of(path, ["age"]) == sizes
    assert open_table(path).count(["age"]).total == 2 + missing


def test_a_single_column_is_not_cut_by_what_its_values_hold():
    assert find_delimiter("age\n1;2\n3;4\n") == ","


@given(st.text(st.sampled_from('a1"\n\r,;\t|'), min_size=1, max_size=30), st.booleans())
def test_engine_and_verifier_choose_the_same_separator(text, whole):
    assert find_delimiter(text, whole=whole) == _most_regular(_parse(text, whole=whole))


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        TABLE.to_batches()[0],
        pa.table({name: TABLE[name].dictionary_encode() for name in TABLE.column_names}),
        TABLE.cast(pa.schema([(name, pa.large_string()) for name in TABLE.column_names])),
        pl.from_arrow(TABLE),
        pd.DataFrame(TABLE.to_pydict()),
        pd.DataFrame(TABLE.to_pydict(), index=[9, 9, 3, 3, 1]),
        pd.DataFrame(TABLE.to_pydict()).astype("category"),
    ],
    ids=["table", "batch", "dictionary", "large", "polars", "pandas", "labelled", "categorical"],
)
def test_tables_in_memory_give_the_same_figures_whatever_their_index(table):
    assert figures(table) == FOUND


@pytest.mark.parametrize(
    "values",
    [
        [1, 1, None],
        [1.5, 1.5, float("nan")],
        [True, True, None],
        [dt.date(2020, 1, 1)] * 2 + [None],
        [dt.datetime(2020, 1, 1, 12)] * 2 + [None],
        [decimal.Decimal("1.50")] * 2 + [None],
        [b"x", b"x", None],
        [dt.timedelta(1)] * 2 + [None],
        [dt.time(1)] * 2 + [None],
    ],
    ids=lambda values: type(values[0]).__name__,
)
@pytest.mark.parametrize("form", ["table", "parquet", "feather"])
def test_values_of_every_type_are_counted(tmp_path, values, form):
    data = pa.table({"q": pa.array(values, from_pandas=False)})
    if form != "table":
        write_data(data, tmp_path / f"data.{form}", form)
        data = tmp_path / f"data.{form}"
    counts = sizes_of(data, ["q"])
    assert counts.pop((None,)) == 1
    assert list(counts.values()) == [2]


@pytest.mark.parametrize(
    "kind", [pa.timestamp("ns"), pa.timestamp("ns", "UTC"), pa.time64("ns"), pa.duration("ns")]
)
def test_times_a_nanosecond_apart_stay_apart(kind):
    assert len(sizes_of(pa.table({"q": pa.array([1, 2, 2], kind)}), ["q"])) == 2
    assert len(sizes_of(pa.table({"q": pa.array([1000, 2000], kind)}), ["q"])) == 2


def test_columns_may_have_any_name(tmp_path):
    table = pa.table({"count_all": ["x"], "rows": ["y"], "c0": ["z"], "a.b": ["p"]})
    write_data(table, tmp_path / "data.parquet", "parquet")
    names = ["a.b", "c0", "rows", "count_all"]
    for data in (table, tmp_path / "data.parquet"):
        assert sizes_of(data, names) == {("p", "z", "y", "x"): 1}


def test_counting_in_many_batches_adds_up(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.verifier.counting._BATCH_ROWS", 7)
    table = pa.table({"q": [str(i % 23) for i in range(1000)]})
    write_data(table, tmp_path / "data.parquet", "parquet")
    for data in (table, tmp_path / "data.parquet"):
        counts = sizes_of(data, ["q"])
        assert counts == {(str(i),): 44 if i < 11 else 43 for i in range(23)}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data.csv", b""),
        ("data.csv", b"\n"),
        ("data.csv", b"zip,age,ill\n1,2\n"),
        ("data.csv", b"zip,age,ill\n\xff\xfe,2,3\n"),
        ("data.csv", b"zip,zip,age,ill\n1,2,3,4\n"),
        ("data.parquet", b"PAR1 but not really PAR1"),
        ("data.parquet", b""),
        ("data.feather", b"ARROW1\0\0 nothing more"),
        ("data.docx", b"whatever"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError):
        verify_file(tmp_path / name, PROMISES)


def test_a_file_that_is_not_there_and_a_thing_that_is_no_table_are_input_errors(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        verify_file(tmp_path / "none.csv", PROMISES)
    with pytest.raises(InputError, match="a dict is not a table"):
        verify_file({"zip": []}, PROMISES)


def test_a_column_of_structs_cannot_be_counted_and_says_so():
    table = pa.table({"q": [{"a": 1}, {"a": 2}]})
    with pytest.raises(InputError, match="which has no single value per row"):
        verify_file(table, Promises(["q"], models=[{"model": "k-anonymity"}]))


def test_a_misspelt_quasi_identifier_is_answered_with_the_right_one():
    with pytest.raises(SfumatoError, match=r"no column 'zipp'.*Did you mean 'zip'"):
        verify_file(TABLE, Promises(["zipp"]))


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_a_file_cut_short_anywhere_never_ends_in_a_traceback(tmp_path, form):
    whole = tmp_path / f"whole.{form}"
    write_data(TABLE, whole, form)
    content = whole.read_bytes()
    cut = tmp_path / f"cut.{form}"
    for end in range(0, len(content), max(1, len(content) // 40)):
        cut.write_bytes(content[:end])
        with pytest.raises(SfumatoError):
            verify_file(cut, PROMISES)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_a_file_with_a_changed_byte_is_read_or_refused(tmp_path, form):
    whole = tmp_path / f"whole.{form}"
    write_data(TABLE, whole, form)
    content = bytearray(whole.read_bytes())
    changed = tmp_path / f"changed.{form}"
    for position in range(0, len(content), max(1, len(content) // 150)):
        damaged = content.copy()
        damaged[position] ^= 0x5A
        changed.write_bytes(damaged)
        try:
            verify_file(changed, PROMISES)
        except SfumatoError:
            continue


def test_the_risks_of_the_raw_census_extract_are_those_found_elsewhere(adult):
    path = adult / "adult.csv"
    names = open_source(path).names
    models = [{"model": "average-risk", "risk": 1}, {"model": "sample-uniqueness", "share": 1}]
    rows, risk, share = figures(path, Promises(names, models=models, published=30_162))
    assert rows == 30_162
    assert risk == {"risk": pytest.approx(0.6465751607983555, rel=1e-12)}
    assert share == {"share": pytest.approx(0.5142895033485844, rel=1e-12)}


def test_unusual_arrow_types_are_counted():
    half = pa.array([1.0, 1.0, float("nan")], pa.float16())
    assert sizes_of(pa.table({"q": half}), ["q"]) == {(1.0,): 2, (None,): 1}
    wrapped = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"x" * 16] * 2, pa.binary(16)))
    assert list(sizes_of(pa.table({"q": wrapped}), ["q"]).values()) == [2]


def test_starred_rows_need_a_column_of_text():
    table = pa.table({"age": [1, 2]})
    model = {"model": "k-anonymity", "k": 1}
    promises = Promises(["age"], models=[model], suppression="star", suppressed=1)
    verdict = verify_file(table, promises)
    assert verdict["starred rows"].status == "broken"
    assert verdict["starred rows"].found == 0


def test_a_table_that_promises_nothing_is_not_said_to_hold():
    verdict = verify_file(TABLE, Promises(["zip"]))
    assert not verdict.holds
    assert verdict["models"].detail == "no model is promised"


@pytest.mark.parametrize("wrong", [{"missing": "ignore"}, {"suppression": "hide"}])
def test_an_unknown_rule_is_refused(wrong):
    with pytest.raises(ParameterError, match="must be '"):
        Promises(["zip"], **wrong)


def test_an_unknown_format_is_refused(tmp_path):
    (tmp_path / "data.csv").write_text("a\n")
    with pytest.raises(InputError, match=r"no format 'xml'\. Known: csv, parquet, feather"):
        open_source(tmp_path / "data.csv", form="xml")


def test_a_verdict_can_be_written_as_json_whatever_the_values_are():
    table = pa.table({"day": [dt.date(2020, 1, 31)], "n": [None]})
    model = {"model": "k-anonymity", "k": 2}
    verdict = verify_file(table, Promises(["day", "n"], models=[model]))
    assert json.loads(json.dumps(verdict.to_dict()))["checks"][0]["worst"] == {
        "day": "2020-01-31",
        "n": None,
    }


def test_a_check_that_was_not_made_is_not_found():
    verdict = verify_file(TABLE, PROMISES)
    with pytest.raises(UnknownNameError, match=r"no check 'k-anonimity'.*Did you mean"):
        verdict["k-anonimity"]


def test_a_line_break_within_a_cell_does_not_end_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.verifier.counting._BLOCK_BYTES", 64)
    path = tmp_path / "data.csv"
    write_data(pa.table({"q": ["a\nb\nc", "d"] * 50, "s": ["x"] * 100}), path, "csv")
    assert sizes_of(path, ["q"]) == {("a\nb\nc",): 50, ("d",): 50}
