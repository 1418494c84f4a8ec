"""Columns of any type, from any place and to any format, are drawn with their types."""

from datetime import date, datetime

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf

DOMAINS = {
    "truth": ["true", "false"],
    "code": [1, 2, 3, 4],
    "pay": {"from": 0, "to": 2, "decimals": 2},
    "born": {"from": "2019-01-01", "to": "2022-01-01", "width": "100d"},
    "seen": {"from": "2020-01-01", "to": "2022-01-01"},
    "kind": {"values": ["x", "y", "z"], "missing": False},
    "name": ["Ä", 'ß, "q"', "=1+1"],
}
POLICY = {
    "columns": {
        name: {"role": "quasi-identifier" if name == "code" else "sensitive", "domain": domain}
        for name, domain in DOMAINS.items()
    },
    "models": [{"model": "k-anonymity", "k": 2}],
}


def table():
    return pa.table(
        {
            "truth": pa.array([True, False, None] * 20),
            "code": pa.array([1, 2, 3] * 20),
            "pay": pa.array([0.5, 1.25, None] * 20),
            "born": pa.array([date(2020, 1, 1), date(2021, 5, 6), None] * 20),
            "seen": pa.array([datetime(2020, 1, 1, 5), datetime(2021, 5, 6), None] * 20),
            "kind": pa.array(["x", "y", "x"] * 20).dictionary_encode(),
            "name": pa.array(["Ä", 'ß, "q"', "=1+1"] * 20),
        }
    )


def test_drawn_columns_have_the_types_of_the_table(without_noise):
    made = sf.synthesize(table(), POLICY, epsilon=0.2)
    types = {field.name: str(field.type) for field in made.table.schema}
    assert types == {
        "truth": "bool",
        "code": "int64",
        "pay": "double",
        "born": "date32[day]",
        "seen": "date32[day]",
        "kind": "string",
        "name": "string",
    }
    assert sf.verify(made).answer == "yes"


def test_what_is_given_as_a_frame_is_given_back_as_one(without_noise):
    made = sf.synthesize(pl.from_arrow(table()), POLICY, epsilon=0.2)
    assert isinstance(made.table, pl.DataFrame)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", ["csv", "parquet", "feather", "xlsx", "sav", "dta"])
def test_every_format_holds_what_was_drawn(without_noise, tmp_path, form):
    pq.write_table(table(), tmp_path / "people.parquet")
    made = sf.synthesize(
        tmp_path / "people.parquet", POLICY, epsilon=0.2, output=tmp_path / "made", format=form
    )
    assert made.verdict.holds
    assert sf.verify(tmp_path / "made").answer == "with care"
    assert len(sf.read_release(tmp_path / "made")) == made.manifest.rows.published
