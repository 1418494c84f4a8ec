"""Sets of items: the labels by which columns of several values per row keep k^m-anonymity.

Whether some labels can be published together does not depend on the others: each set of up to m
labels that a row has must be in at least k rows of its class. So labels are chosen as members of
a club are: one after the other, each held against those that are in. A label stands for a whole
subtree of the hierarchy, no label is above another, and what no label stands for is left out.
"""

import heapq
from collections.abc import Mapping, Sequence
from math import comb
from typing import NamedTuple, Self

import numpy as np

from sfumato.counts.baskets import Baskets, least_support, shares_enough, spread
from sfumato.dataclasses import dataclass
from sfumato.errors import InfeasibleError
from sfumato.hierarchy import HierarchyBuilder, Suppress
from sfumato.text import format_integer, text_of
from sfumato.typing import FloatArray, IntArray

LEFT_OUT = -1
"""The label of an item that is not published."""


@dataclass(frozen=True, eq=False)
class ItemTree:
    """The hierarchies of some columns' items as one tree; a top is no label and is not in it.

    Items are numbered so that those of each label come one after the other.

    Example:
        >>> from sfumato.hierarchy import Taxonomy
        >>> tree = {"hot": ["tea", "soup"], "cold": ["ice"]}
        >>> items = ItemTree.of({"meal": (["ice", "soup", "tea"], Taxonomy(tree))})
        >>> items.names, items.labels, items.item_of.tolist()
        (('ice', 'soup', 'tea'), ('hot', 'soup', 'tea', 'ice'), [2, 0, 1])
    """

    names: tuple[str, ...]
    """The items as they were given, one column after the other."""

    item_of: IntArray
    """The number of each of them."""

    columns: tuple[str, ...]
    """The columns that the items are of."""

    column: IntArray
    """The column of each label."""

    labels: tuple[str, ...]
    low: IntArray
    """The first item of each label."""

    high: IntArray
    """The item after its last one."""

    loss: FloatArray
    """The share of a column's items that each label stands for, besides one: 0 to 1."""

    below: tuple[tuple[int, ...], ...]
    """The labels directly below each label."""

    tops: tuple[int, ...]
    """The labels that have none above them."""

    @classmethod
    def of(
        cls,
        columns: Mapping[str, tuple[Sequence[str], HierarchyBuilder | None]],
        counts: Mapping[str, Sequence[int]] | None = None,
    ) -> Self:
        """Build the tree of some columns, each with its items and its hierarchy."""
        made = _TreeBuilder()
        names: list[str] = []
        item_of: list[IntArray] = []
        for column, (items, builder) in columns.items():
            rows = None if counts is None else counts[column]
            item_of.append(made.add(column, items, builder or Suppress(), rows))
            names += items
        return cls(
            tuple(names),
            np.concatenate(item_of) if item_of else np.empty(0, dtype=np.int64),
            tuple(columns),
            np.array(made.column, dtype=np.int64),
            tuple(made.labels),
            np.array(made.low, dtype=np.int64),
            np.array(made.high, dtype=np.int64),
            np.array(made.loss, dtype=np.float64),
            tuple(map(tuple, made.below)),
            tuple(made.tops),
        )


class _TreeBuilder:
    """Collects the labels of one column after the other."""

    def __init__(self) -> None:
        self.column: list[int] = []
        self.labels: list[str] = []
        self.low: list[int] = []
        self.high: list[int] = []
        self.loss: list[float] = []
        self.below: list[list[int]] = []
        self.tops: list[int] = []
        self._items = 0
        self._columns = 0

    def add(
        self,
        column: str,
        items: Sequence[str],
        builder: HierarchyBuilder,
        rows: Sequence[int] | None,
    ) -> IntArray:
        """Add the labels of a column; return the number of each of its items."""
        base, number = self._items, self._columns
        self._items += len(items)
        self._columns += 1
        if not len(items):
            return np.empty(0, dtype=np.int64)
        ladder = builder.ladder(column, list(items), rows)
        # The last key decides first: items of one label are together at every level.
        order = np.lexsort([*ladder.codes[:-1], ladder.codes[-1]])
        item_of = np.empty(len(items), dtype=np.int64)
        item_of[order] = np.arange(len(items)) + base
        above = np.full(len(items), -1, dtype=np.int64)
        every = max(ladder.n_leaves - 1, 1)
        for level in range(ladder.height - 1, -1, -1):
            codes = ladder.codes[level][order]
            starts = np.flatnonzero(np.diff(codes, prepend=-1))
            ends = np.append(starts[1:], len(codes))
            lower = ladder.codes[level - 1][order] if level else None
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                if lower is not None and lower[start] == lower[end - 1]:
                    # The label below stands for the same items, and says more.
                    continue
                label = len(self.labels)
                self.labels.append(text_of(ladder.labels[level][codes[start]]))
                self.column.append(number)
                self.low.append(base + start)
                self.high.append(base + end)
                self.loss.append((float(ladder.leaves[level][codes[start]]) - 1) / every)
                self.below.append([])
                parent = int(above[start])
                (self.tops if parent < 0 else self.below[parent]).append(label)
                above[start:end] = label
        return item_of


class ChosenLabels(NamedTuple):
    """The label of each item, or that it is left out, and what that is worth."""

    label: IntArray
    gain: float
    """How many occurrences of items are published, those of general labels counted less."""


@dataclass(frozen=True, eq=False)
class RecodedSets:
    """The sets of a table as they are published.

    Example:
        >>> rows, items = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 1])
        >>> baskets = Baskets.of_cells(rows, items, 3, ("tea", "ice"))
        >>> tree = ItemTree.of({"meal": (["tea", "ice"], None)})
        >>> found = RecodedSets.find(baskets, tree, np.zeros(3, dtype=np.int64), (2, 2))
        >>> found.baskets[0].items.tolist(), found.support(2), found.kept
        ([0, 1, 0, 1, 0], 2, 1.0)
    """

    columns: tuple[str, ...]
    baskets: tuple[Baskets, ...]
    """The published items of each column."""

    class_of: IntArray
    """The class of each row."""

    loss: float
    """How much was lost: 0 if all items are as they were, 1 if none is published."""

    kept: float
    """The share of items that are published as they were."""

    left_out: float
    """The share of items that are not published."""

    @classmethod
    def find(
        cls,
        baskets: Baskets,
        tree: ItemTree,
        class_of: IntArray,
        least: Sequence[int],
        *,
        per_class: bool = False,
    ) -> Self:
        """Choose the labels that lose little among those that keep k^m-anonymity.

        Args:
            baskets: The items of each row, as the tree names them.
            tree: The labels there are.
            class_of: The class of each row.
            least: Fewest rows that share a class and one item, two items, and so on.
            per_class: Whether an item may have another label in another class.
        """
        row, item = baskets.row_of, tree.item_of[baskets.items]
        label = np.full(len(item), LEFT_OUT, dtype=np.int64)
        gain = 0.0
        groups = class_of if per_class else np.zeros(len(class_of), dtype=np.int64)
        for places in _groups_of(groups[row]):
            rows, inside = np.unique(row[places], return_inverse=True)
            _, classes = np.unique(class_of[rows], return_inverse=True)
            chosen = LabelSearch(tree, inside, item[places], classes, least).run()
            label[places] = chosen.label[item[places]]
            gain += chosen.gain
        return cls._of_labels(baskets, tree, class_of, label, gain)

    @classmethod
    def _of_labels(
        cls,
        baskets: Baskets,
        tree: ItemTree,
        class_of: IntArray,
        label: IntArray,
        gain: float,
    ) -> Self:
        total, row = max(len(label), 1), baskets.row_of
        published = []
        for number, _ in enumerate(tree.columns):
            own = np.flatnonzero(label >= 0)
            own = own[tree.column[label[own]] == number]
            # By their texts, in order: two labels that are written alike are one to readers.
            present, code = np.unique(label[own], return_inverse=True)
            texts = [tree.labels[each] for each in present.tolist()]
            shown = sorted(set(texts))
            place = {text: at for at, text in enumerate(shown)}
            of_label = np.array([place[text] for text in texts], dtype=np.int64)
            published.append(Baskets.of_cells(row[own], of_label[code], baskets.rows, shown))
        single = np.zeros(len(tree.labels) + 1, dtype=bool)
        single[:-1] = tree.high - tree.low == 1
        as_it_was = single[label] & (np.append(tree.loss, 1.0)[label] == 0)
        return cls(
            tree.columns,
            tuple(published),
            class_of,
            1 - gain / total if len(label) else 0.0,
            float(as_it_was.sum()) / total if len(label) else 1.0,
            float((label == LEFT_OUT).sum()) / total,
        )

    def figures(self) -> dict[str, float]:
        """Return what became of the items, as shares."""
        return {"loss": self.loss, "kept": self.kept, "left_out": self.left_out}

    def support(self, m: int) -> int | None:
        """Return the fewest rows that share a class and up to m items; None if none is published.

        Items of several columns count together.
        """
        every = self.baskets[0]
        for more in self.baskets[1:]:
            every = every.beside(more)
        return least_support(every, self.class_of, m)


_MOST_SETS = 10**9
"""Sets of items that can be counted in minutes, each once for every row that has it."""

_MOST_OF_A_ROW = 2 * 10**7
"""Sets of items of one row that fit into memory."""


def require_countable(baskets: Baskets, most: int) -> None:
    """Raise if rows have too many sets of up to `most` items to count them all.

    >>> many = Baskets(np.array([0, 900]), np.arange(900, dtype=np.int32), ("",) * 900)
    >>> require_countable(many, 3)
    Traceback (most recent call last):
    sfumato.errors.InfeasibleError: a row has 900 items, and so 121 500 750 sets of up to 3 of them:
    too many to count. Choose a smaller m (km-anonymity), or leave such rows out.
    """
    sizes, rows = np.unique(baskets.sizes, return_counts=True)
    several = [sum(comb(size, n) for n in range(1, most + 1)) for size in sizes.tolist()]
    if several and several[-1] > _MOST_OF_A_ROW:
        raise InfeasibleError(
            f"a row has {sizes[-1]} items, and so {format_integer(several[-1])} sets of up to "
            f"{most} of them: too many to count. Choose a smaller m (km-anonymity), or leave "
            "such rows out."
        )
    total = sum(each * n for each, n in zip(several, rows.tolist(), strict=True))
    if total > _MOST_SETS:
        raise InfeasibleError(
            f"rows have {format_integer(total)} sets of up to {most} items: too many to count. "
            "Choose a smaller "
            "m (km-anonymity), or give fewer rows."
        )


def _groups_of(group: IntArray) -> list[IntArray]:
    """Return where the members of each group stand."""
    order = np.argsort(group, kind="stable")
    ends = np.flatnonzero(np.diff(group[order])) + 1
    return [each for each in np.split(order, ends) if len(each)]


class LabelSearch:
    """Looks for labels that can be published together and lose little.

    Two ways are gone: from the top down, where each label is taken apart if its parts are worth
    more; and from the most frequent items up. The better result counts.

    Args:
        tree: The labels there are.
        row: For each item of each row, the row, from 0 on without gaps.
        item: The item.
        class_of: The class of each row, from 0 on without gaps.
        least: Fewest rows that share a class and one item, two items, and so on.
    """

    def __init__(
        self,
        tree: ItemTree,
        row: IntArray,
        item: IntArray,
        class_of: IntArray,
        least: Sequence[int],
    ) -> None:
        self.tree, self.least = tree, tuple(least)
        order = np.argsort(row, kind="stable")
        self._item = item[order]
        self._starts = np.searchsorted(row[order], np.arange(len(class_of) + 1))
        by_item = np.argsort(item, kind="stable")
        self._row_by_item = row[by_item]
        sorted_items = item[by_item]
        self._from = np.searchsorted(sorted_items, tree.low)
        self._to = np.searchsorted(sorted_items, tree.high)
        self._class_of = class_of
        self._one_class = not class_of.any()
        self._occurring = self._to - self._from
        self.gain: FloatArray = self._occurring * (1 - tree.loss)
        """What each label is worth."""

        self._alone: dict[int, bool] = {}
        self.label: IntArray = np.full(len(tree.names), LEFT_OUT, dtype=np.int64)

    def run(self) -> ChosenLabels:
        """Return the better of what both ways lead to."""
        found = [self._from_the_top()]
        if any(self.tree.below):
            found.append(self._from_the_items())
        return max(found, key=lambda each: each.gain)

    # Two ways.

    def _from_the_top(self) -> ChosenLabels:
        self.label[:] = LEFT_OUT
        placed = [each for top in self._by_worth(self.tree.tops) for each in self._place(top)]
        waiting = [(-self._room(label), label) for label in placed]
        heapq.heapify(waiting)
        while waiting:
            _, label = heapq.heappop(waiting)
            for part in self._take_apart(label):
                heapq.heappush(waiting, (-self._room(part), part))
        return self._finish()

    def _from_the_items(self) -> ChosenLabels:
        self.label[:] = LEFT_OUT
        single = [at for at, below in enumerate(self.tree.below) if not below]
        for label in self._by_worth(single):
            if self._fits(label):
                self._set(label, label)
        return self._finish()

    def _finish(self) -> ChosenLabels:
        """Try once more what is left out: labels that were in its way may have been taken apart."""
        waiting = [*self.tree.tops]
        while waiting:
            label = waiting.pop()
            inside = self.label[self.tree.low[label] : self.tree.high[label]]
            if not self._occurring[label]:
                continue
            if (inside == LEFT_OUT).all():
                self._place(label)
            elif (inside == LEFT_OUT).any():
                waiting += self.tree.below[label]
        chosen = np.unique(self.label)
        return ChosenLabels(self.label.copy(), float(self.gain[chosen[chosen >= 0]].sum()))

    def _room(self, label: int) -> float:
        """Return what taking a label apart could be worth at most."""
        return float(self._occurring[label] - self.gain[label])

    def _by_worth(self, labels: Sequence[int]) -> list[int]:
        return sorted((e for e in labels if self._occurring[e]), key=lambda e: (-self.gain[e], e))

    def _take_apart(self, label: int) -> list[int]:
        """Return the labels below that take the place of a label, if they are worth more."""
        below = self.tree.below[label]
        if not below or not self._room(label):
            return []
        self._set(label, LEFT_OUT)
        placed = [each for part in self._by_worth(below) for each in self._place(part)]
        if self.gain[placed].sum() > self.gain[label] + 1e-9:
            return placed
        self._set(label, label)
        return []

    def _place(self, label: int) -> list[int]:
        """Publish a label, or those below it if it cannot be; return what was published."""
        if self._fits(label):
            self._set(label, label)
            return [label]
        if self._one_class and not self._alone[label]:
            return []  # what is below it has fewer rows still
        below = self._by_worth(self.tree.below[label])
        return [each for part in below for each in self._place(part)]

    def _set(self, label: int, to: int) -> None:
        self.label[self.tree.low[label] : self.tree.high[label]] = to

    # Whether a label can be published beside those that are.

    def _fits(self, label: int) -> bool:
        rows = self._rows(label)
        if label not in self._alone:
            self._alone[label] = _enough(self._class_of[rows], self.least[0])
        if not self._alone[label]:
            return False
        if len(self.least) == 1:
            return True
        begins = self._starts[rows]
        sizes = self._starts[rows + 1] - begins
        beside = self.label[self._item[spread(begins, sizes)]]
        known = np.flatnonzero(beside >= 0)
        if not len(known):
            return True
        beside = beside[known]
        classes = self._class_of[rows]
        if self._one_class:
            # Rows that have a label by two items are counted twice here: too few are too few still.
            many = np.bincount(beside)
            if many[many > 0].min() < self.least[1]:
                return False
        at = np.repeat(np.arange(len(rows)), sizes)[known]
        return self._share_enough(classes, at, beside)

    def _rows(self, label: int) -> IntArray:
        """Return the rows that have an item of a label, in order."""
        rows = self._row_by_item[self._from[label] : self._to[label]]
        if self.tree.high[label] - self.tree.low[label] == 1:
            return rows
        rows = np.sort(rows)
        return rows[np.diff(rows, prepend=-1) > 0]

    def _share_enough(self, classes: IntArray, at: IntArray, beside: IntArray) -> bool:
        """Return whether enough of some rows share each set of labels that one of them has."""
        # Few labels are beside: small numbers make small keys, and small counts of them.
        present = np.flatnonzero(np.bincount(beside))
        code = np.searchsorted(present, beside)
        keys = np.sort(at * len(present) + code)
        keys = keys[np.diff(keys, prepend=-1) > 0]
        at, code = keys // len(present), keys % len(present)
        if not _enough(classes[at] * len(present) + code, self.least[1]):
            return False
        if not self.least[2:]:
            return True
        starts = np.searchsorted(at, np.arange(len(classes) + 1))
        together = Baskets(starts, code.astype(np.int32), ("",) * len(present))
        # With this label each set is one larger.
        return shares_enough(together, classes, self.least[1:])


def _enough(keys: IntArray, least: int) -> bool:
    """Return whether each key that occurs occurs at least `least` times.

    >>> _enough(np.array([0, 2, 2, 0]), 2), _enough(np.array([0, 2, 2]), 2)
    (True, False)
    """
    if keys[-1] == 0 and not keys.any():
        return len(keys) >= least
    if int(keys.max()) <= _FEW_PER_KEY * len(keys):
        found = np.bincount(keys)
        return int(found[found > 0].min()) >= least
    keys = np.sort(keys)
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return int(np.diff(starts, append=len(keys)).min()) >= least


_FEW_PER_KEY = 8
"""Places per key up to which a table of all that are possible is faster than sorting them."""
