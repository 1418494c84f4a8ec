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


@dataclass(frozen=True)
class BottomUp(Partitioner):
    """Go through the levels from cheap to dear; classes that pass leave with the levels they have.

    The nodes of the lattice are visited in the order of what they lose on the whole
    table. At each the rows that are left are grouped; groups that keep the models become
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
            left = len(pool.items)
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
            if progress is not None and len(pool.items) < left:
                progress(problem.total - int(problem.rows[pool.items].sum()), problem.total)
            if not len(pool.items):
                break
        items, of_item = np.concatenate(item), np.concatenate(classes)
        done = Parted.of(items, problem.rows[items], of_item)
        return join(problem, done, pool.items) if len(pool.items) else done

    def _nodes(self, problem: Problem, pool: "_Pool") -> Iterator[Node]:
        lattice = Lattice(problem.lowest, problem.highest)
        costs = [
            level @ attribute.frequency.astype(np.float64)
            for level, attribute in zip(problem.costs, problem.attributes, strict=True)
        ]
        if lattice.size <= self.nodes:
            yield from _by_cost(lattice, costs)
            return
        last = lattice.lowest
        for last in _cheapest(lattice, costs, max(self.nodes // 2, 1)):
            yield last
        yield from _climb(problem, pool, last)

    @classmethod
    def example(cls) -> Self:
        return cls()


def _by_cost(lattice: Lattice, costs: list[FloatArray]) -> Iterator[Node]:
    """Give all nodes in the order of their costs; of equals the first in lexicographic order."""
    total = np.zeros(1)
    for cost, low, high in zip(costs, lattice.lowest, lattice.highest, strict=True):
        total = (total[:, None] + cost[low : high + 1]).ravel()
    order = np.argsort(total, kind="stable")
    levels = np.unravel_index(order, lattice.shape)
    lowest = np.array(lattice.lowest)
    for node in (np.array(levels).T + lowest).tolist():
        yield tuple(node)


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
        best, least = 0, np.inf
        rows = problem.rows[pool.items]
        for attribute, level in enumerate(node):
            if level == problem.highest[attribute]:
                continue
            costs = problem.costs[attribute]
            raw = problem.raw[attribute][pool.items]
            more = float((costs[level + 1] - costs[level])[raw] @ rows)
            if more < least:
                best, least = attribute, more
        node = tuple(level + (a == best) for a, level in enumerate(node))
        yield node


class _Pool:
    """The items that have not left yet, and their labels at every level."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.items: IntArray = np.arange(len(problem.counts))
        self._labels: dict[tuple[int, int], IntArray] = {}

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
