"""From Arrow's distinct values to the Python values everything above works with."""

from datetime import datetime, timezone

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.engines.arrow.build import nothing, number, to_numpy
from sfumato.errors import InputError
from sfumato.typing import Value


def canonical(array: pa.Array) -> pa.Array:
    """Make NaN missing and -0.0 zero, so that equal values are one value.

    >>> canonical(pa.array([float("nan"), -0.0, None])).to_pylist()
    [None, 0.0, None]
    """
    if not t.is_floating(array.type):
        return array
    # In floating point -0.0 + 0.0 is 0.0, and every other number stays what it is.
    positive = pc.add(array, number(0.0, array.type))
    return pc.if_else(pc.is_nan(positive), nothing(array.type), positive)


def python_values(array: pa.Array, column: str) -> list[Value]:
    """Give distinct values (none missing) as Python values, losing nothing.

    Times finer than a microsecond, and days Python's calendar does not have, become
    text. Times in a zone carry the offset they had, because Python takes the two
    different hours at the end of summer time in one zone for the same.

    >>> python_values(pa.array([1_000, 1], pa.timestamp("ns")), "seen")
    [datetime.datetime(1970, 1, 1, 0, 0, 0, 1), '1970-01-01 00:00:00.000000001']
    """
    kind = array.type
    if kind == pa.float32():
        # The shortest text that means this number: 0.1, not 0.10000000149011612.
        return [float(str(value)) for value in to_numpy(array)]
    if t.is_interval(kind):
        return [str(value) for value in array.to_pylist()]
    if t.is_temporal(kind):
        return _moments(array, column)
    values: list[Value] = array.to_pylist()
    return values


def _moments(array: pa.Array, column: str) -> list[Value]:
    kind, fine = array.type, np.zeros(len(array), dtype=bool)
    coarse = array
    if getattr(kind, "unit", "") == "ns":
        fine = to_numpy(array.cast(pa.int64())) % 1000 != 0
        coarse = array.cast(_in_microseconds(kind), safe=False)
    try:
        values: list[Value] = coarse.to_pylist()
    except (OverflowError, ValueError):
        # One value is out of Python's calendar (or the zone is unknown): look at each.
        values = [_moment(scalar, column) for scalar in coarse]
    for position in np.flatnonzero(fine):
        values[position] = _text(array[int(position)])
    return [_with_offset(value) for value in values]


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    if t.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.time64("us") if t.is_time(kind) else pa.duration("us")


def _moment(scalar: pa.Scalar, column: str) -> Value:
    try:
        return scalar.as_py()
    except pa.ArrowInvalid as error:
        raise InputError(
            f"column {column!r} has times in the zone {scalar.type.tz!r}, which is not known "
            "here. Convert it to UTC first."
        ) from error
    except (OverflowError, ValueError):
        return _text(scalar)


def _text(scalar: pa.Scalar) -> str:
    number = scalar.cast(pa.int32() if scalar.type == pa.date32() else pa.int64()).as_py()
    text = str(scalar.cast(pa.string()).as_py())
    # Arrow writes durations as bare numbers and cannot write years beyond 32767 at all.
    plain = t.is_duration(scalar.type) or "out of range" in text
    return f"{number} {getattr(scalar.type, 'unit', 'd')}" if plain else text


def _with_offset(value: Value) -> Value:
    if isinstance(value, datetime) and value.tzinfo is not None:
        offset = value.utcoffset()
        return value.replace(tzinfo=timezone(offset), fold=0) if offset is not None else value
    return value
