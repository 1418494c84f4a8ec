"""Measuring a table as it is: five figures of Adult with seven quasi-identifiers."""

import json
import subprocess
import venv
from collections.abc import Iterator

from benchmarks.bench import Bench
from benchmarks.measure import ROOT, cpu
from benchmarks.results import Figure
from benchmarks.workloads import adult
from sfumato.models import (
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
    TCloseness,
)
from sfumato.tasks.measure import measure

SENSITIVE = "occupation"
MODELS = [
    KAnonymity(2),
    DistinctLDiversity(SENSITIVE, l=2),
    EntropyLDiversity(SENSITIVE, l=2),
    RecursiveCLDiversity(SENSITIVE, c=2, l=2),
    TCloseness(SENSITIVE, t=0.5),
]
_PEER = "pycanon==1.3.6"
_PEERS_TIME = "pyCANON 1.3.6: 26 to 35 s"


def run(bench: Bench) -> Iterator[Figure]:
    table = adult()
    names = [n for n in table.column_names if n not in (SENSITIVE, "salary-class")]
    timing = cpu(lambda: measure(table, names, [SENSITIVE], MODELS), repeats=bench.repeats)
    grouped = [*names, SENSITIVE]
    by = cpu(lambda: table.group_by(grouped).aggregate([([], "count_all")]), repeats=bench.repeats)
    yield Figure.of(
        "five figures, counting included", timing, "CPU ms", target=50.0, others=_PEERS_TIME
    )
    yield Figure.of("one group-by with pyarrow", by, "CPU ms")
    yield Figure("five figures / group-by", timing.least / by.least, "×")
    found = measure(table, names, [SENSITIVE], MODELS)
    ours = {f"{m.name} {key}": v for m, figures in found.items() for key, v in figures.items()}
    yield Figure("the figures", _listed(ours))
    if bench.peers:
        theirs = _pycanon(str(bench.files.adult), names)
        seconds = theirs.pop("cpu")
        yield Figure("pyCANON 1.3.6", seconds, "CPU s")
        yield Figure("pyCANON / ours", seconds / timing.least, "×")
        yield Figure("pyCANON's figures", _listed(theirs))


def _listed(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in figures.items())


def _pycanon(file: str, names: list[str]) -> dict[str, float]:
    """Run the peer in an environment of its own: it pins exact versions."""
    folder = ROOT / ".venv-peers"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "-qq", _PEER], check=True)
    script = ROOT / "benchmarks" / "peers" / "time_pycanon.py"
    done = subprocess.run(
        [python, script, file, SENSITIVE, *names], check=True, capture_output=True, text=True
    )
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures
