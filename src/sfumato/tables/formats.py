"""File formats: what tables are read from, and what releases are written in."""

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sfumato.errors import ParameterError
from sfumato.registry import Registry

if TYPE_CHECKING:
    import pyarrow as pa


class FileFormat:
    """A format of files. Everything that depends on a format is a fact of its class.

    A plug-in registers its class as an entry point of the group `sfumato.formats`; it reads and
    writes whole tables (`read`, `write`), while the engine streams those that are described here.
    The verifier shares no code with it: see `sfumato.verifier.formats` for the class that reads
    such files again.
    """

    name: ClassVar[str]
    """What policies, options and manifests call it."""

    endings: ClassVar[tuple[str, ...]]
    """What names of such files end in, the usual one first; if it is written, of those that are."""

    also_read: ClassVar[tuple[str, ...]] = ()
    """What names of other files end in that are read as this."""

    is_written: ClassVar[bool] = True
    """Whether releases can be written in it; others are only read."""

    nearest: ClassVar[str] = "parquet"
    """The format of a release of such a file, if it is only read."""

    is_text: ClassVar[bool] = False
    """Whether lines of text are written, so that every cell must be text."""

    keeps_types: ClassVar[bool] = True
    """Whether numbers and dates are read as what they were written as."""

    tells_missing: ClassVar[bool] = False
    """Whether a missing cell can say by a code why it is missing."""

    keeps_values: ClassVar[bool] = False
    """Whether what is read is exactly what was written, so that it is known without reading it."""

    needs_office: ClassVar[bool] = False
    """Whether it is one of SPSS, Stata, SAS or Excel, which need an extra."""

    pandas: ClassVar[str] = ""
    """How pandas reads it, for the README of a release: `{file}` is the file's name."""

    def read(self, path: Path) -> "pa.Table":
        """Read a file of a plug-in; raise `InputError` if it is damaged.

        Args:
            path: The file.
        """
        raise NotImplementedError(f"{self.name} is read by the engine")

    def write(self, table: "pa.Table", path: Path) -> None:
        """Write a file of a plug-in: these rows, in this order, and nothing else.

        Args:
            table: The rows.
            path: The file to create.
        """
        raise NotImplementedError(f"{self.name} is written by the engine")


class Csv(FileFormat):
    """Text with a delimiter; what is nothing else is this."""

    name = "csv"
    endings = (".csv",)
    also_read = (".tsv", ".txt", ".csv.gz", ".tsv.gz")
    is_text = True
    keeps_types = False


class Parquet(FileFormat):
    """Columns, as analysts keep them."""

    name = "parquet"
    endings = (".parquet", ".pq")
    keeps_values = True
    pandas = 'pd.read_parquet("{file}")'


class Feather(FileFormat):
    """Arrow's own: a file, or a stream."""

    name = "feather"
    endings = (".feather", ".arrow", ".ipc")
    keeps_values = True
    pandas = 'pd.read_feather("{file}")'


class Spss(FileFormat):
    """SPSS."""

    name = "sav"
    endings = (".sav",)
    also_read = (".zsav",)
    tells_missing = needs_office = True
    pandas = 'pd.read_spss("{file}")'


class PortableSpss(FileFormat):
    """SPSS, for other machines."""

    name = "por"
    endings = (".por",)
    needs_office = True
    is_written = False
    nearest = "sav"


class Stata(FileFormat):
    """Stata."""

    name = "dta"
    endings = (".dta",)
    tells_missing = needs_office = True
    pandas = 'pd.read_stata("{file}")'


class Sas(FileFormat):
    """SAS."""

    name = "sas7bdat"
    endings = (".sas7bdat",)
    needs_office = True
    is_written = False
    nearest = "dta"


class SasTransport(FileFormat):
    """SAS, for other machines."""

    name = "xpt"
    endings = (".xpt", ".xpt5", ".xpt8")
    needs_office = True
    is_written = False
    nearest = "dta"


class Spreadsheet(FileFormat):
    """Excel or LibreOffice; releases are written for Excel."""

    name = "xlsx"
    endings = (".xlsx",)
    also_read = (".xls", ".xlsb", ".ods")
    needs_office = True
    keeps_types = False
    pandas = 'pd.read_excel("{file}", dtype=str)'


_OURS = (Csv, Parquet, Feather, Spss, Stata, Spreadsheet, PortableSpss, Sas, SasTransport)
FORMATS: Registry[FileFormat] = Registry("format", "sfumato.formats", _OURS)

_ENDINGS = {ending: form for form in _OURS for ending in form.endings}


def written_formats() -> tuple[str, ...]:
    """Return the formats in which releases can be written.

    >>> written_formats()[:6]
    ('csv', 'parquet', 'feather', 'sav', 'dta', 'xlsx')
    """
    return tuple(name for name, form in FORMATS.items() if form.is_written)


def data_endings() -> tuple[str, ...]:
    """Return how the names of files end that tables are read from.

    >>> {".csv", ".txt", ".sav"} <= set(data_endings())
    True
    """
    return tuple(each for form in FORMATS.values() for each in (*form.endings, *form.also_read))


def require_format(name: str) -> type[FileFormat]:
    """Return a format in which releases can be written; raise if there is no such.

    >>> require_format("parquet").endings
    ('.parquet', '.pq')
    """
    if not isinstance(name, str) or name not in FORMATS or not FORMATS[name].is_written:
        raise ParameterError("format", name, f"one of {', '.join(written_formats())}")
    return FORMATS[name]


def format_like(kind: str) -> str:
    """Return the format in which a release of a kind of table is written, if none is named.

    >>> format_like("csv"), format_like("sas7bdat"), format_like("arrow")
    ('csv', 'dta', 'parquet')
    """
    if kind not in FORMATS:
        return FileFormat.nearest
    found = FORMATS[kind]
    return found.name if found.is_written else found.nearest


def format_by_ending(path: Path) -> type[FileFormat] | None:
    """Return the format that the name of a file says; None if it says none that is known.

    Plug-ins are asked only about names that no format has which is described here.

    >>> format_by_ending(Path("people.pq")), format_by_ending(Path("people"))
    (<class 'sfumato.tables.formats.Parquet'>, None)
    """
    ending = path.suffix.lower()
    if not ending or ending in _TEXTS:
        return None
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    return next((form for form in FORMATS.values() if ending in form.endings), None)


def plugin_for(path: Path) -> FileFormat | None:
    """Return the format of a plug-in that the name of a file says; None if it is none of those."""
    found = format_by_ending(path)
    return None if found is None or found in _OURS else found()


_TEXTS = (".tsv", ".txt", ".gz")
"""Endings of text that a plug-in cannot have: they are asked for often."""
