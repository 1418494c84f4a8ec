"""Tables of databases: the arrow engine and the literal recode are the judges."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sfumato.recoding import SUPPRESSED
from sfumato.tables import open_table
from tests.tables.databases import tables_for
from tests.tables.tables import cell, literal_rows
from tests.tables.test_count import tuples
from tests.tables.test_publish import recoding_of, requests, rng
from tests.tables.test_publish_local import ID, check, recodings

PROPERTIES = []
"""What holds of every database; Spark's turn is in a file of its own."""


def trying(test):
    """Try a property on the databases that answer within milliseconds."""
    PROPERTIES.append(test)

    def run(quick_database, some):
        examples(test, quick_database, some(13, of=40))

    run.__name__ = test.__name__
    return run


def examples(test, database, most):
    """Try a property on some tables."""

    # With Spark, to make an example smaller would take minutes.
    phases = [Phase.generate] if database.name == "spark" else list(Phase)

    @settings(max_examples=most, phases=phases)
    @given(data=st.data())
    def example(data):
        test(database, data)

    example()
    database.clear()


@pytest.mark.usefixtures("patience")
@trying
def test_counts_and_domains_are_those_of_the_arrow_engine(database, data):
    table = data.draw(tables_for(database))
    opened, arrow = open_table(database.load(table)), open_table(table)
    assert opened.columns == arrow.columns
    assert opened.kind == database.name
    counts, expected = opened.count(opened.columns), arrow.count(arrow.columns)
    assert tuples(counts) == tuples(expected)
    assert [[cell(v) for v in c.values] for c in counts.columns] == [
        [cell(v) for v in c.values] for c in expected.columns
    ]
    assert (counts.codes.tolist(), counts.rows.tolist()) == (
        expected.codes.tolist(),
        expected.rows.tolist(),
    )
    # With Spark every column is a job of its own.
    names = opened.columns[:2] if database.name == "spark" else opened.columns
    found, there = opened.domains(names), arrow.domains(names)
    assert set(found) == set(there)
    for name, domain in there.items():
        assert found[name].missing == domain.missing
        assert spelt(found[name]) == spelt(domain)


def spelt(domain):
    return dict(zip(map(cell, domain.values()), domain.rows.tolist(), strict=True))


@pytest.mark.usefixtures("patience")
@trying
def test_rows_are_recoded_like_the_textbook_says(database, data):
    table = data.draw(tables_for(database, min_columns=2))
    opened = open_table(database.load(table))
    quasi, node, columns = data.draw(requests(table.column_names))
    suppression = data.draw(st.sampled_from(["remove", "star"]))
    counts = opened.count(quasi)
    picked = data.draw(st.lists(st.integers(0, len(counts) - 1), max_size=3, unique=True))
    suppress = [
        [c.values[code] for c, code in zip(counts.columns, counts.codes[:, i], strict=True)]
        for i in picked
    ]
    groups = data.draw(st.lists(st.integers(0, 1), min_size=1, max_size=4))
    recoding = recoding_of(opened, quasi, node, groups=groups, suppress=suppress)
    if data.draw(st.booleans()):
        recoding = recoding.dropping_missing()
    stored = opened.publish_into(recoding, columns, "out", suppression=suppression, force=True)
    result = database.read("out")
    expected = open_table(table).publish_table(
        recoding, columns, suppression=suppression, rng=rng()
    )
    assert result.column_names == list(columns)
    assert Counter(literal_rows(result)) == Counter(literal_rows(expected))
    assert stored.rows == len(result)
    assert not {name for name in database.tables() if name.startswith("sfumato")}


@pytest.mark.usefixtures("patience")
@trying
def test_every_combination_becomes_what_its_portions_say(database, data):
    table = data.draw(tables_for(database, min_columns=2))
    names = table.column_names
    counted = data.draw(st.permutations(names))[: data.draw(st.integers(1, len(names)))]
    quasi = counted[: data.draw(st.integers(1, len(counted)))]
    columns = data.draw(st.permutations([*names[data.draw(st.integers(0, 1)) :], ID]))
    suppression = data.draw(st.sampled_from(["remove", "star"]))
    table = table.append_column(ID, pa.array(range(len(table))))
    opened = open_table(database.load(table))
    recoding = data.draw(recodings(opened.count(counted), quasi))
    stored = opened.publish_into(recoding, columns, "out", suppression=suppression, force=True)
    result = database.read("out")
    assert result.column_names == list(columns)
    assert stored.rows == len(result)
    assert stored.suppressed_rows == recoding.rows[recoding.classes == SUPPRESSED].sum()
    check([*names, ID], literal_rows(table), columns, literal_rows(result), recoding, suppression)
