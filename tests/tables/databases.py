"""Real databases for the engine suite: one small class for each, all with the same few methods."""

import contextlib
import math
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pytest
from hypothesis import strategies as st
from pyarrow import types as t

from tests.tables.tables import CELLS, ODD_NAMES

LEAVES_SOCKETS_OPEN = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
"""For tests with Java: Py4J lets the garbage collector close its sockets."""

EVIL = "x'; DROP TABLE t; --"
NAMES = [
    *ODD_NAMES,
    "A",
    "select",
    "Group",
    "`tick`",
    EVIL,
    'y"; DROP TABLE t; --',
    "a\\'b",
    "%s",
    "{x}",
]


def missing(what: str, install: str):
    """Fail: what a lane uses must be there."""
    pytest.fail(f"{what} is not installed. Install it with: {install}")


def imported(library: str, extra: str):
    try:
        return __import__(library)
    except ImportError:
        return missing(library, f'pip install "sfumato[{extra}]"')


def need_spark():
    imported("ibis", "spark")
    imported("pyspark", "spark")
    if shutil.which("java") is None:
        missing("Java", "apt-get install default-jre-headless")


class DuckDB:
    """A database in memory; nothing in it is case-sensitive."""

    name = "duckdb"
    types: ClassVar = [kind for kind in CELLS if not (t.is_duration(kind) or t.is_null(kind))]

    def __init__(self):
        imported("ibis", "duckdb")
        self.connection = imported("duckdb", "duckdb").connect()

    def load(self, table: pa.Table):
        """Give the table as a relation."""
        return self.connection.from_arrow(table)

    def stored(self, table: pa.Table, name: str):
        """Give the table as a table of this name."""
        self.connection.register("incoming", table)
        self.connection.execute(f"CREATE TABLE {quoted(name)} AS FROM incoming")
        self.connection.unregister("incoming")
        return self.connection, name

    def read(self, name: str) -> pa.Table:
        return self.connection.table(quoted(name)).to_arrow_table()

    def tables(self) -> set[str]:
        found = self.connection.sql("SELECT table_name FROM information_schema.tables").fetchall()
        return {name for (name,) in found}

    def clear(self):
        for name in self.tables():
            with contextlib.suppress(Exception):
                self.connection.execute(f"DROP TABLE {quoted(name)}")


class Postgres:
    """A server of our own on loopback, run by somebody who is not root."""

    name = "postgres"
    types: ClassVar = [
        pa.string(), pa.int16(), pa.int64(), pa.float64(), pa.float32(), pa.decimal128(9, 2),
        pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.time64("us"), pa.bool_(),
        pa.binary(),
    ]  # fmt: skip
    declared: ClassVar = dict(
        zip(
            types,
            [
                "text", "smallint", "bigint", "float8", "float4", "numeric(9, 2)", "date",
                "timestamp", "timestamptz", "time", "boolean", "bytea",
            ],
            strict=True,
        )
    )  # fmt: skip

    def __init__(self):
        imported("ibis", "postgres")
        self.psycopg = imported("psycopg", "postgres")
        self.programs = programs()
        self.user = None
        if os.geteuid() == 0:
            self.user = (
                "postgres" if "postgres" in {u.pw_name for u in pwd.getpwall()} else "nobody"
            )
        self.folder = Path(tempfile.mkdtemp(prefix="sfumato-postgres-"))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.start()
        self.connection = self.connect()

    def start(self):
        if self.user:
            shutil.chown(self.folder, self.user)
        data = self.folder / "data"
        password = self.folder / "password"
        password.write_text("s3cret@:/?")
        password.chmod(0o644)
        self.run(
            "initdb", "-D", data, "-U", "tester", "-A", "scram-sha-256", "--pwfile", password,
            "--locale=C", "-E", "UTF8", "--no-sync",
        )  # fmt: skip
        settings = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        log = self.folder / "log"
        self.run("pg_ctl", "-D", data, "-o", settings, "-l", log, "-w", "start")

    def run(self, program, *arguments):
        # Output to a file: the server would keep a pipe open.
        subprocess.run(
            [str(self.programs / program), *map(str, arguments)],
            user=self.user, check=True, cwd=self.folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def stop(self):
        self.connection.close()
        self.run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def connect(self, **more):
        given = {"user": "tester", "password": "s3cret@:/?", "dbname": "postgres", **more}
        return self.psycopg.connect(host="127.0.0.1", port=self.port, autocommit=True, **given)

    @contextlib.contextmanager
    def for_readers(self, monkeypatch):
        """Let what follows find the server as the documentation says, and a database to use."""
        found = {"HOST": "127.0.0.1", "PORT": self.port, "USER": "tester", "PASSWORD": "s3cret@:/?"}
        for name, value in found.items():
            monkeypatch.setenv(f"PG{name}", str(value))
        self.connection.execute("CREATE DATABASE clinic")
        try:
            yield
        finally:
            self.connection.execute("DROP DATABASE clinic WITH (FORCE)")

    def address(self, table: str, *, user="tester", password="s3cret%40%3A%2F%3F") -> str:
        return f"postgres://{user}:{password}@127.0.0.1:{self.port}/postgres?table={table}"

    def load(self, table: pa.Table):
        return self.stored(table, f"t{time.monotonic_ns()}")

    def stored(self, table: pa.Table, name: str):
        declared = [f"{quoted(f.name)} {self.declared[f.type]}" for f in table.schema]
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {quoted(name)} ({', '.join(declared)})")
            with cursor.copy(f"COPY {quoted(name)} FROM STDIN") as copy:
                for row in zip(*(c.to_pylist() for c in table.columns), strict=True):
                    copy.write_row(row)
        return self.connection, f'"{name.replace(chr(34), chr(34) * 2)}"'

    def read(self, name: str) -> pa.Table:
        cursor = self.connection.execute(f"SELECT * FROM {quoted(name)}", prepare=False)
        names = [column.name for column in cursor.description]
        rows = cursor.fetchall()
        kinds = {700: pa.float32()}
        return pa.table(
            [
                pa.array([row[i] for row in rows], kinds.get(column.type_code))
                for i, column in enumerate(cursor.description)
            ],
            names=names,
        )

    def tables(self) -> set[str]:
        found = self.connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        )
        return {name for (name,) in found.fetchall()}

    def clear(self):
        for name in self.tables():
            self.connection.execute(f"DROP TABLE {quoted(name)} CASCADE")


class Spark:
    """A session with two workers in one process."""

    name = "spark"
    types: ClassVar = [
        pa.string(), pa.int8(), pa.int64(), pa.float64(), pa.float32(), pa.decimal128(9, 2),
        pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.bool_(), pa.binary(),
    ]  # fmt: skip

    def __init__(self):
        need_spark()
        from pyspark.sql import SparkSession

        self.folder = tempfile.mkdtemp(prefix="sfumato-spark-")
        self.session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "1")
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.adaptive.enabled", "false")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.caseSensitive", "true")
            .config("spark.sql.warehouse.dir", self.folder)
            .getOrCreate()
        )
        self.session.sparkContext.setLogLevel("OFF")

    def for_readers(self, _monkeypatch):
        """Change nothing: who asks Spark for a session gets this one."""
        return contextlib.nullcontext()

    def stop(self):
        self.session.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def load(self, table: pa.Table):
        from sfumato.tables.sql.spark import _spark_type

        types = self.session.createDataFrame([], "a int").schema.__class__()
        for field in table.schema:
            types.add(field.name, _spark_type(field.type))
        return self.session.createDataFrame(table, types)

    def stored(self, table: pa.Table, name: str):
        self.load(table).write.saveAsTable(quoted(name, "`"))
        return self.session, name

    def read(self, name: str) -> pa.Table:
        return self.session.table(quoted(name, "`")).toArrow()

    def tables(self) -> set[str]:
        return {table.name for table in self.session.catalog.listTables()}

    def clear(self):
        for name in self.tables():
            self.session.sql(f"DROP TABLE {quoted(name, '`')}")


def programs() -> Path:
    """Find where PostgreSQL's programs are; Debian does not put them on the path."""
    places = [*Path("/usr/lib/postgresql").glob("*/bin")]
    if found := shutil.which("initdb"):
        places.append(Path(found).parent)
    places = [place for place in places if (place / "initdb").exists()]
    return places[-1] if places else missing("PostgreSQL", "apt-get install postgresql")


def quoted(name: str, mark: str = '"') -> str:
    return mark + name.replace(mark, mark * 2) + mark


@st.composite
def tables_for(draw, database, *, min_columns=1, max_columns=4):
    """Draw a table that a database can hold, with names that ask for trouble.

    Spark takes seconds for the smallest table, so it gets few, with everything in them.
    """
    if database.name == "spark":
        return draw(tables_of_everything(database))
    key = str.lower if database.name == "duckdb" else str
    names = draw(
        st.lists(st.sampled_from(NAMES), min_size=min_columns, max_size=max_columns, unique_by=key)
    )
    rows = draw(st.integers(1, 12))
    columns = {}
    for name in names:
        kind = draw(st.sampled_from(database.types))
        cells = st.integers(-3, 3) if kind == pa.int16() else CELLS[kind]
        pool = draw(st.lists(st.one_of(st.none(), cells), min_size=1, max_size=4))
        picked = draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows))
        columns[name] = pa.array(picked, kind)
    return pa.table(columns)


@st.composite
def tables_of_everything(draw, database):
    """Draw a table with every name there is, every type, and every value that is special."""
    kinds = draw(st.permutations(database.types))
    columns = {}
    for i, name in enumerate(NAMES):
        kind = kinds[i % len(kinds)]
        pool = [None, *SPECIAL.get(kind, ()), *draw(st.lists(CELLS[kind], min_size=2, max_size=4))]
        columns[name] = pa.array(draw(st.permutations([*pool, *pool, *pool]))[:9], kind)
    return pa.table(columns)


SPECIAL = {
    pa.string(): ["", "è 名 🙂", "x" * 3000, "NULL", "a\\'b\"c"],
    pa.float64(): [math.nan, -0.0, 0.0, math.inf],
    pa.float32(): [math.nan, -0.0, 0.0],
}
"""What is easily taken for something else."""
