"""Recomputing the promises of a release, or of any table, from its rows."""

import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import InputError, ParameterError, UnknownColumnError, some
from sfumato.evidence import EVIDENCE, check
from sfumato.policy import Missing, Policy
from sfumato.recode.problem import ladder_of
from sfumato.recoding import FullDomainRecoding
from sfumato.releases.evidence import evidence_checks, release_in_database
from sfumato.releases.manifest import (
    MANIFEST,
    Manifest,
    Promise,
    differences,
    generalization_of,
    paths_of,
)
from sfumato.releases.release import Decoupled, Release
from sfumato.releases.stored import for_verifier, relation_of, stored_tables
from sfumato.schema import Role
from sfumato.tables import Table, open_table
from sfumato.verifier import (
    Check,
    Promises,
    Relation,
    Verdict,
    count_population,
    verify_file,
    verify_folder,
    verify_relation,
    verify_stored,
    verify_tables,
)
from sfumato.verifier.manifest import read_manifest
from sfumato.verifier.promises import status
from sfumato.verifier.release import promises_in

if TYPE_CHECKING:
    from sfumato.tables import DatabaseTable


def recomputed(what: object, policy: Policy | None, population: object = None) -> Verdict:
    """Recompute what a release or a table is said to keep, by code that had no part in making it.

    A release is held to its own manifest, and to the policy too if one is given. A plain table
    is held to the policy as it stands; without one it promises nothing.
    """
    if population is None and policy is not None:
        population = policy.population
    stored = release_in_database(what)
    if stored is not None:
        return _stored(stored, policy, population)
    if isinstance(what, Release | Decoupled):
        if what.folder is None:
            return _in_memory(what, policy, population)
        what = what.folder
    if isinstance(what, str | PathLike):
        what = Path(what).expanduser()
        if what.is_dir():
            return _folder(what, policy, population)
    table = open_table(what)
    return Verdict(()) if policy is None else _plain(what, table, policy, population)


def _folder(folder: Path, policy: Policy | None, population: object) -> Verdict:
    path = folder / MANIFEST
    try:
        claims = read_manifest(path) if path.is_file() else None
    except InputError:
        claims = None
    if claims is None:
        # The verifier finds the same, and says it in its own words.
        return verify_folder(folder)
    manifest = Manifest.from_json(path.read_text(encoding="utf-8"))
    compared, labels = _compared(manifest, policy, population)
    people = for_verifier(population)
    verdict = verify_folder(folder, population=people, generalization=labels)
    return Verdict((*verdict.checks, *_evidence(folder), *compared))


def _stored(table: "DatabaseTable", policy: Policy | None, population: object) -> Verdict:
    """Let the database count; everything else is as in a file."""
    text = table.manifest()
    relation = relation_of(table)
    if text is None:
        return Verdict(()) if policy is None else _plain(relation, table, policy, population)
    try:
        manifest = Manifest.read_stored(text)
    except InputError:
        # The verifier finds the same, and says it in its own words.
        return verify_stored(relation, text)
    compared, labels = _compared(manifest, policy, population)
    people = for_verifier(population)
    several = stored_tables(table)
    if several is not None:
        verdict = verify_tables(
            several.relations(), manifest.claims(), promises_in(manifest.claims(), people, labels)
        )
    else:
        verdict = verify_stored(relation, text, population=people, generalization=labels)
    return Verdict((*verdict.checks, *evidence_checks(table), *compared))


def _evidence(folder: Path) -> list[Check]:
    """Compare a folder with its evidence; releases from before there was any have none."""
    if not os.path.lexists(folder / EVIDENCE):
        return []
    found = [each for each in check(folder).checks if each.status != "holds"]
    detail = "; ".join(f"{each.name}: {each.detail}" for each in found)
    return [Check("evidence", status(holds=not found), detail=detail)]


def _in_memory(release: Release | Decoupled, policy: Policy | None, population: object) -> Verdict:
    claims = release.manifest.claims()
    compared, labels = _compared(release.manifest, policy, population)
    promises = promises_in(claims, for_verifier(population), labels)
    if isinstance(release, Decoupled):
        tables = {name: for_verifier(each) for name, each in (release.tables or {}).items()}
        verdict = verify_tables(tables, claims, promises)
    else:
        verdict = verify_file(release.table, promises)
    return Verdict((*verdict.checks, *compared))


Labels = dict[str, dict[str | None, object]]


def _compared(
    manifest: Manifest, policy: Policy | None, population: object
) -> tuple[list[Check], Labels | None]:
    """Compare a manifest with the policy; give the labels of the population if they agree."""
    if policy is None:
        if population is not None and any(column.level for column in manifest.columns):
            raise ParameterError(
                "policy",
                None,
                "the policy of the release",
                why="its hierarchies say which published label each person of the population "
                "has. Name it with -p policy.yaml",
            )
        return [], None
    different = differences(manifest, policy)
    check = Check("policy", status(holds=not different), detail="; ".join(different))
    if different or population is None:
        return [check], None
    return [check], _labels(manifest, policy, population)


def _labels(manifest: Manifest, policy: Policy, population: object) -> Labels:
    """Give the label each raw text of the population has at the levels of a release."""
    counts = open_table(population).count(policy.quasi_identifiers)
    columns = {column.name: column for column in manifest.columns}
    ladders = [ladder_of(policy, counts, name) for name in policy.quasi_identifiers]
    for ladder in ladders:
        height = columns[ladder.column].height
        if height is not None and ladder.height != height:
            raise InputError(
                f"the hierarchy of {ladder.column!r} has {ladder.height} levels for the values "
                f"of this population, and {height} in the release. Give the population (and the "
                "policy) that the release was made with."
            )
    node = tuple(columns[ladder.column].level or 0 for ladder in ladders)
    recoding = FullDomainRecoding.at(ladders, node)
    if policy.missing is Missing.SUPPRESS:
        recoding = recoding.dropping_missing()
    return generalization_of(recoding)


def _plain(data: object, table: Table, policy: Policy, population: object) -> Verdict:
    names = policy.quasi_identifiers
    looked_at = dict.fromkeys(column for model in policy.models for column in model.columns)
    for name in (*names, *looked_at):
        if name not in table.columns:
            raise UnknownColumnError(name, table.columns)
    people = None if population is None else count_population(for_verifier(population), names)
    promises = Promises(
        names,
        tuple(looked_at),
        [Promise.of(model).to_dict() for model in policy.models],
        missing=policy.missing.value,
        hierarchies=_distances(table, policy),
        population=people,
    )
    if isinstance(data, Relation):
        verdict = verify_relation(data, promises)
    else:
        verdict = verify_file(data, promises)
    return Verdict((*_unpublishable(table, policy), *verdict.checks))


def _unpublishable(table: Table, policy: Policy) -> list[Check]:
    """Look for columns that the policy keeps out of every release."""
    roles = {
        name: policy.columns[name].role if name in policy.columns else policy.other
        for name in table.columns
    }
    people = [name for name, role in roles.items() if role is Role.IDENTIFIER]
    dropped = [name for name, role in roles.items() if role is Role.DROPPED]
    detail = f"the table has columns that name people: {some(people)}" if people else ""
    checks = [Check("identifiers", status(holds=not people), detail=detail)]
    if dropped:
        detail = f"the table has columns that are not to be published: {some(dropped)}"
        checks.append(Check("dropped columns", "broken", detail=detail))
    return checks


def _distances(table: Table, policy: Policy) -> Mapping[str, Mapping[str, list[str]]]:
    """Build the hierarchies of sensitive columns that a model measures distances in."""
    hierarchies = {}
    for model in policy.models:
        for name in model.columns:
            builder = policy.columns[name].hierarchy
            if not model.needs_hierarchy or builder is None:
                continue
            known = table.count([name]).column(name).known
            if known:
                hierarchies[name] = paths_of(builder.build(name, known).bind(name, known))
    return hierarchies
