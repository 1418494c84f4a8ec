"""Verify a release folder against its own manifest."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sfumato.errors import InputError, SfumatoError, UnknownColumnError, some
from sfumato.verifier.counting import Relation, count_population, opened
from sfumato.verifier.decoupled import (
    anatomy_checks,
    anatomy_shape,
    decoupled_checks,
    decoupled_shape,
    sliced_checks,
    sliced_shape,
)
from sfumato.verifier.manifest import (
    ANATOMY,
    BREAK_MERGE,
    COMPANIONS,
    MANIFEST,
    SLICING,
    STORED,
    DataFile,
    Manifest,
    read_manifest,
    stored_manifest,
)
from sfumato.verifier.models import recompute
from sfumato.verifier.promises import Check, Promises, Verdict, status
from sfumato.verifier.reading import Source, open_source

# Look at files before what is in them.


_INDEX_NAME = re.compile(r"|__index_level_\d+__|Unnamed: \d+")
"""Names under which row numbers travel; row numbers lead back to the original rows."""


def is_plain_file(path: Path) -> bool:
    """Tell a file from a folder, a link and nothing at all."""
    return path.is_file() and not path.is_symlink()


def strange_in(folder: Path, manifest: Manifest) -> list[str]:
    """Name what lies in a folder and is no file of the release."""
    known = {file.name for file in manifest.files} | set(COMPANIONS)
    return sorted(
        entry.name
        for entry in folder.iterdir()
        if not is_plain_file(entry) or entry.name not in known
    )


def checksum_of(path: Path) -> str:
    """Give the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def foreign_in(source: Source | Relation) -> str:
    """Say what a table brings along that is no data: notes of other programs, row numbers."""
    notes = () if isinstance(source, Relation) else source.metadata
    foreign = [key for key in notes if not key.startswith("sfumato")]
    index = [name for name in source.names if _INDEX_NAME.fullmatch(name)]
    details = [
        f"the file carries notes of another program: {some(foreign)}" if foreign else "",
        f"there are index columns: {some(index)}" if index else "",
    ]
    return "; ".join(filter(None, details))


# Which code verifies which kind of release in several tables.
#
# What all kinds share is here: the manifest must fit together, the files must be there and
# unchanged and bring nothing along. What a kind keeps is its own file's matter.


class _Kind(NamedTuple):
    """How one kind of release is verified."""

    shape: Callable[[Manifest], Check]
    """Holds the parts of the manifest against each other."""

    checks: Callable[[Mapping[str, Source | Relation], Manifest, Promises], list[Check]]
    """Recomputes from the opened tables, by the names of the manifest, what they keep."""


_KINDS = {
    BREAK_MERGE: _Kind(decoupled_shape, decoupled_checks),
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


# Verify a table on its own: a file or an Arrow, Polars or pandas table.


def verify_file(data: object, promises: Promises) -> Verdict:
    """Recompute what a plain table is said to keep.

    Promises: the figures come from these rows alone, by code that shares nothing with the
    code that made the table. Does not promise: that the roles are right. A column
    that links to outside data and is not named a quasi-identifier protects nobody.

    Args:
        data: A path (CSV, Parquet, Feather) or an Arrow, Polars or pandas table.
        promises: Which columns are what, and which models should hold.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"age": ["2*", "2*", None], "ill": ["flu", "gout", "flu"]})
        >>> print(verify_file(table, Promises(["age"], models=[{"model": "k-anonymity", "k": 2}])))
        Broken: 1 of 1 checks does not hold.
          broken     k-anonymity  promised k=2  found k=1
                     fails in 1 of 2 classes (1 of 3 rows); worst: age missing
    """
    source = open_source(data, delimiter=promises.delimiter)
    return Verdict(tuple(recompute(source, promises)))


# Verify a table of a database, against what it is said to keep or its own manifest.


def verify_relation(relation: Relation, promises: Promises) -> Verdict:
    """Recompute what a table of a database is said to keep; see `verify_file`.

    >>> from sfumato.dialect import Dialect
    >>> duckdb = Dialect(text="VARCHAR", collation='"binary"')
    >>> people = Relation(("people",), {"age": "text"}, duckdb, lambda sql: [("2*", 3)])
    >>> verify_relation(people, Promises(["age"], models=[{"model": "k-anonymity", "k": 3}])).holds
    True
    """
    return Verdict(tuple(recompute(relation, promises)))


def verify_stored(
    relation: Relation,
    manifest: str,
    *,
    population: object = None,
    generalization: Mapping[str, Mapping[str | None, object]] | None = None,
) -> Verdict:
    """Recompute every promise that the manifest of a table makes; see `verify_folder`.

    Promises: the table holds the columns and rows that the manifest says, and every model
    holds in it with the figures it claims. Does not promise that the table is the one that was
    published: in a database there is no checksum, and whoever may write there can change both.
    What the database refuses to answer is an error, not a broken promise.

    Args:
        relation: The table.
        manifest: What its manifest says, as it is written.
        population: Path or table of the population, for models that compare with one.
        generalization: Per column, the label each raw text of the population became.
    """
    try:
        claims = stored_manifest(manifest)
    except InputError as error:
        return Verdict((Check("manifest", "broken", detail=str(error)),))
    checks = [manifest_check(claims)]
    promises = promises_in(claims, population, generalization)
    try:
        foreign = foreign_in(relation)
        checks.append(Check("metadata", status(holds=not foreign), detail=foreign))
        checks.append(columns_check(relation, claims))
        checks += recompute(relation, promises)
    except UnknownColumnError as error:
        checks.append(Check("data", "broken", detail=str(error)))
    return Verdict(tuple(checks))
