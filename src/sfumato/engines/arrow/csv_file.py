"""CSV files: text in UTF-8 with a header, cells separated by comma, semicolon, tab or bar."""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from sfumato.engines.arrow.source import FileSource, broken
from sfumato.errors import InputError

DELIMITERS = (",", ";", "\t", "|")

_BLOCK = 1 << 22
"""Bytes read at a time; a single row must fit into it."""

_SAMPLE = 1 << 20
"""Bytes looked at to find the delimiter and the header."""


class CsvSource(FileSource):
    """A CSV file. Every column is text (00123 stays 00123), and an empty cell is missing."""

    kind = "csv"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self._open() as stream:
            try:
                sample = stream.read(_SAMPLE)
            except (OSError, pa.ArrowException) as error:
                raise broken(self.where, "CSV", error) from error
        records_by_delimiter = _parse(self._text(sample), whole=len(sample) < _SAMPLE)
        self.delimiter, records = _most_regular(records_by_delimiter)
        if not records and len(sample) == _SAMPLE:
            raise InputError(
                f"{self.where} has a header longer than {_SAMPLE >> 20} MB. Probably a quote is "
                "opened and never closed."
            )
        if not records:
            raise InputError(f"{self.where} is empty. A table needs a header and at least one row.")
        if len(records) == 1 and len(sample) < _SAMPLE:
            raise InputError(f"{self.where} has a header and no rows")
        # Text is repetitive: as dictionaries it is smaller, and counted without comparing texts.
        self._type = pa.dictionary(pa.int32(), pa.string())
        self.schema = pa.schema([(name, pa.string()) for name in records[0]])

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        bad: list[pa_csv.InvalidRow] = []

        def refuse(row: pa_csv.InvalidRow) -> str:
            bad.append(row)
            return "error"

        try:
            with self._open() as stream:
                reader = pa_csv.open_csv(
                    stream,
                    # One thread: the reader streams, so a second one only waits for the first.
                    read_options=pa_csv.ReadOptions(block_size=_BLOCK, use_threads=False),
                    parse_options=pa_csv.ParseOptions(
                        delimiter=self.delimiter,
                        newlines_in_values=True,
                        invalid_row_handler=refuse,
                    ),
                    convert_options=pa_csv.ConvertOptions(
                        include_columns=list(columns),
                        column_types=dict.fromkeys(columns, self._type),
                        null_values=[""],
                        strings_can_be_null=True,
                    ),
                )
                yield from reader
        except (OSError, pa.ArrowException) as error:
            raise self._explained(error, bad) from error

    def _open(self) -> pa.NativeFile:
        with self.path.open("rb") as file:
            gzipped = file.read(2) == b"\x1f\x8b"
        try:
            return pa.input_stream(self.where, compression="gzip" if gzipped else "detect")
        except (OSError, pa.ArrowException) as error:
            raise broken(self.where, "CSV", error) from error

    def _text(self, sample: bytes) -> str:
        if sample[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise self._not_utf8("it is UTF-16")
        if b"\0" in sample:
            raise InputError(
                f"{self.where} is not a text file: it holds zero bytes. "
                "Give a CSV, Parquet or Feather file."
            )
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            # The sample may end in the middle of a character; a short file may not.
            text = decoder.decode(sample, final=len(sample) < _SAMPLE)
        except UnicodeDecodeError as error:
            raise self._not_utf8(_offence(sample, error.start, 1)) from None
        return text.removeprefix("\ufeff")

    def _not_utf8(self, why: str) -> InputError:
        return InputError(
            f"{self.where} is not in UTF-8: {why}. Save it as UTF-8, for example with "
            "iconv -f latin1 -t utf-8."
        )

    def _explained(self, error: Exception, bad: Sequence[pa_csv.InvalidRow]) -> InputError:
        """Say in the user's words, and with a line number, what Arrow stumbled over."""
        if bad:
            row = bad[0]
            line = self._line_of(row.text) or row.number
            quote = " A quote in it is not closed." if row.text.count('"') % 2 else ""
            return InputError(
                f"{self.where}, line {line}: the row has {row.actual_columns} cells, the header "
                f"has {row.expected_columns} (separated by {self.delimiter!r}).{quote} "
                'Correct the row; a cell that holds the separator must stand in "quotes".'
            )
        text = str(error)
        if "UTF8" in text:
            return self._not_utf8(self._first_offence())
        if "straddling" in text:
            return InputError(
                f"{self.where} has a row longer than {_BLOCK >> 20} MB. Probably a quote is "
                "opened and never closed."
            )
        return broken(self.where, "CSV", error)

    def _line_of(self, text: str) -> int | None:
        """Find the line a row stands on. Arrow counts rows, which may span lines."""
        row = re.compile(rb"(?:\A|(?<=[\r\n]))" + re.escape(text.encode()) + rb"(?=[\r\n]|\Z)")
        line, tail = 1, b""
        for chunk in self._chunks():
            window = tail + chunk
            found = row.search(window)
            # What ends where the window ends may go on in the next chunk.
            if found and (found.end() < len(window) or len(chunk) < _BLOCK):
                return line + _newlines(window[: found.start()])
            cut = max(0, window.rfind(b"\n", 0, max(0, len(window) - len(text) * 4 - 2)) + 1)
            line += _newlines(window[:cut])
            tail = window[cut:]
        return None

    def _first_offence(self) -> str:
        decoder = codecs.getincrementaldecoder("utf-8")()
        line = 1
        for chunk in self._chunks():
            pending = decoder.getstate()[0]
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                return _offence(pending + chunk, error.start, line)
            line += _newlines(chunk)
        return "it ends in the middle of a character"

    def _chunks(self) -> Iterator[bytes]:
        with self._open() as stream:
            while chunk := stream.read(_BLOCK):
                yield chunk


def _newlines(data: bytes) -> int:
    return data.count(b"\n") or data.count(b"\r")


def _offence(data: bytes, at: int, first_line: int) -> str:
    line = first_line + _newlines(data[:at])
    return f"line {line} holds the byte 0x{data[at]:02X}"


def _parse(text: str, *, whole: bool, most: int = 200) -> dict[str, list[list[str]]]:
    """Read the first records once for each delimiter there could be."""
    parsed: dict[str, list[list[str]]] = {}
    for delimiter in DELIMITERS:
        records: list[list[str]] = []
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            for record in reader:
                if record:
                    records.append(record)
                if len(records) > most:
                    break
            else:
                # A sample that is not the whole file ends inside a record.
                if records and not whole:
                    records.pop()
        except csv.Error:
            pass  # a quote left open: Arrow will say so with the line number
        parsed[delimiter] = records
    return parsed


def _most_regular(parsed: dict[str, list[list[str]]]) -> tuple[str, list[list[str]]]:
    r"""Choose the delimiter that splits the header and splits the rows like the header.

    >>> _most_regular(_parse("a;b\n1,5;2,5\n", whole=True))
    (';', [['a', 'b'], ['1,5', '2,5']])
    """

    def regularity(delimiter: str) -> tuple[bool, float, int]:
        records = parsed[delimiter]
        width = len(records[0]) if records else 0
        alike = sum(len(record) == width for record in records)
        return width > 1, alike / max(1, len(records)), width

    best = max(DELIMITERS, key=regularity)
    return best, parsed[best]
