"""Whatever bytes a release consists of, and markers that must not be among them."""

import gzip
import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from tests.fuzz.guards import Fault


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
            yield path.name, path.read_bytes()
            yield from ((f"{path.name}, unpacked", data) for data in unpacked(path))


def unpacked(path: Path) -> Iterator[bytes]:
    """Return what is compressed in a file: pages and dictionaries, also entries nobody uses."""
    if path.suffix == ".parquet":
        yield from parquet_pages(path)
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


def parquet_pages(path: Path) -> Iterator[bytes]:
    """Return every page of a Parquet file without its compression."""
    data = path.read_bytes()
    file = pa.parquet.ParquetFile(path).metadata
    for group in range(file.num_row_groups):
        for i in range(file.num_columns):
            chunk = file.row_group(group).column(i)
            at = chunk.dictionary_page_offset or chunk.data_page_offset
            end = at + chunk.total_compressed_size
            while at < end:
                header, start = _thrift(data, at)
                at = start + header[3]
                page = data[start:at]
                # Levels of a page of the second kind stand before what is compressed.
                levels = header.get(8, {})
                plain = levels.get(5, 0) + levels.get(6, 0)
                if chunk.compression == "UNCOMPRESSED" or levels.get(7) is False:
                    yield page
                else:
                    size = header[2] - plain
                    yield pa.decompress(page[plain:], size, chunk.compression.lower(), asbytes=True)


def _thrift(data: bytes, at: int) -> tuple[dict, int]:
    """Read a struct of Thrift's compact protocol: its fields by number, and where it ends."""

    def varint(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    def value_of(kind: int, at: int) -> tuple[object, int]:
        if kind in (1, 2):
            return kind == 1, at
        if kind == 3:
            return data[at], at + 1
        if kind in (4, 5, 6):
            number, at = varint(at)
            return (number >> 1) ^ -(number & 1), at
        if kind == 7:
            return data[at : at + 8], at + 8
        if kind == 8:
            size, at = varint(at)
            return data[at : at + size], at + size
        if kind == 12:
            return _thrift(data, at)
        size, item, at = data[at] >> 4, data[at] & 15, at + 1
        if size == 15:
            size, at = varint(at)
        for _ in range(size):
            _, at = value_of(item, at)
        return None, at

    fields: dict = {}
    number = 0
    while data[at]:
        delta, kind, at = data[at] >> 4, data[at] & 15, at + 1
        if delta:
            number += delta
        else:
            coded, at = varint(at)
            number = (coded >> 1) ^ -(coded & 1)
        fields[number], at = value_of(kind, at)
    return fields, at + 1
