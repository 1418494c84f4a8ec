"""Take the notes of the program that wrote a Parquet file out of its footer; no row is read.

Spark writes its version and its own description of the columns into every file. The footer is a
structure of Thrift's compact protocol, and the notes are its fifth field.
"""

import os
from pathlib import Path

_END = b"PAR1"
_NOTES = 5
_SIZES = {1: 0, 2: 0, 3: 1, 7: 8}
"""Bytes of values that have always as many: true, false, a byte and a float."""

_NUMBERS, _TEXT, _LISTS, _STRUCTURE = (4, 5, 6), 8, (9, 10), 12


def without_notes(path: Path) -> None:
    """Write the footer again, without the notes.

    >>> import pyarrow as pa, pyarrow.parquet as pq, tempfile
    >>> path = Path(tempfile.mkdtemp(), "people.parquet")
    >>> pq.write_table(pa.table({"a": ["x"]}).replace_schema_metadata({"by": "me"}), path)
    >>> without_notes(path)
    >>> pq.read_metadata(path).metadata, pq.read_table(path).to_pydict()
    (None, {'a': ['x']})
    """
    with path.open("r+b") as file:
        file.seek(-8, os.SEEK_END)
        size, end = int.from_bytes(file.read(4), "little"), file.read(4)
        if end != _END:
            raise ValueError("no Parquet file, or an encrypted one")
        start = file.seek(-8 - size, os.SEEK_END)
        footer = _shortened(file.read(size))
        file.seek(start)
        file.write(footer + len(footer).to_bytes(4, "little") + _END)
        file.truncate()


def _shortened(footer: bytes) -> bytes:
    """Copy a structure field by field, leaving the notes out."""
    copied, before = bytearray(), 0
    at, number = 0, 0
    while footer[at]:
        number, kind, value = _field(footer, at, number)
        at = _after(footer, value, kind)
        if number != _NOTES:
            # A field says by how much its number is larger than that of the one before.
            copied += bytes([(number - before) << 4 | kind]) + footer[value:at]
            before = number
    return bytes(copied) + b"\0"


def _field(data: bytes, at: int, before: int) -> tuple[int, int, int]:
    """Read the number and kind of a field, and where its value begins."""
    step, kind = data[at] >> 4, data[at] & 15
    if step:
        return before + step, kind, at + 1
    number, value = _varint(data, at + 1)
    return (number >> 1) ^ -(number & 1), kind, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of seven bits per byte, and where it ends."""
    number, shift = 0, 0
    while data[at] & 128:
        number |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return number | data[at] << shift, at + 1


def _after(data: bytes, at: int, kind: int) -> int:
    """Find where a value ends."""
    if kind in _SIZES:
        return at + _SIZES[kind]
    if kind in _NUMBERS:
        return _varint(data, at)[1]
    if kind == _TEXT:
        size, at = _varint(data, at)
        return at + size
    if kind in _LISTS:
        many, inner = data[at] >> 4, data[at] & 15
        many, at = _varint(data, at + 1) if many == 15 else (many, at + 1)
        for _ in range(many):
            # In a list, true and false are a byte each.
            at = at + 1 if inner in (1, 2) else _after(data, at, inner)
        return at
    if kind != _STRUCTURE:
        raise ValueError(f"a Parquet footer with values of kind {kind}")
    number = 0
    while data[at]:
        number, inner, value = _field(data, at, number)
        at = _after(data, value, inner)
    return at + 1
