"""Reading hierarchy files, with answers for whatever can be wrong with a file."""

from pathlib import Path

from sfumato.errors import HierarchyError, suggest


def resolved(file: str, folder: str | Path) -> str:
    """Look for a file in a folder, unless its path is a full one.

    >>> Path(resolved("zip.csv", "policies")).as_posix()
    'policies/zip.csv'
    """
    return str(Path(folder) / file)


def read_text(file: str) -> str:
    """Read a UTF-8 text file, with or without byte order mark."""
    path = Path(file)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        folder = path.parent
        if not folder.is_dir():
            raise HierarchyError(
                f"no hierarchy file {file}: there is no folder {folder}. "
                "Paths in a policy are read from the policy's own folder."
            ) from None
        beside = sorted(each.name for each in folder.iterdir() if each.suffix == path.suffix)
        raise HierarchyError(
            f"no hierarchy file {file}. In {folder}: {suggest(path.name, beside)}"
        ) from None
    except OSError as error:
        raise HierarchyError(f"hierarchy file {file} cannot be read: {error.strerror}") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise HierarchyError(
            f"{file}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8 text. "
            "Save the file with the encoding UTF-8."
        ) from None
