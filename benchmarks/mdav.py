"""Microaggregation by MDAV: numbers that are all different, and how that grows.

Adult has one number. These are as many rows with four, of which no two are the same: nothing is
counted together, so every row is a point of its own, which is the most that MDAV may be given.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.bench import Bench
from benchmarks.measure import cpu
from benchmarks.results import Figure
from benchmarks.workloads import ADULT_ROWS, FEW
from sfumato.models import KAnonymity
from sfumato.partition import Mdav, Problem
from sfumato.policy import Policy
from sfumato.recode.deciding import make_problem, prepare
from sfumato.tables import open_table

_K = 5
_SECONDS = 2.0
"""The most CPU seconds of as many rows as Adult has."""

_SQUARE = 20.0
"""The most CPU of four times the rows in one block: 16 if time grew with their square alone."""

_BLOCKS = 2.5
"""The most CPU of twice the rows and blocks: 2 if time grew with the blocks alone."""


def measurements(rows: int, *, seed: int = 1) -> pa.Table:
    """Return four numbers of each person, which hang together."""
    rng = np.random.default_rng([seed, rows])
    common = rng.normal(size=rows)
    names = ("income", "rent", "age", "weight")
    return pa.table({name: common + rng.normal(size=rows) for name in names})


def problem_of(table: pa.Table) -> Problem:
    """Return what MDAV is given: every row is a combination of its own."""
    names = tuple(table.column_names)
    policy = Policy(
        columns={name: {"role": "quasi-identifier", "as": "mean"} for name in names},
        models=[KAnonymity(_K)],
    )
    return make_problem(policy, prepare(policy, open_table(table).count(names)))


def passes(table: pa.Table) -> None:
    """Compute the distances that MDAV cannot do without: three times per two groups, of all left.

    From the mean of those that are left, from the farthest of them, and from the farthest of that.
    """
    numbers = np.array([column.to_numpy() for column in table.columns])
    for left in range(table.num_rows, 3 * _K, -2 * _K):
        for n in (left, left, left - _K):
            found = np.zeros(n)
            for line in numbers:
                off = line[:n] - line[n - 1]
                off *= off
                found += off
            found.argmax()


def run(bench: Bench) -> Iterator[Figure]:
    yield from _adult(bench, FEW if bench.quick else ADULT_ROWS)
    yield from _growth(bench, 100 if bench.quick else 1)


def _adult(bench: Bench, rows: int) -> Iterator[Figure]:
    table = measurements(rows)
    problem = problem_of(table)
    at = f"{_spaced(rows)} rows × 4 numbers, k={_K}"
    took = cpu(lambda: Mdav().run(problem), repeats=bench.few)
    yield Figure(f"{at}: groups", Mdav().run(problem).n)
    yield Figure.of(f"{at}: MDAV", took, target=None if bench.quick else _SECONDS)
    least = cpu(lambda: passes(table), repeats=bench.few)
    yield Figure(f"{at}: MDAV / its distances alone", took.least / least.least, "×")
    once = cpu(lambda: table.group_by(table.column_names).aggregate([]), repeats=bench.repeats)
    yield Figure(f"{at}: MDAV / one group-by with pyarrow", took.least / once.least, "×")


def _growth(bench: Bench, part: int) -> Iterator[Figure]:
    """Group up to one block, and then two and four of them."""
    block = Mdav().block // part
    method = Mdav(block=block)
    seconds = {}
    for rows in (7_500, 15_000, 30_000, 60_000, 120_000):
        problem = problem_of(measurements(rows // part))
        took = cpu(lambda problem=problem: method.run(problem), repeats=bench.few, warm=False)
        seconds[rows] = took.least
        yield Figure.of(f"{_spaced(rows // part)} rows × 4 numbers", took)
    inside, beyond = seconds[30_000] / seconds[7_500], seconds[120_000] / seconds[60_000]
    square, blocks = (None, None) if bench.quick else (_SQUARE, _BLOCKS)
    yield Figure("4 × the rows in one block", inside, "× the CPU", target=square)
    yield Figure("2 × the rows and blocks", beyond, "× the CPU", target=blocks)


def _spaced(rows: int) -> str:
    return f"{rows:,}".replace(",", " ")
