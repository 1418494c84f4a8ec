"""What was published of a table, whatever its kind: the roles, and what answers questions."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from sfumato.broken import Broken
from sfumato.counts import Column
from sfumato.decoupled import Decoupled
from sfumato.engines import open_table
from sfumato.hierarchy import Ladder
from sfumato.policy import Policy
from sfumato.tasks.broken_tables import parts_of, release_folder
from sfumato.tasks.measure import counted
from sfumato.tasks.promises import claims_in
from sfumato.tasks.subject import subject_of
from sfumato.usefulness import Anatomised, BrokenTable, Estimator, Generalised, Labels
from sfumato.verifier.manifest import ANATOMY, MANIFEST, Manifest, read_manifest

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
    folder = release.folder if isinstance(release, Decoupled) else release_folder(release)
    if isinstance(release, Decoupled):
        manifest = claims_in(release.manifest)
    elif folder is not None:
        manifest = read_manifest(folder / MANIFEST)
    else:
        return None
    if manifest.kind == ANATOMY:
        tables = release.tables if isinstance(release, Decoupled) else None
        return _anatomised(manifest, folder, tables or {})
    parts = parts_of(release)
    return None if parts is None else _broken(*parts)


def _broken(broken: Broken, manifest: Mapping[str, Any]) -> Published:
    def read(columns: Sequence[Column], ladders: Mapping[str, Ladder]) -> Estimator:
        return BrokenTable(broken, columns, Labels(ladders, _levels(manifest)))

    names = tuple(column.name for column in broken.quasi_identifiers)
    return Published(names, broken.names, read)


def _anatomised(manifest: Manifest, folder: Path | None, tables: Mapping[str, Any]) -> Published:
    names, [secret] = manifest.named("quasi-identifier"), manifest.named("sensitive")

    def opened(table: str) -> object:
        [file] = [file.name for file in manifest.files if file.table == table]
        return tables[file] if folder is None else folder / file

    def read(columns: Sequence[Column], ladders: Mapping[str, Ladder]) -> Estimator:
        people = open_table(opened("qi")).count([manifest.group, *names])
        values = open_table(opened("sensitive")).count([manifest.group, secret, manifest.count])
        labels = Labels(ladders, {c.name: c.level for c in manifest.columns if c.level is not None})
        linked = {"bucket": manifest.group, "count": manifest.count}
        return Anatomised(people, values, columns, labels, **linked)

    return Published(names, (secret,), read)


def _levels(manifest: Mapping[str, Any] | None) -> dict[str, int]:
    """Give the level of each column that has one for all rows."""
    columns = (manifest or {}).get("columns", [])
    return {column["name"]: column["level"] for column in columns if "level" in column}
