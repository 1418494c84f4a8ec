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
from tests.ledger.crashing import NEW
from tests.ledger.releases import START, grouped_of, table_of
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


def start_again(server):
    data = server.folder / "data"
    options = (data / "postmaster.opts").read_text().split(" ", 1)[1].replace('"', "").strip()
    server.run("pg_ctl", "-D", data, "-o", options, "-l", server.folder / "log", "-w", "start")
    server.connection.close()
    server.connection = server.connect()


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
    start_again(server)
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


def around_all(patch, server, at, bad):
    """Let something bad happen before one of all statements; return how many there were."""
    fault = Fault(2 * at - 1, bad)
    fault.counting = True
    sabotage(patch, fault, server.connection)
    return fault


def test_whichever_statement_of_a_command_is_cut_it_says_so_and_can_be_given_again(
    server, cut, command, monkeypatch
):
    server.stored(PEOPLE, "people")
    whole = {"people", "released", "released_manifest"}
    at, after = 0, 0
    while True:
        at += 1
        with monkeypatch.context() as patch:
            fault = around_all(patch, server, at, cut)
            ended = command()
        found = server.tables()
        if not fault.happened:
            break
        assert found in ({"people"}, whole), (at, ended.stderr)
        assert ended.exit_code in (0, 2), (at, ended.stderr)
        if ended.exit_code:
            assert ended.stderr.startswith("sfumato: error: "), ended.stderr
            assert ended.stderr.count("\n") == 1, ended.stderr
            assert "s3cret" not in ended.stderr
            assert found == {"people"} or "all of it or nothing" in ended.stderr, ended.stderr
        else:
            after += 1
            assert found == whole
            assert "the release is complete and verified" in " ".join(ended.stderr.split())
        server.connection.execute("DROP TABLE IF EXISTS released, released_manifest")
    assert ended.exit_code == 0
    assert found == whole
    # Cuts came before the release was there, and after.
    assert at > 20
    assert after


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7, 0.85, 0.95, 0.98])
def test_whenever_the_server_stops_it_comes_back_with_all_or_nothing(
    server, command, share, monkeypatch
):
    server.stored(PEOPLE, "people")
    with monkeypatch.context() as patch:
        steps = around_all(patch, server, 10**6, lambda: None)
        assert command().exit_code == 0
    server.connection.execute("DROP TABLE released, released_manifest")
    stopped = []

    def stop():
        stopped.append(True)
        server.run("pg_ctl", "-D", server.folder / "data", "-m", "immediate", "-w", "stop")

    with monkeypatch.context() as patch:
        around_all(patch, server, int(share * steps.steps / 2), stop)
        ended = command()
    assert stopped
    start_again(server)
    whole = {"people", "released", "released_manifest"}
    if ended.exit_code:
        assert ended.exit_code == 2
        assert ended.stderr.startswith("sfumato: error: ")
        assert ended.stderr.count("\n") == 1
        assert server.tables() == {"people"}
        assert command().exit_code == 0
    else:
        # It was there already, and what was still to be done is said.
        assert share > 0.9
        assert "the release is complete and verified" in " ".join(ended.stderr.split())
    assert server.tables() == whole


def test_a_publish_on_a_ledger_that_is_cut_is_made_up_for(server, cut, tmp_path, monkeypatch):
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=0.5, k=2)
    server.stored(table_of(NEW), "new")
    parts = {"{}", "{}_manifest", "{}_sensitive_ill", "{}_sensitive_pay"}
    at, kept = 1, []
    while True:
        name, before = f"r{at}", len(sf.Ledger(path).history)
        with monkeypatch.context() as patch:
            fault = around_all(patch, server, at, cut)
            with contextlib.suppress(SfumatoError):
                sf.Ledger(path).publish(server.address("new"), output=f"table:{name}", again=True)
        assert sf.Ledger(path).verify() == []
        if len(sf.Ledger(path).history) > before:
            kept.append(name)
        if not fault.happened:
            break
        at += 7
    # Whoever looks next gives the tables of what was recorded their names, and removes the rest.
    sf.Ledger(path).publish(server.address("new"), output="table:last", again=True)
    expected = {part.format(name) for name in (*kept, "last") for part in parts}
    assert server.tables() == {"new", *expected}
    assert len(kept) == len(sf.Ledger(path).history) - 2
    joined = sum(entry["rows"]["joined"] for entry in sf.Ledger(path).history)
    assert (
        joined == sf.Ledger(path).contents().tables.total == len(START) + len(NEW) * (1 + len(kept))
    )
    assert at > 50
