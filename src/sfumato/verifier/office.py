"""Read files of SPSS, Stata and Excel as their readers do, with all that is in them."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
from pyarrow import ipc

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError
from sfumato.files.processes import read_apart
from sfumato.files.reading import Reading

FORMATS = {"sav": (".sav", ".zsav"), "dta": (".dta",), "xlsx": (".xlsx",)}
"""Formats that releases have."""

OTHERS = {
    "por": (".por",),
    "sas7bdat": (".sas7bdat",),
    "xpt": (".xpt", ".xpt5", ".xpt8"),
    "xlsx": (".xls", ".ods", ".xlsm", ".xlsb"),
}
"""Formats of tables of others."""

_SCRIPT = Path(__file__).with_name("office_reader.py")


@dataclass(frozen=True)
class OfficeFile:
    """A file, as it was read."""

    table: pa.Table
    hidden: tuple[str, ...]
    """What it holds besides its rows, in words."""

    kinds: Mapping[str, Sequence[str]]
    """The codes of missing that each column has; an empty one for a cell without a code."""


def form_of(head: bytes, ending: str) -> str | None:
    r"""Return the format of a file by its first bytes; None if it is none of these.

    >>> form_of(b"$FL2@(#) SPSS", ".dat"), form_of(b"PK\3\4", ".zip")
    ('sav', None)
    """
    known = {
        b"$FL2": "sav",
        b"$FL3": "sav",
        b"<stata_dta>": "dta",
        b"HEADER RECORD*******": "xpt",
        bytes(12) + b"\xc2\xea": "sas7bdat",
        b"\xd0\xcf\x11\xe0": "xlsx",
    }
    for start, form in known.items():
        if head.startswith(start):
            return form
    every = [*FORMATS.items(), *OTHERS.items()]
    named = next((form for form, endings in every if ending in endings), None)
    old = head[2:3] == b"\1" and head[1:2] in (b"\1", b"\2")
    if named == "por" or (named == "dta" and old) or (named == "xlsx" and head[:2] == b"PK"):
        return named
    return None


def read_office(path: Path, form: str, reading: Reading | None = None) -> OfficeFile:
    """Read a file, once while it does not change."""
    stat = path.stat()
    state = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
    return _read(path, form, reading or Reading(), state)


@lru_cache(maxsize=2)
def _read(
    path: Path,
    form: str,
    reading: Reading,
    state: tuple[int, int, int],  # noqa: ARG001 - a key
) -> OfficeFile:
    request = {
        "form": form,
        "sheet": reading.sheet,
        "skip": reading.skip,
        "missing": reading.missing,
        "encoding": reading.encoding,
    }
    stream = read_apart(_SCRIPT, path.absolute(), request, f"{form} file")
    try:
        table = ipc.open_stream(pa.BufferReader(stream)).read_all()
        table.validate(full=True)
        notes = json.loads(table.schema.metadata[b"office"])
    except (pa.ArrowException, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path.name} cannot be read: {error}") from error
    return OfficeFile(table.replace_schema_metadata(None), tuple(notes["hidden"]), notes["kinds"])
