"""The description of a decoupled release: what it keeps of the table it is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sfumato.classes import (
    EquivalenceClasses,
    SensitiveColumn,
    classes_from,
    overlapping,
    sensitive_column,
)
from sfumato.counts import Column, FrequencySet, group
from sfumato.decouplings import Decoupling, Parts
from sfumato.errors import InfeasibleError, some
from sfumato.hierarchy import Ladder
from sfumato.models import PrivacyModel
from sfumato.policy import Missing, Spelling
from sfumato.releases.manifest import (
    ClassSizes,
    ColumnRecord,
    HidingRecord,
    LeftOut,
    Manifest,
    Promise,
    RowRecord,
    accepted_in,
    bind_paths,
    paths_of,
    plain,
    read_as,
    rows_of_people,
)
from sfumato.releases.opening import Published, PublishedTable
from sfumato.releases.people import count_rows
from sfumato.releases.places import DecoupledTable
from sfumato.schema import Role
from sfumato.tables import Table
from sfumato.text import text_or_none


class KeptPromises(NamedTuple):
    """Models that hold, written as manifests do."""

    models: tuple[Promise, ...]
    hierarchies: dict[str, dict[str, list[str]]]
    """Per sensitive column, the labels of each value, where a model measures distances."""

    dropped: tuple[str, ...]
    """Models that were promised and cannot be recomputed from such tables."""


def describe_decoupled(
    decoupling: Decoupling,
    release: PublishedTable,
    parts: Parts,
    kept: KeptPromises,
    *,
    plain: Sequence[str] = (),
    together: Sequence[tuple[str, ...]] = (),
    seeded: bool,
) -> Manifest:
    """Describe a decoupled release, apart from its files: everything in it may be public.

    Args:
        decoupling: How it was made.
        release: Of what it was made.
        parts: Its tables.
        kept: What they keep.
        plain: The columns that are published as they are.
        together: The columns that stay together.
        seeded: Whether what is random comes from a seed.
    """
    source = release.manifest
    said = {} if source is None else {column.name: column for column in source.columns}
    roles = dict.fromkeys(release.quasi_identifiers, Role.QUASI_IDENTIFIER)
    roles |= dict.fromkeys(release.sensitive, Role.SENSITIVE)
    roles |= {name: Role(said[name].role) if name in said else Role.PLAIN for name in plain}
    generalised = [each["column"] for each in parts.hiding if each["generalised"]]
    levels: Mapping[str, float] | None = None
    accepted: tuple[Mapping[str, Any], ...] | None = None
    person: Mapping[str, str] | None = None
    if source is not None:
        levels, accepted, person = source.risk_levels, source.accepted, source.person
    elif release.policy is not None:
        levels, accepted = release.policy.risk_levels.to_plain(), accepted_in(release.policy)
        # Where the policy tells people apart, each of them has one row, or it was refused.
        counted = release.policy.counted_person is not None
        person = rows_of_people(count_rows(release.policy) if counted else release.policy)
    stated = release.policy if source is None else source
    return Manifest(
        kind=decoupling.name,
        columns=tuple(
            replace(
                said.get(name, ColumnRecord(name, role.value, because=_reason(release, name))),
                role=role.value,
                generalised=True if name in generalised else None,
                known=False if name in release.unknown else None,
                spelling=Spelling.EXACT.value if name in release.exact else None,
            )
            for name, role in roles.items()
        ),
        together=tuple(together) or None,
        group=parts.group or None,
        count=parts.count or None,
        rows=RowRecord(
            parts.grouped.total, 0 if source is None else source.rows.suppressed, "remove"
        ),
        # Buckets are not formed by quasi-identifiers, so nothing is missing in what forms them.
        missing=release.missing if decoupling.keeps_classes else Missing.OWN_VALUE.value,
        models=kept.models,
        hiding=tuple(read_as(HidingRecord, each) for each in parts.hiding) or None,
        classes=ClassSizes.of(parts.grouped.sizes),
        hierarchies=kept.hierarchies,
        risk_levels=levels,
        accepted=accepted,
        owner=None if stated is None else stated.owner,
        purpose=None if stated is None else stated.purpose,
        person=person,
        # What else a private table has must not be told.
        left_out=LeftOut(
            () if source is None else columns_left_out(release, (*decoupling.needs, *plain)),
            kept.dropped,
        ),
        notes=decoupling.notes,
        reproducible=seeded or (source is not None and source.reproducible),
    )


def _reason(release: PublishedTable, name: str) -> str | None:
    """Return why a column is published as it is, if the policy says so."""
    rules = {} if release.policy is None else release.policy.columns
    return rules[name].because if name in rules else None


def plain_columns(release: PublishedTable, needs: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns that are published as they are: those that a policy or a manifest names.

    Weights are among them once they are those of a release, the same for all people of a class; as
    they come, they would tell people apart.

    Args:
        release: What is decoupled.
        needs: The columns that the method goes by, which are not published.
    """
    used = {*release.quasi_identifiers, *release.sensitive, *needs}
    if release.manifest is not None:
        names = {*release.manifest.with_role("plain"), *release.manifest.with_role("weight")}
        return tuple(name for name in release.table.columns if name in names - used)
    if release.policy is None:
        return ()
    roles = release.policy.check_against(release.table.columns)
    return tuple(name for name, r in roles.items() if r is Role.PLAIN and name not in used)


def columns_left_out(release: PublishedTable, used: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns that would have been published, and are in no table.

    Args:
        release: What is decoupled.
        used: The columns that the method goes by, or that are published as they are.
    """
    known = {*release.quasi_identifiers, *release.sensitive, *used}
    if release.manifest is None and release.policy is not None:
        # Identifiers and dropped columns were never to be published.
        roles = release.policy.check_against(release.table.columns)
        plain = (name for name, role in roles.items() if role in (Role.PLAIN, Role.WEIGHT))
        return tuple(name for name in plain if name not in known)
    return tuple(name for name in release.table.columns if name not in known)


def tables_to_publish(table: Table, parts: Parts) -> list[DecoupledTable]:
    """Return the tables of a decoupled release, of the types that the table has."""
    generalised = [each["column"] for each in parts.hiding if each["generalised"]]
    likes = {
        column.name: table
        for part in parts.tables
        for column in part.content.columns
        # Labels are text, whatever the values were.
        if column.values is not None and column.name not in generalised
    }
    return [DecoupledTable(part, likes) for part in parts.tables]


def as_text(counts: FrequencySet) -> FrequencySet:
    """Return values as a CSV file holds them: all are text."""
    values = [[text_or_none(value) for value in column.values] for column in counts.columns]
    return FrequencySet.from_codes(counts.names, values, counts.codes, counts.rows)


# Promises: measured on the classes of the table, or replaced by those of buckets.


def measure_promises(
    counts: FrequencySet, release: Published, generalised: Sequence[str] = ()
) -> KeptPromises:
    """Measure what was promised of a table; if nothing was, promise the smallest class.

    Args:
        counts: What is published.
        release: What it was made of.
        generalised: Sensitive columns that have labels in place of values: what labels alone do
            not show is promised no more.
    """
    promised, dropped = _models(release)
    if generalised:
        shown = [
            model for model in promised if _shown_by_labels(model, counts, release, generalised)
        ]
        dropped += tuple(str(Promise.of(model)) for model in promised if model not in shown)
        promised = shown
    columns = {
        name: _describe(release, counts.column(name), promised) for name in release.sensitive
    }
    classes = _classes(counts, release.quasi_identifiers, columns, release.missing)
    written = [_measure(model, classes) for model in promised]
    if not written:
        k = int(classes.sizes.min())
        written = [Promise("k-anonymity", {"k": k}, {"k": k})]
    ladders = {name: column.ladder for name, column in columns.items() if column.ladder is not None}
    return KeptPromises(tuple(written), _paths(columns, ladders), dropped)


def measure_buckets(
    counts: FrequencySet, release: Published, bucket: str, asked: Sequence[PrivacyModel]
) -> KeptPromises:
    """Measure what is asked of every bucket; refuse if one does not keep it, and name it.

    Models of sizes alone are kept and not promised: people of a bucket can be told apart.

    Args:
        counts: The table, with the column that says the bucket.
        release: Where spellings and hierarchies come from.
        bucket: That column.
        asked: The models.
    """
    names = dict.fromkeys(
        [*release.sensitive, *(name for model in asked for name in model.columns)]
    )
    columns = {name: _describe(release, counts.column(name), asked) for name in names}
    classes = classes_from(counts, (bucket,), columns)
    held = counts.group_by([bucket])
    labels = [counts.column(bucket).values[code] for code in counts.codes_of(bucket)[held.first]]
    for model in asked:
        good = model.judge(classes)
        if not good.all():
            promise = replace(Promise.of(model), measured=plain(model.measure_worst(classes)))
            failing = [labels[at] for at in np.flatnonzero(~good).tolist()]
            raise InfeasibleError(
                f"{len(failing)} of {len(labels)} buckets do not keep {promise}: {some(failing)}. "
                f"The worst has {promise.figures}. Make these buckets larger or mix them, ask for "
                "less, or leave the column of buckets out and let a method make them."
            )
    promised = [model for model in asked if model.columns]
    ladders = {name: column.ladder for name, column in columns.items() if column.ladder is not None}
    before = [model for model in _all(release) if model not in promised]
    return KeptPromises(
        tuple(_measure(model, classes) for model in promised),
        _paths(columns, ladders),
        tuple(str(Promise.of(model)) for model in before),
    )


def _shown_by_labels(
    model: PrivacyModel, counts: FrequencySet, release: Published, generalised: Sequence[str]
) -> bool:
    """Return whether a model holds of labels too, without settings about raw values."""
    if not set(model.columns) & set(generalised):
        return True
    of_values = any(isinstance(value, tuple) and value for value in model.params().values())
    if model.needs_hierarchy or of_values:
        return False
    columns = {name: sensitive_column(counts.column(name)) for name in model.columns}
    classes = _classes(counts, release.quasi_identifiers, columns, release.missing)
    return bool(model.judge(classes).all())


def models_asked(release: Published) -> list[PrivacyModel]:
    """Return the models of a release, or of the policy, that speak of its sensitive columns."""
    return _models(release)[0]


def _paths(
    columns: Mapping[str, SensitiveColumn], ladders: Mapping[str, Ladder]
) -> dict[str, dict[str, list[str]]]:
    return {
        name: {columns[name].key(text): path for text, path in paths_of(ladder).items()}
        for name, ladder in ladders.items()
    }


def replace_promises(release: Published, models: Sequence[Mapping[str, Any]]) -> KeptPromises:
    """Return what the tables keep instead; what was promised besides is dropped."""
    promises = tuple(read_as(Promise, model) for model in models)
    new, before = set(map(str, promises)), [str(Promise.of(model)) for model in _all(release)]
    return KeptPromises(promises, {}, tuple(promise for promise in before if promise not in new))


def _all(release: Published) -> list[PrivacyModel]:
    if release.manifest is not None:
        return [promise.read() for promise in release.manifest.models]
    return list(release.policy.models) if release.policy is not None else []


def _models(release: Published) -> tuple[list[PrivacyModel], tuple[str, ...]]:
    """Return the models that still mean something, and the names of the others."""
    given = _all(release)
    good = [
        model
        for model in given
        if not model.needs_population
        and not model.protects_sets
        and set(model.columns) <= set(release.sensitive)
    ]
    return good, tuple(str(Promise.of(model)) for model in given if model not in good)


def _describe(
    release: Published, column: Column, models: Sequence[PrivacyModel]
) -> SensitiveColumn:
    """Describe a sensitive column, as its maker takes spellings."""
    # Of columns that stay together, spellings were taken for one before they became one.
    exact = column.name in release.exact or column.name not in release.sensitive
    described = sensitive_column(column, exact=exact)
    return replace(described, ladder=_ladder(release, described, models))


def _ladder(
    release: Published, column: SensitiveColumn, models: Sequence[PrivacyModel]
) -> Ladder | None:
    """Build the hierarchy of a sensitive column, if a model measures distances in it."""
    name = column.name
    needed = any(model.needs_hierarchy and name in model.columns for model in models)
    if not needed or not column.values:
        return None
    if release.manifest is not None:
        return bind_paths(release.manifest.hierarchies.get(name, {}), column)
    builder = release.policy.columns[name].hierarchy if release.policy is not None else None
    return builder.build(name, column.values).bind(name, column.values) if builder else None


def _classes(
    counts: FrequencySet,
    quasi_identifiers: tuple[str, ...],
    columns: Mapping[str, SensitiveColumn],
    missing: str,
) -> EquivalenceClasses:
    classes = classes_from(counts, quasi_identifiers, columns)
    described = [counts.column(name) for name in quasi_identifiers]
    codes = np.array([counts.codes_of(name) for name in quasi_identifiers])
    absent = np.array([column.missing for column in described])[:, None]
    if missing == Missing.SUPPRESS.value and (codes == absent).any():
        raise InfeasibleError(
            "quasi-identifiers are missing, and the policy says that such rows are suppressed. "
            "Anonymise the table first, with sf.anonymize."
        )
    if missing != Missing.MATCHES_ANY.value:
        return classes
    first = group(list(codes), [len(column.values) for column in described]).first
    labels = codes[:, first]
    return overlapping(labels.astype(np.int64), labels == absent, classes, own_reference=True)


def _measure(model: PrivacyModel, classes: EquivalenceClasses) -> Promise:
    promise = replace(Promise.of(model), measured=plain(model.measure_worst(classes)))
    if not model.judge(classes).all():
        raise InfeasibleError(
            f"the table does not keep {promise}: measured {promise.figures}. Decoupling does not "
            "change that. Anonymise it first, with sf.anonymize."
        )
    return promise
