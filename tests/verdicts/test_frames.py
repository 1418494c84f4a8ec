"""The same table gets the same answer in every kind of frame, whatever its columns hold."""

import datetime as dt

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import sfumato as sf
from sfumato.errors import InputError

BASE = {"age": [30, 31] * 10, "ill": list("abcde") * 4}

COLUMNS = {
    "several types": [1, "a", 2.5, None] * 5,
    "days among words": [dt.date(2020, 1, 1), "x", 3, True] * 5,
    "intervals": pd.cut(range(20), 4),
    "intervals among words": [pd.Interval(0, 1), "x"] * 10,
    "an array of intervals": pd.arrays.IntervalArray.from_breaks(range(21)),
    "months": pd.period_range("2020-01", periods=20, freq="M"),
    "lengths of time": pd.to_timedelta(range(20), unit="h"),
    "large numbers": [10**30, 1] * 10,
    "complex numbers": [1 + 2j, 3j] * 10,
    "sparse numbers": pd.arrays.SparseArray([0, 0, 0, 1] * 5),
    "lists": [["a", "b"], ["a"], [], None] * 5,
    "lists among words": [[1], "a", 2, None] * 5,
}


def policy(**columns):
    columns = {"age": "quasi-identifier", "ill": "sensitive", **columns}
    return sf.Policy(columns=columns, models=[{"model": "k-anonymity", "k": 2}])


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("role", ["sensitive", "quasi-identifier", "plain"])
@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_pandas_get_the_answer_of_their_texts(name, role):
    frame = pd.DataFrame(BASE)
    frame["x"] = COLUMNS[name]
    # Row labels are not data.
    frame = frame[::-1]
    texts = [
        None
        if not isinstance(value, list) and pd.isna(value)
        else "; ".join(map(str, value))
        if isinstance(value, list)
        else str(value)
        for value in frame["x"]
    ]
    plain = pa.table({**{n: v[::-1] for n, v in BASE.items()}, "x": pa.array(texts, pa.string())})
    found, expected = (sf.verify(each, policy(x=role)) for each in (frame, plain))
    assert found.holds == expected.holds
    assert [line.people for line in found.adversaries] == [
        line.people for line in expected.adversaries
    ]


def test_what_has_no_text_is_refused_by_name():
    frame = pd.DataFrame({**BASE, "x": [[[1]], "a"] * 10})
    with pytest.raises(InputError, match="column 'x' holds values of several types"):
        sf.verify(frame, policy(x="plain"))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("role", ["sensitive", "quasi-identifier", "plain"])
def test_lists_in_cells_are_read_in_every_kind_of_table(role, tmp_path):
    table = pa.table({**BASE, "x": COLUMNS["lists"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.feather")
    given = [table, tmp_path / "t.parquet", tmp_path / "t.feather", pl.from_arrow(table)]
    found = [sf.verify(each, policy(x=role)) for each in (*given, pl.from_arrow(table).lazy())]
    assert len({(each.answer, each.at_risk, each.holds) for each in found}) == 1
    assert (found[0].answer == "no") is (role == "sensitive")


def test_queries_of_polars_are_verified_with_a_policy():
    frame = pl.DataFrame({**BASE, "n": range(20)})
    query = frame.lazy().filter(pl.col("n") < 10)
    for columns in ({"n": "plain"}, {"n": "dropped"}):
        one, other = (
            sf.verify(each, policy(**columns), population=frame.lazy())
            for each in (query, query.collect())
        )
        assert one.to_dict() == other.to_dict()


def test_a_stream_is_read_once():
    reader = pa.table(BASE).to_reader()
    assert sf.verify(reader, policy()).holds
