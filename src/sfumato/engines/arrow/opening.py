"""Find out what a source is: a path by its first bytes, an object by what it can do."""

from difflib import get_close_matches
from os import PathLike
from pathlib import Path

from sfumato.engines.arrow.source import Source
from sfumato.errors import InputError

_BINARY_SUFFIXES = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".feather": "Feather",
    ".arrow": "Feather",
    ".ipc": "Feather",
}


def open_source(source: object) -> Source:
    """Open a path or an in-memory table, importing only what it needs."""
    if isinstance(source, str | PathLike):
        return _open_path(Path(source).expanduser())
    from sfumato.engines.arrow.memory import open_memory

    return open_memory(source)


def _open_path(path: Path) -> Source:
    head = _first_bytes(path)
    if head[:4] == b"PAR1":
        from sfumato.engines.arrow.parquet_file import ParquetSource

        return ParquetSource(path)
    if head[:6] == b"ARROW1" or head[:4] == b"\xff\xff\xff\xff":
        from sfumato.engines.arrow.feather_file import FeatherSource

        return FeatherSource(path, stream=head[:6] != b"ARROW1")
    if head[:4] == b"FEA1":
        raise InputError(
            f"{path} is a Feather file of the old version 1. Write it again as version 2."
        )
    if head[:4] == b"PK\x03\x04":
        raise InputError(
            f"{path} is a zip archive or a spreadsheet. Unpack it, or save the sheet as CSV."
        )
    if path.suffix.lower() in _BINARY_SUFFIXES:
        expected = _BINARY_SUFFIXES[path.suffix.lower()]
        raise InputError(
            f"{path} is not a {expected} file, whatever its name says: it starts with "
            f"{head!r}. Give it the ending it deserves, or write it again."
        )
    from sfumato.engines.arrow.csv_file import CsvSource

    return CsvSource(path)


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except IsADirectoryError:
        raise InputError(f"{path} is a folder. Give a file: CSV, Parquet or Feather.") from None
    except FileNotFoundError:
        raise InputError(f"there is no file {path}.{_near(path)}") from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from error
    if not head:
        raise InputError(f"{path} is empty. A table needs a header and at least one row.")
    return head


def _near(path: Path) -> str:
    """Suggest a file of the same folder with a similar name."""
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f" There is no folder {path.parent} either."
    near = get_close_matches(path.name, names, n=1)
    return f" Did you mean {path.parent / near[0]}?" if near else ""
