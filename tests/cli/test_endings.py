"""Interrupts, faults and closed pipes: the right exit code, and nothing left behind."""

import errno
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pyarrow as pa
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


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)], ids=str
)
def test_a_program_that_is_stopped_while_it_writes_leaves_nothing(patients, number, code):
    before = everything_in(patients)
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED_WHILE_WRITING, *ANONYMIZE],
        cwd=patients,
        # The tests themselves may run where hangups are ignored.
        preexec_fn=lambda: signal.signal(getattr(signal, number), signal.SIG_DFL),  # noqa: PLW1509
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "writing\n"
        assert any(name.endswith(".unfinished") for name in everything_in(patients))
        process.send_signal(getattr(signal, number))
        _, errors = process.communicate(timeout=240)
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


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize(
    "args", [("schema",), ("verify", "patients.csv", "-p", "policy.yaml")], ids=lambda args: args[0]
)
def test_a_reader_who_has_seen_enough_is_not_troubled(patients, program, args):
    reading, writing = os.pipe()
    os.close(reading)
    with program(*args, stdout=writing) as process:
        os.close(writing)
        _, errors = process.communicate(timeout=240)
    assert errors == b""
    assert process.returncode == 141


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_full_disk_behind_stdout_is_reported(folder, program):
    with open("/dev/full", "w") as full, program("schema", stdout=full) as process:  # noqa: PTH123
        _, errors = process.communicate(timeout=240)
    assert process.returncode == 2
    assert errors == b"sfumato: error: the disk is full (No space left on device)\n"


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_where_not_even_a_message_can_be_written_the_exit_code_tells(folder, program):
    with (
        open("/dev/full", "w") as full,  # noqa: PTH123
        program("verify", "nothing.csv", stdout=full, stderr=full) as process,
    ):
        process.wait(timeout=240)
    assert process.returncode == 2


class OutOfMemoryException(Exception):  # noqa: N818 - as DuckDB calls it
    """What a database says when its memory is used up."""


def read_too_much():
    """Fail as a reader does who takes all that goes wrong for a fault of the file."""
    from sfumato.errors import InputError

    try:
        raise pa.ArrowMemoryError("malloc of size 5368709120 failed")
    except pa.ArrowException as error:
        found = InputError("'patients.parquet' cannot be read as Parquet: malloc of size …")
        found.__cause__ = error
        return found


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        pa.ArrowMemoryError("malloc of size 5368709120 failed"),
        OutOfMemoryException("failed to allocate data of size 32.0 MiB"),
        RuntimeError("can't start new thread"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        read_too_much(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_too_little_memory_is_called_so(patients, run, monkeypatch, error):
    failing_task(monkeypatch, error)
    result = run("verify", "patients.csv")
    assert result.exit_code == 2
    assert "there is not enough memory for this" in result.stderr or (
        "Cannot allocate memory" in result.stderr
    )
    assert "fault" not in result.stderr


def test_a_verifier_without_memory_does_not_call_the_files_broken(patients, run, monkeypatch):
    from sfumato.verifier import release

    def fail(*_, **__):
        with counting.readable("data.csv"):
            raise pa.ArrowMemoryError("malloc of size 131072 failed")

    from sfumato.verifier import counting

    monkeypatch.setattr(release, "open_source", fail, raising=False)
    monkeypatch.setattr(counting, "open_source", fail)
    before = everything_in(patients)
    result = run(*ANONYMIZE)
    assert result.exit_code == 2
    assert "there is not enough memory for this" in result.stderr
    assert everything_in(patients) == before


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (200 << 20, resource.RLIM_INFINITY))
sys.argv = ["sfumato", "verify", "patients.csv"]
from sfumato.cli import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_a_limit_too_small_for_any_work_is_named_at_once(patients):
    command = [sys.executable, "-c", LIMITED]
    done = subprocess.run(command, cwd=patients, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "sfumato: error: this process may take 200 MB of memory, and needs 300 MB at least. "
        "Raise the limit (ulimit -v).\n"
    )


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_program_outlives_a_hangup_that_its_caller_ignores(patients):
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with subprocess.Popen(
        [sys.executable, "-c", STOPPED_WHILE_WRITING, *ANONYMIZE],
        cwd=patients,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=ignore,  # noqa: PLW1509 - as nohup does
    ) as process:
        assert process.stdout.readline() == "writing\n"
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=240)
    assert process.returncode == 143


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_what_a_killed_run_left_goes_with_the_next_and_no_live_one_does(patients, run):
    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", STOPPED_WHILE_WRITING, *ANONYMIZE],
            cwd=patients,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout.readline() == "writing\n"
        return process

    def unfinished():
        return {path.name for path in (patients / "out").glob(".*.unfinished")}

    with start() as killed:
        killed.kill()
    left = unfinished()
    assert len(left) == 1
    with start() as alive:
        assert not unfinished() & left
        assert len(unfinished()) == 1
        result = run(*ANONYMIZE[:-1], "out/other")
        assert result.exit_code == 0, result.stderr
        assert len(unfinished()) == 1
        alive.terminate()
    assert {path.name for path in (patients / "out").iterdir()} == {"other"}


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
@pytest.mark.parametrize(
    ("mask", "folder_mode", "file_mode"), [(0o077, 0o700, 0o600), (0o022, 0o755, 0o644)]
)
def test_a_release_is_as_open_as_the_umask_says(patients, run, mask, folder_mode, file_mode):
    before = os.umask(mask)
    try:
        assert run(*ANONYMIZE).exit_code == 0
        assert run("decouple", "out/release", "-o", "apart").exit_code == 0
    finally:
        os.umask(before)
    for release in (patients / "out/release", patients / "apart"):
        assert release.stat().st_mode & 0o777 == folder_mode
        assert {path.stat().st_mode & 0o777 for path in release.iterdir()} == {file_mode}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("rows", [50, 200_000], ids=["in the sample", "far down"])
def test_a_row_that_is_too_long_and_no_text_is_refused_without_a_traceback(tmp_path, rows):
    path = tmp_path / "people.csv"
    path.write_bytes(b"age,ill\n" + b"30,flu\n" * rows + b"caf\xe9,30,flu\n")
    for command in (["verify"], ["inspect"]):
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "from sfumato.cli import main; main()",
                *command,
                path,
                "--qi",
                "age",
                "--sensitive",
                "ill",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert "3 cells, the header has 2" in done.stderr
        assert "Traceback" not in done.stderr
        assert "caf" not in done.stderr
