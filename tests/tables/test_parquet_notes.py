"""Footers without notes: the same table, read by another program, and nothing said beside it."""

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.arrow.writing import without_notes
from tests.tables.tables import typed_tables

NOTES = st.dictionaries(st.text(max_size=200), st.text(max_size=200), max_size=20)


@pytest.mark.usefixtures("patience")
@given(typed_tables(max_columns=8), NOTES, st.integers(1, 12), st.booleans())
def test_only_the_notes_are_gone(tmp_path_factory, table, notes, rows, described):
    path = tmp_path_factory.mktemp("notes") / "table.parquet"
    noted = table.replace_schema_metadata(notes)
    pq.write_table(noted, path, row_group_size=rows, store_schema=described)
    before, plain = pq.read_metadata(path), pq.ParquetFile(path).schema
    without_notes(path)
    after = pq.read_metadata(path)
    assert after.metadata is None
    assert pq.ParquetFile(path).schema.equals(plain)
    assert after.created_by == before.created_by
    groups = range(before.num_row_groups)
    assert [after.row_group(i).to_dict() for i in groups] == [
        before.row_group(i).to_dict() for i in groups
    ]
    assert pq.read_table(path).num_rows == table.num_rows
    without_notes(path)
    assert pq.read_metadata(path).equals(after)


def test_what_is_no_parquet_file_is_left_alone(tmp_path):
    path = tmp_path / "table.parquet"
    path.write_bytes(b"PAR1 and nothing PARE")
    with pytest.raises(ValueError, match="no Parquet file"):
        without_notes(path)
    assert path.read_bytes() == b"PAR1 and nothing PARE"
