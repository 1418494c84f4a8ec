"""Local recoding: what it keeps of Adult, what deciding costs, and how that grows."""

import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.bench import Bench
from benchmarks.measure import Timing, cpu
from benchmarks.million import Timer, bounds
from benchmarks.results import Figure
from benchmarks.workloads import (
    FEW,
    MILLION,
    adult,
    adult_policy,
    health_policy,
    with_conditions,
)
from sfumato.counts import FrequencySet
from sfumato.losses import DistortionRatio, NormalizedLoss
from sfumato.partition import (
    BottomUp,
    LabelledPartition,
    Mondrian,
    Partitioner,
    TopDown,
    label_partition,
)
from sfumato.policy import Policy
from sfumato.recode.deciding import counted_columns, make_checker, make_problem, prepare
from sfumato.search import BestFirst, Found
from sfumato.tables import open_table
from sfumato.tasks.anonymize import anonymize

METHODS: Mapping[str, Partitioner] = {
    "top-down": TopDown(),
    "top-down by loss": TopDown(best="loss"),
    "mondrian": Mondrian(),
    "relaxed mondrian": Mondrian(relaxed=True),
    "bottom-up": BottomUp(),
}

_GRANULARITY = 0.9377
_THEIRS = "ARX 0.9377 in 3.5 s, 0.9168 in 0.85 s, 0.9148 in 9.3 s"
"""What three settings of ARX keep of Adult, and the CPU seconds they take."""

_ADULT = {"top-down": 1.0, "mondrian": 0.2, "bottom-up": 1.0}
_HEALTH = {"top-down": 1.0}
_GROWN = {"top-down": 30.0, "mondrian": 5.0}
"""The most CPU seconds that deciding should take: Adult, health conditions, a million rows."""

_LINEAR = 1.5
"""Most that a combination may cost more when there are 16 times the rows: classes that are
halved until they are small are halved four times more often then."""


def run(bench: Bench) -> Iterator[Figure]:
    table = adult().slice(0, FEW) if bench.quick else adult()
    yield from _adult(bench, table)
    yield from _health(bench, with_conditions(table))
    file = bench.files.jittered(4 * FEW if bench.quick else MILLION, "parquet")
    yield from _growth(bench, pq.read_table(file))
    yield from _whole(bench, file)


def decide(method: Partitioner, policy: Policy, counts: FrequencySet) -> LabelledPartition:
    """Do all that lies between counting and publishing, hierarchies included."""
    problem = make_problem(policy, prepare(policy, counts))
    return label_partition(problem, method.run(problem), method.intervals(problem))


def loss_of(policy: Policy, settled: LabelledPartition) -> float:
    """Measure what was decided as the policy does."""
    problem = settled.problem
    return policy.loss.over(problem.attributes, problem.total).of_local(settled.result())


def _adult(bench: Bench, table: pa.Table) -> Iterator[Figure]:
    """Keep as much of Adult as can be: eight quasi-identifiers, k = 5, nothing suppressed."""
    policy = adult_policy(k=5, limit=0, loss=NormalizedLoss("arithmetic-mean"))
    counts = open_table(table).count(counted_columns(policy))
    repeats = bench.few if bench.quick else bench.repeats
    kept = {}
    for name, method in METHODS.items():
        at = f"Adult, k=5, {name}"
        settled, timing = _decided(method, policy, counts, repeats)
        kept[name] = 1 - loss_of(policy, settled)
        yield Figure(f"{at}: granularity", round(kept[name], 6))
        yield Figure(f"{at}: classes", settled.partition.n)
        yield Figure.of(f"{at}: deciding", timing, target=_most(bench, method, _ADULT))
    optimum = _optimum(policy, counts)
    yield Figure("Adult, k=5, one level per column: granularity", round(1 - optimum.loss, 6))
    yield Figure("Adult, k=5, one level per column: proven optimal", optimum.proven)
    floor, others = (None, "") if bench.quick else (_GRANULARITY, _THEIRS)
    best = round(max(kept.values()), 6)
    yield Figure("Adult, k=5: best granularity", best, floor=floor, others=others)


def _health(bench: Bench, table: pa.Table) -> Iterator[Figure]:
    """Protect a sensitive column: two categories in every class, seven quasi-identifiers."""
    policy = health_policy(loss=DistortionRatio())
    counts = open_table(table).count(counted_columns(policy))
    for name, method in METHODS.items():
        at = f"health conditions, {name}"
        settled, timing = _decided(method, policy, counts, bench.few)
        yield Figure(f"{at}: distortion ratio", round(loss_of(policy, settled), 6))
        yield Figure(f"{at}: classes", settled.partition.n)
        yield Figure.of(f"{at}: deciding", timing, target=_most(bench, method, _HEALTH))
    at = "health conditions, one level per column"
    optimum = _optimum(policy, counts)
    yield Figure(f"{at}: distortion ratio", round(optimum.loss, 6))
    yield Figure(f"{at}: proven optimal", optimum.proven)


def _growth(bench: Bench, table: pa.Table) -> Iterator[Figure]:
    """Decide on n, 4 n and 16 n rows, already counted."""
    policy = adult_policy(k=5, limit=0)
    sizes = [table.num_rows // 16, table.num_rows // 4, table.num_rows]
    tables = [open_table(table.slice(0, rows)) for rows in sizes]
    counts = [each.count(counted_columns(policy)) for each in tables]
    titles = [_title(rows) for rows in sizes]
    for title, counted in zip(titles, counts, strict=True):
        yield Figure(f"{title}: distinct combinations", len(counted))
    for name, method in METHODS.items():
        seconds = []
        for title, counted in zip(titles, counts, strict=True):
            _, timing = _decided(method, policy, counted, bench.few)
            seconds.append(timing.least)
            target = _most(bench, method, _GROWN) if counted is counts[-1] else None
            yield Figure.of(f"{title}, {name}: deciding", timing, target=target)
        per_combination = seconds[-1] / seconds[0] / (len(counts[-1]) / len(counts[0]))
        yield Figure(
            f"jittered Adult, {name}: per distinct combination, 16 × the rows",
            per_combination,
            "× the CPU",
            target=None if bench.quick else _LINEAR,
        )


def _whole(bench: Bench, file: Path) -> Iterator[Figure]:
    """Go the whole way to a verified release, beside what nobody gets by without."""
    policy = adult_policy(k=5, limit=0)
    timed: Timer = partial(cpu, repeats=bench.few, warm=False)
    scan, group_by, _ = bounds(file, list(policy.quasi_identifiers), timed)
    both = Timing(scan.least + group_by.least, scan.median + group_by.median)
    at = _title(pq.read_metadata(file).num_rows)
    yield Figure.of(f"{at}: one scan and one group-by with pyarrow", both)
    release = bench.files.folder / "local-release"
    for name, method in METHODS.items():
        work = partial(anonymize, file, policy, method=method, output=release, force=True)
        full = timed(work)
        yield Figure.of(f"{at}, {name}: whole anonymize, published and verified", full)
        yield Figure(f"{at}, {name}: whole / (scan + group-by)", full.least / both.least, "×")
    shutil.rmtree(release)


def _title(rows: int) -> str:
    return "jittered Adult, " + f"{rows:,} rows".replace(",", " ")


def _most(bench: Bench, method: Partitioner, seconds: Mapping[str, float]) -> float | None:
    """Give the CPU seconds a method should stay within, if it should: on the full data."""
    return None if bench.quick else seconds.get(method.name)


def _decided(
    method: Partitioner, policy: Policy, counts: FrequencySet, repeats: int
) -> tuple[LabelledPartition, Timing]:
    """Decide several times over; the decision is always the same."""
    last: list[LabelledPartition] = []

    def work() -> None:
        last[:] = [decide(method, policy, counts)]

    timing = cpu(work, repeats=repeats, warm=False)
    return last[0], timing


def _optimum(policy: Policy, counts: FrequencySet) -> Found:
    *_, found = BestFirst().run(make_checker(policy, counts))
    return found
