"""Addresses of tables where a file or a folder may stand, and what happens if they are wrong."""

import gc
import json

import pytest

from tests.cli.conftest import BESIDE, everything_in
from tests.tables.databases import imported


@pytest.fixture
def clinic(patients):
    """The four patients in a DuckDB file."""
    connect = imported("duckdb", "duckdb").connect

    def ask(statement):
        # What a command that failed had open is held by its traceback, here where it is kept.
        gc.collect()
        with connect("clinic.db") as connection:
            return connection.execute(statement).fetchall()

    ask("CREATE TABLE patients AS FROM 'patients.csv'")
    return ask


def tables(ask):
    return {name for (name,) in ask("SELECT table_name FROM information_schema.tables")}


PATIENTS = "duckdb:///clinic.db?table=patients"
RELEASED = "duckdb:///clinic.db?table=released"


@pytest.mark.usefixtures("patience")
def test_a_release_is_made_in_the_database_and_verified_there(clinic, run):
    result = run("anonymize", PATIENTS, "-p", "policy.yaml", "-o", "table:released")
    assert result.exit_code == 0, result.output
    assert f"The release is in {RELEASED}; all" in result.stderr
    assert tables(clinic) == {"patients", "released", "released_manifest"}
    assert clinic("SELECT count(*) FROM released") == [(4,)]
    assert run("verify", RELEASED, "--only-promises").exit_code == 0
    assert run("verify", RELEASED, "-p", "policy.yaml", "--only-promises").exit_code == 0
    clinic("DELETE FROM released WHERE ill = 'hiv'")
    result = run("verify", RELEASED, "--only-promises")
    assert result.exit_code == 1
    assert "promised 4" in result.output or "broken" in result.output


@pytest.mark.usefixtures("patience")
def test_json_says_where_it_is(clinic, run):
    result = run("anonymize", PATIENTS, "-p", "policy.yaml", "-o", RELEASED, "--json")
    plain = json.loads(result.stdout)
    assert (plain["folder"], plain["place"]) == (None, RELEASED)
    assert plain["verdict"]["holds"] is True


@pytest.mark.usefixtures("patience")
def test_a_release_is_made_in_a_folder(clinic, patients, run):
    result = run("anonymize", PATIENTS, "-p", "policy.yaml", "-o", "release/")
    assert result.exit_code == 0, result.output
    assert "The release is in release; all" in result.stderr
    assert everything_in(patients / "release") == {"data.parquet", *BESIDE}


@pytest.mark.usefixtures("patience")
def test_other_commands_take_addresses(clinic, run):
    run("anonymize", PATIENTS, "-p", "policy.yaml", "-o", "table:released")
    for command in (
        ["inspect", PATIENTS],
        ["init", PATIENTS, "-o", "draft.yaml"],
        ["detect", RELEASED],
        ["utility", PATIENTS, RELEASED],
        ["decouple", RELEASED, "-o", "broken"],
        ["verify", RELEASED, "--data", PATIENTS, "-p", "policy.yaml", "--threshold", "1"],
        ["verify", RELEASED, "--format", "junit", "--only-promises"],
    ):
        result = run(*command)
        assert result.exit_code in (0, 1), (command, result.output)
        assert "fault" not in result.output


WRONG = {
    "no file": ("duckdb:///other.db?table=patients", "there is no file other.db"),
    "no table": ("duckdb:///clinic.db?table=patient", "patient"),
    "no name": ("duckdb:///clinic.db", "does not name one table"),
    "no database": ("duckdb:///policy.yaml?table=patients", "cannot be read"),
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("command", ["anonymize", "verify", "inspect"])
def test_a_wrong_address_is_said_and_nothing_is_left(clinic, patients, run, command, what):
    before = everything_in(patients)
    address, text = WRONG[what]
    more = ["-p", "policy.yaml", "-o", "table:released"] if command == "anonymize" else []
    result = run(command, address, *more)
    assert result.exit_code == 2
    assert text in result.stderr
    assert everything_in(patients) == before
    assert tables(clinic) == {"patients"}


@pytest.mark.usefixtures("patience")
def test_a_database_that_may_not_be_written_is_said(clinic, patients, run):
    result = run("anonymize", PATIENTS, "-p", "policy.yaml", "-o", "table:nowhere.released")
    assert result.exit_code == 2
    assert "nowhere" in result.stderr
    assert tables(clinic) == {"patients"}


@pytest.mark.parametrize("command", ["verify", "inspect", "detect", "anonymize"])
def test_a_password_is_never_shown(patients, run, command):
    imported("psycopg", "postgres")
    address = "postgres://zoe:s3cret@127.0.0.1:1/clinic?table=people&connect_timeout=1"
    more = ["-p", "policy.yaml", "-o", address] if command == "anonymize" else []
    more = more or (["--qi", "age"] if command != "inspect" else [])
    result = run(command, address, *more)
    assert result.exit_code == 2, result.output
    assert "s3cret" not in result.output
    assert "zoe" not in result.stderr
