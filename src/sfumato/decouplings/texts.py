"""Types and keys of the tables of a decoupled release, as SQL that lies beside them says."""

import re
from collections.abc import Iterable
from datetime import date, datetime

from sfumato.decouplings.base import DecoupledPart
from sfumato.tables.derived import DerivedColumn
from sfumato.typing import Value

_KEY_COLUMNS, _KEY_LENGTH = 8, 200
"""A key that is longer does not fit the index of every database."""


def type_of(column: DerivedColumn, *, written: bool) -> str:
    """Return what a column is in SQL.

    Args:
        column: The column.
        written: Whether all values are texts because they stand in a text file.
    """
    values = column.values or ()
    return sql_type(map(read_text, values) if written else values)


def key_of(part: DecoupledPart, *, count: str) -> list[str]:
    """Return the columns that tell the rows of a table apart; none if a row is a person.

    Args:
        part: The table.
        count: The column that says how many people have the values of a row.
    """
    columns = [each for each in part.content.columns if each.name != count]
    if len(columns) == len(part.content.columns) or len(columns) > _KEY_COLUMNS:
        return []
    texts = [[value for value in each.values or () if isinstance(value, str)] for each in columns]
    if sum(max(map(len, each), default=0) for each in texts) > _KEY_LENGTH:
        return []
    return [column.name for column in columns]


_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_text(value: Value) -> Value:
    """Return what a cell of a text file is, if it is written as that and in no other way.

    What would come back written otherwise, such as `007` or `1e5`, stays text.

    >>> [read_text(text) for text in ("7", "-1.50", "2020-02-29", "2020-02-30", "007", None)]
    [7, -1.5, datetime.date(2020, 2, 29), '2020-02-30', '007', None]
    """
    if not isinstance(value, str):
        return value
    if _WHOLE.fullmatch(value):
        return int(value) if value != "-0" else value
    if _NUMBER.fullmatch(value):
        return float(value)
    if _DAY.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            return value
    return value


_SMALL = 2**31


def sql_type(values: Iterable[Value]) -> str:
    """Return what a column of such values is in SQL.

    >>> sql_type([1, None]), sql_type([1, 2.5]), sql_type(["1"]), sql_type([True])
    ('INTEGER', 'DOUBLE PRECISION', 'VARCHAR', 'BOOLEAN')
    >>> sql_type([2**40]), sql_type([2**63])
    ('BIGINT', 'NUMERIC')
    """
    given = [value for value in values if value is not None]
    kinds = {type(value) for value in given}
    if kinds == {int}:
        largest = max(abs(value) for value in given if isinstance(value, int))
        return "INTEGER" if largest < _SMALL else "BIGINT" if largest < _SMALL**2 * 2 else "NUMERIC"
    for allowed, name in (
        ({bool}, "BOOLEAN"),
        ({int, float}, "DOUBLE PRECISION"),
        ({date}, "DATE"),
        ({datetime}, "TIMESTAMP"),
    ):
        if kinds and kinds <= allowed:
            return name
    return "VARCHAR"
