"""The codebook of a release: what its columns are, and what each published label stands for.

Everything in it follows from the published rows, from the manifest, and from the dictionary of the
source as far as it is about values that are published.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError
from sfumato.files.reading import csv_rows
from sfumato.hierarchy.labels import Reader, Stretch, day_of, stretch_of
from sfumato.releases.manifest import ColumnRecord, FileRecord, Manifest
from sfumato.showing.content import escape_markdown
from sfumato.showing.plain import code
from sfumato.tables import Table
from sfumato.tables.base import Domain
from sfumato.tables.variables import LabelledValue, PublishedVariable
from sfumato.text import STAR, in_order, number_of, percent, text_of
from sfumato.typing import Value

CODEBOOK = "codebook.csv"
CODEBOOK_TEXT = "codebook.md"

COLUMN, VALUE, MISSING = "column", "value", "missing"
"""What a line of a codebook is about: a column, a value in its cells, or a kind of empty cell."""

LISTED = 10_000
"""Labels of a quasi-identifier that are listed; a column with more of them says so."""

CATEGORIES = 100
"""Values of other columns that are listed, if they are texts."""

_READ = 100_000
"""Values that are read to find out what a column is."""


class CodebookLine(NamedTuple):
    """A line of a codebook: of a column, or of one of its values. What does not apply is empty."""

    table: str = ""
    """The file, or the table."""

    column: str = ""
    entry: str = COLUMN
    value: str = ""
    """What stands in the cells."""

    low: str = ""
    """The smallest value that it stands for; of `>50` the end, which lies below all of them; of a
    column, the smallest bound that it has."""

    high: str = ""
    upper: str = ""
    """`included` or `excluded`: whether `high` is one of the values that it stands for."""

    members: str = ""
    """The values that it stands for, if the policy publishes its hierarchy; `; ` between them."""

    order: str = ""
    """Its place among the values of the column, if these have an order."""

    rows: str = ""
    """How many rows have it; of a column, how many rows there are."""

    hidden: str = ""
    """The share of a column's cells that are `*`."""

    values: str = ""
    """How many different values a column has."""

    role: str = ""
    type: str = ""
    description: str = ""
    """What the source calls the column."""

    code: str = ""
    """The code that the source has for the value, or for the kind of missing."""

    label: str = ""
    """What the source calls that code."""


HEADER = CodebookLine._fields

ROLES_IN_WORDS = {
    "quasi-identifier": "others may know it; generalised",
    "sensitive": "no adversary should learn it of a person",
    "set": "several items in one cell; generalised",
    "plain": "published as it is",
    "weight": "how many people a row stands for; the mean of its class",
    "group": "links the tables; drawn at random",
    "count": "how many people of the group have the values",
}
"""What the role of a column means to a reader."""

SYNTHETIC_IN_WORDS = {
    **ROLES_IN_WORDS,
    "quasi-identifier": "others may know it of a person; drawn",
    "sensitive": "no adversary should learn it of a person; drawn",
    "plain": "drawn",
}
"""The same where a mechanism drew the rows."""

NUMBERS, DATES = "number", "date"


@dataclass(frozen=True)
class Codebook:
    """The columns and values of a release, line by line.

    Example:
        >>> line = CodebookLine("data.csv", "sex", role="plain", type="text", rows="9")
        >>> print(Codebook((line,)).to_csv(), end="")
        table,column,entry,value,low,high,upper,members,order,rows,hidden,values,role,type,...
        data.csv,sex,column,,,,,,,9,,,plain,text,,,
    """

    lines: tuple[CodebookLine, ...]

    @property
    def columns(self) -> list[CodebookLine]:
        """The lines that are about columns."""
        return [line for line in self.lines if line.entry == COLUMN]

    def values_of(self, table: str, column: str) -> list[CodebookLine]:
        """Return the lines about the values of a column, as they are listed."""
        where = (table, column)
        return [each for each in self.lines if each[:2] == where and each.entry != COLUMN]

    def to_csv(self) -> str:
        """Write it as CSV; no cell is a formula to a spreadsheet."""
        out = io.StringIO(newline="")
        rows = csv.writer(out, lineterminator="\n")
        # Some readers end a line where the cell of another one returns to its beginning.
        quoted = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
        rows.writerow(HEADER)
        for line in self.lines:
            cells = [guard(cell) for cell in line]
            (quoted if any("\r" in cell for cell in cells) else rows).writerow(cells)
        return out.getvalue()

    @classmethod
    def from_csv(cls, text: str) -> "Codebook":
        """Read what `to_csv` wrote; raise if it is something else."""
        try:
            rows = csv_rows(text)
        except ValueError as error:
            raise InputError(f"{CODEBOOK} cannot be read: {error}") from None
        if not rows or tuple(rows[0]) != HEADER or any(len(row) != len(HEADER) for row in rows):
            raise InputError(f"{CODEBOOK} is not the codebook of a release")
        return cls(tuple(CodebookLine(*map(unguard, row)) for row in rows[1:]))

    def to_markdown(self) -> str:
        """Write it for people: all columns, and the values of each."""
        several = len({line.table for line in self.columns}) > 1
        blocks = [_INTRODUCTION]
        heads = ["column", "role", "type", "from", "to", "values", "hidden", "description"]
        rows = [
            [
                code(line.column),
                line.role,
                line.type,
                line.low,
                line.high,
                line.values,
                percent(float(line.hidden)) if line.hidden else "",
                escape_markdown(line.description),
            ]
            for line in self.columns
        ]
        if several:
            heads = ["table", *heads]
            rows = [[code(c.table), *row] for c, row in zip(self.columns, rows, strict=True)]
        blocks.append(_table(heads, rows))
        for line in self.columns:
            listed = self.values_of(line.table, line.column)
            if listed:
                where = f" in {code(line.table)}" if several else ""
                blocks += [f"## {code(line.column)}{where}", _values_table(listed)]
                if len(listed) > _SHOWN:
                    blocks.append(f"{len(listed) - _SHOWN} more are in `{CODEBOOK}`.")
        return "\n\n".join(blocks) + "\n"


_SHOWN = 60
"""Values of a column that people are shown; a table has all."""

_INTRODUCTION = f"""\
# Codebook

What the columns are, and what each published label stands for. `*` hides a value: the row has one,
but it is not published. `{CODEBOOK}` says the same as a table; in it an apostrophe stands before
texts that a spreadsheet would take for a formula."""


def _values_table(lines: Sequence[CodebookLine]) -> str:
    heads = ["value", "from", "to", "rows", "members", "code", "label"]
    rows = [
        [
            code(line.value) if line.value else "*(empty)*",
            line.low,
            f"below {line.high}" if line.upper == "excluded" and line.high else line.high,
            line.rows,
            escape_markdown(line.members),
            code(line.code) if line.code else "",
            escape_markdown(line.label),
        ]
        for line in lines[:_SHOWN]
    ]
    used = [i for i in range(len(heads)) if i == 0 or any(row[i] for row in rows)]
    return _table([heads[i] for i in used], [[row[i] for i in used] for row in rows])


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "＝", "＋", "－", "＠")


def guard(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: with an apostrophe before it.

    A number below zero stays one: bounds are numbers.

    >>> [guard(text) for text in ("=1+1", "-5", "+1", "@home", "60 to 64", "'tis")]
    ["'=1+1", '-5', "'+1", "'@home", '60 to 64', "''tis"]
    """
    if text.startswith("-") and number_of(text) is not None:
        return text
    return f"'{text}" if text.startswith(_FORMULA) else text


def unguard(text: str) -> str:
    """Return the text that was guarded.

    >>> [unguard(guard(text)) for text in ("=1+1", "-5", "'tis")]
    ['=1+1', '-5', "'tis"]
    """
    return text[1:] if text.startswith("'") else text


# What labels stand for.


class ReadLabels(NamedTuple):
    """The stretch of the line that each label of a column stands for."""

    kind: str
    """`number` or `date`."""

    stretches: Mapping[str, Stretch]

    @property
    def has_ranges(self) -> bool:
        """Whether a label stands for more than one value."""
        return any(each.low != each.high for each in self.stretches.values())

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest bound that there is; infinite if there is none."""
        ends = [end for each in self.stretches.values() for end in (each.begin, each.high)]
        known = [end for end in ends if math.isfinite(end)]
        return min(known, default=-math.inf), max(known, default=math.inf)

    @property
    def whole(self) -> bool:
        """Whether all bounds are whole numbers."""
        ends = [end for each in self.stretches.values() for end in (each.begin, each.high)]
        return all(end.is_integer() for end in ends if math.isfinite(end))

    def ends_of(self, label: str) -> tuple[float, float]:
        """Return the two ends of a label as a reader is told them; infinite where it has none."""
        stretch = self.stretches[label]
        return stretch.begin, stretch.high

    def write(self, end: float) -> str:
        """Return a bound as text; nothing for one that is not there."""
        if not math.isfinite(end):
            return ""
        if self.kind == NUMBERS:
            return text_of(end)
        return date.fromordinal(int(end)).isoformat() if 1 <= end <= _LAST_DAY else ""


_LAST_DAY = date.max.toordinal()
_ZEROS = re.compile(r"0\d")
_FAR = re.compile(r"(?:-\d+|\d{5,}|0000)-\d{2}-\d{2}|-?\d+ (?:s|ms|us|ns)$")
"""A day outside the years 1 to 9999, or a time there: a number of seconds, or of parts of them."""


def read_labels(labels: Iterable[str], *, days: bool = False) -> ReadLabels | None:
    """Read labels as stretches of numbers, or of days; None if some are neither. `*` is none.

    Args:
        labels: The labels of a column.
        days: Whether they are of days, so that four digits are a year.

    >>> found = read_labels(["61", "[60, 65)", "*", ">=80"])
    >>> [(found.write(s.low), found.write(s.high)) for s in found.stretches.values()]
    [('61', '61'), ('60', '65'), ('80', '')]
    >>> read_labels(["young"])
    """
    texts = [label for label in labels if label != STAR]
    if any(_ZEROS.match(text) for text in texts):
        return None  # a code: as a number it would lose its zeros
    readers: tuple[tuple[str, Reader], ...] = ((NUMBERS, number_of), (DATES, day_of))
    for kind, reader in readers[days:]:
        found = {}
        for text in texts:
            stretch = _stretch(text, reader)
            if stretch is None:
                break
            found[text] = _in_days(stretch) if kind == DATES else stretch
        else:
            return ReadLabels(kind, found) if found else None
    return None


def _in_days(stretch: Stretch) -> Stretch:
    """Return a stretch of days from its first to its last, both inside."""
    if stretch.after:
        stretch = stretch._replace(low=stretch.begin + 1, after=False)
    if not stretch.closed and math.isfinite(stretch.high):
        stretch = stretch._replace(high=stretch.high - 1, closed=True)
    return stretch


def _stretch(text: str, reader: Reader) -> Stretch | None:
    point = reader(text)
    return stretch_of(text, reader) if point is None else Stretch(point, point, closed=True)


# Making one.


class WrittenTable(NamedTuple):
    """A table that was written, and what is known of its columns without reading it."""

    table: Table
    known: Mapping[str, Domain] = MappingProxyType({})

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        return self.table.columns

    def domains(self, columns: Sequence[str]) -> dict[str, Domain]:
        """Count the values of each column by itself; see `Table.domains`."""
        new = [name for name in columns if name not in self.known]
        found = {**self.known, **(self.table.domains(new) if new else {})}
        return {name: found[name] for name in columns if name in found}

    def read(self) -> "WrittenTable":
        """Return it with what all its columns hold, so that nobody needs to read them again."""
        return self._replace(known=self.domains(self.columns))

    def small_domains(self) -> dict[str, Domain]:
        """Return what is known of columns with few values: the others take much memory."""
        return {name: each for name, each in self.known.items() if len(each.rows) <= _FEW_VALUES}


_FEW_VALUES = 65_536


def describe(
    manifest: Manifest,
    tables: Mapping[str, WrittenTable],
    variables: Mapping[str, Sequence[PublishedVariable]],
) -> Codebook:
    """Return the codebook of tables as they are published.

    Args:
        manifest: What the release says of itself, its files included.
        tables: The tables by the names of the manifest; without those that have no rows.
        variables: The labels of their columns, if the source had a dictionary.
    """
    lines: list[CodebookLine] = []
    columns = {column.name: column for column in manifest.columns}
    for file in manifest.files:
        table = tables.get(file.name)
        told = {each.column: each for each in variables.get(file.name, ())}
        domains = {} if table is None else table.domains(table.columns)
        for name in _columns_of(file, manifest) if table is None else table.columns:
            record = columns.get(name) or _link(manifest, name)
            nested = table is not None and not table.table.has_single_values(name)
            domain = domains.get(name)
            lines += _Description(file, record, domain, told.get(name), nested=nested).lines()
    return Codebook(tuple(lines))


def _columns_of(file: FileRecord, manifest: Manifest) -> list[str]:
    """Return the columns of a table that has no rows."""
    if file.column is None and file.columns is None:
        return [column.name for column in manifest.columns if file.table != "qi"]
    return list(file.columns or (str(file.column),))


def _link(manifest: Manifest, name: str) -> ColumnRecord:
    """Return what a column is that belongs to no person: it holds tables together."""
    return ColumnRecord(name, "group" if name == manifest.group else "count")


class _Description:
    """Writes the lines about one column."""

    def __init__(
        self,
        file: FileRecord,
        record: ColumnRecord,
        domain: Domain | None,
        told: PublishedVariable | None,
        *,
        nested: bool,
    ) -> None:
        self._file, self._record, self._told = file, record, told
        self._found: list[Value] = []
        self._rows: list[int] = []
        self._nested = nested
        self._n = 0 if domain is None else len(domain.rows)
        self._large = self._n > _READ
        if domain is not None:
            self._found = domain.values(_READ if self._large else None)
            self._rows = [] if self._large else np.asarray(domain.rows).tolist()
        self._texts = [text_of(value) for value in self._found]
        # Of days that few programs can read, nothing is said but that they are there.
        self._large |= any(_FAR.match(text) for text in self._texts)
        self._read = None if record.role == "set" else read_labels(self._texts)

    def lines(self) -> list[CodebookLine]:
        """Return the line of the column, and those of the values that are listed."""
        return [self._column_line(), *self._value_lines(), *self._missing_lines()]

    def _line(self, **more: str) -> CodebookLine:
        return CodebookLine(self._file.name, self._record.name, **more)

    def _column_line(self) -> CodebookLine:
        read, low, high = self._read, "", ""
        if read is not None and not self._large:
            low, high = map(read.write, read.ends)
        counted = dict(zip(self._texts, self._rows, strict=False))
        total = self._file.rows or 0
        hidden = ""
        # Where labels are numbers, a hidden value is an empty cell, as a missing one is.
        starred = self._record.role in ("quasi-identifier", "sensitive") and not self._record.of
        if starred and not self._large and total:
            hidden = f"{counted.get(STAR, 0) / total:.6g}"
        return self._line(
            low=low,
            high=high,
            rows=str(total),
            hidden=hidden,
            values="" if self._nested else str(self._n),
            role=self._record.role,
            type=self._type(),
            description=(self._told and self._told.label) or "",
        )

    def _type(self) -> str:
        record, kinds = self._record, {type(value) for value in self._found if value != STAR}
        if record.role == "set":
            return f"items, {record.separator} between them" if record.separator else "list"
        if self._nested:
            return "list"
        if record.role in ("group", "count"):
            return "whole number"
        for kind, name in ((bool, "true or false"), (datetime, "time")):
            if kinds == {kind}:
                return name
        if self._read is None:
            return "text"
        name = self._read.kind
        if name == NUMBERS and self._read.whole:
            name = "whole number"
        return f"{name} or range" if self._read.has_ranges else name

    def _value_lines(self) -> list[CodebookLine]:
        labelled = {
            text: each for each in self._values_with_labels() for text in (each.label, each.code)
        }
        if not self._is_listed(labelled):
            return []
        counted: Counter[str] = Counter()
        for text, rows in zip(self._texts, self._rows, strict=True):
            counted[text] += rows
        values = self._in_order()
        ranks = self._ranks(values)
        return [
            self._line(
                entry=VALUE,
                value=text,
                **self._bounds(text),
                members="; ".join((self._record.members or {}).get(text, ())),
                order=ranks.get(text, ""),
                rows=str(counted[text]),
                code=labelled[text].code if text in labelled else "",
                label=labelled[text].label if text in labelled else "",
            )
            for text in values
        ]

    def _values_with_labels(self) -> list[LabelledValue]:
        return [] if self._told is None else [v for v in self._told.values if not v.missing]

    def _is_listed(self, labelled: Mapping[str, object]) -> bool:
        if self._large or not self._texts or self._record.role in ("set", "group", "count"):
            return False
        if labelled or self._record.order or self._record.ranges:
            return self._n <= LISTED
        single = self._read is not None and not self._read.has_ranges
        if self._record.role == "quasi-identifier" and not single:
            return self._n <= LISTED
        if single and STAR not in self._texts:
            return False
        return self._n <= CATEGORIES

    def _in_order(self) -> list[str]:
        """Return the values as they are listed: by their order if there is one, `*` last."""
        texts = [text for text in dict.fromkeys(self._texts) if text != STAR]
        given = self._record.order or ()
        if given:
            place = {text: number for number, text in enumerate(given)}
            texts = sorted(texts, key=lambda text: (place.get(text, len(place)), text))
        elif self._read is not None:
            ends = self._read.stretches
            texts = sorted(texts, key=lambda text: (ends[text].low, ends[text].high, text))
        else:
            texts = [text_of(each) for each in in_order(texts)]
        return [*texts, *([STAR] if STAR in self._texts else [])]

    def _ranks(self, values: Sequence[str]) -> dict[str, str]:
        ordered = self._record.order or (() if self._read is None else self._read.stretches)
        there = [text for text in values if text in ordered]
        return {text: str(number) for number, text in enumerate(there, 1)}

    def _bounds(self, text: str) -> dict[str, str]:
        if self._record.ranges is not None and text in self._record.ranges:
            low, high = self._record.ranges[text]
            upper = self._record.upper if low != high else None
            return {"low": low, "high": high, "upper": upper or "included"}
        if self._read is None or text not in self._read.stretches:
            return {}
        stretch = self._read.stretches[text]
        return {
            "low": self._read.write(stretch.begin),
            "high": self._read.write(stretch.high),
            "upper": "included" if stretch.closed else "excluded",
        }

    def _missing_lines(self) -> list[CodebookLine]:
        told = () if self._told is None else self._told.values
        return [
            self._line(entry=MISSING, code=each.code, label=each.label)
            for each in told
            if each.missing
        ]
