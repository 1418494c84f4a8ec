"""Types of columns are found from published rows where nothing but values says what they are."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.tables.arrow.settling import settle_types
from tests.tables.office_files import write_xlsx

pytestmark = pytest.mark.usefixtures("warm")

ROWS = {"age": [38, 38, 40, 40], "area": ["north"] * 4, "pay": [1, 2, 3, 4]}
GATE = {"role": "quasi-identifier", "levels": [0, 0]}
POLICY = sf.Policy(
    columns={"age": "quasi-identifier", "area": GATE, "pay": "plain"},
    models=[{"model": "k-anonymity", "k": 2}],
    suppression={"limit": 2},
    missing="suppress",
)


def given_as(kind, cells, folder):
    frame = pd.DataFrame(cells)
    path = folder / f"given.{kind}"
    if kind == "pandas":
        return frame
    if kind == "xlsx":
        write_xlsx(path, [list(cells), *zip(*cells.values(), strict=True)])
        return path
    {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta}[kind](frame, path)
    return path


@pytest.mark.parametrize("kind", ["pandas", "xlsx", "sav", "dta"])
@pytest.mark.parametrize(
    "odd", [(38, 5), (None, 5), (38.5, 5), (38, None), (38, 5.5), (1e300, 1e300)], ids=str
)
@pytest.mark.usefixtures("patience")
def test_a_suppressed_row_does_not_decide_on_types(tmp_path, kind, odd):
    age, pay = odd
    cells = {"age": [*ROWS["age"], age], "area": [*ROWS["area"], "odd"], "pay": [*ROWS["pay"], pay]}
    source = given_as(kind, cells, tmp_path)
    sf.anonymize(source, POLICY, output=tmp_path / "release", format="parquet", seed=1)
    schema = pq.read_schema(tmp_path / "release/data.parquet")
    assert (schema.field("age").type, schema.field("pay").type) == (pa.int64(), pa.int64())
    in_memory = pa.table(sf.anonymize(source, POLICY, seed=1).table).schema
    assert (in_memory.field("age").type, in_memory.field("pay").type) == (pa.int64(), pa.int64())


@pytest.mark.parametrize("odd", [dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 8, 30)], ids=str)
def test_days_of_a_sheet_stay_days_whatever_a_suppressed_row_has(tmp_path, odd):
    days = [dt.date(2015, 4, 25)] * 4
    rows = zip([*days, odd], [*ROWS["area"], "odd"], strict=True)
    write_xlsx(tmp_path / "given.xlsx", [["day", "area"], *rows])
    policy = POLICY.replace(columns={"day": "quasi-identifier", "area": GATE})
    release = sf.anonymize(tmp_path / "given.xlsx", policy)
    assert release.table["day"].to_pylist() == days


def test_decimals_stay_decimals_where_a_published_row_has_one():
    frame = pd.DataFrame({**ROWS, "pay": [1, 2, 3, 4.5]})
    assert sf.anonymize(frame, POLICY).table["pay"].dtype == np.float64


def test_a_declared_type_is_kept():
    table = pa.table(ROWS).set_column(2, "pay", pa.array([1.0, 2.0, 3.0, 4.0]))
    assert sf.anonymize(table, POLICY).table.schema.field("pay").type == pa.float64()


NUMBERS = st.one_of(st.none(), st.integers(-(2**60), 2**60).map(float), st.floats(allow_nan=False))


@given(cells=st.lists(st.lists(NUMBERS, max_size=5), max_size=4), encoded=st.booleans())
def test_numbers_are_whole_where_all_are(cells, encoded):
    arrays = [pa.array(each, pa.float64()) for each in cells]
    if encoded:
        # A dictionary may hold a value that no row has.
        arrays = [
            pa.DictionaryArray.from_arrays(
                pa.array(range(len(each)), pa.int32()), pa.array([*each, 0.5], pa.float64())
            )
            for each in cells
        ]
    schema, batches = settle_types(
        pa.schema([("x", pa.float64())]), [[each] for each in arrays], ["x"]
    )
    known = [each for batch in cells for each in batch if each is not None]
    whole = all(each == round(each) and abs(each) < 2**53 for each in known if abs(each) < 1e300)
    whole = whole and all(abs(each) < 1e300 for each in known)
    assert schema.field("x").type == (pa.int64() if whole else pa.float64())
    assert [batch[0].to_pylist() for batch in batches] == cells
