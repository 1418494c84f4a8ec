"""Bottom-up local recoding: rows leave at the cheapest levels where enough of them are alike."""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import ClassVar, NamedTuple, Self

import numpy as np

from sfumato.checks import require_int
from sfumato.lattice import Lattice
from sfumato.partition.base import Partitioner, Progress
from sfumato.partition.joining import join
from sfumato.partition.judging import Numbered, numbered
from sfumato.partition.parted import Parted
from sfumato.partition.problem import Problem
from sfumato.typing import FloatArray, IntArray, Node

_WIDEST_KEY = 2**62
_FEWER = 0.9
"""The share of rows left at which the nodes are put in order anew."""


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

    nodes: int = 20_000

    def __post_init__(self) -> None:
        require_int("nodes", self.nodes, at_least=1)

    def run(self, problem: Problem, progress: Progress | None = None) -> Parted:
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
        done = Parted.of(items, problem.rows[items], of_item)
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

    @classmethod
    def example(cls) -> Self:
        return cls()


def _by_cost(lattice: Lattice, pool: "_Pool") -> Iterator[Node]:
    """Give all nodes in the order of what the rows that are left lose there.

    They are put in order anew whenever a tenth of the rows has left. Of equals the first
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
        for node in levels.T.tolist():
            visited += 1
            yield tuple(node)
            if len(pool.items) < _FEWER * sorted_for:
                break
        levels = levels[:, visited:]


class _Queued(NamedTuple):
    cost: float
    node: Node


def _cheapest(lattice: Lattice, costs: list[FloatArray], most: int) -> Iterator[Node]:
    """Give the cheapest nodes one after the other, without looking at all of them."""

    def queued(node: Node) -> _Queued:
        return _Queued(
            sum(float(cost[level]) for cost, level in zip(costs, node, strict=True)), node
        )

    queue = [queued(lattice.lowest)]
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
                heappush(queue, queued(above))


def _climb(problem: Problem, pool: "_Pool", node: Node) -> Iterator[Node]:
    """Go up from a node, each time one level on the attribute where the rows left lose least."""
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
        self.items: IntArray = np.arange(len(problem.counts))
        self._labels: dict[tuple[int, int], IntArray] = {}

        # What such models ask for no merging takes away, so a pool without it is lost.
        self._absorbing = all(model.merging.absorbing for model in problem.models)

    def hopeless(self) -> bool:
        """Tell whether nobody who is left can ever leave."""
        if not len(self.items):
            return True
        one, rows = np.zeros(len(self.items), dtype=np.int64), self._problem.rows[self.items]
        return self._absorbing and not self._problem.judge.passes(one, self.items, rows, 1)[0]

    def costs(self) -> list[FloatArray]:
        """Give what the rows that are left lose on each attribute, by level."""
        problem = self._problem
        rows = problem.rows[self.items]
        return [
            costs @ np.bincount(raw[self.items], weights=rows, minlength=costs.shape[1])
            for costs, raw in zip(problem.costs, problem.raw, strict=True)
        ]

    def keep(self, staying: np.ndarray) -> None:
        """Let the others leave."""
        self.items = self.items[staying]
        for key, labels in self._labels.items():
            self._labels[key] = labels[staying]

    def groups(self, node: Node) -> Numbered:
        """Number the groups of equal labels at a node."""
        key = np.zeros(len(self.items), dtype=np.int64)
        width = 1
        for attribute, level in enumerate(node):
            size = len(self._problem.attributes[attribute].ladder.labels[level])
            if size == 1:
                continue
            if width * size >= _WIDEST_KEY:
                shorter = numbered(key, width)
                key, width = shorter.of_item, shorter.n
            key = key * size + self._at(attribute, level)
            width *= size
        return numbered(key, width)

    def _at(self, attribute: int, level: int) -> IntArray:
        if (attribute, level) not in self._labels:
            self._labels[attribute, level] = self._problem.labels(attribute, level, self.items)
        return self._labels[attribute, level]
