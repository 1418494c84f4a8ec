"""Groups of rows that may still be specialised."""

from dataclasses import dataclass

import numpy as np

from sfumato.partition.judging import Numbered, numbered
from sfumato.partition.problem import Problem
from sfumato.typing import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Frontier:
    """Portions of items, the group each is in, and the levels each group stands at."""

    item: IntArray
    rows: IntArray
    group: IntArray
    levels: IntArray
    """`levels[g, a]`: the level of attribute a in group g."""

    closed: BoolArray
    """`closed[g, a]`: whether group g was already specialised on a and is what stayed behind."""

    def __len__(self) -> int:
        return len(self.levels)

    def portions(self, groups: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
        """Give items, rows and renumbered groups of some groups."""
        number = np.cumsum(groups) - 1
        at = groups[self.group]
        return self.item[at], self.rows[at], number[self.group[at]]

    def part(self, groups: BoolArray) -> "Frontier":
        """Keep some groups only."""
        return Frontier(*self.portions(groups), self.levels[groups], self.closed[groups])

    def children(self, problem: Problem, at: IntArray, attribute: int) -> Numbered:
        """Number the children that some portions have one level down on an attribute.

        A child's key is its group times the width of the attribute, plus its label.
        """
        group = self.group[at]
        label = problem.labels(attribute, self.levels[group, attribute] - 1, self.item[at])
        width = int(problem.widths[attribute])
        return numbered(group * width + label, len(self) * width)


def starting_groups(problem: Problem) -> Frontier:
    """Put all rows at the highest levels allowed; at the top that is one group.

    A group that fails the models there is a group nevertheless: whoever publishes
    suppresses it, or refuses.
    """
    items = np.arange(len(problem.counts))
    of_item = np.zeros(len(items), dtype=np.int64)
    n = 1
    for attribute, level in enumerate(problem.highest):
        labels = problem.labels(attribute, level, items)
        width = len(problem.attributes[attribute].ladder.labels[level])
        found = numbered(of_item * width + labels, n * width)
        of_item, n = found.of_item, found.n
    levels = np.tile(np.array(problem.highest, dtype=np.int64), (n, 1))
    return Frontier(items, problem.rows, of_item, levels, np.zeros(levels.shape, dtype=bool))
