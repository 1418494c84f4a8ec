"""Errors of a Spark that a command starts by itself. Run as a script, in a folder of its own.

Each command is given to the program in this process. What it says is written to standard output,
as JSON; what Java writes goes to standard error, which is that of this process.
"""

import json
import logging
import os
import shutil
import signal
import sys
import traceback
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.errors import SfumatoError
from tests.tables.faults import WIDE, WIDE_POLICY, no_file_longer_than

ROWS = pa.table({"age": ["21", "22", "31", "32"], "ill": ["flu", "gout", "flu", "gout"]})
POLICY = """\
columns: {age: {role: quasi-identifier, hierarchy: {kind: masking}}, ill: sensitive}
models: [{model: k-anonymity, k: 2}]
"""


def prepare(folder: Path) -> None:
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (folder / "wide.yaml").write_text(WIDE_POLICY.to_yaml(), encoding="utf-8")
    pq.write_table(ROWS, folder / "good.parquet")
    whole = (folder / "good.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[:100])
    # Its schema can be read, and its rows cannot.
    (folder / "damaged.parquet").write_bytes(whole[:4] + b"\xff" * 60 + whole[64:])
    (folder / "mixed").mkdir()
    shutil.copy(folder / "good.parquet", folder / "mixed" / "a.parquet")
    numbers = ROWS.set_column(0, "age", pa.array([1, 2, 3, 4]))
    pq.write_table(numbers, folder / "mixed" / "b.parquet")
    pq.write_table(WIDE, folder / "wide.parquet")


def say(**fact) -> None:
    sys.stdout.write(f"{json.dumps(fact)}\n")
    sys.stdout.flush()


def tell(what: str, table: str, policy: str = "policy.yaml") -> None:
    command = ["anonymize", f"spark:///?table={table}", "-p", policy, "-o", f"to-{what}"]
    done = CliRunner().invoke(app, [part.replace(" ", "-") for part in command])
    say(what=what, code=done.exit_code, text=done.stderr)


def main(folder: Path) -> None:
    os.chdir(folder)
    prepare(folder)

    def file(name: str) -> str:
        return f'parquet."{folder / name}"'

    tell("good", file("good.parquet"))
    for name in ("missing.parquet", "cut.parquet", "damaged.parquet", "mixed"):
        tell(name.partition(".")[0], file(name))
    tell("table", "nobody")
    heard = StringIO()
    logger = logging.getLogger("sfumato.spark")
    logger.addHandler(logging.StreamHandler(heard))
    logger.propagate = False
    logger.setLevel(logging.DEBUG)
    try:
        sf.anonymize(f"spark:///?table={file('damaged.parquet')}", "policy.yaml", output="x")
    except SfumatoError:
        told = traceback.format_exc()
    say(what="python", text=told, log=heard.getvalue())
    logger.setLevel(logging.WARNING)

    from pyspark.sql import SparkSession

    java = SparkSession.getActiveSession().sparkContext._gateway.proc.pid
    with no_file_longer_than(50_000, java):
        tell("full disk", file("wide.parquet"), "wide.yaml")
    os.kill(java, signal.SIGKILL)
    tell("killed", file("good.parquet"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
