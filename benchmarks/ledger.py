"""A ledger: an increment costs what it touches, however much was published before."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.bench import Bench
from benchmarks.measure import cpu
from benchmarks.results import Figure
from benchmarks.workloads import FEW
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.publishing.ledger import Ledger

SIZE = 50
"""Rows of a group."""

TOUCHED = 200
"""Groups that get new rows."""

_VALUES = {"diagnosis": 15, "income": 6, "occupation": 8}
_MOST = 2.0
"""Times the CPU of the same increment on the smallest ledger."""


def run(bench: Bench) -> Iterator[Figure]:
    sizes = (20 * FEW, 40 * FEW) if bench.quick else (100_000, 1_000_000, 10_000_000)
    increment = FEW if bench.quick else 10 * FEW
    yield Figure("rows of an increment", increment)
    yield Figure("groups it touches", TOUCHED)
    least = []
    for rows in sizes:
        file = bench.files.folder / f"{rows}.ledger"
        started = cpu(partial(_start, file, rows), repeats=1, warm=False)
        yield Figure.of(f"{rows:,} rows: starting the ledger".replace(",", " "), started)
        added = cpu(partial(_add, file, increment), repeats=bench.few, warm=False)
        yield Figure.of(f"{rows:,} rows: an increment".replace(",", " "), added)
        least.append(added.least)
        file.unlink()
    yield Figure(
        "an increment on the largest ledger / on the smallest",
        least[-1] / least[0],
        "×",
        target=None if bench.quick else _MOST,
    )


def _start(file: Path, rows: int) -> None:
    Ledger.start(released(rows), file, alpha=0.5, k=5)


def _add(file: Path, rows: int) -> None:
    # The same rows again are recognised, and here they are meant.
    Ledger.open(file).publish(increment_of(rows), again=True)


def released(rows: int, *, seed: int = 1) -> GroupedTables:
    """Draw a decoupled release: groups of equal size, values at random."""
    rng = np.random.default_rng([seed, rows])
    groups = np.repeat(np.arange(rows // SIZE), SIZE)
    codes = [groups, *(rng.integers(n, size=len(groups)) for n in _VALUES.values())]
    values = [_names("group", rows // SIZE), *(_names(k, n) for k, n in _VALUES.items())]
    counts = FrequencySet.from_codes(
        ["place", *_VALUES], values, np.array(codes), np.ones(len(groups), dtype=np.int64)
    )
    return GroupedTables.of(counts, ["place"], list(_VALUES))


def increment_of(rows: int, *, seed: int = 2) -> pa.Table:
    """Draw new rows for a few groups."""
    rng = np.random.default_rng(seed)
    columns = {"place": _names("group", TOUCHED)}
    columns |= {name: _names(name, n) for name, n in _VALUES.items()}
    return pa.table(
        {name: rng.choice(labels, rows) for name, labels in columns.items()},
    )


def _names(what: str, n: int) -> list[str]:
    return [f"{what} {i:07d}" for i in range(n)]
