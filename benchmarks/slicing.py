"""Slicing: jittered Adult in slices, published and verified, and how that grows with the rows.

Beside it stands how the algorithm grows that is printed, as far as it can be waited for.
"""

import math
import shutil
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.bench import Bench
from benchmarks.literal_slicing import LiteralSlicing
from benchmarks.measure import cpu
from benchmarks.results import Figure
from benchmarks.workloads import FEW, MILLION
from sfumato.decouplings import Slicing
from sfumato.releases.release import DecoupledRelease
from sfumato.tables import open_table
from sfumato.tasks.decouple import decouple

SENSITIVE = "occupation"
QUASI_IDENTIFIERS = (
    *("sex", "age", "race", "marital-status"),
    *("education", "native-country", "workclass", "salary-class"),
)
_L = 3

_TARGETS = {30_000: 5.0, MILLION: 120.0}
"""CPU seconds."""

_GROWTH = 1.3
"""The exponent of the rows."""


_RELAXED = {"cuts": "relaxed"}
_TOGETHER = {"cuts": "relaxed", "check": "worlds"}


def run(bench: Bench) -> Iterator[Figure]:
    folder = bench.files.folder / "slices"
    # What is loaded on first use is no growth.
    _slice(bench.files.jittered(FEW, "parquet"), folder)
    sizes = [2_000, 4_000, 8_000] if bench.quick else [10_000, 30_000, 100_000, 300_000, MILLION]
    few = [500, 1_000] if bench.quick else [2_000, 5_000, 10_000]
    yield from _ours(bench, folder, sizes)
    yield from _ours(bench, folder, sizes[::2], "relaxed cuts, ", **_RELAXED)
    yield from _ours(bench, folder, few, "relaxed cuts, buckets together, ", **_TOGETHER)
    yield from _wide(bench, folder)
    yield from _printed(bench, folder)
    shutil.rmtree(folder)


def _ours(
    bench: Bench, folder: Path, sizes: list[int], way: str = "", **settings: Any
) -> Iterator[Figure]:
    seconds = []
    for rows in sizes:
        file = bench.files.jittered(rows, "parquet")
        made = list[DecoupledRelease]()
        work = partial(_keep, made, file, folder, **settings)
        timing = cpu(work, repeats=1 if way else bench.few, warm=False)
        seconds.append(timing.least)
        what = f"{way}{_at(rows)}: whole slicing, published and verified"
        yield Figure.of(what, timing, target=None if way else _TARGETS.get(rows))
        if not way:
            distinct = len(open_table(file).count((*QUASI_IDENTIFIERS, SENSITIVE)))
            yield Figure(f"{_at(rows)}: distinct combinations", distinct)
        yield Figure(f"{way}{_at(rows)}: buckets", made[-1].manifest.classes.count)
    whole, steepest = _exponents(sizes, seconds)
    target = None if bench.quick or settings == _TOGETHER else _GROWTH
    spans = f"from {_at(sizes[0])} to {_at(sizes[-1])}"
    yield Figure(f"{way}growth {spans}", whole, "as exponent", target=target)
    yield Figure(f"{way}growth where it is steepest", steepest, "as exponent", target=target)


def _wide(bench: Bench, folder: Path) -> Iterator[Figure]:
    """Slice a table of forty quasi-identifiers, in the two ways to cut, beside one of eight."""
    rows, n = (500, 16) if bench.quick else (10_000, 40)
    table = pq.read_table(bench.files.jittered(rows, "parquet"))
    names = list(QUASI_IDENTIFIERS)
    for number in range(len(names), n):
        copied = f"{QUASI_IDENTIFIERS[number % len(QUASI_IDENTIFIERS)]}-{number}"
        drawn = np.random.default_rng(number).permutation(len(table))
        source = table[QUASI_IDENTIFIERS[number % len(QUASI_IDENTIFIERS)]]
        table = table.append_column(copied, source.take(drawn))
        names.append(copied)
    for way, settings in (("", {}), ("relaxed cuts, ", _RELAXED)):
        seconds = [
            cpu(partial(_slice, table, folder, some, **settings), repeats=1, warm=False).least
            for some in (QUASI_IDENTIFIERS, tuple(names))
        ]
        what = f"{way}{_at(rows)}: {n} quasi-identifiers / {len(QUASI_IDENTIFIERS)}"
        yield Figure(what, seconds[1] / seconds[0], "×")


def _printed(bench: Bench, folder: Path) -> Iterator[Figure]:
    """Partition rows by the printed algorithm, each size once: it has nothing to warm up."""
    sizes = [50, 100] if bench.quick else [125, 250, 500]
    seconds, alike = [], True
    for rows in sizes:
        file = bench.files.jittered(rows, "parquet")
        release = _slice(file, folder)
        literal, found = _literal(file, release), list[int]()
        timing = cpu(partial(_count_buckets, literal, found), repeats=1, warm=False)
        seconds.append(timing.least)
        alike &= found == [release.manifest.classes.count]
        yield Figure(f"as printed, {_at(rows)}: tuple partition", timing.least, "CPU s")
        yield Figure(f"as printed, {_at(rows)}: buckets", found[0])
    whole, steepest = _exponents(sizes, seconds)
    yield Figure("as printed: as many buckets as ours", alike)
    spans = f"from {_at(sizes[0])} to {_at(sizes[-1])}"
    yield Figure(f"as printed: growth {spans}", whole, "as exponent")
    yield Figure("as printed: growth where it is steepest", steepest, "as exponent")


def _count_buckets(literal: LiteralSlicing, found: list[int]) -> None:
    found.append(len(literal.tuple_partition()))


def _slice(
    file: object, folder: Path, known: tuple[str, ...] = QUASI_IDENTIFIERS, **settings: Any
) -> DecoupledRelease:
    return decouple(
        file,
        Slicing(l=_L, **settings),
        output=folder,
        quasi_identifiers=known,
        sensitive=[SENSITIVE],
        force=True,
    )


def _keep(made: list[DecoupledRelease], file: object, folder: Path, **settings: Any) -> None:
    made.append(_slice(file, folder, **settings))


def _literal(file: Path, release: DecoupledRelease) -> LiteralSlicing:
    """Give the rows as codes, and the columns that ours were published in."""
    names = (*QUASI_IDENTIFIERS, SENSITIVE)
    counts = open_table(file).count(names)
    codes = np.repeat([counts.codes_of(name) for name in names], counts.rows, axis=1)
    columns = [each.columns for each in release.manifest.files]
    columns.sort(key=lambda column: SENSITIVE in column)
    places = [[names.index(name) for name in column] for column in columns]
    return LiteralSlicing([tuple(row) for row in codes.T.tolist()], places, _L)


def _exponents(sizes: list[int], seconds: list[float]) -> tuple[float, float]:
    """Give the exponent of the rows from the least to the most, and the largest on the way."""
    grown = list(zip(np.log(sizes).tolist(), np.log(seconds).tolist(), strict=True))
    steps = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(grown)]
    whole = math.log(seconds[-1] / seconds[0]) / math.log(sizes[-1] / sizes[0])
    return whole, max(steps)


def _at(rows: int) -> str:
    return f"{rows:,} rows".replace(",", " ")
