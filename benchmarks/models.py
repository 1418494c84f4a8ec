"""Judging twenty thousand classes with every registered model."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.bench import Bench
from benchmarks.measure import cpu
from benchmarks.results import Figure
from sfumato.classes import (
    EquivalenceClasses,
    SensitiveColumn,
    ValueCounts,
    classes_from,
    sensitive_column,
)
from sfumato.counts import Column, FrequencySet
from sfumato.hierarchy import Taxonomy
from sfumato.models import MODELS, PrivacyModel

_DISEASES = {"virus": ["flu", "hiv"], "other": ["gout", "cancer"]}


def classes(n: int = 20_000, *, seed: int = 1) -> EquivalenceClasses:
    """Make classes of all sizes, their diseases, and a population around them."""
    rng = np.random.default_rng(seed)
    values = tuple(sorted(value for group in _DISEASES.values() for value in group))
    rows = rng.geometric(0.2, size=(n, len(values))) * (rng.random((n, len(values))) < 0.6)
    rows[:, 0] += 1
    label, value = np.nonzero(rows)
    counts = FrequencySet(
        (Column("label", tuple(range(n))), Column("disease", values)),
        np.array([label, value], dtype=np.int32),
        rows[label, value].astype(np.int64),
    )
    tree = Taxonomy(_DISEASES).build("disease", values).bind("disease", values)
    column = sensitive_column(counts.column("disease"), tree)
    found = classes_from(counts, ("label",), {"disease": column})
    return replace(found, population=found.sizes * rng.integers(1, 9, len(found)))


def fresh(given: EquivalenceClasses) -> EquivalenceClasses:
    """Forget what an earlier model worked out, as for a node seen the first time."""
    sensitive: dict[str, ValueCounts] = {k: replace(v) for k, v in given.sensitive.items()}
    return replace(given, sensitive=sensitive)


def numbered(given: EquivalenceClasses) -> EquivalenceClasses:
    """Put numbers in the place of diseases, for models that need them."""
    counts = given.counts_of("disease")
    column = SensitiveColumn("disease", tuple(range(len(counts.column.values))))
    return replace(given, sensitive={"disease": replace(counts, column=column)})


def _judge(model: PrivacyModel, many: EquivalenceClasses) -> None:
    model.passes(fresh(many))


def run(bench: Bench) -> Iterator[Figure]:
    many = classes()
    yield Figure("classes", len(many))
    yield Figure("rows", many.total)
    counted = numbered(many)
    for name, kind in MODELS.items():
        model = kind.example()
        given = counted if model.needs_numbers else many
        timing = cpu(partial(_judge, model, given), repeats=5 * bench.repeats)
        yield Figure.of(name, timing, "CPU µs")
