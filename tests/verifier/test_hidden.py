"""What files hold besides their rows, and rows that only bytes tell apart."""

import math
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import sfumato as sf
from sfumato.verifier import counting
from sfumato.verifier.hidden import find_hidden

ROLES = {"quasi_identifiers": ["age"], "sensitive": ["diag"]}
POLICY = sf.Policy(
    columns={"age": "quasi-identifier", "diag": "sensitive"}, models=[sf.models.KAnonymity(2)]
)


def frame():
    """Forty people, and an outlier whose row was taken out again."""
    diag = pd.Categorical(["flu", "gout", "ulcer", "ache"] * 10 + ["HIV (Ada)"])
    full = pd.DataFrame({"age": [30] * 20 + [40] * 20 + [99], "diag": diag})
    return full[full.diag != "HIV (Ada)"].reset_index(drop=True)


def write(form, data, path):
    if form == "feather":
        data.to_feather(path)
    else:
        data.to_parquet(path)
    return path


@pytest.mark.parametrize("form", ["feather", "parquet"])
def test_a_value_that_only_a_dictionary_has_is_found(form, tmp_path):
    path = write(form, frame(), tmp_path / f"theirs.{form}")
    assert b"HIV (Ada)" in path.read_bytes()
    for found in (sf.verify(path, **ROLES, attacks=False), sf.verify(path, POLICY, attacks=False)):
        assert found.answer == "no"
        detail = found.verdict["metadata"].detail
        assert "column 'diag': its dictionary has 1 value that no row has" in detail
        assert "Ada" not in str(found)
    clean = frame()
    clean["diag"] = clean["diag"].cat.remove_unused_categories()
    path = write(form, clean, tmp_path / f"clean.{form}")
    assert sf.verify(path, POLICY, attacks=False).holds


@pytest.mark.parametrize("form", ["feather", "parquet"])
def test_a_release_folder_with_such_a_file_does_not_hold(form, tmp_path):
    release = sf.anonymize(frame(), POLICY, output=tmp_path / "r", format=form)
    data = release.folder / f"data.{form}"
    assert sf.verify(release.folder, attacks=False).holds
    assert b"Ada" not in data.read_bytes()
    published = pd.read_parquet(data) if form == "parquet" else pd.read_feather(data)
    published["diag"] = pd.Categorical(
        published["diag"], [*published["diag"].unique(), "HIV (Ada)"]
    )
    table = pa.Table.from_pandas(published, preserve_index=False).replace_schema_metadata(None)
    if form == "parquet":
        pq.write_table(table, data, store_schema=False)
    else:
        pyarrow.feather.write_feather(table, data)
    found = sf.verify(release.folder, attacks=False).verdict["metadata"]
    assert found.status == "broken"
    assert "1 value that no row has" in found.detail


def in_groups(path, groups):
    """Write a column of text in row groups, each with the dictionary that is given for it."""
    kind = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([("age", kind), ("diag", kind)])
    with pq.ParquetWriter(path, schema, store_schema=False, write_statistics=False) as file:
        for entries, rows in groups:
            diag = pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), entries)
            age = pa.array(["30"] * len(rows)).dictionary_encode()
            file.write_table(pa.table([age, diag], schema), row_group_size=len(rows))
    return path


@pytest.mark.parametrize("batch", [2, 3, 100])
def test_a_value_counts_only_in_its_own_row_group(batch, tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "_BATCH_ROWS", batch)
    many = [f"d{i}" for i in range(40)]
    clean = [
        (["flu", "gout"], [0, 0, 0, 0, 1]),
        (["ulcer"], [0, None, 0]),
        (many, [*range(40)] * 2),
    ]
    path = in_groups(tmp_path / "clean.parquet", clean)
    assert pq.ParquetFile(path).metadata.num_row_groups == 3
    # Where rows are counted, what is seen on the way is what a look at the file alone finds.
    assert find_hidden(path) == []
    assert sf.verify(path, POLICY, attacks=False).holds
    for strange in (
        [*clean, (["flu", "gout"], [1, 1, 1])],
        [(["flu", "gout", "rare"], [0, 0, 0, 0, 1]), *clean],
        [(many, [*range(39)] * 2), *clean],
        [(many, [7, 7]), *clean],
    ):
        path = in_groups(tmp_path / "strange.parquet", strange)
        [text] = find_hidden(path)
        assert "its dictionary has" in text
        found = sf.verify(path, POLICY, attacks=False)
        assert found.answer == "no"
        assert text in found.verdict["metadata"].detail


def test_numbers_under_missing_cells_are_found(tmp_path):
    data = pd.DataFrame({"age": [30] * 4, "pay": pd.array([34, 55, 77, 90], "Int64")})
    data.loc[1, "pay"] = pd.NA
    data.to_feather(tmp_path / "t.feather")
    with pa.OSFile(str(tmp_path / "t.feather")) as file:
        pay = ipc.open_file(file).get_batch(0).column("pay")
        under = pa.Array.from_buffers(pay.type, 4, [None, pay.buffers()[1]]).to_pylist()
    assert pay.to_pylist()[1] is None
    assert under[1] == 55
    assert find_hidden(tmp_path / "t.feather") == [
        "under missing cells of 'pay' there are values that are not shown"
    ]


def test_texts_under_missing_cells_are_found(tmp_path):
    offsets, data = pa.py_buffer(np.array([0, 3, 6], "int32")), pa.py_buffer(b"fluHIV")
    hidden = pa.Array.from_buffers(pa.string(), 2, [pa.py_buffer(b"\x01"), offsets, data])
    assert hidden.to_pylist() == ["flu", None]
    path = tmp_path / "t.feather"
    pyarrow.feather.write_feather(pa.table({"diag": hidden}), path, compression="uncompressed")
    assert b"HIV" in path.read_bytes()
    assert "missing cells of 'diag'" in find_hidden(path)[0]


def test_batches_that_the_footer_does_not_name_are_found(tmp_path):
    path = tmp_path / "t.feather"
    table = pa.table({"diag": ["flu", "gout"]})
    with ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    assert find_hidden(path) == []
    content = path.read_bytes()
    [size] = struct.unpack("<i", content[-10:-6])
    footer = content[-10 - size :]
    path.write_bytes(content[: -10 - size] + b"HIV (Ada)".ljust(16, b"\0") + footer)
    assert pyarrow.feather.read_table(path) == table
    assert find_hidden(path) == ["there are batches or bytes that belong to no row"]


def test_bytes_between_the_columns_of_a_parquet_file_are_found(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": ["x", "y"], "b": [1, 2]}), path)
    assert find_hidden(path) == []
    content = path.read_bytes()
    [size] = struct.unpack("<i", content[-8:-4])
    at = len(content) - 8 - size
    path.write_bytes(content[:at] + b"HIV (Ada)" + content[at:])
    assert pq.read_table(path).num_rows == 2
    assert find_hidden(path) == ["there are bytes between its columns that belong to no row"]


def test_limits_that_no_row_has_are_found(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"pay": [1000, 2000]}), path, use_dictionary=False, compression="none")
    content = path.read_bytes()
    value = (2000).to_bytes(8, "little")
    # The last time it stands there is the column's limit, in the footer.
    at = content.rindex(value)
    path.write_bytes(content[:at] + (9876).to_bytes(8, "little") + content[at + 8 :])
    assert pq.read_metadata(path).row_group(0).column(0).statistics.max == 9876
    assert pq.read_table(path)["pay"].to_pylist() == [1000, 2000]
    assert find_hidden(path) == ["the file's statistics of 'pay' have limits that no row has"]


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"origin": "ward 3"}, True),
        ({"org.apache.spark.version": "4.0"}, False),
        ({"pandas": '{"index_columns": ["name"]}'}, True),
    ],
)
def test_notes_that_may_tell_something_are_found(metadata, told, tmp_path):
    table = pa.table({"age": [30] * 4, "diag": ["a", "b"] * 2}).replace_schema_metadata(metadata)
    pq.write_table(table, tmp_path / "t.parquet")
    found = sf.verify(tmp_path / "t.parquet", POLICY, attacks=False)
    assert found.holds is not told


def test_what_pandas_keeps_beside_a_table_is_found(tmp_path):
    data = frame().astype({"diag": str})
    data.attrs["source"] = "ward 3"
    data.to_parquet(tmp_path / "attributes.parquet")
    mixed = frame().astype({"diag": str}).sample(frac=1, random_state=1)
    mixed.to_parquet(tmp_path / "labels.parquet")
    for name, text in (("attributes", "notes of another program"), ("labels", "index columns")):
        found = sf.verify(tmp_path / f"{name}.parquet", POLICY, attacks=False)
        assert text in found.verdict["metadata"].detail


WRITERS = {
    "pandas.parquet": lambda t, path: t.to_pandas().to_parquet(path),
    "pandas.feather": lambda t, path: t.to_pandas().to_feather(path),
    "nullable.feather": lambda t, path: t.to_pandas().convert_dtypes().to_feather(path),
    "polars.parquet": lambda t, path: pl.from_arrow(t).write_parquet(path),
    "polars.feather": lambda t, path: pl.from_arrow(t).write_ipc(path),
    "arrow.parquet": lambda t, path: pq.write_table(t, path, row_group_size=30),
    "indexed.parquet": lambda t, path: pq.write_table(t, path, write_page_index=True),
    "arrow.feather": lambda t, path: pyarrow.feather.write_feather(t.slice(7, 60), path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_ordinary_files_of_other_tools_hide_nothing(name, tmp_path):
    n = 100
    table = pa.table(
        {
            "i": [None if k % 9 == 0 else k for k in range(n)],
            "f": [float("nan") if k % 8 == 0 else k / 3 for k in range(n)],
            "s": [None if k % 7 == 0 else f"text {k % 5}" * (k % 3) for k in range(n)],
            "long": ["z" * 200 + str(k) for k in range(n)],
            "d": pa.array([k % 400 for k in range(n)], pa.date32()),
            "t": pa.array([None if k % 3 else k * 10**9 for k in range(n)], pa.timestamp("us")),
            "b": [None if k % 5 == 0 else k % 2 == 0 for k in range(n)],
            "c": pa.array([f"c{k % 4}" for k in range(n)]).dictionary_encode(),
        }
    )
    WRITERS[name](table, tmp_path / name)
    assert find_hidden(tmp_path / name) == []


def test_duckdb_files_hide_nothing(tmp_path, duck):
    rows = pa.table({"s": ["a", "b", None] * 50, "n": [1.5, 2.5, None] * 50})
    duck.load(rows).write_parquet(str(tmp_path / "t.parquet"))
    assert find_hidden(tmp_path / "t.parquet") == []


# Rows that only bytes tell apart.

NAN = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0]
ODD = {
    "zero": ([0.0] * 9, -0.0),
    "missing": ([None] * 9, math.nan),
    "NaN": ([math.nan] * 9, NAN),
    "text": ([None] * 9, ""),
}


@pytest.mark.parametrize("form", ["parquet", "feather"])
@pytest.mark.parametrize("name", ODD)
def test_a_row_that_its_bytes_single_out_is_found(name, form, tmp_path):
    many, one = ODD[name]
    cells = pa.array(
        [*many, one], pa.string() if name == "text" else pa.float64(), from_pandas=False
    )
    if name == "NaN":
        cells = pa.Array.from_buffers(
            pa.float64(), 10, [None, pa.py_buffer(np.array([*many, one]).tobytes())]
        )
    table = pa.table({"age": cells, "diag": ["a", "b"] * 5})
    path = tmp_path / f"t.{form}"
    if form == "parquet":
        pq.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path)
    for found in (sf.verify(path, POLICY, attacks=False), sf.verify(path, **ROLES, attacks=False)):
        assert found.answer == "no"
        assert found.verdict["one form"].found == 1


def test_quotes_around_nothing_single_a_row_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,diag\n" + ",a\n,b\n" * 4 + '"",c\n')
    assert sf.verify(path, POLICY, attacks=False).verdict["one form"].found == 1
    path.write_text("age,diag\n" + '"",a\n"",b\n' * 4)
    assert sf.verify(path, POLICY, attacks=False).holds


def test_as_many_as_promised_may_be_written_alike(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,diag\n" + ",a\n" * 5 + '"",b\n' * 2)
    assert sf.verify(path, POLICY, attacks=False).holds
    different = "age,diag\n" + "30,a\n" * 5 + ",b\n" * 2 + '40,""\n40,\n'
    path.write_text(different)
    assert sf.verify(Path(path), POLICY, attacks=False).holds


def test_releases_are_written_in_one_form(tmp_path):
    table = pa.table({"age": [0.0, -0.0, math.nan, None] * 3, "diag": ["a", "", None, "b"] * 3})
    for form in ("csv", "parquet", "feather"):
        sf.anonymize(table, POLICY, output=tmp_path / form, format=form)
        found = sf.verify(tmp_path / form, attacks=False)
        assert found.holds
        assert "one form" not in [check.name for check in found.verdict.checks]
