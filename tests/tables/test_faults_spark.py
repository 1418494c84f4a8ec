"""Spark that is gone in the middle: an executor, all of them, its driver, the room on its disk."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, OutputError
from sfumato.tables import open_table
from sfumato.tables.sql.database import Database
from tests.tables import databases
from tests.tables.faults import (
    WIDE,
    WIDE_POLICY,
    counted,
    no_file_longer_than,
    release,
    version_of,
)

pytestmark = databases.LEAVES_SOCKETS_OPEN


@pytest.fixture
def session(spark):
    yield spark
    spark.clear()


class Killed(BaseException):
    """Nothing is done any more, whatever is tried."""


def failing_from(renaming, error, *, forever, ask):
    """Let all statements fail once some tables were renamed, or one of them alone."""
    seen = []

    def asked(self, statement):
        now = "RENAME" in statement
        seen.extend([statement] if now else [])
        if (now and len(seen) == renaming) or (forever and len(seen) >= renaming):
            raise error
        return ask(self, statement)

    return asked


def test_a_run_that_fails_is_undone_at_once_or_by_the_next_one(session, monkeypatch):
    monkeypatch.setattr(Database, "statement", lambda _, q: f"SELECT * FROM {q.get_name()}")
    session.stored(pa.table({"a": pa.array([1], pa.int64())}), "people")
    database = open_table((session.session, "people"))._database
    kind, ask = type(database), type(database).query
    release(database, 1, force=False)
    after = {"people", "released", "released_manifest"}
    with monkeypatch.context() as patch:
        failing = failing_from(4, InputError("no."), forever=False, ask=ask)
        patch.setattr(kind, "query", failing)
        with pytest.raises(OutputError, match=r"cannot publish into released: no\. Nothing was"):
            release(database, 2, force=True)
    assert (session.tables(), version_of(session)) == (after, 1)
    with monkeypatch.context() as patch:
        patch.setattr(kind, "query", failing_from(4, Killed(), forever=True, ask=ask))
        with pytest.raises(Killed):
            release(database, 3, force=True)
    left = session.tables()
    assert "released" not in left
    assert len(left) == 6
    with pytest.raises(OutputError, match="there is a table released already"):
        release(database, 4, force=False)
    assert (session.tables(), version_of(session)) == (after, 1)


def test_a_disk_that_fills_leaves_neither_table_nor_folder(session, tmp_path, monkeypatch):
    rows = session.load(WIDE)
    process = session.session.sparkContext._gateway.proc.pid
    for output in ("table:released", tmp_path / "release"):
        with (
            no_file_longer_than(50_000, process),
            pytest.raises(OutputError, match=r"File too large.*Nothing was left"),
        ):
            sf.anonymize(rows, WIDE_POLICY, output=output)
    assert list(tmp_path.iterdir()) == []
    assert session.tables() == set()
    repeated = [True, False]
    kind = sys.modules["sfumato.tables.sql.spark"]
    # Parts that were lost are computed again, with all the others.
    monkeypatch.setattr(kind, "_stages_repeated", lambda *_: repeated and repeated.pop(0))
    sf.anonymize(rows, WIDE_POLICY, output="table:released")
    assert repeated == []
    expected = sf.anonymize(WIDE, WIDE_POLICY)
    assert counted(session.read("released")) == counted(expected.table)
    monkeypatch.setattr(kind, "_stages_repeated", lambda *_: True)
    with pytest.raises(OutputError, match=r"Spark lost parts of it 3 times. Nothing was left"):
        sf.anonymize(rows, WIDE_POLICY, output="table:more")
    assert session.tables() == {"released", "released_manifest"}


@pytest.mark.usefixtures("pyspark")
def test_processes_that_are_killed_change_nothing_or_leave_nothing(tmp_path):
    (tmp_path / "warehouse").mkdir()
    log = tmp_path / "log"
    command = [sys.executable, "-m", "tests.tables.cluster", str(tmp_path)]
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
            cwd=Path(__file__).parents[2],
        ) as program,
    ):
        try:
            told = [json.loads(line) for line in program.stdout]
        finally:
            # Executors outlive a driver that is killed.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
    found = {fact.pop("what"): fact for fact in told}
    released = ["people", "released", "released_manifest"]
    assert found["one executor"] == {"holds": True, "same": True, "tables": released}
    assert found["interrupted"]["code"] == 130
    assert found["all executors"]["code"] == 2
    for moment in ("interrupted", "all executors"):
        assert found[moment]["tables"] == found[moment]["files"] == released
    assert found["afterwards"]["code"] == 0
    assert found["afterwards"]["tables"] == ["again", "again_manifest", *released]
    for moment in ("driver", "no driver"):
        assert found[moment]["code"] == 2
        assert "the connection to Spark is lost" in found[moment]["text"]
    for moment in ("all executors", "driver", "no driver"):
        assert found[moment]["text"].startswith("sfumato: error: ")
    assert "Traceback" not in log.read_text() + str(told)


@pytest.mark.usefixtures("pyspark")
def test_stacks_of_java_are_in_the_log_alone(tmp_path):
    command = [sys.executable, "-m", "tests.tables.spark_errors", str(tmp_path)]
    with (tmp_path / "log").open("w") as errors:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
        )
    found = {fact.pop("what"): fact for fact in map(json.loads, done.stdout.splitlines())}
    python = found.pop("python")
    assert found.pop("good")["code"] == 0
    words = {
        "missing": "Path does not exist",
        "cut": "cannot be read",
        "damaged": "cannot be read",
        "mixed": "column: [age], physicalType: INT64, logicalType: string",
        "table": "nobody",
        "full disk": "File too large",
        "killed": "the connection to Spark is lost",
    }
    assert found.keys() == words.keys()
    for what, told in found.items():
        assert told["code"] == 2, told
        assert told["text"].startswith("sfumato: error: "), told
        assert told["text"].count("\n") == 1, told
        assert words[what] in told["text"], told
        assert told["text"].count("Nothing was left") <= 1, told
    stacks = ("\tat ", "    at ", "org.apache", "java.")
    texts = [(tmp_path / "log").read_text(), python["text"], *(t["text"] for t in found.values())]
    assert not [mark for mark in stacks for text in texts if mark in text]
    assert "\tat org.apache.spark" in python["log"]
