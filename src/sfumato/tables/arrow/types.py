"""Arrow types and values: as they are counted, kept and published, and as Python has them."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.errors import InputError
from sfumato.text import text_of
from sfumato.typing import BoolArray, Value


def plain_type(kind: pa.DataType) -> pa.DataType:  # noqa: PLR0911 - one line per family
    """Return the type as which values are published: without dictionaries, runs and views.

    Dictionaries can hold values no published row has, in the order the input had
    them; views and runs are layouts that most of Arrow's functions cannot work on.

    >>> plain_type(pa.dictionary(pa.int8(), pa.string_view()))
    DataType(large_string)
    """
    if t.is_dictionary(kind) or t.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if kind == pa.string_view():
        return pa.large_string()
    if kind == pa.binary_view():
        return pa.large_binary()
    if t.is_decimal(kind) and kind.bit_width < 128:
        return pa.decimal128(kind.precision, kind.scale)
    # Not list views: Arrow casts them to broken lists, and writes them as they are.
    if t.is_list(kind):
        return pa.list_(plain_type(kind.value_type))
    if t.is_large_list(kind):
        return pa.large_list(plain_type(kind.value_type))
    if t.is_fixed_size_list(kind):
        return pa.list_(plain_type(kind.value_type), kind.list_size)
    if t.is_struct(kind):
        return pa.struct(
            [(kind.field(i).name, plain_type(kind.field(i).type)) for i in range(kind.num_fields)]
        )
    if t.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type))
    return kind


def counted_type(kind: pa.DataType, column: str) -> pa.DataType:
    """Return the type as which values are compared; raise for lists, structs and the like.

    >>> counted_type(pa.float16(), "height")
    DataType(float)
    >>> counted_type(pa.list_(pa.int64()), "visits")
    Traceback (most recent call last):
    sfumato.errors.InputError: column 'visits' holds list<...: int64>, which has no single
    value per row. Split it into plain columns, or publish it without generalising it.
    """
    plain = plain_type(kind)
    if isinstance(plain, pa.BaseExtensionType):
        plain = plain_type(plain.storage_type)
    if t.is_float16(plain):
        return pa.float32()
    if t.is_nested(plain) or t.is_union(plain):
        raise InputError(
            f"column {column!r} holds {kind}, which has no single value per row. "
            "Split it into plain columns, or publish it without generalising it."
        )
    return plain


def is_text(kind: pa.DataType) -> bool:
    """Return whether values of a (plain) type are text."""
    return bool(t.is_string(kind) or t.is_large_string(kind))


def is_spelt_alike(kind: pa.DataType) -> bool:
    """Return whether databases write values of a type to CSV files as the arrow engine does."""
    tests = (t.is_string, t.is_large_string, t.is_integer, t.is_boolean, t.is_date, t.is_decimal)
    return any(test(kind) for test in tests)


def takeable(array: pa.Array) -> pa.Array:
    """Return an array in a layout that can be taken from, keeping dictionaries of text.

    >>> takeable(pa.array(["a"], pa.string_view())).type
    DataType(large_string)
    """
    kind = array.type
    if t.is_dictionary(kind):
        values = as_type(array.dictionary, plain_type(kind.value_type))
        indices = array.indices.cast(pa.int32())
        # Dictionaries that hold a missing value cannot be merged with others.
        if is_text(values.type) and not values.null_count:
            return pa.DictionaryArray.from_arrays(indices, values)
        return values.take(indices)
    return as_type(array, plain_type(kind))


def as_type(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast to a plain or counted type, undoing runs, dictionaries and extensions."""
    if array.type == kind:
        return array
    if t.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if t.is_dictionary(array.type):
        return as_type(array.dictionary, kind).take(array.indices)
    if isinstance(array.type, pa.BaseExtensionType) and not isinstance(kind, pa.BaseExtensionType):
        array = array.storage
    return array if array.type == kind else array.cast(kind)


# From NumPy to Arrow and back without `pyarrow.array`, `pyarrow.scalar` and `to_numpy`: they import
# pandas wherever it is installed, which takes longer than counting thirty thousand rows.


def from_numpy(values: np.ndarray, *, missing: BoolArray | None = None) -> pa.Array:
    """Return numbers as an array, without copying them, some of them missing.

    >>> from_numpy(np.array([3, 4]), missing=np.array([True, False])).to_pylist()
    [None, 4]
    """
    # Arrow knows no strides.
    values = np.ascontiguousarray(values)
    valid = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(values)])


def to_numpy(numbers: pa.Array) -> np.ndarray:
    """Return numbers, of which none is missing, without copying them.

    >>> to_numpy(from_numpy(np.arange(5))[2:4]).tolist()
    [2, 3]
    """
    dtype = np.dtype(numbers.type.to_pandas_dtype())
    data = numbers.buffers()[1]
    if data is None or not len(numbers):
        return np.empty(0, dtype=dtype)
    start = numbers.offset * dtype.itemsize
    return np.frombuffer(data, dtype=dtype, count=len(numbers), offset=start)


def from_texts(texts: Sequence[str | None], kind: pa.DataType) -> pa.Array:
    """Make an array of `string` or `large_string`.

    >>> from_texts(["è", None, ""], pa.string()).to_pylist()
    ['è', None, '']
    """
    encoded = [b"" if text is None else text.encode() for text in texts]
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    missing = np.array([text is None for text in texts], dtype=bool)
    valid = np.packbits(~missing, bitorder="little")
    buffers = [pa.py_buffer(valid), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    array = pa.Array.from_buffers(pa.large_string(), len(texts), buffers)
    return array if kind == array.type else array.cast(kind)


def number(value: float, kind: pa.DataType) -> pa.Scalar:
    """Make a scalar of a number type."""
    return from_numpy(np.array([value], dtype=kind.to_pandas_dtype()))[0]


def text(value: str) -> pa.Scalar:
    """Make a scalar of type `large_string`."""
    return from_texts([value], pa.large_string())[0]


def nothing(kind: pa.DataType) -> Any:  # noqa: ANN401 - pyarrow is not typed
    """Make a missing scalar of a type."""
    return pa.nulls(1, kind)[0]


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
    """Return distinct values (none missing) as Python values, losing nothing.

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


def restore_types(values: Sequence[Value], kind: pa.DataType) -> list[Value] | None:
    """Return texts as values of a type, each once; None if one would become another.

    >>> restore_types(["2020-01-06", None], pa.date32())
    [datetime.date(2020, 1, 6), None]
    >>> restore_types(["7", "007"], pa.int64())
    """
    texts = [text_of(value) for value in values if value is not None]
    with suppress(pa.ArrowException):
        found = python_values(pa.array(texts, pa.string()).cast(kind), "")
        if [text_of(value) for value in found] == texts:
            known = iter(found)
            return [None if value is None else next(known) for value in values]
    return None
