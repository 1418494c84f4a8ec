"""What a task looks at: a release or a table, and what its columns are."""

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from sfumato.checks import names_in
from sfumato.decoupled import Decoupled
from sfumato.errors import InputError, ParameterError, PolicyError, some
from sfumato.policy import Policy, RiskLevels
from sfumato.release import MANIFEST, Release
from sfumato.tasks.stored import is_stored, manifest_beside, shown
from sfumato.verifier.manifest import Manifest, read_manifest


class Subject(NamedTuple):
    """A table and the roles of its columns."""

    data: object
    """What `open_table` takes."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    k: int | None = None
    """The largest k that is promised."""

    manifest: Mapping[str, Any] | None = None
    """What the release says of itself, if it is one."""

    policy: Policy | None = None
    """Where the roles come from, if it is none."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The quasi-identifiers and then the sensitive columns."""
        return (*self.quasi_identifiers, *self.sensitive)


def subject_of(
    data: object,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    policy: Policy | str | PathLike[str] | None = None,
) -> Subject:
    """Find the roles: those named, else the release's own, else the policy's."""
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    if isinstance(data, Decoupled):
        raise decoupled_already("this")
    if isinstance(data, Release):
        found = _of_manifest(data.manifest, _table_of(data))
    elif (beside := manifest_beside(data)) is not None:
        if beside.get("kind") is not None:
            raise decoupled_already(repr(shown(data)))
        found = _of_manifest(beside, data)
    elif isinstance(data, str | PathLike) and (Path(data).expanduser() / MANIFEST).is_file():
        found = _of_folder(Path(data).expanduser())
    elif policy is not None:
        ks = [int(k) for model in policy.models if (k := getattr(model, "k", None)) is not None]
        found = Subject(
            data, policy.quasi_identifiers, policy.sensitive, max(ks, default=None), policy=policy
        )
    else:
        found = Subject(data, (), ())
    if quasi_identifiers is not None:
        found = found._replace(quasi_identifiers=names_in("quasi_identifiers", quasi_identifiers))
    if sensitive is not None:
        found = found._replace(sensitive=names_in("sensitive", sensitive))
    _check(found)
    return found


def manifest_of(what: object) -> Mapping[str, Any] | None:
    """Give what a release says of itself, as it is written; None for anything else."""
    if isinstance(what, Release | Decoupled):
        return what.manifest
    if is_stored(what):
        return manifest_beside(what)
    if not isinstance(what, str | PathLike):
        return None
    path = Path(what).expanduser() / MANIFEST
    if not path.is_file():
        return None
    manifest_in(path.parent)
    plain: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return plain


def manifest_in(folder: Path) -> Manifest:
    """Read the manifest of a folder, and refuse links: they lead to what was never published."""
    manifest = read_manifest(folder / MANIFEST)
    names = (MANIFEST, *(file.name for file in manifest.files))
    links = [name for name in names if (folder / name).is_symlink()]
    if links:
        raise InputError(
            f"in {str(folder)!r} there are links in place of files: {some(links)}. A release holds "
            "its own files; copy them into it."
        )
    return manifest


def decoupled_already(what: str) -> InputError:
    """Say that rows are asked for where there are none any more."""
    return InputError(
        f"{what} is a decoupled release: its rows cannot be put together again. "
        "Give the release it was made of."
    )


def _check(found: Subject) -> None:
    both = set(found.quasi_identifiers) & set(found.sensitive)
    if both:
        raise ParameterError(
            "sensitive",
            list(found.sensitive),
            f"other columns than the quasi-identifiers; {some(both)} cannot be both",
        )
    if not found.quasi_identifiers and not found.sensitive:
        raise ParameterError(
            "quasi_identifiers",
            None,
            "the columns that others may know",
            why="nothing says what the columns are. Give a release, a policy (-p policy.yaml), or "
            "the roles: quasi_identifiers=['age', 'zip'], sensitive=['illness']",
        )


def _table_of(release: Release) -> object:
    if release.folder is None:
        return release.table if release.place is None else release.source
    return release.folder / release.manifest["files"][0]["name"]


def _of_folder(folder: Path) -> Subject:
    manifest = manifest_in(folder)
    plain = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if manifest.kind is not None:
        raise decoupled_already(repr(str(folder)))
    if len(manifest.files) != 1:
        raise InputError(f"{str(folder)!r} has more than one data file; give one of them")
    return _of_manifest(plain, folder / manifest.files[0].name)


def _of_manifest(manifest: Mapping[str, Any], data: object) -> Subject:
    def named(role: str) -> tuple[str, ...]:
        return tuple(c["name"] for c in manifest["columns"] if c["role"] == role)

    # A manifest may be a stranger's.
    ks = [k for model in manifest["models"] if isinstance(k := model.get("k"), int)]
    return Subject(
        data,
        named("quasi-identifier"),
        named("sensitive"),
        max(ks, default=None),
        manifest=manifest,
    )


def risk_levels_of(policy: Policy | None, manifest: Mapping[str, Any] | None) -> RiskLevels:
    """Find the publisher's risk levels: the policy's, or those the release was made with."""
    if policy is not None:
        return policy.risk_levels
    # A manifest may be a stranger's.
    try:
        return RiskLevels.read((manifest or {}).get("risk_levels", {}))
    except (PolicyError, ValueError) as error:
        raise InputError(f"the manifest's risk_levels cannot be used: {error}") from None
