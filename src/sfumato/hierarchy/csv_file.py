"""Hierarchies from CSV files: each line a raw value and its names, level by level."""

import csv
from collections.abc import Sequence
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, Self

from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError, ParameterError, require_text, suggest
from sfumato.files import read_small
from sfumato.files.reading import Reading, find_encoding, find_wide_encoding, tell
from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder
from sfumato.hierarchy.unlisted import Unlisted, place_unlisted, require_unlisted
from sfumato.typing import Value

# Reading hierarchy files, with answers for whatever can be wrong with a file.


def read_text(file: str, encoding: str | None = None, *, hint: str = "") -> str:
    """Read a text file in UTF-8, or in another encoding that is said or certain.

    What is wrong with it is said without quoting it: a policy may be a stranger's, and name any
    file of this machine.
    """
    path = Path(file)
    try:
        raw = read_small(path, "a hierarchy", _MOST_BYTES, error=HierarchyError)
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
    known = encoding or find_wide_encoding(raw[:_START]) or "utf-8"
    try:
        return raw.decode(known).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        found = None if known != "utf-8" or encoding else find_encoding([raw]).encoding
        if found is not None:
            tell(f"{file}: read in {found}.")
            return raw.decode(found)
        line = raw.count(b"\n", 0, error.start) + 1
        raise HierarchyError(
            f"{file}, line {line}: there is a byte that is not {known.upper()} text. "
            f"Save the file with the encoding UTF-8{hint}."
        ) from None


DELIMITERS = ";\t|,"
"""What may stand between the levels, when the policy does not say; the first wins a tie."""

_SAMPLE_LINES = 1000

_START = 1 << 20
"""Bytes that are looked at for zero bytes beside every letter."""

_MOST_BYTES = 1 << 28
"""Millions of lines."""


class _FileLine(NamedTuple):
    number: int
    fields: list[str]


@dataclass(frozen=True)
class CsvHierarchy(HierarchyBuilder):
    """One line per raw value: the value, then its name at level 1, 2, … up to the top.

    This is the format ARX uses: no header, all lines equally long, and the last
    column the same everywhere. Blank lines are ignored, quotes work as in any CSV file.
    The values of the file may be more than a table holds: they all count as leaves.

    Args:
        file: The file, relative to the policy's folder.
        delimiter: What stands between the levels; by default semicolon, tab, bar or
            comma, whichever makes a hierarchy of the file.
        encoding: How its characters are written as bytes, as in windows-1252; by default UTF-8, or
            what is certain of an encoding of western Europe.
        new: What becomes of a value that the file does not have: `refuse` stops, `other` puts
            them all into one group.

    Example:
        >>> from sfumato.hierarchy import EXAMPLE_FOLDER
        >>> marital = CsvHierarchy("example.csv").relative_to(EXAMPLE_FOLDER)
        >>> marital.build("marital-status", ["Married"]).labels[1:]
        (('been married', 'never married'), ('*',))
    """

    name: ClassVar[str] = "csv"
    title: ClassVar[str] = "File"
    in_words: ClassVar[str] = "A file of the folder, as ARX writes hierarchies."
    begins_with: ClassVar[Literal["values", "groups", "file"]] = "file"
    names_files: ClassVar[tuple[str, ...]] = ("file",)

    file: str
    delimiter: str | None = None
    encoding: str | None = None
    new: Unlisted = "refuse"

    def __post_init__(self) -> None:
        require_unlisted(self.new)
        require_text("file", self.file)
        if self.encoding is not None:
            require_text("encoding", self.encoding)
            object.__setattr__(self, "encoding", Reading(encoding=self.encoding).encoding)
        if self.delimiter is not None and (
            not isinstance(self.delimiter, str)
            or len(self.delimiter) != 1
            or self.delimiter in '"\r\n'
        ):
            raise ParameterError("delimiter", self.delimiter, "one character, such as ';'")

    @property
    def fixed_height(self) -> int:
        return self.build(self.name, ()).height

    @property
    def states_values(self) -> bool:
        return self.new == "refuse"

    @property
    def takes_unlisted(self) -> bool:
        return self.new == "other"

    def build_stated(self, column: str) -> Hierarchy:
        return self.build(column, ())

    def build(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> Hierarchy:
        hint = ", or say the one it has: {kind: csv, file: …, encoding: windows-1252}"
        text = read_text(self.file, self.encoding, hint=hint)
        # Looks at policies and comparisons of them build the same hierarchies again and again.
        build = _remember if len(text) <= _REMEMBERED else hierarchy_of_text
        made = build(text, column, self.delimiter, origin=self.file)
        return place_unlisted(made, column, values) if self.takes_unlisted else made

    @classmethod
    def example(cls) -> Self:
        return cls("example.csv")

    @classmethod
    def example_values(cls) -> list[Value]:
        return ["Married", "Widowed", "Single"]


def hierarchy_of_text(
    text: str, column: str, delimiter: str | None = None, *, origin: str = "the file"
) -> Hierarchy:
    r"""Return the hierarchy that the text of a file says, one line per raw value.

    Args:
        text: The lines.
        column: The column's name, for messages.
        delimiter: What stands between the levels; without it, what makes a hierarchy of the text.
        origin: What to call the file in a message.

    >>> hierarchy_of_text("2;even;*\n3;odd;*\n", "digit").labels[1:]
    (('even', 'odd'), ('*',))
    """
    lines = _parse(text, delimiter or _detect(text), origin)
    if not lines:
        raise HierarchyError(
            f"{origin} is empty. Give each value of {column!r} a line: the value, "
            'then its name at each level, with "*" as the last.'
        )
    if len(lines[0].fields) == 1:
        raise HierarchyError(
            f"{origin}, line {lines[0].number}: only one column found. Separate the "
            "levels with ';' or name the delimiter."
        )
    for number, fields in lines:
        if "" in fields[1:]:
            raise HierarchyError(
                f"{origin}, line {number}: level {fields.index('', 1)} is empty. Name "
                "every level; a value that does not change is repeated."
            )
    return Hierarchy.from_paths(
        [line.fields[0] for line in lines],
        [line.fields[1:] for line in lines],
        origin=origin,
        places=[f"line {line.number}" for line in lines],
        quoted=False,
    )


_REMEMBERED = 200_000
"""Characters of a text whose hierarchy is kept."""

_remember = lru_cache(maxsize=64)(hierarchy_of_text)


def _parse(text: str, delimiter: str, file: str) -> list[_FileLine]:
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines: list[_FileLine] = []
    begin = 1
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                lines.append(_FileLine(begin, fields))
            begin = reader.line_num + 1
    except csv.Error as error:
        raise HierarchyError(
            f"{file}, line {begin}: {error}. Look for a quote that is not closed; write a quote "
            'inside a quoted value twice ("").'
        ) from None
    return lines


def _detect(text: str) -> str:
    """Return the delimiter that makes the best hierarchy of the first lines."""
    sample = "\n".join(text.splitlines()[:_SAMPLE_LINES])

    def merit(delimiter: str) -> tuple[bool, bool, int, int]:
        try:
            lines = _parse(sample, delimiter, "")
        except HierarchyError:
            return False, False, 0, 0
        widths = [len(line.fields) for line in lines]
        even = len(set(widths)) == 1 and widths[0] > 1
        tops = {line.fields[-1] for line in lines}
        # A label such as "[20, 25)" also has a comma in every line, but then no single top.
        split = sum(width > 1 for width in widths)
        return even and len(tops) == 1, even, split, min(widths, default=0)

    return max(DELIMITERS, key=merit)
