"""A release in a database: what the embedded engine decides, in tables that appear together."""

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, OutputError, VerificationError
from sfumato.releases import places
from tests.tables import databases

PEOPLE = pa.table(
    {
        "name": [f"person {i}" for i in range(60)],
        "age": pa.array([20 + i % 7 for i in range(60)], pa.int64()),
        'the "sex"': ["f" if i % 3 else "m" for i in range(59)] + [None],
        "ill": pa.array([["flu", "hiv", "gout", None][i * 7 % 4] for i in range(60)], pa.string()),
    }
)
POLICY = sf.Policy(
    columns={
        "name": "identifier",
        "age": "quasi-identifier",
        'the "sex"': "quasi-identifier",
        "ill": "sensitive",
    },
    models=[sf.models.KAnonymity(4), sf.models.DistinctLDiversity("ill", 2)],
)
METHODS = ["full-domain", "regional", "top-down", "mondrian"]

pytestmark = databases.LEAVES_SOCKETS_OPEN


def without_place(manifest):
    return {key: part for key, part in manifest.items() if key not in ("table", "files")}


def attacked(assessment):
    return [(each.attack, each.column, each.people, each.posterior) for each in assessment.attacks]


def kept(verdict):
    """The checks that a table in a database and one in memory have in common."""
    only_stored = ("manifest", "metadata", "columns")
    return [check.to_dict() for check in verdict.checks if check.name not in only_stored]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
def test_a_release_is_what_the_embedded_engine_makes_of_the_same_rows(database, method):
    source = database.stored(PEOPLE, "people")
    release = sf.anonymize(source, POLICY, method=method, output="table:released")
    embedded = sf.anonymize(PEOPLE, POLICY, method=method)
    assert without_place(release.manifest.to_dict()) == without_place(embedded.manifest.to_dict())
    assert release.manifest.to_dict()["table"] == {"name": "released", "rows": 60}
    assert kept(release.verdict) == kept(embedded.verdict)
    assert (release.folder, release.table, release.place) == (None, None, "table:released")
    assert database.tables() == {"people", "released", "released_manifest"}
    [[text]] = [column.to_pylist() for column in database.read("released_manifest").columns]
    assert text == release.manifest.to_json()
    assert database.read("released").column_names == ["age", 'the "sex"', "ill"]


@pytest.mark.usefixtures("patience")
def test_a_release_is_verified_and_attacked_where_it_is(database):
    source = database.stored(PEOPLE, "people")
    release = sf.anonymize(source, POLICY, output="table:released")
    expected = sf.verify(sf.anonymize(PEOPLE, POLICY))
    # Whoever made it is held to the policy; whoever opens it again has to name it.
    for found in (sf.verify(release), sf.verify((source[0], "released"), POLICY)):
        assert found.holds
        assert kept(found.verdict) == kept(expected.verdict)
        assert attacked(found) == attacked(expected)
        assert found["policy"].status == "holds"


@pytest.mark.usefixtures("patience")
def test_a_release_is_decoupled_where_it_is(database):
    source = database.stored(PEOPLE, "people")
    release = sf.anonymize(source, POLICY, output="table:released")
    decoupled = sf.decouple(release, output="table:broken")
    expected = sf.decouple(sf.anonymize(PEOPLE, POLICY))
    assert decoupled.manifest.models == expected.manifest.models
    assert database.read("broken").num_rows == 60
    assert database.tables() == {
        *("people", "released", "released_manifest"),
        *("broken", "broken_sensitive_ill", "broken_manifest"),
    }
    found = sf.verify((source[0], "broken"))
    assert found.verdict.holds
    assert attacked(found) == attacked(sf.verify(expected))


def test_a_table_that_promises_nothing_is_held_to_a_policy(database):
    source = database.stored(PEOPLE, "people")
    found, expected = sf.verify(source, POLICY), sf.verify(PEOPLE, POLICY)
    assert [(c.name, c.status, c.found) for c in found.verdict.checks] == [
        (c.name, c.status, c.found) for c in expected.verdict.checks
    ]
    assert attacked(found) == attacked(expected)
    assert found["identifiers"].status == "broken"


def test_a_table_that_has_no_name_is_looked_at_too(database):
    rows = database.load(PEOPLE)
    found, expected = sf.verify(rows, POLICY), sf.verify(PEOPLE, POLICY)
    assert [check.found for check in found.verdict.checks] == [
        check.found for check in expected.verdict.checks
    ]


@pytest.mark.usefixtures("patience")
def test_somebody_who_changes_the_table_is_found_out(quick_database):
    database = quick_database
    connection, _ = source = database.stored(PEOPLE, "people")
    sf.anonymize(source, POLICY, output="table:released")
    more = database.read("released").slice(0, 1)
    database.connection.execute("DROP TABLE released")
    changed = pa.concat_tables([more, more]).cast(text_of_all(more.schema))
    database.stored(changed, "released")
    found = sf.verify((connection, "released"), attacks=False)
    assert not found.holds
    assert found["rows"].found == 2


def text_of_all(schema):
    return pa.schema([(field.name, pa.string()) for field in schema])


def test_nothing_is_left_if_it_does_not_hold(database, monkeypatch):
    source = database.stored(PEOPLE, "people")

    def wrong(relation, text, **more):
        return sf.verifier.Verdict((sf.verifier.Check("rows", "broken"),))

    monkeypatch.setattr(places, "verify_stored", wrong)
    with pytest.raises(VerificationError):
        sf.anonymize(source, POLICY, output="table:released")
    assert database.tables() == {"people"}


def test_nothing_is_left_if_its_manifest_cannot_be_stored(quick_database, monkeypatch):
    database = quick_database
    source = database.stored(PEOPLE, "people")

    def broken(unfinished, text):
        raise InputError("the disk is full.")

    monkeypatch.setattr("sfumato.tables.sql.releases.UnfinishedRelease.store_manifest", broken)
    with pytest.raises(OutputError, match="Nothing was left"):
        sf.anonymize(source, POLICY, output="table:released")
    assert database.tables() == {"people"}


@pytest.mark.usefixtures("patience")
def test_a_release_is_replaced_only_if_asked_and_nothing_else_ever(database):
    source = database.stored(PEOPLE, "people")
    sf.anonymize(source, POLICY, output="table:released")
    before = database.read("released_manifest").to_pydict()
    with pytest.raises(OutputError, match="there is a table released already"):
        sf.anonymize(source, POLICY, output="table:released", method="mondrian")
    assert database.read("released_manifest").to_pydict() == before
    sf.anonymize(source, POLICY, output="table:released", method="mondrian", force=True)
    assert database.read("released_manifest").to_pydict() != before
    assert database.tables() == {"people", "released", "released_manifest"}
    database.stored(PEOPLE, "others")
    with pytest.raises(OutputError, match="others exists and is not a release"):
        sf.anonymize(source, POLICY, output="table:others", force=True)
    with pytest.raises(OutputError, match="is the table that is to be published"):
        sf.anonymize(source, POLICY, output="table:people", force=True)
    assert database.read("others").num_rows == 60


@pytest.mark.usefixtures("patience")
def test_an_older_release_stays_if_the_newer_one_fails(database, monkeypatch):
    source = database.stored(PEOPLE, "people")
    sf.anonymize(source, POLICY, output="table:released")
    before = database.read("released_manifest").to_pydict()
    renamed = type(sf.tables.open_table(source)._database).rename

    def fails_for_the_manifest(self, name, to):
        if to == ("released_manifest",) and "unfinished" in name[-1]:
            raise InputError("the connection is lost.")
        renamed(self, name, to)

    kind = type(sf.tables.open_table(source)._database)
    monkeypatch.setattr(kind, "rename", fails_for_the_manifest)
    with pytest.raises(OutputError, match="the connection is lost"):
        sf.anonymize(source, POLICY, output="table:released", method="mondrian", force=True)
    assert database.tables() == {"people", "released", "released_manifest"}
    assert database.read("released_manifest").to_pydict() == before
    assert database.read("released").num_rows == 60


@pytest.mark.usefixtures("patience")
def test_a_name_cannot_break_out_of_a_statement(quick_database):
    database = quick_database
    source = database.stored(PEOPLE, "people")
    evil = 'x"; DROP TABLE people; --'
    written = '"' + evil.replace('"', '""') + '"'
    release = sf.anonymize(source, POLICY, output=f"table:{written}")
    assert database.tables() == {"people", evil, f"{evil}_manifest"}
    assert sf.verify(release).holds


@pytest.mark.usefixtures("patience")
@settings(max_examples=15)
@given(data=st.data())
def test_odd_tables_are_released_as_by_the_embedded_engine(quick_database, data):
    database = quick_database
    database.clear()
    table = data.draw(databases.tables_for(database, min_columns=2))
    assume(table.num_rows > 1)
    *names, last = table.column_names
    policy = sf.Policy(
        columns={**dict.fromkeys(names, "quasi-identifier"), last: "sensitive"},
        models=[sf.models.KAnonymity(2)],
    )
    source = database.stored(table, "people")
    method = data.draw(st.sampled_from(METHODS))
    release = sf.anonymize(source, policy, method=method, output="table:released")
    embedded = sf.anonymize(table, policy, method=method)
    assert without_place(release.manifest.to_dict()) == without_place(embedded.manifest.to_dict())
    assert kept(release.verdict) == kept(embedded.verdict)


def test_who_may_not_create_tables_is_told_so(postgres):
    postgres.stored(PEOPLE, "people")
    try:
        postgres.connection.execute("CREATE ROLE reader LOGIN PASSWORD 's3cret@:/?'")
        postgres.connection.execute("GRANT SELECT ON people TO reader")
        with pytest.raises(OutputError, match="permission denied") as refused:
            sf.anonymize(postgres.address("people", user="reader"), POLICY, output="table:released")
        assert "s3cret" not in str(refused.value)
        assert postgres.tables() == {"people"}
    finally:
        postgres.clear()
        postgres.connection.execute("DROP ROLE reader")


@pytest.mark.parametrize("moment", ["keep", "verify"])
def test_a_connection_that_is_cut_leaves_nothing_and_it_can_be_done_again(
    postgres, monkeypatch, moment
):
    from sfumato.tables.sql.releases import UnfinishedRelease

    postgres.stored(PEOPLE, "people")
    keep, verify = UnfinishedRelease.store_manifest, places.verify_stored

    def cut():
        postgres.connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )

    def cut_and_keep(self, text):
        cut()
        keep(self, text)

    def cut_and_verify(relation, text, **more):
        cut()
        return verify(relation, text, **more)

    try:
        with monkeypatch.context() as patch:
            if moment == "keep":
                patch.setattr(UnfinishedRelease, "store_manifest", cut_and_keep)
            else:
                patch.setattr(places, "verify_stored", cut_and_verify)
            with pytest.raises(OutputError, match="Nothing was left"):
                sf.anonymize(postgres.address("people"), POLICY, output="table:released")
        assert postgres.tables() == {"people"}
        release = sf.anonymize(postgres.address("people"), POLICY, output="table:released")
        assert "s3cret" not in release.place
        assert sf.verify(release).verdict.holds
    finally:
        postgres.clear()
