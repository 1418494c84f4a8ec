"""What tells the values of a column apart, in a database as in the arrow engine."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ibis
from pyarrow import types as t

from sfumato.engines.ibis.database import Database

if TYPE_CHECKING:
    from ibis.expr.types import Table as Query
    from ibis.expr.types import Value as Expression


def keyed(database: Database, positions: Sequence[int], plain: Sequence[int] = ()) -> "Query":
    """Give rows with the keys (`ki`) of some columns, and some columns as they are (`ci`)."""
    rows: Any = database.rows
    keys = {f"k{i}": _canonical(rows[f"k{i}"]) for i in positions}
    # A statement needs a column, even one that only counts rows.
    return rows.select(**{f"c{i}": rows[f"c{i}"] for i in plain or (() if keys else (0,))}, **keys)


def kept(database: Database, query: "Query", position: int) -> "Expression":
    """Give a column that is published as it is, with the one spelling each value has."""
    kind = database.fields[position].key_type
    may_be_nan = t.is_floating(kind) or t.is_decimal(kind)
    column: Expression = query[f"k{position}" if may_be_nan else f"c{position}"]
    return column


def _canonical(column: "Expression") -> "Expression":
    """Make NaN missing and -0.0 zero, so that equal values are one value."""
    number: Any = column
    if not number.type().is_floating():
        return column
    # Adding zero would do, if no optimiser took it out.
    return ibis.cases(
        (number.isnan(), ibis.null(number.type())),
        (number == 0, ibis.literal(0.0).cast(number.type())),
        else_=number,
    )
