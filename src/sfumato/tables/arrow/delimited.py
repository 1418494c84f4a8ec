"""Text files with a header, whatever separates their cells, and whatever they are encoded in.

Cells are text, exactly as written. What is not plain about a file (its encoding, delimiter, quotes,
notation of numbers) is found out where it is certain, and told in one line; see
`sfumato.files.reading`.
"""

import codecs
import csv
import io
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import EncodingError, InputError
from sfumato.files.reading import (
    FoundEncoding,
    Reading,
    find_encoding,
    find_wide_encoding,
    tell,
)
from sfumato.files.textfiles import ParsedText, UnpackedFile, open_bytes
from sfumato.tables.arrow.numerals import Notations, Numerals, decide, may_be_numbers, rewrite
from sfumato.tables.arrow.sources import FileSource, unreadable_error
from sfumato.text import brief, join_words

DELIMITERS = (",", ";", "\t", "|")
"""What separates cells in most files."""

RARE_DELIMITERS = (":", "~", "^", "\x1f", "\x01")
"""What is tried where none of the others cuts the header; it must cut every row alike."""

_BLOCK = 1 << 22
"""Bytes read at a time; a single row must fit into it."""

_SAMPLE = 1 << 20
"""Bytes looked at to find the delimiter and the header."""

_LONGEST_NAME = 1 << 16
"""Characters of a column's name. Python's reader has a limit too, which others may lift."""

_LOOKED_AT = 2000
"""Records looked at to find columns of numbers."""

_UTF8 = "utf-8"


class CsvSource(FileSource):
    """A CSV file. Every column is text (00123 stays 00123), and an empty cell is missing.

    A file that ends inside a quote is refused: all rows after that quote would be one cell.

    Args:
        path: The file.
        said: How it is read, as far as that is known.
    """

    kind = "csv"

    def __init__(self, path: Path, said: Reading | None = None) -> None:
        super().__init__(path)
        self._said = said or Reading()
        self._notations: Notations | None = None
        with self._open() as stream:
            try:
                sample = stream.read(_SAMPLE)
            except (OSError, pa.ArrowException) as error:
                raise unreadable_error(self.where, "CSV", error) from error
        self._whole = len(sample) < _SAMPLE
        self._encoding = self._said.encoding or find_wide_encoding(sample) or _UTF8
        text = self._text(sample)
        self._skip = self._said.skip
        hint = _SEPARATOR_LINE.match(text)
        if hint and self._said.delimiter in (None, hint["delimiter"]) and not self._skip:
            # Spreadsheets write so what separates the cells.
            self._said = replace(self._said, delimiter=hint["delimiter"])
            self._skip = 1
        self._sample = _without_lines(text, self._skip)
        self._choose_dialect()
        records = self._records.records
        self._header = [name.encode() for name in records[0]]
        # Text is repetitive: as dictionaries it is smaller, and counted without comparing texts.
        self._type = pa.dictionary(pa.int32(), pa.string())
        self.schema = pa.schema([(name, pa.string()) for name in records[0]])

    def _choose_dialect(self) -> None:
        """Find the delimiter, the quote and the header; raise if they make no table."""
        said = self._said
        known = None if said.delimiter is None else (said.delimiter,)
        quote = _find_quote(self._sample, known) if said.quote is None else said.quote
        samples = _parse(self._sample, whole=self._whole, delimiters=known, quote=quote)
        self.quote, self.delimiter = quote, _most_regular(samples)
        self._records = samples[self.delimiter]
        records, complete = self._records
        if len(records) < 2 and (complete or not records):
            self._require_closed_quotes()
        if (not records and not complete) or (
            records and max(map(len, records[0])) > _LONGEST_NAME
        ):
            raise InputError(
                f"{self.where} has a header that is too long. Give each column a short name."
            )
        if not records:
            raise InputError(f"{self.where} is empty. A table needs a header and at least one row.")
        if len(records) == 1 and complete:
            raise InputError(f"{self.where} has a header and no rows")
        self._require_named_cells(samples, len(records[0]))

    def _require_named_cells(self, samples: Mapping[str, "_Records"], width: int) -> None:
        """Raise if the header is one cell, and all rows are several: whole rows would be cells."""
        for delimiter, (records, _) in samples.items() if width == 1 else ():
            widths = {len(record) for record in records[1:]}
            if delimiter in RARE_DELIMITERS and self._said.delimiter is None:
                continue
            if len(records) > 2 and len(widths) == 1 and max(widths) > 1 == len(records[0]):
                raise InputError(
                    f"{self.where}: the header has 1 cell, and every row has {max(widths)} "
                    f"(separated by {delimiter!r}). Name every column in the header, or leave out "
                    "lines before it with input: {skip: 1} in the policy; cells of a "
                    'single column that hold the separator must stand in "quotes".'
                )

    # What was found out.

    @property
    def reading(self) -> Reading:
        """The way the file is read, in full."""
        if not self._whole and self._said.encoding is None and self._encoding == _UTF8:
            # Bytes that are no UTF-8 may come late.
            for _ in self._utf8_chunks():
                pass
        return Reading(
            self.delimiter,
            self._encoding,
            self.quote,
            self._said.decimal,
            self._said.thousands,
            self._said.missing,
            self._skip,
            self._settle().numbers,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The findings about the file, in one line; nothing if it is a plain one."""
        found = self._settle()
        written = [
            "" if self._encoding == _UTF8 else f"in {self._encoding}",
            "" if self.delimiter == "," else f"separated by {_name_of(self.delimiter)}",
            "in single quotes" if self.quote == "'" else "",
            *_numbers_in_words(found.numbers),
        ]
        words = [each for each in written if each]
        sentences = [f"read {', '.join(words)}"] if words else []
        sentences += [
            f"column {name!r} ({brief(value, 20)!r}) stays text, because it may be read in two "
            "ways: say input: {decimal: ','} or {decimal: '.'} in the policy"
            for name, value in list(found.unsure.items())[:1]
        ]
        sentences += [
            f"column {name!r} stays text, because {brief(value, 20)!r} is no number: if that means "
            "missing, name it in input: {missing: [...]}"
            for name, value in list(found.spoilt.items())[:1]
        ]
        likely = [each for each in self._likely_missing() if each not in found.spoilt.values()]
        if likely:
            listed = join_words([repr(each) for each in likely], most=4)
            one = len(likely) == 1
            sentences.append(
                f"{listed} {'is a value' if one else 'are values'} like any other: if "
                f"{'it means' if one else 'they mean'} missing, name "
                f"{'it' if one else 'them'} in input: {{missing: [...]}}"
            )
        return (f"{self.where}: {'; '.join(sentences)}.",) if sentences else ()

    def _columns_looked_at(self) -> dict[str, list[str]]:
        """Return the distinct cells of each column in the first records that are not missing."""
        [(_, parsed)] = _parse(
            self._sample, whole=self._whole, most=_LOOKED_AT, delimiters=(str(self.delimiter),),
            quote=self.quote or "",
        ).items()  # fmt: skip
        header, *rows = parsed.records or [[]]
        missing = {"", *self._said.missing}
        columns = zip(*(row for row in rows if len(row) == len(header)), strict=True)
        found = [
            [cell for cell in dict.fromkeys(cells) if cell not in missing] for cells in columns
        ]
        return dict(zip(header, found or [[] for _ in header], strict=False))

    def _likely_missing(self) -> list[str]:
        found: dict[str, None] = {}
        for cells in self._columns_looked_at().values():
            found.update(dict.fromkeys(cell for cell in cells if cell.lower() in _MISSING_WORDS))
            numbers = [cell for cell in cells if cell not in _MISSING_CODES]
            if len(numbers) < len(cells) and numbers and all(map(str.isdigit, numbers)):
                found.update(dict.fromkeys(cell for cell in cells if cell in _MISSING_CODES))
        return list(found)

    def _settle(self) -> Notations:
        """Find out in which columns numbers are rewritten."""
        if self._notations is None:
            self._notations = Notations({}, {}, {})
            self._notations = self._find_notations()
            for note in self.notes if self._said.numbers is None else ():
                tell(note)
        return self._notations

    def _find_notations(self) -> Notations:
        said = self._said
        if said.numbers is not None:
            return Notations(said.numbers, {}, {})
        if said.as_written or (said.decimal == "." and said.thousands == ""):
            return Notations({}, {}, {})
        cells = self._columns_looked_at()
        likely = [name for name, values in cells.items() if may_be_numbers(values)]
        marked = any(_MARKED.search(cell) for name in likely for cell in cells[name])
        # Plain files are not read another time.
        if not likely or not (marked or self._whole or said.decimal or said.thousands):
            return Notations({}, {}, {})
        columns = {name: Numerals() for name in likely}
        for batch in self._text_batches(likely):
            for name, found in columns.items():
                found.add(pc.drop_null(batch.column(name).dictionary))
        return decide(columns, said)

    # Rows.

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        numbers = self._settle().numbers
        for batch in self._text_batches(columns):
            arrays = [
                rewrite(array, numbers[name]) if name in numbers else array
                for name, array in zip(columns, batch.columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, list(columns))

    def _text_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read cells as they are written."""
        text = _EndedText(
            self._utf8(),
            str(self.delimiter),
            len(self.schema),
        )
        n = 0
        waiting: pa.RecordBatch | None = None
        parsed = ParsedText(
            text.read,
            block=_BLOCK,
            parse={
                "delimiter": self.delimiter,
                "quote_char": self.quote or False,
                "newlines_in_values": True,
            },
            convert={
                "include_columns": list(columns),
                "column_types": dict.fromkeys(columns, self._type),
                "null_values": ["", *self._said.missing],
                "strings_can_be_null": True,
                # The bytes were looked at when they were read.
                "check_utf8": False,
            },
        )
        try:
            # The parser is closed first: until then it may read.
            with text.stream, parsed:
                for batch in parsed:
                    n += len(batch)
                    if waiting is not None and len(batch):
                        yield waiting
                    waiting = batch if len(batch) else waiting
        except _ZeroByteError:
            raise self._zero_byte() from None
        except (OSError, pa.ArrowException) as error:
            raise self._explain(error, parsed.uneven, text.mark) from error
        rows = None if waiting is None else text.without_end(waiting)
        if rows is None:
            self._require_closed_quotes()
            raise InputError(f"{self.where} cannot be read as CSV: it does not end with a row")
        # The row that was added counts among the rows, in place of the header.
        beyond = text.lines - n - sum(map(_newlines, self._header))
        if beyond > 0:
            # Few files have empty lines, and to look for them takes longer than to count lines.
            beyond -= _empty_lines(self._utf8_chunks())
        self.lines_beyond = max(beyond, 0)
        yield rows

    # Bytes.

    def _open(self) -> pa.NativeFile | UnpackedFile:
        try:
            return open_bytes(self.path)
        except (OSError, pa.ArrowException) as error:
            raise unreadable_error(self.where, "CSV", error) from error

    def _utf8(self) -> "_Utf8Stream":
        return _Utf8Stream(self._open(), self._encoding, self._skip, self._change_encoding)

    def _utf8_chunks(self) -> Iterator[bytes]:
        """Yield the file in UTF-8, from its header on."""
        with self._utf8() as stream:
            while chunk := stream.read(_BLOCK):
                yield chunk

    def _change_encoding(self, *, ascii_before: bool) -> str:
        """Return the encoding of a file of which some bytes are not in the one it seemed to be in.

        Args:
            ascii_before: Whether all bytes up to there mean the same in every encoding.
        """
        if self._said.encoding is not None or self._encoding != _UTF8:
            raise EncodingError(
                f"{self.where} is not in {self._encoding}: {self._first_offence()}. Name another "
                "encoding: input: {encoding: windows-1252} in the policy."
            )
        found = find_encoding(self._raw_chunks())
        if found.encoding is None or not ascii_before:
            raise self._not_utf8(found)
        self._encoding = found.encoding
        if self._notations is not None:
            for note in self.notes:
                tell(note)
        return self._encoding

    def _text(self, sample: bytes) -> str:
        if b"\0" in sample and self._encoding[:6] not in ("utf-16", "utf-32"):
            raise self._zero_byte()
        try:
            text = _decode(sample, self._encoding, final=self._whole)
        except UnicodeDecodeError:
            self._change_encoding(ascii_before=True)
            try:
                text = _decode(sample, self._encoding, final=self._whole)
            except UnicodeDecodeError:
                raise self._not_utf8(FoundEncoding(None)) from None
        if "\0" in text:
            raise self._zero_byte()
        return text.removeprefix("\ufeff")

    def _zero_byte(self) -> InputError:
        return InputError(
            f"{self.where} is not a text file: it holds zero bytes. "
            "Give a CSV, Parquet or Feather file."
        )

    def _not_utf8(self, found: FoundEncoding) -> InputError:
        offence = self._first_offence()
        if found.mixed:
            why = (
                "Other bytes of it are: perhaps two files were joined, or it is in an encoding "
                "that is not known here. Say which it is: input: {encoding: …} in the policy, or "
                "save it as UTF-8."
            )
        elif found.readings:
            read = join_words([f"{name} {word!r}" for name, word in found.readings])
            why = (
                f"Its encoding is not certain; it holds, in {read}. Say which it is: input: "
                f"{{encoding: {found.readings[0][0]}}} in the policy, or save it as UTF-8."
            )
        else:
            why = (
                "Its encoding is not certain. Say which it is: input: {encoding: windows-1252} in "
                "the policy, or save it as UTF-8."
            )
        text = f"{self.where} is not in UTF-8: {offence}. {why}"
        return EncodingError(text, readings=found.readings)

    def _first_offence(self) -> str:
        decoder = codecs.getincrementaldecoder(self._encoding)()
        line = 1
        for chunk in self._raw_chunks():
            pending = decoder.getstate()[0]
            try:
                text = decoder.decode(chunk)
            except UnicodeDecodeError as error:
                return _offence(pending + chunk, error.start, line)
            line += _newlines(text.encode())
        return "it ends in the middle of a character"

    def _raw_chunks(self) -> Iterator[bytes]:
        with self._open() as stream:
            while chunk := stream.read(_BLOCK):
                yield chunk

    # What is wrong, and where.

    def _require_closed_quotes(self) -> None:
        """Raise if the file ends inside a quote."""
        quote = self.quote
        if not quote:
            return
        try:
            line = _line_of_open_quote(self._utf8_chunks(), str(self.delimiter), quote)
        except (OSError, pa.ArrowException) as error:
            raise unreadable_error(self.where, "CSV", error) from error
        if line is not None:
            raise InputError(
                f"{self.where}, line {line + self._skip}: a cell that begins there takes in all "
                "the rows after it. A quote in it is not closed. Close it, or remove it; a quote "
                f"inside a quoted cell is written twice ({quote * 2})."
            )

    def _explain(self, error: Exception, bad: Sequence[Any], mark: str) -> InputError:
        """Return an error with a line number for what Arrow could not read."""
        if bad:
            row = bad[0]
            if mark in row.text:
                self._require_closed_quotes()
            line = (self._line_of(row.text) or row.number) + self._skip
            lines = _newlines(row.text.encode())
            quote = f" Inside quotes it goes on for {lines + 1} lines." if lines else ""
            return InputError(
                f"{self.where}, line {line}: the row has {row.actual_columns} cells, the header "
                f"has {row.expected_columns} (separated by {self.delimiter!r}).{quote} "
                'Correct the row; a cell that holds the separator must stand in "quotes".'
            )
        text = str(error)
        if "straddling" in text:
            self._require_closed_quotes()
            return InputError(f"{self.where} has a row longer than {_BLOCK >> 20} MB")
        return unreadable_error(self.where, "CSV", error)

    def _line_of(self, text: str) -> int | None:
        """Find the line a row stands on. Arrow counts rows, which may span lines."""
        row = re.compile(rb"(?:\A|(?<=[\r\n]))" + re.escape(text.encode()) + rb"(?=[\r\n]|\Z)")
        line, tail = 1, b""
        for chunk in self._utf8_chunks():
            window = tail + chunk
            found = row.search(window)
            # What ends where the window ends may go on in the next chunk.
            if found and (found.end() < len(window) or len(chunk) < _BLOCK // 3):
                return line + _newlines(window[: found.start()])
            cut = max(0, window.rfind(b"\n", 0, max(0, len(window) - len(text) * 4 - 2)) + 1)
            line += _newlines(window[:cut])
            tail = window[cut:]
        return None


_SEPARATOR_LINE = re.compile(r"sep=(?P<delimiter>[^\w\s\"'\\]|\t)[\r\n]")
_MARKED = re.compile(r"(?!-?[0-9]*\.?[0-9]*$)[.,'\u2019 \u00a0\u202f\u2009]|[0-9]\.[0-9]{3}\.")
_MISSING_WORDS = {
    "na", "n/a", "#n/a", "n.a.", "nan", "null", "none", "nil", "?", "-", "--", ".", "..", "missing",
    "unknown", "#nv", "k.a.", "k. a.", "<na>", "(missing)",
}  # fmt: skip
_MISSING_CODES = {"-9", "-99", "-999", "-9999"}


def _name_of(delimiter: str | None) -> str:
    return "tabs" if delimiter == "\t" else repr(delimiter)


def _numbers_in_words(numbers: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return in words how numbers are written, and in which columns.

    >>> _numbers_in_words({"pay": (",", "."), "height": (",", "")})
    ["with decimal comma in 'pay' and 'height'", "with '.' between thousands in 'pay'"]
    """
    comma = [repr(name) for name, (decimal, _) in numbers.items() if decimal == ","]
    found = [f"with decimal comma in {join_words(comma, most=4)}"] if comma else []
    for mark in dict.fromkeys(thousands for _, thousands in numbers.values() if thousands):
        names = [repr(name) for name, (_, thousands) in numbers.items() if thousands == mark]
        shown = "blanks" if mark == " " else repr(mark)
        found.append(f"with {shown} between thousands in {join_words(names, most=4)}")
    return found


def _decode(data: bytes, encoding: str, *, final: bool) -> str:
    # The sample may end in the middle of a character; a short file may not.
    return codecs.getincrementaldecoder(encoding)().decode(data, final=final)


def _without_lines(text: str, lines: int) -> str:
    r"""Return a text without its first lines.

    >>> _without_lines("a\r\nb\nc", 1)
    'b\nc'
    """
    return re.sub(rf"\A(?:[^\r\n]*(?:\r\n|\r|\n)){{{lines}}}", "", text) if lines else text


def _newlines(data: bytes) -> int:
    return data.count(b"\n") or data.count(b"\r")


def _offence(data: bytes, at: int, first_line: int) -> str:
    line = first_line + _newlines(data[:at])
    return f"line {line} holds the byte 0x{data[at]:02X}"


class _ZeroByteError(ValueError):
    """A zero byte in what should be text."""


class _Utf8Stream:
    """The bytes of a file as UTF-8, whatever it is encoded in.

    Args:
        stream: The bytes as they are.
        encoding: What they are in; UTF-8 goes through as it is.
        skip: How many lines are left out at the start.
        change: Returns another encoding if they are not in this one, or raises.
    """

    def __init__(
        self,
        stream: pa.NativeFile | UnpackedFile,
        encoding: str,
        skip: int,
        change: Callable[..., str],
    ) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._plain = encoding == _UTF8
        self._skip = skip
        self._change = change
        self._ascii = True
        self._rest = b""

    def __enter__(self) -> "_Utf8Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def read(self, size: int) -> bytes:
        """Read on, at most `size` bytes; none at the end."""
        while True:
            # A byte of another encoding becomes at most three.
            raw: bytes = self._stream.read(size if self._plain else max(size // 3, 4))
            data = self._as_utf8(raw)
            if self._skip and data:
                data = _without_lines(data.decode().removeprefix("\ufeff"), self._skip).encode()
                self._skip = 0
            if data or not raw:
                return data

    def _as_utf8(self, raw: bytes) -> bytes:
        if self._plain:
            if raw.isascii() and not self._rest and raw:
                return raw
            try:
                self._decoder.decode(raw, final=not raw)
            except UnicodeDecodeError:
                encoding = self._change(ascii_before=self._ascii)
                self._decoder, self._plain = codecs.getincrementaldecoder(encoding)(), False
                raw, self._rest = self._rest + raw, b""
                return self._as_utf8(raw)
            # What is cut off in the middle of a character waits: it may be of another encoding.
            pending = self._decoder.getstate()[0]
            data, self._rest = self._rest + raw, pending
            data = data[: len(data) - len(pending)]
            self._ascii = self._ascii and data.isascii()
            return data
        try:
            return self._decoder.decode(raw, final=not raw).encode()
        except UnicodeDecodeError:
            self._change(ascii_before=False)
            raise


def _empty_lines(chunks: Iterator[bytes]) -> int:
    r"""Count the lines of a text that hold nothing.

    >>> _empty_lines(iter([b"a,b\r\n", b"\r\n1,2\n\n", b"\n3,4"]))
    3
    """
    found, last = 0, b"\n"
    for chunk in chunks:
        text = last + chunk
        found += len(_EMPTY_LINE.findall(text)) - len(_EMPTY_LINE.findall(last))
        last = text[-2:]
    return found


_EMPTY_LINE = re.compile(rb"(?<=\n)\r?\n")


class _EndedText:
    """CSV text with one more row at its end, which tells whether the last cell was closed.

    If the text ends inside a quote, its last cell swallows that row. No scan of the text tells
    so at no cost: whether a quote opens a cell depends on everything before it.
    """

    def __init__(self, stream: _Utf8Stream, delimiter: str, width: int) -> None:
        self.stream = stream
        # Drawn, so that no file can hold it.
        self.mark = secrets.token_hex(16)
        self._end = delimiter.join([self.mark] * width).encode() + b"\n"
        self._in_line = False
        self.lines = 0
        """Lines that were read, empty ones among them."""

    def read(self, size: int) -> bytes:
        """Read on; the row comes last."""
        data = self.stream.read(size)
        if data:
            if b"\0" in data:
                raise _ZeroByteError
            self._in_line = data[-1:] not in b"\r\n"
            self.lines += data.count(b"\n")
            return data
        end, self._end = self._end, b""
        self.lines += bool(end and self._in_line)
        return b"\n" + end if end and self._in_line else end

    def without_end(self, batch: pa.RecordBatch) -> pa.RecordBatch | None:
        """Return the last rows without the one that was added; None if it is not there."""
        columns = []
        for column in batch.columns:
            if column[-1].as_py() != self.mark:
                return None
            # It came last into the dictionary too, and must not stay there.
            values = column.dictionary[:-1]
            columns.append(pa.DictionaryArray.from_arrays(column.indices[:-1], values))
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _line_of_open_quote(chunks: Iterator[bytes], delimiter: str, quote: str = '"') -> int | None:
    r"""Find the line of the quote that is still open where text ends; None if none is.

    A cell may not be longer than a block: a quote that is open for longer counts as never closed.

    >>> _line_of_open_quote(iter([b'a,b\n1,"x""\n', b'y"\n2,"z\n3,z\n']), ",")
    4
    """
    mark = quote.encode()
    end = rb"[%s\r\n]" % re.escape(delimiter.encode())
    rest = end.replace(b"[", b"[^")
    quoted = rb"%s(?:[^%s]++|%s%s)*+%s" % (mark, mark, mark, mark, mark) + rest + rb"*+"
    # Possessive, so that all whole cells of a chunk are matched at once, without going back.
    cells = re.compile(rb"(?:(?:%s|(?!%s)%s*+)%s)*+" % (quoted, mark, rest, end))
    line, left = 1, b""
    for chunk in chunks:
        window = left + chunk
        if line == 1 and not left:
            window = window.removeprefix(codecs.BOM_UTF8)
        whole = cells.match(window)
        at = whole.end() if whole else 0
        line += _newlines(window[:at])
        left = window[at:]
        if left and left[:1] != mark:
            # However much there is of a cell without quotes, it ends at the next separator.
            left = b"x"
        if len(left) > _BLOCK:
            return line
    closed = left[:1] != mark or re.fullmatch(quoted, left)
    return None if closed else line


class _Records(NamedTuple):
    """The first records of a file, by one delimiter."""

    records: list[list[str]]
    complete: bool
    """Whether the file has no others."""


def _parse(
    text: str,
    *,
    whole: bool,
    most: int = 200,
    delimiters: Sequence[str] | None = None,
    quote: str = '"',
) -> dict[str, _Records]:
    """Read the first records once for each delimiter there could be."""
    parsed: dict[str, _Records] = {}
    for delimiter in delimiters or (*DELIMITERS, *RARE_DELIMITERS):
        if delimiters is None and delimiter in RARE_DELIMITERS and delimiter not in text:
            continue
        records: list[list[str]] = []
        complete = False
        how = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **how)
        try:
            for record in reader:
                if record:
                    records.append(record)
                if len(records) > most:
                    break
            else:
                complete = whole
                # A sample that is not the whole file ends inside a record.
                if records and not whole:
                    records.pop()
        except csv.Error:
            pass  # a cell too long for this reader: Arrow has no such limit
        parsed[delimiter] = _Records(records, complete)
    return parsed


def _most_regular(parsed: Mapping[str, _Records]) -> str:
    r"""Choose the delimiter that splits the header and splits the rows like the header.

    >>> _most_regular(_parse("a;b\n1,5;2,5\n", whole=True))
    ';'
    >>> [_most_regular(_parse(text, whole=True)) for text in ("a:b\n1:2\n", "a:b\n1\n")]
    [':', ',']
    """

    def regularity(delimiter: str) -> tuple[bool, float, int]:
        records = parsed[delimiter].records
        width = len(records[0]) if records else 0
        alike = sum(len(record) == width for record in records)
        return width > 1, alike / max(1, len(records)), width

    usual = [each for each in parsed if each not in RARE_DELIMITERS]
    best = max(usual or parsed, key=regularity)
    if regularity(best)[0]:
        return best
    rare = [each for each in parsed if each in RARE_DELIMITERS and _cuts_all(parsed[each].records)]
    return max([best, *rare], key=regularity)


def _cuts_all(records: Sequence[Sequence[str]]) -> bool:
    """Return whether all rows have as many cells as the header, whose cells look like names."""
    if len(records) < 2 or any(len(record) != len(records[0]) for record in records):
        return False
    return all(name.strip() and not _NO_NAME.search(name) for name in records[0])


_NO_NAME = re.compile(r"[()\[\]{}<>=,;]")


def _find_quote(text: str, delimiters: Sequence[str] | None) -> str:
    r"""Return the character around cells: a single quote only if all cells of a column have it.

    >>> _find_quote("'a','b'\n'x, y','z'\n", None), _find_quote("city,n\n's-Hage,1\n'x',2\n", None)
    ("'", '"')
    """
    if "'" not in text or re.search(r"(?:\A|[,;\t|:~^\x1f\x01\r\n])\"", text):
        return '"'
    parsed = _parse(text, whole=True, delimiters=delimiters, quote="'")
    delimiter = _most_regular(parsed)
    end = f"[{re.escape(delimiter)}\\r\\n]"
    cell = re.compile(
        rf"(?P<quoted>'(?:[^']|'')*'(?={end}|\Z))|[^{re.escape(delimiter)}\r\n]*(?={end}|\Z)"
    )
    quoted: dict[int, bool] = {}
    at = column = rows = 0
    while at < len(text) and rows < 200:
        found = cell.match(text, at)
        if found is None:
            break
        if found["quoted"] is None and found[0].startswith("'"):
            return '"'
        if found[0] and rows:
            quoted[column] = quoted.get(column, True) and found["quoted"] is not None
        at = found.end() + 1
        ended = text[found.end() : at]
        column = column + 1 if ended == delimiter else 0
        rows += ended == "\n" or (ended == "\r" and text[at : at + 1] != "\n")
    return "'" if any(quoted.values()) else '"'
