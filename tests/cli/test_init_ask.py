"""`sfumato init` in a terminal that asks, and into a pipe that closes early."""

import os
import pty
import signal
import subprocess
import sys

import pytest

import sfumato as sf

TABLE = "age,x7\n" + "".join(f"{20 + n % 40},{n % 2 + 1}\n" for n in range(80))
RUN = "from sfumato.cli import main; main()"
COMMAND = [sys.executable, "-c", RUN, "init", "people.csv", "-o", "new.yaml"]


def ask(folder, typed):
    """Run the dialogue in a pseudo terminal, or break it off, and return the exit code."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "--ask"], cwd=folder, stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs
    ) as process:
        os.close(theirs)
        seen = b""
        while b"What is" not in seen:
            seen += os.read(ours, 1024)
        if typed is None:
            process.send_signal(signal.SIGINT)
        else:
            os.write(ours, typed)
        try:
            while os.read(ours, 1024):
                pass
        except OSError:
            pass  # the other end is closed
        code = process.wait()
    os.close(ours)
    return code


@pytest.mark.usefixtures("patience")
def test_an_answer_becomes_a_role(tmp_path):
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    assert sf.draft(tmp_path / "people.csv").uncertain == ("x7",)
    assert ask(tmp_path, b"o\n") == 0
    assert sf.Policy.load(tmp_path / "new.yaml").role_of("x7") == "dropped"


@pytest.mark.usefixtures("patience")
def test_breaking_off_leaves_nothing_behind(tmp_path):
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    assert ask(tmp_path, None) != 0
    assert not (tmp_path / "new.yaml").exists()


@pytest.mark.usefixtures("patience")
def test_without_a_terminal_it_is_refused(tmp_path):
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, "--ask"], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "terminal" in done.stderr
    assert not (tmp_path / "new.yaml").exists()


@pytest.mark.usefixtures("patience")
def test_a_reader_of_the_first_lines_does_not_cost_the_policy(tmp_path):
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    with subprocess.Popen(
        COMMAND, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        process.stdout.close()
    assert sf.Policy.load(tmp_path / "new.yaml").quasi_identifiers == ("age", "x7")
