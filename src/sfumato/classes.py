"""Equivalence classes: their sizes and the sensitive values inside them."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np

from sfumato.counts import Column, FrequencySet, add_up, align, group, sums
from sfumato.errors import PolicyError, UnknownColumnError
from sfumato.hierarchy.base import Ladder
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

MISSING = -1
"""The code of a missing sensitive value."""

Weights: TypeAlias = IntArray | FloatArray
"""Numbers of rows, or probabilities."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """What models may ask of a sensitive column apart from the counts.

    `values` holds the known values in order; code -1 is missing. `ladder` is the
    column's hierarchy if it has one (for hierarchical distances).
    """

    name: str
    values: tuple[Value, ...]
    ladder: Ladder | None = None
    secrecy: IntArray | None = None
    """How much each value is a secret (see `sfumato.harm.Secrecy`); None if all are ordinary."""

    width: float | None = None
    """How close two numbers, or days, are alike; None if that is not said, 0 if none are."""

    _memo: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def memoize(self, key: Hashable, build: Callable[["SensitiveColumn"], T]) -> T:
        """Compute something about the values once and keep it (category codes, weights)."""
        if key not in self._memo:
            self._memo[key] = build(self)
        result: T = self._memo[key]
        return result


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """The rows that hold each value in each class: one entry per pair that occurs.

    Entries are sorted by class, then value; every class has at least one entry.
    """

    column: SensitiveColumn
    class_id: IntArray
    value: IntArray
    """Code of the value, `MISSING` for none."""

    rows: IntArray
    reference: IntArray
    """Rows of each value in the whole table, missing last: what classes are compared with."""

    @cached_property
    def starts(self) -> IntArray:
        """The position at which each class's entries begin."""
        return np.flatnonzero(np.diff(self.class_id, prepend=-1))

    @cached_property
    def known(self) -> "KnownCounts":
        """The entries without the missing values, and each class's number of known rows."""
        class_id, value, rows = self.class_id, self.value, self.rows
        # Entries are in order of their classes, and none is without any.
        classes = int(class_id[-1]) + 1 if len(class_id) else 0
        keep = value != MISSING
        if not keep.all():
            class_id, value, rows = class_id[keep], value[keep], rows[keep]
        totals = np.bincount(class_id, weights=rows, minlength=classes).astype(np.int64)
        return KnownCounts(class_id, value, rows, totals)


@dataclass(frozen=True, eq=False)
class KnownCounts:
    """Value counts without missing values; a class may have no entry at all.

    Instead of rows, entries may have probabilities: shares of a person's belief, say.

    Example:
        >>> class_id, rows = np.array([0, 0, 0, 1]), np.array([2, 3, 1, 4])
        >>> ill = KnownCounts(class_id, np.array([0, 1, 2, 1]), rows, np.array([6, 4]))
        >>> ill.largest.tolist(), ill.beyond(1).tolist(), np.exp(ill.entropy).round(2).tolist()
        ([3, 4], [3, 0], [2.75, 1.0])
    """

    class_id: IntArray
    value: IntArray
    rows: Weights
    totals: Weights
    """Rows with a known value, per class."""

    def __len__(self) -> int:
        return len(self.totals)

    @cached_property
    def distinct(self) -> IntArray:
        """The number of different known values each class shows."""
        return np.bincount(self.class_id, minlength=len(self.totals))

    @cached_property
    def largest(self) -> Weights:
        """Rows of each class's most frequent known value, 0 if it has none."""
        result: Weights = self.totals * 0
        starts = np.flatnonzero(np.diff(self.class_id, prepend=-1))
        if len(starts):
            result[self.class_id[starts]] = np.maximum.reduceat(self.rows, starts)
        return result

    @cached_property
    def entropy(self) -> FloatArray:
        """The entropy of each class's shares, to base e; -∞ where no value is known."""
        # -Σ c/n log(c/n) = log n - (Σ c log c)/n, one pass over the counts.
        sums = add_up(self.class_id, self.rows * np.log(self.rows), len(self))
        result = np.full(len(self), -np.inf)
        some = self.totals > 0
        totals = self.totals[some]
        # Rounding must not make the entropy of a single value negative.
        result[some] = np.maximum(np.log(totals) - sums[some] / totals, 0.0)
        return result

    def beyond(self, n: int) -> Weights:
        """Rows of each class outside its `n` most frequent known values."""
        first = np.cumsum(self.distinct) - self.distinct
        rank = np.arange(len(self.rows)) - first[self.class_id]
        tail = np.where(rank >= n, self._falling, 0)
        sums = add_up(self.class_id, tail, len(self))
        return sums if self.rows.dtype.kind == "f" else sums.astype(np.int64)

    @cached_property
    def _falling(self) -> Weights:
        """The rows of the entries, class by class, largest first."""
        if self.rows.dtype.kind == "f":
            return self.rows[np.lexsort((-self.rows, self.class_id))]
        # One sort of packed keys orders every class's counts downwards.
        width = int(self.rows.max(initial=0)) + 1
        falling: IntArray = np.sort(self.class_id * width + (width - 1 - self.rows)) % width
        return width - 1 - falling


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """The classes of a table as models see them: counts and nothing else.

    Example:
        >>> classes = classes_of([("A", "flu"), ("A", "gout"), ("B", "flu")], column="disease")
        >>> classes.sizes.tolist(), classes.counts_of("disease").rows.tolist()
        ([2, 1], [1, 1, 1])
    """

    sizes: IntArray
    sensitive: Mapping[str, ValueCounts] = field(default_factory=dict)
    population: IntArray | None = None
    """The people of the population table in each class, if one was given."""

    own: IntArray | None = None
    """Rows published with each class's own values, where classes overlap and `sizes` is more."""

    unseen: int = 0
    """The people of the population in classes that the table does not show at all."""

    suppressed: int = 0
    """Rows that are not shown."""

    scattered: bool = False
    """Whether suppressed rows may also be of people in classes that the table shows."""

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def total(self) -> int:
        """The number of rows."""
        return int(self.rows.sum())

    @property
    def rows(self) -> IntArray:
        """The number of rows each class stands for; its size, unless classes overlap."""
        return self.sizes if self.own is None else self.own

    def counts_of(self, column: str) -> ValueCounts:
        """Return the value counts of a sensitive column, or refuse with the nearest name."""
        if column not in self.sensitive:
            raise UnknownColumnError(column, self.sensitive, where="the sensitive columns")
        return self.sensitive[column]

    def population_sizes(self) -> IntArray:
        """Return the population's class sizes, or refuse if there is no population."""
        if self.population is None:
            raise PolicyError(
                "this model compares the table with a population and none was given. "
                "Name one in the policy: population: people.csv"
            )
        return self.population

    def merge(self, into: IntArray) -> "EquivalenceClasses":
        """Merge classes: class i becomes part of class `into[i]` (numbers without gaps)."""
        n = int(into.max()) + 1 if len(into) else 0

        def add(per_class: IntArray) -> IntArray:
            return sums(into, per_class, n)

        sensitive = {
            name: merge_counts(counts, into[counts.class_id])
            for name, counts in self.sensitive.items()
        }
        population = None if self.population is None else add(self.population)
        own = None if self.own is None else add(self.own)
        return replace(
            self, sizes=add(self.sizes), sensitive=sensitive, population=population, own=own
        )

    def keep(self, keep: np.ndarray, *, own_reference: bool = False) -> "EquivalenceClasses":
        """Remove the classes where `keep` is false: their rows are suppressed, their people unseen.

        With `own_reference` the remaining rows become what classes are compared with.
        """
        number = np.cumsum(keep) - 1
        sensitive = {}
        for name, counts in self.sensitive.items():
            entries = keep[counts.class_id]
            value, rows = counts.value[entries], counts.rows[entries]
            reference = counts.reference
            if own_reference:
                reference = reference_of(value, rows, len(counts.column.values))
            sensitive[name] = ValueCounts(
                counts.column, number[counts.class_id[entries]], value, rows, reference
            )
        population = self.population
        hidden = 0 if population is None else int(population[~keep].sum())
        return EquivalenceClasses(
            self.sizes[keep],
            sensitive,
            None if population is None else population[keep],
            None if self.own is None else self.own[keep],
            self.unseen + hidden,
            self.suppressed + int(self.rows[~keep].sum()),
            self.scattered,
        )


def reference_of(value: IntArray, rows: IntArray, n_values: int) -> IntArray:
    """Count the rows of each value over all classes, the missing ones last.

    >>> reference_of(np.array([0, -1, 0]), np.array([2, 1, 3]), 2).tolist()
    [5, 0, 1]
    """
    code = np.where(value == MISSING, n_values, value)
    return sums(code, rows, n_values + 1)


def merge_counts(counts: ValueCounts, class_id: IntArray) -> ValueCounts:
    """Add up entries that now share class and value."""
    width = len(counts.column.values) + 1
    groups = group([class_id, counts.value + 1], [int(class_id.max(initial=0)) + 1, width])
    rows = sums(groups.of_item, counts.rows, groups.n)
    return ValueCounts(
        counts.column, class_id[groups.first], counts.value[groups.first], rows, counts.reference
    )


def sensitive_column(column: Column, ladder: Ladder | None = None) -> SensitiveColumn:
    """Describe a counted column to the models."""
    return SensitiveColumn(column.name, column.known, ladder)


def classes_from(
    counts: FrequencySet,
    quasi_identifiers: tuple[str, ...],
    sensitive: Mapping[str, SensitiveColumn] | tuple[str, ...] = (),
) -> EquivalenceClasses:
    """Group a frequency set by its quasi-identifiers as they are, without generalising.

    >>> f = FrequencySet.from_rows(["sex", "ill"], [("f", "flu"), ("f", None), ("m", "flu")])
    >>> classes_from(f, ("sex",), ("ill",)).counts_of("ill").value.tolist()
    [-1, 0, 0]
    """
    positions = [counts.index(name) for name in quasi_identifiers]
    sizes = [len(counts.columns[p].values) for p in positions]
    groups = group([counts.codes[p] for p in positions], sizes, n=len(counts))
    class_sizes = np.bincount(groups.of_item, weights=counts.rows, minlength=groups.n)
    described = (
        sensitive
        if isinstance(sensitive, Mapping)
        else {name: sensitive_column(counts.column(name)) for name in sensitive}
    )
    tables = {}
    for name, column in described.items():
        value = sensitive_codes(counts, name)
        reference = reference_of(value, counts.rows, len(column.values))
        raw = ValueCounts(column, groups.of_item, value, counts.rows, reference)
        tables[name] = merge_counts(raw, groups.of_item)
    return EquivalenceClasses(class_sizes.astype(np.int64), tables)


def sensitive_codes(counts: FrequencySet, name: str) -> IntArray:
    """Return a column's codes with missing as `MISSING`."""
    column = counts.column(name)
    codes = counts.codes_of(name).astype(np.int64)
    if column.missing >= 0:
        codes[codes == column.missing] = MISSING
    return codes


# Classes when a missing value matches every value: they overlap.
#
# Two published tuples are compatible when they agree wherever both are known. Who looks for a
# person finds all rows compatible with what they know, so each tuple is judged on the rows of all
# tuples compatible with it, its own among them.


def overlapping(
    codes: IntArray,
    missing: BoolArray,
    classes: EquivalenceClasses,
    *,
    own_reference: bool,
) -> EquivalenceClasses:
    """Widen each class by the rows of all classes it is compatible with.

    The cost is the number of classes times the number of different patterns of missing
    cells, never the square of the classes.

    Args:
        codes: The published label of each class: one row per quasi-identifier.
        missing: Where that label is a missing value.
        classes: The classes as they stand, without overlap.
        own_reference: Whether these rows are what classes are compared with.

    Example:
        >>> classes = EquivalenceClasses(np.array([3, 1]))
        >>> codes, missing = np.array([[0, 1]]), np.array([[False, True]])
        >>> overlapping(codes, missing, classes, own_reference=True).sizes.tolist()
        [4, 4]
    """
    if not len(classes):
        return classes
    patterns, of_class = np.unique(missing, axis=1, return_inverse=True)
    of_class = of_class.ravel()
    members = [np.flatnonzero(of_class == p) for p in range(patterns.shape[1])]
    sizes = np.zeros(len(classes), dtype=np.int64)
    population = None if classes.population is None else np.zeros(len(classes), dtype=np.int64)
    found: dict[str, list[tuple[IntArray, IntArray, IntArray]]] = {
        name: [] for name in classes.sensitive
    }
    for p, mine in enumerate(members):
        for q, theirs in enumerate(members):
            shared = np.flatnonzero(~patterns[:, p] & ~patterns[:, q])
            my_group, their_group, n = _common_groups(codes, shared, mine, theirs)
            sizes[mine] += sums(their_group, classes.sizes[theirs], n)[my_group]
            if population is not None and classes.population is not None:
                people = sums(their_group, classes.population[theirs], n)
                population[mine] += people[my_group]
            of_their = np.full(len(classes), -1, dtype=np.int64)
            of_their[theirs] = their_group
            for name, counts in classes.sensitive.items():
                found[name].append(_spread(counts, of_their, mine, my_group, n))
    sensitive = _collect(found, classes.sensitive, own_reference=own_reference)
    return replace(
        classes, sizes=sizes, sensitive=sensitive, population=population, own=classes.sizes
    )


def _common_groups(
    codes: IntArray, shared: IntArray, mine: IntArray, theirs: IntArray
) -> tuple[IntArray, IntArray, int]:
    """Number two sets of classes by what they have on the shared attributes."""
    both = np.concatenate([mine, theirs])
    columns = [codes[a][both] for a in shared]
    widths = [int(column.max(initial=0)) + 1 for column in columns]
    groups = group(columns, widths, n=len(both))
    return groups.of_item[: len(mine)], groups.of_item[len(mine) :], groups.n


def _spread(
    counts: ValueCounts, of_their: IntArray, mine: IntArray, my_group: IntArray, n: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return every class of mine the value counts of its group of theirs."""
    at = of_their[counts.class_id]
    entries = np.flatnonzero(at >= 0)
    entries = entries[np.argsort(at[entries], kind="stable")]
    per_group = np.bincount(at[entries], minlength=n)
    starts = np.cumsum(per_group) - per_group
    repeats = per_group[my_group]
    class_id = np.repeat(mine, repeats)
    offset = np.arange(len(class_id)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    chosen = entries[np.repeat(starts[my_group], repeats) + offset]
    return class_id, counts.value[chosen], counts.rows[chosen]


def _collect(
    found: Mapping[str, list[tuple[IntArray, IntArray, IntArray]]],
    originals: Mapping[str, ValueCounts],
    *,
    own_reference: bool,
) -> dict[str, ValueCounts]:
    sensitive = {}
    for name, parts in found.items():
        old = originals[name]
        class_id, value, rows = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        reference = old.reference
        if own_reference:
            reference = reference_of(old.value, old.rows, len(old.column.values))
        raw = ValueCounts(old.column, class_id, value, rows, reference)
        sensitive[name] = merge_counts(raw, class_id)
    return sensitive


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
    counts, population = align(counts, population, quasi_identifiers)
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
