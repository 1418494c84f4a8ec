"""Which Arrow types there are to count, to keep and to publish."""

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.errors import InputError


def plain_type(kind: pa.DataType) -> pa.DataType:  # noqa: PLR0911 - one line per family
    """Say how values of a type are published: without dictionaries, runs and views.

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
    """Say as what a column's values are told apart, or refuse lists, structs and the like.

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
    """Tell whether values of a (plain) type are text."""
    return bool(t.is_string(kind) or t.is_large_string(kind))


def stored(array: pa.Array) -> pa.Array:
    """Bring an array into a layout that can be taken from, keeping dictionaries of text.

    >>> stored(pa.array(["a"], pa.string_view())).type
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
