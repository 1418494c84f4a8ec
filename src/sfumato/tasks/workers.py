"""Trying policies on several processors, with the same result as one after the other.

Threads gain less than processes: most of a decision is many short steps, during which Python lets
only one thread go on. So workers are processes. They are started as programs, not as copies of
this one: a caller's script need not guard its main part, and no thread is copied half-way.
"""

import os
import pickle
import queue
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Thread
from typing import IO, TypeAlias

from sfumato.policy import Policy
from sfumato.tasks.point import Point
from sfumato.tasks.trial import Table, try_policy

Job: TypeAlias = tuple[str, Policy]

_PAYS = 3.0
"""Seconds of work left from which on starting workers pays: each needs about one to start."""

_COMMAND = "from sfumato.tasks.workers import serve; serve()"


def try_all(
    jobs: Sequence[Job], table: Table, *, parallel: int | None, done: Callable[[int], None]
) -> tuple[Point, ...]:
    """Try policies, and give what came out in their order.

    Args:
        jobs: Names and policies.
        table: What they are tried on.
        parallel: How many at a time; None takes as many as there are processors if the first
            policy shows that the others will take long enough.
        done: Told how many are done.
    """
    found: list[Point | None] = [None] * len(jobs)
    at = 0
    while at < len(jobs):
        workers = min(_wanted(parallel, found[:at], len(jobs) - at), len(jobs) - at)
        if workers > 1:
            _together(jobs, found, at, table, workers, done)
            break
        found[at] = try_policy(*jobs[at], table)
        at += 1
        done(at)
    return tuple(point for point in found if point is not None)


def _wanted(parallel: int | None, tried: Sequence[Point | None], left: int) -> int:
    """Say how many workers the rest is worth."""
    if parallel is not None:
        return parallel
    seconds = [point.seconds for point in tried if point is not None]
    if not seconds or max(seconds) * left < _PAYS:
        return 1
    return os.cpu_count() or 1


def _together(
    jobs: Sequence[Job],
    found: list[Point | None],
    start: int,
    table: Table,
    workers: int,
    done: Callable[[int], None],
) -> None:
    """Let every worker take the next policy whenever it is free."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for at in range(start, len(jobs)):
        waiting.put(at)
    results: queue.SimpleQueue[tuple[int, Point | BaseException]] = queue.SimpleQueue()
    started = [_Worker(table) for _ in range(workers)]
    try:
        for worker in started:
            Thread(target=_work, args=(worker, jobs, waiting, results), daemon=True).start()
        for number in range(start + 1, len(jobs) + 1):
            at, result = results.get()
            if isinstance(result, BaseException):
                raise result
            found[at] = result
            done(number)
    finally:
        _emptied(waiting)
        for worker in started:
            worker.stop()


def _emptied(waiting: "queue.SimpleQueue[int]") -> None:
    """Leave nothing to do for whoever has not heard yet that it is over."""
    with suppress(queue.Empty):
        while True:
            waiting.get_nowait()


def _work(
    worker: "_Worker",
    jobs: Sequence[Job],
    waiting: "queue.SimpleQueue[int]",
    results: "queue.SimpleQueue[tuple[int, Point | BaseException]]",
) -> None:
    while True:
        try:
            at = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            results.put((at, worker.try_policy(*jobs[at])))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
            results.put((at, error))


class _Worker:
    """Another process that tries policies; if it cannot, they are tried here."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def try_policy(self, name: str, policy: Policy) -> Point:
        try:
            if self._process is None:
                self._start()
            point = self._ask((name, policy))
        except (OSError, EOFError, pickle.PickleError, AttributeError, TypeError):
            if self._stopped:
                raise
            # It may lack what was defined in the caller's script, or memory, or Python itself.
            return try_policy(name, policy, self._table)
        return replace(point, policy=policy)

    def _start(self) -> None:
        path = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(  # noqa: S603 - our own code, and nothing from outside
            [sys.executable, "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._send(self._table)

    def _ask(self, job: Job) -> Point:
        self._send(job)
        if self._process is None or self._process.stdout is None:
            raise EOFError
        point: Point = pickle.load(self._process.stdout)  # noqa: S301 - from our own process
        return point

    def _send(self, value: object) -> None:
        if self._process is None or self._process.stdin is None:
            raise EOFError
        pickle.dump(value, self._process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
        self._process.stdin.flush()

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


def serve() -> None:
    """Answer one policy after the other until nobody asks any more; runs in a worker."""
    asked: IO[bytes] = sys.stdin.buffer
    # Only answers may go where answers are read.
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        table: Table = pickle.load(asked)  # noqa: S301 - from the process that started this one
        while True:
            try:
                name, policy = pickle.load(asked)  # noqa: S301 - likewise
            except EOFError:
                return
            pickle.dump(try_policy(name, policy, table), answers)
            answers.flush()
