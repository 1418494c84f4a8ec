"""Dates in one form, and columns that are derived: sources made of sources."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.counts import Column
from sfumato.derivations import (
    Age,
    Derivation,
    Preparation,
    Relative,
    Shift,
    spellings_of_code,
)
from sfumato.derivations.dates import CANONICAL, DateForm, Detection, look_like_dates
from sfumato.errors import InputError
from sfumato.files.reading import Reading, tell
from sfumato.tables.arrow.counting import ValueTally
from sfumato.tables.arrow.sources import (
    ArrowSource,
    as_type,
    canonical,
    certain,
    changed_error,
    from_numpy,
    from_texts,
    is_text,
    nothing,
    number,
    plain_type,
    python_values,
    restore_types,
    to_numpy,
)
from sfumato.text import format_integer, number_of, text_of, text_of_items, text_or_none
from sfumato.typing import BoolArray, IntArray, Value

_EPOCH = date(1970, 1, 1).toordinal()
_FIRST, _LAST = date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH
"""The days that Python's calendar has, counted from 1970 as Arrow does."""


def prepare(source: ArrowSource, preparation: Preparation) -> ArrowSource:
    """Return the rows of a source with dates in one form and with the columns that are derived."""
    prepared = source
    if preparation.codes:
        prepared = UncodedSource(prepared, preparation.codes)
    if preparation.owned is not None:
        prepared = OwnedSource(prepared, preparation.owned)
    if preparation.dates or preparation.likely:
        prepared = DatedSource(prepared, preparation)
    for step in preparation.steps:
        prepared = _apply(prepared, step, preparation.secret)
    return prepared


class DerivingSource(ArrowSource):
    """Rows of another source, of which something is changed or to which something is added."""

    def __init__(self, source: ArrowSource) -> None:
        self._source = source
        self.kind, self.where, self.schema = source.kind, source.where, source.schema
        self.rows = source.rows
        self.variables, self.inferred = source.variables, source.inferred

    @property
    def kinds(self) -> Mapping[str, str]:
        return self._source.kinds

    @property
    def reading(self) -> Reading | None:
        """The way in which the source is read, in full, if it is a text file."""
        return self._source.reading

    @property
    def lines_beyond(self) -> int:  # type: ignore[override]
        """Lines of the whole text beyond its rows."""
        return self._source.lines_beyond

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes on what was found out while the source was read."""
        return self._source.notes

    @property
    def unowned(self) -> float:  # type: ignore[override]
        """The share of the rows that are left out because they have no owner."""
        return self._source.unowned

    def native(self, table: pa.Table) -> Any:  # noqa: ANN401 - whatever the caller gave
        return self._source.native(table)

    def check_unchanged(self) -> None:
        self._source.check_unchanged()


class ReplacedSource(DerivingSource):
    """The rows of a source with other values in some columns, or more columns, held in memory.

    Args:
        source: The rows.
        cells: For each column its values, and which of them each row has.
    """

    def __init__(self, source: ArrowSource, cells: Mapping[str, tuple[Column, IntArray]]) -> None:
        super().__init__(source)
        self._arrays: dict[str, pa.Array] = {}
        self._new = {name for name in cells if name not in self.schema.names}
        for name, (column, codes) in cells.items():
            new = name in self._new
            kind = pa.int64() if new else plain_type(self.schema.field(name).type)
            values = _values_like(column.values, kind)
            self._arrays[name] = values.take(from_numpy(codes))
            if values.type != kind:
                self.inferred |= {name}
            field = pa.field(name, values.type)
            at = self.schema.get_field_index(name)
            self.schema = self.schema.append(field) if new else self.schema.set(at, field)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        at = 0
        total = len(next(iter(self._arrays.values())))
        # A batch without columns does not say how many rows it has.
        read = [name for name in columns if name not in self._new] or self._source.schema.names[:1]
        for batch in self._source.batches(read):
            arrays = [
                self._arrays[name].slice(at, len(batch))
                if name in self._arrays
                else batch.column(name)
                for name in columns
            ]
            at += len(batch)
            if at > total:
                break
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
        if at != total:
            raise changed_error(self.where, "its rows were changed")


class ListedSource(DerivingSource):
    """The rows of a source with text in place of lists: `a; b`, as people write several items.

    Args:
        source: The rows.
        columns: The columns whose cells are lists.
    """

    def __init__(self, source: ArrowSource, columns: Sequence[str]) -> None:
        super().__init__(source)
        self._lists = frozenset(columns)
        for name in columns:
            at = self.schema.get_field_index(name)
            self.schema = self.schema.set(at, pa.field(name, pa.large_string()))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in self._source.batches(columns):
            arrays = [
                from_texts(list(map(text_of_items, column.to_pylist())), pa.large_string())
                if name in self._lists
                else column
                for name, column in zip(columns, batch.columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))


def _values_like(values: Sequence[Value], kind: pa.DataType) -> pa.Array:
    """Return values in the type of a column if it holds them, else in their own."""
    if is_text(kind):
        return from_texts([None if value is None else text_of(value) for value in values], kind)
    kinds = {*map(type, values)} - {type(None)}
    if (kinds == {int} and t.is_integer(kind)) or (kinds == {float} and t.is_float64(kind)):
        # What they are already needs no text in between.
        with suppress(pa.ArrowException, OverflowError):
            return pa.array(values, kind)
    restored = restore_types(values, kind)
    if restored is not None:
        with suppress(pa.ArrowException, OverflowError, ValueError):
            return pa.array(restored, kind)
    if str in kinds:
        return from_texts([text_or_none(value) for value in values], pa.string())
    whole = kinds <= {int}
    return pa.array(values, pa.int64() if whole else pa.float64())


class UncodedSource(DerivingSource):
    """The rows of a source in which codes of missing values are missing.

    Args:
        source: The rows.
        codes: The codes of each column, as texts.
    """

    def __init__(self, source: ArrowSource, codes: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__(source)
        self._codes = {name: codes[name] for name in codes if name in self.schema.names}
        self._sets: dict[tuple[str, pa.DataType], pa.Array] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes, with what is made missing."""
        lines = [_note_of_codes(name, codes) for name, codes in self._codes.items()]
        return (*self._source.notes, *lines)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in self._source.batches(columns):
            arrays = [
                self._uncode(name, array) if name in self._codes else array
                for name, array in zip(columns, batch.columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def _uncode(self, name: str, array: pa.Array) -> pa.Array:
        array = canonical(array)
        if t.is_dictionary(array.type):
            known = self._uncode(name, array.dictionary)
            indices = array.indices
            gone = pc.is_null(known.take(indices))
            return pa.DictionaryArray.from_arrays(
                pc.if_else(gone, nothing(indices.type), indices), array.dictionary
            )
        kind = array.type
        if (name, kind) not in self._sets:
            self._sets[name, kind] = _codes_in(self._codes[name], kind)
        codes = self._sets[name, kind]
        if not len(codes):
            return array
        text = pc.utf8_trim_whitespace(array) if is_text(kind) else array
        return pc.if_else(pc.is_in(text, value_set=codes), nothing(kind), array)


def _note_of_codes(name: str, codes: Sequence[str]) -> str:
    shown = " and ".join(codes) if len(codes) <= _MOST_SHOWN else f"{len(codes)} codes"
    return f"{name!r}: {shown} {'is' if len(codes) == 1 else 'are'} read as missing"


_MOST_SHOWN = 4


def _codes_in(codes: Sequence[str], kind: pa.DataType) -> pa.Array:
    """Return codes in the type of a column; those it cannot hold are in none of its cells."""
    if is_text(kind):
        spelt = list(dict.fromkeys(s for c in codes for s in spellings_of_code(c)))
        return from_texts(spelt, kind)
    found = []
    for code in codes:
        as_number = number_of(code)
        given: Value = code
        if as_number is not None:
            given = int(as_number) if as_number.is_integer() else as_number
        with suppress(pa.ArrowException, OverflowError, ValueError, TypeError):
            found.append(pa.scalar(given).cast(kind).as_py())
    return pa.array(found, kind)


def _filter_batch(batch: pa.RecordBatch, kept: pa.Array) -> pa.RecordBatch:
    """Return some rows of a batch; Arrow filters no views of texts, as Polars gives them."""
    arrays = [canonical(array).filter(kept) for array in batch.columns]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


class OwnedSource(DerivingSource):
    """The rows of a source that have a value in a column which says whose they are.

    Args:
        source: The rows.
        owned: The column.
    """

    def __init__(self, source: ArrowSource, owned: str) -> None:
        super().__init__(source)
        self._owned = owned
        # How many are left is known when they are read.
        self.rows = None
        self._left_out = 0.0

    @property
    def unowned(self) -> float:  # type: ignore[override]
        """The share of the rows that are left out, once they were read."""
        return self._left_out

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes, with which rows are left out."""
        line = f"rows without {self._owned!r} are left out: they do not say whose they are"
        return (*self._source.notes, line)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        read = columns if self._owned in columns else [*columns, self._owned]
        seen = gone = 0
        for batch in self._source.batches(read):
            owner = batch.column(list(read).index(self._owned))
            plain = as_type(canonical(owner), plain_type(owner.type))
            kept = pc.is_valid(plain)
            if is_text(plain.type):
                empty = from_texts([""], plain.type)[0]
                kept = certain(pc.not_equal(pc.utf8_trim_whitespace(plain), empty))
            left = batch if pc.all(kept).as_py() else _filter_batch(batch, kept)
            seen, gone = seen + len(batch), gone + len(batch) - len(left)
            yield left.select(list(columns)) if len(read) > len(columns) else left
        self._left_out = gone / max(seen, 1)


class DatedSource(DerivingSource):
    """The rows of a source with the dates of some columns written in ISO 8601.

    How the dates of a column are written is found out when the first one is met that is in
    another form, from all values of the column; a column in ISO 8601 is not read twice for it.

    Args:
        source: The rows.
        preparation: Which columns hold dates, or may hold dates, and how they are written.
    """

    def __init__(self, source: ArrowSource, preparation: Preparation) -> None:
        super().__init__(source)
        self._forms: dict[str, DateForm] = {}
        self._settled: dict[str, DateForm | None] = {}
        """How dates are written, once that is known; None for a column that holds none."""

        self._written: dict[str, dict[str, str]] = {}
        self._counted: dict[str, dict[str, int]] = {}
        """Texts of columns that were counted and not looked at yet."""

        self._lines: dict[str, str] = {}
        self._likely = {*preparation.likely}
        for name in (*preparation.dates, *preparation.likely):
            kind = plain_type(self.schema.field(name).type)
            if t.is_temporal(kind):
                continue
            numeric = t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind)
            if not (is_text(kind) or numeric):
                if name in self._likely:
                    continue
                raise InputError(
                    f"{self.where}: column {name!r} holds {kind}, and dates were expected. Give "
                    "dates, or text such as 2020-02-29."
                )
            if numeric and name in self._likely:
                continue
            self._forms[name] = preparation.dates.get(name, DateForm())
            self._written[name] = {}
            if self._forms[name].settled:
                self._settled[name] = self._forms[name]
            at = self.schema.get_field_index(name)
            text = kind if is_text(kind) else pa.string()
            self.schema = self.schema.set(at, pa.field(name, text))

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes on how dates of columns are read, where that had to be found out."""
        return (*self._source.notes, *self._lines.values())

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in self._source.batches(columns):
            arrays = [
                self._write(name, array) if name in self._forms else array
                for name, array in zip(columns, batch.columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def _write(self, name: str, array: pa.Array) -> pa.Array:
        """Return the dates of a column in ISO 8601."""
        if name in self._settled and self._settled[name] is None:
            return array
        kind = self.schema.field(name).type
        array = canonical(array)
        if t.is_dictionary(array.type):
            # Only entries that rows have: another one may be anything.
            used = array.indices.drop_null().unique()
            # At least one, so that rows that are all missing can point at it.
            place = np.zeros(max(1, len(array.dictionary)), dtype=np.int32)
            place[to_numpy(used.cast(pa.int64()))] = np.arange(len(used))
            known = array.dictionary.take(used)
            filled = to_numpy(pc.fill_null(array.indices.cast(pa.int64()), number(0, pa.int64())))
            absent = to_numpy(pc.is_null(array).cast(pa.uint8())) > 0
            indices = from_numpy(place[filled], missing=absent)
        else:
            plain = _texts(array)
            if name not in self._likely and _is_canonical(plain):
                return as_type(plain, kind)
            encoded = plain.dictionary_encode()
            known, indices = encoded.dictionary, encoded.indices
        texts = _texts(known)
        if not _is_canonical(texts):
            texts = self._read(name, texts)
        return as_type(texts, kind).take(indices)

    def _read(self, name: str, texts: pa.Array) -> pa.Array:
        """Return distinct texts as dates in ISO 8601."""
        given: list[str] = texts.to_pylist()
        if name not in self._settled:
            if name in self._likely and not look_like_dates(given):
                self._settled[name] = None
            else:
                self._detect(name)
        form, written = self._settled[name], self._written[name]
        if form is None:
            return texts
        for text in given:
            if text not in written:
                found = form.read(text)
                if found is None:
                    raise self._refuse(name, form)
                written[text] = found
        return from_texts([written[text] for text in given], pa.large_string())

    def _values(self, name: str) -> dict[str, int]:
        """Count the texts of a column, in a pass of its own."""
        if name not in self._counted:
            # All columns of which it is not known yet, so that one pass may do.
            pending = {*self._forms} - {*self._settled} - self._likely
            names = [each for each in self._forms if each == name or each in pending]
            tallies = [ValueTally(each, pa.large_string()) for each in names]
            for batch in self._source.batches(names):
                for tally, array in zip(tallies, batch.columns, strict=True):
                    tally.add(_texts(canonical(array)))
            for tally in tallies:
                tally.settle()
                texts = tally.values.to_pylist()
                self._counted[tally.column] = dict(zip(texts, tally.rows.tolist(), strict=True))
        return self._counted.pop(name)

    def _detect(self, name: str) -> None:
        values = self._values(name)
        if name in self._likely and not look_like_dates(values):
            self._settled[name] = None
            return
        found = Detection.of(values, self._forms[name])
        problem = found.problem(name)
        if problem is not None:
            raise InputError(f"{self.where}: {problem}")
        self._settled[name] = found.settled
        line = found.line(name)
        if line is not None:
            self._lines[name] = line
            tell(f"{self.where}: {line}")

    def _refuse(self, name: str, form: DateForm) -> InputError:
        problem = Detection.of(self._values(name), form).problem(name)
        return InputError(f"{self.where}: {problem}")


def _texts(array: pa.Array) -> pa.Array:
    """Return values as texts; whole numbers are written without decimals."""
    kind = plain_type(array.type)
    plain = as_type(array, kind)
    if is_text(kind):
        return plain.cast(pa.large_string())
    if t.is_floating(kind) or t.is_decimal(kind):
        try:
            plain = plain.cast(pa.int64())
        except pa.ArrowInvalid:
            texts = [None if v is None else text_of(v) for v in plain.to_pylist()]
            return from_texts(texts, pa.large_string())
    return plain.cast(pa.large_string())


def _is_canonical(texts: pa.Array) -> bool:
    """Return whether all texts are days in ISO 8601 that the calendar has."""
    fits = pc.all(pc.match_substring_regex(texts, CANONICAL)).as_py()
    if fits is False:
        return False
    try:
        texts.cast(pa.date32())
    except pa.ArrowInvalid:
        return False
    return True


# Derivations.


class DayNumbers(NamedTuple):
    """The days of a column, counted from 1970."""

    days: IntArray
    known: BoolArray
    partial: BoolArray
    """Where a date is known only in part."""


def days_of(array: pa.Array) -> DayNumbers:
    """Return the days of dates, of times with dates, or of texts in ISO 8601.

    >>> days_of(pa.array(["1970-01-02 10:15:00", None, "1970"])).days.tolist()
    [1, 0, 0]
    """
    plain = as_type(canonical(array), plain_type(array.type))
    partial = np.zeros(len(plain), dtype=bool)
    if is_text(plain.type):
        length = pc.utf8_length(plain)
        short = certain(pc.less(length, number(10, length.type)))
        partial = to_numpy(short.cast(pa.uint8())) > 0
        text = pc.utf8_slice_codeunits(plain, 0, 10)
        text = pc.if_else(short, nothing(text.type), text)
        plain = text.cast(pa.date32())
    elif t.is_timestamp(plain.type):
        local = plain if plain.type.tz is None else pc.local_timestamp(plain)
        plain = pc.floor_temporal(local, unit="day").cast(pa.date32())
    elif not t.is_date(plain.type):
        raise InputError(f"dates were expected, and there is {array.type}")
    known = to_numpy(pc.is_valid(plain).cast(pa.uint8())) > 0
    numbers = pc.fill_null(plain.cast(pa.date32()).cast(pa.int32()), number(0, pa.int32()))
    return DayNumbers(to_numpy(numbers).astype(np.int64), known, partial)


Problems: TypeAlias = dict[str, BoolArray]
"""What is wrong with rows, in words, and with which."""


def _apply(source: ArrowSource, step: Derivation, secret: bytes | None) -> ArrowSource:
    if isinstance(step, Shift):
        if secret is None:
            raise RuntimeError("dates are moved by a secret, and there is none")
        return ShiftedSource(source, step, secret)
    if isinstance(step, Relative):
        return RelativeSource(source, step)
    if isinstance(step, Age):
        return AgeSource(source, step)
    raise NotImplementedError(type(step).__name__)


class _StepSource(DerivingSource):
    """A source to which one step is applied."""

    step: Derivation

    def __init__(self, source: ArrowSource, step: Derivation) -> None:
        super().__init__(source)
        self.step = step
        for name in step.inputs:
            if name not in source.columns:
                near = ", ".join(map(repr, source.columns[:20]))
                raise InputError(
                    f"{self.where} has no column {name!r}, which {step.name} needs. It has {near}."
                )
        for name in step.dates:
            kind = plain_type(source.schema.field(name).type)
            if not (is_text(kind) or t.is_date(kind) or t.is_timestamp(kind)):
                raise InputError(
                    f"{self.where}: column {name!r} holds {kind}, and {step.name} needs dates."
                )
        for name in step.made:
            if name in source.columns:
                raise InputError(
                    f"{self.where} has a column {name!r} already, which {step.name} is to make. "
                    "Give what is made another name with into."
                )
            self.schema = self.schema.append(pa.field(name, pa.int64()))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        changed = self.step.made or self.step.dates
        if not {*columns} & {*changed}:
            yield from self._source.batches(columns)
            return
        given = [name for name in columns if name not in self.step.made]
        for batch in self._source.batches(list(dict.fromkeys([*given, *self.step.inputs]))):
            arrays, problems = self._compute(batch)
            for text, rows in problems.items():
                if rows.any():
                    raise self._refuse(text)
            yield pa.RecordBatch.from_arrays(
                [arrays[n] if n in arrays else batch.column(n) for n in columns],
                names=list(columns),
            )

    def _compute(self, batch: pa.RecordBatch) -> tuple[dict[str, pa.Array], Problems]:
        """Return the columns that are made or changed, and what is wrong with rows."""
        raise NotImplementedError

    def _refuse(self, text: str) -> InputError:
        """Count the rows with a problem in a pass of its own, and return the error."""
        rows = sum(
            int(self._compute(batch)[1][text].sum())
            for batch in self._source.batches(self.step.inputs)
        )
        return InputError(f"{self.where}: {text.format(rows=_rows(rows))}")

    def _partial(self, days: DayNumbers, name: str) -> Problems:
        if self.step.incomplete == "missing":
            return {}
        text = (
            f"column {name!r} has dates that are known only in part, in {{rows}}, and "
            f"{self.step.name} needs whole ones. Complete them, or make the result missing there "
            "with incomplete: missing."
        )
        return {text: days.partial}


def _rows(rows: int) -> str:
    return f"{format_integer(rows)} {'row' if rows == 1 else 'rows'}"


class _BatchPeople:
    """The people of a batch: numbers, and the text by which each is known."""

    def __init__(self, array: pa.Array, name: str) -> None:
        array = canonical(array)
        if not t.is_dictionary(array.type):
            array = as_type(array, plain_type(array.type)).dictionary_encode()
        self.missing: BoolArray = to_numpy(pc.is_null(array).cast(pa.uint8())) > 0
        filled = pc.fill_null(array.indices.cast(pa.int64()), number(0, pa.int64()))
        self.codes: IntArray = to_numpy(filled)
        known = as_type(array.dictionary, plain_type(array.dictionary.type))
        plain = is_text(known.type) or t.is_integer(known.type) or t.is_floating(known.type)
        # Arrow writes whole numbers and texts as `text_of` does, and much faster.
        self.texts: list[str] = (
            _texts(known).to_pylist()
            if plain
            else [text_of(value) for value in python_values(known, name)]
        )

    def without(self, dates: DayNumbers, step: Derivation, name: str) -> Problems:
        """Return what is wrong where a date is there, and not whose it is."""
        text = (
            f"column {name!r} does not say whose the dates are in {{rows}}, and {step.name} needs "
            "to know. Fill it in, or take those rows out."
        )
        return {text: self.missing & dates.known}


class ShiftedSource(_StepSource):
    """The rows of a source with the dates of each person moved by the person's own secret number.

    Args:
        source: The rows.
        step: Which columns are moved, and how far.
        secret: What the numbers are drawn by.
    """

    step: Shift

    def __init__(self, source: ArrowSource, step: Shift, secret: bytes) -> None:
        super().__init__(source, step)
        self._keys = step.keys(secret)
        self._offsets: dict[str, int] = {}

    def _compute(self, batch: pa.RecordBatch) -> tuple[dict[str, pa.Array], Problems]:
        person = str(self.step.person)
        people = _BatchPeople(batch.column(person), person)
        offsets = np.array([self._offset(text) for text in people.texts] or [0], dtype=np.int64)
        moved = offsets[people.codes]
        arrays, problems = {}, Problems()
        for name in self.step.dates:
            array = as_type(canonical(batch.column(name)), self.schema.field(name).type)
            array = as_type(array, plain_type(array.type))
            found = days_of(array)
            after = found.days + moved
            beyond = found.known & ((after < _FIRST) | (after > _LAST))
            problems |= self._partial(found, name)
            for text, wrong in people.without(found, self.step, person).items():
                problems[text] = problems.get(text, np.zeros(len(wrong), dtype=bool)) | wrong
            problems[
                f"column {name!r} has dates that would be moved beyond the years 1 to 9999, in "
                "{rows}. Make them missing."
            ] = beyond
            arrays[name] = _move(array, found, np.where(beyond, found.days, after))
        return arrays, problems

    def _offset(self, person: str) -> int:
        offset = self._offsets.get(person)
        if offset is None:
            offset = self._offsets[person] = self.step.offset(self._keys, person)
        return offset


def _move(array: pa.Array, before: DayNumbers, after: IntArray) -> pa.Array:
    """Return dates on other days, with the times they had."""
    kind = array.type
    missing = ~before.known
    days = from_numpy(after.astype(np.int32), missing=missing)
    if t.is_date(kind):
        return days.cast(pa.date32()).cast(kind)
    if is_text(kind):
        text = days.cast(pa.date32()).cast(kind)
        clock = pc.utf8_slice_codeunits(array, 10)
        return pc.binary_join_element_wise(text, clock, from_texts([""], kind)[0])
    per_day = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit] * 86_400
    ticks = pc.fill_null(array.cast(pa.int64()), number(0, pa.int64()))
    numbers = to_numpy(ticks) + (after - before.days) * per_day
    return from_numpy(numbers, missing=missing).cast(kind)


class RelativeSource(_StepSource):
    """The rows of a source with the time from one date to another.

    Args:
        source: The rows.
        step: Which dates, and in which unit.
    """

    step: Relative

    def __init__(self, source: ArrowSource, step: Relative) -> None:
        super().__init__(source, step)
        self._first: dict[str, int] | None = None

    def _compute(self, batch: pa.RecordBatch) -> tuple[dict[str, pa.Array], Problems]:
        step, problems = self.step, Problems()
        until = days_of(batch.column(step.of))
        problems |= self._partial(until, step.of)
        if step.since is not None:
            since = days_of(batch.column(step.since))
            problems |= self._partial(since, step.since)
            start, known = since.days, since.known
        else:
            people = _BatchPeople(batch.column(str(step.person)), str(step.person))
            problems |= people.without(until, step, str(step.person))
            first = self._first_days()
            starts = np.array([first.get(text, _NEVER) for text in people.texts] or [_NEVER])
            start = starts[people.codes]
            known = ~people.missing & (start != _NEVER)
        known = known & until.known
        start = np.where(known, start, 0)
        found = _between(start, np.where(known, until.days, 0), step)
        return {step.into: from_numpy(found, missing=~known)}, problems

    def _first_days(self) -> dict[str, int]:
        """Return the first day of each person, by a pass of its own."""
        if self._first is not None:
            return self._first
        first: dict[str, int] = {}
        column, person = str(self.step.first), str(self.step.person)
        problems: dict[str, int] = {}
        for batch in self._source.batches(list(dict.fromkeys([person, column]))):
            people = _BatchPeople(batch.column(person), person)
            found = days_of(batch.column(column))
            for text, rows in {
                **self._partial(found, column),
                **people.without(found, self.step, person),
            }.items():
                problems[text] = problems.get(text, 0) + int(rows.sum())
            least = np.full(max(len(people.texts), 1), _NEVER, dtype=np.int64)
            useful = found.known & ~people.missing
            np.minimum.at(least, people.codes[useful], found.days[useful])
            for text, day in zip(people.texts, least.tolist(), strict=False):
                if day < first.get(text, _NEVER):
                    first[text] = day
        for text, times in problems.items():
            if times:
                raise InputError(f"{self.where}: {text.format(rows=_rows(times))}")
        self._first = first
        return first


_NEVER = np.iinfo(np.int64).max


def _calendar(days: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the years, months and days of the month of days counted from 1970."""
    moments = days.astype("datetime64[D]")
    months = moments.astype("datetime64[M]")
    years = months.astype("datetime64[Y]").astype(np.int64) + 1970
    month = months.astype(np.int64) % 12 + 1
    return years, month, (moments - months).astype(np.int64) + 1


def _between(since: IntArray, until: IntArray, step: Relative) -> IntArray:
    """Return the time between days, as `Relative.between` does."""
    if step.unit == "months":
        (y0, m0, d0), (y1, m1, d1) = _calendar(since), _calendar(until)
        return 12 * (y1 - y0) + m1 - m0 - (d1 < d0)
    return (until - since) // 7 if step.unit == "weeks" else until - since


class AgeSource(_StepSource):
    """The rows of a source with an age.

    Args:
        source: The rows.
        step: The dates of birth, and when the age is meant.
    """

    step: Age

    def _compute(self, batch: pa.RecordBatch) -> tuple[dict[str, pa.Array], Problems]:
        step = self.step
        born = days_of(batch.column(step.of))
        problems = self._partial(born, step.of)
        if step.fixed is None:
            at = days_of(batch.column(step.at))
            problems |= self._partial(at, step.at)
            days, known = at.days, born.known & at.known
        else:
            days = np.full(len(born.days), step.fixed.toordinal() - _EPOCH, dtype=np.int64)
            known = born.known
        (y0, m0, d0), (y1, m1, d1) = _calendar(born.days), _calendar(days)
        age = y1 - y0 - ((m1 < m0) | ((m1 == m0) & (d1 < d0)))
        problems[
            f"column {step.of!r} has dates after {step.at} in {{rows}}, so that the age would be "
            "negative. Correct them, or make them missing."
        ] = known & (age < 0)
        return {step.into: from_numpy(age, missing=~known)}, problems
