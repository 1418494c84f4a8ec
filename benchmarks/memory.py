"""Ten million rows: how much memory they take."""

import shutil
from collections.abc import Iterator

from benchmarks.bench import Bench
from benchmarks.measure import piece
from benchmarks.results import Figure
from benchmarks.workloads import FEW, TEN_MILLION, adult_policy

_MOST = 1000.0
"""MB."""


def run(bench: Bench) -> Iterator[Figure]:
    if bench.quick:
        return
    policy = bench.files.policy("adult-memory", adult_policy(k=5, limit=0.05))
    file = bench.files.jittered(TEN_MILLION, "parquet")
    release = bench.files.folder / "memory-release"
    few = bench.files.jittered(FEW, "parquet")
    count = piece("count", file, policy, few)
    yield Figure("rows", count["rows"])
    yield Figure("distinct combinations", count["distinct"])
    yield Figure("peak memory of counting", count["peak"], "MB", target=_MOST)
    yield Figure("counting", count["cpu"], "CPU s")
    full = piece("anonymize", file, policy, few, release)
    yield Figure("peak memory of the whole anonymize", full["peak"], "MB", target=_MOST)
    yield Figure("whole anonymize, published and verified", full["cpu"], "CPU s")
    yield Figure("verified", bool(full["verified"]))
    shutil.rmtree(release)
    file.unlink()
