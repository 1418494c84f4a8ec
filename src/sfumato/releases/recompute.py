"""Recomputing the promises of a release, or of any table, from its rows."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, ParameterError, UnknownColumnError, some
from sfumato.evidence import EVIDENCE, check
from sfumato.policy import Policy
from sfumato.releases.evidence import evidence_checks, view_checks
from sfumato.releases.manifest import (
    MANIFEST,
    NO_PROMISE_OF_LEDGERS,
    Manifest,
    PopulationLabels,
    Promise,
    differences,
    labels_of_population,
    models_not_promised,
    paths_of,
)
from sfumato.releases.release import for_verifier, relation_of, tables_of
from sfumato.schema import Role
from sfumato.tables import DatabaseTable, Table
from sfumato.verifier import (
    Check,
    DatabaseRelation,
    Promises,
    Verdict,
    count_population,
    verify_file,
    verify_folder,
    verify_relation,
    verify_stored,
    verify_tables,
)
from sfumato.verifier.promises import read_manifest, status
from sfumato.verifier.release import promises_in


def recompute_folder(
    folder: Path,
    policy: Policy | None,
    population: object,
    exact: Sequence[str] = (),
    people: object = None,
) -> Verdict:
    """Recompute the promises of a release folder from its files.

    Args:
        folder: The folder.
        policy: What it is held to, besides its manifest.
        population: A table of all people the data was drawn from.
        exact: Sensitive columns in which spellings are different values to the reader.
        people: The people file, or a table of the same, if there is one.
    """
    path = folder / MANIFEST
    try:
        claims = read_manifest(path) if path.is_file() else None
    except InputError:
        claims = None
    if claims is None:
        # The verifier finds the same, and says it in its own words.
        return verify_folder(folder)
    try:
        manifest = Manifest.from_json(path.read_text(encoding="utf-8"))
    except InputError as error:
        # What the verifier does not look at is damaged: others could not read the release.
        return _report_damage(error)
    compared, labels = _compare(manifest, policy, population)
    everyone, also = for_verifier(population), _weaker_models(manifest, policy)
    verdict = verify_folder(
        folder,
        population=everyone,
        generalization=labels,
        also=also,
        exact=exact,
        people=people,
    )
    return Verdict((*verdict.checks, *_evidence(folder), *compared))


def recompute_stored(
    table: DatabaseTable,
    policy: Policy | None,
    population: object,
    exact: Sequence[str] = (),
    people: object = None,
    *,
    counts_people: bool = False,
) -> Verdict:
    """Recompute the promises of a table of a database, which does the counting.

    Args:
        table: A plain table, or the first one of a release.
        policy: What it is held to, besides its manifest.
        population: A table of all people the data was drawn from.
        exact: Sensitive columns in which spellings are different values to the reader.
        people: The people file, or a table of the same, if there is one.
        counts_people: Whether the policy counts people, if it is a plain table.
    """
    text = table.manifest()
    relation = relation_of(table)
    if text is None:
        return (
            Verdict(())
            if policy is None
            else recompute_plain(
                relation, table, policy, population, exact, people, counts_people=counts_people
            )
        )
    try:
        manifest = Manifest.read_stored(text)
    except InputError as error:
        verdict = verify_stored(relation, text)
        # The verifier finds the same, in its own words, or does not look at what is damaged.
        return verdict if not verdict.holds else _report_damage(error)
    compared, labels = _compare(manifest, policy, population)
    everyone, also = for_verifier(population), _weaker_models(manifest, policy)
    if manifest.kind is None:
        tables = {table.name: table}
        verdict = verify_stored(
            relation,
            text,
            population=everyone,
            generalization=labels,
            also=also,
            exact=exact,
            people=people,
        )
    else:
        tables, claims = tables_of(table, manifest), manifest.claims()
        relations = {name: relation_of(each) for name, each in tables.items()}
        promises = promises_in(claims, everyone, labels, exact=exact)
        verdict = verify_tables(relations, claims, promises)
    found = [*view_checks(tables), *evidence_checks(table), *compared]
    return Verdict((*verdict.checks, *found))


def recompute_tables(
    manifest: Manifest,
    tables: Mapping[str, object],
    policy: Policy | None,
    population: object,
    exact: Sequence[str] = (),
    people: object = None,
) -> Verdict:
    """Recompute the promises of a release in memory.

    Args:
        manifest: What it says of itself.
        tables: Its tables, by the names of the manifest; the only one under any name.
        policy: What it is held to, besides its manifest.
        population: A table of all people the data was drawn from.
        exact: Sensitive columns in which spellings are different values to the reader.
        people: The people file, or a table of the same, if there is one.
    """
    try:
        claims = manifest.claims()
    except InputError as error:
        # As in a folder: a manifest that cannot be read is a check that does not hold.
        return _report_damage(error)
    compared, labels = _compare(manifest, policy, population)
    also = _weaker_models(manifest, policy)
    promises = promises_in(claims, for_verifier(population), labels, also, exact, people)
    if manifest.kind is None:
        [table] = tables.values()
        given = for_verifier(table)
        if isinstance(given, DatabaseRelation):
            verdict = verify_relation(given, promises)
        else:
            verdict = verify_file(given, promises)
    else:
        opened = {name: for_verifier(each) for name, each in tables.items()}
        verdict = verify_tables(opened, claims, promises)
    return Verdict((*verdict.checks, *compared))


def _report_damage(error: InputError) -> Verdict:
    return Verdict((Check("manifest", "broken", detail=f"damaged: {error}"),))


def _evidence(folder: Path) -> list[Check]:
    """Compare a folder with its evidence; releases from before there was any have none."""
    if not os.path.lexists(folder / EVIDENCE):
        return []
    found = [each for each in check(folder).checks if each.status != "holds"]
    detail = "; ".join(f"{each.name}: {each.detail}" for each in found)
    return [Check("evidence", status(holds=not found), detail=detail)]


def _compare(
    manifest: Manifest, policy: Policy | None, population: object
) -> tuple[list[Check], PopulationLabels | None]:
    """Compare a manifest with the policy; return also the population's labels if they agree."""
    if policy is None:
        raw = all(not column.level and column.cut is None for column in manifest.columns)
        if population is not None and not raw:
            raise ParameterError(
                "policy",
                None,
                "the policy of the release",
                why="its hierarchies say which published label each person of the population "
                "has. Name it with -p policy.yaml",
            )
        return [], None
    different = differences(manifest, policy)
    checks = [Check("policy", status(holds=not different), detail="; ".join(different))]
    checks += [
        Check(str(Promise.of(model)), "not promised", detail=NO_PROMISE_OF_LEDGERS)
        for model in models_not_promised(manifest, policy)
        if manifest.says_no_more(model)
    ]
    if different or population is None:
        return checks, None
    return checks, labels_of_population(manifest, policy, population)


def _weaker_models(manifest: Manifest, policy: Policy | None) -> list[dict[str, Any]]:
    """Return the models of a policy that a stricter promise implies, for the verifier to check too.

    That one promise implies another is for models to say, and the verifier believes no model.
    """
    if policy is None or manifest.kind is not None:
        return []
    promised = [model for promise in manifest.models if (model := promise.readable())]
    return [
        Promise.of(model).to_dict()
        for model in policy.models
        if model not in promised and any(given.implies(model) for given in promised)
    ]


def recompute_plain(
    data: object,
    table: Table,
    policy: Policy,
    population: object,
    exact: Sequence[str] = (),
    people: object = None,
    *,
    counts_people: bool = False,
) -> Verdict:
    """Recompute what a policy asks of a plain table, as it stands.

    Args:
        data: What the verifier reads.
        table: The same, opened.
        policy: What it is held to.
        population: A table of all people the data was drawn from.
        exact: Sensitive columns in which spellings are different values to the reader.
        people: A table of who has which rows, as a people file has it, if there is one.
        counts_people: Whether the policy counts people, who may have several rows.
    """
    names = policy.quasi_identifiers
    looked_at = dict.fromkeys(column for model in policy.models for column in model.columns)
    for name in (*names, *looked_at, *policy.sets):
        if name not in table.columns:
            raise UnknownColumnError(name, table.columns)
    everyone = None if population is None else count_population(for_verifier(population), names)
    promises = Promises(
        names,
        tuple(looked_at),
        [Promise.of(model).to_dict() for model in policy.models],
        missing=policy.missing.value,
        suppression=policy.suppression.rows,
        hierarchies=_distances(table, policy, exact),
        population=everyone,
        exact=exact,
        sets={name: policy.columns[name].separator for name in policy.sets},
        counts_people=counts_people,
        people=people,
    )
    if isinstance(data, DatabaseRelation):
        verdict = verify_relation(data, promises)
    else:
        verdict = verify_file(data, promises)
    return Verdict((*_unpublishable(table, policy), *verdict.checks))


def private_columns(policy: Policy) -> tuple[str, ...]:
    """Return the columns that tell people and households apart, and that are not published."""
    names = filter(None, [policy.counted_person, policy.household])
    return tuple(name for name in names if policy.role_of(name) in (Role.IDENTIFIER, Role.DROPPED))


def _unpublishable(table: Table, policy: Policy) -> list[Check]:
    """Check for columns that the policy keeps out of every release."""
    roles = {
        name: policy.columns[name].role if name in policy.columns else policy.other
        for name in table.columns
    }
    # What tells people apart is judged as left out; the answer says that it must be.
    private = private_columns(policy)
    people = [n for n, role in roles.items() if role is Role.IDENTIFIER and n not in private]
    dropped = [n for n, role in roles.items() if role is Role.DROPPED and n not in private]
    detail = f"the table has columns that name people: {some(people)}" if people else ""
    checks = [Check("identifiers", status(holds=not people), detail=detail)]
    if dropped:
        detail = f"the table has columns that are not to be published: {some(dropped)}"
        checks.append(Check("dropped columns", "broken", detail=detail))
    return checks


def _distances(
    table: Table, policy: Policy, exact: Sequence[str]
) -> Mapping[str, Mapping[str, list[str]]]:
    """Build the hierarchies of sensitive columns that a model measures distances in."""
    hierarchies = {}
    for model in policy.models:
        for name in model.columns:
            builder = policy.columns[name].hierarchy
            if not model.needs_hierarchy or builder is None:
                continue
            column = table.count([name]).column(name)
            known = (column if name in exact else column.folded.column).known
            if known:
                hierarchies[name] = paths_of(builder.build(name, known).bind(name, known))
    return hierarchies
