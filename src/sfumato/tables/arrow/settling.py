"""Types of published columns, where nothing but values says what type a column has.

A DataFrame of pandas holds whole numbers with a gap as decimals, and so does a sheet in which one
cell of a column has a fraction. That cell may be in a row that is not published, so the type is
found from the rows that are.
"""

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.tables.arrow.sources import as_type, from_numpy, to_numpy, used_entries

_EXACT = float(2**53)
"""Up to here, decimals hold every whole number."""

_DAY = 86_400_000_000
"""Microseconds."""


_DATE = r"^\d{4}-\d{2}-\d{2}$"
_TIME = r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}([.]\d{1,6})?$"


def columns_to_settle(schema: pa.Schema, source: pa.Schema, inferred: Collection[str]) -> list[str]:
    """Return the published columns whose types are to be found from their values.

    Those that are generalised are text, and stay it.

    Args:
        schema: The types of the published columns.
        source: Those of the source.
        inferred: The columns of the source whose types follow from values.
    """
    return [
        field.name
        for field in schema
        if field.name in inferred
        and (not t.is_string(field.type) or t.is_string(source.field(field.name).type))
    ]


def settle_types(
    schema: pa.Schema, batches: Sequence[Sequence[pa.Array]], names: Collection[str]
) -> tuple[pa.Schema, list[list[pa.Array]]]:
    """Return published columns in the types that their values have, with the schema.

    >>> ages = pa.array([31.0, None])
    >>> schema, batches = settle_types(pa.schema([("age", ages.type)]), [[ages]], ["age"])
    >>> schema.field("age").type, batches[0][0].to_pylist()
    (DataType(int64), [31, None])

    Args:
        schema: The types that they have.
        batches: All rows, some at a time, column by column.
        names: The columns whose types are to be found, of numbers, days, times or texts of these.
    """
    settled = [list(columns) for columns in batches]
    for place, name in enumerate(schema.names):
        if name not in names:
            continue
        columns = [columns[place] for columns in settled]
        kind = _type_of(columns, schema.field(name).type)
        schema = schema.set(place, pa.field(name, kind))
        for batch, column in zip(settled, columns, strict=True):
            batch[place] = _in_type(column, kind)
    return schema, settled


def _type_of(columns: Sequence[pa.Array], kind: pa.DataType) -> pa.DataType:
    """Return whole numbers or decimals, days or times: the narrower if it holds all values."""
    if t.is_string(kind):
        for pattern, narrow in ((_DATE, pa.date32()), (_TIME, pa.timestamp("ms"))):
            if all(_match(column, pattern) for column in columns):
                return narrow
        return kind
    if t.is_timestamp(kind) or t.is_date32(kind):
        if t.is_date32(kind) or (kind.tz is None and all(map(_are_days, columns))):
            return pa.date32()
        return kind
    if all(_are_whole(column) for column in columns):
        return pa.int64()
    # Whole numbers beyond what 64 bits with a sign hold stay what they are.
    return kind if t.is_integer(kind) else pa.float64()


def _values(column: pa.Array) -> pa.Array:
    """Return the values that rows have; a dictionary may hold others."""
    if not t.is_dictionary(column.type):
        return column.drop_null()
    used = used_entries(column.indices, len(column.dictionary))
    return column.dictionary.take(from_numpy(used)).drop_null()


def _match(column: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(_values(column), pattern)).as_py() is not False)


def _are_whole(column: pa.Array) -> bool:
    values = _values(column)
    if t.is_uint64(values.type):
        return not len(values) or pc.max(values).as_py() < 2**63
    if t.is_integer(values.type):
        return True
    numbers = to_numpy(values.cast(pa.float64()))
    with np.errstate(invalid="ignore"):
        return bool(((numbers == np.round(numbers)) & (np.abs(numbers) < _EXACT)).all())


def _are_days(column: pa.Array) -> bool:
    times = _values(column)
    if t.is_date32(times.type):
        return True
    numbers = times.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    fine = times.type.unit == "ns" and bool(np.any(to_numpy(times.cast(pa.int64())) % 1000))
    return not fine and not np.any(to_numpy(numbers) % _DAY)


def _in_type(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return a column in another type, without the values that no row has."""
    if t.is_dictionary(column.type):
        if column.type.value_type == kind:
            return column
        used = used_entries(column.indices, len(column.dictionary))
        places = np.zeros(len(column.dictionary), dtype=np.int32)
        places[used] = np.arange(len(used), dtype=np.int32)
        values = as_type(column.dictionary.take(from_numpy(used)), kind)
        indices = from_numpy(places).take(column.indices)
        return pa.DictionaryArray.from_arrays(indices, values, safe=False)
    return as_type(column, kind)
