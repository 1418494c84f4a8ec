"""Work that takes long: beside the pages, with progress in sight, stopped when that is asked."""

import logging
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import field
from time import monotonic
from typing import Any, TypeAlias

from sfumato.dataclasses import dataclass
from sfumato.errors import SfumatoError, lacks_memory
from sfumato.files.confinement import Confinement
from sfumato.typing import STAGES, Progress

_LOG = logging.getLogger("sfumato.app")

Work: TypeAlias = Callable[[Progress], Any]
"""Does something and tells how far it is; what it returns is the result."""


class StopWish(Exception):  # noqa: N818 - no error: it was asked for
    """The work was stopped, or a newer wish took its place."""


@dataclass
class Job:
    """One piece of work, running or ended."""

    name: str
    """What it is for; a newer job of the same name stops this one."""

    key: str = ""
    """What it was computed of: a result is shown as old when this has changed."""

    stage: str = ""
    done: float = 0
    total: float | None = None
    result: Any = None
    partial: Any = None
    """What there is to show before it is over, if there is something."""

    before: Any = None
    """The result of the work that this one took the place of."""

    error: str | None = None
    """Why it failed, in words for people."""

    fault: SfumatoError | None = None
    """What was raised, for pages that offer a way out."""

    began: float = field(default_factory=monotonic)
    ended: float | None = None
    stopped: bool = False
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)
    _over: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def running(self) -> bool:
        """Whether it is still at work."""
        return not self._over.is_set()

    @property
    def ready(self) -> bool:
        """Whether there is a result."""
        return not self.running and self.error is None and not self.stopped

    @property
    def seconds(self) -> float:
        """The time it has taken so far, in seconds."""
        return (monotonic() if self.ended is None else self.ended) - self.began

    @property
    def words(self) -> str:
        """The present stage, in words."""
        return STAGES.get(self.stage, self.stage) or "Working"

    @property
    def share(self) -> float | None:
        """The part of the present stage that is done, from 0 to 1; None if that is not known."""
        if not self.total:
            return None
        return min(max(self.done / self.total, 0.0), 1.0)

    def stop(self) -> None:
        """Stop it when it tells the next time how far it is."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is over; return whether it is."""
        return self._over.wait(seconds)

    def report(self, stage: str, done: float, total: float | None) -> None:
        """Note how far it is; raise if it was asked to stop."""
        if self._stop.is_set():
            raise StopWish
        self.stage, self.done, self.total = stage, done, total

    def run(self, work: Work) -> None:
        """Run the work, and note what came of it."""
        try:
            self.result = work(self.report)
        except StopWish:
            self.stopped = True
        except SfumatoError as error:
            self.error = str(error)
            # Without the frames, which hold tables.
            self.fault = error.with_traceback(None)
        except Exception as error:  # noqa: BLE001 - the last net: no user is shown a traceback
            self.error = describe_fault(error)
        finally:
            self.ended = monotonic()
            self._over.set()


def describe_fault(error: BaseException) -> str:
    """Return the message for an error that is no fault of the user, and log where it was.

    Neither has a value of the data: the text of a stranger's error may.
    """
    if lacks_memory(error):
        return (
            "There is not enough memory for this, and nothing was left behind. Close other "
            "programs, or leave columns out."
        )
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f" at {place.tb_frame.f_code.co_name}:{place.tb_lineno}"
    _LOG.error("a fault: %s%s", type(error).__name__, where)
    return (
        f"This is a fault of Sfumato ({type(error).__name__}{where}), and nothing was left behind. "
        "Undo the last change and try again, and please report it."
    )


class Jobs:
    """The work of a desk: of each name the newest.

    Args:
        limits: What all of it is confined to; None for nothing.
    """

    def __init__(self, limits: Confinement | None = None) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}

    def start(self, name: str, work: Work, *, key: str = "") -> Job:
        """Begin some work in a thread of its own; older work of the same name is stopped."""
        job = Job(name, key)
        with self._lock:
            before = self._jobs.get(name)
            if before is not None:
                before.stop()
            self._jobs[name] = job
        args = (job, work)
        threading.Thread(target=self._run, args=args, name=f"job-{name}", daemon=True).start()
        return job

    def _run(self, job: Job, work: Work) -> None:
        with nullcontext() if self._limits is None else self._limits.active():
            job.run(work)

    def get(self, name: str) -> Job | None:
        """Return the newest work of a name, if there was any."""
        with self._lock:
            return self._jobs.get(name)

    def drop(self, name: str) -> None:
        """Stop and forget the work of a name."""
        with self._lock:
            job = self._jobs.pop(name, None)
        if job is not None:
            job.stop()

    @property
    def running(self) -> list[Job]:
        """The jobs that are at work."""
        with self._lock:
            return [job for job in self._jobs.values() if job.running]

    @property
    def ended(self) -> frozenset[tuple[str, float]]:
        """The jobs that are over, each by its name and when it began."""
        with self._lock:
            return frozenset(
                (job.name, job.began) for job in self._jobs.values() if not job.running
            )

    def end(self) -> None:
        """Stop everything and forget all results."""
        with self._lock:
            jobs = list(self._jobs.values())
            self._jobs.clear()
        for job in jobs:
            job.stop()
