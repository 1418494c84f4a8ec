"""Reads a file of SPSS, Stata, SAS or Excel, as a script in a process of its own.

It imports nothing of ours. It writes the rows to its standard output as a stream of Arrow, with the
dictionary of the file as JSON in the notes of the schema. See `sfumato.files.processes`.
"""

import json
import math
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, NoReturn

_MISSING = "\0missing\0"
"""What the name of a column starts with that tells which code of missing each cell is."""

_LARGEST = 2 << 30
_DENSEST = 200
"""Bytes that a spreadsheet may unpack to, in all and for each of its own."""


def refuse(text: str) -> NoReturn:
    """End with a sentence about the file."""
    sys.stderr.write("\n" + json.dumps({"error": text}) + "\n")
    sys.exit(2)


def lack(library: str, extra: str) -> NoReturn:
    """End because a library is not installed."""
    sys.stderr.write("\n" + json.dumps({"missing": [library, extra]}) + "\n")
    sys.exit(3)


# Files of SPSS, Stata and SAS.


_NAMES = {
    "sav": "an SPSS file",
    "por": "a portable SPSS file",
    "dta": "a Stata file",
    "sas7bdat": "a SAS file",
    "xpt": "a SAS transport file",
}

# Days before 1970 at which the calendars of the programs begin.
_SPSS = 141_428
_STATA = 3_653

_DAYS = {
    "sav": re.compile(r"(E|A|S|J)?DATE\d*|QYR\d*|MOYR\d*|WKYR\d*"),
    "dta": re.compile(r"%-?t?d.*"),
    # Also those that show only a month, a quarter or a weekday: the number below is a day.
    "sas": re.compile(
        r"(DATE|DAY|DOWNAME|JULDAY|JULIAN|(DDMMYY|MMDDYY|YYMMDD)[BCDNPS]?|XYYMMDD|"
        r"(MMYY|YYMM|YYQR?)[CDNPS]?|YYQZ|MONNAME|MONTH|MONYY|YYMON|QTRR?|YEAR|"
        r"WEEKDAY|WEEKDATE|WEEKDATX|WORDDATE|WORDDATX|WEEK[UVW]|YYWEEK[UVW]|"
        r"NLDATE[A-Z]*|EURDF(DD|DE|DN|DWN|MN|MY|WDX|WKX)|MINGUO|NENGO|HEBDATE|"
        r"(B|E|IS)8601DA)\d*"
    ),
}
_MOMENTS = {
    "sav": re.compile(r"(DATETIME|YMDHMS)\d*(\.\d+)?"),
    "dta": re.compile(r"%-?t[cC].*"),
    "sas": re.compile(
        r"(DATETIME|DATEAMPM|MDYAMPM|DT(DATE|MONYY|WKDATX|YEAR|YYQC)|NLDATM[A-Z]*|EURDFDT|"
        r"(B|E|IS)8601(DN|DT|DX|DZ|LX))\d*(\.\d+)?"
    ),
}
_TIMES = {
    "sav": re.compile(r"TIME\d*(\.\d+)?"),
    "dta": re.compile(r"(?!)"),
    "sas": re.compile(
        r"(TIME|TOD|HHMM|TIMEAMPM|NLTIME|NLTIMAP|(B|E|IS)8601(TM|TX|TZ|LZ))\d*(\.\d+)?"
    ),
}
_CLOCK = re.compile(r"(TOD|TIMEAMPM)\d*(\.\d+)?")
"""Formats of SAS that show the time of a moment as they show a time."""


def read_statistics(request: dict[str, Any]) -> None:
    """Write the rows of a file of SPSS, Stata or SAS."""
    try:
        import pyreadstat
    except ImportError:
        lack("pyreadstat", "office")
    kind, path = request["kind"], request["path"]
    read = getattr(pyreadstat, {"xpt": "read_xport"}.get(kind, f"read_{kind}"))
    options: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True}
    if kind not in ("xpt", "por"):
        options["user_missing"] = True
    said = {"encoding": request["encoding"]} if request.get("encoding") else {}
    if kind != "por":
        options |= said
    if kind == "xpt":
        _refuse_transport(Path(path))
    try:
        columns, found = read(path, **options)
    except MemoryError:
        refuse(_too_large(_NAMES[kind]))
    except Exception as error:  # noqa: BLE001 - whatever the library says of a damaged file
        _refuse_encoding(error, _NAMES[kind], request.get("encoding"))
        refuse(f"cannot be read as {_NAMES[kind]}: {_words(error)}")
    labels = dict(found.variable_value_labels)
    if kind == "sas7bdat":
        labels |= _catalogue(Path(path), found, said)
    _write(
        [
            _statistics_column(
                "sas" if kind in ("sas7bdat", "xpt") else "sav" if kind == "por" else kind,
                name,
                columns[name],
                found,
                labels.get(name) or {},
            )
            for name in found.column_names
        ]
    )


def _too_large(called: str) -> str:
    return (
        f"cannot be read as {called}: it asks for more memory than a file of its size can need. "
        "It is damaged, or unpacks to very much more than it holds."
    )


def _words(error: BaseException) -> str:
    text = (str(error).splitlines() or [""])[0].strip().rstrip(".")
    return f"{text or type(error).__name__}. It is damaged or cut off; export it again."


def _refuse_encoding(error: BaseException, called: str, said: object) -> None:
    """End if an error is about the encoding of texts."""
    if "character set" in str(error):
        refuse(
            f"cannot be read as {called}: it declares an encoding that is not known. Save it in "
            "the encoding UTF-8, or export it as CSV."
        )
    if not isinstance(error, UnicodeError) and "requested encoding" not in str(error):
        return
    tried = f"as {said}" if said else "in the encoding that the file declares"
    if not said and called == _NAMES["xpt"]:
        tried = "as UTF-8, and a transport file does not declare its encoding"
    refuse(
        f"cannot be read as {called}: its texts cannot be decoded {tried}. Name the encoding in "
        "the policy, as in input: {encoding: windows-1252}, or with --input encoding=windows-1252."
    )


_RECORD = 80
"""Bytes of a record, of which a transport file consists."""


def _refuse_transport(path: Path) -> None:
    """End if a transport file is cut off or holds several tables, which is not found out later.

    Rows follow each other until the file ends, so others would be read, or fewer. The layout is the
    one that SAS describes in its notes TS-140 (version 5) and on version 8.
    """
    import mmap

    size = path.stat().st_size
    if size % _RECORD:
        refuse(
            f"cannot be read as {_NAMES['xpt']}: it ends within a record. It is cut off; export it "
            "again."
        )
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        members = list(_records(data, b"MEMB"))
        if len(members) > 1:
            # The name of a table stands in the second record after the one that begins it.
            names = [bytes(data[at + 168 : at + 200]).split()[:1] for at in members]
            told = ", ".join(name[0].decode("latin-1") for name in names if name)
            refuse(f"holds {len(members)} tables: {told}. Export each into a file of its own.")
        begun = next(_records(data, b"OBS"), None)
        width = _row_width(data, members[0]) if members else 0
        if begun is None or not width:
            return  # the library says what is wrong with it
        first = begun + _RECORD
        rows = bytes(data[begun + 48 : begun + 63]).strip()
        if data[begun + 20 : begun + 26] == b"OBSV8 " and rows.isdigit():
            whole = size - first >= int(rows) * width
        else:
            rest = (size - first) % width
            whole = rest < _RECORD and not bytes(data[size - rest : size]).strip(b" ")
        if not whole:
            refuse(
                f"cannot be read as {_NAMES['xpt']}: it ends within its rows. It is cut off; "
                "export it again."
            )


def _records(data: Any, kind: bytes) -> Iterator[int]:  # noqa: ANN401 - a file in memory
    """Yield where a transport file has a header of a kind."""
    at = -1
    while (at := data.find(b"HEADER RECORD*******" + kind, at + 1)) >= 0:
        if at % _RECORD == 0 and data[at + 28 : at + 48] == b"HEADER RECORD!!!!!!!":
            yield at


def _row_width(data: Any, member: int) -> int:  # noqa: ANN401 - a file in memory
    """Return the bytes of a row of a transport file; 0 if that is not to be found out."""
    described = next(_records(data, b"NAM"), None)
    each, many = bytes(data[member + 74 : member + 78]), b""
    if described is not None:
        many = bytes(data[described + 54 : described + 58])
    if described is None or not (each.isdigit() and many.isdigit()):
        return 0
    starts = [described + _RECORD + int(each) * at for at in range(int(many))]
    return sum(int.from_bytes(data[at + 4 : at + 6], "big") for at in starts)


def _catalogue(path: Path, found: Any, said: dict[str, str]) -> dict[str, dict[Any, str]]:  # noqa: ANN401
    """Return the value labels that SAS keeps in a file beside the data, if there is one."""
    import pyreadstat

    for beside in (path.with_suffix(".sas7bcat"), path.with_name("formats.sas7bcat")):
        if not beside.is_file():
            continue
        try:
            _, catalogue = pyreadstat.read_sas7bcat(str(beside), output_format="dict", **said)
        except Exception as error:  # noqa: BLE001 - as for the data
            refuse(
                f"has value labels in {beside.name}, which cannot be read: {_words(error)} To "
                "publish codes without labels, move it into another folder."
            )
        known = {name.upper(): labels for name, labels in catalogue.value_labels.items()}
        # A column names the format with its width; the name itself ends with no digit.
        formats = {
            name: known.get(re.sub(r"\d*(\.\d*)?$", "", form).upper())
            for name, form in found.original_variable_types.items()
            if form
        }
        return {name: labels for name, labels in formats.items() if labels}
    return {}


def _statistics_column(
    program: str,
    name: str,
    cells: Sequence[Any],
    found: Any,  # noqa: ANN401
    labels: dict[Any, str],
) -> tuple[str, Any, Any, dict[str, Any]]:
    """Return a column: its name, its cells, their codes of missing or None, and what is told."""
    import numpy as np
    import pyarrow as pa

    form = found.original_variable_types.get(name) or ""
    text = found.readstat_variable_types.get(name) == "string"
    ranges = found.missing_ranges.get(name) or []
    codes: list[str | None] | None = None
    if text:
        known = [None if cell in ("", None) else str(cell) for cell in cells]
        if ranges:
            missing = {each["lo"] if isinstance(each, dict) else each for each in ranges}
            codes = [cell if cell in missing else None for cell in known]
            known = [None if cell in missing else cell for cell in known]
        values: Any = pa.array(known, pa.string())
    else:
        if found.missing_user_values.get(name):
            codes = [cell.lower() if isinstance(cell, str) else None for cell in cells]
            cells = [None if isinstance(cell, str) else cell for cell in cells]
        numbers = np.array(cells, dtype=np.float64)
        if ranges:
            missing_here = _within(numbers, ranges)
            codes = [
                _number(number) if out else None
                for number, out in zip(numbers.tolist(), missing_here.tolist(), strict=True)
            ]
            numbers = np.where(missing_here, np.nan, numbers)
        shown = form if program == "dta" else form.upper().rstrip(".")
        values = _cells_of_type(numbers, program, shown)
    if codes is not None and not any(code is not None for code in codes):
        codes = None
    told = {
        "label": found.column_names_to_labels.get(name) or None,
        "format": form or None,
        "measure": found.variable_measure.get(name),
        "width": found.variable_storage_width.get(name) if text else None,
        "text": text,
        "labels": _told_labels(labels, text=text),
    }
    values, told["category"] = _label_cells(values, told["labels"], codes)
    kinds = None if codes is None else pa.array(codes, pa.string()).dictionary_encode()
    return name, values, kinds, told


def _told_labels(labels: dict[Any, str], *, text: bool) -> list[tuple[str, str]]:
    """Return codes as text, each with its label; labels that are alike get their code beside."""
    told = {}
    for code, label in labels.items():
        words = str(label).strip()
        if words:
            is_number = isinstance(code, int | float) and not text
            told[_number(code) if is_number else str(code).strip()] = words
    if not text:
        told = {code.lower() if code.isalpha() else code: label for code, label in told.items()}
    times: dict[str, int] = {}
    for label in told.values():
        times[label] = times.get(label, 0) + 1
    return [
        (code, f"{label} [{code}]" if times[label] > 1 or label == "*" else label)
        for code, label in told.items()
    ]


def _label_cells(
    values: Any,  # noqa: ANN401 - an array
    labels: Sequence[tuple[str, str]],
    codes: Sequence[str | None] | None,
) -> tuple[Any, bool]:
    """Return the labels in place of the values, if every value has one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    own = {code for code in codes or () if code is not None}
    of_code = {code: label for code, label in labels if code not in own}
    if not of_code or pa.types.is_temporal(values.type):
        return values, False
    encoded = pc.dictionary_encode(values)
    distinct = [
        each if isinstance(each, str) else _number(each) for each in encoded.dictionary.to_pylist()
    ]
    if not distinct or not all(each in of_code for each in distinct):
        return values, False
    texts = pa.array([of_code[each] for each in distinct], pa.string())
    return pa.DictionaryArray.from_arrays(encoded.indices, texts), True


def _number(number: float) -> str:
    """Write a number as the shortest text that means it."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _within(numbers: Any, ranges: Sequence[Any]) -> Any:  # noqa: ANN401 - arrays
    import numpy as np

    inside = np.zeros(len(numbers), dtype=bool)
    for each in ranges:
        low, high = (each["lo"], each["hi"]) if isinstance(each, dict) else (each, each)
        inside |= (numbers >= low) & (numbers <= high)
    return inside


def _cells_of_type(numbers: Any, program: str, form: str) -> Any:  # noqa: ANN401 - arrays
    """Return numbers as what their display format says they are."""
    import numpy as np
    import pyarrow as pa

    missing = np.isnan(numbers)
    known = numbers[~missing]
    whole = bool(np.all(np.isfinite(known)) and np.all(known == np.round(known)))
    seconds = program != "dta"
    origin = _SPSS if program == "sav" else _STATA

    def array(filled: Any, kind: Any) -> Any:  # noqa: ANN401
        return pa.array(filled, mask=missing).cast(kind)

    moment = _MOMENTS[program].fullmatch(form) is not None
    if program == "sas" and _CLOCK.fullmatch(form):
        moment = bool(np.any(known >= 86_400))
    if moment or _DAYS[program].fullmatch(form):
        days = _DAYS[program].fullmatch(form) is not None
        # SPSS counts seconds, also for days.
        scale = 86_400_000 if days and program != "sav" else 1_000 if seconds else 1
        moments = np.where(missing, 0, numbers) * scale
        if np.all(np.abs(moments) < 2**52):
            milliseconds = np.round(moments).astype(np.int64) - origin * 86_400_000
            if days and np.all(milliseconds % 86_400_000 == 0):
                return array((milliseconds // 86_400_000).astype(np.int32), pa.date32())
            return array(milliseconds, pa.timestamp("ms"))
    if _TIMES[program].fullmatch(form) and np.all((known >= 0) & (known < 86_400)):
        micro = np.round(np.where(missing, 0, numbers) * 1_000_000).astype(np.int64)
        return array(micro, pa.time64("us"))
    if whole and np.all(np.abs(known) < 2**53):
        return array(np.where(missing, 0, numbers).astype(np.int64), pa.int64())
    return pa.array(numbers, mask=missing)


# Sheets of Excel and LibreOffice.


def read_sheet(request: dict[str, Any]) -> None:
    """Write the rows of a sheet."""
    try:
        import python_calamine as calamine
    except ImportError:
        lack("python-calamine", "excel")
    path = Path(request["path"])
    _refuse_bombs(path)
    try:
        book = calamine.load_workbook(str(path))
        sheet = _choose(book, request.get("sheet"), calamine)
        rows = [list(row) for row in sheet.to_python(skip_empty_area=False)]
        gone = set(request.get("missing") or ())
        if gone:
            rows = [["" if cell in gone else cell for cell in row] for row in rows]
        merged = sheet.merged_cell_ranges or []
    except MemoryError:
        refuse(_too_large("a spreadsheet"))
    except calamine.PasswordError:
        refuse("is encrypted with a password. Save it without one.")
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - what panics in Rust is no Exception
        refuse(f"cannot be read as a spreadsheet: {_words(error)}")
    _refuse_errors(path, book.sheet_names.index(sheet.name))
    where = f"sheet {sheet.name!r}"
    header, names = _header(rows, request.get("skip") or 0, where)
    body = _body(rows, header, names, where)
    _refuse_merged(merged, header, where)
    _write(
        [
            _sheet_column(names[at], [row[at] if at < len(row) else "" for row in body])
            for at in range(len(names))
        ],
        {"sheet": sheet.name, "sheets": book.sheet_names},
    )


def _refuse_bombs(path: Path) -> None:
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = [(each.file_size, each.compress_size) for each in archive.infolist()]
            if any(each.flag_bits & 1 for each in archive.infolist()):
                refuse("is encrypted with a password. Save it without one.")
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        refuse(f"cannot be read as a spreadsheet: {_words(error)}")
    whole, packed = sum(size for size, _ in sizes), sum(size for _, size in sizes)
    if whole > _LARGEST or (whole > 100 << 20 and whole > _DENSEST * max(packed, 1)):
        refuse(
            f"would unpack from {packed >> 10} kB to {whole >> 20} MB, which no table of people "
            "does. Save the sheet as CSV in the program that wrote it."
        )


def _choose(book: Any, wanted: object, calamine: Any) -> Any:  # noqa: ANN401
    """Return the sheet that was named, or the only one that holds anything."""
    names = list(book.sheet_names)
    if wanted is not None:
        if isinstance(wanted, int) and not isinstance(wanted, bool):
            if not 1 <= wanted <= len(names):
                refuse(f"has {len(names)} sheets, and no sheet {wanted}. Its sheets: {names}.")
            wanted = names[wanted - 1]
        if wanted not in names:
            refuse(f"has no sheet {wanted!r}. Its sheets: {', '.join(map(repr, names))}.")
        return book.get_sheet_by_name(str(wanted))
    shown = [
        each.name
        for each in book.sheets_metadata
        if each.visible == calamine.SheetVisibleEnum.Visible
        and each.typ == calamine.SheetTypeEnum.WorkSheet
    ]
    filled = [sheet for sheet in map(book.get_sheet_by_name, shown) if sheet.height]
    if not filled:
        refuse("has no sheet with rows that is not hidden.")
    if len(filled) > 1:
        several = ", ".join(repr(sheet.name) for sheet in filled)
        refuse(
            f"has {len(filled)} sheets: {several}. Say in the policy which one is the table: "
            f"input: {{sheet: {json.dumps(filled[0].name, ensure_ascii=False)}}}."
        )
    return filled[0]


_ERROR = re.compile(
    rb'<c\b[^>]*?\br="([A-Z]+\d+)"[^>]*?\bt="e"[^>]*>.{0,4000}?<v>([^<]*)</v>', re.S
)
_NOT_COMPUTED = re.compile(
    rb'<c\b[^>]*?\br="([A-Z]+\d+)"[^>]*>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>'
)


def _refuse_errors(path: Path, number: int) -> None:
    """Raise for errors in cells and formulas that were never computed: they would read as empty."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        file = _sheet_file(archive, number)
        if file is None:
            return
        text = archive.read(file)
    for found, what in (
        (_ERROR, "the error"),
        (_NOT_COMPUTED, "a formula that was never computed"),
    ):
        cells = found.findall(text)
        if cells:
            first = cells[0] if isinstance(cells[0], bytes) else cells[0][0]
            shown = "" if isinstance(cells[0], bytes) else f" {cells[0][1].decode()!s}"
            refuse(
                f"has {len(cells)} cells without a value, the first in {first.decode()}: "
                f"{what}{shown}. Correct or empty them, and save the file in Excel or LibreOffice."
            )


def _sheet_file(archive: zipfile.ZipFile, number: int) -> str | None:
    """Return the part of an .xlsx file that holds a sheet."""
    names = set(archive.namelist())
    if "xl/workbook.xml" not in names or "xl/_rels/workbook.xml.rels" not in names:
        return None
    sheets = re.findall(rb"<(?:\w+:)?sheet\b[^>]*>", archive.read("xl/workbook.xml"))
    links = {}
    for link in re.findall(rb"<Relationship\b[^>]*>", archive.read("xl/_rels/workbook.xml.rels")):
        parts = dict(re.findall(rb'(\w+)="([^"]*)"', link))
        links[parts.get(b"Id", b"")] = parts.get(b"Target", b"").decode()
    found = re.search(rb'\b\w+:id="([^"]*)"', sheets[number]) if number < len(sheets) else None
    target = links.get(found[1]) if found else None
    if target is None:
        return None
    file = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return file if file in names else None


def _is_empty(cell: object) -> bool:
    return cell is None or cell == ""


def _place(row: int, column: int) -> str:
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row + 1}"


def _header(rows: list[list[Any]], skip: int, where: str) -> tuple[int, list[str]]:
    """Return the row of the names, and the names; columns before the first are left out of rows."""
    filled = [at for at, row in enumerate(rows) if at >= skip and not all(map(_is_empty, row))]
    if not filled:
        refuse(f"has nothing in {where}{f' below row {skip}' if skip else ''}.")
    header = filled[0]
    width = {at: sum(not _is_empty(cell) for cell in rows[at]) for at in filled}
    widest = max(width.values())
    if width[header] < widest and (width[header] == 1 or widest > 2 * width[header]):
        likely = next(at for at, n in width.items() if n == widest)
        refuse(
            f"has {width[header]} filled cells in row {header + 1} of {where}, and {widest} in row "
            f"{likely + 1}: a title stands above the names of the columns. Delete it, or say in "
            f"the policy how many rows stand above the names: input: {{skip: {likely}}}."
        )
    used = sorted({c for at in width for c, cell in enumerate(rows[at]) if not _is_empty(cell)})
    first, last = used[0], used[-1]
    for row in rows:
        del row[:first]
    names = []
    for at in range(last - first + 1):
        cell = rows[header][at] if at < len(rows[header]) else ""
        name = _cell_text(cell).strip() if not _is_empty(cell) else ""
        place = _place(header, first + at)
        if not name and first + at not in used:
            refuse(
                f"has an empty column at {place} of {where}: there seem to be several tables side "
                "by side. Keep one table in a sheet."
            )
        if not name:
            refuse(f"has no name in {place} of {where}, and cells below it. Name the column.")
        names.append(name)
    return header, names


def _body(rows: list[list[Any]], header: int, names: Sequence[str], where: str) -> list[list[Any]]:
    below = rows[header + 1 :]
    while below and all(map(_is_empty, below[-1])):
        below.pop()
    if not below:
        refuse(f"has a header and no rows in {where}.")
    for at, row in enumerate(below):
        if all(map(_is_empty, row)):
            refuse(
                f"has an empty row in {where}, row {header + at + 2}, and filled ones below it: "
                "there seem to be several tables. Keep one table in a sheet, without empty rows."
            )
        if [_cell_text(cell).strip() for cell in row[: len(names)]] == list(names):
            refuse(
                f"repeats the names of the columns in row {header + at + 2} of {where}: there seem "
                "to be several tables. Keep one table in a sheet."
            )
    return below


def _refuse_merged(merged: Iterable[Any], header: int, where: str) -> None:
    for (top, left), (bottom, right) in merged:
        if bottom >= header:
            refuse(
                f"has merged cells in {where}, {_place(top, left)}:{_place(bottom, right)}: only "
                "the first of them has a value. Undo the merging, and write the value in each row."
            )


def _cell_text(cell: object) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and math.isfinite(cell):
        return _number(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell)


def _sheet_column(name: str, cells: list[Any]) -> tuple[str, Any, Any, dict[str, Any]]:
    """Return a column in the type that all of its cells have; else as text."""
    import pyarrow as pa

    known = [None if _is_empty(cell) else cell for cell in cells]
    kinds = {type(cell) for cell in known if cell is not None}
    told: dict[str, Any] = {"mixed": False}
    if kinds <= {int, float}:
        whole = all(
            float(cell).is_integer() and abs(cell) < 2**53 for cell in known if cell is not None
        )
        numbers = [None if cell is None else int(cell) if whole else float(cell) for cell in known]
        return name, pa.array(numbers, pa.int64() if whole else pa.float64()), None, told
    simple = {
        frozenset([bool]): pa.bool_(),
        frozenset([date]): pa.date32(),
        frozenset([datetime]): pa.timestamp("ms"),
        frozenset([time]): pa.time64("us"),
        frozenset([str]): pa.string(),
    }.get(frozenset(kinds))
    if simple is not None:
        return name, pa.array(known, simple), None, told
    told["mixed"] = bool(kinds - {timedelta})
    told["times"] = kinds == {date, datetime}
    texts = [None if cell is None else _cell_text(cell) for cell in known]
    return name, pa.array(texts, pa.string()), None, told


# What comes out.


def _write(columns: Sequence[tuple[str, Any, Any, dict[str, Any]]], others: Any = None) -> None:  # noqa: ANN401
    import pyarrow as pa
    from pyarrow import ipc

    if not columns:
        refuse("has no columns.")
    if not len(columns[0][1]):
        refuse("has no rows.")
    names = [name for name, *_ in columns]
    arrays = [values for _, values, *_ in columns]
    for name, _, kinds, _ in columns:
        if kinds is not None:
            names.append(_MISSING + name)
            arrays.append(kinds)
    notes = {"variables": [told for *_, told in columns], **(others or {})}
    schema = pa.schema(
        [pa.field(name, array.type) for name, array in zip(names, arrays, strict=True)],
        {"sfumato": json.dumps(notes)},
    )
    table = pa.Table.from_arrays(arrays, schema=schema)
    with ipc.new_stream(sys.stdout.buffer, schema) as stream:
        for batch in _batches(table):
            stream.write_batch(batch)


def _batches(table: Any) -> Iterator[Any]:  # noqa: ANN401
    yield from table.to_batches(max_chunksize=1 << 18)


class _WithoutPandas:
    """Lets Arrow do without pandas, whose import takes longer than reading most files."""

    def find_spec(self, name: str, *_: object) -> None:
        """Raise for pandas, as if it were not installed."""
        if name == "pandas":
            raise ImportError(name)


def main() -> None:
    """Read what standard input asks for."""
    request = json.load(sys.stdin)
    sys.path[:] = request["sys_path"]
    sys.meta_path.insert(0, _WithoutPandas())
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    except (ImportError, ValueError, OSError):
        pass  # there is no such limit here
    try:
        (read_sheet if request["kind"] == "sheet" else read_statistics)(request)
    except MemoryError:
        refuse(_too_large("a table"))
    except Exception as error:  # noqa: BLE001 - whatever a damaged file leads to
        refuse(f"cannot be read: {_words(error)}")


if __name__ == "__main__":
    main()
