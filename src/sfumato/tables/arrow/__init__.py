"""The arrow engine: files and in-memory tables, streamed as Arrow batches.

Nothing heavy is imported before a table is opened.
"""

from os import PathLike
from typing import ClassVar

from sfumato.tables.base import Engine, Table


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
        from sfumato.tables.arrow.sources import open_source
        from sfumato.tables.arrow.table import ArrowTable

        return ArrowTable(open_source(source))


def _is_lazy_frame(source: object) -> bool:
    kind = type(source)
    return kind.__module__.partition(".")[0] == "polars" and kind.__name__ == "LazyFrame"
