"""Whatever bytes a release consists of, and markers that must not be among them."""

import gzip
import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from tests.fuzz.guards import Fault


def unpublished(markers: Iterable[str], published: Iterable[object]) -> list[str]:
    """Return the markers that no published cell is, nor two of them side by side.

    Arrow keeps the texts of a column one after the other with nothing between them.
    """
    markers = set(markers)
    most = max(map(len, markers), default=0)
    texts = {cell for cell in published if isinstance(cell, str)}
    ends = {text[-i:] for text in texts for i in range(1, min(len(text), most))}
    starts = {text[:i] for text in texts for i in range(1, min(len(text), most))}
    return sorted(
        marker
        for marker in markers - texts
        if not any(marker[:i] in ends and marker[i:] in starts for i in range(1, len(marker)))
    )


def find_canaries(markers: Iterable[str], parts: Iterable[tuple[str, bytes]]) -> None:
    """Raise a fault if a marker is in any of these bytes, in whatever encoding."""
    spelt = [(marker, *{marker.encode(form) for form in ("utf-8", "utf-16-le")})
             for marker in markers]  # fmt: skip
    for name, data in parts:
        for marker, *forms in spelt:
            if any(form in data for form in forms):
                # The marker itself differs from case to case, so it is no part of the kind.
                raise Fault(f"canary in {name}", marker)


def bytes_of_folder(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Return all bytes of a release: names, files, and what is compressed in them."""
    for path in sorted(folder.rglob("*")):
        yield "a file name", str(path.relative_to(folder)).encode()
        if path.is_file():
            yield path.name, without_packed(path)
            yield from ((f"{path.name}, unpacked", data) for data in unpacked(path))


def without_packed(path: Path) -> bytes:
    """Return the bytes of a file without what is compressed in it: there, any bytes may stand.

    LZ4 writes a text that it has seen as the distance to it: after the letters before it, the two
    bytes of a distance may spell the letter that was masked.
    """
    data = path.read_bytes()
    if path.suffix in (".feather", ".arrow"):
        for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(data[8:])):
            if message.body is not None and len(message.body):
                data = data.replace(message.body.to_pybytes(), b"", 1)
    elif path.suffix == ".parquet":
        for page, _ in parquet_pages(path):
            data = data.replace(page, b"", 1)
    return data


def unpacked(path: Path) -> Iterator[bytes]:
    """Return what is compressed in a file: pages and dictionaries, also entries nobody uses."""
    if path.suffix == ".parquet":
        yield from (plain for _, plain in parquet_pages(path))
    elif path.suffix in (".feather", ".arrow"):
        with pa.ipc.open_file(path) as reader:
            for i in range(reader.num_record_batches):
                yield from buffers_of(reader.get_batch(i))
    elif path.suffix == ".gz":
        yield gzip.decompress(path.read_bytes())


def buffers_of(batch: pa.RecordBatch) -> Iterator[bytes]:
    """Return the memory of a batch as it is, its dictionaries included."""
    for column in batch.columns:
        yield from (buffer.to_pybytes() for buffer in column.buffers() if buffer is not None)
        if pa.types.is_dictionary(column.type):
            of = column.dictionary
            yield from (buffer.to_pybytes() for buffer in of.buffers() if buffer is not None)


def bytes_of_table(table: object) -> Iterator[tuple[str, bytes]]:
    """Return all bytes that go along when a table in memory is handed on."""
    if isinstance(table, pa.Table):
        for batch in table.to_batches():
            yield from (("a buffer", data) for data in buffers_of(batch))
        yield "the schema", table.schema.serialize().to_pybytes()
    else:
        yield "the pickled table", pickle.dumps(table)


def parquet_pages(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Return every page of a Parquet file as it stands there, and without its compression."""
    data = path.read_bytes()
    file = pa.parquet.ParquetFile(path).metadata
    for group in range(file.num_row_groups):
        for i in range(file.num_columns):
            chunk = file.row_group(group).column(i)
            at = chunk.dictionary_page_offset or chunk.data_page_offset
            end = at + chunk.total_compressed_size
            while at < end:
                reader = _Thrift(data, at)
                header = reader.struct()
                at = reader.at + header[3]
                page = data[reader.at : at]
                # Levels of a page of the second kind stand before what is compressed.
                levels = header.get(8, {})
                plain = levels.get(5, 0) + levels.get(6, 0)
                if chunk.compression == "UNCOMPRESSED" or levels.get(7) is False:
                    yield page, page
                else:
                    codec = {"LZ4": "lz4_raw"}.get(chunk.compression, chunk.compression.lower())
                    size = header[2] - plain
                    yield page[plain:], pa.decompress(page[plain:], size, codec, asbytes=True)


class _Thrift:
    """Reads the compact protocol of Thrift, in which headers of pages are written."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self) -> int:
        coded = self.number()
        return (coded >> 1) ^ -(coded & 1)

    def skip(self, size: int) -> None:
        self.at += size

    def items(self) -> None:
        head = self.byte()
        size = self.number() if head >> 4 == 15 else head >> 4
        for _ in range(size):
            self.value(head & 15)

    def value(self, kind: int) -> object:
        if kind in (1, 2):
            return kind == 1
        readers = {
            3: self.byte,
            4: self.signed,
            5: self.signed,
            6: self.signed,
            7: lambda: self.skip(8),
            8: lambda: self.skip(self.number()),
            12: self.struct,
        }
        return readers.get(kind, self.items)()

    def struct(self) -> dict[int, Any]:
        """Return the fields of a struct by their numbers."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.signed()
            fields[number] = self.value(head & 15)
        return fields
