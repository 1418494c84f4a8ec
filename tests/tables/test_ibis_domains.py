"""Columns with very many values: all are counted, and few of them leave the database."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.tables import open_table
from sfumato.tables.sql import table as domains
from tests.tables.databases import LEAVES_SOCKETS_OPEN


@pytest.fixture
def people():
    rng = np.random.default_rng(3)
    names = [f"p{n:04}" for n in range(700)]
    twice = [*names, *names[:100], *[None] * 9]
    return pa.table({"name": rng.permutation(np.array(twice, object)).tolist()})


@LEAVES_SOCKETS_OPEN
def test_of_many_values_a_few_are_fetched_and_all_are_counted(database, people, monkeypatch):
    monkeypatch.setattr(domains, "MOST", 500)
    monkeypatch.setattr(domains, "_SAMPLED", 40)
    table = open_table(database.load(people))
    fetched = []
    fetch = type(table._database).fetch

    def counted(self, query):
        found = fetch(self, query)
        fetched.append(found.num_rows)
        return found

    monkeypatch.setattr(type(table._database), "fetch", counted)
    found = table.domains(["name"])["name"]
    assert found.total == people.num_rows
    assert found.missing == 9
    assert np.sort(found.rows).tolist() == [1] * 600 + [2] * 100
    values = found.values()
    assert len(set(values)) == len(values) == 42
    assert values == sorted(values)
    assert values[:2] == ["p0000", "p0017"]
    assert found.values(10) == [values[at] for at in (0, 4, 8, 12, 16, 21, 25, 29, 33, 37)]
    # The last is the number of line breaks.
    assert fetched == [501, 3, 42, 1]
    assert found.line_breaks == 0


def test_a_draft_takes_such_a_column_for_what_it_is(duck, people, monkeypatch):
    monkeypatch.setattr(domains, "MOST", 500)
    table = people.append_column("sex", pa.array(["f", "m", "f"] * 269 + ["m"] * 2))
    here = sf.draft(table).policy
    there = sf.draft(duck.load(table)).policy
    assert {n: c.role for n, c in here.columns.items()} == {
        n: c.role for n, c in there.columns.items()
    }
