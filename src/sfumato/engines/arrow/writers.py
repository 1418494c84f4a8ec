"""Write published rows to a file: CSV, Parquet or Feather."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.engines.arrow.build import from_texts, text
from sfumato.engines.arrow.types import as_type
from sfumato.errors import OutputError

_TEXT = pa.large_string()


class Writer(ABC):
    """A file that grows. Columns may come as dictionaries; what is written has none."""

    @abstractmethod
    def write(self, columns: Sequence[pa.Array]) -> None:
        """Append rows."""

    @abstractmethod
    def close(self) -> None:
        """Finish the file."""


class ParquetWriter(Writer):
    """A Parquet file; each call of `write` makes a row group."""

    def __init__(self, target: Path, schema: pa.Schema) -> None:
        import pyarrow.parquet as pq

        self._schema = schema
        self._file = pq.ParquetWriter(target, schema)

    def write(self, columns: Sequence[pa.Array]) -> None:
        self._file.write_batch(plain_batch(columns, self._schema), row_group_size=len(columns[0]))

    def close(self) -> None:
        self._file.close()


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

    A missing cell is empty and an empty text is `""`. In a table of one column missing
    cells are `""` too, because most programs skip empty lines.
    """

    def __init__(self, target: Path, schema: pa.Schema, delimiter: str) -> None:
        for field in schema:
            _require_text(field)
        self._missing = text('""' if len(schema) == 1 else "")
        self._special = f'[{delimiter}"\r\n\ufeff]'
        self._delimiter = text(delimiter)
        self._dictionaries: list[tuple[pa.Array, pa.Array] | None] = [None] * len(schema)
        self._file = pa.OSFile(str(target), "wb")
        header = self._quoted(from_texts(schema.names, _TEXT)).to_pylist()
        self._file.write((delimiter.join(header) + "\n").encode())

    def write(self, columns: Sequence[pa.Array]) -> None:
        self.write_lines(self.lines(columns))

    def lines(self, columns: Sequence[pa.Array]) -> pa.Array:
        """Put together the line of each row, its end included."""
        cells = [self._cells(position, column) for position, column in enumerate(columns)]
        lines = pc.binary_join_element_wise(*cells, self._delimiter)
        return pc.binary_join_element_wise(lines, text(""), text("\n"))

    def write_lines(self, lines: pa.Array) -> None:
        """Append lines as `lines` gives them; an array of its own, not a slice of one."""
        # The lines lie one after the other in one buffer: the file's own bytes.
        self._file.write(lines.buffers()[2].slice(0, pc.sum(pc.binary_length(lines)).as_py()))

    def _cells(self, position: int, column: pa.Array) -> pa.Array:
        if not t.is_dictionary(column.type):
            return pc.fill_null(self._quoted(as_type(column, _TEXT)), self._missing)
        known = self._dictionaries[position]
        if known is None or not known[0].equals(column.dictionary):
            known = column.dictionary, self._quoted(as_type(column.dictionary, _TEXT))
            self._dictionaries[position] = known
        return pc.fill_null(known[1].take(column.indices), self._missing)

    def _quoted(self, cells: pa.Array) -> pa.Array:
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


def open_writer(target: Path, schema: pa.Schema, form: str, delimiter: str) -> Writer:
    """Create a file of a format."""
    if form == "parquet":
        return ParquetWriter(target, schema)
    if form == "feather":
        return FeatherWriter(target, schema)
    return CsvWriter(target, schema, delimiter)


def plain_batch(columns: Sequence[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    """Undo dictionaries: they could hold values no row has, in an order that tells."""
    arrays = [as_type(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


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
