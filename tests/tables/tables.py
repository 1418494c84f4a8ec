"""Small tables of every type, every kind of source for them, and the textbook reading of a cell."""

import csv
import math
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from hypothesis import strategies as st

from sfumato.text import text_of

ODD_NAMES = ["a b", "è", 'q"q', "a", "a.b", "new\nline", "*", "^a$", "1", "semi;colon", " x "]

TEXTS = st.one_of(
    st.sampled_from(["", "00123", "Rome", "x" * 3000, 'say "hi"', "a;b,c\td|e", "two\nlines"]),
    st.text(st.characters(exclude_characters="\0\r\ufeff", codec="utf-8"), max_size=3),
)
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))
CELLS = {
    pa.string(): TEXTS,
    pa.large_string(): TEXTS,
    pa.dictionary(pa.int8(), pa.string()): TEXTS,
    pa.int8(): st.integers(-3, 3),
    pa.int64(): st.integers(-(2**60), 2**60),
    pa.uint64(): st.integers(0, 2**63 - 1),
    pa.float64(): st.sampled_from([0.0, -0.0, math.nan, 39.0, 0.1, 1e300, math.inf]),
    pa.float32(): st.sampled_from([0.0, -0.0, math.nan, 39.0, 0.1]),
    pa.decimal128(9, 2): st.decimals(-9, 9, places=2),
    pa.date32(): st.dates(date(1900, 1, 1), date(2100, 1, 1)),
    pa.timestamp("us"): MOMENTS,
    pa.timestamp("us", "UTC"): MOMENTS.map(lambda moment: moment.replace(tzinfo=UTC)),
    pa.time64("us"): st.times(),
    pa.duration("us"): st.integers(-5, 5).map(lambda hours: timedelta(hours=hours)),
    pa.bool_(): st.booleans(),
    pa.binary(): st.binary(max_size=2),
    pa.null(): st.none(),
}
KINDS = ("parquet", "feather", "stream", "arrow", "reader", "pandas", "polars", "lazy")
"""Typed sources. CSV, where everything is text, comes on top."""


@st.composite
def typed_tables(draw, *, min_columns=1, max_columns=4):
    """Draw an Arrow table with odd names and many repeated, missing and strange values."""
    count = draw(st.integers(min_columns, max_columns))
    names = draw(st.lists(st.sampled_from(ODD_NAMES), min_size=count, max_size=count, unique=True))
    rows = draw(st.integers(1, 12))
    columns = {}
    for name in names:
        kind = draw(st.sampled_from(list(CELLS)))
        cells = st.none() if kind == pa.null() else st.one_of(st.none(), CELLS[kind])
        pool = draw(st.lists(cells, min_size=1, max_size=4))
        picked = draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows))
        columns[name] = pa.array(picked, kind)
    return pa.table(columns)


def as_source(table: pa.Table, kind: str, folder):
    """Turn an Arrow table into a source of some kind."""
    path = folder / f"table.{kind}"
    match kind:
        case "parquet":
            pq.write_table(table, path, row_group_size=5)
        case "feather":
            pyarrow.feather.write_feather(table, path, chunksize=5)
        case "stream":
            with pa.ipc.new_stream(path, table.schema) as writer:
                writer.write_table(table, max_chunksize=5)
        case "arrow":
            return table
        case "reader":
            return table.to_reader(max_chunksize=5)
        case "pandas":
            return in_pandas(table)
        case "polars":
            return pl.from_arrow(table)
        case "lazy":
            return pl.from_arrow(table).lazy()
    return path


def in_pandas(table: pa.Table) -> pd.DataFrame:
    """Make a DataFrame whose row labels are useless and misleading."""
    # Else pandas makes whole numbers with gaps floats, before we ever see them.
    frame = table.to_pandas(integer_object_nulls=True)
    frame.index = ["label"] * len(frame)
    return frame


def write_csv(path, names, rows, *, delimiter=",", quoting=csv.QUOTE_ALL):
    """Write cells with Python's own writer; None becomes an empty cell."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting)
        writer.writerow(names)
        writer.writerows(rows)
    return path


def cell(value) -> str | None:
    """Read one cell as the documentation says: missing is one value, the rest is its text."""
    if value is None or value is pd.NaT or value is pd.NA or value in ("", b""):
        return None
    if isinstance(value, float | np.floating) and math.isnan(value):
        return None
    if isinstance(value, np.float32):
        return cell(float(str(value)))
    if isinstance(value, pd.Timestamp):
        return cell(value.to_pydatetime())
    if isinstance(value, pd.Timedelta):
        return cell(value.to_pytimedelta())
    return text_of(value.item() if isinstance(value, np.generic) else value)


def literal_rows(table: pa.Table) -> list[tuple[str | None, ...]]:
    """Give every row of an Arrow table as texts, cell by cell."""
    columns = []
    for column in table.columns:
        values = column.to_pylist()
        if column.type == pa.float32():
            values = [None if v is None else np.float32(v) for v in values]
        columns.append([cell(value) for value in values])
    return list(zip(*columns, strict=True))
