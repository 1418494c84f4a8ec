"""Sources of rows that offices have: files of SPSS, Stata and SAS, and sheets of Excel."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import ipc
from pyarrow import types as t

from sfumato.errors import InputError, MissingExtraError, some
from sfumato.files.private import is_release
from sfumato.files.processes import read_apart
from sfumato.files.reading import Reading, tell
from sfumato.tables.arrow.sources import BATCH_ROWS, FileSource, unreadable_error
from sfumato.tables.variables import Variable

MISSING = "\0missing\0"
"""What the name of a column starts with that tells which code of missing each cell is."""

_READER = Path(__file__).with_name("reader.py")

_CALLED = {
    "sav": "an SPSS file",
    "por": "a portable SPSS file",
    "dta": "a Stata file",
    "sas7bdat": "a SAS file",
    "xpt": "a SAS transport file",
    "sheet": "a spreadsheet",
}
_SUFFIXES = {
    ".sav": "sav",
    ".zsav": "sav",
    ".por": "por",
    ".dta": "dta",
    ".sas7bdat": "sas7bdat",
    ".xpt": "xpt",
    ".xpt5": "xpt",
    ".xpt8": "xpt",
    ".xlsx": "sheet",
    ".xlsm": "sheet",
    ".xlsb": "sheet",
    ".xls": "sheet",
    ".ods": "sheet",
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_STARTS = {
    b"$FL2": "sav",
    b"$FL3": "sav",
    b"<stata_dta>": "dta",
    bytes(12) + b"\xc2\xea\x81\x60": "sas7bdat",
    b"HEADER RECORD*******": "xpt",
    _OLE: "sheet",
}
_OLD_STATA = frozenset([102, 103, 104, 105, 108, 110, 111, 112, 113, 114, 115])
_CPORT = b"**COMPRESSED** "
_HEAD = 512
_WITHOUT_DELETED = (1, 3, 6)
"""The first version of pyreadstat that leaves out rows which SAS has only marked as deleted."""


def office_kind(path: Path) -> str | None:
    """Return the kind of an office's file by its first bytes; None if it is none.

    A file that is none, and whose name says that it is one, is refused.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    kind = _kind_of(path, head)
    named = _SUFFIXES.get(path.suffix.lower())
    if kind is None and head.startswith(_CPORT):
        raise InputError(
            f"{path} was written by PROC CPORT of SAS, which only SAS reads. Export the table with "
            "PROC COPY and the engine XPORT, or as CSV."
        )
    if kind is None and named is not None:
        raise InputError(
            f"{path} is not {_CALLED[named]}, whatever its name says: it does not start like one. "
            "Rename the file to match its format, or export it again."
        )
    return kind


def _kind_of(path: Path, head: bytes) -> str | None:
    for start, kind in _STARTS.items():
        if head.startswith(start):
            return kind
    if _is_old_stata(head):
        return "dta"
    if b"SPSSPORTFILE" in head.translate(None, b"\r\n "):
        return "por"
    named = _SUFFIXES.get(path.suffix.lower()) == "sheet"
    zipped = head[:4] == b"PK\x03\x04"
    return "sheet" if zipped and (named or _holds_a_sheet(path)) else None


def _is_old_stata(head: bytes) -> bool:
    # A version, the order of bytes, and two bytes that are always alike.
    return len(head) > 4 and head[0] in _OLD_STATA and head[1] in (1, 2) and head[2:4] == b"\1\0"


def _holds_a_sheet(path: Path) -> bool:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if names & {"xl/workbook.xml", "xl/workbook.bin"}:
                return True
            return "mimetype" in names and "content.xml" in names
    except (zipfile.BadZipFile, OSError, ValueError):
        return False


class OfficeSource(FileSource):
    """A file of SPSS, Stata, SAS, Excel or LibreOffice, which is read whole and kept in memory.

    Where every value of a variable has a label, the labels are the cells. A code of missing is a
    missing cell; which code it is stands in a column of its own, which `batches` gives if it is
    asked for by the name that `kinds` has for it.

    Args:
        path: The file.
        kind: As `office_kind` says.
        said: The sheet, the rows above its header, and the encoding, where they are not found out.
    """

    def __init__(self, path: Path, kind: str, said: Reading | None = None) -> None:
        super().__init__(path)
        require_library(kind)
        said = said or Reading()
        if kind == "sheet" and _is_encrypted(path):
            raise InputError(f"{path} is encrypted with a password. Save it without one.")
        if kind != "sheet" and said.sheet is not None:
            raise InputError(f"{path} is {_CALLED[kind]}, which has no sheets. Name none.")
        self.kind = "xlsx" if kind == "sheet" else kind
        request = {
            "kind": kind,
            "sheet": said.sheet,
            "skip": said.skip,
            "encoding": said.encoding,
            "missing": said.missing,
        }
        stream = read_apart(_READER, path, request, _CALLED[kind])
        try:
            self._table = ipc.open_stream(pa.BufferReader(stream)).read_all()
        except (pa.ArrowException, OSError, ValueError) as error:
            raise unreadable_error(self.where, _CALLED[kind], error) from error
        told = json.loads(self._table.schema.metadata[b"sfumato"])
        public = [name for name in self._table.column_names if not name.startswith(MISSING)]
        # The columns of codes come after all others.
        fields = self._table.schema.remove_metadata()
        self.schema = pa.schema([fields.field(at) for at in range(len(public))])
        self._reading = Reading(
            sheet=told.get("sheet"),
            skip=said.skip,
            missing=said.missing,
            encoding=None if kind == "sheet" else said.encoding,
        )
        times = (t.is_timestamp, t.is_date32) if kind == "sheet" else ()
        tests = (t.is_integer, t.is_floating, *times)
        # Days and times in one column are text, each cell as it is written.
        times_as_text = {
            name for name, each in zip(public, told["variables"], strict=True) if each.get("times")
        }
        self.inferred = frozenset(times_as_text).union(
            field.name for field in self.schema if any(test(field.type) for test in tests)
        )
        self.rows = self._table.num_rows
        self.variables = {
            name: Variable(
                label=each.get("label"),
                labels=dict(map(tuple, each.get("labels", ()))),
                category=each.get("category", False),
                text=each.get("text", False),
                format=each.get("format"),
                measure=each.get("measure"),
                width=each.get("width"),
                mixed=each.get("mixed", False),
            )
            for name, each in zip(public, told["variables"], strict=True)
        }
        self._notes = _notes(self.where, self.variables, told)
        if not is_release(path.parent):
            for note in self._notes:
                tell(note)

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes

    @property
    def reading(self) -> Reading | None:
        """The sheet and the rows above its header, or the encoding; None if there is neither."""
        needed = self._reading.sheet, self._reading.encoding
        return self._reading if any(each is not None for each in needed) else None

    @property
    def kinds(self) -> Mapping[str, str]:
        """The names of the columns of codes of missing, by the column that they are about."""
        return {
            name.removeprefix(MISSING): name
            for name in self._table.column_names
            if name.startswith(MISSING)
        }

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from self._table.select(list(columns)).to_batches(max_chunksize=BATCH_ROWS)


def _notes(
    where: str, variables: Mapping[str, Variable], told: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return in one line how the file was read, if anything had to be found out."""
    notes = []
    if len(told.get("sheets", ())) > 1:
        notes.append(f"sheet {told['sheet']!r}")
    labelled = [name for name, each in variables.items() if each.category]
    if labelled:
        notes.append(f"labels of values are the cells of {some(labelled)}")
    mixed = [name for name, each in variables.items() if each.mixed]
    if mixed:
        notes.append(f"text, because numbers, dates and texts are mixed: {some(mixed)}")
    return (f"{where}: {'; '.join(notes)}",) if notes else ()


def _is_encrypted(path: Path) -> bool:
    """Return whether a file of Office is encrypted: then it is a container with this part in it."""
    with path.open("rb") as file:
        head = file.read(8)
        if head != _OLE:
            return False
        file.seek(0)
        return "EncryptedPackage".encode("utf-16-le") in file.read(1 << 26)


def require_library(kind: str) -> None:
    """Raise if the library that reads a kind of file is not installed."""
    if kind == "sheet":
        if find_spec("python_calamine") is None:
            raise MissingExtraError("python-calamine", "excel")
    elif find_spec("pyreadstat") is None:
        raise MissingExtraError("pyreadstat", "office")
    elif kind == "sas7bdat":
        from importlib.metadata import version

        installed = version("pyreadstat")
        if tuple(int(each) for each in re.findall(r"\d+", installed)[:3]) < _WITHOUT_DELETED:
            least = ".".join(map(str, _WITHOUT_DELETED))
            raise InputError(
                f"pyreadstat {installed} also reads rows that were deleted from a SAS "
                f'file. Install {least} or newer: pip install --upgrade "sfumato[office]"'
            )
