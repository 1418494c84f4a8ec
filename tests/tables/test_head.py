"""The first rows of a table, to look at: of a file the first, of a database any."""

import datetime as dt

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from sfumato.errors import InputError
from sfumato.tables import open_table
from tests.tables.databases import LEAVES_SOCKETS_OPEN

PEOPLE = pa.table(
    {
        "age": [31, 47, None],
        "born": [dt.date(2000, 1, 31), None, dt.date(1999, 12, 1)],
        "ill": ["flu", "", "a;b"],
        "odd name": [1.5, -0.0, 2.0],
    }
)


@pytest.mark.parametrize("form", ["memory", "csv", "parquet"])
@pytest.mark.parametrize("most", [0, 1, 2, 99])
def test_of_a_file_the_first_rows_are_given_in_their_order(tmp_path, form, most):
    data = PEOPLE
    if form != "memory":
        data = tmp_path / f"people.{form}"
        write = pyarrow.csv.write_csv if form == "csv" else pyarrow.parquet.write_table
        write(PEOPLE, data)
    head = open_table(data).head(most)
    assert head.column_names == PEOPLE.column_names
    assert len(head) == min(most, 3)
    assert [str(age) for age in head["age"].to_pylist()[:2]] == ["31", "47"][:most]


def test_a_table_without_rows_is_refused_in_words():
    with pytest.raises(InputError, match="no rows"):
        open_table(PEOPLE.slice(0, 0)).head(5)


@LEAVES_SOCKETS_OPEN
def test_of_a_database_rows_are_given(database):
    head = open_table(database.load(PEOPLE)).head(99)
    assert head.column_names == PEOPLE.column_names
    assert sorted(filter(None, map(str, head["age"].to_pylist()))) == ["31", "47", "None"]
    assert len(head) == 3
    assert len(open_table(database.load(PEOPLE)).head(2)) == 2
    database.clear()
