"""The command line: parse, call one task, show. No logic.

Data and results go to stdout, messages and progress to stderr. The exit code is 0 if the
promises hold, 1 if they do not, 2 if the request was wrong, 70 for a fault of ours.
"""

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
    try:
        from sfumato.cli.app import run

        raise SystemExit(run())
    except KeyboardInterrupt:
        # Before any command began: there is nothing to clean up and nothing to say.
        raise SystemExit(130) from None


def _terminate(number: int, _frame: FrameType | None) -> None:
    """Exit as from an interrupt, so that nothing half-written stays behind."""
    for each in (signal.SIGINT, signal.SIGTERM, number):
        # Once is enough: a second signal would interrupt the cleaning up.
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)
