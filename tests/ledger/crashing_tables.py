"""Publish into a database again and again, and be killed at some statement. Run as a script.

    python crashing_tables.py FOLDER ROUNDS [duckdb|postgres] [SEED]

After every kill the ledger must be in the state before or after. In the state before there are no
tables of the release; in the state after they are all there as soon as somebody looks again. What
uses a database is forked off, because threads that were started before would not be there
afterwards.
"""

import json
import os
import random
import signal
import sys
from contextlib import closing
from math import sqrt
from pathlib import Path

import duckdb
import pyarrow as pa

import sfumato as sf
import sfumato.ledger.publishing.ledger
import sfumato.tasks.verify
from sfumato.tables.sql.duckdb import DuckDB
from sfumato.tables.sql.table import SqlTable
from tests.ledger.crashing import NAMES, NEW
from tests.ledger.releases import START, grouped_of
from tests.tables.databases import Postgres

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
        self.store(pa.table({name: [row[i] for row in NEW] for i, name in enumerate(NAMES)}))

    def store(self, rows: pa.Table) -> None:
        with duckdb.connect(str(self.file)) as connection:
            connection.register("rows", rows)
            connection.execute("CREATE TABLE new AS FROM rows")

    def publish(self, output: str, die_at: int | None = None, count: Path | None = None) -> None:
        """Publish; die at some statement, or write down how many there were."""
        kind, name = self.statements()
        run, statements = getattr(kind, name), []

        def counting(self, statement):
            statements.append(statement)
            if len(statements) == die_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return run(self, statement)

        setattr(kind, name, counting)
        sf.Ledger(self.ledger).publish(self.address, output=f"table:{output}", again=True)
        if count is not None:
            count.write_text(str(len(statements)))

    def statements(self) -> tuple[type, str]:
        """Return what runs all statements: a class, and the name of its method."""
        return DuckDB, "_run"

    def tables(self) -> set[str]:
        with duckdb.connect(str(self.file), read_only=True) as connection:
            return {name for (name,) in connection.execute("SHOW TABLES").fetchall()}

    def stop(self) -> None:
        """Leave nothing running."""

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


class PostgresClinic(Clinic):
    """A ledger, and a server with new rows in a table."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.server = Postgres()
        self.address = self.server.address("new")

    def store(self, rows: pa.Table) -> None:
        with closing(self.server.connect()) as connection:
            self.server.connection = connection
            self.server.stored(rows, "new")

    def statements(self) -> tuple[type, str]:
        from sfumato.tables.sql.postgres import PostgreSQL

        return PostgreSQL, "run"

    def tables(self) -> set[str]:
        with closing(self.server.connect()) as connection:
            self.server.connection = connection
            return self.server.tables()

    def stop(self) -> None:
        self.server.stop()


def main(folder: Path, rounds: int, kind: type[Clinic], rng: random.Random) -> None:
    clinic = kind(folder)
    try:
        run(clinic, folder, rounds, rng)
    finally:
        clinic.stop()


def run(clinic: Clinic, folder: Path, rounds: int, rng: random.Random) -> None:
    forked(clinic.start)
    forked(lambda: clinic.publish("usual", count=folder / "count"))
    total = int((folder / "count").read_text())
    survived = 0
    for i in range(rounds):
        before = len(sf.Ledger(clinic.ledger).history)
        # Most of what can go wrong goes wrong towards the end.
        output, die_at = f"r{i}x", max(1, int(total * sqrt((i + rng.random()) / rounds)))
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
    place, rounds, chosen, seed, *_ = [*sys.argv[1:], *["duckdb", "0"][len(sys.argv) - 3 :]]
    kinds = {"duckdb": Clinic, "postgres": PostgresClinic}
    main(Path(place), int(rounds), kinds[chosen], random.Random(int(seed)))
