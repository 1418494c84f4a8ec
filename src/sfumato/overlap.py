"""Classes when a missing value matches every value: they overlap.

Two published tuples are compatible when they agree wherever both are known. Whoever
looks for a person finds all rows compatible with what they know, so each tuple is
judged on the rows of all tuples compatible with it, its own among them.
"""

from collections.abc import Mapping

import numpy as np

from sfumato.classes import EquivalenceClasses, ValueCounts, merge_counts, reference_of
from sfumato.counts import group, sums
from sfumato.typing import BoolArray, IntArray


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
    return EquivalenceClasses(sizes, sensitive, population, classes.sizes, classes.unseen)


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
    """Give every class of mine the value counts of its group of theirs."""
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
