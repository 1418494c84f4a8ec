"""One piece of work in a database, in a process of its own: prints what it cost as JSON."""

import json
import os
import pickle
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.by_hand import DuckDBByHand, Lookups, SparkByHand
from benchmarks.child import peak
from sfumato.policy import Policy
from sfumato.recode.deciding import counted_columns
from sfumato.tables import open_table
from sfumato.tables.sql.counting import group_query
from sfumato.tables.sql.table import SqlTable
from sfumato.tasks.anonymize import anonymize
from sfumato.tasks.decouple import decouple

_DUCKDB_MEMORY = "1GB"
"""What DuckDB may keep before it writes to disk; its own choice would be most of the machine's."""

_JVM = "4g"


class DuckDB:
    """A database in a folder; people are seen there through a view of their file."""

    def __init__(self, folder: Path, file: Path) -> None:
        import duckdb

        folder.mkdir(exist_ok=True)
        self.connection = duckdb.connect(str(folder / "people.db"))
        self._file = file

    def load(self) -> None:
        """Make people a table, as the statements by hand want them."""
        self.connection.execute(f"CREATE TABLE people AS FROM {_read(self._file)}")

    def see(self, file: Path, name: str) -> tuple[Any, str]:
        """Give the rows of a file, which stay there, within the memory that DuckDB may take."""
        self.connection.execute(f"SET memory_limit = '{_DUCKDB_MEMORY}'")
        self.connection.execute(f"CREATE VIEW {name} AS FROM {_read(file)}")
        return self.table(name)

    def table(self, name: str) -> tuple[Any, str]:
        return self.connection, name

    def by_hand(self, lookups: Lookups) -> DuckDBByHand:
        return DuckDBByHand(self.connection, lookups)

    def cpu(self) -> float:
        return time.process_time()

    def peak(self) -> float:
        return peak()

    def close(self) -> None:
        self.connection.close()


class Spark:
    """A session with its settings as they come, and a worker for each core."""

    def __init__(self, folder: Path, file: Path) -> None:
        from pyspark.sql import SparkSession

        self.session = (
            SparkSession.builder.master("local[*]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.memory", _JVM)
            .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
            .getOrCreate()
        )
        self.session.sparkContext.setLogLevel("OFF")
        java: Any = self.session.sparkContext._jvm  # noqa: SLF001 - no other way to its process
        self._process = Path("/proc", str(java.java.lang.ProcessHandle.current().pid()))
        self._file = file

    def load(self) -> None:
        """Call people what the statements by hand call them."""
        self.see(self._file, "people")

    def see(self, file: Path, name: str) -> tuple[Any, str]:
        """Give the rows of a file, which stay there."""
        self.session.read.parquet(file.as_uri()).createOrReplaceTempView(name)
        return self.table(name)

    def table(self, name: str) -> tuple[Any, str]:
        return self.session, name

    def by_hand(self, lookups: Lookups) -> SparkByHand:
        return SparkByHand(self.session.table("people"), lookups)

    def cpu(self) -> float:
        """Give the CPU seconds of this process and of Java's."""
        fields = (self._process / "stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")

    def peak(self) -> float:
        found = re.search(r"VmHWM:\s+(\d+) kB", (self._process / "status").read_text())
        assert found is not None
        return peak() + int(found[1]) / 1024

    def close(self) -> None:
        self.session.stop()


def _read(file: Path) -> str:
    return "read_parquet('" + str(file).replace("'", "''") + "')"


DATABASES: dict[str, type[DuckDB] | type[Spark]] = {"duckdb": DuckDB, "spark": Spark}


@contextmanager
def opened(kind: str, folder: str, file: str) -> Iterator[DuckDB | Spark]:
    database = DATABASES[kind](Path(folder), Path(file))
    try:
        yield database
    finally:
        database.close()


def overhead(database: DuckDB | Spark, decided: str, repeats: str) -> dict[str, float]:
    """Do the engine's statements and those by hand, one after the other; the least of each."""
    full, local = pickle.loads(Path(decided).read_bytes())
    database.load()
    hand = database.by_hand(Lookups(full, local))
    table = open_table(database.table("people"))
    assert isinstance(table, SqlTable)

    def store(recoding: Any) -> Callable[[], object]:
        return lambda: table.publish_into(
            recoding, table.columns, "by_engine", suppression="remove", force=True
        )

    def statement() -> object:
        # Without what is made of the answer, which by hand nothing is made of.
        inside = table._database  # noqa: SLF001
        return inside.fetch(group_query(inside, range(len(table.columns))))

    work: dict[str, Callable[[], object]] = {
        "count by hand": hand.count,
        "count": statement,
        "numbered": lambda: table.count(table.columns),
        "full-domain by hand": hand.full_domain,
        "full-domain": store(full),
        "local by hand": hand.local,
        "local": store(local),
    }
    least = dict.fromkeys(work, float("inf"))
    for turn in range(int(repeats) + 1):
        for name, run in work.items():
            begin = database.cpu()
            run()
            # The first turn is for what is loaded, or compiled, on first use.
            if turn:
                least[name] = min(least[name], database.cpu() - begin)
    return least


def scale(database: DuckDB | Spark, file: str, few: str, policy: str) -> dict[str, float]:
    """Count, anonymise into a table, and break that release; each with its clock and CPU."""
    # With a few rows first: what is loaded on first use is no growth.
    _scaled(database, database.see(Path(few), "few"), Policy.load(policy), "warm")
    return _scaled(database, database.see(Path(file), "every"), Policy.load(policy), "released")


def _scaled(
    database: DuckDB | Spark, people: tuple[Any, str], policy: Policy, name: str
) -> dict[str, float]:
    found: dict[str, float] = {}

    def measured(what: str, run: Callable[[], Any]) -> Any:
        begin, clock = database.cpu(), time.perf_counter()
        result = run()
        found[f"{what} cpu"] = database.cpu() - begin
        found[f"{what} wall"] = time.perf_counter() - clock
        # The most until now: each piece takes more than the one before.
        found[f"{what} peak"] = database.peak()
        return result

    counts = measured("count", lambda: open_table(people).count(counted_columns(policy)))
    found["rows"], found["distinct"] = counts.total, len(counts)
    del counts
    release = measured("anonymize", lambda: anonymize(people, policy, output=f"table:{name}"))
    broken = measured(
        "break-merge",
        lambda: decouple(database.table(name), "break-merge", output=f"table:{name}_broken"),
    )
    found["verified"] = release.verdict.holds and broken.verdict.holds
    return found


PIECES: dict[str, Callable[..., dict[str, float]]] = {"overhead": overhead, "scale": scale}


if __name__ == "__main__":
    name, kind, folder, file, *more = sys.argv[1:]
    with opened(kind, folder, file) as database:
        print(json.dumps(PIECES[name](database, *more)))
