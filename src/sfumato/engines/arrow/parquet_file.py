"""Parquet files."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types as t

from sfumato.engines.arrow.source import BATCH_ROWS, FileSource, broken
from sfumato.errors import InputError


class ParquetSource(FileSource):
    """A Parquet file, read a part of a row group at a time.

    Text comes as the dictionary pages the file holds; it is never expanded to be counted.
    """

    kind = "parquet"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            with pq.ParquetFile(path) as file:
                self.schema = file.schema_arrow
                self.rows = file.metadata.num_rows
        except (pa.ArrowException, OSError, ValueError) as error:
            raise broken(self.where, "Parquet", error) from error
        self._check()

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        text = [name for name in columns if _is_text(self.schema.field(name).type)]
        try:
            with pq.ParquetFile(self.path, read_dictionary=text, pre_buffer=False) as file:
                # A name with a dot also selects what lies under the part before it.
                for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=list(columns)):
                    yield batch.select(list(columns))
        except (pa.ArrowException, OSError) as error:
            raise broken(self.where, "Parquet", error) from error

    def _check(self) -> None:
        if not self.rows:
            raise InputError(f"{self.where} has no rows")


def _is_text(kind: pa.DataType) -> bool:
    return bool(t.is_string(kind) or t.is_large_string(kind))
