"""A database from a stranger: its views read nothing else here, and are no releases."""

import pytest

import sfumato as sf
from sfumato.errors import InputError
from tests.tables.databases import imported

ROLES = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
POLICY = {
    "columns": {"age": "quasi-identifier", "ill": "sensitive"},
    "models": [{"model": "k-anonymity", "k": 5}],
}
PEOPLE = "SELECT 20 + i % 4 AS age, ['flu', 'gout', 'ulcer'][1 + i % 3] AS ill FROM range(60) t(i)"


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    """Return how statements are run in clinic.db of the current folder."""
    monkeypatch.chdir(tmp_path)
    connect = imported("duckdb", "duckdb").connect

    def run(*statements):
        with connect("clinic.db") as connection:
            for statement in statements:
                connection.execute(statement)

    run(f"CREATE TABLE people AS {PEOPLE}")
    return run


READING = {
    "a file": "(SELECT content FROM read_text('secret.txt'))",
    "a table of a file": "(SELECT any_value(a) FROM read_csv('secret.txt', header = true))",
    "the names of files": "(SELECT any_value(file) FROM glob('*.txt'))",
}


@pytest.mark.parametrize("what", READING)
def test_a_view_of_a_strangers_file_reads_no_other_file(clinic, tmp_path, what):
    (tmp_path / "secret.txt").write_text("a,b\nhunter2,1\n")
    clinic(f"CREATE VIEW shown AS SELECT age, {READING[what]} || ill AS ill FROM people")
    with pytest.raises(InputError, match="must not read anything outside it") as refused:
        sf.verify("duckdb:///clinic.db?table=shown", **ROLES)
    assert "hunter2" not in str(refused.value)


def test_nor_does_a_macro_or_a_view_called_like_a_manifest(clinic, tmp_path):
    (tmp_path / "secret.txt").write_text("hunter2")
    clinic(
        "CREATE MACRO secret() AS (SELECT content FROM read_text('secret.txt'))",
        "CREATE VIEW shown AS SELECT age, secret() || ill AS ill FROM people",
        "CREATE VIEW people_manifest AS SELECT secret() AS manifest",
    )
    for table in ("shown", "people"):
        with pytest.raises(InputError) as refused:
            sf.verify(f"duckdb:///clinic.db?table={table}", **ROLES)
        assert "hunter2" not in str(refused.value)


@pytest.mark.usefixtures("patience")
def test_a_view_of_its_own_tables_is_read_and_published(clinic):
    clinic("CREATE VIEW shown AS SELECT age, upper(ill) AS ill FROM people")
    address = "duckdb:///clinic.db?table=shown"
    assert sf.verify(address, **ROLES).answer == "yes"
    sf.anonymize(address, POLICY, output="folder", format="parquet")
    sf.anonymize(address, POLICY, output="table:released")
    assert sf.verify("folder").holds
    assert sf.verify("duckdb:///clinic.db?table=released").holds


@pytest.mark.usefixtures("patience")
def test_a_view_in_place_of_a_release_is_none(clinic):
    sf.anonymize("duckdb:///clinic.db?table=people", POLICY, output="table:released")
    address = "duckdb:///clinic.db?table=released"
    assert sf.verify(address).holds
    clinic(
        "ALTER TABLE released RENAME TO kept",
        "CREATE VIEW released AS SELECT * FROM kept",
    )
    found = sf.verify(address)
    assert (found.answer, found["tables"].status) == ("no", "broken")
    assert "a view may show other rows" in found["tables"].detail


@pytest.mark.usefixtures("patience")
def test_nor_is_one_in_place_of_a_table_of_several(clinic):
    sf.decouple(
        "duckdb:///clinic.db?table=people", **ROLES, output="duckdb:///clinic.db?table=released"
    )
    address = "duckdb:///clinic.db?table=released"
    assert sf.verify(address).holds
    clinic(
        "ALTER TABLE released_sensitive_ill RENAME TO kept",
        "CREATE VIEW released_sensitive_ill AS SELECT * FROM kept",
    )
    assert sf.verify(address)["tables"].status == "broken"
