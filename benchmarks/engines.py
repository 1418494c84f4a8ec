"""Databases: what the engine costs beside statements by hand, and how it grows with the rows."""

import json
import pickle
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.bench import Bench, Benchmark
from benchmarks.by_hand import DuckDBByHand, SparkByHand
from benchmarks.measure import child
from benchmarks.results import Figure
from benchmarks.scale import scale_policy
from benchmarks.workloads import ADULT_ROWS, FEW, MILLION, TEN_MILLION
from sfumato.partition import Mondrian
from sfumato.recode.deciding import counted_columns, decide_full_domain, decide_locally
from sfumato.tables import open_table

_HUNDRED_MILLION = 3320 * ADULT_ROWS
_LIMITS = {"duckdb": DuckDBByHand.limit, "spark": SparkByHand.limit}
_CALLED = {"duckdb": "DuckDB", "spark": "Spark"}


def run(bench: Bench) -> Iterator[Figure]:
    """Do the same statements with the engine and by hand, one after the other."""
    rows = ADULT_ROWS // 10 if bench.quick else MILLION
    file = bench.files.jittered(rows, "parquet")
    decided = _decided(bench, file)
    for kind in _there(bench):
        yield from _overhead(bench, kind, rows, file, decided)


def scale_of(rows: int) -> Benchmark:
    """Measure one number of rows, so that a long run can be done in parts."""

    def run(bench: Bench) -> Iterator[Figure]:
        size = min(rows, ADULT_ROWS // 10) if bench.quick else rows
        file = bench.files.jittered(size, "parquet")
        policy = bench.files.policy("adult-scale", scale_policy())
        # Spark on one machine is no rival for a hundred million rows.
        for kind in _there(bench) if rows <= TEN_MILLION else ["duckdb"]:
            yield from _scale(bench, kind, size, file, policy)
        if size > MILLION:
            file.unlink()

    return run


SCALES: dict[str, Benchmark] = {
    "engines-million": scale_of(MILLION),
    "engines-ten-million": scale_of(TEN_MILLION),
    "engines-hundred-million": scale_of(_HUNDRED_MILLION),
}


def _there(bench: Bench) -> list[str]:
    """Name the databases to measure: those installed, and with few rows those quickly started."""
    libraries = {"duckdb": "duckdb"} if bench.quick else {"duckdb": "duckdb", "spark": "pyspark"}
    return [kind for kind, library in libraries.items() if _installed(library)]


def _installed(library: str) -> bool:
    return find_spec(library) is not None and (library != "pyspark" or bool(shutil.which("java")))


def _decided(bench: Bench, file: Path) -> Path:
    """Decide what becomes of the rows: counted from the file, the same for every database."""
    policy = scale_policy()
    counts = open_table(file).count(counted_columns(policy))
    full = decide_full_domain(policy, counts, None, lambda _: None).recoding
    local = decide_locally(policy, Mondrian(), counts, rng=np.random.default_rng(0)).recoding
    path = bench.files.folder / "decided.pickle"
    path.write_bytes(pickle.dumps((full, local)))
    return path


def _overhead(bench: Bench, kind: str, rows: int, file: Path, decided: Path) -> Iterator[Figure]:
    repeats = bench.few
    found = _piece(bench, "overhead", kind, file, decided, repeats)
    for what in ("count", "full-domain", "local"):
        named = f"{_CALLED[kind]}, {_rows(rows)}: {_DONE[what]}"
        ours, theirs = found[what], found[f"{what} by hand"]
        yield Figure(f"{named}, by hand", theirs, "CPU s")
        yield Figure(named, ours, "CPU s")
        # What a statement costs to write shows with few rows.
        target = None if bench.quick else _LIMITS[kind]
        yield Figure(f"{named} / by hand", ours / theirs, "×", target=target)
        if what == "count":
            numbered = f"{_CALLED[kind]}, {_rows(rows)}: count, combinations numbered and in order"
            yield Figure(numbered, found["numbered"], "CPU s")
            yield Figure(f"{numbered} / by hand", found["numbered"] / theirs, "×")


_DONE = {
    "count": "count",
    "full-domain": "recode by level and store",
    "local": "recode locally and store",
}


def _scale(bench: Bench, kind: str, rows: int, file: Path, policy: Path) -> Iterator[Figure]:
    few = bench.files.jittered(FEW, "parquet")
    found = _piece(bench, "scale", kind, file, file, few, policy)
    named = f"{_CALLED[kind]}, {_rows(rows)}"
    yield Figure(f"{named}: distinct combinations", found["distinct"])
    whole = {
        "count": "count",
        "anonymize": "whole anonymize into a table, verified",
        "break-merge": "Break-Merge of that release, verified",
    }
    for piece, what in whole.items():
        yield Figure(f"{named}: {what}", found[f"{piece} cpu"], "CPU s")
        yield Figure(f"{named}: {what}, by the clock", found[f"{piece} wall"], "s")
        yield Figure(f"{named}: {what}, peak memory until then", found[f"{piece} peak"], "MB")
    yield Figure(f"{named}: verified", bool(found["verified"]))


def _piece(bench: Bench, name: str, kind: str, file: Path, *more: object) -> dict[str, float]:
    folder = bench.files.folder / f"{name}-{kind}"
    given = [name, kind, folder, file, *more]
    try:
        done = child(["-m", "benchmarks.engine_child", *map(str, given)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    figures: dict[str, float] = json.loads(done.output.splitlines()[-1])
    return figures


def _rows(rows: int) -> str:
    return f"{rows:,} rows".replace(",", " ")
