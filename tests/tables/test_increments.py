"""Publishing on a ledger from and into a database: what the embedded engine does, done there."""

import json
import sqlite3

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import sfumato as sf
from sfumato.errors import InputError, OutputError, ParameterError, VerificationError
from sfumato.ledger import chain
from sfumato.ledger.publishing import outputs as increment_tables
from sfumato.releases import places
from sfumato.tables import open_table
from sfumato.tables.sql.releases import Staging, UnfinishedRelease
from tests.ledger.releases import cells_of
from tests.tables import databases
from tests.tables.test_ibis_edges import duckdb_boundary, postgres_boundary

pytestmark = databases.LEAVES_SOCKETS_OPEN

NAMES = ("age", 'the "town"', "ill", "pay")
POLICY = sf.Policy(
    columns={
        "age": {"role": "quasi-identifier", "hierarchy": sf.hierarchy.Intervals(widths=[10])},
        'the "town"': "quasi-identifier",
        "ill": "sensitive",
        "pay": "sensitive",
    },
    models=[sf.models.KAnonymity(2)],
)
ILLS, PAYS = ["flu", "gout", "hiv", None], ["low", "high"]


def table_of(rows):
    kinds = (pa.int64(), pa.string(), pa.string(), pa.string())
    columns = zip(*rows, strict=True) if rows else [[]] * len(NAMES)
    return pa.table(
        [pa.array(c, kind) for c, kind in zip(columns, kinds, strict=True)], names=list(NAMES)
    )


def people(n, seed, ages=(20, 30), towns=("Ulm", None)):
    rng = np.random.default_rng(seed)
    return table_of(
        [
            (
                int(ages[rng.integers(len(ages))] + rng.integers(10)),
                towns[rng.integers(len(towns))],
                ILLS[rng.integers(4)],
                PAYS[rng.integers(2)],
            )
            for _ in range(n)
        ]
    )


FIRST = people(60, 0)


def said(done):
    """What was decided, without where it is and when it was."""
    plain = done.to_dict()
    return {key: plain[key] for key in plain if key not in ("ledger", "head", "folder", "place")}


def kept(ledger):
    """What a ledger holds of its increments; the rest has to do with time, salt and numbering."""
    found = sf.Ledger(ledger)
    entries = [[entry[key] for key in ("sequence", "kind", "rows")] for entry in found.history]
    tables = [cells_of(found.contents(number).tables) for number, *_ in entries]
    with sqlite3.connect(ledger) as db:
        others = [
            sorted(map(repr, db.execute(rows)))
            for rows in (
                "SELECT kind, labels, row, new_labels, new_row, rows, since FROM waiting",
                "SELECT * FROM paths",
            )
        ]
    db.close()
    return entries, tables, others


def described(manifest):
    files = [(file["rows"], file["table"], file.get("column")) for file in manifest["files"]]
    documents = {"documents": None}  # a database has no folder to put them into
    increment = {"increment": {**manifest.get("increment", {}), "ledger": 0}}
    return {**manifest, "files": files, **increment, **documents}


def manifest_in(database, name):
    [[text]] = [column.to_pylist() for column in database.read(f"{name}_manifest").columns]
    return json.loads(text)


def rows_of(table):
    return sorted(zip(*table.to_pydict().values(), strict=True), key=repr)


def same_release(database, name, folder, *, cells=True):
    embedded = json.loads((folder / "manifest.json").read_text())
    stored = manifest_in(database, name)
    assert described(stored) == described(embedded)
    for file, other in zip(stored["files"], embedded["files"], strict=True):
        expected = parquet.read_table(folder / other["name"])
        found = database.read(file["name"])
        assert found.column_names == expected.column_names
        assert found.num_rows == expected.num_rows
        assert not cells or rows_of(found) == rows_of(expected)


class Pair:
    """The same ledger twice: on tables of a database, and embedded."""

    def __init__(self, database, folder):
        self.database, self.folder = database, folder
        self.stored, self.plain = folder / "stored.ledger", folder / "plain.ledger"
        self.n = 1

    def start(self, release, alpha):
        """Start both from a release that is in no database."""
        for ledger in (self.stored, self.plain):
            sf.Ledger.start(release, ledger, alpha=alpha, policy=POLICY, above=True)
        return self

    def start_there(self):
        """Start one from a release in the database."""
        place = self.database.stored(FIRST, "people")
        released = sf.anonymize(place, POLICY, output="table:released")
        sf.decouple(released, output="table:march", seed=1)
        embedded = sf.decouple(sf.anonymize(FIRST, POLICY), seed=1)
        more = {"alpha": 0.6, "policy": POLICY, "above": True}
        one = sf.Ledger.start((place[0], "march"), self.stored, source=place, **more)
        other = sf.Ledger.start(embedded, self.plain, source=FIRST, **more)
        assert said(one.started) == said(other.started)
        self.same_ledger()
        return self

    def publish(self, table, *, how="stored", compare_cells=True, **more):
        """Publish the same rows on both, and compare everything that can be."""
        self.n += 1
        name = f"r{self.n}"
        rows = getattr(self.database, how)(table, *([f"new{self.n}"] if how == "stored" else []))
        one = sf.Ledger(self.stored).publish(rows, output=f"table:{name}", seed=self.n, **more)
        output = self.folder / name
        other = sf.Ledger(self.plain).publish(
            table, output=output, format="parquet", seed=self.n, **more
        )
        assert said(one) == said(other)
        assert (one.place is None) == (other.folder is None)
        if one.place is not None:
            same_release(self.database, name, output, cells=compare_cells)
        self.same_ledger()
        return one

    def same_ledger(self):
        assert kept(self.stored) == kept(self.plain)
        assert sf.Ledger(self.stored).verify() == []


@pytest.fixture(scope="module")
def release():
    return sf.decouple(sf.anonymize(FIRST, POLICY), seed=1)


@pytest.fixture
def pair(quick_database, tmp_path, release):
    return Pair(quick_database, tmp_path).start(release, 0.6)


def staged_in(database):
    return {name for name in database.tables() if name.startswith("sfumato_")}


@pytest.mark.usefixtures("patience")
def test_a_ledger_grows_in_the_database_as_it_does_embedded(quick_database, tmp_path):
    pair = Pair(quick_database, tmp_path).start_there()
    done = pair.publish(people(30, 1, ages=(20, 30, 50)), how="load")
    assert done.admitted > 0
    assert done.to_dict()["place"] == done.place == "table:r2"
    pair.publish(people(20, 2, ages=(30, 50)), whole=True)
    assert not staged_in(pair.database)
    connection = pair.database.stored(FIRST.slice(0, 1), "any")[0]
    found = sf.verify((connection, "r3"), earlier=(connection, "march"))
    assert found.verdict.holds
    assert "composition" in {each.attack for each in found.attacks}


AS_TEXT = {pa.binary(), pa.time64("us"), pa.time64("ns"), pa.time32("ms"), pa.time32("s")}
ROWS = st.lists(
    st.tuples(
        st.sampled_from([21, 25, 33, 57]),
        st.sampled_from(["Ulm", None]),
        st.sampled_from(ILLS),
        st.sampled_from(PAYS),
    ),
    min_size=1,
    max_size=40,
)


@pytest.mark.usefixtures("patience")
@settings(max_examples=8)
@given(increments=st.lists(ROWS, min_size=1, max_size=3), alpha=st.sampled_from([0.5, 0.75, 1]))
def test_increments_are_decided_as_embedded(
    quick_database, tmp_path_factory, release, increments, alpha
):
    quick_database.clear()
    pair = Pair(quick_database, tmp_path_factory.mktemp("pair")).start(release, alpha)
    for rows in increments:
        pair.publish(table_of(rows), again=True)


@pytest.mark.usefixtures("patience")
@settings(max_examples=8)
@given(data=st.data())
def test_odd_tables_grow_as_embedded_and_keep_their_types(quick_database, tmp_path_factory, data):
    database, folder = quick_database, tmp_path_factory.mktemp("odd")
    database.clear()
    table = data.draw(databases.tables_for(database, min_columns=2, max_columns=3))
    *names, last = table.column_names
    place = database.stored(table, "people")
    roles = {"quasi_identifiers": names, "sensitive": [last], "seed": 1}
    sf.decouple(place, output="table:march", **roles)
    pair = Pair(database, folder)
    sf.Ledger.start((place[0], "march"), pair.stored, alpha=1, k=1)
    sf.Ledger.start(sf.decouple(table, **roles), pair.plain, alpha=1, k=1)
    pair.publish(table, compare_cells=False)
    pair.publish(table, compare_cells=False, again=True, whole=True)
    first, later = (manifest_in(database, name)["files"] for name in ("march", "r3"))
    for one, other in zip(first, later, strict=True):
        before, after = (open_table((place[0], file["name"])) for file in (one, other))
        for name in before.columns:
            # Arrow reads neither times nor bytes from text.
            assert before.type_of(name) == after.type_of(name) or table[name].type in AS_TEXT


def test_a_ledger_grows_in_spark(spark, tmp_path):
    table = people(12, 0, towns=("Ulm",)).set_column(0, "age", pa.array(["20-29"] * 12))
    try:
        place = spark.stored(table, "people")
        roles = {"quasi_identifiers": NAMES[:2], "sensitive": NAMES[2:], "seed": 1}
        sf.decouple(place, output="table:march", **roles)
        ledgers = [tmp_path / "stored.ledger", tmp_path / "plain.ledger"]
        sf.Ledger.start((spark.session, "march"), ledgers[0], alpha=1, k=2)
        sf.Ledger.start(sf.decouple(table, **roles), ledgers[1], alpha=1, k=2)
        new = table.slice(0, 6)
        one = sf.Ledger(ledgers[0]).publish(spark.load(new), output="table:april", seed=1)
        other = sf.Ledger(ledgers[1]).publish(
            new, output=tmp_path / "april", format="parquet", seed=1
        )
        assert said(one) == said(other)
        assert one.admitted > 0
        assert kept(ledgers[0]) == kept(ledgers[1])
        same_release(spark, "april", tmp_path / "april")
        assert not staged_in(spark)
    finally:
        spark.clear()


@pytest.mark.usefixtures("patience")
def test_people_leave_and_are_corrected_where_they_are(pair):
    """All of one group leave; of the others some are to be corrected."""
    ages, towns = FIRST["age"].to_pylist(), FIRST['the "town"'].to_pylist()
    mine = [age < 30 and town == "Ulm" for age, town in zip(ages, towns, strict=True)]
    leaving, rows = FIRST.filter(pa.array(mine)), FIRST.filter(pa.array([not m for m in mine]))
    rows = rows.slice(0, 8)
    changed = rows.append_column("old_pay", rows["pay"])
    changed = changed.set_column(3, "pay", pa.array(["mid"] * 8))
    gone = pair.database.stored(leaving, "gone")
    corrected = pair.database.stored(changed, "corrected")
    one = sf.Ledger(pair.stored).publish(delete=gone, correct=corrected, output="table:r2", seed=5)
    other = sf.Ledger(pair.plain).publish(
        delete=leaving, correct=changed, output=pair.folder / "r2", format="parquet", seed=5
    )
    assert said(one) == said(other)
    assert one.left == len(leaving)
    assert one.corrected + one.leaving == 8
    record = manifest_in(pair.database, "r2")["increment"]
    assert (record["sequence"], record["tables"]) == (2, "all")
    same_release(pair.database, "r2", pair.folder / "r2")


@pytest.mark.usefixtures("patience")
def test_rows_of_a_database_can_be_published_to_a_folder(pair):
    new = pair.database.stored(people(30, 1), "new")
    done = sf.Ledger(pair.stored).publish(new, output=pair.folder / "april")
    assert sf.verify(pair.folder / "april").verdict.holds
    assert (done.folder, done.place) == (pair.folder / "april", None)


@pytest.mark.usefixtures("patience")
def test_an_increment_in_a_database_is_signed(pair):
    new = pair.database.stored(people(30, 1), "new")
    key = sf.evidence.SigningKey.generate()
    sf.Ledger(pair.stored).publish(new, output="table:april", key=key, even_so=True)
    assert sf.check_evidence((new[0], "april"), key.public).holds
    assert {"april_evidence", "april_manifest"} < pair.database.tables()


def many(n):
    """Many rows, and few that differ."""
    return pa.concat_tables([FIRST] * (n // 60))


@pytest.mark.usefixtures("patience")
def test_rows_do_not_pass_through_python(quick_database, tmp_path, release, monkeypatch):
    database = quick_database
    try:
        pair = Pair(database, tmp_path).start(release, 0.6)
        new = database.stored(many(6000), "new")
        boundary = (
            duckdb_boundary(open_table(new), monkeypatch)
            if database.name == "duckdb"
            else postgres_boundary(monkeypatch)
        )
        done = sf.Ledger(pair.stored).publish(new, output="table:april")
        monkeypatch.undo()
        assert done.admitted > 3000
        assert database.read("april").num_rows == done.admitted
        # What was counted, and what the verifier counted: groups, and the values of each.
        assert len(FIRST.group_by(list(NAMES)).aggregate([])) < boundary.rows < 300
    finally:
        database.clear()


class Stop(BaseException):
    """A process that ends here and now."""


def interrupted(monkeypatch, pair, where, name):
    """Publish, and be stopped at some place, with no chance to clean up."""
    new = pair.database.stored(people(30, 1), "new")

    def stop(*_, **__):
        raise Stop

    def nothing(*_):
        pass

    with monkeypatch.context() as patch:
        patch.setattr(where, name, stop)
        patch.setattr(Staging, "_drop", nothing)
        with pytest.raises(Stop):
            sf.Ledger(pair.stored).publish(new, output="table:april", seed=1)
    return new


@pytest.mark.usefixtures("patience")
def test_a_publish_that_ends_before_the_record_never_was(pair, monkeypatch):
    before = pair.database.tables()
    new = interrupted(monkeypatch, pair, chain, "append")
    assert len(sf.Ledger(pair.stored).history) == 1
    assert pair.database.tables() - before - {"new"} == staged_in(pair.database) != set()
    done = sf.Ledger(pair.stored).publish(new, output="table:may")
    assert done.sequence == 2
    assert not staged_in(pair.database)
    assert "april" not in pair.database.tables()


@pytest.mark.usefixtures("patience")
def test_a_publish_that_ends_after_the_record_is_made_up_for(pair, monkeypatch):
    new = interrupted(monkeypatch, pair, increment_tables.TablesOutput, "finish")
    assert len(sf.Ledger(pair.stored).history) == 2
    assert "april" not in pair.database.tables()
    elsewhere = sf.Ledger(pair.stored).publish(people(3, 3), dry_run=True)
    assert "Publish rows of that database" in elsewhere.warnings[0]
    with pytest.raises(InputError, match="given before"):
        sf.Ledger(pair.stored).publish(new, output="table:april2", seed=1)
    assert not staged_in(pair.database)
    assert sf.verify((new[0], "april")).verdict.holds
    assert sf.Ledger(pair.stored).publish(pair.database.load(people(3, 3))).warnings == ()
    assert sf.Ledger(pair.stored).verify() == []


@pytest.mark.usefixtures("patience")
def test_a_name_that_was_taken_meanwhile_is_waited_for(pair, monkeypatch):
    new = interrupted(monkeypatch, pair, increment_tables.TablesOutput, "finish")
    pair.database.stored(FIRST, "april")
    done = sf.Ledger(pair.stored).publish(new, again=True, output="table:may", seed=2)
    assert "there is a table april already" in done.warnings[0]
    assert staged_in(pair.database)
    assert pair.database.read("april").num_rows == 60
    pair.database.connection.execute("DROP TABLE april")
    assert sf.Ledger(pair.stored).publish(new, again=True, dry_run=True).warnings == ()
    assert not staged_in(pair.database)
    assert sf.verify((new[0], "april")).verdict.holds


@pytest.mark.usefixtures("patience")
def test_what_fails_changes_neither_the_ledger_nor_the_database(pair, monkeypatch):
    new = pair.database.stored(people(30, 1), "new")
    before = pair.database.tables()

    def full(*args, **more):
        raise sqlite3.OperationalError("database or disk is full")

    def wrong(*args, **more):
        return sf.verifier.Verdict((sf.verifier.Check("rows", "broken"),))

    for where, name, what, error in (
        (chain, "append", full, OutputError),
        (places, "verify_tables", wrong, VerificationError),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(where, name, what)
            with pytest.raises(error):
                sf.Ledger(pair.stored).publish(new, output="table:april")
        assert pair.database.tables() == before
        assert len(sf.Ledger(pair.stored).history) == 1
    assert sf.Ledger(pair.stored).publish(new, output="table:april").place == "table:april"


@pytest.mark.usefixtures("patience")
def test_what_cannot_be_published_is_refused_before_anything_is_done(pair):
    database = pair.database
    new = database.stored(people(30, 1), "new")
    roles = {"quasi_identifiers": NAMES[:2], "sensitive": NAMES[2:]}
    sf.decouple(database.stored(FIRST, "people"), output="table:march", **roles)
    database.connection.execute(
        'CREATE TABLE nested AS SELECT 20 AS age, \'Ulm\' AS "the ""town""", '
        "ARRAY['flu'] AS ill, 'low' AS pay"
    )
    before = database.tables()

    def refused(error, match, data=new, output="table:april", **more):
        with pytest.raises(error, match=match):
            sf.Ledger(pair.stored).publish(data, output=output, **more)
        assert database.tables() == before
        assert len(sf.Ledger(pair.stored).history) == 1

    refused(OutputError, "there is a table march already", output="table:march")
    refused(OutputError, "there is a table new already", output="table:new")
    refused(ParameterError, "left out when the output is a table", format="csv")
    refused(OutputError, "the table is in no database", data=people(3, 1))
    refused(InputError, "is a release, not new rows", data=(new[0], "march"))
    refused(InputError, "cannot be read", data=(new[0], "nothing"))
    refused(InputError, "no single value", data=(new[0], "nested"))
    database.connection.execute("BEGIN")
    refused(OutputError, "is in a transaction")
    database.connection.execute("ROLLBACK")
    with pytest.raises(InputError, match="table people is none"):
        sf.Ledger.start((new[0], "people"), pair.folder / "other.ledger", alpha=0.5)
    assert not (pair.folder / "other.ledger").exists()


def cut(postgres):
    postgres.connection.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )


@pytest.mark.parametrize("moment", [(UnfinishedRelease, "store_manifest"), (Staging, "settle")])
def test_a_connection_that_is_cut(postgres, tmp_path, release, monkeypatch, moment):
    where, name = moment
    does = getattr(where, name)

    def cut_first(*arguments):
        cut(postgres)
        return does(*arguments)

    try:
        pair = Pair(postgres, tmp_path).start(release, 0.6)
        postgres.stored(people(30, 1), "new")
        before = postgres.tables()
        more = {"output": "table:april", "seed": 1}
        with monkeypatch.context() as patch:
            patch.setattr(where, name, cut_first)
            with pytest.raises(OutputError) as refused:
                sf.Ledger(pair.stored).publish(postgres.address("new"), **more)
        recorded = name == "settle"
        assert ("is in the ledger" in str(refused.value)) == recorded
        assert "s3cret" not in str(refused.value)
        assert len(sf.Ledger(pair.stored).history) == 1 + recorded
        assert "april" not in postgres.tables()
        assert (postgres.tables() == before) != recorded
        again = sf.Ledger(pair.stored).publish(
            postgres.address("new"), dry_run=recorded, again=True, **{} if recorded else more
        )
        assert again.warnings == ()
        assert sf.verify((postgres.connection, "april")).verdict.holds
        assert not staged_in(postgres)
    finally:
        postgres.clear()


def test_who_may_not_create_tables_publishes_nothing(postgres, tmp_path, release):
    pair = Pair(postgres, tmp_path).start(release, 0.6)
    postgres.stored(people(30, 1), "new")
    try:
        postgres.connection.execute("CREATE ROLE reader LOGIN PASSWORD 's3cret@:/?'")
        postgres.connection.execute("GRANT SELECT ON new TO reader")
        with pytest.raises(OutputError, match="permission denied"):
            sf.Ledger(pair.stored).publish(
                postgres.address("new", user="reader"), output="table:april"
            )
        assert postgres.tables() == {"new"}
        assert len(sf.Ledger(pair.stored).history) == 1
    finally:
        postgres.clear()
        postgres.connection.execute("DROP ROLE reader")


def test_a_ledger_works_on_a_server_by_addresses_alone(postgres, tmp_path):
    """Every table by its address, as a command gives it: nobody else holds a connection."""
    postgres.clear()
    address = postgres.address
    postgres.stored(FIRST, "people")
    sf.anonymize(address("people"), POLICY, output="table:released")
    sf.decouple(address("released"), output="table:march")
    path = tmp_path / "x.ledger"
    more = {"alpha": 0.9, "policy": POLICY, "source": address("people")}
    assert sf.Ledger.start(address("march"), path, **more).started.admitted == len(FIRST)
    postgres.stored(people(40, 1), "april")
    done = sf.Ledger(path).publish(address("april"), output="table:more")
    assert done.admitted
    assert "s3cret" not in str(done.place)
    assert sf.verify(address("more")).verdict.holds
    postgres.clear()
