"""Give equal cells equal forms.

Floats lose what would split one value in two: NaN is missing, and -0.0 is 0.0.
"""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.text import is_missing, text_of


def normalised(array: pa.Array) -> pa.Array:
    """Give equal cells equal bytes, in a type that can be grouped.

    >>> normalised(pa.array([0.0, -0.0, float("nan"), None])).to_pylist()
    [0.0, 0.0, None, None]
    """
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_null(array.type) or pa.types.is_string_view(array.type):
        return array.cast(pa.string())
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    if pa.types.is_floating(array.type):
        nothing, zero = pa.scalar(None, array.type), pa.scalar(0.0, array.type)
        return pc.if_else(pc.is_nan(array), nothing, pc.add(array, zero))
    return array


def python_values(column: pa.ChunkedArray) -> list[object]:
    """Give a column as Python values, different ones staying different.

    Python knows no nanoseconds, so a time that needs them stays a number.
    """
    if getattr(column.type, "unit", None) == "ns":
        kind = type(column.type).__name__
        coarser = {
            "TimestampType": lambda: pa.timestamp("us", column.type.tz),
            "DurationType": lambda: pa.duration("us"),
            "Time64Type": lambda: pa.time64("us"),
        }[kind]()
        try:
            column = column.cast(coarser)
        except pa.ArrowInvalid:
            column = column.cast(pa.int64())
    values: list[object] = column.to_pylist()
    return values


def text_key(combination: Sequence[object]) -> tuple[str | None, ...]:
    """Write a combination the way people and hierarchies write it.

    >>> text_key([39.0, None, "f"])
    ('39', None, 'f')
    """
    return tuple(None if is_missing(value) else text_of(value) for value in combination)
