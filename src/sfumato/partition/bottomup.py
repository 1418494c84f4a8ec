"""Bottom-up local recoding: rows leave at the cheapest levels where enough of them are alike."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import ClassVar, NamedTuple

import numpy as np

from sfumato.counts import KeyNumbers, PackedKeys, number_keys, sums
from sfumato.dataclasses import dataclass
from sfumato.errors import require_int
from sfumato.partition.base import (
    CombinationProblem,
    Partition,
    Partitioner,
    Problem,
    Progress,
    starting_groups,
)
from sfumato.recoding import Lattice
from sfumato.typing import CodeArray, FloatArray, IntArray, Node

_AT_ONCE = 2**22
"""Pairs of an item and a class that are weighed at a time."""


def join(
    problem: Problem, partition: Partition, items: IntArray, rows: IntArray | None = None
) -> Partition:
    """Add items to the classes they harm least; merge classes where that breaks a model.

    Joining costs what the item itself loses with the labels it then needs, and what all
    rows of the class lose on top of what they have lost. If a class no longer passes, it
    is merged with the classes made last, the dearest ones, until it does.

    Args:
        problem: The table.
        partition: The classes there are.
        items: The items that join them.
        rows: The rows of each item that join; None for all it has.
    """
    rows = problem.rows[items] if rows is None else rows
    # Nothing allowed covers rows that differ at the highest levels, so they stay apart.
    apart = starting_groups(problem).group
    if not apart.any():
        return _join_any(problem, partition, items, rows)
    wanted = np.unique(apart[items])
    elsewhere = ~np.isin(apart[partition.item], wanted)
    pieces = [(partition.item[elsewhere], partition.rows[elsewhere], partition.classes[elsewhere])]
    n = partition.n
    for place in wanted.tolist():
        here = apart[partition.item] == place
        there = partition.part(here)
        coming = apart[items] == place
        found = _join_any(problem, there, items[coming], rows[coming])
        pieces.append((found.item, found.rows, found.classes + n))
        n += found.n
    item, portions, classes = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    return Partition.of(item, portions, classes)


def _join_any(problem: Problem, partition: Partition, items: IntArray, rows: IntArray) -> Partition:
    """Add items to classes any of which they may join."""
    if not partition.n:
        return Partition.of(items, rows, np.zeros(len(items)))
    if problem.blind or problem.person is not None:
        # All rows with the same quasi-identifiers count, however they differ in the rest; and
        # where people are counted, whosever they are, so each combination is weighed once.
        alike = number_keys(problem.alike[items], int(problem.alike[items].max()) + 1)
        first = np.empty(alike.n, dtype=np.int64)
        first[alike.of_item[::-1]] = items[::-1]
        weight = sums(alike.of_item, rows, alike.n)
        chosen = _cheapest_class(problem, partition, first, weight)[alike.of_item]
    else:
        chosen = _cheapest_class(problem, partition, items, rows)
    joined = Partition.of(
        np.concatenate([partition.item, items]),
        np.concatenate([partition.rows, rows]),
        np.concatenate([partition.classes, chosen]),
    )
    passes = problem.judge.passes(joined.classes, joined.item, joined.rows, joined.n)
    return joined if passes.all() else _merge_failing(problem, joined, np.flatnonzero(~passes))


def _cheapest_class(
    problem: Problem, partition: Partition, items: IntArray, rows: IntArray
) -> IntArray:
    """Return the class each item harms least; of equals the first."""
    example = partition.item[partition.starts]
    sizes = partition.sizes.astype(np.float64)
    harms = [
        _Harm(problem, a, example, _levels(problem, partition, a), sizes)
        for a in range(len(problem.attributes))
    ]
    best = np.empty(len(items), dtype=np.int64)
    step = max(_AT_ONCE // partition.n, 1)
    for start in range(0, len(items), step):
        some = items[start : start + step]
        total = np.zeros((len(some), partition.n))
        for harm in harms:
            total += harm.of(some, rows[start : start + step])
        best[start : start + step] = np.argmin(total, axis=1)
    return best


class _Harm:
    """What joining costs on one attribute.

    It depends on the item's raw value and on the label of the class only, so it is worked
    out once for each pair of those.
    """

    def __init__(
        self, problem: Problem, a: int, example: IntArray, own: IntArray, sizes: FloatArray
    ) -> None:
        self._raw = problem.raw[a]
        self._costs, self._codes = problem.costs[a], problem.codes[a]
        self._sizes = sizes
        theirs = self._raw[example]
        _, first, self._of_class = np.unique(
            own * self._codes.shape[1] + theirs, return_index=True, return_inverse=True
        )
        self._level, self._value = own[first], theirs[first]

    def of(self, items: IntArray, rows: IntArray) -> FloatArray:
        """Return what each item and each class lose if they come together."""
        mine, of_item = np.unique(self._raw[items], return_inverse=True)
        costs, level, value = self._costs, self._level, self._value
        together = _common(self._codes, mine[:, None], value[None, :], level[None, :])
        for_class = (costs[together, value] - costs[level, value])[:, self._of_class]
        for_item = costs[together, mine[:, None]][:, self._of_class]
        mine_too = for_item[of_item] * rows.astype(np.float64)[:, None]
        harm: FloatArray = (for_class * self._sizes)[of_item] + mine_too
        return harm


def _levels(problem: Problem, partition: Partition, a: int) -> IntArray:
    """Return the lowest level at which all rows of each class have one label."""
    raw = problem.raw[a][partition.item]
    level = np.full(partition.n, problem.highest[a], dtype=np.int64)
    for height in range(problem.highest[a] - 1, problem.lowest[a] - 1, -1):
        codes = problem.codes[a][height][raw]
        one = np.minimum.reduceat(codes, partition.starts) == np.maximum.reduceat(
            codes, partition.starts
        )
        level[one] = height
    return level


def _common(codes: CodeArray, mine: IntArray, theirs: IntArray, lowest: IntArray) -> IntArray:
    """Return the lowest level, from `lowest` up, at which two raw values have one label."""
    level = np.broadcast_to(lowest, np.broadcast_shapes(mine.shape, theirs.shape)).copy()
    for _ in range(len(codes) - 1):
        apart = (codes[level, mine] != codes[level, theirs]) & (level < len(codes) - 1)
        if not apart.any():
            break
        level += apart
    return level


def _merge_failing(problem: Problem, partition: Partition, failing: IntArray) -> Partition:
    """Make one class of those that fail and of the fewest last classes that make it pass."""
    others = np.setdiff1d(np.arange(partition.n), failing)[::-1]
    fewest, most = 0, len(others)
    known_good = most
    count = 1 if most else 0
    # Double until it passes, then halve the distance: not every model gets easier with each.
    while True:
        if _passes_with(problem, partition, failing, others[:count]):
            known_good = count
            break
        fewest = count
        if count == most:
            break
        count = min(2 * count, most)
    while known_good - fewest > 1:
        middle = (fewest + known_good) // 2
        if _passes_with(problem, partition, failing, others[:middle]):
            known_good = middle
        else:
            fewest = middle
    into = partition.classes.copy()
    into[np.isin(partition.classes, np.concatenate([failing, others[:known_good]]))] = failing[0]
    return Partition.of(partition.item, partition.rows, into)


def _passes_with(
    problem: Problem, partition: Partition, failing: IntArray, others: IntArray
) -> bool:
    at = np.isin(partition.classes, np.concatenate([failing, others]))
    one = np.zeros(int(np.count_nonzero(at)), dtype=np.int64)
    return bool(problem.judge.passes(one, partition.item[at], partition.rows[at], 1)[0])


_FEWER = 0.9
"""The share of rows left at which the nodes are put in order again."""

_AT_A_TIME = 64
"""Nodes that are made of arrays at a time."""


@dataclass(frozen=True)
class BottomUp(Partitioner):
    """Go through the levels from cheap to dear; classes that pass leave with the levels they have.

    The nodes of the lattice are visited in the order of what the rows that are left lose
    there. At each the rows that are left are grouped; groups that keep the models become
    classes, the others go on. Rows that are left over at the end join the classes they
    harm least.

    Promises: every class keeps the models. Does not promise the least possible loss, but
    loses least of the local methods as a rule. It looks at every node of the lattice: with
    many quasi-identifiers the other methods are faster.

    Args:
        nodes: Most nodes to look at. In a larger lattice only the cheapest are looked at,
            and then ever more general ones.

    Example:
        >>> BottomUp().params()
        {'nodes': 20000}
    """

    name: ClassVar[str] = "bottom-up"
    in_words: ClassVar[str] = (
        "Groups that are large enough leave early with fine values; only the rest becomes coarser."
    )

    nodes: int = 20_000

    def __post_init__(self) -> None:
        require_int("nodes", self.nodes, at_least=1)

    def run(
        self,
        problem: Problem,
        progress: Progress | None = None,
        *,
        rng: np.random.Generator | None = None,
    ) -> Partition:
        if problem.person is not None and not isinstance(problem, CombinationProblem):
            folded = problem.by_combination
            return folded.take_apart(self.run(folded, progress, rng=rng))
        pool = _Pool(problem)
        item, classes = [pool.items[:0]], [pool.items[:0]]
        n = 0
        for node in self._nodes(problem, pool):
            groups = pool.groups(node)
            rows = problem.rows[pool.items]
            passes = problem.judge.passes(groups.of_item, pool.items, rows, groups.n)
            if not passes.any():
                continue
            leaving = passes[groups.of_item]
            number = np.cumsum(passes) - 1
            item.append(pool.items[leaving])
            classes.append(number[groups.of_item[leaving]] + n)
            n += int(number[-1]) + 1
            pool.keep(~leaving)
            if progress is not None:
                progress(problem.total - int(rows[~leaving].sum()), problem.total)
            if pool.hopeless():
                break
        items, of_item = np.concatenate(item), np.concatenate(classes)
        done = Partition.of(items, problem.rows[items], of_item)
        return join(problem, done, pool.items) if len(pool.items) else done

    def _nodes(self, problem: Problem, pool: "_Pool") -> Iterator[Node]:
        lattice = Lattice(problem.lowest, problem.highest)
        if lattice.size <= self.nodes:
            yield from _by_cost(lattice, pool)
            return
        last = lattice.lowest
        for last in _cheapest(lattice, pool.costs(), max(self.nodes // 2, 1)):
            yield last
        yield from _climb(problem, pool, last)


def _by_cost(lattice: Lattice, pool: "_Pool") -> Iterator[Node]:
    """Yield all nodes in the order of what the rows that are left lose there.

    They are put in order again whenever a tenth of the rows has left. Of equals the first
    in lexicographic order comes first.
    """
    levels = np.array(np.unravel_index(np.arange(lattice.size), lattice.shape))
    levels += np.array(lattice.lowest)[:, None]
    while levels.shape[1]:
        sorted_for = len(pool.items)
        cost = np.zeros(levels.shape[1])
        for own, at in zip(pool.costs(), levels, strict=True):
            cost += own[at]
        levels = levels[:, np.argsort(cost, kind="stable")]
        visited = 0
        for node in _nodes_of(levels):
            visited += 1
            yield node
            if len(pool.items) < _FEWER * sorted_for and not pool.blind:
                break
        levels = levels[:, visited:]


def _nodes_of(levels: IntArray) -> Iterator[Node]:
    """Yield the columns of an array of levels."""
    # Few are asked for before the order changes: making lists of all took a sixth of the time.
    for start in range(0, levels.shape[1], _AT_A_TIME):
        yield from map(tuple, levels[:, start : start + _AT_A_TIME].T.tolist())


class _QueueEntry(NamedTuple):
    cost: float
    node: Node


def _cheapest(lattice: Lattice, costs: list[FloatArray], most: int) -> Iterator[Node]:
    """Yield the cheapest nodes one after the other, without looking at all of them."""

    def entry(node: Node) -> _QueueEntry:
        return _QueueEntry(
            sum(float(cost[level]) for cost, level in zip(costs, node, strict=True)), node
        )

    queue = [entry(lattice.lowest)]
    heapify(queue)
    seen = {lattice.lowest}
    for _ in range(most):
        if not queue:
            return
        node = heappop(queue).node
        yield node
        for above in lattice.above(node):
            if above not in seen:
                seen.add(above)
                heappush(queue, entry(above))


def _climb(problem: Problem, pool: "_Pool", node: Node) -> Iterator[Node]:
    """Yield ever higher nodes: one level up on the attribute where the rows left lose least."""
    while node != problem.highest:
        costs = pool.costs()
        more = [
            own[level + 1] - own[level] if level < high else np.inf
            for own, level, high in zip(costs, node, problem.highest, strict=True)
        ]
        best = int(np.argmin(more))
        node = tuple(level + (a == best) for a, level in enumerate(node))
        yield node


class _Pool:
    """The items that have not left yet, and their labels at every level."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.blind = problem.blind
        """Whether the order of nodes may not depend on who has left: models decided that."""

        self.items: IntArray = np.arange(len(problem.counts))
        self._labels: dict[tuple[int, int], IntArray] = {}

        # Merging never breaks such models: if the whole pool fails, so does every class of it.
        people = problem.person is not None
        self._absorbing = all(model.merges(people=people).absorbing for model in problem.models)

    def hopeless(self) -> bool:
        """Return whether no item that is left can ever leave."""
        if not len(self.items):
            return True
        one, rows = np.zeros(len(self.items), dtype=np.int64), self._problem.rows[self.items]
        return self._absorbing and not self._problem.judge.passes(one, self.items, rows, 1)[0]

    def costs(self) -> list[FloatArray]:
        """Return what the rows that are left lose on each attribute, by level, per row."""
        problem = self._problem
        items = np.arange(len(problem.counts)) if self.blind else self.items
        rows = problem.rows[items]
        found = [
            costs @ np.bincount(raw[items], weights=rows, minlength=costs.shape[1])
            for costs, raw in zip(problem.costs, problem.raw, strict=True)
        ]
        # Processors add up in different orders. Rounded, equal costs are equal on all of them, and
        # nodes that cost the same are visited in the same order.
        return [np.round(each / max(problem.total, 1), 12) for each in found]

    def keep(self, staying: np.ndarray) -> None:
        """Remove all other items."""
        self.items = self.items[staying]
        for key, labels in self._labels.items():
            self._labels[key] = labels[staying]

    def groups(self, node: Node) -> KeyNumbers:
        """Number the groups of equal labels at a node."""
        sizes = [
            len(attribute.ladder.labels[level])
            for attribute, level in zip(self._problem.attributes, node, strict=True)
        ]
        at = [attribute for attribute, size in enumerate(sizes) if size > 1]
        labels = [self._at(attribute, node[attribute]) for attribute in at]
        packed = PackedKeys.of(labels, [sizes[i] for i in at], n=len(self.items))
        return number_keys(*packed)

    def _at(self, attribute: int, level: int) -> IntArray:
        if (attribute, level) not in self._labels:
            self._labels[attribute, level] = self._problem.labels(attribute, level, self.items)
        return self._labels[attribute, level]


def refine(problem: Problem, partition: Partition) -> Partition:
    """Divide the rows of classes that break a model again; the other classes stay as they are.

    The rows of all such classes are pooled and divided from the bottom up. Those that cannot
    be helped among themselves join the classes they harm least, which then change too.

    Promises: a class that keeps the models keeps its rows, unless others must join it. Does
    not promise that all classes pass in the end: they are judged before they are published.
    """
    passes = problem.judge.passes(partition.classes, partition.item, partition.rows, partition.n)
    if passes.all():
        return partition
    fails = ~passes[partition.classes]
    good = partition.part(~fails)
    again = _divide_again(problem, partition.item[fails], partition.rows[fails])
    mended = problem.judge.passes(again.classes, again.item, again.rows, again.n)
    helped = mended[again.classes]
    together = Partition.of(
        np.concatenate([good.item, again.item[helped]]),
        np.concatenate([good.rows, again.rows[helped]]),
        np.concatenate([good.classes, again.classes[helped] + good.n]),
    )
    if helped.all():
        return together
    return join(problem, together, again.item[~helped], again.rows[~helped])


def _divide_again(problem: Problem, item: IntArray, rows: IntArray) -> Partition:
    """Divide some rows by themselves."""
    items, of_portion = np.unique(item, return_inverse=True)
    added = np.bincount(of_portion, weights=rows, minlength=len(items)).astype(np.int64)
    found = BottomUp().run(problem.among(items, added))
    return Partition(items[found.item], found.rows, found.classes)
