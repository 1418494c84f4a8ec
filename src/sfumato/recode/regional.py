"""Regional recoding: one cut through each column's value tree, the same for all rows.

A cut takes some labels of any levels, so that every raw value is below exactly one of them. The
levels of a node are the cuts that take all their labels at one level. There are far too many cuts
to look at all of them, except in small trees; the search goes down from the best node and from the
top, label by label, and then exchanges: it lifts some labels to make room for others.

To go down from the top, label by label, by what is gained for what it costs is the idea of top-down
specialisation. There the gain is information about a class to predict, and the price is anonymity.
Here the gain is what cells cost less, and the price is rows to suppress and room for classes. No
cut is returned that was not checked whole, nor one that loses more than the best node. That
it is the best of all cuts is proven only where the others could be bounded (`_go_through`).

Reference: Fung, Wang and Yu, "Top-down specialization for information and privacy preservation",
2005, doi:10.1109/ICDE.2005.143, for going down. Steering, exchanges and the proof are ours.
"""

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import groupby, product
from typing import Any

import numpy as np

from sfumato.counts import add_up, group, number_keys, sums
from sfumato.dataclasses import dataclass
from sfumato.hierarchy.base import Ladder
from sfumato.losses import NormalizedLoss
from sfumato.losses.base import (
    Attribute,
    CellLoss,
    CheckedNode,
    Cut,
    LocalResult,
    Loss,
    LossFunction,
)
from sfumato.partition import Problem
from sfumato.recoding import ColumnRecoding, FullDomainRecoding, Lattice
from sfumato.search import Checker, CheckOutcome
from sfumato.text import STAR, text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Node, Value

_MOST_CUTS = 200_000
"""The cuts of a table among which the best is looked for one by one, if checks allow it."""

_MOST_TO_PROVE = 500
"""The cuts that are checked to prove that none is better; if more would have to be, none is."""

_EMPHASES = (1.0, 0.1, 10.0)
"""How much classes weigh beside suppressed rows, in turn: which is best depends on the table."""

_AT_ONCE = 16
"""One in this many labels of a column is taken apart at once: a column may have thousands."""

_LARGE = 200_000
"""Items from which on steering goes only one way, and exchanges are fewer: each takes seconds."""

_STEPS_BACK = 8
"""How many steps of a way down are undone to find a cut that is valid."""

_SMALL = 2_000
_MOST_IDLE = 8
"""With fewer items than that, how many exchanges in a row may gain nothing."""

_NOISE = 0.5
_WHOLE_COLUMN = 0.1
"""How far chance changes the order of an exchange, and how often a column is lifted as a whole."""


@dataclass(frozen=True, eq=False)
class ColumnTree:
    """The value tree of a column, and the levels at which it may be cut.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> h = Hierarchy.from_paths(["a", "b", "c"], [["ab", "*"], ["ab", "*"], ["c", "*"]])
        >>> tree = ColumnTree(h.bind("letter", ["a", "b", "c"]), 0, 2)
        >>> [levels.tolist() for levels in tree.cuts()]
        [[2, 2, 2], [1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> tree.at(np.array([1, 1, 0])).labels
        (('c', 'ab'),)
    """

    ladder: Ladder
    lowest: int
    highest: int

    def uniform(self, level: int) -> IntArray:
        """Return the cut that takes all labels of one level."""
        return np.full(len(self.ladder.values), level, dtype=np.int64)

    @cached_property
    def _clear(self) -> BoolArray:
        """Whether the label of each value at each level names no other values anywhere in the tree.

        Where labels of several levels stand side by side, a text must not mean two things.
        """
        ladder = self.ladder
        # Of two levels, sets of values are within each other or apart: a set is known by its first
        # value and its size.
        members: dict[str, set[tuple[int, int]]] = {}
        for codes, labels in zip(ladder.codes, ladder.labels, strict=True):
            _, first, sizes = np.unique(codes, return_index=True, return_counts=True)
            for label, start, size in zip(labels, first.tolist(), sizes.tolist(), strict=True):
                if label is not None:
                    members.setdefault(text_of(label), set()).add((start, size))
        clear = np.ones(ladder.codes.shape, dtype=bool)
        for level, labels in enumerate(ladder.labels):
            good = [label is None or len(members[text_of(label)]) == 1 for label in labels]
            clear[level] = np.array(good, dtype=bool)[ladder.codes[level]]
        return clear

    def is_clear(self, levels: IntArray) -> bool:
        """Return whether every label of a cut means one thing."""
        if not len(levels) or (levels == levels[0]).all():
            return True
        return bool(self._clear[levels, np.arange(len(levels))].all())

    def keys(self, levels: IntArray) -> IntArray:
        """Return a number for each value's label: the same where the label is the same."""
        width = len(levels) + 1
        found: IntArray = levels * width + self.ladder.codes[levels, np.arange(len(levels))]
        return found

    def at(self, levels: IntArray) -> Ladder:
        """Return a ladder with the cut as its only level, labels of several levels as texts."""
        ladder = self.ladder
        _, first, codes = np.unique(self.keys(levels), return_index=True, return_inverse=True)
        mixed = len(levels) > 0 and bool((levels != levels[0]).any())
        labels: list[Value] = []
        leaves = np.empty(len(first))
        for i, value in enumerate(first.tolist()):
            level = int(levels[value])
            code = int(ladder.codes[level, value])
            label = ladder.labels[level][code]
            labels.append(text_of(label) if mixed and label is not None else label)
            leaves[i] = ladder.leaves[level][code]
        of_value = codes.astype(np.int32)[None, :]
        return Ladder(
            ladder.column, ladder.values, of_value, (tuple(labels),), (leaves,), ladder.n_leaves
        )

    def below(self, levels: IntArray, value: int) -> IntArray:
        """Return the cut with the labels one level below that of a value in its place."""
        level = int(levels[value])
        codes = self.ladder.codes[level]
        found = levels.copy()
        found[codes == codes[value]] = level - 1
        return found

    def above(self, levels: IntArray, value: int) -> IntArray:
        """Return the cut with the label one level above that of a value, and none below it."""
        level = int(levels[value]) + 1
        codes = self.ladder.codes[level]
        found = levels.copy()
        found[codes == codes[value]] = level
        return found

    def may_part(self, levels: IntArray, label: IntArray) -> BoolArray:
        """Return which labels of a cut may be taken apart, of labels as they are numbered.

        Args:
            levels: The cut.
            label: The number of each value's label.
        """
        n = int(label.max(initial=-1)) + 1
        every = np.arange(len(levels))
        low = np.zeros(n, dtype=bool)
        low[label[levels <= self.lowest]] = True
        unclear = np.bincount(label, weights=~self._clear[levels, every], minlength=n)
        within = ~self._clear[np.maximum(levels - 1, 0), every]
        # What is parted leaves labels of two levels, unless it was the only one.
        bad = np.bincount(label, weights=within, minlength=n) + unclear.sum() - unclear
        found: BoolArray = ~low & ((bad == 0) | (n == 1))
        return found

    def labels_in(self, levels: IntArray) -> list[int]:
        """Return a value of each label of a cut."""
        first = np.unique(self.keys(levels), return_index=True)[1]
        return [int(value) for value in first]

    def parents_of(self, levels: IntArray) -> list[int]:
        """Return a value of each label above the cut that is next to one of its labels."""
        open_ = np.flatnonzero(levels < self.highest)
        up = np.minimum(levels + 1, self.ladder.height)
        keys = self.keys(up)[open_]
        return [int(value) for value in open_[np.unique(keys, return_index=True)[1]]]

    @cached_property
    def number(self) -> float:
        """The number of cuts, clear or not."""
        # A cut of the tree below a label takes the label itself, or one cut below each of its
        # children: N(label) = 1 + Π N(child), and 1 at the lowest level. Labels of the highest
        # level are cut independently. In the example of the class, ab and c have 2 each, and the
        # top has 1 + 2 · 2 = 5. Ten labels of ten values each have 2¹⁰ cuts below the top.
        counts = np.ones(len(np.unique(self.ladder.codes[self.lowest])), dtype=np.float64)
        for level in range(self.lowest + 1, self.highest + 1):
            child, first = np.unique(self.ladder.codes[level - 1], return_index=True)
            parent = self.ladder.codes[level][first]
            products = np.ones(int(parent.max(initial=0)) + 1)
            with np.errstate(over="ignore"):
                np.multiply.at(products, parent, counts[: len(child)])
            counts = products[np.unique(parent)] + 1
        with np.errstate(over="ignore"):
            return float(np.prod(counts))

    def cuts(self) -> list[IntArray]:
        """List all cuts that are clear, the coarsest first."""
        everything = np.arange(len(self.ladder.values))
        return [cut for cut in self._cuts(everything, self.highest) if self.is_clear(cut)]

    def _cuts(self, values: IntArray, level: int) -> Iterator[IntArray]:
        """List the cuts of some values at a level or below, as levels of all values."""
        codes = self.ladder.codes[level][values]
        branches = []
        for code in np.unique(codes).tolist():
            mine = values[codes == code]
            here = np.zeros(len(self.ladder.values), dtype=np.int64)
            here[mine] = level
            finer = self._cuts(mine, level - 1) if level > self.lowest else iter(())
            branches.append([here, *finer])
        for choice in product(*branches):
            yield np.sum(choice, axis=0) if choice else self.uniform(level)


class CutLoss(LossFunction):
    """The loss of one cut, as a checker asks for it."""

    def __init__(self, loss: LossFunction, cut: Cut) -> None:
        self._loss = loss
        self._cut = cut

    def of(self, judged: CheckedNode) -> float:
        return self._loss.of_cut(judged, self._cut)

    def of_local(self, result: LocalResult) -> float:
        return self._loss.of_local(result)

    def of_cut(self, judged: CheckedNode, cut: Cut) -> float:
        return self._loss.of_cut(judged, cut)

    def cut_part(self, attribute: int, levels: IntArray) -> float:
        return self._loss.cut_part(attribute, levels)

    def of_parts(self, parts: Sequence[FloatArray]) -> FloatArray:
        return self._loss.of_parts(parts)

    def floor(self, node: Node) -> float:
        levels = enumerate(self._cut.levels)
        parts = [np.array([self._loss.cut_part(i, each)]) for i, each in levels]
        return float(self._loss.of_parts(parts).item())

    def floors(self, lowest: Node, highest: Node) -> FloatArray:
        return np.full([1] * len(lowest), self.floor(lowest))


@dataclass(frozen=True, eq=False)
class CheckedCut:
    """A cut, and what checking it found."""

    levels: tuple[IntArray, ...]
    """For each column the level of each value."""

    valid: bool
    loss: float
    """The loss of the cut; infinite if it is not valid."""

    @property
    def height(self) -> int:
        """The levels of all values, added up."""
        return sum(int(levels.sum()) for levels in self.levels)


@dataclass(frozen=True, eq=False)
class FoundCut:
    """The best cut that was found."""

    cut: Cut
    checker: Checker
    """Judges this cut and no other; it is its only node."""

    outcome: CheckOutcome
    checks: int
    """How many cuts were checked."""

    proven: bool
    """Whether no other cut that keeps the promises loses less."""

    def recoding(self) -> FullDomainRecoding:
        """Return what becomes of each value."""
        columns = [
            ColumnRecoding.of_cut(ladder, int(levels.max(initial=0)), height)
            for ladder, levels, height in zip(
                self.cut.ladders, self.cut.levels, self.heights, strict=True
            )
        ]
        return FullDomainRecoding(tuple(columns), self.checker.suppressed_classes(self.outcome))

    @property
    def heights(self) -> list[int]:
        """The height of each column's hierarchy."""
        return [attribute.ladder.height for attribute in self.checker.attributes]


@dataclass(frozen=True, eq=False)
class CutClasses:
    """The classes of a cut, as far as steering needs them."""

    of_item: IntArray
    first: IntArray
    """An item of each class."""

    sizes: IntArray
    """The rows of each class; of one that fails the people, if those are suppressed."""

    good: BoolArray
    """Whether each class keeps every model by itself."""

    @property
    def n(self) -> int:
        """The number of classes."""
        return len(self.sizes)

    @cached_property
    def lost(self) -> IntArray:
        """The rows, or people, of each class if it fails, else none."""
        rows: IntArray = np.where(self.good, 0, self.sizes)
        return rows

    @cached_property
    def failing(self) -> int:
        """The rows, or people, in classes that fail."""
        return int(self.lost.sum())


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Cuts in which one label of a column is taken apart."""

    column: int
    value: IntArray
    """A value of each such label."""

    gain: FloatArray
    """How much less the cells cost then."""

    failing: IntArray
    """The rows, or people, that are then in classes that break a model by themselves."""

    classes: IntArray
    """How many classes there are then."""


class Steering:
    """Weighs all neighbours of a cut at once, by what its classes are worth by themselves.

    It steers and does not decide: to judge each class alone, beside the whole table, is near the
    truth where models compare with what is published, and the truth elsewhere.

    Args:
        problem: The table as partitioners see it.
        trees: The value trees of its columns.
        costs: What all cells of each value cost at each level, by column.
    """

    def __init__(
        self, problem: Problem, trees: Sequence[ColumnTree], costs: Sequence[FloatArray]
    ) -> None:
        self._trees = trees
        self._costs = costs
        self._judge = problem.judge
        self._whole_people = problem.whole_people
        self.least = problem.judge.least
        self.rows = problem.rows
        self._raw: IntArray = problem.raw.astype(np.int64)
        if self._judge.sizes_only and problem.person is None:
            # Rows that differ in nothing but sensitive values are one item.
            first = np.unique(problem.alike, return_index=True)[1]
            self.rows = sums(problem.alike, problem.rows, len(first))
            self._raw = self._raw[:, first]
        self._items = np.arange(len(self.rows))

    def classes(self, levels: tuple[IntArray, ...]) -> CutClasses:
        """Group the items by the labels of a cut."""
        codes, sizes = [], []
        for tree, raw, each in zip(self._trees, self._raw, levels, strict=True):
            keys, of_value = np.unique(tree.keys(each), return_inverse=True)
            codes.append(of_value[raw])
            sizes.append(max(len(keys), 1))
        groups = group(codes, sizes, n=len(self.rows))
        return self._judge_classes(groups.of_item, groups.first)

    def refine(self, now: CutClasses, column: int, levels: IntArray) -> CutClasses:
        """Group the items of classes by finer labels of a column too."""
        keys, of_value = np.unique(self._trees[column].keys(levels), return_inverse=True)
        codes = now.of_item * len(keys) + of_value[self._raw[column]]
        return self._judge_classes(*self._number_items(codes, now.n * len(keys)))

    def _number_items(self, codes: IntArray, bound: int) -> tuple[IntArray, IntArray]:
        """Return the number of each item's code, and an item of each."""
        found = number_keys(codes, bound)
        first = np.empty(found.n, dtype=np.int64)
        first[found.of_item[::-1]] = self._items[::-1]
        return found.of_item, first

    def _judge_classes(self, of_item: IntArray, first: IntArray) -> CutClasses:
        good = self._judge.passes(of_item, self._items, self.rows, len(first))
        sizes = sums(of_item, self.rows, len(first))
        if self._whole_people and not good.all():
            # The limit is one of people, of whom those in failing classes go.
            gone = ~good[of_item]
            people = self._judge.sizes(of_item[gone], self._items[gone], self.rows, len(first))
            sizes = np.where(good, sizes, people)
        return CutClasses(of_item, first, sizes, good)

    def apart(
        self, levels: tuple[IntArray, ...], now: CutClasses, column: int
    ) -> Neighbours | None:
        """Weigh every label of a column that may be taken apart; None if none may."""
        tree, raw, mine = self._trees[column], self._raw[column], levels[column]
        label = np.unique(tree.keys(mine), return_inverse=True)[1]
        chosen = tree.may_part(mine, label)
        if not chosen.any():
            return None
        # Taking label l apart changes the classes that have l and no others. So
        #
        #     failing(l) = failing - Σ lost(classes with l) + Σ lost(their parts),
        #
        # and likewise for the number of classes; the gain is the sum over the values of l of what a
        # level less saves. One grouping with all labels parted has the parts of each, and a column
        # takes one pass over the items instead of one per label. It is exact where a class is
        # judged by itself; where it is compared with the published rows, or where people with rows
        # in two failing classes are suppressed, it is near.
        # All of them at once, in one grouping: no class has two labels of the column.
        new = self.refine(now, column, np.where(chosen[label], mine - 1, mine))
        n, every = len(chosen), np.arange(len(mine))
        here, there = label[raw[now.first]], label[raw[new.first]]
        costs = self._costs[column]
        saved = costs[mine, every] - costs[np.maximum(mine - 1, 0), every]
        gain = add_up(label, saved, n)
        failing = now.failing - sums(here, now.lost, n) + sums(there, new.lost, n)
        classes = now.n - np.bincount(here, minlength=n) + np.bincount(there, minlength=n)
        value = np.zeros(n, dtype=np.int64)
        value[label[::-1]] = every[::-1]
        return Neighbours(column, value[chosen], gain[chosen], failing[chosen], classes[chosen])


class CutSearch:
    """Looks for the cut that loses least among those that keep the promises.

    Args:
        checker: Judges nodes of the same table.
        loss: What is to be small; its cells say which label to take apart first.
        problem: The same table as partitioners see it, to steer by; None if models may only refuse
            cuts, and not choose between them.
        rounds: How often labels are lifted to make room for others.
        on_check: Told the number of checks after each.
    """

    def __init__(
        self,
        checker: Checker,
        loss: Loss,
        problem: Problem | None,
        rounds: int,
        on_check: Callable[[int], None] | None = None,
    ) -> None:
        self._checker = checker
        self._rounds = rounds
        self._on_check = on_check
        lattice = checker.lattice
        self.trees = tuple(
            ColumnTree(ladder, low, high)
            for ladder, low, high in zip(
                checker.grouping.ladders, lattice.lowest, lattice.highest, strict=True
            )
        )
        cells = loss if isinstance(loss, CellLoss) else NormalizedLoss()
        self._costs = [
            _cells_cost(cells, attribute, checker.total) for attribute in checker.attributes
        ]
        self._steering = None if problem is None else Steering(problem, self.trees, self._costs)
        self._emphases: tuple[float | None, ...] = (None,) if problem is None else _EMPHASES
        # A cut below one that is not valid is not valid either, if the models say so.
        self._monotone = checker.all_absorbing or checker.strict
        self._ladders: dict[tuple[int, bytes], Ladder] = {}
        self._known: dict[bytes, CheckedCut] = {}
        self.checks = 0
        # Chance keeps the exchange out of ruts; the same table gives the same cut.
        self._rng = np.random.default_rng(0)

    def run(self, node: Node | None) -> FoundCut | None:
        """Return the best cut found; None if none that was checked keeps the promises.

        Args:
            node: The best node of the lattice, if one is valid.
        """
        best: CheckedCut | None = None
        starts = [node, self._checker.lattice.highest]
        large = self._steering is not None and len(self._steering.rows) > _LARGE
        if large and node is not None:
            starts = [node]
        for start in dict.fromkeys(each for each in starts if each is not None):
            levels = tuple(tree.uniform(at) for tree, at in zip(self.trees, start, strict=True))
            found = self.check(levels)
            best = _better(best, found)
            for emphasis in self._emphases[: 1 if large else None]:
                best = _better(best, self._descend(found, emphasis))
        few = math.prod(tree.number for tree in self.trees) <= _MOST_TO_PROVE
        if best is not None and best.valid and not few:
            best = self._exchange(best)
        best, proven = self._go_through(best)
        if best is None or not best.valid:
            return None
        checker, cut = self._checker_at(best.levels)
        outcome = checker.evaluate(checker.lattice.lowest)
        return FoundCut(cut, checker, outcome, self.checks, proven)

    def check(self, levels: tuple[IntArray, ...]) -> CheckedCut:
        """Judge a cut."""
        key = b"".join(each.astype(np.int16).tobytes() for each in levels)
        known = self._known.get(key)
        if known is not None:
            return known
        self.checks += 1
        if self._on_check is not None:
            self._on_check(self.checks)
        checker, _ = self._checker_at(levels)
        outcome = checker.check(checker.lattice.lowest)
        found = CheckedCut(levels, outcome.valid, outcome.loss if outcome.valid else math.inf)
        self._known[key] = found
        return found

    def _checker_at(self, levels: tuple[IntArray, ...]) -> tuple[Checker, Cut]:
        """Return a checker whose only node is the cut, and the cut as losses see it."""
        ladders = tuple(self._ladder(i, each) for i, each in enumerate(levels))
        cut = Cut(levels, ladders)
        checker = copy(self._checker)
        nowhere = (0,) * len(levels)
        checker.grouping = self._checker.grouping.with_ladders(ladders)
        checker.lattice = Lattice(nowhere, nowhere)
        checker.on_check = None
        checker.loss = CutLoss(self._checker.loss, cut)
        return checker, cut

    def _ladder(self, column: int, levels: IntArray) -> Ladder:
        key = column, levels.tobytes()
        if key not in self._ladders:
            self._ladders[key] = self.trees[column].at(levels)
        return self._ladders[key]

    def _descend(self, start: CheckedCut, emphasis: float | None, noise: float = 0.0) -> CheckedCut:
        """Return the best cut on a way down; the start itself if nothing on it is better.

        Args:
            start: Where to begin.
            emphasis: How much classes weigh beside suppressed rows; None goes by columns alone.
            noise: How far chance changes the order.
        """
        if self._steering is None or emphasis is None:
            return self._part_in_order(start) if start.valid else start
        trail = self._way_down(self._steering, start.levels, emphasis, noise)
        # Where steering was wrong at the end, an earlier cut of the way may do.
        found = start
        for back in range(len(trail)):
            found = self.check(trail[-1 - back])
            if found.valid or back >= _STEPS_BACK:
                break
        return _better(start, found)

    def _way_down(
        self,
        steering: Steering,
        levels: tuple[IntArray, ...],
        emphasis: float,
        noise: float,
    ) -> list[tuple[IntArray, ...]]:
        """Return the cuts of a way down; the label that gains most for its price goes first.

        The price is what it uses up: rows to suppress, and the number of classes that the rows are
        enough for.
        """
        # A heap holds each column at most once, with the score of its best label. A score from
        # before the last step is computed again when it comes to the top, and not sooner, so that
        # columns with little to gain are seldom weighed. The label that is taken has a score of
        # now. It is the best of all columns if scores do not rise while other labels are parted;
        # that is not certain, and costs only quality.
        trail: list[tuple[IntArray, ...]] = []
        now = steering.classes(levels)

        def weigh(column: int) -> None:
            near = steering.apart(levels, now, column)
            if near is None:
                return
            score = self._scores(steering, levels, now, near, emphasis)
            if noise:
                score *= np.exp(noise * self._rng.standard_normal(len(score)))
            order = np.argsort(-score, kind="stable")[: max(len(score) // _AT_ONCE, 1)]
            # Labels of one column do not touch each other: what several cost is added up.
            lost = np.cumsum(np.maximum(near.failing - now.failing, 0)[order])
            fits = (score[order] > 0) & (lost <= max(self._checker.limit - now.failing, 0))
            fits[0] = score[order[0]] > 0
            if fits[0]:
                chosen[column] = near.value[order[fits]].tolist()
                heapq.heappush(waiting, (-float(score[order[0]]), column, len(trail)))

        chosen: dict[int, list[int]] = {}
        waiting: list[tuple[float, int, int]] = []
        for column in range(len(self.trees)):
            weigh(column)
        while waiting:
            _, column, when = heapq.heappop(waiting)
            if when < len(trail):
                # Other labels were taken apart since; what was best may cost more now.
                weigh(column)
                continue
            parted = levels[column]
            for value in chosen[column]:
                parted = self.trees[column].below(parted, value)
            levels = (*levels[:column], parted, *levels[column + 1 :])
            now = steering.refine(now, column, parted)
            trail.append(levels)
            weigh(column)
        return trail

    def _scores(
        self,
        steering: Steering,
        levels: tuple[IntArray, ...],
        now: CutClasses,
        near: Neighbours,
        emphasis: float,
    ) -> FloatArray:
        """Return what each neighbour gains for what it uses up; 0 for those that may not be."""
        limit, total = self._checker.limit, max(self._checker.total, 1)
        highest = sum(float(costs[-1].sum()) for costs in self._costs)
        cost = sum(
            float(costs[each, np.arange(len(each))].sum())
            for costs, each in zip(self._costs, levels, strict=True)
        )
        lost, more = near.failing - now.failing, near.classes - now.n
        # With N rows, F of which are in classes that fail, and n classes, the score is net / used:
        #
        #     net  = gain - lost (top - cost) / N
        #     used = lost / (limit - F) + emphasis · more / (N / least - n),
        #
        # what is gained per share of the room that is used up, as for a greedy knapsack. There is
        # room for `limit` suppressed rows, and for N / least classes, as none may be smaller than
        # `least`. If 4 of 10 rows are used, 3 more take half of the room that is left.
        # A suppressed row costs what the top costs.
        net = near.gain - lost * (max(highest - cost, 0.0) / total)
        used = np.maximum(lost, 0) / max(limit - now.failing, 1)
        used = used + emphasis * np.maximum(more, 0) / max(total / steering.least - now.n, 1)
        score: FloatArray = (net + 1e-12) / (used + 1e-9)
        score[(near.failing > max(limit, now.failing)) | (net < 0)] = 0.0
        return score

    def _part_in_order(self, start: CheckedCut) -> CheckedCut:
        """Return the end of a way down by what the columns alone say, as far as it is valid."""
        # Each cut that is accepted is below the one before. Where models are monotone, a label that
        # made a cut invalid is not tried again: with it, all later cuts are below that invalid cut.
        # Otherwise those refused get another turn after each round in which something moved.
        now = start
        waiting = [
            (self._dearness(column, now.levels[column], value), column, value)
            for column, tree in enumerate(self.trees)
            for value in tree.labels_in(now.levels[column])
        ]
        heapq.heapify(waiting)
        refused: list[tuple[float, int, int]] = []
        moved = False
        while waiting:
            item = heapq.heappop(waiting)
            _, column, value = item
            tree, mine = self.trees[column], now.levels[column]
            if mine[value] <= tree.lowest:
                continue
            parted = tree.below(mine, value)
            tried = now
            if tree.is_clear(parted):
                tried = self.check((*now.levels[:column], parted, *now.levels[column + 1 :]))
            if tried is not now and tried.valid and tried.loss <= now.loss:
                now, moved = tried, True
                changed = np.flatnonzero(parted != mine)
                keys = tree.keys(parted)[changed]
                for each in changed[np.unique(keys, return_index=True)[1]].tolist():
                    heapq.heappush(waiting, (self._dearness(column, parted, each), column, each))
            elif not self._monotone:
                refused.append(item)
            if not waiting and moved and refused:
                waiting, refused, moved = refused, [], False
                heapq.heapify(waiting)
        return now

    def _dearness(self, column: int, levels: IntArray, value: int) -> float:
        """Return the smaller a number, the more a label gains for what its parts tell."""
        tree = self.trees[column]
        # Taking apart a label with R of N rows into parts of r rows adds Σ r log2(R / r) / N bits
        # to the entropy of the column, R/N times the entropy of the parts in the label. Two halves
        # of all rows add one bit. What parts tell sets people apart, so the order is by gain per
        # bit. No model is asked, and no other column.
        level = int(levels[value])
        if level <= tree.lowest:
            return 0.0
        mine = tree.ladder.codes[level] == tree.ladder.codes[level][value]
        costs = self._costs[column]
        gain = float((costs[level, mine] - costs[level - 1, mine]).sum())
        frequency = self._checker.attributes[column].frequency[mine]
        rows = np.bincount(tree.ladder.codes[level - 1][mine], weights=frequency)
        rows = rows[rows > 0]
        bits = float(rows @ np.log2(rows.sum() / rows)) / max(self._checker.total, 1)
        return -gain / bits if bits > 0 else -math.inf

    # Exchanging: labels are lifted, and others are taken apart in the room that this makes.

    def _exchange(self, best: CheckedCut) -> CheckedCut:
        """Lift some labels and go down from there, as often as asked."""
        emphases = self._emphases
        items = 0 if self._steering is None else len(self._steering.rows)
        rounds = self._rounds if items <= _LARGE else self._rounds * _LARGE // (8 * items)
        idle = 0
        for number in range(rounds):
            lifted = self._lift(best.levels)
            if lifted is None or (idle >= _MOST_IDLE and items < _SMALL):
                break
            start = self.check(lifted)
            noise = 0.0 if number % 2 else _NOISE
            found = self._descend(start, emphases[number % len(emphases)], noise)
            idle = 0 if found.loss < best.loss else idle + 1
            best = _better(best, found)
        return best

    def _lift(self, levels: tuple[IntArray, ...]) -> tuple[IntArray, ...] | None:
        """Lift a few labels by chance, or a whole column; None if all are at the top."""
        lifted_once: tuple[IntArray, ...] | None = None
        for _ in range(int(self._rng.integers(1, 5))):
            places = [
                (column, value)
                for column, tree in enumerate(self.trees)
                for value in tree.parents_of(levels[column])
            ]
            if not places:
                return lifted_once
            column, value = places[int(self._rng.integers(len(places)))]
            tree = self.trees[column]
            lifted = tree.above(levels[column], value)
            if self._rng.random() < _WHOLE_COLUMN:
                up = int(min(levels[column].max() + 1, tree.highest))
                lifted = np.full_like(levels[column], up)
            if tree.is_clear(lifted):
                levels = lifted_once = (*levels[:column], lifted, *levels[column + 1 :])
        return lifted_once

    # Going through all cuts, where they are few.

    def _go_through(self, best: CheckedCut | None) -> tuple[CheckedCut | None, bool]:
        """Check every cut that may lose less, and say whether that proves the best one."""
        if math.prod(tree.number for tree in self.trees) > _MOST_CUTS:
            return best, False
        # A floor is what a cut loses if no row is suppressed. Suppressing rows never lowers the sum
        # of a column, and the aggregate never falls when a column rises, so no cut loses less than
        # its floor. Cuts are checked by rising floor until the next floor is above the best loss:
        # what is left cannot be better, and the best is proven among all cuts with clear labels.
        # Losses that look at classes have the floor 0, and then every cut has to be checked.
        cuts = [tree.cuts() for tree in self.trees]
        loss = self._checker.loss
        parts = [
            np.array([loss.cut_part(column, levels) for levels in every])
            for column, every in enumerate(cuts)
        ]
        floors = loss.of_parts(parts).ravel()
        # Rounding must not hide a cut that loses less.
        bound = math.inf if best is None else best.loss
        below = np.flatnonzero(~(floors > bound + 1e-12 * max(1.0, abs(bound))))
        if len(below) > _MOST_TO_PROVE:
            return best, False
        for at in below[np.argsort(floors[below], kind="stable")].tolist():
            if best is not None and floors[at] > best.loss + 1e-12 * max(1.0, abs(best.loss)):
                break
            place = np.unravel_index(at, [len(every) for every in cuts])
            found = self.check(tuple(every[i] for every, i in zip(cuts, place, strict=True)))
            best = _better(best, found)
        return best, True


def _cells_cost(loss: CellLoss, attribute: Attribute, rows: int) -> FloatArray:
    """Return what all cells of a value cost at each level, weighed against other attributes."""
    scale = max(loss.scale(attribute, rows), 1.0)
    costs: FloatArray = loss.costs(attribute) * attribute.frequency
    return costs * (loss.weight(attribute) / scale)


def _better(one: CheckedCut | None, other: CheckedCut) -> CheckedCut:
    """Return the cut that loses less; of two that lose the same the one with lower levels."""
    if one is None or other.loss < one.loss:
        return other
    if other.loss > one.loss or not other.valid:
        return one
    return other if other.height < one.height else one


def label_levels(ladder: Ladder, levels: IntArray, lowest: int = 0) -> IntArray:
    """Return the lowest level, of those allowed, at which values have the labels of a cut.

    The top is always the top, however early the label of a value comes to it; only a value that is
    itself written like the top may stand below it.

    >>> from sfumato.hierarchy import Masking
    >>> zips = Masking(length=3).ladder("zip", ["1", "200"])
    >>> [zips.labels[1][code] for code in zips.codes[1].tolist()]
    ['1', '20*']
    >>> label_levels(zips, np.array([1, 1])).tolist()
    [0, 1]
    >>> stars = Masking().ladder("zip", ["*", "20"])
    >>> [label_levels(stars, np.array(cut)).tolist() for cut in ([0, 1], [2, 2])]
    [[0, 1], [2, 2]]
    """
    names = [
        np.array([*labels, None], dtype=object)[codes]
        for labels, codes in zip(ladder.labels, ladder.codes, strict=True)
    ]
    chosen = np.array(names)[levels, np.arange(len(levels))]
    found = levels.copy()
    for level in range(ladder.height - 1, lowest - 1, -1):
        same = (names[level] == chosen) & (level < levels)
        found[same] = level
    # Of a column without values both are empty, which NumPy would take for numbers.
    rows = [[_is_star(value) for value in row] for row in (chosen, ladder.values)]
    stars = np.array(rows, dtype=np.bool_)
    top = stars[0] & (~stars[1] | (levels == ladder.height))
    result: IntArray = np.where(top, ladder.height, found)
    return result


def _is_star(value: Value) -> bool:
    return value is not None and text_of(value) == STAR


def draw_tree(
    ladder: Ladder, levels: IntArray, published: BoolArray, *, named: bool
) -> dict[str, Any]:
    """Return the part of a column's tree that is above a cut, for readers of the release.

    It is a mapping of each label to those below it; the labels of the cut have none below. Only
    what is published is in it, and what is above that.

    Args:
        ladder: The tree.
        levels: The cut; all its labels are clear.
        published: Which values are published at all.
        named: Whether labels above the cut are told. Where values decided the tree, some of them
            may be of people who are not published, and the cut is told alone.

    >>> from sfumato.hierarchy import Masking, Suppress
    >>> zips = Masking().ladder("zip", ["10", "11", "20"])
    >>> draw_tree(zips, np.array([0, 0, 1]), np.array([True, True, True]), named=True)
    {'*': {'1*': {'10': {}, '11': {}}, '2*': {}}}
    >>> draw_tree(zips, np.array([0, 0, 1]), np.array([True, False, True]), named=False)
    {'*': {'10': {}, '2*': {}}}
    >>> draw_tree(zips, np.array([2, 2, 2]), np.array([True, False, True]), named=False)
    {'*': {}}
    >>> words = Suppress().ladder("word", ["*", "yes"])
    >>> draw_tree(words, np.array([0, 0]), np.array([True, True]), named=True)
    {'*': {'*': {}, 'yes': {}}}
    """
    root = text_of(ladder.labels[-1][0])
    tree: dict[str, Any] = {}
    for value in np.flatnonzero(published).tolist():
        way = [
            ladder.labels[level][ladder.codes[level, value]]
            for level in range(ladder.height, int(levels[value]) - 1, -1)
        ]
        if way[-1] is None:
            continue
        # A group of one may be called like it, level after level.
        texts = [text for text, _ in groupby(map(text_of, way))]
        if len(texts) == 1 < len(way):
            texts *= 2  # a value that is written like the top, and stays below it
        branch = tree.setdefault(root, {})
        for text in texts[1:] if named else texts[1:][-1:]:
            branch = branch.setdefault(text, {})
    return tree
