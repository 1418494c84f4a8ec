"""Windows of a column: every engine finds the rows that a literal comparison finds."""

import datetime as dt
import random
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError
from sfumato.ledger.streams import FORMS
from sfumato.tables import JoinedFiles, Window, open_table
from tests.tables import databases

pytestmark = databases.LEAVES_SOCKETS_OPEN

TEXT = FORMS["texts of times"].pattern
DAY = dt.datetime(2026, 10, 24, 22)
KINDS = {
    "day": pa.date32(),
    "time": pa.timestamp("us"),
    "moment": pa.timestamp("us", "UTC"),
    "whole": pa.int64(),
    "real": pa.float64(),
    "amount": pa.decimal128(9, 2),
    "text": pa.string(),
}


def values_of(column, rng):
    """A few values, equal ones and missing ones among them."""
    hours = [rng.randrange(0, 96) for _ in range(30)]
    times = [DAY + dt.timedelta(hours=h, microseconds=rng.choice([0, 1, 500_000])) for h in hours]
    found = {
        "day": [time.date() for time in times],
        "time": times,
        "moment": [time.replace(tzinfo=dt.UTC) for time in times],
        "whole": [hour - 40 for hour in hours],
        "real": [rng.choice([0.1, -0.0, hour / 7, float("nan")]) for hour in hours],
        "amount": [Decimal(hour) / 4 for hour in hours],
        "text": [str(rng.choice([time, time.date(), "24.10.2026"])) for time in times],
    }[column]
    return [None if rng.random() < 0.1 else value for value in found]


def table_of(seed):
    rng = random.Random(seed)
    return pa.table(
        {name: pa.array(values_of(name, rng), kind) for name, kind in KINDS.items()}
        | {"row": pa.array(range(30), pa.int64())}
    )


def readable(value):
    return not (value is None or value != value or value == "24.10.2026")  # noqa: PLR0124 - NaN


def written(value):
    if isinstance(value, dt.datetime):
        text = value.replace(tzinfo=None).isoformat(" ")
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, float | Decimal):
        return str(int(value)) if value == int(value) else str(value).rstrip("0").rstrip(".")
    return str(value)


def windows(table, rng, columns, tries):
    """Windows that begin and end at values of the table, with and without them."""
    for column in columns:
        values = [v for v in table[column].to_pylist() if readable(v)]
        form = TEXT if column == "text" else None
        if tries > 1:
            yield Window(column, form), None, None
        for _ in range(tries):
            low, high = sorted(rng.sample(values, 2))
            above, through = rng.random() < 0.5, rng.random() < 0.5
            yield Window(column, form, written(low), above, written(high), through), low, high


def literally(table, window, low, high):
    """The rows of a window, and the smallest and largest value, by comparing every value."""
    found = []
    for row, value in zip(table["row"].to_pylist(), table[window.column].to_pylist(), strict=True):
        if not readable(value):
            continue
        after = low is None or (value > low if window.above else value >= low)
        before = high is None or (value <= high if window.through else value < high)
        if after and before:
            found.append((value, row))
    ends = (written(min(found)[0]), written(max(found)[0])) if found else (None, None)
    return sorted(row for _, row in found), *ends


def assert_as_literally(opened, table, rng, *, columns=KINDS, tries=3):
    others = {name: sum(not readable(v) for v in table[name].to_pylist()) for name in KINDS}
    for window, low, high in windows(table, rng, columns, tries):
        rows, least, largest = literally(table, window, low, high)
        found = opened.extent(window)
        assert (found.rows, found.least, found.largest) == (len(rows), least, largest), window
        assert found.others == others[window.column]
        strange = (
            "24.10.2026" if window.form and "24.10.2026" in table["text"].to_pylist() else None
        )
        assert found.other == strange
        if rows:
            counts = opened.within(window).count(["row"])
            assert sorted(counts.columns[0].values) == rows, window
        else:
            with pytest.raises(InputError, match="has no rows"):
                opened.within(window).count(["row"])


@pytest.mark.usefixtures("patience")
@given(st.integers(0, 2**32))
def test_windows_of_a_table_in_memory(seed):
    table = table_of(seed)
    assert_as_literally(open_table(table), table, random.Random(seed))


@pytest.mark.usefixtures("patience")
def test_windows_in_a_database(database, some):
    table = table_of(7)
    opened = open_table(database.stored(table, "t"))
    assert_as_literally(opened, table, random.Random(7), tries=some(1, of=2))


def test_the_database_sees_only_the_window(quick_database):
    """What is sent to be counted has the window in it."""
    table = open_table(quick_database.stored(table_of(7), "t"))
    sent = []
    narrow = table.within(Window("whole", low="3", high="9"))
    database = narrow._database
    statement = database.statement
    database.statement = lambda query: sent.append(statement(query)) or statement(query)
    narrow.count(["row"])
    [counting] = sent
    assert ">= 3" in counting
    assert "< 9" in counting
    assert "GROUP BY" in counting


@pytest.mark.usefixtures("patience")
def test_a_zone_of_the_session_changes_nothing(duck):
    table = table_of(3)
    duck.connection.execute("SET TimeZone = 'Pacific/Auckland'")
    try:
        opened = open_table(duck.stored(table, "t"))
        assert_as_literally(opened, table, random.Random(3), columns=["moment"], tries=2)
    finally:
        duck.connection.execute("SET TimeZone = 'UTC'")


def test_nanoseconds_are_not_lost():
    moments = pa.array([1_000_000_001, 1_000_000_002, None], pa.timestamp("ns"))
    table = open_table(pa.table({"t": moments}))
    found = table.extent(Window("t"))
    assert found.least == "1970-01-01 00:00:01.000000001"
    assert table.extent(Window("t", low=found.least, above=True)).rows == 1
    coarse = open_table(pa.table({"t": moments.cast(pa.timestamp("us"), safe=False)}))
    with pytest.raises(InputError, match="Give a value as the column has them, and no finer"):
        coarse.extent(Window("t", low=found.least))


def test_a_window_of_a_window(duck):
    """In memory and in a database."""
    table = pa.table({"n": range(10)})
    for source in (table, duck.stored(table, "t")):
        inner = open_table(source).within(Window("n", low="3")).within(Window("n", high="6"))
        assert inner.count(["n"]).columns[0].values == (3, 4, 5)


def test_files_are_joined_to_one_table(tmp_path):
    (tmp_path / "a.csv").write_text("n,x\n1,a\n2,b\n")
    (tmp_path / "b.csv").write_text("x;n\nb;3\n")
    (tmp_path / "empty.csv").write_text("n,x\n")
    (tmp_path / "nothing.csv").write_text("")
    files = JoinedFiles(sorted(tmp_path.iterdir()))
    assert [path.name for path in files.paths] == ["a.csv", "b.csv"]
    counts = files.table(files.paths).count(["x"])
    assert dict(zip(counts.columns[0].values, counts.rows.tolist(), strict=True)) == {
        "a": 1,
        "b": 2,
    }
    (tmp_path / "c.csv").write_text("n,y\n1,a\n")
    other = JoinedFiles([tmp_path / "a.csv", tmp_path / "c.csv"])
    with pytest.raises(InputError, match=r"does not have the same columns as .*a\.csv: 'x', 'y'"):
        other.table(other.paths)
    (tmp_path / "a.csv").write_text("n,x\n1,a\n")
    with pytest.raises(InputError, match="changed while it was being worked on"):
        files.table(files.paths).count(["x"])


def test_files_of_several_types_are_one_table_if_a_type_holds_both(tmp_path):
    from pyarrow import parquet

    parquet.write_table(pa.table({"n": pa.array([1], pa.int32())}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"n": pa.array([2.5])}), tmp_path / "b.parquet")
    parquet.write_table(pa.table({"n": pa.array(["x"])}), tmp_path / "c.parquet")
    parquet.write_table(pa.table({"n": pa.array([], pa.int32())}), tmp_path / "d.parquet")
    files = JoinedFiles(sorted(tmp_path.iterdir()))
    assert len(files.paths) == 3
    assert files.table(files.paths[:2]).count(["n"]).columns[0].values == (1.0, 2.5)
    with pytest.raises(InputError, match="column 'n' holds int32 in one file and string"):
        files.table([files.paths[0], files.paths[2]])


def test_a_file_of_which_many_windows_are_counted_is_read_once(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("n,x\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(100)))
    form = FORMS["texts of numbers"].pattern
    window = Window("n", form, low="10", high="20")
    table = open_table(file)
    assert table.into_memory(1)._source is table._source
    kept = table.within(Window("n", form, low="5")).into_memory(1 << 20)
    file.unlink()
    assert kept.extent(window) == kept.within(window).extent(window)
    assert kept.extent(window).rows == 10
    assert kept.within(window).count(["x"]).rows.tolist() == [5, 5]
    assert kept.kind == "csv"


def test_a_column_that_has_no_order_is_none():
    table = open_table(pa.table({"b": [True], "t": ["x"], "l": [[1]]}))
    assert [table.order_of(name) for name in ("b", "t", "l")] == [None, "texts", None]
