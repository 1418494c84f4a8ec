"""PostgreSQL that is gone in the middle: its connection, its server, the room on its disk."""

import contextlib
import subprocess

import psycopg
import pyarrow as pa
import pytest
from psycopg import Connection, Cursor, ServerCursor
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.errors import OutputError, SfumatoError
from sfumato.tables import open_table
from sfumato.tables.sql.database import Database
from sfumato.tables.sql.releases import UnfinishedRelease
from tests.tables.faults import Fault, counted, release, version_of
from tests.tables.test_releases import PEOPLE, POLICY


@pytest.fixture
def server(postgres):
    yield postgres
    postgres.clear()


@pytest.fixture
def cut(server):
    """Cut all connections but our own, and wait until they are."""

    def cut():
        server.connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )

    return cut


@pytest.fixture
def command(server, tmp_path):
    """Anonymise the table `people` from the command line."""
    (tmp_path / "policy.yaml").write_text(POLICY.to_yaml(), encoding="utf-8")

    def command():
        given = [server.address("people"), "-p", str(tmp_path / "policy.yaml")]
        return CliRunner().invoke(app, ["anonymize", *given, "-o", "table:released"])

    return command


def sabotage(patch, fault, spared):
    """Let the statements of all connections but one take the steps of a fault."""

    def around(kind, name, connection_of):
        plain = getattr(kind, name)
        taking_steps = fault.around(plain)

        def run(self, *args, **kwargs):
            chosen = plain if connection_of(self) is spared else taking_steps
            return chosen(self, *args, **kwargs)

        patch.setattr(kind, name, run)

    around(Cursor, "execute", lambda cursor: cursor.connection)
    around(ServerCursor, "execute", lambda cursor: cursor.connection)
    # This begins and ends transactions.
    around(Connection, "_exec_command", lambda connection: connection)


def test_whenever_the_connection_is_cut_all_is_there_or_nothing(server, cut, monkeypatch):
    monkeypatch.setattr(Database, "statement", lambda _, q: f"SELECT * FROM {q.get_name()}")
    server.stored(pa.table({"a": pa.array([1], pa.int64())}), "people")
    release(open_table((server.connection, "people"))._database, before := 0, force=False)
    at = 0
    while True:
        # After a statement is before the next one.
        at += 2
        fault = Fault(at, cut)
        with contextlib.closing(server.connect()) as connection:
            database = open_table((connection, "people"))._database
            with monkeypatch.context() as patch:
                sabotage(patch, fault, server.connection)
                with contextlib.suppress(SfumatoError):
                    release(database, at, force=True)
        assert version_of(server) in (before, at)
        assert server.tables() == {"people", "released", "released_manifest"}
        before = version_of(server)
        if not fault.happened:
            break
    assert version_of(server) == at > 20


MOMENTS = {
    "count": (Cursor, ServerCursor, "GROUP BY"),
    "publish": (Cursor, Cursor, "CREATE TABLE"),
    "rename": (Cursor, Cursor, "RENAME"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_cut_connection_is_told_in_one_line_and_it_can_be_done_again(
    server, cut, command, moment, monkeypatch
):
    server.stored(PEOPLE, "people")
    *kinds, word = MOMENTS[moment]
    with monkeypatch.context() as patch:
        for kind in set(kinds):
            execute = kind.execute

            def cutting(self, query, *args, execute=execute, **kwargs):
                if word in str(query) and self.connection is not server.connection:
                    cut()
                return execute(self, query, *args, **kwargs)

            patch.setattr(kind, "execute", cutting)
        ended = command()
    assert ended.exit_code == 2
    assert ended.stderr.startswith("sfumato: error: ")
    assert "terminating connection" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert server.tables() == {"people"}
    assert command().exit_code == 0


def test_a_server_that_stops_leaves_nothing_and_it_can_be_done_again(server, command, monkeypatch):
    server.stored(PEOPLE, "people")
    keep = UnfinishedRelease.store_manifest
    data = server.folder / "data"

    def stop_and_keep(self, text):
        server.run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        keep(self, text)

    with monkeypatch.context() as patch:
        patch.setattr(UnfinishedRelease, "store_manifest", stop_and_keep)
        ended = command()
    again = command()
    options = (data / "postmaster.opts").read_text().split(" ", 1)[1].replace('"', "").strip()
    server.run("pg_ctl", "-D", data, "-o", options, "-l", server.folder / "log", "-w", "start")
    server.connection.close()
    server.connection = server.connect()
    for each in (ended, again):
        assert each.exit_code == 2
        assert each.stderr.startswith("sfumato: error: ")
        assert "s3cret" not in each.stderr
    assert "Nothing was left in the database" in ended.stderr
    assert "cannot reach" in again.stderr
    assert server.tables() == {"people"}
    assert command().exit_code == 0


def test_when_the_last_answer_is_lost_nobody_says_what_became_of_it(server, cut, monkeypatch):
    server.stored(PEOPLE, "people")
    run = Connection._exec_command

    def losing(self, command, *args, **kwargs):
        result = yield from run(self, command, *args, **kwargs)
        if b"COMMIT" in command and server.tables() > {"people"}:
            cut()
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return result

    with monkeypatch.context() as patch:
        patch.setattr(Connection, "_exec_command", losing)
        with pytest.raises(OutputError, match=r"all of it or nothing is in the database"):
            sf.anonymize(server.address("people"), POLICY, output="table:released")
    assert server.tables() == {"people", "released", "released_manifest"}


def limit(server, connection, size):
    """Let the server's process for a connection write no file further than this."""
    process = connection.info.backend_pid
    command = ["prlimit", "--pid", str(process), f"--fsize={size}:"]
    # Only who runs it may do that, and in a container not even root.
    subprocess.run(command, user=server.user, check=True)


def test_a_disk_that_fills_leaves_no_table(server):
    # Beyond what the server writes ahead in one file.
    server.connection.execute(
        "CREATE TABLE people AS SELECT i % 7 AS age, repeat(md5(i::text), 50) AS note "
        "FROM generate_series(1, 11000) t(i)"
    )
    server.connection.execute("ALTER TABLE people ALTER note SET STORAGE PLAIN")
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "note": "plain"}, models=[sf.models.KAnonymity(5)]
    )
    with contextlib.closing(server.connect()) as connection:
        limit(server, connection, 16 * 2**20)
        with pytest.raises(OutputError, match=r"File too large.*Nothing was left"):
            sf.anonymize((connection, "people"), policy, output="table:released")
        limit(server, connection, "unlimited")
        assert server.tables() == {"people"}
        again = sf.anonymize((connection, "people"), policy, output="table:released")
    expected = sf.anonymize(pa.table(server.read("people")), policy)
    assert counted(server.read("released")) == counted(expected.table)
    assert again.manifest.table.rows == 11000
