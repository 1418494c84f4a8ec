"""Earth mover's distances between each class and the whole table.

Each function gives, for every class, the least work that turns the class's shares of
the sensitive values into the table's, when moving a share from one value to another
costs their ground distance (0 to 1). All have closed forms, so nothing is optimised
here; the tests solve the transport problem itself. A missing value is a value of its
own: one more for `equal`, last for `ordered`, a branch below the root for
`hierarchical`, a branch at the middle for `category`. Only values that occur count, and all
categories.

Reference: "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", 2007,
doi:10.1109/ICDE.2007.367856
"""

from collections.abc import Iterator

import numpy as np

from sfumato.classes import SensitiveColumn, ValueCounts
from sfumato.counts import add_up
from sfumato.dataclasses import dataclass
from sfumato.errors import PolicyError
from sfumato.hierarchy.base import Ladder
from sfumato.typing import FloatArray, IntArray


def equal_distance(counts: ValueCounts, sizes: IntArray) -> FloatArray:
    """Measure where any two values are at distance 1: half the sum of the differences.

    What a class has too much of must move, and only values it shows can be too much.
    """
    table = counts.reference / max(int(counts.reference.sum()), 1)
    # `reference` has missing last, so code -1 finds it there.
    return _surplus(counts.class_id, counts.rows, table[counts.value], sizes)


def shares_above(counts: ValueCounts, sizes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the share of the values that each class has too much of, in it and in the table."""
    table = (counts.reference / max(int(counts.reference.sum()), 1))[counts.value]
    mine = counts.rows / sizes[counts.class_id]
    over = mine > table
    of_class, n = counts.class_id[over], len(sizes)
    return add_up(of_class, mine[over], n), add_up(of_class, table[over], n)


def ordered_distance(counts: ValueCounts, sizes: IntArray) -> FloatArray:
    """Measure where values stand in a row at equal steps, the ends at distance 1.

    The work is the sum of the differences of the cumulated shares, over the steps. A
    class's cumulated share is constant between the values it shows, and the table's
    only rises, so the sum over such a stretch needs no more than where they cross.
    """
    seen = counts.reference > 0
    seen[counts.value] = True
    steps = int(seen.sum()) - 1
    if steps < 1:
        return np.zeros(len(sizes))
    on_row = seen[:-1]  # missing is last, where both shares have cumulated to 1
    position = np.cumsum(on_row) - 1
    n = int(on_row.sum())
    table = np.cumsum(counts.reference[:-1][on_row]) / int(counts.reference.sum())
    prefix = np.concatenate(([0.0], np.cumsum(table)))

    known = counts.known
    first = np.flatnonzero(np.diff(known.class_id, prepend=-1))
    start = position[known.value]
    end = np.full(len(start), n)
    end[:-1] = start[1:]
    end[np.append(first, len(start))[1:] - 1] = n
    running = np.cumsum(known.rows)
    before = np.zeros(len(sizes), dtype=np.int64)
    before[known.class_id[first]] = running[first] - known.rows[first]
    share = (running - before[known.class_id]) / sizes[known.class_id]

    cross = np.clip(np.searchsorted(table, share), start, end)
    work = share * (2 * cross - start - end) - 2 * prefix[cross] + prefix[start] + prefix[end]
    lead = np.full(len(sizes), n)
    lead[known.class_id[first]] = start[first]
    total = np.bincount(known.class_id, weights=work, minlength=len(sizes)) + prefix[lead]
    distance: FloatArray = np.maximum(total / steps, 0.0)
    return distance


def hierarchical_distance(counts: ValueCounts, sizes: IntArray) -> FloatArray:
    """Measure where two values are as far apart as the level where they meet, over the height.

    Li et al. add up, for each inner node, level/height × min(excess out, excess in).
    That minimum is half of what the children's excesses sum to without sign, less the
    node's own; over all levels the sum telescopes, and what remains is the mean of the
    `equal` distances at every level below the top.
    """
    tree = counts.column.memoize("tree", _LabelTree.of)
    total = np.zeros(len(sizes))
    if tree.suits(counts, sizes):
        mine, table = tree.shares(counts, sizes)
        mine -= table[:, None]
        np.maximum(mine, 0.0, out=mine)
        # One label after the other, as below, so that both come to the same.
        for first, last in zip(tree.starts, tree.starts[1:], strict=False):
            total += mine[first:last].sum(axis=0)
    else:
        for share, table, of_class in tree.entries(counts, sizes):
            total += add_up(of_class, np.maximum(share - table, 0.0), len(sizes))
    return total / len(tree.labels)


def hierarchical_shares_above(
    counts: ValueCounts, sizes: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the share of the labels that each class has too much of, as `shares_above` does.

    It is the mean over all levels below the top, in the class and in the table.
    """
    tree = counts.column.memoize("tree", _LabelTree.of)
    n, levels = len(sizes), len(tree.labels)
    if tree.suits(counts, sizes):
        mine, table = tree.shares(counts, sizes)
        over = mine > table[:, None]
        mine *= over
        return mine.sum(axis=0) / levels, (table @ over) / levels
    above, beside = np.zeros(n), np.zeros(n)
    for share, table, of_class in tree.entries(counts, sizes):
        over = share > table
        above += add_up(of_class[over], share[over], n)
        beside += add_up(of_class[over], table[over], n)
    return above / levels, beside / levels


_SPARSE = 4
"""With more values and classes than this for each entry, only what classes show is looked at."""

_MOST_CELLS = 4096
"""Values times classes that are always looked at together."""

_MOST_VALUES = 256
"""Of more values than this, too."""


@dataclass(frozen=True, eq=False)
class _LabelTree:
    """The labels of a column's values at every level below the top."""

    labels: IntArray
    """The label of each value, a row per level; the missing value is last, a branch of its own."""

    order: IntArray
    """The place of each value in the tree: values under one label stand together."""

    starts: tuple[int, ...]
    """The first row of each level in `joins`, and the end."""

    joins: FloatArray
    """A row for each label of each level, which says what stands under it, in the tree's order;
    none of more values than are looked at together."""

    @classmethod
    def of(cls, column: SensitiveColumn) -> "_LabelTree":
        labels = _labels(require_ladder(column), column)
        order = np.empty(labels.shape[1], dtype=np.int64)
        in_order = np.lexsort(labels)
        order[in_order] = np.arange(len(order))
        if len(order) > _MOST_VALUES:
            return cls(labels, order, (), np.zeros((0, len(order))))
        groups = [np.cumsum(np.diff(level[in_order], prepend=-1) != 0) - 1 for level in labels]
        joins = [np.arange(group[-1] + 1)[:, None] == group for group in groups]
        starts = np.cumsum([0, *map(len, joins)]).tolist()
        return cls(labels, order, tuple(starts), np.concatenate(joins).astype(np.float64))

    def suits(self, counts: ValueCounts, sizes: IntArray) -> bool:
        """Return whether a table of all values and classes is not much larger than the counts."""
        most = _SPARSE * len(counts.class_id) + _MOST_CELLS
        return bool(self.starts) and len(self.order) * len(sizes) <= most

    def shares(self, counts: ValueCounts, sizes: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the share of each label in each class, and in the table."""
        key = self.order[counts.value]
        key *= len(sizes)
        key += counts.class_id
        rows = add_up(key, counts.rows, len(self.order) * len(sizes))
        mine: FloatArray = self.joins @ rows.reshape(len(self.order), len(sizes))
        # Where people are counted, some class may have no value: nothing is too much there.
        mine /= np.maximum(sizes, 1)
        reference = np.empty(len(self.order))
        reference[self.order] = counts.reference
        return mine, (self.joins @ reference) / max(int(counts.reference.sum()), 1)

    def entries(
        self, counts: ValueCounts, sizes: IntArray
    ) -> Iterator[tuple[FloatArray, FloatArray, IntArray]]:
        """Yield for each level the shares of the labels that classes show, and those classes."""
        # Sorted once: then what is under one label is together at every level.
        arranged = np.argsort(
            counts.class_id * len(self.order) + self.order[counts.value], kind="stable"
        )
        class_id, rows = counts.class_id[arranged], counts.rows[arranged]
        value = counts.value[arranged]
        new_class = np.diff(class_id, prepend=-1) != 0
        for level in self.labels if len(rows) else ():
            label = level[value]
            starts = np.flatnonzero(new_class | (np.diff(label, prepend=-1) != 0))
            table = np.bincount(level, weights=counts.reference) / int(counts.reference.sum())
            of_class = class_id[starts]
            yield np.add.reduceat(rows, starts) / sizes[of_class], table[label[starts]], of_class


_CELLS = 1 << 22
"""How many cumulated shares are computed at once."""


def category_distance(
    counts: ValueCounts, sizes: IntArray, category: IntArray, n: int
) -> FloatArray:
    """Measure where values of the i-th and the j-th of n categories are |i - j|/(n - 1) apart.

    Categories stand in a row as values do for `ordered`. A missing value hangs on the middle of
    the row, half its length away: 1 from either end, and nothing is farther. In steps of half
    a category, the work is the sum of the differences of the cumulated shares, where what is
    missing has been moved to the middle.

    Args:
        counts: The values of the classes.
        sizes: The rows of each class.
        category: The category of each value, the first being 0.
        n: How many categories there are; 2 or more.
    """
    # `reference` has missing last, so code -1 finds it there.
    place = np.append(2 * category, n - 1)
    width = 2 * n - 1
    total = max(int(counts.reference.sum()), 1)
    table = np.cumsum(np.bincount(place, weights=counts.reference, minlength=width)) / total
    lacking = np.zeros(len(sizes))
    none = counts.value < 0
    lacking[counts.class_id[none]] = counts.rows[none]
    work = 0.5 * np.abs(lacking / sizes - counts.reference[-1] / total)
    at = place[counts.value]
    for start in range(0, len(sizes), max(_CELLS // width, 1)):
        part = sizes[start : start + max(_CELLS // width, 1)]
        first, last = np.searchsorted(counts.class_id, [start, start + len(part)])
        key = (counts.class_id[first:last] - start) * width + at[first:last]
        rows = np.bincount(key, weights=counts.rows[first:last], minlength=len(part) * width)
        shares = np.cumsum(rows.reshape(-1, width), axis=1) / part[:, None]
        moved = np.abs(shares - table).sum(axis=1)
        work[start : start + len(part)] += moved / (width - 1)
    distance: FloatArray = work
    return distance


def _surplus(
    class_id: IntArray, rows: IntArray, table_share: FloatArray, sizes: IntArray
) -> FloatArray:
    excess = np.maximum(rows / sizes[class_id] - table_share, 0.0)
    surplus: FloatArray = np.bincount(class_id, weights=excess, minlength=len(sizes)).astype(float)
    return surplus


def _labels(ladder: Ladder, column: SensitiveColumn) -> IntArray:
    position = {value: i for i, value in enumerate(ladder.values)}
    known = [position[value] for value in column.values]
    # A hierarchy of a single value may have no level above it; a missing value still differs.
    codes = ladder.codes[: max(ladder.height, 1), known].astype(np.int64)
    missing = codes.max(axis=1, initial=-1, keepdims=True) + 1
    return np.concatenate((codes, missing), axis=1)


def require_ladder(column: SensitiveColumn) -> Ladder:
    """Return the column's hierarchy, or raise an error if it has none."""
    if column.ladder is None:
        raise PolicyError(
            f"t-closeness with the hierarchical distance needs a hierarchy of {column.name!r} "
            'and it has none. Give it one, or choose distance "equal", "ordered" or "category".'
        )
    return column.ladder
