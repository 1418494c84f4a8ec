"""Which code verifies which kind of release in several tables.

What all kinds share is here: the manifest must fit together, the files must be there and
unchanged and bring nothing along. What a kind keeps is its own file's matter.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sfumato.errors import SfumatoError, some
from sfumato.verifier.anatomy import anatomy_checks, anatomy_shape
from sfumato.verifier.broken import broken_checks, broken_shape
from sfumato.verifier.counting import opened
from sfumato.verifier.database import Relation
from sfumato.verifier.files import checksum_of, foreign_in, is_plain_file
from sfumato.verifier.manifest import ANATOMY, BREAK_MERGE, SLICING, DataFile, Manifest
from sfumato.verifier.promises import Promises
from sfumato.verifier.reading import Source, open_source
from sfumato.verifier.sliced import sliced_checks, sliced_shape
from sfumato.verifier.verdict import Check, Verdict, status


class _Kind(NamedTuple):
    """How one kind of release is verified."""

    shape: Callable[[Manifest], Check]
    """Holds the parts of the manifest against each other."""

    checks: Callable[[Mapping[str, Source | Relation], Manifest, Promises], list[Check]]
    """Recomputes from the opened tables, by the names of the manifest, what they keep."""


_KINDS = {
    BREAK_MERGE: _Kind(broken_shape, broken_checks),
    ANATOMY: _Kind(anatomy_shape, anatomy_checks),
    SLICING: _Kind(sliced_shape, sliced_checks),
}


def verify_tables(tables: Mapping[str, object], manifest: Manifest, promises: Promises) -> Verdict:
    """Recompute what tables in memory keep; `tables` has them by the names of the manifest."""
    kind = _KINDS[str(manifest.kind)]
    shape = kind.shape(manifest)
    if shape.status != "holds":
        return Verdict((shape,))
    sources = {file.name: opened(tables[file.name]) for file in manifest.files}
    return Verdict((shape, *_table_checks(kind, sources, manifest, promises)))


def check_tables(folder: Path, manifest: Manifest, promises: Promises) -> list[Check]:
    """Re-read all files of a folder; the first check is that of the manifest itself."""
    kind = _KINDS[str(manifest.kind)]
    shape = kind.shape(manifest)
    if shape.status != "holds":
        return [shape]
    lacking = [file.name for file in manifest.files if not is_plain_file(folder / file.name)]
    if lacking:
        detail = f"not there as a plain file: {some(lacking)}"
        return [shape, Check("data", "broken", detail=detail)]
    checks = [shape, _checksum_check(folder, manifest.files)]
    try:
        sources: dict[str, Source | Relation] = {
            file.name: open_source(folder / file.name, form=file.format, delimiter=file.delimiter)
            for file in manifest.files
        }
        return [*checks, *_table_checks(kind, sources, manifest, promises)]
    except SfumatoError as error:
        return [*checks, Check("data", "broken", detail=str(error))]


def _checksum_check(folder: Path, files: Sequence[DataFile]) -> Check:
    wrong = [file.name for file in files if checksum_of(folder / file.name) != file.sha256.lower()]
    detail = f"changed since: {some(wrong)}" if wrong else ""
    return Check("sha256", status(holds=not wrong), detail=detail)


def _table_checks(
    kind: _Kind, sources: Mapping[str, Source | Relation], manifest: Manifest, promises: Promises
) -> list[Check]:
    foreign = [f"{name}: {text}" for name, each in sources.items() if (text := foreign_in(each))]
    metadata = Check("metadata", status(holds=not foreign), detail="; ".join(foreign))
    return [metadata, *kind.checks(sources, manifest, promises)]
