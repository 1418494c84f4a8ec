"""Columns that cannot be published: lists and the like, and days that no calendar has."""

from functools import partial

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import InputError, SfumatoError

NESTED = {
    "list": pa.array([[1, 2], [1, 2], None, [3], [3], []]),
    "struct": pa.array([{"a": 1, "b": "x"}] * 6),
    "map": pa.array([[("a", 1)]] * 6, pa.map_(pa.string(), pa.int64())),
    "list of structs": pa.array([[{"a": 1}]] * 6),
}


def policy(role):
    columns = {"odd": role, "age": "quasi-identifier", "ill": "sensitive"}
    return {"columns": columns, "models": [{"model": "k-anonymity", "k": 3}]}


def table(odd):
    return pa.table({"odd": odd, "age": [30] * 6, "ill": ["flu", "gout", "hiv"] * 2})


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "plain"])
def test_a_nested_column_is_refused_at_the_start(kind, role, tmp_path):
    data = table(NESTED[kind])
    pq.write_table(data, tmp_path / "t.parquet")
    for given in (data, tmp_path / "t.parquet"):
        for output in (None, tmp_path / "out"):
            with pytest.raises(InputError, match=r"column 'odd' holds .*role dropped"):
                sf.anonymize(given, policy(role), output=output)
        with pytest.raises(InputError, match=r"column 'odd'|'odd' holds"):
            sf.decouple(given, quasi_identifiers=["age"], sensitive=["odd"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("role", ["identifier", "dropped"])
def test_one_that_is_left_out_may_be_there(role):
    release = sf.anonymize(table(NESTED["list"]), policy(role))
    assert release.table.column_names == ["age", "ill"]


def test_databases_refuse_it_too(tmp_path):
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 30 AS age, 'flu' AS ill, [1] AS odd FROM range(6)")
    for role in ("sensitive", "plain"):
        with pytest.raises(InputError, match=r"column 'odd' holds .*role dropped"):
            sf.anonymize((connection, "t"), policy(role), output=tmp_path / "out")


FAR = {
    "year 11476": (pa.timestamp("us"), 300_000_000_000_000_000),
    "year -1200": (pa.timestamp("s"), -100_000_000_000),
    "year 318857": (pa.timestamp("s"), 9_999_999_999_999),
    "year 0": (pa.date32(), -719_529),
    "year 29349": (pa.date32(), 10_000_000),
    "in a zone": (pa.timestamp("s", "UTC"), 9_999_999_999_999),
    "milliseconds": (pa.date64(), 86_400_000 * 10_000_000),
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("case", FAR)
@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_days_out_of_the_calendar_are_refused_and_never_a_fault_of_ours(case, form, tmp_path):
    kind, number = FAR[case]
    width = pa.int32() if kind == pa.date32() else pa.int64()
    data = table(pa.array([number] * 3 + [0] * 3, width).cast(kind))
    pyarrow.feather.write_feather(data, tmp_path / "t.feather")
    for given in (data, tmp_path / "t.feather"):
        with pytest.raises(
            InputError, match=r"'odd' holds 1 dates or times outside the years 1 to"
        ):
            sf.anonymize(given, policy("quasi-identifier"), output=tmp_path / "out", format=form)
        with pytest.raises(InputError, match=r"outside the years 1 to"):
            sf.decouple(given, quasi_identifiers=["odd"], sensitive=["ill"])
    assert not (tmp_path / "out").exists()
    # Whatever else is done with them, the answer is a result or a plain word.
    path = tmp_path / "t.feather"
    for role in ("sensitive", "plain"):
        folder = tmp_path / role
        made = partial(sf.anonymize, path, policy(role), output=folder, format=form)
        assert "fault of Sfumato" not in message_of(made)
        assert "fault of Sfumato" not in message_of(partial(sf.verify, folder))
    for call in (
        partial(sf.verify, path, policy("quasi-identifier")),
        partial(sf.inspect, path, quasi_identifiers=["odd"]),
        partial(sf.draft, path),
    ):
        assert "fault of Sfumato" not in message_of(call)


def message_of(call):
    try:
        call()
    except SfumatoError as error:
        return str(error)
    return ""


def test_the_first_and_the_last_day_of_the_calendar_are_days(tmp_path):
    for day in (-719_162, 2_932_896):
        data = table(pa.array([day] * 6, pa.int32()).cast(pa.date32()))
        release = sf.anonymize(data, policy("quasi-identifier"))
        assert release.verdict.holds
