"""Whatever fails, and whenever: nothing is left behind, or a release is there as a whole."""

import contextlib
import gc
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import OutputError, SfumatoError
from sfumato.tables import open_table
from sfumato.tables.sql import duckdb as duckdb_database
from sfumato.tables.sql.database import Database, appearing, sweep
from tests.tables import databases
from tests.tables.faults import (
    WIDE,
    WIDE_POLICY,
    Fault,
    no_file_longer_than,
    raising,
    release,
    version_of,
)
from tests.tables.test_releases import PEOPLE, POLICY

SOME = pa.table({"a": pa.array([1, 2, 3], pa.int64())})
ERRORS = [duckdb.IOException("IO Error: No space left on device"), KeyboardInterrupt()]


def opened(duck, way):
    duck.stored(SOME, "people")
    rows = duck.connection.table("people")
    return open_table(rows if way == "relation" else (duck.connection, "people"))._database


def sabotage(monkeypatch, fault):
    """Let the statements that DuckDB is given take the steps of a fault."""
    run = fault.around(duckdb_database.DuckDB._run)
    monkeypatch.setattr(duckdb_database.DuckDB, "_run", run)
    monkeypatch.setattr(duckdb_database, "_store", fault.around(duckdb_database._store))


@pytest.fixture
def quickly(monkeypatch):
    """Write the statements that fetch an uploaded table by hand, because there are very many."""

    def plain(self, query):
        return f"SELECT * FROM {query.get_name()}"

    monkeypatch.setattr(Database, "statement", plain)


def left(database):
    """Name what was made up and is still there; lookups belong to the connection alone."""
    own = ("sfumato_lookup_", "sfumato_source_")
    found = {name for name in database.tables() if name.startswith("sfumato_")}
    return {name for name in found if not name.startswith(own)}


@pytest.mark.usefixtures("patience")
@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize(
    ("way", "force"),
    [
        ("connection", True),
        ("relation", False),
        pytest.param("relation", True, marks=pytest.mark.thorough),
        pytest.param("transaction", True, marks=pytest.mark.thorough),
    ],
)
def test_whichever_statement_fails_all_is_there_or_nothing(duck, way, force, monkeypatch):
    database = opened(duck, way)
    at, before = 0, None
    while True:
        at += 1
        if force and before is None:
            release(database, before := 0, force=False)
        if way == "transaction":
            duck.connection.execute("BEGIN")
        fault = Fault(at, raising(ERRORS[at // 2 % 2]))
        with monkeypatch.context() as patch:
            sabotage(patch, fault)
            try:
                release(database, at, force=force)
            except (SfumatoError, KeyboardInterrupt, duckdb.Error):
                assert fault.happened
        if way == "transaction":
            # Whoever began it may well go on.
            duck.connection.execute("COMMIT")
        now = version_of(duck)
        assert now in (before, at)
        # Once the new one is there, what cannot be dropped is dropped by the next run.
        assert now == at or not left(duck)
        if not fault.happened:
            break
        before = now
        if not force and before is not None:
            duck.clear()
            database, before = opened(duck, way), None
    assert version_of(duck) == at > 20
    assert duck.tables() == {"people", "released", "released_manifest"}


class Killed(BaseException):
    """Nothing is done any more, whatever is tried."""


@pytest.mark.usefixtures("patience")
@pytest.mark.usefixtures("quickly")
def test_what_a_killed_run_leaves_is_undone_by_the_next_for_the_same_table(duck, monkeypatch):
    database = opened(duck, "relation")
    release(database, before := 0, force=False)
    at, others = 1, 0
    while True:
        fault = Fault(at, raising(Killed()), forever=True)
        with monkeypatch.context() as patch:
            sabotage(patch, fault)
            with contextlib.suppress(Killed):
                release(database, at, force=True)
        if not fault.happened:
            break
        others += len(left(duck))
        before_next = left(duck)
        # A run for another table does not care.
        sweep(database, ("released_manifest2",))
        assert left(duck) == before_next
        sweep(database, ("released_manifest",))
        assert not left(duck)
        assert version_of(duck) in (before, at)
        before = version_of(duck)
        at += 3
    assert version_of(duck) == at
    assert others > 10


@pytest.mark.usefixtures("patience")
@pytest.mark.usefixtures("quickly")
def test_a_killed_process_leaves_a_duckdb_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "a.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS a")
    address = f"duckdb:///{path}?table=people"
    release(open_table(address)._database, 1, force=False)
    gc.collect()
    images = []

    def look():
        # What is on the disk now is what would be there if the process were killed now.
        image = tmp_path / f"image{len(images)}.db"
        for end in ("", ".wal"):
            if Path(f"{path}{end}").exists():
                shutil.copy(f"{path}{end}", f"{image}{end}")
        images.append(image)

    with monkeypatch.context() as patch:
        sabotage(patch, Fault(1, look, forever=True))
        release(open_table(address)._database, 2, force=True)
    versions = [version_of(Image(image)) for image in images]
    assert versions == sorted(versions)
    assert set(versions) == {1, 2}
    assert len(versions) > 20


class Image:
    """A file of DuckDB, as it was found."""

    def __init__(self, path):
        self.connection = duckdb.connect(str(path))
        assert self.tables() == {"people", "released", "released_manifest"}

    tables = databases.DuckDB.tables
    read = databases.DuckDB.read


PROCESS = """
import os, signal
import sfumato as sf
from sfumato.tables.sql.duckdb import DuckDB as Database
from tests.tables.test_releases import POLICY

run = Database._run
def killing(self, statement):
    if "RENAME" in statement:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(self, statement)

Database._run = killing
sf.anonymize("duckdb:///{path}?table=people", POLICY, output="table:released")
"""


@pytest.mark.usefixtures("patience")
def test_a_process_that_is_killed_before_it_renames_has_done_nothing(tmp_path):
    path = tmp_path / "a.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("incoming", PEOPLE)
        connection.execute("CREATE TABLE people AS FROM incoming")
    script = [sys.executable, "-c", PROCESS.format(path=path)]
    assert subprocess.run(script, check=False).returncode == -signal.SIGKILL
    with duckdb.connect(str(path)) as connection:
        assert connection.sql("SHOW TABLES").fetchall() == [("people",)]
    address = f"duckdb:///{path}?table=people"
    assert sf.anonymize(address, POLICY, output="table:released").verdict.holds


@pytest.mark.usefixtures("patience")
def test_ctrl_c_in_a_statement_of_duckdb_is_ctrl_c(duck):
    rows = duck.connection.sql("SELECT i % 7 AS a FROM range(5_000_000) t(i)")
    database = open_table(rows)._database

    def interrupted():
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        with appearing(database, [], [("out",)]) as [name]:
            shuffled = f"SELECT * FROM {database.relation_name[0]} ORDER BY random()"
            database.query(f"CREATE TABLE {database.dialect.quote(*name)} AS {shuffled}")
            time.sleep(5)

    # Whoever runs tests in several processes lets these ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        signal.signal(signal.SIGINT, before)
    assert duck.tables() == set()


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("engine", ["arrow", "duckdb"])
def test_a_disk_that_fills_leaves_no_folder(engine, tmp_path):
    rows = WIDE if engine == "arrow" else duckdb.from_arrow(WIDE)
    target = tmp_path / "release"
    with (
        no_file_longer_than(50_000),
        pytest.raises(OutputError, match=r"File too large.*Nothing was left there"),
    ):
        sf.anonymize(rows, WIDE_POLICY, output=target)
    assert list(tmp_path.iterdir()) == []
    assert sf.anonymize(rows, WIDE_POLICY, output=target).verdict.holds


@pytest.mark.usefixtures("patience")
def test_a_disk_that_fills_leaves_no_table_in_a_duckdb_file(tmp_path):
    path = tmp_path / "a.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("incoming", WIDE)
        connection.execute("CREATE TABLE people AS FROM incoming")
    address = f"duckdb:///{path}?table=people"
    with (
        no_file_longer_than(path.stat().st_size + 10_000),
        pytest.raises(OutputError, match=r"File too large.*Nothing was left"),
    ):
        sf.anonymize(address, WIDE_POLICY, output="table:released")
    gc.collect()
    with duckdb.connect(str(path)) as connection:
        assert connection.sql("SHOW TABLES").fetchall() == [("people",)]
    assert sf.anonymize(address, WIDE_POLICY, output="table:released").verdict.holds
