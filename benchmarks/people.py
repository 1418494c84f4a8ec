"""People with several rows: what it costs to count them instead of the rows."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.bench import Bench
from benchmarks.measure import children, piece
from benchmarks.results import Figure
from sfumato.models import DistinctLDiversity, KAnonymity
from sfumato.policy import Policy

_COMMAND = ["-c", "from sfumato.cli import main; main()"]
_ROWS_EACH = 5
_MOST = 3.0
"""How much dearer it may be than counting rows."""


def panel(rows: int, seed: int = 0) -> pa.Table:
    """Return visits of people: who they are stays, their age grows, their diagnosis changes."""
    rng = np.random.default_rng(seed)
    people = max(rows // _ROWS_EACH, 1)
    who = np.concatenate([np.arange(people), rng.integers(0, people, rows - people)])
    born, sex, region, school = (rng.integers(0, n, people) for n in (67, 2, 40, 6))
    return pa.table(
        {
            "id": np.char.add("p", who.astype(str)),
            "age": 18 + born[who] + rng.integers(0, 5, rows),
            "sex": np.array(["f", "m"])[sex[who]],
            "region": region[who],
            "school": school[who],
            "ill": rng.integers(0, 30, rows),
        }
    )


def policy(person: object, *, diverse: bool) -> Policy:
    """Return the policy of a panel, in which people are counted or rows."""
    models = [KAnonymity(5), *([DistinctLDiversity("ill", 3)] if diverse else [])]
    ages = {"kind": "intervals", "widths": [5, 10, 20]}
    return Policy(
        columns={
            "id": "identifier",
            "age": {"role": "quasi-identifier", "hierarchy": ages},
            "sex": "quasi-identifier",
            "region": "quasi-identifier",
            "school": "quasi-identifier",
            "ill": "sensitive",
        },
        models=models,
        person=person,
        suppression={"limit": "2%"},
    )


def run(bench: Bench) -> Iterator[Figure]:
    rows = 20_000 if bench.quick else 1_000_000
    file, few = (bench.files.folder / f"panel-{n}.parquet" for n in (rows, 1000))
    for path, n in ((file, rows), (few, 1000)):
        pq.write_table(panel(n), path)
    yield Figure("rows", rows)
    yield Figure("people", max(rows // _ROWS_EACH, 1))
    for text, diverse in (("k=5", False), ("k=5, l=3", True)):
        costs, commands = {}, {}
        for unit, person in (("rows", {"rows": "a benchmark"}), ("people", "id")):
            name = f"panel-{unit}-{'l' if diverse else 'k'}"
            rule = bench.files.policy(name, policy(person, diverse=diverse))
            costs[unit] = _anonymize(bench, file, rule, few)
            release = bench.files.folder / "panel-command"
            arguments = ["anonymize", file, "-p", rule, "-o", release, "--force"]
            commands[unit] = children([*_COMMAND, *map(str, arguments)], repeats=bench.few).least
            shutil.rmtree(release)
        for unit, cost in costs.items():
            yield Figure(f"{text}, {unit} counted: whole anonymize", cost["cpu"], "CPU s")
            yield Figure(f"{text}, {unit} counted: peak memory", cost["peak"], "MB")
        ratio = costs["people"]["cpu"] / costs["rows"]["cpu"]
        yield Figure(f"{text}: people beside rows", ratio, "×", target=_MOST)
        ratio = commands["people"] / commands["rows"]
        yield Figure(f"{text}: people beside rows, as a command", ratio, "×", target=_MOST)


def _anonymize(bench: Bench, file: Path, rule: Path, few: Path) -> dict[str, float]:
    """Return the least of some repeats."""
    release = bench.files.folder / "panel-release"
    runs = []
    for _ in range(bench.few):
        runs.append(piece("anonymize", file, rule, few, release))
        shutil.rmtree(release)
    return min(runs, key=lambda each: each["cpu"])
