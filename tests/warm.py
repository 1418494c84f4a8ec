"""Read files of other programs in processes that have their libraries already.

Every file is read in a process of its own, and most of the time goes into importing libraries
there. Suites that read thousands of files have each process forked from one that did so before.
Whatever a file does to it, and the limits it runs under, are the same.
"""

import io
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest import mock

from sfumato.files import processes

LIBRARIES = ("pyarrow", "pyarrow.ipc", "pyreadstat", "python_calamine")


@contextmanager
def warm_readers():
    """Have files read like that as long as the block lasts, where processes can be forked."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        yield
        return
    like = SimpleNamespace(run=run_warm, TimeoutExpired=subprocess.TimeoutExpired)
    with mock.patch.object(processes, "subprocess", like):
        yield


def run_warm(command, *, input, timeout, **_):  # noqa: A002 - as `subprocess.run` has it
    """Run a script that reads a file as `subprocess.run` does, but forked."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload([*LIBRARIES])
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        process = made.Process(target=_follow, args=(command[-1], input, out, err))
        # Nobody's program is imported again there.
        with mock.patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):
            process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(command, timeout)
        code = process.exitcode
        process.close()
        return subprocess.CompletedProcess(command, code, out.read_bytes(), err.read_bytes())


def _follow(script, request, out, err):
    for number, path in ((1, out), (2, err)):
        with path.open("wb") as file:
            os.dup2(file.fileno(), number)
    sys.stdin = io.StringIO(request.decode())
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - until it ends
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    runpy.run_path(script, run_name="__main__")
