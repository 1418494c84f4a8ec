"""What was published of a table, whatever its kind: roles, tables, and what answers questions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from sfumato.broken import Broken
from sfumato.checks import names_in
from sfumato.counts import Column, FrequencySet
from sfumato.decoupled import Decoupled
from sfumato.engines import open_table
from sfumato.errors import ParameterError, UnknownColumnError, some
from sfumato.hierarchy import Ladder
from sfumato.policy import Policy
from sfumato.tasks.broken_tables import parts_of, release_folder
from sfumato.tasks.measure import counted
from sfumato.tasks.promises import claims_in
from sfumato.tasks.stored import stored_tables
from sfumato.tasks.subject import manifest_in, subject_of
from sfumato.usefulness import Anatomised, BrokenTable, Estimator, Generalised, Labels, Sliced
from sfumato.verifier.manifest import ANATOMY, SLICING, DataFile, Manifest

Read: TypeAlias = Callable[[Sequence[Column], Mapping[str, Ladder]], Estimator]
"""Makes an estimator for the columns of the original, given the hierarchies of some."""


@dataclass(frozen=True, eq=False)
class Counted:
    """The published tables, counted, and what links them."""

    tables: tuple[FrequencySet, ...]
    group: str | None = None
    """The column that names the group in all of them; None if there is one table."""

    count: str | None = None
    """The column that says how many people an entry stands for; a table without it has a row
    per person.
    """

    def names(self, table: FrequencySet) -> tuple[str, ...]:
        """Name the columns about people."""
        return tuple(name for name in table.names if name not in (self.group, self.count))


class Published(NamedTuple):
    """A release of any kind."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    read: Read
    counted: Callable[[Sequence[str]], Counted]
    """Counts those of some columns that each table has; tables with none are left out."""

    levels: Mapping[str, int]
    """The level of each column that was published at one level."""


def published(
    release: object,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    policy: Policy | None,
) -> Published:
    """Open a release; the roles that are named win over its own."""
    found = _decoupled(release)
    if found is None:
        return _one_table(release, quasi_identifiers, sensitive, policy)
    if quasi_identifiers is not None:
        found = found._replace(quasi_identifiers=names_in("quasi_identifiers", quasi_identifiers))
    if sensitive is not None:
        found = found._replace(sensitive=names_in("sensitive", sensitive))
    return found


def require_alike(releases: Mapping[str, Published], columns: Sequence[str]) -> None:
    """Refuse to compare releases if one lacks a column, and say which one."""
    for name, release in releases.items():
        known = {*release.quasi_identifiers, *release.sensitive}
        lacking = [column for column in columns if column not in known]
        if lacking:
            raise ParameterError(
                "releases",
                name,
                "releases that all have the columns that are compared",
                why=f"it has no {some(lacking)}. Name columns that all of them have: "
                "quasi_identifiers (--qi) and sensitive (--sensitive)",
            )


def _one_table(
    release: object,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    policy: Policy | None,
) -> Published:
    found = subject_of(release, quasi_identifiers, sensitive, policy)

    def read(columns: Sequence[Column], ladders: Mapping[str, Ladder]) -> Estimator:
        counts = counted(found.data, [column.name for column in columns])
        return Generalised(counts, columns, Labels(ladders, _levels(found.manifest)))

    def tables(names: Sequence[str]) -> Counted:
        return Counted((counted(found.data, names).project(names),))

    levels = _levels(found.manifest)
    return Published(found.quasi_identifiers, found.sensitive, read, tables, levels)


def _decoupled(release: object) -> Published | None:
    if isinstance(release, Broken):
        return _broken(release, {})
    tables = _tables(release)
    if tables is not None and tables.manifest.kind in _BUCKETS:
        return _buckets(tables)
    parts = parts_of(release)
    return None if parts is None else _broken(*parts)


def _broken(broken: Broken, manifest: Mapping[str, Any]) -> Published:
    def read(columns: Sequence[Column], ladders: Mapping[str, Ladder]) -> Estimator:
        return BrokenTable(broken, columns, Labels(ladders, _levels(manifest)))

    def tables(names: Sequence[str]) -> Counted:
        return _tables_of(broken, names)

    names = tuple(column.name for column in broken.quasi_identifiers)
    return Published(names, broken.names, read, tables, _levels(manifest))


def _tables_of(broken: Broken, names: Sequence[str]) -> Counted:
    """Write broken groups as the tables they are published as, with numbers for labels."""
    columns = [c for c in broken.quasi_identifiers if c.name in names]
    apart = [table for table in broken.sensitive if table.column.name in names]
    _require(names, [c.name for c in broken.quasi_identifiers], broken.names)
    taken = {*names}
    group, count = _free("group", taken), _free("count", taken)
    numbers = np.arange(len(broken), dtype=np.int32)
    number = Column(group, tuple(numbers.tolist()))
    found = []
    if columns:
        at = [broken.quasi_identifiers.index(column) for column in columns]
        codes = np.vstack([numbers[None], broken.labels[at]]).astype(np.int32)
        found.append(FrequencySet((number, *columns), codes, broken.sizes))
    for table in apart:
        people, code = np.unique(table.rows, return_inverse=True)
        codes = np.array([table.group, table.value, code], dtype=np.int32)
        held = (number, table.column, Column(count, tuple(people.tolist())))
        found.append(FrequencySet(held, codes, np.ones(len(code), dtype=np.int64)))
    return Counted(tuple(found), group, count)


def _free(name: str, taken: set[str]) -> str:
    """Find a name that no column has."""
    return name if name not in taken else _free(f"{name}_", taken)


def _require(names: Sequence[str], *known: Sequence[str]) -> None:
    """Refuse a column that is in none of the tables."""
    every = [name for each in known for name in each]
    for name in names:
        if name not in every:
            raise UnknownColumnError(name, every, where="the published tables")


class _Tables(NamedTuple):
    """The tables of a decoupled release, wherever they are."""

    manifest: Manifest
    sources: Mapping[str, object]
    """By the name of the file."""

    def counts_of(self, file: DataFile, *columns: str) -> FrequencySet:
        """Count a table, with the column that links it to the others."""
        return open_table(self.sources[file.name]).count([self.manifest.group, *columns])


def _tables(release: object) -> _Tables | None:
    if isinstance(release, Decoupled) and release.folder is None:
        return _Tables(claims_in(release.manifest), release.tables or {})
    stored = stored_tables(release)
    if stored is not None:
        return _Tables(stored.claims, stored.tables)
    folder = release.folder if isinstance(release, Decoupled) else release_folder(release)
    if folder is None:
        return None
    manifest = manifest_in(folder)
    return _Tables(manifest, {file.name: folder / file.name for file in manifest.files})


def _buckets(tables: _Tables) -> Published:
    manifest = tables.manifest
    levels = {c.name: c.level for c in manifest.columns if c.level is not None}
    build = _BUCKETS[str(manifest.kind)]

    def read(columns: Sequence[Column], ladders: Mapping[str, Ladder]) -> Estimator:
        return build(tables, columns, Labels(ladders, levels))

    def counted_tables(names: Sequence[str]) -> Counted:
        held = [_columns_of(manifest, file) for file in manifest.files]
        _require(names, *held)
        found = [
            tables.counts_of(file, *wanted, *([] if file.table == "qi" else [manifest.count]))
            for file, columns in zip(manifest.files, held, strict=True)
            if (wanted := [name for name in columns if name in names])
        ]
        return Counted(tuple(found), manifest.group, manifest.count)

    roles = manifest.named("quasi-identifier"), manifest.named("sensitive")
    return Published(*roles, read, counted_tables, levels)


def _columns_of(manifest: Manifest, file: DataFile) -> tuple[str, ...]:
    if file.table == "qi":
        return manifest.named("quasi-identifier")
    return file.columns if file.column is None else (file.column,)


def _anatomised(tables: _Tables, columns: Sequence[Column], labels: Labels) -> Estimator:
    manifest = tables.manifest
    [people] = [file for file in manifest.files if file.table == "qi"]
    [values] = [file for file in manifest.files if file.table == "sensitive"]
    return Anatomised(
        tables.counts_of(people, *manifest.named("quasi-identifier")),
        tables.counts_of(values, str(values.column), manifest.count),
        columns,
        labels,
        bucket=manifest.group,
        count=manifest.count,
    )


def _sliced(tables: _Tables, columns: Sequence[Column], labels: Labels) -> Estimator:
    manifest = tables.manifest
    slices = [tables.counts_of(file, *file.columns, manifest.count) for file in manifest.files]
    return Sliced(slices, columns, labels, bucket=manifest.group, count=manifest.count)


_BUCKETS: dict[str, Callable[[_Tables, Sequence[Column], Labels], Estimator]] = {
    ANATOMY: _anatomised,
    SLICING: _sliced,
}
"""How releases are read whose groups are not people with the same quasi-identifiers."""


def _levels(manifest: Mapping[str, Any] | None) -> dict[str, int]:
    """Give the level of each column that has one for all rows."""
    columns = (manifest or {}).get("columns", [])
    return {column["name"]: column["level"] for column in columns if "level" in column}
