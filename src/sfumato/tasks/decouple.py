"""Decouple: from an anonymised table to several tables with weak links, verified."""

import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.checks import require_int
from sfumato.counts import FrequencySet
from sfumato.decouplings import DECOUPLINGS, BreakMerge, Decoupling, MergedTables, Parts
from sfumato.errors import (
    InputError,
    OutputError,
    ParameterError,
    UnknownNameError,
    VerificationError,
)
from sfumato.evidence import Key, SigningKey, write_evidence
from sfumato.evidence.keys import key_for
from sfumato.policy import GivenPolicy, Missing, Policy, policy_of
from sfumato.policy.document import Fault
from sfumato.policy.family import choose
from sfumato.releases.evidence import attestation
from sfumato.releases.kept import Kept, models_anew, models_kept
from sfumato.releases.manifest import (
    MANIFEST,
    ClassSizes,
    ColumnRecord,
    FileRecord,
    LeftOut,
    Manifest,
    RowRecord,
)
from sfumato.releases.opening import (
    Opened,
    Subject,
    open_grouped,
    opened,
    subject_of,
    without_starred,
)
from sfumato.releases.release import Decoupled, hash_of, staged_folder
from sfumato.releases.stored import StoredOutput, open_stored, output_of, relation_of, stored_tables
from sfumato.schema import Role
from sfumato.tables import FORMATS, Table, derived_table, open_table, write_derived
from sfumato.text import text_of
from sfumato.typing import Progress, silent
from sfumato.verifier import Verdict, verify_folder, verify_tables
from sfumato.verifier.release import promises_in


def decouple(  # noqa: PLR0913 - all but two have a default and are named
    data: object,
    method: str | Mapping[str, object] | Decoupling | None = None,
    *,
    output: str | PathLike[str] | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    policy: GivenPolicy | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    force: bool = False,
    key: Key | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Decoupled:
    """Publish quasi-identifiers and each sensitive column apart, linked by group only.

    Promises: every person and every value is there, as often as before; which of them belong
    together is not, beyond what follows from the counts of a group; labels and orders are random;
    the models of the release hold as they did, or those the method promises instead; all
    that was verified from the tables by independent code. If anything fails, nothing is written.
    Does not promise that groups are large or diverse, where the method does not make them so:
    anonymise the table before.

    Args:
        data: A release, its folder, or a table: a path (CSV, Parquet, Feather), pandas,
            Polars, Arrow.
        method: How to decouple; see `sf.decouplings.DECOUPLINGS`. A name, a mapping of the name
            and its settings such as `{"method": "anatomy", "l": 3}`, or an object. None takes the
            policy's, and break-merge where there is none.
        output: The folder to write; None gives the tables back in memory. For a table of a
            database also `table:released`, or such an address, in the same database: the first
            table is called that, and the others after it.
        quasi_identifiers: The columns others may know; a release knows its own.
        sensitive: The columns nobody should learn about a person, each to a table of its own.
        policy: Where roles and models come from, if the data is a plain table, and the method,
            if it is not given.
        format: csv, parquet or feather; None takes the input's.
        force: Replace a release that is already in `output`.
        key: The private key to sign it with, or its file; see `sf.evidence.keygen`.
        seed: Fixes all that is random, for tests and experiments. Such a release is marked as
            reproducible: it is not for publication.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"age": ["30s", "30s", "40s", "40s"],
        ...     "ill": ["flu", "gout", "flu", "hiv"], "pay": [1, 2, 2, 2]})
        >>> decoupled = decouple(table, quasi_identifiers=["age"], sensitive=["ill", "pay"])
        >>> decoupled.tables["qi"].num_rows, decoupled.tables["sensitive_pay"].num_rows
        (4, 3)
        >>> decoupled.warnings
        ("2 people are in groups where everybody has the same 'pay': who knows the group knows it",)
    """
    report = progress or silent
    if seed is not None:
        require_int("seed", seed, at_least=0)
    stored = output_of(output, data, force=force, format=format)
    signer = key_for(key, output)
    policy = policy_of(policy)
    decoupling = _of_policy(policy) if method is None else _given(method)
    subject = subject_of(data, quasi_identifiers, sensitive, policy)
    _require_both(subject)
    table = open_table(subject.data)
    chosen = _format_of(table, format)
    counts = table.count(
        (*subject.quasi_identifiers, *subject.sensitive),
        progress=lambda done, total: report("count", done, total),
    )
    counts = without_starred(counts, subject)
    if not counts.total:
        raise InputError("every row is suppressed: there is nothing to decouple")
    if output is not None and stored is None and chosen == "csv":
        counts = _as_text(counts)
    keeps = decoupling.keeps_classes
    kept = models_kept(counts, subject, _missing(subject)) if keeps else None
    rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)
    parts = decoupling.run(counts, subject.quasi_identifiers, subject.sensitive, rng=rng)
    kept = kept or models_anew(subject, parts.models)
    manifest = _manifest(decoupling, subject, table, parts, kept, seeded=seed is not None)
    if output is None:
        found = _in_memory(table, parts, manifest, report)
    elif stored is not None:
        found = _to_tables(table, parts, manifest, stored, report, signer, force=force)
    else:
        target = Path(output)
        found = _to_folder(
            decoupling, table, parts, manifest, target, chosen, report, signer, force=force
        )
    return replace(found, left_out=_left_out(subject, table))


def _of_policy(policy: Policy | None) -> Decoupling:
    """Make the method that a policy names, or the one that asks for nothing."""
    made = None if policy is None else policy.make_decoupling(DECOUPLINGS)
    return made or BreakMerge()


def _given(method: str | Mapping[str, object] | Decoupling) -> Decoupling:
    """Make the method of its name and its settings."""
    if isinstance(method, Decoupling):
        return method
    given = {"method": method} if isinstance(method, str) else method
    name = given.get("method") if isinstance(given, Mapping) else None
    if isinstance(name, str) and name not in DECOUPLINGS:
        raise UnknownNameError(DECOUPLINGS.what, name, sorted(DECOUPLINGS))
    try:
        return choose(DECOUPLINGS, "method", given)
    except Fault as fault:
        expected = "a decoupling with its settings"
        why = " ".join([*map(str, fault.path), str(fault)])
        raise ParameterError("method", method, expected, why=why) from None


def _require_both(subject: Subject) -> None:
    for name in ("quasi_identifiers", "sensitive"):
        if not getattr(subject, name):
            raise ParameterError(
                name,
                [],
                "at least one column",
                why="decoupling parts what others may know from what is sensitive",
            )


def _format_of(table: Table, given: str | None) -> str:
    if given is not None and given not in FORMATS:
        raise ParameterError("format", given, "one of " + ", ".join(FORMATS))
    return given or (table.kind if table.kind in FORMATS else "parquet")


def _as_text(counts: FrequencySet) -> FrequencySet:
    """Take values as a CSV file holds them: all are text, and an empty text is missing."""
    values = [
        [None if value is None else text_of(value) or None for value in column.values]
        for column in counts.columns
    ]
    return FrequencySet.from_codes(counts.names, values, counts.codes, counts.rows)


def _missing(subject: Subject) -> str:
    if subject.manifest is not None:
        return subject.manifest.missing
    return (Missing.OWN_VALUE if subject.policy is None else subject.policy.missing).value


def _manifest(
    decoupling: Decoupling,
    subject: Subject,
    table: Table,
    parts: Parts,
    kept: Kept,
    *,
    seeded: bool,
) -> Manifest:
    """Describe a decoupled release, apart from its files: everything in it may be public."""
    source = subject.manifest
    said = {} if source is None else {column.name: column for column in source.columns}
    roles = dict.fromkeys(subject.quasi_identifiers, Role.QUASI_IDENTIFIER)
    roles |= dict.fromkeys(subject.sensitive, Role.SENSITIVE)
    if subject.policy is not None:
        levels: Mapping[str, float] | None = subject.policy.risk_levels.to_plain()
    else:
        levels = None if source is None else source.risk_levels
    return Manifest(
        kind=decoupling.name,
        columns=tuple(
            replace(said.get(name, ColumnRecord(name, role.value)), role=role.value)
            for name, role in roles.items()
        ),
        group=parts.group,
        count=parts.count,
        rows=RowRecord(
            parts.grouped.total, 0 if source is None else source.rows.suppressed, "remove"
        ),
        # Buckets are not formed by quasi-identifiers, so nothing is missing in what forms them.
        missing=_missing(subject) if decoupling.keeps_classes else Missing.OWN_VALUE.value,
        models=kept.models,
        classes=ClassSizes.of(parts.grouped.sizes),
        hierarchies=kept.hierarchies,
        risk_levels=levels,
        left_out=LeftOut(_known_left_out(subject, table), kept.dropped),
        notes=tuple(decoupling.notes),
        reproducible=seeded or (source is not None and source.reproducible),
    )


def _known_left_out(subject: Subject, table: Table) -> tuple[str, ...]:
    """Return the columns left out of a release; those of a private table must not be told."""
    return () if subject.manifest is None else _left_out(subject, table)


def _left_out(subject: Subject, table: Table) -> tuple[str, ...]:
    """Name the columns that would have been published beside the others."""
    used = {*subject.quasi_identifiers, *subject.sensitive}
    if subject.policy is not None:
        # Identifiers and dropped columns were never to be published.
        roles = subject.policy.check_against(table.columns)
        plain = (name for name, role in roles.items() if role is Role.PLAIN)
        return tuple(name for name in plain if name not in used)
    return tuple(name for name in table.columns if name not in used)


def _in_memory(table: Table, parts: Parts, manifest: Manifest, report: Progress) -> Decoupled:
    likes = _likes(table, parts)
    tables = {}
    for done, part in enumerate(parts.tables):
        report("publish", done, len(parts.tables))
        tables[part.name] = derived_table(part.content, likes)
    files = [
        FileRecord(part.name, rows=part.content.rows, **part.describe()) for part in parts.tables
    ]
    manifest = replace(manifest, files=tuple(files))
    report("verify", 0, None)
    claims = manifest.claims()
    verdict = _require(verify_tables(tables, claims, promises_in(claims)))
    native = {name: table.native(each) for name, each in tables.items()}
    return Decoupled(manifest, verdict, parts.grouped, tables=native)


def _to_tables(
    table: Table,
    parts: Parts,
    manifest: Manifest,
    output: StoredOutput,
    report: Progress,
    key: SigningKey | None,
    *,
    force: bool,
) -> Decoupled:
    """Create tables in the database that appear only when all are there and verified."""
    database = open_stored(table)
    assert database is not None  # noqa: S101 - nothing else has such an output
    likes = _likes(table, parts)
    names = output.names([part.name for part in parts.tables])
    files = [
        FileRecord(name, rows=part.content.rows, **part.describe())
        for name, part in zip(names, parts.tables, strict=True)
    ]
    manifest = replace(manifest, files=tuple(files))
    text = manifest.to_json()
    signed = key is not None
    with database.releasing(names[0], names[1:], force=force, signed=signed) as unfinished:
        made = {}
        for done, (part, name) in enumerate(zip(parts.tables, unfinished.names, strict=True)):
            report("publish", done, len(names))
            database.store(part.content, name, likes)
            made[names[done]] = database.open_other(name)
        unfinished.store_manifest(text)
        report("verify", 0, None)
        claims = manifest.claims()
        relations = {name: relation_of(each) for name, each in made.items()}
        verdict = _require(verify_tables(relations, claims, promises_in(claims)))
        if key is not None:
            unfinished.store_evidence(attestation(text, made, verdict, key))
    tables = {name: output.opens(name, database) for name in names}
    return Decoupled(manifest, verdict, parts.grouped, tables=tables, place=output.place)


def _to_folder(  # noqa: PLR0913 - all that was decided, and where it goes
    decoupling: Decoupling,
    table: Table,
    parts: Parts,
    manifest: Manifest,
    target: Path,
    chosen: str,
    report: Progress,
    key: SigningKey | None,
    *,
    force: bool,
) -> Decoupled:
    """Write a folder that appears only when it is complete and verified."""
    likes = _likes(table, parts)
    with staged_folder(target, force=force) as stage:
        files = []
        for part in parts.tables:
            written = write_derived(
                part.content,
                stage / f"{part.name}.{chosen}",
                format=chosen,
                likes=likes,
                progress=lambda done, total: report("publish", done, total),
            )
            files.append(
                FileRecord(
                    written.path.name,
                    written.format,
                    written.rows,
                    hash_of(written.path),
                    delimiter=written.delimiter,
                    **part.describe(),
                )
            )
        manifest = replace(manifest, files=tuple(files))
        for name, text in decoupling.companions(parts, manifest.to_dict()).items():
            (stage / name).write_text(text, encoding="utf-8", newline="\n")
        (stage / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
        report("verify", 0, None)
        verdict = _require(verify_folder(stage))
        write_evidence(stage, verdict, key)
    return Decoupled(manifest, verdict, parts.grouped, folder=target)


def _likes(table: Table, parts: Parts) -> dict[str, Table]:
    return {
        column.name: table
        for part in parts.tables
        for column in part.content.columns
        if column.values is not None
    }


def _require(verdict: Verdict) -> Verdict:
    if not verdict.holds:
        raise VerificationError(
            "the release was not published, because the verifier does not find in it what was "
            f"promised. This is a fault of Sfumato; please report it.\n{verdict}"
        )
    return verdict


# Merge: what the tables of a decoupled release say when they are joined again.


MOST_ROWS = 10_000_000
"""Rows a join may have unless more are allowed."""


def merge(
    release: object,
    *,
    columns: Sequence[str] | None = None,
    output: str | PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    most: int = MOST_ROWS,
    force: bool = False,
    progress: Progress | None = None,
) -> Any:  # noqa: ANN401 - whatever kind of table the release has
    """Join the tables of a decoupled release on the group, as an analyst or an adversary would.

    Every combination of the values of a group is a row, with the number of people who would
    have it if the columns had nothing to do with each other: |G| · Π cᵢ/|G|. That is all there
    is to know; the numbers of a group add up to its size.

    Args:
        release: A decoupled release, its folder, or its address in a database.
        columns: The sensitive columns to join; None takes all. Combinations multiply, so take
            those that are needed.
        output: The file to write, part by part; None gives the table in memory.
        format: csv, parquet or feather; None goes by the ending of `output`.
        most: Refuse to make more rows than this.
        force: Replace a file that is there.
        progress: Told how far it is.

    Returns:
        The table, of the kind the release has (Arrow for files and databases), or the path that
        was written.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> table = pa.table({"age": ["30s"] * 4, "ill": ["flu", "flu", "flu", "gout"]})
        >>> decoupled = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill"])
        >>> sf.tools.merge(decoupled).select(["age", "ill", "expected"]).to_pydict()
        {'age': ['30s', '30s'], 'ill': ['flu', 'gout'], 'expected': [3.0, 1.0]}
    """
    require_int("most", most, at_least=1)
    target = None if output is None else Path(output)
    chosen = "" if target is None else _format_of_merged(target, format, force=force)
    found = _open(release)
    merged = MergedTables(found.grouped, columns)
    if merged.total > most:
        raise ParameterError(
            "columns",
            [table.column.name for table in merged.tables],
            f"columns whose combinations are at most {most} rows",
            why=f"these would be {merged.total}. Take fewer columns, or allow more rows with most",
        )
    derived = merged.to_table(str(found.manifest.group))
    if target is None:
        people = next(found.tables[f.name] for f in found.manifest.files if f.table == "qi")
        return people.native(derived_table(derived, found.likes))
    report = progress or silent
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}.unfinished")
    try:
        write_derived(
            derived,
            unfinished,
            format=chosen,
            likes=found.likes,
            progress=lambda done, total: report("merge", done, total),
        )
        unfinished.replace(target)
    finally:
        with suppress(OSError):
            unfinished.unlink()
    return target


def _open(release: object) -> Opened:
    if isinstance(release, Decoupled):
        if release.folder is None:
            return opened(release.tables or {}, release.manifest)
        release = release.folder
    if (stored := stored_tables(release)) is not None:
        return opened(stored.tables, stored.manifest)
    if not isinstance(release, str | PathLike):
        raise InputError(
            f"a {type(release).__name__} is not a decoupled release. Give what sf.decouple gave, "
            "or the folder it wrote."
        )
    return open_grouped(Path(release).expanduser())


def _format_of_merged(target: Path, given: str | None, *, force: bool) -> str:
    if target.is_dir() or (os.path.lexists(target) and not force):
        raise OutputError(
            f"{str(target)!r} exists. Choose another name"
            + (", or replace it with --force (force=True)." if not target.is_dir() else ".")
        )
    chosen = given or target.suffix.lstrip(".").lower()
    if chosen not in FORMATS:
        raise ParameterError("format", chosen, "one of " + ", ".join(FORMATS))
    return chosen
