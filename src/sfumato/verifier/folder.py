"""Verify a release folder against its own manifest."""

from collections.abc import Mapping
from pathlib import Path

from sfumato.errors import InputError, SfumatoError, some
from sfumato.verifier.counting import count_population
from sfumato.verifier.database import Relation
from sfumato.verifier.files import checksum_of, foreign_in, is_plain_file, strange_in
from sfumato.verifier.kinds import check_tables
from sfumato.verifier.manifest import MANIFEST, STORED, Manifest, read_manifest
from sfumato.verifier.promises import Promises
from sfumato.verifier.reading import Source, open_source
from sfumato.verifier.recompute import recompute
from sfumato.verifier.verdict import Check, Verdict, status

_PUBLISHED_ROLES = ("quasi-identifier", "sensitive", "plain")


def verify_folder(
    folder: Path | str,
    *,
    population: object = None,
    generalization: Mapping[str, Mapping[str | None, object]] | None = None,
) -> Verdict:
    """Re-read a release and recompute every promise its manifest makes.

    Promises: the files are those the manifest names, unchanged; they hold the columns and
    rows it says; and every model holds in them with the figures it claims. Does not
    promise: anything about the original data, which it never sees.

    Args:
        folder: The release folder, with `manifest.json` in it.
        population: Path or table of the population, for models that compare with one.
        generalization: Per column, the label each raw text of the population became.
    """
    folder = Path(folder)
    path = folder / MANIFEST
    if path.is_symlink() or not path.is_file():
        raise InputError(
            f"there is no {MANIFEST} in {str(folder)!r}. Give the folder of a release, "
            "or name the roles and models to verify a plain file."
        )
    try:
        manifest = read_manifest(path)
    except InputError as error:
        return Verdict((Check("manifest", "broken", detail=str(error)),))
    if manifest.kind is not None:
        promises = promises_in(manifest, population, generalization)
        checks = check_tables(folder, manifest, promises)
        return Verdict((checks[0], _folder_check(folder, manifest), *checks[1:]))
    checks = [manifest_check(manifest), _folder_check(folder, manifest)]
    if len(manifest.files) == 1:
        checks += _data_checks(folder, manifest, population, generalization)
    return Verdict(tuple(checks))


def manifest_check(manifest: Manifest) -> Check:
    """Hold the parts of a manifest of one table against each other."""
    if len(manifest.files) != 1:
        return Check("manifest", "unchecked", detail="it names more than one data file")
    starred = manifest.suppressed if manifest.suppression == "star" else 0
    inside = manifest.published + starred
    if manifest.files[0].rows != inside:
        where = "table" if manifest.files[0].format == STORED else "file"
        detail = f"it speaks of {inside} rows and of {manifest.files[0].rows} in the {where}"
        return Check("manifest", "broken", detail=detail)
    unfit = [column.name for column in manifest.columns if column.role not in _PUBLISHED_ROLES]
    if unfit:
        detail = f"columns that are not for publication: {some(unfit)}"
        return Check("manifest", "broken", detail=detail)
    return Check("manifest", "holds")


def _folder_check(folder: Path, manifest: Manifest) -> Check:
    strange = strange_in(folder, manifest)
    detail = f"not named in the manifest, or not plain files: {some(strange)}" if strange else ""
    named = sorted(file.name for file in manifest.files)
    return Check("files", status(holds=not strange), named, detail=detail)


def _data_checks(
    folder: Path,
    manifest: Manifest,
    population: object,
    generalization: Mapping[str, Mapping[str | None, object]] | None,
) -> list[Check]:
    file = manifest.files[0]
    path = folder / file.name
    if not is_plain_file(path):
        return [Check("data", "broken", detail=f"{file.name!r} is not there as a plain file")]
    found = checksum_of(path)
    checks = [
        Check("sha256", status(holds=found == file.sha256.lower()), file.sha256[:64], found),
    ]
    promises = promises_in(manifest, population, generalization)
    try:
        source = open_source(path, form=file.format, delimiter=file.delimiter)
        foreign = foreign_in(source)
        checks.append(Check("metadata", status(holds=not foreign), detail=foreign))
        checks.append(columns_check(source, manifest))
        checks += recompute(source, promises)
    except SfumatoError as error:
        checks.append(Check("data", "broken", detail=str(error)))
    return checks


def columns_check(source: Source | Relation, manifest: Manifest) -> Check:
    """Compare the columns that are there with those that are named."""
    promised = [column.name for column in manifest.columns]
    added = [name for name in source.names if name not in promised]
    lacking = [name for name in promised if name not in source.names]
    where = "table" if isinstance(source, Relation) else "file"
    details = [
        f"not in the manifest: {some(added)}" if added else "",
        f"not in the {where}: {some(lacking)}" if lacking else "",
    ]
    detail = "; ".join(filter(None, details))
    return Check("columns", status(holds=not detail), promised, list(source.names), detail)


def promises_in(
    manifest: Manifest,
    population: object = None,
    generalization: Mapping[str, Mapping[str | None, object]] | None = None,
) -> Promises:
    """Read from a manifest what its table should keep."""
    quasi_identifiers = manifest.named("quasi-identifier")
    people = None
    raw = all(not column.level for column in manifest.columns)
    if population is not None and (raw or generalization is not None):
        people = count_population(population, quasi_identifiers, generalization)
    return Promises(
        quasi_identifiers,
        manifest.named("sensitive"),
        manifest.models,
        missing=manifest.missing,
        published=manifest.published,
        suppressed=manifest.suppressed,
        suppression=manifest.suppression,
        hierarchies=manifest.hierarchies,
        population=people,
        at_top=tuple(
            column.name
            for column in manifest.columns
            if column.role == "quasi-identifier" and column.level and column.level == column.height
        ),
    )
