"""Every task takes a table of a database where it takes a file, and fetches only counts."""

import json
from importlib import import_module

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, OutputError, ParameterError
from sfumato.tables import open_table
from tests.tables.databases import imported

ILLS = ["flu", "hiv", "gout", "cold"]
PEOPLE = pa.table(
    {
        "name": [f"person {i}" for i in range(200)],
        "age": [20 + i % 40 for i in range(200)],
        "sex": ["f" if i % 3 else "m" for i in range(200)],
        "ill": [ILLS[(i * 7 + i // 9) % 4] for i in range(200)],
        "pay": [(i * i) % 5 for i in range(200)],
    }
)
POLICY = sf.Policy(
    columns={
        "name": "identifier",
        "age": "quasi-identifier",
        "sex": "quasi-identifier",
        "ill": "sensitive",
        "pay": "sensitive",
    },
    models=[sf.models.KAnonymity(3), sf.models.DistinctLDiversity("ill", 2)],
)


ANATOMY = {"method": "anatomy", "l": 2}
BUCKETS = {"method": "bucketization", "partition": "top-down"}
HIDING = {"method": "association-hiding", "confidence": 0.7, "absence": None}
SLICING = {"method": "slicing", "l": 2}


class File:
    """A DuckDB file with the people in it."""

    def __init__(self, folder):
        self.duckdb = imported("duckdb", "duckdb")
        self.path = folder / "my data.db"
        with self.duckdb.connect(self.path) as connection:
            connection.register("incoming", PEOPLE)
            connection.execute("CREATE TABLE people AS FROM incoming")

    def address(self, table):
        return f"duckdb:///{self.path}?table={table}".replace(" ", "%20")

    def run(self, statement):
        with self.duckdb.connect(self.path) as connection:
            return connection.execute(statement).fetchall()

    def tables(self):
        return {name for (name,) in self.run("SELECT table_name FROM information_schema.tables")}


@pytest.fixture
def file(tmp_path):
    return File(tmp_path)


@pytest.fixture
def released(file):
    sf.anonymize(file.address("people"), POLICY, output="table:released")
    return file.address("released")


@pytest.fixture(scope="module")
def embedded():
    return sf.anonymize(PEOPLE, POLICY)


@pytest.mark.usefixtures("patience")
def test_the_output_is_an_address_or_the_name_of_a_table(file):
    source = file.address("people")
    one = sf.anonymize(source, POLICY, output=file.address("released"))
    two = sf.anonymize(source, POLICY, output="table:again", method="top-down")
    assert one.place == file.address("released")
    assert two.place == file.address("again")
    assert one.to_dict()["place"] == one.place
    assert file.tables() == {"people", "released", "released_manifest", "again", "again_manifest"}
    assert sf.verify(one).verdict.holds
    assert sf.verify(two.place).verdict.holds


def test_the_manifest_is_that_of_the_embedded_engine(file, released, embedded):
    [[text]] = file.run("SELECT manifest FROM released_manifest")
    manifest = json.loads(text)
    assert manifest.pop("table") == {"name": "released", "rows": 200}
    assert manifest == json.loads(embedded.manifest.to_json())


@pytest.mark.usefixtures("patience")
def test_a_release_may_be_written_to_a_folder(file, tmp_path, embedded):
    release = sf.anonymize(file.address("people"), POLICY, output=tmp_path / "release")
    assert release.manifest.files[0].name == "data.parquet"
    assert sf.verify(tmp_path / "release").verdict.holds
    assert release.levels == embedded.levels


@pytest.mark.usefixtures("patience")
def test_starred_rows_are_in_the_table(file):
    policy = sf.Policy(
        columns={"name": "identifier", "age": "quasi-identifier", "sex": "quasi-identifier",
                 "ill": "sensitive", "pay": "plain"},
        models=[sf.models.KAnonymity(3)],
        suppression={"limit": 0.6, "rows": "star"},
    )  # fmt: skip
    release = sf.anonymize(file.address("people"), policy, output="table:released")
    expected = sf.anonymize(PEOPLE, policy)
    assert release.suppressed == expected.suppressed
    assert release.verdict["rows"] == expected.verdict["rows"]
    assert release.verdict["starred rows"] == expected.verdict["starred rows"]
    assert sf.verify(release.place).verdict.holds


@pytest.mark.usefixtures("patience")
def test_a_population_may_be_in_a_database(file, released):
    policy = POLICY
    found = sf.verify(released, policy, population=file.address("people"))
    expected = sf.verify(sf.anonymize(PEOPLE, policy), policy, population=PEOPLE)
    assert [each.people for each in found.attacks] == [each.people for each in expected.attacks]


@pytest.mark.usefixtures("patience")
def test_a_policy_may_name_a_population_in_a_database(file, tmp_path):
    policy = sf.Policy(
        columns={"name": "identifier", "age": "quasi-identifier", "sex": "quasi-identifier",
                 "ill": "sensitive", "pay": "plain"},
        models=[sf.models.KMap(3)],
        population=file.address("people"),
    )  # fmt: skip
    release = sf.anonymize(file.address("people"), policy, output="table:released")
    assert release.verdict["k-map"].status == "holds"
    assert sf.anonymize(PEOPLE, policy).manifest.models == release.manifest.models
    assert sf.anonymize(PEOPLE, policy, output=tmp_path / "release").levels == release.levels
    assert sf.verify(release.place, policy)["k-map"].status == "holds"


@pytest.mark.usefixtures("patience")
def test_attacks_may_compare_with_tables_of_a_database(file, released, embedded):
    people = file.address("people")
    found = sf.verify(released, POLICY, data=people, outside=people)
    expected = sf.verify(embedded, POLICY, data=PEOPLE, outside=PEOPLE)
    assert [(each.attack, each.people, each.posterior) for each in found.attacks] == [
        (each.attack, each.people, each.posterior) for each in expected.attacks
    ]


def test_leaks_are_those_of_the_embedded_engine(released, embedded):
    assert sf.detect(released).to_dict() == sf.detect(embedded).to_dict()


@pytest.mark.usefixtures("patience")
def test_a_table_is_inspected(file):
    assert sf.inspect(file.address("people")).to_dict() == sf.inspect(PEOPLE).to_dict()


@pytest.mark.usefixtures("patience")
def test_usefulness_is_that_of_the_embedded_engine(file, released, embedded):
    found, expected = sf.utility(file.address("people"), released), sf.utility(PEOPLE, embedded)
    assert str(found) == str(expected)


def test_what_somebody_learns_is_explained(file, released, embedded):
    known = {"age": 31, "sex": "f"}
    found = sf.explain(released, known, data=file.address("people"))
    assert str(found) == str(sf.explain(embedded, known, data=PEOPLE))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["break-merge", ANATOMY, BUCKETS, HIDING, SLICING], ids=str)
def test_a_release_is_decoupled_into_files(released, embedded, tmp_path, method):
    given = {"sensitive": ["ill"], "seed": 1}
    found = sf.decouple(released, method, output=tmp_path / "broken", **given)
    expected = sf.decouple(embedded, method, **given)
    assert found.manifest.classes == expected.manifest.classes
    assert found.manifest.models == expected.manifest.models
    assert sf.verify(tmp_path / "broken", attacks=False).holds


@pytest.mark.usefixtures("patience")
def test_a_report_is_that_of_the_embedded_engine(file, released, embedded):
    found = sf.report(released, data=file.address("people"), policy=POLICY)
    expected = sf.report(embedded, data=PEOPLE, policy=POLICY)
    headings = [line for line in expected.write("markdown").splitlines() if line.startswith("#")]
    assert [x for x in found.write("markdown").splitlines() if x.startswith("#")] == headings


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["break-merge", ANATOMY, BUCKETS, HIDING, SLICING], ids=str)
def test_a_release_is_decoupled_into_tables(file, released, embedded, method):
    given = {"sensitive": ["ill"], "seed": 1}
    found = sf.decouple(released, method, output="table:broken", **given)
    expected = sf.decouple(embedded, method, **given)
    first, *others = [table.name for table in found.manifest.files]
    assert first == "broken"
    assert {first, *others, "broken_manifest"} == file.tables() - {
        "people", "released", "released_manifest"
    }  # fmt: skip
    for key in ("kind", "classes", "models", "rows", "columns"):
        assert getattr(found.manifest, key) == getattr(expected.manifest, key)
    attacked = [(each.attack, each.people, each.posterior) for each in sf.verify(expected).attacks]
    for what in (found, found.place):
        again = sf.verify(what)
        assert again.verdict.holds
        assert [(each.attack, each.people, each.posterior) for each in again.attacks] == attacked
    assert found.to_dict()["place"] == file.address("broken")


@pytest.mark.usefixtures("patience")
def test_decoupled_tables_are_replaced_together(file, released):
    decoupled = sf.decouple(released, output="table:broken")
    assert "broken_sensitive_pay" in file.tables()
    with pytest.raises(OutputError, match="there is a table broken already"):
        sf.decouple(released, output="table:broken")
    sf.decouple(released, SLICING, sensitive=["ill"], output="table:broken", force=True)
    assert file.tables() == {
        "people", "released", "released_manifest",
        "broken", "broken_slice_2", "broken_slice_3", "broken_manifest",
    }  # fmt: skip
    assert decoupled.place == file.address("broken")


@pytest.mark.usefixtures("patience")
def test_a_forged_manifest_drops_nobody_elses_table(file, released):
    sf.decouple(released, output="table:broken")
    file.run("CREATE TABLE broken_bones AS SELECT 1 AS bone")
    [[text]] = file.run("SELECT manifest FROM broken_manifest")
    forged = json.loads(text)
    forged["files"] += [{**forged["files"][0], "name": name} for name in ("people", "released")]
    file.run(f"UPDATE broken_manifest SET manifest = '{json.dumps(forged)}'")
    sf.decouple(released, output="table:broken", force=True)
    assert {"people", "released", "broken_bones"} <= file.tables()


@pytest.mark.usefixtures("patience")
def test_a_decoupled_release_has_no_rows_to_work_on(file, released):
    decoupled = sf.decouple(released, output="table:broken")
    with pytest.raises(InputError, match="is a decoupled release"):
        sf.decouple(decoupled.place)
    assert sf.tools.merge(decoupled, columns=["ill"]).num_rows > 0


@pytest.mark.usefixtures("patience")
def test_a_table_that_was_changed_is_found_out(file, released):
    decoupled = sf.decouple(released, output="table:broken")
    file.run("DELETE FROM broken_sensitive_ill WHERE ill = 'hiv'")
    assert sf.verify(decoupled.place)["counts"].status == "broken"
    assert sf.verify(decoupled)["counts"].status == "broken"


WRONG = {
    "another database": ("duckdb:///other.db?table=released", OutputError, "another database"),
    "no name": ("table:", ParameterError, "a name such as people"),
    "the source": ("table:people", OutputError, "is the table that is to be published"),
}


@pytest.mark.parametrize("output", WRONG)
def test_an_output_that_cannot_be_is_refused_and_nothing_is_written(file, output):
    given, kind, text = WRONG[output]
    with pytest.raises(kind, match=text):
        sf.anonymize(file.address("people"), POLICY, output=given, force=True)
    assert file.tables() == {"people"}


def test_only_a_table_of_a_database_is_published_into_one(file):
    for output in ("table:released", file.address("released")):
        with pytest.raises((OutputError, ParameterError), match="database"):
            sf.anonymize(PEOPLE, POLICY, output=output)
    assert file.tables() == {"people"}


def test_what_is_for_files_is_refused_for_tables(file):
    with pytest.raises(ParameterError, match="format must be left out"):
        sf.anonymize(file.address("people"), POLICY, output="table:x", format="csv")
    with pytest.raises(ParameterError, match="key must be"):
        sf.anonymize(file.address("people"), POLICY, output="table:x", key="publisher.key")
    assert file.tables() == {"people"}


def test_rows_are_not_brought_into_memory(file):
    with pytest.raises(InputError, match="rows of a database are not brought into memory"):
        sf.anonymize(file.address("people"), POLICY)


@pytest.mark.usefixtures("patience")
def test_a_manifest_that_was_broken_is_found_out(file, released):
    file.run("UPDATE released_manifest SET manifest = '{'")
    found = sf.verify(released)
    assert found["manifest"].status == "broken"
    file.run("INSERT INTO released_manifest VALUES ('{}')")
    with pytest.raises(InputError, match="released_manifest should hold one text"):
        sf.verify(released)


@pytest.mark.usefixtures("patience")
def test_somebody_elses_table_may_be_called_like_a_manifest(file):
    file.run("CREATE TABLE people_manifest AS SELECT 1 AS manifest_id, 2 AS goods")
    assert sf.verify(file.address("people"), POLICY)["k-anonymity"].status in ("holds", "broken")
    file.run("CREATE TABLE others AS FROM people")
    with pytest.raises(OutputError, match=r"people.* exists and is not a release"):
        sf.anonymize(file.address("others"), POLICY, output="table:people", force=True)


@pytest.mark.usefixtures("patience")
def test_only_counts_are_fetched(file, monkeypatch):
    duckdb_database = import_module("sfumato.tables.sql.duckdb")
    fetched = []
    for name in ("query", "fetch"):
        whole = getattr(duckdb_database.DuckDB, name)

        def counting(self, statement, whole=whole):
            answer = whole(self, statement)
            fetched.append(len(answer))
            return answer

        monkeypatch.setattr(duckdb_database.DuckDB, name, counting)
    file.run("INSERT INTO people SELECT p.* FROM people p, range(50)")
    release = sf.anonymize(file.address("people"), POLICY, output="table:released")
    sf.verify(release)
    rows = file.run("SELECT count(*) FROM released")[0][0]
    assert rows == 200 * 51
    assert max(fetched) <= 200


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_file_that_this_process_reads_elsewhere_is_published_all_the_same(file, tmp_path, form):
    """As while the workbench holds it open: connections of a process have the same rights."""
    reader = open_table(file.address("people"))
    made = sf.anonymize(file.address("people"), POLICY, output=tmp_path / "made", format=form)
    assert made.verdict.holds
    assert len(reader.head(1)) == 1
    alone = sf.anonymize(PEOPLE, POLICY, output=tmp_path / "alone", format=form)
    assert made.manifest.rows == alone.manifest.rows
