"""Measuring: CPU seconds of this process and of others, and how much memory they took."""

import gc
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Timing:
    """CPU seconds of some repeats: the least is what the work costs, the median what it did."""

    least: float
    median: float


def cpu(work: Callable[[], object], *, repeats: int, warm: bool = True) -> Timing:
    """Time something in this process, after calling it once unless it is not to be warm.

    CPU seconds of all threads are counted: on a busy machine they say more than a clock.
    """
    if warm:
        work()
    gc.collect()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return Timing(min(seconds), statistics.median(seconds))


@dataclass(frozen=True)
class Child:
    """What a process of its own cost, from its start to its end, and what it said."""

    cpu: float
    output: str


def child(arguments: Sequence[str]) -> Child:
    """Run `python` with these arguments and count its CPU seconds, start-up included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"a measured process failed:\n{done.stdout}{done.stderr}")
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Child(spent, done.stdout)


def children(arguments: Sequence[str], *, repeats: int) -> Timing:
    """Time whole processes."""
    seconds = [child(arguments).cpu for _ in range(repeats)]
    return Timing(min(seconds), statistics.median(seconds))


def piece(name: str, *arguments: object) -> dict[str, float]:
    """Run one piece of `benchmarks.child` in a process of its own."""
    done = child(["-m", "benchmarks.child", name, *map(str, arguments)])
    figures: dict[str, float] = json.loads(done.output.splitlines()[-1])
    return figures
