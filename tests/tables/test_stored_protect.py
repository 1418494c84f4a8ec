"""Mending what leaks in a database: the same steps as in memory, and nothing there but the end."""

from dataclasses import replace

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, OutputError, ParameterError
from sfumato.tables.sql.engine import DatabaseEngine
from tests.tables import databases
from tests.tasks.test_detect import leaky
from tests.tasks.test_detect import policy as leaky_policy
from tests.tasks.test_protect import married, married_policy

pytestmark = databases.LEAVES_SOCKETS_OPEN

SEVERAL = {"out", "out_sensitive_work", "out_sensitive_marital"}
CASES = {
    "refined": (leaky, leaky_policy, 0.6, {"out"}),
    "decoupled": (married, married_policy, 0.8, SEVERAL),
}
"""What is protected, by which policy and limit, and the tables that come out."""


def told(done):
    return [(step.action, step.why, len(step.findings.leaks), step.exposed) for step in done.steps]


def promised(manifest):
    return replace(manifest, table=None, files=())


def protected(database, case, **more):
    table, policy, alpha, tables = CASES[case]
    source = database.stored(table(), "people")
    done = sf.protect(source, policy(), alpha=alpha, output="table:out", **more)
    expected = sf.protect(table(), policy(), alpha=alpha, **more)
    assert told(done) == told(expected)
    assert promised(done.release.manifest) == promised(expected.release.manifest)
    assert done.warnings == expected.warnings
    assert database.tables() == {"people", "out_manifest", *tables}
    assert sf.verify((source[0], "out")).verdict.holds


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["full-domain", "regional", "mondrian"])
@pytest.mark.parametrize("case", CASES)
def test_what_leaks_is_mended_as_in_memory(quick_database, case, method):
    protected(quick_database, case, method=method)


@pytest.mark.usefixtures("patience")
def test_an_address_is_given_back_as_one(tmp_path):
    duckdb = databases.imported("duckdb", "duckdb")
    with duckdb.connect(tmp_path / "x.db") as connection:
        connection.register("incoming", married())
        connection.execute("CREATE TABLE people AS FROM incoming")
    address = f"duckdb:///{tmp_path}/x.db?table="
    done = sf.protect(f"{address}people", married_policy(), alpha=0.8, output=f"{address}out")
    assert done.release.place == f"{address}out"
    assert sf.verify(done.release.place).verdict.holds


@pytest.mark.usefixtures("patience")
def test_a_refused_step_leaves_nothing(quick_database):
    source = quick_database.stored(leaky(), "people")
    sf.protect(source, leaky_policy(), alpha=0.6, output="table:out")
    before = quick_database.read("out_manifest").to_pydict()
    with pytest.raises(OutputError, match="there is a table out already"):
        sf.protect(source, leaky_policy(), alpha=0.6, output="table:out")
    assert quick_database.read("out_manifest").to_pydict() == before
    with pytest.raises(InputError, match="rows of a database are not brought into memory"):
        sf.protect(source, leaky_policy())
    assert quick_database.tables() == {"people", "out", "out_manifest"}


@pytest.mark.usefixtures("patience")
def test_a_table_is_protected_into_files(duck, tmp_path):
    try:
        source = duck.stored(leaky(), "people")
        done = sf.protect(source, leaky_policy(), alpha=0.6, output=tmp_path / "one")
        assert told(done) == told(sf.protect(leaky(), leaky_policy(), alpha=0.6))
        assert sf.verify(tmp_path / "one").verdict.holds
        duck.clear()
        source = duck.stored(married(), "people")
        sf.protect(source, married_policy(), alpha=0.8, output=tmp_path / "two", format="csv")
        assert sf.verify(tmp_path / "two").verdict.holds
        assert duck.tables() == {"people"}
    finally:
        duck.clear()


PAID = pa.table({"age": [31, 31, 47, 47], "pay": pa.array([1.5, 2.5, 3.5, 4.5], pa.float64())})
PAID_POLICY = sf.Policy(
    columns={"age": "quasi-identifier", "pay": "sensitive"}, models=[sf.models.KAnonymity(2)]
)
REFUSED = {
    "postgres": [("parquet", "PostgreSQL writes files only on its own machine")],
    "duckdb": [("csv", "DuckDB writes double in a spelling"), ("feather", "no Feather files")],
}


@pytest.mark.parametrize("task", [sf.anonymize, sf.protect])
def test_files_that_cannot_be_written_are_refused_before_anything_is_counted(
    quick_database, tmp_path, monkeypatch, task
):
    source = quick_database.stored(PAID, "people")
    opened = DatabaseEngine().open(source)

    def counted(self, columns, **more):
        pytest.fail("it was counted first")

    monkeypatch.setattr(type(opened), "count", counted)
    for form, text in REFUSED[quick_database.name]:
        with pytest.raises(OutputError, match=text):
            task(source, PAID_POLICY, output=tmp_path / "out", format=form)
    with pytest.raises(ParameterError, match="format must be"):
        sf.anonymize(source, PAID_POLICY, output=tmp_path / "out", format="docx")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_decoupled_tables_follow_from_counts_so_every_database_gives_files(
    quick_database, tmp_path, form
):
    source = quick_database.stored(PAID, "people")
    given = {"quasi_identifiers": ["age"], "sensitive": ["pay"], "seed": 1, "format": form}
    found = sf.decouple(source, output=tmp_path / "out", **given)
    expected = sf.decouple(PAID, output=tmp_path / "expected", **given)
    assert found.manifest == expected.manifest
    assert sf.verify(tmp_path / "out").verdict.holds
