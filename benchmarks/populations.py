"""Samples and populations: special uniques of a wide table, and estimates from a million rows."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.bench import Bench
from benchmarks.measure import cpu
from benchmarks.results import Figure
from sfumato import samples
from sfumato.drafting.special_uniques import minimal_uniques
from sfumato.populations import SampleRisk
from sfumato.tables import open_table

_ROWS, _COLUMNS, _SIZE = 1629, 20, 4
_UNIQUES = 5.0
"""CPU seconds."""

_ESTIMATES = 1.0
"""CPU seconds of a million rows, without those of counting them."""

_KNOWN = ("age", "sex", "education", "marital_status", "nationality", "occupation")


def wide(rows: int, columns: int, seed: int = 0) -> pa.Table:
    """Return a questionnaire: 2 to 15 answers to each question, some of them rare."""
    rng = np.random.default_rng(seed)
    answers = [
        np.minimum(rng.geometric(rng.uniform(0.1, 0.7), rows), rng.integers(2, 16))
        for _ in range(columns)
    ]
    return pa.table({f"q{i}": codes for i, codes in enumerate(answers)})


def run(bench: Bench) -> Iterator[Figure]:
    yield from _special_uniques(bench)
    yield from _estimates(bench)


def _special_uniques(bench: Bench) -> Iterator[Figure]:
    columns = 8 if bench.quick else _COLUMNS
    table = wide(_ROWS, columns)
    counts = open_table(table).count(tuple(table.column_names))
    title = f"special uniques, {_ROWS} rows × {columns} columns up to size {_SIZE}"
    took = cpu(lambda: minimal_uniques(counts, _SIZE), repeats=bench.few)
    yield Figure.of(title, took, target=_UNIQUES)
    once = cpu(lambda: table.group_by(table.column_names).aggregate([]), repeats=bench.repeats)
    yield Figure(f"{title} / one group-by with pyarrow", took.least / once.least, "×")
    yield Figure("minimal sample uniques", len(minimal_uniques(counts, _SIZE).item))


def _estimates(bench: Bench) -> Iterator[Figure]:
    rows = 20_000 if bench.quick else 1_000_000
    table = samples.synthetic(rows, seed=1).select(_KNOWN)
    counts = open_table(table).count(_KNOWN)
    title = f"all estimates of a population, {rows} rows"
    took = cpu(lambda: SampleRisk.of(counts.rows, fraction=0.01), repeats=bench.few)
    yield Figure.of(f"{title}, beyond counting", took, target=_ESTIMATES)
    once = cpu(lambda: table.group_by(_KNOWN).aggregate([]), repeats=bench.few)
    yield Figure(f"{title} / one group-by with pyarrow", took.least / once.least, "×")
