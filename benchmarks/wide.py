"""Lattices too large to look at: what is found within a budget, and that it still holds."""

import time
from collections.abc import Iterator
from math import log10

from benchmarks.bench import Bench
from benchmarks.results import Figure
from benchmarks.workloads import grid, grid_policy
from sfumato.search import BestFirst
from sfumato.tasks.anonymize import anonymize


def run(bench: Bench) -> Iterator[Figure]:
    budget = 1.0 if bench.quick else 10.0
    cases = [
        (60, 1000, 5, BestFirst(seconds=budget), f"{budget:g} seconds"),
        (20, 1000, 5, BestFirst(), "default budget"),
        (11, 10, 2, BestFirst(), "default budget"),
    ]
    for columns, rows, k, search, text in cases[::2] if bench.quick else cases:
        table, policy = grid(columns, rows), grid_policy(columns, k=k, search=search)
        clock, cpu = time.monotonic(), time.process_time()
        release = anonymize(table, policy)
        clock, cpu = time.monotonic() - clock, time.process_time() - cpu
        found = release.manifest.known_search
        title = f"{columns} columns × {rows} rows, k={k}, {text}"
        yield Figure(f"{title}: nodes", f"10^{log10(found.nodes):.1f}")
        yield Figure(f"{title}: whole anonymize", cpu, "CPU s")
        yield Figure(f"{title}: by the clock", clock, "s")
        yield Figure(f"{title}: checks", found.checks)
        yield Figure(f"{title}: loss", release.loss)
        yield Figure(f"{title}: proven optimal", found.optimal)
        yield Figure(f"{title}: verified", release.verdict.holds)
