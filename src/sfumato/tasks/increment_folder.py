"""Writing the tables of a ledger's release as a folder of its own."""

from pathlib import Path
from typing import Any

import numpy as np

from sfumato._version import __version__
from sfumato.broken import Broken
from sfumato.decouplings import publish, readme, schema_sql
from sfumato.engines import write_derived
from sfumato.errors import VerificationError
from sfumato.evidence import SigningKey, write_evidence
from sfumato.ledger.meta import Settings
from sfumato.release import hash_of, write_manifest
from sfumato.schema import Role
from sfumato.tasks.manifest import FORMAT, class_sizes, versions
from sfumato.verifier import verify_folder


def write_tables(
    folder: Path,
    broken: Broken,
    settings: Settings,
    about: dict[str, Any],
    *,
    form: str,
    rng: np.random.Generator,
    reproducible: bool,
    key: SigningKey | None,
) -> None:
    """Write tables as a decoupled release, and let the verifier read them again.

    Args:
        folder: An empty private folder.
        broken: What the tables hold.
        settings: What the ledger was started with.
        about: What the manifest says about the increment.
        form: csv, parquet or feather.
        rng: The order of the rows.
        reproducible: Whether that comes from a seed.
        key: Signs the folder, if there is one.
    """
    parts = publish(broken, rng)
    files = []
    for part in parts.tables:
        path = folder / f"{part.name}.{form}"
        written = write_derived(part.content, path, format=form, likes={})
        file = {
            "name": path.name,
            "format": written.format,
            "rows": written.rows,
            "sha256": hash_of(path),
            "table": part.table,
        }
        if part.column is not None:
            file["column"] = part.column
        if written.delimiter is not None:
            file["delimiter"] = written.delimiter
        files.append(file)
    manifest = {
        **_manifest(broken, settings, about, reproducible=reproducible),
        "group": parts.group,
        "count": parts.count,
        "files": files,
    }
    (folder / "schema.sql").write_text(schema_sql(parts), encoding="utf-8")
    (folder / "README.md").write_text(readme(manifest), encoding="utf-8")
    write_manifest(folder, manifest)
    verdict = verify_folder(folder)
    if not verdict.holds:
        raise VerificationError(
            "the increment was not published, because the verifier does not find in its tables "
            f"what was promised. This is a fault of Sfumato; please report it.\n{verdict}"
        )
    write_evidence(folder, verdict, key)


def _manifest(
    broken: Broken, settings: Settings, about: dict[str, Any], *, reproducible: bool
) -> dict[str, Any]:
    roles = dict.fromkeys(settings.quasi_identifiers, Role.QUASI_IDENTIFIER)
    roles |= dict.fromkeys(settings.sensitive, Role.SENSITIVE)
    smallest = int(broken.sizes.min())
    return {
        "format": FORMAT,
        "sfumato": __version__,
        "kind": "break-merge",
        "increment": about,
        "columns": [{"name": name, "role": role.value} for name, role in roles.items()],
        "rows": {"published": broken.total, "suppressed": 0, "suppression": "remove"},
        "missing": "own-value",
        "models": [{"model": "k-anonymity", "k": smallest, "measured": {"k": smallest}}],
        "classes": class_sizes(broken.sizes),
        "hierarchies": {},
        "left_out": {"columns": [], "models": []},
        "reproducible": reproducible,
        "versions": versions(),
    }
