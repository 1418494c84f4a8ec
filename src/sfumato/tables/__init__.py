"""Tables: the only room in which rows are read and written.

`open_table` finds the engine for a source.
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import ClassVar

from sfumato.counts import FrequencySet
from sfumato.derivations import Preparation
from sfumato.derivations.dates import Detection, iso_of, look_like_dates
from sfumato.errors import InputError, hide_passwords, some
from sfumato.files.confinement import Confinement
from sfumato.files.private import is_release
from sfumato.files.reading import Reading, TextFile, said_of_all
from sfumato.registry import Registry
from sfumato.tables.base import (
    CreatedTable,
    Domain,
    Engine,
    Progress,
    Suppression,
    Table,
    WrittenFile,
)
from sfumato.tables.capabilities import Extent, Window
from sfumato.tables.derived import derived_table, in_types_of, write_derived
from sfumato.tables.formats import FORMATS
from sfumato.tables.sql.engine import DatabaseEngine, refuse_address
from sfumato.tables.sql.registry import DATABASES
from sfumato.tables.stored import DatabaseTable
from sfumato.text import text_of

__all__ = [
    "DATABASES",
    "ENGINES",
    "FORMATS",
    "ArrowEngine",
    "CreatedTable",
    "DatabaseEngine",
    "DatabaseTable",
    "Domain",
    "Engine",
    "Extent",
    "JoinedFiles",
    "Progress",
    "Suppression",
    "Table",
    "Window",
    "WrittenFile",
    "confine_address",
    "count_people",
    "dates_of_people",
    "derived_table",
    "find_engine",
    "in_types_of",
    "open_table",
    "refuse_address",
    "said_of",
    "write_derived",
]


class ArrowEngine(Engine):
    """CSV, Parquet and Feather files; Arrow, pandas and Polars tables.

    >>> ArrowEngine().owns("people.csv"), ArrowEngine().owns(42)
    (True, False)
    """

    name: ClassVar[str] = "arrow"

    def owns(self, source: object) -> bool:
        return (
            isinstance(source, str | PathLike)
            or hasattr(source, "__arrow_c_stream__")
            or _is_lazy_frame(source)
        )

    def open(self, source: object) -> Table:
        if isinstance(source, str | PathLike):
            refuse_address(source)
        from sfumato.tables.arrow.sources import open_source
        from sfumato.tables.arrow.table import ArrowTable

        return ArrowTable(open_source(source))


def _as_said(source: str | PathLike[str], reading: Reading | None) -> str | PathLike[str]:
    """Return a path with all settings for how it is read."""
    said = said_of(source, reading)
    own = source.reading if isinstance(source, TextFile) else Reading()
    return source if said in (own, Reading()) else TextFile(Path(str(source)), said)


def said_of(source: object, reading: Reading | None) -> Reading:
    """Return what is said of how a source is read: of it alone, of all inputs, or by a policy.

    >>> said_of(TextFile(Path("people.csv"), Reading(delimiter=";")), Reading(decimal=",")).decimal
    ','
    """
    if not isinstance(source, str | PathLike):
        return Reading()
    own = source.reading if isinstance(source, TextFile) else Reading()
    if own.numbers is not None:
        return own
    # What is declared about inputs does not hold for a release, which is written in its own way.
    of_all = None if is_release(Path(str(source)).parent) else said_of_all()
    return own.over((of_all or Reading()).over(reading))


def _is_lazy_frame(source: object) -> bool:
    kind = type(source)
    return kind.__module__.partition(".")[0] == "polars" and kind.__name__ == "LazyFrame"


ENGINES: Registry[Engine] = Registry("engine", "sfumato.engines", [DatabaseEngine, ArrowEngine])


def open_table(source: object, reading: Reading | None = None) -> Table:
    """Open a file, an in-memory table, or a table of a database.

    Args:
        source: A path to a CSV, Parquet or Feather file, or to one of SPSS, Stata, SAS or Excel; a
            pandas, Polars or Arrow table; the address of a table (duckdb:///file.db?table=people, postgres://user@host/db?table=people,
            spark:///?table=people); a DuckDB relation, Spark DataFrame or Ibis table; or a pair of
            a connection and a table name.
        reading: How it is read if it is a text file; what is not said is found out.

    Example:
        >>> import pyarrow as pa
        >>> table = open_table(pa.table({"sex": ["f", "m", "f"]}))
        >>> table.count(["sex"]).rows.tolist()
        [2, 1]
    """
    if isinstance(source, Table):
        return source
    engine = find_engine(source)
    if isinstance(engine, ArrowEngine) and isinstance(source, str | PathLike):
        source = _as_said(source, reading)
    if engine is not None:
        return engine.open(source)
    raise InputError(
        f"cannot read a table from {type(source).__module__}.{type(source).__qualname__}. "
        "Give the path of a CSV, Parquet or Feather file, a pandas, Polars or Arrow table, or a "
        "table of DuckDB, PostgreSQL or Spark."
    )


class JoinedFiles:
    """Files that may be joined to one table; those without rows are left out.

    Args:
        paths: The files, which are opened at once: what changes later is found out.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        from sfumato.tables.arrow.windows import open_sources

        self._sources = open_sources(paths)
        self.paths = tuple(self._sources)

    def table(self, paths: Sequence[Path]) -> Table:
        """Return the rows of some of them, one file after the other."""
        from sfumato.tables.arrow.table import ArrowTable
        from sfumato.tables.arrow.windows import JoinedSource

        return ArrowTable(JoinedSource([self._sources[path] for path in paths]))


def count_people(
    population: object,
    columns: Sequence[str],
    *,
    preparation: Preparation | None = None,
    progress: Progress | None = None,
) -> FrequencySet:
    """Count the people of a population.

    A policy of others may name any file of this machine as its population: what is wrong with it
    is said without naming its columns, which are the first line of the file, or its values.

    Args:
        population: All people the data was drawn from, as for `open_table`.
        columns: The quasi-identifiers.
        preparation: What says which of them are dates: these are read as those of the data are,
            in whatever order they are written here.
        progress: Called with the number of rows that were read.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.derivations.dates import DateForm
        >>> people, dates = pa.table({"born": ["31.12.2001"]}), {"born": DateForm()}
        >>> count_people(people, ["born"], preparation=Preparation(dates)).columns[0].values
        ('2001-12-31',)
    """
    table = _without_codes(open_table(population), preparation)
    lacking = [name for name in columns if name not in table.columns]
    if lacking:
        raise InputError(
            f"the population has no column {some(lacking)}. Give a table that has every "
            "quasi-identifier, as it is before anything is generalised."
        )
    counts = table.count(columns, progress=progress)
    dates = _dates_in(counts, preparation)
    if not dates:
        return counts
    values = [
        [dates.get(c.name, {}).get(None if v is None else text_of(v), v) for v in c.values]
        for c in counts.columns
    ]
    return FrequencySet.from_codes(counts.names, values, counts.codes, counts.rows)


def dates_of_people(
    population: object, columns: Sequence[str], preparation: Preparation
) -> dict[str, dict[str | None, str]]:
    """Return per column of dates the one form of each text that a population has.

    Columns in which all dates are written in that form are left out.

    Args:
        population: All people the data was drawn from, as for `open_table`.
        columns: The quasi-identifiers.
        preparation: What says which of them are dates.
    """
    asked = [name for name in columns if name in {*preparation.dates, *preparation.likely}]
    if not asked:
        return {}
    return _dates_in(_without_codes(open_table(population), preparation).count(asked), preparation)


def _without_codes(table: Table, preparation: Preparation | None) -> Table:
    """Return a table of people in which codes of missing values are missing, as in the data."""
    codes = {} if preparation is None else preparation.codes
    codes = {name: each for name, each in codes.items() if name in table.columns}
    return table.prepare(Preparation(codes=codes)) if codes else table


def _dates_in(
    counts: FrequencySet, preparation: Preparation | None
) -> dict[str, dict[str | None, str]]:
    found: dict[str, dict[str | None, str]] = {}
    for column in counts.columns:
        rows = counts.value_counts(column.name).tolist()
        texts = {
            text_of(value): n
            for value, n in zip(column.values, rows, strict=True)
            if isinstance(value, str | int)
        }
        if preparation is None or all(iso_of(text) == text for text in texts):
            continue
        form = preparation.dates.get(column.name)
        if form is None and (column.name not in preparation.likely or not look_like_dates(texts)):
            continue
        settled = Detection.of(texts, form).settled
        if settled is None:
            raise InputError(
                "the population has texts in a column of dates that are none, or dates that can be "
                "read in two ways. Write them as 2020-02-29, or say in the policy how they are "
                "written, as in dates: day-first under the column."
            )
        found[column.name] = {text: settled.read(text) or text for text in texts}
    return found


def confine_address(text: str, limits: Confinement) -> str:
    """Return the address of a table whose files lie in a folder, by their whole paths.

    Args:
        text: The address. In whatever letters its scheme is written, and however its path is
            encoded, what would be opened is looked at.
        limits: The folder.
    """
    if not DatabaseEngine().owns(text):
        refuse_address(text)
        raise InputError(
            f"{hide_passwords(text)!r} is no address of a table. It looks like "
            "duckdb:///clinic.db?table=people or postgres://user@server/clinic?table=people"
        )
    from sfumato.tables.sql.engine import confine

    return confine(text, limits)


def find_engine(source: object) -> Engine | None:
    """Return the engine that opens a source, without opening it; None if there is none."""
    # Ours first: looking for plug-ins takes time. Relations of databases stream Arrow too, so the
    # engine that leaves them where they are comes before the one that reads them.
    for ours in (DatabaseEngine(), ArrowEngine()):
        if ours.owns(source):
            return ours
    for name in ENGINES:
        engine = ENGINES[name]()
        if engine.owns(source):
            return engine
    return None
