"""Publish into DuckDB again and again, and be killed at some statement. Run as a script.

    python crashing_tables.py FOLDER ROUNDS

After every kill the ledger must be in the state before or after. In the state before there are no
tables of the release; in the state after they are all there as soon as somebody looks again. What
uses DuckDB is forked off, because threads that were started before would not be there afterwards.
"""

import json
import os
import signal
import sys
from math import sqrt
from pathlib import Path

import duckdb
import pyarrow as pa

import sfumato as sf
import sfumato.publishing.ledger
import sfumato.tasks.verify
from sfumato.tables.sql.duckdb import DuckDB
from sfumato.tables.sql.table import SqlTable
from tests.ledger.crashing import NAMES, NEW
from tests.ledger.releases import START, grouped_of

assert SqlTable  # Imported before anything is forked, as everything else.


def forked(work) -> int:
    """Do something in a child; give the signal that ended it, or 0."""
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the parent must hear of it
            sys.stderr.write(repr(error))
            sys.stderr.flush()
            os._exit(3)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit("a child failed")
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


class Clinic:
    """A ledger, and a file of DuckDB with new rows in it."""

    def __init__(self, folder: Path) -> None:
        self.ledger = folder / "x.ledger"
        self.file = folder / "x.db"
        self.address = f"duckdb:///{self.file}?table=new"

    def start(self) -> None:
        sf.Ledger.start(grouped_of(START), self.ledger, alpha=0.5, k=2)
        new = pa.table({name: [row[i] for row in NEW] for i, name in enumerate(NAMES)})
        with duckdb.connect(str(self.file)) as connection:
            connection.register("rows", new)
            connection.execute("CREATE TABLE new AS FROM rows")

    def publish(self, output: str, die_at: int | None = None, count: Path | None = None) -> None:
        """Publish; die at some statement, or write down how many there were."""
        run, statements = DuckDB._run, []

        def counting(self, statement):
            statements.append(statement)
            if len(statements) == die_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return run(self, statement)

        DuckDB._run = counting
        sf.Ledger(self.ledger).publish(self.address, output=f"table:{output}", again=True)
        if count is not None:
            count.write_text(str(len(statements)))

    def tables(self) -> set[str]:
        with duckdb.connect(str(self.file), read_only=True) as connection:
            return {name for (name,) in connection.execute("SHOW TABLES").fetchall()}

    def check(self, output: str, before: int) -> None:
        """Look at what a kill left, and again after somebody else looked into the ledger."""
        log = sf.Ledger(self.ledger).history
        assert sf.Ledger(self.ledger).verify() == [], "the chain is broken"
        recorded = len(log) - before
        assert recorded in (0, 1)
        found = {name for name in self.tables() if name.startswith(output)}
        assert recorded or not found, "tables of a release that never was"
        sf.Ledger(self.ledger).publish(self.address, again=True, dry_run=True)
        names = {
            f"{output}{part}" for part in ("", "_manifest", "_sensitive_ill", "_sensitive_pay")
        }
        found = {name for name in self.tables() if name.startswith(output)}
        assert found == (names if recorded else set()), "half a release"
        if recorded:
            address = self.address.replace("table=new", f"table={output}")
            assert sf.verify(address, attacks=False).verdict.holds


def main(folder: Path, rounds: int) -> None:
    clinic = Clinic(folder)
    forked(clinic.start)
    forked(lambda: clinic.publish("usual", count=folder / "count"))
    total = int((folder / "count").read_text())
    survived = 0
    for i in range(rounds):
        before = len(sf.Ledger(clinic.ledger).history)
        # Most of what can go wrong goes wrong towards the end.
        output, die_at = f"r{i}x", max(1, int(total * sqrt((i + 1) / (rounds + 1))))
        ended = forked(lambda: clinic.publish(output, die_at))  # noqa: B023 - at once
        assert ended == signal.SIGKILL, "it was not killed"
        forked(lambda: clinic.check(output, before))  # noqa: B023 - at once
        survived += len(sf.Ledger(clinic.ledger).history) - before
    forked(lambda: clinic.publish("last"))

    def left() -> None:
        assert not [n for n in clinic.tables() if n.startswith("sfumato")], "something was left"

    forked(left)
    sys.stdout.write(json.dumps({"rounds": rounds, "after": survived}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
