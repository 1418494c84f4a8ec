"""Tables in Spark."""

import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, ClassVar

import ibis
import pyarrow as pa
from py4j.protocol import Py4JError, Py4JNetworkError
from pyarrow import types as t
from pyspark import inheritable_thread_target
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as st
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type

from sfumato.errors import InputError, OutputError, reason_of
from sfumato.files.confinement import current
from sfumato.files.dialect import Dialect
from sfumato.tables.arrow.writing import without_notes
from sfumato.tables.sql.database import (
    ROWS,
    Address,
    Database,
    Field,
    Name,
    draw_with_md5,
    format_name,
    fresh_name,
)

if TYPE_CHECKING:
    from ibis.expr.types import Table as Query

_BROADCAST = 64 * 2**20
"""Lookups of at most this many bytes are sent to every worker instead of being shuffled."""

_TRIES = 3
LOST = (Py4JNetworkError, ConnectionError, EOFError)
ERRORS = (PySparkException, Py4JError, *LOST)


# What Py4J logs as a fault of the program, tracebacks and all, becomes one line for the user.
logging.getLogger().addFilter(lambda record: record.module != "java_gateway")

LOG = logging.getLogger("sfumato.spark")
"""Told what Spark says of an error, with the stacks of Java, for those who ask for it."""


_CLASS = re.compile(r"^(?:[a-z][\w$]*\.)+(?=[A-Z][\w$]*)(?:[\w$]+: )?")
_AROUND = ("Exception thrown in awaitResult", "Job aborted due to stage failure")
_GONE = "does not exist in the JVM"


def _plain(line: str) -> str:
    """Return what a line of Java says, without the class that says it.

    >>> _plain("java.io.IOException: File too large"), _plain("java.io.EOFException")
    ('File too large', 'EOFException')
    """
    return _CLASS.sub("", line).rstrip(".: ")


class Spark(Database):
    """A DataFrame.

    Columns are numbered before anything else is done: dots in names, and names that differ only
    in their letters' case, break Spark's SQL.

    Args:
        frame: The rows.
        where: The table's name in messages.
        table: The name of the table the rows are, if they are one.
    """

    kind: ClassVar[str] = "spark"
    title: ClassVar[str] = "Spark"
    ibis_name: ClassVar[str] = "pyspark"
    example: ClassVar[str] = "spark:///?table=people"
    errors = ERRORS
    default_port: ClassVar[int] = 7077
    formats: ClassVar[tuple[str, ...]] = ("parquet", "csv")
    has_workers: ClassVar[bool] = True
    dialect: ClassVar[Dialect] = Dialect(
        mark="`",
        text="STRING",
        collation="UTF8_BINARY",
        sha256="sha2({}, 256)",
        joined_lines="array_join(sort_array(collect_list(line)), ' ')",
        cells={
            "float": "format_string('%a', CAST({} AS DOUBLE))",
            "binary": "hex({})",
            "moment": "CAST(unix_micros({}) AS STRING)",
            "nested": "to_json(struct({}), map('ignoreNullFields', 'false'))",
        },
    )

    def __init__(self, frame: DataFrame, where: str, *, table: Name | None = None) -> None:
        _ = ibis.pyspark  # Its options exist only once it was touched.
        self.where = where
        self.session = frame.sparkSession
        self.name = table
        self._frame_given = frame
        self._views: list[str] = []
        with self.reading(where):
            zone = str(self.session.conf.get("spark.sql.session.timeZone"))
            self.fields = tuple(
                _column(i, field, zone) for i, field in enumerate(frame.schema.fields)
            )
            numbered = frame.toDF(*(f"c{i}" for i in range(len(self.fields))))
        keys = [f"{field.key} AS k{i}" for i, field in enumerate(self.fields) if field.key]
        self._rows = numbered.selectExpr("*", *keys)

    @classmethod
    def open(cls, source: Any) -> "Spark":  # noqa: ANN401
        if isinstance(source, Address):
            source = _session(source), source.table
        if not isinstance(source, tuple):
            return cls(source, "the DataFrame")
        session, name = source
        where = f"table {format_name(name)} of Spark"
        with cls.reading(where):
            if current() is not None:
                _require_table(session, name)
            return cls(session.table(cls.dialect.quote(*name)), where, table=name)

    @classmethod
    def files_of(cls, address: Address) -> tuple[str, ...] | None:
        # A session of our own has no tables, only the files of this machine.
        return () if address.host or SparkSession.getActiveSession() is not None else None

    @classmethod
    def open_ibis(cls, backend: Any, select: str) -> "Spark":  # noqa: ANN401
        return cls(backend._session.sql(select), "the DataFrame")  # noqa: SLF001 - it has no other

    def open_table(self, name: Name) -> "Spark":
        return self.open((self.session, name))

    @property
    def relation_name(self) -> Name:
        return self.name or ("sfumato_source",)

    def run(self, statement: str) -> pa.Table:
        return self.session.sql(statement).toArrow()

    def query(self, statement: str) -> pa.Table:
        with self.reading(self.where):
            if self.name is not None:
                return self.run(statement)
            self._frame_given.createOrReplaceTempView("sfumato_source")
            try:
                return self.run(statement)
            finally:
                self.session.catalog.dropTempView("sfumato_source")

    def frame(self, query: "Query") -> DataFrame:
        """Return a query as a DataFrame; the view it is written on is gone afterwards."""
        view = fresh_name("rows")
        try:
            self._rows.createOrReplaceTempView(view)
            return self.session.sql(self.statement(query).replace(ROWS, view))
        finally:
            self.session.catalog.dropTempView(view)

    def fetch(self, query: "Query") -> pa.Table:
        with self.reading(self.where):
            return self.frame(query).toArrow()

    def load(self, name: str, table: pa.Table) -> None:
        self._views.append(name)
        schema = st.StructType([st.StructField(f.name, _spark_type(f.type)) for f in table.schema])
        frame = self.session.createDataFrame(table, schema)
        small = table.nbytes <= _BROADCAST
        (F.broadcast(frame) if small else frame).createOrReplaceTempView(name)

    @contextmanager
    def scope(self) -> Iterator[None]:
        try:
            yield
        finally:
            # A session that was stopped has no views either.
            with suppress(*ERRORS):
                while self._views:
                    self.session.catalog.dropTempView(self._views[-1])
                    self._views.pop()

    def exists(self, name: Name) -> bool:
        with self.publishing(self.where):
            return bool(self.session.catalog.tableExists(self.dialect.quote(*name)))

    @classmethod
    def reason(cls, error: BaseException) -> str:
        """Return Spark's first line, and the last cause it names, without classes of Java."""
        text = str(error)
        if isinstance(error, LOST) or text.endswith(_GONE):
            return "the connection to Spark is lost"
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and lines[0].startswith("An error occurred while calling"):
            del lines[0]
        first = _plain(lines[0].lstrip(": ")) if lines else type(error).__name__
        causes = [ln.removeprefix("Caused by: ") for ln in lines if ln.startswith("Caused by: ")]
        if not causes:
            return first
        cause = _plain(causes[-1])
        return cause if first.startswith(_AROUND) else f"{first} ({cause})"

    @classmethod
    @contextmanager
    def reading(cls, where: str) -> Iterator[None]:
        try:
            yield
        except cls.errors as error:
            LOG.debug("%s cannot be read", where, exc_info=error)
            # Not `from error`: its text is the stack of Java, hundreds of lines of it.
            raise InputError(f"{where} cannot be read: {cls.reason(error)}.") from None

    @classmethod
    @contextmanager
    def publishing(cls, where: str) -> Iterator[None]:
        try:
            yield
        except cls.errors as error:
            LOG.debug("%s cannot be published", where, exc_info=error)
            left = (
                "What was begun there is removed by the next run for the same table."
                if isinstance(error, LOST)
                else "Nothing was left there."
            )
            raise OutputError(f"{where} cannot be published: {cls.reason(error)}. {left}") from None

    def draw(self) -> Any:  # noqa: ANN401
        return draw_with_md5()

    def _shuffle(self, query: "Query", columns: Sequence[str]) -> DataFrame:
        self._require_different(columns)
        # Thrown into parts at random, and sorted at random in each, rows stand in any order with
        # the same probability. To order all of them, Spark would compute the rows twice. Spark's
        # seeds can be guessed, so a secret takes part.
        part, order = (F.md5(F.concat(F.lit(token_hex(16)), F.rand())) for _ in range(2))
        frame = self.frame(query).repartition(part).sortWithinPartitions(order)
        return frame.toDF(*columns)

    def _require_different(self, columns: Sequence[str]) -> None:
        """Raise if the session would take two columns for one."""
        if self.session.conf.get("spark.sql.caseSensitive") == "true":
            return
        seen: dict[str, str] = {}
        for name in columns:
            other = seen.setdefault(name.lower(), name)
            if other != name:
                raise OutputError(
                    f"the columns {other!r} and {name!r} differ only in their letters' case, and "
                    "this Spark session takes them for one. Set spark.sql.caseSensitive to true, "
                    "or give one of them another name."
                )

    def rename(self, name: Name, to: Name) -> None:
        # Spark takes a name without a schema for one in the schema that is current.
        self.query(f"ALTER TABLE {self.dialect.quote(*name)} RENAME TO {self.dialect.quote(*to)}")

    @property
    def transactional(self) -> bool:
        return False

    def is_view(self, name: Name) -> bool:
        with self.reading(self.where):
            kind = self.session.catalog.getTable(self.dialect.quote(*name)).tableType
        return kind in ("VIEW", "TEMPORARY")

    def tables_like(self, schema: Name, beginning: str) -> list[str]:
        where = f" IN {self.dialect.quote(*schema)}" if schema else ""
        with self.reading(self.where):
            found = self.session.sql(f"SHOW TABLES{where} LIKE '{beginning}*'").collect()
        return [row["tableName"] for row in found if not row["isTemporary"]]

    def create_table(self, query: "Query", columns: Sequence[str], name: Name) -> int:
        with self.publishing(self.where):
            self.insert(self._shuffle(query, columns), name)
            return self.session.table(self.dialect.quote(*name)).count()

    def insert(self, frame: DataFrame, name: Name) -> None:
        """Store rows in a new table; if that fails, a part of it may be there."""
        table = self.dialect.quote(*name)
        # First a table and then its rows: then the files of a run that is killed are those of a
        # table, and go with it.
        self.session.catalog.createTable(table, schema=_with_gaps(frame.schema))
        self._write(lambda: frame.write.insertInto(table, overwrite=True))

    def _write(self, write: Callable[[], None]) -> None:
        """Write until Spark has computed every part only once.

        Rows are dealt at random. Should it lose some parts when others are written already, and
        compute them again, then rows may be missing, and others be there twice.
        """
        for _ in range(_TRIES):
            if not _stages_repeated(self.session, _done(self.session, write)):
                return
        raise OutputError(
            f"{self.where} cannot be published: Spark lost parts of it {_TRIES} times. Nothing was "
            "left there."
        )

    def write(self, query: "Query", columns: Sequence[str], target: Path, form: str) -> int:
        folder = target.with_name(f".{fresh_name('unfinished')}")
        options = {} if form == "parquet" else _CSV
        try:
            with self.publishing(self.where):
                frame = self._shuffle(query, columns).coalesce(1)
                writer = frame.write.format(form).options(**options).mode("overwrite")
                self._write(lambda: writer.save(_uri(folder)))
                [part] = folder.glob(f"part-*.{form}")
                rows = self._count(part, form)
                if form == "parquet":
                    without_notes(part)
                part.rename(target)
        except OutputError:
            raise
        except OSError as error:
            raise OutputError(
                f"cannot write {target}: {reason_of(error)}. Nothing was left there."
            ) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return rows

    def _count(self, part: Path, form: str) -> int:
        options = {} if form == "parquet" else {**_CSV, "multiLine": "true"}
        return self.session.read.format(form).options(**options).load(_uri(part)).count()


def _uri(path: Path) -> str:
    """Return the address of a file as Spark reads it: unlike others, it decodes no %20."""
    return f"file://{path.absolute()}"


_CSV = {"header": "true", "quote": '"', "escape": '"', "emptyValue": '""', "nullValue": "",
        "compression": "none", "ignoreLeadingWhiteSpace": "false",
        "ignoreTrailingWhiteSpace": "false"}  # fmt: skip


def _session(address: Address) -> SparkSession:
    """Return the session that runs, or start one."""
    if address.user or address.options or address.path:
        raise InputError(
            "a spark address has a host, a port and a table only: spark://host:7077?table=people, "
            "or spark:///?table=people for the session that runs"
        )
    with Spark.reading("Spark"):
        builder = SparkSession.builder
        if address.host:
            builder = builder.master(f"spark://{address.host}:{address.port or 7077}")
        elif SparkSession.getActiveSession() is None:
            builder = builder.master("local[*]")
        if SparkSession.getActiveSession() is None and not _has_settings():
            # Java's log goes to the terminal unless one says otherwise, with a stack for each task
            # that fails; what matters of it is in our errors. Its progress bar goes there, too.
            builder = builder.config("spark.log.level", "OFF")
            builder = builder.config("spark.ui.showConsoleProgress", "false")
        return builder.getOrCreate()


def _has_settings() -> bool:
    """Return whether people have settings of Spark of their own, which say what is logged where."""
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (f"{home}/conf" if home else "")
    return bool(folder) and Path(folder, "log4j2.properties").is_file()


def _require_table(session: SparkSession, name: Name) -> None:
    """Raise if a name is no table of the catalogue: Spark takes `text.path` for a file."""
    session.conf.set("spark.sql.runSQLOnFiles", "false")
    if not session.catalog.tableExists(Spark.dialect.quote(*name)):
        raise InputError(
            f"Spark has no table {format_name(name)}. Here only tables of its catalogue are "
            "opened, and no files by their paths."
        )


def _with_gaps(schema: st.StructType) -> st.StructType:
    """Return a schema in which any cell may be missing, as in every table made of a DataFrame."""
    return st.StructType([st.StructField(f.name, f.dataType) for f in schema.fields])


def _done(session: SparkSession, job: Callable[[], None]) -> str:
    """Run a job that takes long; return the name by which Spark knows it.

    If it is interrupted, it is cancelled and waited for: what goes on behind our back would
    leave files. That is not possible from within the call that waits for it.
    """
    group, context = fresh_name("job"), session.sparkContext

    def run() -> None:
        context.setJobGroup(group, "Sfumato writes a release")
        job()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(inheritable_thread_target(session)(run))
        try:
            running.result()
        except KeyboardInterrupt:
            context.cancelJobGroup(group)
            raise
    return group


def _stages_repeated(session: SparkSession, group: str) -> bool:
    """Return whether parts of a job were lost after others had begun to use them."""
    tracker = session.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    return any(stage.currentAttemptId > 0 for stage in stages if stage)


_NESTED = (st.ArrayType, st.MapType, st.StructType, st.VariantType, st.UserDefinedType)
_SPANS = (st.DayTimeIntervalType, st.YearMonthIntervalType, st.CalendarIntervalType)


def _column(i: int, field: st.StructField, zone: str) -> Field:
    kind, described = field.dataType, field.dataType.simpleString()
    if isinstance(kind, _NESTED):
        return Field(field.name, pa.string(), described, None, pa.string())
    if isinstance(kind, (st.StringType, *_SPANS)):
        # Whatever collation a column has, different texts are different values.
        key = f"collate(CAST(c{i} AS STRING), 'UTF8_BINARY')"
        return Field(field.name, pa.string(), described, key, pa.string())
    moment = isinstance(kind, st.TimestampType)
    arrow = pa.timestamp("us", zone) if moment else to_arrow_type(kind)
    return Field(field.name, arrow, described, f"c{i}", arrow)


def _spark_type(kind: pa.DataType) -> st.DataType:
    """Return Spark's name of a type of an uploaded table."""
    if t.is_null(kind):
        return st.StringType()
    if t.is_timestamp(kind):
        return st.TimestampNTZType() if kind.tz is None else st.TimestampType()
    found: st.DataType = from_arrow_type(kind)
    return found
