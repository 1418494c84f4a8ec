"""Domains: each column's values and how many rows have them, one column at a time."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import UnknownColumnError
from sfumato.hierarchy import Hierarchy
from sfumato.recoding import FullDomainRecoding
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


@pytest.mark.parametrize("form", ["parquet", "feather", "csv"])
@pytest.mark.parametrize("counted", [True, False])
def test_what_is_known_of_a_written_file_is_what_reading_it_finds(tmp_path, form, counted):
    city = ["Pisa", "Rome", None, "", "a\nb", "gone"] * 3
    table = open_table(pa.table({"city": city, "ill": ["flu", "gout", None] * 6, "n": range(18)}))
    columns = ["city", "ill"] if counted else ["city", "ill", "n"]
    counts = table.count(["city", "ill"])
    labels = Hierarchy.from_paths(
        ["Pisa", "Rome", "a\nb", "gone"], [["*"], ["*"], ["*"], ["*"]]
    ).bind("city", counts.column("city").values)
    recoding = FullDomainRecoding.at([labels], (0,))
    recoding = replace(
        recoding, suppressed=np.array([[counts.column("city").values.index("gone")]])
    )
    written = table.publish(
        recoding,
        columns,
        tmp_path / f"out.{form}",
        format=form,
        suppression="remove",
        rng=np.random.default_rng(1),
    )
    assert written.suppressed_rows == 3
    read = open_table(written.path).domains(columns)
    # A CSV file has text alone, so there nothing is known before it is read.
    known = {"city", "ill"} if counted else {"city"}
    assert set(written.domains) == (set() if form == "csv" else known)
    for name, known in written.domains.items():
        found = read[name]
        assert type(known.values()[0]) is type(found.values()[0])
        assert by_value(known) == by_value(found)
        assert (known.missing, known.line_breaks) == (found.missing, found.line_breaks)
        assert known.order == found.order


def by_value(domain):
    return dict(zip(domain.values(), domain.rows.tolist(), strict=True))


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


@pytest.mark.usefixtures("patience")
def test_many_batches_of_a_file_add_up(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,sex\n" + "".join(f"{i},{'fm'[i % 2]}\n" for i in range(600_000)))
    domains = open_table(path).domains(["id", "sex"])
    assert sorted(domains["sex"].rows.tolist()) == [300_000, 300_000]
    assert len(domains["id"].rows) == 600_000
