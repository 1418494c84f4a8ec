"""Values of every type come through, and a file is written whole or not at all."""

from datetime import datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import OutputError, ParameterError
from sfumato.releases.opening import open_release
from sfumato.tables import derived_table, open_table, write_derived
from sfumato.tables.derived import Batch, DerivedColumn, DerivedTable
from sfumato.text import text_of

NOON = datetime(2020, 5, 17, 12, 0, 1)
ARRAYS = {
    "large text": pa.array(["é", "", None], pa.large_string()),
    "dictionary": pa.array(["a", "b", None]).dictionary_encode(),
    "unsigned": pa.array([2**64 - 1, 0, None], pa.uint64()),
    "floats": pa.array([0.1, -0.0, float("nan")], pa.float32()),
    "decimals": pa.array([Decimal("1.50"), Decimal("2.00"), None], pa.decimal128(9, 2)),
    "moments": pa.array([NOON, None, NOON + timedelta(1)], pa.timestamp("ms")),
    "zoned": pa.array([NOON, None, NOON + timedelta(1)], pa.timestamp("us", "Europe/Rome")),
    "fine": pa.array([1, 1_000, None], pa.timestamp("ns")),
    "times": pa.array([time(12, 30), None, time(1)], pa.time64("us")),
    "spans": pa.array([timedelta(1), None, timedelta(2)], pa.duration("s")),
    "bytes": pa.array([b"\x00\xff", b"", None], pa.binary()),
    "nothing": pa.nulls(3),
}


def texts(grouped: GroupedTables) -> list:
    columns = [*grouped.quasi_identifiers, *(table.column for table in grouped.sensitive)]
    return [[None if v is None else text_of(v) for v in column.values] for column in columns]


@pytest.mark.parametrize("form", ["csv", "parquet", "feather", None])
@pytest.mark.parametrize("name", ARRAYS)
def test_every_type_comes_through(tmp_path, name, form):
    table = pa.table({"age": ARRAYS[name], "ill": ARRAYS[name]})
    release = sf.decouple(
        table,
        quasi_identifiers=["age"],
        sensitive=["ill"],
        output=None if form is None else tmp_path / "broken",
        format=form,
    )
    assert sf.verify(release).verdict.holds
    if form is None:
        counted = open_table(release.tables["qi"]).count(["age"])
        assert counted.total == 3
        return
    again = open_release(release.folder).groups
    assert texts(again) == texts(release.grouped)
    np.testing.assert_array_equal(again.sizes, release.grouped.sizes)
    assert sf.tools.merge(release.folder).num_rows == len(release.grouped)


COLUMNS = (DerivedColumn("age", ("a", "b")), DerivedColumn("count"))


def derived(batches, rows=2):
    return DerivedTable(COLUMNS, rows, lambda: iter(batches))


def test_a_file_that_is_there_is_not_touched(tmp_path):
    (tmp_path / "x.csv").write_text("mine")
    with pytest.raises(OutputError, match="cannot write"):
        write_derived(derived([]), tmp_path / "x.csv", format="csv", likes={})
    assert (tmp_path / "x.csv").read_text() == "mine"


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_a_table_that_breaks_off_leaves_no_file(tmp_path, form):
    good = Batch((np.array([0, 1]), np.array([3, 4])))

    def grouped_off():
        yield good
        raise KeyError("oh")

    table = DerivedTable(COLUMNS, 2, grouped_off)
    with pytest.raises(KeyError, match="oh"):
        write_derived(table, tmp_path / "x", format=form, likes={})
    with pytest.raises(RuntimeError, match="wrote 2 of 3"):
        write_derived(derived([good], rows=3), tmp_path / "x", format=form, likes={})
    assert not list(tmp_path.iterdir())


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="one of csv, parquet, feather"):
        write_derived(derived([]), tmp_path / "x", format="doc", likes={})


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_progress_is_told_and_kinds_may_change_between_batches(tmp_path, form):
    batches = [
        Batch((np.array([0, 1]), np.array([3, 4])), np.array([1, 1, 0])),
        Batch((np.array([1]), np.array([9]))),
    ]
    told = []
    write_derived(
        derived(batches, rows=4),
        tmp_path / f"x.{form}",
        format=form,
        likes={},
        progress=lambda *step: told.append(step),
    )
    assert told == [(3, 4), (4, 4)]
    found = open_table(tmp_path / f"x.{form}").count(["age", "count"])
    rows = {
        (column_a, int(str(column_c))): int(n)
        for column_a, column_c, n in zip(
            *([found.columns[i].values[code] for code in found.codes[i]] for i in range(2)),
            found.rows,
            strict=True,
        )
    }
    assert rows == {("b", 4): 2, ("a", 3): 1, ("b", 9): 1}
    assert derived_table(derived(batches, rows=4), {})["count"].to_pylist() == [4, 4, 3, 9]
