"""Reading a decoupled release again, as counts."""

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sfumato.broken import Broken, SensitiveTable
from sfumato.counts import FrequencySet
from sfumato.decoupled import Decoupled
from sfumato.engines import Table, open_table
from sfumato.errors import InputError
from sfumato.tasks.stored import stored_tables
from sfumato.tasks.subject import manifest_in
from sfumato.typing import IntArray, Value
from sfumato.verifier.manifest import BREAK_MERGE, MANIFEST, Manifest


class Opened(NamedTuple):
    """The tables of a decoupled release, and what they hold."""

    manifest: Manifest
    tables: Mapping[str, Table]
    """By the name of the file."""

    broken: Broken

    @property
    def likes(self) -> dict[str, Table]:
        """Per column, the table that has it."""
        names = self.manifest.named("quasi-identifier")
        found = {}
        for file in self.manifest.files:
            columns = names if file.table == "qi" else (str(file.column),)
            found.update(dict.fromkeys(columns, self.tables[file.name]))
        return found


def open_broken(folder: Path) -> Opened:
    """Read the folder of a decoupled release: its counts are exactly those it was made of."""
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"there is no {MANIFEST} in {str(folder)!r}. Give the folder of a decoupled release."
        )
    manifest = manifest_in(folder)
    if manifest.kind is None:
        raise InputError(
            f"{str(folder)!r} is a release in one table: there is nothing to put together. "
            "Decouple it first: sfumato decouple."
        )
    return opened({file.name: folder / file.name for file in manifest.files}, manifest)


def opened(sources: Mapping[str, object], manifest: Manifest) -> Opened:
    """Read tables, wherever they are, by the names that the manifest has for them."""
    require_broken(manifest.kind)
    tables = {file.name: open_table(sources[file.name]) for file in manifest.files}
    [people] = [file.name for file in manifest.files if file.table == "qi"]
    by_column = {file.column: tables[file.name] for file in manifest.files if file.column}
    names = manifest.named("quasi-identifier")
    counts = tables[people].count([manifest.group, *names])
    # Groups are numbered in the order of their quasi-identifiers, whatever their labels are.
    order = np.lexsort(counts.codes[:0:-1])
    ids = _whole(counts, manifest.group)[order]
    if len(set(ids.tolist())) < len(ids):
        raise _apart()
    sensitive = [_sensitive(by_column[n], n, manifest, ids) for n in manifest.named("sensitive")]
    sizes = counts.rows[order]
    for table in sensitive:
        if not np.array_equal(np.bincount(table.group, table.rows, len(ids)), sizes):
            raise _apart()
    broken = Broken(counts.columns[1:], counts.codes[1:, order], sizes, tuple(sensitive), ids)
    return Opened(manifest, tables, broken)


def require_broken(kind: str | None) -> None:
    """Refuse a release whose groups are not people with the same quasi-identifiers."""
    if kind != BREAK_MERGE:
        raise InputError(
            f"this needs a release decoupled by {BREAK_MERGE!r}, and this one is by {kind!r}: its "
            "groups are not people with the same quasi-identifiers. What its tables tell is "
            "in its own schema.sql and in what sf.verify finds."
        )


def _sensitive(table: Table, column: str, manifest: Manifest, ids: IntArray) -> SensitiveTable:
    counts = table.count([manifest.group, column, manifest.count])
    given = _whole(counts, manifest.group)
    by_label = np.argsort(ids)
    at = np.minimum(np.searchsorted(ids, given, sorter=by_label), len(ids) - 1)
    group = by_label[at]
    if not np.array_equal(ids[group], given):
        raise _apart()
    value = counts.codes_of(column)
    order = np.lexsort((value, group))
    rows = _whole(counts, manifest.count)
    return SensitiveTable(counts.column(column), group[order], value[order], rows[order])


def _whole(counts: FrequencySet, name: str) -> IntArray:
    """Read a column of whole numbers, which a CSV file holds as text."""
    numbers = _numbers(counts.column(name).values)
    found: IntArray = numbers[counts.codes_of(name)]
    return found


def _numbers(values: Sequence[Value]) -> IntArray:
    try:
        return np.array([int(str(value)) for value in values], dtype=np.int64)
    except (ValueError, OverflowError):
        raise _apart() from None


def _apart() -> InputError:
    return InputError(
        "the tables do not belong together. See what is wrong with them: sfumato verify."
    )


def parts_of(data: object) -> tuple[Broken, Mapping[str, Any]] | None:
    """Give the parts of a broken release and its manifest; None for anything else."""
    if isinstance(data, Decoupled):
        require_broken(data.method)
        return data.broken, data.manifest
    stored = stored_tables(data)
    if stored is not None:
        return opened(stored.tables, stored.claims).broken, stored.plain
    folder = release_folder(data)
    if folder is None or manifest_in(folder).kind is None:
        return None
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return open_broken(folder).broken, manifest


def release_folder(data: object) -> Path | None:
    """Give the folder of a release, if it is one."""
    if not isinstance(data, str | PathLike):
        return None
    folder = Path(data).expanduser()
    return folder if (folder / MANIFEST).is_file() else None
