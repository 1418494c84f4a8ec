"""Feather files (version 2), also known as Arrow IPC files and streams."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import ipc

from sfumato.engines.arrow.source import FileSource, broken


class FeatherSource(FileSource):
    """An Arrow IPC file or stream, read batch by batch."""

    kind = "feather"

    def __init__(self, path: Path, *, stream: bool) -> None:
        super().__init__(path)
        self._stream = stream
        try:
            with pa.OSFile(str(path)) as file:
                self.schema = self._open(file).schema
        except (pa.ArrowException, OSError) as error:
            raise broken(self.where, "Feather", error) from error

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        options = ipc.IpcReadOptions(
            included_fields=sorted(self.schema.get_field_index(name) for name in columns)
        )
        try:
            with pa.OSFile(str(self.path)) as file:
                reader = self._open(file, options)
                if self._stream:
                    for batch in reader:
                        yield batch.select(list(columns))
                else:
                    for i in range(reader.num_record_batches):
                        yield reader.get_batch(i).select(list(columns))
        except (pa.ArrowException, OSError) as error:
            raise broken(self.where, "Feather", error) from error

    def _open(
        self, file: pa.NativeFile, options: ipc.IpcReadOptions | None = None
    ) -> pa.RecordBatchReader:
        opener = ipc.open_stream if self._stream else ipc.open_file
        return opener(file, options=options)
