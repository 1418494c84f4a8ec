"""What a table that is taken as it is keeps: its models, measured on its own classes."""

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
from sfumato.errors import InfeasibleError
from sfumato.hierarchy import Hierarchy, Ladder
from sfumato.models import PrivacyModel
from sfumato.policy import Missing
from sfumato.releases.manifest import Promise, paths_of, plain
from sfumato.releases.opening import Subject


class Kept(NamedTuple):
    """Models that hold, written as manifests do."""

    models: tuple[Promise, ...]
    hierarchies: dict[str, dict[str, list[str]]]
    """Per sensitive column, the labels of each value, where a model measures distances."""

    dropped: tuple[str, ...]
    """Models that were promised and cannot be recomputed from such tables."""


def models_kept(counts: FrequencySet, subject: Subject, missing: str) -> Kept:
    """Measure what was promised of a table; if nothing was, promise the smallest class."""
    promised, dropped = _models(subject)
    columns = {
        name: sensitive_column(counts.column(name), _ladder(subject, counts.column(name), promised))
        for name in subject.sensitive
    }
    classes = _classes(counts, subject.quasi_identifiers, columns, missing)
    written = [_measured(model, classes) for model in promised]
    if not written:
        k = int(classes.sizes.min())
        written = [Promise("k-anonymity", {"k": k}, {"k": k})]
    ladders = {name: column.ladder for name, column in columns.items() if column.ladder is not None}
    hierarchies = {name: paths_of(ladder) for name, ladder in ladders.items()}
    return Kept(tuple(written), hierarchies, dropped)


def models_anew(subject: Subject, models: Sequence[Mapping[str, Any]]) -> Kept:
    """Take what the parts say that they keep; what the table promised besides is no more."""
    promises = tuple(map(Promise.from_dict, models))
    new, before = set(map(str, promises)), [str(Promise.of(model)) for model in _all(subject)]
    return Kept(promises, {}, tuple(promise for promise in before if promise not in new))


def _all(subject: Subject) -> list[PrivacyModel]:
    if subject.manifest is not None:
        return [promise.read() for promise in subject.manifest.models]
    return list(subject.policy.models) if subject.policy is not None else []


def _models(subject: Subject) -> tuple[list[PrivacyModel], tuple[str, ...]]:
    """Give the models that still mean something, and the names of the others."""
    given = _all(subject)
    good = [
        model
        for model in given
        if not model.needs_population and set(model.columns) <= set(subject.sensitive)
    ]
    return good, tuple(str(Promise.of(model)) for model in given if model not in good)


def _ladder(subject: Subject, column: Column, models: Sequence[PrivacyModel]) -> Ladder | None:
    """Build the hierarchy of a sensitive column, if a model measures distances in it."""
    name = column.name
    needed = any(model.needs_hierarchy and name in model.columns for model in models)
    if not needed or not column.known:
        return None
    if subject.manifest is not None:
        paths = subject.manifest.hierarchies.get(name, {})
        hierarchy = Hierarchy.from_paths(list(paths), list(paths.values()))
        return hierarchy.bind(name, column.known)
    builder = subject.policy.columns[name].hierarchy if subject.policy is not None else None
    return builder.build(name, column.known).bind(name, column.known) if builder else None


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


def _measured(model: PrivacyModel, classes: EquivalenceClasses) -> Promise:
    promise = replace(Promise.of(model), measured=plain(model.measure(classes)))
    if not model.passes(classes).all():
        raise InfeasibleError(
            f"the table does not keep {promise}: measured {promise.figures}. Decoupling does not "
            "change that. Anonymise it first, with sf.anonymize."
        )
    return promise
