"""Write published rows to a file: CSV, Parquet or Feather."""

import os
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.errors import OutputError, SfumatoError, reason_of
from sfumato.files import PRIVATE, refuse_release
from sfumato.tables.arrow.sources import (
    as_type,
    counted_type,
    from_numpy,
    from_texts,
    is_text,
    plain_type,
    text,
    used_entries,
)
from sfumato.tables.base import Progress, WrittenFile
from sfumato.tables.derived import Batch, Cells, DerivedColumn, DerivedTable
from sfumato.tables.formats import FORMATS, FileFormat, format_by_ending, written_formats
from sfumato.tables.variables import LabelledValue, PublishedVariable, Variable
from sfumato.text import text_of
from sfumato.typing import Value

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_TEXT = pa.large_string()

_FEW = 4096
"""Values of a dictionary that are tidied up; with more it is as fast to make a new one."""


class Writer(ABC):
    """A file that grows. Columns may come as dictionaries; what is written has none."""

    missing: Mapping[str, Sequence[LabelledValue]] = MappingProxyType({})
    """The codes of missing that were written, by column, once the file is finished."""

    complete: bool = False
    """Whether no row of the input was suppressed, so that nothing the input says is about one."""

    @abstractmethod
    def write(self, columns: Sequence[pa.Array]) -> None:
        """Append rows."""

    @abstractmethod
    def close(self) -> None:
        """Finish the file."""


class ParquetWriter(Writer):
    """A Parquet file; each call of `write` makes a row group.

    Text that comes as dictionaries goes into the pages of a row group as such, without being
    spelt out. The file says nothing of it: readers find plain text. Each dictionary is
    made for its row group, of the values that are in it: a value that only other row groups have
    would tell of rows that are not there. There are no statistics, because with rows in random
    order those of all row groups are alike.

    Args:
        target: The file.
        schema: Its columns.
        tidy: Whether dictionaries of text come as they are to be written: with each of the values
            that the rows of the call have, once, and no others, in an order that tells nothing.
    """

    def __init__(self, target: Path, schema: pa.Schema, *, tidy: bool = False) -> None:
        self._target = target
        self._schema = schema
        self._tidy = tidy
        self._file: pq.ParquetWriter | None = None
        self._types: list[pa.DataType] = []

    def write(self, columns: Sequence[pa.Array]) -> None:
        if self._file is None:
            self._file = self._open(columns)
        if not len(columns[0]):
            return
        arrays = [
            _own_dictionary(column, field.type)
            if t.is_dictionary(kind) and not self._tidy
            else as_type(column, kind)
            for column, field, kind in zip(columns, self._schema, self._types, strict=True)
        ]
        batch = pa.RecordBatch.from_arrays(arrays, schema=self._file.schema)
        self._file.write_batch(batch, row_group_size=len(columns[0]))

    def close(self) -> None:
        file = self._file or self._open([])
        # What Arrow would write here itself, but for the dictionaries.
        schema = b64encode(self._schema.serialize().to_pybytes())
        file.add_key_value_metadata({"ARROW:schema": schema})
        file.close()

    def _open(self, columns: Sequence[pa.Array]) -> "pq.ParquetWriter":
        import pyarrow.parquet as pq

        given = [column.type for column in columns] or self._schema.types
        self._types = [
            pa.dictionary(pa.int32(), field.type)
            if t.is_dictionary(kind) and is_text(field.type)
            else field.type
            for field, kind in zip(self._schema, given, strict=True)
        ]
        schema = pa.schema(list(zip(self._schema.names, self._types, strict=True)))
        return pq.ParquetWriter(self._target, schema, store_schema=False, write_statistics=False)


class FeatherWriter(Writer):
    """A Feather file of version 2."""

    def __init__(self, target: Path, schema: pa.Schema) -> None:
        from pyarrow import ipc

        compression = "lz4" if pa.Codec.is_available("lz4") else None
        self._schema = schema
        self._sink = pa.OSFile(str(target), "wb")
        self._file = ipc.new_file(
            self._sink, schema, options=ipc.IpcWriteOptions(compression=compression)
        )

    def write(self, columns: Sequence[pa.Array]) -> None:
        self._file.write_batch(plain_batch(columns, self._schema))

    def close(self) -> None:
        try:
            self._file.close()
        finally:
            self._sink.close()


class CsvWriter(Writer):
    """A CSV file with a header, in UTF-8. Cells are quoted only where they must be.

    A missing cell is empty. In a table of one column it is `""`, because most programs skip empty
    lines.
    """

    def __init__(self, target: Path, schema: pa.Schema, delimiter: str) -> None:
        for field in schema:
            _require_text(field)
        self._missing = text('""' if len(schema) == 1 else "")
        self._special = f'[{delimiter}"\r\n\ufeff]'
        self._delimiter = text(delimiter)
        self._dictionaries: list[tuple[pa.Array, pa.Array] | None] = [None] * len(schema)
        self._file = pa.OSFile(str(target), "wb")
        header = self._quote(from_texts(schema.names, _TEXT)).to_pylist()
        self._file.write((delimiter.join(header) + "\n").encode())

    def write(self, columns: Sequence[pa.Array]) -> None:
        self.write_lines(self.lines(columns))

    def lines(self, columns: Sequence[pa.Array]) -> pa.Array:
        """Return the line of each row, its end included."""
        cells = [self._cells(position, column) for position, column in enumerate(columns)]
        lines = pc.binary_join_element_wise(*cells, self._delimiter)
        return pc.binary_join_element_wise(lines, text(""), text("\n"))

    def write_lines(self, lines: pa.Array) -> None:
        """Append lines as `lines` returns them; an array of its own, not a slice of one."""
        # The lines lie one after the other in one buffer: the file's own bytes.
        self._file.write(lines.buffers()[2].slice(0, pc.sum(pc.binary_length(lines)).as_py()))

    def _cells(self, position: int, column: pa.Array) -> pa.Array:
        if not t.is_dictionary(column.type):
            return pc.fill_null(self._quote(as_type(column, _TEXT)), self._missing)
        known = self._dictionaries[position]
        if known is None or not known[0].equals(column.dictionary):
            known = column.dictionary, self._quote(as_type(column.dictionary, _TEXT))
            self._dictionaries[position] = known
        return pc.fill_null(known[1].take(column.indices), self._missing)

    def _quote(self, cells: pa.Array) -> pa.Array:
        needy = pc.or_(pc.match_substring_regex(cells, self._special), pc.equal(cells, text("")))
        if not pc.any(needy).as_py():
            return cells
        doubled = pc.replace_substring(cells, '"', '""')
        quote = text('"')
        return pc.if_else(
            needy, pc.binary_join_element_wise(quote, doubled, quote, text("")), cells
        )

    def close(self) -> None:
        self._file.close()


class WholeWriter(Writer):
    """A file of a plug-in's format, which is written when all rows are there."""

    def __init__(self, target: Path, schema: pa.Schema, form: FileFormat) -> None:
        self._target, self._schema, self._form = target, schema, form
        self._batches: list[pa.RecordBatch] = []

    def write(self, columns: Sequence[pa.Array]) -> None:
        self._batches.append(plain_batch(columns, self._schema))

    def close(self) -> None:
        self._form.write(pa.Table.from_batches(self._batches, self._schema), self._target)


def open_writer(
    target: Path,
    schema: pa.Schema,
    form: str,
    delimiter: str,
    *,
    tidy: bool = False,
    variables: Mapping[str, Variable] = MappingProxyType({}),
    recoded: Sequence[str] = (),
    from_text: bool = False,
) -> Writer:
    """Create a file of a format; `tidy` is as in `ParquetWriter`, the rest as in `OfficeWriter`."""
    if FORMATS[form].needs_office:
        from sfumato.tables.office.writing import OfficeWriter

        return OfficeWriter(
            target, schema, form, variables=variables, recoded=recoded, from_text=from_text
        )
    if form == "parquet":
        return ParquetWriter(target, schema, tidy=tidy)
    if form == "feather":
        return FeatherWriter(target, schema)
    if form == "csv":
        return CsvWriter(target, schema, delimiter)
    return WholeWriter(target, schema, FORMATS[form]())


def write_table(table: pa.Table, target: Path, *, force: bool, private: str) -> None:
    """Write a table to a private file, in its order, whole or not at all.

    Args:
        table: The rows.
        target: The file, whose ending says the format.
        force: Replace a file that is there.
        private: What it is, for messages: it may not lie in a release.
    """
    form = format_by_ending(target)
    if form is None or not form.is_written:
        endings = [FORMATS[name].endings[0] for name in written_formats()]
        raise OutputError(
            f"{str(target)!r} has no ending of a format. Give it one of {', '.join(endings)}."
        )
    refuse_release(target, private)
    if target.exists() and not force:
        raise OutputError(f"{str(target)!r} exists. Choose another name, or replace it with force.")
    unfinished = target.with_name(f".{target.name}.{token_hex(8)}")
    plain = pa.schema([pa.field(f.name, plain_type(f.type)) for f in table.schema])
    with creating(unfinished):
        unfinished.chmod(PRIVATE)
        writer = open_writer(unfinished, plain, form.name, ",")
        with closing_writer(writer):
            for batch in table.to_batches(max_chunksize=1 << 16):
                writer.write(plain_batch(batch.columns, plain).columns)
        unfinished.replace(target)


class LabelledColumns:
    """Collects which values of columns with a dictionary are published.

    Example:
        >>> sex = Variable("Sex", {"1": "male", "2": "female"}, category=True)
        >>> told = LabelledColumns(["sex"], {"sex": sex})
        >>> told.add([pa.array(["male", "*"])])
        >>> [each] = told.published({})
        >>> each.values
        (LabelledValue(code='1', label='male', missing=False),)
    """

    def __init__(self, names: Sequence[str], variables: Mapping[str, Variable]) -> None:
        self._variables = {name: variables[name] for name in names if name in variables}
        self._places = {
            name: place
            for place, name in enumerate(names)
            if name in self._variables and self._variables[name].labels
        }
        self._met: dict[str, set[str]] = {name: set() for name in self._places}

    def add(self, columns: Sequence[pa.Array]) -> None:
        """Add the values of some rows."""
        for name, place in self._places.items():
            column = columns[place]
            if t.is_dictionary(column.type):
                met = column.dictionary.take(pc.unique(column.indices).drop_null())
            else:
                met = pc.unique(column)
            self._met[name].update(text_of(each) for each in met.to_pylist() if each is not None)

    def published(
        self, missing: Mapping[str, Sequence[LabelledValue]]
    ) -> tuple[PublishedVariable, ...]:
        """Return what a release tells about its columns."""
        return tuple(
            PublishedVariable(
                name,
                each.label,
                (*self._values(name, each, missing.get(name, ())), *missing.get(name, ())),
            )
            for name, each in self._variables.items()
        )

    def _values(
        self, name: str, variable: Variable, missing: Sequence[LabelledValue]
    ) -> list[LabelledValue]:
        met, gaps = self._met.get(name, set()), {each.code for each in missing}
        return [
            LabelledValue(code, label)
            for code, label in variable.labels.items()
            if (label if variable.category else code) in met and code not in gaps
        ]


def plain_batch(columns: Sequence[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    """Undo dictionaries: they could hold values no row has, in an order that tells."""
    arrays = [as_type(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _own_dictionary(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return text as a dictionary of the values in it, each once, in an order that tells nothing.

    >>> labels = pa.array(["c", "b", "a", None, "c"])
    >>> codes = pa.array([4, 2, 3, 0], pa.int32())
    >>> own = _own_dictionary(pa.DictionaryArray.from_arrays(codes, labels), pa.string())
    >>> own.dictionary.to_pylist(), own.indices.to_pylist()
    (['a', 'c'], [1, 0, None, 1])
    """
    if not t.is_dictionary(column.type) or len(column.dictionary) > _FEW:
        return as_type(column, kind).dictionary_encode()
    values, indices = as_type(column.dictionary, kind), column.indices
    own = values.take(from_numpy(used_entries(indices, len(values)))).drop_null().unique()
    own = own.take(pc.sort_indices(own))
    places = pc.index_in(values, value_set=own)
    return pa.DictionaryArray.from_arrays(places.take(indices), own, safe=False)


def _require_text(field: pa.Field) -> None:
    possible = not _is_bytes(field.type)
    try:
        as_type(pa.nulls(0, field.type), _TEXT)
    except pa.ArrowNotImplementedError:
        possible = False
    if not possible:
        raise OutputError(
            f"column {field.name!r} holds {field.type}, which a CSV cell cannot hold. "
            "Publish as parquet or feather, or leave the column out."
        )


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(t.is_binary(kind) or t.is_large_binary(kind) or t.is_fixed_size_binary(kind))


@contextmanager
def creating(target: Path) -> Iterator[None]:
    """Create a file for the block to write; if the block fails, no file is left."""
    try:
        # Never over a file that is there already, so what is removed below is ours.
        target.open("xb").close()
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        yield
    except BaseException as error:
        with suppress(OSError):
            target.unlink()
        ours = isinstance(error, SfumatoError)
        if isinstance(error, OSError | pa.ArrowException) and not ours:
            raise _unwritable(target, error) from error
        raise


def _unwritable(target: Path, error: BaseException) -> OutputError:
    first = (str(error).splitlines() or [""])[0]
    reason = reason_of(error) if isinstance(error, OSError) else first
    return OutputError(f"cannot write {target}: {reason}. Nothing was left there.")


@contextmanager
def closing_writer(writer: Writer) -> Iterator[None]:
    """Close a writer at the end of the block; an error of the block is what the user hears of."""
    try:
        yield
    except BaseException:
        with suppress(OSError, pa.ArrowException):
            writer.close()
        raise
    writer.close()


def write_derived(
    derived: DerivedTable,
    target: Path,
    *,
    form: str,
    delimiter: str,
    types: Mapping[str, pa.DataType],
    variables: Mapping[str, Variable] = MappingProxyType({}),
    progress: Progress | None = None,
) -> WrittenFile:
    """Write a table that follows from counts to a new file."""
    filled = _FilledColumns(derived.columns, types, as_text=FORMATS[form].is_text)
    done = 0
    with creating(target):
        writer = open_writer(target, filled.schema, form, delimiter, variables=variables)
        append = _Lines(writer, filled).append if isinstance(writer, CsvWriter) else None
        with closing_writer(writer):
            for batch in derived.batches():
                if append is not None:
                    append(batch)
                else:
                    writer.write(filled.pick(batch))
                done += len(batch.kinds[0] if batch.picks is None else batch.picks)
                if progress is not None:
                    progress(done, derived.rows)
        if done != derived.rows:
            raise RuntimeError(f"wrote {done} of {derived.rows} rows to {target}")
    return WrittenFile(target, derived.rows, form, delimiter if form == "csv" else None, 0)


def derived_table(derived: DerivedTable, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Return a table that follows from counts, in memory.

    >>> columns = (DerivedColumn("age", ("30s", None)), DerivedColumn("count"))
    >>> batch = Batch((np.array([1, 0, 0]), np.array([4, 5, 6])))
    >>> table = derived_table(DerivedTable(columns, 3, lambda: iter([batch])), {})
    >>> table.to_pydict()
    {'age': [None, '30s', '30s'], 'count': [4, 5, 6]}
    """
    filled = _FilledColumns(derived.columns, types, as_text=False)
    batches = [plain_batch(filled.pick(b), filled.schema) for b in derived.batches()]
    return pa.Table.from_batches(batches, filled.schema)


class _FilledColumns:
    """Columns with their values as Arrow arrays: codes go in, cells come out."""

    def __init__(
        self,
        columns: Sequence[DerivedColumn],
        types: Mapping[str, pa.DataType],
        *,
        as_text: bool,
    ) -> None:
        self._values = [
            None if column.values is None else _array(column, types, as_text=as_text)
            for column in columns
        ]
        numbers = [pa.int64() if column.whole else pa.float64() for column in columns]
        kinds = [
            number if values is None else values.type
            for number, values in zip(numbers, self._values, strict=True)
        ]
        self.schema = pa.schema(
            [(column.name, kind) for column, kind in zip(columns, kinds, strict=True)]
        )
        """The columns and their types."""

    def pick(self, batch: Batch) -> list[pa.Array]:
        """Return the cells of all rows of a batch."""
        return self.cells(
            batch.kinds
            if batch.picks is None
            else tuple(column[batch.picks] for column in batch.kinds)
        )

    def cells(self, kinds: Cells) -> list[pa.Array]:
        """Return the cells of each kind of row."""
        return [
            from_numpy(cells)
            if values is None
            else pa.DictionaryArray.from_arrays(from_numpy(cells.astype(np.int32)), values)
            for cells, values in zip(kinds, self._values, strict=True)
        ]


class _Lines:
    """Lines of a CSV file: rows of one kind are one line, which is put together once."""

    def __init__(self, writer: CsvWriter, filled: _FilledColumns) -> None:
        self._writer = writer
        self._filled = filled
        self._kinds: Cells | None = None
        self._lines: pa.Array = pa.nulls(0)

    def append(self, batch: Batch) -> None:
        if self._kinds is not batch.kinds:
            self._kinds = batch.kinds
            self._lines = self._writer.lines(self._filled.cells(batch.kinds))
        picks = batch.picks
        lines = self._lines if picks is None else self._lines.take(from_numpy(picks))
        self._writer.write_lines(lines)


def _array(column: DerivedColumn, types: Mapping[str, pa.DataType], *, as_text: bool) -> pa.Array:
    """Return the values in the type they had, or as text where that cannot be."""
    values: Sequence[Value] = column.values or ()
    kind = counted_type(types.get(column.name, pa.string()), column.name)
    if not as_text and not is_text(kind):
        with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
            return _numbers(values, kind) if _is_number(kind) else pa.array(values, kind)
    texts = [None if value is None else text_of(value) for value in values]
    return from_texts(texts, kind if is_text(kind) else pa.string())


def _is_number(kind: pa.DataType) -> bool:
    return bool(t.is_integer(kind) or t.is_floating(kind))


def _numbers(values: Sequence[Value], kind: pa.DataType) -> pa.Array:
    missing = np.array([value is None for value in values], dtype=bool)
    dtype = kind.to_pandas_dtype()
    numbers = np.array([0 if value is None else value for value in values], dtype=dtype)
    return from_numpy(numbers, missing=missing)


# Take the notes of the program that wrote a Parquet file out of its footer; no row is read.
#
# Spark writes its version and its own description of the columns into every file. The footer is a
# structure of Thrift's compact protocol, and the notes are its fifth field.


_END = b"PAR1"
_NOTES = 5
_SIZES = {1: 0, 2: 0, 3: 1, 7: 8}
"""Bytes of values that have always as many: true, false, a byte and a float."""

_NUMBERS, _BYTES, _LISTS, _STRUCTURE = (4, 5, 6), 8, (9, 10), 12


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
        footer = _without_field(file.read(size))
        file.seek(start)
        file.write(footer + len(footer).to_bytes(4, "little") + _END)
        file.truncate()


def _without_field(footer: bytes) -> bytes:
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
    if kind == _BYTES:
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
