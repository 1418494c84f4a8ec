"""Whatever happens to a publish, the ledger and the folders are whole."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import OutputError
from sfumato.ledger import pending
from sfumato.ledger.store import writing
from tests.ledger.releases import START, counted, grouped_of, table_of
from tests.tables.databases import imported

ROOT = Path(__file__).parents[2]
NEW = [("20s", "flu", "high"), ("20s", "gout", "low")]


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=0.5, k=2)
    return path


def crashed(script, *arguments):
    """Run a script that publishes and is killed, and get what it tells."""
    command = [sys.executable, str(ROOT / "tests/ledger" / script), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_a_publish_that_is_killed_at_any_moment(tmp_path, some):
    rounds = some(20, of=200)
    told = crashed("crashing.py", tmp_path, rounds, "7")
    assert told["rounds"] == rounds
    # Kills came before the commit, and after it; whether people joined, left or moved.
    assert 0 < sum(told["after"].values()) < rounds
    assert all(told["after"][way] for way in some(["rows"], of=["rows", "delete", "correct"]))


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_commands_that_are_killed_can_be_given_again_and_leave_nothing(tmp_path, some):
    told = crashed("killing.py", tmp_path, some(4, of=60))
    assert set(told) == {"start", "increment"}
    for found in told.values():
        # Every step in the full lane; in the fast one some, the first and the last among them.
        assert found["tried"] >= some(4, of=int(0.9 * len(found["steps"])))
        assert 1 <= found["committed"] < found["tried"]


def test_a_release_of_a_ledger_is_never_replaced(ledger):
    target = ledger.with_name("out")
    sf.Ledger(ledger).publish(table_of(NEW), output=target)
    told = r"'.*out' exists: it is release 2 of a ledger.*sfumato ledger show --log"
    with pytest.raises(OutputError, match=told) as refused:
        sf.Ledger(ledger).publish(table_of(NEW), output=target, again=True)
    # There is no such option.
    assert "force" not in str(refused.value)
    assert len(sf.Ledger(ledger).history) == 2
    assert sf.verify(target).verdict.holds


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_a_publish_into_a_database_that_is_killed_at_any_statement(tmp_path, some):
    imported("ibis", "duckdb")
    rounds = some(3, of=8)
    told = crashed("crashing_tables.py", tmp_path, rounds)
    assert told["rounds"] == rounds
    assert 0 < told["after"] < rounds


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_a_publish_into_a_server_that_is_killed_at_any_statement(tmp_path, postgres):
    told = crashed("crashing_tables.py", tmp_path, 4, "postgres", 1)
    assert told["rounds"] == 4
    assert 0 < told["after"] < 4


def test_who_comes_second_waits_or_is_told(ledger):
    before = counted(sf.Ledger(ledger).contents().tables)
    with writing(ledger), pytest.raises(OutputError, match="another publish is at work"):
        sf.Ledger(ledger).publish(table_of(NEW), wait=0.05)
    assert counted(sf.Ledger(ledger).contents().tables) == before


@pytest.mark.usefixtures("patience")
def test_many_at_once_come_one_after_the_other(ledger):
    problems = []

    def work(number):
        try:
            for i in range(5):
                output = ledger.with_name(f"out-{number}-{i}")
                sf.Ledger(ledger).publish(table_of(NEW), wait=60, again=True, output=output)
        except Exception as error:  # noqa: BLE001
            problems.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert [entry["sequence"] for entry in sf.Ledger(ledger).history] == list(range(1, 17))
    assert sf.Ledger(ledger).verify() == []
    assert len(list(ledger.parent.glob("out-*"))) == 15


@pytest.mark.usefixtures("patience")
def test_a_renaming_that_failed_is_made_up_for(ledger, monkeypatch):
    target = ledger.with_name("out")
    monkeypatch.setattr(pending, "finish", lambda _: ["the disk said no."])
    with pytest.raises(OutputError, match="is in the ledger, but the disk said no"):
        sf.Ledger(ledger).publish(table_of(NEW), output=target)
    monkeypatch.undo()
    assert not target.exists()
    assert sf.Ledger(ledger).history[-1]["sequence"] == 2
    sf.Ledger(ledger).publish(table_of(NEW), again=True)
    assert sf.verify(target).verdict.holds
    assert not list(ledger.parent.glob(".*unfinished"))


def test_a_folder_that_vanished_meanwhile_is_reported(ledger, monkeypatch):
    target = ledger.with_name("out")
    monkeypatch.setattr(pending, "finish", lambda _: ["no"])
    with pytest.raises(OutputError):
        sf.Ledger(ledger).publish(table_of(NEW), output=target)
    monkeypatch.undo()
    [stage] = ledger.parent.glob(".*unfinished")
    for path in stage.iterdir():
        path.unlink()
    stage.rmdir()
    done = sf.Ledger(ledger).publish(table_of(NEW), again=True)
    assert "is gone or was changed" in done.warnings[0]


def test_a_write_that_fails_changes_nothing(ledger, monkeypatch):
    from sfumato.ledger.publishing import outputs as increment_folder

    def full(*args, **settings):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(increment_folder, "write_tables", full)
    with pytest.raises(OutputError, match=r"No space left on device\)\. Nothing was changed"):
        sf.Ledger(ledger).publish(table_of(NEW), output=ledger.with_name("out"))
    assert len(sf.Ledger(ledger).history) == 1
    assert {path.name for path in ledger.parent.iterdir()} == {"x.ledger"}


def test_a_start_that_fails_leaves_no_ledger(tmp_path, monkeypatch):
    from sfumato.ledger.publishing import ledger as start_ledger

    def fail(*args):
        raise RuntimeError("no")

    monkeypatch.setattr(start_ledger, "start_tables", fail)
    with pytest.raises(RuntimeError):
        sf.Ledger.start(grouped_of(START), tmp_path / "x.ledger", alpha=0.5)
    assert not list(tmp_path.iterdir())
