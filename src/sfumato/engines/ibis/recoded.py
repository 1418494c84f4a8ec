"""What a recoding makes of the rows of a database, before columns are chosen."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from sfumato.engines.arrow.build import from_texts
from sfumato.engines.ibis.database import Database
from sfumato.text import text_of
from sfumato.typing import Value

if TYPE_CHECKING:
    from ibis.expr.types import Table as Query

SUPPRESSED = "sfumato_suppressed"
"""A column that says whether a row is suppressed; it is there if any row is."""


class Recoded(NamedTuple):
    """The rows with what is published of their recoded columns beside them."""

    query: "Query"
    labels: Mapping[str, str]
    """For each recoded column, the column of `query` that is published instead."""


class Constants:
    """Values that a statement needs once: uploaded, so that they never stand in its text.

    Args:
        database: Where they go.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._columns: dict[str, pa.Array] = {}

    def add(self, name: str, value: pa.Array) -> None:
        """Remember an array of one value."""
        self._columns[name] = value

    def beside(self, query: "Query") -> "Query":
        """Put them beside every row."""
        if not self._columns:
            return query
        return query.cross_join(self._database.upload(pa.table(self._columns)))


def texts(values: list[Value]) -> pa.Array:
    """Write values as text; missing ones stay missing.

    >>> texts([30, None, "x"]).to_pylist()
    ['30', None, 'x']
    """
    return from_texts([None if v is None else text_of(v) for v in values], pa.string())
