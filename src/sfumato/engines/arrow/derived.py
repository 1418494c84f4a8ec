"""Write tables that follow from counts, and give them in memory."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import types as t

from sfumato.derived import Batch, Cells, DerivedColumn, DerivedTable
from sfumato.engines.arrow.build import from_numpy, from_texts
from sfumato.engines.arrow.types import counted_type, is_text
from sfumato.engines.arrow.writers import CsvWriter, open_writer, plain_batch
from sfumato.engines.base import Progress, Written
from sfumato.errors import OutputError, SfumatoError
from sfumato.text import text_of
from sfumato.typing import Value


def write_derived(
    derived: DerivedTable,
    target: Path,
    *,
    form: str,
    delimiter: str,
    types: Mapping[str, pa.DataType],
    progress: Progress | None = None,
) -> Written:
    """Write a derived table to a new file; on failure none is left."""
    try:
        target.open("xb").close()
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        _write(derived, target, form, delimiter, types, progress)
    except BaseException as error:
        with suppress(OSError):
            target.unlink()
        ours = isinstance(error, SfumatoError)
        if isinstance(error, OSError | pa.ArrowException) and not ours:
            raise _unwritable(target, error) from error
        raise
    return Written(target, derived.rows, form, delimiter if form == "csv" else None, 0)


def derived_table(derived: DerivedTable, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Give a derived table in memory.

    >>> columns = (DerivedColumn("age", ("30s", None)), DerivedColumn("count"))
    >>> batch = Batch((np.array([1, 0, 0]), np.array([4, 5, 6])))
    >>> table = derived_table(DerivedTable(columns, 3, lambda: iter([batch])), {})
    >>> table.to_pydict()
    {'age': [None, '30s', '30s'], 'count': [4, 5, 6]}
    """
    filled = _Filled(derived.columns, types, as_text=False)
    batches = [plain_batch(filled.picked(b), filled.schema) for b in derived.batches()]
    return pa.Table.from_batches(batches, filled.schema)


def _write(
    derived: DerivedTable,
    target: Path,
    form: str,
    delimiter: str,
    types: Mapping[str, pa.DataType],
    progress: Progress | None,
) -> None:
    filled = _Filled(derived.columns, types, as_text=form == "csv")
    writer = open_writer(target, filled.schema, form, delimiter)
    append = _Lines(writer, filled).append if isinstance(writer, CsvWriter) else None
    done = 0
    try:
        for batch in derived.batches():
            if append is not None:
                append(batch)
            else:
                writer.write(filled.picked(batch))
            done += len(batch.kinds[0] if batch.picks is None else batch.picks)
            if progress is not None:
                progress(done, derived.rows)
    except BaseException:
        # What went wrong first is what the user must hear of.
        with suppress(OSError, pa.ArrowException):
            writer.close()
        raise
    writer.close()
    if done != derived.rows:
        raise RuntimeError(f"wrote {done} of {derived.rows} rows to {target}")


class _Filled:
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

    def picked(self, batch: Batch) -> list[pa.Array]:
        """Give the cells of all rows of a batch."""
        return self.cells(
            batch.kinds
            if batch.picks is None
            else tuple(column[batch.picks] for column in batch.kinds)
        )

    def cells(self, kinds: Cells) -> list[pa.Array]:
        """Give the cells of each kind of row."""
        return [
            from_numpy(cells)
            if values is None
            else pa.DictionaryArray.from_arrays(from_numpy(cells.astype(np.int32)), values)
            for cells, values in zip(kinds, self._values, strict=True)
        ]


class _Lines:
    """Lines of a CSV file: rows of one kind are one line, which is put together once."""

    def __init__(self, writer: CsvWriter, filled: _Filled) -> None:
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
    """Give the values in the type they had, or as text where that cannot be."""
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


def _unwritable(target: Path, error: BaseException) -> OutputError:
    reason = getattr(error, "strerror", None) or (str(error).splitlines() or [""])[0]
    return OutputError(f"cannot write {target}: {reason}. Nothing was left there.")
