"""Many small increments on one ledger: what the next one costs, the more there are."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.bench import Bench
from benchmarks.ledger import increment_of, released
from benchmarks.measure import cpu
from benchmarks.results import Figure
from sfumato.ledger import chain, store
from sfumato.ledger.publishing.ledger import Ledger

ROWS = 20
"""Rows of an increment."""

_MOST = 2.0
"""Times the CPU of an increment when there are few."""


def run(bench: Bench) -> Iterator[Figure]:
    marks = (4, 8) if bench.quick else (30, 300, 1_000)
    file = bench.files.folder / "streams.ledger"
    Ledger.start(released(2_000), file, alpha=0.5, k=2)
    rng, done = np.random.default_rng(1), 0
    least, read = [], []
    yield Figure("rows of an increment", ROWS)
    for mark in marks:
        while done < mark - bench.few:
            _add(file, rng)
            done += 1
        added = cpu(partial(_add, file, rng), repeats=bench.few, warm=False)
        done += bench.few
        least.append(added.least)
        at = f"{mark:,} increments".replace(",", " ")
        yield Figure.of(f"{at}: the next one", added)
        with store.reading(file) as db:
            everything = cpu(partial(chain.faults, db, thorough=False), repeats=bench.few)
        read.append(everything.least)
        yield Figure.of(f"{at}: reading everything, if the file is not as it was left", everything)
        yield Figure(f"{at}: size of the ledger", file.stat().st_size / 1e6, "MB")
    yield Figure(
        f"the next one after {marks[-1]} / after {marks[0]}",
        least[-1] / least[0],
        "×",
        target=None if bench.quick else _MOST,
    )
    yield Figure(
        f"reading everything after {marks[-1]} / after {marks[0]}", read[-1] / read[0], "×"
    )
    file.unlink()


def _add(file: Path, rng: np.random.Generator) -> None:
    # The same rows may come again, and here they are other people.
    Ledger.open(file).publish(_rows(rng), again=True)


def _rows(rng: np.random.Generator) -> pa.Table:
    """Draw rows of two of the groups."""
    table = increment_of(ROWS, seed=int(rng.integers(2**31)))
    places = rng.choice([f"group {i:07d}" for i in rng.integers(40, size=2)], ROWS)
    return table.set_column(0, "place", pa.array(places))
