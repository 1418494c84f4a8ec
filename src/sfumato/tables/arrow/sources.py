"""Sources of rows: files, recognised by their first bytes, and tables in memory."""

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc, types
from pyarrow import types as t

from sfumato.errors import InputError
from sfumato.files import refuse_special
from sfumato.files.confinement import require_inside
from sfumato.files.reading import Reading, TextFile
from sfumato.tables.base import require_column_names
from sfumato.tables.formats import FileFormat, plugin_for
from sfumato.tables.looks import BYTES, looks_like
from sfumato.tables.variables import Variable
from sfumato.text import text_of, text_of_items
from sfumato.typing import BoolArray, IntArray, Value

# Arrow types and values: as they are counted, kept and published, and as Python has them.


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
    value per row. Split it into plain columns, or leave it out.
    """
    plain = plain_type(kind)
    if isinstance(plain, pa.BaseExtensionType):
        plain = plain_type(plain.storage_type)
    if t.is_float16(plain):
        return pa.float32()
    if t.is_nested(plain) or t.is_union(plain):
        raise InputError(
            f"column {column!r} holds {kind}, which has no single value per row. "
            "Split it into plain columns, or leave it out."
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


_FIRST = 1 << 14
"""Rows that have all values of most dictionaries, so that the others need not be looked at."""


def used_entries(indices: pa.Array, n: int) -> IntArray:
    """Return which of n entries of a dictionary rows have, in order.

    >>> used_entries(pa.array([3, None, 0, 3], pa.int8()), 5).tolist()
    [0, 3]
    """
    for some in (indices[:_FIRST], indices):
        met = some
        if some.null_count:
            met = pc.fill_null(some.cast(pa.int32()), number(n, pa.int32()))
        found: IntArray = np.flatnonzero(np.bincount(to_numpy(met), minlength=n + 1)[:n])
        if len(found) == n or len(some) == len(indices):
            break
    return found


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


def certain(mask: pa.Array) -> pa.Array:
    """Return where a mask is true; where it is unknown it is not.

    >>> certain(pa.array([True, None, False])).to_pylist()
    [True, False, False]
    """
    return pc.and_kleene(mask, pc.is_valid(mask))


def nothing(kind: pa.DataType) -> Any:  # noqa: ANN401 - pyarrow is not typed
    """Make a missing scalar of a type."""
    return pa.nulls(1, kind)[0]


def canonical(array: pa.Array) -> pa.Array:
    """Make NaN and the empty text missing and -0.0 zero, so that equal values are one value.

    Every batch that is read goes through here, so the rest of the engine never sees two forms of
    one value. Dictionaries stay dictionaries, and what lies in lists and structs stays as it is.

    >>> canonical(pa.array([float("nan"), -0.0, None])).to_pylist()
    [None, 0.0, None]
    >>> canonical(pa.array(["flu", "", " "]).dictionary_encode()).to_pylist()
    ['flu', None, ' ']
    """
    if array.type in (pa.string_view(), pa.binary_view()) or t.is_run_end_encoded(array.type):
        array = as_type(array, plain_type(array.type))
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        stored = canonical(array.storage)
        return array if stored is array.storage else pa.ExtensionArray.from_storage(kind, stored)
    if t.is_dictionary(kind):
        return _canonical_dictionary(array)
    if t.is_floating(kind):
        if t.is_float16(kind):
            return canonical(array.cast(pa.float32())).cast(kind)
        # In floating point -0.0 + 0.0 is 0.0, and every other number stays what it is.
        positive = pc.add(array, number(0.0, kind))
        return pc.if_else(pc.is_nan(positive), nothing(kind), positive)
    if _has_length(kind):
        empty = pc.equal(pc.binary_length(array), number(0, _length_type(kind)))
        return pc.if_else(empty, nothing(kind), array) if pc.any(empty).as_py() else array
    return array


def _has_length(kind: pa.DataType) -> bool:
    return bool(is_text(kind) or t.is_binary(kind) or t.is_large_binary(kind))


def _length_type(kind: pa.DataType) -> pa.DataType:
    return pa.int64() if t.is_large_string(kind) or t.is_large_binary(kind) else pa.int32()


def _canonical_dictionary(array: pa.DictionaryArray) -> pa.Array:
    given = array.dictionary
    values = canonical(given)
    indices = array.indices
    if values.null_count:
        known = pc.is_valid(values).take(indices)
        indices = pc.if_else(known, indices, nothing(indices.type))
        # The entry may stay where no row has it: the dictionaries of releases are made afresh, and
        # those with a missing entry cannot be merged with others.
        values = given if _has_length(given.type) else values
    elif values is given:
        return array
    return pa.DictionaryArray.from_arrays(indices, values)


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


BATCH_ROWS = 1 << 18
"""Rows in a batch: enough to make a batch's fixed costs small, few enough to stay small."""

_ROW_LABELS = re.compile(r"__index_level_\d+__")


class ArrowSource(ABC):
    """Rows that can be read more than once, in batches, some columns at a time."""

    kind: str
    where: str
    """Its name in messages."""

    schema: pa.Schema
    """The types as stored; batches may hold dictionaries of them."""

    rows: int | None = None
    """The number of rows, if that is known without reading them."""

    lines_beyond: int = 0
    """Lines of a text beyond its rows, once it was read: cells have line breaks in them."""

    unowned: float = 0.0
    """The share of the rows that are left out, once they were read, as they have no owner."""

    variables: Mapping[str, Variable] = MappingProxyType({})
    """What a dictionary in the file says about columns."""

    inferred: frozenset[str] = frozenset()
    """Columns of which nothing but their values says what type they have; see `settling`."""

    @property
    def kinds(self) -> Mapping[str, str]:
        """Columns that tell which code of missing a cell is, by the column they are about."""
        return {}

    @property
    def stored(self) -> pa.Schema:
        """All columns that can be read, those of `kinds` included."""
        codes = pa.dictionary(pa.int32(), pa.string())
        return pa.schema([*self.schema, *(pa.field(name, codes) for name in self.kinds.values())])

    @property
    def reading(self) -> Reading | None:
        """The way it is read, in full, if it is a text file."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """The findings about its form while it was read, each in one line."""
        return ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, without the row labels that pandas writes into files."""
        return tuple(name for name in self.schema.names if not _ROW_LABELS.fullmatch(name))

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read these columns (at least one), in this order."""

    def native(self, table: pa.Table) -> Any:  # noqa: ANN401 - whatever the caller gave
        """Turn a table into the kind of this source."""
        return table

    def check_unchanged(self) -> None:  # noqa: B027 - what is in memory stays as it is
        """Raise if it changed since it was opened: counts and rows would not belong together."""

    def check_columns(self) -> None:
        """Raise if columns cannot be told apart by name."""
        hint = " (pandas writes its row labels that way: use to_csv(index=False))"
        require_column_names(self.columns, self.where, hint)


class FileSource(ArrowSource):
    """A file, which must stay as it is between the passes over it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.where = str(path)
        self._state = self._fingerprint()

    def _fingerprint(self) -> tuple[int, int, int]:
        try:
            stat = self.path.stat()
        except OSError as error:
            raise InputError(f"cannot read {self.where}: {error.strerror}") from error
        return stat.st_ino, stat.st_size, stat.st_mtime_ns

    def check_unchanged(self) -> None:
        if self._fingerprint() != self._state:
            raise InputError(
                f"{self.where} changed while it was being worked on. Start again with a file "
                "that no program writes to."
            )


def unreadable_error(where: str, kind: str, error: Exception) -> InputError:
    """Return the error for a file that is not what it seems to be."""
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(f"{where} cannot be read as {kind}: {reason}")


def changed_error(where: str, what: str) -> InputError:
    """Return the error for rows and a recoding that do not belong together.

    >>> raise changed_error("people.csv", "column 'age' holds 30")
    Traceback (most recent call last):
    sfumato.errors.InputError: people.csv: column 'age' holds 30. The table is not the one that
    was counted, or it changed since: start again.
    """
    return InputError(
        f"{where}: {what}. The table is not the one that was counted, or it changed since: "
        "start again."
    )


_BINARY_SUFFIXES = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".feather": "Feather",
    ".arrow": "Feather",
    ".ipc": "Feather",
}


def open_source(source: object, reading: Reading | None = None) -> ArrowSource:
    """Open a path or an in-memory table, importing only what it needs.

    Args:
        source: The path or table.
        reading: How it is read if it is a text file; what is not said is found out.
    """
    if isinstance(source, TextFile):
        if source.reading.numbers is None:
            return _open_path(source.path, source.reading.over(reading))
        # All is known of it: it is a text file, whatever it begins with.
        from sfumato.tables.arrow.delimited import CsvSource

        _first_bytes(source.path)
        return CsvSource(source.path, source.reading)
    if isinstance(source, str | PathLike):
        return _open_path(Path(source).expanduser(), reading)

    return open_memory(source)


def _open_path(path: Path, reading: Reading | None) -> ArrowSource:
    refuse_special(path)
    head = _first_bytes(path)
    if head[:4] == b"PAR1":
        return ParquetSource(path)
    if head[:6] == b"ARROW1" or head[:4] == b"\xff\xff\xff\xff":
        return FeatherSource(path, stream=head[:6] != b"ARROW1")
    if head[:4] == b"FEA1":
        raise InputError(
            f"{path} is a Feather file of the old version 1. Write it again as version 2."
        )
    from sfumato.tables.office.source import OfficeSource, office_kind

    kind = office_kind(path)
    if kind is not None:
        return OfficeSource(path, kind, reading)
    plugin = plugin_for(path)
    if plugin is not None:
        return PluginSource(path, plugin)
    other = looks_like(head)
    if other is not None:
        raise InputError(f"{path} is {other[0]}. {other[1]}")
    if path.suffix.lower() in _BINARY_SUFFIXES:
        expected = _BINARY_SUFFIXES[path.suffix.lower()]
        raise InputError(
            f"{path} is not a {expected} file, whatever its name says: it does not start like "
            "one. Rename the file to match its format, or export it again."
        )
    from sfumato.tables.arrow.delimited import CsvSource

    return CsvSource(path, reading)


def _first_bytes(path: Path) -> bytes:
    require_inside(path)
    try:
        with path.open("rb") as file:
            head = file.read(BYTES)
    except IsADirectoryError:
        raise InputError(f"{path} is a folder. Give a file: CSV, Parquet or Feather.") from None
    except FileNotFoundError:
        raise InputError(f"there is no file {path}.{_near(path)}") from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from error
    if not head:
        raise InputError(f"{path} is empty. A table needs a header and at least one row.")
    return head


def _near(path: Path) -> str:
    """Suggest a file of the same folder with a similar name."""
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f" There is no folder {path.parent} either."
    near = get_close_matches(path.name, names, n=1)
    return f" Did you mean {path.parent / near[0]}?" if near else ""


# Parquet files.


def _validate(column: pa.Array) -> None:
    """Raise if text is no text, or an index points beyond its dictionary."""
    if not t.is_dictionary(column.type):
        column.validate(full=True)
        return
    column.validate()
    column.dictionary.validate(full=True)
    # Where Arrow validates indices in full, it takes four times as long.
    ends = pc.min_max(column.indices).values()
    if any(end.is_valid and not 0 <= end.as_py() < len(column.dictionary) for end in ends):
        raise pa.ArrowIndexError("an index points beyond its dictionary")


class ParquetSource(FileSource):
    """A Parquet file, read a part of a row group at a time.

    Text comes as the dictionary pages the file holds; it is never expanded to be counted.
    """

    kind = "parquet"

    def __init__(self, path: Path) -> None:
        # Imported late: it brings file systems of all kinds, and most tables are CSV.
        import pyarrow.parquet as pq

        super().__init__(path)
        try:
            with pq.ParquetFile(path) as file:
                self.schema = _with_names(file.schema_arrow)
                self.rows = file.metadata.num_rows
        except (pa.ArrowException, OSError, ValueError) as error:
            raise unreadable_error(self.where, "Parquet", error) from error
        self._check()

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        text = [name for name in columns if _is_text(self.schema.field(name).type)]
        try:
            with pq.ParquetFile(self.path, read_dictionary=text, pre_buffer=False) as file:
                # A name with a dot also selects what lies under the part before it.
                for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=list(columns)):
                    # Arrow does not look whether text is text; it costs a fraction of reading.
                    for column in batch.columns:
                        _validate(column)
                    yield batch.select(list(columns))
        except (pa.ArrowException, OSError) as error:
            raise unreadable_error(self.where, "Parquet", error) from error

    def _check(self) -> None:
        if not self.rows:
            raise InputError(f"{self.where} has no rows")


def _with_names(schema: pa.Schema) -> pa.Schema:
    """Return a schema, or raise if a name in it is no text: Arrow looks only when it is asked."""
    _ = schema.names
    return schema


def _is_text(kind: pa.DataType) -> bool:
    return bool(t.is_string(kind) or t.is_large_string(kind))


# Feather files (version 2), also known as Arrow IPC files and streams.


class FeatherSource(FileSource):
    """An Arrow IPC file or stream, read batch by batch."""

    kind = "feather"

    def __init__(self, path: Path, *, stream: bool) -> None:
        super().__init__(path)
        self._stream = stream
        try:
            with pa.OSFile(str(path)) as file:
                self.schema = _with_names(self._open(file).schema)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise unreadable_error(self.where, "Feather", error) from error

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        options = ipc.IpcReadOptions(
            included_fields=sorted(self.schema.get_field_index(name) for name in columns)
        )
        try:
            with pa.OSFile(str(self.path)) as file:
                reader = self._open(file, options)
                numbers = range(0 if self._stream else reader.num_record_batches)
                for batch in reader if self._stream else map(reader.get_batch, numbers):
                    # Arrow goes wherever the offsets of a damaged file point, and that ends the
                    # process; a full check is a fraction of what counting takes.
                    batch.validate(full=True)
                    yield batch.select(list(columns))
        except (pa.ArrowException, OSError) as error:
            raise unreadable_error(self.where, "Feather", error) from error

    def _open(
        self, file: pa.NativeFile, options: ipc.IpcReadOptions | None = None
    ) -> pa.RecordBatchReader:
        opener = ipc.open_stream if self._stream else ipc.open_file
        return opener(file, options=options)


# Tables in memory: Arrow, pandas, Polars, and whatever speaks Arrow's stream protocol.


def open_memory(source: Any) -> ArrowSource:  # noqa: ANN401 - any table library's own type
    """Open a table of any library; its library is loaded already, or it could not exist."""
    if _is_of(source, "pandas", "DataFrame"):
        return PandasSource(source)
    if _is_of(source, "polars", "LazyFrame"):
        return LazySource(source)
    if _is_of(source, "polars", "DataFrame"):
        return PolarsSource(source)
    return MemorySource(source)


def _is_of(source: object, library: str, kind: str) -> bool:
    """Return whether something is of a library's class, without importing the library."""
    # While another thread imports the library, its class may not be there yet.
    found = getattr(sys.modules.get(library), kind, None)
    return found is not None and isinstance(source, found)


class MemorySource(ArrowSource):
    """Anything Arrow can take over as a table. A stream is read once and kept."""

    kind = "arrow"
    where = "the table"

    def __init__(self, source: Any) -> None:  # noqa: ANN401
        try:
            self._table = self._arrow(source)
        except (pa.ArrowException, ValueError, TypeError, NotImplementedError) as error:
            raise InputError(
                f"{self.where} cannot be read: {'; '.join(map(str, error.args))}"
            ) from error
        self.schema = self._table.schema
        self.rows = self._table.num_rows
        if not self.rows:
            raise InputError(f"{self.where} has no rows")

    def _arrow(self, source: Any) -> pa.Table:  # noqa: ANN401
        table = pa.table(source)
        for name, column in zip(_with_names(table.schema).names, table.columns, strict=True):
            if _is_text(plain_type(column.type)):
                try:
                    column.validate(full=True)
                except pa.ArrowInvalid as error:
                    raise ValueError(f"column {name!r}: {error}") from error
        return table

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from self._table.select(list(columns)).to_batches(max_chunksize=BATCH_ROWS)


class PluginSource(FileSource):
    """A file of a plug-in's format, which is read whole and kept in memory."""

    def __init__(self, path: Path, form: FileFormat) -> None:
        super().__init__(path)
        self.kind = form.name
        try:
            table = form.read(path)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise unreadable_error(self.where, form.name, error) from error
        self._rows = MemorySource(table)
        self.schema, self.rows = self._rows.schema, self._rows.rows

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return self._rows.batches(columns)


class PandasSource(MemorySource):
    """A pandas DataFrame. Its row labels are not data: they are neither read nor published."""

    kind = "pandas"
    where = "the DataFrame"

    def _arrow(self, source: Any) -> pa.Table:  # noqa: ANN401
        labels = list(source.columns)
        names = [str(label) for label in labels]
        self._labels = dict(zip(names, labels, strict=True))
        if len(self._labels) < len(names):
            # Arrow refuses repeated names in its own words; our check has better ones.
            return pa.Table.from_arrays([pa.nulls(1)] * len(names), names=names)
        source = _without_intervals(source)
        self._dtypes = dict(zip(names, source.dtypes, strict=True))
        # A gap makes decimals of whole numbers.
        self.inferred = frozenset(
            name for name, dtype in self._dtypes.items() if str(dtype) in ("int64", "float64")
        )
        try:
            return pa.Table.from_pandas(source, preserve_index=False)
        except _UNFIT:
            columns = [self._column(source.iloc[:, i], name) for i, name in enumerate(names)]
            return pa.Table.from_arrays(columns, names=names)

    def _column(self, series: Any, name: str) -> pa.Array:  # noqa: ANN401
        """Convert a column; values of several types become text, each written as it is."""
        import pandas as pd

        try:
            return pa.Array.from_pandas(series)
        except _UNFIT:
            try:
                codes, values = pd.factorize(series)
            except TypeError:
                written = [_text_of_cell(value, name) for value in series]
                return pa.array(written, pa.string())
            texts = pa.array([text_of(value) for value in values], pa.string())
            indices = pa.array(codes, pa.int64(), mask=codes < 0)
            return pa.DictionaryArray.from_arrays(indices, texts).dictionary_decode()

    def native(self, table: pa.Table) -> Any:  # noqa: ANN401
        """Return a DataFrame with fresh row labels and, where a column kept its type, its dtype."""
        import pandas as pd

        # Whole numbers with gaps as objects first: pandas would make them inexact floats.
        frame = table.to_pandas(integer_object_nulls=True)
        for name, column in zip(table.column_names, table.columns, strict=True):
            # A table derived from this one may have columns of its own.
            dtype = self._dtypes.get(name)
            kept = dtype is not None and column.type == plain_type(self.schema.field(name).type)
            special = isinstance(dtype, pd.api.extensions.ExtensionDtype)
            # Categories may name values that no published row has.
            if kept and special and not isinstance(dtype, pd.CategoricalDtype):
                frame[name] = frame[name].astype(dtype)
            elif types.is_integer(column.type) and column.null_count:
                nullable = str(column.type).replace("uint", "UInt").replace("int", "Int")
                frame[name] = frame[name].astype(nullable)
        return frame.rename(columns=self._labels)


_UNFIT = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)
"""The errors of a column that Arrow has no type for: of several types, or of very large numbers."""


def _text_of_cell(value: Any, column: str) -> str | None:  # noqa: ANN401 - a cell may hold anything
    """Return a cell of a column of several types as text; a list by its items."""
    several = isinstance(value, list | tuple | set | frozenset | np.ndarray)
    # A set has no order: the same items are the same text.
    unordered = isinstance(value, set | frozenset)
    items = sorted(value, key=text_of) if unordered else list(value) if several else [value]
    if any(isinstance(item, dict | list | tuple | set | np.ndarray) for item in items):
        raise InputError(
            f"column {column!r} holds values of several types that are no single values, such as "
            "lists of lists. Split it into plain columns, or leave it out."
        )
    return text_of_items(items)


def _without_intervals(frame: Any) -> Any:  # noqa: ANN401 - a DataFrame
    """Write the intervals that `pandas.cut` makes as text: Arrow knows no single value for one.

    Columns that are stored sparsely are stored in full.
    """
    import pandas as pd

    texts = {}
    for label, dtype in frame.dtypes.items():
        held = getattr(getattr(dtype, "categories", None), "dtype", dtype)
        if isinstance(held, pd.IntervalDtype):
            texts[label] = frame[label].astype(object).map(str, na_action="ignore")
        elif isinstance(dtype, pd.SparseDtype):
            texts[label] = frame[label].astype(dtype.subtype)
    changed = frame.copy(deep=False) if texts else frame
    for label, column in texts.items():
        changed[label] = column
    return changed


class PolarsSource(MemorySource):
    """A Polars DataFrame."""

    kind = "polars"
    where = "the DataFrame"

    def native(self, table: pa.Table) -> Any:  # noqa: ANN401
        import polars as pl

        return pl.from_arrow(table)


class LazySource(ArrowSource):
    """A Polars LazyFrame: its query runs once per pass, in batches, for the columns needed.

    Counting and publishing see the same rows only if the query gives the same rows
    each time: sort or seed whatever samples.
    """

    kind = "polars"
    where = "the LazyFrame"

    def __init__(self, source: Any) -> None:  # noqa: ANN401
        self._frame = source
        for empty in self._evaluate(source.clear()):
            self.schema = pa.table(empty).schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import polars.selectors as cs

        # A selector takes names as they are; select() reads "*" and "^a$" as patterns.
        for frame in self._evaluate(self._frame.select(cs.by_name(*columns)), batched=True):
            table = pa.table(frame).select(list(columns))
            yield from table.to_batches(max_chunksize=BATCH_ROWS)

    def _evaluate(self, frame: Any, *, batched: bool = False) -> Iterator[Any]:  # noqa: ANN401
        import polars as pl

        try:
            if batched and hasattr(frame, "collect_batches"):
                yield from frame.collect_batches(chunk_size=BATCH_ROWS)
            else:
                yield frame.collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(f"{self.where} cannot be evaluated: {error}") from error

    def native(self, table: pa.Table) -> Any:  # noqa: ANN401
        import polars as pl

        return pl.DataFrame(table).lazy()
