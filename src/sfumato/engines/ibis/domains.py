"""One column of a database by itself."""

from functools import partial
from typing import TYPE_CHECKING, Any

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.engines.arrow.build import from_numpy, to_numpy
from sfumato.engines.arrow.codebook import MISSING
from sfumato.engines.arrow.values import python_values
from sfumato.engines.base import Domain
from sfumato.engines.ibis.counting import TIMES, Counted, grouped
from sfumato.typing import IntArray, Value

if TYPE_CHECKING:
    from sfumato.engines.ibis.database import Database

MOST = 10_000
"""How many values of a column are fetched: more are names or numbers of people, or near that."""

_SAMPLED = 1_000


def domain(database: "Database", position: int) -> Domain:
    """Give a column's values, or a sample of them if there are many; how often each occurs always.

    Args:
        database: Where the table is.
        position: The column, by its number in the table.
    """
    counted = Counted(database, [position], most=MOST + 1)
    return _few(counted) if len(counted.rows) <= MOST else _many(database, position)


def _few(counted: Counted) -> Domain:
    book, codes = counted.books[0], counted.codes[0]
    rows = np.zeros(len(book), dtype=np.int64)
    np.add.at(rows, codes, counted.rows)
    # A database gives its groups in any order, another one each time.
    order = np.asarray(pc.sort_indices(book.values), dtype=np.int64)
    values = book.values.take(from_numpy(order))
    return Domain(
        book.column, rows[1:][order], int(rows[MISSING]), partial(_at, values, book.column)
    )


def _many(database: "Database", position: int) -> Domain:
    groups: Any = grouped(database, [position])
    key = groups[f"k{position}"]
    sizes = groups.group_by(missing=ibis.ifelse(key.isnull(), 1, 0), times=groups[TIMES])
    fetched = database.fetch(sizes.aggregate(distinct_values=groups.count()))
    missing, times, distinct = (
        to_numpy(fetched.column(name).cast(pa.int64()).combine_chunks())
        for name in ("missing", "times", "distinct_values")
    )
    known = missing == 0
    rows = np.repeat(times[known], distinct[known])
    name = database.fields[position].name
    values = _spread(database, groups.filter(key.notnull()), f"k{position}", len(rows))
    return Domain(name, rows, int(times[~known].sum()), partial(_near, values, name, len(rows)))


def _spread(database: "Database", groups: Any, key: str, n: int) -> pa.Array:  # noqa: ANN401
    """Fetch a few values, evenly spread over all of them in their order."""
    turn = ibis.row_number().over(ibis.window(order_by=key)).cast("int64")
    numbered = groups.mutate(turn=turn)
    some = numbered.filter(numbered.turn % max(n // _SAMPLED, 1) == 0)
    return database.fetch(some.select(key)).column(key).combine_chunks()


def _at(values: pa.Array, column: str, positions: IntArray) -> list[Value]:
    return python_values(values.take(from_numpy(positions)), column)


def _near(values: pa.Array, column: str, n: int, positions: IntArray) -> list[Value]:
    """Give the values of a sample that stand for some positions, each once."""
    return _at(values, column, np.unique(positions * len(values) // n))
