"""A million rows: counting, searching, and the whole way to a verified release."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeAlias

import polars as pl
import pyarrow.parquet as pq

from benchmarks.bench import Bench
from benchmarks.measure import Timing, cpu
from benchmarks.results import Figure
from benchmarks.workloads import ADULT_ROWS, MILLION, adult_policy, read_csv
from sfumato.counts import FrequencySet
from sfumato.policy import Policy
from sfumato.recode.deciding import make_checker
from sfumato.search import BestFirst, Found
from sfumato.tables import open_table
from sfumato.tasks.anonymize import anonymize

Timer: TypeAlias = Callable[[Callable[[], object]], Timing]

_THEIRS = {5: 8.4, 50: 16.7}
"""Seconds, warm, that ARX takes for each k."""


def run(bench: Bench) -> Iterator[Figure]:
    rows = 4 * ADULT_ROWS if bench.quick else MILLION
    yield Figure("rows", rows)
    for form in ("parquet", "csv"):
        yield from _one(bench, bench.files.jittered(rows, form))


def _one(bench: Bench, file: Path) -> Iterator[Figure]:
    form = file.suffix[1:]
    names = adult_policy(k=5, limit=0.05).quasi_identifiers
    timed: Timer = partial(cpu, repeats=bench.few, warm=False)
    scan, group_by, polars = bounds(file, list(names), timed)
    bound = scan.least + group_by.least
    counts = open_table(file).count(names)
    counting = timed(lambda: open_table(file).count(names))
    yield Figure.of(f"{form}: one scan with pyarrow", scan)
    yield Figure.of(f"{form}: one group-by with pyarrow, in memory", group_by)
    yield Figure.of(f"{form}: scan and group-by with Polars", polars)
    yield Figure(f"{form}: distinct combinations", len(counts))
    yield Figure.of(f"{form}: counting", counting)
    yield Figure(f"{form}: counting / scan", counting.least / scan.least, "×")
    yield Figure(f"{form}: counting / (scan + group-by)", counting.least / bound, "×")
    yield Figure(f"{form}: counting / Polars", counting.least / polars.least, "×")
    for k, theirs in _THEIRS.items():
        at = f"{form}, k={k}"
        policy = adult_policy(k=k, limit=0.05)
        found = _search(policy, counts)
        searching = timed(partial(_search, policy, counts))
        both = Timing(counting.least + searching.least, counting.median + searching.median)
        target, others = (None, "") if bench.quick else (theirs / 3, f"ARX {theirs} warm")
        yield Figure(f"{at}: checks", found.checks)
        yield Figure.of(f"{at}: searching", searching)
        yield Figure.of(f"{at}: counting and searching", both, target=target, others=others)
        yield Figure(f"{at}: both / (scan + group-by)", both.least / bound, "×")
        release = bench.files.folder / "million-release"
        full = timed(partial(anonymize, file, policy, output=release, force=True))
        yield Figure.of(f"{at}: whole anonymize, published and verified", full)
        shutil.rmtree(release)


def _search(policy: Policy, counts: FrequencySet) -> Found:
    *_, found = BestFirst().run(make_checker(policy, counts))
    return found


def bounds(file: Path, names: list[str], timed: Timer) -> tuple[Timing, Timing, Timing]:
    """Time what nobody gets by without: reading the file once, and grouping it once."""
    if file.suffix == ".parquet":
        read, lazy = partial(pq.read_table, file, columns=names), pl.scan_parquet(file)
    else:
        read, lazy = partial(read_csv, file), pl.scan_csv(file, separator=";")
    table = read().select(names)
    return (
        timed(read),
        timed(lambda: table.group_by(names).aggregate([([], "count_all")])),
        timed(lambda: lazy.group_by(names).len().collect()),
    )
