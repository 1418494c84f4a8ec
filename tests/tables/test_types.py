"""Types of Parquet and Feather files: published as they are, or refused by name."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.tables import open_table

UTC = dt.UTC
READABLE = {
    "dictionary": pa.array(["a", "b"]).dictionary_encode(),
    "dictionary of numbers": pa.array([1, 2]).dictionary_encode(),
    "dictionary of decimals": pa.array([Decimal("1.50"), Decimal(2)], pa.decimal128(9, 2))
    .dictionary_encode(),
    "decimal": pa.array([Decimal("1.50"), Decimal(2)], pa.decimal128(9, 2)),
    "wide decimal": pa.array([Decimal("1" * 45), Decimal(2)], pa.decimal256(60, 0)),
    "zoned": pa.array([dt.datetime(2020, 10, 25, h, 30, tzinfo=UTC) for h in (0, 1)],
                      pa.timestamp("us", "Europe/Rome")),
    "offset": pa.array([dt.datetime(2020, 1, d, tzinfo=UTC) for d in (1, 2)],
                       pa.timestamp("ms", "+02:00")),
    "boolean": pa.array([True, False]),
    "large text": pa.array(["a", "b"], pa.large_string()),
    "text view": pa.array(["a", "b"], pa.string_view()),
    "uint64": pa.array([2**64 - 1, 2**63], pa.uint64()),
    "time": pa.array([dt.time(1), dt.time(2, 0, 0, 5)], pa.time64("us")),
    "duration": pa.array([dt.timedelta(1), dt.timedelta(0, 1)], pa.duration("us")),
    "date": pa.array([dt.date(2020, 1, 1), dt.date(1900, 1, 1)]),
    "bytes": pa.array([b"a", b"\xff"]),
    "half": pa.array(np.array([1.5, 2.5], np.float16)),
    "nothing": pa.nulls(2),
}  # fmt: skip
REFUSED = {
    "struct": pa.array([{"x": 1}, {"x": 2}]),
    "map": pa.array([[("k", 1)], [("k", 2)]], pa.map_(pa.string(), pa.int64())),
}


def repeat(column, times=10):
    if column.type == pa.string_view():
        return pa.array(column.to_pylist() * times, column.type)
    return pc.take(column, pa.array([0, 1] * times))


def save(column, form, path):
    table = pa.table({"v": repeat(column), "q": ["x", "y"] * 10})
    (pq.write_table if form == "parquet" else pf.write_feather)(table, path)
    return table


@pytest.mark.parametrize("form", ["parquet", "feather"])
@pytest.mark.parametrize("name", READABLE)
def test_values_of_a_type_are_published_with_it(name, form, tmp_path):
    column = READABLE[name]
    table = save(column, form, tmp_path / "t")
    policy = {
        "columns": {"v": {"role": "plain", "because": "a test"}, "q": "quasi-identifier"},
        "models": [{"model": "k-anonymity", "k": 2}],
    }
    sf.anonymize(tmp_path / "t", policy, output=tmp_path / "r")
    [file] = (tmp_path / "r").glob(f"data.{form}")
    made = (pq.read_table if form == "parquet" else pf.read_table)(file)
    assert sorted(map(str, made["v"].to_pylist())) == sorted(map(str, table["v"].to_pylist()))
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    # A view is a layout of text, and no type of its own.
    assert made["v"].type in (kind, pa.large_string() if name == "text view" else kind)
    assert open_table(tmp_path / "t").count(["v"]).total == 20


@pytest.mark.parametrize("form", ["parquet", "feather"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_single_value_is_refused_by_name(name, form, tmp_path):
    save(REFUSED[name], form, tmp_path / "t")
    with pytest.raises(SfumatoError, match=f"column 'v' holds {name}<.*no single value per row"):
        sf.anonymize(
            tmp_path / "t",
            {
                "columns": {"v": "plain", "q": "quasi-identifier"},
                "models": [sf.models.KAnonymity(2)],
            },
            output=tmp_path / "r",
        )
    assert not (tmp_path / "r").exists()
