"""The ingredients of a decision: ladders, promises, the loss and the limit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.classes import EquivalenceClasses, SensitiveColumn, classes_from, sensitive_column
from sfumato.counts import Column, FrequencySet, align
from sfumato.errors import InfeasibleError, PolicyError
from sfumato.hierarchy import Ladder, Suppress
from sfumato.lattice import Lattice
from sfumato.losses import Attribute
from sfumato.models import PrivacyModel
from sfumato.models.base import TableModel, figures, promise_text
from sfumato.partition import Problem
from sfumato.policy import Missing, Policy
from sfumato.recoding import Recoding
from sfumato.search import Checker, Grouping
from sfumato.typing import IntArray


def counted_columns(policy: Policy) -> tuple[str, ...]:
    """Return the columns a decision needs: the quasi-identifiers and what models look at."""
    looked_at = dict.fromkeys(column for model in policy.models for column in model.columns)
    return (*policy.quasi_identifiers, *looked_at)


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """A counted table made ready for a decision: what is undecided, and how much may be lost."""

    counts: FrequencySet
    """The rows to decide on."""

    items: IntArray
    """Where its combinations are in the counts that were given."""

    limit: int
    """Most of these rows that may be suppressed."""

    attributes: tuple[Attribute, ...]
    sensitive: Mapping[str, SensitiveColumn]
    population: FrequencySet | None = None

    @property
    def ladders(self) -> list[Ladder]:
        """The hierarchies of the quasi-identifiers."""
        return [attribute.ladder for attribute in self.attributes]


def prepare(
    policy: Policy, counts: FrequencySet, population: FrequencySet | None = None
) -> PreparedTable:
    """Drop what the policy suppresses anyway, build the hierarchies, describe the columns."""
    names = policy.quasi_identifiers
    limit = policy.suppression.most_rows(counts.total)
    items = np.arange(len(counts))
    if policy.missing is Missing.SUPPRESS:
        whole = counts
        counts, items = without_missing(whole, names)
        lacking = whole.total - counts.total
        if lacking > limit:
            raise InfeasibleError(
                f"{lacking} of {whole.total} rows miss a quasi-identifier and the "
                f"policy suppresses such rows (missing: suppress), but at most {limit} rows may be "
                "suppressed. Raise the suppression limit, or choose missing: own-value."
            )
        limit -= lacking
    sensitive = {
        name: sensitive_column(counts.column(name), _distance_ladder(policy, counts.column(name)))
        for model in policy.models
        for name in model.columns
    }
    if population is not None:
        counts, population = align(counts, population, names)
    frequencies = {name: counts.value_counts(name) for name in names}
    attributes = tuple(
        Attribute(
            ladder_of(policy, counts, name, frequency), frequency, policy.columns[name].weight
        )
        for name, frequency in frequencies.items()
    )
    return PreparedTable(counts, items, limit, attributes, sensitive, population)


def make_checker(
    policy: Policy,
    counts: FrequencySet,
    population: FrequencySet | None = None,
    *,
    own_reference: bool = True,
) -> Checker:
    """Build the checker of a policy for a counted table.

    Args:
        policy: What must hold.
        counts: The table over `counted_columns`.
        population: The population over the quasi-identifiers, if the policy names one.
        own_reference: See `Checker`.
    """
    return checker_of(policy, prepare(policy, counts, population), own_reference=own_reference)


def checker_of(policy: Policy, ready: PreparedTable, *, own_reference: bool = True) -> Checker:
    """Build the checker of a policy for a table that is ready."""
    return Checker(
        Grouping(ready.counts, ready.ladders, ready.sensitive, ready.population),
        lattice_of(policy, ready.ladders),
        policy.models,
        policy.loss.over(ready.attributes, ready.counts.total),
        attributes=ready.attributes,
        limit=ready.limit,
        own_reference=own_reference,
        matches_any=policy.missing is Missing.MATCHES_ANY,
    )


def make_problem(policy: Policy, ready: PreparedTable) -> Problem:
    """Build what a partitioner needs."""
    lattice = lattice_of(policy, ready.ladders)
    rules = [policy.columns[ladder.column] for ladder in ready.ladders]
    return Problem(
        ready.counts,
        ready.attributes,
        lattice.lowest,
        lattice.highest,
        policy.models,
        ready.sensitive,
        # A column whose levels are limited is meant to be published at those levels.
        free=tuple(rule.hierarchy is None and rule.levels is None for rule in rules),
        limit=ready.limit,
        matches_any=policy.missing is Missing.MATCHES_ANY,
    )


def without_missing(counts: FrequencySet, names: tuple[str, ...]) -> tuple[FrequencySet, IntArray]:
    """Return counts without rows that miss a quasi-identifier, and which combinations stay."""
    lacking = np.zeros(len(counts), dtype=bool)
    columns = list(counts.columns)
    for name in names:
        position = counts.index(name)
        missing = columns[position].missing
        if missing >= 0:
            lacking |= counts.codes[position] == missing
            # Missing is the last code of a dictionary, so the others stay what they are.
            columns[position] = Column(name, columns[position].known)
    left = counts.without(lacking)
    return replace(left, columns=tuple(columns)), np.flatnonzero(~lacking)


def ladder_of(
    policy: Policy, counts: FrequencySet, name: str, frequency: IntArray | None = None
) -> Ladder:
    """Build a quasi-identifier's hierarchy for the values it has; give their counts if known."""
    builder = policy.columns[name].hierarchy or Suppress()
    rows = counts.value_counts(name) if frequency is None else frequency
    return builder.ladder(name, counts.column(name).values, rows.tolist())


def _distance_ladder(policy: Policy, column: Column) -> Ladder | None:
    builder = policy.columns[column.name].hierarchy
    if builder is None or not column.known:
        return None
    return builder.build(column.name, column.known).bind(column.name, column.known)


def lattice_of(policy: Policy, ladders: list[Ladder]) -> Lattice:
    """Return the nodes a policy allows."""
    lowest, highest = [], []
    for ladder in ladders:
        low, high = policy.columns[ladder.column].levels or (0, ladder.height)
        if ladder.values in ((), (None,)):
            # Nothing is known in the column, so it is published as it is or as *.
            low, high = min(low, ladder.height), min(high, ladder.height)
        if high > ladder.height:
            raise PolicyError(
                f"columns.{ladder.column}.levels: the highest level allowed is {high}, the "
                f"hierarchy ends at level {ladder.height}. Give a level between 0 and that."
            )
        lowest.append(low)
        highest.append(high)
    return Lattice(tuple(lowest), tuple(highest))


# What was decided: how to recode, and what is known of the release before it is written.


@dataclass(frozen=True, eq=False)
class Decision:
    """A recoding that keeps the promises, and everything a manifest says about it."""

    recoding: Recoding
    left: EquivalenceClasses
    """The published classes, as the models judge them."""

    sizes: IntArray
    """How many rows each published class has of its own."""

    suppressed: int
    """Rows that are not published, whatever the reason."""

    columns: Mapping[str, Mapping[str, Any]]
    """What to say of each quasi-identifier: how far it was generalised."""

    losses: Mapping[str, float]
    method: Mapping[str, Any]
    sensitive: Mapping[str, SensitiveColumn]
    search: Mapping[str, Any] | None = None
    """What the search did, if the method is one."""


# Refusing what no release of a table can keep, before any work is done.


def refuse_impossible(
    models: Sequence[PrivacyModel],
    counts: FrequencySet,
    sensitive: Mapping[str, SensitiveColumn],
    limit: int,
    *,
    matches_any: bool = True,
) -> None:
    """Raise if models break even if all rows are one class, where that proves something.

    A model that no merging undoes is then broken by every class of every release, and the
    mean risk of a table is lowest there. A model that merged classes keep if their parts do
    is broken by some class of every release that suppresses nothing, unless classes overlap:
    then they are no parts of the whole.

    Args:
        models: What must hold.
        counts: The rows to decide on.
        sensitive: The columns that models look at.
        limit: Most rows that may be suppressed.
        matches_any: Whether missing quasi-identifiers match any, or may: classes overlap.

    >>> from sfumato.models import KAnonymity
    >>> refuse_impossible([KAnonymity(3)], FrequencySet.from_rows(["sex"], [("f",)] * 2), {}, 0)
    Traceback (most recent call last):
    sfumato.errors.InfeasibleError: no release can keep k-anonymity with k=3: even if all 2 rows
    were one class, it would have k=2. Ask for less.
    """
    if limit >= counts.total:
        return
    one: EquivalenceClasses = classes_from(counts, (), sensitive)
    overlap = matches_any and any(c.missing >= 0 for c in counts.columns if c.name not in sensitive)
    for model in models:
        if model.needs_population:
            continue
        part = model if isinstance(model, TableModel) else model.absorbing_part
        never = part is not None and not part.passes(one).all()
        in_parts = limit == 0 and model.merging.closed and not overlap
        if never or (in_parts and not model.passes(one).all()):
            shown = promise_text({"model": model.name, **model.params()})
            measured = {k: _plain(v) for k, v in model.measure(one).items()}
            raise InfeasibleError(
                f"no release can keep {shown}: even if all {counts.total} rows were one class, it "
                f"would have {figures(measured)}. Ask for less."
            )


def _plain(value: float) -> float:
    return value.item() if isinstance(value, np.generic) else value


# The hierarchies a release was made with, for those who read its labels.


def ladders_of(
    policy: Policy | None, counts: FrequencySet, quasi_identifiers: Sequence[str]
) -> dict[str, Ladder]:
    """Build the hierarchies as they were built for the release.

    Args:
        policy: The policy it was made with.
        counts: The original table.
        quasi_identifiers: The columns that others may know.

    Example:
        >>> counts = FrequencySet.from_rows(["age"], [(31,), (38,)])
        >>> rule = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5]}}
        >>> policy = Policy(columns={"age": rule}, models=[{"model": "k-anonymity", "k": 2}])
        >>> ladders_of(policy, counts, ["age"])["age"].labels[1]
        ('30-34', '35-39')
    """
    if policy is None:
        return {}
    if policy.missing is Missing.SUPPRESS:
        counts, _ = without_missing(counts, tuple(quasi_identifiers))
    return {
        name: ladder_of(policy, counts, name)
        for name in quasi_identifiers
        if name in policy.columns and policy.columns[name].hierarchy is not None
    }
