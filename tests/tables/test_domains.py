"""Domains: each column's values and how many rows have them, one column at a time."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import UnknownColumnError
from sfumato.tables import open_table

CELLS = st.one_of(st.none(), st.sampled_from(["a", "b", "", "é"]), st.text(max_size=3))


@given(st.lists(st.tuples(CELLS, st.none() | st.integers(0, 3)), min_size=1, max_size=60))
def test_every_value_is_counted_as_python_would(rows):
    texts, numbers = (list(column) for column in zip(*rows, strict=True))
    table = pa.table({"text": pa.array(texts, pa.string()), "number": pa.array(numbers, pa.int8())})
    domains = open_table(table).domains(["number", "text"])
    assert list(domains) == ["number", "text"]
    for name, cells in (("text", texts), ("number", numbers)):
        domain = domains[name]
        # An empty text is a missing one.
        counted = Counter(None if cell == "" else cell for cell in cells)
        assert domain.missing == counted.pop(None, 0)
        assert dict(zip(domain.values(), domain.rows.tolist(), strict=True)) == counted
        assert domain.total == len(rows)


def test_a_few_of_many_values_are_spread_evenly():
    table = pa.table({"number": list(range(100))})
    domain = open_table(table).domains(["number"])["number"]
    assert domain.values(4) == [0, 25, 50, 75]
    assert len(domain.values(1000)) == 100


def test_values_of_a_dictionary_that_no_row_has_do_not_count():
    table = pa.table({"sex": pa.DictionaryArray.from_arrays([1, 1, None], ["f", "m", "x"])})
    domain = open_table(table).domains(["sex"])["sex"]
    assert (domain.values(), domain.rows.tolist(), domain.missing) == (["m"], [2], 1)


def test_columns_of_lists_are_left_out():
    table = pa.table({"age": [1, 2], "visits": [[1], [2, 3]]})
    assert list(open_table(table).domains(table.column_names)) == ["age"]
    assert open_table(table).domains(["visits"]) == {}


def test_a_misspelt_column_is_answered_with_the_right_one():
    with pytest.raises(UnknownColumnError, match="Did you mean 'age'"):
        open_table(pa.table({"age": [1]})).domains(["agee"])


def test_many_batches_of_a_file_add_up(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,sex\n" + "".join(f"{i},{'fm'[i % 2]}\n" for i in range(600_000)))
    domains = open_table(path).domains(["id", "sex"])
    assert sorted(domains["sex"].rows.tolist()) == [300_000, 300_000]
    assert len(domains["id"].rows) == 600_000
