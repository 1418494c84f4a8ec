"""Count combinations of values: GROUP BY, batch by batch.

Memory grows with the distinct combinations, not with the rows.
"""

import codecs
import csv
import gc
import io
import secrets
import struct
from array import array
from collections import Counter
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from datetime import datetime, timezone
from fractions import Fraction
from functools import cached_property, reduce
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, ParameterError, UnknownColumnError, lacks_memory, some
from sfumato.files import refuse_special
from sfumato.files.dialect import Dialect
from sfumato.files.reading import Reading, TextFile
from sfumato.files.textfiles import ParsedText, UnpackedFile, open_bytes
from sfumato.text import STAR, is_missing, text_of
from sfumato.verifier import office
from sfumato.verifier.formats import plugins
from sfumato.verifier.hidden import SeenGroups, telling_notes

# Open a table of any supported kind and stream its rows in batches.
#
# CSV cells are text. Batches have empty ones as they are; to `normalise` they are missing.


FORMATS = {
    "csv": (".csv", ".tsv", ".txt", ".csv.gz"),
    "parquet": (".parquet", ".pq"),
    "feather": (".feather", ".arrow", ".ipc"),
    **office.FORMATS,
}
DELIMITERS = ",;\t|"
RARE_DELIMITERS = ":~^\x1f\x01"
_BATCH_ROWS = 2**18
_BLOCK_BYTES = 2**23
_PEEK_BYTES = 2**20
_PEEK_ROWS = 201


@dataclass(frozen=True)
class Source:
    """A table that can be read, as often as needed.

    `metadata` lists what its file says about the table apart from names and types, and `telling`
    what of it may say more than that. `seen` is what was found in row groups of a Parquet file
    while they were read, and `counted` what was counted and is much less than its rows: neither
    need be read again.
    """

    names: tuple[str, ...]
    batches: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
    metadata: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()
    seen: SeenGroups | None = None
    counted: "list[tuple[tuple[str, ...], Counts]]" = field(default_factory=list)


@contextmanager
def without_collecting() -> Iterator[None]:
    """Collect no cycles in the block: it makes many objects, and none of them is in one."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextmanager
def readable(what: str) -> Iterator[None]:
    """Turn whatever a reader throws at a broken file into an error for people."""
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, csv.Error, OSError, ValueError, TypeError, OverflowError) as error:
        if lacks_memory(error):
            # Nothing is wrong with the file.
            raise
        first = (str(error).splitlines() or [""])[0]
        raise InputError(f"{what} cannot be read: {first[:200]}") from error


def open_source(data: object, *, form: str | None = None, delimiter: str | None = None) -> Source:
    """Open a file by its format, or an Arrow, Polars or pandas table.

    >>> table = pa.table({"age": [39, None]})
    >>> [batch.to_pydict() for batch in open_source(table).batches(["age"])]
    [{'age': [39, None]}]
    """
    reading = Reading(delimiter=delimiter)
    if isinstance(data, TextFile):
        # How it is written was found out by others, or said; nothing of it is taken on trust that
        # can be looked at.
        reading, form = data.reading, form_of_text(data)
        data = data.path
    if not isinstance(data, str | Path):
        source = _open_table(data)
    else:
        path = Path(data)
        refuse_special(path)
        if not path.is_file():
            raise InputError(f"there is no file {str(path)!r}")
        form = form or _format_of(path)
        with readable(str(path.name)):
            if form == "csv":
                source = _open_csv(path, reading)
            elif form == "parquet":
                source = _open_parquet(path)
            elif form == "feather":
                source = _open_feather(path)
            elif form in office.FORMATS or form in office.OTHERS:
                source = _open_office(path, form, reading)
            elif form in plugins():
                source = _open_table(plugins()[form].read(path))
            else:
                raise InputError(f"no format {form!r}. Known: {', '.join(known_formats())}")
    twice = [name for name, n in Counter(source.names).items() if n > 1]
    if twice:
        raise InputError(f"a column name stands there more than once: {some(twice)}")
    return source


def form_of_text(file: TextFile) -> str:
    """Return the format of a file of which it is told how it is read.

    Where all of that is told, it is text, whatever it begins with.
    """
    if file.reading.numbers is not None or not file.path.is_file():
        return "csv"
    with file.path.open("rb") as opened:
        head = opened.read(100)
    return office.form_of(head, file.path.suffix.lower()) or "csv"


def known_formats() -> tuple[str, ...]:
    """Return the formats in which releases can be written, those of plug-ins last."""
    return (*FORMATS, *plugins())


def _format_of(path: Path) -> str:
    for form, endings in (*FORMATS.items(), *office.OTHERS.items()):
        if path.name.lower().endswith(endings):
            return form
    for plugin in plugins().values():
        if path.name.lower().endswith(plugin.endings):
            return plugin.name
    known = ", ".join(ending for endings in FORMATS.values() for ending in endings)
    raise InputError(f"the format of {path.name!r} is not known by its name. Known: {known}")


def _open_table(data: object) -> Source:
    if isinstance(data, Source):
        return data
    with readable("the table"):
        if not (isinstance(data, pa.Table | pa.RecordBatch) or hasattr(data, "__arrow_c_stream__")):
            raise InputError(
                f"a {type(data).__name__} is not a table. "
                "Give a path or an Arrow, Polars or pandas table."
            )
        table = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
        table = table if isinstance(table, pa.Table) else pa.table(table)

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with readable("the table"):
            for batch in table.select(list(columns)).to_batches(max_chunksize=_BATCH_ROWS):
                yield _with_text(batch)

    return Source(tuple(table.column_names), batches)


def source_of(
    names: Sequence[str], batches: Callable[[Sequence[str]], Iterable[pa.RecordBatch]]
) -> Source:
    """Return a table in memory that Arrow takes over in parts, as often as needed.

    Args:
        names: Its columns.
        batches: Returns the rows of some of them.
    """

    def read(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with readable("the table"):
            yield from map(_with_text, batches(columns))

    return Source(tuple(names), read)


def _open_csv(path: Path, reading: Reading) -> Source:
    with _open_text(path, reading) as stream:
        head = stream.read(_PEEK_BYTES)
    # A character may be cut in two at the end of what was read.
    text = head.decode("utf-8-sig", errors="ignore")
    text = "".join(io.StringIO(text, newline="").readlines()[reading.skip :])
    separator = reading.delimiter or find_delimiter(text, whole=len(head) < _PEEK_BYTES)
    quote = '"' if reading.quote is None else reading.quote
    lines = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    )
    names = tuple(next(filter(None, lines), ()))
    if not names:
        raise InputError(f"{path.name} cannot be read: it has no header")

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with readable(path.name), _open_text(path, reading) as stream:
            text = _AppendedRow(stream, separator, len(names))
            parsed = ParsedText(
                text.read,
                block=_BLOCK_BYTES,
                skip=reading.skip,
                parse={
                    "delimiter": separator,
                    "quote_char": quote or False,
                    "newlines_in_values": True,
                    # An empty line is no row, whatever the width: most readers skip it.
                    "ignore_empty_lines": True,
                },
                convert={
                    "column_types": dict.fromkeys(names, pa.string()),
                    "include_columns": list(columns),
                    "null_values": [""],
                    "strings_can_be_null": True,
                    # Readers of the bytes see whether there are quotes around nothing.
                    "quoted_strings_can_be_null": False,
                },
            )
            try:
                with parsed:
                    for batch in text.without_it(parsed):
                        yield _in_plain_notation(batch, reading)
            except (_OpenQuoteError, pa.ArrowInvalid) as error:
                # Arrow's own words would quote the row.
                for row in parsed.uneven:
                    if text.cell not in row.text:
                        raise InputError(
                            f"{path.name} cannot be read: row {row.number} has "
                            f"{row.actual_columns} cells, the header has {row.expected_columns}"
                        ) from None
                if "straddling" in str(error):
                    raise InputError(
                        f"{path.name} cannot be read: a row has more than {_BLOCK_BYTES >> 20} MB. "
                        "Perhaps a quote in it is not closed"
                    ) from None
                if parsed.uneven or isinstance(error, _OpenQuoteError):
                    raise InputError(
                        f"{path.name} cannot be read: {_open_quote(path, reading, separator)}"
                    ) from None
                raise

    return Source(names, batches)


def _open_text(path: Path, reading: Reading) -> pa.NativeFile | UnpackedFile:
    """Open a file as UTF-8, whatever it is said to be encoded in."""
    stream = open_bytes(path)
    if reading.encoding in (None, "utf-8"):
        return stream
    native = pa.PythonFile(stream, mode="r") if isinstance(stream, UnpackedFile) else stream
    return pa.transcoding_input_stream(native, reading.encoding, "utf-8")


def _in_plain_notation(batch: pa.RecordBatch, reading: Reading) -> pa.RecordBatch:
    """Return cells that mean nothing as missing, and numbers as programs write them.

    Of a column that is said to hold numbers with other marks, every cell must be one.
    """
    numbers = reading.numbers or {}
    if not reading.missing and not {*numbers} & {*batch.schema.names}:
        return batch
    columns = [
        _plain_cells(batch.column(name), reading.missing, numbers.get(name), name)
        for name in batch.schema.names
    ]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _plain_cells(
    cells: pa.Array, missing: Sequence[str], notation: tuple[str, str] | None, name: str
) -> pa.Array:
    if missing:
        nothing = pc.is_in(cells, pa.array(missing, pa.string()))
        cells = pc.if_else(nothing, pa.scalar(None, pa.string()), cells)
    if notation is None:
        return cells
    decimal, thousands = notation
    for mark in {" ": " \u00a0\u202f\u2009", "'": "'\u2019"}.get(thousands, thousands):
        cells = pc.replace_substring(cells, mark, "")
    for mark, plain in ((decimal, "."), ("\u2212", "-")):
        cells = pc.replace_substring(cells, mark, plain)
    fits = pc.match_substring_regex(cells, r"^[-+]?[0-9]*\.?[0-9]*([eE][-+]?[0-9]+)?$")
    if pc.any(pc.invert(fits)).as_py():
        raise ValueError(f"column {name!r} is said to hold numbers, and not all of it are")
    return cells


class _OpenQuoteError(ValueError):
    """Text that ends inside a quote."""


class _AppendedRow:
    """A stream of CSV text with a row after its last one. Text holds no zero bytes.

    If a quote is open where the text ends, this row does not come out again as a row.
    """

    def __init__(self, stream: pa.NativeFile | UnpackedFile, separator: str, cells: int) -> None:
        self._stream = stream
        self.cell = secrets.token_hex(16)
        self._row = separator.join([self.cell] * cells).encode() + b"\n"
        self._before = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def _require_text(self, data: bytes, *, final: bool = False) -> None:
        if data.isascii() and not self._decoder.getstate()[0]:
            return
        try:
            self._decoder.decode(data, final=final)
        except UnicodeDecodeError:
            raise ValueError("it is not in UTF-8") from None

    def read(self, size: int) -> bytes:
        """Read on; the row comes last."""
        found: bytes = self._stream.read(size)
        if not found:
            self._require_text(b"", final=True)
            row, self._row = self._row, b""
            return self._before + row if row else b""
        if b"\0" in found:
            raise ValueError("it holds zero bytes, so it is not text")
        self._require_text(found)
        self._before = b"" if found.endswith((b"\n", b"\r")) else b"\n"
        return found

    def without_it(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return all rows that were read but this one; raise if it is not the last."""
        held: pa.RecordBatch | None = None
        for batch in batches:
            if held is not None and len(batch):
                yield held
            held = batch if len(batch) else held
        if held is None or any(column[-1].as_py() != self.cell for column in held.columns):
            raise _OpenQuoteError
        if len(held) > 1:
            yield held[:-1]


def _open_quote(path: Path, reading: Reading, separator: str) -> str:
    """Return in words that a file ends inside a quote, with the line that it begins in."""
    begins = after = 1
    with _open_text(path, reading) as stream:
        lines = io.TextIOWrapper(  # type: ignore[type-var]
            stream, encoding="utf-8-sig", newline=""
        )
        reader = csv.reader(lines, delimiter=separator, quotechar=reading.quote or '"')
        try:
            for _ in reader:
                begins, after = after, reader.line_num + 1
        except csv.Error:
            # The cell is longer than this reader allows.
            begins = after
    return f"a quote in line {begins} is not closed, and takes in all the rows after it"


def find_delimiter(text: str, *, whole: bool = True) -> str:
    r"""Choose the separator that cuts the header, and most of the first rows as the header is cut.

    All readers of a file must come to the same separator, so it is the rule of all. Of a text that
    goes on, the last row is not judged: it may be cut off.

    >>> find_delimiter('age;"pay, net"\n39;1\n')
    ';'
    """

    def evenness(separator: str) -> tuple[bool, Fraction, int]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        widths: list[int] = []
        # A cell may be longer than this reader allows: then the lines before it decide.
        with suppress(csv.Error):
            widths += islice(filter(None, map(len, reader)), _PEEK_ROWS)
            if not whole and len(widths) < _PEEK_ROWS:
                widths = widths[:-1]
        header = widths[0] if widths else 0
        return header > 1, Fraction(widths.count(header), max(1, len(widths))), header

    # The first of equals wins, so a table of one column is taken as comma-separated.
    best = max(DELIMITERS, key=evenness)
    if evenness(best)[0]:
        return best
    rare = [each for each in RARE_DELIMITERS if each in text and _fits_all(text, each, whole)]
    return max([best, *rare], key=evenness)


def _fits_all(text: str, separator: str, whole: bool) -> bool:  # noqa: FBT001 - of this file
    """Return whether a rare separator cuts every row as the header, into what look like names."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        rows += islice(filter(None, reader), _PEEK_ROWS)
        if not whole and len(rows) < _PEEK_ROWS:
            rows = rows[:-1]
    names = rows[0] if rows else []
    named = all(name.strip() and not {*name} & {*"()[]{}<>=,;"} for name in names)
    return len(rows) > 1 and named and {len(row) for row in rows} == {len(names)}


def _open_parquet(path: Path) -> Source:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        schema = file.schema_arrow

    # Text comes as the dictionaries the file holds: it is not spelt out to be counted.
    text = [one.name for one in schema if one.type in (pa.string(), pa.large_string())]
    seen = SeenGroups()

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with readable(path.name), pq.ParquetFile(path, read_dictionary=text) as file:
            # Not all at once: a batch would end at both ends of each row group.
            for group in range(file.num_row_groups):
                rows = file.iter_batches(
                    batch_size=_BATCH_ROWS,
                    row_groups=[group],
                    columns=list(columns),
                    use_threads=False,
                )
                yield from seen.watch(group, map(_with_text, rows))

    return Source(tuple(schema.names), batches, _metadata(schema), telling_notes(schema), seen)


def _with_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch, or raise if its text is none: Arrow takes a table's word for that."""
    for column in batch.columns:
        texts = column.dictionary if pa.types.is_dictionary(column.type) else column
        if texts.type in (pa.string(), pa.large_string(), pa.string_view()):
            texts.validate(full=True)
        # What Arrow does in full here takes four times as long.
        column.validate()
        _require_inside(column)
    return batch


def _open_office(path: Path, form: str, reading: Reading) -> Source:
    table = office.read_office(path, form, reading).table

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from table.select(list(columns)).to_batches(max_chunksize=_BATCH_ROWS)

    return Source(tuple(table.column_names), batches)


def _open_feather(path: Path) -> Source:
    with pa.OSFile(str(path)) as handle:
        schema = pa.ipc.open_file(handle).schema

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with readable(path.name), pa.OSFile(str(path)) as handle:
            reader = pa.ipc.open_file(handle)
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                # A stranger's offsets may point anywhere; looking comes before touching.
                batch.validate(full=True)
                yield batch.select(list(columns))

    return Source(tuple(schema.names), batches, _metadata(schema), telling_notes(schema))


def _metadata(schema: pa.Schema) -> tuple[str, ...]:
    keys = list(schema.metadata or {})
    keys += [key for field in schema for key in field.metadata or {}]
    names = (key.decode("utf-8", errors="replace") for key in keys)
    return tuple(name for name in names if name != "PARQUET:field_id")


def normalise(array: pa.Array) -> pa.Array:
    """Return equal cells as equal bytes, in a type that can be grouped.

    What would split one value in two is gone: NaN and the empty text are missing, -0.0 is 0.0. A
    list is the text of its items.

    >>> normalise(pa.array([0.0, -0.0, float("nan"), None])).to_pylist()
    [0.0, 0.0, None, None]
    >>> normalise(pa.array(["flu", "", None, " "])).to_pylist()
    ['flu', None, None, ' ']
    """
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_null(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(pa.string())
    if any(test(array.type) for test in _LISTS):
        array = pa.array(map(_text_of_list, array.to_pylist()), pa.string())
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    if pa.types.is_floating(array.type):
        nothing, zero = pa.nulls(1, array.type)[0], _whole([0]).cast(array.type)[0]
        return pc.if_else(pc.is_nan(array), nothing, pc.add(array, zero))
    if array.type in _TEXTUAL:
        empty = _is_empty(array)
        # Most columns have none, and then nothing is copied.
        if pc.any(empty).as_py():
            return pc.if_else(empty, pa.nulls(1, array.type)[0], array)
    return array


_LISTS = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)


def _text_of_list(items: Sequence[object] | None) -> str:
    return "; ".join(str(each) for each in items or () if each not in (None, ""))


def _is_empty(texts: pa.Array) -> pa.Array:
    """Return which texts are empty; compared with a 0 of Python, Arrow would import pandas."""
    return pc.invert(pc.binary_length(texts).cast(pa.bool_()))


_TEXTUAL = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def python_values(column: pa.ChunkedArray) -> list[object]:
    """Return a column as Python values, different ones staying different.

    Python knows neither nanoseconds nor years beyond 9999, so a time that needs them is a text. A
    value must not depend on those beside it: other batches of the same column have others.

    >>> python_values(pa.array([1_000, 1, None], pa.timestamp("ns")))
    [datetime.datetime(1970, 1, 1, 0, 0, 0, 1), '1970-01-01 00:00:00.000000001', None]
    """
    if not pa.types.is_temporal(column.type):
        plain: list[object] = column.to_pylist()
        return plain
    coarse, fine = column, []
    if getattr(column.type, "unit", None) == "ns":
        numbers = enumerate(column.cast(pa.int64()).to_pylist())
        fine = [at for at, number in numbers if number is not None and number % 1000]
        coarser = {
            "TimestampType": lambda: pa.timestamp("us", column.type.tz),
            "DurationType": lambda: pa.duration("us"),
            "Time64Type": lambda: pa.time64("us"),
        }[type(column.type).__name__]()
        coarse = column.cast(coarser, safe=False)
    try:
        values = coarse.to_pylist()
    except (OverflowError, ValueError):
        values = [_moment(scalar) for scalar in coarse]
    for at in fine:
        values[at] = _text_of_scalar(column[at])
    return [_in_its_hour(value) for value in values]


def _moment(scalar: pa.Scalar) -> object:
    try:
        return scalar.as_py()
    except (OverflowError, ValueError):
        return _text_of_scalar(scalar)


def _text_of_scalar(scalar: pa.Scalar) -> str:
    """Return a time as Arrow writes it, or its number where Arrow cannot."""
    text = str(scalar.cast(pa.string()).as_py())
    if not pa.types.is_duration(scalar.type) and "out of range" not in text:
        return text
    number = scalar.cast(pa.int32() if pa.types.is_date32(scalar.type) else pa.int64()).as_py()
    return f"{number} {getattr(scalar.type, 'unit', 'd')}"


def _in_its_hour(value: object) -> object:
    """Return a time with its distance from UTC: Python takes the hour that comes twice for one."""
    if not isinstance(value, datetime) or value.tzinfo is None:
        return value
    offset = value.utcoffset()
    return value if offset is None else value.replace(tzinfo=timezone(offset), fold=0)


def text_key(combination: Sequence[object]) -> tuple[str | None, ...]:
    """Write a combination the way people and hierarchies write it.

    >>> text_key([39.0, None, "f"])
    ('39', None, 'f')
    """
    return tuple(None if is_missing(value) else text_of(value) for value in combination)


# Why not Arrow's own GROUP BY: on a million rows it takes 1.6 to 6 times as long as this, and
# more memory, because texts are spelt out, and loading it takes another 0.3 seconds, more than
# verifying a census: it brings in data sets, and pandas where that is installed. For the same
# reason numbers are handed to Arrow in buffers here, not as Python objects.


def distinct(columns: Sequence[pa.Array]) -> Iterator[tuple[tuple[object, ...], int]]:
    """Count the distinct combinations of columns; a missing cell is a value of its own.

    >>> list(distinct([pa.array(["f", None, "f"]), pa.array([1, 1, 1])]))
    [(('f', 1), 2), ((None, 1), 1)]
    """
    dictionaries: list[list[object]] = []
    members: list[pa.Array] = []
    codes: pa.Array | None = None
    for column in columns:
        encoded = column.dictionary_encode(null_encoding="encode")
        dictionaries.append(python_values(encoded.dictionary))
        code = encoded.indices.cast(pa.int64())
        if codes is None:
            numbered = code.dictionary_encode()
            members = [numbered.dictionary]
        elif len(members[0]) == len(code):
            # Every row is alone by now, and numbered in its order: nothing is left to tell apart.
            members = [*members, code]
            continue
        else:
            # Distinct combinations so far times values of this column: no 64-bit overflow.
            width = _number(len(dictionaries[-1]))
            numbered = pc.add(pc.multiply(codes, width), code).dictionary_encode()
            before = pc.divide(numbered.dictionary, width)
            here = pc.subtract(numbered.dictionary, pc.multiply(before, width))
            members = [*(member.take(before) for member in members), here]
        codes = numbered.indices.cast(pa.int64())
    # Codes are numbered as they first occur, and counts come in that order too.
    rows: list[int] = pc.value_counts(codes).field(1).to_pylist()
    values = [
        [dictionary[code] for code in member.to_pylist()]
        for dictionary, member in zip(dictionaries, members, strict=True)
    ]
    return zip(zip(*values, strict=True), rows, strict=True)


def _number(value: int) -> pa.Scalar:
    buffer = pa.py_buffer(struct.pack("=q", value))
    return pa.Array.from_buffers(pa.int64(), 1, [None, buffer])[0]


Combination = tuple[object, ...]

_BITS = 62
"""Bits of a number that stands for a combination."""

_UNCOUNTED = 1 << 21
"""Rows that are counted at a time: the more, the fewer combinations are met several times."""

_PENDING = 1 << 20
"""Counts that may pile up before equal ones are added up."""

_FEWER = 8
"""Rows per combination from which on adding up these is faster than reading a column again."""

_WAITING = 1 << 25
"""Bytes of cells that wait to be numbered together: values that many rows have are then met less
often. Ten million rows of 200 000 groups took four times as long batch by batch."""


class Tally:
    """Counts rows by their combination of values, batch after batch.

    A combination becomes one whole number, and numbers are counted and added up by Arrow. Python
    sees each combination about once, however many batches it is in.

    Example:
        >>> tally = Tally(2)
        >>> tally.add([pa.array(["f", None, "f"]), pa.array([1, 1, 1])])
        >>> tally.add([pa.array(["m", "f"]), pa.array([1, 1])])
        >>> tally.sums()
        {('f', 1): 3, (None, 1): 1, ('m', 1): 1}
    """

    def __init__(self, columns: int) -> None:
        self._books = [_Book() for _ in range(columns)]
        self._sums: dict[Combination, int] = {}
        self._waiting: list[Sequence[pa.Array]] = []
        self._size = 0
        self._numbers: list[pa.Array] = []
        self._uncounted = 0
        self._keys: list[pa.Array] = []
        self._rows: list[pa.Array] = []

    def add(self, columns: Sequence[pa.Array]) -> None:
        """Count the rows of a batch: one array per column, all equally long."""
        for column in columns:
            _require_inside(column)
        if _is_numbered(columns):
            self._number(columns)
            return
        if self._waiting and [c.type for c in columns] != [c.type for c in self._waiting[-1]]:
            self._number_waiting()
        self._waiting.append(columns)
        self._size += sum(column.nbytes for column in columns)
        if self._size >= _WAITING:
            self._number_waiting()

    def _number_waiting(self) -> None:
        waiting, self._waiting, self._size = self._waiting, [], 0
        if len(waiting) == 1:
            self._number(waiting[0])
        elif waiting:
            self._number([_join(arrays) for arrays in zip(*waiting, strict=True)])

    def _number(self, columns: Sequence[pa.Array]) -> None:
        coded = [_encode(column) for column in columns]
        for book, (values, _) in zip(self._books, coded, strict=True):
            book.learn(values)
        if any(book.full for book in self._books):
            # The numbers given so far mean something else from here on.
            self._spell_out()
            for book in self._books:
                book.widen()
        if sum(book.bits for book in self._books) > _BITS:
            self._take(distinct([normalise(column) for column in columns]))
            return
        self._numbers.append(self._pack(coded))
        self._uncounted += len(self._numbers[-1])
        if self._uncounted >= _UNCOUNTED:
            self._count()

    def _count(self) -> None:
        if not self._numbers:
            return
        counted = pc.value_counts(pa.chunked_array(self._numbers))
        self._numbers, self._uncounted = [], 0
        self._keys.append(counted.field(0))
        self._rows.append(counted.field(1))
        if sum(len(keys) for keys in self._keys) > _PENDING:
            self._add_up()
            if len(self._keys[0]) > _PENDING // 2:
                self._spell_out()

    def sums(self) -> dict[Combination, int]:
        """Return every combination with its number of rows."""
        self._number_waiting()
        self._spell_out()
        return self._sums

    def combinations(self) -> Mapping[Combination, int]:
        """Return the same, each combination as numbers until its values are asked for."""
        self._number_waiting()
        self._count()
        if self._sums or not self._keys:
            return self.sums()
        if len(self._keys) > 1:
            self._add_up()
        [keys], [rows] = self._keys, self._rows
        return CodedCombinations(keys, rows, [(book.values, book.bits) for book in self._books])

    def _pack(self, coded: "Sequence[_Coded]") -> pa.Array:
        whole: pa.Array | None = None
        shift = 0
        for book, (values, indices) in zip(self._books, coded, strict=True):
            numbers = _whole([book.codes[value] << shift for value in values])
            # All indices were looked at when the rows came: to look again is half of taking.
            part = pc.take(numbers, indices, boundscheck=False)
            whole = part if whole is None else pc.add(whole, part)
            shift += book.bits
        return whole

    def _add_up(self) -> None:
        """Merge what has piled up."""
        keys, rows = _add_up(pa.concat_arrays(self._keys), pa.concat_arrays(self._rows))
        self._keys, self._rows = [keys], [rows]

    def _spell_out(self) -> None:
        self._count()
        if len(self._keys) > 1:
            self._add_up()
        books = [(book.values, book.bits) for book in self._books]
        for keys, rows in zip(self._keys, self._rows, strict=True):
            counted = zip(_spell_out(keys, books), rows.to_pylist(), strict=True)
            if self._sums:
                self._take(counted)
            else:
                # Numbers that differ are combinations that differ: there is nothing to add up.
                self._sums.update(counted)
        self._keys, self._rows = [], []

    def _take(self, counted: Iterable[tuple[Combination, int]]) -> None:
        sums = self._sums
        for combination, rows in counted:
            sums[combination] = sums.get(combination, 0) + rows


def _add_up(keys: pa.Array, rows: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the distinct keys in order, and the sum of the rows of each.

    >>> [one.to_pylist() for one in _add_up(_whole([4, 2, 4]), _whole([1, 5, 2]))]
    [[2, 4], [5, 3]]
    """
    order = pc.sort_indices(keys)
    # In order, equal numbers are neighbours.
    runs = pc.run_end_encode(keys.take(order), run_end_type=pa.int64())
    before = pc.cumulative_sum(rows.take(order))
    last = before.take(pc.subtract(runs.run_ends, _whole([1])[0]))
    first = pa.concat_arrays([_whole([0]), last.slice(0, len(last) - 1)])
    return runs.values, pc.subtract(last, first)


_Books = Sequence[tuple[list[object], int]]
"""Per column, the values that its bits of a number stand for, and how many bits; lowest first."""


def _spell_out(keys: pa.Array, books: _Books) -> Iterator[Combination]:
    """Return the combinations that whole numbers stand for."""
    if not books:
        return iter([()] * len(keys))
    columns = [
        [values[code] for code in codes.to_pylist()]
        for (values, _), codes in zip(books, _codes(keys, books), strict=True)
    ]
    return zip(*columns, strict=True)


def _codes(keys: pa.Array, books: _Books) -> Iterator[pa.Array]:
    """Yield the number of each value, column by column."""
    shift = 0
    for _, bits in books:
        mask = _whole([(1 << bits) - 1])[0]
        yield pc.bit_wise_and(pc.shift_right(keys, _whole([shift])[0]), mask)
        shift += bits


class CodedCombinations(Mapping[Combination, int]):
    """Combinations and their rows, as numbers until values are asked for.

    Args:
        keys: A whole number for each combination.
        rows: How many rows it has.
        books: What the bits of a number stand for.

    Example:
        >>> books = [(["f", "m"], 1), (["x", "y"], 1)]
        >>> counted = CodedCombinations(_whole([0, 1, 3]), _whole([7, 5, 4]), books)
        >>> counted
        {('f', 'x'): 7, ('m', 'x'): 5, ('m', 'y'): 4}
        >>> tuple(counted.split(1))
        ([('f',), ('m',)], [0, 1, 1], [(['x', 'y'], [0, 0, 1])], [7, 5, 4])
    """

    def __init__(self, keys: pa.Array, rows: pa.Array, books: _Books) -> None:
        self._keys = keys
        self._rows = rows
        self._books = books

    def __len__(self) -> int:
        return len(self._keys)

    @cached_property
    def _sums(self) -> dict[Combination, int]:
        spelt = _spell_out(self._keys, self._books)
        return dict(zip(spelt, self._rows.to_pylist(), strict=True))

    def __getitem__(self, combination: Combination) -> int:
        return self._sums[combination]

    def __iter__(self) -> Iterator[Combination]:
        return iter(self._sums)

    def items(self) -> ItemsView[Combination, int]:
        return self._sums.items()

    def __repr__(self) -> str:
        return repr(self._sums)

    def split(self, width: int) -> "SplitCombinations":
        """Split into the first columns and the others, without spelling combinations out."""
        bits = sum(bits for _, bits in self._books[:width])
        first = pc.bit_wise_and(self._keys, _whole([(1 << bits) - 1])[0]).dictionary_encode()
        rest = pc.shift_right(self._keys, _whole([bits])[0])
        others = self._books[width:]
        return SplitCombinations(
            list(_spell_out(first.dictionary, self._books[:width])),
            first.indices.to_pylist(),
            [
                (values, codes.to_pylist())
                for (values, _), codes in zip(others, _codes(rest, others), strict=True)
            ],
            self._rows.to_pylist(),
        )

    def count_each(self) -> Iterator[dict[object, int]]:
        """Count the values of each column by itself, column by column."""
        for (values, _), codes in zip(self._books, _codes(self._keys, self._books), strict=True):
            met, rows = _add_up(codes, self._rows)
            # A dictionary may have had values that no row has.
            yield {
                values[code]: n for code, n in zip(met.to_pylist(), rows.to_pylist(), strict=True)
            }


class SplitCombinations(NamedTuple):
    """Combinations in two parts: the values of some columns, which many may share, and the rest."""

    keys: list[Combination]
    """The distinct values of the first columns."""

    key_of: list[int]
    """Which of them each combination has."""

    others: list[tuple[list[object], Sequence[int]]]
    """Per other column, its values, and which of them each combination has."""

    rows: list[int]


class _Book:
    """The values of a column, numbered as they come."""

    def __init__(self) -> None:
        self.values: list[object] = []
        self.codes: dict[object, int] = {}
        self.bits = 0

    @property
    def full(self) -> bool:
        """Whether there are values whose numbers have too many bits."""
        return len(self.values) > 1 << self.bits

    def learn(self, values: Sequence[object]) -> None:
        codes = self.codes
        for value in values:
            if value not in codes:
                codes[value] = len(self.values)
                self.values.append(value)

    def widen(self) -> None:
        """Make room for all values, and for as many again."""
        if self.full:
            self.bits = len(self.values).bit_length()


def _is_numbered(columns: Sequence[pa.Array]) -> bool:
    """Return whether rows come with dictionaries so small that there is nothing to wait for."""
    entries = 0
    for column in columns:
        if not pa.types.is_dictionary(column.type):
            return False
        entries += len(column.dictionary)
    return _FEWER * entries <= len(columns[0])


def _require_inside(column: pa.Array) -> None:
    """Raise if an index points beyond its dictionary, before anything goes where it points."""
    if not pa.types.is_dictionary(column.type):
        return
    ends = pc.min_max(column.indices).values()
    if any(end.is_valid and not 0 <= end.as_py() < len(column.dictionary) for end in ends):
        raise pa.ArrowIndexError("an index points beyond its dictionary")


def _join(arrays: Sequence[pa.Array]) -> pa.Array:
    """Return arrays of one column as one."""
    if not pa.types.is_dictionary(arrays[0].type):
        return pa.concat_arrays(arrays)
    try:
        return pa.chunked_array(arrays).unify_dictionaries().combine_chunks()
    except pa.ArrowNotImplementedError:
        return pa.concat_arrays([array.dictionary_decode() for array in arrays])


_Coded = tuple[list[object], pa.Array]
"""The values of an array, and which of them each row has."""


def _encode(column: pa.Array) -> _Coded:
    if not pa.types.is_dictionary(column.type):
        encoded = normalise(column).dictionary_encode(null_encoding="encode")
        return python_values(encoded.dictionary), encoded.indices
    values = python_values(normalise(column.dictionary))
    indices = column.indices
    if indices.null_count:
        # One more entry, which is the missing value.
        indices = pc.fill_null(indices.cast(pa.int64()), _whole([len(values)])[0])
        values = [*values, None]
    return values, indices


def _whole(numbers: list[int]) -> pa.Array:
    """Return whole numbers as Arrow has them, without pandas, which it would import for a list."""
    return pa.Array.from_buffers(
        pa.int64(), len(numbers), [None, pa.py_buffer(array("q", numbers))]
    )


class Counts(NamedTuple):
    """Every distinct combination with its number of rows."""

    combinations: Mapping[tuple[object, ...], int]
    rows: int
    starred: int
    """Rows with `*` in every starred column and nothing anywhere else."""

    mixed: frozenset[str] = frozenset()
    """Columns that may have one value in several forms; see `count_parted`."""


def count(source: "Countable", columns: Sequence[str], *, stars: Sequence[str] = ()) -> Counts:
    """Count the distinct combinations of some columns.

    Args:
        source: The table.
        columns: The columns to count, in the order of the combinations.
        stars: If given, also count the rows that have `*` in all these columns and no
            other value in any column.

    >>> count(open_source(pa.table({"sex": ["f", None, "f"]})), ["sex"])
    Counts(combinations={('f',): 2, (None,): 1}, rows=3, starred=0, mixed=frozenset())
    """
    if not isinstance(source, Source):
        return count_in(source, columns, stars=stars)
    for name in columns:
        if name not in source.names:
            raise UnknownColumnError(name, source.names)
    wanted = list(source.names if stars or not columns else dict.fromkeys(columns))
    tally = Tally(len(columns))
    forms = _Forms(columns)
    rows = starred = 0
    for batch in source.batches(wanted):
        if not batch.num_rows:
            continue
        rows += batch.num_rows
        if stars:
            starred += _count_starred(batch, stars)
        if columns:
            _require_values(batch.schema, columns)
            tally.add([batch.column(c) for c in columns])
        forms.add(batch)
    alone: dict[Combination, int] = {(): rows} if rows else {}
    sums = tally.combinations() if columns else alone
    counts = Counts(sums, rows, starred, forms.mixed)
    if _FEWER * len(sums) <= rows:
        source.counted.append((tuple(columns), counts))
    return counts


def _require_values(schema: pa.Schema, columns: Sequence[str]) -> None:
    """Raise an error for columns whose cells have several named values."""
    for name in columns:
        kind = schema.field(name).type
        if pa.types.is_struct(kind) or pa.types.is_map(kind) or pa.types.is_union(kind):
            raise InputError(
                f"column {name!r} holds {kind}, which has no single value per row. "
                "Split it into plain columns, or leave it out."
            )


def count_each(source: Source, columns: Sequence[str]) -> dict[str, dict[object, int]]:
    """Count the values of some columns, each by itself, in one pass.

    >>> count_each(open_source(pa.table({"age": [3.0, None, 3.0]})), ["age"])
    {'age': {3.0: 2, None: 1}}
    """
    found = _counted_before(source)
    tallies = {name: Tally(1) for name in columns if name not in found}
    for batch in source.batches(list(tallies)) if tallies else ():
        for name, tally in tallies.items() if batch.num_rows else ():
            tally.add([batch.column(name)])
    for name, tally in tallies.items():
        found[name] = {value: n for (value,), n in tally.sums().items()}
    return {name: found[name] for name in columns}


def _counted_before(source: Source) -> dict[str, dict[object, int]]:
    """Count the values of columns by the combinations they are in, where these were counted."""
    found: dict[str, dict[object, int]] = {}
    for columns, counts in source.counted:
        if isinstance(counts.combinations, CodedCombinations):
            found |= zip(columns, counts.combinations.count_each(), strict=True)
            continue
        for at, name in enumerate(columns):
            sums = found[name] = {}
            for combination, rows in counts.combinations.items():
                value = combination[at]
                sums[value] = sums.get(value, 0) + rows
    return found


def open_countable(data: object) -> "Countable":
    """Open a file or a table; a table of a database is asked as it is."""
    return data if isinstance(data, DatabaseRelation) else open_source(data)


def _count_starred(batch: pa.RecordBatch, stars: Sequence[str]) -> int:
    masks = []
    for name in batch.schema.names:
        array = normalise(batch.column(name))
        if name not in stars:
            masks.append(pc.is_null(array))
        elif pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
            masks.append(pc.equal(array, STAR))
        else:
            return 0
    # A missing cell equals nothing: the mask is null there, and a sum skips nulls.
    return int(pc.sum(reduce(pc.and_, masks)).as_py() or 0)


def count_parted(source: "Countable", columns: Sequence[str]) -> dict[Combination, int]:
    """Return the combinations whose rows can be told apart by bytes, with the fewest alike of each.

    Equal values may be written differently: a missing cell as null, NaN or an empty text, zero with
    a sign. The rows of one combination are parted by that.

    >>> count_parted(open_source(pa.table({"pay": [0.0, -0.0, 0.0, 1.5, 1.5]})), ["pay"])
    {(0.0,): 1}
    """
    if not isinstance(source, Source) or not columns:
        return {}
    tally = Tally(2 * len(columns))
    for batch in source.batches(list(dict.fromkeys(columns))):
        if batch.num_rows:
            cells = [batch.column(name) for name in columns]
            tally.add([*cells, *map(_forms_of, cells)])
    parts: dict[Combination, list[int]] = {}
    for combination, rows in tally.sums().items():
        parts.setdefault(combination[: len(columns)], []).append(rows)
    return {key: min(rows) for key, rows in parts.items() if len(rows) > 1}


def find_mixed(source: "Countable", columns: Sequence[str]) -> frozenset[str]:
    """Return the columns that may have one value in several forms."""
    if not isinstance(source, Source) or not columns:
        return frozenset()
    forms = _Forms(columns)
    for batch in source.batches(list(dict.fromkeys(columns))):
        forms.add(batch)
    return forms.mixed


class _Forms:
    """The forms that columns were met in, batch after batch."""

    def __init__(self, columns: Iterable[str]) -> None:
        self._met: dict[str, set[object]] = {name: set() for name in columns}

    def add(self, batch: pa.RecordBatch) -> None:
        for name, met in self._met.items():
            met.update(_met_forms(batch.column(name)))

    @property
    def mixed(self) -> frozenset[str]:
        return frozenset(name for name, met in self._met.items() if len(met - {_ORDINARY}) > 1)


def _met_forms(column: pa.Array) -> set[object]:
    """Return the forms that a column has, more if in doubt: its dictionary may have unused ones."""
    if pa.types.is_dictionary(column.type):
        return _met_forms(column.dictionary) | ({None} if column.indices.null_count else set())
    if column.type in _TEXTUAL:
        found = {None} if column.null_count else set()
        return found | ({_EMPTY} if pc.any(_is_empty(column)).as_py() else set())
    return set(_forms_of(column).unique().to_pylist())


_EMPTY = 2
"""The form of a missing cell that is an empty text."""

_ORDINARY = 0
"""The form of values that can be written in one way only."""


def _forms_of(array: pa.Array) -> pa.Array:
    """Return a number for how each cell is written: null is null, values of one form are 0."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        return _forms_of(array.dictionary).take(array.indices)
    nothing, ordinary = pa.scalar(None, pa.int64()), pa.scalar(_ORDINARY, pa.int64())
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    if pa.types.is_floating(array.type):
        wide = array.cast(pa.float64()) if array.type == pa.float32() else array
        bits = wide.view(pa.int64())
        # The bits of plain zero are 0, so they get another number: -0.0 must not be alone.
        zero = pc.if_else(pc.equal(bits, 0), pa.scalar(1, pa.int64()), bits)
        special = pc.or_(pc.is_nan(wide), pc.equal(wide, 0.0))
        return pc.if_else(special, zero, ordinary)
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    if array.type in _TEXTUAL:
        empty = _is_empty(array)
        return pc.if_else(empty, pa.scalar(_EMPTY, pa.int64()), ordinary)
    return pc.if_else(pc.is_null(array), nothing, ordinary)


def count_population(
    population: object,
    quasi_identifiers: Sequence[str],
    generalization: Mapping[str, Mapping[str | None, object]] | None = None,
) -> dict[tuple[str | None, ...], int]:
    """Count the people of a population on each tuple of published labels.

    A person with a value that the generalisation does not know cannot be in a published
    class and is not counted.

    Args:
        population: A path, table or `DatabaseRelation` with the quasi-identifiers as they
            were before.
        quasi_identifiers: The columns, in the order of the tuples.
        generalization: Per column, the label each raw text became; None stands for a
            missing value, on either side. A column that is not named stays as it is.

    >>> people = pa.table({"age": [21, 29, 35], "sex": ["f", "f", None]})
    >>> count_population(people, ["age", "sex"], {"age": {"21": "2*", "29": "2*", "35": "3*"}})
    {('2*', 'f'): 2, ('3*', None): 1}
    """
    labels = generalization or {}
    unknown = object()
    sums: dict[tuple[str | None, ...], int] = {}
    people = open_countable(population)
    lacking = [name for name in quasi_identifiers if name not in people.names]
    if lacking:
        # A policy of others may name any file: its columns, the first line, are not shown.
        raise InputError(
            f"the population has no column {some(lacking)}. Give a table that has every "
            "quasi-identifier, as it is before anything is generalised."
        )
    counts = count(people, quasi_identifiers)
    for combination, rows in counts.combinations.items():
        texts = text_key(combination)
        key = tuple(
            labels[name].get(text, unknown) if name in labels else text
            for name, text in zip(quasi_identifiers, texts, strict=True)
        )
        if unknown not in key:
            as_text = text_key(key)
            sums[as_text] = sums.get(as_text, 0) + rows
    return sums


# Count a table where it is: in a database, by statements of the verifier's own.
#
# Only counts of combinations leave the database, never rows. Whatever a name holds, it is quoted;
# values never stand in a statement, except the star and the empty text.


Kind: TypeAlias = Literal["text", "number", "other"]
"""What a column holds: text, numbers that may be NaN, or anything else."""

Answer: TypeAlias = pa.Table | Iterable[Sequence[object]]


@dataclass(frozen=True)
class DatabaseRelation:
    """A table of a database that answers questions.

    Example:
        >>> asked = []
        >>> def query(sql):
        ...     asked.append(sql)
        ...     return [("2*", 3)]
        >>> duckdb = Dialect(text="VARCHAR", collation='"binary"')
        >>> people = DatabaseRelation(("ward", 'my "own" people'), {"age": "text"}, duckdb, query)
        >>> count_in(people, ["age"]).combinations
        {('2*',): 3}
        >>> print(asked[0])
        SELECT CAST("age" AS VARCHAR) COLLATE "binary", count(*) FROM "ward"."my ""own"" people"
        GROUP BY CAST("age" AS VARCHAR) COLLATE "binary"

    Args:
        name: The table's name in parts, such as schema and table.
        columns: Its columns and what they hold.
        dialect: How the database writes names and texts.
        query: Runs a statement and returns its rows, as tuples or as an Arrow table.
    """

    name: tuple[str, ...]
    columns: Mapping[str, Kind]
    dialect: Dialect
    query: Callable[[str], Answer]

    def __post_init__(self) -> None:
        if not isinstance(self.dialect, Dialect):
            raise ParameterError("dialect", self.dialect, "a Dialect")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self.columns)

    def cell(self, column: str) -> str:
        """Write a column so that two values are grouped together only if they are equal."""
        name = self.dialect.quote(column)
        if self.columns[column] != "text":
            return name
        return f"CAST({name} AS {self.dialect.text}) COLLATE {self.dialect.collation}"

    def select(self, *cells: str, then: str = "") -> list[tuple[object, ...]]:
        """Run a statement about the table; equal cells come in equal forms."""
        source = self.dialect.quote(*self.name)
        answer = self.query(f"SELECT {', '.join(cells)} FROM {source}{then}")  # noqa: S608 - quoted
        if isinstance(answer, pa.Table):
            return list(zip(*(_values(column) for column in answer.columns), strict=True))
        return [tuple(map(_same, row)) for row in answer]


Countable: TypeAlias = Source | DatabaseRelation
"""A table whose combinations can be counted."""


def count_in(
    relation: DatabaseRelation, columns: Sequence[str], *, stars: Sequence[str] = ()
) -> Counts:
    """Count the distinct combinations of some columns, as `count` does in a file.

    Args:
        relation: The table.
        columns: The columns to count, in the order of the combinations.
        stars: If given, also count the rows that have `*` in all these columns and no
            other value in any column.
    """
    for name in (*columns, *stars):
        if name not in relation.columns:
            raise UnknownColumnError(name, relation.names)
    cells = [relation.cell(name) for name in columns]
    # One column may be looked at twice, and is grouped by once.
    grouped = f" GROUP BY {', '.join(dict.fromkeys(cells))}" if cells else ""
    sums: dict[tuple[object, ...], int] = {}
    for *combination, rows in relation.select(*cells, "count(*)", then=grouped):
        if rows:
            # What is one value here may be several there: NULL, NaN and '', 0.0 and -0.0.
            key = tuple(combination)
            sums[key] = sums.get(key, 0) + _whole_in_database(rows)
    return Counts(sums, sum(sums.values()), _starred_in_database(relation, stars) if stars else 0)


def _starred_in_database(relation: DatabaseRelation, stars: Sequence[str]) -> int:
    if any(relation.columns[name] != "text" for name in stars):
        return 0
    conditions = [
        f"{relation.cell(name)} = '{STAR}'" if name in stars else _missing(relation, name)
        for name in relation.columns
    ]
    [[rows]] = relation.select("count(*)", then=f" WHERE {' AND '.join(conditions)}")
    return _whole_in_database(rows)


def _missing(relation: DatabaseRelation, column: str) -> str:
    name = relation.dialect.quote(column)
    if relation.columns[column] == "text":
        return f"({name} IS NULL OR {relation.cell(column)} = '')"
    if relation.columns[column] != "number":
        return f"{name} IS NULL"
    # Databases do not agree on how to ask for NaN, but on how to write it.
    return f"({name} IS NULL OR lower(CAST({name} AS {relation.dialect.text})) = 'nan')"


def _values(column: pa.ChunkedArray) -> list[object]:
    if not column.num_chunks:
        return []
    return python_values(normalise(column.combine_chunks()))


def _same(value: object) -> object:
    if is_missing(value):
        return None
    return value + 0.0 if isinstance(value, float) else value


def _whole_in_database(rows: object) -> int:
    assert isinstance(rows, int)  # noqa: S101 - a count is nothing else
    return rows
