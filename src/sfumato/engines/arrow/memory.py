"""Tables in memory: Arrow, pandas, Polars, and whatever speaks Arrow's stream protocol."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import types

from sfumato.engines.arrow.source import BATCH_ROWS, Source
from sfumato.engines.arrow.types import plain_type
from sfumato.errors import InputError
from sfumato.text import text_of


def open_memory(source: Any) -> Source:  # noqa: ANN401 - any table library's own type
    """Open a table of any library; its library is loaded already, or it could not exist."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return PandasSource(source)
    if polars is not None and isinstance(source, polars.LazyFrame):
        return LazySource(source)
    if polars is not None and isinstance(source, polars.DataFrame):
        return PolarsSource(source)
    return MemorySource(source)


class MemorySource(Source):
    """Anything Arrow can take over as a table. A stream is read once and kept."""

    kind = "arrow"
    where = "the table"

    def __init__(self, source: Any) -> None:  # noqa: ANN401
        try:
            self._table = self._arrow(source)
        except (pa.ArrowException, ValueError, TypeError, NotImplementedError) as error:
            raise InputError(
                f"{self.where} cannot be read: {'; '.join(map(str, error.args))}"
            ) from error
        self.schema = self._table.schema
        self.rows = self._table.num_rows
        if not self.rows:
            raise InputError(f"{self.where} has no rows")

    def _arrow(self, source: Any) -> pa.Table:  # noqa: ANN401
        return pa.table(source)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from self._table.select(list(columns)).to_batches(max_chunksize=BATCH_ROWS)


class PandasSource(MemorySource):
    """A pandas DataFrame. Its row labels are not data: they are neither read nor published."""

    kind = "pandas"
    where = "the DataFrame"

    def _arrow(self, source: Any) -> pa.Table:  # noqa: ANN401
        labels = list(source.columns)
        names = [str(label) for label in labels]
        self._labels = dict(zip(names, labels, strict=True))
        if len(self._labels) < len(names):
            # Arrow refuses repeated names in its own words; our check has better ones.
            return pa.Table.from_arrays([pa.nulls(1)] * len(names), names=names)
        source = _without_intervals(source)
        self._dtypes = dict(zip(names, source.dtypes, strict=True))
        try:
            return pa.Table.from_pandas(source, preserve_index=False)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            columns = [self._column(source.iloc[:, i], name) for i, name in enumerate(names)]
            return pa.Table.from_arrays(columns, names=names)

    def _column(self, series: Any, name: str) -> pa.Array:  # noqa: ANN401
        """Convert a column; values of several types become text, each written as it is."""
        import pandas as pd

        try:
            return pa.Array.from_pandas(series)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            try:
                codes, values = pd.factorize(series)
            except TypeError:
                raise InputError(
                    f"{self.where}: column {name!r} holds values of several types that are no "
                    "single values, such as lists. Split it into plain columns, or leave it out."
                ) from None
            texts = pa.array([text_of(value) for value in values], pa.string())
            indices = pa.array(codes, pa.int64(), mask=codes < 0)
            return pa.DictionaryArray.from_arrays(indices, texts).dictionary_decode()

    def native(self, table: pa.Table) -> Any:  # noqa: ANN401
        """Give a DataFrame with fresh row labels and, where a column kept its type, its dtype."""
        import pandas as pd

        # Whole numbers with gaps as objects first: pandas would make them inexact floats.
        frame = table.to_pandas(integer_object_nulls=True)
        for name, column in zip(table.column_names, table.columns, strict=True):
            # A table derived from this one may have columns of its own.
            dtype = self._dtypes.get(name)
            kept = dtype is not None and column.type == plain_type(self.schema.field(name).type)
            special = isinstance(dtype, pd.api.extensions.ExtensionDtype)
            # Categories may name values that no published row has.
            if kept and special and not isinstance(dtype, pd.CategoricalDtype):
                frame[name] = frame[name].astype(dtype)
            elif types.is_integer(column.type) and column.null_count:
                nullable = str(column.type).replace("uint", "UInt").replace("int", "Int")
                frame[name] = frame[name].astype(nullable)
        return frame.rename(columns=self._labels)


def _without_intervals(frame: Any) -> Any:  # noqa: ANN401 - a DataFrame
    """Write the intervals that `pandas.cut` makes as text: Arrow knows no single value for one."""
    import pandas as pd

    texts = {}
    for label, dtype in frame.dtypes.items():
        held = getattr(getattr(dtype, "categories", None), "dtype", dtype)
        if isinstance(held, pd.IntervalDtype):
            texts[label] = frame[label].astype(object).map(str, na_action="ignore")
    changed = frame.copy(deep=False) if texts else frame
    for label, column in texts.items():
        changed[label] = column
    return changed


class PolarsSource(MemorySource):
    """A Polars DataFrame."""

    kind = "polars"
    where = "the DataFrame"

    def native(self, table: pa.Table) -> Any:  # noqa: ANN401
        import polars as pl

        return pl.from_arrow(table)


class LazySource(Source):
    """A Polars LazyFrame: its query runs once per pass, in batches, for the columns needed.

    Counting and publishing see the same rows only if the query gives the same rows
    each time: sort or seed whatever samples.
    """

    kind = "polars"
    where = "the LazyFrame"

    def __init__(self, source: Any) -> None:  # noqa: ANN401
        self._frame = source
        for empty in self._evaluated(source.clear()):
            self.schema = pa.table(empty).schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import polars.selectors as cs

        # A selector takes names as they are; select() reads "*" and "^a$" as patterns.
        for frame in self._evaluated(self._frame.select(cs.by_name(*columns)), batched=True):
            table = pa.table(frame).select(list(columns))
            yield from table.to_batches(max_chunksize=BATCH_ROWS)

    def _evaluated(self, frame: Any, *, batched: bool = False) -> Iterator[Any]:  # noqa: ANN401
        import polars as pl

        try:
            if batched and hasattr(frame, "collect_batches"):
                yield from frame.collect_batches(chunk_size=BATCH_ROWS)
            else:
                yield frame.collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(f"{self.where} cannot be evaluated: {error}") from error

    def native(self, table: pa.Table) -> Any:  # noqa: ANN401
        import polars as pl

        return pl.DataFrame(table).lazy()
