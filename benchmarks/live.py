"""Looks while choosing: what another k or role costs once a table is counted, and the memory."""

import resource
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.measure import Timing, child, cpu
from benchmarks.results import Figure
from benchmarks.workloads import ADULT_ROWS, MILLION, adult_policy
from sfumato.comparison.live import LiveTable
from sfumato.models import KAnonymity
from sfumato.policy import Policy
from sfumato.tables import open_table

_MEMORY = 1000.0
"""MB."""


def run(bench: Bench) -> Iterator[Figure]:
    rows = 4 * ADULT_ROWS if bench.quick else MILLION
    yield from _table(bench, "Adult", bench.files.adult)
    file = bench.files.jittered(rows, "parquet")
    yield from _table(bench, f"{rows:,} rows".replace(",", " "), file)
    policy = bench.files.policy("live", _policy("mondrian"))
    peak = float(child(["-m", "benchmarks.live", str(file), str(policy)]).output.splitlines()[-1])
    yield Figure("peak memory of looking", peak, "MB", target=_MEMORY)


def _policy(method: str) -> Policy:
    return adult_policy(k=5, limit=0.05, plain=()).replace(method=method)


def _table(bench: Bench, at: str, file: Path) -> Iterator[Figure]:
    """Measure looks at policies that were not looked at before: one more k each time."""
    opened = cpu(lambda: LiveTable.open(file, _policy("mondrian")), repeats=1, warm=False)
    yield Figure.of(f"{at}: opening and counting", opened)
    table = open_table(file)
    names = _policy("mondrian").quasi_identifiers
    count = cpu(lambda: table.count(names), repeats=bench.few)
    yield Figure.of(f"{at}: one count of the file", count)
    live = LiveTable.open(file, _policy("mondrian"))
    for method in ("full-domain", "mondrian"):
        rules = _policy(method)
        for quick in (True, False):
            how = "quick" if quick else "exact"
            look = _look(bench, live, rules, quick=quick)
            yield Figure.of(f"{at}, {method}: {how} look after another k", look)
            yield Figure(f"{at}, {method}: {how} look / one count", look.least / count.least, "×")
        fewer = rules.replace(columns={**rules.columns, names[-1]: "dropped"})
        look = cpu(lambda fewer=fewer: live.look(fewer), repeats=1, warm=False)  # type: ignore[misc]
        yield Figure.of(f"{at}, {method}: exact look after another role", look)


def _look(bench: Bench, live: LiveTable, rules: Policy, *, quick: bool) -> Timing:
    sizes = iter(range(6 if quick else 20, 10_000))

    def look() -> None:
        live.look(rules.replace(models=[KAnonymity(next(sizes))]), quick=quick)

    return cpu(look, repeats=bench.few)


def _peak(file: str, policy: str) -> float:
    rules = Policy.load(policy)
    live = LiveTable.open(file, rules)
    live.look(rules)
    live.look(rules.replace(models=[KAnonymity(9)]))
    live.look(rules.with_method("full-domain"), quick=True)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    print(_peak(*sys.argv[1:]))
