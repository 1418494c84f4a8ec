"""Run benchmarks: all of them, or those named."""

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import (
    app,
    bayes,
    check_table,
    cold_command,
    columns,
    decouple,
    engines,
    fragments,
    growth,
    heuristics,
    ledger,
    live,
    local,
    mdav,
    memory,
    million,
    models,
    people,
    perturbations,
    populations,
    scale,
    search_adult,
    searches,
    slicing,
    streams,
    structure_recovery,
    unique,
    verdict,
    wide,
)
from benchmarks.bench import Bench, Benchmark
from benchmarks.results import Figure, save
from benchmarks.workloads import Files, NoDataError

BENCHMARKS: dict[str, Benchmark] = {
    "search-adult": search_adult.run,
    "searches": searches.run,
    "cold-command": cold_command.run,
    "app": app.run,
    "live": live.run,
    "million": million.run,
    "growth": growth.run,
    "unique": unique.run,
    "columns": columns.run,
    "local": local.run,
    "mdav": mdav.run,
    "decouple": decouple.run,
    "slicing": slicing.run,
    "verdict": verdict.run,
    "ledger": ledger.run,
    "streams": streams.run,
    "memory": memory.run,
    "scale": scale.run,
    "engines": engines.run,
    **engines.SCALES,
    "fragments": fragments.run,
    "check-table": check_table.run,
    "wide": wide.run,
    "people": people.run,
    "perturbations": perturbations.run,
    "populations": populations.run,
    "heuristics": heuristics.run,
    "models": models.run,
    "bayes": bayes.run,
    "structure-recovery": structure_recovery.run,
}


def main(arguments: list[str]) -> dict[str, list[Figure]]:
    """Run what is asked for, say every figure as it comes, and keep those of a full run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument(
        "--quick", action="store_true", help="smaller data, fewer repeats, nothing is kept"
    )
    parser.add_argument(
        "--peers", action="store_true", help="run another tool beside check-table, in .venv-peers"
    )
    given = parser.parse_args(arguments)
    unknown = set(given.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}. Known: {', '.join(BENCHMARKS)}")
    measured = {}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Files(Path(folder)), quick=given.quick, peers=given.peers)
        for name in given.names or BENCHMARKS:
            print(f"\n{name}", flush=True)
            try:
                measured[name] = [_said(figure) for figure in BENCHMARKS[name](bench)]
            except NoDataError as error:
                print(f"  skipped: {error}")
    if not given.quick:
        save(measured, list(BENCHMARKS))
    return measured


def _said(figure: Figure) -> Figure:
    what, shown, target, others = figure.cells()
    print(f"  {what}: {shown}", *(part for part in (target, others) if part), sep="   ", flush=True)
    return figure


if __name__ == "__main__":
    main(sys.argv[1:])
