"""What the arrow engine needs to know about where rows come from."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import InputError, some

BATCH_ROWS = 1 << 18
"""Rows in a batch: enough to make a batch's fixed costs small, few enough to stay small."""

_ROW_LABELS = re.compile(r"__index_level_\d+__")


class Source(ABC):
    """Rows that can be read more than once, in batches, some columns at a time."""

    kind: str
    where: str
    """What to call it in a message."""

    schema: pa.Schema
    """The types as stored; batches may hold dictionaries of them."""

    rows: int | None = None
    """How many rows there are, if that is known without reading them."""

    delimiter: str | None = None

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

    def check_columns(self) -> None:
        """Refuse tables whose columns cannot be told apart by name."""
        names = self.columns
        if not names:
            raise InputError(f"{self.where} has no columns")
        if "" in names:
            raise InputError(
                f"{self.where}: column {names.index('') + 1} of {len(names)} has no name. "
                "Give it one, or take it out (pandas writes its row labels that way: "
                "use to_csv(index=False))."
            )
        repeated = [name for name, times in Counter(names).items() if times > 1]
        if repeated:
            raise InputError(
                f"{self.where}: {some(repeated)} is the name of more than one column. "
                "Give every column its own name."
            )


class FileSource(Source):
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
        """Refuse a file that changed: counts and rows would not belong together."""
        if self._fingerprint() != self._state:
            raise InputError(
                f"{self.where} changed while it was being worked on. Start again with a file "
                "that nobody writes to."
            )


def broken(where: str, kind: str, error: Exception) -> InputError:
    """Say that a file is not what it seems to be."""
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(f"{where} cannot be read as {kind}: {reason}")


def changed(where: str, what: str) -> InputError:
    """Say that rows and recoding do not belong together.

    >>> raise changed("people.csv", "column 'age' holds 30")
    Traceback (most recent call last):
    sfumato.errors.InputError: people.csv: column 'age' holds 30. The table is not the one that
    was counted, or it changed since: start again.
    """
    return InputError(
        f"{where}: {what}. The table is not the one that was counted, or it changed since: "
        "start again."
    )
