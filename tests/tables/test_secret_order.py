"""Whom a row of a release is about cannot be found by repeating what a database drew."""

import pytest

import sfumato as sf
from tests.tables.databases import imported

COLUMNS = {
    "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}},
    "ill": "sensitive",
    "note": {"role": "plain", "because": "a test follows the rows"},
}
MODELS = [{"model": "k-anonymity", "k": 5}]
WHOLE = {"columns": COLUMNS, "models": MODELS}
LOCAL = {**WHOLE, "method": {"method": "mondrian", "relaxed": True}}
ROWS = (
    "SELECT 30 + i % 2 AS age, CASE WHEN i % 5 = 0 THEN 'flu' ELSE 'gout' END AS ill, "
    "'n' || CAST(i AS varchar) AS note FROM {} ORDER BY i"
)


@pytest.fixture
def duck():
    connection = imported("duckdb", "duckdb").connect(config={"threads": 1})
    connection.execute("CREATE TABLE people AS " + ROWS.format("range(200) t(i)"))
    yield connection
    connection.close()


def order(connection, run):
    """Publish with the seed of a session that others may know; return the rows in their order."""
    connection.execute("SELECT setseed(0.5)").fetchall()
    run()
    return [note for (note,) in connection.execute("SELECT note FROM released").fetchall()]


def run_twice(connection):
    def publish():
        sf.anonymize((connection, "people"), WHOLE, output="table:released", force=True)

    return order(connection, publish), order(connection, publish)


@pytest.mark.usefixtures("patience")
def test_the_seed_of_a_session_does_not_decide_the_order_of_duckdb(duck):
    first, second = run_twice(duck)
    assert sorted(first) == sorted(second)
    assert first != second


def test_nor_that_of_postgresql(postgres):
    postgres.connection.execute(
        "CREATE TABLE people AS " + ROWS.format("generate_series(0, 199) i")
    )
    first, second = run_twice(postgres.connection)
    assert sorted(first) == sorted(second)
    assert first != second


@pytest.mark.usefixtures("patience")
def test_nor_does_it_deal_rows_to_classes(duck):
    # Those of 30 go to two classes, with the three who are younger and the three who are older.
    duck.execute("UPDATE people SET age = 30")
    duck.execute("UPDATE people SET age = 29 WHERE note IN ('n1', 'n2', 'n3')")
    duck.execute("UPDATE people SET age = 31 WHERE note IN ('n4', 'n5', 'n6')")
    labels = []
    for _ in range(2):
        duck.execute("SELECT setseed(0.5)").fetchall()
        sf.anonymize((duck, "people"), LOCAL, output="table:released", force=True, seed=1)
        labels.append(dict(duck.execute("SELECT note, age FROM released").fetchall()))
    assert len(set(labels[0].values())) > 1
    assert labels[0].keys() == labels[1].keys()
    assert labels[0] != labels[1]
