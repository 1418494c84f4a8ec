"""Slicing: jittered Adult in slices, published and verified, and how that grows with the rows."""

import math
import shutil
from collections.abc import Iterator
from functools import partial

from benchmarks.bench import Bench
from benchmarks.measure import cpu
from benchmarks.results import Figure
from benchmarks.workloads import MILLION
from sfumato.decouplings import Slicing
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


def run(bench: Bench) -> Iterator[Figure]:
    sizes = [2_000, 8_000] if bench.quick else [30_000, 250_000, MILLION]
    folder = bench.files.folder / "slices"
    seconds = []
    for rows in sizes:
        file = bench.files.jittered(rows, "parquet")
        work = partial(
            decouple,
            file,
            Slicing(l=_L),
            output=folder,
            quasi_identifiers=QUASI_IDENTIFIERS,
            sensitive=[SENSITIVE],
            force=True,
        )
        timing = cpu(work, repeats=bench.few, warm=False)
        seconds.append(timing.least)
        at = f"{rows:,} rows".replace(",", " ")
        yield Figure.of(
            f"{at}: whole slicing, published and verified", timing, target=_TARGETS.get(rows)
        )
        yield Figure(f"{at}: buckets", work().manifest["classes"]["count"])
    exponent = math.log(seconds[-1] / seconds[0]) / math.log(sizes[-1] / sizes[0])
    target = None if bench.quick else _GROWTH
    yield Figure("growth with the rows", exponent, "as exponent", target=target)
    shutil.rmtree(folder)
