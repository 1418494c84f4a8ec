"""Recoding by Spark's workers, for tables that do not fit into the memory of one machine."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as st
from pyspark.sql.pandas.types import to_arrow_type

from sfumato.errors import OutputError
from sfumato.tables.arrow.sources import from_numpy
from sfumato.tables.sql.counting import StoredSurvey, by_number, of_codes
from sfumato.tables.sql.database import Name, first_line, fresh_name, temporary
from sfumato.tables.sql.spark import ERRORS, LOG, LOST, Spark
from sfumato.tables.workers import Division, Solve

FRAGMENT = "fragment"
"""The column that says which fragment a row is in."""


class SolvedFragments(NamedTuple):
    """What the workers made of all fragments, in a table that is gone afterwards."""

    published: Spark
    """The rows that are published."""

    every: Spark
    """The same and the starred ones."""

    note: str
    """What the column of notes is called."""

    notes: list[str]
    """What the workers reported about their fragments, each once.

    They are rows of the table, too. A starred row has an empty note, one that is published none.
    """


@contextmanager
def solved_in_fragments(
    database: Spark,
    division: Division,
    solve: Solve,
    columns: Mapping[str, str | None],
    output: Name | None,
) -> Iterator[SolvedFragments]:
    """Solve every fragment on the workers, and keep the results until the block ends.

    It is kept in a table, because workers draw which of equal rows become what: if Spark had to
    make some of the rows again, they would not fit to the others.

    Args:
        database: Where the rows are.
        division: Which rows are in which fragment.
        solve: Is given the rows of a fragment: its number as `FRAGMENT`, the number that the
            value of each column has as `r0`, `r1` and so on, and the columns that it hands
            through. Gives what becomes of them, and a note as the last column.
        columns: What the columns that it gives will be called; for each the column that it
            hands through (`c3` for the fourth, `k3` for what tells its values apart), or None
            for text that it makes.
        output: What is made of them, to find what an earlier run could not drop.
    """
    note = fresh_name("note")
    name = (fresh_name("fragments"),) if output is None else temporary("fragments", output)
    table = database.dialect.quote(*name)
    session = database.session
    with _failing(), database.scope():
        if output is not None:
            _sweep(database, name)
        handed = sorted({like for like in columns.values() if like is not None})
        frame = database.frame(_divide(database, division, handed))
        kinds = {field.name: field.dataType for field in frame.schema.fields}
        types = [st.StringType() if like is None else kinds[like] for like in columns.values()]
        made = [st.StructField(f"o{i}", kind) for i, kind in enumerate([*types, st.StringType()])]
        arrow = pa.schema([(field.name, to_arrow_type(field.dataType)) for field in made])
        solved = frame.groupBy(FRAGMENT).applyInArrow(
            lambda rows: solve(rows).cast(arrow), st.StructType(made)
        )
        try:
            database.insert(solved.toDF(*columns, note), name)
            every = session.table(table)
            notes = every.filter(F.length(note) > 0).select(note).toArrow().column(0).to_pylist()
            kept = every.filter(F.isnull(note) | (F.length(note) == 0))
            yield SolvedFragments(
                Spark(every.filter(F.isnull(note)).drop(note), database.where),
                Spark(kept, database.where),
                note,
                notes,
            )
        finally:
            with suppress(*ERRORS):
                session.sql(f"DROP TABLE IF EXISTS {table}")


def _divide(database: Spark, division: Division, handed: Sequence[str]) -> Any:  # noqa: ANN401
    """Return rows with the numbers of their values, and the fragment they are in."""
    found, n = division.found, len(division.combinations)
    assert isinstance(found, StoredSurvey)  # noqa: S101 - as this table surveyed itself
    numbers = {
        "r": found.numbers,
        "a": [of_codes(of, to) for of, to in zip(division.merged, found.numbers, strict=True)],
    }
    plain = sorted({int(name[1:]) for name in handed})
    query: Any = by_number(database, found.lookups, numbers, plain)
    lookup = {f"like{i}": from_numpy(division.combinations[i].astype("int64")) for i in range(n)}
    lookup[FRAGMENT] = from_numpy(division.fragments)
    pairs = [(f"a{i}", f"like{i}") for i in range(n)]
    query = query.inner_join(database.upload(pa.table(lookup)), pairs)
    return query.select(FRAGMENT, *(f"r{i}" for i in range(len(found.lookups))), *handed)


def _sweep(database: Spark, name: Name) -> None:
    """Drop what runs that were killed left behind, found by all but the drawn end of a name."""
    for old in database.tables_like(name[:-1], name[-1][:-16]):
        database.drop((*name[:-1], old))


@contextmanager
def _failing() -> Iterator[None]:
    try:
        yield
    except LOST:
        raise OutputError(
            "the connection to Spark is lost. What was begun there is removed by the next run for "
            "the same table."
        ) from None
    except ERRORS as error:
        LOG.debug("the fragments cannot be solved", exc_info=error)
        raise OutputError(f"{_why(error)} Nothing was left there.") from None


_HERE = ("sfumato", "pyarrow", "numpy", "yaml")
"""What a worker must be able to import."""


def _why(error: Exception) -> str:
    """Return what went wrong in a worker, from the last line of its traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if _is_raised(line)]
    missing = [f"No module named '{name}" for name in _HERE]
    if any(text in line for line in lines for text in missing):
        return (
            "Spark's workers cannot import sfumato. Install the same version of it wherever they "
            'run (pip install "sfumato[spark]"), and let PYSPARK_PYTHON name that Python.'
        )
    if not told:
        return f"Spark could not solve the fragments: {first_line(error)}."
    return f"a worker of Spark failed: {told[-1].rstrip('.')}."


def _is_raised(line: str) -> bool:
    """Return whether a line of a traceback names an exception.

    >>> _is_raised("sfumato.errors.InputError: no rows"), _is_raised("File worker.py, line 3")
    (True, False)
    """
    name, colon, _ = line.partition(": ")
    last = name.rpartition(".")[2]
    return bool(colon) and name.replace(".", "").isidentifier() and last.endswith(_ENDS)


_ENDS = ("Error", "Exception", "Interrupt")
