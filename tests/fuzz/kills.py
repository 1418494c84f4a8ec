"""Publishing that is killed at any moment: nothing is lost, and nothing is half there.

The scripts are those of `tests/ledger`; here they are guards, with as many kills as one likes. A
case is a batch of kills.
"""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

from tests.fuzz.guards import Case, Fault, Guard

ROOT = Path(__file__).parents[2]


class Kills(Guard):
    """Kill a process that publishes, again and again."""

    script: ClassVar[str]
    batch: ClassVar[int]
    """Kills of one case."""

    few = 1
    patience = 3600

    def draw(self, rng: random.Random) -> Case:
        return {"rounds": self.batch, "seed": rng.randrange(10**6)}

    def arguments(self, case: Case) -> list[str]:
        return [str(case["seed"])]

    def attempt(self, case: Case, folder: Path) -> None:
        script = ROOT / "tests/ledger" / self.script
        given = [str(folder), str(case["rounds"]), *self.arguments(case)]
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        done = subprocess.run(
            [sys.executable, str(script), *given],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": path},
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or [""]
            raise Fault(f"after a kill: {last[0][:80]}", done.stderr[-2000:])
        if json.loads(done.stdout)["rounds"] != case["rounds"]:
            raise Fault("fewer kills than asked for")


class LedgerKills(Kills):
    """A ledger that publishes into folders, killed at random moments."""

    name = "ledger-kills"
    script = "crashing.py"
    batch = 60


class DuckdbKills(Kills):
    """A ledger that publishes into DuckDB, killed at random statements."""

    name = "duckdb-kills"
    script = "crashing_tables.py"
    batch = 10

    def arguments(self, case: Case) -> list[str]:
        return ["duckdb", str(case["seed"])]


class PostgresKills(Kills):
    """A ledger that publishes into PostgreSQL, killed at random statements."""

    name = "postgres-kills"
    needs = "postgres"
    script = "crashing_tables.py"
    batch = 10

    def arguments(self, case: Case) -> list[str]:
        return ["postgres", str(case["seed"])]
