"""From NumPy to Arrow and back without importing pandas.

`pyarrow.array`, `pyarrow.scalar` and `to_numpy` import pandas wherever it is installed.

The import costs more time than counting thirty thousand rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.typing import BoolArray


def from_numpy(values: np.ndarray, *, missing: BoolArray | None = None) -> pa.Array:
    """Wrap numbers, without copying them, and say which are missing.

    >>> from_numpy(np.array([3, 4]), missing=np.array([True, False])).to_pylist()
    [None, 4]
    """
    # Arrow knows no strides.
    values = np.ascontiguousarray(values)
    valid = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(values)])


def to_numpy(numbers: pa.Array) -> np.ndarray:
    """Look at numbers, of which none is missing, without copying them.

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
