"""Check that a codebook says nothing of a release but what its rows show."""

import re
import struct
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import NamedTuple

from sfumato.files.reading import csv_rows
from sfumato.text import is_missing, text_of
from sfumato.verifier import office
from sfumato.verifier.counting import Source, count_each
from sfumato.verifier.promises import ClaimedManifest, DataFile

_HEADER = (
    *("table", "column", "entry", "value", "low", "high", "upper", "members", "order", "rows"),
    *("hidden", "values", "role", "type", "description", "code", "label"),
)
_NUMBERS = tuple(
    re.compile(digits + r"(?:[eE][-+]?\d+)?") for digits in (r"\d+(?:\.\d+)?", r"\.\d+", r"\d+\.")
)
"""How people write numbers. A text is searched for each way by itself: `2..5` is from 2 to 5."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class _TableContent(NamedTuple):
    """What the rows of one table show."""

    file: DataFile
    texts: Mapping[str, Mapping[str, int]]
    """Per column, how many rows have each text."""

    kinds: Mapping[str, Sequence[str]]
    """Per column, the codes of missing."""


def codebook_faults(
    folder: Path, path: Path, manifest: ClaimedManifest, sources: Mapping[str, Source]
) -> list[str]:
    """Return in words what a codebook says that the rows of its release do not show.

    Args:
        folder: The release.
        path: The codebook.
        manifest: What the release claims.
        sources: Its tables, by the names of the manifest.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [[_plain(cell) for cell in row] for row in csv_rows(file.read())]
    except (OSError, ValueError) as error:
        return [f"it cannot be read: {error}"]
    if not rows or tuple(rows[0]) != _HEADER:
        return ["it has another header than codebooks have"]
    shown = {
        file.name: _read_content(folder, file, sources[file.name], rows) for file in manifest.files
    }
    faults = []
    for number, row in enumerate(rows[1:], 2):
        line = dict(zip(_HEADER, row, strict=False))
        fault = "has other cells" if len(row) != len(_HEADER) else _fault(line, manifest, shown)
        if fault:
            faults.append(f"line {number} {fault}")
    return faults


def _plain(cell: str) -> str:
    """Undo the apostrophe that keeps spreadsheets from computing a text."""
    return cell[1:] if cell.startswith("'") else cell


def _read_content(
    folder: Path, file: DataFile, source: Source, rows: Sequence[Sequence[str]]
) -> _TableContent:
    # A column of which nothing is said but its name need not be counted: it may be long.
    told = {
        row[1]
        for row in rows
        if len(row) == len(_HEADER)
        and row[0] == file.name
        and (row[2] != "column" or row[4] or row[5] or row[10])
    }
    counted = count_each(source, [name for name in source.names if name in told])
    texts: dict[str, dict[str, int]] = {}
    for name, values in counted.items():
        if {*map(type, values)} == {str} and "" not in values:
            # Nothing has to be spelt out: labels of groups are many.
            texts[name] = values  # type: ignore[assignment]
            continue
        of_column = texts.setdefault(name, {})
        for value, n in values.items():
            if not is_missing(value):
                text = text_of(value)
                of_column[text] = of_column.get(text, 0) + n
    kinds: Mapping[str, Sequence[str]] = {}
    if file.format in office.FORMATS:
        kinds = office.read_office(folder / file.name, file.format).kinds
    return _TableContent(file, {name: texts.get(name, {}) for name in source.names}, kinds)


def _fault(
    line: Mapping[str, str], manifest: ClaimedManifest, tables: Mapping[str, _TableContent]
) -> str:
    shown = tables.get(line["table"])
    if shown is None or line["column"] not in shown.texts:
        return "is about no published column"
    texts = shown.texts[line["column"]]
    if line["entry"] == "column":
        return _column_fault(line, manifest, shown, texts)
    if line["entry"] == "missing":
        known = line["code"] in shown.kinds.get(line["column"], ())
        return "" if known and not line["value"] else "has a kind of missing that no row has"
    return _value_fault(line, manifest, texts)


def _value_fault(
    line: Mapping[str, str], manifest: ClaimedManifest, texts: Mapping[str, int]
) -> str:
    if line["entry"] != "value" or line["value"] not in texts:
        return "has a value that no row has"
    if line["rows"] != str(texts[line["value"]]):
        return "counts other rows than there are"
    if (line["code"] or line["label"]) and line["value"] not in (line["code"], line["label"]):
        return "gives a code to a value that has another"
    if line["members"] != "; ".join(manifest.members_of(line["column"], line["value"])):
        return "has members that the manifest does not have"
    ends = (line["low"], line["high"])
    middle = manifest.range_of(line["column"], line["value"])
    told = ends == middle if middle else _stand_in([line["value"]], ends)
    return "" if told else "has bounds that its label does not have"


def _column_fault(
    line: Mapping[str, str],
    manifest: ClaimedManifest,
    shown: _TableContent,
    texts: Mapping[str, int],
) -> str:
    roles = {column.name: column.role for column in manifest.columns}
    links = {manifest.group: "group", manifest.count: "count"}
    role = roles.get(line["column"]) or links.get(line["column"])
    if line["role"] != role or line["value"] or line["code"] or line["label"] or line["members"]:
        return f"gives column {line['column']!r} another role"
    if line["rows"] != str(shown.file.rows):
        return "counts other rows than there are"
    if line["hidden"] and line["hidden"] != f"{texts.get('*', 0) / (shown.file.rows or 1):.6g}":
        return "says another share of hidden cells"
    told = _stand_in(texts, (line["low"], line["high"]))
    return "" if told else "has bounds that no cell has"


def _stand_in(texts: Mapping[str, int] | Sequence[str], bounds: Sequence[str]) -> bool:
    """Return whether bounds stand in some texts: as numbers, or as days of years in them."""
    # A cell that is the bound itself, as of the numbers of groups, needs no search.
    given = [bound for bound in bounds if bound and not (bound in texts and _is_number(bound))]
    if not given:
        return True
    numbers = {float(found) for text in texts for form in _NUMBERS for found in form.findall(text)}
    years = {int(found) for text in texts for found in re.findall(r"\d{4}", text)}
    return all(
        _is_near(int(bound[:4]), years)
        if _DAY.fullmatch(bound)
        else _is_written(bound.lstrip("-"), numbers)
        for bound in given
    )


def _is_number(text: str) -> bool:
    return any(form.fullmatch(text) for form in _NUMBERS)


def _is_written(bound: str, numbers: Collection[float]) -> bool:
    """Return whether a bound is one of some numbers, or how one of 32 bits is written.

    >>> _is_written("0.1", {0.10000000149011612}), _is_written("0.1000", {0.1})
    (True, True)
    """
    number = _number(bound)
    if number is None:
        return False
    exact = _single(float(number))
    return float(number) in numbers or (exact in numbers and _shortest(exact) == number)


def _is_near(year: int, years: Collection[int]) -> bool:
    """Return whether a year is in a decade that is told, or beside it.

    What is before 2020-01-01 ends in 2019, and what comes after the 1990s begins in 2000.
    """
    decades = {told // 10 for told in years}
    return any(each // 10 in decades for each in (year - 1, year, year + 1))


def _shortest(exact: float | None) -> Decimal | None:
    """Return how a number of 32 bits is written: 0.1, not the 0.10000000149011612 that it is."""
    if exact is None:
        return None
    texts = (f"{exact:.{digits}g}" for digits in range(1, 10))
    return next((Decimal(text) for text in texts if _single(float(text)) == exact), None)


def _single(number: float) -> float | None:
    """Return the nearest number of 32 bits; None if it has none."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return None


def _number(text: str) -> Decimal | None:
    try:
        # As text of a number has it: 0.10 and 0.1 are one, and 1e5 is 100000.
        return Decimal(repr(float(text)))
    except (ValueError, InvalidOperation):
        return None
