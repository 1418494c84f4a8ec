"""The command line: parse, call one task, show. No logic.

Data and results go to stdout, messages and progress to stderr. The exit code is 0 if the
promises hold, 1 if they do not, 2 if the request was wrong, 70 for a fault of ours.
"""

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Run the command line of this process."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # What the caller ignores stays ignored: `nohup` asks a run to outlive its terminal.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _terminate)
    for stream in (sys.stdout, sys.stderr):
        # A column name that the terminal cannot show is no reason to stop.
        with suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    _mind_memory_limit()
    try:
        from sfumato.cli.app import run

        raise SystemExit(run())
    except KeyboardInterrupt:
        # Before any command began: there is nothing to clean up and nothing to say.
        raise SystemExit(130) from None


_LEAST_MEMORY = 300 << 20
"""Bytes that the program and its libraries take at least."""


def _mind_memory_limit() -> None:
    """Exit if the libraries would not fit into the memory the process may take."""
    try:
        import resource
    except ImportError:
        return
    limits = [resource.getrlimit(each)[0] for each in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    known = [limit for limit in limits if limit != resource.RLIM_INFINITY]
    if not known:
        return
    # A buffer per core is taken when it is loaded, and the process ends if there is no room.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if min(known) < _LEAST_MEMORY:
        from sfumato.cli.output import say

        say(
            f"sfumato: error: this process may take {min(known) >> 20} MB of memory, and needs "
            f"{_LEAST_MEMORY >> 20} MB at least. Raise the limit (ulimit -v)."
        )
        raise SystemExit(2)


def _terminate(number: int, _frame: FrameType | None) -> None:
    """Exit as from an interrupt, so that nothing half-written stays behind."""
    for each in (signal.SIGINT, signal.SIGTERM, number):
        # Once is enough: a second signal would interrupt the cleaning up.
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)
