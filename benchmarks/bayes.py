"""Learning a network from jittered Adult: counting codes, structure, conditional tables."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.bench import Bench
from benchmarks.measure import cpu
from benchmarks.results import Figure
from benchmarks.structure_recovery import alarm_sized
from benchmarks.workloads import MILLION, jittered
from sfumato.counts import FrequencySet
from sfumato.networks import AgrumPc, InductiveCausation, tables_of

_COLUMNS = {
    4: "sex age race marital-status",
    6: "sex age race marital-status education salary-class",
    9: "sex age race marital-status education native-country workclass occupation salary-class",
}
# Seconds of Weka's structure search alone.
_WEKA = {(100_000, 4): 0.05, (100_000, 6): 0.35, (100_000, 9): 2.95, (MILLION, 6): 6.8}
_AT_MOST_WEKAS = 0.1
_PC_COLUMNS = (4, 6)
"""PC takes minutes for nine."""


def run(bench: Bench) -> Iterator[Figure]:
    for rows in (100_000,) if bench.quick else (100_000, MILLION):
        table = _in_tens(jittered(rows))
        for columns in _COLUMNS:
            yield from _learning(bench, table, rows, columns)
    if not bench.quick:
        yield from _wide()


def _learning(bench: Bench, table: pa.Table, rows: int, columns: int) -> Iterator[Figure]:
    names = _COLUMNS[columns].split()
    coded = [table[name].combine_chunks().dictionary_encode() for name in names]
    codes = np.stack([column.indices.to_numpy() for column in coded])
    values = [column.dictionary.to_pylist() for column in coded]
    ones = np.ones(rows, dtype=np.int64)

    def count() -> FrequencySet:
        return FrequencySet.from_codes(names, values, codes, ones)

    def learn() -> None:
        counts = count()
        tables_of(counts, InductiveCausation().learn(counts).network)

    title = f"{rows} rows, {columns} columns"
    weka = _WEKA.get((rows, columns))
    yield Figure(f"{title}: distinct combinations", len(count()))
    yield Figure.of(
        f"{title}: counting, ic and tables",
        cpu(learn, repeats=bench.repeats),
        target=_AT_MOST_WEKAS * weka if weka and columns > 4 else None,
        others=f"Weka's search alone {weka}" if weka else "",
    )
    if columns in _PC_COLUMNS and rows < MILLION:
        counts = count()
        yield Figure.of(f"{title}: ic", cpu(lambda: InductiveCausation().learn(counts), repeats=3))
        yield Figure.of(f"{title}: pyagrum-pc", cpu(lambda: AgrumPc().learn(counts), repeats=1))


def _wide() -> Iterator[Figure]:
    """Learn from a million rows that are nearly all different."""
    counts = alarm_sized(5).sample(1_000_000, np.random.default_rng(0))
    timing = cpu(lambda: InductiveCausation().learn(counts), repeats=1, warm=False)
    title = f"{counts.total} rows, {len(counts.columns)} columns"
    yield Figure(f"{title}: distinct combinations", len(counts))
    yield Figure.of(f"{title}: ic", timing)


def _in_tens(table: pa.Table) -> pa.Table:
    tens = pc.cast(pc.divide(pc.cast(table["age"], pa.int64()), 10), pa.string())
    return table.set_column(table.column_names.index("age"), "age", tens)
