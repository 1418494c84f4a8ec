"""What was published of a table, whatever its kind: the roles, and what answers questions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from sfumato.broken import Broken
from sfumato.counts import Column, FrequencySet
from sfumato.decoupled import Decoupled
from sfumato.engines import open_table
from sfumato.hierarchy import Ladder
from sfumato.policy import Policy
from sfumato.tasks.broken_tables import parts_of, release_folder
from sfumato.tasks.measure import counted
from sfumato.tasks.promises import claims_in
from sfumato.tasks.subject import subject_of
from sfumato.usefulness import Anatomised, BrokenTable, Estimator, Generalised, Labels, Sliced
from sfumato.verifier.manifest import (
    ANATOMY,
    MANIFEST,
    SLICING,
    DataFile,
    Manifest,
    read_manifest,
)

Read: TypeAlias = Callable[[Sequence[Column], Mapping[str, Ladder]], Estimator]
"""Makes an estimator for the columns of the original, given the hierarchies of some."""


class Published(NamedTuple):
    """A release of any kind."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    read: Read


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
        found = found._replace(quasi_identifiers=tuple(quasi_identifiers))
    return found if sensitive is None else found._replace(sensitive=tuple(sensitive))


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

    return Published(found.quasi_identifiers, found.sensitive, read)


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

    names = tuple(column.name for column in broken.quasi_identifiers)
    return Published(names, broken.names, read)


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
    folder = release.folder if isinstance(release, Decoupled) else release_folder(release)
    if folder is None:
        return None
    manifest = read_manifest(folder / MANIFEST)
    return _Tables(manifest, {file.name: folder / file.name for file in manifest.files})


def _buckets(tables: _Tables) -> Published:
    manifest = tables.manifest
    levels = {c.name: c.level for c in manifest.columns if c.level is not None}
    build = _BUCKETS[str(manifest.kind)]

    def read(columns: Sequence[Column], ladders: Mapping[str, Ladder]) -> Estimator:
        return build(tables, columns, Labels(ladders, levels))

    return Published(manifest.named("quasi-identifier"), manifest.named("sensitive"), read)


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
