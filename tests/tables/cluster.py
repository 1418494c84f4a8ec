"""A Spark cluster of real processes, some of which are killed while it anonymises a table.

A process has one Spark, so this is a program of its own. It prints a line of JSON about each
thing it tried. Run it as `python -m tests.tables.cluster FOLDER`.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.readwriter import DataFrameWriter
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from tests.tables.faults import counted

ROWS = 20_000
POLICY = sf.Policy(
    columns={"age": "quasi-identifier", "sex": "quasi-identifier", "ill": "sensitive"},
    models=[sf.models.KAnonymity(3)],
)
METHOD = "mondrian"
CHEAP = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def started(folder):
    """Start two workers with one core each; each of their executors is a process."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": CHEAP,
        "spark.executor.extraJavaOptions": CHEAP,
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.warehouse.dir": str(folder),
        # A task may lose its executor once.
        "spark.task.maxFailures": "2",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,512]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


class Cluster:
    """The processes, and what was published in them."""

    def __init__(self, folder):
        self.folder = folder
        self.session = started(folder)
        self.driver = self.session.sparkContext._gateway.proc.pid
        people = self.session.range(0, ROWS, 1, 4).selectExpr(
            "20 + id % 61 AS age",
            "CASE WHEN id % 3 = 0 THEN 'm' ELSE 'f' END AS sex",
            "concat('ill ', id % 11) AS ill",
        )
        people.write.saveAsTable("people")
        self.people = people.toArrow()

    def executors(self):
        asked = ["ps", "-o", "pid=", "--ppid", str(self.driver)]
        # There may be none.
        found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
        return [int(number) for number in found.split()]

    def busy(self):
        found = self.session.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
        return any(executor.numRunningTasks() for executor in found)

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def tables(self):
        return sorted(table.name for table in self.session.catalog.listTables())


def kill(process):
    # It may be dead already.
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def during(trouble, *, once):
    """Let trouble begin shortly after Spark begins to write."""
    insert = DataFrameWriter.insertInto
    begun = []

    def troubled(self, *args, **kwargs):
        if not (once and begun):
            begun.append(threading.Timer(0.1, trouble))
            begun[-1].start()
        return insert(self, *args, **kwargs)

    DataFrameWriter.insertInto = troubled
    return lambda: setattr(DataFrameWriter, "insertInto", insert)


def commanded(policy, name):
    given = ["spark:///?table=people", "-p", str(policy), "-o", f"table:{name}"]
    ended = CliRunner().invoke(app, ["anonymize", *given])
    return {"code": ended.exit_code, "text": ended.stderr}


def say(what, **facts):
    sys.stdout.write(json.dumps({"what": what, **facts}) + "\n")
    sys.stdout.flush()


def one_executor(cluster):
    restore = during(lambda: kill(cluster.executors()[0]), once=True)
    release = sf.anonymize(
        (cluster.session, "people"), POLICY, method=METHOD, output="table:released", force=True
    )
    restore()
    published = cluster.session.table("released").toArrow()
    expected = sf.anonymize(cluster.people, POLICY, method=METHOD)
    same = counted(published) == counted(expected.table)
    say("one executor", holds=release.verdict.holds, same=same, tables=cluster.tables())


def all_executors(cluster, policy):
    over = threading.Event()

    def keep_killing():
        while not over.wait(0.05):
            # One that is killed before it does anything counts for nothing.
            if cluster.busy():
                for process in cluster.executors():
                    kill(process)

    restore = during(keep_killing, once=True)
    ended = commanded(policy, "again")
    over.set()
    restore()
    say("all executors", **ended, tables=cluster.tables(), files=cluster.files())
    say("afterwards", **commanded(policy, "again"), tables=cluster.tables())


def interrupted(cluster, policy):
    restore = during(lambda: os.kill(os.getpid(), signal.SIGINT), once=True)
    ended = commanded(policy, "interrupted")
    restore()
    say("interrupted", **ended, tables=cluster.tables(), files=cluster.files())


def the_driver(cluster, policy):
    during(lambda: kill(cluster.driver), once=True)
    say("driver", **commanded(policy, "lost"))
    say("no driver", **commanded(policy, "lost"))


def main(folder):
    policy = folder / "policy.yaml"
    policy.write_text(POLICY.to_yaml(), encoding="utf-8")
    cluster = Cluster(folder / "warehouse")
    one_executor(cluster)
    interrupted(cluster, policy)
    all_executors(cluster, policy)
    the_driver(cluster, policy)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
