"""Write published rows to files of SPSS, Stata and Excel.

Columns that are published as they are keep their type, variable label, format, the labels of the
values that occur and the codes of missing that occur. Nothing else of the input's dictionary is
written: no labels of values that no row has, no notes, no names, no times.
"""

import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.dataclasses import dataclass
from sfumato.errors import MissingExtraError, OutputError
from sfumato.tables.arrow.sources import as_type, is_text, plain_type, to_numpy
from sfumato.tables.arrow.writing import Writer
from sfumato.tables.office.source import MISSING
from sfumato.tables.variables import LabelledValue, Variable

_EXACT = 2**53
"""Whole numbers up to here are exact in the only type of numbers that these programs have."""

_SPSS_ORIGIN = 141_428
_STATA_ORIGIN = 3_653
"""Days before 1970 at which the calendars begin."""

_CALLED = {"sav": "SPSS", "dta": "Stata", "xlsx": "Excel"}


@dataclass
class _WrittenColumn:
    """A column that is about to be written."""

    name: str
    cells: pa.Array
    variable: Variable
    width: int = 0
    """The bytes that the column had for a text, if they may be told: often they are those of the
    longest one, which may be of a row that was suppressed."""

    codes: list[str | None] | None = None
    """Which code of missing each cell is, None for the others."""

    labels: dict[str, str] = field(default_factory=dict)
    """The labels of values that occur, by their codes."""

    as_codes: bool = False
    """Whether the cells, which are labels, are written as their codes."""

    missing: dict[str, str | None] = field(default_factory=dict)
    """The codes of missing that occur, with their labels."""


class OfficeWriter(Writer):
    """A file that is written whole at the end, because its head depends on all rows.

    Args:
        target: The file.
        schema: Its columns, and after them those of codes of missing.
        form: sav, dta or xlsx.
        variables: What the input's dictionary says about columns.
        recoded: The columns that models look at. Which code of missing a cell is would tell people
            apart who look alike, so such a column has one code for all of them or none.
        from_text: Whether the input is a text file, in which numbers are text: then columns of
            plain numbers are written as numbers.
    """

    def __init__(
        self,
        target: Path,
        schema: pa.Schema,
        form: str,
        *,
        variables: Mapping[str, Variable],
        recoded: Sequence[str],
        from_text: bool = False,
    ) -> None:
        require_writer(form)
        self._target = target
        self._schema = schema
        self._form = form
        self._variables = variables
        self._recoded = frozenset(recoded)
        self._from_text = from_text
        self._batches: list[pa.RecordBatch] = []
        self.missing: dict[str, tuple[LabelledValue, ...]] = {}
        """The codes of missing that were written, by column."""

        self._names = [name for name in schema.names if not name.startswith(MISSING)]
        require_names(self._names, form)
        for name in self._names:
            _require_type(schema.field(name), form)

    def write(self, columns: Sequence[pa.Array]) -> None:
        arrays = [as_type(c, f.type) for c, f in zip(columns, self._schema, strict=True)]
        self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        table = pa.Table.from_batches(self._batches, self._schema)
        self._batches.clear()
        columns = [self._column(table, name) for name in self._names]
        if self._form == "xlsx":
            _write_xlsx(self._target, columns)
        else:
            _write_checked(self._target, columns, self._form)
        self.missing = {
            column.name: tuple(
                LabelledValue(code, label or "", missing=True)
                for code, label in column.missing.items()
            )
            for column in columns
        }

    def _column(self, table: pa.Table, name: str) -> _WrittenColumn:
        cells = table.column(name).combine_chunks()
        if self._from_text and is_text(cells.type):
            cells = _as_numbers(cells)
        variable = self._variables.get(name, Variable())
        if t.is_boolean(cells.type) and self._form != "xlsx":
            # Neither has truth values: labels keep them what they are to readers.
            cells = cells.cast(pa.string())
            variable = replace(variable, category=True, labels={"0": "false", "1": "true"})
        column = _WrittenColumn(name, cells, variable, width=(variable.width or 0) * self.complete)
        if self._form != "xlsx" and MISSING + name in table.column_names:
            self._add_codes(column, table.column(MISSING + name).combine_chunks())
        values = _texts(pc.unique(cells).drop_null())
        if variable.category:
            code_of = {label: code for code, label in variable.labels.items()}
            if all(each in code_of for each in values) and _can_label(self._form, code_of, values):
                column.as_codes = bool(values)
                column.labels = {code_of[each]: each for each in _by_code(values, code_of)}
        elif self._form != "xlsx" and is_text(cells.type) == variable.text:
            labels = {
                each: variable.labels[each]
                for each in sorted(values, key=_order)
                if each in variable.labels
            }
            # If all values had a label, readers would take the labels for the values.
            if len(labels) < len(values):
                column.labels = labels
        return column

    def _add_codes(self, column: _WrittenColumn, kinds: pa.Array) -> None:
        codes = kinds.to_pylist()
        empty = pc.is_null(column.cells).to_pylist()
        met = {code for code, gap in zip(codes, empty, strict=True) if gap}
        if column.name in self._recoded and len(met) > 1:
            return
        met.discard(None)
        generalised = is_text(column.cells.type) and not (
            column.variable.text or column.variable.category
        )
        if self._form == "dta" and (generalised or column.variable.text):
            return  # there, no text is missing for a reason
        column.codes = [code if gap else None for code, gap in zip(codes, empty, strict=True)]
        column.missing = {
            code: column.variable.labels.get(code) for code in sorted(met, key=_order)
        }


def _by_code(labels: Sequence[str], code_of: Mapping[str, str]) -> list[str]:
    return sorted(labels, key=lambda label: _order(code_of[label]))


_PLAIN = r"^-?(0|[1-9][0-9]{0,14})$|^-?(0|[1-9][0-9]{0,9})\.[0-9]{0,4}[1-9]$"


def _as_numbers(cells: pa.Array) -> pa.Array:
    """Return texts as numbers, if all of them are numbers in the only way to write them.

    >>> _as_numbers(pa.array(["31", None, "-1.5"])).to_pylist()
    [31.0, None, -1.5]
    >>> _as_numbers(pa.array(["31", "007"])).to_pylist(), _as_numbers(pa.array(["-0"])).to_pylist()
    (['31', '007'], ['-0'])
    """
    plain = pc.match_substring_regex(cells, _PLAIN)
    if pc.all(plain).as_py() and not pc.any(pc.equal(cells, "-0")).as_py():
        whole = not pc.any(pc.match_substring(cells, ".")).as_py()
        return cells.cast(pa.int64() if whole else pa.float64())
    return cells


def _write_checked(target: Path, columns: Sequence[_WrittenColumn], form: str) -> None:
    """Write a file of SPSS or Stata and read its last row: pyreadstat overlooks a full disk."""
    import pyreadstat

    write, read = (
        (_write_sav, pyreadstat.read_sav) if form == "sav" else (_write_dta, pyreadstat.read_dta)
    )
    rows = len(columns[0].cells)
    try:
        write(target, columns)
        found, _ = read(str(target), output_format="dict", row_offset=max(0, rows - 1))
        whole = all(len(cells) == min(rows, 1) for cells in found.values())
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        raise OSError(f"{_CALLED[form]} file: {error}") from error
    if not whole:
        raise OSError(f"the {_CALLED[form]} file was not written to its end")


def _order(code: str) -> tuple[int, float, str]:
    try:
        return 0, float(code), code
    except ValueError:
        return 1, 0.0, code


def _texts(values: pa.Array) -> list[str]:
    """Return distinct values as the text that codes have."""
    return [
        _number(each) if isinstance(each, int | float) else str(each) for each in values.to_pylist()
    ]


def _number(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _can_label(form: str, code_of: Mapping[str, str], values: Sequence[str]) -> bool:
    """Return whether a format has room for labels of such codes: in Stata, of whole numbers."""
    if form == "xlsx":
        return False
    return form == "sav" or all(re.fullmatch(r"-?\d{1,9}", code_of[each]) for each in values)


def require_writer(form: str) -> None:
    """Raise if the libraries that write a format are not installed."""
    if form == "xlsx":
        if find_spec("xlsxwriter") is None:
            raise MissingExtraError("xlsxwriter", "excel")
    elif find_spec("pyreadstat") is None or find_spec("pandas") is None:
        raise MissingExtraError("pyreadstat", "office")


_NAMES = {
    "sav": re.compile(r"[^\W\d_][\w.$#@]*(?<!\.)|@[\w.$#@]*(?<!\.)"),
    "dta": re.compile(r"[^\W\d]\w{0,31}"),
}
_RESERVED = {
    "sav": ["ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"],
    "dta": [
        "_all",
        "_b",
        "byte",
        "_coef",
        "_cons",
        "double",
        "float",
        "if",
        "in",
        "int",
        "long",
        "_n",
        "_N",
        "_pi",
        "_pred",
        "_rc",
        "_skip",
        "using",
        "with",
    ],
}


def require_names(names: Sequence[str], form: str) -> None:
    """Raise if a program does not allow the name of a column.

    >>> require_names(["age", "day of birth"], "sav")
    Traceback (most recent call last):
    sfumato.errors.OutputError: SPSS does not allow a column to be called 'day of birth'. Rename
    it: letters, digits and _, starting with a letter, at most 64. Or publish as csv or xlsx.
    """
    if form == "xlsx":
        if len(names) > 16_384:
            raise OutputError("a sheet of Excel has at most 16384 columns. Publish as csv.")
        return
    most = 64 if form == "sav" else 32
    for name in names:
        long = len(name.encode()) > 64 if form == "sav" else len(name) > 32
        reserved = (name.upper() if form == "sav" else name) in _RESERVED[form]
        if long or reserved or not _NAMES[form].fullmatch(name):
            raise OutputError(
                f"{_CALLED[form]} does not allow a column to be called {name!r}. Rename it: "
                f"letters, digits and _, starting with a letter, at most {most}. Or publish as csv "
                "or xlsx."
            )
    if form == "sav":
        seen: dict[str, str] = {}
        for name in names:
            other = seen.setdefault(name.lower(), name)
            if other != name:
                raise OutputError(
                    f"SPSS takes {other!r} and {name!r} for the same name. Rename one of them."
                )


def _require_type(given: pa.Field, form: str) -> None:
    kind = plain_type(given.type)
    tests = (
        is_text, t.is_integer, t.is_floating, t.is_boolean, t.is_date, t.is_timestamp, t.is_time,
        t.is_decimal, t.is_null,
    )  # fmt: skip
    if not any(test(kind) for test in tests):
        raise OutputError(
            f"column {given.name!r} holds {given.type}, which {_CALLED[form]} cannot hold. Publish "
            "as parquet or feather, or leave the column out."
        )


# SPSS and Stata.


def _numbers(column: _WrittenColumn, form: str) -> np.ndarray | None:
    """Return the cells as the program's numbers, NaN for missing; None if they are text."""
    cells, kind = column.cells, column.cells.type
    if column.as_codes:
        return None if column.variable.text else _codes(column)
    if is_text(kind):
        return None
    if t.is_null(kind):
        return np.full(len(cells), np.nan)
    if t.is_temporal(kind):
        return _moments(cells, form)
    if t.is_integer(kind):
        _require_whole(column, form)
    return _with_nans(cells.cast(pa.float64()) if not t.is_integer(kind) else cells)


def _codes(column: _WrittenColumn) -> np.ndarray:
    code_of = {label: float(code) for code, label in column.labels.items()}
    encoded = column.cells.dictionary_encode()
    codes = np.array([code_of[each] for each in encoded.dictionary.to_pylist()] or [0.0])
    return _with_nans(encoded.indices, lambda places: codes[places])


def _moments(cells: pa.Array, form: str) -> np.ndarray:
    """Return days and times as SPSS counts them, in seconds, or Stata, in days or milliseconds."""
    kind = cells.type
    day, second = (86_400.0, 1.0) if form == "sav" else (86_400_000.0, 1_000.0)
    origin = _SPSS_ORIGIN if form == "sav" else _STATA_ORIGIN
    if t.is_date(kind):
        days = _with_nans(cells.cast(pa.date32()).cast(pa.int32())) + origin
        return days * day if form == "sav" else days
    if t.is_time(kind):
        return _with_nans(cells.cast(pa.time64("us")).cast(pa.int64())) / 10**6 * second
    micro = cells.cast(pa.timestamp("us", kind.tz), safe=False).cast(pa.int64())
    return _with_nans(micro) / 10**6 * second + origin * day


def _require_whole(column: _WrittenColumn, form: str) -> None:
    ends = pc.min_max(column.cells).as_py()
    if any(abs(each or 0) > _EXACT for each in ends.values()):
        raise OutputError(
            f"column {column.name!r} holds whole numbers beyond {_EXACT}, which {_CALLED[form]} "
            "cannot hold exactly. Publish as csv or parquet."
        )


def _with_nans(
    cells: pa.Array, take: Callable[[np.ndarray], np.ndarray] | None = None
) -> np.ndarray:
    gaps = np.array(pc.is_null(cells).to_pylist(), dtype=bool) if cells.null_count else None
    filled = pc.fill_null(cells, pa.scalar(0, cells.type)) if cells.null_count else cells
    numbers = to_numpy(filled)
    numbers = (numbers if take is None else take(numbers)).astype(np.float64)
    if gaps is not None:
        numbers[gaps] = np.nan
    return numbers


def _strings(column: _WrittenColumn, form: str) -> list[str | None]:
    """Return the cells as texts."""
    cells: list[str | None] = column.cells.to_pylist()
    if column.as_codes:
        code_of = {label: code for code, label in column.labels.items()}
        cells = [None if cell is None else code_of[cell] for cell in cells]
    most = 32_767 if form == "sav" else 2_045
    longest = max((len(cell.encode()) for cell in cells if cell is not None), default=0)
    if longest > most:
        raise OutputError(
            f"column {column.name!r} holds a text of {longest} bytes, and a text of "
            f"{_CALLED[form]} has at most {most}. Publish as csv or parquet, or leave it out."
        )
    return cells


_SPSS_FORMATS = {
    "number": re.compile(r"(F|COMMA|DOT|DOLLAR|N|E|PCT|RB|WKDAY|MONTH)\d+(\.\d+)?"),
    "date": re.compile(r"([EASJ]?DATE|QYR|MOYR|WKYR)\d+"),
    "timestamp": re.compile(r"(DATETIME|YMDHMS)\d+(\.\d+)?"),
    "time": re.compile(r"TIME\d+(\.\d+)?"),
}
_SPSS_DEFAULTS = {"date": "DATE11", "timestamp": "DATETIME20", "time": "TIME8"}
_STATA_FORMATS = {
    "number": re.compile(r"%-?0?\d+\.\d+(g|f|e|gc|fc)|%-?t[wmqhyb]\S*"),
    "date": re.compile(r"%-?t?d\S*"),
    "timestamp": re.compile(r"%-?t[cC]\S*"),
    "time": re.compile(r"(?!)"),
}
_STATA_DEFAULTS = {"date": "%td", "timestamp": "%tc", "time": "%tcHH:MM:SS"}


def _format(
    column: _WrittenColumn, formats: Mapping[str, Any], defaults: Mapping[str, str]
) -> str | None:
    kind = column.cells.type
    what = "number"
    for test, name in ((t.is_date, "date"), (t.is_timestamp, "timestamp"), (t.is_time, "time")):
        what = name if test(kind) else what
    given = column.variable.format or ""
    return given if formats[what].fullmatch(given) else defaults.get(what)


def _write_sav(target: Path, columns: Sequence[_WrittenColumn]) -> None:
    import pandas as pd
    import pyreadstat

    data: dict[str, Any] = {}
    ranges: dict[str, list[Any]] = {}
    formats, labels = {}, {}
    for column in columns:
        numbers = _numbers(column, "sav")
        if numbers is None:
            data[column.name] = _spss_texts(column)
            ranges[column.name] = list(column.missing)
            own: dict[Any, str] = dict(column.labels)
        else:
            ranges[column.name] = _spss_ranges(_spss_codes(column, numbers))
            data[column.name] = numbers
            shown = _format(column, _SPSS_FORMATS, _SPSS_DEFAULTS)
            if shown is not None:
                formats[column.name] = shown
            own = {float(code): label for code, label in column.labels.items()}
            own |= {float(c): text for c, text in column.missing.items() if text is not None}
        if own:
            labels[column.name] = own
    measures = {
        column.name: column.variable.measure
        for column in columns
        if column.variable.measure in ("nominal", "ordinal", "scale")
        and (column.as_codes or not is_text(column.cells.type) or column.variable.text)
    }
    pyreadstat.write_sav(
        pd.DataFrame(data),
        str(target),
        column_labels=_variable_labels(columns, 250),
        row_compress=True,
        variable_value_labels=labels,
        missing_ranges={name: each for name, each in ranges.items() if each},
        variable_measure=measures,
        variable_format=formats,
    )


def _variable_labels(columns: Sequence[_WrittenColumn], most: int) -> list[str | None]:
    return [
        None
        if column.variable.label is None
        else column.variable.label.encode()[:most].decode(errors="ignore")
        for column in columns
    ]


def _spss_texts(column: _WrittenColumn) -> Any:  # noqa: ANN401 - an array of objects
    """Return texts, one of them filled up with blanks to the width that the column had."""
    cells = _strings(column, "sav")
    short = [code for code in column.missing if len(code.encode()) <= 8]
    if len(short) < len(column.missing) or len(short) > 3:
        column.missing = {}
    elif column.codes is not None:
        cells = [
            code if cell is None and code is not None else cell
            for cell, code in zip(cells, column.codes, strict=True)
        ]
    texts = ["" if cell is None else cell for cell in cells]
    if texts and column.variable.text and (column.as_codes or not column.variable.category):
        # Blanks at the end of a text mean nothing to SPSS, and files are joined by the width.
        texts[0] += " " * max(0, min(column.width, 32_767) - len(texts[0].encode()))
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def _spss_codes(column: _WrittenColumn, numbers: np.ndarray) -> list[float]:
    """Write codes of missing into the numbers; return those that were written."""
    if column.codes is None or not column.missing:
        return []
    codes = list(column.missing)
    try:
        spelling = {code: float(code) for code in codes}
    except ValueError:
        spelling = {}
    if not spelling or not set(spelling.values()).isdisjoint(numbers.tolist()):
        # Letters of Stata and SAS: numbers below all others, each with the letter as its label.
        known = numbers[~np.isnan(numbers)]
        digits = math.ceil(math.log10(1 + np.abs(known).max(initial=1.0)))
        spelling = {code: -(10.0 ** max(3, digits + 1)) - at for at, code in enumerate(codes)}
        column.missing = {
            _number(spelling[code]): label or f".{code}" for code, label in column.missing.items()
        }
    for place, code in enumerate(column.codes):
        if code is not None:
            numbers[place] = spelling[code]
    return sorted(spelling.values())


def _spss_ranges(codes: Sequence[float]) -> list[Any]:
    """Return the codes that occur as SPSS declares them: three, or those within a range."""
    if len(codes) <= 3:
        return list(codes)
    return [{"lo": codes[0], "hi": codes[-1]}]


def _write_dta(target: Path, columns: Sequence[_WrittenColumn]) -> None:
    import pandas as pd
    import pyreadstat

    data: dict[str, Any] = {}
    formats, letters, labels = {}, {}, {}
    for column in columns:
        numbers = _numbers(column, "dta")
        if numbers is None:
            array = np.empty(len(column.cells), dtype=object)
            array[:] = ["" if cell is None else cell for cell in _strings(column, "dta")]
            data[column.name] = array
            continue
        whole = not np.isnan(numbers).any() and bool(np.all(numbers == np.round(numbers)))
        small = whole and bool(np.all(np.abs(numbers) < 2**31 - 200))
        shown = _format(column, _STATA_FORMATS, _STATA_DEFAULTS)
        if shown is not None:
            formats[column.name] = shown
        data[column.name] = (
            numbers.astype(np.int32)
            if small and shown in (None, column.variable.format)
            else numbers
        )
        own: dict[Any, str] = (
            {int(code): label for code, label in column.labels.items()}
            if all(re.fullmatch(r"-?\d{1,9}", code) for code in column.labels)
            else {}
        )
        if column.missing and column.codes is not None:
            data[column.name] = _with_letters(column, numbers)
            letters[column.name] = list(column.missing)
            own |= {c: text for c, text in column.missing.items() if text is not None}
        if own:
            labels[column.name] = own
    pyreadstat.write_dta(
        pd.DataFrame(data),
        str(target),
        column_labels=_variable_labels(columns, 80),
        variable_value_labels=labels,
        missing_user_values=letters,
        variable_format=formats,
    )


def _with_letters(column: _WrittenColumn, numbers: np.ndarray) -> np.ndarray:
    """Return numbers with letters in place of codes of missing, in the order of the codes."""
    codes = list(column.missing)
    own = all(re.fullmatch("[a-z]", code) for code in codes)
    letter_of = dict(zip(codes, codes if own else _LETTERS, strict=False))
    column.missing = {
        letter_of[code]: label or (None if own else code)
        for code, label in column.missing.items()
        if code in letter_of
    }
    cells = np.empty(len(numbers), dtype=object)
    cells[:] = numbers
    for place, code in enumerate(column.codes or ()):
        if code is not None:
            cells[place] = letter_of.get(code, np.nan)
    return cells


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


# Excel.


_ROWS = 1_048_575
_FIRST_DAY = datetime(1900, 3, 1)


def _write_xlsx(target: Path, columns: Sequence[_WrittenColumn]) -> None:
    import xlsxwriter

    rows = len(columns[0].cells)
    if rows > _ROWS:
        raise OutputError(
            f"a sheet of Excel has at most {_ROWS} rows below its header, and the release has "
            f"{rows}. Publish as csv or parquet."
        )
    out = io.BytesIO()
    book = xlsxwriter.Workbook(
        out,
        {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False},
    )
    # The clock of this machine is nothing that a table of people has to tell.
    book.set_properties({"created": datetime(2000, 1, 1)})
    sheet = book.add_worksheet("data")
    for at, column in enumerate(columns):
        sheet.write_string(0, at, column.name)
        put, cells = _excel_cells(column, sheet, book)
        for row, cell in enumerate(cells, 1):
            if cell is not None:
                put(row, at, cell)
    book.close()
    target.write_bytes(out.getbuffer())


def _excel_cells(
    column: _WrittenColumn,
    sheet: Any,  # noqa: ANN401
    book: Any,  # noqa: ANN401
) -> tuple[Callable[[int, int, Any], Any], list[Any]]:
    kind, cells = column.cells.type, column.cells
    if t.is_boolean(kind):
        return sheet.write_boolean, cells.to_pylist()
    if t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind):
        return sheet.write_number, _require_exact(column)
    if t.is_date(kind) or t.is_timestamp(kind) or t.is_time(kind):
        values = cells.to_pylist()
        shape = "yyyy-mm-dd" if t.is_date(kind) else "hh:mm:ss"
        shape = "yyyy-mm-dd hh:mm:ss" if t.is_timestamp(kind) else shape
        early = not t.is_time(kind) and any(
            value is not None and value.isoformat() < _FIRST_DAY.date().isoformat()
            for value in values
        )
        if not early and getattr(kind, "tz", None) is None:
            form = book.add_format({"num_format": shape})
            return lambda row, at, cell: sheet.write_datetime(row, at, cell, form), values
        return sheet.write_string, [None if v is None else str(v) for v in values]
    texts = cells.to_pylist()
    longest = max((len(each) for each in texts if each is not None), default=0)
    if longest > 32_767:
        raise OutputError(
            f"column {column.name!r} holds a text of {longest} characters, and a cell of Excel has "
            "at most 32767. Publish as csv or parquet, or leave the column out."
        )
    return sheet.write_string, texts


def _require_exact(column: _WrittenColumn) -> list[Any]:
    values: list[Any] = column.cells.to_pylist()
    for value in values:
        if value is not None and (
            not math.isfinite(value) or (isinstance(value, int) and abs(value) > _EXACT)
        ):
            raise OutputError(
                f"column {column.name!r} holds {value}, which Excel cannot hold exactly. Publish "
                "as csv or parquet."
            )
    return values
