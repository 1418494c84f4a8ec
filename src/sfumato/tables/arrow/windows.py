"""Rows of a window, and of several files as one table: sources made of sources."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.errors import InputError
from sfumato.files.textfiles import open_bytes
from sfumato.tables.arrow.sources import (
    ArrowSource,
    as_type,
    canonical,
    certain,
    counted_type,
    from_texts,
    is_text,
    nothing,
    number,
    open_source,
    plain_type,
    text,
)
from sfumato.tables.capabilities import Extent, Order, Window
from sfumato.text import text_of


class WindowSource(ArrowSource):
    """The rows of a source that are in a window.

    Args:
        source: All rows.
        window: Which of them are read.
    """

    def __init__(self, source: ArrowSource, window: Window) -> None:
        self._source = source
        self._window = window
        self.kind, self.where, self.schema = source.kind, source.where, source.schema
        self.inferred = source.inferred
        self._bounds = _Bounds(source, window)

    @property
    def notes(self) -> tuple[str, ...]:
        """The findings about the whole text."""
        return self._source.notes

    @property
    def lines_beyond(self) -> int:  # type: ignore[override]
        """Lines of the whole text beyond its rows."""
        return self._source.lines_beyond

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        names = [*columns, *({self._window.column} - {*columns})]
        for batch in self._source.batches(names):
            inside, _ = self._bounds.find(batch.column(self._window.column))
            yield batch.filter(inside).select(list(columns))

    def native(self, table: pa.Table) -> Any:  # noqa: ANN401 - whatever the caller gave
        return self._source.native(table)

    def check_unchanged(self) -> None:
        self._source.check_unchanged()


class KeptSource(ArrowSource):
    """Rows that were read once and are in memory.

    Args:
        source: Where they came from.
        batches: All of them.
    """

    def __init__(self, source: ArrowSource, batches: Sequence[pa.RecordBatch]) -> None:
        self.kind, self.where, self.schema = source.kind, source.where, source.schema
        self._notes, self.lines_beyond = source.notes, source.lines_beyond
        self.inferred = source.inferred
        self._batches = batches
        self.native = source.native  # type: ignore[method-assign]

    @property
    def notes(self) -> tuple[str, ...]:
        """The findings about the text they came from."""
        return self._notes

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            yield batch.select(list(columns))


def keep(source: ArrowSource, most: int) -> ArrowSource | None:
    """Read all rows of a source into memory; None if they take more than `most` bytes."""
    found, size = [], 0
    for batch in source.batches(source.columns):
        found.append(batch)
        size += batch.nbytes
        if size > most:
            return None
    source.check_unchanged()
    return KeptSource(source, found)


def order_of(kind: pa.DataType) -> Order | None:
    """Return how values of a type are ordered; None if they are not.

    >>> order_of(pa.timestamp("us", "UTC")), order_of(pa.bool_())
    ('moments', None)
    """
    plain = plain_type(kind)
    if t.is_timestamp(plain):
        return "times" if plain.tz is None else "moments"
    if is_text(plain):
        return "texts"
    if t.is_integer(plain) or t.is_floating(plain) or t.is_decimal(plain):
        return "numbers"
    return "days" if t.is_date(plain) else None


class _Bounds:
    """The bounds of a window as values of its column."""

    def __init__(self, source: ArrowSource, window: Window) -> None:
        kind = counted_type(source.schema.field(window.column).type, window.column)
        self.kind = pa.large_string() if is_text(kind) else kind
        self.form = window.form
        # A CSV file has no types: its numbers are compared as numbers.
        self.as_numbers = is_text(kind) and window.form is not None and not has_dashes(window.form)
        compared = pa.float64() if self.as_numbers else self.kind
        low, high = (
            None if bound is None else value_of(bound, compared, window.column)
            for bound in (window.low, window.high)
        )
        self.tests = [
            *([] if low is None else [(pc.greater if window.above else pc.greater_equal, low)]),
            *([] if high is None else [(pc.less_equal if window.through else pc.less, high)]),
        ]

    def find(self, column: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Return which rows are in the window, and the values of all, missing where none is."""
        values = self.read(column)
        inside = pc.is_valid(values)
        for test, bound in self.tests:
            inside = pc.and_kleene(inside, test(values, bound))
        return certain(inside), values

    def read(self, column: pa.Array) -> pa.Array:
        """Return values that can be compared, missing where a text is not of the form."""
        values = as_type(canonical(column), self.kind)
        if self.form is not None and is_text(self.kind):
            fits = pc.match_substring_regex(values, self.form)
            values = pc.if_else(certain(fits), values, nothing(self.kind))
        return values.cast(pa.float64()) if self.as_numbers else values


def has_dashes(form: str) -> bool:
    """Return whether a form of texts is one of days and times, and not of numbers.

    >>> has_dashes(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), has_dashes("^[0-9]+$")
    (True, False)
    """
    return "}-[" in form


def value_of(bound: str, kind: pa.DataType, column: str) -> pa.Scalar:
    """Return a bound as a value of a type; raise if it is none.

    >>> value_of("2026-11-03", pa.date32(), "seen")
    <pyarrow.Date32Scalar: datetime.date(2026, 11, 3)>
    """
    if is_text(kind):
        return text(bound)
    if t.is_floating(kind):
        return number(float(bound), kind)
    zoned = t.is_timestamp(kind) and kind.tz is not None
    try:
        plain = pa.timestamp(kind.unit) if zoned else kind
        value = from_texts([bound], pa.string()).cast(plain)
        # The same moment: in UTC, whatever zone the column is shown in.
        return value.cast(pa.int64()).cast(kind)[0] if zoned else value[0]
    except pa.ArrowException:
        raise InputError(
            f"{bound!r} cannot be compared with column {column!r}, which holds {kind}. Give a "
            "value as the column has them, and no finer."
        ) from None


def extent(source: ArrowSource, window: Window) -> Extent:
    """Return how many rows of a source are in a window, and where they begin and end."""
    bounds = _Bounds(source, window)
    rows = others = 0
    ends: list[pa.Scalar] = []
    strange: list[str] = []
    for batch in source.batches([window.column]):
        column = batch.column(window.column)
        inside, values = bounds.find(column)
        others += values.null_count
        if bounds.form is not None and values.null_count and not strange:
            unread = as_type(canonical(column), bounds.kind).filter(pc.is_null(values))
            strange += sorted(pc.drop_null(unread).to_pylist())[:1]
        chosen = values.filter(inside)
        rows += len(chosen)
        if len(chosen):
            found = pc.min_max(chosen)
            ends += [found["min"], found["max"]]
    source.check_unchanged()
    least = largest = None
    if ends:
        found = pc.min_max(pa.array(ends, ends[0].type))
        least, largest = text_of_scalar(found["min"]), text_of_scalar(found["max"])
    return Extent(rows, others, least, largest, strange[0] if strange else None)


def text_of_scalar(value: pa.Scalar) -> str:
    """Write a value as `Extent` has it.

    >>> text_of_scalar(pa.array([1_500_000], pa.timestamp("us", "Europe/Rome"))[0])
    '1970-01-01 00:00:01.5'
    """
    kind = value.type
    if t.is_timestamp(kind):
        plain = value.cast(pa.int64()).cast(pa.timestamp(kind.unit))
        written = str(plain.cast(pa.string()).as_py())
        return written.rstrip("0").rstrip(".") if "." in written else written
    if t.is_floating(kind):
        exact = value.as_py()
        return str(int(exact)) if exact.is_integer() and abs(exact) < 2**53 else repr(exact)
    return text_of(value.as_py())


# Several files as one table.


def open_sources(paths: Sequence[Path]) -> dict[Path, ArrowSource]:
    """Open files; those that have a header and no rows are left out."""
    found = {}
    for path in paths:
        try:
            source = open_source(path)
        except InputError:
            if _is_header(path):
                continue
            raise
        if source.rows != 0:
            found[path] = source
    return found


def _is_header(path: Path) -> bool:
    """Return whether a text file has at most one line."""
    with open_bytes(path) as stream:
        start = stream.read(_HEADER)
    return len(start) < _HEADER and b"\n" not in start.strip()


_HEADER = 1 << 20


class JoinedSource(ArrowSource):
    """The rows of several files, one after the other.

    Args:
        sources: The files; all must have the same columns.
    """

    def __init__(self, sources: Sequence[ArrowSource]) -> None:
        self._sources = sources
        first = sources[0]
        self.kind = first.kind
        self.where = first.where if len(sources) == 1 else f"{first.where} and others"
        for other in sources[1:]:
            if {*other.columns} != {*first.columns}:
                lacking = sorted({*other.columns} ^ {*first.columns})
                raise InputError(
                    f"{other.where} does not have the same columns as {first.where}: "
                    f"{', '.join(map(repr, lacking[:5]))} is in one of them only. Give all files "
                    "the same columns, or take them one by one: --every file (every='file')."
                )
        self.schema = pa.schema([(name, self._common_type(name)) for name in first.columns])
        self.inferred = frozenset().union(*(source.inferred for source in sources))

    def _common_type(self, name: str) -> pa.DataType:
        kinds = [plain_type(source.schema.field(name).type) for source in self._sources]
        fields = [pa.schema([(name, kind)]) for kind in dict.fromkeys(kinds)]
        try:
            return pa.unify_schemas(fields, promote_options="permissive").field(0).type
        except pa.ArrowException:
            raise InputError(
                f"column {name!r} holds {' in one file and '.join(map(str, dict.fromkeys(kinds)))} "
                "in another. Give it one type, or take the files one by one: --every file "
                "(every='file')."
            ) from None

    @property
    def notes(self) -> tuple[str, ...]:
        """The findings about each text."""
        return tuple(note for source in self._sources for note in source.notes)

    @property
    def lines_beyond(self) -> int:  # type: ignore[override]
        """Lines of all texts beyond their rows."""
        return sum(source.lines_beyond for source in self._sources)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        kinds = [self.schema.field(name).type for name in columns]
        for source in self._sources:
            for batch in source.batches(columns):
                arrays = [
                    array if plain_type(array.type) == kind else as_type(array, kind)
                    for array, kind in zip(batch.columns, kinds, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(arrays, list(columns))

    def check_unchanged(self) -> None:
        for source in self._sources:
            source.check_unchanged()
