"""Measure: what privacy models find in a table as it is."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.classes import EquivalenceClasses, classes_from
from sfumato.counts import FrequencySet, aligned, group
from sfumato.engines import open_table
from sfumato.models import PrivacyModel


def measure(
    data: object,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    models: Sequence[PrivacyModel] = (),
    *,
    population: object = None,
) -> dict[PrivacyModel, dict[str, float]]:
    """Ask models for the strictest parameters a table keeps, without changing anything.

    A missing value counts as a value of its own. The parameters a model was made with
    do not matter, except those that say what to measure (the `l` of recursive
    (c,l)-diversity, a distance).

    Args:
        data: Anything `sfumato.anonymize` takes, or a frequency set.
        quasi_identifiers: The columns whose combinations are the classes.
        sensitive: The columns the models look at; those they name are added.
        models: What to measure.
        population: A table (or frequency set) of everybody the data was drawn from, for
            models that compare with it.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.models import DistinctLDiversity, KAnonymity
        >>> table = pa.table({"age": [31, 31, 47, 47], "ill": ["flu", "gout", "flu", "flu"]})
        >>> models = [KAnonymity(2), DistinctLDiversity("ill", l=2)]
        >>> measure(table, ["age"], ["ill"], models)
        {KAnonymity(k=2): {'k': 2}, DistinctLDiversity(column='ill', l=2): {'l': 1}}
    """
    looked_at = [column for model in models for column in model.columns]
    sensitive = tuple(dict.fromkeys([*sensitive, *looked_at]))
    names = tuple(quasi_identifiers)
    counts = counted(data, (*names, *sensitive))
    people = None if population is None else counted(population, names)
    classes = classes_with(counts, names, sensitive, people)
    return {model: model.measure(classes) for model in models}


def counted(data: object, columns: Sequence[str]) -> FrequencySet:
    """Count the columns of a table; a frequency set is taken as it is."""
    if isinstance(data, FrequencySet):
        return data
    return open_table(data).count(tuple(dict.fromkeys(columns)))


def classes_with(
    counts: FrequencySet,
    quasi_identifiers: tuple[str, ...],
    sensitive: tuple[str, ...] = (),
    population: FrequencySet | None = None,
) -> EquivalenceClasses:
    """Group a table by its quasi-identifiers, and count the people of a population there too.

    People whose class the table does not show are left out.

    >>> table = FrequencySet.from_rows(["age"], [(31,), (31,), (47,)])
    >>> people = FrequencySet.from_rows(["age"], [("31",)] * 9 + [("52",)])
    >>> classes_with(table, ("age",), population=people).population.tolist()
    [9, 0]
    """
    if population is None:
        return classes_from(counts, quasi_identifiers, sensitive)
    counts, population = aligned(counts, population, quasi_identifiers)
    classes = classes_from(counts, quasi_identifiers, sensitive)
    both = [
        np.concatenate([counts.codes_of(name), population.codes_of(name)])
        for name in quasi_identifiers
    ]
    groups = group(both, [len(counts.column(name).values) for name in quasi_identifiers])
    people = np.bincount(
        groups.of_item[len(counts) :], weights=population.rows, minlength=groups.n
    ).astype(np.int64)
    # Groups are in the same order as the classes; those without a row of the table go.
    shown = np.unique(groups.of_item[: len(counts)])
    unseen = int(people.sum() - people[shown].sum())
    return replace(classes, population=people[shown], unseen=unseen)
