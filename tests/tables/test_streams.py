"""Increments from a table of a database that grows: compared and counted there, taken once."""

import datetime as dt

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.ledger.publishing.increments import IncrementJob
from tests.ledger.releases import START, grouped_of
from tests.ledger.test_streams import PEOPLE, taken
from tests.tables import databases

pytestmark = databases.LEAVES_SOCKETS_OPEN

KINDS = {
    "seen": pa.timestamp("us", "UTC"),
    "day": pa.date32(),
    "number": pa.int64(),
    "written": pa.string(),
}


def visits(hours):
    """People who came so many hours after the first of March."""
    rows = [PEOPLE[i % len(PEOPLE)] for i in range(len(hours))]
    times = [dt.datetime(2026, 3, 1, tzinfo=dt.UTC) + dt.timedelta(hours=h) for h in hours]
    columns = {
        "seen": times,
        "day": [time.date() for time in times],
        "number": hours,
        "written": [f"{time:%Y-%m-%d %H:%M:%S}" for time in times],
    }
    people = {name: [row[i] for row in rows] for i, name in enumerate(("age", "ill", "pay"))}
    kinds = {name: pa.array(values, KINDS[name]) for name, values in columns.items()}
    return pa.table({**people, **kinds})


@pytest.fixture
def ledger(tmp_path):
    columns = {"age": "quasi-identifier", "ill": "sensitive", "pay": "sensitive"}
    policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(2)], other="dropped")
    return sf.Ledger.start(grouped_of(START), tmp_path / "x.ledger", alpha=0.5, policy=policy)


@pytest.mark.usefixtures("patience")
def test_a_stream_from_a_database_is_that_of_a_file(ledger, database, tmp_path):
    table = visits([0] * 8 + [23] * 8 + [24] * 16 + [50, 60])
    source = database.stored(table, "visits")
    run = {"start": "2026-03-01", "every": "day"}
    output = "table:day_{window}"
    done = ledger.publish_since(source, "seen", output=output, **run)
    assert taken(ledger) == [("2026-03-01", 16), ("2026-03-02", 16)]
    assert [each.publication.place for each in done.increments] == [
        "table:day_2026_03_01",
        "table:day_2026_03_02",
    ]
    assert "day_2026_03_02_manifest" in database.tables()
    assert ledger.publish_since(source, "seen", output=output, **run).increments == ()
    other = sf.Ledger.start(grouped_of(START), tmp_path / "y.ledger", alpha=0.5, k=2)
    names = ["age", "ill", "pay", "seen"]
    other.publish_since(table.select(names), "seen", **run)
    assert taken(other) == taken(ledger)
    assert ledger.verify() == []


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("column", ["day", "number", "written"])
def test_columns_of_every_kind_in_a_database(ledger, quick_database, column):
    source = quick_database.stored(visits([1, 2, 3, 30, 31, 60]), "visits")
    assert ledger.publish_since(source, column, start="beginning").rows == 5
    assert ledger.publish_since(source, column).rows == 0
    quick_database.connection.execute('INSERT INTO "visits" SELECT * FROM "visits"')
    late = ledger.publish_since(source, column)
    assert late.rows == 0
    assert late.notes[0].startswith("Late: 5 rows up to ")


@pytest.mark.usefixtures("patience")
def test_a_file_of_duckdb_is_read_and_written_window_by_window(ledger, tmp_path):
    """One connection must do: it is opened again to write, between two windows too."""
    duckdb = databases.imported("duckdb", "duckdb")
    file = tmp_path / "clinic.db"
    incoming = visits([0] * 16 + [24] * 16 + [60])  # noqa: F841 - found by DuckDB
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE visits AS FROM incoming")
    source = f"duckdb:///{file}?table=visits"
    run = {"start": "beginning", "every": "day", "output": "table:day_{window}"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IncrementJob, "_finish", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ledger.publish_since(source, "seen", **run)
    done = ledger.publish_since(source, "seen", **run)
    assert [each.window for each in done.increments] == ["2026-03-02"]
    with duckdb.connect(str(file)) as connection:
        names = {name for (name,) in connection.sql("SHOW TABLES").fetchall()}
    assert {"day_2026_03_01", "day_2026_03_02", "visits"} <= names
    assert not {name for name in names if name.startswith("sfumato")}


@pytest.mark.usefixtures("patience")
def test_texts_of_numbers_are_not_compared_in_a_database(ledger, duck):
    table = visits([1, 2]).append_column("text", pa.array(["9", "10"]))
    with pytest.raises(InputError, match="texts that cannot be ordered, such as '10'"):
        ledger.publish_since(duck.stored(table, "visits"), "text", start="beginning")
