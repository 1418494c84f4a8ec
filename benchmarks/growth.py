"""How cost grows: n, 4 n and 16 n rows, each in a process of its own."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.measure import piece
from benchmarks.results import Figure
from benchmarks.workloads import FEW, adult_policy
from sfumato import samples


def run(bench: Bench) -> Iterator[Figure]:
    n = 4_000 if bench.quick else 62_500
    sizes = [n, 4 * n, 16 * n]
    adult = bench.files.policy("adult-growth", adult_policy(k=5, limit=0.05))
    files = [bench.files.jittered(rows, "parquet") for rows in [FEW, *sizes]]
    yield from _one(bench, "jittered Adult", files, adult, sizes)
    people = [bench.files.people(rows, "parquet") for rows in [FEW, *sizes]]
    # Postcodes and days of admission make nearly every row different: the hardest case.
    wide = samples.policy_path("synthetic-wide")
    yield from _one(bench, "invented patients", people, wide, sizes)


def _one(
    bench: Bench, title: str, files: list[Path], policy: Path, sizes: list[int]
) -> Iterator[Figure]:
    few, *files = files
    release = bench.files.folder / "growth-release"
    start = piece("start", few, policy, few)
    yield Figure(f"{title}: peak memory before anything is read", start["peak"], "MB")
    for name in ("count", "search", "anonymize"):
        more = [release] if name == "anonymize" else []
        runs = [_best(bench, name, file, policy, few, *more) for file in files]
        for rows, figures in zip(sizes, runs, strict=True):
            at = f"{title}, " + f"{rows:,} rows".replace(",", " ")
            if name == "count":
                yield Figure(f"{at}: distinct combinations", figures["distinct"])
            yield Figure(f"{at}: {name}", figures["cpu"], "CPU s")
            if name != "search":
                yield Figure(f"{at}: peak memory of {name}", figures["peak"], "MB")
        for factor, figures in zip((4, 16), runs[1:], strict=True):
            ratio = figures["cpu"] / runs[0]["cpu"]
            yield Figure(f"{title}: {name}, {factor} × the rows", ratio, "× the CPU")
    shutil.rmtree(release)


def _best(bench: Bench, name: str, *arguments: object) -> dict[str, float]:
    return min((piece(name, *arguments) for _ in range(bench.few)), key=lambda f: f["cpu"])
