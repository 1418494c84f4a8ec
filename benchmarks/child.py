"""One piece of work in a process of its own, for memory: prints what it cost as JSON."""

import json
import os
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sfumato.policy import Policy
from sfumato.recode.deciding import counted_columns, make_checker
from sfumato.search import BestFirst
from sfumato.tables import open_table
from sfumato.tasks.anonymize import anonymize
from sfumato.tasks.decouple import decouple


def start(file: str, policy: str) -> dict[str, float]:
    """Only what every piece needs before it begins."""
    open_table(file)
    Policy.load(policy)
    return {}


def count(file: str, policy: str) -> dict[str, float]:
    counts = open_table(file).count(counted_columns(Policy.load(policy)))
    return {"rows": counts.total, "distinct": len(counts)}


def search(file: str, policy: str) -> dict[str, float]:
    """Count, then search: `cpu` is that of the search alone."""
    rule = Policy.load(policy)
    counts = open_table(file).count(counted_columns(rule))
    before = time.process_time()
    *_, found = BestFirst().run(make_checker(rule, counts))
    spent = time.process_time() - before
    return {"cpu": spent, "checks": found.checks, "distinct": len(counts)}


def publish(file: str, policy: str, output: str) -> dict[str, float]:
    """Do the whole of `sfumato.anonymize`: count, search, publish, verify."""
    release = anonymize(file, policy, output=output, force=True)
    return {"verified": release.verdict.holds, "suppressed": release.suppressed}


def break_merge(data: str, policy: str, output: str) -> dict[str, float]:
    """Decouple a release, or a table with the roles of a policy; published and verified."""
    roles = Policy.load(policy)
    # A release knows its own.
    known = Path(data).is_dir()
    parts = decouple(
        data,
        "break-merge",
        output=output,
        quasi_identifiers=None if known else roles.quasi_identifiers,
        sensitive=None if known else roles.sensitive,
        force=True,
    )
    return {"verified": parts.verdict.holds}


def group_by(file: str, policy: str) -> dict[str, float]:
    """Count the same with DuckDB, into a table of its own."""
    import duckdb

    names = ['"' + name.replace('"', '""') + '"' for name in counted_columns(Policy.load(policy))]
    columns, path = ", ".join(names), file.replace("'", "''")
    with duckdb.connect() as database:
        database.execute(
            f"CREATE TABLE counted AS SELECT {columns}, count(*) AS n "
            f"FROM read_parquet('{path}') GROUP BY {columns}"
        )
        distinct = database.execute("SELECT count(*) FROM counted").fetchall()[0][0]
    return {"distinct": distinct}


def arrow_group_by(file: str, policy: str) -> dict[str, float]:
    """Count the same with pyarrow: `cpu` is that of the group-by alone."""
    import pyarrow.parquet as pq

    names = list(counted_columns(Policy.load(policy)))
    table = pq.read_table(file, columns=names)
    before = time.process_time()
    counted = table.group_by(names).aggregate([([], "count_all")])
    return {"cpu": time.process_time() - before, "distinct": counted.num_rows}


def local_in_spark(file: str, policy: str, memory: str) -> dict[str, float]:
    """Recode locally in Spark, here or, if more than `memory` would be needed, in fragments."""
    # Workers are to be what this process is.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.warehouse.dir", str(Path(file).parent / f"warehouse-{os.getpid()}"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    begin = time.perf_counter()
    release = anonymize(
        session.read.parquet(file),
        policy,
        output="table:released",
        memory=None if memory == "none" else memory,
        force=True,
    )
    said = re.search(r"(\d+) fragments", " ".join(release.manifest.notes or ()))
    return {
        "wall": time.perf_counter() - begin,
        "fragments": int(said[1]) if said else 1,
        "loss": release.manifest.known_losses["normalized-loss"],
    }


PIECES: dict[str, Callable[..., dict[str, float]]] = {
    "start": start,
    "count": count,
    "search": search,
    "anonymize": publish,
    "break-merge": break_merge,
    "group-by": group_by,
    "arrow-group-by": arrow_group_by,
    "local-in-spark": local_in_spark,
}


def peak() -> float:
    """Give the most memory this process has held, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not getrusage: its peak includes that of the process this one was started from.
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        if found:
            return int(found[1]) / 1024
    unit = 1024 if sys.platform != "darwin" else 1024**2
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


if __name__ == "__main__":
    name, file, policy, few, *output = sys.argv[1:]
    if name != "start":
        # The same with a few rows first: what is loaded on first use is no growth.
        PIECES[name](few, policy, *output)
    begin = time.process_time()
    figures = PIECES[name](file, policy, *output)
    print(json.dumps({"cpu": time.process_time() - begin, "peak": peak(), **figures}))
