"""Verify a release: a folder, a table of a database or tables in memory; and plain tables."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sfumato.errors import InputError, SfumatoError, UnknownColumnError, some
from sfumato.files.reading import TextFile
from sfumato.verifier import office
from sfumato.verifier.codebook import codebook_faults
from sfumato.verifier.counting import (
    Countable,
    DatabaseRelation,
    Source,
    count_population,
    find_mixed,
    form_of_text,
    open_countable,
    open_source,
)
from sfumato.verifier.decoupled import check_kind
from sfumato.verifier.hidden import find_hidden, form_of
from sfumato.verifier.models import part_checks, recompute
from sfumato.verifier.promises import (
    CODEBOOK,
    COMPANIONS,
    MANIFEST,
    STORED,
    Check,
    ClaimedManifest,
    Promises,
    Verdict,
    kind_named,
    read_manifest,
    status,
    stored_manifest,
)

Generalization = Mapping[str, Mapping[str | None, object]]
"""Per column, the label each raw text became."""

_INDEX_NAME = re.compile(r"|__index_level_\d+__|Unnamed: \d+")
"""Names under which row numbers travel; row numbers lead back to the original rows."""

_PUBLISHED_ROLES = ("quasi-identifier", "sensitive", "set", "plain", "weight")


def verify_folder(
    folder: Path | str,
    *,
    population: object = None,
    generalization: Generalization | None = None,
    also: Sequence[Mapping[str, Any]] = (),
    exact: Sequence[str] | None = None,
    people: object = None,
) -> Verdict:
    """Re-read a release and recompute every promise its manifest makes.

    Promises: the files are those the manifest names, unchanged; they hold the columns and
    rows it says; and every model holds in them with the figures it claims. Does not
    promise: anything about the original data, which it never sees.

    Args:
        folder: The release folder, with `manifest.json` in it.
        population: Path or table of the population, for models that compare with one.
        generalization: Per column, the label each raw text of the population became.
        also: Models to check that the manifest does not state, as promises state them.
        exact: Sensitive columns in which values that differ only in spelling are different; None
            believes the manifest in that, as its maker may.
        people: The people file of a release that counts people, or a table of the same.
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
        return Verdict((Check("manifest", "broken", detail=f"damaged: {error}"),))
    shape = _shape_check(manifest)
    checks = [shape, _files_check(folder, manifest)]
    # One table can be looked at although its manifest contradicts itself; several cannot.
    if shape.status == "holds" or (manifest.kind is None and len(manifest.files) == 1):
        promises = promises_in(manifest, population, generalization, also, exact, people)
        checks += _content_checks(folder, manifest, promises)
    return Verdict(tuple(checks))


def verify_tables(
    tables: Mapping[str, object], manifest: ClaimedManifest, promises: Promises
) -> Verdict:
    """Recompute what tables in memory keep; `tables` has them by the names of the manifest."""
    shape = _shape_check(manifest)
    if shape.status != "holds":
        return Verdict((shape,))
    sources = {file.name: open_countable(tables[file.name]) for file in manifest.files}
    checks = _table_checks(sources, manifest, promises)
    return Verdict((shape, _metadata_check(sources), *checks))


def verify_file(data: object, promises: Promises) -> Verdict:
    """Recompute what a plain table is said to keep.

    Promises: the figures come from these rows alone, by code that shares nothing with the
    code that made the table. Does not promise: that the roles are right. A column
    that links to outside data and is not named a quasi-identifier protects no one.

    Args:
        data: A path (CSV, Parquet, Feather) or an Arrow, Polars or pandas table.
        promises: Which columns are what, and which models should hold.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"age": ["2*", "2*", None], "ill": ["flu", "gout", "flu"]})
        >>> print(verify_file(table, Promises(["age"], models=[{"model": "k-anonymity", "k": 2}])))
        Broken: 1 of 1 checks does not hold.
        check        result  promised  found
        k-anonymity  broken  k=2       k=1
          k-anonymity: fails in 1 of 2 classes (1 of 3 rows); worst: age missing
    """
    source = open_source(data, delimiter=promises.delimiter)
    return Verdict((*recompute(source, promises), *_hidden_checks(data, source)))


def verify_unjudged(path: Path | TextFile, quasi_identifiers: Sequence[str]) -> Verdict:
    """Check a plain file of which nothing is promised: what it holds that its rows do not show.

    There is no check where nothing is wrong.

    Args:
        path: A CSV, Parquet or Feather file, whatever its name, and how it is read if others know.
        quasi_identifiers: The columns that others may know.
    """
    form = form_of_text(path) if isinstance(path, TextFile) else form_of(path)
    if form is None:
        return Verdict(())
    source = open_source(path, form=form)
    known = [name for name in quasi_identifiers if name in source.names]
    checks = part_checks(source, Promises(known)) if find_mixed(source, known) else []
    return Verdict((*checks, *_hidden_checks(path, source)))


def _hidden_checks(data: object, source: Source) -> list[Check]:
    """Check that a plain file holds nothing besides its rows; nothing if it does not."""
    if not isinstance(data, str | Path | TextFile):
        return []
    reading = data.reading if isinstance(data, TextFile) else None
    details = find_hidden(Path(data), reading=reading, seen=source.seen)
    if source.telling:
        details.append(f"the file carries notes of another program: {some(source.telling)}")
    index = [name for name in source.names if _ROW_LABELS.fullmatch(name)]
    if index:
        details.append(f"there are index columns: {some(index)}")
    return [Check("metadata", "broken", detail="; ".join(details))] if details else []


_ROW_LABELS = re.compile(r"__index_level_\d+__")
"""Names of the columns in which pandas keeps row labels."""


def verify_relation(relation: DatabaseRelation, promises: Promises) -> Verdict:
    """Recompute what a table of a database is said to keep; see `verify_file`.

    >>> from sfumato.files.dialect import Dialect
    >>> duckdb = Dialect(text="VARCHAR", collation='"binary"')
    >>> people = DatabaseRelation(("people",), {"age": "text"}, duckdb, lambda sql: [("2*", 3)])
    >>> verify_relation(people, Promises(["age"], models=[{"model": "k-anonymity", "k": 3}])).holds
    True
    """
    return Verdict(tuple(recompute(relation, promises)))


def verify_stored(
    relation: DatabaseRelation,
    manifest: str,
    *,
    population: object = None,
    generalization: Generalization | None = None,
    also: Sequence[Mapping[str, Any]] = (),
    exact: Sequence[str] | None = None,
    people: object = None,
) -> Verdict:
    """Recompute every promise that the manifest of a table makes; see `verify_folder`.

    Promises: the table holds the columns and rows that the manifest says, and every model
    holds in it with the figures it claims. Does not promise that the table is the one that was
    published: in a database there is no checksum, and those who may write there can change both.
    What the database refuses to answer is an error, not a broken promise.

    Args:
        relation: The table.
        manifest: What its manifest says, as it is written.
        population: Path or table of the population, for models that compare with one.
        generalization: Per column, the label each raw text of the population became.
        also: Models to check that the manifest does not state, as promises state them.
        exact: Sensitive columns in which values that differ only in spelling are different; None
            believes the manifest in that, as its maker may.
        people: The people file of a release that counts people, or a table of the same.
    """
    try:
        claims = stored_manifest(manifest)
    except InputError as error:
        return Verdict((Check("manifest", "broken", detail=f"damaged: {error}"),))
    checks = [_one_table_shape(claims)]
    promises = promises_in(claims, population, generalization, also, exact, people)
    try:
        checks += [_metadata_check({"": relation}), _columns_check(relation, claims)]
        checks += recompute(relation, promises)
    except UnknownColumnError as error:
        checks.append(Check("data", "broken", detail=str(error)))
    return Verdict(tuple(checks))


def promises_in(
    manifest: ClaimedManifest,
    population: object = None,
    generalization: Generalization | None = None,
    also: Sequence[Mapping[str, Any]] = (),
    exact: Sequence[str] | None = None,
    people: object = None,
) -> Promises:
    """Read from a manifest what its table should keep, besides other models to check.

    Whether spellings are different values is for readers to say (`exact`); None believes the
    manifest.
    """
    quasi_identifiers = manifest.with_role("quasi-identifier")
    everyone = None
    raw = all(not column.level and column.cut is None for column in manifest.columns)
    if population is not None and (raw or generalization is not None):
        everyone = count_population(population, quasi_identifiers, generalization)
    return Promises(
        quasi_identifiers,
        manifest.with_role("sensitive"),
        (*manifest.models, *also),
        missing=manifest.missing,
        published=manifest.published,
        suppressed=manifest.suppressed,
        suppression=manifest.suppression,
        hierarchies=manifest.hierarchies,
        population=everyone,
        classes=manifest.classes,
        losses=manifest.losses,
        at_top=tuple(
            column.name
            for column in manifest.columns
            if column.role == "quasi-identifier" and column.level and column.level == column.height
        ),
        cuts={
            column.name: column.cut
            for column in manifest.columns
            if manifest.kind is None
            and column.role == "quasi-identifier"
            and column.cut is not None
        },
        exact=[c.name for c in manifest.columns if c.exact] if exact is None else exact,
        weights={c.name: c.step for c in manifest.columns if c.role == "weight"},
        means=_means(manifest),
        hidden=_hidden_cells(manifest),
        perturbed={c.name: c.perturbed for c in manifest.columns if c.perturbed},
        sets={column.name: column.separator for column in manifest.columns if column.role == "set"},
        counts_people=manifest.counts_people,
        people=people,
        people_hash=manifest.people_hash,
        synthetic=manifest.synthetic,
    )


def _means(manifest: ClaimedManifest) -> dict[str, tuple[str, ...]]:
    """Return the columns of means, each with those of its lower and its upper ends."""
    ends = {(c.of, c.part): c.name for c in manifest.columns if c.part in ("low", "high")}
    return {
        column.name: tuple(ends[column.of, part] for part in ("low", "high"))
        for column in manifest.columns
        if column.part in ("mean", "median")
        and {(column.of, "low"), (column.of, "high")} <= set(ends)
    }


def _hidden_cells(manifest: ClaimedManifest) -> dict[str, tuple[Sequence[str], int]]:
    """Return per column of labels the columns of their ends or middles, and the hidden rows."""
    parts: dict[str, list[str]] = {}
    claimed: dict[str, int] = {}
    for column in manifest.columns:
        if column.of is not None:
            claimed[column.of] = claimed.get(column.of, 0) + column.hidden
            if column.part in ("low", "high", "middle"):
                parts.setdefault(column.of, []).append(column.name)
    return {name: (names, claimed[name]) for name, names in parts.items()}


def _shape_check(manifest: ClaimedManifest) -> Check:
    """Check the parts of a manifest against each other."""
    if manifest.kind is None:
        return _one_table_shape(manifest)
    return kind_named(manifest.kind).shape(manifest)


def require_shape(manifest: ClaimedManifest) -> None:
    """Raise if a manifest names tables that cannot be put together.

    A single table can be looked at although its manifest contradicts itself.
    """
    found = _shape_check(manifest)
    if manifest.kind is not None and found.status != "holds":
        raise InputError(found.detail)


def _one_table_shape(manifest: ClaimedManifest) -> Check:
    if len(manifest.files) != 1:
        return Check("manifest", "unchecked", detail="it names more than one data file")
    starred = manifest.suppressed if manifest.suppression == "star" else 0
    inside = manifest.published + starred
    if manifest.files[0].rows != inside:
        where = "table" if manifest.files[0].format == STORED else "file"
        detail = f"it speaks of {inside} rows and of {manifest.files[0].rows} in the {where}"
        return Check("manifest", "broken", detail=detail)
    sets = manifest.with_role("set")
    protected = any(model.get("model") == "km-anonymity" for model in manifest.models)
    unnamed = not manifest.with_role("quasi-identifier") and not sets
    if unnamed or (sets and not protected):
        # Then all people would be one class, and every promise would hold.
        nothing = f"it promises nothing of the items of {some(sets)}"
        detail = "it names no quasi-identifier" if unnamed else nothing
        return Check("manifest", "broken", detail=detail)
    silent = [c.name for c in manifest.columns if c.role == "quasi-identifier" and not c.recoded]
    if manifest.regional and silent:
        detail = f"it is regional recoding, and does not say how {some(silent)} was cut"
        return Check("manifest", "broken", detail=detail)
    unfit = [column.name for column in manifest.columns if column.role not in _PUBLISHED_ROLES]
    if unfit:
        detail = f"columns that are not for publication: {some(unfit)}"
        return Check("manifest", "broken", detail=detail)
    return Check("manifest", "holds")


def _is_plain_file(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink()
    except OSError:
        # Longer than any name of a file.
        return False


def _files_check(folder: Path, manifest: ClaimedManifest) -> Check:
    """Check that there is nothing in the folder but the files of the release."""
    known = {file.name for file in manifest.files} | set(COMPANIONS)
    strange = sorted(
        entry.name
        for entry in folder.iterdir()
        if not _is_plain_file(entry) or entry.name not in known
    )
    detail = f"not named in the manifest, or not plain files: {some(strange)}" if strange else ""
    lacking = [name for name in manifest.documents if not os.path.lexists(folder / name)]
    if lacking:
        detail = "; ".join(filter(None, [detail, f"not there: {some(lacking)}"]))
    names = sorted(file.name for file in manifest.files)
    return Check("files", status(holds=not detail), names, detail=detail)


def _content_checks(folder: Path, manifest: ClaimedManifest, promises: Promises) -> list[Check]:
    """Re-read all data files of a folder."""
    files = manifest.files
    lacking = [file.name for file in files if not _is_plain_file(folder / file.name)]
    if lacking:
        detail = f"not there as a plain file: {some(lacking)}"
        return [Check("data", "broken", detail=detail)]
    hashes = {file.name: _hash_file(folder / file.name) for file in files}
    changed = [file.name for file in files if hashes[file.name] != file.sha256.lower()]
    wrong = changed + [
        name
        for name, sha256 in manifest.documents.items()
        if _is_plain_file(folder / name) and _hash_file(folder / name) != sha256.lower()
    ]
    detail = f"changed since: {some(wrong)}" if wrong else ""
    one = files[0] if len(files) == 1 else None
    promised, found = (one.sha256[:64], hashes[one.name]) if one else (None, None)
    checks = [Check("sha256", status(holds=not wrong), promised, found, detail)]
    try:
        sources = {
            file.name: open_source(folder / file.name, form=file.format, delimiter=file.delimiter)
            for file in files
        }
        # Rows are counted first: what is seen on the way need not be read again.
        told = _RowChecks.of(lambda: _content_of_rows(sources, manifest, promises))
        hidden = {
            file.name: find_hidden(folder / file.name, file.format, seen=sources[file.name].seen)
            for file in files
        }
        if manifest.kind is None:
            hidden[files[0].name] += _told_apart(folder / files[0].name, files[0].format, manifest)
        checks.append(_metadata_check(sources, hidden))
        # Of rows that are others now, it says what they were.
        codebook = [] if changed else _codebook_checks(folder, manifest, sources)
        if manifest.kind is not None:
            return [*checks, *told.require(), *codebook]
        checks += [_columns_check(sources[files[0].name], manifest), *codebook]
        checks += told.require()
    except SfumatoError as error:
        checks.append(Check("data", "broken", detail=str(error)))
    return checks


def _content_of_rows(
    sources: Mapping[str, Countable], manifest: ClaimedManifest, promises: Promises
) -> list[Check]:
    """Make the checks that need the rows."""
    if manifest.kind is not None:
        return _table_checks(sources, manifest, promises)
    [source] = sources.values()
    return recompute(source, promises)


class _RowChecks(NamedTuple):
    """Checks, or why they could not be made, which is told after those that could."""

    checks: Sequence[Check] = ()
    error: SfumatoError | None = None

    @classmethod
    def of(cls, make: Callable[[], Sequence[Check]]) -> "_RowChecks":
        try:
            return cls(make())
        except SfumatoError as error:
            return cls(error=error)

    def require(self) -> Sequence[Check]:
        if self.error is not None:
            raise self.error
        return self.checks


def _told_apart(path: Path, form: str, manifest: ClaimedManifest) -> list[str]:
    """Return in words where codes of missing tell people apart who look alike."""
    if form not in office.FORMATS:
        return []
    kinds = office.read_office(path, form).kinds
    known = manifest.with_role("quasi-identifier")
    return [
        f"column {name!r}, a quasi-identifier, has {len(kinds[name])} kinds of missing"
        for name in known
        if len(kinds.get(name, ())) > 1
    ]


def _codebook_checks(
    folder: Path, manifest: ClaimedManifest, sources: Mapping[str, Source]
) -> list[Check]:
    """Check that a codebook names nothing but what rows show; nothing if there is none wrong."""
    path = folder / CODEBOOK
    if not _is_plain_file(path):
        return []
    faults = codebook_faults(folder, path, manifest, sources)
    return [Check("codebook", "broken", detail="; ".join(faults[:5]))] if faults else []


def _hash_file(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _table_checks(
    sources: Mapping[str, Countable], manifest: ClaimedManifest, promises: Promises
) -> list[Check]:
    checks = [*check_kind(sources, manifest, promises)]
    if manifest.counts_people:
        detail = "in tables that are apart, people with several rows are not counted"
        checks.append(Check("people", "unchecked", detail=detail))
    return checks


def _metadata_check(
    sources: Mapping[str, Countable], hidden: Mapping[str, Sequence[str]] | None = None
) -> Check:
    """Check that tables bring nothing along that no row shows: notes, row numbers, values."""
    details = []
    for name, source in sources.items():
        notes = () if isinstance(source, DatabaseRelation) else source.metadata
        foreign = [key for key in notes if not key.startswith("sfumato")]
        index = [column for column in source.names if _INDEX_NAME.fullmatch(column)]
        prefix = f"{name}: " if len(sources) > 1 else ""
        if foreign:
            details.append(f"{prefix}the file carries notes of another program: {some(foreign)}")
        if index:
            details.append(f"{prefix}there are index columns: {some(index)}")
        details += [f"{prefix}{each}" for each in (hidden or {}).get(name, ())]
    return Check("metadata", status(holds=not details), detail="; ".join(details))


def _columns_check(source: Countable, manifest: ClaimedManifest) -> Check:
    """Compare the columns that are there with those that are named."""
    promised = [column.name for column in manifest.columns]
    added = [name for name in source.names if name not in promised]
    lacking = [name for name in promised if name not in source.names]
    where = "table" if isinstance(source, DatabaseRelation) else "file"
    details = [
        f"not in the manifest: {some(added)}" if added else "",
        f"not in the {where}: {some(lacking)}" if lacking else "",
    ]
    detail = "; ".join(filter(None, details))
    return Check("columns", status(holds=not detail), promised, list(source.names), detail)
