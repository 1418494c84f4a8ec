"""Reads a file of SPSS, Stata, SAS or Excel for the verifier, as a script in its own process.

It shares no line with what writes releases. Rows go to the standard output as a stream of Arrow. In
the notes of its schema, as JSON, are `hidden`: what the file holds besides its rows, in words, and
`kinds`: the codes of missing that each column has. See `sfumato.files.processes`.
"""

import json
import re
import sys
import zipfile
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import_error = 3


def stop(**told: object) -> None:
    """End with a reason."""
    sys.stderr.write("\n" + json.dumps(told) + "\n")
    sys.exit(import_error)


def first_line(error: BaseException) -> str:
    """Return what an error says, shortly."""
    return (str(error).splitlines() or [""])[0][:200] or type(error).__name__


def spell(value: Any) -> str:  # noqa: ANN401 - a number or a text
    """Write a code as text: 1, 2.5, a."""
    if isinstance(value, str):
        return value
    return f"{int(value)}" if float(value) == int(value) else f"{float(value)!r}"


# SPSS, Stata and SAS.


DAY = {
    "spss": re.compile("[EASJ]?DATE[0-9]*|(QYR|MOYR|WKYR)[0-9]*"),
    "stata": re.compile("%-?t?d.*"),
    "sas": re.compile(
        "(DATE|DAY|DOWNAME|JUL(DAY|IAN)|MON(NAME|TH|YY)|YYMON|YEAR|QTRR?|MINGUO|NENGO|HEBDATE|"
        "(X|)YYMMDD|(DDMMYY|MMDDYY|YYMMDD)[BCDNPS]|DDMMYY|MMDDYY|(MMYY|YYMM|YYQ|YYQR)[CDNPS]?|YYQZ|"
        "WEEK(DAY|DATE|DATX|U|V|W)|YYWEEK[UVW]|WORDDAT[EX]|NLDATE[A-Z]*|([BE]|IS)8601DA|"
        "EURDF(DD|DE|DN|DWN|MN|MY|WDX|WKX))[0-9]*"
    ),
}
MOMENT = {
    "spss": re.compile(r"(DATETIME|YMDHMS)[0-9.]*"),
    "stata": re.compile("%-?t[cC].*"),
    "sas": re.compile(
        "(DATETIME|DATEAMPM|MDYAMPM|NLDATM[A-Z]*|EURDFDT|DTDATE|DTMONYY|DTWKDATX|DTYEAR|DTYYQC|"
        "([BE]|IS)8601(D[NTXZ]|LX))[0-9.]*"
    ),
}
TIME_OF_DAY = {
    "spss": re.compile("TIME[0-9.]*"),
    "stata": re.compile("(?!)"),
    "sas": re.compile("(TIME|TOD|HHMM|TIMEAMPM|NLTIME|NLTIMAP|([BE]|IS)8601(T[MXZ]|LZ))[0-9.]*"),
}
BEGINS = {"spss": date(1582, 10, 14), "stata": date(1960, 1, 1), "sas": date(1960, 1, 1)}


def statistics(request: dict[str, Any]) -> tuple[dict[str, Any], list[str], dict[str, list[str]]]:
    """Return columns, what is hidden, and the codes of missing."""
    try:
        import pyreadstat
    except ImportError:
        stop(missing=["pyreadstat", "office"])
    form = request["form"]
    reader: Any = {
        "sav": pyreadstat.read_sav,
        "por": pyreadstat.read_por,
        "dta": pyreadstat.read_dta,
        "sas7bdat": pyreadstat.read_sas7bdat,
        "xpt": pyreadstat.read_xport,
    }[form]
    more: dict[str, Any] = {} if form in ("por", "xpt") else {"user_missing": True}
    if form != "por" and request.get("encoding"):
        more["encoding"] = request["encoding"]
    cells, meta = reader(
        request["path"], output_format="dict", disable_datetime_conversion=True, **more
    )
    program = {"sav": "spss", "por": "spss", "dta": "stata"}.get(form, "sas")
    names = {"file label": meta.file_label, "notes": meta.notes, "sets": meta.mr_sets}
    hidden = [f"the file has {what} besides its rows" for what, found in names.items() if found]
    columns: dict[str, Any] = {}
    kinds: dict[str, list[str]] = {}
    for name in meta.column_names:
        known, codes = apart(cells[name], meta.missing_ranges.get(name) or ())
        texts = meta.readstat_variable_types.get(name) == "string"
        labels = {
            spell(code).strip() if texts else spell(code).lower(): str(text).strip()
            for code, text in (meta.variable_value_labels.get(name) or {}).items()
            if str(text).strip()
        }
        met = {spell(each) for each in set(known) - {None}}
        unused = sorted(set(labels) - met - set(codes))
        if unused:
            hidden.append(f"column {name!r} has labels of values that no row has: {unused[:5]}")
        if codes or None in known:
            gaps = known.count(None) > sum(codes.values())
            kinds[name] = [*codes, *([""] if gaps else [])]
        columns[name] = cells_of_type(
            known, labels, set(codes), program, meta.original_variable_types.get(name) or "", texts
        )
    return columns, hidden, kinds


def apart(cells: list[Any], ranges: Any) -> tuple[list[Any], dict[str, int]]:  # noqa: ANN401
    """Return cells with nothing in place of codes of missing, and how often each code is there."""
    bounds = [
        (each["lo"], each["hi"]) if isinstance(each, dict) else (each, each) for each in ranges
    ]
    letters = any(isinstance(cell, int | float) for cell in cells) or not any(cells)
    known: list[Any] = []
    codes: dict[str, int] = {}
    for cell in cells:
        if cell is None or cell == "" or (isinstance(cell, float) and cell != cell):  # noqa: PLR0124
            known.append(None)
            continue
        tagged = isinstance(cell, str) and letters
        if tagged or any(
            (type(low) is not str and not isinstance(cell, str) and low <= cell <= high)
            or cell == low
            for low, high in bounds
        ):
            code = spell(cell).lower() if tagged else spell(cell)
            codes[code] = codes.get(code, 0) + 1
            known.append(None)
        else:
            known.append(cell)
    return known, codes


def cells_of_type(
    known: list[Any],
    labels: dict[str, str],
    codes: set[str],
    program: str,
    form: str,
    texts: bool,  # noqa: FBT001
) -> Any:  # noqa: ANN401 - an array
    """Return cells as labels, if every value has one; else as what their format says."""
    import pyarrow as pa
    import pyarrow.compute as pc

    form = form if program == "stata" else form.upper().rstrip(".")
    day = DAY[program].fullmatch(form)
    moment = MOMENT[program].fullmatch(form) is not None
    at_a_time = TIME_OF_DAY[program].fullmatch(form)
    if program == "sas" and re.match("TOD|TIMEAMPM", form):
        # Both show times, and the time of moments.
        moment = any(each is not None and each >= 86_400 for each in known)
    met = {spell(each) for each in set(known) - {None}}
    own = {code: label for code, label in labels.items() if code not in codes}
    if met and met <= set(own) and not (day or moment or at_a_time):
        often = list(labels.values())
        shown = {
            code: f"{label} [{code}]" if often.count(label) > 1 or label == "*" else label
            for code, label in own.items()
        }
        return pa.array(
            [None if each is None else shown[spell(each)] for each in known], pa.string()
        )
    if texts:
        return pa.array(known, pa.string())
    numbers = pa.array([None if each is None else float(each) for each in known], pa.float64())
    if day or moment:
        days = (date(1970, 1, 1) - BEGINS[program]).days
        unit = {"stata": 1}.get(program, 1_000)
        unit = 86_400_000 if day and program != "spss" else unit
        milliseconds = pc.round(pc.multiply(numbers, float(unit)))
        if not pc.any(pc.greater_equal(pc.abs(milliseconds), 2.0**52)).as_py():
            moments = pc.subtract(milliseconds.cast(pa.int64()), days * 86_400_000)
            whole = pc.equal(pc.multiply(pc.divide(moments, 86_400_000), 86_400_000), moments)
            if day and pc.all(whole).as_py() is not False:
                return pc.divide(moments, 86_400_000).cast(pa.int32()).cast(pa.date32())
            return moments.cast(pa.timestamp("ms"))
    if (
        at_a_time
        and pc.all(pc.and_(pc.greater_equal(numbers, 0.0), pc.less(numbers, 86_400.0))).as_py()
        is not False
    ):
        return pc.round(pc.multiply(numbers, 1e6)).cast(pa.int64()).cast(pa.time64("us"))
    return numbers


# Excel.


PARTS = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/(app|core)\.xml|xl/workbook\.xml|"
    r"xl/_rels/workbook\.xml\.rels|xl/worksheets/sheet1\.xml|xl/styles\.xml|xl/theme/theme1\.xml|"
    r"xl/sharedStrings\.xml"
)
PEOPLE = re.compile(
    rb"<(?:\w+:)?(creator|lastModifiedBy|title|subject|description|keywords|category|"
    rb"contentStatus|Company|Manager)>([^<]+)<"
)


def sheet(request: dict[str, Any]) -> tuple[dict[str, Any], list[str], dict[str, list[str]]]:
    """Return the columns of the only sheet, and what is hidden."""
    try:
        import python_calamine
    except ImportError:
        stop(missing=["python-calamine", "excel"])
    path = Path(request["path"])
    hidden = beside_the_sheet(path) if zipfile.is_zipfile(path) else []
    book = python_calamine.load_workbook(str(path))
    filled = [
        each.name
        for each in book.sheets_metadata
        if each.visible == python_calamine.SheetVisibleEnum.Visible
        and book.get_sheet_by_name(each.name).height
    ]
    wanted = request.get("sheet")
    chosen = (
        wanted if isinstance(wanted, str) else (book.sheet_names[wanted - 1] if wanted else None)
    )
    if chosen is None and len(filled) != 1:
        stop(error=f"has {len(filled)} sheets with rows that are not hidden, and must have one.")
    cells = book.get_sheet_by_name(chosen or filled[0]).to_python(skip_empty_area=False)
    gone = {"", *(request.get("missing") or ())}
    rows = [
        [None if cell in gone else cell for cell in row]
        for row in cells[request.get("skip") or 0 :]
    ]
    rows = [row for row in rows if any(cell is not None for cell in row)]
    if not rows:
        stop(error="has no rows.")
    first = next(at for at, cell in enumerate(rows[0]) if cell is not None)
    names = [as_text(cell).strip() for cell in rows[0][first:] if cell is not None]
    columns = {
        name: of_one_type([row[at] for row in rows[1:]]) for at, name in enumerate(names, first)
    }
    if len(columns) < len(names):
        stop(error="has two columns of the same name.")
    return columns, hidden, {}


def beside_the_sheet(path: Path) -> list[str]:
    """Return what a workbook holds besides the cells of one sheet."""
    hidden = []
    with zipfile.ZipFile(path) as archive:
        if sum(each.file_size for each in archive.infolist()) > 2 << 30:
            stop(error="unpacks to more than 2 GB.")
        names = archive.namelist()
        others = [name for name in names if not PARTS.fullmatch(name)]
        if others:
            hidden.append(f"the workbook has parts that are no rows: {others[:5]}")
        for name in names:
            if name.startswith("docProps/"):
                hidden += [
                    f"the workbook names its {found[0].decode()}"
                    for found in PEOPLE.findall(archive.read(name))
                ]
        cells = [archive.read(name) for name in names if name.startswith("xl/worksheets/sheet")]
        texts = archive.read("xl/sharedStrings.xml") if "xl/sharedStrings.xml" in names else b""
        book = archive.read("xl/workbook.xml") if "xl/workbook.xml" in names else b""
    used = {int(each) for part in cells for each in re.findall(rb't="s"[^>]*><v>(\d+)</v>', part)}
    found = {
        "the sheet has formulas": any(re.search(rb"<f[ >/]", part) for part in cells),
        "the sheet has hidden rows or columns": any(
            re.search(rb'\bhidden="(1|true)"', part) for part in cells
        ),
        "the workbook has texts that no cell has": len(re.findall(rb"<si[ >/]", texts)) > len(used),
        "the workbook has named ranges": b"definedName " in book,
    }
    return hidden + [what for what, there in found.items() if there]


def as_text(cell: object) -> str:
    """Write a cell as text."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        return spell(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)


def of_one_type(cells: list[Any]) -> Any:  # noqa: ANN401 - an array
    """Return cells in the type of all of them, or as text."""
    import pyarrow as pa

    known = cells
    types = {type(cell) for cell in known} - {type(None)}
    if types and types <= {int, float}:
        return pa.array([None if each is None else float(each) for each in known], pa.float64())
    if types and types <= {date, datetime}:
        if types == {date}:
            return pa.array(known, pa.date32())
        whole = [datetime(e.year, e.month, e.day) if type(e) is date else e for e in known]
        return pa.array(whole, pa.timestamp("ms"))
    if len(types) == 1 and types & {bool, time}:
        return pa.array(known)
    return pa.array([None if each is None else as_text(each) for each in known], pa.string())


class WithoutPandas:
    """Keeps Arrow from importing pandas, which would take longer than reading the file."""

    def find_spec(self, name: str, *_: object) -> None:
        """Raise for pandas, as if it were not installed."""
        if name == "pandas":
            raise ImportError(name)


def main() -> None:
    """Read what standard input asks for."""
    request = json.load(sys.stdin)
    sys.path[:] = request["sys_path"]
    sys.meta_path.insert(0, WithoutPandas())
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (request["memory"],) * 2)
    except (ImportError, ValueError, OSError):
        pass  # there is no such limit here
    import pyarrow as pa
    from pyarrow import ipc

    try:
        read = sheet if request["form"] == "xlsx" else statistics
        columns, hidden, kinds = read(request)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a damaged file leads to
        stop(error=f"cannot be read: {first_line(error)}.")
    notes = {"office": json.dumps({"hidden": hidden, "kinds": kinds})}
    table = pa.table(columns).replace_schema_metadata(notes)
    with ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
        stream.write_table(table)


if __name__ == "__main__":
    main()
