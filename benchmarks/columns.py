"""How cost grows with columns: 100 and 300 of them, of few rows and of many."""

from collections.abc import Callable, Iterator

from benchmarks.bench import Bench
from benchmarks.measure import cpu
from benchmarks.results import Figure
from benchmarks.workloads import grid
from sfumato.drafting.policy import Draft
from sfumato.reports.report import report
from sfumato.tasks.anonymize import anonymize
from sfumato.tasks.draft import draft, inspect
from sfumato.tasks.verify import verify

_TARGET = 6.0
"""Three times the columns may cost twice as much as three times: what is cubic costs 27 times."""


def run(bench: Bench) -> Iterator[Figure]:
    narrow, wide = (60, 180) if bench.quick else (100, 300)
    for task in _tasks(bench, 5, 24).values():
        # What is loaded on first use is no growth.
        task()
    for rows in (24,) if bench.quick else (24, 1_000):
        work = [_tasks(bench, columns, rows) for columns in (narrow, wide)]
        for name in work[0]:
            few, many = (cpu(each[name], repeats=1, warm=False).least for each in work)
            for columns, seconds in ((narrow, few), (wide, many)):
                yield Figure(f"{columns} columns × {rows} rows: {name}", seconds, "CPU s")
            title = f"{rows} rows: {name}, 3 × the columns"
            yield Figure(title, many / few, "× the CPU", target=_TARGET)


def _tasks(bench: Bench, columns: int, rows: int) -> dict[str, Callable[[], object]]:
    """Return what is measured: all quasi-identifiers, or all but a few of them plain."""
    table = grid(columns, rows)
    drafted: Draft = draft(table)
    names = list(table.column_names)
    known, plain = names[:3], dict.fromkeys(names[3:], "plain")
    rules = {**dict.fromkeys(known, "quasi-identifier"), **plain}
    k = {"model": "k-anonymity", "k": 3}
    policy = {"columns": rules, "models": [k], "suppression": "20%"}
    folder = bench.files.folder / f"columns-{columns}-{rows}"
    anonymize(table, policy, output=folder, force=True)
    return {
        "draft": lambda: draft(table),
        "inspect": lambda: inspect(table, policy=drafted.policy),
        "anonymize all": lambda: anonymize(table, drafted.policy),
        "anonymize three": lambda: anonymize(table, policy),
        "verify": lambda: verify(folder),
        "report": lambda: report(folder),
    }
