"""Which code verifies which kind of release in several tables."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from sfumato.verifier.anatomy import check_anatomy_folder, verify_anatomy
from sfumato.verifier.broken import check_broken_folder, verify_broken
from sfumato.verifier.manifest import ANATOMY, BREAK_MERGE, SLICING, Manifest
from sfumato.verifier.promises import Promises
from sfumato.verifier.sliced import check_sliced_folder, verify_sliced
from sfumato.verifier.verdict import Check, Verdict

InMemory: TypeAlias = Callable[[Mapping[str, object], Manifest, Promises], Verdict]
InFolder: TypeAlias = Callable[[Path, Manifest, Promises], list[Check]]

_IN_MEMORY: dict[str, InMemory] = {
    BREAK_MERGE: verify_broken,
    ANATOMY: verify_anatomy,
    SLICING: verify_sliced,
}
_IN_FOLDER: dict[str, InFolder] = {
    BREAK_MERGE: check_broken_folder,
    ANATOMY: check_anatomy_folder,
    SLICING: check_sliced_folder,
}


def verify_tables(tables: Mapping[str, object], manifest: Manifest, promises: Promises) -> Verdict:
    """Recompute what tables in memory keep; `tables` has them by the names of the manifest."""
    return _IN_MEMORY[str(manifest.kind)](tables, manifest, promises)


def check_tables(folder: Path, manifest: Manifest, promises: Promises) -> list[Check]:
    """Re-read all files of a folder; the first check is that of the manifest itself."""
    return _IN_FOLDER[str(manifest.kind)](folder, manifest, promises)
