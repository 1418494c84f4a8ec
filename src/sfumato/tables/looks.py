"""Files that are no tables of ours, by their first bytes, whatever their names say."""

import re

_EXPORT = "Save the table as CSV with the program it comes from."
_UNPACK = "Unpack it, and give the table that is in it."
_NO_TABLE = "Give a CSV, Parquet or Feather file."
_TEXTS = "Turn its records into a table first, and save that as CSV or Parquet."

_STARTS: tuple[tuple[bytes, str, str], ...] = (
    (b"%PDF-", "a PDF document", "Ask for the table itself, as CSV."),
    (b"\x89PNG\r\n", "a picture (PNG)", _NO_TABLE),
    (b"\xff\xd8\xff", "a picture (JPEG)", _NO_TABLE),
    (b"GIF87a", "a picture (GIF)", _NO_TABLE),
    (b"GIF89a", "a picture (GIF)", _NO_TABLE),
    (b"II*\0", "a picture (TIFF)", _NO_TABLE),
    (b"MM\0*", "a picture (TIFF)", _NO_TABLE),
    (b"SQLite format 3\0", "a database (SQLite)", "Export the table as CSV, or copy it to DuckDB."),
    (b"RDX2\n", "a data file of R (.rda)", _EXPORT),
    (b"RDX3\n", "a data file of R (.rda)", _EXPORT),
    (b"RDA2\nA\n", "a data file of R (.rda)", _EXPORT),
    (b"RDA3\nA\n", "a data file of R (.rda)", _EXPORT),
    (b"\x89HDF\r\n", "a data file in HDF5 (.h5, .mat)", _EXPORT),
    (b"\x93NUMPY", "an array of NumPy (.npy)", _EXPORT),
    (b"Obj\x01", "an Avro file", "Convert it to Parquet."),
    (b"\xfd7zXZ\0", "packed with xz", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!\x1a", "a RAR archive", _UNPACK),
    (b"\x7fELF", "a program", _NO_TABLE),
    (b"MZ\x90\0", "a program", _NO_TABLE),
    (b"{\\rtf", "a text document (RTF)", "Save the table in it as CSV."),
    (b"version https://git-lfs", "a pointer of Git LFS, not the file itself",
     "Fetch the file with git lfs pull."),
)  # fmt: skip

_TEXT_STARTS: tuple[tuple[str, str, str], ...] = (
    (r"<!doctype html|<html", "a web page (HTML)",
     "Export the table itself: perhaps a login page was saved."),
    (r"<\?xml|<[a-z][\w:.-]*(\s[^>]*)?>", "XML", _TEXTS),
    (r"\{\s*(\"|\})|\[\s*([\[{]|\"[^\"]*\"\s*[,\]]\s*$)", "JSON", _TEXTS),
    (r"@relation\s", "a data file of Weka (ARFF)", _EXPORT),
    (r"-----BEGIN ", "a key or an encrypted message", _NO_TABLE),
)  # fmt: skip

BYTES = 600
"""How many first bytes are looked at."""


def looks_like(head: bytes) -> tuple[str, str] | None:  # noqa: C901, PLR0911 - one per place
    """Return what a file is that is no table of ours, and what to do; None if it may be one.

    Args:
        head: Its first `BYTES` bytes.

    >>> looks_like(b"%PDF-1.7")
    ('a PDF document', 'Ask for the table itself, as CSV.')
    >>> looks_like(b'{"age": 3}')[0], looks_like(b"age,zip")
    ('JSON', None)
    """
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _archive(head)
    for start, what, hint in _STARTS:
        if head.startswith(start):
            return what, hint
    if re.match(rb"BZh[1-9]1AY&SY", head):
        return "packed with bzip2", _UNPACK
    # A header of a text file may begin with these letters too.
    if head.startswith((b"ORC", b"PARE")) and b"\0" in head:
        return "an ORC file or an encrypted Parquet file", "Convert it to plain Parquet."
    if head[8:12] == b"DUCK":
        return "a database (DuckDB)", "Give the address of a table in it: duckdb:///FILE?table=NAME"
    if head[257:262] == b"ustar":
        return "a tar archive", _UNPACK
    if re.match(rb"\x80[\x02-\x05][\x95}\]c(]", head):
        return "a pickle of Python", _EXPORT
    text = head.decode("utf-8-sig", errors="ignore").lstrip()
    for pattern, what, hint in _TEXT_STARTS:
        if re.match(pattern, text, re.IGNORECASE | re.MULTILINE):
            return what, hint
    return None


def _archive(head: bytes) -> tuple[str, str]:
    hint = "Unpack it, or save the sheet as CSV."
    if b"[Content_Types].xml" in head:
        return "a document of Office (.docx, .pptx)", "Save the table in it as CSV or .xlsx."
    return "a zip archive or a spreadsheet", hint
