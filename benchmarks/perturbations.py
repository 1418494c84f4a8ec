"""Perturbing a million rows: what it costs beside a sort and a scan of them, and how it grows.

Reading the column, changing it and making the table that has it are measured together. Incomes are
numbers of which hardly two are the same: the most that ordering them may be given.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.bench import Bench
from benchmarks.measure import cpu
from benchmarks.results import Figure
from sfumato.models import KAnonymity
from sfumato.perturbations import PlainNoise, Pram, RankSwapping, RecordSwapping
from sfumato.policy import Policy
from sfumato.releases.perturbing import perturb_table
from sfumato.tables import open_table

_ROWS = (250_000, 500_000, 1_000_000)
_SECONDS = 2.0
"""The most CPU seconds of a million rows."""

_GROWTH = 5.0
"""The most CPU of four times the rows: 4 if time grew with them alone."""

_RULES = {
    "rank-swapping": ("income", RankSwapping(distance="5%")),
    "record-swapping": ("town", RecordSwapping(share="5%", within=("region",))),
    "pram": ("job", Pram(keep=0.9, invariant=True)),
    "noise": ("income", PlainNoise(sd="10%", at_least=0)),
}


def people(rows: int, *, seed: int = 1) -> pa.Table:
    """Return people with an income, a job, and a town in a region."""
    rng = np.random.default_rng([seed, rows])
    region = rng.integers(0, 16, rows)
    towns = pa.array([f"town {n}" for n in range(16 * 50)])
    jobs = pa.array([f"job {n}" for n in range(15)])
    return pa.table(
        {
            "age": rng.integers(18, 90, rows),
            "income": np.round(rng.lognormal(10, 0.6, rows), 2),
            "region": pa.array([f"region {n}" for n in range(16)]).take(pa.array(region)),
            "town": towns.take(pa.array(region * 50 + rng.integers(0, 50, rows))),
            "job": jobs.take(pa.array(rng.integers(0, 15, rows))),
        }
    )


def run(bench: Bench) -> Iterator[Figure]:
    part = 100 if bench.quick else 1
    tables = {rows: people(rows // part) for rows in _ROWS}
    for name, (column, member) in _RULES.items():
        policy = Policy(
            columns={"age": "quasi-identifier", column: {"role": "plain", "perturb": member}},
            models=[KAnonymity(5)],
        )
        seconds = {}
        for rows, table in tables.items():
            given = open_table(table)
            took = cpu(
                lambda given=given, policy=policy: perturb_table(
                    given, policy, np.random.default_rng(1)
                ),
                repeats=bench.repeats,
            )
            seconds[rows] = took.least
            most = _SECONDS if rows == _ROWS[-1] and not bench.quick else None
            yield Figure.of(f"{_spaced(rows // part)} rows, {name}", took, target=most)
        table = tables[_ROWS[-1]]
        at = f"{_spaced(table.num_rows)} rows, {name}"
        values = table[column].combine_chunks()
        ordered = cpu(lambda values=values: pc.sort_indices(values), repeats=bench.repeats)
        yield Figure(f"{at} / one sort", seconds[_ROWS[-1]] / ordered.least, "×")
        scan = cpu(
            lambda table=table, column=column: table.group_by(column).aggregate(
                [([], "count_all")]
            ),
            repeats=bench.repeats,
        )
        yield Figure(f"{at} / one group-by with pyarrow", seconds[_ROWS[-1]] / scan.least, "×")
        grown = seconds[_ROWS[-1]] / seconds[_ROWS[0]]
        limit = None if bench.quick else _GROWTH
        yield Figure(f"{name}, 4 × the rows", grown, "× the CPU", target=limit)


def _spaced(rows: int) -> str:
    return f"{rows:,}".replace(",", " ")
