"""Interrupts, faults and closed pipes: the right exit code, and nothing left behind."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.cli.conftest import everything_in

ANONYMIZE = ("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "out/release")


@pytest.mark.parametrize("stage", ["count", "search", "publish", "verify"])
def test_an_interrupt_in_any_stage_leaves_nothing(patients, run, monkeypatch, stage):
    met = []

    def interrupt(now, done, total):
        met.append(now)
        if now == stage:
            raise KeyboardInterrupt

    @contextmanager
    def progress_bar(**_):
        yield interrupt

    from sfumato.cli import anonymize

    monkeypatch.setattr(anonymize, "progress_bar", progress_bar)
    before = everything_in(patients)
    result = run(*ANONYMIZE)
    assert met[-1] == stage
    assert result.exit_code == 130
    assert result.stderr == "sfumato: interrupted, and nothing was left behind\n"
    assert everything_in(patients) == before


# The writer tells that it is in the middle of its work, and waits to be stopped there.
STOPPED_WHILE_WRITING = """
import sys, time
from sfumato.tables.arrow import writing as writers

def wait(*_):
    print("writing", flush=True)
    time.sleep(60)

writers.CsvWriter.write = wait
sys.argv = ["sfumato", *sys.argv[1:]]
from sfumato.cli import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)], ids=str
)
def test_a_program_that_is_stopped_while_it_writes_leaves_nothing(patients, number, code):
    before = everything_in(patients)
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED_WHILE_WRITING, *ANONYMIZE],
        cwd=patients,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "writing\n"
        assert any(name.endswith(".unfinished") for name in everything_in(patients))
        process.send_signal(getattr(signal, number))
        _, errors = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in errors
    assert everything_in(patients) == before


def failing_task(monkeypatch, error):
    from sfumato.tasks import verify

    def task(*_, **__):
        raise error

    monkeypatch.setattr(verify, "verify", task)


def test_a_fault_of_ours_is_confessed_without_data(patients, run, monkeypatch):
    failing_task(monkeypatch, RuntimeError("Ann has hiv"))
    result = run("verify", "patients.csv")
    assert result.exit_code == 70
    assert "this is a fault of Sfumato (RuntimeError)" in result.stderr
    assert "Ann" not in result.output
    assert "Traceback" not in result.output


def test_details_of_a_fault_are_shown_on_request(patients, run, monkeypatch):
    monkeypatch.setenv("SFUMATO_DEBUG", "1")
    failing_task(monkeypatch, RuntimeError("Ann has hiv"))
    result = run("verify", "patients.csv")
    assert result.exit_code == 70
    assert "RuntimeError: Ann has hiv" in result.stderr


def test_a_failing_machine_is_not_our_fault(patients, run, monkeypatch):
    failing_task(monkeypatch, OSError(5, "Input/output error", "/dev/sda"))
    result = run("verify", "patients.csv")
    assert result.exit_code == 2
    assert result.stderr == "sfumato: error: /dev/sda: Input/output error\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize(
    "args", [("schema",), ("verify", "patients.csv", "-p", "policy.yaml")], ids=lambda args: args[0]
)
def test_a_reader_who_has_seen_enough_is_not_troubled(patients, program, args):
    reading, writing = os.pipe()
    os.close(reading)
    with program(*args, stdout=writing) as process:
        os.close(writing)
        _, errors = process.communicate(timeout=60)
    assert errors == b""
    assert process.returncode == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_full_disk_behind_stdout_is_reported(folder, program):
    with open("/dev/full", "w") as full, program("schema", stdout=full) as process:  # noqa: PTH123
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors == b"sfumato: error: No space left on device\n"
